//! Blocks as plain text: for a terminal of any width, with colours when they are asked for, or for
//! a commit message.

use anstyle::{AnsiColor, Style};
use fwdlab_claims::claim::State;

use fwdlab_guard::words;

use super::block::{Block, Heading, Kind, Part, Statement, unfolded};
use fwdlab_claims::causes::Invalid;
use fwdlab_figures::text_table::wrap;

/// Narrowest width that lines are broken to.
const NARROWEST: usize = 40;
/// Columns of a commit message.
const COMMIT_WIDTH: usize = 72;
/// By how much a commit message sets in what a verdict rests on.
const COMMIT_INDENT: usize = 6;

const BAD: Style = AnsiColor::Red.on_default();
const WARN: Style = AnsiColor::Yellow.on_default();

/// Renders for a terminal of `width` columns. Tables and texts that are laid out already keep
/// their width.
pub fn screen(parts: &[Part<'_>], width: usize, colour: bool) -> String {
    let width = width.max(NARROWEST);
    Sheet { width, is_coloured: colour, is_commit: false }.text(parts)
}

/// Renders for a commit message, in 72 columns; here nobody can look further, so the doubts of a
/// verdict stand below it.
pub fn message(parts: &[Part<'_>]) -> String {
    Sheet { width: COMMIT_WIDTH, is_coloured: false, is_commit: true }.text(parts)
}

/// What is written on.
#[derive(Debug, Clone, Copy)]
struct Sheet {
    width: usize,
    is_coloured: bool,
    is_commit: bool,
}

impl Sheet {
    fn text(self, parts: &[Part<'_>]) -> String {
        let mut out = String::new();
        let mut last = Kind::Head;
        for part in parts {
            if let Heading::Shown(text) = part.heading {
                gap(&mut out);
                out.push_str(&self.wrap(text, "", ""));
                last = Kind::Alone;
            }
            for block in unfolded(&part.blocks) {
                let kind = block.kind();
                if kind == Kind::Alone || near(kind) != near(last) {
                    gap(&mut out);
                }
                self.block(&mut out, block);
                last = kind;
            }
        }
        // A table ends with a blank line even where it is the last.
        if last == Kind::Alone {
            gap(&mut out);
        }
        out
    }

    /// Broken lines, with what a terminal would act on written out: only [`Sheet::paint`] commands it.
    fn wrap(self, text: &str, first: &str, next: &str) -> String {
        wrap(&words::visible(text), self.width, &words::visible(first), next)
    }

    /// `text` in a style, line by line.
    fn paint(self, text: &str, style: Style) -> String {
        if !self.is_coloured {
            return text.to_owned();
        }
        text.lines().map(|line| format!("{style}{line}{style:#}\n")).collect()
    }

    fn block(self, out: &mut String, block: &Block<'_>) {
        let text = match block {
            Block::Title(text) | Block::Lead(text) | Block::Paragraph(text) => {
                self.wrap(text, "", "")
            }
            Block::Label(text) => self.wrap(&format!("{text}:"), "", ""),
            Block::Line(text) => format!("{}\n", words::one_line(text)),
            Block::Preformatted(text) => seen(text),
            Block::Verbatim(text) => seen(&format!("{text}\n")),
            Block::Remarks(texts) | Block::Warnings(texts) => self.states(texts, WARN),
            Block::Failures(texts) => self.states(texts, BAD),
            Block::Badges(badges) => badges
                .iter()
                .map(|badge| {
                    let text = format!("{}: {}: {}", badge.state.word(), badge.name, badge.text);
                    let style = match badge.state {
                        State::Good => Style::new(),
                        State::Warn => WARN,
                        State::Bad => BAD,
                    };
                    self.states(&[text], style)
                })
                .collect(),
            Block::List(items) => items
                .iter()
                .map(|item| {
                    let below = item.below.iter().map(|text| self.wrap(text, "  - ", "    "));
                    self.wrap(&item.text, "- ", "  ") + &below.collect::<String>()
                })
                .collect(),
            Block::Command(purpose, command) => {
                format!("- {purpose}: {}\n", words::one_line(command))
            }
            Block::Table(table) => seen(&table.text.plain()),
            Block::Figure(figure) => self.wrap(
                &figure.file.map_or_else(
                    || figure.title.to_owned(),
                    |file| format!("{}: {file}", figure.title),
                ),
                "",
                "",
            ),
            Block::Flames(graphs) => graphs
                .iter()
                .map(|g| self.wrap(&format!("{}: {}: {}", g.title, g.file, g.note), "- ", "  "))
                .collect(),
            Block::Verdict(statement) => self.verdict(statement),
            Block::Invalid(all) => self.invalid(all),
            // Unfolded before.
            Block::Details(_) | Block::Scoped(..) => String::new(),
        };
        out.push_str(&text);
    }

    fn states(self, texts: &[String], style: Style) -> String {
        texts.iter().map(|text| self.paint(&self.wrap(text, "", "  "), style)).collect()
    }

    fn invalid(self, all: &Invalid<'_>) -> String {
        let (first, next) = ("  ", "    ");
        let sentence = self.wrap(&all.sentence, "", next);
        let mut text = self.paint(&sentence, AnsiColor::Red.on_default().bold());
        for named in &all.named {
            text += &self.wrap(&named.whole(), first, next);
        }
        for doubt in all.doubts.iter().filter(|doubt| self.is_commit || doubt.is_cause) {
            for (k, line) in doubt.lines().iter().enumerate() {
                text += &self.wrap(line, if k == 0 { first } else { next }, "      ");
            }
        }
        text
    }

    fn verdict(self, statement: &Statement<'_>) -> String {
        let head = format!("{}: ", statement.subject);
        let indent = if self.is_commit { COMMIT_INDENT } else { head.chars().count() };
        let indent = " ".repeat(indent);
        let colour = match statement.word {
            "faster" | "better" => AnsiColor::Green,
            "equivalent" => AnsiColor::Cyan,
            "inconclusive" => AnsiColor::Yellow,
            _ => AnsiColor::Red,
        };
        let sentence = self.wrap(statement.sentence, &head, &indent);
        let mut text = self.paint(&sentence, colour.on_default().bold());
        for further in statement.basis.iter().chain(&statement.elsewhere) {
            text += &self.wrap(further, &indent, &indent);
        }
        for doubt in statement.doubts.iter().filter(|doubt| self.is_commit || doubt.is_cause) {
            let short = format!("{}: {}", doubt.word(), doubt.text);
            let said = if doubt.is_cause { doubt.whole() } else { short };
            text += &self.wrap(&said, &indent, &indent);
        }
        text
    }
}

/// What a terminal would act on, written out.
fn seen(text: &str) -> String {
    words::visible(text).into_owned()
}

/// Failed trials stand among the other items.
fn near(kind: Kind) -> Kind {
    if kind == Kind::Failures { Kind::Items } else { kind }
}

/// Ends what stands there with a blank line.
fn gap(out: &mut String) {
    if !out.is_empty() && !out.ends_with("\n\n") {
        out.push('\n');
    }
}
