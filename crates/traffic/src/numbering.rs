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

/// The most flows that are looked at together.
pub(crate) const LANES: usize = fwdlab_port::LINES;

/// Asks for the numbers of flows that come some blocks later, if flows come in turn.
#[inline(always)]
pub(crate) fn prefetch_later(numbers: &[u32], first: usize) {
    let from = first + BLOCKS_AHEAD * LANES;
    if let Some(later) = numbers.get(from..from + LANES) {
        fwdlab_port::prefetch_numbers(later);
    }
}

/// How many blocks ahead.
const BLOCKS_AHEAD: usize = 8;

/// A number for each of them.
pub(crate) type Lanes<T> = [T; LANES];

/// Work is done for a multiple of so many. Loops run over as many as there are: those of a number that is known when
/// they are compiled would be unrolled, and not made of vectors.
const STEP: usize = 16;

/// How many lanes are worked on for so many flows, of one to [`LANES`]: the next multiple. Written so that the compiler
/// sees that no array of lanes ends before it, and needs no tests of whether one reaches into another.
#[inline(always)]
pub(crate) fn padded(count: usize) -> usize {
    (count.wrapping_sub(1) & (LANES - STEP)) + STEP
}

/// Numbers of flows fit so many bits.
const FLOW_BITS: u32 = FlowSet::MAX_FLOWS.trailing_zeros();

/// How much larger the ends of many flows of one set are than those of its first one.
#[derive(Clone, Debug)]
pub(crate) struct Steps {
    pub(crate) source: Lanes<u32>,
    pub(crate) source_port: Lanes<u32>,
    pub(crate) destination: Lanes<u32>,
    pub(crate) destination_port: Lanes<u32>,
    /// On the way: numbers of the endpoints.
    sides: [Lanes<u32>; 2],
}

impl Default for Steps {
    fn default() -> Self {
        let [source, source_port, destination, destination_port] = [[0; LANES]; 4];
        let sides = [[0; LANES]; 2];
        Self { source, source_port, destination, destination_port, sides }
    }
}

/// Division of numbers below 2^24 by a fixed divisor that is no larger: `n / d = (n * m) >> k`, `m = ceil(2^k / d)`.
///
/// Why: m = (2^k + e) / d with 0 <= e < d, so n * m / 2^k = n/d + n*e / (d * 2^k), and the second
/// term stays below 1/d as n * e < 2^24 * d <= 2^k. (Granlund and Montgomery 1994.) Both n and m
/// fit 32 bits, so that vectors have an instruction for the product.
#[derive(Clone, Copy, Debug)]
struct Divisor {
    divisor: u32,
    multiplier: u32,
    shift: u32,
}

impl Divisor {
    fn new(divisor: u32) -> Self {
        let shift = FLOW_BITS + divisor.next_power_of_two().trailing_zeros();
        let multiplier = (1_u64 << shift).div_ceil(divisor.into()) as u32;
        Self { divisor, multiplier, shift }
    }

    /// Quotient and remainder.
    #[inline(always)]
    fn split(self, number: u32) -> (u32, u32) {
        let quotient = ((u64::from(number) * u64::from(self.multiplier)) >> self.shift) as u32;
        (quotient, number.wrapping_sub(quotient.wrapping_mul(self.divisor)))
    }

    /// The same for so many.
    #[inline(always)]
    fn split_all(
        self,
        count: usize,
        numbers: &Lanes<u32>,
        quotients: &mut Lanes<u32>,
        remainders: &mut Lanes<u32>,
    ) {
        for at in 0..padded(count) {
            let (quotient, remainder) = self.split(numbers[at]);
            (quotients[at], remainders[at]) = (quotient, remainder);
        }
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
    /// 2^16 by the number of sources, rounded up.
    reciprocal: u32,
}

impl Numbering {
    pub(crate) fn new(flows: &FlowSet) -> Self {
        let sources = flows.source().count() as u32;
        Self {
            source: Side::new(flows.source()),
            destination: Side::new(flows.destination()),
            sources: Divisor::new(sources),
            reciprocal: (1_u32 << 16).div_ceil(sources),
        }
    }

    #[inline(always)]
    pub(crate) fn ends(&self, flow: u32) -> Ends {
        let (destination, source) = self.sources.split(flow);
        let (source, source_port) = self.source.end(source);
        let (destination, destination_port) = self.destination.end(destination);
        Ends { source, destination, source_port, destination_port }
    }

    /// The steps to the ends of so many flows, where `count` is [`padded`]. What is beyond the last flow is no end
    /// of anything.
    #[inline(always)]
    pub(crate) fn steps(&self, flows: &Lanes<u32>, count: usize, steps: &mut Steps) {
        let Steps { source, source_port, destination, destination_port, sides } = steps;
        if !self.has_ports() {
            return self.sources.split_all(count, flows, destination, source);
        }
        let [sources, destinations] = sides;
        self.sources.split_all(count, flows, destinations, sources);
        self.source.ports.split_all(count, sources, source, source_port);
        self.destination.ports.split_all(count, destinations, destination, destination_port);
    }

