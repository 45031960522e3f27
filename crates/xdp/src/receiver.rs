//! The receiving half of the tester.

use std::io;

use fwdlab_port::bpf::{
    Assembler, Condition, Helper, Label, Map, Program, Register::*, Width, action,
};
use fwdlab_traffic::{Family, FlowSet};
use fwdlab_wire::MacAddr;

use super::latency::{self, Latencies, STAMP_BYTES};
use super::{Shared, at, word};

/// One frame in so many is checked: a prime, so that all flows have their turn.
const CHECK_EVERY: u64 = 17;

/// What a frame must look like.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// The flows.
    pub flows: &'a FlowSet,
    /// TTL or hop limit after the device.
    pub ttl: u8,
    /// The receiver's MAC address.
    pub destination: MacAddr,
    /// The MAC address of the device's port.
    pub source: MacAddr,
    /// What is in a packet: UDP or TCP, whose ports are in the same place.
    pub protocol: u8,
    /// Flows are known by the number behind their UDP header, whatever their addresses have become.
    pub has_mark: bool,
    /// Where it is added up how long frames take, which have the time behind their UDP header.
    pub latencies: Option<&'a Latencies>,
}

/// Bits of flows that were seen, 64 in an element.
///
/// # Errors
/// There is no memory, or no privilege.
pub fn seen_map(flows: &FlowSet) -> io::Result<Map> {
    Map::array("fwdlab_seen", flows.count().div_ceil(64), 1)
}

/// Where things are in a frame.
struct Layout {
    ether_type: u16,
    protocol: i16,
    ttl: i16,
    /// The lower part of an address, by which flows of a set differ.
    source: i16,
    destination: i16,
    udp: i16,
}

const INET: Layout =
    Layout { ether_type: 0x0800, protocol: 23, ttl: 22, source: 26, destination: 30, udp: 34 };
const INET6: Layout =
    Layout { ether_type: 0x86dd, protocol: 20, ttl: 21, source: 30, destination: 46, udp: 54 };

/// Loads the program. It notes when the device has ended its work on a row of frames, because then
/// the first of them arrives here.
///
/// # Errors
/// The kernel refuses the program.
pub fn load(shared: &Shared, seen: &Map, expected: &Expected<'_>) -> io::Result<Program> {
    let is_inet6 = expected.flows.family() == Family::Inet6;
    let layout = if is_inet6 { INET6 } else { INET };
    let behind = match expected.latencies {
        Some(_) => 8 + STAMP_BYTES as i32,
        None if expected.has_mark => 12,
        None => 8,
    };
    let mut program = Assembler::new();
    program
        .copy(R6, R1)
        .map_value(R7, shared.map(), 0)
        .load(Width::Double, R1, R7, at(word::IS_BUSY))
        .jump(Condition::Equal, R1, 0, "idle")
        .store_number(Width::Double, R7, at(word::IS_BUSY), 0)
        .call(Helper::NowNs)
        .load(Width::Double, R1, R7, at(word::BUSY_SINCE))
        .subtract(R0, R1)
        .load(Width::Double, R1, R7, at(word::BUSY_NS))
        .add_register(R1, R0)
        .store(Width::Double, R7, at(word::BUSY_NS), R1)
        .load(Width::Double, R1, R7, at(word::BATCH))
        .load(Width::Double, R2, R7, at(word::BUSY_FRAMES))
        .add_register(R2, R1)
        .store(Width::Double, R7, at(word::BUSY_FRAMES), R2)
        .label("idle");
    program
        .load(Width::Word, R8, R6, 0)
        .load(Width::Word, R2, R6, 4)
        .copy(R1, R8)
        .add(R1, i32::from(layout.udp) + behind)
        .jump_register(Condition::Above, R1, R2, "stray")
        .load(Width::Half, R1, R8, 12)
        .swap(R1, 16)
        .jump(Condition::NotEqual, R1, i32::from(layout.ether_type), "stray")
        .load(Width::Byte, R1, R8, layout.protocol)
        .jump(Condition::NotEqual, R1, expected.protocol.into(), "stray");
    if expected.has_mark {
        find_flow(&mut program, expected.flows, &layout, "translated");
        program
            .go("known")
            .label("translated")
            .increment(R7, at(word::TRANSLATED), R1)
            .label("known")
            .load(Width::Word, R5, R8, layout.udp + 8)
            .swap(R5, 32)
            .jump(Condition::AtLeast, R5, expected.flows.count() as i32, "stranger");
    } else {
        find_flow(&mut program, expected.flows, &layout, "stranger");
    }
    mark(&mut program, seen);
    if let Some(latencies) = expected.latencies {
        latency::record(&mut program, latencies, layout.udp + 8);
    }
    program.increment(R7, at(word::RECEIVED), R1);
    program
        .load(Width::Double, R1, R7, at(word::COUNTDOWN))
        .jump(Condition::Equal, R1, 0, "check")
        .add(R1, -1)
        .store(Width::Double, R7, at(word::COUNTDOWN), R1)
        .go("end")
        .label("check");
    check(&mut program, expected, &layout, is_inet6);
    program
        .label("end")
        .set(R0, action::DROP)
        .exit()
        .label("stranger")
        .increment(R7, at(word::UNKNOWN_FLOW), R1)
        .increment(R7, at(word::RECEIVED), R1)
        .go("end")
        .label("stray")
        .increment(R7, at(word::STRAYS), R1)
        .go("end");
    Program::load_xdp("fwdlab_receiver", &program.finish())
}

