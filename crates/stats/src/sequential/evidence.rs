//! The two-sided evidence of a sequence of log ratios against any centre.

use std::f64::consts::LN_2;
use std::sync::LazyLock;

use statrs::function::gamma::ln_gamma;

use crate::dataset;
use crate::resolution::Resolution;

/// Variance of the prior on the standardised effect.
const G: f64 = 16.0;

/// Spread below this share of the mean is none: all ratios are the same but for rounding.
const NO_SPREAD: f64 = 1e-9;

/// Halvings of a search at most.
const MOST_HALVINGS: usize = 200;

/// A search ends when its bracket is this share of the spread, a thousandth of what is printed.
const FINE: f64 = 1e-9;

/// Evidence on which a campaign stops.
#[derive(Clone, Copy)]
pub(super) struct Against {
    /// Against "no change".
    pub no_change: f64,
    /// Against every centre beyond the margin: that against the end that it says less against.
    pub beyond_margin: f64,
}

/// What rounding may have done to the ratios, on the log scale.
#[derive(Clone, Copy, Default)]
pub(super) struct Rounding {
    /// How far it may have moved all of them for good.
    pub allowance: f64,
    /// The least spread that they may have, where it may have hidden theirs.
    hidden_sd: Option<f64>,
}

impl Rounding {
    pub fn of(gains: &[f64], resolution: Resolution) -> Self {
        let sd = dataset::sd(gains);
        let hidden_sd = resolution.hides(sd).then(|| resolution.least_sd_of_difference());
        Self { allowance: resolution.allowance(sd), hidden_sd }
    }

    /// How far from "no change" a centre has to be to be one: ratios that scatter by less than their
    /// rounding may all have been moved.
    fn reach(self) -> f64 {
        if self.hidden_sd.is_some() { self.allowance } else { 0.0 }
    }
}

/// The ratios with what does not depend on the centre.
pub(super) struct Evidence<'a> {
    gains: &'a [f64],
    rounding: Rounding,
    /// One for every look, from the first.
    looks: Vec<Look>,
}

/// Mean and spread of the first `blocks` ratios.
#[derive(Clone, Copy)]
struct Look {
    blocks: usize,
    mean: f64,
    variance: f64,
}

/// Logarithms of the evidence for a larger and for a smaller centre.
#[derive(Clone, Copy)]
struct Sides {
    up: f64,
    down: f64,
}

impl Sides {
    const NONE: Self = Self { up: f64::NEG_INFINITY, down: f64::NEG_INFINITY };

    /// What speaks for a centre above the one or below the other, as an e-value.
    fn beyond([above, below]: [Self; 2]) -> f64 {
        above.balanced().up.max(below.balanced().down).exp().min(f64::MAX)
    }

    /// Each divided by the other where that is above 1.
    fn balanced(self) -> Self {
        Self { up: self.up - self.down.max(0.0), down: self.down - self.up.max(0.0) }
    }
}

impl<'a> Evidence<'a> {
    /// Of all ratios so far, looked at after every block from `first` on.
    pub fn new(gains: &'a [f64], first: usize, rounding: Rounding) -> Self {
        let first = first.clamp(2, gains.len().max(2));
        let look = |blocks: usize| Look::of(&gains[..blocks], rounding);
        Self { gains, rounding, looks: (first..=gains.len()).map(look).collect() }
    }

    /// The evidence that decides, after every look: the number of blocks, and what they say.
    /// `margin` is a fraction; an interval that is to lie within it is wider than what the evidence
    /// rejects, by what rounding may have done.
    pub fn after_each(&self, margin: f64) -> Vec<(usize, Against)> {
        let Rounding { allowance, .. } = self.rounding;
        let (low, high) = ((-margin).ln_1p() + allowance, margin.ln_1p() - allowance);
        let is_hopeless = low >= 0.0 || high <= 0.0;
        let reach = self.rounding.reach();
        let [above, below, low, high] = [reach, -reach, low, high].map(|end| self.running(end));
        let looks = self.looks.iter().enumerate();
        looks
            .map(|(i, look)| {
                let beyond = if is_hopeless {
                    f64::NEG_INFINITY
                } else {
                    low[i].balanced().up.min(high[i].balanced().down)
                };
                let no_change = Sides::beyond([above[i], below[i]]);
                (look.blocks, Against { no_change, beyond_margin: beyond.exp() })
            })
            .collect()
    }

    /// The evidence that decides now; none before the first look.
    pub fn last(&self, margin: f64) -> Against {
        let last = self.after_each(margin).pop();
        last.map_or(Against { no_change: 1.0, beyond_margin: 0.0 }, |(_, against)| against)
    }

