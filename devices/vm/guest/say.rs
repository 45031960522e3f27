//! The guest's messages: `fwdlab1 LENGTH CRC32 JSON` in a line of the second serial port, as
//! every guest says them.
//!
//! `say stage TEXT`, `say failed FILE`, and `say counted DIRECTORY`, in which lie `cable` and
//! `device` (from `pass`), `received` and `sent` (a number), `drops` (lines `COUNT NAME`), `proof`
//! (a line with a name, then its answer in lines that begin with a tabulator), `warnings`
//! (lines) and, where frames were only tried, `tried` (pairs of numbers, as JSON).

use crate::sys::{self, Arguments, File, WRITE};
use crate::text::{Done, Problem, Text, lines, number, trimmed};

const PORT: &[u8] = b"/dev/cuau1";
const LARGEST: usize = 4 << 20;

pub fn run(arguments: &Arguments) -> Done {
    let mut json = Text::with_room(LARGEST).map_err(Problem::with("no memory"))?;
    let told = arguments.get(3);
    let what = arguments.get(2);
    match what {
        b"stage" => drop(json.put(b"{\"stage\":").quoted(told).put(b"}")),
        b"failed" => {
            let why = sys::whole(told, 64 << 10).map_err(Problem::with("cannot read why"))?;
            let why = trimmed(why);
            // The end of it says most.
            let why = &why[why.len().saturating_sub(2000)..];
            json.put(b"{\"failed\":").quoted(why).put(b"}");
        }
        b"counted" => counted(told, &mut json)?,
        _ => return Err(Problem::new("say stage, failed or counted")),
    }
    send(json.bytes())
}

/// What is done now.
pub fn stage(what: &[u8]) -> Done {
    let mut json = Text::with_room(256).map_err(Problem::with("no memory"))?;
    json.put(b"{\"stage\":").quoted(what).put(b"}");
    send(json.bytes())
}

/// Also for the first process, which has nobody else to speak for it.
pub fn failed(why: &[u8]) -> Done {
    let mut json = Text::with_room(8192).map_err(Problem::with("no memory"))?;
    json.put(b"{\"failed\":").quoted(why).put(b"}");
    send(json.bytes())
}

fn send(json: &[u8]) -> Done {
    let mut line = Text::with_room(LARGEST + 64).map_err(Problem::with("no memory"))?;
    line.put(b"\nfwdlab1 ").number(json.len() as u64).put(b" ");
    line.hexadecimal(checksum(json)).put(b" ").put(json).put(b"\n");
    let port = File::open(PORT, WRITE).map_err(Problem::with("cannot open /dev/cuau1"))?;
    port.make_raw().map_err(Problem::with("cannot set /dev/cuau1 up"))?;
    port.write_all(line.bytes()).map_err(Problem::with("cannot write to /dev/cuau1"))?;
    port.drain().map_err(Problem::with("cannot empty /dev/cuau1"))?;
    port.close();
    Ok(())
}

/// CRC-32 as Ethernet has it.
fn checksum(bytes: &[u8]) -> u32 {
    let mut sum = !0_u32;
    for &byte in bytes {
        sum ^= u32::from(byte);
        for _ in 0..8 {
            sum = (sum >> 1) ^ (0xedb8_8320 & (sum & 1).wrapping_neg());
        }
    }
    !sum
}

fn counted(directory: &[u8], json: &mut Text) -> Done {
    let file = |name: &[u8]| {
        let mut path = [0_u8; 256];
        let parts: [&[u8]; 3] = [directory, b"/", name];
        let mut length = 0;
        for &byte in parts.iter().flat_map(|part| part.iter()).take(path.len()) {
            path[length] = byte;
            length += 1;
        }
        sys::whole(&path[..length], LARGEST).map(|bytes| trimmed_end(bytes))
    };
    let missing = Problem::with("cannot read what was counted");
    let count = |name: &[u8]| -> Result<u64, Problem> {
        let text = file(name).map_err(&missing)?;
        number(trimmed(text)).ok_or(Problem::new("a counter of the device is no number"))
    };
    json.put(b"{\"counted\":{\"cable\":").put(file(b"cable").map_err(&missing)?);
    json.put(b",\"device\":").put(file(b"device").map_err(&missing)?);
    json.put(b",\"device_received\":").number(count(b"received")?);
    json.put(b",\"device_sent\":").number(count(b"sent")?);
    json.put(b",\"drops\":{");
    let mut separator: &[u8] = b"";
    for line in lines(file(b"drops").map_err(&missing)?) {
        let mut words = line.splitn(2, |&byte| byte == b' ');
        let (count, name) = (words.next().and_then(number), words.next());
        if let (Some(count), Some(name)) = (count, name) {
            json.put(separator).quoted(name).put(b":").number(count);
            separator = b",";
        }
    }
    json.put(b"}");
    if let Ok(tried) = file(b"tried") {
        json.put(b",\"tried\":[").put(tried).put(b"]");
    }
    json.put(b",\"proof\":{");
    proof(file(b"proof").map_err(&missing)?, json);
    json.put(b"},\"warnings\":[");
    separator = b"";
    for line in lines(file(b"warnings").map_err(&missing)?) {
        json.put(separator).quoted(line);
        separator = b",";
    }
    json.put(b"]}}");
    Ok(())
}

fn trimmed_end(bytes: &[u8]) -> &[u8] {
    bytes.trim_ascii_end()
}

/// Names and answers, an answer in as many lines as it has.
fn proof(text: &[u8], json: &mut Text) {
    let mut rest = text;
    let mut separator: &[u8] = b"";
    while !rest.is_empty() {
        let end = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        let name = &rest[..end];
        rest = rest.get(end + 1..).unwrap_or_default();
        let mut length = 0;
        loop {
            let line = &rest[length..];
            if line.first() != Some(&b'\t') {
                break;
            }
            let end = line.iter().position(|&byte| byte == b'\n').map_or(line.len(), |at| at + 1);
            length += end;
        }
        json.put(separator).quoted(name).put(b":");
        separator = b",";
        answer(&rest[..length], json);
        rest = &rest[length..];
    }
}

fn answer(indented: &[u8], json: &mut Text) {
    json.byte(b'"');
    let mut is_first = true;
    for line in lines(indented) {
        if !is_first {
            json.put(b"\\n");
        }
        is_first = false;
        for &byte in &line[1..] {
            match byte {
                b'"' | b'\\' => drop(json.put(&[b'\\', byte])),
                b'\t' => drop(json.put(b"\\t")),
                b' '..=b'~' => json.byte(byte),
                b'\r' => {}
                _ => json.byte(b'?'),
            }
        }
    }
    json.byte(b'"');
}
