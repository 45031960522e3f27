//! How frames were shared by the device's processors, queues or workers.

use std::fmt::Write as _;

use fwdlab_results::{Queue, Results, Trial};
use fwdlab_stats::median;

use crate::block::Block;
use crate::kept::{cells, table};
use crate::source::Source;

/// The table and what it shows; nothing where no trial has several.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let note = "How frames were shared by the device's processors, queues or workers, and how much the \
                fullest took, in means: medians over the trials. Twice the mean or more, of two nine tenths, of a load that \
                was not borne is a finding: the rate is then that of one, not of all.";
    let head = format!(
        "{:<16} {:<16} {:>3} {:>8} {:>10}  {}",
        "traffic", "variant", "n", "fullest", "too much", "shares"
    );
    table(note, &head, &rows(source.results))
}

fn rows(results: &Results) -> String {
    let mut out = String::new();
    for kept in cells(results) {
        let is_shared = |trial: &&&Trial| Queue::fullest(&trial.measured.queues).is_some();
        let shared: Vec<&Trial> = kept.trials.iter().filter(is_shared).copied().collect();
        if !shared.is_empty() {
            row(&mut out, &format!("{:<16} {:<16}", kept.traffic, kept.variant), &shared);
        }
    }
    out
}

fn row(out: &mut String, begin: &str, trials: &[&Trial]) {
    let shared: Vec<&[Queue]> = trials.iter().map(|trial| &trial.measured.queues[..]).collect();
    let times: Vec<f64> =
        shared.iter().filter_map(|queues| Some(Queue::fullest(queues)?.1)).collect();
    let found = trials.iter().filter(|trial| trial.imbalance().is_some()).count();
    let share = |name: &str| {
        let of = |queues: &&[Queue]| {
            let sum: f64 = queues.iter().map(|queue| queue.frames as f64).sum();
            let own = queues.iter().find(|queue| queue.name == name)?;
            Some(own.frames as f64 / sum * 100.0)
        };
        median(&shared.iter().filter_map(of).collect::<Vec<_>>())
    };
    let shares: Vec<String> = shared[0]
        .iter()
        .map(|queue| format!("{} {:.1}%", queue.name, share(&queue.name)))
        .collect();
    let _ = writeln!(
        out,
        "{begin} {:>3} {:>8.2} {found:>10}  {}",
        shared.len(),
        median(&times),
        shares.join(", ")
    );
}
