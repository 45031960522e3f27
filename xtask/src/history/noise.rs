//! The noise of long series, as published ones have it.

use fwdlab_stats::distribution::normal_quantile;

/// Points of a series: those of a year in the published ones.
pub const POINTS: usize = 55;
/// Runs of a point.
const RUNS: usize = 5;

/// How much the runs of a point vary, in per cent: the coefficients of variation of the thirty
/// published groups of runs behind the seeds, those at line rate (0.001 %) with the others.
const RUN_PERCENT: [f64; 30] = [
    0.278, 0.794, 0.324, 0.756, 0.539, 0.641, 0.669, 0.511, 0.518, 0.305, 0.336, 0.601, 0.530,
    0.199, 0.479, 0.922, 0.438, 1.021, 2.422, 1.315, 0.594, 1.164, 1.147, 0.370, 0.198, 0.222,
    0.001, 0.001, 0.001, 0.001,
];

/// What moves the points beside their runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// 0.5 % from point to point.
    Steady,
    /// 3 in 100 runs 5 to 30 % low, 2 in 100 points 3 to 30 % low.
    Stray,
    /// 3 in 10 points in a second state, 1.5 % lower.
    TwoStates,
    /// 0.7 % from point to point, half of it kept to the next.
    Wandering,
    /// 2 % from point to point, as the worst machine of the archive.
    Rough,
}

impl Kind {
    pub const ALL: [Self; 5] =
        [Self::Steady, Self::Stray, Self::TwoStates, Self::Wandering, Self::Rough];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Steady => "steady",
            Self::Stray => "stray runs and days",
            Self::TwoStates => "two states",
            Self::Wandering => "wandering",
            Self::Rough => "rough (2 %)",
        }
    }

    /// Whether steps of 3 % are asked to be found in it: of a machine that moves by 2 % from day to day nobody can ask
    /// where one was.
    pub fn is_clear(self) -> bool {
        self != Self::Rough
    }

    /// Whether its points are in no order, as the watch of ranks takes them to be.
    pub fn is_exchangeable(self) -> bool {
        self != Self::Wandering
    }

    /// Standard deviation from point to point.
    const fn between(self) -> f64 {
        match self {
            Self::Wandering => 0.007,
            Self::Rough => 0.02,
            _ => 0.005,
        }
    }
}

/// A simulated series.
pub struct Simulated {
    /// Medians of the runs.
    pub values: Vec<f64>,
    /// What the runs say of a point's error, as `fwdlab history` takes it.
    pub noise: f64,
    /// How much its runs vary, as a ratio.
    pub runs_sd: f64,
    pub seed: u64,
}

/// A series, with a step (its first point and its ratio) or without.
pub fn series(kind: Kind, step: Option<(usize, f64)>, seed: u64, points: usize) -> Simulated {
    let mut random = Random::new(seed);
    let runs_sd = RUN_PERCENT[(random.unit() * RUN_PERCENT.len() as f64) as usize] / 100.0;
    let mut kept = 0.0;
    let mut values = Vec::with_capacity(points);
    let mut errors = Vec::with_capacity(points);
    for point in 0..points {
        let own = kind.between() * random.normal();
        let carried = if kind == Kind::Wandering { 0.5 * kept } else { 0.0 };
        kept = own * if kind == Kind::Wandering { 0.75f64.sqrt() } else { 1.0 } + carried;
        let mut level = 1e6 * (1.0 + kept);
        if kind == Kind::TwoStates && random.unit() < 0.3 {
            level *= 0.985;
        }
        if kind == Kind::Stray && random.unit() < 0.02 {
            level *= 1.0 - 0.03 - 0.27 * random.unit();
        }
        if let Some((_, ratio)) = step.filter(|(at, _)| point >= *at) {
            level *= ratio;
        }
        let mut runs: Vec<f64> =
            (0..RUNS).map(|_| run(kind, level, runs_sd, &mut random)).collect();
        runs.sort_by(f64::total_cmp);
        let mean = runs.iter().sum::<f64>() / RUNS as f64;
        let squares: f64 = runs.iter().map(|r| (r - mean) * (r - mean)).sum();
        let sd = (squares / (RUNS - 1) as f64).sqrt();
        errors.push(1.253 * sd / mean / (RUNS as f64).sqrt());
        values.push(runs[RUNS / 2]);
    }
    errors.sort_by(f64::total_cmp);
    Simulated { values, noise: errors[points / 2], runs_sd, seed }
}

/// One figure of a process: a state of its own where there are two, and a run.
pub fn point(kind: Kind, level: f64, runs_sd: f64, random: &mut Random) -> f64 {
    let is_low = kind == Kind::TwoStates && random.unit() < 0.3;
    run(kind, if is_low { level * 0.985 } else { level }, runs_sd, random)
}

fn run(kind: Kind, level: f64, sd: f64, random: &mut Random) -> f64 {
    let value = level * (1.0 + sd * random.normal());
    if kind == Kind::Stray && random.unit() < 0.03 {
        value * (0.95 - 0.25 * random.unit())
    } else {
        value
    }
}

/// xorshift64*, seeded by splitmix64.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        let mut z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        Self((z ^ (z >> 31)) | 1)
    }

    /// In 0..1, never 0.
    pub fn unit(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bits = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11;
        (bits as f64 + 0.5) / (1u64 << 53) as f64
    }

    pub fn normal(&mut self) -> f64 {
        normal_quantile(self.unit())
    }
}
