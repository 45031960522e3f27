//! The address family of a traffic.

use std::fmt;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// The address family of a traffic, by FreeBSD's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// IPv4.
    Inet,
    /// IPv6.
    Inet6,
    /// Both, in a traffic that mixes them; no address or prefix is of it.
    Dual,
}

impl Family {
    /// The family of `address`.
    pub const fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(_) => Self::Inet,
            IpAddr::V6(_) => Self::Inet6,
        }
    }

    /// `inet`, `inet6` or `dual`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Inet => "inet",
            Self::Inet6 => "inet6",
            Self::Dual => "dual",
        }
    }

    /// The family as people write it: `IPv4`, `IPv6`, or both.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Inet => "IPv4",
            Self::Inet6 => "IPv6",
            Self::Dual => "IPv4 and IPv6",
        }
    }

    /// Length in bytes, FCS included, of the smallest Ethernet frame that
    /// carries a UDP datagram with fwdlab's 4-byte mark: 64 for IPv4 (the
    /// Ethernet minimum), 66 for IPv6 (14 + 40 + 8 + 4). Of both families, the length that suits both.
    pub const fn smallest_udp_frame_bytes(self) -> u16 {
        match self {
            Self::Inet => 64,
            Self::Inet6 | Self::Dual => 66,
        }
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
