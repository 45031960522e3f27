//! Reads BGP updates in MRT (RFC 6396, section 4.4), as route collectors publish them: which routes
//! were announced and withdrawn, in order.

use std::net::IpAddr;
use std::path::Path;

use super::fault::Fault;
use super::file::{MOST_BYTES, unpacked};
use super::mrt::{Attribute, Bytes, Kind, cut_short, next_attribute, next_record, prefix};
use crate::Prefix;
use crate::{MOST_ROUTES, Result, RoutesError};

/// Types BGP4MP and BGP4MP_ET, which has microseconds in front.
const BGP4MP: u16 = 16;
const BGP4MP_ET: u16 = 17;
/// Type of a BGP message: UPDATE (RFC 4271, section 4.1).
const UPDATE: u8 = 2;
/// Marker, length and type of a BGP message.
const BGP_HEADER_BYTES: usize = 19;
/// BGP attributes (RFC 4271 and RFC 4760).
const NEXT_HOP: u8 = 3;
const MP_REACH_NLRI: u8 = 14;
const MP_UNREACH_NLRI: u8 = 15;
const UNICAST: u8 = 1;

/// A route that was announced or withdrawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteUpdate {
    /// Destinations.
    pub prefix: Prefix,
    /// The next router; `None` withdraws the route.
    pub gateway: Option<IpAddr>,
}

/// Reads the updates in the file at `path`, which an experiment names, plain or gzipped. Prefixes by which a router does not
/// forward are left out.
///
/// # Errors
/// When it cannot be read, a record is damaged, or it holds no update.
pub fn read_updates(path: &Path) -> Result<Vec<RouteUpdate>> {
    let file =
        fwdlab_guard::input::found(path, MOST_BYTES).map_err(RoutesError::io("open", path))?;
    read_updates_from(path, std::io::BufReader::new(file))
}

/// Reads the updates in `bytes`; `path` is for messages.
///
/// # Errors
/// As [`read_updates`].
pub fn read_updates_bytes(path: &Path, bytes: &[u8]) -> Result<Vec<RouteUpdate>> {
    read_updates_from(path, bytes)
}

fn read_updates_from(path: &Path, source: impl std::io::BufRead) -> Result<Vec<RouteUpdate>> {
    let mut source = std::io::Read::take(unpacked(path, source)?, MOST_BYTES);
    let (mut updates, mut body) = (Vec::new(), Vec::new());
    for number in 1.. {
        let Some(kind) = next_record(path, &mut source, number, &mut body)? else { break };
        record(&kind, &body, &mut updates).map_err(|fault| fault.at_record(path, number))?;
    }
    updates.retain(|update: &RouteUpdate| update.prefix.is_forwarded());
    match updates.is_empty() {
        false => Ok(updates),
        true => Err(Fault {
            what: "the file holds no update of a route".to_owned(),
            wanted: "BGP messages in MRT, type 16",
            remedy: "take the collector's updates, not its rib or bview file",
        }
        .at_record(path, 1)),
    }
}

fn record(kind: &Kind, body: &[u8], into: &mut Vec<RouteUpdate>) -> Result<(), Fault> {
    let has_micros = match kind.kind {
        BGP4MP => false,
        BGP4MP_ET => true,
        other => {
            return Err(Fault {
                what: format!("MRT type {other} is no BGP message"),
                wanted: "records of type 16, BGP4MP",
                remedy: "take the collector's updates, not its rib or bview file",
            });
        }
    };
    // MESSAGE, MESSAGE_AS4, their LOCAL forms, and all of them with path identifiers (RFC 8050).
    let (as_bytes, has_path_ids) = match kind.subtype {
        1 | 6 => (2, false),
        4 | 7 => (4, false),
        8 | 10 => (2, true),
        9 | 11 => (4, true),
        _ => return Ok(()), // changes of a session's state
    };
    let mut fields = Bytes(body);
    if has_micros {
        fields.u32().ok_or_else(cut_short)?;
    }
    let message = message(&mut fields, as_bytes).ok_or_else(cut_short)?;
    let Some(message) = message else { return Ok(()) };
    update(message, has_path_ids, into)?;
    match into.len() > MOST_ROUTES {
        false => Ok(()),
        true => Err(Fault {
            what: format!("more than {MOST_ROUTES} updates"),
            wanted: "some hours of updates",
            remedy: "cut the file",
        }),
    }
}

