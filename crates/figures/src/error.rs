//! What can go wrong with a figure.

/// Why a figure cannot be shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FigureError {
    /// It does not show the results, or not as they are.
    #[error("{name}: {detail}; nothing was written: please report this as a bug of fwdlab")]
    Wrong {
        /// File name of the figure.
        name: &'static str,
        /// What does not agree.
        detail: String,
    },

    /// It cannot be turned into a picture.
    #[error("cannot draw {name}: {detail}; the SVG beside it shows the same figure")]
    Picture {
        /// File name of the picture.
        name: &'static str,
        /// What the renderer said.
        detail: String,
    },
}
