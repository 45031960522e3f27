//! Blocks as Markdown: a file that reads well as plain text, or the step summary of a CI run.

use std::borrow::Cow;
use std::fmt::Write as _;

use fwdlab_claims::claim::State;
use fwdlab_guard::{markdown, words};

use super::block::{Block, Figure, Heading, Kind, Part, Statement, unfolded};
use fwdlab_claims::causes::{Invalid, Named, SharedDoubt};
use fwdlab_figures::text_table::wrap;

/// Columns of running text in a file.
const WIDTH: usize = 100;

/// Renders a file for git: lines broken, a blank line after every block.
pub fn file(parts: &[Part<'_>]) -> String {
    let mut out = String::with_capacity(16 * 1024);
    for part in parts {
        if let Heading::Shown(text) = part.heading {
            let _ = writeln!(out, "## {text}\n");
        }
        blocks(&mut out, &part.blocks, Dialect::File);
    }
    seen(markdown::tame(&out))
}

/// Renders a step summary: signs instead of words, and whatever has a heading folded away below it.
pub fn summary(parts: &[Part<'_>]) -> String {
    let mut out = String::new();
    for part in parts {
        if let Heading::Shown(text) = part.heading {
            let _ = writeln!(out, "<details><summary>{text}</summary>\n");
        }
        blocks(&mut out, &part.blocks, Dialect::Summary);
        if let Heading::Shown(_) = part.heading {
            out.push_str("</details>\n");
        }
    }
    let tame = |out: String, tag: &str| out.replace(&format!("&lt;{tag}>"), &format!("<{tag}>"));
    seen(OWN_TAGS.into_iter().fold(markdown::tame(&out), tame))
}

/// What a summary has of HTML; nobody is harmed where a stranger's words have it.
const OWN_TAGS: [&str; 5] = ["details", "summary", "/summary", "/details", "br"];

/// What a page or a terminal that shows it might act on, written out.
fn seen(text: String) -> String {
    match words::visible(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(shown) => shown,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    File,
    Summary,
}

impl Dialect {
    /// Breaks lines where they are read unrendered.
    fn wrap(self, text: &str, first: &str, next: &str) -> String {
        match self {
            Self::File => flat(&wrap(text, WIDTH, first, next), first),
            Self::Summary => flat(&format!("{first}{}", text.replace('\n', " ")), first),
        }
    }

    /// Whether no blank line stands between two blocks.
    fn is_tight(self, one: Kind, next: Kind) -> bool {
        match (one, next) {
            (Kind::Items, Kind::Items) => true,
            (Kind::Verdict, Kind::Verdict)
            | (Kind::Failures, Kind::Items)
            | (Kind::Items, Kind::Failures) => self == Self::Summary,
            _ => false,
        }
    }
}

fn blocks(out: &mut String, blocks: &[Block<'_>], dialect: Dialect) {
    let blocks = unfolded(blocks);
    for (k, one) in blocks.iter().enumerate() {
        block(out, one, dialect);
        let next = blocks.get(k + 1);
        if !next.is_some_and(|next| dialect.is_tight(one.kind(), next.kind())) {
            out.push('\n');
        }
    }
}

fn block(out: &mut String, block: &Block<'_>, dialect: Dialect) {
    match block {
        Block::Title(text) => {
            let sign = if dialect == Dialect::Summary { "##" } else { "#" };
            line(out, &format!("{sign} {}", markdown::plain(text)));
        }
        Block::Lead(text) | Block::Paragraph(text) => out.push_str(&dialect.wrap(text, "", "")),
        Block::Label(text) => line(out, &format!("{text}:")),
        Block::Line(text) => line(out, text),
        Block::Verbatim(text) => {
            out.push_str(&markdown::notes(text));
            out.push_str(if text.ends_with('\n') { "\n" } else { "" });
        }
        Block::Preformatted(text) => {
            let fence = fence(text);
            let _ = writeln!(out, "{fence}\n{text}{fence}");
        }
        Block::Remarks(texts) => {
            let quote = |text: &String| format!("> {}\n", text.replace('\n', " "));
            let quoted: Vec<String> = texts.iter().map(quote).collect();
            out.push_str(&quoted.join(">\n"));
        }
        Block::List(items) => {
            for item in items {
                out.push_str(&dialect.wrap(&item.text, "- ", "  "));
                for text in &item.below {
                    out.push_str(&dialect.wrap(text, "  - ", "    "));
                }
            }
        }
        Block::Badges(_) | Block::Warnings(_) | Block::Failures(_) => states(out, block, dialect),
        Block::Command(purpose, command) => line(out, &format!("- {purpose}: `{command}`")),
        Block::Table(table) => out.push_str(&table.text.markdown()),
        Block::Figure(Figure { title, file: Some(file), .. }) => {
            line(out, &format!("![{title}]({file})"));
        }
        Block::Figure(Figure { title, file: None, .. }) => line(out, title),
        Block::Flames(graphs) => {
            for graph in *graphs {
                let _ = writeln!(out, "- [{}]({}): {}", graph.title, graph.file, graph.note);
            }
        }
        Block::Verdict(statement) => match dialect {
            Dialect::File => verdict(out, statement),
            Dialect::Summary => verdict_in_brief(out, statement),
        },
        Block::Invalid(all) => match dialect {
            Dialect::File => invalid(out, all),
            Dialect::Summary => invalid_in_brief(out, all),
        },
        // Unfolded before.
        Block::Details(_) | Block::Scoped(..) => {}
    }
}

/// One line, whatever the text holds.
fn line(out: &mut String, text: &str) {
    out.push_str(&text.replace('\n', " "));
    out.push('\n');
}

/// Broken lines of running text, none of which begins as a heading, a quotation, a table, a fence or
/// a list does; the first may, where its beginning is the page's own.
fn flat(text: &str, first: &str) -> String {
    const SIGNS: [&str; 11] = ["#", ">", "|", "```", "~~~", "- ", "+ ", "* ", "---", "===", "***"];
    let mut out = String::with_capacity(text.len());
    for (number, line) in text.lines().enumerate() {
        let start = if number == 0 { first.len() } else { line.len() - line.trim_start().len() };
        let (indent, words) = line.split_at(start.min(line.len()));
        out.push_str(indent);
        if SIGNS.iter().any(|sign| words.starts_with(sign)) {
            out.push('\\');
        }
        out.push_str(words);
        out.push('\n');
    }
    out
}

/// More backticks than the text has in a row.
fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

/// What holds and what does not.
fn states(out: &mut String, block: &Block<'_>, dialect: Dialect) {
    let mut say = |state: State, text: &str| match dialect {
        Dialect::File => out.push_str(&dialect.wrap(text, "- ", "  ")),
        Dialect::Summary => {
            let text = text.strip_prefix("warning: ").unwrap_or(text);
            line(out, &format!("{} {text}<br>", sign(state)));
        }
    };
    match block {
        Block::Badges(badges) => {
            for badge in badges {
                let word = match dialect {
                    Dialect::File => format!("{}: ", badge.state.word()),
                    Dialect::Summary => String::new(),
                };
                say(badge.state, &format!("{word}{}: {}", badge.name, badge.text));
            }
        }
        Block::Warnings(texts) => texts.iter().for_each(|text| say(State::Warn, text)),
        Block::Failures(texts) if dialect == Dialect::File => {
            let wrapped: Vec<String> =
                texts.iter().map(|text| dialect.wrap(text, "", "    ")).collect();
            out.push_str(&wrapped.join("\n"));
        }
        Block::Failures(texts) => texts.iter().for_each(|text| say(State::Bad, text)),
        _ => {}
    }
}

const fn sign(state: State) -> &'static str {
    match state {
        State::Good => ":white_check_mark:",
        State::Warn => ":warning:",
        State::Bad => ":x:",
    }
}

fn verdict(out: &mut String, statement: &Statement<'_>) {
    out.push_str(&wrap(statement.sentence, WIDTH, "=> ", "   "));
    for text in statement.basis.iter().chain(&statement.elsewhere) {
        out.push_str(&wrap(text, WIDTH, "   ", "   "));
    }
    if let Some(note) = statement.note {
        out.push_str(&wrap(note, WIDTH, "   note: ", "     "));
    }
    for doubt in &statement.doubts {
        out.push_str(&wrap(&doubt.whole(), WIDTH, "   ", "     "));
    }
}

fn invalid(out: &mut String, all: &Invalid<'_>) {
    out.push_str(&wrap(&all.sentence, WIDTH, "=> ", "   "));
    for named in &all.named {
        out.push_str(&wrap(&named.whole(), WIDTH, "   ", "     "));
    }
    for doubt in &all.doubts {
        for (k, line) in doubt.lines().iter().enumerate() {
            let (first, next) = if k == 0 { ("   ", "     ") } else { ("     ", "       ") };
            out.push_str(&wrap(line, WIDTH, first, next));
        }
    }
}

fn invalid_in_brief(out: &mut String, all: &Invalid<'_>) {
    line(out, &format!("- :x: {}", all.sentence));
    let doubts = all.doubts.iter().flat_map(SharedDoubt::lines);
    for text in all.named.iter().map(Named::whole).chain(doubts) {
        line(out, &format!("  <br>{text}"));
    }
}

fn verdict_in_brief(out: &mut String, statement: &Statement<'_>) {
    let sign = match statement.word {
        "faster" | "better" => ":arrow_up:",
        "slower" | "worse" => ":arrow_down:",
        "equivalent" => ":heavy_equals_sign:",
        "invalid" => ":x:",
        _ => ":grey_question:",
    };
    line(out, &format!("- {sign} **{}**: {}", statement.subject, statement.sentence));
    let doubts = statement.doubts.iter();
    let doubts = doubts.map(|doubt| format!(":warning: {}: {}", doubt.text, doubt.remedy));
    for text in statement.basis.iter().cloned().chain(doubts) {
        line(out, &format!("  <br>{text}"));
    }
}
