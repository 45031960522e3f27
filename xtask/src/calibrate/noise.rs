//! Noise of trials, in the order in which they run.
//!
//! The models and their sizes follow what 18,126 published forwarding runs show: the coefficient of
//! variation between runs has median 0.91 %, quartiles 0.45 % and 2.03 %; 8 % of configurations
//! have a stray run, 6 % fall into two clusters; machines drift and warm up.

/// SplitMix64 (Steele, Lea, Flood 2014): small, and the same on every machine and version.
pub struct Random {
    state: u64,
}

impl Random {
    /// A generator of its own for every simulated campaign, so that threads do not change results.
    pub fn of(seed: u64, campaign: u64) -> Self {
        let mut random = Self { state: seed ^ campaign.wrapping_mul(0xd134_2543_de82_ef95) };
        random.bits();
        random
    }

    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform in (0, 1).
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Uniform in 0 .. `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.unit() * bound as f64) as usize
    }

    /// Standard normal (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// The numbers below `count`, in any order.
    pub fn shuffled(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        self.shuffle(&mut order);
        order
    }

    /// Fisher-Yates.
    fn shuffle(&mut self, items: &mut [usize]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// A noise model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noise {
    Normal,
    Stray,
    TwoClusters,
    Drift,
    RandomWalk,
    Corpus,
    TwoStates,
    Sticky,
    Quantised,
    Unequal,
}

pub const ALL: [Noise; 10] = [
    Noise::Normal,
    Noise::Stray,
    Noise::TwoClusters,
    Noise::Drift,
    Noise::RandomWalk,
    Noise::Corpus,
    Noise::TwoStates,
    Noise::Sticky,
    Noise::Quantised,
    Noise::Unequal,
];

/// Speed of the slow state: 4.8 and 7.6 ns a frame.
const SLOW: f64 = 4.8 / 7.6;
/// Share of trials in the slow state.
const SLOW_SHARE: f64 = 0.2;
/// Chance of leaving the slow state from one trial to the next, where states stick.
const LEAVING: f64 = 0.1;
/// Frames/s, of a rate of 10^6, to which quantised figures are rounded.
const STEP: f64 = 2500.0;

/// Coefficient of variation of the plain models.
const CV: f64 = 0.005;

impl Noise {
    pub fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Stray => "stray runs",
            Self::TwoClusters => "two clusters",
            Self::Drift => "drift",
            Self::RandomWalk => "random walk",
            Self::Corpus => "corpus-like",
            Self::TwoStates => "two states",
            Self::Sticky => "sticky states",
            Self::Quantised => "quantised",
            Self::Unequal => "unequal spread",
        }
    }

    pub fn describe(self) -> &'static str {
        match self {
            Self::Normal => "CV 0.5 %, independent",
            Self::Stray => "CV 0.5 %; 8 % of the runs are slower by a further |N(0, 5 %)|",
            Self::TwoClusters => "each run in one of two clusters 2 % apart, CV 0.3 % inside",
            Self::Drift => "CV 0.5 % and a linear drift of 3 % over the campaign",
            Self::RandomWalk => "CV 0.5 % and a random walk with steps of 0.15 %",
            Self::Corpus => {
                "CV log-normal with median 0.91 % and quartiles 0.45 % and 2.03 %; 8 % of the campaigns \
                 with a stray run of 10 CV, 6 % with two clusters 4 CV apart"
            }
            Self::TwoStates => {
                "4.8 ns a frame, 7.6 ns in one trial of five (either variant), CV 0.5 % inside"
            }
            Self::Sticky => {
                "the same two states, but the slow one is left with a chance of 10 % a trial only"
            }
            Self::Quantised => "CV 0.2 %, figures rounded to steps of 0.25 %",
            Self::Unequal => "CV 0.3 % of the baseline, 1.2 % of every variant",
        }
    }

    /// Log noise of `trials` trials in running order.
    pub fn stream(self, random: &mut Random, trials: usize) -> Vec<f64> {
        let mut walk = 0.0;
        let mut is_slow = random.unit() < SLOW_SHARE;
        let corpus = Corpus::draw(random, trials);
        (0..trials)
            .map(|at| {
                let z = random.normal();
                match self {
                    Self::Normal => CV * z,
                    Self::Stray if random.unit() < 0.08 => CV * z - 0.05 * random.normal().abs(),
                    Self::Stray => CV * z,
                    Self::TwoClusters if random.unit() < 0.5 => 0.003 * z - 0.02,
                    Self::TwoClusters => 0.003 * z,
                    Self::Drift => CV * z + 0.03 * at as f64 / trials as f64,
                    Self::RandomWalk => {
                        walk += 0.0015 * random.normal();
                        CV * z + walk
                    }
                    Self::Corpus => corpus.value(random, at, z),
                    Self::TwoStates => {
                        CV * z + if random.unit() < SLOW_SHARE { SLOW.ln() } else { 0.0 }
                    }
                    Self::Sticky => {
                        let entering = LEAVING * SLOW_SHARE / (1.0 - SLOW_SHARE);
                        is_slow ^= random.unit() < if is_slow { LEAVING } else { entering };
                        CV * z + if is_slow { SLOW.ln() } else { 0.0 }
                    }
                    Self::Quantised => 0.002 * z,
                    Self::Unequal => 0.003 * z,
                }
            })
            .collect()
    }

    /// The figure of a trial of the baseline (column 0) or of a variant with this gain.
    pub fn figure(self, column: usize, gain: f64, noise: f64) -> f64 {
        let spread = if self == Self::Unequal && column > 0 { 4.0 } else { 1.0 };
        let figure = 1e6 * (1.0 + gain) * (spread * noise).exp();
        if self == Self::Quantised { (figure / STEP).round() * STEP } else { figure }
    }
}

/// One configuration of the corpus.
struct Corpus {
    cv: f64,
    stray: Option<usize>,
    has_clusters: bool,
}

impl Corpus {
    fn draw(random: &mut Random, trials: usize) -> Self {
        // quartiles of a log-normal lie 0.6745 sigma from its median
        let sigma = (2.03f64 / 0.45).ln() / (2.0 * 0.6745);
        let stray = (random.unit() < 0.08).then(|| random.below(trials));
        Self {
            cv: (0.0091f64.ln() + sigma * random.normal()).exp(),
            stray,
            has_clusters: random.unit() < 0.06,
        }
    }

    fn value(&self, random: &mut Random, at: usize, z: f64) -> f64 {
        let cluster = if self.has_clusters && random.unit() < 0.5 { -4.0 } else { 0.0 };
        let stray = if self.stray == Some(at) { -10.0 } else { 0.0 };
        self.cv * (z + cluster + stray)
    }
}
