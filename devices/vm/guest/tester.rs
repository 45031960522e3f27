//! The tester: sends frames in a circle on one interface and receives them from another. One thread
//! does both in turn, so that on one processor nothing waits: what the counter shows is work.

use crate::frames::{Frames, addresses};
use crate::returns::Returns;
use crate::sys::{self, Arguments, File, Receiver};
use crate::text::{Problem, Text};

/// Frames between two looks at the receiver.
pub const BATCH: usize = 32;

/// Turns without a frame after which those missing are lost.
pub const PATIENCE: u32 = 1000;

/// What arrived, and what was wrong with it.
pub struct Arrivals {
    pub received: u64,
    next: usize,
    seen: &'static mut [u8],
    reordered: u64,
    bad_ttl: u64,
    bad_checksum: u64,
    bad_mac: u64,
    strangers: u64,
}

impl Arrivals {
    fn take(&mut self, frames: &Frames, frame: &[u8]) {
        if frames.is(self.next, frame) {
            self.received += 1;
            self.seen[frames.flow(self.next)] = 1;
            self.next = frames.after(self.next);
            return;
        }
        self.look_closer(frames, frame);
    }

    /// A frame that is not the next one: another one of ours, one of ours that is damaged, or a
    /// stranger, such as an announcement of the kernel.
    #[cold]
    fn look_closer(&mut self, frames: &Frames, frame: &[u8]) {
        let mut at = self.next;
        for ahead in 0..frames.count {
            if frames.is(at, frame) {
                self.received += 1;
                self.seen[frames.flow(at)] = 1;
                // What is missing before it is lost; what lies behind comes too late.
                if ahead <= frames.count / 2 {
                    self.next = frames.after(at);
                } else {
                    self.reordered += 1;
                }
                return;
            }
            at = frames.after(at);
        }
        for _ in 0..frames.count {
            let wanted = frames.expected(at);
            if addresses(frame).is_some_and(|own| Some(own) == addresses(wanted)) {
                self.received += 1;
                self.seen[frames.flow(at)] = 1;
                self.next = frames.after(at);
                let time_to_live = if wanted[12] == 8 { 22 } else { 21 };
                if frame[..12] != wanted[..12] {
                    self.bad_mac += 1;
                } else if frame[time_to_live] != wanted[time_to_live] {
                    self.bad_ttl += 1;
                } else {
                    self.bad_checksum += 1;
                }
                return;
            }
            at = frames.after(at);
        }
        self.strangers += 1;
    }
}

/// Sender and receiver, ready.
pub struct Tester {
    pub frames: Frames,
    pub arrivals: Arrivals,
    pub sent: u64,
    sender: File,
    receiver: Receiver,
    returns: Returns,
    at: usize,
    lost: u64,
}

impl Tester {
    /// Of a command's `SEND RECEIVE FRAMES`.
    pub fn open(arguments: &Arguments, is_cable: bool) -> Result<Self, Problem> {
        let frames = Frames::read(arguments.get(4), is_cable)?;
        Self::between(arguments.get(2), arguments.get(3), frames)
    }

    /// Sends into one interface and receives from the other.
    pub fn between(send: &[u8], receive: &[u8], frames: Frames) -> Result<Self, Problem> {
        let receiver = Receiver::open(receive);
        let receiver = receiver.map_err(Problem::with("netmap cannot receive"))?;
        let sender = sys::frame_sender(send);
        let sender = sender.map_err(Problem::with("bpf cannot send"))?;
        let arrivals = Arrivals {
            received: 0,
            next: 0,
            seen: sys::memory(frames.flows).map_err(Problem::with("no memory"))?,
            reordered: 0,
            bad_ttl: 0,
            bad_checksum: 0,
            bad_mac: 0,
            strangers: 0,
        };
        let returns = Returns::default();
        Ok(Self { frames, arrivals, sent: 0, sender, receiver, returns, at: 0, lost: 0 })
    }

    /// Its interfaces are free again.
    pub fn close(self) {
        self.receiver.close();
        self.sender.close();
    }

    /// The receiver goes elsewhere in the kernel's memory, while these other interfaces are open.
    pub fn move_receiver(&mut self, interface: &[u8], others: &[&[u8]]) -> Result<(), Problem> {
        let moved = self.receiver.move_on(interface, others);
        moved.map_err(Problem::with("netmap cannot receive"))
    }

