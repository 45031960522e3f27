//! `README.md`: the report for git, readable as plain text.
//!
//! The answer first: per family the verdict; what had to hold for it; the effects; the table; the
//! trials in their order; flame graphs; the user's notes; where it all comes from; the ministat
//! blocks.

use std::fmt::Write as _;

use super::flame::Flames;
use super::ministat_block::{Block, blocks, finds_difference};
use super::notes::Notes;
use super::table;
use super::text_table::wrap;
use fwdlab_claims::claim::{Cell, Claims, VerdictClaim};
use fwdlab_claims::units;
use fwdlab_results::Results;

/// Columns of running text.
const WIDTH: usize = 100;

/// What a report holds beside the claims.
pub struct Extras<'a> {
    /// The user's words.
    pub notes: &'a Notes,
    /// Flame graphs.
    pub flames: &'a Flames,
}

/// Renders the whole file.
pub fn readme(claims: &Claims, results: &Results, extras: &Extras<'_>) -> String {
    let mut out = String::with_capacity(16 * 1024);
    let _ = writeln!(out, "# {}\n", claims.title);
    out.push_str(&wrap(&claims.progress.line(&claims.setting), WIDTH, "", ""));
    out.push('\n');
    for traffic in &results.campaign.traffics {
        traffic_section(&mut out, traffic, claims, results);
    }
    validity(&mut out, claims);
    out.push_str("![Effects with their intervals](forest.png)\n\n");
    tables(&mut out, claims, results);
    out.push_str(&super::latency::table(results));
    let _ = writeln!(out, "![Forwarding rates](graph.png)\n");
    let has_cost = claims.cells.iter().any(|c| c.cost.is_some());
    if has_cost && claims.verdicts.iter().any(|v| v.metric == "cost") {
        out.push_str("![Device cost per frame](cost.png)\n\n");
    }
    out.push_str("![Every trial in the order of the run](run-order.png)\n\n");
    flame_graphs(&mut out, extras.flames);
    out.push_str(&extras.notes.markdown());
    provenance(&mut out, claims);
    ministat(&mut out, claims, results);
    out
}

/// What was measured and on what.
fn setting(out: &mut String, claims: &Claims) {
    for line in claims.setting.lines() {
        out.push_str(&wrap(&line, WIDTH, "- ", "  "));
    }
    for variant in &claims.setting.variants {
        let role = if claims.cells.iter().any(|c| c.is_baseline && c.variant == variant.name) {
            " (baseline)"
        } else {
            ""
        };
        let set: Vec<String> = variant.set.iter().map(|(k, v)| format!("`{k}={v}`")).collect();
        let set = match (set.is_empty(), logged_kernel(claims, &variant.name)) {
            (false, _) => set.join(", "),
            (true, Some(kernel)) => kernel,
            (true, None) => "default settings".to_owned(),
        };
        out.push_str(&wrap(&format!("{}{role}: {set}", variant.name), WIDTH, "- ", "  "));
    }
}

/// The kernel that all logs of an imported variant name.
fn logged_kernel(claims: &Claims, variant: &str) -> Option<String> {
    if claims.setting.is_blocked {
        return None;
    }
    let mut kernels =
        claims.cells.iter().filter(|c| c.variant == variant).map(|c| c.proof.get("uname"));
    let first = kernels.next().flatten();
    let is_one = kernels.all(|kernel| kernel == first);
    let Some(kernel) = first.filter(|_| is_one) else {
        return Some("no one kernel was logged".to_owned());
    };
    // who built it where stands below
    let words: Vec<&str> = kernel.split(' ').take_while(|word| !word.contains('@')).collect();
    Some(words.join(" "))
}

fn traffic_section(out: &mut String, traffic: &str, claims: &Claims, results: &Results) {
    let cells: Vec<&Cell> = claims.cells.iter().filter(|c| c.traffic == traffic).collect();
    let verdicts: Vec<&VerdictClaim> =
        claims.verdicts.iter().filter(|v| v.traffic == traffic).collect();
    let Some(family) = cells.first().map(|c| c.family) else { return };
    let is_only = claims.verdicts.iter().all(|v| v.family != family || v.traffic == traffic);
    if is_only {
        let _ = writeln!(out, "{}:\n", family.title());
    } else {
        let _ = writeln!(out, "{} ({traffic}):\n", family.title());
    }
    for cell in &cells {
        for failure in &cell.failed {
            let text = format!("FAILED: {}: {}", failure.trial, failure.reason);
            out.push_str(&wrap(&text, WIDTH, "", "    "));
            out.push('\n');
        }
    }
    for verdict in verdicts {
        verdict_lines(out, verdict, &cells);
        if let Some(text) = disagreement(verdict, claims, results) {
            out.push_str(&wrap(text, WIDTH, "   note: ", "     "));
        }
        for finding in &verdict.findings {
            let text = format!("warning: {}: {}", verdict.doubt(finding), finding.remedy());
            out.push_str(&wrap(&text, WIDTH, "   ", "     "));
        }
        out.push('\n');
    }
}

