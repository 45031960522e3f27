//! Energy that the processors of this machine use, where it tells: RAPL counters as Linux shows them
//! below `/sys/class/powercap`.
//!
//! Counted are whole packages (their counters are called `package-0` and so on): the domains within are
//! part of them, and the counter of the whole platform, where there is one, holds them too. All that
//! runs on a package is in the figure, tester and system included, not the device alone; memory is not.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fwdlab_guard::input;

/// Where Linux shows the counters.
const POWERCAP: &str = "/sys/class/powercap";
/// Files of sysfs say that they have a page, whatever is in them.
const MOST_BYTES: u64 = 1 << 16;
/// More counters than any machine has.
const MOST_ENTRIES: usize = 1024;
/// Between two readings at the ends of intervals: whoever reads is often the one who sends. A counter of 64 kJ,
/// the smallest there are, takes two minutes at 500 W, longer than any interval: it cannot start again unseen.
const READ_EVERY: Duration = Duration::from_millis(20);
/// No processor package uses as much: the largest take some hundreds.
const MOST_WATTS: f64 = 10_000.0;

/// The place of the counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Powercap {
    dir: PathBuf,
}

impl Default for Powercap {
    fn default() -> Self {
        Self::at(Path::new(POWERCAP))
    }
}

/// Why there is no energy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoEnergy {
    /// The machine has no such counters.
    Absent,
    /// It has one that cannot be read.
    Refused {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
        /// Whether the user lacks the right.
        is_right: bool,
    },
}

impl NoEnergy {
    /// What helps.
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::Refused { is_right: true, .. } => {
                "run as root, or chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj"
            }
            _ => "measure on a machine of your own with RAPL, and modprobe intel_rapl_msr",
        }
    }
}

impl fmt::Display for NoEnergy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("no energy counters of processor packages here"),
            Self::Refused { path, why, .. } => write!(f, "{}: {why}", path.display()),
        }
    }
}

/// Why what a meter read is no figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoJoules {
    /// A counter could not be read any more.
    Lost,
    /// A counter ran backwards, and does not say where it ends.
    Backwards,
    /// A counter stood still: no package uses nothing.
    Still,
    /// More than any package uses: somebody else set a counter.
    Jumped,
}

impl fmt::Display for NoJoules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("energy: no joules: ")?;
        f.write_str(match self {
            Self::Lost => "a counter could not be read any more",
            Self::Backwards => {
                "a counter ran backwards, and max_energy_range_uj does not say where it starts again"
            }
            Self::Still => "a counter stood still, as those of some virtual machines do",
            Self::Jumped => {
                "by the counters a processor package used more than 10 kW, which none does"
            }
        })
    }
}

/// What a meter read, as the record of a trial has it: joules, or the warning why there are none.
pub fn noted(read: Option<Result<f64, NoJoules>>) -> (Option<f64>, Option<String>) {
    match read {
        Some(Ok(joules)) => (Some(joules), None),
        Some(Err(why)) => (None, Some(why.to_string())),
        None => (None, None),
    }
}

/// The counter of one package.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Package {
    dir: PathBuf,
    energy_uj: u64,
    /// The counter starts again after this.
    most_uj: Option<u64>,
}

impl Powercap {
    /// Counters in another directory.
    pub fn at(dir: &Path) -> Self {
        Self { dir: dir.to_owned() }
    }

    /// Begins to count; `None` where the machine does not tell.
    pub fn meter(&self) -> Option<Meter> {
        let packages = self.packages().ok()?;
        let begun = packages.clone();
        let (read_at, counted) = (Instant::now(), Duration::ZERO);
        let used_uj = Ok(0);
        Some(Meter { begun, begun_at: read_at, packages, used_uj, read_at, marks: None, counted })
    }

    /// How many packages there are.
    ///
    /// # Errors
    /// Why there is no energy to be had.
    pub fn count(&self) -> Result<usize, NoEnergy> {
        self.packages().map(|packages| packages.len())
    }

