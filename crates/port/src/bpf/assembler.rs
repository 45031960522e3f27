//! Assembles BPF instructions (RFC 9669): one method for each instruction that is needed here.

use std::collections::HashMap;

use crate::sys::bpf::{Map, Table};

/// What an XDP program answers.
pub mod action {
    /// A fault; the frame is dropped.
    pub const ABORTED: i32 = 0;
    /// Drop the frame.
    pub const DROP: i32 = 1;
    /// On to the network stack.
    pub const PASS: i32 = 2;
    /// Out of the interface by which it came.
    pub const TX: i32 = 3;
}

/// A register. R0 is the result of calls and of the program, R1 to R5 are arguments and lost in
/// calls, R6 to R9 are kept, R10 is the end of a stack of 512 bytes.
#[allow(missing_docs)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Register {
    R0,
    R1,
    R2,
    R3,
    R4,
    R5,
    R6,
    R7,
    R8,
    R9,
    R10,
}

/// Bytes of a load or a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Width {
    /// 4 bytes.
    Word = 0x00,
    /// 2 bytes.
    Half = 0x08,
    /// 1 byte.
    Byte = 0x10,
    /// 8 bytes.
    Double = 0x18,
}

/// When a jump is taken; comparisons are of unsigned 64-bit numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Condition {
    /// Equal.
    Equal = 0x10,
    /// Greater.
    Above = 0x20,
    /// Greater or equal.
    AtLeast = 0x30,
    /// Some bit in common.
    AnyBit = 0x40,
    /// Not equal.
    NotEqual = 0x50,
    /// Less.
    Below = 0xa0,
    /// Less or equal.
    AtMost = 0xb0,
}

/// Functions of the kernel, by their numbers in bpf.h.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Helper {
    /// Element of a map, or 0: R1 map, R2 address of the key.
    MapLookup = 1,
    /// Nanoseconds since the machine started.
    NowNs = 5,
    /// Goes on with another program of a table, if there is one: R1 context, R2 table, R3 place.
    TailCall = 12,
    /// Sends a frame out of another interface: R1 its number, R2 flags.
    Redirect = 23,
    /// Hands a frame to a socket of a table: R1 table, R2 place, R3 the answer if there is none.
    RedirectMap = 51,
    /// Looks a route up in the kernel's FIB: R1 context, R2 parameters, R3 their size, R4 flags.
    FibLookup = 69,
}

/// A place in a program, by name.
pub type Label = &'static str;

const CLASS_LOAD_IMMEDIATE: u8 = 0x18;
const CLASS_LOAD: u8 = 0x61;
const CLASS_STORE: u8 = 0x63;
const CLASS_STORE_IMMEDIATE: u8 = 0x62;
const CLASS_ALU_64: u8 = 0x07;
const CLASS_JUMP: u8 = 0x05;
const FROM_REGISTER: u8 = 0x08;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;
const TO_BIG_ENDIAN: u8 = 0xdc;
const JUMP_ALWAYS: u8 = 0x05;

const ADD: u8 = 0x00;
const SUBTRACT: u8 = 0x10;
const MULTIPLY: u8 = 0x20;
const OR: u8 = 0x40;
const AND: u8 = 0x50;
const SHIFT_LEFT: u8 = 0x60;
const SHIFT_RIGHT: u8 = 0x70;
const MOVE: u8 = 0xb0;

/// Source register field of a 64-bit load: what the number is.
const IS_MAP: u8 = 1;
const IS_MAP_VALUE: u8 = 2;

/// A program while it is written. Methods append one instruction each and return the assembler.
///
/// ```
/// use fwdlab_port::bpf::{Assembler, Condition, Register::*, Width, action};
///
/// let mut drop_short = Assembler::new();
/// drop_short
///     .load(Width::Word, R2, R1, 0) // where the frame begins
///     .load(Width::Word, R3, R1, 4) // where it ends
///     .add(R2, 100)
///     .set(R0, action::DROP)
///     .jump_register(Condition::Above, R2, R3, "end")
///     .set(R0, action::PASS)
///     .label("end")
///     .exit();
/// assert_eq!(drop_short.finish().len(), 7 * 8);
/// ```
#[derive(Debug, Default)]
pub struct Assembler {
    /// Instructions of 8 bytes.
    code: Vec<[u8; 8]>,
    labels: HashMap<Label, usize>,
    /// Jumps whose distance is not known yet.
    jumps: Vec<(usize, Label)>,
}

