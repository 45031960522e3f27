//! The tables of a report, the same in every rendering.

use std::collections::{BTreeMap, BTreeSet};

use fwdlab_claims::claim::{Cell, Claims, VerdictClaim};
use fwdlab_claims::setting::{LINKS, line_rate};
use fwdlab_claims::words;
use fwdlab_figures::text_table::{Side, TextTable};
use fwdlab_guard::words::without_sentence;
use fwdlab_results::units::{self, RateUnit};
use fwdlab_results::{Measure, Metric, Tick};

/// What the columns of [`cells`] mean.
pub const LEGEND: &str = "n: trials kept, of those planned where they differ. 95% interval: of the \
    median, from order statistics; none below six trials. vs: change of the figure that decides \
    (the quoted estimate) with its 95% interval; * marks the device cost. ns/frame: median \
    device cost. of N Gb/s: share of the line rate of the slowest common link that could carry the \
    rates. p: of no change, corrected for several variants. CV: standard deviation / mean of the rates. limited by: what bounded the rate.";

/// [`LEGEND`] for these claims: without blocks every variant is compared by
/// itself.
pub fn legend(claims: &Claims) -> String {
    let mut legend = LEGEND.to_owned();
    let level = words::levels(claims.verdicts.iter().filter_map(VerdictClaim::comparison));
    legend = legend.replace("with its 95% interval", &format!("with its {level}% interval"));
    let is_shared = |v: &VerdictClaim| v.comparison().is_some_and(|c| c.correction.is_some());
    if claims.setting.is_blocked && claims.verdicts.iter().any(is_shared) {
        legend = legend.replace("for several variants", "for several variants and traffics");
    }
    if !claims.setting.is_blocked {
        legend = legend.replace(
            ", corrected for several variants",
            " (the larger of Welch's and Mann-Whitney's)",
        );
    }
    if claims.setting.about.tick == Tick::Instruction {
        legend = legend.replace(
            "ns/frame: median",
            "pps: frames in 10^9 instructions. instructions/frame: median",
        );
    }
    let whole = claims.cells.iter().filter_map(|cell| {
        let rate = units::rate(cell.whole_rate?);
        Some(format!("{rate} ({}, {})", cell.traffic, cell.variant))
    });
    let whole: Vec<String> = whole.collect();
    if !whole.is_empty() {
        legend.push_str(&format!(
            " {BURSTS}: frames were lost in bursts, and the median interval does not tell the rate: all frames of a \
             trial together came at {}.",
            whole.join(", ")
        ));
    }
    if claims.verdicts.iter().any(|verdict| mark(verdict.metric) == OWN) {
        let cost = "* marks the device cost";
        let own = format!("{cost}, {OWN} the figure of the traffic's measure");
        legend = legend.replace(cost, &own).replace(
            "mean of the rates.",
            "mean of the figures. forwarded: median rate of the frames beside the measure.",
        );
    }
    let heads = heads(claims);
    for (what, head) in OPTIONAL {
        if !heads.iter().any(|own| own.ends_with(head)) {
            legend = without_sentence(&legend, what);
        }
    }
    legend
}

/// Of columns that not every table has: how what is said of one begins, and how its head ends.
const OPTIONAL: [(&str, &str); 4] = [
    ("pps: ", "/frame"),
    ("/frame: ", "/frame"),
    ("of N Gb/s: ", " Gb/s"),
    ("limited by: ", "limited by"),
];

/// What stands above the columns of all tables.
fn heads(claims: &Claims) -> Vec<String> {
    let traffics: BTreeSet<&str> = claims.cells.iter().map(|cell| cell.traffic.as_str()).collect();
    let tables = traffics.into_iter().map(|traffic| {
        let own = claims.cells.iter().filter(|cell| cell.traffic == traffic);
        cells(&own.collect::<Vec<_>>(), claims)
    });
    tables.flat_map(|table| table.heads().map(str::to_owned).collect::<Vec<_>>()).collect()
}

