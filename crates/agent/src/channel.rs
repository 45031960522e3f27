//! What the guest says to the host: lines of text over a serial port, each with length and
//! checksum.
//!
//! `fwdlab1 LENGTH CRC32 JSON`. Text, because every kernel of every system has a serial port and
//! may treat it as a terminal; the checksum, because a kernel may print on the same port, and a
//! line that is not ours must be told from one that was damaged.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use fwdlab_results::Checks;

/// Begins each of our lines; the number is the protocol's version.
const MARK: &str = "fwdlab1 ";

/// One message of the guest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// It begins with something that takes a while.
    Stage(String),
    /// The trial ended and this was counted. It is the last message.
    Counted(Box<Counted>),
    /// The trial cannot go on. It is the last message.
    Failed(String),
}

/// Everything that was counted in the guest. Times are of the guest's own clock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counted {
    /// The tester with a cable in place of the device.
    pub cable: Pass,
    /// The tester with the device.
    pub device: Pass,
    /// Frames that the device's first interface received.
    pub device_received: u64,
    /// Frames that the device's second interface sent.
    pub device_sent: u64,
    /// Frames that the device received and sent of each way, by the counters of its ports, where frames
    /// went both ways.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub device_ways: Vec<[u64; 2]>,
    /// Frames dropped by the kernel, by its own counters.
    pub drops: BTreeMap<String, u64>,
    /// Frames sent and received of each traffic of which a few were tried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<[u64; 2]>,
    /// Samples, if a profile was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<ProfileCounts>,
    /// What the guest answers when asked for each setting.
    pub proof: BTreeMap<String, String>,
    /// Doubts about the trial.
    pub warnings: Vec<String>,
}

/// Samples that the guest's kernel took of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileCounts {
    /// All samples, the tester's included.
    pub samples: u64,
    /// Samples that did not fit.
    pub lost: u64,
    /// The device's samples by stack, root first, functions joined by `;`.
    pub stacks: BTreeMap<String, u64>,
}

/// One run of the tester.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pass {
    pub intervals: Vec<Reading>,
    /// Whether the tester waits for frames before it sends on, so that lost ones cost time.
    #[serde(default)]
    pub waits: bool,
    pub sent: u64,
    pub received: u64,
    pub flows_seen: u64,
    pub checks: Checks,
    /// Each way by itself, where frames went both ways; what stands above is then of both.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ways: Vec<Pass>,
    /// Of a device with more than two ports: frames from behind each, by the port by which they came.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_pair: Vec<Vec<u64>>,
    /// Rounds of sessions, where those were sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<Round>,
    /// Sessions that the device has room for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub room: Option<u64>,
}

/// Sessions from one emptying of the device's table to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// States in the table after it was emptied, before the counted part, and after it.
    pub emptied: u64,
    pub before: u64,
    pub after: u64,
    /// States for which there was no room.
    pub refused: u64,
    /// States thrown out to make room.
    #[serde(default)]
    pub evicted: u64,
    /// Frames of the counted part, and how long it took.
    pub sent: u64,
    pub received: u64,
    pub ns: u64,
    /// What was sent before, and came through.
    pub opening: Reading,
}

/// One interval of a pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    /// Length; with the clock of instructions also the number of instructions.
    pub ns: u64,
    pub sent: u64,
    pub received: u64,
}

/// A line that began as ours and is not whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("damaged message from the guest ({why}): {start:?}")]
pub struct Damaged {
    why: &'static str,
    start: String,
}

/// A message as one line, its end included.
pub fn line_of<T: Serialize>(message: &T) -> Result<String, serde_json::Error> {
    let json = serde_json::to_string(message)?;
    let checksum = crc32fast::hash(json.as_bytes());
    Ok(format!("{MARK}{} {checksum:08x} {json}\n", json.len()))
}

/// Reads a line; `None` when it is not one of ours. A kernel message may stand before ours, and a
/// carriage return after it.
pub fn message_of<T: DeserializeOwned>(line: &str) -> Option<Result<T, Damaged>> {
    let start = line.find(MARK)?;
    let content = line[start + MARK.len()..].trim_end();
    let read = || {
        let mut words = content.splitn(3, ' ');
        let length: usize = words.next()?.parse().ok()?;
        let checksum = u32::from_str_radix(words.next()?, 16).ok()?;
        Some((length, checksum, words.next()?))
    };
    let damaged = |why| Damaged { why, start: content.chars().take(60).collect() };
    Some(match read() {
        None => Err(damaged("no length, checksum and content")),
        Some((length, _, json)) if json.len() != length => Err(damaged("wrong length")),
        Some((_, checksum, json)) if crc32fast::hash(json.as_bytes()) != checksum => {
            Err(damaged("wrong checksum"))
        }
        Some((.., json)) => {
            serde_json::from_str(json).map_err(|_| damaged("a message of another version"))
        }
    })
}

impl Message {
    /// The message as one line, its end included.
    pub fn line(&self) -> Result<String, serde_json::Error> {
        line_of(self)
    }

    /// Reads a line; `None` when it is not one of ours.
    pub fn parse(line: &str) -> Option<Result<Self, Damaged>> {
        message_of(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_survives_a_terminal_and_kernel_messages() {
        let message = Message::Stage("loads \"veth\"\n".to_owned());
        let line = message.line().expect("a line");
        let typed = format!("[    1.2] random noise {}\r\n", line.trim_end());
        assert_eq!(Message::parse(&typed), Some(Ok(message)));
        assert_eq!(Message::parse("[    1.2] Kernel panic - not syncing\n"), None);
    }

    #[test]
    fn a_message_cut_or_changed_anywhere_is_noticed() {
        let counted = Counted { device_sent: 123_456, ..Counted::default() };
        let line = Message::Counted(Box::new(counted)).line().expect("a line");
        let line = line.trim_end();
        for end in MARK.len()..line.len() {
            assert!(matches!(Message::parse(&line[..end]), Some(Err(_))), "cut at {end}");
        }
        let flipped = line.replace("123456", "123457");
        assert!(matches!(Message::parse(&flipped), Some(Err(_))));
    }
}
