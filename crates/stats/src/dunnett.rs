//! Dunnett's distribution: the largest of several |t| that share one baseline.
//!
//! Dunnett, "A multiple comparison procedure for comparing several treatments with a control",
//! JASA 50 (1955); tables in Biometrics 20 (1964). All comparisons have the same number of blocks,
//! hence correlation 1/2, and
//! P(max |T_i| <= c) = E_s E_z [Phi(z + sqrt(2) c s) - Phi(z - sqrt(2) c s)]^k,
//! z standard normal, s = sqrt(chi^2_v / v). Both expectations are integrals of smooth functions.

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use statrs::function::gamma::ln_gamma;

use crate::distribution::{normal_cdf, normal_pdf, t_critical};

/// Steps of the integration over z in [0, 8]; the trapezoid rule converges exponentially there.
const STEPS_Z: usize = 28;
const STEP_Z: f64 = 8.0 / STEPS_Z as f64;
/// Steps of the integration over s; even, for Simpson's rule. The density has a bend at 0, which few degrees of
/// freedom come near: P is right to 1e-8 with the first, and to 1e-10 with the second.
const STEPS_S: [usize; 2] = [120, 72];
/// Degrees of freedom from which the second will do.
const SOME: f64 = 8.0;
/// What adds less than this to either integral is left out: most of their corners.
const NOTHING: f64 = 1e-16;
/// Degrees of freedom from which s is taken for 1.
const MANY: f64 = 1e5;

/// P(max |T_i| <= c) for `k` comparisons with one baseline at `df` degrees of freedom.
pub fn probability(c: f64, k: usize, df: f64) -> f64 {
    if c <= 0.0 {
        return 0.0;
    }
    if df >= MANY {
        return inner(c, k, 1.0);
    }
    // s lies within 9 standard deviations, 1 / sqrt(2 df), of 1
    let reach = 9.0 / (2.0 * df).sqrt();
    let (low, high) = ((1.0 - reach).max(0.0), 1.0 + reach);
    let steps = STEPS_S[usize::from(df >= SOME)];
    let step = (high - low) / steps as f64;
    let sum: f64 = (0..=steps)
        .map(|i| {
            let s = low + step * i as f64;
            let weight = match i {
                _ if i == 0 || i == steps => 1.0,
                _ if i % 2 == 1 => 4.0,
                _ => 2.0,
            };
            let density = weight * scale_pdf(s, df);
            density * inner(c * s, k, density)
        })
        .sum();
    (sum * step / 3.0).clamp(0.0, 1.0)
}

/// The value that the largest of `k` |t| exceeds with probability 1 - `confidence`.
pub fn critical(confidence: f64, k: usize, df: f64) -> f64 {
    if k <= 1 {
        return t_critical(confidence, df);
    }
    let key = (confidence.to_bits(), k, df.to_bits());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    *known.entry(key).or_insert_with(|| solve(confidence, k, df))
}

/// Critical values solved before: a report asks for the same ones again and again.
static KNOWN: Mutex<BTreeMap<(u64, usize, u64), f64>> = Mutex::new(BTreeMap::new());

fn solve(confidence: f64, k: usize, df: f64) -> f64 {
    // one comparison is the lower bound, Bonferroni the upper
    let (mut low, mut high) =
        (t_critical(confidence, df), t_critical(1.0 - (1.0 - confidence) / k as f64, df));
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if probability(middle, k, df) < confidence {
            low = middle;
        } else {
            high = middle;
        }
        if high - low < 1e-8 * high {
            break;
        }
    }
    f64::midpoint(low, high)
}

/// E_z [Phi(z + sqrt(2) x) - Phi(z - sqrt(2) x)]^k, an even function of z; as exactly as it takes where it counts
/// `times` over.
fn inner(x: f64, k: usize, times: f64) -> f64 {
    /// z and its density, which falls.
    static NODES: LazyLock<[(f64, f64); STEPS_Z + 1]> = LazyLock::new(|| {
        std::array::from_fn(|i| (STEP_Z * i as f64, normal_pdf(STEP_Z * i as f64)))
    });
    let shift = std::f64::consts::SQRT_2 * x;
    let at = |(z, density): (f64, f64)| {
        density * (normal_cdf(z + shift) - normal_cdf(z - shift)).powi(k as i32)
    };
    let counting = NODES[1..].iter().take_while(|(_, density)| density * times > NOTHING);
    let half: f64 = counting.map(|node| at(*node)).sum();
    (at(NODES[0]) + 2.0 * half) * STEP_Z
}

/// Density of s = sqrt(chi^2_v / v).
fn scale_pdf(s: f64, df: f64) -> f64 {
    if s <= 0.0 {
        return if df > 1.0 { 0.0 } else { (2.0 / std::f64::consts::PI).sqrt() };
    }
    let half = df / 2.0;
    let ln = std::f64::consts::LN_2 + half * half.ln() - ln_gamma(half) + (df - 1.0) * s.ln()
        - half * s * s;
    ln.exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Dunnett, Biometrics 20 (1964), table II: two-sided, joint confidence 95 %.
    #[test]
    fn critical_values_equal_the_published_table() {
        let table = [
            (5.0, [2.57, 3.03, 3.29, 3.48, 3.62]),
            (10.0, [2.23, 2.57, 2.76, 2.89, 2.99]),
            (20.0, [2.09, 2.38, 2.54, 2.65, 2.73]),
            (60.0, [2.00, 2.27, 2.41, 2.51, 2.58]),
            (1e9, [1.96, 2.21, 2.35, 2.44, 2.51]),
        ];
        for (df, row) in table {
            for (i, want) in row.into_iter().enumerate() {
                let got = critical(0.95, i + 1, df);
                assert!((got - want).abs() < 0.0051, "df {df} k {}: {got:.4} for {want}", i + 1);
            }
        }
    }

    /// scipy 1.17.1: the same double integral by scipy.integrate.dblquad, solved by brentq.
    #[test]
    fn critical_values_equal_scipy_to_six_digits() {
        for (confidence, k, df, want) in [
            (0.95, 2, 14.0, 2.4569624),
            (0.9, 3, 21.0, 2.1852487),
            (0.95, 6, 42.0, 2.6747089),
            (0.95, 2, 4.0, 3.3103519),
        ] {
            let got = critical(confidence, k, df);
            assert!((got - want).abs() < 2e-6, "{confidence} k {k} df {df}: {got} for {want}");
        }
    }

    #[test]
    fn one_comparison_is_student_s_t() {
        assert!((probability(2.364_624_251_592_785, 1, 7.0) - 0.95).abs() < 1e-9);
    }
}
