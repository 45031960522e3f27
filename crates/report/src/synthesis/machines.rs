//! One change on all machines: what each says, and what they say together as random effects.
//!
//! A machine counts once: results of the same machine are repeats, of which the first counts. What
//! was no comparison, or an invalid one (all of the load was forwarded), says nothing and is named.

use std::fmt::Write as _;

use fwdlab_claims::claim::VerdictClaim;
use fwdlab_results::units;
use fwdlab_stats::machines::{Figure, Synthesis as Together, synthesis};
use fwdlab_stats::{
    Comparison, Confidence, Effect, Verdict, percent_interval, signed_change, signed_percent,
};

use super::{Column, Synthesis};
use fwdlab_figures::text_table::{Side, TextTable};
use fwdlab_figures::{Canvas, Estimate, Forest, ForestRow, Room};

/// What this is, below each plot.
const LEGEND: &str = "Each machine with the interval of its own verdict. Together: random effects, each machine with an \
                      effect of its own and all counting alike (Student's t of the machines); the next machine lies in \
                      the prediction interval, which needs three.";

/// A change, beside the same baseline, on several machines.
pub(super) struct Change<'a> {
    /// Name of the traffic.
    pub traffic: &'a str,
    /// Name of the variant.
    pub variant: &'a str,
    /// Machines that have a figure.
    machines: Vec<Machine<'a>>,
    /// Machines that have none, and why.
    silent: Vec<(&'a str, String)>,
    /// All that have a figure.
    together: Option<Together>,
    margin: f64,
}

/// What one machine says.
struct Machine<'a> {
    label: &'a str,
    comparison: &'a Comparison,
    estimate: Estimate,
    figure: Figure,
    /// Nanoseconds saved of those per frame.
    saved: String,
    word: &'static str,
    /// Those for better and worse.
    words: [&'static str; 2],
}

/// All changes: those that at least two machines have a figure of, and those that have no summary.
pub(super) fn changes(all: &Synthesis) -> (Vec<Change<'_>>, Vec<Change<'_>>) {
    let pairs = all.traffics().into_iter().flat_map(|traffic| {
        all.variants().into_iter().filter_map(move |variant| change(all, traffic, variant))
    });
    pairs.partition(|own| own.machines.len() > 1)
}

/// A change beside the baseline that most machines have a figure beside.
fn change<'a>(all: &'a Synthesis, traffic: &'a str, variant: &'a str) -> Option<Change<'a>> {
    let verdicts = all.columns.iter().filter_map(|column| column.verdict(traffic, variant));
    let named: Vec<&str> = verdicts.map(|own| own.baseline.as_str()).collect();
    let often = |baseline: &str| named.iter().filter(|name| **name == baseline).count();
    let baselines = super::unique(named.iter().copied()).into_iter().rev();
    let beside = baselines.map(|name| (often(name), beside(all, [traffic, variant, name])));
    beside.max_by_key(|(often, own)| (own.machines.len(), *often)).map(|(_, own)| own)
}

