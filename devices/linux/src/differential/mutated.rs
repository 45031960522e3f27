//! Mutated frames, many at a time, through the kernel and the router; what leaves must be alike.
//!
//! `FWDLAB_DIFFERENTIAL_FRAMES` says how many (default 2,000), `FWDLAB_DIFFERENTIAL_SEED` where they
//! begin; a failure names the seed that repeats it. Behind each batch goes a frame that both forward:
//! once it has come out, so has all before it.
//!
//! Not compared is what the two are known to handle differently, each for the reason that stands in
//! [`is_left_out`]; errors that the kernel does not send may be due to its rate limits, which a
//! namespace cannot lift (`net.ipv4.icmp_msgs_per_sec` and others).

use fwdlab_fib::Random;
use fwdlab_wire::{ethernet, ipv4};

use super::frames::{frames_inet, frames_inet6};
use super::{Both, Left, comparable, settings_of_host, shown};

/// Frames of a batch.
const BATCH: usize = 32;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// A few bits and bytes of a frame's headers are changed; the IPv4 checksum is mended in three of four
/// cases, so that changes get past it.
fn mutate(random: &mut Random, frame: &mut [u8]) {
    for _ in 0..1 + random.below(3) {
        let at = 12 + random.below(frame.len().min(60) as u64 - 12) as usize;
        match random.below(3) {
            0 => frame[at] ^= 1 << random.below(8),
            1 => frame[at] = [0, 1, 0x7f, 0x80, 0xff, 0x45, 0x60][random.below(7) as usize],
            _ => frame[at] = random.next_u64() as u8,
        }
    }
    if random.below(4) > 0
        && frame.len() > 34
        && let Ok(mut packet) = ipv4::Packet::parse(&mut frame[14..])
    {
        packet.fill_checksum();
    }
}

/// Why the two may differ about a frame.
fn is_left_out(frame: &[u8]) -> Option<&'static str> {
    let address =
        |at: usize| u32::from_be_bytes([frame[at], frame[at + 1], frame[at + 2], frame[at + 3]]);
    let wide = |at: usize| {
        frame[at..at + 16].iter().fold(0_u128, |all, &byte| all << 8 | u128::from(byte))
    };
    match u16::from_be_bytes([frame[12], frame[13]]) {
        ethernet::TYPE_IPV4 => {
            let (source, destination) = (address(26), address(30));
            let near = |address: u32| [0xc612_0000, 0xc613_0000].contains(&(address & 0xffff_ff00));
            if frame[14] != 0x45 {
                return Some("options: the kernel writes into record route and timestamp");
            }
            if near(source) {
                return Some("the kernel takes broadcast addresses of its networks for martians");
            }
            if near(destination) && destination & 0xff != 254 {
                return Some("a neighbour to be asked for, in the time of each");
            }
            if destination & 0xff == 254 && near(destination) && !matches!(frame[23], 1 | 17) {
                return Some("protocols that the kernel speaks itself");
            }
            if frame[23] == 1 && near(destination) && frame[34..36] != [8, 0] {
                return Some(
                    "messages that the kernel answers, too: timestamps, echoes of any code",
                );
            }
            if destination >> 16 == 0xc612 && !near(destination) {
                return Some("back by the port that it came from: the kernel sends redirects");
            }
            if source >> 16 == 0xa9fe || destination >> 16 == 0xa9fe {
                return Some(
                    "link-local addresses, which the kernel forwards (RFC 3927, section 7)",
                );
            }
            if source >> 24 == 0 || destination >> 24 == 0 {
                return Some("0/8: the kernel refuses 0.0.0.0 alone, RFC 1122 all of it");
            }
            if source >> 28 == 15 || destination >> 28 >= 14 {
                return Some("class E, and groups that the kernel listens to");
            }
            None
        }
        ethernet::TYPE_IPV6 => {
            let (source, destination) = (wide(22), wide(38));
            let near = |address: u128| {
                [0x2001_0002_0000_0000, 0x2001_0002_0000_8000].contains(&((address >> 64) as u64))
            };
            if frame[20] == 0 || frame[20] == 43 || frame[20] == 60 || frame[20] == 51 {
                return Some("extension headers that a router may leave alone");
            }
            if near(source) || near(destination) {
                return Some("the router's own networks: neighbours, IPv6 sources of its own");
            }
            if source >> 79 == 0x2001_0002_0000_8000 >> 15 {
                return Some(
                    "errors leave by another port: from which address is open (RFC 4443 2.2)",
                );
            }
            if destination >> 64 == 0x2001_0002_0000_0010 {
                return Some("back by the port that it came from: the kernel sends redirects");
            }
            if destination >> 120 == 0xff || destination >> 118 == 0xfe80 >> 6 {
                return Some("groups and links: the kernel listens to more of them");
            }
            if source >> 118 == 0xfe80 >> 6 || destination >> 64 == 0 || source >> 64 == 0 {
                return Some("addresses of special use: who tells of them is not settled");
            }
            None
        }
        // Length fields, other protocols: nobody forwards them; ARP and tags are tried one by one.
        _ => None,
    }
}

