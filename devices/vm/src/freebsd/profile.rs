//! Where a guest's instructions go, seen from outside: QEMU stops the guest now and then, and its
//! program counter and chain of calls are read and resolved with the kernel's symbols. Nothing
//! runs in the guest for it, and no counter of the processor is needed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fwdlab_agent::channel::ProfileCounts;
use fwdlab_agent::symbols::Symbols;
use fwdlab_guard::Scratch;
use fwdlab_kernel::freebsd;
use serde_json::json;

use crate::VmError;
use crate::monitor::{self, Monitor};

/// Most calls that are followed in one chain.
const DEEPEST: usize = 64;

/// Words of the stack that are read at once.
const WINDOW: u64 = 256;

/// Kernel addresses.
const KERNEL: u64 = 1 << 63;

/// Takes samples of a running guest.
pub(crate) struct Sampler {
    symbols: Symbols,
    socket: PathBuf,
    _place: Scratch,
    monitor: Option<Monitor>,
    counts: ProfileCounts,
    pause: Duration,
    turn: u32,
}

impl Sampler {
    /// For a kernel whose samples are to lie some `pause` apart.
    pub(crate) fn new(kernel: &Path, pause: Duration) -> Result<Self, VmError> {
        let place = Scratch::new().map_err(VmError::file("make", Path::new("a directory")))?;
        Ok(Self {
            symbols: Symbols::new(freebsd::functions(kernel)?),
            socket: place.path().join("monitor"),
            _place: place,
            monitor: None,
            counts: ProfileCounts::default(),
            pause,
            turn: 0,
        })
    }

    /// What QEMU is to be told.
    pub(crate) fn argument(&self) -> [String; 2] {
        monitor::argument(&self.socket)
    }

    /// Takes one sample. A guest that has just ended gives none.
    pub(crate) fn sample(&mut self) {
        // Not in step with anything that the guest does again and again.
        self.turn = self.turn.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        std::thread::sleep(self.pause / 2 + self.pause * (self.turn >> 16) / 65_536);
        if self.monitor.is_none() {
            self.monitor = Monitor::open(&self.socket);
        }
        let chain = self.monitor.as_mut().and_then(Monitor::chain);
        let Some(chain) = chain else {
            self.counts.lost += 1;
            return;
        };
        self.counts.samples += 1;
        if let Some(stack) = self.symbols.stack(&chain) {
            *self.counts.stacks.entry(stack).or_default() += 1;
        }
    }

    pub(crate) fn counts(self) -> ProfileCounts {
        self.counts
    }
}

impl Monitor {
    /// The guest's chain of calls, innermost first.
    fn chain(&mut self) -> Option<Vec<u64>> {
        self.ask(&json!({ "execute": "stop" }))?;
        let chain = self.stopped_chain();
        self.ask(&json!({ "execute": "cont" }))?;
        chain
    }

    fn stopped_chain(&mut self) -> Option<Vec<u64>> {
        let registers = self.words("info registers")?;
        let mut chain = vec![register(&registers, "RIP=")?];
        let mut frame = register(&registers, "RBP=")?;
        let mut stack = BTreeMap::new();
        while chain.len() < DEEPEST && frame >= KERNEL && chain.last().is_some_and(|&a| a >= KERNEL)
        {
            if !stack.contains_key(&frame) || !stack.contains_key(&(frame + 8)) {
                let text = self.words(&format!("x /{WINDOW}gx {frame:#x}"))?;
                stack.extend(memory(&text));
            }
            let (Some(&next), Some(&caller)) = (stack.get(&frame), stack.get(&(frame + 8))) else {
                break;
            };
            chain.push(caller);
            if next <= frame {
                break;
            }
            frame = next;
        }
        Some(chain)
    }
}

fn register(text: &str, name: &str) -> Option<u64> {
    let at = text.find(name)? + name.len();
    u64::from_str_radix(text.get(at..at + 16)?, 16).ok()
}

/// Words of memory by address, from lines `ADDRESS: 0xWORD 0xWORD`.
fn memory(text: &str) -> impl Iterator<Item = (u64, u64)> + '_ {
    text.lines().flat_map(|line| {
        let (address, words) = line.split_once(':').unwrap_or_default();
        let address = u64::from_str_radix(address.trim(), 16);
        let words = words.split_whitespace().zip(0_u64..).filter_map(move |(word, index)| {
            let word = u64::from_str_radix(word.strip_prefix("0x")?, 16).ok()?;
            Some((address.clone().ok()? + 8 * index, word))
        });
        words.collect::<Vec<_>>()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_and_memory_are_read_as_the_monitor_writes_them() {
        let text = "RSI=0000000000000001 RDI=0000000000000002 RBP=fffffe0001aa3b40\r\n\
                    RIP=ffffffff806a1234 RFL=00000246\r\n";
        assert_eq!(register(text, "RBP="), Some(0xffff_fe00_01aa_3b40));
        assert_eq!(register(text, "RIP="), Some(0xffff_ffff_806a_1234));
        assert_eq!(register("RIP=12", "RIP="), None);
        let words: Vec<_> =
            memory("fffffe0001aa3b40: 0x0000000000000007 0xffffffff80000000\r\nno memory\r\n")
                .collect();
        assert_eq!(
            words,
            [(0xffff_fe00_01aa_3b40, 7), (0xffff_fe00_01aa_3b48, 0xffff_ffff_8000_0000)]
        );
    }
}
