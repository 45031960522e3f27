//! What `fwdlab gen` says at the end.

use fwdlab_stats::plural;
use fwdlab_traffic::{Checks, Outcome};
use fwdlab_wire::ethernet::{FCS_LEN, HEADER_LEN};
use serde_json::{Value, json};

use super::GenArgs;

/// Share of the frames asked for that counts as all of them.
const ENOUGH: f64 = 0.99;

/// What has left, and what has not.
pub(super) struct Sent {
    /// That the tester has handed to the port.
    pub(super) frames: u64,
    /// Of these, such as the system did not take.
    pub(super) refused: u64,
    /// Of the interface, bytes.
    pub(super) mtu: usize,
}

impl Sent {
    pub(super) fn frames(&self) -> u64 {
        self.frames.saturating_sub(self.refused)
    }

    /// What the user has probably not meant.
    pub(super) fn warnings(&self, arguments: &GenArgs, outcome: &Outcome) -> Vec<String> {
        let mut warnings = Vec::new();
        let longest = self.mtu + HEADER_LEN + FCS_LEN;
        if let Some(bytes) = arguments.frame.filter(|&bytes| bytes > longest) {
            warnings.push(format!(
                "frames of {bytes} bytes are longer than {} takes, {longest} with an MTU of {}: {} \
                 were refused; ip link set {} mtu {}",
                arguments.interface,
                self.mtu,
                self.refused,
                arguments.interface,
                bytes - HEADER_LEN - FCS_LEN
            ));
        } else if self.refused > 0 {
            warnings.push(format!(
                "{} refused {}: is it up?",
                arguments.interface,
                plural(self.refused, "frame")
            ));
        }
        let seconds = outcome.duration_ns as f64 / 1e9;
        let asked = outcome.pacing.map_or(0.0, |pacing| pacing.asked_pps * seconds);
        if (self.frames() as f64) < asked * ENOUGH {
            warnings.push(format!(
                "sent {}, {:.1} % of the {asked:.0} that {} asks for: {}",
                plural(self.frames(), "frame"),
                100.0 * self.frames() as f64 / asked,
                arguments.load,
                match outcome.refused {
                    0 => "this core writes no more of them",
                    _ => "the interface takes no more of them",
                }
            ));
        }
        warnings
    }
}

/// The result as JSON. What nobody has counted is not there.
pub(super) fn object(sent: &Sent, outcome: &Outcome, is_deaf: bool, warnings: &[String]) -> Value {
    let seconds = outcome.duration_ns as f64 / 1e9;
    let mut object = json!({
        "sent": sent.frames(), "refused": sent.refused, "seconds": seconds, "warnings": warnings,
    });
    if let (false, Some(fields)) = (is_deaf, object.as_object_mut()) {
        let checks = checks(&outcome.checks);
        fields.insert("received".to_owned(), outcome.received().into());
        fields.insert("lost".to_owned(), sent.frames().saturating_sub(outcome.received()).into());
        fields.insert("flows_seen".to_owned(), outcome.flows_seen().into());
        fields.insert("checks".to_owned(), checks);
    }
    object
}

/// What was found wrong with frames that came back, by kind.
fn checks(found: &Checks) -> Value {
    json!({
        "wrong_mac": found.wrong_mac, "wrong_ttl": found.wrong_ttl,
        "bad_checksum": found.bad_checksum, "wrong_header": found.wrong_header,
        "unknown_flow": found.unknown_flow, "misrouted": found.misrouted,
        "sampled": found.read_whole, "bad_payload": found.bad_payload,
        "duplicated": found.duplicated, "reordered": found.reordered, "foreign": found.foreign,
    })
}

pub(super) fn sentence(sent: &Sent, outcome: &Outcome, is_deaf: bool) -> String {
    let seconds = outcome.duration_ns as f64 / 1e9;
    let frames = sent.frames();
    let rate = frames as f64 / seconds;
    let sent = plural(frames, "frame");
    let mut text = format!("sent {sent} in {seconds:.3} s: {rate:.0} frames/s");
    if !is_deaf {
        let (received, flows) = (outcome.received(), outcome.flows_seen());
        let lost = frames.saturating_sub(received);
        let flows = plural(flows, "flow");
        text.push_str(&format!("; received {received} of {flows}, lost {lost}"));
    }
    text.push('\n');
    text
}
