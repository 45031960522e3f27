//! VLAN tags (IEEE 802.1Q): a port that is a VLAN on another port. Frames lose their tag where
//! they come in and get one where they leave; in between nobody knows of tags.

use fwdlab_port::Frame;
use fwdlab_wire::{ethernet, vlan};

use crate::checks::L3;
use crate::drops::DropReason;
use crate::plane::Plane;

/// Both MAC addresses.
const MACS: usize = 12;

impl Plane {
    /// The port that a frame came in on: the VLAN that its tag names, which is gone then. Tags of
    /// VLAN 0, of either kind, only have a priority: what is behind them counts.
    pub(crate) fn untag(&self, input: u8, frame: &mut Frame) -> Result<u8, DropReason> {
        while frame.len() >= L3 {
            let kind = u16::from_be_bytes([frame[MACS], frame[MACS + 1]]);
            if kind != ethernet::TYPE_VLAN && kind != ethernet::TYPE_SERVICE_VLAN {
                break;
            }
            let tag = vlan::Tag::parse(&frame[L3..]).map_err(|_| DropReason::FrameTooShort)?;
            let identifier = tag.identifier();
            let port = match identifier {
                0 => input,
                _ if kind == ethernet::TYPE_VLAN => {
                    *self.vlans.get(&(input, identifier)).ok_or(DropReason::UnknownVlan)?
                }
                _ => return Err(DropReason::UnknownVlan),
            };
            take_tag_off(frame)?;
            if identifier != 0 {
                return Ok(port);
            }
        }
        Ok(input)
    }
}

fn take_tag_off(frame: &mut Frame) -> Result<(), DropReason> {
    let mut macs = [0; MACS];
    macs.copy_from_slice(&frame[..MACS]);
    if !frame.pull_front(vlan::TAG_LEN) {
        return Err(DropReason::NoRoom);
    }
    frame[..MACS].copy_from_slice(&macs);
    Ok(())
}

/// Puts a tag between the MAC addresses and the EtherType; false when the slot has no room.
pub(crate) fn tag(frame: &mut Frame, identifier: u16) -> bool {
    let mut macs = [0; MACS];
    macs.copy_from_slice(&frame[..MACS]);
    if !frame.push_front(vlan::TAG_LEN) {
        let len = frame.len();
        if frame.capacity() < len + vlan::TAG_LEN {
            return false;
        }
        frame.set_len(len + vlan::TAG_LEN);
        frame.copy_within(MACS..len, MACS + vlan::TAG_LEN);
    }
    frame[..MACS].copy_from_slice(&macs);
    frame[MACS..L3].copy_from_slice(&ethernet::TYPE_VLAN.to_be_bytes());
    frame[L3..L3 + 2].copy_from_slice(&identifier.to_be_bytes());
    true
}
