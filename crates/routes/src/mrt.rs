//! Reads routing table dumps in MRT (RFC 6396), type TABLE_DUMP_V2, as route
//! collectors publish them.
//!
//! Only what a table needs is read: of each RIB record the prefix and the
//! nexthop of its first entry. Note: bgpkit-parser reads all of MRT, but
//! brings 26 crates for these two fields, and skips damaged entries in
//! silence where this reader names the record.

use std::io::Read;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;

use super::fault::Fault;
use super::gathering::{Gathering, Hop};
use crate::Prefix;
use crate::{Result, RoutesError};

/// Timestamp (4), type (2), subtype (2), length (4): RFC 6396 section 2.
const HEADER_BYTES: usize = 12;

/// Type TABLE_DUMP_V2 (section 4.3).
const TABLE_DUMP_V2: u16 = 13;
/// Its subtypes, section 4.3 and RFC 8050 section 4.
const PEER_INDEX_TABLE: u16 = 1;
const RIB_IPV4_UNICAST: u16 = 2;
const RIB_IPV6_UNICAST: u16 = 4;
const RIB_IPV4_UNICAST_ADDPATH: u16 = 8;
const RIB_IPV6_UNICAST_ADDPATH: u16 = 10;

/// Longest record that is taken for real; some collectors have 1000 peers.
const MOST_RECORD_BYTES: u32 = 16 << 20;

/// BGP attributes NEXT_HOP (RFC 4271) and MP_REACH_NLRI (RFC 4760).
const NEXT_HOP: u8 = 3;
const MP_REACH_NLRI: u8 = 14;
/// Flag of an attribute whose length has two bytes.
const EXTENDED_LENGTH: u8 = 0x10;

/// True when a file begins like an MRT record of a known type.
pub(super) fn is_mrt(head: &[u8]) -> bool {
    match head {
        [_, _, _, _, 0, kind, 0, subtype, ..] => {
            matches!(kind, 11 | 12 | 13 | 16 | 17 | 32 | 33 | 48 | 49) && *subtype <= 12
        }
        _ => false,
    }
}

/// Reads all records.
pub(super) fn read(path: &Path, source: &mut impl Read, into: &mut Gathering) -> Result<()> {
    let mut body = Vec::new();
    for number in 1.. {
        let Some(kind) = next_record(path, source, number, &mut body)? else { break };
        into.line = u32::try_from(number).unwrap_or(u32::MAX);
        record(kind, &body, into).map_err(|fault| fault.at_record(path, number))?;
    }
    Ok(())
}

/// Type and subtype of a record.
pub(super) struct Kind {
    pub(super) kind: u16,
    pub(super) subtype: u16,
}

/// Reads the next record into `body`; `None` at the end of the file.
pub(super) fn next_record(
    path: &Path,
    source: &mut impl Read,
    number: u64,
    body: &mut Vec<u8>,
) -> Result<Option<Kind>> {
    let mut read = |length: u32, into: &mut Vec<u8>| {
        into.clear();
        source.take(u64::from(length)).read_to_end(into).map_err(RoutesError::io("read", path))
    };
    let mut header = Vec::with_capacity(HEADER_BYTES);
    if read(HEADER_BYTES as u32, &mut header)? == 0 {
        return Ok(None);
    }
    let cut = || damaged("the file ends within a record").at_record(path, number);
    let mut fields = Bytes(&header);
    let parsed = (|| {
        fields.u32()?; // timestamp
        Some((fields.u16()?, fields.u16()?, fields.u32()?))
    })();
    let (kind, subtype, length) = parsed.ok_or_else(cut)?;
    if length > MOST_RECORD_BYTES {
        let what = format!("a record of {length} bytes is too long");
        return Err(damaged(&what).at_record(path, number));
    }
    if read(length, body)? < length as usize {
        return Err(cut());
    }
    Ok(Some(Kind { kind, subtype }))
}

fn record(Kind { kind, subtype }: Kind, body: &[u8], into: &mut Gathering) -> Result<(), Fault> {
    if kind != TABLE_DUMP_V2 {
        return Err(Fault {
            what: format!("MRT type {kind} is no routing table"),
            wanted: "records of type 13, TABLE_DUMP_V2",
            remedy: "take the collector's rib or bview file, not its updates",
        });
    }
    let (is_v6, has_path_id) = match subtype {
        RIB_IPV4_UNICAST => (false, false),
        RIB_IPV6_UNICAST => (true, false),
        RIB_IPV4_UNICAST_ADDPATH => (false, true),
        RIB_IPV6_UNICAST_ADDPATH => (true, true),
        PEER_INDEX_TABLE => return Ok(()),
        _ => {
            into.leave_out(); // multicast and generic tables
            return Ok(());
        }
    };
    let mut fields = Bytes(body);
    let prefix = rib_prefix(&mut fields, is_v6)?;
    let gateway = first_gateway(&mut fields, has_path_id).ok_or_else(cut_short)?;
    into.add(prefix, &[Hop { gateway, ..Hop::default() }])
}