impl Assembler {
    /// An empty program.
    pub fn new() -> Self {
        Self::default()
    }

    /// The program as bytes, jumps resolved.
    ///
    /// # Panics
    /// When a jump leads to a label that is not there: a fault of the program's author that its
    /// first test shows.
    pub fn finish(mut self) -> Vec<u8> {
        for (at, label) in std::mem::take(&mut self.jumps) {
            let target = self.labels.get(label).copied();
            let target = target.unwrap_or_else(|| panic!("no label {label}"));
            let distance = (target as i64 - at as i64 - 1) as i16;
            self.code[at][2..4].copy_from_slice(&distance.to_le_bytes());
        }
        self.code.concat()
    }

    fn emit(&mut self, code: u8, to: u8, from: u8, offset: i16, number: i32) -> &mut Self {
        let [low, high] = offset.to_le_bytes();
        let [a, b, c, d] = number.to_le_bytes();
        self.code.push([code, to | from << 4, low, high, a, b, c, d]);
        self
    }

    /// Names this place.
    pub fn label(&mut self, label: Label) -> &mut Self {
        self.labels.insert(label, self.code.len());
        self
    }

    /// `to = width bytes at (base + offset)`.
    pub fn load(&mut self, width: Width, to: Register, base: Register, offset: i16) -> &mut Self {
        self.emit(CLASS_LOAD | width as u8, to as u8, base as u8, offset, 0)
    }

    /// `width bytes at (base + offset) = from`.
    pub fn store(
        &mut self,
        width: Width,
        base: Register,
        offset: i16,
        from: Register,
    ) -> &mut Self {
        self.emit(CLASS_STORE | width as u8, base as u8, from as u8, offset, 0)
    }

    /// `width bytes at (base + offset) = number`.
    pub fn store_number(
        &mut self,
        width: Width,
        base: Register,
        offset: i16,
        number: i32,
    ) -> &mut Self {
        self.emit(CLASS_STORE_IMMEDIATE | width as u8, base as u8, 0, offset, number)
    }

    /// `to = number`, with its sign extended.
    pub fn set(&mut self, to: Register, number: i32) -> &mut Self {
        self.emit(CLASS_ALU_64 | MOVE, to as u8, 0, 0, number)
    }

    /// `to = number`, all 64 bits.
    pub fn set_wide(&mut self, to: Register, number: u64) -> &mut Self {
        self.wide(to, 0, number as u32, (number >> 32) as u32)
    }

    /// `to = from`.
    pub fn copy(&mut self, to: Register, from: Register) -> &mut Self {
        self.emit(CLASS_ALU_64 | MOVE | FROM_REGISTER, to as u8, from as u8, 0, 0)
    }

    /// `to = map`, to be handed to a helper.
    pub fn map(&mut self, to: Register, map: &Map) -> &mut Self {
        self.wide(to, IS_MAP, map.number(), 0)
    }

    /// `to = table`, to be handed to a helper.
    pub fn table(&mut self, to: Register, table: &Table) -> &mut Self {
        self.wide(to, IS_MAP, table.number(), 0)
    }

    /// `to = address of the first element of an array map + offset`.
    pub fn map_value(&mut self, to: Register, map: &Map, offset: u32) -> &mut Self {
        self.wide(to, IS_MAP_VALUE, map.number(), offset)
    }

    fn wide(&mut self, to: Register, kind: u8, low: u32, high: u32) -> &mut Self {
        self.emit(CLASS_LOAD_IMMEDIATE, to as u8, kind, 0, low as i32);
        self.emit(0, 0, 0, 0, high as i32)
    }

    /// `to += number`.
    pub fn add(&mut self, to: Register, number: i32) -> &mut Self {
        self.emit(CLASS_ALU_64 | ADD, to as u8, 0, 0, number)
    }

    /// `to += from`.
    pub fn add_register(&mut self, to: Register, from: Register) -> &mut Self {
        self.emit(CLASS_ALU_64 | ADD | FROM_REGISTER, to as u8, from as u8, 0, 0)
    }

    /// `to -= from`.
    pub fn subtract(&mut self, to: Register, from: Register) -> &mut Self {
        self.emit(CLASS_ALU_64 | SUBTRACT | FROM_REGISTER, to as u8, from as u8, 0, 0)
    }

    /// `to *= number`.
    pub fn multiply(&mut self, to: Register, number: i32) -> &mut Self {
        self.emit(CLASS_ALU_64 | MULTIPLY, to as u8, 0, 0, number)
    }

