//! Several ports as one: each frame leaves by the port behind which its source lies, and has to come back by that
//! behind which its destination lies (meshes of ports, RFC 2285, section 3.3).

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fwdlab_port::{Batch, Counters, Frame, Port};
use fwdlab_wire::{MacAddr, ethernet};

use crate::error::TrafficError;
use crate::flows::{Endpoints, Family, FlowSet};

/// Which addresses lie behind which of a fan's ports.
#[derive(Clone, Debug, Default)]
pub struct Behind {
    /// First and last address, of IPv4 in the low 32 bits, and the number of the port.
    ranges: Vec<(bool, u128, u128, usize)>,
}

impl Behind {
    /// The port behind which each of these ends lies, as `198.18.10.1-198.18.10.20:7`.
    ///
    /// # Errors
    /// Ends of which no flows can be made.
    pub fn of(groups: impl IntoIterator<Item = (u16, String)>) -> Result<Self, TrafficError> {
        let mut behind = Self::default();
        for (port, ends) in groups {
            behind.add(FlowSet::parse(&ends, &ends)?.source(), usize::from(port));
        }
        Ok(behind)
    }

    /// These addresses lie behind that port, too.
    fn add(&mut self, ends: &Endpoints, port: usize) {
        self.ranges.push((ends.family() == Family::Inet, ends.first(), ends.last(), port));
    }

    /// The port of an address of a frame, by where it stands in a header of IPv4 and of IPv6.
    fn port_of(&self, frame: &Frame, [at_ipv4, at_ipv6]: [usize; 2]) -> Option<usize> {
        let kind = frame.get(ethernet::HEADER_LEN - 2..ethernet::HEADER_LEN)?;
        let is_ipv4 = kind == [0x08, 0x00];
        let (at, len) = if is_ipv4 { (at_ipv4, 4) } else { (at_ipv6, 16) };
        let at = ethernet::HEADER_LEN + at;
        let mut bytes = [0; 16];
        bytes[16 - len..].copy_from_slice(frame.get(at..at + len)?);
        let address = u128::from_be_bytes(bytes);
        let holds = |(of_ipv4, first, last, _): &&(bool, u128, u128, usize)| {
            *of_ipv4 == is_ipv4 && (*first..=*last).contains(&address)
        };
        self.ranges.iter().find(holds).map(|(.., port)| *port)
    }
}

/// Where source and destination stand in headers of IPv4 (RFC 791) and of IPv6 (RFC 8200).
const SOURCE: [usize; 2] = [12, 8];
const DESTINATION: [usize; 2] = [16, 24];

/// What came by each of a device's ports. It is read while the tester goes on, or afterwards; one thread counts.
#[derive(Debug, Default)]
pub struct Came {
    /// From the port behind which a frame's source lies, to that by which it came.
    pairs: Vec<Vec<AtomicU64>>,
    /// Of frames from behind the ports on the side of the sources, and from behind the others.
    misrouted: [AtomicU64; 2],
    /// Of these, those that came back on the side from which they had left.
    returned: [AtomicU64; 2],
}

impl Came {
    fn of(ports: usize) -> Arc<Self> {
        let row = || (0..ports).map(|_| AtomicU64::new(0)).collect();
        Arc::new(Self { pairs: (0..ports).map(|_| row()).collect(), ..Self::default() })
    }

    /// A frame from behind a port came by another, and had to come by a third; returns whether that is the same.
    fn count(&self, from: Option<usize>, by: usize, wanted: Option<usize>) -> bool {
        // No other thread writes: this costs less than a locked addition.
        let add = |count: &AtomicU64| {
            count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        };
        if let Some(count) = from.and_then(|from| self.pairs.get(from)?.get(by)) {
            add(count);
        }
        let is_right = wanted.is_none_or(|wanted| wanted == by);
        if !is_right {
            let side = from.unwrap_or(0) % 2;
            add(&self.misrouted[side]);
            if by % 2 == side {
                add(&self.returned[side]);
            }
        }
        is_right
    }

    /// Frames from behind each port, by the port by which they came.
    pub fn by_pair(&self) -> Vec<Vec<u64>> {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        self.pairs.iter().map(|row| row.iter().map(read).collect()).collect()
    }

    /// Frames that came by another port than that behind which their destination lies: of those from behind ports on
    /// the side of the sources, and of the others.
    pub fn misrouted(&self) -> [u64; 2] {
        self.misrouted.each_ref().map(|count| count.load(Ordering::Relaxed))
    }

    /// Of these, frames that came back on the side from which they had left.
    pub fn returned(&self) -> [u64; 2] {
        self.returned.each_ref().map(|count| count.load(Ordering::Relaxed))
    }
}

/// Two ports of a tester made of many.
pub struct Fans {
    /// Where it sends, or what is on the side of the sources.
    pub near: Box<dyn Port>,
    /// Where it receives, or what is on the side of the destinations.
    pub far: Box<dyn Port>,
    /// What came by each of the many.
    pub came: Arc<Came>,
}

