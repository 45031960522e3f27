//! What a build of fwdlab draws, and what only others do.

use std::collections::BTreeSet;

use super::profile::Profiles;
use super::{ReportError, flame};
use fwdlab_claims::Claims;
use fwdlab_results::Results;

/// The figures, each an SVG and a PNG.
pub(super) const FIGURES: [&str; 5] = ["graph", "cost", "forest", "run-order", "curve"];

/// What a build draws beside text and SVG figures.
#[derive(Clone, Copy, Debug)]
pub(super) struct Build {
    /// Figures as PNG.
    pub draws_pictures: bool,
    /// Flame graphs.
    pub draws_flames: bool,
}

impl Build {
    /// This one.
    pub const THIS: Self =
        Self { draws_pictures: cfg!(feature = "png"), draws_flames: cfg!(feature = "flame") };

    /// Names of the files that it does not draw, and that others may have put beside the journal.
    ///
    /// # Errors
    /// When a profile cannot be read.
    pub fn left_out(
        self,
        results: &Results,
        claims: &Claims,
    ) -> Result<BTreeSet<String>, ReportError> {
        let mut names = BTreeSet::new();
        if !self.draws_pictures {
            names.extend(FIGURES.map(|name| format!("{name}.png")));
        }
        if !self.draws_flames {
            names.extend(flame::files(claims, &Profiles::read(&results.dir, &claims.cells)?));
        }
        Ok(names)
    }
}
