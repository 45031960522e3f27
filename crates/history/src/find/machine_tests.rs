//! Whose change it is: the machine's or the software's, where the truth is known.

use fwdlab_stats::distribution::normal_quantile;

use super::tests::{points, step};
use super::*;

const CONTROL: &str = "same old image";

fn with_control() -> Options {
    Options { control: Some(CONTROL.into()), ..Options::default() }
}

/// The cause of each alert with its series.
fn causes(parts: &[Vec<Point>]) -> Vec<(Cause, Vec<String>)> {
    let history = find(parts.concat(), &[], &with_control());
    let name = |moved: &Moved| history.series[moved.series].key.configuration.clone();
    let of = |alert: &Alert| (alert.cause, alert.moved.iter().map(name).collect());
    history.alerts.iter().map(of).collect()
}

#[test]
fn a_control_of_another_machine_says_nothing() {
    let found = causes(&[
        points("atom", "pf", &step(30, 15, 0.95)),
        points("atom", CONTROL, &step(30, 30, 1.0)),
        points("xeon", CONTROL, &step(30, 15, 0.95)),
    ]);
    assert!(found.contains(&(Cause::Software, vec!["pf".into()])), "{found:?}");
    assert!(found.contains(&(Cause::Machine, vec![CONTROL.into()])), "{found:?}");
}

#[test]
fn a_control_that_moves_otherwise_does_not_explain_a_change() {
    // the other way; and the same way, by a fifth of it
    for (ratio, of_control) in [(0.95, 1.03), (0.9, 0.98)] {
        let found = causes(&[
            points("atom", "pf", &step(30, 15, ratio)),
            points("atom", CONTROL, &step(30, 15, of_control)),
        ]);
        assert!(found.contains(&(Cause::Software, vec!["pf".into()])), "{found:?}");
        assert!(found.contains(&(Cause::Machine, vec![CONTROL.into()])), "{found:?}");
    }
}

#[test]
fn a_machine_and_the_software_that_move_on_one_day_are_two_alerts() {
    let found = causes(&[
        points("atom", "pf", &step(30, 15, 0.7)),
        points("atom", "forwarding", &step(30, 15, 0.95)),
        points("atom", CONTROL, &step(30, 15, 0.95)),
    ]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.contains(&(Cause::Software, vec!["pf".into()])), "{found:?}");
}

/// By 1.8 times what the control shows: the machine moves each by 0.8 to 1.2 times as much.
#[test]
fn more_than_a_machine_explains_stays_open() {
    let found = causes(&[
        points("atom", "forwarding", &step(30, 15, 0.928)),
        points("atom", "nat", &step(30, 15, 0.958)),
        points("atom", CONTROL, &step(30, 15, 0.96)),
    ]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.contains(&(Cause::Both, vec!["forwarding".into()])), "{found:?}");
    let of_machine = found.iter().find(|(cause, _)| *cause == Cause::Machine);
    assert_eq!(of_machine.map(|(_, names)| names.len()), Some(2), "{found:?}");
}

/// A control whose points are too few for a change of their own still says what the machine did.
#[test]
fn a_control_that_was_measured_now_and_then_explains_a_change() {
    let seldom = points("atom", CONTROL, &step(30, 15, 0.95));
    let seldom = seldom.into_iter().step_by(4).collect();
    let found = causes(&[points("atom", "pf", &step(30, 15, 0.95)), seldom]);
    assert!(found.iter().all(|(cause, _)| *cause == Cause::Machine), "{found:?}");
    assert!(found.iter().any(|(_, names)| names.contains(&"pf".into())), "{found:?}");
}

/// A control is one revision, which stands in its place in the order of revisions: its days count.
#[test]
fn a_control_of_one_revision_is_ordered_by_its_days() {
    let on_days = |mut own: Vec<Point>, revision: Option<&str>| {
        for (at, point) in own.iter_mut().enumerate() {
            point.date = Some(format!("2020-03-{:02}", at + 1));
            point.revision = revision.map_or(point.revision.clone(), str::to_owned);
        }
        own
    };
    let found = causes(&[
        on_days(points("atom", "pf", &step(30, 15, 0.95)), None),
        on_days(points("atom", CONTROL, &step(30, 15, 0.95)), Some("r290000")),
    ]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].0, found[0].1.len()), (Cause::Machine, 2));
}

/// xorshift64*, seeded by splitmix64.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        let z = (seed.wrapping_add(0x9E37_79B9_7F4A_7C15) ^ (seed >> 30))
            .wrapping_mul(0xBF58_476D_1CE4_E5B9);
        Self((z ^ (z >> 27)) | 1)
    }

    fn unit(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        normal_quantile(self.unit())
    }
}

