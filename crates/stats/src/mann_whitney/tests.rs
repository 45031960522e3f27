use super::*;

/// scipy 1.17.1: scipy.stats.mannwhitneyu(y, x, method="exact").
#[test]
fn exact_p_equals_scipy_without_ties() {
    let x = [694_169.0, 696_261.0, 696_703.0, 697_081.0, 700_644.0];
    let y = [813_395.0, 816_670.0, 818_114.5, 820_180.5, 825_061.0];
    let result = test(&x, &y);
    assert_eq!(result.u, 25.0);
    assert!((result.p - 0.007936507936507936).abs() < 1e-12);

    let x = [1.1, 2.2, 3.3, 4.4, 5.5, 6.6, 7.7];
    let y = [0.5, 3.0, 6.0, 8.0, 9.0, 10.0];
    let result = test(&x, &y);
    assert_eq!(result.u, 28.0);
    assert!((result.p - 0.36596736596736595).abs() < 1e-12);
}

/// Counted over all 252 arrangements of the midranks (scipy.stats.rankdata).
#[test]
fn exact_p_equals_full_enumeration_with_ties() {
    let result = test(&[1.0, 2.0, 2.0, 3.0, 5.0], &[2.0, 4.0, 5.0, 5.0, 6.0]);
    assert!((result.p - 0.15079365079365079).abs() < 1e-12);
}

/// scipy 1.17.1: scipy.stats.mannwhitneyu(y, x, method="asymptotic"), which corrects for ties and
/// continuity.
#[test]
fn large_datasets_use_the_normal_approximation_of_scipy() {
    let x: Vec<f64> = (0..40).map(|i| f64::from((i * 37) % 101)).collect();
    let y: Vec<f64> = (0..45).map(|i| f64::from((i * 53) % 97 + 12)).collect();
    let result = test(&x, &y);
    assert!(!result.is_exact);
    assert_eq!(result.u, 1030.0);
    assert!((result.p - 0.254_172_556_432_913_37).abs() < 1e-9, "{}", result.p);
}

/// Mann and Whitney (1947) and every textbook's table: at 5 % two-sided, reject when U <= 23 for
/// n = m = 10, U <= 2 for n = m = 5, and never for n = m = 3.
#[test]
fn critical_values_equal_the_published_table() {
    assert_eq!(critical(10, 10, 0.025), Some(23));
    assert_eq!(critical(5, 5, 0.025), Some(2));
    assert_eq!(critical(4, 4, 0.025), Some(0));
    assert_eq!(critical(8, 8, 0.025), Some(13));
    assert_eq!(critical(20, 20, 0.025), Some(127));
    assert_eq!(critical(3, 3, 0.025), None);
}

#[test]
fn equal_datasets_give_p_one() {
    assert_eq!(test(&[1.0, 1.0, 1.0], &[1.0, 1.0, 1.0]).p, 1.0);
}

/// Every arrangement of up to ten values, counted one by one.
#[test]
fn tails_equal_full_enumeration() {
    for (n, m) in [(1, 1), (1, 4), (2, 3), (3, 3), (4, 5), (5, 5), (2, 8)] {
        let mut counts = vec![0u32; n * m + 1];
        let mut all = 0;
        for bits in 0u32..1 << (n + m) {
            if bits.count_ones() as usize != m {
                continue;
            }
            // a set bit is a y; it lies above every clear bit below it
            let above = |at: usize| (0..at).filter(|i| bits >> i & 1 == 0).count();
            let u: usize = (0..n + m).filter(|i| bits >> i & 1 == 1).map(above).sum();
            counts[u] += 1;
            all += 1;
        }
        let mut total = 0;
        for (u, count) in counts.iter().enumerate() {
            total += count;
            let want = f64::from(total) / f64::from(all);
            assert!((below(n, m, u as u64) - want).abs() < 1e-12, "{n} {m} {u}");
            assert!((below(m, n, u as u64) - want).abs() < 1e-12, "the sides are alike");
        }
    }
}

