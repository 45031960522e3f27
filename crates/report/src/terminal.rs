//! The report on a terminal: a sentence per traffic and variant, the tables.

use std::fmt::Write as _;

use fwdlab_stats::Verdict;

use super::readme::{basis, warning_text};
use super::table;
use super::text_table::wrap;
use fwdlab_claims::claim::{Cell, Claims, State, VerdictClaim};
use fwdlab_claims::units;

/// Narrowest width that lines are broken to.
const NARROWEST: usize = 40;

/// Renders the claims for a terminal of `width` columns, with ANSI colours
/// when `colour` is set. Tables keep their width.
pub fn terminal(claims: &Claims, width: usize, colour: bool) -> String {
    let width = width.max(NARROWEST);
    let mut out = String::new();
    let p = &claims.progress;
    out.push_str(&wrap(&claims.title, width, "", ""));
    let facts = claims.published_order().unwrap_or_else(|| {
        format!(
            "device {}, {}, {} of {} trials kept, seed {}",
            claims.setting.device,
            units::plural(p.blocks, "block"),
            p.kept,
            p.planned,
            claims.setting.seed
        )
    });
    out.push_str(&wrap(&facts, width, "", ""));
    out.push('\n');
    let cells: Vec<&Cell> = claims.cells.iter().collect();
    for verdict in &claims.verdicts {
        let head = format!("{}: ", claims.subject(verdict));
        verdict_lines(&mut out, (&head, verdict), &cells, Style { width, colour });
    }
    out.push('\n');
    tables(&mut out, claims);
    doubts(&mut out, claims, Style { width, colour });
    out
}

#[derive(Clone, Copy)]
struct Style {
    width: usize,
    colour: bool,
}

impl Style {
    fn paint(self, text: &str, code: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

fn verdict_lines(
    out: &mut String,
    (head, verdict): (&str, &VerdictClaim),
    cells: &[&Cell],
    style: Style,
) {
    let indent = " ".repeat(head.chars().count());
    let text = wrap(&verdict.sentence, style.width, head, &indent);
    let code = match verdict.verdict {
        Verdict::Faster { .. } => "1;32",
        Verdict::Slower { .. } | Verdict::Invalid { .. } => "1;31",
        Verdict::Equivalent => "1;36",
        Verdict::Inconclusive { .. } => "1;33",
    };
    for line in text.lines() {
        let _ = writeln!(out, "{}", style.paint(line, code));
    }
    if let Some(basis) = basis(verdict, cells) {
        out.push_str(&wrap(&basis, style.width, &indent, &indent));
    }
}

fn tables(out: &mut String, claims: &Claims) {
    let mut traffics: Vec<&str> = claims.cells.iter().map(|c| c.traffic.as_str()).collect();
    traffics.dedup();
    for traffic in traffics {
        let cells: Vec<&Cell> = claims.cells.iter().filter(|c| c.traffic == traffic).collect();
        let _ = writeln!(out, "{}", table::cells(&cells, claims).plain());
    }
}

/// Whatever is not as it should be: criteria not met, failed trials, warnings.
fn doubts(out: &mut String, claims: &Claims, style: Style) {
    let mut say = |text: &str, code: &str| {
        for line in wrap(text, style.width, "", "  ").lines() {
            let _ = writeln!(out, "{}", style.paint(line, code));
        }
    };
    for badge in claims.badges.iter().filter(|b| b.state != State::Good) {
        let code = if badge.state == State::Bad { "31" } else { "33" };
        say(&format!("{}: {}: {}", badge.state.word(), badge.name, badge.text), code);
    }
    for failure in claims.cells.iter().flat_map(|c| &c.failed) {
        say(&format!("FAILED: {}: {}", failure.trial, failure.reason), "31");
    }
    for warning in &claims.warnings {
        say(&warning_text(warning), "33");
    }
}
