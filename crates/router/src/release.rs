//! Packets that have waited: sent when their neighbour has answered, taken up when the table of
//! neighbours is free.

use fwdlab_port::Frame;
use fwdlab_wire::ipv6;

use crate::checks::L3;
use crate::drops::DropReason;
use crate::fate::{DROPPED, Decision, HELD, Hop, Ruling};
use crate::flow;
use crate::plane::Plane;
use crate::waiting::{Target, Wait, Waiting};

impl Plane {
    /// The MAC address that a waiting packet needs, if it is known now.
    pub(crate) fn found(&mut self, waiting: &Waiting) -> Option<Hop> {
        let port = waiting.port;
        let mac = match waiting.target {
            Target::Inet(address) => self.inet_view(waiting.input).known_mac(port, address),
            Target::Inet6(address) => self.inet6_view(waiting.input).known_mac(port, address),
            _ => None,
        };
        mac.map(|mac| Hop { port, mac })
    }

    /// Sends a packet that has waited; returns its fate.
    pub(crate) fn leave_held(&mut self, frame: &mut Frame, hop: Hop, waiting: &Waiting) -> u8 {
        match waiting.target {
            Target::Inet(_) => {
                let outcome = self.leave_inet(frame, hop);
                outcome.unwrap_or_else(|refusal| self.refuse(waiting.input, frame, refusal))
            }
            _ => self.address(frame, hop),
        }
    }

    /// Takes up a packet that waited for the table; returns its fate, which is to be held again
    /// while somebody else has the table.
    pub(crate) fn take_up(&mut self, frame: &mut Frame, waiting: &Waiting) -> u8 {
        let input = waiting.input;
        let ruling = if self.now_ns >= waiting.until_ns {
            Err(DropReason::SlowPathFull.into())
        } else {
            match waiting.target {
                Target::Unasked(destination) => self.route_again(frame, waiting, destination),
                Target::Unasked6(destination) => self.route_again6(frame, waiting, destination),
                _ => self.hear(input, frame),
            }
        };
        // However often it is put off, its time is up at last.
        if let (Ok(HELD), Some(again)) = (&ruling, self.waiting.back_mut())
            && again.target.is_table()
        {
            again.until_ns = waiting.until_ns;
        }
        match ruling {
            Ok(fate) => fate,
            Err(refusal) if waiting.is_own => {
                self.counters.count_drop(refusal.reason);
                DROPPED
            }
            Err(refusal) => self.refuse(input, frame, refusal),
        }
    }

    /// The fate of an IPv4 packet that was routed before, but did not find its neighbour.
    fn route_again(&mut self, frame: &mut Frame, waiting: &Waiting, destination: u32) -> Ruling {
        let (input, is_own) = (waiting.input, waiting.is_own);
        let decision = self.decide_again_inet(input, destination, flow::inet(&frame[L3..]))?;
        self.check_output(&decision, 0)?;
        match decision {
            Decision::Send(hop, _) => self.leave_inet(frame, hop),
            Decision::Resolve { port, gateway } => {
                self.hold_inet(Wait { input, port, gateway, destination, is_own })
            }
            Decision::Local => Err(DropReason::NotAccepted.into()),
        }
    }

    /// The same of an IPv6 packet.
    fn route_again6(&mut self, frame: &mut Frame, waiting: &Waiting, destination: u128) -> Ruling {
        let (input, is_own) = (waiting.input, waiting.is_own);
        let payload = ipv6::Packet::parse(&frame[L3..]).map_or(0, |packet| packet.payload_length());
        let decision = self.decide_again_inet6(input, destination, flow::inet6(&frame[L3..]))?;
        self.check_output(&decision, ipv6::HEADER_LEN + usize::from(payload))?;
        match decision {
            Decision::Send(hop, _) => Ok(self.address(frame, hop)),
            Decision::Resolve { port, gateway } => {
                self.hold_inet6(Wait { input, port, gateway, destination, is_own })
            }
            Decision::Local => Err(DropReason::NotAccepted.into()),
        }
    }
}
