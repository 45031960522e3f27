//! What stands on the device's input.

use std::io;

use fwdlab_port::bpf::{Assembler, Condition, Helper, Program, Register::*, Table, Width, action};

use super::{Shared, at, word};

/// What becomes of a frame at the device's input.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// It goes to the kernel's stack. Without any program the tester's frames would be turned
    /// away, and a veth pair would handle each frame by itself.
    Stack,
    /// It is forwarded at once, by the kernel's FIB and neighbours, without the stack.
    Forward,
    /// Another program decides, the first of this table.
    Program(&'a Table),
    /// It is dropped: what is left is the cost of the tester and of the way to the device.
    Drop,
}

const FAMILY_INET: i32 = 2;
const FAMILY_INET6: i32 = 10;

/// Where `struct bpf_fib_lookup` (64 bytes) lies on the stack.
const LOOKUP: i16 = -64;

/// Loads the program. It notes when the device begins to work on a row of frames.
///
/// # Errors
/// The kernel refuses the program.
pub fn load(shared: &Shared, input: Input<'_>) -> io::Result<Program> {
    let mut program = Assembler::new();
    program
        .copy(R6, R1)
        .map_value(R7, shared.map(), 0)
        .load(Width::Double, R1, R7, at(word::IS_BUSY))
        .jump(Condition::NotEqual, R1, 0, "busy")
        .store_number(Width::Double, R7, at(word::IS_BUSY), 1)
        .call(Helper::NowNs)
        .store(Width::Double, R7, at(word::BUSY_SINCE), R0)
        .label("busy");
    match input {
        Input::Stack => program.set(R0, action::PASS).exit(),
        Input::Forward => forward(&mut program).label("stack").set(R0, action::PASS).exit(),
        Input::Program(table) => {
            program.copy(R1, R6).table(R2, table).set(R3, 0).call(Helper::TailCall);
            // Only reached when the table is empty.
            program.set(R0, action::ABORTED).exit()
        }
        Input::Drop => program.set(R0, action::DROP).exit(),
    };
    Program::load_xdp("fwdlab_device", &program.finish())
}

/// Forwards plain IPv4 and IPv6. What needs more (options, an expired TTL, no route, no neighbour)
/// goes to the stack, which knows what to do. Like the stack's fast path of hardware, it does not
/// verify the IPv4 header checksum.
fn forward(program: &mut Assembler) -> &mut Assembler {
    program
        .load(Width::Word, R8, R6, 0)
        .load(Width::Word, R9, R6, 4)
        .copy(R1, R8)
        .add(R1, 34)
        .jump_register(Condition::Above, R1, R9, "stack");
    for offset in (LOOKUP..0).step_by(8) {
        program.store_number(Width::Double, R10, offset, 0);
    }
    program
        .load(Width::Word, R1, R6, 12)
        .store(Width::Word, R10, LOOKUP + 8, R1)
        .load(Width::Half, R1, R8, 12)
        .swap(R1, 16)
        .jump(Condition::Equal, R1, 0x86dd, "inet6")
        .jump(Condition::NotEqual, R1, 0x0800, "stack");
    inet(program);
    program.go("send").label("inet6");
    inet6(program);
    program
        .label("send")
        // MAC addresses that the lookup found: source, then destination.
        .load(Width::Half, R1, R10, LOOKUP + 58)
        .store(Width::Half, R8, 0, R1)
        .load(Width::Half, R1, R10, LOOKUP + 60)
        .store(Width::Half, R8, 2, R1)
        .load(Width::Half, R1, R10, LOOKUP + 62)
        .store(Width::Half, R8, 4, R1)
        .load(Width::Word, R1, R10, LOOKUP + 52)
        .store(Width::Word, R8, 6, R1)
        .load(Width::Half, R1, R10, LOOKUP + 56)
        .store(Width::Half, R8, 10, R1)
        .load(Width::Word, R1, R10, LOOKUP + 8)
        .set(R2, 0)
        .call(Helper::Redirect)
        .exit()
}

fn inet(program: &mut Assembler) {
    program
        .load(Width::Byte, R1, R8, 14)
        .jump(Condition::NotEqual, R1, 0x45, "stack")
        .load(Width::Byte, R1, R8, 22)
        .jump(Condition::AtMost, R1, 1, "stack")
        .store_number(Width::Byte, R10, LOOKUP, FAMILY_INET)
        .load(Width::Byte, R1, R8, 15)
        .store(Width::Byte, R10, LOOKUP + 12, R1)
        .load(Width::Byte, R1, R8, 23)
        .store(Width::Byte, R10, LOOKUP + 1, R1)
        .load(Width::Half, R1, R8, 16)
        .swap(R1, 16)
        .store(Width::Half, R10, LOOKUP + 6, R1)
        .load(Width::Word, R1, R8, 26)
        .store(Width::Word, R10, LOOKUP + 16, R1)
        .load(Width::Word, R1, R8, 30)
        .store(Width::Word, R10, LOOKUP + 32, R1);
    lookup(program);
    // TTL - 1: the word of TTL and protocol falls by 0x0100, so its complement's sum rises by it,
    // with the carry added back (RFC 1141).
    program
        .load(Width::Byte, R1, R8, 22)
        .add(R1, -1)
        .store(Width::Byte, R8, 22, R1)
        .load(Width::Half, R1, R8, 24)
        .swap(R1, 16)
        .add(R1, 0x0100)
        .copy(R2, R1)
        .shift_right(R2, 16)
        .add_register(R1, R2)
        .and(R1, 0xffff)
        .swap(R1, 16)
        .store(Width::Half, R8, 24, R1);
}

fn inet6(program: &mut Assembler) {
    program
        .copy(R1, R8)
        .add(R1, 54)
        .jump_register(Condition::Above, R1, R9, "stack")
        .load(Width::Byte, R1, R8, 21)
        .jump(Condition::AtMost, R1, 1, "stack")
        .store_number(Width::Byte, R10, LOOKUP, FAMILY_INET6)
        .load(Width::Byte, R1, R8, 20)
        .store(Width::Byte, R10, LOOKUP + 1, R1)
        .load(Width::Half, R1, R8, 18)
        .swap(R1, 16)
        .add(R1, 40)
        .store(Width::Half, R10, LOOKUP + 6, R1);
    // Addresses are at even places of the frame only.
    for word in 0..8 {
        program.load(Width::Word, R1, R8, 22 + word * 4).store(
            Width::Word,
            R10,
            LOOKUP + 16 + word * 4,
            R1,
        );
    }
    lookup(program);
    program.load(Width::Byte, R1, R8, 21).add(R1, -1).store(Width::Byte, R8, 21, R1);
}

/// Asks the kernel's FIB; goes on only with a route and a neighbour.
fn lookup(program: &mut Assembler) {
    program
        .copy(R1, R6)
        .copy(R2, R10)
        .add(R2, i32::from(LOOKUP))
        .set(R3, 64)
        .set(R4, 0)
        .call(Helper::FibLookup)
        .jump(Condition::NotEqual, R0, 0, "stack");
}
