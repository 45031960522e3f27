//! The ledger of fuzzing: what each target was fed in all runs together, so that short runs add up to hours.
//!
//! A line a target, tab between columns, sorted by name. Time is the processor's, not the clock's: a run
//! that gives way to others is fed less than one that has a core for itself.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use super::fed::Fed;

const HEAD: &str = "target\tcpu_s\tinputs\tedges\tfaults\tlast\tcommit";
/// Seconds of processor time that each target is to have.
const WANTED: f64 = 3600.0;

/// What all runs fed to each target.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Hours(BTreeMap<String, Sum>);

/// What all runs fed to one target.
#[derive(Debug, Clone, Default, PartialEq)]
struct Sum {
    /// Processor time in seconds, user and system.
    cpu_s: f64,
    inputs: u64,
    /// Those that the last run reached. Another build or corpus counts others, so they do not add up.
    edges: u64,
    /// Runs that ended with one.
    faults: u64,
    /// Day of the last run, UTC, and what it was built from.
    last: String,
    commit: String,
}

impl Hours {
    /// Reads a ledger; one that is not there yet is empty.
    ///
    /// # Errors
    ///
    /// A line that is none, with its number.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self::default());
            }
            Err(error) => return Err(error).context(format!("cannot read {}", path.display())),
        };
        let mut hours = Self::default();
        for (at, line) in text.lines().enumerate() {
            if at == 0 && line == HEAD {
                continue;
            }
            let place = || format!("{}:{}: `{line}`", path.display(), at + 1);
            let Some((target, sum)) = parsed(line) else {
                bail!(
                    "{} is no line of a ledger; its columns are {}",
                    place(),
                    HEAD.replace('\t', ", ")
                );
            };
            if hours.0.insert(target.to_owned(), sum).is_some() {
                bail!("{}: the target is there twice; keep one line, with the sums", place());
            }
        }
        Ok(hours)
    }

    /// Adds a run of a target on a day (`2026-11-29`), of a commit.
    pub(super) fn add(&mut self, fed: &Fed, day: &str, commit: &str) {
        let sum = self.0.entry(fed.target.clone()).or_default();
        sum.cpu_s += fed.cpu_s;
        sum.inputs += fed.executions;
        sum.edges = fed.edges;
        sum.faults += u64::from(fed.fault.is_some());
        day.clone_into(&mut sum.last);
        commit.clone_into(&mut sum.commit);
    }

    /// Writes it whole, or not at all.
    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let new = path.with_extension("new");
        let written = fs::write(&new, self.text()).and_then(|()| fs::rename(&new, path));
        written.with_context(|| format!("cannot write {}", path.display()))
    }

    fn text(&self) -> String {
        let line = |(target, sum): (&String, &Sum)| {
            let Sum { cpu_s, inputs, edges, faults, last, commit } = sum;
            format!("{target}\t{cpu_s:.1}\t{inputs}\t{edges}\t{faults}\t{last}\t{commit}\n")
        };
        self.0.iter().map(line).fold(format!("{HEAD}\n"), |text, line| text + &line)
    }

    /// What these targets still need to an hour each, in one line.
    pub(super) fn remaining(&self, targets: &[String]) -> String {
        let has = |target: &String| self.0.get(target).map_or(0.0, |sum| sum.cpu_s);
        // As the file has it: of 3599.96 s it says 3600.0.
        let mut lacking: Vec<(f64, &String)> = targets
            .iter()
            .map(|target| (WANTED - (has(target) * 10.0).round() / 10.0, target))
            .filter(|(lacks, _)| *lacks > 0.0)
            .collect();
        lacking.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        let whole = targets.len() - lacking.len();
        let mut text = format!("an hour of the processor: {whole} of {} targets", targets.len());
        let minutes = |seconds: f64| format!("{} min", (seconds / 60.0).ceil());
        for (at, (lacks, target)) in lacking.iter().enumerate() {
            text += if at == 0 { "; " } else { ", " };
            text += &format!("{target} lacks {}", minutes(*lacks));
        }
        if lacking.len() > 1 {
            text += &format!("; {} in all", minutes(lacking.iter().map(|(lacks, _)| lacks).sum()));
        }
        text
    }
}

