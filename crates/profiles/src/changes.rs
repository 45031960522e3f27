//! Where the change is: what each function costs a frame with the baseline and with the variant.
//!
//! A profile says which share of the device's time was spent in which function; times the measured
//! cost per frame, that is the function's part of it, and all parts together are the whole. Each
//! function is asked whether it costs the same on both sides: given the samples of both, those of
//! the variant are binomial, with the share that equal costs would give them (an exact test of two
//! Poisson rates). So many functions are asked that some differ by chance, so that the expected share
//! of false ones among those that are named is kept at 5 % (Benjamini and Hochberg).

use std::collections::{BTreeMap, BTreeSet};

use fwdlab_claims::claim::{Cell, Claims, VerdictClaim};
use fwdlab_figures::text_table::{Side as Column, TextTable};
use fwdlab_results::Tick;
use fwdlab_results::functions::{Folded, Function, Side, folded, totals};
use fwdlab_results::units;
use fwdlab_stats::distribution::{normal_quantile, share_two_sided};
use fwdlab_stats::multiple::{Correction, Kind};
use fwdlab_stats::signed_percent;

use crate::profile::{Profile, Profiles};

/// Expected share of false ones among the functions that are named.
const FALSE_DISCOVERIES: f64 = 0.05;
/// Most functions that are named; the others are one row.
const ROWS: usize = 12;
/// A function with fewer samples than this on both sides together can never differ: p would be 0.06
/// at the least.
const LEAST_SAMPLES: u64 = 6;
/// One function carries a change when it is at least this share of all that is named.
const CARRIES: f64 = 0.5;

/// Where a variant's cost differs from the baseline's.
#[derive(Debug, Clone, PartialEq)]
pub struct Changes {
    /// Name of the variant.
    pub variant: String,
    /// Name of the baseline.
    pub baseline: String,
    /// Name of the traffic.
    pub traffic: String,
    /// What the two parts of a row are in: `instructions/frame`, or shares where no cost is known.
    unit: Option<Tick>,
    /// The functions that differ, the largest change first.
    rows: Vec<Change>,
    /// Functions that are not named.
    others: usize,
    /// How many of them differ all the same.
    unnamed: usize,
    /// The cost of all functions: baseline, variant.
    totals: [f64; 2],
    /// Whether the totals' own verdict names no difference.
    is_open: bool,
    /// The margin of the verdict as a ratio.
    margin: f64,
    /// What each stack costs with the baseline and with the variant; the same where its innermost function does not
    /// differ beyond chance.
    stacks: Vec<(String, [f64; 2])>,
}

/// One function.
#[derive(Debug, Clone, PartialEq)]
struct Change {
    name: String,
    folded: Vec<String>,
    /// As they are printed.
    costs: [f64; 2],
    /// Where the change lies, before rounding.
    interval: [f64; 2],
}

impl Change {
    fn change(&self) -> f64 {
        self.costs[1] - self.costs[0]
    }
}

/// Where each verdict's variant differs from its baseline, as far as there are profiles of both.
pub fn changes(claims: &Claims, profiles: &Profiles) -> Vec<Changes> {
    let pairs = claims.verdicts.iter().filter_map(|verdict| {
        let find = |variant: &str| profiles.find(variant, &verdict.traffic);
        Some((verdict, [find(&verdict.baseline)?, find(&verdict.variant)?]))
    });
    pairs.map(|(verdict, both)| Changes::of(verdict, both, costs(claims, verdict))).collect()
}

/// The median device costs of both variants of a verdict, where there are any.
fn costs(claims: &Claims, verdict: &VerdictClaim) -> Option<[f64; 2]> {
    let cost = |variant: &str| {
        let is_same = |c: &&Cell| c.variant == variant && c.traffic == verdict.traffic;
        claims.cells.iter().find(is_same)?.cost.map(|c| c.median)
    };
    let both = [cost(&verdict.baseline)?, cost(&verdict.variant)?];
    both.iter().all(|cost| *cost > 0.0).then_some(both)
}

