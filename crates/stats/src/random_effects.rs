//! Figures of several units (campaigns, machines) of different precision, each with an effect of its
//! own around a common mean.
//!
//! The variance between units is Paule and Mandel's ("Consensus values and weighting factors", J. Res.
//! NBS 87 (1982)), and the standard error of the mean that of Hartung and Knapp (Stat. Med. 20 (2001))
//! and Sidik and Jonkman (Stat. Med. 21 (2002)) with a factor of at least 1 (Rover, Knapp and Friede,
//! BMC Med. Res. Methodol. 15 (2015)).

use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::dataset;

/// y_i = mean + unit + error_i.
pub(crate) struct RandomEffects {
    pub(crate) mean: f64,
    /// Standard error of the mean.
    pub(crate) error: f64,
    /// Variance between units.
    pub(crate) between: f64,
}

impl RandomEffects {
    /// Of at least two figures with their squared standard errors.
    pub(crate) fn of(figures: &[f64], errors: &[f64]) -> Self {
        let degrees = (figures.len() - 1) as f64;
        let between = paule_mandel(figures, errors);
        let fit = Fit::of(figures, errors, between);
        let factor = (fit.q / degrees).max(1.0);
        Self { mean: fit.mean, error: (factor / fit.weight).sqrt(), between }
    }
}

/// Weighted mean at a variance between units.
pub(crate) struct Fit {
    mean: f64,
    /// Sum of the weights.
    weight: f64,
    /// Weighted sum of squares about the mean.
    pub(crate) q: f64,
}

impl Fit {
    pub(crate) fn of(figures: &[f64], errors: &[f64], between: f64) -> Self {
        // no variance at all weighs as much as the least that a double can tell
        let weights: Vec<f64> =
            errors.iter().map(|error| 1.0 / (error + between).max(1e-30)).collect();
        let weight: f64 = weights.iter().sum();
        let mean = figures.iter().zip(&weights).map(|(y, w)| y * w).sum::<f64>() / weight;
        let q = figures.iter().zip(&weights).map(|(y, w)| w * (y - mean).powi(2)).sum();
        Self { mean, weight, q }
    }
}

/// The variance between units at which the weighted sum of squares is what it should be, k - 1;
/// 0 when it is smaller even without. The sum falls as the variance rises.
pub(crate) fn paule_mandel(figures: &[f64], errors: &[f64]) -> f64 {
    let degrees = (figures.len() - 1) as f64;
    let is_low = |between: f64| Fit::of(figures, errors, between).q > degrees;
    if !is_low(0.0) {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, dataset::variance(figures).max(1e-30));
    while is_low(high) && high < 1e300 {
        low = high;
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if is_low(middle) { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

/// p of "all units have the same effect" (Cochran's Q, Biometrics 10 (1954)).
pub(crate) fn same_p(figures: &[f64], errors: &[f64]) -> f64 {
    let q = Fit::of(figures, errors, 0.0).q;
    let degrees = (figures.len() - 1) as f64;
    ChiSquared::new(degrees).map_or(1.0, |chi| chi.sf(q))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Thirteen trials of the BCG vaccine (Colditz et al., JAMA 271 (1994)), log risk ratios and their
    /// variances: the example of every text on random effects.
    pub(crate) const BCG: [(f64, f64); 13] = [
        (-0.8893, 0.3256),
        (-1.5854, 0.1946),
        (-1.3481, 0.4154),
        (-1.4416, 0.0200),
        (-0.2175, 0.0512),
        (-0.7861, 0.0069),
        (-1.6209, 0.2230),
        (0.0120, 0.0040),
        (-0.4694, 0.0564),
        (-1.3713, 0.0730),
        (-0.3394, 0.0124),
        (0.4459, 0.5325),
        (-0.0173, 0.0714),
    ];

    /// Paule and Mandel's tau^2 of the BCG trials is 0.318, Q is 152.23 (Viechtbauer, "Conducting
    /// meta-analyses in R", J. Stat. Softw. 36 (2010)).
    #[test]
    fn the_bcg_trials_differ_as_published() {
        let (figures, errors): (Vec<f64>, Vec<f64>) = BCG.into_iter().unzip();
        let between = paule_mandel(&figures, &errors);
        assert!((0.317..0.319).contains(&between), "{between}");
        let q = Fit::of(&figures, &errors, 0.0).q;
        assert!((q - 152.23).abs() < 0.5, "{q}: the variances are rounded");
        let at_estimate = Fit::of(&figures, &errors, between).q;
        assert!((at_estimate - 12.0).abs() < 1e-9, "{at_estimate}");
        assert!(same_p(&figures, &errors) < 1e-20);
    }
}