/// Noise of a machine.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// 0.5 % from point to point.
    Steady,
    /// 2 in 100 points 3 to 30 % low.
    Stray,
    /// 3 in 10 points in a second state, 1.5 % lower.
    TwoStates,
    /// 0.7 % from point to point, half of it kept to the next.
    Wandering,
}

const KINDS: [Kind; 4] = [Kind::Steady, Kind::Stray, Kind::TwoStates, Kind::Wandering];
const CONFIGURATIONS: usize = 5;
const POINTS: usize = 55;

/// Levels of a series whose last points are `ratio` times as high.
fn levels(kind: Kind, at: usize, ratio: f64, random: &mut Random) -> Vec<f64> {
    let mut kept = 0.0;
    let one = |point: usize| {
        let (sd, carried) = match kind {
            Kind::Wandering => (0.007 * 0.75f64.sqrt(), 0.5),
            _ => (0.005, 0.0),
        };
        kept = carried * kept + sd * random.normal();
        let mut level = 1e6 * (1.0 + kept);
        level *= match kind {
            Kind::TwoStates if random.unit() < 0.3 => 0.985,
            Kind::Stray if random.unit() < 0.02 => 0.97 - 0.27 * random.unit(),
            _ => 1.0,
        };
        if point >= at { level * ratio } else { level }
    };
    (0..POINTS).map(one).collect()
}

/// A year of one machine, its control in it, with a step of `size` (0.03: 3 %).
fn year(kind: Kind, size: f64, is_machine: bool, seed: u64) -> History {
    let mut random = Random::new(seed);
    for _ in 0..8 {
        random.unit();
    }
    let at = 12 + (random.unit() * 40.0) as usize;
    let way = if random.unit() < 0.5 { -1.0 } else { 1.0 };
    // the software moves one configuration to three
    let moves = 1 + (random.unit() * 3.0) as usize;
    let mut all = Vec::new();
    for own in 0..=CONFIGURATIONS {
        // a machine does not move all of them by the same
        let share =
            if is_machine { 0.8 + 0.4 * random.unit() } else { f64::from(u8::from(own < moves)) };
        let ratio = (way * size * share).exp();
        let name = if own == CONFIGURATIONS { CONTROL.to_owned() } else { format!("c{own}") };
        all.extend(points("atom", &name, &levels(kind, at, ratio, &mut random)));
    }
    find(all, &[], &with_control())
}

/// Years in which something of the tested was reported, and those of them in which the machine was blamed for all
/// and for some of it.
fn blamed(kind: Kind, size: f64, is_machine: bool, seeds: std::ops::Range<u64>) -> [u64; 3] {
    let mut counts = [0; 3];
    for seed in seeds {
        let history = year(kind, size, is_machine, seed);
        let is_control = |own: &Moved| history.series[own.series].key.configuration == CONTROL;
        let of_software = history.alerts.iter().filter(|own| !own.moved.iter().all(is_control));
        let causes: Vec<Cause> = of_software.map(|own| own.cause).collect();
        let is_it = |cause: &Cause| *cause == Cause::Machine;
        counts[0] += u64::from(!causes.is_empty());
        counts[1] += u64::from(!causes.is_empty() && causes.iter().all(is_it));
        counts[2] += u64::from(causes.iter().any(is_it));
    }
    counts
}

fn check(years: u64, first: u64) {
    println!(
        "| noise | step | the machine's, so called | the software's, the machine blamed |\n|---|---|---:|---:|"
    );
    let (mut shifts, mut called, mut steps, mut wrong) = (0, 0, 0, 0);
    for kind in KINDS {
        for size in [0.02, 0.03, 0.05, 0.1] {
            let seeds = first..first + years;
            let [reported, all, _] = blamed(kind, size, true, seeds.clone());
            let [of_software, _, some] = blamed(kind, size, false, seeds);
            let percent = |part: u64, whole: u64| part as f64 * 100.0 / whole.max(1) as f64;
            println!(
                "| {kind:?} | {:.0} % | {:.1} % of {reported} | {:.1} % of {of_software} |",
                size * 100.0,
                percent(all, reported),
                percent(some, of_software),
            );
            (shifts, called) = (shifts + reported, called + all);
            (steps, wrong) = (steps + of_software, wrong + some);
        }
    }
    println!("in all: {called} of {shifts}, {wrong} of {steps}");
    assert!(shifts > 12 * years && steps > 12 * years, "{shifts} {steps}");
    assert!(called * 10 >= shifts * 9, "{called} of {shifts} shifts of the machine");
    assert!(wrong * 100 <= steps, "{wrong} of {steps} steps of the software");
}

#[test]
fn a_machine_that_moves_is_told_from_software() {
    check(25, 1_000_000);
}

/// The table of docs/history.md.
#[test]
#[ignore = "minutes: the table of docs/history.md"]
fn a_thousand_years_of_each_noise_and_step() {
    check(1_000, 0);
}
