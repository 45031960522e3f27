//! Blocks as a page: one file that holds everything, works from disk and from a CI artefact, and
//! asks no network for anything.

mod frame;

use std::fmt::Write as _;

use fwdlab_claims::claim::State;

use super::block::{Block, Details, Heading, Item, Part, Scope, Statement};
use super::flame::FlameGraph;
use fwdlab_claims::causes::{Invalid, Named};
use fwdlab_figures::escape;

pub use frame::{Controls, Page, Toggle};

/// Column that no table has.
const NO_COLUMN: usize = usize::MAX;

/// The head and the main part of a page: the title and what stands below it go to the head.
pub fn halves(parts: &[Part<'_>]) -> [String; 2] {
    let (mut header, mut main) = (String::new(), contents(parts));
    for part in parts {
        let is_head = |block: &&Block<'_>| matches!(block, Block::Title(_) | Block::Lead(_));
        let (above, below): (Vec<_>, Vec<_>) = part.blocks.iter().partition(is_head);
        above.into_iter().for_each(|one| block(&mut header, one));
        if below.is_empty() {
            continue;
        }
        let name = escape(part.name);
        let _ = match part.heading {
            Heading::Shown(text) | Heading::Lower(text) => {
                writeln!(main, "<section id=\"{name}\"><h2>{}</h2>", escape(text))
            }
            Heading::Spoken(text) => {
                writeln!(main, "<section id=\"{name}\" aria-label=\"{}\">", escape(text))
            }
            Heading::None => writeln!(main, "<section id=\"{name}\">"),
        };
        below.into_iter().for_each(|one| block(&mut main, one));
        main.push_str("</section>\n");
    }
    [header, main]
}

/// Links to the headings of a page that has several.
fn contents(parts: &[Part<'_>]) -> String {
    let is_shown = |part: &&Part<'_>| {
        let is_head = |block: &Block<'_>| matches!(block, Block::Title(_) | Block::Lead(_));
        !part.blocks.iter().all(is_head)
    };
    let links: Vec<String> = parts
        .iter()
        .filter(is_shown)
        .filter_map(|part| match part.heading {
            Heading::Shown(text) => {
                Some(format!("<a href=\"#{}\">{}</a>", escape(part.name), escape(text)))
            }
            _ => None,
        })
        .collect();
    match links.len() {
        0..3 => String::new(),
        _ => {
            format!("<nav class=\"contents\" aria-label=\"Contents\">{}</nav>\n", links.join("\n"))
        }
    }
}

/// Blocks one below the other.
pub fn blocks(blocks: &[Block<'_>]) -> String {
    let mut out = String::new();
    blocks.iter().for_each(|one| block(&mut out, one));
    out
}

/// Text in which a per cent sign stays with its number.
fn joined(text: &str) -> String {
    escape(text).replace(" %", "\u{a0}%")
}

/// Text with `code` between backticks.
fn inline(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, code, after)) = rest
        .split_once('`')
        .and_then(|(before, rest)| rest.split_once('`').map(|(code, after)| (before, code, after)))
    {
        let _ = write!(out, "{}<code>{}</code>", joined(before), escape(code));
        rest = after;
    }
    out + &joined(rest)
}

