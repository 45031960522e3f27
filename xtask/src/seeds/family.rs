//! The address families of the pages.

use serde::Deserialize;

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Family {
    Inet,
    Inet6,
}

impl Family {
    pub(super) const ALL: [Self; 2] = [Self::Inet, Self::Inet6];

    /// Its place in [`Self::ALL`].
    pub(super) fn index(self) -> usize {
        match self {
            Self::Inet => 0,
            Self::Inet6 => 1,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Inet => "IPv4",
            Self::Inet6 => "IPv6",
        }
    }
}
