//! Kinds of sockets by which a network interface can be opened.

use std::fmt;
use std::str::FromStr;

use crate::PortError;
#[cfg(target_os = "linux")]
use crate::{Pool, Port, packet::PacketPort, xdp::XdpPort};

/// A kind of socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SocketKind {
    /// A packet socket: the host goes on seeing the interface's frames.
    #[default]
    Packet,
    /// AF_XDP in copy mode: faster, and the host sees none of the interface's frames meanwhile.
    Xdp,
}

impl SocketKind {
    /// Opens an interface, which must have one receive queue for [`Xdp`](Self::Xdp). Frames
    /// received are taken from `pool`, frames sent go back to it.
    ///
    /// # Errors
    /// There is no such interface, or the process lacks the privileges.
    #[cfg(target_os = "linux")]
    pub fn open(self, interface: &str, pool: Pool) -> Result<Box<dyn Port>, PortError> {
        Ok(match self {
            Self::Packet => Box::new(PacketPort::open(interface, pool)?),
            Self::Xdp => Box::new(XdpPort::open(interface, pool)?),
        })
    }

    /// The name on command lines and in experiment files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Packet => "af_packet",
            Self::Xdp => "af_xdp",
        }
    }
}

impl fmt::Display for SocketKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for SocketKind {
    type Err = PortError;

    fn from_str(text: &str) -> Result<Self, PortError> {
        let known = [Self::Packet, Self::Xdp].into_iter().find(|kind| kind.name() == text);
        known.ok_or_else(|| PortError::SocketKind { got: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_read_by_their_names() {
        for kind in [SocketKind::Packet, SocketKind::Xdp] {
            assert_eq!(kind.to_string().parse::<SocketKind>().expect("known"), kind);
        }
        let error = "dpdk".parse::<SocketKind>().expect_err("unknown");
        assert!(error.to_string().contains("af_xdp"), "{error}");
    }
}
