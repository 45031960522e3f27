//! From a flow's number to its addresses and ports, and back.
//!
//! Both ways are arithmetic, without a table of flows, so that ten million flows cost no more
//! cache than one.

use crate::flows::{Endpoints, FlowSet};

/// What differs between the flows of a set. Addresses are their lower 64 bits; the upper ones
/// are the same for the whole set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ends {
    pub(crate) source: u64,
    pub(crate) destination: u64,
    pub(crate) source_port: u16,
    pub(crate) destination_port: u16,
}

impl Ends {
    /// Those of the way back.
    pub(crate) const fn turned(self) -> Self {
        Self {
            source: self.destination,
            destination: self.source,
            source_port: self.destination_port,
            destination_port: self.source_port,
        }
    }
}

/// Division of 32-bit numbers by a fixed divisor: `n / d = (n * m) >> 64`, `m = ceil(2^64 / d)`.
///
/// Why: m = (2^64 + e) / d with 0 <= e < d, so n * m / 2^64 = n/d + n*e / (d * 2^64), and the
/// second term stays below 1/d as n * e < 2^64. (Granlund and Montgomery 1994.)
#[derive(Clone, Copy, Debug)]
struct Divisor {
    divisor: u32,
    /// 0 for the divisor 1, whose m does not fit 64 bits.
    multiplier: u64,
}

impl Divisor {
    fn new(divisor: u32) -> Self {
        let multiplier = if divisor == 1 { 0 } else { u64::MAX / u64::from(divisor) + 1 };
        Self { divisor, multiplier }
    }

    /// Quotient and remainder.
    #[inline(always)]
    fn split(self, number: u32) -> (u32, u32) {
        if self.multiplier == 0 {
            return (number, 0);
        }
        let quotient = ((u128::from(number) * u128::from(self.multiplier)) >> 64) as u32;
        (quotient, number - quotient * self.divisor)
    }
}

/// One side: an endpoint's number is `address index * ports + port index`.
#[derive(Clone, Copy, Debug)]
struct Side {
    first: u64,
    addresses: u32,
    first_port: u16,
    ports: Divisor,
}

impl Side {
    fn new(range: &Endpoints) -> Self {
        Self {
            first: range.first() as u64,
            addresses: range.addresses(),
            first_port: range.first_port(),
            ports: Divisor::new(range.ports()),
        }
    }

    #[inline(always)]
    fn end(&self, number: u32) -> (u64, u16) {
        let (address, port) = self.ports.split(number);
        (self.first + u64::from(address), self.first_port + port as u16)
    }

    /// Goes on to the next endpoint, ports fastest; true when that is the first one again.
    #[inline(always)]
    fn advance(&self, address: &mut u64, port: &mut u16) -> bool {
        *port = port.wrapping_add(1);
        if u32::from(port.wrapping_sub(self.first_port)) != self.ports.divisor % 65_536 {
            return false;
        }
        (*port, *address) = (self.first_port, address.wrapping_add(1));
        let is_last = address.wrapping_sub(self.first) == u64::from(self.addresses);
        if is_last {
            *address = self.first;
        }
        is_last
    }

    /// The endpoint's number; wraps around for addresses and ports outside, with false.
    #[inline(always)]
    fn number(&self, address: u64, port: u16) -> (u32, bool) {
        let address = address.wrapping_sub(self.first);
        let port = u32::from(port.wrapping_sub(self.first_port));
        let inside = (address < u64::from(self.addresses)) & (port < self.ports.divisor);
        ((address as u32).wrapping_mul(self.ports.divisor).wrapping_add(port), inside)
    }
}

/// The numbers of a flow set: `destination * sources + source`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbering {
    source: Side,
    destination: Side,
    sources: Divisor,
}

impl Numbering {
    pub(crate) fn new(flows: &FlowSet) -> Self {
        Self {
            source: Side::new(flows.source()),
            destination: Side::new(flows.destination()),
            sources: Divisor::new(flows.source().count() as u32),
        }
    }

    #[inline(always)]
    pub(crate) fn ends(&self, flow: u32) -> Ends {
        let (destination, source) = self.sources.split(flow);
        let (source, source_port) = self.source.end(source);
        let (destination, destination_port) = self.destination.end(destination);
        Ends { source, destination, source_port, destination_port }
    }

    /// The ends of a flow and of those that follow it, in turn.
    #[inline(always)]
    pub(crate) fn from(&self, flow: u32) -> Walk<'_> {
        Walk { numbering: self, next: self.ends(flow) }
    }

    /// The flow's number, and whether it is a flow of this set (else the number means nothing).
    #[inline(always)]
    pub(crate) fn flow(&self, ends: Ends) -> (u32, bool) {
        let (source, is_source) = self.source.number(ends.source, ends.source_port);
        let (destination, is_destination) =
            self.destination.number(ends.destination, ends.destination_port);
        let flow = destination.wrapping_mul(self.sources.divisor).wrapping_add(source);
        (flow, is_source & is_destination)
    }
}