impl Changes {
    fn of(verdict: &VerdictClaim, both: [&Profile; 2], costs: Option<[f64; 2]>) -> Self {
        let per_frame = |k: usize| costs.map_or(1.0, |all| both[k].time_per_frame(all[k]));
        let totals_of = [per_frame(0), per_frame(1)];
        let side = |k: usize| {
            let weight = totals_of[k] / both[k].busy_samples().max(1) as f64;
            Side::new(both[k].busy(), weight)
        };
        let sides = [side(0), side(1)];
        let samples = totals(&sides);
        let names = [verdict.baseline.as_str(), verdict.variant.as_str()];
        let Folded { functions: all, stacks } = folded(sides, names);
        let asked: Vec<&Function> =
            all.iter().filter(|own| own.samples.iter().sum::<u64>() >= LEAST_SAMPLES).collect();
        // Samples that one unit of cost makes on either side, and the variant's share of both.
        let per_unit = [0, 1].map(|k| samples[k] as f64 / totals_of[k]);
        let share = per_unit[1] / (per_unit[0] + per_unit[1]);
        let p: Vec<f64> = asked
            .iter()
            .map(|own| share_two_sided(own.samples[1], own.samples.iter().sum(), share))
            .collect();
        let correction = Correction { kind: Kind::FalseDiscovery, among: p.len() };
        let steps = correction.steps(&p, FALSE_DISCOVERIES);
        let named = asked.iter().zip(&steps).filter(|(_, step)| step.p <= FALSE_DISCOVERIES);
        let mut rows: Vec<Change> = named
            .map(|(own, step)| {
                let variance = |k: usize| own.samples[k].max(1) as f64 / per_unit[k].powi(2);
                let z = normal_quantile(1.0 - step.alpha / 2.0);
                let half = z * (variance(0) + variance(1)).sqrt();
                let exact = [0, 1].map(|k| own.samples[k] as f64 / per_unit[k]);
                let change = exact[1] - exact[0];
                Change {
                    name: own.name.clone(),
                    folded: own.folded.clone(),
                    costs: exact.map(|cost| rounded(cost, costs.is_some())),
                    interval: [change - half, change + half],
                }
            })
            .collect();
        rows.sort_by(|a, b| {
            let by_size = b.change().abs().total_cmp(&a.change().abs());
            by_size.then_with(|| a.name.cmp(&b.name))
        });
        let named = rows.iter().map(|own| own.name.as_str()).collect();
        let stacks = priced(&stacks, per_unit, &named);
        let differing = rows.len();
        rows.truncate(ROWS);
        Self {
            variant: verdict.variant.clone(),
            baseline: verdict.baseline.clone(),
            traffic: verdict.traffic.clone(),
            unit: costs.map(|_| verdict.tick),
            others: all.len() - rows.len(),
            unnamed: differing - rows.len(),
            rows,
            totals: totals_of,
            is_open: !matches!(verdict.verdict.word(), "faster" | "slower"),
            margin: verdict.margin,
            stacks,
        }
    }

    /// The stacks of the variant for a flame graph, in the order of their tree: `a;b;c BASELINE VARIANT`, in
    /// [`Changes::count`]. Of functions that the table could not name both are the same.
    pub fn lines(&self) -> Vec<String> {
        let whole = |cost: f64| (cost * self.scale()).round() as u64;
        let line = |(stack, [old, new]): &(String, [f64; 2])| match whole(*new) {
            0 => None,
            new => Some(format!("{stack} {} {new}", whole(*old))),
        };
        self.stacks.iter().filter_map(line).collect()
    }

    /// So many of [`Changes::count`] are one unit of cost.
    fn scale(&self) -> f64 {
        if self.unit.is_some() { 1e3 } else { 1e6 }
    }

