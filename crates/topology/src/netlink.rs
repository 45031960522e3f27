//! A route netlink socket (rtnetlink(7)), spoken to synchronously.

use std::io;

use netlink_packet_core::{
    NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload,
};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};

/// Bytes sent at once in a batch: well below the default send buffer of 208 KiB.
const BATCH_BYTES: usize = 96 * 1024;

/// A socket in the network namespace in which it was opened, wherever it is used later.
#[derive(Debug)]
pub(super) struct Netlink {
    socket: Socket,
    sequence: u32,
}

/// A message of a batch that the kernel refused.
#[derive(Debug)]
pub(super) struct Refused {
    /// Its number in the batch, from 0.
    pub(super) index: usize,
    /// What the kernel said.
    pub(super) source: io::Error,
}

impl Netlink {
    /// Opens a socket in the calling thread's namespace.
    pub(super) fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        // Errors need not repeat the request.
        socket.set_cap_ack(true)?;
        Ok(Self { socket, sequence: 0 })
    }

    /// The socket itself.
    pub(super) fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Sends one request and waits for the kernel's answer.
    pub(super) fn request(&mut self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.batch(std::iter::once((message, flags))).map_err(|refused| refused.source)
    }

    /// Sends requests, many in one system call, and waits until all are done. The kernel goes on
    /// after a request that it refuses; the first refusal is returned.
    pub(super) fn batch(
        &mut self,
        messages: impl Iterator<Item = (RouteNetlinkMessage, u16)>,
    ) -> Result<(), Refused> {
        let first = self.sequence.wrapping_add(1);
        let mut refused = None;
        let mut buffer = Vec::with_capacity(BATCH_BYTES + 4096);
        let mut messages = messages.peekable();
        while let Some((message, flags)) = messages.next() {
            self.sequence = self.sequence.wrapping_add(1);
            // The length of a message is at most a few hundred bytes.
            let is_last = messages.peek().is_none() || buffer.len() >= BATCH_BYTES;
            let flags = flags | NLM_F_REQUEST | if is_last { NLM_F_ACK } else { 0 };
            append(&mut buffer, message, flags, self.sequence);
            if is_last {
                let fault =
                    self.exchange(&buffer).map_err(|source| Refused { index: 0, source })?;
                if let (Some((sequence, source)), None) = (fault, &refused) {
                    refused =
                        Some(Refused { index: sequence.wrapping_sub(first) as usize, source });
                }
                buffer.clear();
            }
        }
        refused.map_or(Ok(()), Err)
    }

    /// Sends the buffer and reads answers up to that of the newest request; returns the first
    /// error among them with its sequence number.
    fn exchange(&mut self, buffer: &[u8]) -> io::Result<Option<(u32, io::Error)>> {
        self.socket.send(buffer, 0)?;
        let mut fault = None;
        loop {
            let (answer, _) = self.socket.recv_from_full()?;
            for message in Messages(&answer) {
                let message = message?;
                let NetlinkPayload::Error(error) = &message.payload else { continue };
                if error.code.is_some() && fault.is_none() {
                    fault = Some((message.header.sequence_number, error.to_io()));
                }
                if message.header.sequence_number == self.sequence {
                    return Ok(fault);
                }
            }
        }
    }

    /// Asks for all objects of a kind and hands over each. One that cannot be read ends it with the last of them: what
    /// was not taken would be the answer to the next request.
    pub(super) fn dump(
        &mut self,
        message: RouteNetlinkMessage,
        each: &mut dyn FnMut(RouteNetlinkMessage),
    ) -> io::Result<()> {
        self.sequence = self.sequence.wrapping_add(1);
        let mut buffer = Vec::new();
        append(&mut buffer, message, NLM_F_REQUEST | NLM_F_DUMP, self.sequence);
        self.socket.send(&buffer, 0)?;
        let mut read = Ok(());
        loop {
            let (answer, _) = self.socket.recv_from_full()?;
            for message in Messages(&answer) {
                let message = match message {
                    Ok(message) => message,
                    Err(error) => {
                        read = read.and(Err(error));
                        continue;
                    }
                };
                match message.payload {
                    NetlinkPayload::InnerMessage(inner) => each(inner),
                    NetlinkPayload::Done(_) => return read,
                    NetlinkPayload::Error(error) => return Err(error.to_io()),
                    _ => {}
                }
            }
        }
    }
}

fn append(buffer: &mut Vec<u8>, message: RouteNetlinkMessage, flags: u16, sequence: u32) {
    let mut header = NetlinkHeader::default();
    header.flags = flags;
    header.sequence_number = sequence;
    let mut message = NetlinkMessage::new(header, NetlinkPayload::InnerMessage(message));
    message.finalize();
    let start = buffer.len();
    // Messages begin at multiples of 4 bytes (NLMSG_ALIGN).
    buffer.resize(start + message.buffer_len().next_multiple_of(4), 0);
    message.serialize(&mut buffer[start..]);
}

/// The messages of one datagram.
pub(super) struct Messages<'a>(pub(super) &'a [u8]);

impl Iterator for Messages<'_> {
    type Item = io::Result<NetlinkMessage<RouteNetlinkMessage>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let bytes = std::mem::take(&mut self.0);
        let length = bytes.first_chunk().map_or(0, |length| u32::from_ne_bytes(*length) as usize);
        if length > 0 {
            self.0 = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        }
        let message = NetlinkMessage::<RouteNetlinkMessage>::deserialize(bytes);
        Some(message.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string())))
    }
}
