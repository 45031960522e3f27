use super::*;

const BLOCKS: [[f64; 3]; 6] = [
    [100.0, 102.6, 99.4],
    [103.0, 104.2, 102.9],
    [98.0, 100.6, 98.1],
    [101.0, 102.6, 100.2],
    [99.0, 101.1, 99.6],
    [104.0, 106.9, 103.3],
];

const TERMS: Terms = Terms { confidence: Confidence::USUAL, resolution: Resolution::FINE };

fn rows(blocks: &[[f64; 3]]) -> Vec<Vec<f64>> {
    blocks.iter().map(|row| row.to_vec()).collect()
}

/// numpy and scipy 1.17.1: residual variance of log values by least squares on block and variant,
/// critical value from the double integral.
#[test]
fn intervals_equal_those_of_the_two_way_model() {
    let result = compare(&rows(&BLOCKS), Direction::HigherIsBetter).unwrap();
    assert_eq!(result.len(), 2);
    assert_eq!(result[0].method, Method::Dunnett);
    let gains = gains_by_variant(&rows(&BLOCKS), Direction::HigherIsBetter).unwrap();
    let alone = dunnett_alone(&gains, &Residuals::of(&gains), TERMS);
    let (first, second) = (&alone[0], &alone[1]);
    assert!((first.interval95.low.ln() - 0.013944035052).abs() < 1e-7);
    assert!((first.interval95.high.ln() - 0.028604724118).abs() < 1e-7);
    assert!((second.interval95.low.ln() - -0.009769188960).abs() < 1e-7);
    assert!((second.p - 0.615585304).abs() < 1e-6, "{}", second.p);
    for (alone, both) in alone.iter().zip(&result) {
        assert!(both.interval95.low <= alone.interval95.low && both.p >= alone.p);
        assert!(both.interval95.covers(both.estimate));
    }
}

#[test]
fn one_variant_is_a_plain_paired_comparison() {
    let rows: Vec<Vec<f64>> = BLOCKS.iter().map(|row| row[..2].to_vec()).collect();
    let result = compare(&rows, Direction::HigherIsBetter).unwrap();
    assert_eq!(result[0].method, Method::SignedRank);
}

#[test]
fn very_unequal_variances_lead_to_holm() {
    let mut blocks = BLOCKS;
    for (i, row) in blocks.iter_mut().enumerate() {
        row[2] *= if i % 2 == 0 { 1.4 } else { 0.7 };
    }
    let result = compare(&rows(&blocks), Direction::HigherIsBetter).unwrap();
    assert_eq!(result[1].method, Method::HolmPaired);
    assert!(result[0].interval95.low.ratio() > 1.0, "the quiet variant is still found faster");
    assert!(!result[1].interval95.excludes_no_change());
}

#[test]
fn holm_intervals_agree_with_its_p() {
    let gains = |centre: f64, spread: f64| -> Vec<f64> {
        (0..6).map(|i| centre + spread * [1.0, -1.0, 0.5, -0.5, 0.2, -0.2][i]).collect()
    };
    for size in 0..60 {
        let size = f64::from(size) * 0.001;
        let result = holm(&[gains(size, 0.01), gains(0.5 * size, 0.03), gains(-0.01, 0.02)], TERMS);
        for (i, own) in result.iter().enumerate() {
            assert_eq!(
                own.p < 0.05,
                own.interval95.excludes_no_change(),
                "variant {i} at {size}: {own:?}"
            );
        }
    }
}

#[test]
fn ragged_rows_and_a_single_block_are_refused() {
    let mut rows = rows(&BLOCKS);
    rows[3].pop();
    let error = compare(&rows, Direction::HigherIsBetter).unwrap_err();
    assert_eq!(error, Error::Ragged { block: 3, got: 2, want: 3 });
    assert!(matches!(compare(&rows[..1], Direction::HigherIsBetter), Err(Error::TooFew { .. })));
}
