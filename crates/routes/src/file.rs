//! Opens a routes file, finds out what it is, and reads it.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use fwdlab_guard::input;

use super::fault::Fault;
use super::gathering::Gathering;
use super::text::{self, Reader};
use super::{RouteTable, mrt};
use crate::{Result, RoutesError};

/// Longest line of a text file, in bytes. AS paths in BIRD's output are long.
const LONGEST_LINE: u64 = 16 * 1_024;

/// Most bytes of one file after decompression: some forty full tables.
pub const MOST_BYTES: u64 = 8 << 30;

/// Bytes that are looked at to find the form of a file.
const HEAD_BYTES: usize = 64 * 1_024;

/// The first bytes of gzip.
const GZIP: &[u8] = &[0x1f, 0x8b];

/// Reads the routing table in the file at `path`.
///
/// # Errors
/// When it cannot be read, or a line or record of it is wrong; the error names
/// it.
pub fn read(path: &Path) -> Result<RouteTable> {
    let file = input::named(path, MOST_BYTES).map_err(RoutesError::io("open", path))?;
    read_from(path, BufReader::new(file))
}

/// As [`read`], of a file that another file names: a link is refused.
///
/// # Errors
/// As [`read`].
pub fn read_found(path: &Path) -> Result<RouteTable> {
    let file = input::found(path, MOST_BYTES).map_err(RoutesError::io("open", path))?;
    read_from(path, BufReader::new(file))
}

/// Looks at the beginning of a file that another file names, before all of it is hashed: a hole of gigabytes holds no
/// table, and says so in its first lines.
///
/// # Errors
/// As [`read`], of the whole lines of its first 64 KiB, unless they are packed or an MRT dump.
pub fn check_beginning(path: &Path) -> Result<()> {
    let mut file = input::found(path, MOST_BYTES).map_err(RoutesError::io("open", path))?;
    let head = read_head(&mut file).map_err(RoutesError::io("read", path))?;
    if head.len() < HEAD_BYTES || head.starts_with(GZIP) || mrt::is_mrt(&head) {
        return Ok(());
    }
    let whole = head.iter().rposition(|byte| *byte == b'\n').map_or(head.len(), |end| end + 1);
    read_lines(path, &mut &head[..whole], &mut Gathering::default())
}

/// Reads the routing table in `bytes`; `path` is for messages.
///
/// # Errors
/// As [`read`].
pub fn read_bytes(path: &Path, bytes: &[u8]) -> Result<RouteTable> {
    read_from(path, bytes)
}

/// Reads the one route in `text`, written as a line of a list; the table holds it and nothing else.
///
/// # Errors
/// When it is no route, or one by which a router does not forward.
pub fn read_order(text: &str) -> Result<RouteTable> {
    let mut gathering = Gathering::default();
    gathering.line = 1;
    text::order(text, &mut gathering).map_err(Fault::of_order)?;
    let table = gathering.table;
    let what = match table.routes.len() + table.refusing.len() {
        1 => return Ok(table),
        _ if table.left_out > 0 => "a router does not forward by this prefix",
        _ => "no route",
    };
    Err(RoutesError::Order {
        what: what.to_owned(),
        wanted: "a unicast prefix, and where it leads, such as 198.51.100.0/24 via 192.0.2.1",
    })
}

/// A source, or what is in it if it is gzip.
pub(super) fn unpacked<'s>(
    path: &Path,
    mut source: impl BufRead + 's,
) -> Result<Box<dyn BufRead + 's>> {
    let is_gzip = source.fill_buf().map_err(RoutesError::io("read", path))?.starts_with(GZIP);
    Ok(match is_gzip {
        true => Box::new(BufReader::with_capacity(HEAD_BYTES, MultiGzDecoder::new(source))),
        false => Box::new(BufReader::with_capacity(HEAD_BYTES, source)),
    })
}

fn read_from(path: &Path, source: impl BufRead) -> Result<RouteTable> {
    read_plain(path, unpacked(path, source)?)
}

fn read_plain(path: &Path, mut source: impl BufRead) -> Result<RouteTable> {
    let head = read_head(&mut source).map_err(RoutesError::io("read", path))?;
    let mut whole = head.as_slice().chain(source).take(MOST_BYTES);
    let mut gathering = Gathering::default();
    if mrt::is_mrt(&head) {
        mrt::read(path, &mut whole, &mut gathering)?;
    } else {
        read_lines(path, &mut whole, &mut gathering)?;
    }
    if whole.limit() == 0 {
        return Err(Fault {
            what: format!("more than {} GiB", MOST_BYTES >> 30),
            wanted: "one routing table",
            remedy: "cut the file",
        }
        .at_line(path, 1));
    }
    if gathering.table.routes.is_empty() && gathering.table.refusing.is_empty() {
        return Err(Fault {
            what: "the file holds no route".to_owned(),
            wanted: "prefixes, the output of `ip route`, `netstat -rn` or BIRD, or an MRT dump",
            remedy: "check that it is the right file",
        }
        .at_line(path, 1));
    }
    Ok(gathering.table)
}

/// The first bytes of a source: as many as wanted, unless it ends before.
fn read_head(source: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    source.take(HEAD_BYTES as u64).read_to_end(&mut head)?;
    Ok(head)
}

fn read_lines(path: &Path, source: &mut impl BufRead, gathering: &mut Gathering) -> Result<()> {
    let mut reader = Reader::new();
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let mut limited = source.by_ref().take(LONGEST_LINE + 1);
        let length = limited.read_until(b'\n', &mut line).map_err(RoutesError::io("read", path))?;
        if length == 0 {
            break;
        }
        gathering.line = u32::try_from(number).unwrap_or(u32::MAX);
        let result = if length as u64 > LONGEST_LINE {
            Err(Fault {
                what: format!("the line is longer than {LONGEST_LINE} bytes"),
                wanted: "one route a line",
                remedy: "check that it is the right file",
            })
        } else {
            match std::str::from_utf8(&line) {
                Ok(text) => reader.line(text.trim_end(), gathering),
                Err(_) => Err(Fault {
                    what: "the line is not UTF-8 text".to_owned(),
                    wanted: "text, or an MRT dump",
                    remedy: "check that it is the right file",
                }),
            }
        };
        result.map_err(|fault| fault.at_line(path, number))?;
    }
    Ok(())
}