/// The body of the BGP message in a record if it is an update; the outer `None` when the record is
/// cut short.
fn message<'b>(fields: &mut Bytes<'b>, as_bytes: usize) -> Option<Option<Bytes<'b>>> {
    fields.take(2 * as_bytes + 2)?; // both ASes, interface
    let address_bytes = match fields.u16()? {
        1 => 4,
        2 => 16,
        _ => return Some(None),
    };
    fields.take(2 * address_bytes)?;
    fields.take(BGP_HEADER_BYTES - 3)?;
    let length = usize::from(fields.u16()?);
    let kind = fields.u8()?;
    let body = fields.take(length.checked_sub(BGP_HEADER_BYTES)?)?;
    Some((kind == UPDATE).then_some(Bytes(body)))
}

/// RFC 4271, section 4.3.
fn update(
    mut message: Bytes<'_>,
    has_path_ids: bool,
    into: &mut Vec<RouteUpdate>,
) -> Result<(), Fault> {
    let part = |message: &mut Bytes<'_>| {
        let length = message.u16()?;
        Some(message.take(usize::from(length))?.to_vec())
    };
    let withdrawn = part(&mut message).ok_or_else(cut_short)?;
    let attributes_bytes = part(&mut message).ok_or_else(cut_short)?;
    prefixes(&withdrawn, (false, has_path_ids), None, into)?;
    let mut gateway = None;
    let mut all = Bytes(&attributes_bytes);
    while let Some(Attribute { kind, value }) = next_attribute(&mut all).ok_or_else(cut_short)? {
        match kind {
            NEXT_HOP => gateway = <[u8; 4]>::try_from(value).ok().map(IpAddr::from),
            MP_REACH_NLRI => reach(value, has_path_ids, into)?,
            MP_UNREACH_NLRI => unreach(value, has_path_ids, into)?,
            _ => {}
        }
    }
    // Without a next hop the routes are no routes; a router would end the session.
    if gateway.is_some() {
        prefixes(message.0, (false, has_path_ids), gateway, into)?;
    }
    Ok(())
}

/// RFC 4760, section 3.
fn reach(value: &[u8], has_path_ids: bool, into: &mut Vec<RouteUpdate>) -> Result<(), Fault> {
    let mut fields = Bytes(value);
    let Some(is_v6) = family(&mut fields)? else { return Ok(()) };
    let length = usize::from(fields.u8().ok_or_else(cut_short)?);
    let nexthop = fields.take(length).ok_or_else(cut_short)?;
    fields.u8().ok_or_else(cut_short)?;
    let gateway = match nexthop.len() {
        4 => <[u8; 4]>::try_from(nexthop).ok().map(IpAddr::from),
        _ => nexthop.get(..16).and_then(|b| <[u8; 16]>::try_from(b).ok()).map(IpAddr::from),
    };
    match gateway {
        Some(_) => prefixes(fields.0, (is_v6, has_path_ids), gateway, into),
        None => Ok(()),
    }
}

/// RFC 4760, section 4.
fn unreach(value: &[u8], has_path_ids: bool, into: &mut Vec<RouteUpdate>) -> Result<(), Fault> {
    let mut fields = Bytes(value);
    match family(&mut fields)? {
        Some(is_v6) => prefixes(fields.0, (is_v6, has_path_ids), None, into),
        None => Ok(()),
    }
}

/// Whether unicast routes of IPv6 follow, or of IPv4; `None` for others.
fn family(fields: &mut Bytes<'_>) -> Result<Option<bool>, Fault> {
    let family = fields.u16().ok_or_else(cut_short)?;
    let kind = fields.u8().ok_or_else(cut_short)?;
    Ok(match (family, kind) {
        (1, UNICAST) => Some(false),
        (2, UNICAST) => Some(true),
        _ => None,
    })
}