/// One row per variant of a traffic.
pub fn cells(cells: &[&Cell], claims: &Claims) -> TextTable {
    if cells.iter().any(|cell| cell.own.is_some())
        && let Some(measure) = own_measure(cells, claims)
    {
        return own_cells(cells, claims, measure);
    }
    let best = cells.iter().filter_map(|c| c.rate).map(|r| r.median).fold(0.0, f64::max);
    let unit = RateUnit::of(best);
    // Frames in so many instructions are no rate of a line.
    let is_timed = claims.setting.about.tick.is_nanosecond();
    let frame_bytes = cells.iter().find_map(|c| c.frame_bytes).filter(|_| is_timed);
    let link = frame_bytes.and_then(|bytes| link_for(best, bytes));
    let traffic = cells.first().map_or("", |c| c.traffic.as_str());
    let baseline = cells.iter().find(|c| c.is_baseline).map_or("", |c| c.variant.as_str());
    // Where all FAILED nobody knows a figure, nor its unit.
    let has_figures = cells.iter().any(|cell| cell.rate.is_some());
    let median = if has_figures { format!("median {}", unit.name()) } else { "median".to_owned() };
    let columns = [
        (traffic.to_owned(), Side::Left),
        ("n".to_owned(), Side::Right),
        (median, Side::Right),
        ("95% interval".to_owned(), Side::Right),
        (format!("vs {baseline}"), Side::Right),
        ("p".to_owned(), Side::Right),
        (claims.setting.about.tick.each().to_owned(), Side::Right),
        (link.map_or_else(|| "line rate".to_owned(), |g| format!("of {g} Gb/s")), Side::Right),
        ("CV".to_owned(), Side::Right),
        ("limited by".to_owned(), Side::Left),
    ];
    let mut table = TextTable::new(columns.into_iter().take(if has_figures { 10 } else { 3 }));
    for cell in cells {
        table.row(row(cell, claims, unit, link));
    }
    table
}

/// The measure of a traffic that has a figure of its own.
fn own_measure(cells: &[&Cell], claims: &Claims) -> Option<Measure> {
    let traffic = cells.first()?.traffic.as_str();
    let verdict = claims.verdicts.iter().find(|v| v.traffic == traffic)?;
    match Metric::named(verdict.metric)? {
        Metric::Own(measure) => Some(measure),
        _ => None,
    }
}

/// The same of a measure that has a figure of its own, on which its verdict rests.
fn own_cells(cells: &[&Cell], claims: &Claims, measure: Measure) -> TextTable {
    let tick = claims.setting.about.tick;
    let traffic = cells.first().map_or("", |c| c.traffic.as_str());
    let baseline = cells.iter().find(|c| c.is_baseline).map_or("", |c| c.variant.as_str());
    // Most of these measures have no limit: a column of dashes would only push the others from the page.
    let is_limited = cells.iter().any(|cell| cell.limits() != "-");
    let columns = [
        (traffic.to_owned(), Side::Left),
        ("n".to_owned(), Side::Right),
        (format!("median {}", measure.title()), Side::Right),
        ("95% interval".to_owned(), Side::Right),
        (format!("vs {baseline}"), Side::Right),
        ("p".to_owned(), Side::Right),
        ("CV".to_owned(), Side::Right),
        ("forwarded".to_owned(), Side::Right),
        ("limited by".to_owned(), Side::Left),
    ];
    let count = columns.len() - usize::from(!is_limited);
    let mut table = TextTable::new(columns.into_iter().take(count));
    let show = |value: f64| units::figure(value, measure.unit_in(tick));
    let none = || "-".to_owned();
    for cell in cells {
        let own = cell.own.as_ref();
        let n = own.map_or(0, |own| own.n);
        let n = if n == cell.planned { n.to_string() } else { format!("{n} of {}", cell.planned) };
        let interval = own.and_then(|own| own.interval);
        let (effect, p) = effect_of(cell, claims);
        let row = [
            cell.variant.clone(),
            n,
            own.map_or_else(none, |own| show(own.median)),
            interval.map_or_else(none, |ends| format!("[{}, {}]", show(ends[0]), show(ends[1]))),
            effect,
            p,
            own.and_then(|own| own.variation()).map_or_else(none, units::share),
            cell.rate.map_or_else(none, |rate| units::rate(rate.median)),
            cell.limits(),
        ];
        table.row(row.into_iter().take(count).collect());
    }
    table
}

/// The effect of a variant, and its p; of the baseline neither.
fn effect_of(cell: &Cell, claims: &Claims) -> (String, String) {
    let is_own = |v: &&VerdictClaim| v.variant == cell.variant && v.traffic == cell.traffic;
    let verdict = claims.verdicts.iter().find(is_own);
    verdict.map_or_else(|| ("-".to_owned(), "-".to_owned()), effect_and_p)
}

/// The slowest common link, in Gb/s, that carries `best` frames/s of this
/// length; a median may exceed its line rate by the tolerance of clocks.
fn link_for(best: f64, frame_bytes: u16) -> Option<f64> {
    LINKS.into_iter().find(|gigabits| best <= 1.001 * line_rate(*gigabits, frame_bytes))
}

