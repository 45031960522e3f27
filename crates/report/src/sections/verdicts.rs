//! The verdicts, and what each rests on.

use fwdlab_claims::blocks::Next;
use fwdlab_claims::claim::{Claims, Spread, VerdictClaim};
use fwdlab_claims::words;
use fwdlab_results::Metric;
use fwdlab_results::units;
use fwdlab_stats::{percent_interval, signed_percent};

use super::failures;
use crate::block::{Block, Statement};
use crate::listing::finds_difference;
use crate::source::Source;
use fwdlab_claims::causes;

/// One after the other.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let common = common_method(source.claims);
    let mut blocks = listed(source.claims.verdicts.iter(), source, common.is_some());
    blocks.extend(common.map(|method| how(&method)));
    blocks
}

/// Each verdict, and those that are invalid for the same causes as one.
fn listed<'a>(
    verdicts: impl Iterator<Item = &'a VerdictClaim>,
    source: &Source<'a>,
    is_common: bool,
) -> Vec<Block<'a>> {
    let one = |group: Vec<&'a VerdictClaim>| match &group[..] {
        [verdict] => block(verdict, source, is_common),
        group => Block::Invalid(Box::new(causes::together(group, source.claims))),
    };
    causes::grouped(verdicts).into_iter().map(one).collect()
}

/// How all verdicts were found, where they were found alike.
fn how<'a>(method: &str) -> Block<'a> {
    Block::Paragraph(format!("Each of these: {method}."))
}

/// The method of all verdicts; `None` where there is one verdict, or they have several.
fn common_method(claims: &Claims) -> Option<String> {
    let mut methods = claims.verdicts.iter().map(method);
    let first = methods.next()??;
    let rest: Vec<_> = methods.collect();
    let is_common = !rest.is_empty() && rest.iter().all(|other| other.as_ref() == Some(&first));
    is_common.then_some(first)
}

/// Traffic by traffic, each with the trials of it that failed.
pub fn by_traffic<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let (mut blocks, common) = (Vec::new(), common_method(source.claims));
    for (traffic, cells) in source.cells() {
        let Some(cell) = cells.first() else { continue };
        blocks.push(Block::Label(source.claims.subject(cell.family, traffic)));
        blocks.extend(failures::of(&cells));
        let verdicts = source.claims.verdicts.iter().filter(|v| v.traffic == traffic);
        blocks.extend(listed(verdicts, source, common.is_some()));
    }
    blocks.extend(common.map(|method| how(&method)));
    blocks
}

fn block<'a>(verdict: &'a VerdictClaim, source: &Source<'a>, is_common: bool) -> Block<'a> {
    let is_invalid = causes::is_invalid(verdict);
    Block::Verdict(Box::new(Statement {
        subject: source.claims.subject(verdict.family, &verdict.traffic),
        family: verdict.family.title(),
        traffic: &verdict.traffic,
        variant: &verdict.variant,
        word: verdict.word(),
        sentence: words::without_causes(&verdict.sentence, &verdict.verdict, &verdict.findings),
        basis: basis(verdict, source.claims, is_common).map(|basis| match is_invalid {
            true => basis,
            false => basis + &next_run(verdict),
        }),
        elsewhere: verdict.saved.as_ref().and_then(words::elsewhere),
        note: disagreement(verdict, source),
        doubts: causes::doubts(verdict),
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
fn basis(verdict: &VerdictClaim, claims: &Claims, is_common: bool) -> Option<String> {
    let find = |name: &str| {
        claims.cells.iter().find(|c| c.variant == name && c.traffic == verdict.traffic)
    };
    let (baseline, variant) = (find(&verdict.baseline)?, find(&verdict.variant)?);
    // What holds for all is said once, below them.
    let method = match is_common {
        true => String::new(),
        false => format!(" ({})", method(verdict).unwrap_or_else(|| "no comparison".to_owned())),
    };
    let against = |old: Option<Spread>, new: Option<Spread>| Some((old?.median, new?.median));
    if let Some(Metric::Own(own)) = Metric::named(verdict.metric) {
        let (old, new) = against(baseline.own, variant.own)?;
        let unit = own.unit_in(claims.setting.about.tick);
        let [old, new] = [old, new].map(|figure| units::figure(figure, unit));
        return Some(format!("median {new} against {old}{method}"));
    }
    let (old, new) = against(baseline.rate, variant.rate)?;
    let rates = format!("median {} against {}", units::rate(new), units::rate(old));
    let tick = claims.setting.about.tick.each();
    let costs = against(baseline.cost, variant.cost)
        .map(|(old, new)| format!("{} {tick} against {}", units::ns(new), units::ns(old)));
    if verdict.metric != "cost" {
        let costs = costs.map(|costs| format!("; device cost {costs}")).unwrap_or_default();
        return Some(format!("{rates}{method}{costs}"));
    }
    let costs = costs.unwrap_or_else(|| "no device cost".to_owned());
    // What is not to be compared has no change, and what is not proven no percentage of its own.
    let (is_valid, is_proven) = match verdict.verdict.word() {
        "invalid" => (false, false),
        word => (true, ["faster", "slower"].contains(&word)),
    };
    let change = verdict.rate.as_ref().filter(|_| is_valid).map_or_else(String::new, |c| {
        let (low, high) = (c.interval95.low.percent(), c.interval95.high.percent());
        format!(" (change {})", percent_interval(low, high))
    });
    let time = verdict.cost.as_ref().filter(|_| is_proven).map_or_else(String::new, |c| {
        let percent = (1.0 / c.estimate.ratio() - 1.0) * 100.0;
        let what = if verdict.tick.is_nanosecond() { "time" } else { "instructions" };
        format!("; block by block the {what} per frame changed by {}", signed_percent(percent))
    });
    // Where nothing was compared there are no trials to count.
    let bounded = match verdict.trials() {
        0 => String::new(),
        all => format!(
            ": the tester or the load bounded it, alone or together with the device, in {} of {}",
            verdict.bounded,
            units::plural(all, "trial")
        ),
    };
    Some(format!(
        "device cost, median of all trials, {costs}{time}{method}; the forwarding rate, {rates}{change}, does not \
         decide{bounded}"
    ))
}

/// What the next run of the experiment will show: `; the next run of this experiment will show
/// [+8.1 %, +9.4 %] with its cores 60 ns apart as here (from 8 processes, which differ by 0.6 %)`.
fn next_run(verdict: &VerdictClaim) -> String {
    let Some(Next { run, roundtrips_ns }) = &verdict.next else { return String::new() };
    let interval = verdict.interval([run.interval.low, run.interval.high]);
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

/// How many were compared, and how: `8 blocks, paired t on log ratios within blocks`.
fn method(verdict: &VerdictClaim) -> Option<String> {
    let c = verdict.comparison()?;
    let (described, quoted) = (c.method.describe(), words::quoted(c));
    if c.method.is_blocked() {
        let blocks = units::plural(c.n.baseline, "block");
        return Some(format!("{blocks}, {described}; quoted: {quoted}"));
    }
    let rank = verdict.rank.map(|rank| format!("; Mann-Whitney p {}", units::p_value(rank.p)));
    let trials = units::plural(c.n.variant, "trial");
    let rank = rank.unwrap_or_default();
    Some(format!("{trials} against {}, {described}; quoted: {quoted}{rank}", c.n.baseline))
}