impl Fans {
    /// Even ports on the side of the sources, odd ones on that of the destinations.
    pub fn sides(ports: Vec<Box<dyn Port>>, behind: Behind) -> Self {
        let (behind, came) = (Arc::new(behind), Came::of(ports.len()));
        let (near, far): (Vec<_>, Vec<_>) =
            ports.into_iter().enumerate().partition(|(number, _)| number % 2 == 0);
        let fan = |ports| Box::new(Fan::new(ports, Arc::clone(&behind), Arc::clone(&came)));
        Self { near: fan(near), far: fan(far), came }
    }

    /// All ports on both sides: frames leave by each, and come back by each.
    pub fn mesh(ports: Vec<Box<dyn Port>>, behind: Behind) -> Self {
        let came = Came::of(ports.len());
        let ports = ports.into_iter().enumerate().collect();
        let fan = Fan::new(ports, Arc::new(behind), Arc::clone(&came));
        let fan = Arc::new(Mutex::new(fan));
        let near = Box::new(Half { fan: Arc::clone(&fan), sends: true });
        Self { near, far: Box::new(Half { fan, sends: false }), came }
    }
}

/// Several ports as one. Frames that went astray are counted, and not handed on: nobody has received them where
/// they were sent to (RFC 2285, section 3.5, counts frames at the correct destination interface).
struct Fan {
    /// With their numbers.
    ports: Vec<(usize, Box<dyn Port>)>,
    behind: Arc<Behind>,
    came: Arc<Came>,
    /// What is on its way to each of them within one call.
    leaving: Vec<Batch>,
    /// The port that is asked first.
    next: usize,
}

impl Fan {
    fn new(ports: Vec<(usize, Box<dyn Port>)>, behind: Arc<Behind>, came: Arc<Came>) -> Self {
        let leaving = ports.iter().map(|_| Batch::new()).collect();
        Self { ports, behind, came, leaving, next: 0 }
    }

    /// The place of the port behind which the source of a frame lies.
    fn place_of(&self, frame: &Frame) -> usize {
        let port = self.behind.port_of(frame, SOURCE);
        self.ports.iter().position(|(number, _)| Some(*number) == port).unwrap_or(0)
    }
}

impl Port for Fan {
    fn receive(&mut self, batch: &mut Batch) -> usize {
        let count = self.ports.len();
        let before = batch.len();
        for turn in 0..count {
            let (number, port) = &mut self.ports[(self.next + turn) % count];
            loop {
                let own = batch.len();
                port.receive(batch);
                // What went astray takes no room: there may be more behind it.
                if keep_right(batch, own, *number, (&self.behind, &self.came)) == 0 {
                    break;
                }
            }
        }
        self.next = (self.next + 1) % count.max(1);
        batch.len() - before
    }

    fn send(&mut self, batch: &mut Batch) -> usize {
        let offered = batch.len();
        let mut all = Batch::new();
        batch.move_front(&mut all, offered);
        for frame in all.drain() {
            let place = self.place_of(&frame);
            // Each has room for a whole batch.
            let refused = self.leaving[place].push(frame);
            debug_assert!(refused.is_ok(), "a batch is longer than a batch");
        }
        for ((_, port), leaving) in self.ports.iter_mut().zip(&mut self.leaving) {
            if !leaving.is_empty() {
                port.send(leaving);
            }
            let left = leaving.len();
            leaving.move_front(batch, left);
        }
        offered - batch.len()
    }

    fn mac(&self) -> MacAddr {
        self.ports.first().map_or(MacAddr([0; 6]), |(_, port)| port.mac())
    }

    fn mtu(&self) -> usize {
        self.ports.iter().map(|(_, port)| port.mtu()).min().unwrap_or(0)
    }

    fn counters(&self) -> Counters {
        let mut sum = Counters::default();
        for own in self.ports.iter().map(|(_, port)| port.counters()) {
            sum.rx_frames += own.rx_frames;
            sum.rx_bytes += own.rx_bytes;
            sum.rx_dropped += own.rx_dropped;
            sum.rx_too_long += own.rx_too_long;
            sum.tx_frames += own.tx_frames;
            sum.tx_bytes += own.tx_bytes;
            sum.tx_refused += own.tx_refused;
            sum.tx_dropped += own.tx_dropped;
        }
        sum
    }
}

/// Counts the frames of a batch from `own` on, which came by a port, and keeps those that had to, in their order;
/// returns how many others there were.
fn keep_right(
    batch: &mut Batch,
    own: usize,
    number: usize,
    (behind, came): (&Behind, &Came),
) -> usize {
    let mut kept = own;
    for at in own..batch.len() {
        let [from, to] = [SOURCE, DESTINATION].map(|place| behind.port_of(&batch[at], place));
        if came.count(from, number, to) {
            batch.swap(kept, at);
            kept += 1;
        }
    }
    let astray = batch.len() - kept;
    (0..astray).for_each(|_| drop(batch.pop()));
    astray
}

