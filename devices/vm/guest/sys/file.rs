//! Open files, and names as the system wants them.

use super::call::{call, number};
use super::errno::{Answered, plain};

pub const READ: usize = 0;
pub const WRITE: usize = 1;
pub const READ_WRITE: usize = 2;
/// To read, and to be told where there is nothing (O_RDONLY, O_NONBLOCK).
pub const WITHOUT_WAITING: usize = 4;
/// To write a file anew, made if it is not there (O_WRONLY, O_CREAT, O_TRUNC).
pub const ANEW: usize = 0x601;

/// An open file; it stays open until the process ends, which is soon.
#[derive(Clone, Copy)]
pub struct File(pub usize);

pub const OUTPUT: File = File(1);
pub const ERRORS: File = File(2);

/// A path or name that ends with a zero byte, as the system wants it.
#[derive(Clone, Copy)]
pub struct Name {
    pub bytes: [u8; 256],
    pub length: usize,
}

impl Name {
    /// `parts` in a row; what is too long is cut, and then not found.
    pub fn of(parts: &[&[u8]]) -> Self {
        let mut name = Self { bytes: [0; 256], length: 0 };
        for &byte in parts.iter().flat_map(|part| part.iter()).take(255) {
            name.bytes[name.length] = byte;
            name.length += 1;
        }
        name
    }

    pub fn address(&self) -> usize {
        self.bytes.as_ptr() as usize
    }
}

impl File {
    pub fn open(path: &[u8], how: usize) -> Answered<Self> {
        let path = Name::of(&[path]);
        call(number::OPEN, [path.address(), how, 0o755, 0, 0, 0]).map(Self)
    }

    pub fn read(self, into: &mut [u8]) -> Answered<usize> {
        call(number::READ, [self.0, into.as_mut_ptr() as usize, into.len(), 0, 0, 0])
    }

    pub fn write(self, bytes: &[u8]) -> Answered<usize> {
        call(number::WRITE, [self.0, bytes.as_ptr() as usize, bytes.len(), 0, 0, 0])
    }

    pub fn write_all(self, mut bytes: &[u8]) -> Answered<()> {
        while !bytes.is_empty() {
            let written = self.write(bytes)?;
            bytes = &bytes[written..];
        }
        Ok(())
    }

    /// A request whose argument is a value that the system reads and may change.
    pub fn control<T>(self, request: usize, value: &mut T) -> Answered<()> {
        plain(call(number::IOCTL, [self.0, request, core::ptr::from_mut(value) as usize, 0, 0, 0]))
    }

    /// A request without argument.
    pub fn request(self, request: usize) -> Answered<()> {
        plain(call(number::IOCTL, [self.0, request, 0, 0, 0, 0]))
    }

    pub fn close(self) {
        let _ = call(number::CLOSE, [self.0, 0, 0, 0, 0, 0]);
    }

    /// Has a bpf(4) see the frames of an interface, and send there (BIOCSETIF).
    pub fn bind(self, interface: &[u8]) -> Answered<()> {
        let mut request = [0_u8; 32];
        for (into, &from) in request.iter_mut().zip(interface.iter().take(15)) {
            *into = from;
        }
        self.control(0x8020_426c, &mut request)
    }

    /// Makes a serial port leave every byte as it is (TIOCGETA, TIOCSETA).
    pub fn make_raw(self) -> Answered<()> {
        // Four words of flags: input, output, control, local; then 28 bytes.
        let mut settings = [0_u32; 11];
        self.control(0x402c_7413, &mut settings)?;
        settings[0] = 0;
        settings[1] = 0;
        settings[3] = 0;
        self.control(0x802c_7414, &mut settings)
    }

    /// Waits until everything has left a serial port (TIOCDRAIN).
    pub fn drain(self) -> Answered<()> {
        self.request(0x2000_745e)
    }
}
