//! How much room a figure has.

/// How much room a figure has: narrow screens get a drawing of their own, whose type is as large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// A page, a file: 800 px.
    Page,
    /// A phone: 360 px.
    Phone,
}

impl Room {
    /// Its width in px.
    pub const fn width(self) -> f64 {
        match self {
            Self::Page => 800.0,
            Self::Phone => 360.0,
        }
    }
}