    /// The centre with equal evidence on either side.
    pub fn centre(&self) -> f64 {
        let ends = self.gains.iter().copied();
        let low = ends.clone().fold(f64::INFINITY, f64::min);
        let high = ends.fold(f64::NEG_INFINITY, f64::max);
        if low >= high {
            return dataset::mean(self.gains);
        }
        let is_low = |centre: f64| {
            let sides = self.sides(centre);
            sides.up > sides.down
        };
        halve(low, high, high - low, is_low)
    }

    /// The centres that neither side rejects at `threshold`; `None` while it has no ends.
    pub fn interval(&self, threshold: f64) -> Option<(f64, f64)> {
        let (centre, limit) = (self.centre(), threshold.ln());
        let low = self.end(centre, -1.0, |sides| sides.up >= limit)?;
        let high = self.end(centre, 1.0, |sides| sides.down >= limit)?;
        Some((low, high))
    }

    /// The outermost centre in direction `sign` beyond which all are rejected: from far outside,
    /// where they are, inwards to the estimate. "No change" is looked at first, if it lies between,
    /// so that which side of the end it lies on does not hang on how finely one searches.
    fn end(&self, centre: f64, sign: f64, rejects: impl Fn(Sides) -> bool) -> Option<f64> {
        if self.looks.is_empty() {
            return None;
        }
        let is_rejected = |at: f64| rejects(self.sides(at).balanced());
        let spread = dataset::sd(self.gains).max(centre.abs() * f64::EPSILON).max(1e-300);
        let mut distance = spread;
        while !is_rejected(centre + sign * distance) {
            distance *= 2.0;
            if distance > 1e9 {
                return None;
            }
        }
        let far = centre + sign * distance;
        if (far.min(centre)..far.max(centre)).contains(&0.0) {
            return Some(if is_rejected(0.0) {
                halve(0.0, centre, spread, is_rejected)
            } else {
                halve(far, 0.0, spread, is_rejected)
            });
        }
        Some(halve(far, centre, spread, is_rejected))
    }

    /// The largest evidence of all looks, on either side.
    fn sides(&self, centre: f64) -> Sides {
        let mut last = Sides::NONE;
        self.each_look(centre, |most| last = most);
        last
    }

    /// The largest evidence so far, after every look.
    fn running(&self, centre: f64) -> Vec<Sides> {
        let mut running = Vec::with_capacity(self.looks.len());
        self.each_look(centre, |most| running.push(most));
        running
    }

    fn each_look(&self, centre: f64, mut report: impl FnMut(Sides)) {
        let mut looks = self.looks.iter().peekable();
        let (mut above, mut below) = (0, 0);
        let mut most = Sides::NONE;
        for (block, gain) in self.gains.iter().enumerate() {
            if self.rounding.hidden_sd.is_none() {
                above += usize::from(*gain > centre);
                below += usize::from(*gain < centre);
            }
            if let Some(look) = looks.next_if(|look| look.blocks == block + 1) {
                let now = look.sides(centre, (above, below));
                most = Sides { up: most.up.max(now.up), down: most.down.max(now.down) };
                report(most);
            }
        }
    }
}

impl Look {
    fn of(gains: &[f64], rounding: Rounding) -> Self {
        let (mean, variance) = (dataset::mean(gains), dataset::variance(gains));
        // the same ratio every time, of figures that show no rounding, counts by its sign alone
        let variance = match rounding.hidden_sd {
            Some(least) => variance.max(least * least),
            None if variance.sqrt() <= NO_SPREAD * mean.abs() => mean * mean / 2.0,
            None => variance,
        };
        Self { blocks: gains.len(), mean, variance }
    }

    /// Half of the evidence of t and of the signs, each on its side.
    fn sides(&self, centre: f64, (above, below): (usize, usize)) -> Sides {
        let t = ln_e_t(self, centre);
        let sign = ln_e_sign(above, below);
        let only = |ln: f64, is_own: bool| if is_own { ln } else { f64::NEG_INFINITY };
        Sides {
            up: ln_mean(only(t, self.mean > centre), only(sign, above > below)),
            down: ln_mean(only(t, self.mean < centre), only(sign, above < below)),
        }
    }
}

/// Narrows a bracket of which only the first end holds `claim`, to a tiny share of `spread`: its
/// first end.
fn halve(mut held: f64, mut other: f64, spread: f64, claim: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..MOST_HALVINGS {
        let middle = f64::midpoint(held, other);
        if (held - other).abs() <= FINE * spread || middle == held || middle == other {
            break;
        }
        if claim(middle) {
            held = middle;
        } else {
            other = middle;
        }
    }
    held
}

/// ln((e^a + e^b) / 2).
fn ln_mean(a: f64, b: f64) -> f64 {
    let (large, small) = if a > b { (a, b) } else { (b, a) };
    if large == f64::NEG_INFINITY { large } else { large + (small - large).exp().ln_1p() - LN_2 }
}