/// Whether a frame is an error message.
pub(super) fn is_error(bytes: &[u8]) -> bool {
    match (bytes.get(12..14), bytes.get(23), bytes.get(20)) {
        (Some([8, 0]), Some(1), _) => matches!(bytes.get(34), Some(3 | 5 | 11 | 12)),
        (Some([0x86, 0xdd]), _, Some(58)) => bytes.get(54).is_some_and(|&kind| kind < 128),
        _ => false,
    }
}

/// What is compared: forwarded frames and answers, in any order between the two ways.
fn sorted(left: &Left) -> Left {
    let mut all: Left = left.iter().map(|(port, bytes)| (*port, comparable(bytes))).collect();
    all.sort();
    all
}

/// What of `all` is not in `others`, both sorted.
fn beyond(all: &Left, others: &Left) -> Left {
    let mut others = others.clone();
    let mut rest = Left::new();
    for one in all {
        match others.iter().position(|other| other == one) {
            Some(at) => drop(others.remove(at)),
            None => rest.push(one.clone()),
        }
    }
    rest
}

impl Both {
    /// What is wrong about these frames, if anything.
    fn compare(&mut self, frames: &[Vec<u8>]) -> Option<String> {
        let frames: Vec<&[u8]> = frames.iter().map(Vec::as_slice).collect();
        let (kernel, ours) = self.send(&frames);
        let (kernel, ours) = (sorted(&kernel), sorted(&ours));
        let mut missing = beyond(&ours, &kernel);
        missing.retain(|(_, bytes)| !is_error(bytes));
        let more = beyond(&kernel, &ours);
        (!missing.is_empty() || !more.is_empty()).then(|| {
            format!("only the kernel: {}\n  only the router: {}", shown(&more), shown(&missing))
        })
    }
}

#[test]
fn kernel_and_router_treat_mutated_frames_alike() {
    let Some(mut both) = Both::new("kernel_and_router_treat_mutated_frames_alike") else { return };
    let most = number("FWDLAB_DIFFERENTIAL_FRAMES").unwrap_or(2_000) as usize;
    let seed = number("FWDLAB_DIFFERENTIAL_SEED").unwrap_or(23);
    let mut random = Random::new(seed);
    let seeds: Vec<Vec<u8>> = (frames_inet().into_iter().chain(frames_inet6()))
        .filter(|frame| frame.differs.is_none() && frame.bytes[..6] == frames_inet()[0].bytes[..6])
        .map(|frame| frame.bytes)
        .filter(|bytes| is_left_out(bytes).is_none() && !is_fragment(bytes))
        .collect();
    let (mut sent, mut left_out) = (0, 0);
    let mut faults = Vec::new();
    while sent < most && faults.len() < 20 {
        let mut batch = Vec::new();
        while batch.len() < BATCH {
            let mut frame = seeds[random.below(seeds.len() as u64) as usize].clone();
            mutate(&mut random, &mut frame);
            match is_left_out(&frame).is_some() || is_fragment(&frame) {
                true => left_out += 1,
                false => batch.push(frame),
            }
        }
        if both.compare(&batch).is_some() {
            // One by one: which of them is it?
            for frame in &batch {
                let said = both.compare(std::slice::from_ref(frame));
                let shown = shown(&vec![(0, frame.clone())]);
                faults.extend(said.map(|said| format!("{shown}\n  {said}")));
            }
        }
        sent += batch.len();
    }
    println!("{sent} mutated frames alike, {left_out} left out");
    assert!(
        faults.is_empty(),
        "{} of {sent} frames, to be repeated with FWDLAB_DIFFERENTIAL_SEED={seed} \
         FWDLAB_DIFFERENTIAL_FRAMES={sent}:\n{}\non a host with {}",
        faults.len(),
        faults.join("\n"),
        settings_of_host()
    );
}

/// Whether a frame is a fragment: those to the router wait for others in each of the two.
fn is_fragment(frame: &[u8]) -> bool {
    match u16::from_be_bytes([frame[12], frame[13]]) {
        ethernet::TYPE_IPV4 => frame[20..22] != [0, 0] && frame[20..22] != [0x40, 0],
        ethernet::TYPE_IPV6 => frame[20] == 44,
        _ => false,
    }
}
