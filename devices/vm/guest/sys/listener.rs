//! Frames as they come in on an interface (bpf(4), sys/net/bpf.h), which keeps them.

use super::call;
use super::errno::{Answered, Errno};
use super::file::{File, WITHOUT_WAITING};

/// Room for what comes in between two looks; there is as much again for what comes in during one.
const ROOM: u32 = 32 << 10;

/// As much of a frame is shown as tells whose it is: to the ports behind the header of IPv6.
const SHOWN: u32 = 64;

/// Nothing has come in.
const WOULD_BLOCK: u32 = 35;

const SET_ROOM: usize = 0xc004_4266; // BIOCSBLEN
const SET_DIRECTION: usize = 0x8004_4277; // BIOCSDIRECTION
const SET_FILTER: usize = 0x8010_4267; // BIOCSETF
const INCOMING: u32 = 0;

/// Offsets in `struct bpf_hdr`, and what each of them is rounded up to.
const SHOWN_LENGTH: usize = 16;
const HEADER_LENGTH: usize = 24;
const HEADER: usize = 26;
const ALIGNED: usize = 8;

/// `struct bpf_insn`
#[repr(C)]
struct Step {
    code: u16,
    jumps: [u8; 2],
    value: u32,
}

/// `struct bpf_program`
#[repr(C)]
struct Filter {
    length: u32,
    steps: *const Step,
}

/// Sees what comes in on an interface.
pub struct Listener {
    file: File,
    buffer: &'static mut [u8],
}

impl Listener {
    pub fn open(interface: &[u8]) -> Answered<Self> {
        let file = File::open(b"/dev/bpf", WITHOUT_WAITING)?;
        let mut room = ROOM;
        file.control(SET_ROOM, &mut room)?;
        file.bind(interface)?;
        file.control(SET_DIRECTION, &mut { INCOMING })?;
        // Whatever it is. Of a filter of one step the system thinks that it is none yet (net.bpf.optimize_writers):
        // so a half-word is looked at first.
        let steps = [
            Step { code: 0x28, jumps: [0; 2], value: 12 },
            Step { code: 0x06, jumps: [0; 2], value: SHOWN },
        ];
        let mut filter = Filter { length: steps.len() as u32, steps: steps.as_ptr() };
        file.control(SET_FILTER, &mut filter)?;
        Ok(Self { file, buffer: call::map(None, room as usize)? })
    }

    /// Hands the beginning of every frame that has come in since the last look to `take`.
    pub fn receive(&mut self, mut take: impl FnMut(&[u8])) -> Answered<()> {
        let length = match self.file.read(self.buffer) {
            Err(Errno(WOULD_BLOCK)) => 0,
            length => length?,
        };
        let mut rest = self.buffer.get(..length).unwrap_or_default();
        while rest.len() >= HEADER {
            let [shown, header] = [(SHOWN_LENGTH, 4), (HEADER_LENGTH, 2)].map(|(at, bytes)| {
                let last_first = rest[at..at + bytes].iter().rev();
                last_first.fold(0, |sum, byte| (sum << 8) | usize::from(*byte))
            });
            let end = header + shown;
            take(rest.get(header..end).unwrap_or_default());
            rest = rest.get(end.next_multiple_of(ALIGNED)..).unwrap_or_default();
        }
        Ok(())
    }

    /// Nothing is shown any more.
    pub fn close(self) {
        self.file.close();
        call::unmap(self.buffer);
    }
}