    /// What the record says of the counters, with what helps where they cannot be read; nothing where the system
    /// has none.
    pub fn fact(&self) -> Option<(&'static str, String)> {
        let elsewhere = self.elsewhere();
        let said = match self.count() {
            Err(NoEnergy::Absent) if elsewhere.is_empty() => return None,
            Err(why) => format!("{why}: no joules are given; {}", why.remedy()),
            Ok(1) => "1 processor package".to_owned(),
            Ok(count) => format!("{count} processor packages"),
        };
        Some(("energy counters", said + &elsewhere))
    }

    /// Where they are looked for, if not where the system has them.
    pub fn elsewhere(&self) -> String {
        match self.dir == Path::new(POWERCAP) {
            true => String::new(),
            false => format!(", of {} instead of {POWERCAP}", self.dir.display()),
        }
    }

    fn packages(&self) -> Result<Vec<Package>, NoEnergy> {
        let Ok(entries) = fs::read_dir(&self.dir) else { return Err(NoEnergy::Absent) };
        let mut dirs: Vec<PathBuf> = entries
            .take(MOST_ENTRIES)
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|dir| is_package(dir))
            .collect();
        dirs.sort();
        let packages: Vec<Package> =
            dirs.into_iter().map(Package::read).collect::<Result<_, _>>()?;
        if packages.is_empty() { Err(NoEnergy::Absent) } else { Ok(packages) }
    }
}

/// Whether a counter is of a package: a zone of its own (`intel-rapl:0`, with AMD too), not one within
/// another (`intel-rapl:0:0`), not the same once more by another way (`intel-rapl-mmio:0`), and not the
/// platform (`psys`).
fn is_package(dir: &Path) -> bool {
    let name = dir.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_zone = name.strip_prefix("intel-rapl:").is_some_and(|rest| rest.parse::<u32>().is_ok());
    let label = || input::named_text(&dir.join("name"), MOST_BYTES);
    is_zone && label().is_ok_and(|label| label.trim().starts_with("package"))
}

impl Package {
    fn read(dir: PathBuf) -> Result<Self, NoEnergy> {
        let energy_uj = number(&dir.join("energy_uj"))?;
        let most_uj = number(&dir.join("max_energy_range_uj")).ok();
        Ok(Self { dir, energy_uj, most_uj })
    }

    /// Used since this reading, in uJ; `None` when the counter ran backwards without a known end.
    fn used_until(&self, now: &Self) -> Option<u64> {
        match now.energy_uj.checked_sub(self.energy_uj) {
            Some(used) => Some(used),
            // The end itself is the last value, and 0 the next.
            None => self
                .most_uj?
                .checked_sub(self.energy_uj)?
                .checked_add(now.energy_uj)?
                .checked_add(1),
        }
    }
}

fn number(path: &Path) -> Result<u64, NoEnergy> {
    let refused = |error: &io::Error| NoEnergy::Refused {
        path: path.to_owned(),
        why: error.to_string(),
        is_right: error.kind() == io::ErrorKind::PermissionDenied,
    };
    let text = input::named_text(path, MOST_BYTES).map_err(|error| refused(&error))?;
    let why = || io::Error::new(io::ErrorKind::InvalidData, "it is no number");
    text.trim().parse().map_err(|_| refused(&why()))
}

/// Counts what all packages use.
#[derive(Debug)]
pub struct Meter {
    /// As they were read first.
    begun: Vec<Package>,
    begun_at: Instant,
    /// As they were read last.
    packages: Vec<Package>,
    /// Why not, once a counter could not be followed.
    used_uj: Result<u64, NoJoules>,
    read_at: Instant,
    /// Readings at the ends of intervals, the first and the last.
    marks: Option<[Mark; 2]>,
    /// How long all intervals were.
    counted: Duration,
}

