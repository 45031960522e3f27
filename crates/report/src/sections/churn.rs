//! Changes of routes while frames flowed: how many, what the device paid, and when packets met them.

use std::fmt::Write as _;

use fwdlab_results::{Churned, Metric, Results, Trial, units};

use crate::block::Block;
use crate::kept::{Kept, cells, middle, none, shown, table};
use crate::source::Source;

/// The table and what it shows; nothing when no routes changed.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let note = "Changes a second that were asked for and made; frames a second; what a frame cost the \
                device, and how long 99 % of the frames took at most, where that was measured; the \
                time from giving the table a change until packets met it; frames that went to the old \
                next hop after a change of their own route was given to the table, for each such \
                change; lookup structures built a second. Medians over the trials, of the longest times \
                the longest.";
    let head = format!(
        "{:<14} {:<16} {:>8} {:>8} {:>11} {:>8} {:>9} {:>9} {:>9} {:>10} {:>7} {:>7}",
        "traffic",
        "variant",
        "asked/s",
        "made/s",
        "rate",
        "ns/frame",
        "99 % us",
        "seen 50 %",
        "seen 99 %",
        "longest us",
        "stale",
        "built/s"
    );
    table(note, &head, &rows(source.results))
}

fn rows<'a>(results: &'a Results) -> String {
    let mut out = String::new();
    for Kept { traffic, variant, trials } in cells(results) {
        let own = |trial: &'a Trial| Some((trial, trial.measured.churn.as_ref()?));
        let good: Vec<(&Trial, &Churned)> = trials.into_iter().filter_map(own).collect();
        if !good.is_empty() {
            row(&mut out, (traffic, variant), &good);
        }
    }
    out
}

fn row(out: &mut String, (traffic, variant): (&str, &str), good: &[(&Trial, &Churned)]) {
    let middle = |figure: &dyn Fn(&Trial, &Churned) -> Option<f64>| {
        middle(good.iter().filter_map(|(trial, churned)| figure(trial, churned)))
    };
    let text = |value: Option<f64>, digits: usize| shown(value, digits, "");
    let seconds = |churned: &Churned| churned.ns as f64 / 1e9;
    let seen = |ns: fn(&Churned) -> u64| {
        text(middle(&|_, c| (c.visible > 0).then(|| ns(c) as f64 / 1e3)), 1)
    };
    let longest = good.iter().map(|(_, c)| c.visible_max_ns).max().unwrap_or(0);
    let _ = writeln!(
        out,
        "{traffic:<14} {variant:<16} {:>8} {:>8} {:>11} {:>8} {:>9} {:>9} {:>9} {:>10} {:>7} {:>7}",
        text(middle(&|_, c| c.asked_per_s), 0),
        text(middle(&|_, c| Some(c.per_s())), 0),
        middle(&|t, _| Metric::Rate.of(t)).map_or_else(none, units::rate),
        text(middle(&|t, _| Metric::Cost.of(t)), 1),
        text(middle(&|t, _| t.measured.latency.map(|l| l.p99_ns as f64 / 1e3)), 1),
        seen(|c| c.visible_p50_ns),
        seen(|c| c.visible_p99_ns),
        format!("{:.1}", longest as f64 / 1e3),
        text(
            middle(&|_, c| (c.switches > 0).then(|| c.stale_frames as f64 / c.switches as f64)),
            1
        ),
        text(middle(&|_, c| Some(c.builds as f64 / seconds(c).max(1e-9))), 1),
    );
}
