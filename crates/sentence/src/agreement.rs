//! How a number in a sentence agrees with the number that it was taken from.

/// Agreement of a written number with a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Agreement {
    /// Rounded correctly to the decimals written.
    Exact,
    /// Cut instead of rounded.
    Cut,
    /// Within one unit of the last decimal.
    Near,
    /// Anything else.
    No,
}

/// Compares `written` with `decimals` decimals with the figure `wanted`; both
/// without sign.
pub fn agreement(written: f64, decimals: usize, wanted: f64) -> Agreement {
    let unit = 10f64.powi(-i32::try_from(decimals.min(12)).unwrap_or(12));
    let steps = wanted / unit;
    let is = |value: f64| (written / unit - value).abs() < 1e-6 * value.abs().max(1.0);
    if is(steps.round()) || is(round_half_even(steps)) {
        Agreement::Exact
    } else if is((steps + 1e-9).floor()) {
        Agreement::Cut
    } else if (written - wanted).abs() <= unit {
        Agreement::Near
    } else {
        Agreement::No
    }
}

fn round_half_even(value: f64) -> f64 {
    value.round_ties_even()
}

/// Whether a rough number ("about 10 %") agrees with the figure.
pub fn agrees_roughly(written: f64, wanted: f64) -> bool {
    (written - wanted).abs() <= (0.15 * wanted.abs()).max(0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_rounding_from_cutting_from_guessing() {
        for (written, decimals, wanted, found) in [
            (17.5, 1, 17.4631, Agreement::Exact),
            (1.41, 2, 1.41658, Agreement::Cut),
            (17.0, 0, 17.5814, Agreement::Cut),
            (1.7, 1, 1.77014, Agreement::Cut),
            (14.7, 1, 14.6335, Agreement::Near),
            (5.7, 1, 7.24, Agreement::No),
            (16.0, 0, 16.2108, Agreement::Exact),
        ] {
            assert_eq!(agreement(written, decimals, wanted), found, "{written} for {wanted}");
        }
        assert!(agrees_roughly(10.0, 10.9) && !agrees_roughly(10.0, 14.0));
    }
}
