//! Several comparisons of equal things at once: how often any is called a difference.

use fwdlab_stats::multiple::Kind;
use fwdlab_stats::unpaired::{self, Pair};
use fwdlab_stats::{Confidence, Direction};

/// SplitMix64 (Steele, Lea and Flood 2014).
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((z ^ (z >> 31)) >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Ten runs near `level`, CV 0.5 %.
    fn runs(&mut self, level: f64) -> Vec<f64> {
        let mut normal =
            || (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos();
        (0..10).map(|_| level * (0.005 * normal()).exp()).collect()
    }
}

/// Of 150 campaigns, those that call a difference among these pairs.
fn calls(
    kind: Option<Kind>,
    mut draw: impl FnMut(&mut Random) -> Vec<(Vec<f64>, Vec<f64>)>,
) -> usize {
    let mut random = Random(0x05e7_e7a1);
    let is_called = |pairs: Vec<(Vec<f64>, Vec<f64>)>| {
        let direction = Direction::LowerIsBetter;
        let pair = |(baseline, variant)| Pair { baseline, variant, direction, failed: [0; 2] };
        let pairs: Vec<Pair<'_>> = pairs.iter().map(|(b, v)| pair((b, v))).collect();
        let all = match kind {
            Some(kind) => unpaired::compare_several(&pairs, Confidence::USUAL, kind),
            None => pairs
                .iter()
                .map(|own| unpaired::compare(own.baseline, own.variant, direction))
                .collect(),
        };
        all.iter().flatten().any(|own| own.comparison.interval95.excludes_no_change())
    };
    (0..150).filter(|_| is_called(draw(&mut random))).count()
}

/// 5 % of 150, and three standard errors.
const MOST: usize = 15;

#[test]
fn six_equal_variants_beside_a_baseline_share_five_per_cent() {
    let draw = |random: &mut Random| {
        let baseline = random.runs(5.0);
        (0..6).map(|_| (baseline.clone(), random.runs(5.0))).collect()
    };
    let (alone, holm) = (calls(None, draw), calls(Some(Kind::Holm), draw));
    assert!(alone > MOST, "each by itself: {alone} of 150");
    assert!(holm <= MOST, "Holm: {holm} of 150");
}

#[test]
fn a_hundred_equal_benchmarks_share_five_per_cent() {
    let draw = |random: &mut Random| {
        (1..=100).map(|i| (random.runs(f64::from(i)), random.runs(f64::from(i)))).collect()
    };
    let (alone, rate) = (calls(None, draw), calls(Some(Kind::FalseDiscovery), draw));
    assert!(alone > 130, "each by itself: {alone} of 150");
    assert!(rate <= MOST, "false discovery rate: {rate} of 150");
}
