//! Time stamps of a sample of the frames that leave one interface and arrive at another, by the kernel
//! ("software") or by the card ("hardware").
//!
//! Which frames are in the sample is told by what is in them, so that both ends agree without a word.
//! A stamp may be missing: cards stamp one frame at a time. That says nothing about the frame.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::Frame;
use crate::error::PortError;
use crate::sys::packet::Sent;
use crate::sys::stamps::{self, CardSetting, HEAD, StampSocket};

/// When a frame passed, as far as that is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// By the kernel, in ns since 1970.
    pub software_ns: Option<u64>,
    /// By the card, in ns of its own clock.
    pub hardware_ns: Option<u64>,
}

/// One line of a classic BPF program (Documentation/networking/filter.rst).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilterLine {
    /// What it does.
    pub code: u16,
    /// Lines to skip where a comparison holds.
    pub if_true: u8,
    /// Lines to skip where it does not.
    pub if_false: u8,
    /// Its operand.
    pub value: u32,
}

/// Which frames are stamped.
pub trait Sample: Send + Sync {
    /// What a frame of the sample is known by, on either side of the device; nothing for all others.
    fn key(&self, frame: &[u8]) -> Option<u64>;

    /// The same as a filter of the kernel; it may let others through, too.
    fn filter(&self) -> Vec<FilterLine>;
}

/// A frame's key, and a time at which it passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamped {
    /// As the sample knows it.
    pub key: u64,
    /// When.
    pub stamp: Stamp,
}

/// What an interface can stamp.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ability {
    /// Its driver tells the kernel when frames leave.
    pub software_send: bool,
    /// The card stamps frames that leave.
    pub hardware_send: bool,
    /// The card stamps all frames that arrive.
    pub hardware_receive: bool,
    /// The number of the card's clock; ports with the same one have one time.
    pub clock: Option<u32>,
}

/// What an interface can stamp, as its driver says (ETHTOOL_GET_TS_INFO).
///
/// # Errors
/// There is no such interface, or its driver does not say.
pub fn ability(interface: &str) -> Result<Ability, PortError> {
    stamps::ability(interface).map_err(|source| failed(interface, source))
}

fn failed(interface: &str, source: io::Error) -> PortError {
    PortError::Interface { interface: interface.to_owned(), source }
}

/// A card that stamps every frame; when dropped, it does again what it did before.
#[derive(Debug)]
pub struct StampingCard {
    interface: String,
    before: CardSetting,
}

impl StampingCard {
    /// Tells the card of an interface to stamp every frame.
    ///
    /// # Errors
    /// It does not, or the process lacks CAP_NET_ADMIN.
    pub fn switch_on(interface: &str) -> Result<Self, PortError> {
        let failed = |source| failed(interface, source);
        // Drivers that cannot be asked have it off.
        let before = stamps::card_setting(interface).unwrap_or_default();
        let now = stamps::set_card(interface, CardSetting::ALL).map_err(failed)?;
        let card = Self { interface: interface.to_owned(), before };
        if now.is_all() {
            return Ok(card);
        }
        Err(failed(io::Error::other("its card does not stamp every frame")))
    }
}

impl Drop for StampingCard {
    fn drop(&mut self) {
        // An interface that is gone needs it no more.
        let _ = stamps::set_card(&self.interface, self.before);
    }
}

/// Stamps of the frames of a sample that leave by an interface. A
/// [`PacketPort`](crate::packet::PacketPort) sends them by it.
pub struct SentStamps {
    socket: StampSocket,
    sample: Arc<dyn Sample>,
    found: Mutex<Vec<Stamped>>,
    sent: AtomicU64,
}

impl std::fmt::Debug for SentStamps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SentStamps").field("sent", &self.sent).finish_non_exhaustive()
    }
}

impl SentStamps {
    /// Opens the interface.
    ///
    /// # Errors
    /// There is no such interface, or the process lacks CAP_NET_RAW.
    pub fn open(interface: &str, sample: Arc<dyn Sample>) -> Result<Arc<Self>, PortError> {
        let socket = StampSocket::sending(interface).map_err(|source| failed(interface, source))?;
        let (found, sent) = (Mutex::default(), AtomicU64::new(0));
        Ok(Arc::new(Self { socket, sample, found, sent }))
    }

    /// How many of the first frames are of one kind, and whether they are of the sample.
    pub(crate) fn run_of(&self, frames: &[Frame]) -> (bool, usize) {
        let is_ours = |frame: &Frame| self.sample.key(frame).is_some();
        let first = frames.first().is_some_and(is_ours);
        (first, frames.iter().take_while(|frame| is_ours(frame) == first).count())
    }

    /// Sends frames of the sample.
    pub(crate) fn send(&self, frames: &mut [Frame]) -> Sent {
        self.collect();
        let sent = self.socket.send(frames);
        if let Sent::Some(count) = sent {
            self.sent.fetch_add(count as u64, Ordering::Relaxed);
        }
        sent
    }

    /// Fetches the stamps that are there.
    fn collect(&self) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        fetch(&self.socket, &*self.sample, &mut found);
    }

    /// Frames of the sample that were sent, and the stamps of them that came. Of one frame several may
    /// come, one by the kernel and one by the card.
    pub fn take(&self) -> (u64, Vec<Stamped>) {
        self.collect();
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        (self.sent.swap(0, Ordering::Relaxed), std::mem::take(&mut *found))
    }
}

/// Stamps of the frames of a sample that arrive at an interface.
pub struct ReceivedStamps {
    socket: StampSocket,
    sample: Arc<dyn Sample>,
    found: Vec<Stamped>,
}

impl ReceivedStamps {
    /// Opens the interface.
    ///
    /// # Errors
    /// There is no such interface, or the process lacks CAP_NET_RAW.
    pub fn open(interface: &str, sample: Arc<dyn Sample>) -> Result<Self, PortError> {
        let socket = StampSocket::receiving(interface, &sample.filter());
        let socket = socket.map_err(|source| failed(interface, source))?;
        Ok(Self { socket, sample, found: Vec::new() })
    }

    /// Fetches the stamps that are there: now and then, for the socket holds some thousand.
    pub fn collect(&mut self) {
        fetch(&self.socket, &*self.sample, &mut self.found);
    }

    /// The stamps that came.
    pub fn take(&mut self) -> Vec<Stamped> {
        self.collect();
        std::mem::take(&mut self.found)
    }
}

fn fetch(socket: &StampSocket, sample: &dyn Sample, found: &mut Vec<Stamped>) {
    let mut head = [0; HEAD];
    while let Some((len, stamp)) = socket.next(&mut head) {
        found.extend(sample.key(&head[..len]).map(|key| Stamped { key, stamp }));
    }
}
