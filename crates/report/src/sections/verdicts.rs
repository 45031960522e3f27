//! The verdicts, and what each rests on.

use fwdlab_claims::blocks::Next;
use fwdlab_claims::claim::{Cell, Spread, VerdictClaim};
use fwdlab_claims::{units, words};
use fwdlab_results::Metric;

use super::failures;
use crate::block::{Block, Doubt, Statement};
use crate::listing::finds_difference;
use crate::source::Source;

/// One after the other.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    source.claims.verdicts.iter().map(|verdict| block(verdict, source)).collect()
}

/// Traffic by traffic, each with the trials of it that failed.
pub fn by_traffic<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let mut blocks = Vec::new();
    for (traffic, cells) in source.cells() {
        let Some(cell) = cells.first() else { continue };
        blocks.push(Block::Label(source.claims.subject(cell.family, traffic)));
        blocks.extend(failures::of(&cells));
        let verdicts = source.claims.verdicts.iter().filter(|v| v.traffic == traffic);
        blocks.extend(verdicts.map(|verdict| block(verdict, source)));
    }
    blocks
}

fn block<'a>(verdict: &'a VerdictClaim, source: &Source<'a>) -> Block<'a> {
    let doubts = verdict
        .findings
        .iter()
        .map(|finding| Doubt { text: verdict.doubt(finding), remedy: finding.remedy().to_owned() });
    Block::Verdict(Box::new(Statement {
        subject: source.claims.subject(verdict.family, &verdict.traffic),
        family: verdict.family.title(),
        traffic: &verdict.traffic,
        variant: &verdict.variant,
        word: verdict.word(),
        sentence: &verdict.sentence,
        basis: basis(verdict, &source.claims.cells).map(|basis| basis + &next_run(verdict)),
        elsewhere: verdict.saved.as_ref().map(words::elsewhere),
        note: disagreement(verdict, source),
        doubts: doubts.collect(),
    }))
}

/// Why the verdict and the ministat listing may say different things.
fn disagreement(verdict: &VerdictClaim, source: &Source<'_>) -> Option<&'static str> {
    let is_found = finds_difference(verdict, source.claims, source.results)?;
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

/// What the verdict compares, in figures of both variants.
fn basis(verdict: &VerdictClaim, cells: &[Cell]) -> Option<String> {
    let find =
        |name: &str| cells.iter().find(|c| c.variant == name && c.traffic == verdict.traffic);
    let (baseline, variant) = (find(&verdict.baseline)?, find(&verdict.variant)?);
    let against = |old: Option<Spread>, new: Option<Spread>| Some((old?.median, new?.median));
    if let Some(Metric::Own(own)) = Metric::named(verdict.metric) {
        let (old, new) = against(baseline.own, variant.own)?;
        let [old, new] = [old, new].map(|figure| units::figure(figure, own.unit()));
        return Some(format!("median {new} against {old} {}", method(verdict)));
    }
    let (old, new) = against(baseline.rate, variant.rate)?;
    let rates = format!("median {} against {}", units::rate(new), units::rate(old));
    let costs = against(baseline.cost, variant.cost)
        .map(|(old, new)| format!("{} ns/frame against {}", units::ns(new), units::ns(old)));
    let method = method(verdict);
    if verdict.metric != "cost" {
        let costs = costs.map(|costs| format!("; device cost {costs}")).unwrap_or_default();
        return Some(format!("{rates} {method}{costs}"));
    }
    let costs = costs.unwrap_or_else(|| "no device cost".to_owned());
    let change = verdict.rate.as_ref().map_or_else(String::new, |c| {
        let (low, high) = (c.interval95.low.percent(), c.interval95.high.percent());
        format!(" (change {})", units::percent_interval(low, high))
    });
    let time = verdict.cost.as_ref().map_or_else(String::new, |c| {
        let percent = (1.0 / c.estimate.ratio() - 1.0) * 100.0;
        format!(", time per frame {}", units::signed_percent(percent))
    });
    Some(format!(
        "device cost {costs}{time} {method}; the forwarding rate, {rates}{change}, does not \
         decide: the tester or the load bounded it, alone or together with the device, in {} of \
         {} trials",
        verdict.bounded,
        verdict.trials()
    ))
}

/// What the next run of the experiment will show: `; the next run of this experiment will show
/// [+8.1 %, +9.4 %] with its cores 60 ns apart as here (from 8 processes, which differ by 0.6 %)`.
fn next_run(verdict: &VerdictClaim) -> String {
    let Some(Next { run, roundtrips_ns }) = &verdict.next else { return String::new() };
    let interval = units::percent_interval(run.interval.low.percent(), run.interval.high.percent());
    let apart = match roundtrips_ns {
        Some([low, high]) if low.round() < high.round() => {
            format!(" with its cores {low:.0} to {high:.0} ns apart as here")
        }
        Some([low, _]) => format!(" with its cores {low:.0} ns apart as here"),
        None => String::new(),
    };
    let spread = units::share(run.between);
    let blocks = match run.within {
        Some(within) => format!(", blocks within them by {}", units::share(within)),
        None => " from block to block".to_owned(),
    };
    format!(
        "; the next run of this experiment will show {interval}{apart} (from {} processes, which \
         differ by {spread}{blocks})",
        run.processes
    )
}

/// How many were compared, and how: `(8 blocks, paired t on log ratios within blocks)`.
fn method(verdict: &VerdictClaim) -> String {
    match verdict.comparison() {
        None => "(no comparison)".to_owned(),
        Some(c) if c.method.is_blocked() => {
            let blocks = units::plural(c.n.baseline, "block");
            format!("({blocks}, {}; quoted: {})", c.method.describe(), words::quoted(c))
        }
        Some(c) => format!(
            "({} against {}, {}; quoted: {}{})",
            units::plural(c.n.variant, "trial"),
            c.n.baseline,
            c.method.describe(),
            words::quoted(c),
            verdict.rank.map_or_else(String::new, |rank| {
                format!("; Mann-Whitney p {}", units::p_value(rank.p))
            })
        ),
    }
}