/// Why the verdict and the ministat block may say different things.
fn disagreement(
    verdict: &VerdictClaim,
    claims: &Claims,
    results: &Results,
) -> Option<&'static str> {
    let is_found = finds_difference(verdict, claims, results)?;
    match (verdict.verdict.word(), is_found) {
        ("faster" | "slower", false) => Some(
            "ministat proves no difference, because its t test takes all trials of a variant for \
             one sample; the verdict compares within blocks, where drift cancels",
        ),
        ("equivalent", true) => Some(
            "ministat proves a difference; with the interval inside the margin it is too small to \
             matter",
        ),
        ("inconclusive", true) => Some(
            "ministat finds a difference, but its t test takes the order of the trials for \
             random; within blocks the difference is not proven",
        ),
        _ => None,
    }
}

/// The raw blocks, as other people's tools print them.
fn ministat(out: &mut String, claims: &Claims, results: &Results) {
    out.push_str("\n## ministat\n\n");
    for traffic in &results.campaign.traffics {
        let with_cost = claims.verdicts.iter().any(|v| v.traffic == *traffic && v.metric == "cost");
        for block in blocks(traffic, claims, results, with_cost) {
            let _ = match block {
                Block::Text(text) => writeln!(out, "```\n{text}```\n"),
                Block::Missing(reason) => writeln!(out, "No ministat block: {reason}\n"),
            };
        }
    }
}

/// The sentence of a verdict and what it rests on.
fn verdict_lines(out: &mut String, verdict: &VerdictClaim, cells: &[&Cell]) {
    out.push_str(&wrap(&verdict.sentence, WIDTH, "=> ", "   "));
    if let Some(basis) = basis(verdict, cells) {
        out.push_str(&wrap(&basis, WIDTH, "   ", "   "));
    }
}

/// What the verdict compares, in figures of both variants.
pub fn basis(verdict: &VerdictClaim, cells: &[&Cell]) -> Option<String> {
    let find =
        |name: &str| cells.iter().find(|c| c.variant == name && c.traffic == verdict.traffic);
    let (baseline, variant) = (find(&verdict.baseline)?, find(&verdict.variant)?);
    let rates = match (baseline.rate, variant.rate) {
        (Some(b), Some(v)) => {
            format!("median {} against {}", units::rate(v.median), units::rate(b.median))
        }
        _ => return None,
    };
    let costs = match (baseline.cost, variant.cost) {
        (Some(b), Some(v)) => {
            Some(format!("{} ns/frame against {}", units::ns(v.median), units::ns(b.median)))
        }
        _ => None,
    };
    let paired = match verdict.comparison() {
        None => "(no comparison)".to_owned(),
        Some(c) if c.method.is_blocked() => {
            format!("({}, {})", units::plural(c.n.baseline, "block"), c.method.describe())
        }
        Some(c) => format!(
            "({} against {}, {}{})",
            units::plural(c.n.variant, "trial"),
            c.n.baseline,
            c.method.describe(),
            verdict.rank.map_or_else(String::new, |rank| {
                format!("; Mann-Whitney p {}", units::p_value(rank.p))
            })
        ),
    };
    Some(if verdict.metric == "cost" {
        let costs = costs.unwrap_or_else(|| "no device cost".to_owned());
        let rate_effect = verdict.rate.as_ref().map_or_else(String::new, |c| {
            let (low, high) = (c.interval95.low.percent(), c.interval95.high.percent());
            format!(" (change {})", units::percent_interval(low, high))
        });
        let time = verdict.cost.as_ref().map_or_else(String::new, |c| {
            let percent = (1.0 / c.estimate.ratio() - 1.0) * 100.0;
            format!(", time per frame {}", units::signed_percent(percent))
        });
        format!(
            "device cost {costs}{time} {paired}; the forwarding rate, {rates}{rate_effect}, does not \
             decide: the tester or the load bounded it in {} of {} trials",
            verdict.bounded,
            verdict.trials()
        )
    } else {
        let costs = costs.map(|c| format!("; device cost {c}")).unwrap_or_default();
        format!("{rates} {paired}{costs}")
    })
}

