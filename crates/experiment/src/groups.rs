//! Which addresses lie behind which of a device's ports, and what goes between them in a mesh (RFC 2285, section 3.3).
//!
//! Even ports are on the side of the sources, odd ones on that of the destinations. The addresses of a side are
//! dealt to its ports in runs of equal length, the lowest to the first port.

use super::addresses::Endpoint;

/// Source and destination.
type Pair = (Endpoint, Endpoint);

/// The addresses behind each of so many ports, port by port; a port gets none where there are fewer addresses.
pub(super) fn groups(ports: u16, ends: impl Iterator<Item = Pair>) -> Vec<(u16, Endpoint)> {
    let of_pair = |(source, destination): Pair| {
        let part = move |port: u16| {
            let side = if port.is_multiple_of(2) { source } else { destination };
            Some((port, side.part(port / 2, ports / 2)?))
        };
        (0..ports).filter_map(part)
    };
    ends.flat_map(of_pair).collect()
}

/// From the addresses behind each port to those of their family behind each other one.
pub(super) fn meshed(groups: &[(u16, Endpoint)]) -> Vec<Pair> {
    let pairs = groups.iter().flat_map(|one| groups.iter().map(move |other| (one, other)));
    let others =
        pairs.filter(|((port, own), (other, to))| port != other && own.family() == to.family());
    others.map(|((_, own), (_, to))| (*own, *to)).collect()
}