/// What had been used when an interval ended.
#[derive(Clone, Copy, Debug)]
struct Mark {
    at: Instant,
    used_uj: Result<u64, NoJoules>,
}

impl Meter {
    /// To be called at the end of each interval in which frames are counted, with its length.
    pub fn mark(&mut self, interval: Duration) {
        self.counted = self.counted.saturating_add(interval);
        if self.marks.is_none() || self.read_at.elapsed() >= READ_EVERY {
            self.read();
            self.note(self.read_at);
        }
    }

    /// What was used until `at` counts as used when an interval ended.
    fn note(&mut self, at: Instant) {
        let now = Mark { at, used_uj: self.used_uj };
        self.marks = Some([self.marks.map_or(now, |[first, _]| first), now]);
    }

    /// Joules used in the intervals, by what was used from the end of the first to that of the last; without
    /// two of them, since the beginning. What sets a trial up and waits for its last frames is not in it.
    ///
    /// # Errors
    /// Why what the counters say is no figure.
    pub fn joules(mut self) -> Result<f64, NoJoules> {
        self.read();
        let whole_uj = self.used_uj?;
        let mut pairs = self.packages.iter().zip(&self.begun);
        if pairs.any(|(now, begun)| now.energy_uj == begun.energy_uj) {
            return Err(NoJoules::Still);
        }
        let Some([first, last]) = self.marks.filter(|[first, last]| last.at > first.at) else {
            self.watts(whole_uj, self.read_at - self.begun_at)?;
            return Ok(whole_uj as f64 / 1e6);
        };
        let between_uj = last.used_uj?.saturating_sub(first.used_uj?);
        let watts = self.watts(between_uj, last.at - first.at)?;
        let joules = watts * self.counted.as_secs_f64();
        if joules > 0.0 { Ok(joules) } else { Err(NoJoules::Still) }
    }

    /// The power of all packages, if machines have such.
    fn watts(&self, used_uj: u64, time: Duration) -> Result<f64, NoJoules> {
        let watts = used_uj as f64 / 1e6 / time.as_secs_f64();
        let is_possible = watts <= MOST_WATTS * self.packages.len() as f64;
        if is_possible { Ok(watts) } else { Err(NoJoules::Jumped) }
    }

