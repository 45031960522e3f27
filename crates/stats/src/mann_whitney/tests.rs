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
fn large_samples_use_the_normal_approximation_of_scipy() {
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
fn equal_samples_give_p_one() {
    assert_eq!(test(&[1.0, 1.0, 1.0], &[1.0, 1.0, 1.0]).p, 1.0);
}
