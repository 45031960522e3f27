//! What a host counts, and what of it can change behind a trial's back: its boot, its links.

use std::collections::BTreeMap;

use fwdlab_results::{Queue, counter};

use crate::queues::{self, Queues};
use crate::work::{self, Span, Work};

/// What the device answers at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// What is another one after each boot.
    pub boot: String,
    /// `uname -r`.
    pub kernel: String,
    /// Each port.
    pub ports: Vec<PortReading>,
    /// Packets that IP dropped, by reason.
    pub drops: BTreeMap<String, u64>,
    /// When it was read and how long its processors had been idle, where that is what frames cost.
    pub span: Option<Span>,
}

/// What the device answers about one port.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortReading {
    /// Its MAC address.
    pub mac: String,
    /// Whether its link is up.
    pub has_carrier: bool,
    /// Its speed, in the words of its system.
    pub speed: String,
    /// How often its link changed, where the system counts that.
    pub carrier_changes: Option<u64>,
    /// Frames received, those that it had no room for included; this and what follows where the
    /// system says it.
    pub received: Option<u64>,
    /// Of these, such as it had no room for.
    pub missed: Option<u64>,
    /// Frames sent.
    pub sent: Option<u64>,
    /// Frames that it was to send and could not.
    pub refused: Option<u64>,
    /// Pause frames, which some drivers count.
    pub pauses: Option<u64>,
    /// Frames received by queue, which some drivers count.
    pub queues: Queues,
}

/// Why nothing can be said of what happened between two readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// The host booted.
    Booted,
    /// One of its links went down.
    LostLink,
}

/// What happened between two readings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Change {
    /// Frames that the first port received, where that was counted.
    pub received: Option<u64>,
    /// Frames that the second port sent, where that was counted.
    pub sent: Option<u64>,
    /// Frames dropped, by reason; `None` where ports do not count all of theirs.
    pub drops: Option<BTreeMap<String, u64>>,
    /// Pause frames on any port that counts them.
    pub pauses: Option<u64>,
    /// Frames by receive queue of the first port, where they are counted and there are several.
    pub queues: Vec<Queue>,
    /// What its processors did, where that is what frames cost.
    pub work: Option<Work>,
    /// Counters that went backwards, in words.
    pub warnings: Vec<String>,
}

/// What was added to a counter; `None` when it was not read before and after, or went backwards.
pub fn added(before: Option<u64>, after: Option<u64>) -> Option<u64> {
    before.zip(after).and_then(|(before, after)| counter::added(before, after))
}

/// The counters that went backwards between two readings, in words.
fn went_back(before: &Reading, after: &Reading) -> Vec<String> {
    let ports = before.ports.iter().zip(&after.ports).zip(["first", "second"]);
    let ports = ports.flat_map(|((then, now), name)| {
        let all = [
            ("received", then.received, now.received),
            ("missed", then.missed, now.missed),
            ("sent", then.sent, now.sent),
            ("refused", then.refused, now.refused),
            ("pauses", then.pauses, now.pauses),
        ];
        all.map(|(what, then, now)| (format!("{what} of the {name} port"), then, now))
    });
    let reasons = before
        .drops
        .iter()
        .map(|(reason, then)| (reason.clone(), Some(*then), after.drops.get(reason).copied()));
    let back = ports.chain(reasons).filter_map(|(name, then, now)| {
        let (then, now) = (then?, now?);
        let is_back = counter::added(then, now).is_none();
        is_back.then(|| {
            format!(
                "the device's counter {name} went back from {then} to {now} in the trial: what it \
                 counted is not known"
            )
        })
    });
    back.collect()
}

/// What happened between two readings.
///
/// # Errors
/// When the device booted or lost a link in between.
pub fn change(before: &Reading, after: &Reading) -> Result<Change, Broken> {
    if before.boot != after.boot {
        return Err(Broken::Booted);
    }
    let work = before.span.zip(after.span).and_then(|(then, now)| work::between(&then, &now));
    let mut change = Change { work, warnings: went_back(before, after), ..Change::default() };
    for (then, now) in before.ports.iter().zip(&after.ports) {
        if !now.has_carrier || then.carrier_changes != now.carrier_changes {
            return Err(Broken::LostLink);
        }
        change.pauses = match (change.pauses, added(then.pauses, now.pauses)) {
            (Some(others), Some(pauses)) => Some(others + pauses),
            (others, pauses) => others.or(pauses),
        };
    }
    if let ([first, second], [first_then, second_then]) = (&after.ports[..], &before.ports[..]) {
        change.received = added(first_then.received, first.received);
        change.queues = queues::added(&first_then.queues, &first.queues);
        change.sent = added(second_then.sent, second.sent);
        let missed = added(first_then.missed, first.missed);
        let refused = added(second_then.refused, second.refused);
        change.drops = missed.zip(refused).map(|(missed, refused)| {
            let ports =
                [("no room at the first port", missed), ("no room at the second port", refused)];
            let ports = ports.map(|(reason, count)| (reason.to_owned(), count));
            let ip = after.drops.iter().filter_map(|(reason, count)| {
                let more = added(before.drops.get(reason).copied(), Some(*count))?;
                Some((reason.clone(), more))
            });
            ip.chain(ports).filter(|(_, count)| *count > 0).collect()
        });
        // Of reasons of which one is not known, the sum is not known.
        let is_back = |reason: &String| {
            let (then, now) = (before.drops.get(reason), after.drops.get(reason));
            then.zip(now).is_some_and(|(then, now)| counter::added(*then, *now).is_none())
        };
        if before.drops.keys().any(is_back) {
            change.drops = None;
        }
    }
    if let (Some(received), Some(sent), Some(drops)) =
        (change.received, change.sent, &mut change.drops)
    {
        let known: u64 = drops.values().sum();
        let lost = received.saturating_sub(sent);
        if lost > known {
            drops.insert("elsewhere".to_owned(), lost - known);
        }
    }
    Ok(change)
}
