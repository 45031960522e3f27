//! The MAC addresses of the lab: locally administered, the same on every device that has no cards of
//! its own, so that frames look alike everywhere.

use crate::MacAddr;

/// The device's ports: 0 on the side of the sources, 1 on the side of the destinations.
pub const DEVICE_MACS: [MacAddr; 2] = [MacAddr::numbered(0x10), MacAddr::numbered(0x11)];

/// The tester's ports towards them: it sends from the first and receives at the second.
pub const TESTER_MACS: [MacAddr; 2] = [MacAddr::numbered(0xa0), MacAddr::numbered(0xb0)];

/// A second next router beside the tester's port on the side of the destinations: another path.
pub const OTHER_PATH_MAC: MacAddr = MacAddr::numbered(0xb1);

/// Which of these pairs of addresses port number `port` of so many has: its side's. Of more than two ports all have
/// the same, as the frames of a full mesh are written for any of them.
pub fn mac_of(ports: u16, port: u16) -> usize {
    if ports > 2 { 0 } else { usize::from(port.min(1)) }
}
