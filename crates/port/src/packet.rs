//! A port on a network interface of Linux, by a packet socket (packet(7)). Needs CAP_NET_RAW.
//!
//! For real interfaces at moderate rates: each frame is copied by the kernel. Frames that the
//! host itself sends on the interface are not received. A frame longer than the pool's slots is cut.

use fwdlab_wire::MacAddr;

use crate::counters::Counters;
use crate::error::PortError;
use crate::interface::Port;
use crate::sys::packet::{BURST, PacketSocket};
use crate::{Batch, Pool};

/// A port on one interface.
#[derive(Debug)]
pub struct PacketPort {
    socket: PacketSocket,
    pool: Pool,
    /// Frames taken from the pool to receive into.
    empty: Batch,
    mac: MacAddr,
    mtu: usize,
    counters: Counters,
}

impl PacketPort {
    /// Opens the interface. Frames received are taken from `pool`, frames sent go back to it.
    ///
    /// # Errors
    /// There is no such interface, or the process lacks CAP_NET_RAW.
    pub fn open(interface: &str, pool: Pool) -> Result<Self, PortError> {
        let (socket, info) = PacketSocket::open(interface)
            .map_err(|source| PortError::Interface { interface: interface.to_owned(), source })?;
        let (mac, mtu) = (MacAddr(info.mac), info.mtu);
        let counters = Counters::default();
        Ok(Self { socket, pool, empty: Batch::new(), mac, mtu, counters })
    }
}

impl Port for PacketPort {
    fn receive(&mut self, batch: &mut Batch) -> usize {
        let wanted = BURST.min(batch.room());
        let missing = wanted.saturating_sub(self.empty.len());
        if missing > 0 {
            self.pool.take_batch(&mut self.empty, missing);
        }
        let usable = wanted.min(self.empty.len());
        let count = self.socket.receive(&mut self.empty[..usable]);
        let bytes = self.empty[..count].iter().map(|frame| frame.len() as u64).sum::<u64>();
        self.counters.rx_bytes += bytes;
        self.counters.rx_frames += count as u64;
        if count < usable {
            // Only when there is time, for it is a system call of its own.
            self.counters.rx_dropped += self.socket.dropped();
        }
        self.empty.move_front(batch, count)
    }

    fn send(&mut self, batch: &mut Batch) -> usize {
        let offered = batch.len();
        let mut gone = Batch::new();
        while !batch.is_empty() {
            let count = self.socket.send(batch);
            if count == 0 {
                break;
            }
            let bytes = batch[..count].iter().map(|frame| frame.len() as u64).sum::<u64>();
            self.counters.tx_bytes += bytes;
            batch.move_front(&mut gone, count);
        }
        let sent = gone.len();
        self.counters.tx_frames += sent as u64;
        self.counters.tx_refused += (offered - sent) as u64;
        self.pool.put(&mut gone);
        sent
    }

    fn mac(&self) -> MacAddr {
        self.mac
    }

    fn mtu(&self) -> usize {
        self.mtu
    }

    fn counters(&self) -> Counters {
        self.counters
    }
}
