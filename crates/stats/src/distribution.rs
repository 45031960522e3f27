//! Normal and Student distributions: probabilities and quantiles.
//!
//! The special functions come from statrs; the t quantile is solved here by Newton's method with
//! bisection as the safety net, to full double precision (statrs' own stops earlier).

use std::cell::RefCell;
use std::collections::HashMap;

use statrs::function::{beta::beta_reg, erf, gamma::ln_gamma};

/// P(Z <= z) of the standard normal distribution.
pub fn normal_cdf(z: f64) -> f64 {
    0.5 * erf::erfc(-z / std::f64::consts::SQRT_2)
}

/// Density of the standard normal distribution.
pub fn normal_pdf(z: f64) -> f64 {
    (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// The z with P(Z <= z) = `probability`, which must lie strictly between 0 and 1.
pub fn normal_quantile(probability: f64) -> f64 {
    -std::f64::consts::SQRT_2 * erf::erfc_inv(2.0 * probability)
}

/// Where a share lies of which `hits` of `of` were seen: Clopper and Pearson's interval (1934), which
/// holds it with `confidence` at least.
pub fn share_interval(hits: usize, of: usize, confidence: f64) -> (f64, f64) {
    let tail = (1.0 - confidence) / 2.0;
    // P(at least k of n) with the share p is an incomplete beta function of p.
    let solve = |k: usize, wanted: f64| {
        let (a, b) = (k as f64, (of - k + 1) as f64);
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if beta_reg(a, b, middle) < wanted { low = middle } else { high = middle }
        }
        f64::midpoint(low, high)
    };
    let hits = hits.min(of);
    let least = if hits == 0 { 0.0 } else { solve(hits, tail) };
    let most = if hits == of { 1.0 } else { solve(hits + 1, 1.0 - tail) };
    (least, most)
}

/// Two-sided p of `hits` among `of` when each is one with the probability `share`, strictly between 0
/// and 1: twice the smaller tail of the binomial distribution, 1 at most.
pub fn share_two_sided(hits: u64, of: u64, share: f64) -> f64 {
    // P(at least k of n) is an incomplete beta function.
    let at_least = |k: u64, share: f64| match k {
        0 => 1.0,
        k if k > of => 0.0,
        k => beta_reg(k as f64, (of - k + 1) as f64, share),
    };
    let hits = hits.min(of);
    (2.0 * at_least(hits, share).min(at_least(of - hits, 1.0 - share))).min(1.0)
}

/// P(T <= t) of Student's distribution with `df` > 0 degrees of freedom (not only whole ones).
pub fn t_cdf(t: f64, df: f64) -> f64 {
    if t.is_infinite() {
        return if t > 0.0 { 1.0 } else { 0.0 };
    }
    let tail = 0.5 * beta_reg(df / 2.0, 0.5, df / (df + t * t));
    if t > 0.0 { 1.0 - tail } else { tail }
}

/// P(|T| >= |t|), accurate also where it is tiny.
pub fn t_two_sided(t: f64, df: f64) -> f64 {
    if t.is_infinite() {
        return 0.0;
    }
    beta_reg(df / 2.0, 0.5, df / (df + t * t))
}

thread_local! {
    /// What was solved before on this thread: the same levels and degrees of freedom come again and again.
    static KNOWN: RefCell<HashMap<[u64; 3], f64>> = RefCell::default();
}
/// Most of those; figures of unequal spread have degrees of freedom of their own.
const MOST_KNOWN: usize = 4_096;

/// The solution of question `of` (any number that tells it from others) at these arguments, solved once.
pub(crate) fn solved(of: u64, [a, b]: [f64; 2], solve: impl FnOnce() -> f64) -> f64 {
    let key = [of, a.to_bits(), b.to_bits()];
    if let Some(known) = KNOWN.with_borrow(|known| known.get(&key).copied()) {
        return known;
    }
    let solution = solve();
    KNOWN.with_borrow_mut(|known| {
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(key, solution);
    });
    solution
}

/// The t with P(T <= t) = `probability`, which must lie strictly between 0 and 1.
pub fn t_quantile(probability: f64, df: f64) -> f64 {
    if probability < 0.5 {
        return -t_quantile(1.0 - probability, df);
    }
    if probability == 0.5 {
        return 0.0;
    }
    solved(0, [probability, df], || solve_t(probability, df))
}

fn solve_t(probability: f64, df: f64) -> f64 {
    let (mut low, mut high) = (0.0, 2.0);
    while t_cdf(high, df) < probability && high < 1e300 {
        low = high;
        high *= 2.0;
    }
    let mut t = normal_quantile(probability).clamp(low, high);
    for _ in 0..200 {
        let excess = t_cdf(t, df) - probability;
        if excess > 0.0 {
            high = t;
        } else {
            low = t;
        }
        let newton = t - excess / t_pdf(t, df);
        let next = if newton > low && newton < high { newton } else { f64::midpoint(low, high) };
        if (next - t).abs() <= 1e-14 * t.abs() {
            return next;
        }
        t = next;
    }
    t
}

/// The value that |T| exceeds with probability 1 - `confidence`, e.g. 2.365 for 0.95 and df 7.
pub fn t_critical(confidence: f64, df: f64) -> f64 {
    t_quantile(0.5 + confidence / 2.0, df)
}

fn t_pdf(t: f64, df: f64) -> f64 {
    let log_scale = ln_gamma(f64::midpoint(df, 1.0))
        - ln_gamma(df / 2.0)
        - 0.5 * (df * std::f64::consts::PI).ln();
    (log_scale - f64::midpoint(df, 1.0) * (t * t / df).ln_1p()).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Student (1908) as tabulated by Fisher and Yates, and by NIST/SEMATECH 1.3.6.7.2.
    /// Two Poisson-like corners by hand (no hit: 1 - 0.025^(1/n)), and the example of 4 of 20 that
    /// textbooks give, [0.0573, 0.4366].
    #[test]
    fn shares_lie_where_clopper_and_pearson_have_them() {
        let close = |(a, b): (f64, f64), (c, d): (f64, f64)| {
            assert!((a - c).abs() < 1e-4 && (b - d).abs() < 1e-4, "{a} {b}");
        };
        close(share_interval(4, 20, 0.95), (0.0573, 0.4366));
        close(share_interval(0, 40, 0.95), (0.0, 1.0 - 0.025_f64.powf(1.0 / 40.0)));
        close(share_interval(40, 40, 0.95), (0.025_f64.powf(1.0 / 40.0), 1.0));
        close(share_interval(0, 0, 0.95), (0.0, 1.0));
    }

    #[test]
    fn t_quantiles_equal_the_published_table() {
        let table = [
            (1.0, 0.95, 12.706),
            (2.0, 0.95, 4.303),
            (4.0, 0.95, 2.776),
            (7.0, 0.95, 2.365),
            (8.0, 0.95, 2.306),
            (30.0, 0.95, 2.042),
            (100.0, 0.95, 1.984),
            (1.0, 0.99, 63.657),
            (9.0, 0.99, 3.250),
            (7.0, 0.90, 1.895),
            (3.0, 0.998, 10.215),
            (60.0, 0.998, 3.232),
        ];
        for (df, confidence, want) in table {
            assert!((t_critical(confidence, df) - want).abs() < 5.01e-4, "df {df} at {confidence}");
        }
    }

    /// scipy 1.17.1: scipy.stats.t.ppf(p, df), scipy.stats.norm.ppf(p).
    #[test]
    fn quantiles_equal_scipy_to_ten_digits() {
        let table = [
            (0.975, 1.0, 12.706204736174694),
            (0.975, 7.0, 2.364624251592784),
            (0.975, 4.7, 2.62072607535317),
            (0.95, 7.0, 1.8945786050900062),
            (0.999, 3.0, 10.214531852407383),
            (0.0005, 12.0, -4.3177912836061845),
            (0.995, 250.0, 2.5956376304661806),
            (0.9, 1.5, 2.1963984175655376),
        ];
        for (probability, df, want) in table {
            let got = t_quantile(probability, df);
            assert!((got / want - 1.0).abs() < 1e-10, "p {probability} df {df}: {got} for {want}");
        }
        let table = [
            (0.975, 1.959963984540054),
            (0.8, 0.8416212335729143),
            (0.95, 1.6448536269514722),
            (0.999, 3.090232306167813),
            (0.0001, -3.7190164854556804),
        ];
        for (probability, want) in table {
            let got = normal_quantile(probability);
            assert!((got / want - 1.0).abs() < 1e-10, "p {probability}: {got} for {want}");
        }
    }

    #[test]
    fn two_tails_of_a_share_are_those_of_the_binomial() {
        // 10 throws of a coin: 8 heads or more, or 2 at most, are 112 of 1024 ways.
        assert!((share_two_sided(8, 10, 0.5) - 0.109_375).abs() < 1e-12);
        assert!((share_two_sided(0, 10, 0.5) - 2.0 / 1024.0).abs() < 1e-12);
        assert_eq!(share_two_sided(5, 10, 0.5), 1.0);
        assert_eq!(share_two_sided(0, 0, 0.3), 1.0);
        // 3 of 3 where one in four is usual: 2 / 64.
        assert!((share_two_sided(3, 3, 0.25) - 2.0 / 64.0).abs() < 1e-12);
    }

    #[test]
    fn tails_stay_accurate_far_out() {
        // scipy: 2 * scipy.stats.t.sf(30, 7)
        assert!((t_two_sided(30.0, 7.0) / 1.1788468880733144e-08 - 1.0).abs() < 1e-9);
        assert!((normal_cdf(-8.0) / 6.220_960_574_271_78e-16 - 1.0).abs() < 1e-9);
    }
}
