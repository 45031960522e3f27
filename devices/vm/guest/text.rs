//! Text without an allocator: a buffer that is written to, numbers read and written, problems.

use crate::sys::{self, Answered, ERRORS, Errno};

/// A growing text in memory of a fixed size; what does not fit is left out, and then the length
/// that stands before each message is wrong and the host notices.
pub struct Text {
    bytes: &'static mut [u8],
    length: usize,
}

impl Text {
    pub fn with_room(bytes: usize) -> Answered<Self> {
        Ok(Self { bytes: sys::memory(bytes)?, length: 0 })
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    pub fn length(&self) -> usize {
        self.length
    }

    /// Forgets what stands behind so many bytes.
    pub fn cut(&mut self, length: usize) {
        self.length = self.length.min(length);
    }

    pub fn byte(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
    }

    pub fn put(&mut self, text: &[u8]) -> &mut Self {
        text.iter().for_each(|&byte| self.byte(byte));
        self
    }

    pub fn number(&mut self, number: u64) -> &mut Self {
        let mut digits = [0_u8; 20];
        let mut first = digits.len();
        let mut rest = number;
        loop {
            first -= 1;
            digits[first] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.put(&digits[first..])
    }

    pub fn hexadecimal(&mut self, number: u32) -> &mut Self {
        for shift in (0..8).rev() {
            let digit = (number >> (4 * shift)) as u8 & 15;
            self.byte(if digit < 10 { b'0' + digit } else { b'a' + digit - 10 });
        }
        self
    }

    /// As a string of JSON. Bytes that are no ASCII text become question marks.
    pub fn quoted(&mut self, text: &[u8]) -> &mut Self {
        self.byte(b'"');
        for &byte in text {
            match byte {
                b'"' | b'\\' => {
                    self.byte(b'\\');
                    self.byte(byte);
                }
                b'\n' => drop(self.put(b"\\n")),
                b'\t' => drop(self.put(b"\\t")),
                b' '..=b'~' => self.byte(byte),
                b'\r' => {}
                _ => self.byte(b'?'),
            }
        }
        self.byte(b'"');
        self
    }
}

/// A decimal number; nothing if there is another character in it.
pub fn number(text: &[u8]) -> Option<u64> {
    if text.is_empty() {
        return None;
    }
    let mut number = 0_u64;
    for &byte in text {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        number = number.checked_mul(10)?.checked_add(u64::from(digit))?;
    }
    Some(number)
}

pub fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty())
}

pub fn trimmed(text: &[u8]) -> &[u8] {
    text.trim_ascii()
}

/// Why the program cannot go on.
pub struct Problem {
    what: &'static str,
    errno: Option<Errno>,
}

impl Problem {
    pub const fn new(what: &'static str) -> Self {
        Self { what, errno: None }
    }

    /// For `map_err`.
    pub fn with(what: &'static str) -> impl Fn(Errno) -> Self {
        move |errno| Self { what, errno: Some(errno) }
    }

    pub fn print(&self) {
        let Ok(mut text) = Text::with_room(1024) else { return };
        text.put(b"fwdlab: ").put(self.what.as_bytes());
        if let Some(Errno(number)) = self.errno {
            text.put(b": ").put(name(number)).put(b" (error ").number(u64::from(number)).put(b")");
        }
        text.byte(b'\n');
        let _ = ERRORS.write_all(text.bytes());
    }
}

/// The errors that happen, by FreeBSD's numbers (sys/errno.h).
fn name(number: u32) -> &'static [u8] {
    match number {
        1 => b"not permitted",
        2 => b"no such file",
        6 => b"no such interface",
        12 => b"out of memory",
        13 => b"permission denied",
        16 => b"in use",
        17 => b"there already",
        19 => b"not supported by the kernel",
        22 => b"invalid",
        50 => b"the network is down",
        51 => b"the network cannot be reached",
        55 => b"no buffers",
        _ => b"refused",
    }
}

pub type Done = Result<(), Problem>;