fn block(out: &mut String, block: &Block<'_>) {
    let _ = match block {
        Block::Title(text) => writeln!(out, "<h1>{}</h1>", escape(text)),
        Block::Lead(text) | Block::Paragraph(text) => {
            writeln!(out, "<p class=\"note\">{}</p>", inline(text))
        }
        Block::Label(text) => writeln!(out, "<h3>{}</h3>", escape(text)),
        Block::Line(text) => writeln!(out, "<p>{}</p>", inline(text)),
        Block::Preformatted(text) => writeln!(out, "<pre>{}</pre>", joined(text)),
        Block::Verbatim(text) => writeln!(out, "<pre>{}</pre>", escape(text)),
        Block::Remarks(texts) | Block::Warnings(texts) | Block::Failures(texts) => {
            texts.iter().for_each(|text| doubt(out, text));
            Ok(())
        }
        Block::List(items) => {
            let items: String = items.iter().map(item).collect();
            writeln!(out, "<ul class=\"facts\">\n{items}</ul>")
        }
        Block::Badges(badges) => {
            out.push_str("<ul class=\"badges\">\n");
            for badge in badges {
                let class = match badge.state {
                    State::Good => "good",
                    State::Warn => "warn",
                    State::Bad => "bad",
                };
                let (name, word) = (escape(badge.name), badge.state.word());
                let text = joined(&badge.text);
                let name = format!("<b>{name}<span class=\"state\">{word}</span></b>");
                let _ = writeln!(out, "<li class=\"{class}\">{name}{text}</li>");
            }
            writeln!(out, "</ul>")
        }
        Block::Command(purpose, command) => {
            let (purpose, command) = (escape(purpose), escape(command));
            writeln!(out, "<p>To {purpose}:</p>\n<pre>{command}</pre>")
        }
        Block::Table(table) => {
            let html = table.text.html(table.variant_column.unwrap_or(NO_COLUMN));
            writeln!(out, "<div class=\"wide\">{html}</div>")
        }
        Block::Figure(figure) => writeln!(out, "<figure>{}</figure>", figure.svg),
        Block::Flames(graphs) => {
            let first = graphs.iter().position(|graph| graph.is_difference).unwrap_or(0);
            let graphs = graphs.iter().enumerate();
            graphs.for_each(|(k, graph)| flame(out, graph, k == first));
            Ok(())
        }
        Block::Verdict(statement) => {
            verdict(out, statement);
            Ok(())
        }
        Block::Invalid(all) => {
            invalid(out, all);
            Ok(())
        }
        Block::Details(details) => {
            folded(out, details);
            Ok(())
        }
        Block::Scoped(scope, inner) => {
            writeln!(out, "<div{}>\n{}</div>", attributes(scope), blocks(inner))
        }
    };
}

fn doubt(out: &mut String, text: &str) {
    let _ = writeln!(out, "<p class=\"doubt\">{}</p>", inline(text));
}

fn item(item: &Item) -> String {
    let below: String =
        item.below.iter().map(|text| format!("<li>{}</li>\n", inline(text))).collect();
    let below =
        if below.is_empty() { below } else { format!("\n<ul class=\"facts\">\n{below}</ul>\n") };
    format!("<li>{}{below}</li>\n", inline(&item.text))
}

/// What hides an element.
fn attributes(scope: &Scope) -> String {
    let mut text = String::new();
    for (name, value) in [("variant", &scope.variant), ("traffic", &scope.traffic)] {
        if let Some(value) = value {
            let _ = write!(text, " data-{name}=\"{}\"", escape(value));
        }
    }
    text
}

fn verdict(out: &mut String, statement: &Statement<'_>) {
    let Statement { family, word, .. } = statement;
    let (variant, traffic) = (escape(statement.variant), escape(statement.traffic));
    let _ = writeln!(
        out,
        "<div class=\"verdict {word}\" data-variant=\"{variant}\" data-traffic=\"{traffic}\">\n\
         <span class=\"word\">{traffic}, {family}: {word}</span>\n<strong>{}</strong>",
        joined(statement.sentence)
    );
    let note = statement.note.map(|note| format!("note: {note}"));
    for text in statement.basis.iter().chain(&statement.elsewhere).chain(&note) {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", joined(text));
    }
    statement.doubts.iter().for_each(|one| doubt(out, &one.whole()));
    out.push_str("</div>\n");
}

/// Texts that differ from verdict to verdict, of which more are folded away.
const MOST_TEXTS: usize = 3;