    fn read(&mut self) {
        self.read_at = Instant::now();
        for package in &mut self.packages {
            let now = Package::read(package.dir.clone());
            let used = now.as_ref().map_err(|_| NoJoules::Lost);
            let used = used.and_then(|now| package.used_until(now).ok_or(NoJoules::Backwards));
            self.used_uj =
                self.used_uj.and_then(|sum| sum.checked_add(used?).ok_or(NoJoules::Jumped));
            if let Ok(now) = now {
                *package = now;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(dir: &Path, zone: &str, name: &str, text: &str) {
        fs::create_dir_all(dir.join(zone)).unwrap();
        fs::write(dir.join(zone).join(name), text).unwrap();
    }

    fn zone(dir: &Path, zone: &str, label: &str, uj: &str) {
        put(dir, zone, "name", &format!("{label}\n"));
        put(dir, zone, "energy_uj", &format!("{uj}\n"));
    }

    #[test]
    fn each_package_counts_once_and_over_the_end_of_its_counter() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path();
        for (at, label, uj) in [
            ("intel-rapl:0", "package-0", "1000000"),
            ("intel-rapl:0:0", "core", "900000"),
            // The platform holds its packages, and may have any number.
            ("intel-rapl:1", "psys", "5000000"),
            ("intel-rapl:2", "package-1", "262143000000"),
            ("intel-rapl-mmio:0", "package-0", "1000000"),
            ("dtpm", "package-9", "7"),
        ] {
            zone(dir, at, label, uj);
            put(dir, at, "max_energy_range_uj", "262143328850\n");
        }
        let powercap = Powercap::at(dir);
        assert_eq!(powercap.count(), Ok(2));
        let mut meter = powercap.meter().unwrap();
        for at in ["intel-rapl:0", "intel-rapl:0:0", "intel-rapl:1", "intel-rapl-mmio:0", "dtpm"] {
            put(dir, at, "energy_uj", "3500000\n");
        }
        put(dir, "intel-rapl:2", "energy_uj", "171149\n");
        meter.read();
        assert_eq!(meter.used_uj, Ok(3_000_000));
        // Once more to the end and beyond: read in between, both are seen.
        put(dir, "intel-rapl:2", "energy_uj", "262143328850\n");
        meter.read();
        put(dir, "intel-rapl:2", "energy_uj", "0\n");
        meter.begun_at -= Duration::from_secs(60);
        let joules = meter.joules().unwrap();
        let truth = 3.0 + 262_143.157_701 + 0.000_001;
        assert!((joules - truth).abs() < 1e-6, "{joules}");
    }

    /// Setting up takes 5 J and the wait for the last frames 90 J; in between 30 W for five intervals of 100 ms.
    #[test]
    fn joules_are_those_of_the_intervals_and_not_of_what_comes_before_and_after() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path();
        zone(dir, "intel-rapl:0", "package-0", "1000");
        let mut meter = Powercap::at(dir).meter().unwrap();
        let begun = Instant::now();
        for at in 1..=5_u32 {
            let uj = 1000 + 5_000_000 + 3_000_000 * u64::from(at);
            put(dir, "intel-rapl:0", "energy_uj", &format!("{uj}\n"));
            meter.counted += Duration::from_millis(100);
            meter.read();
            meter.note(begun + at * Duration::from_millis(100));
        }
        put(dir, "intel-rapl:0", "energy_uj", "110001000\n");
        let joules = meter.joules().unwrap();
        assert!((joules - 15.0).abs() < 1e-9, "{joules}");
    }

    #[test]
    fn the_first_interval_is_marked_and_the_length_of_each_counts() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path();
        zone(dir, "intel-rapl:0", "package-0", "1000");
        let mut meter = Powercap::at(dir).meter().unwrap();
        put(dir, "intel-rapl:0", "energy_uj", "2000\n");
        meter.mark(Duration::from_millis(10));
        meter.mark(Duration::from_millis(10));
        assert_eq!(meter.counted, Duration::from_millis(20));
        assert_eq!(meter.marks.unwrap()[0].used_uj, Ok(1000));
    }