/// Ends one after the other, without divisions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walk<'a> {
    numbering: &'a Numbering,
    next: Ends,
}

impl Walk<'_> {
    /// How many flows from the next one on differ in nothing but the source's address, which goes up by
    /// one; at least one, and at most so many.
    #[inline(always)]
    pub(crate) fn alike(&self, most: usize) -> usize {
        let source = &self.numbering.source;
        if source.ports.divisor != 1 {
            return most.min(1);
        }
        let left =
            source.first.wrapping_add(source.addresses.into()).wrapping_sub(self.next.source);
        most.min(left as usize)
    }

    /// The ends of the next flow, after which as many are skipped as [`Walk::alike`] said.
    #[inline(always)]
    pub(crate) fn skip(&mut self, count: usize) -> Ends {
        let now = self.next;
        self.next.source = now.source.wrapping_add((count as u64).saturating_sub(1));
        self.next();
        now
    }

    /// The ends of the next flow; after the last comes the first.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> Ends {
        let now = self.next;
        let (numbering, next) = (self.numbering, &mut self.next);
        if numbering.source.advance(&mut next.source, &mut next.source_port) {
            numbering.destination.advance(&mut next.destination, &mut next.destination_port);
        }
        now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divides_exactly_at_the_edges() {
        for divisor in [1, 2, 3, 7, 10, 20, 100, 65_535, 65_536, (1 << 24) - 1, 1 << 24] {
            for number in
                [0, 1, divisor - 1, divisor, divisor + 1, 12_345_678, u32::MAX - 1, u32::MAX]
            {
                let expected = (number / divisor, number % divisor);
                assert_eq!(Divisor::new(divisor).split(number), expected, "{number} / {divisor}");
            }
        }
    }

    #[test]
    fn numbers_every_flow_once_and_finds_it_again() {
        let flows = FlowSet::parse("10.0.0.1-10.0.0.3:5-6", "10.9.0.250-10.9.1.4:7-9").unwrap();
        let numbering = Numbering::new(&flows);
        let all: std::collections::HashSet<_> = (0..flows.count())
            .map(|flow| {
                let ends = numbering.ends(flow);
                assert_eq!(numbering.flow(ends), (flow, true));
                (ends.source, ends.source_port, ends.destination, ends.destination_port)
            })
            .collect();
        assert_eq!(all.len(), 3 * 2 * 11 * 3);
    }

    #[test]
    fn lets_the_source_vary_fastest() {
        let flows = FlowSet::parse("10.0.0.1-10.0.0.2:5", "10.9.0.1-10.9.0.2:5").unwrap();
        let numbering = Numbering::new(&flows);
        let pairs: Vec<_> = (0..4)
            .map(|flow| numbering.ends(flow))
            .map(|e| (e.source & 255, e.destination & 255))
            .collect();
        assert_eq!(pairs, [(1, 1), (2, 1), (1, 2), (2, 2)]);
    }

    #[test]
    fn a_walk_meets_the_flows_in_turn_and_begins_again() {
        for (source, destination) in [
            ("10.0.0.1-10.0.0.3:5-6", "10.9.0.250-10.9.1.4:7-9"),
            ("10.0.0.1:0-65535", "10.9.0.1-10.9.0.2:9"),
            ("10.0.0.255-10.0.1.2:65534-65535", "10.9.0.1:9"),
        ] {
            let flows = FlowSet::parse(source, destination).unwrap();
            let numbering = Numbering::new(&flows);
            let first = flows.count() - 3;
            let mut walk = numbering.from(first);
            for flow in (first..flows.count()).chain(0..flows.count()).chain(0..3) {
                assert_eq!(walk.next(), numbering.ends(flow), "flow {flow} of {source}");
            }
            let (mut walk, mut flow) = (numbering.from(0), 0);
            while flow < flows.count() {
                let count = walk.alike(7.min(flows.count() - flow) as usize) as u32;
                assert!((1..=7).contains(&count));
                let first = walk.skip(count as usize);
                for step in 0..count {
                    let ends = Ends { source: first.source + u64::from(step), ..first };
                    assert_eq!(ends, numbering.ends(flow + step), "flow {flow} of {source}");
                }
                flow += count;
            }
        }
    }

    #[test]
    fn knows_strangers() {
        let flows = FlowSet::parse("10.0.0.1-10.0.0.2:5", "10.9.0.1-10.9.0.2:5").unwrap();
        let numbering = Numbering::new(&flows);
        let inside = numbering.ends(3);
        for stranger in [
            Ends { source: inside.source + 1, ..inside },
            Ends { source: inside.source - 2, ..inside },
            Ends { destination: inside.destination + 1, ..inside },
            Ends { source_port: 4, ..inside },
            Ends { destination_port: 6, ..inside },
        ] {
            assert!(!numbering.flow(stranger).1, "{stranger:?}");
        }
    }
}
