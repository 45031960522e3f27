//! A port on a network interface of Linux, by packet sockets (packet(7)). Needs CAP_NET_RAW.
//!
//! For real interfaces at moderate rates: each frame is copied by the kernel. Frames that the
//! host itself sends on the interface are not received.
//!
//! The kernel hands frames over with work left to do, which is done here: a VLAN tag that stands
//! beside the frame goes back into it, a checksum that the sender's host left to its hardware is
//! completed. Frames that were merged (segmentation or receive offload) and frames longer than the
//! pool's slots cannot be sent on: they are counted as `rx_too_long` and dropped.

use std::os::fd::BorrowedFd;
use std::sync::Arc;

use fwdlab_wire::{MacAddr, checksum};

use crate::counters::Counters;
use crate::end::End;
use crate::error::PortError;
use crate::interface::Port;
use crate::stamps::SentStamps;
use crate::sys::interface::Interface;
use crate::sys::packet::{BURST, PacketSocket, Received, Sent};
use crate::{Batch, Frame, Pool};

/// Both MAC addresses, behind which a tag stands.
const MACS: usize = 12;

/// A port on one interface.
#[derive(Debug)]
pub struct PacketPort {
    socket: PacketSocket,
    end: End,
    /// By which frames of a sample leave.
    stamps: Option<Arc<SentStamps>>,
}

/// The MTU of an interface, bytes: what the slots of its pool must hold behind 18 bytes of header
/// and tag.
///
/// # Errors
/// There is no such interface.
pub fn mtu(interface: &str) -> Result<usize, PortError> {
    let failed = |source| PortError::Interface { interface: interface.to_owned(), source };
    Interface::open(interface).map(|(_, info)| info.mtu).map_err(failed)
}

impl PacketPort {
    /// Opens the interface. Frames received are taken from `pool`, frames sent go back to it.
    ///
    /// # Errors
    /// There is no such interface, or the process lacks CAP_NET_RAW.
    pub fn open(interface: &str, pool: Pool) -> Result<Self, PortError> {
        let failed = |source| PortError::Interface { interface: interface.to_owned(), source };
        let (socket, info) = PacketSocket::open(interface).map_err(failed)?;
        Ok(Self { socket, end: End::new(interface, info, pool), stamps: None })
    }

    /// The same port, which sends the frames of a sample by `stamps`, opened on its interface.
    #[must_use]
    pub fn stamping(self, stamps: Arc<SentStamps>) -> Self {
        Self { stamps: Some(stamps), ..self }
    }

    /// Moves the first `count` frames that were received to `batch`, but for those that are unfit.
    fn hand_over(&mut self, batch: &mut Batch, with: &[Received]) -> usize {
        let mut fit = 0;
        for (at, received) in with.iter().enumerate() {
            if received.is_unfit || !complete(&mut self.end.empty[at], received) {
                self.end.counters.rx_too_long += 1;
                continue;
            }
            self.end.counters.rx_bytes += self.end.empty[at].len() as u64;
            // Unfit frames, which are few, gather behind.
            self.end.empty.swap(fit, at);
            fit += 1;
        }
        self.end.counters.rx_frames += fit as u64;
        self.end.empty.move_front(batch, fit)
    }
}

/// Does what the kernel has left to do on a frame; false when there is no room for it.
fn complete(frame: &mut Frame, received: &Received) -> bool {
    if let Some((start, at)) = received.checksum
        && at + 2 <= frame.len()
        && start < at
    {
        // The field holds the sum of the pseudo header, which so counts by itself.
        let sum = !checksum::fold(checksum::sum(&frame[start..]));
        let sum = if sum == 0 { 0xffff } else { sum };
        frame[at..at + 2].copy_from_slice(&sum.to_be_bytes());
    }
    let Some(tag) = received.tag else { return true };
    let len = frame.len();
    if len < MACS {
        return false;
    }
    if frame.push_front(tag.len()) {
        frame.copy_within(tag.len()..tag.len() + MACS, 0);
    } else if frame.capacity() >= len + tag.len() {
        frame.set_len(len + tag.len());
        frame.copy_within(MACS..len, MACS + tag.len());
    } else {
        return false;
    }
    frame[MACS..MACS + tag.len()].copy_from_slice(&tag);
    true
}

impl Port for PacketPort {
    fn receive(&mut self, batch: &mut Batch) -> usize {
        let wanted = BURST.min(batch.room());
        if self.end.empty.len() < wanted {
            // Fresh ones: a frame that turned out unfit has been used.
            self.end.pool.put(&mut self.end.empty);
            self.end.pool.take_batch(&mut self.end.empty, wanted);
        }
        let usable = wanted.min(self.end.empty.len());
        let mut with = [Received::default(); BURST];
        let count = self.socket.receive(&mut self.end.empty[..usable], &mut with);
        if count < usable {
            // Only when there is time, for it is a system call of its own.
            self.end.counters.rx_dropped += self.socket.dropped();
        }
        self.hand_over(batch, &with[..count])
    }

    fn send(&mut self, batch: &mut Batch) -> usize {
        let mut sending = self.end.sending(batch);
        while !batch.is_empty() {
            let sent = match &self.stamps {
                None => self.socket.send(batch),
                Some(stamps) => match stamps.run_of(batch) {
                    (true, count) => stamps.send(&mut batch[..count]),
                    (false, count) => self.socket.send(&mut batch[..count]),
                },
            };
            match sent {
                Sent::Some(0) | Sent::Full => break,
                Sent::Some(count) => sending.sent(batch, count),
                Sent::Refused => sending.dropped(batch),
            }
        }
        sending.end()
    }

    fn mac(&self) -> MacAddr {
        self.end.mac
    }

    fn mtu(&self) -> usize {
        self.end.mtu
    }

    fn counters(&self) -> Counters {
        self.end.counters
    }

    fn look(&mut self) -> Result<(), PortError> {
        self.end.look(self.socket.interface())
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.socket.descriptor())
    }
}