/// Routes one after another: a length in bits, and as many bytes as hold them.
fn prefixes(
    bytes: &[u8],
    (is_v6, has_path_ids): (bool, bool),
    gateway: Option<IpAddr>,
    into: &mut Vec<RouteUpdate>,
) -> Result<(), Fault> {
    let mut fields = Bytes(bytes);
    while !fields.0.is_empty() {
        if has_path_ids {
            fields.u32().ok_or_else(cut_short)?;
        }
        into.push(RouteUpdate { prefix: prefix(&mut fields, is_v6)?, gateway });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A record of BGP4MP with an update.
    fn record(subtype: u16, update: &[u8]) -> Vec<u8> {
        let as_bytes = if matches!(subtype, 4 | 7 | 9 | 11) { 4 } else { 2 };
        let mut body = vec![0; 2 * as_bytes + 2];
        body.extend([0, 1, 192, 0, 2, 1, 192, 0, 2, 2]);
        body.extend([0xff; 16]);
        body.extend((19 + update.len() as u16).to_be_bytes());
        body.push(UPDATE);
        body.extend(update);
        let mut bytes = vec![0x69, 0x55, 0xb9, 0, 0, 16];
        bytes.extend(subtype.to_be_bytes());
        bytes.extend((body.len() as u32).to_be_bytes());
        bytes.extend(body);
        bytes
    }

    fn file() -> Vec<u8> {
        let v6 = [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
        // Withdraws 10.0.0.0/8; announces 198.51.100.0/24 and 203.0.0.0/17 (host bits do not count).
        let inet: &[u8] = &[
            0, 2, 8, 10, 0, 11, 0x40, 1, 1, 0, 0x40, 3, 4, 192, 0, 2, 7, 24, 198, 51, 100, 17, 203,
            0, 113,
        ];
        let mut reach = vec![0, 2, 1, 16];
        reach.extend(v6);
        reach.extend([0, 32, 0x20, 1, 0x0d, 0xb8]);
        let mut inet6 = vec![0, 0, 0, 3 + reach.len() as u8 + 3 + 4, 0x80, 14, reach.len() as u8];
        inet6.extend(&reach);
        inet6.extend([0x80, 15, 4, 0, 2, 1, 0]);
        let with_ids: &[u8] = &[0, 0, 0, 7, 0x40, 3, 4, 192, 0, 2, 7, 0, 0, 0, 9, 8, 11];
        let state: &[u8] = &[0x69, 0x55, 0xb9, 0, 0, 16, 0, 0, 0, 0, 0, 2, 1, 2];
        [&record(1, inet)[..], &record(4, &inet6), state, &record(9, with_ids)].concat()
    }

    fn shown(bytes: &[u8]) -> Vec<String> {
        let all = read_updates_bytes(Path::new("updates"), bytes).unwrap();
        let gateway = |g: Option<IpAddr>| g.map_or("-".to_owned(), |g| g.to_string());
        all.iter().map(|update| format!("{} {}", update.prefix, gateway(update.gateway))).collect()
    }

    #[test]
    fn reads_announcements_and_withdrawals_of_both_families() {
        assert_eq!(
            shown(&file()),
            [
                "10.0.0.0/8 -",
                "198.51.100.0/24 192.0.2.7",
                "203.0.0.0/17 192.0.2.7",
                "2001:db8::/32 2001:db8::1",
                "::/0 -",
                "11.0.0.0/8 192.0.2.7",
            ]
        );
    }

    #[test]
    fn tables_and_cut_files_are_refused() {
        let said =
            |bytes: &[u8]| read_updates_bytes(Path::new("updates"), bytes).unwrap_err().to_string();
        let mut table = file();
        table[5] = 13;
        assert!(said(&table).contains("MRT type 13 is no BGP message"));
        assert!(said(&[]).contains("holds no update"));
        let file = file();
        assert!(said(&file[..file.len() - 1]).contains("ends within a record"));
    }

    proptest! {
        #[test]
        fn no_damage_makes_the_reader_panic(
            places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        ) {
            let mut bytes = file();
            for (place, value) in places {
                let place = place.index(bytes.len());
                bytes[place] = value;
            }
            let _ = read_updates_bytes(Path::new("updates"), &bytes);
        }
    }
}
