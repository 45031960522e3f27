//! One change on several machines: how often the summary misses the mean of machines, and the next one.

use std::fmt::Write;
use std::ops::RangeInclusive;

use fwdlab_stats::machines::{Figure, Runs, synthesis};
use fwdlab_stats::{Confidence, Dataset, Effect};

use super::Claim;
use super::noise::Random;
use super::parallel::{SEED, Size, in_parallel};

/// How machines differ.
struct World {
    name: &'static str,
    /// Standard deviation of a machine's own effect on the log ratio.
    between: f64,
    /// CV of the runs of the machine of that number; the second is drawn from 0 to 1.
    cv: fn(usize, f64) -> f64,
}

const WORLDS: [World; 4] = [
    World { name: "1 % on all, machines 3 % apart", between: 0.03, cv: |_, _| 0.01 },
    World {
        name: "0.2 to 3 %, machines 1 % apart",
        between: 0.01,
        cv: |_, drawn| 0.002 * 15.0_f64.powf(drawn),
    },
    World {
        name: "3 % on one and 0.2 % on the others, machines 3 % apart",
        between: 0.03,
        cv: |machine, _| if machine == 0 { 0.03 } else { 0.002 },
    },
    World { name: "1 % on all, machines alike", between: 0.0, cv: |_, _| 0.01 },
];

/// Numbers of machines.
const COUNTS: RangeInclusive<usize> = 2..=6;
/// Fewest from which the next one is foretold.
const LEAST_FOR_NEXT: usize = 3;
/// Runs of a side.
const RUNS: RangeInclusive<usize> = 3..=10;
/// Labs for each campaign of the other tables: these are quick.
const LABS: u64 = 5;

/// One world and number of machines.
pub struct Row {
    world: &'static str,
    machines: usize,
    labs: u64,
    /// The mean of such machines outside the interval.
    mean: f64,
    /// The next machine outside the interval for it.
    next: f64,
}

impl Row {
    /// What it promises.
    pub fn claims(&self) -> Vec<(String, Claim)> {
        let claim = |what: &str, rate: f64| {
            let name = format!("{what}, {} machines, {}", self.machines, self.world);
            (name, Claim { rate, most: 0.05, campaigns: self.labs })
        };
        let mut claims = vec![claim("means of machines missed", self.mean)];
        if self.machines >= LEAST_FOR_NEXT {
            claims.push(claim("next machines missed", self.next));
        }
        claims
    }
}

/// All worlds and numbers of machines.
pub fn simulate(size: Size) -> Vec<Row> {
    let labs = LABS * size.trust;
    let row = |place: u64, world: &World, machines: usize| {
        let [mean, next] = in_parallel(labs, |lab| {
            let mut random = Random::of(SEED ^ (place << 40) ^ 0x3ac, lab);
            one(world, machines, &mut random).map(f64::from)
        });
        let [mean, next] = [mean, next].map(|sum| sum / labs as f64);
        Row { world: world.name, machines, labs, mean, next }
    };
    let all = WORLDS.iter().flat_map(|world| COUNTS.map(move |machines| (world, machines)));
    all.enumerate().map(|(place, (world, machines))| row(place as u64, world, machines)).collect()
}

/// Whether the summary of a lab without any effect misses the mean, and the next machine.
fn one(world: &World, machines: usize, random: &mut Random) -> [bool; 2] {
    let figures: Option<Vec<Figure>> =
        (0..machines).map(|machine| figure(world, machine, random)).collect();
    let summary = figures.and_then(|figures| synthesis(&figures, Confidence::USUAL).ok());
    let next = Effect::from_ln(world.between * random.normal());
    let Some(summary) = summary else { return [true; 2] };
    [
        !summary.interval.covers(Effect::from_ln(0.0)),
        summary.next.is_some_and(|interval| !interval.covers(next)),
    ]
}

/// What one machine says: as many runs of both sides.
fn figure(world: &World, machine: usize, random: &mut Random) -> Option<Figure> {
    let runs = RUNS.start() + random.below(RUNS.count());
    let cv = (world.cv)(machine, random.unit());
    let effect = world.between * random.normal();
    let mut side = |effect: f64| {
        let rates = (0..runs).map(|_| (effect + cv * random.normal()).exp()).collect();
        Dataset::new(rates).ok().map(|rates| Runs { n: runs, mean: rates.mean(), sd: rates.sd() })
    };
    Figure::of_runs(side(0.0)?, side(effect)?).ok()
}

/// The table.
pub fn write(rows: &[Row], text: &mut String) {
    let labs = rows.first().map_or(0, |row| row.labs);
    let counts: Vec<String> = COUNTS.map(|machines| machines.to_string()).collect();
    let from_three: Vec<String> = (LEAST_FOR_NEXT..=*COUNTS.end()).map(|n| n.to_string()).collect();
    let _ = write!(
        text,
        "\n## Several machines\n\n\
         One change on several machines of {} to {} runs of each side, {labs} labs of each kind: how often the\n\
         interval of the summary ([statistics.md](statistics.md)) misses the mean of such machines, and that for the\n\
         next machine what that has (5 % are promised).\n\n\
         | noise of a run | mean missed % with {} | next missed % with {} |\n|---|{}\n",
        RUNS.start(),
        RUNS.end(),
        counts.join(" | "),
        from_three.join(" | "),
        "---:|".repeat(counts.len() + from_three.len())
    );
    for rows in rows.chunks(counts.len()) {
        let shown = |share: f64| format!("{:.1}", share * 100.0);
        let means = rows.iter().map(|row| shown(row.mean));
        let nexts = rows.iter().filter(|row| row.machines >= LEAST_FOR_NEXT);
        let cells: Vec<String> = means.chain(nexts.map(|row| shown(row.next))).collect();
        let _ = writeln!(text, "| {} | {} |", rows[0].world, cells.join(" | "));
    }
}