fn invalid(out: &mut String, all: &Invalid<'_>) {
    let traffics: Vec<&str> = all.named.iter().map(|named| named.traffic).collect();
    let _ = writeln!(
        out,
        "<div class=\"verdict invalid\">\n<span class=\"word\">{}: invalid</span>\n<strong>{}</strong>",
        escape(&traffics.join(", ")),
        joined(&all.sentence)
    );
    for Named { subject, traffic, variants } in &all.named {
        let name = |name: &&str| {
            let name = escape(name);
            format!("<span data-variant=\"{name}\">{name}</span>")
        };
        let names: Vec<String> = variants.iter().map(name).collect();
        let _ = writeln!(
            out,
            "<p class=\"note names\" data-traffic=\"{}\">{}: {}</p>",
            escape(traffic),
            escape(subject),
            names.join(" ")
        );
    }
    for shared in &all.doubts {
        let lines = shared.lines();
        let (first, rest) = (&lines[..1], &lines[1..]);
        first.iter().for_each(|line| doubt(out, line));
        if rest.is_empty() {
            continue;
        }
        let items: String =
            rest.iter().map(|line| format!("<li>{}</li>\n", joined(line))).collect();
        let list = format!("<ul class=\"facts\">\n{items}</ul>");
        let _ = match rest.len() {
            0..=MOST_TEXTS => writeln!(out, "{list}"),
            count => writeln!(
                out,
                "<details><summary>what each shows ({count})</summary>\n{list}</details>"
            ),
        };
    }
    out.push_str("</div>\n");
}

fn folded(out: &mut String, details: &Details<'_>) {
    let Details { summary, scope, is_open, blocks: inner } = details;
    let (scope, open) = (attributes(scope), if *is_open { " open" } else { "" });
    let _ = writeln!(
        out,
        "<details{scope}{open}><summary>{}</summary>\n{}</details>",
        escape(summary),
        blocks(inner)
    );
}

/// A flame graph as a document of its own, which the page's script makes of the text when it is
/// opened; one is open from the start, the difference where there is one.
fn flame(out: &mut String, graph: &FlameGraph, is_open: bool) {
    let FlameGraph { height, .. } = graph;
    let (file, title) = (escape(&graph.file), escape(&graph.title));
    let id = file.replace('.', "-");
    let (variant, traffic) = (Some(graph.variant.clone()), Some(graph.traffic.clone()));
    let scope = attributes(&Scope { variant, traffic });
    let open = if is_open { " open" } else { "" };
    let note = inline(&graph.note);
    // The end of the script element must not come early.
    let svg = graph.small_svg.replace("</script", "<\\/script");
    let _ = writeln!(
        out,
        "<details data-flame=\"{id}\"{scope}{open}><summary>{title}</summary>\n\
         <p class=\"note\">{note} Also as a file: <a href=\"{file}\">{file}</a></p>\n\
         <div class=\"wide\"><iframe class=\"flame\" title=\"{title}\" \
         style=\"height:{height}px\"></iframe></div>\n\
         <script type=\"text/plain\" id=\"{id}\">{svg}</script>\n</details>"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_users_write_is_text_and_never_markup() {
        let wild = "<b>&\"'`<i>`".to_owned();
        let scope = Scope { variant: Some(wild.clone()), traffic: Some(wild.clone()) };
        let html = blocks(&[
            Block::Title(wild.clone()),
            Block::Label(wild.clone()),
            Block::Paragraph(wild.clone()),
            Block::Line(wild.clone()),
            Block::Preformatted(wild.clone()),
            Block::Verbatim("<b>"),
            Block::Remarks(vec![wild.clone()]),
            Block::List(vec![Item { text: wild.clone(), below: vec![wild.clone()] }]),
            Block::Command("run", wild.clone()),
            Block::Scoped(scope, Vec::new()),
        ]);
        assert!(!html.contains("<b>") && !html.contains("<i>"), "{html}");
        assert!(html.contains("<code>&lt;i&gt;</code>"), "{html}");
        assert!(html.contains("data-variant=\"&lt;b&gt;&amp;&quot;"), "{html}");
    }
}