/// e_t = (1+n g)^(-1/2) [(1+t^2/v) / (1+t^2/(v(1+n g)))]^((v+1)/2), v = n-1.
fn ln_e_t(look: &Look, centre: f64) -> f64 {
    let n = look.blocks as f64;
    let (degrees, a) = (n - 1.0, 1.0 + n * G);
    let distance = look.mean - centre;
    if distance == 0.0 {
        return -0.5 * a.ln();
    }
    // t^2 / v as a quotient whose limit for variance 0 is infinity: the bracket is then a
    let ratio = n * distance * distance / (degrees * look.variance);
    let bracket = if ratio.is_finite() { (1.0 + ratio) / (1.0 + ratio / a) } else { a };
    (degrees + 1.0) / 2.0 * bracket.ln() - 0.5 * a.ln()
}

/// e_sign = 2^n B(k+1, n-k+1) with k positive among n differences that are not zero.
fn ln_e_sign(above: usize, below: usize) -> f64 {
    let n = above + below;
    n as f64 * LN_2 + ln_factorial(above) + ln_factorial(below) - ln_factorial(n + 1)
}

fn ln_factorial(n: usize) -> f64 {
    static KNOWN: LazyLock<Vec<f64>> =
        LazyLock::new(|| (0..1024).map(|n| ln_gamma(f64::from(n) + 1.0)).collect());
    KNOWN.get(n).copied().unwrap_or_else(|| ln_gamma(n as f64 + 1.0))
}

/// The combined e-value against "no change" at this moment: (e_t + e_sign) / 2, whatever side
/// either speaks for.
pub fn e_value(gains: &[f64]) -> f64 {
    if gains.len() < 2 {
        return 1.0;
    }
    let count = |is_own: fn(f64) -> bool| gains.iter().filter(|gain| is_own(**gain)).count();
    let sign = ln_e_sign(count(|gain| gain > 0.0), count(|gain| gain < 0.0));
    ln_mean(ln_e_t(&Look::of(gains, Rounding::default()), 0.0), sign).exp().min(f64::MAX)
}

/// Logarithm of the most that `blocks` ratios can say against a centre far away.
pub(super) fn most(blocks: usize) -> f64 {
    let a = 1.0 + blocks as f64 * G;
    ln_mean((blocks as f64 - 1.0) / 2.0 * a.ln(), ln_e_sign(blocks, 0))
}

/// The t at which e_t reaches `e`: sqrt(v(R-1)/(1-R/A)) with R = (sqrt(A) e)^(2/n); `None` while it
/// is infinite.
pub(crate) fn t_for(blocks: usize, e: f64) -> Option<f64> {
    let n = blocks as f64;
    let a = 1.0 + n * G;
    let r = (a.sqrt() * e).powf(2.0 / n);
    (blocks >= 2 && r < a).then(|| ((n - 1.0) * (r - 1.0) / (1.0 - r / a)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAINS: [f64; 5] = [0.011, 0.018, 0.009, 0.022, 0.013];

    /// scipy 1.17.1: the Bayes factor integrated numerically over the prior N(0, 16) with
    /// scipy.stats.nct and scipy.stats.t (t = 6.1368, v = 4) is 29.548465555553.
    #[test]
    fn e_t_equals_the_integrated_bayes_factor() {
        let e_t = ln_e_t(&Look::of(&GAINS, Rounding::default()), 0.0).exp();
        assert!((e_t / 29.548_465_555_553 - 1.0).abs() < 1e-9, "{e_t}");
    }

    /// 2^5 B(6, 1) = 32 / 6.
    #[test]
    fn e_sign_of_five_positive_blocks_is_a_sixth_of_32() {
        assert!((ln_e_sign(5, 0).exp() - 32.0 / 6.0).abs() < 1e-12);
        assert!((e_value(&GAINS) - f64::midpoint(29.548_465_555_553, 32.0 / 6.0)).abs() < 1e-6);
    }

    #[test]
    fn e_t_reaches_what_its_t_was_asked_for() {
        let t = t_for(5, 20.0).unwrap();
        let look = Look { blocks: 5, mean: t * (0.04f64 / 5.0).sqrt(), variance: 0.04 };
        assert!((ln_e_t(&look, 0.0).exp() - 20.0).abs() < 1e-9);
        assert!(t_for(2, 20.0).is_none());
    }

    #[test]
    fn evidence_up_falls_and_evidence_down_rises_with_the_centre() {
        let gains = [0.01, -0.3, 0.012, 0.011, 0.4, 0.009, 0.0, 0.0, 0.013, -0.31];
        let evidence = Evidence::new(&gains, 3, Rounding::default());
        let grid = (-500..=500).map(|step| evidence.sides(f64::from(step) / 1000.0));
        let sides: Vec<Sides> = grid.collect();
        for pair in sides.windows(2) {
            assert!(pair[0].up >= pair[1].up && pair[0].down <= pair[1].down);
        }
        for own in sides.into_iter().map(Sides::balanced) {
            assert!(own.up <= 0.0 || own.down <= 0.0, "never both above 1");
        }
    }
}
