//! Profiles: folded stacks of separate trials, never of measured ones.
//!
//! `profiles/<variant>.<traffic>.folded` holds one stack a line (`a;b;c 12`);
//! `profiles/<variant>.<traffic>.json` beside it says how it was taken. Both
//! are described in docs/report.md.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

use fwdlab_claims::ClaimsError;
use fwdlab_claims::claim::{Cell, Claims};
use fwdlab_claims::setting::read_if_present;
use fwdlab_results::Tick;
use fwdlab_results::profile::{LEAST_LOAD_SHARE, Stacks, Taken, parse_folded};
use fwdlab_results::units;

/// Folded stacks of one variant with one traffic.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// Name of the variant.
    pub variant: String,
    /// Name of the traffic.
    pub traffic: String,
    /// Samples by stack, root first, frames joined by `;`.
    pub stacks: Stacks,
    /// Share of the profiled trial in which the device waited inside functions that also work (a
    /// device that polls); 0 to 1.
    pub idle_share: Option<f64>,
    /// How it was taken, in words.
    pub note: String,
}

/// The profiles of a results directory and those that were refused, with why.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Profiles {
    /// Usable profiles, in the order of the cells.
    pub usable: Vec<Profile>,
    /// Why others are not shown.
    pub refusals: Vec<String>,
}

impl Profiles {
    /// Reads the profiles in `dir` that belong to the cells of `claims`.
    ///
    /// # Errors
    /// When a file exists and cannot be read, or its description is no JSON.
    pub fn read(dir: &Path, claims: &Claims) -> Result<Self, ClaimsError> {
        let place = dir.join("profiles");
        let mut files = folded_files(&place)?;
        let mut profiles = Self::default();
        let tick = claims.setting.about.tick;
        for cell in &claims.cells {
            let name = format!("{}.{}", cell.variant, cell.traffic);
            if !files.remove(&name) {
                continue;
            }
            match read(&place, &name, (cell, tick))? {
                Ok(profile) => profiles.usable.push(profile),
                Err(why) => profiles.refusals.push(format!("profiles/{name}.folded: {why}")),
            }
        }
        for name in files {
            profiles.refusals.push(format!(
                "profiles/{name}.folded belongs to no variant and traffic of this experiment; \
                 its name must be VARIANT.TRAFFIC.folded"
            ));
        }
        Ok(profiles)
    }

    /// The profile of one variant with one traffic.
    pub fn find(&self, variant: &str, traffic: &str) -> Option<&Profile> {
        self.usable.iter().find(|p| p.variant == variant && p.traffic == traffic)
    }
}

impl Profile {
    /// Samples over all stacks; at least one in a usable profile.
    pub fn samples(&self) -> u64 {
        self.stacks.values().sum()
    }

    /// Samples in which the processor had something to do.
    pub fn busy_samples(&self) -> u64 {
        self.samples() - idle(&self.stacks)
    }

    /// The stacks as lines of a `.folded` file.
    pub fn lines(&self) -> Vec<String> {
        self.stacks.iter().map(|(stack, n)| format!("{stack} {n}")).collect()
    }

    /// Stacks in which the processor had something to do, with their samples.
    pub fn busy(&self) -> impl Iterator<Item = (&str, u64)> {
        let busy = self.stacks.iter().filter(|(stack, _)| !is_idle(stack));
        busy.map(|(stack, n)| (stack.as_str(), *n))
    }

    /// Time of the device per frame, work and waiting, when `cost_ns` of it is work.
    pub fn time_per_frame(&self, cost_ns: f64) -> f64 {
        let idle = self.idle_share.filter(|idle| *idle < 1.0).unwrap_or(0.0);
        cost_ns / (1.0 - idle)
    }
}

/// What profilers call a function whose name they do not know.
const UNKNOWN: &str = "[unknown]";

fn leaf(stack: &str) -> &str {
    stack.rsplit(';').next().unwrap_or(stack)
}

/// Whether a stack shows a processor that has nothing to do: its innermost function is one in
/// which Linux or FreeBSD waits. (Interrupts are served on top of idle processes too, so the
/// process's name would not do.)
fn is_idle(stack: &str) -> bool {
    const IDLE: [&str; 18] = [
        "acpi_cpu_c1",
        "acpi_cpu_idle",
        "acpi_cpu_idle_mwait",
        "acpi_idle_do_entry",
        "acpi_safe_halt",
        "cpu_idle",
        "cpu_idle_acpi",
        "cpu_idle_hlt",
        "cpu_idle_mwait",
        "cpuidle_enter_state",
        "default_idle",
        "intel_idle",
        "intel_idle_irq",
        "mwait_idle",
        "native_safe_halt",
        "poll_idle",
        "pv_native_safe_halt",
        "sched_idletd",
    ];
    IDLE.binary_search(&leaf(stack)).is_ok()
}

/// Samples in idle stacks.
fn idle(stacks: &Stacks) -> u64 {
    stacks.iter().filter(|(stack, _)| is_idle(stack)).map(|(_, n)| n).sum()
}