    #[test]
    fn what_the_machine_does_not_tell_is_absent_and_says_why() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path();
        assert_eq!(Powercap::at(&dir.join("none")).count(), Err(NoEnergy::Absent));
        let powercap = Powercap::at(dir);
        assert_eq!(powercap.count(), Err(NoEnergy::Absent));
        zone(dir, "intel-rapl:0", "package-0", "not a number");
        let Err(NoEnergy::Refused { path, why, is_right }) = powercap.count() else { panic!() };
        assert!(path.ends_with("intel-rapl:0/energy_uj") && why == "it is no number" && !is_right);
        assert!(powercap.meter().is_none());
        // A counter that ran backwards and does not say where it ends, and one that went away.
        zone(dir, "intel-rapl:0", "package-0", "1000");
        let meter = powercap.meter().unwrap();
        put(dir, "intel-rapl:0", "energy_uj", "10\n");
        assert_eq!(meter.joules(), Err(NoJoules::Backwards));
        // One that stands still, as some virtual machines have it: 0 J were said of it.
        assert_eq!(powercap.meter().unwrap().joules(), Err(NoJoules::Still));
        // One that somebody set: 5000 J in a trial of 20 ms are 250 kW.
        let mut meter = powercap.meter().unwrap();
        put(dir, "intel-rapl:0", "energy_uj", "5000000010\n");
        meter.begun_at -= Duration::from_millis(20);
        assert_eq!(meter.joules(), Err(NoJoules::Jumped));
        let meter = powercap.meter().unwrap();
        fs::remove_dir_all(dir.join("intel-rapl:0")).unwrap();
        assert_eq!(meter.joules(), Err(NoJoules::Lost));
        let (joules, said) = noted(Some(Err(NoJoules::Still)));
        assert!(joules.is_none() && said.unwrap().contains("no joules: a counter stood still"));
        // One of two that cannot be read: half the energy would be a wrong figure.
        zone(dir, "intel-rapl:0", "package-0", "1000");
        zone(dir, "intel-rapl:1", "package-1", "1000");
        fs::remove_file(dir.join("intel-rapl:1/energy_uj")).unwrap();
        assert!(powercap.meter().is_none());
    }

    #[test]
    fn the_record_says_what_was_read_from_where_or_why_nothing_was() {
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path();
        zone(dir, "intel-rapl:0", "package-0", "1000");
        let fact = |dir: &Path| Powercap::at(dir).fact().unwrap().1;
        // A directory that somebody wrote wrong is named.
        let none = fact(&dir.join("none"));
        assert!(
            none.starts_with("no energy counters") && none.contains("/none instead of"),
            "{none}"
        );
        let fact = || fact(dir);
        let from = format!(", of {} instead of {POWERCAP}", dir.display());
        assert_eq!(fact(), format!("1 processor package{from}"));
        zone(dir, "intel-rapl:1", "package-1", "1000");
        assert_eq!(fact(), format!("2 processor packages{from}"));
        put(dir, "intel-rapl:1", "energy_uj", "none\n");
        assert!(
            fact().contains("intel-rapl:1/energy_uj: it is no number: no joules"),
            "{}",
            fact()
        );
    }

    const UNREADABLE: &str = "a_counter_that_others_may_not_read_is_named_with_its_right";

    /// The superuser reads whatever its mode: as root this runs once more as a user of its own.
    #[test]
    fn a_counter_that_others_may_not_read_is_named_with_its_right() {
        use std::os::unix::fs::PermissionsExt;
        let scratch = tempfile::tempdir().unwrap();
        let dir = scratch.path();
        zone(dir, "intel-rapl:0", "package-0", "1000");
        let file = dir.join("intel-rapl:0/energy_uj");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o000)).unwrap();
        if fs::read(&file).is_ok() {
            as_nobody(UNREADABLE);
            return;
        }
        let Err(NoEnergy::Refused { path, is_right, .. }) = Powercap::at(dir).count() else {
            panic!("it cannot be read")
        };
        assert!(path == file && is_right);
        let (_, fact) = Powercap::at(dir).fact().unwrap();
        assert!(fact.contains("no joules are given; run as root, or chmod a+r"), "{fact}");
    }

    /// Runs one test of this program again, as a user without rights, and demands that it ran and held.
    fn as_nobody(test: &str) {
        use std::os::unix::fs::PermissionsExt;
        use std::os::unix::process::CommandExt;
        const NOBODY: u32 = 65_534;
        const AGAIN: &str = "FWDLAB_TEST_AS_NOBODY";
        assert!(std::env::var_os(AGAIN).is_none(), "this user reads files of mode 0, too");
        // The program may lie where that user cannot look, and the test needs a place to write.
        let place = tempfile::tempdir().unwrap();
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let program = place.path().join("tests");
        fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        let name = format!("{}::{test}", module_path!().split_once("::").unwrap().1);
        let ran = std::process::Command::new(&program)
            .args(["--exact", &name, "--nocapture"])
            .env(AGAIN, "1")
            .env("TMPDIR", place.path())
            .current_dir(place.path())
            .uid(NOBODY)
            .gid(NOBODY)
            .output();
        let output = match ran {
            Ok(output) => output,
            Err(error) => return eprintln!("SKIPPED {test}: not as another user: {error}"),
        };
        let said = String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }
}