/// The tables of Mann and Whitney (1947) and Milton (J. Am. Stat. Assoc. 59 (1964)), two-sided 5 %
/// and 1 %.
#[test]
fn critical_values_of_unequal_datasets_equal_the_published_tables() {
    for (n, m, five, one) in [
        (3, 5, Some(0), None),
        (5, 8, Some(6), Some(2)),
        (6, 15, Some(19), Some(12)),
        (10, 20, Some(55), Some(42)),
        (7, 12, Some(18), Some(12)),
    ] {
        assert_eq!(critical(n, m, 0.025), five, "{n} {m}");
        assert_eq!(critical(m, n, 0.005), one, "{n} {m}");
    }
}

/// Where counting in doubles used to lose its digits: the tails are those of a distribution, and the
/// normal approximation goes on where they end.
#[test]
fn the_approximation_goes_on_where_counting_ends() {
    for (n, m) in [(35, 35), (40, 45), (30, 60), (8, 200)] {
        let tails = counted(n, m).expect("few enough to count");
        assert!(tails.windows(2).all(|pair| pair[0] <= pair[1]));
        assert!((tails[n * m] - 1.0).abs() < 1e-9);
        let (mean, sd) = moments(n, m);
        for (u, exact) in tails.iter().enumerate().filter(|(_, p)| (0.001..0.999).contains(*p)) {
            let near = normal_cdf((u as f64 + 0.5 - mean) / sd);
            assert!((near - exact).abs() < 0.004, "{n} {m} {u}: {near} {exact}");
        }
    }
    assert!(counted(470, 470).is_none());
    let approximate = critical(470, 470, 0.025).expect("many values have an interval");
    let (mean, sd) = moments(470, 470);
    assert!((approximate as f64 - (mean - 1.959_964 * sd)).abs() < 2.0);
}

#[test]
fn p_of_a_shift_is_that_of_the_test_without_ties() {
    let x: Vec<f64> = (0..14).map(|i| f64::from(i * 37 % 29)).collect();
    let y: Vec<f64> = (0..11).map(|i| f64::from(i * 53 % 31) + 0.5).collect();
    assert!((of_shift(&x, &y) - test(&x, &y).p).abs() < 1e-12);
    let tied: Vec<f64> = x.iter().map(|v| v + 1.0).collect();
    assert!(of_shift(&x, &tied) >= test(&x, &tied).p, "ties count against a difference");
}

/// Differences of half a million pairs of values are 10^11: none is written down.
#[test]
fn many_values_are_compared_without_their_differences() {
    let values = |seed: u64, level: f64| -> Vec<f64> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 11) as f64 / (1u64 << 53) as f64
        };
        (0..300_000).map(|_| level + next()).collect()
    };
    let (x, y) = (values(1, 100.0), values(2, 100.01));
    let estimate = crate::hodges_lehmann::shift(&x, &y);
    let (low, high) = crate::hodges_lehmann::shift_interval(&x, &y, 0.95).unwrap();
    assert!(low < estimate && estimate < high && (estimate - 0.01).abs() < 0.004, "{estimate}");
    assert!(low > 0.0 && of_shift(&x, &y) < 0.05 && test(&x, &y).p < 0.05);
}

#[test]
fn p_without_ties_is_the_one_counted_with_them() {
    let x: Vec<f64> = (0..9).map(|i| f64::from(i * i % 23) + 0.25).collect();
    for shift in 0..12 {
        let y: Vec<f64> = (0..7)
            .map(|i| f64::from(i * 5 % 19) + 0.1 * f64::from(i + 1) + f64::from(shift))
            .collect();
        let doubled = doubled_midranks(&x, &y);
        let counted = exact_p(&doubled, y.len(), doubled[x.len()..].iter().sum());
        let p = test(&x, &y).p;
        assert!((p - counted).abs() < 1e-12, "{shift}: {p} {counted}");
    }
}
