//! Frames that the device sends back by the side of their senders.

use crate::frames::{Frames, addresses};
use crate::sys::{Answered, Listener};

/// Those that came, while somebody listens for them.
#[derive(Default)]
pub struct Returns {
    pub count: u64,
    listener: Option<Listener>,
    next: usize,
}

impl Returns {
    pub fn begin(&mut self, interface: &[u8]) -> Answered<()> {
        self.listener = Some(Listener::open(interface)?);
        Ok(())
    }

    pub fn end(&mut self) {
        if let Some(listener) = self.listener.take() {
            listener.close();
        }
    }

    /// Counts what has come since. What is none of these frames, such as an error of the device's own, does not
    /// count.
    pub fn take(&mut self, frames: &Frames) -> Answered<()> {
        let Self { count, listener: Some(listener), next } = self else { return Ok(()) };
        listener.receive(|frame| {
            let Some(own) = addresses(frame) else { return };
            let mut at = *next;
            for _ in 0..frames.count {
                if addresses(frames.expected(at)) == Some(own) {
                    *count += 1;
                    *next = frames.after(at);
                    return;
                }
                at = frames.after(at);
            }
        })
    }
}
