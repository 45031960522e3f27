//! Rate searches that were imported: the sender's log, and the files of what was found.

use std::fs;
use std::path::Path;

use super::command::Head;
use super::kept::{self, Kept};
use crate::equilibrium::{Amount, Step};
use crate::number::format_g8;
use crate::series::Series;
use crate::trial::{FOUND, MOST, STEPS};
use fwdlab_results::{Error, Result, SearchTrial, Trial};

/// What a search found; `None` for other trials.
pub fn found(trial: &Trial) -> Option<Amount> {
    amount(trial, FOUND).filter(|_| trial.is_ok())
}

/// As the imported log says it, or as fwdlab's own search found it.
fn amount(trial: &Trial, key: &str) -> Option<Amount> {
    let own = trial.measured.search.as_ref();
    let own = own.map(|of| Amount::Frames(if key == MOST { of.mrr_pps } else { of.lower_pps }));
    trial.measured.proof.get(key).map_or(own, |said| Amount::parse(said))
}

/// The loads that it tried.
fn steps(trial: &Trial) -> Vec<Step> {
    if let Some(text) = trial.measured.proof.get(STEPS) {
        return Step::parse_all(text);
    }
    let tried = trial.measured.search.iter().flat_map(|of| &of.trials);
    let step = |tried: &SearchTrial| {
        let due = (tried.load_pps * tried.ms / 1000.0).max(1.0);
        let share = (1.0 - tried.lost as f64 / due).max(0.0);
        let back = Amount::Frames(tried.load_pps * share);
        Step { offered: Amount::Frames(tried.load_pps), forwarded: Some(back) }
    };
    tried.map(step).collect()
}

/// The lines of a sender's log that an import reads.
pub fn log(trial: &Trial, head: &Head, found: Amount) -> String {
    let most = amount(trial, MOST).unwrap_or(found);
    let tried = steps(trial);
    let command = head.command.as_ref().map_or(String::new(), |line| format!("{line}\n"));
    let steps = tried.iter().enumerate().map(|(index, step)| {
        let back = step
            .forwarded
            .map_or(String::new(), |rate| format!("  - Measured forwarding rate = {rate}\n"));
        format!("Iteration {}\n  - Offering load = {}\n{back}", index + 1, step.offered)
    });
    let steps: String = steps.collect();
    format!(
        "{command}- Ethernet frame size={}B\n{steps}\
         Estimated Equilibrium Ethernet throughput= {found} (maximum value seen: {most})\n",
        trial.frame_bytes
    )
}

/// Writes `PREFIX.equilibrium` and `PREFIX.equilibrium.max`, as published where that agrees with the
/// logs; false for a configuration that searched for nothing.
///
/// # Errors
/// When a file cannot be written.
pub fn write(to: &Path, prefix: &str, trials: &[&Trial], kept: &Kept) -> Result<bool> {
    let searches: Vec<&&Trial> = trials.iter().filter(|trial| found(trial).is_some()).collect();
    if searches.is_empty() {
        return Ok(false);
    }
    for (key, ending) in [(FOUND, "equilibrium"), (MOST, "equilibrium.max")] {
        let amounts = searches.iter().filter_map(|trial| amount(trial, key));
        let numbers: Vec<f64> = amounts.map(Amount::number).collect();
        let name = format!("{prefix}.{ending}");
        let published = kept.file(&name).filter(|bytes| {
            let series = Series::parse(bytes);
            let is_near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-6 * b.abs();
            let all = || series.values.iter().zip(&numbers);
            series.values.len() == numbers.len()
                && series.bad_lines.is_empty()
                && all().all(is_near)
        });
        let lines: String = numbers.iter().map(|n| format!("{}\n", format_g8(*n))).collect();
        let path = kept::place(to, &name);
        fs::write(&path, published.unwrap_or(lines.as_bytes()))
            .map_err(Error::io("write", &path))?;
    }
    Ok(true)
}
