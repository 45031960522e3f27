//! Short renderings for other places: commit messages and CI step summaries.

use std::fmt::Write as _;

use super::ministat_block::{Block, blocks};
use super::readme::{basis, warning_text};
use super::table;
use super::text_table::wrap;
use fwdlab_claims::claim::{Cell, Claims, State};
use fwdlab_claims::units;
use fwdlab_results::Results;

/// Columns of a commit message.
const COMMIT_WIDTH: usize = 72;

/// The verdicts as plain text of at most 72 columns: to stand in a commit
/// message.
pub fn commit(claims: &Claims) -> String {
    let mut out = wrap(&claims.title, COMMIT_WIDTH, "", "");
    out.push('\n');
    let cells: Vec<&Cell> = claims.cells.iter().collect();
    for verdict in &claims.verdicts {
        let head = format!("{}: ", claims.subject(verdict));
        out.push_str(&wrap(&verdict.sentence, COMMIT_WIDTH, &head, "      "));
        if let Some(basis) = basis(verdict, &cells) {
            out.push_str(&wrap(&basis, COMMIT_WIDTH, "      ", "      "));
        }
        for finding in &verdict.findings {
            out.push_str(&wrap(&verdict.doubt(finding), COMMIT_WIDTH, "      warning: ", "      "));
        }
    }
    out.push('\n');
    for badge in claims.badges.iter().filter(|b| b.state != State::Good) {
        let text = format!("{}: {}: {}", badge.state.word(), badge.name, badge.text);
        out.push_str(&wrap(&text, COMMIT_WIDTH, "", "  "));
    }
    for line in claims.setting.lines() {
        out.push_str(&wrap(&line, COMMIT_WIDTH, "- ", "  "));
    }
    let p = &claims.progress;
    let order = claims.published_order().unwrap_or_else(|| {
        format!(
            "{} in random order, {} of {} trials kept, seed {}, experiment SHA-256 {:.12}",
            units::plural(p.blocks, "block"),
            p.kept,
            p.planned,
            claims.setting.seed,
            claims.setting.experiment_sha256
        )
    });
    out.push_str(&wrap(&order, COMMIT_WIDTH, "- ", "  "));
    out
}

/// A step summary: verdicts, badges, tables, the ministat blocks folded away.
pub fn github(claims: &Claims, results: &Results) -> String {
    let mut out = format!("## {}\n\n", claims.title);
    let cells: Vec<&Cell> = claims.cells.iter().collect();
    for verdict in &claims.verdicts {
        let sign = match verdict.verdict.word() {
            "faster" => ":arrow_up:",
            "slower" => ":arrow_down:",
            "equivalent" => ":heavy_equals_sign:",
            "invalid" => ":x:",
            _ => ":grey_question:",
        };
        let _ = writeln!(out, "- {sign} **{}**: {}", claims.subject(verdict), verdict.sentence);
        if let Some(basis) = basis(verdict, &cells) {
            let _ = writeln!(out, "  <br>{basis}");
        }
        for finding in &verdict.findings {
            let text = verdict.doubt(finding);
            let _ = writeln!(out, "  <br>:warning: {text}: {}", finding.remedy());
        }
    }
    out.push('\n');
    for badge in &claims.badges {
        let sign = match badge.state {
            State::Good => ":white_check_mark:",
            State::Warn => ":warning:",
            State::Bad => ":x:",
        };
        let _ = writeln!(out, "{sign} {}: {}<br>", badge.name, badge.text);
    }
    for warning in &claims.warnings {
        let _ = writeln!(out, ":warning: {}<br>", warning_text(warning));
    }
    for failure in claims.cells.iter().flat_map(|c| &c.failed) {
        let _ = writeln!(out, ":x: FAILED: {}: {}<br>", failure.trial, failure.reason);
    }
    out.push('\n');
    for traffic in &results.campaign.traffics {
        let cells: Vec<&Cell> = claims.cells.iter().filter(|c| c.traffic == *traffic).collect();
        let _ = writeln!(out, "{}", table::cells(&cells, claims).markdown());
    }
    out.push_str("<details><summary>ministat</summary>\n\n");
    for traffic in &results.campaign.traffics {
        let with_cost = claims.verdicts.iter().any(|v| v.traffic == *traffic && v.metric == "cost");
        for block in blocks(traffic, claims, results, with_cost) {
            let _ = match block {
                Block::Text(text) => writeln!(out, "```\n{text}```\n"),
                Block::Missing(reason) => writeln!(out, "No ministat block: {reason}\n"),
            };
        }
    }
    out.push_str("</details>\n");
    out
}
