//! Time stamps of some of the frames that leave one interface and arrive at another, by the kernel
//! ("software") or by the card ("hardware").
//!
//! Which frames those are is told by what is in them, so that both ends agree without a word.
//! A stamp may be missing: cards stamp one frame at a time. That says nothing about the frame.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::Frame;
use crate::error::PortError;
use crate::stamp::Allowance;
pub use crate::stamp::{Ability, FilterLine, Stamp, StampRule, Stamped};
use crate::sys::packet::Sent;
use crate::sys::stamps::{self, CardSetting, HEAD, StampSocket};

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

/// Stamps of some frames that leave by an interface. A
/// [`PacketPort`](crate::packet::PacketPort) sends them by it.
pub struct SentStamps {
    socket: StampSocket,
    rule: Arc<dyn StampRule>,
    found: Mutex<Vec<Stamped>>,
    allowance: Mutex<Allowance>,
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
    pub fn open(interface: &str, rule: Arc<dyn StampRule>) -> Result<Arc<Self>, PortError> {
        let socket = StampSocket::sending(interface).map_err(|source| failed(interface, source))?;
        let allowance = Mutex::new(Allowance::per_second(rule.most_per_second()));
        let (found, sent) = (Mutex::default(), AtomicU64::new(0));
        Ok(Arc::new(Self { socket, rule, found, allowance, sent }))
    }

    /// How many of the first frames are of one kind, and whether they are stamped.
    pub(crate) fn run_of(&self, frames: &[Frame]) -> (bool, usize) {
        let is_ours = |frame: &Frame| self.rule.key(frame).is_some();
        let first = frames.first().is_some_and(is_ours);
        let count = frames.iter().take_while(|frame| is_ours(frame) == first).count();
        match first.then(|| self.allowance().left(Instant::now())) {
            // More than are stamped leave as the others do.
            Some(0) => (false, count),
            Some(left) => (true, count.min(left)),
            None => (false, count),
        }
    }

    fn allowance(&self) -> MutexGuard<'_, Allowance> {
        self.allowance.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends frames that are stamped.
    pub(crate) fn send(&self, frames: &mut [Frame]) -> Sent {
        self.collect();
        let sent = self.socket.send(frames);
        if let Sent::Some(count) = sent {
            self.sent.fetch_add(count as u64, Ordering::Relaxed);
            self.allowance().take(count);
        }
        sent
    }

    /// Fetches the stamps that are there.
    fn collect(&self) {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        fetch(&self.socket, &*self.rule, &mut found);
    }

    /// Frames that should be stamped and were sent, and the stamps of them that came. Of one frame several may
    /// come, one by the kernel and one by the card.
    pub fn take(&self) -> (u64, Vec<Stamped>) {
        self.collect();
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        (self.sent.swap(0, Ordering::Relaxed), std::mem::take(&mut *found))
    }
}

/// Stamps of some frames that arrive at an interface.
pub struct ReceivedStamps {
    socket: StampSocket,
    rule: Arc<dyn StampRule>,
    found: Vec<Stamped>,
}

impl ReceivedStamps {
    /// Opens the interface.
    ///
    /// # Errors
    /// There is no such interface, or the process lacks CAP_NET_RAW.
    pub fn open(interface: &str, rule: Arc<dyn StampRule>) -> Result<Self, PortError> {
        let socket = StampSocket::receiving(interface, &rule.filter());
        let socket = socket.map_err(|source| failed(interface, source))?;
        Ok(Self { socket, rule, found: Vec::new() })
    }

    /// Fetches the stamps that are there: now and then, for the socket holds some thousand.
    pub fn collect(&mut self) {
        fetch(&self.socket, &*self.rule, &mut self.found);
    }

    /// The stamps that came.
    pub fn take(&mut self) -> Vec<Stamped> {
        self.collect();
        std::mem::take(&mut self.found)
    }
}

fn fetch(socket: &StampSocket, rule: &dyn StampRule, found: &mut Vec<Stamped>) {
    let mut head = [0; HEAD];
    while let Some((len, stamp)) = socket.next(&mut head) {
        found.extend(rule.key(&head[..len]).map(|key| Stamped { key, stamp }));
    }
}