fn tables(out: &mut String, claims: &Claims, results: &Results) {
    out.push_str("## All figures\n\n");
    for traffic in &results.campaign.traffics {
        let cells: Vec<&Cell> = claims.cells.iter().filter(|c| c.traffic == *traffic).collect();
        let _ = writeln!(out, "{}", table::cells(&cells, claims).markdown());
    }
    out.push_str(&wrap(&table::legend(claims), WIDTH, "", ""));
    out.push('\n');
    if let Some(drops) = table::drops(claims) {
        let _ = writeln!(out, "Frames dropped by the device, by reason:\n\n{}", drops.markdown());
    } else {
        out.push_str(if !claims.setting.is_blocked {
            "What the device dropped is not in the logs.\n\n"
        } else {
            "The device dropped no frame in the kept trials.\n\n"
        });
    }
}

fn validity(out: &mut String, claims: &Claims) {
    out.push_str("## Checks\n\n");
    for badge in &claims.badges {
        let text = format!("{}: {}: {}", badge.state.word(), badge.name, badge.text);
        out.push_str(&wrap(&text, WIDTH, "- ", "  "));
    }
    for warning in &claims.warnings {
        out.push_str(&wrap(&warning_text(warning), WIDTH, "- ", "  "));
    }
    out.push('\n');
}

/// A warning with the trials that it concerns, a long list cut short.
pub fn warning_text(warning: &fwdlab_claims::claim::Warning) -> String {
    const SHOWN: usize = 4;
    let ids = &warning.trials;
    match ids.len() {
        0 => format!("warning: {}", warning.text),
        n if n <= SHOWN => format!("warning: {} ({})", warning.text, ids.join(", ")),
        n => format!(
            "warning: {} ({} and {} more trials)",
            warning.text,
            ids[..SHOWN].join(", "),
            n - SHOWN
        ),
    }
}

/// The flame graphs as links, and what changed between them.
fn flame_graphs(out: &mut String, flames: &Flames) {
    if flames.graphs.is_empty() && flames.refusals.is_empty() {
        return;
    }
    out.push_str("## Flame graphs\n\n");
    for graph in &flames.graphs {
        let _ = writeln!(out, "- [{}]({}): {}", graph.title, graph.file, graph.note);
    }
    for refusal in &flames.refusals {
        out.push_str(&wrap(refusal, WIDTH, "- ", "  "));
    }
    out.push('\n');
    for changes in &flames.changes {
        let _ = writeln!(out, "{}:\n\n{}", changes.title(), changes.table().markdown());
        out.push_str(&wrap(&changes.note, WIDTH, "", ""));
        out.push('\n');
    }
}

fn provenance(out: &mut String, claims: &Claims) {
    out.push_str("## Provenance\n\n");
    setting(out, claims);
    if !claims.setting.experiment_sha256.is_empty() {
        let _ = writeln!(out, "- experiment.toml: SHA-256 {}", claims.setting.experiment_sha256);
    }
    let is_read_back = claims.cells.iter().any(|c| !c.proof.is_empty());
    out.push_str(match (is_read_back, !claims.setting.is_blocked) {
        (true, false) => "- settings read back from the device:\n",
        (true, true) => "- as logged:\n",
        (false, _) => "- nothing was read back from the device\n",
    });
    for cell in claims.cells.iter().filter(|_| is_read_back) {
        let proof: Vec<String> = cell.proof.iter().map(|(k, v)| format!("`{k}={v}`")).collect();
        let proof = if proof.is_empty() { "nothing".to_owned() } else { proof.join(", ") };
        let text = format!("{} / {}: {proof}", cell.traffic, cell.variant);
        out.push_str(&wrap(&text, WIDTH, "  - ", "    "));
    }
    out.push_str("- every single trial with its raw intervals: trials.jsonl; statements as data: claims.json\n");
    let _ = writeln!(out, "- run it again: `{}`", claims.setting.command);
    out.push_str("- make this report again from the journal: `fwdlab report DIR`\n");
}