fn row(cell: &Cell, claims: &Claims, unit: RateUnit, link: Option<f64>) -> Vec<String> {
    let n = if cell.kept.len() == cell.planned {
        cell.planned.to_string()
    } else {
        format!("{} of {}", cell.kept.len(), cell.planned)
    };
    let none = || "-".to_owned();
    let Some(rate) = cell.rate else {
        let median = if cell.failed.is_empty() { none() } else { "FAILED".to_owned() };
        let rest = std::iter::repeat_with(none).take(6);
        return [cell.variant.clone(), n, median].into_iter().chain(rest).collect();
    };
    let interval = rate
        .interval
        .map_or_else(none, |[low, high]| format!("[{}, {}]", unit.show(low), unit.show(high)));
    let (effect, p) = effect_of(cell, claims);
    vec![
        cell.variant.clone(),
        n,
        unit.show(rate.median) + if cell.whole_rate.is_some() { BURSTS } else { "" },
        interval,
        effect,
        p,
        cell.cost.map_or_else(none, |c| units::ns(c.median)),
        link.zip(cell.frame_bytes).map_or_else(none, |(gigabits, bytes)| {
            units::share(rate.median / line_rate(gigabits, bytes))
        }),
        rate.variation().map_or_else(none, units::share),
        cell.limits(),
    ]
}

/// The effect that decides with its interval, and its p. Without a proven
/// difference no percentage stands alone: the word says what is known.
fn effect_and_p(verdict: &VerdictClaim) -> (String, String) {
    let (Some(c), Some([change, interval])) = (verdict.comparison(), verdict.change()) else {
        return (verdict.word().to_owned(), "-".to_owned());
    };
    let mark = mark(verdict.metric);
    let effect = match verdict.verdict.word() {
        "faster" | "slower" => format!("{change} {interval}{mark}"),
        "invalid" => "invalid".to_owned(),
        word => format!("{word} {interval}{mark}"),
    };
    let p = if effect == "invalid" { "-".to_owned() } else { units::p_value(c.p) };
    (effect, p)
}

/// Marks the change of a figure that the traffic's measure has of its own.
const OWN: &str = "+";
/// Behind a rate that is told by the median interval, while frames were lost in bursts.
const BURSTS: &str = "~";

/// What stands behind a change of another figure than the rate.
pub fn mark(metric: &str) -> &'static str {
    match metric {
        "rate" => "",
        "cost" => "*",
        _ => OWN,
    }
}

/// Drops by reason; `None` when there were none, or nobody counted them.
pub fn drops(claims: &Claims) -> Option<TextTable> {
    let reasons: BTreeSet<&str> = claims
        .cells
        .iter()
        .flat_map(|c| c.drops.iter().flatten())
        .map(|(r, _)| r.as_str())
        .collect();
    if reasons.is_empty() {
        return None;
    }
    let names = ["traffic", "variant"].map(|n| (n.to_owned(), Side::Left));
    let columns = reasons.iter().map(|r| ((*r).to_owned(), Side::Right));
    let mut table = TextTable::new(names.into_iter().chain(columns));
    for cell in &claims.cells {
        let count = |reason: &&str| match &cell.drops {
            Some(drops) => units::count(drops.get(*reason).copied().unwrap_or(0)),
            None => "not counted".to_owned(),
        };
        let counts = reasons.iter().map(count);
        let names = [cell.traffic.clone(), cell.variant.clone()];
        table.row(names.into_iter().chain(counts).collect());
    }
    Some(table)
}

/// Every control word of every variant: as asked for, and as the device read
/// it back where that differs or was not asked for.
pub fn settings(claims: &Claims) -> TextTable {
    let variants = &claims.setting.variants;
    let proofs: Vec<BTreeMap<&str, &str>> =
        variants.iter().map(|v| proof(claims, &v.name)).collect();
    let words: BTreeSet<&str> = variants
        .iter()
        .flat_map(|v| v.set.keys().map(String::as_str))
        .chain(proofs.iter().flat_map(|p| p.keys().copied()))
        .collect();
    let names = variants.iter().map(|v| (v.name.clone(), Side::Left));
    let mut table =
        TextTable::new(std::iter::once(("setting".to_owned(), Side::Left)).chain(names));
    for word in words {
        let cells = variants.iter().zip(&proofs).map(|(variant, proof)| {
            match (variant.set.get(word).map(String::as_str), proof.get(word).copied()) {
                (Some(asked), Some(read)) if asked == read => asked.to_owned(),
                (Some(asked), Some(read)) => format!("{asked} (read back: {read})"),
                (Some(asked), None) => format!("{asked} (not read back)"),
                (None, Some(read)) => format!("read back: {read}"),
                (None, None) => "-".to_owned(),
            }
        });
        table.row(std::iter::once(word.to_owned()).chain(cells).collect());
    }
    table
}

/// What the device read back under a variant, over all traffics.
fn proof<'a>(claims: &'a Claims, variant: &str) -> BTreeMap<&'a str, &'a str> {
    let cells = claims.cells.iter().filter(|c| c.variant == variant);
    cells.flat_map(|c| &c.proof).map(|(k, v)| (k.as_str(), v.as_str())).collect()
}