/// Longest file of stacks.
const MOST_BYTES: u64 = 256 * fwdlab_guard::MIB;

/// Names, without their ending, of the `.folded` files.
fn folded_files(place: &Path) -> Result<BTreeSet<String>, ClaimsError> {
    let entries = match fwdlab_guard::input::entries(place) {
        Ok(entries) => entries,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        Err(e) => return Err(ClaimsError::io("read", place)(e)),
    };
    let mut found = BTreeSet::new();
    for entry in entries {
        let name = entry.map_err(ClaimsError::io("read", place))?.file_name();
        if let Some(name) = name.to_str().and_then(|n| n.strip_suffix(".folded")) {
            found.insert(name.to_owned());
        }
    }
    Ok(found)
}

fn read(
    place: &Path,
    name: &str,
    (cell, tick): (&Cell, Tick),
) -> Result<Result<Profile, String>, ClaimsError> {
    let path = place.join(format!("{name}.folded"));
    let text =
        fwdlab_guard::input::text(&path, MOST_BYTES).map_err(ClaimsError::io("read", &path))?;
    let path = place.join(format!("{name}.json"));
    let taken: Taken = match read_if_present(&path)? {
        Some(json) => serde_json::from_str(&json)
            .map_err(|e| ClaimsError::Damaged { path, detail: e.to_string() })?,
        None => Taken::default(),
    };
    let stacks = match parse_folded(&text) {
        Ok(stacks) if stacks.is_empty() => return Ok(Err("it holds no sample".to_owned())),
        Ok(stacks) => stacks,
        Err(why) => return Ok(Err(why)),
    };
    if let (Some(rate), Some(measured)) = (taken.rate_pps, cell.rate)
        && rate < LEAST_LOAD_SHARE * measured.median
    {
        return Ok(Err(format!(
            "refused: the profiled trial forwarded {}, the measured ones {}; profile again with \
             a lower sampling rate",
            units::rate(rate),
            units::rate(measured.median)
        )));
    }
    if let Some(why) = nameless(&stacks) {
        return Ok(Err(why));
    }
    let note = note(&taken, &stacks, tick);
    // Where idle stacks are known for what they are, the shares leave them out already.
    let idle_share = taken.idle_share.filter(|_| idle(&stacks) == 0);
    let (variant, traffic) = (cell.variant.clone(), cell.traffic.clone());
    Ok(Ok(Profile { variant, traffic, stacks, idle_share, note }))
}

/// Why stacks say nothing: most of their functions have no names. "One function carries the change, `[unknown]`" was
/// said of them.
fn nameless(stacks: &Stacks) -> Option<String> {
    const MOST: f64 = 0.5;
    let without = stacks.iter().filter(|(stack, _)| leaf(stack) == UNKNOWN).map(|(_, n)| n);
    let share = without.sum::<u64>() as f64 / stacks.values().sum::<u64>().max(1) as f64;
    (share > MOST).then(|| {
        format!(
            "refused: {} of its samples are in functions without a name; profile again with a program that has its \
             symbols (that of the Debian package is stripped: `cargo build --release --features full`), kernels with \
             `sysctl kernel.kptr_restrict=0`",
            units::share(share)
        )
    })
}

/// `3,998 samples by ..., in a trial of its own at 36.8 Mpps and 27.1 ns/frame, idle share 0.4 %.`
fn note(taken: &Taken, stacks: &Stacks, tick: Tick) -> String {
    let samples: u64 = stacks.values().sum();
    let profiler = taken.profiler.as_deref().unwrap_or("a profiler that is not named");
    let mut text =
        format!("{} by {profiler}, in a trial of its own", units::counted(samples, "sample"));
    match (taken.rate_pps, taken.cost_ns) {
        (Some(rate), Some(cost)) => {
            let _ =
                write!(text, " at {} and {} {}", units::rate(rate), units::ns(cost), tick.each());
        }
        (Some(rate), None) => {
            let _ = write!(text, " at {}", units::rate(rate));
        }
        (None, _) => text.push_str(" at an unknown rate"),
    }
    match (taken.idle_share, idle(stacks)) {
        (Some(idle), _) => {
            let _ = write!(text, ", device idle {} of the time.", units::share(idle));
        }
        (None, 0) => text.push_str(", idle share unknown."),
        (None, idle) => {
            let share = units::share(idle as f64 / samples as f64);
            let _ = write!(text, ", idle stacks {share}.");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_whose_functions_have_no_names_is_refused() {
        let stacks = |known: u64, unknown: u64| {
            Stacks::from([
                ("[unknown];start;lookup".to_owned(), known),
                ("start;[unknown]".to_owned(), unknown),
            ])
        };
        assert_eq!(nameless(&stacks(60, 40)), None);
        let why = nameless(&stacks(40, 60)).expect("refused");
        assert!(why.contains("60.0 % of its samples") && why.contains("cargo build"), "{why}");
    }
}