    /// `to |= from`.
    pub fn or(&mut self, to: Register, from: Register) -> &mut Self {
        self.emit(CLASS_ALU_64 | OR | FROM_REGISTER, to as u8, from as u8, 0, 0)
    }

    /// `to &= number`.
    pub fn and(&mut self, to: Register, number: i32) -> &mut Self {
        self.emit(CLASS_ALU_64 | AND, to as u8, 0, 0, number)
    }

    /// `to <<= bits`.
    pub fn shift_left(&mut self, to: Register, bits: i32) -> &mut Self {
        self.emit(CLASS_ALU_64 | SHIFT_LEFT, to as u8, 0, 0, bits)
    }

    /// `to <<= bits`, the number in a register.
    pub fn shift_left_by(&mut self, to: Register, bits: Register) -> &mut Self {
        self.emit(CLASS_ALU_64 | SHIFT_LEFT | FROM_REGISTER, to as u8, bits as u8, 0, 0)
    }

    /// `to >>= bits`.
    pub fn shift_right(&mut self, to: Register, bits: i32) -> &mut Self {
        self.emit(CLASS_ALU_64 | SHIFT_RIGHT, to as u8, 0, 0, bits)
    }

    /// Turns the lowest 16, 32 or 64 bits between network and host order; clears the others.
    pub fn swap(&mut self, register: Register, bits: i32) -> &mut Self {
        self.emit(TO_BIG_ENDIAN, register as u8, 0, 0, bits)
    }

    /// Adds 1 to the 64-bit number at `base + offset`, by way of `scratch`.
    pub fn increment(&mut self, base: Register, offset: i16, scratch: Register) -> &mut Self {
        self.load(Width::Double, scratch, base, offset);
        self.add(scratch, 1);
        self.store(Width::Double, base, offset, scratch)
    }

    /// Goes to the label when `condition` holds between a register and a number.
    pub fn jump(
        &mut self,
        condition: Condition,
        a: Register,
        number: i32,
        label: Label,
    ) -> &mut Self {
        self.jumps.push((self.code.len(), label));
        self.emit(CLASS_JUMP | condition as u8, a as u8, 0, 0, number)
    }

    /// Goes to the label when `condition` holds between two registers.
    pub fn jump_register(
        &mut self,
        condition: Condition,
        a: Register,
        b: Register,
        label: Label,
    ) -> &mut Self {
        self.jumps.push((self.code.len(), label));
        self.emit(CLASS_JUMP | condition as u8 | FROM_REGISTER, a as u8, b as u8, 0, 0)
    }

    /// Goes to the label.
    pub fn go(&mut self, label: Label) -> &mut Self {
        self.jumps.push((self.code.len(), label));
        self.emit(JUMP_ALWAYS, 0, 0, 0, 0)
    }

    /// Calls a function of the kernel; R1 to R5 are lost.
    pub fn call(&mut self, helper: Helper) -> &mut Self {
        self.emit(CALL, 0, 0, 0, helper as i32)
    }

    /// Ends the program with R0 as its answer.
    pub fn exit(&mut self) -> &mut Self {
        self.emit(EXIT, 0, 0, 0, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::Register::*;
    use super::*;

    #[test]
    fn instructions_are_encoded_as_the_standard_says() {
        let mut program = Assembler::new();
        program
            .load(Width::Half, R3, R1, -2)
            .set_wide(R2, 0x1122_3344_5566_7788)
            .jump(Condition::NotEqual, R3, 7, "end")
            .swap(R3, 16)
            .label("end")
            .exit();
        let expected: [[u8; 8]; 6] = [
            [0x69, 0x13, 0xfe, 0xff, 0, 0, 0, 0],
            [0x18, 0x02, 0, 0, 0x88, 0x77, 0x66, 0x55],
            [0, 0, 0, 0, 0x44, 0x33, 0x22, 0x11],
            [0x55, 0x03, 1, 0, 7, 0, 0, 0],
            [0xdc, 0x03, 0, 0, 16, 0, 0, 0],
            [0x95, 0, 0, 0, 0, 0, 0, 0],
        ];
        assert_eq!(program.finish(), expected.concat());
    }

    #[test]
    fn jumps_may_lead_backwards() {
        let mut program = Assembler::new();
        program.label("start").set(R0, 0).jump(Condition::Equal, R0, 1, "start").exit();
        assert_eq!(program.finish()[10..12], (-2_i16).to_le_bytes());
    }
}