/// The head of a RIB record (section 4.3.2): sequence number, prefix.
fn rib_prefix(fields: &mut Bytes<'_>, is_v6: bool) -> Result<Prefix, Fault> {
    fields.u32().ok_or_else(cut_short)?;
    prefix(fields, is_v6)
}

/// A prefix (RFC 4271, section 4.3): its length, and as many bytes as hold bits.
pub(super) fn prefix(fields: &mut Bytes<'_>, is_v6: bool) -> Result<Prefix, Fault> {
    let length = fields.u8().ok_or_else(cut_short)?;
    let most = if is_v6 { 128 } else { 32 };
    if length > most {
        return Err(damaged(&format!("the prefix length {length} is above {most}")));
    }
    let bytes = fields.take(usize::from(length.div_ceil(8))).ok_or_else(cut_short)?;
    let mut address = [0; 16];
    address[..bytes.len()].copy_from_slice(bytes);
    let address: IpAddr = if is_v6 {
        Ipv6Addr::from(address).into()
    } else {
        Ipv4Addr::new(address[0], address[1], address[2], address[3]).into()
    };
    // RFC 4271: "the value of trailing bits is irrelevant"
    Ok(Prefix::covering(address, length))
}

/// The nexthop of a record's first entry (section 4.3.4); the outer `None`
/// when the record is cut short, the inner one when it names no nexthop.
fn first_gateway(fields: &mut Bytes<'_>, has_path_id: bool) -> Option<Option<IpAddr>> {
    if fields.u16()? == 0 {
        return Some(None);
    }
    fields.take(2 + 4)?; // peer index, time of origin
    if has_path_id {
        fields.u32()?;
    }
    let length = fields.u16()?;
    let mut all = Bytes(fields.take(usize::from(length))?);
    while let Some(Attribute { kind, value }) = next_attribute(&mut all)? {
        match kind {
            NEXT_HOP => return Some(<[u8; 4]>::try_from(value).ok().map(IpAddr::from)),
            MP_REACH_NLRI => return Some(mp_nexthop(value)),
            _ => {}
        }
    }
    Some(None)
}

/// A BGP attribute (RFC 4271, section 4.3).
pub(super) struct Attribute<'b> {
    pub(super) kind: u8,
    pub(super) value: &'b [u8],
}

/// The next attribute; the outer `None` when it is cut short, the inner one at the end.
pub(super) fn next_attribute<'b>(all: &mut Bytes<'b>) -> Option<Option<Attribute<'b>>> {
    if all.0.is_empty() {
        return Some(None);
    }
    let flags = all.u8()?;
    let kind = all.u8()?;
    let length = match flags & EXTENDED_LENGTH {
        0 => usize::from(all.u8()?),
        _ => usize::from(all.u16()?),
    };
    let value = all.take(length)?;
    Some(Some(Attribute { kind, value }))
}

/// The nexthop of MP_REACH_NLRI. Dumps hold only its length and address
/// (section 4.3.4), yet some writers keep AFI and SAFI in front; the length of
/// an address is never 0, the high byte of an AFI always is.
fn mp_nexthop(value: &[u8]) -> Option<IpAddr> {
    let value = if value.first() == Some(&0) { value.get(3..)? } else { value };
    // 16 bytes, or 32 with a link-local address after the global one
    let address: [u8; 16] = value.get(1..17)?.try_into().ok()?;
    matches!(value.first(), Some(16 | 32)).then(|| address.into())
}

pub(super) fn cut_short() -> Fault {
    damaged("the record is cut short")
}

pub(super) fn damaged(what: &str) -> Fault {
    Fault {
        what: what.to_owned(),
        wanted: "a whole MRT dump, RFC 6396",
        remedy: "fetch the file anew",
    }
}

/// Bytes being read from the front, in network order.
pub(super) struct Bytes<'b>(pub(super) &'b [u8]);

impl<'b> Bytes<'b> {
    pub(super) fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        Some(u8::from_be_bytes(self.array()?))
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.array()?))
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.array()?))
    }
}
