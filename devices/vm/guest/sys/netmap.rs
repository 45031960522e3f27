//! Receiving through netmap(4) (sys/net/netmap.h, version 14 of its interface): frames never
//! reach the stack of the interface that they arrive on.

use core::ptr::{read_volatile, write_volatile};
use core::sync::atomic::{Ordering, compiler_fence};

use super::call;
use super::errno::Answered;
use super::file::{File, Name, READ_WRITE};

const NIOCCTRL: usize = 0xc058_6997;
const NIOCRXSYNC: usize = 0x2000_6995;
const VERSION: u16 = 14;
const REGISTER: u16 = 1;
const ALL_RINGS_OF_THE_CARD: u32 = 1;

/// `struct nmreq_header`
#[repr(C)]
struct Header {
    version: u16,
    kind: u16,
    reserved: u32,
    name: [u8; 64],
    options: u64,
    body: u64,
}

/// `struct nmreq_register`
#[repr(C)]
#[derive(Default)]
struct Register {
    offset: u64,
    memory: u64,
    slots: [u32; 2],
    rings: [u16; 4],
    memory_id: u16,
    ring: u16,
    mode: u32,
    extra_buffers: u32,
    flags: u64,
}

// Offsets in `struct netmap_if`, `struct netmap_ring` and `struct netmap_slot`.
const IF_TX_RINGS: usize = 24;
const IF_HOST_TX_RINGS: usize = 36;
const IF_RINGS: usize = 56;
const RING_BUFFERS: usize = 0;
const RING_SLOTS: usize = 8;
const RING_BUFFER_SIZE: usize = 12;
const RING_HEAD: usize = 20;
const RING_CUR: usize = 24;
const RING_TAIL: usize = 28;
const RING_FIRST_SLOT: usize = 256;
const SLOT_BYTES: usize = 16;

/// Most interfaces that are open while a receiver is moved.
pub const MOST_OTHERS: usize = 2;

/// An interface whose frames come here.
pub struct Receiver {
    file: File,
    memory: &'static mut [u8],
    ring: usize,
    slots: u32,
    buffers: usize,
    buffer_size: usize,
}

impl Receiver {
    pub fn open(interface: &[u8]) -> Answered<Self> {
        let (file, body) = register(interface)?;
        let memory = call::map(Some(file.0), body.memory as usize)?;
        let mut port = Self { file, memory, ring: 0, slots: 0, buffers: 0, buffer_size: 0 };
        let interface = body.offset as usize;
        // One ring of the host stands behind the card's, also where that number is not told yet.
        let host = port.word(interface + IF_HOST_TX_RINGS).max(1);
        let before = (port.word(interface + IF_TX_RINGS) + host) as usize;
        port.ring = interface + port.long(interface + IF_RINGS + 8 * before);
        port.slots = port.word(port.ring + RING_SLOTS);
        port.buffers = port.ring.wrapping_add(port.long(port.ring + RING_BUFFERS));
        port.buffer_size = port.word(port.ring + RING_BUFFER_SIZE) as usize;
        Ok(port)
    }

    /// The interface has its frames again.
    pub fn close(mut self) {
        self.leave();
    }

    fn leave(&mut self) {
        call::unmap(core::mem::take(&mut self.memory));
        self.file.close();
    }

    /// Opens it again, elsewhere in the kernel's memory: these other interfaces are open meanwhile.
    pub fn move_on(&mut self, interface: &[u8], others: &[&[u8]]) -> Answered<()> {
        self.leave();
        let mut held = [None; MOST_OTHERS];
        for (place, other) in held.iter_mut().zip(others) {
            *place = Some(register(other)?.0);
        }
        *self = Self::open(interface)?;
        held.into_iter().flatten().for_each(File::close);
        Ok(())
    }

    /// Hands every frame that has arrived to `take`.
    pub fn receive(&mut self, mut take: impl FnMut(&[u8])) -> Answered<()> {
        self.file.request(NIOCRXSYNC)?;
        compiler_fence(Ordering::SeqCst);
        let tail = self.word(self.ring + RING_TAIL);
        let mut at = self.word(self.ring + RING_CUR);
        while at != tail {
            let slot = self.ring + RING_FIRST_SLOT + SLOT_BYTES * at as usize;
            let buffer = self.word(slot) as usize;
            let length = (self.word(slot + 4) & 0xffff) as usize;
            let start = self.buffers + buffer * self.buffer_size;
            take(self.memory.get(start..start + length).unwrap_or_default());
            at = if at + 1 == self.slots { 0 } else { at + 1 };
        }
        self.set(self.ring + RING_HEAD, at);
        self.set(self.ring + RING_CUR, at);
        Ok(())
    }

    fn word(&self, at: usize) -> u32 {
        let place = self.memory[at..at + 4].as_ptr().cast::<u32>();
        // SAFETY: four bytes inside the mapped memory, aligned as netmap lays them out; the kernel
        // changes them only during system calls.
        unsafe { read_volatile(place) }
    }

    fn long(&self, at: usize) -> usize {
        self.word(at) as usize | (self.word(at + 4) as usize) << 32
    }

    fn set(&mut self, at: usize, value: u32) {
        let place = self.memory[at..at + 4].as_mut_ptr().cast::<u32>();
        // SAFETY: as in `word`.
        unsafe { write_volatile(place, value) }
    }
}

/// Takes an interface's frames away from its stack for as long as the file is open.
fn register(interface: &[u8]) -> Answered<(File, Register)> {
    let file = File::open(b"/dev/netmap", READ_WRITE)?;
    let mut body = Register { mode: ALL_RINGS_OF_THE_CARD, ..Register::default() };
    let mut header = Header {
        version: VERSION,
        kind: REGISTER,
        reserved: 0,
        name: [0; 64],
        options: 0,
        body: core::ptr::from_mut(&mut body) as u64,
    };
    let name = Name::of(&[interface]);
    header.name[..63].copy_from_slice(&name.bytes[..63]);
    file.control(NIOCCTRL, &mut header)?;
    Ok((file, body))
}
