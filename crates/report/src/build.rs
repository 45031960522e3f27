//! What a build of fwdlab draws, and what only others do.

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
}
