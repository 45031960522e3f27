//! Rate searches that were imported: the sender's log, and the files of what was found.

use std::fs;
use std::path::Path;

use super::kept::{self, Kept};
use crate::equilibrium::{Amount, Step};
use crate::number::format_g8;
use crate::series::Series;
use crate::trial::{FOUND, MOST, STEPS};
use fwdlab_results::{Error, Result, Trial};

/// What an imported search found; `None` for other trials.
pub fn found(trial: &Trial) -> Option<Amount> {
    amount(trial, FOUND).filter(|_| trial.is_ok())
}

fn amount(trial: &Trial, key: &str) -> Option<Amount> {
    trial.measured.proof.get(key).and_then(|said| Amount::parse(said))
}

/// The lines of a sender's log that an import reads.
pub fn log(trial: &Trial, found: Amount) -> String {
    let most = amount(trial, MOST).unwrap_or(found);
    let tried = trial.measured.proof.get(STEPS).map_or(Vec::new(), |text| Step::parse_all(text));
    let steps = tried.iter().enumerate().map(|(index, step)| {
        let back = step
            .forwarded
            .map_or(String::new(), |rate| format!("  - Measured forwarding rate = {rate}\n"));
        format!("Iteration {}\n  - Offering load = {}\n{back}", index + 1, step.offered)
    });
    let steps: String = steps.collect();
    format!(
        "CMD: fwdlab {}\n- Ethernet frame size={}B\n{steps}\
         Estimated Equilibrium Ethernet throughput= {found} (maximum value seen: {most})\n",
        trial.id, trial.frame_bytes
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
