//! A port on a network interface of Linux, by an AF_XDP socket in copy mode and an XDP program that
//! hands it every frame. Needs CAP_NET_RAW, CAP_BPF and CAP_NET_ADMIN.
//!
//! Received frames do not pass the kernel's stack, and need no kernel packet of their own; it is
//! faster than [`packet`](crate::packet) by that. While the port is open, the kernel sees none of
//! the interface's frames.

use std::io;
use std::os::fd::BorrowedFd;

use fwdlab_wire::MacAddr;

use crate::bpf::{
    Assembler, Helper, Program, Register::*, Table, Width, XdpLink, action, attach_xdp,
};
use crate::counters::Counters;
use crate::error::PortError;
use crate::interface::Port;
use crate::sys::xdp::{LONGEST, XdpSocket};
use crate::{Batch, Pool};

/// Bytes of a frame before and around its packet: Ethernet header and a VLAN tag.
const HEADER_AND_TAG: usize = 18;

/// A port on one interface, which must have one receive queue.
#[derive(Debug)]
pub struct XdpPort {
    name: String,
    socket: XdpSocket,
    pool: Pool,
    /// Frames taken from the pool to receive into.
    empty: Batch,
    mac: MacAddr,
    mtu: usize,
    counters: Counters,
    /// What hands over the frames; taken off the interface when dropped.
    _redirect: (Table, Program, XdpLink),
}

impl XdpPort {
    /// Opens the interface. Frames received are taken from `pool`, frames sent go back to it.
    ///
    /// # Errors
    /// There is no such interface, it has an XDP program already, or the process lacks the
    /// privileges.
    pub fn open(interface: &str, pool: Pool) -> Result<Self, PortError> {
        let opened = XdpSocket::open(interface).and_then(|(socket, index, info)| {
            let redirect = redirect(&socket, index)?;
            Ok((socket, info, redirect))
        });
        let (socket, info, _redirect) = opened.map_err(|source| PortError::XdpInterface {
            interface: interface.to_owned(),
            source,
        })?;
        let (mac, mtu) = (MacAddr(info.mac), info.mtu);
        let counters = Counters::default();
        let name = interface.to_owned();
        Ok(Self { name, socket, pool, empty: Batch::new(), mac, mtu, counters, _redirect })
    }
}

/// A program that hands each frame of queue 0 to the socket.
fn redirect(socket: &XdpSocket, interface: u32) -> io::Result<(Table, Program, XdpLink)> {
    let sockets = Table::sockets("fwdlab_sockets", 1)?;
    sockets.set(0, socket.descriptor())?;
    let mut program = Assembler::new();
    program
        .load(Width::Word, R2, R1, 16) // number of the receive queue
        .table(R1, &sockets)
        .set(R3, action::PASS) // the answer for queues without a socket
        .call(Helper::RedirectMap)
        .exit();
    let program = Program::load_xdp("fwdlab_port", &program.finish())?;
    let link = attach_xdp(&program, interface)?;
    Ok((sockets, program, link))
}

impl Port for XdpPort {
    fn receive(&mut self, batch: &mut Batch) -> usize {
        let wanted = batch.room();
        let missing = wanted.saturating_sub(self.empty.len());
        if missing > 0 {
            self.pool.take_batch(&mut self.empty, missing);
        }
        let usable = wanted.min(self.empty.len());
        let (mut at, mut bytes) = (0, 0);
        let frames = &mut self.empty;
        let count = self.socket.receive(usable, |received| {
            let frame = &mut frames[at];
            if received.len() > frame.capacity() {
                return;
            }
            frame.set_len(received.len());
            frame.copy_from_slice(received);
            bytes += received.len() as u64;
            at += 1;
        });
        self.counters.rx_bytes += bytes;
        self.counters.rx_frames += at as u64;
        self.counters.rx_too_long += (count - at) as u64;
        self.empty.move_front(batch, at)
    }

    fn send(&mut self, batch: &mut Batch) -> usize {
        let offered = batch.len();
        let mut gone = Batch::new();
        // What comes back is the kernel's: it says nothing of single frames that it cannot send.
        let longest = LONGEST.min(self.mtu + HEADER_AND_TAG);
        while let Some(first) = batch.first() {
            if first.len() > longest {
                self.counters.tx_dropped += 1;
                batch.move_front(&mut gone, 1);
                continue;
            }
            let fit = batch.iter().take_while(|frame| frame.len() <= longest).count();
            let count = self.socket.send(batch[..fit].iter().map(|frame| &frame[..]));
            let bytes = batch[..count].iter().map(|frame| frame.len() as u64).sum::<u64>();
            self.counters.tx_bytes += bytes;
            self.counters.tx_frames += count as u64;
            batch.move_front(&mut gone, count);
            if count < fit {
                break;
            }
        }
        self.socket.kick();
        let left = gone.len();
        self.counters.tx_refused += (offered - left) as u64;
        self.pool.put(&mut gone);
        left
    }

    fn mac(&self) -> MacAddr {
        self.mac
    }

    fn mtu(&self) -> usize {
        self.mtu
    }

    fn counters(&self) -> Counters {
        let rx_dropped = self.socket.dropped();
        Counters { rx_dropped, ..self.counters }
    }

    fn look(&mut self) -> Result<(), PortError> {
        match self.socket.interface().look() {
            Ok(info) => self.mtu = info.mtu,
            Err(source) => return Err(PortError::Gone { interface: self.name.clone(), source }),
        }
        Ok(())
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.socket.descriptor())
    }
}
