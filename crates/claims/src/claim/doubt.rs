//! Findings in the words of a report: trials by their ids, figures with their units.

use fwdlab_results::Metric;
use fwdlab_stats::validity::Finding;

use super::VerdictClaim;
use fwdlab_results::units;

/// Trials that are named; the rest is counted.
const NAMED: usize = 4;

impl VerdictClaim {
    /// `finding`, with trials named and figures in the unit of the metric that decides.
    pub fn doubt(&self, finding: &Finding) -> String {
        match finding {
            Finding::StrayRuns { of, positions } => {
                let ids: Vec<&str> =
                    positions.iter().filter_map(|&p| self.trial_at(of, p)).collect();
                if ids.len() != positions.len() {
                    return finding.to_string();
                }
                let more = match ids.len().saturating_sub(NAMED) {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                let shown = ids[..ids.len().min(NAMED)].join(", ");
                format!("stray runs: {shown}{more} lie far from the others of {of} (kept)")
            }
            Finding::TwoClusters { of, low, low_count, high, high_count } => format!(
                "two clusters: {of} has {} near {} and {high_count} near {}",
                units::plural(*low_count, "trial"),
                self.figure(*low),
                self.figure(*high)
            ),
            other => other.to_string(),
        }
    }

    /// The trial of `variant` in the `position`th pair, from 1.
    fn trial_at(&self, variant: &str, position: usize) -> Option<&str> {
        let index = position.checked_sub(1)?;
        let side = usize::from(variant != self.baseline);
        if let Some(runs) = &self.runs {
            return runs[side].get(index).map(String::as_str);
        }
        self.pairs.get(index).map(|pair| pair[side].as_str())
    }

    fn figure(&self, value: f64) -> String {
        match Metric::named(self.metric) {
            Some(Metric::Cost) => format!("{} {}", units::ns(value), self.tick.each()),
            Some(Metric::Own(own)) => units::figure(value, own.unit_in(self.tick)),
            _ => units::rate(value),
        }
    }
}
