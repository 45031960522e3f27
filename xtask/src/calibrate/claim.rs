//! A rate of errors that must not be exceeded.

use statrs::distribution::{Binomial, DiscreteCDF};

/// A rate of errors that must not be exceeded.
pub struct Claim {
    /// As simulated.
    pub rate: f64,
    /// As promised.
    pub most: f64,
    /// Campaigns simulated.
    pub campaigns: u64,
}

/// Share of a normal distribution below its mean and three standard deviations.
pub(super) const THREE_SIGMA: f64 = 0.998_65;

impl Claim {
    /// The largest rate that so many campaigns of a method that just keeps its promise show but for
    /// one time in 740, as three standard errors would say of many. Of few campaigns and 0.1 % they
    /// would not: one false winner more or less is larger than they are.
    pub(super) fn bound(&self) -> f64 {
        let most = Binomial::new(self.most, self.campaigns)
            .map_or(self.campaigns, |promised| promised.inverse_cdf(THREE_SIGMA));
        most as f64 / self.campaigns as f64
    }
}