    /// Frames that come back on this interface, of the senders' side, are counted from now on.
    pub fn look_back(&mut self, interface: &[u8]) -> Result<(), Problem> {
        self.returns.begin(interface).map_err(Problem::with("bpf cannot listen"))
    }

    /// They are no longer looked for where none has come so far: it costs each frame some instructions.
    pub fn look_ahead(&mut self) {
        if self.returns.count == 0 {
            self.returns.end();
        }
    }

    /// Sends for so many ticks, which nobody counts.
    pub fn settle(&mut self, ticks: u64) -> Result<(), Problem> {
        let start = sys::ticks();
        while sys::ticks() - start < ticks {
            self.send_batch(PATIENCE)?;
        }
        Ok(())
    }

    /// Whether something did not come back so far.
    pub fn has_lost(&self) -> bool {
        self.arrivals.received != self.sent
    }

    /// The first frame is the next.
    pub fn begin_anew(&mut self) {
        (self.at, self.arrivals.next) = (0, 0);
    }

    /// Sends the next frames and waits for them; what did not arrive after so many looks without any is lost.
    pub fn send(&mut self, frames: u64, patience: u32) -> Result<(), Problem> {
        let end = self.sent + frames;
        while self.sent < end {
            let batch = (end - self.sent).min(BATCH as u64);
            self.batch(batch, patience)?;
        }
        Ok(())
    }

    /// As many frames as are sent at once.
    pub fn send_batch(&mut self, patience: u32) -> Result<(), Problem> {
        self.batch(BATCH as u64, patience)
    }

    fn batch(&mut self, frames: u64, patience: u32) -> Result<(), Problem> {
        let Self { frames: all, arrivals, sender, receiver, returns, .. } = self;
        for _ in 0..frames {
            sender.write(all.sent(self.at)).map_err(Problem::with("bpf cannot send"))?;
            self.at = all.after(self.at);
        }
        self.sent += frames;
        let mut turns = 0;
        let mut came = arrivals.received + returns.count;
        while came + self.lost < self.sent && turns < patience {
            let before = came;
            receiver
                .receive(|frame| arrivals.take(all, frame))
                .map_err(Problem::with("netmap cannot receive"))?;
            returns.take(all).map_err(Problem::with("bpf cannot listen"))?;
            came = arrivals.received + returns.count;
            if came == before {
                turns += 1;
            }
            if came + self.lost < self.sent {
                sys::yield_processor();
            }
        }
        let lost = self.sent.saturating_sub(came);
        if lost > self.lost {
            self.lost = lost;
            arrivals.next = self.at;
        }
        Ok(())
    }

    /// All that was sent and arrived, as the end of an object of JSON.
    pub fn sum(&self, text: &mut Text) {
        let Self { arrivals, sent, .. } = self;
        let returned = self.returns.count;
        let seen = arrivals.seen.iter().filter(|&&flow| flow == 1).count();
        text.put(b",\"sent\":").number(*sent);
        text.put(b",\"received\":").number(arrivals.received);
        text.put(b",\"flows_seen\":").number(seen as u64);
        text.put(b",\"checks\":{\"checked\":").number(arrivals.received + returned);
        text.put(b",\"lost\":").number(sent.saturating_sub(arrivals.received + returned));
        text.put(b",\"duplicated\":").number(arrivals.received.saturating_sub(*sent));
        text.put(b",\"reordered\":").number(arrivals.reordered);
        text.put(b",\"misrouted\":").number(returned);
        text.put(b",\"astray\":").number(returned);
        text.put(b",\"returned\":").number(returned);
        text.put(b",\"bad_ttl\":").number(arrivals.bad_ttl);
        text.put(b",\"bad_checksum\":").number(arrivals.bad_checksum);
        text.put(b",\"bad_mac\":").number(arrivals.bad_mac);
        text.put(b"}}\n");
    }
}

/// The interval from one reading of the time stamp counter to a later one, in ns.
pub fn in_ns(ticks: u64, khz: u64) -> u64 {
    (u128::from(ticks) * 1_000_000 / u128::from(khz)) as u64
}
