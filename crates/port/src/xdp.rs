//! A port on a network interface of Linux, by an AF_XDP socket in copy mode and an XDP program that
//! hands it every frame. Needs CAP_NET_RAW, CAP_BPF and CAP_NET_ADMIN.
//!
//! Received frames do not pass the kernel's stack, and need no kernel packet of their own; it is
//! faster than [`packet`](crate::packet) by that. While the port is open, the kernel sees none of
//! the interface's frames.

use std::io;

use fwdlab_wire::MacAddr;

use crate::bpf::{
    Assembler, Helper, Program, Register::*, Table, Width, XdpLink, action, attach_xdp,
};
use crate::counters::Counters;
use crate::error::PortError;
use crate::interface::Port;
use crate::sys::xdp::XdpSocket;
use crate::{Batch, Pool};

/// A port on one interface, which must have one receive queue.
#[derive(Debug)]
pub struct XdpPort {
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
        Ok(Self { socket, pool, empty: Batch::new(), mac, mtu, counters, _redirect })
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
            let length = received.len().min(frame.capacity());
            frame.set_len(length);
            frame.copy_from_slice(&received[..length]);
            bytes += length as u64;
            at += 1;
        });
        self.counters.rx_bytes += bytes;
        self.counters.rx_frames += count as u64;
        self.empty.move_front(batch, count)
    }

    fn send(&mut self, batch: &mut Batch) -> usize {
        let offered = batch.len();
        let count = self.socket.send(batch.iter().map(|frame| &frame[..]));
        self.socket.kick();
        let bytes = batch[..count].iter().map(|frame| frame.len() as u64).sum::<u64>();
        self.counters.tx_bytes += bytes;
        self.counters.tx_frames += count as u64;
        self.counters.tx_refused += (offered - count) as u64;
        let mut gone = Batch::new();
        batch.move_front(&mut gone, count);
        self.pool.put(&mut gone);
        count
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
}