/// R5 = number of the flow: destination * sources + source, where the number of an endpoint is
/// address * ports + port, each counted from the first. Goes on at `stranger` when it is none of them.
fn find_flow(program: &mut Assembler, flows: &FlowSet, layout: &Layout, stranger: Label) {
    let is_inet6 = flows.family() == Family::Inet6;
    let sides = [
        (flows.source(), layout.source, layout.udp),
        (flows.destination(), layout.destination, layout.udp + 2),
    ];
    program.set(R5, 0);
    for (range, address, port) in sides.into_iter().rev() {
        if is_inet6 {
            let upper = (range.first() >> 64) as u64;
            program
                .load(Width::Word, R1, R8, address - 8)
                .swap(R1, 32)
                .shift_left(R1, 32)
                .load(Width::Word, R2, R8, address - 4)
                .swap(R2, 32)
                .or(R1, R2)
                .set_wide(R2, upper)
                .jump_register(Condition::NotEqual, R1, R2, stranger)
                .load(Width::Word, R1, R8, address)
                .swap(R1, 32)
                .shift_left(R1, 32)
                .load(Width::Word, R2, R8, address + 4)
                .swap(R2, 32)
                .or(R1, R2);
        } else {
            program.load(Width::Word, R1, R8, address).swap(R1, 32);
        }
        program
            .set_wide(R2, range.first() as u64)
            .subtract(R1, R2)
            .jump(Condition::AtLeast, R1, range.addresses() as i32, stranger)
            .load(Width::Half, R2, R8, port)
            .swap(R2, 16)
            .add(R2, -i32::from(range.first_port()))
            .jump(Condition::AtLeast, R2, range.ports() as i32, stranger)
            .multiply(R1, range.ports() as i32)
            .add_register(R1, R2)
            .multiply(R5, range.count() as i32)
            .add_register(R5, R1);
    }
}

/// Notes the flow R5 as seen.
fn mark(program: &mut Assembler, seen: &Map) {
    program
        .store(Width::Double, R10, -16, R5)
        .shift_right(R5, 6)
        .store(Width::Word, R10, -4, R5)
        .map(R1, seen)
        .copy(R2, R10)
        .add(R2, -4)
        .call(Helper::MapLookup)
        .jump(Condition::Equal, R0, 0, "stranger")
        .load(Width::Double, R1, R10, -16)
        .and(R1, 63)
        .set(R2, 1)
        .shift_left_by(R2, R1)
        .load(Width::Double, R3, R0, 0)
        .or(R2, R3)
        .jump_register(Condition::Equal, R2, R3, "seen")
        .store(Width::Double, R0, 0, R2)
        .increment(R7, at(word::FLOWS_SEEN), R1)
        .label("seen");
}

/// Checks TTL, header checksum and MAC addresses of the frame.
fn check(program: &mut Assembler, expected: &Expected<'_>, layout: &Layout, is_inet6: bool) {
    program
        .store_number(Width::Double, R7, at(word::COUNTDOWN), CHECK_EVERY as i32 - 1)
        .increment(R7, at(word::CHECKED), R1)
        .load(Width::Byte, R1, R8, layout.ttl)
        .jump(Condition::Equal, R1, i32::from(expected.ttl), "ttl")
        .increment(R7, at(word::BAD_TTL), R1)
        .label("ttl");
    if !is_inet6 {
        // The sum of the header's ten words, carries added back, is all ones (RFC 1071).
        program.set(R1, 0);
        for offset in (14..34).step_by(2) {
            program.load(Width::Half, R2, R8, offset).add_register(R1, R2);
        }
        program.copy(R2, R1).shift_right(R2, 16).and(R1, 0xffff).add_register(R1, R2);
        program
            .copy(R2, R1)
            .shift_right(R2, 16)
            .add_register(R1, R2)
            .and(R1, 0xffff)
            .jump(Condition::Equal, R1, 0xffff, "checksum")
            .increment(R7, at(word::BAD_CHECKSUM), R1)
            .label("checksum");
    }
    let [a, b, c, d, e, f] = expected.destination.0;
    let [g, h, i, j, k, l] = expected.source.0;
    for (offset, bytes) in [(0, [a, b, c, d]), (4, [e, f, g, h]), (8, [i, j, k, l])] {
        program
            .load(Width::Word, R1, R8, offset)
            .swap(R1, 32)
            .set_wide(R2, u64::from(u32::from_be_bytes(bytes)))
            .jump_register(Condition::NotEqual, R1, R2, "bad mac");
    }
    program.go("end").label("bad mac").increment(R7, at(word::BAD_MAC), R1);
}