    /// The same for flows in turn; a division for all of them.
    #[inline(always)]
    pub(crate) fn steps_in_turn(&self, first: u32, count: usize, steps: &mut Steps) {
        if self.has_ports() {
            let flows = std::array::from_fn(|lane| first.wrapping_add(lane as u32));
            return self.steps(&flows, count, steps);
        }
        let (sources, (destination, source)) = (self.sources.divisor, self.sources.split(first));
        let lanes = 0..padded(count);
        if sources < LANES as u32 {
            // As in `Divisor`: what is divided is below 2 * LANES, which times the divisor is below 2^16.
            const { assert!(2 * LANES * LANES <= 1 << 16) };
            for lane in lanes {
                let number = source.wrapping_add(lane as u32);
                let quotient = number.wrapping_mul(self.reciprocal) >> 16;
                steps.source[lane] = number.wrapping_sub(quotient.wrapping_mul(sources));
                steps.destination[lane] = destination.wrapping_add(quotient);
            }
        } else {
            for lane in lanes {
                let number = source.wrapping_add(lane as u32);
                let (is_next, before) = (number >= sources, number.wrapping_sub(sources));
                steps.source[lane] = if is_next { before } else { number };
                steps.destination[lane] = destination.wrapping_add(is_next.into());
            }
        }
    }

    /// Whether flows differ in ports. Mostly they do not, and the steps to them are none, as they have been from the
    /// start.
    #[inline(always)]
    pub(crate) fn has_ports(&self) -> bool {
        self.source.ports.divisor > 1 || self.destination.ports.divisor > 1
    }

    /// Whether addresses differ in no more than their lower 48 bits.
    pub(crate) fn is_narrow(&self) -> bool {
        [&self.source, &self.destination].iter().all(|side| {
            let last = side.first.wrapping_add(u64::from(side.addresses) - 1);
            side.first >> 48 == last >> 48
        })
    }

    /// The ends of the first flow.
    #[inline(always)]
    pub(crate) fn first(&self) -> Ends {
        Ends {
            source: self.source.first,
            destination: self.destination.first,
            source_port: self.source.first_port,
            destination_port: self.destination.first_port,
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divides_exactly_at_the_edges() {
        let last = (1 << FLOW_BITS) - 1;
        for divisor in [1, 2, 3, 7, 10, 20, 100, 65_535, 65_536, 65_537, last, 1 << FLOW_BITS] {
            let multiples = (1..=last / divisor).rev().take(99).chain(1..=(last / divisor).min(99));
            let edges = multiples.flat_map(|times| [times * divisor - 1, times * divisor]);
            for number in edges.chain([0, 1, divisor - 1, 12_345_678, last - 1, last]) {
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
    fn the_ends_of_many_flows_are_those_of_each() {
        for (source, destination) in [
            ("10.0.0.1-10.0.0.3:5-6", "10.9.0.250-10.9.1.4:7-9"),
            ("10.0.0.1:0-65535", "10.9.0.1-10.9.0.2:9"),
            ("10.0.0.255-10.0.1.2:65534-65535", "10.9.0.1:9"),
            ("[2001:2::ffff:fffe]-[2001:2::1:0:3]:1-2", "[2001:2::7]:65535"),
            ("10.0.0.1-10.0.0.20:5", "10.9.0.1-10.9.0.99:9"),
            ("10.0.0.1-10.0.0.63:5", "10.9.0.1-10.9.0.99:9"),
            ("10.0.0.1-10.0.0.64:5", "10.9.0.1-10.9.0.99:9"),
            ("10.0.0.1-10.0.0.99:5", "10.9.0.1-10.9.0.9:9"),
            ("10.0.0.1:5", "10.9.0.1-10.9.0.99:9"),
        ] {
            let flows = FlowSet::parse(source, destination).unwrap();
            let numbering = Numbering::new(&flows);
            let (last, mut all) = (flows.count() - 1, Steps::default());
            for from in (0..=last).step_by(7) {
                for in_turn in [false, true] {
                    let flow_of = |at: usize| match in_turn {
                        false => (from + 3 * at as u32).min(last),
                        true => from + at as u32,
                    };
                    match in_turn {
                        false => numbering.steps(&std::array::from_fn(flow_of), LANES, &mut all),
                        true => numbering.steps_in_turn(from, LANES, &mut all),
                    }
                    for at in (0..LANES).filter(|at| flow_of(*at) <= last) {
                        let (own, first) = (numbering.ends(flow_of(at)), numbering.first());
                        let of = |far: u64, near: u64| (far - near) as u32;
                        let wanted = [
                            of(own.source, first.source),
                            u32::from(own.source_port - first.source_port),
                            of(own.destination, first.destination),
                            u32::from(own.destination_port - first.destination_port),
                        ];
                        let Steps { source, source_port, destination, destination_port, .. } = &all;
                        let found = [source, source_port, destination, destination_port];
                        let (found, flow) = (found.map(|steps| steps[at]), flow_of(at));
                        assert_eq!(found, wanted, "flow {flow} of {source:?}, {in_turn}");
                    }
                }
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