/// One half of a fan: a tester sends by one port and receives by another. Both are used by one thread.
struct Half {
    fan: Arc<Mutex<Fan>>,
    sends: bool,
}

impl Half {
    fn fan(&self) -> MutexGuard<'_, Fan> {
        self.fan.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Port for Half {
    fn receive(&mut self, batch: &mut Batch) -> usize {
        if self.sends { 0 } else { self.fan().receive(batch) }
    }

    fn send(&mut self, batch: &mut Batch) -> usize {
        if self.sends { self.fan().send(batch) } else { 0 }
    }

    fn mac(&self) -> MacAddr {
        self.fan().mac()
    }

    fn mtu(&self) -> usize {
        self.fan().mtu()
    }

    fn counters(&self) -> Counters {
        // Of both together, once.
        if self.sends { Counters::default() } else { self.fan().counters() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Carried, FrameOf, flow_frame};
    use fwdlab_port::{Pool, ring};

    /// Frames between two groups of two addresses, four each way.
    fn frames(pool: &Pool) -> (Batch, Behind) {
        let groups = ["198.18.10.1-198.18.10.2:7", "198.19.10.1-198.19.10.2:7"];
        let mut behind = Behind::default();
        let mut batch = Batch::new();
        for (port, [from, to]) in [[0, 1], [1, 0]].into_iter().enumerate() {
            let flows = FlowSet::parse(groups[from], groups[to]).expect("flows");
            behind.add(flows.source(), port);
            for flow in 0..4 {
                let mut frame = pool.take().expect("a frame");
                let of = FrameOf { flow, number: 0 };
                let carried = Carried::Datagram { has_mark: false };
                let bytes = flow_frame(&flows, of, 60, (0, carried)).expect("a frame");
                frame.set_len(bytes.len());
                frame.copy_from_slice(&bytes);
                batch.push(frame).expect("room");
            }
        }
        (batch, behind)
    }

    #[test]
    fn frames_leave_by_the_port_of_their_source_and_are_misrouted_elsewhere() {
        let pool = Pool::with_frames(64).expect("memory");
        let (mut batch, behind) = frames(&pool);
        let (near_0, mut far_0) = ring::pair(16);
        let (near_1, mut far_1) = ring::pair(16);
        let mut fans = Fans::mesh(vec![Box::new(near_0), Box::new(near_1)], behind);
        assert_eq!(fans.near.send(&mut batch), 8);
        let mut came = Batch::new();
        assert_eq!(far_0.receive(&mut came), 4);
        // What came from the first group goes to the second, but for one that stays where it was.
        let mut stray = Batch::new();
        came.move_front(&mut stray, 1);
        far_0.send(&mut stray);
        far_1.send(&mut came);
        let mut back = Batch::new();
        assert_eq!(fans.near.receive(&mut back), 0);
        // Whoever receives has three of them: the fourth did not come to where it was sent.
        assert_eq!((fans.far.receive(&mut back), back.len()), (3, 3));
        // Of the frames from behind the first port one came by it, and three by the other.
        let pairs = vec![vec![1, 3], vec![0, 0]];
        assert_eq!((fans.came.by_pair(), fans.came.misrouted()), (pairs, [1, 0]));
        assert_eq!(fans.far.counters().tx_frames, 8);
    }

    #[test]
    fn what_finds_no_room_stays_with_the_sender() {
        let pool = Pool::with_frames(64).expect("memory");
        let (mut batch, behind) = frames(&pool);
        let (near_0, _far_0) = ring::pair(2);
        let (near_1, mut far_1) = ring::pair(16);
        let mut fans = Fans::mesh(vec![Box::new(near_0), Box::new(near_1)], behind);
        assert_eq!(fans.near.send(&mut batch), 6);
        assert_eq!(batch.len(), 2);
        let mut came = Batch::new();
        assert_eq!(far_1.receive(&mut came), 4);
        far_1.send(&mut came);
        assert_eq!(fans.far.receive(&mut came), 0);
        assert_eq!(fans.came.misrouted(), [0, 4]);
    }

    /// Of 1619 frames that came back to their senders 1024 were counted: a batch at a time, and then no more.
    #[test]
    fn all_that_went_astray_is_counted_at_one_look() {
        let pool = Pool::with_frames(1024).expect("memory");
        let (near_0, mut far_0) = ring::pair(1024);
        let (near_1, _far_1) = ring::pair(16);
        let (_, behind) = frames(&pool);
        let mut fans = Fans::sides(vec![Box::new(near_0), Box::new(near_1)], behind);
        for _ in 0..100 {
            let (mut batch, _) = frames(&pool);
            // Those of the way ahead, which leave by the side of the sources.
            let mut ahead = Batch::new();
            batch.move_front(&mut ahead, 4);
            assert_eq!(far_0.send(&mut ahead), 4);
        }
        let mut back = Batch::new();
        assert_eq!(fans.near.receive(&mut back), 0);
        assert_eq!(fans.came.misrouted(), [400, 0]);
        drop(fans);
        assert_eq!(pool.available(), 1024, "the frames are the pool's again");
    }
}