    /// What the figures of [`Changes::lines`] are.
    pub fn count(&self) -> &'static str {
        match self.unit {
            Some(Tick::Nanosecond) => "ps per frame",
            Some(Tick::Instruction) => "thousandths of an instruction per frame",
            None => "millionths of the busy samples",
        }
    }

    /// What a flame graph of [`Changes::lines`] shows, with the direction of its colours.
    pub fn heading(&self) -> String {
        let title = self.title();
        match self.unit {
            Some(tick) => format!("{title}: red is more {}, blue less", tick.per_frame()),
            None => format!("{title}: red is a larger share, blue a smaller one"),
        }
    }

    /// How to read that graph.
    pub fn legend(&self) -> String {
        let unit = self.unit.map_or("share", Tick::each);
        let coloured = match self.rows.is_empty() {
            true => "No function differs beyond chance: nothing is coloured.",
            false => {
                "Coloured is what differs beyond chance, as in the table; all else is without colour."
            }
        };
        let is_gone = |(_, [old, new]): &&(String, [f64; 2])| *new <= 0.0 && *old > 0.0;
        let gone = match self.stacks.iter().any(|stack| is_gone(&stack)) {
            true => " What the variant no longer calls has no width.",
            false => "",
        };
        format!("Width: {unit} in the variant. {coloured}{gone}")
    }

    /// `modular against radix, inet`.
    pub fn title(&self) -> String {
        format!("{} against {}, {}", self.variant, self.baseline, self.traffic)
    }

    fn rounded(&self, cost: f64) -> f64 {
        rounded(cost, self.unit.is_some())
    }

    fn shown(&self, cost: f64) -> String {
        match self.unit {
            Some(_) => format!("{cost:.1}"),
            None => format!("{:.2} %", 100.0 * cost),
        }
    }

    fn signed(&self, change: f64) -> String {
        match self.unit {
            Some(_) => format!("{change:+.1}"),
            None => format!("{:+.2} %", 100.0 * change),
        }
    }

    /// The functions that differ, all others in one row, and the sum. The figures that are printed
    /// add up to the sum that is printed.
    pub fn table(&self) -> TextTable {
        let unit = self.unit.map_or("share", Tick::each);
        let mut head = vec![("function".to_owned(), Column::Left)];
        head.extend(
            [&self.baseline, &self.variant].map(|n| (format!("{unit} {n}"), Column::Right)),
        );
        head.push(("change".to_owned(), Column::Right));
        head.push(("95% interval".to_owned(), Column::Right));
        let mut table = TextTable::new(head);
        let all = self.totals.map(|total| self.rounded(total));
        let mut left = all;
        let mut row = |name: String, costs: [f64; 2], interval: String| {
            let change = self.rounded(costs[1] - costs[0]);
            let [old, new] = costs.map(|cost| self.shown(cost));
            table.row(vec![name, old, new, self.signed(change), interval]);
        };
        for own in &self.rows {
            left = [0, 1].map(|k| self.rounded(left[k] - own.costs[k]));
            let [low, high] = own.interval.map(|end| self.signed(end));
            row(own.name.clone(), own.costs, format!("[{low}, {high}]"));
        }
        let others = units::plural(self.others, "other function");
        row(others, left, String::new());
        row("sum".to_owned(), all, String::new());
        table
    }

    /// What was folded into the functions of the table: a line each.
    pub fn folded(&self) -> Vec<String> {
        let with = |own: &&Change| !own.folded.is_empty();
        let line = |own: &Change| format!("`{}` {}", own.name, own.folded.join(", "));
        self.rows.iter().filter(with).map(line).collect()
    }

    /// What the table says in a sentence.
    pub fn sentence(&self) -> String {
        let title = self.title();
        let Some(unit) = self.unit.map(Tick::per_frame) else { return self.sentence_of_shares() };
        let change = self.rounded(self.totals[1]) - self.rounded(self.totals[0]);
        let relative = signed_percent((self.totals[1] / self.totals[0] - 1.0) * 100.0);
        let whole = format!("{} {unit} in all ({relative})", self.signed(change));
        let Some(first) = self.rows.first() else {
            return format!("{title}: no function differs beyond chance; {whole}.");
        };
        let sum: f64 = self.rows.iter().map(|own| own.change().abs()).sum();
        // Not where most of the change lies in functions that chance may have moved.
        let most = sum.max(change.abs());
        let is_carried = first.change().abs() >= CARRIES * most;
        let named = format!("`{}`, {}", first.name, self.signed(first.change()));
        let below = (change / self.totals[0]).abs() < self.margin && self.is_open;
        match (is_carried, below) {
            (true, true) => format!(
                "{title}: {whole} is below the margin of {}, and yet there is a change: one function \
                 carries it, {named} {unit}.",
                units::share(self.margin)
            ),
            (true, false) => {
                format!("{title}: one function carries the change, {named} of {whole}.")
            }
            (false, _) => format!("{title}: {} {named} of {whole}.", self.differ()),
        }
    }

    /// Where nobody measured a cost, all functions together are 100 % on both sides.
    fn sentence_of_shares(&self) -> String {
        let title = self.title();
        let Some(first) = self.rows.first() else {
            return format!("{title}: no function's share differs beyond chance.");
        };
        let (differ, change) = (self.differ(), self.signed(first.change()));
        format!("{title}: {differ} `{}`, {change} of the busy samples.", first.name)
    }

    fn differ(&self) -> String {
        match self.rows.len() + self.unnamed {
            1 => "one function differs beyond chance,".to_owned(),
            count => format!("{count} functions differ, most of all"),
        }
    }
}

/// Samples as costs; of stacks whose innermost function is not named, those of the variant on both sides.
fn priced(
    stacks: &BTreeMap<Vec<String>, [u64; 2]>,
    per_unit: [f64; 2],
    named: &BTreeSet<&str>,
) -> Vec<(String, [f64; 2])> {
    let priced = stacks.iter().map(|(stack, samples)| {
        let [old, new] = [0, 1].map(|k| samples[k] as f64 / per_unit[k]);
        let is_named = stack.last().is_some_and(|leaf| named.contains(leaf.as_str()));
        (stack.join(";"), [if is_named { old } else { new }, new])
    });
    priced.collect()
}

/// A part of a cost, or of 1, rounded as it is printed.
fn rounded(part: f64, is_cost: bool) -> f64 {
    let digits = if is_cost { 10.0 } else { 1e4 };
    (part * digits).round() / digits
}

/// How the functions were found, for all tables.
pub fn note(all: &[Changes]) -> Option<String> {
    let first = all.first()?;
    let what = match first.unit {
        Some(tick) => format!(
            "{}: the function's share of the busy samples, those of what it calls left out, of the \
             measured device cost, whose median is the sum",
            tick.each()
        ),
        None => "share: of the busy samples, those of what it calls left out".to_owned(),
    };
    Some(format!(
        "{what}. Named are the functions that differ, with at most {:.0} % false ones among them to be \
         expected (Benjamini-Hochberg over all functions; intervals of the same error). Parts that the \
         compiler made count as their function; a renamed one is one function; one that is inlined on \
         one side counts as its caller on both.",
        FALSE_DISCOVERIES * 100.0
    ))
}

#[cfg(test)]
mod tests;