fn parsed(line: &str) -> Option<(&str, Sum)> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [target, cpu_s, inputs, edges, faults, last, commit] = fields[..] else { return None };
    let cpu_s: f64 = cpu_s.parse().ok().filter(|s: &f64| s.is_finite() && *s >= 0.0)?;
    let [inputs, edges, faults] = [inputs.parse().ok()?, edges.parse().ok()?, faults.parse().ok()?];
    let [last, commit] = [last, commit].map(str::to_owned);
    Some((target, Sum { cpu_s, inputs, edges, faults, last, commit }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fed(target: &str, cpu_s: f64, fault: Option<&str>) -> Fed {
        let fault = fault.map(str::to_owned);
        Fed { target: target.to_owned(), executions: 1000, edges: 70, cpu_s, fault }
    }

    #[test]
    fn runs_add_up_over_files_and_what_lacks_is_said() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hours.tsv");
        let mut hours = Hours::read(&path).unwrap();
        hours.add(&fed("wire", 1800.04, None), "2026-11-28", "aaaa");
        hours.add(&fed("elf", 3600.0, None), "2026-11-28", "aaaa");
        hours.write(&path).unwrap();
        let mut hours = Hours::read(&path).unwrap();
        hours.add(
            &Fed { edges: 60, ..fed("wire", 120.25, Some("panicked")) },
            "2026-11-29",
            "bbbb",
        );
        hours.write(&path).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let lines = [
            HEAD,
            "elf\t3600.0\t1000\t70\t0\t2026-11-28\taaaa",
            "wire\t1920.2\t2000\t60\t1\t2026-11-29\tbbbb",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), lines);
        let targets = ["elf", "page", "wire"].map(str::to_owned);
        assert_eq!(
            Hours::read(&path).unwrap().remaining(&targets),
            "an hour of the processor: 1 of 3 targets; page lacks 60 min, wire lacks 28 min; 88 min in all"
        );
        assert_eq!(hours.remaining(&targets[..1]), "an hour of the processor: 1 of 1 targets");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn lines_that_are_none_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hours.tsv");
        let good = "elf\t1.5\t2\t3\t0\t2026-11-28\taaaa";
        let twice = format!("{good}\n{good}");
        for (line, part) in [
            ("", "columns are target, cpu_s"),
            ("elf\t1.5\t2\t3\t0\t2026-11-28", "no line"),
            ("elf\t-1\t2\t3\t0\t2026-11-28\taaaa", "no line"),
            ("elf\tnan\t2\t3\t0\t2026-11-28\taaaa", "no line"),
            ("elf\t1\t2\t3.5\t0\t2026-11-28\taaaa", "no line"),
            (HEAD, "no line"),
            (&twice, "twice"),
        ] {
            fs::write(&path, format!("{HEAD}\n{line}\n")).unwrap();
            let error = Hours::read(&path).expect_err(line).to_string();
            assert!(error.contains("hours.tsv:") && error.contains(part), "{line}: {error}");
        }
        fs::write(&path, format!("{HEAD}\n{good}\n")).unwrap();
        assert_eq!(Hours::read(&path).unwrap().text(), fs::read_to_string(&path).unwrap());
    }

    #[test]
    fn the_ledger_of_this_project_has_its_targets_only() {
        let root = crate::root();
        let targets = super::super::wanted(&root, &[]).unwrap();
        let path = root.join("fuzz/hours.tsv");
        let hours = Hours::read(&path).unwrap();
        assert!(hours.0.keys().all(|target| targets.contains(target)), "{:?}", hours.0.keys());
        assert_eq!(hours.text(), fs::read_to_string(path).unwrap());
    }
}