fn beside<'a>(all: &'a Synthesis, of: [&'a str; 3]) -> Change<'a> {
    let [traffic, variant, baseline] = of;
    let (mut machines, mut silent) = (Vec::new(), Vec::new());
    let mut seen: Vec<&str> = Vec::new();
    let mut margin = 0.0;
    for column in &all.columns {
        let Some(verdict) = column.verdict(traffic, variant) else { continue };
        let label = column.label.as_str();
        match (machine(column, verdict), seen.contains(&column.machine.as_str())) {
            _ if verdict.baseline != baseline => {
                silent.push((label, format!("its baseline is {}", verdict.baseline)));
            }
            (_, true) => silent.push((label, "the same machine again".to_owned())),
            (Err(why), _) => silent.push((label, why)),
            (Ok(own), _) => {
                seen.push(&column.machine);
                margin = verdict.margin;
                machines.push(own);
            }
        }
    }
    let figures: Vec<Figure> = machines.iter().map(|own| own.figure).collect();
    let together = synthesis(&figures, Confidence::USUAL).ok();
    Change { traffic, variant, machines, silent, together, margin }
}

fn machine<'a>(column: &'a Column, verdict: &'a VerdictClaim) -> Result<Machine<'a>, String> {
    let label = column.label.as_str();
    if let Verdict::Invalid { why } = &verdict.verdict {
        return Err(format!("invalid: {}", why.join("; ")));
    }
    let comparison = verdict.comparison().ok_or("nothing to compare")?;
    let interval = comparison.interval95;
    let estimate = in_percent([comparison.estimate, interval.low, interval.high]);
    let figure = Figure::of_comparison(comparison, column.variation(verdict));
    if !(figure.error.is_finite() && figure.error > 0.0) {
        return Err("its runs do not differ".to_owned());
    }
    let saved = verdict.saved.as_ref().map_or_else(String::new, |own| {
        format!("{} of {} ns", units::ns_fine(own.ns), units::ns(own.baseline_ns))
    });
    Ok(Machine {
        comparison,
        label,
        estimate,
        figure,
        saved,
        word: verdict.word(),
        words: verdict.words(),
    })
}

fn in_percent(all: [Effect; 3]) -> Estimate {
    let [estimate, low, high] = all.map(Effect::percent);
    Estimate { estimate, low, high }
}

impl Change<'_> {
    /// Its heading.
    pub fn title(&self) -> String {
        format!("{}, {}: {} machines", self.traffic, self.variant, self.machines.len())
    }

    /// What all say together, in a sentence.
    pub fn sentence(&self) -> String {
        let Some(all) = &self.together else {
            return "the machines cannot be put together".to_owned();
        };
        let next = next(all).map_or("two machines say nothing about a third".to_owned(), |own| {
            format!("the next machine lies in {}", range(own))
        });
        format!(
            "together {}; machines differ by {:.1} % (test of that alone, not of the change: p {}); {next}{}",
            signed_change(all.estimate, [all.interval.low, all.interval.high]).join(" "),
            100.0 * all.between.exp_m1(),
            units::p_value(all.same_p),
            self.left_out()
        )
    }

    /// The machines without a figure; empty where all have one.
    fn left_out(&self) -> String {
        let each = self.silent.iter().map(|(label, why)| format!("{label} ({why})"));
        let each = each.collect::<Vec<_>>().join(", ");
        if each.is_empty() { each } else { format!("; left out: {each}") }
    }

    /// Why there is no summary of it.
    fn alone(&self) -> String {
        let first = self.machines.first();
        let who = first.map_or("no machine has a figure".to_owned(), |own| {
            format!("only {} has a figure, {}", own.label, percent(own.estimate))
        });
        format!("{}, {}: {who}{}", self.traffic, self.variant, self.left_out())
    }

    /// A row for each machine, then all together, then the next.
    pub fn table(&self) -> TextTable {
        let head = format!("{}, {}", self.traffic, self.variant);
        let mut table = TextTable::new([
            (head, Side::Left),
            ("change".to_owned(), Side::Left),
            ("ns per frame saved".to_owned(), Side::Left),
        ]);
        for own in &self.machines {
            table.row(vec![own.label.to_owned(), percent(own.estimate), own.saved.clone()]);
        }
        if let Some(all) = &self.together {
            table.row(vec!["together".to_owned(), percent(of(all))]);
            let next = next(all).map(|own| vec!["next machine".to_owned(), range(own)]);
            next.into_iter().for_each(|row| table.row(row));
        }
        table
    }

    /// The forest plot where there is so much room.
    pub fn plot(&self, room: Room) -> Canvas {
        let row = |name: &str, colour, estimate, text: String, detail: String| ForestRow {
            traffic: self.traffic.to_owned(),
            variant: name.to_owned(),
            colour,
            deciding: Some(estimate),
            other: None,
            text,
            detail,
        };
        let mut rows: Vec<ForestRow> = Vec::new();
        for own in &self.machines {
            let text = format!("{} {}", own.word, signed_percent(own.estimate.estimate));
            rows.push(row(own.label, 1, own.estimate, text, own.saved.clone()));
        }
        if let Some(all) = &self.together {
            let own = of(all);
            rows.push(row("together", 2, own, signed_percent(own.estimate), range(own)));
            if let Some(own) = next(all) {
                rows.push(row("next machine", 3, own, range(own), "prediction".to_owned()));
            }
        }
        let forest = Forest {
            title: self.title(),
            margin_percent: self.margin * 100.0,
            words: fwdlab_claims::words::shared(self.machines.iter().map(|own| own.words)),
            rows,
            level: fwdlab_claims::words::levels(self.machines.iter().map(|own| own.comparison)),
            caption: "Together: random effects; the next machine: prediction interval.".to_owned(),
        };
        fwdlab_figures::forest_in(&forest, room)
    }
}

fn of(all: &Together) -> Estimate {
    in_percent([all.estimate, all.interval.low, all.interval.high])
}

fn next(all: &Together) -> Option<Estimate> {
    all.next.map(|next| in_percent([all.estimate, next.low, next.high]))
}

fn range(own: Estimate) -> String {
    percent_interval(own.low, own.high)
}

fn percent(own: Estimate) -> String {
    format!("{} {}", signed_percent(own.estimate), range(own))
}

/// The tables of all changes as text, for a terminal.
pub fn text(all: &Synthesis) -> String {
    let (together, alone) = changes(all);
    let each =
        together.iter().map(|own| format!("{}=> {}\n\n", own.table().plain(), own.sentence()));
    each.collect::<String>() + &without_summary(&alone)
}

/// The changes without a summary, a line each.
pub(super) fn without_summary(alone: &[Change<'_>]) -> String {
    const MOST: usize = 20;
    if alone.is_empty() {
        return String::new();
    }
    let lines = alone.iter().take(MOST).map(|own| format!("- {}\n", own.alone()));
    let lines: String = lines.collect();
    let more = alone
        .get(MOST..)
        .filter(|more| !more.is_empty())
        .map_or(String::new(), |more| format!("- and {} more\n", more.len()));
    format!("Without a summary, which needs two machines:\n\n{lines}{more}")
}

/// The section of the page in Markdown; empty where no change is on two machines.
pub(super) fn markdown(changes: &[Change<'_>], file: impl Fn(&Change<'_>) -> String) -> String {
    let mut text = String::new();
    for own in changes {
        if text.is_empty() {
            text.push_str("## The same change on all machines\n\n");
        }
        let _ = writeln!(text, "![{}]({})\n", own.title(), file(own));
        let _ = writeln!(text, "{}", own.table().markdown());
        let _ = writeln!(text, "=> {}\n", own.sentence());
    }
    if !text.is_empty() {
        let _ = writeln!(text, "{LEGEND}\n");
    }
    text
}
