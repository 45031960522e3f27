//! Profiles: where the device's time goes, function by function.
//!
//! A profile is taken in a trial of its own, after the measured ones, because sampling costs time:
//! nothing of it enters the journal. [`take()`] runs one such trial for each variant and traffic and
//! writes `profiles/VARIANT.TRAFFIC.folded` (stacks, one a line: `outer;inner count`) and
//! `.json` beside it ([`Taken`]: how it was taken, under which load). The report draws flame graphs
//! from them and refuses those that missed the load.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Measured;

/// Samples by stack: functions from the outermost to the innermost, joined by `;`.
pub type Stacks = BTreeMap<String, u64>;

/// Samples a second unless something else is asked for; no multiple of a timer's usual rate, so
/// that sampling does not keep step with the work.
pub const FREQUENCY_HZ: u32 = 1999;

/// A profiled trial must forward at least this share of what the measured ones forward; below it,
/// it shows another situation than they do.
pub const LEAST_LOAD_SHARE: f64 = 0.9;

/// A trial with a profile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profiled {
    /// What was counted meanwhile.
    pub measured: Measured,
    /// The samples.
    pub stacks: Stacks,
    /// What took them, as words after "samples by".
    pub profiler: String,
}

/// How a profile was taken: `profiles/VARIANT.TRAFFIC.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Taken {
    /// What took the samples.
    pub profiler: Option<String>,
    /// When the trial began, UTC.
    pub started: Option<String>,
    /// Forwarding rate of the profiled trial, in frames/s.
    pub rate_pps: Option<f64>,
    /// Device cost in the profiled trial, in ns/frame.
    pub cost_ns: Option<f64>,
    /// Share of the profiled trial in which the device had nothing to do, 0 to 1.
    pub idle_share: Option<f64>,
}

/// Stacks as the text of a `.folded` file.
pub fn folded(stacks: &Stacks) -> String {
    stacks.iter().map(|(stack, count)| format!("{stack} {count}\n")).collect()
}

/// Reads the text of a `.folded` file; stacks without a sample are left out.
///
/// # Errors
/// The first line that is no stack with a count, in words.
pub fn parse_folded(text: &str) -> Result<Stacks, String> {
    let mut stacks = Stacks::new();
    for (k, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let parsed =
            line.rsplit_once(' ').and_then(|(s, n)| Some((s, n.trim().parse::<u64>().ok()?)));
        let Some((stack, count)) = parsed else {
            return Err(format!("line {} is no `frame;frame count`", k + 1));
        };
        let sum = stacks.entry(stack.to_owned()).or_insert(0_u64);
        *sum = sum.saturating_add(count);
    }
    stacks.retain(|_, count| *count > 0);
    Ok(stacks)
}

/// A function name that cannot break the folded format.
pub fn frame_name(name: &str) -> String {
    name.chars().map(|c| if c == ';' || c.is_control() { ':' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folded_text_reads_back_the_same() {
        let stacks = Stacks::from([("a;b c".to_owned(), 3), ("a".to_owned(), 1)]);
        assert_eq!(parse_folded(&folded(&stacks)), Ok(stacks));
        assert!(parse_folded("a;b\n").unwrap_err().contains("line 1"));
        assert_eq!(frame_name("a;b\n"), "a:b:");
    }
}
