//! The ways to start a FreeBSD kernel.

/// How a FreeBSD kernel is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// At the entry that it has for it (PVH).
    Direct,
    /// As FreeBSD's loader starts it.
    Loader,
}

impl Entry {
    pub(crate) const ALL: [Self; 2] = [Self::Direct, Self::Loader];

    /// As `start` of an experiment says it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Loader => "loader",
        }
    }
}
