//! A port on a network interface of Linux, by an AF_XDP socket in copy mode and an XDP program that
//! hands it every frame. Needs CAP_NET_RAW, CAP_BPF and CAP_NET_ADMIN.
//!
//! Received frames do not pass the kernel's stack, and need no kernel packet of their own; it is
//! faster than [`packet`](crate::packet) by that. While the port is open, the kernel sees none of
//! the interface's frames. Checksums that a sender on this machine left to its interface are completed.

use std::io;
use std::os::fd::BorrowedFd;

use fwdlab_wire::MacAddr;

use crate::begun;
use crate::bpf::{
    Assembler, Helper, Program, Register::*, Table, Width, XdpLink, action, attach_xdp,
};
use crate::counters::Counters;
use crate::end::End;
use crate::error::PortError;
use crate::interface::Port;
use crate::sys::xdp::{LONGEST, XdpSocket};
use crate::{Batch, Pool};

/// Bytes of a frame before and around its packet: Ethernet header and a VLAN tag.
const HEADER_AND_TAG: usize = 18;

/// A port on one interface, which must have one receive queue.
#[derive(Debug)]
pub struct XdpPort {
    socket: XdpSocket,
    end: End,
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
        Ok(Self { socket, end: End::new(interface, info, pool), _redirect })
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
        let missing = wanted.saturating_sub(self.end.empty.len());
        if missing > 0 {
            self.end.pool.take_batch(&mut self.end.empty, missing);
        }
        let usable = wanted.min(self.end.empty.len());
        let (mut at, mut bytes) = (0, 0);
        let frames = &mut self.end.empty;
        let count = self.socket.receive(usable, |received| {
            let frame = &mut frames[at];
            if received.len() > frame.capacity() {
                return;
            }
            frame.set_len(received.len());
            frame.copy_from_slice(received);
            begun::complete(frame);
            bytes += received.len() as u64;
            at += 1;
        });
        self.end.counters.rx_bytes += bytes;
        self.end.counters.rx_frames += at as u64;
        self.end.counters.rx_too_long += (count - at) as u64;
        self.end.empty.move_front(batch, at)
    }

    fn send(&mut self, batch: &mut Batch) -> usize {
        let mtu = self.end.mtu;
        let mut sending = self.end.sending(batch);
        // What comes back is the kernel's: it says nothing of single frames that it cannot send.
        let longest = LONGEST.min(mtu + HEADER_AND_TAG);
        while let Some(first) = batch.first() {
            if first.len() > longest {
                sending.dropped(batch);
                continue;
            }
            let fit = batch.iter().take_while(|frame| frame.len() <= longest).count();
            let count = self.socket.send(batch[..fit].iter().map(|frame| &frame[..]));
            sending.sent(batch, count);
            if count < fit {
                break;
            }
        }
        self.socket.kick();
        sending.end()
    }

    fn mac(&self) -> MacAddr {
        self.end.mac
    }

    fn mtu(&self) -> usize {
        self.end.mtu
    }

    fn counters(&self) -> Counters {
        let rx_dropped = self.socket.dropped();
        Counters { rx_dropped, ..self.end.counters }
    }

    fn look(&mut self) -> Result<(), PortError> {
        self.end.look(self.socket.interface())
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.socket.descriptor())
    }
}
