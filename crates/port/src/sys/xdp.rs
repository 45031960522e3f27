//! AF_XDP sockets (Documentation/networking/af_xdp.rst of Linux): frames of one queue of an
//! interface, by rings that are shared with the kernel. In copy mode, which every driver can, the
//! kernel copies each frame between the rings' memory and its own.

use std::io;
use std::marker::PhantomData;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::interface::{Interface, InterfaceInfo, check};
use super::memory::Memory;

/// Bytes of a chunk, the smallest that the kernel takes.
const CHUNK: usize = 2048;
/// Bytes that the kernel leaves free in front of a received frame (XDP_PACKET_HEADROOM).
const HEADROOM: usize = 256;
/// The longest frame that fits.
pub(crate) const LONGEST: usize = CHUNK - HEADROOM;
/// The longest packet in such a frame, with a VLAN tag.
const LONGEST_PACKET: usize = LONGEST - 18;
/// Frames that can wait to be received.
const RECEIVING: u32 = 4096;
/// Frames that can wait to be sent.
const SENDING: u32 = 2048;
/// How long a queue may still be held by a socket that was closed.
const STILL_HELD: Duration = Duration::from_secs(2);

/// A socket on queue 0 of one interface.
#[derive(Debug)]
pub(crate) struct XdpSocket {
    descriptor: OwnedFd,
    interface: Interface,
    chunks: Chunks,
    /// Chunks for the kernel to receive into.
    fill: Ring<u64>,
    /// Chunks that the kernel has sent.
    completion: Ring<u64>,
    receiving: Ring<libc::xdp_desc>,
    sending: Ring<libc::xdp_desc>,
    /// Addresses of chunks to send from.
    free: Vec<u64>,
}

impl XdpSocket {
    /// Opens the interface, and says its number; needs CAP_NET_RAW. Frames arrive once an XDP
    /// program hands them over.
    pub(crate) fn open(interface: &str) -> io::Result<(Self, u32, InterfaceInfo)> {
        let flags = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
        // SAFETY: plain system call with numbers only.
        let number = check(unsafe { libc::socket(libc::AF_XDP, flags, 0) })?;
        // SAFETY: the descriptor is new, valid and nobody else's.
        let descriptor = unsafe { OwnedFd::from_raw_fd(number) };
        let (interface, info) = Interface::open(interface)?;
        let index = interface.index();
        if info.mtu > LONGEST_PACKET {
            let what = format!("its MTU is {}, and AF_XDP takes up to {LONGEST_PACKET}", info.mtu);
            return Err(io::Error::other(what));
        }
        let chunks = Chunks::new((RECEIVING + SENDING) as usize)?;
        chunks.register(&descriptor)?;
        let sizes = [
            (libc::XDP_UMEM_FILL_RING, RECEIVING),
            (libc::XDP_UMEM_COMPLETION_RING, SENDING),
            (libc::XDP_RX_RING, RECEIVING),
            (libc::XDP_TX_RING, SENDING),
        ];
        sizes.into_iter().try_for_each(|(option, size)| set(&descriptor, option, &size))?;
        // SAFETY: all zeroes is a valid xdp_mmap_offsets.
        let mut at: libc::xdp_mmap_offsets = unsafe { std::mem::zeroed() };
        get(&descriptor, libc::XDP_MMAP_OFFSETS, &mut at)?;
        let (tx, fr) = (libc::XDP_PGOFF_TX_RING as u64, libc::XDP_UMEM_PGOFF_FILL_RING);
        let cr = libc::XDP_UMEM_PGOFF_COMPLETION_RING;
        let mut socket = Self {
            fill: Ring::map(&descriptor, fr, &at.fr, RECEIVING)?,
            completion: Ring::map(&descriptor, cr, &at.cr, SENDING)?,
            receiving: Ring::map(&descriptor, 0, &at.rx, RECEIVING)?,
            sending: Ring::map(&descriptor, tx, &at.tx, SENDING)?,
            free: (RECEIVING..RECEIVING + SENDING).map(Chunks::address).collect(),
            descriptor,
            interface,
            chunks,
        };
        for chunk in 0..RECEIVING {
            socket.fill.push(Chunks::address(chunk));
        }
        socket.fill.publish();
        socket.bind(index as u32)?;
        Ok((socket, index as u32, info))
    }

    fn bind(&self, index: u32) -> io::Result<()> {
        let address = libc::sockaddr_xdp {
            sxdp_family: libc::AF_XDP as u16,
            sxdp_flags: libc::XDP_COPY,
            sxdp_ifindex: index,
            sxdp_queue_id: 0,
            sxdp_shared_umem_fd: 0,
        };
        let len = std::mem::size_of_val(&address) as libc::socklen_t;
        let place = std::ptr::from_ref(&address).cast();
        let give_up = Instant::now() + STILL_HELD;
        loop {
            // SAFETY: the address lives over the call and its true size is given.
            let bound = check(unsafe { libc::bind(self.descriptor.as_raw_fd(), place, len) });
            match bound {
                // The kernel lets go of a queue some time after the socket on it was closed.
                Err(error)
                    if error.raw_os_error() == Some(libc::EBUSY) && Instant::now() < give_up =>
                {
                    std::thread::sleep(Duration::from_millis(2));
                }
                bound => return bound.map(drop),
            }
        }
    }

    /// The interface, to look at again.
    pub(crate) fn interface(&self) -> &Interface {
        &self.interface
    }

    /// The socket itself, to be handed frames to.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }

    /// Hands up to `most` frames that have arrived to `take`; returns how many. Sends what an
    /// earlier [`kick`](Self::kick) left.
    pub(crate) fn receive(&mut self, most: usize, mut take: impl FnMut(&[u8])) -> usize {
        self.kick();
        let mut count = 0;
        while count < most {
            let Some(frame) = self.receiving.pop() else { break };
            take(self.chunks.bytes(frame.addr, frame.len));
            // In aligned mode any address inside a chunk gives the chunk back.
            self.fill.push(frame.addr);
            count += 1;
        }
        if count > 0 {
            self.receiving.publish();
            self.fill.publish();
        }
        count
    }

    /// Copies frames to be sent while there is room; returns how many. [`kick`](Self::kick) sends.
    pub(crate) fn send<'a>(&mut self, frames: impl Iterator<Item = &'a [u8]>) -> usize {
        while let Some(address) = self.completion.pop() {
            self.free.push(address);
        }
        self.completion.publish();
        let mut count = 0;
        for frame in frames {
            let Some(address) = self.free.pop() else { break };
            // Only a caller's mistake is cut.
            let frame = &frame[..frame.len().min(LONGEST)];
            self.chunks.fill(address, frame);
            let len = frame.len() as u32;
            self.sending.push(libc::xdp_desc { addr: address, len, options: 0 });
            count += 1;
        }
        self.sending.publish();
        count
    }

    /// Has the kernel send what waits to be sent, some 32 frames in each system call, as far as it
    /// takes them.
    pub(crate) fn kick(&self) {
        let mut left = self.sending.waiting();
        while left > 0 {
            let number = self.descriptor.as_raw_fd();
            // SAFETY: an empty message to no address: numbers and null pointers only.
            unsafe {
                libc::sendto(number, std::ptr::null(), 0, libc::MSG_DONTWAIT, std::ptr::null(), 0)
            };
            let now = self.sending.waiting();
            if now == left {
                break;
            }
            left = now;
        }
    }

    /// Frames that the kernel has dropped for want of room.
    pub(crate) fn dropped(&self) -> u64 {
        // SAFETY: all zeroes is a valid xdp_statistics.
        let mut found: libc::xdp_statistics = unsafe { std::mem::zeroed() };
        match get(&self.descriptor, libc::XDP_STATISTICS, &mut found) {
            Ok(()) => found.rx_dropped + found.rx_ring_full,
            Err(_) => 0,
        }
    }
}

fn set<T>(socket: &OwnedFd, option: libc::c_int, value: &T) -> io::Result<()> {
    let len = std::mem::size_of::<T>() as libc::socklen_t;
    let place = std::ptr::from_ref(value).cast();
    // SAFETY: the value lives over the call and its true size is given.
    let result = unsafe { libc::setsockopt(socket.as_raw_fd(), libc::SOL_XDP, option, place, len) };
    check(result).map(drop)
}

/// For structures of plain numbers only: the kernel may write less than all of it.
fn get<T>(socket: &OwnedFd, option: libc::c_int, value: &mut T) -> io::Result<()> {
    let mut len = std::mem::size_of::<T>() as libc::socklen_t;
    let place = std::ptr::from_mut(value).cast();
    // SAFETY: the kernel writes at most `len` bytes into the value, which lives over the call.
    let result =
        unsafe { libc::getsockopt(socket.as_raw_fd(), libc::SOL_XDP, option, place, &mut len) };
    check(result).map(drop)
}

/// The memory of the frames (the "UMEM").
struct Chunks {
    memory: Memory,
}

impl Chunks {
    fn new(count: usize) -> io::Result<Self> {
        Memory::new(count * CHUNK).map(|memory| Self { memory }).map_err(io::Error::other)
    }

    /// The address of a chunk, as the kernel counts.
    fn address(number: u32) -> u64 {
        u64::from(number) * CHUNK as u64
    }

    fn register(&self, socket: &OwnedFd) -> io::Result<()> {
        let chunks = libc::xdp_umem_reg {
            addr: self.memory.base().as_ptr() as u64,
            len: self.memory.len() as u64,
            chunk_size: CHUNK as u32,
            headroom: 0,
            flags: 0,
            tx_metadata_len: 0,
        };
        set(socket, libc::XDP_UMEM_REG, &chunks)
    }

    /// The bytes at an address; none when they do not lie inside one chunk.
    fn bytes(&self, address: u64, length: u32) -> &[u8] {
        let (at, length) = (address as usize, length as usize);
        if at + length > self.memory.len() || at % CHUNK + length > CHUNK {
            return &[];
        }
        // SAFETY: inside the memory, which lives as long as `self`; the kernel has given this
        // chunk to us and does not write to it until it is pushed to the fill ring, which needs
        // the socket mutably and so comes after the last use of the slice.
        unsafe { std::slice::from_raw_parts(self.memory.base().as_ptr().add(at), length) }
    }

    /// Writes a frame to the chunk at an address.
    fn fill(&mut self, address: u64, frame: &[u8]) {
        let at = address as usize;
        assert!(frame.len() <= CHUNK && at + CHUNK <= self.memory.len());
        // SAFETY: inside the memory by the line above, and the chunk is ours: its address was in
        // `free`, so that the kernel does not read it before it is pushed to the sending ring.
        unsafe {
            let to = self.memory.base().as_ptr().add(at);
            std::ptr::copy_nonoverlapping(frame.as_ptr(), to, frame.len());
        }
    }
}

impl std::fmt::Debug for Chunks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Chunks").field("bytes", &self.memory.len()).finish()
    }
}

/// One side of a ring with one producer and one consumer, of which one is the kernel. Whether it
/// is a ring to push to or to pop from is a matter of its kind; no ring is used for both.
#[derive(Debug)]
struct Ring<T> {
    mapping: NonNull<u8>,
    mapped_bytes: usize,
    producer: NonNull<AtomicU32>,
    consumer: NonNull<AtomicU32>,
    entries: NonNull<T>,
    mask: u32,
    /// Our position, which the kernel learns by `publish`.
    position: u32,
    /// Whether we push.
    is_ours: bool,
    _entries: PhantomData<T>,
}

// SAFETY: the pointers lead into a mapping that the ring owns, not bound to a thread.
unsafe impl<T: Send> Send for Ring<T> {}

impl<T: Copy> Ring<T> {
    /// Maps the ring that lies at `place` of the socket's file and holds `size` entries, a power
    /// of two.
    fn map(
        socket: &OwnedFd,
        place: u64,
        at: &libc::xdp_ring_offset,
        size: u32,
    ) -> io::Result<Self> {
        let mapped_bytes = at.desc as usize + size as usize * std::mem::size_of::<T>();
        // SAFETY: a new shared mapping of the ring, at an address that the kernel chooses.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                mapped_bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_POPULATE,
                socket.as_raw_fd(),
                place as libc::off_t,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let mapping = NonNull::new(address.cast::<u8>()).ok_or_else(io::Error::last_os_error)?;
        // SAFETY: the kernel says at which offsets of the mapping these lie, all in front of or
        // at `desc`, and aligned for their types.
        let (producer, consumer, entries) = unsafe {
            (
                mapping.add(at.producer as usize).cast(),
                mapping.add(at.consumer as usize).cast(),
                mapping.add(at.desc as usize).cast(),
            )
        };
        let is_ours =
            place == libc::XDP_PGOFF_TX_RING as u64 || place == libc::XDP_UMEM_PGOFF_FILL_RING;
        let mask = size - 1;
        let _entries = PhantomData;
        Ok(Self {
            mapping,
            mapped_bytes,
            producer,
            consumer,
            entries,
            mask,
            position: 0,
            is_ours,
            _entries,
        })
    }

    fn counters(&self) -> (&AtomicU32, &AtomicU32) {
        // SAFETY: both lie inside the mapping, which lives as long as `self`, and are only
        // reached as atomics by either side.
        unsafe { (self.producer.as_ref(), self.consumer.as_ref()) }
    }

    /// Writes the next entry. There is always room: no more entries circulate than a ring holds.
    fn push(&mut self, entry: T) {
        debug_assert!(self.is_ours);
        // SAFETY: the index is masked to the ring's size; the kernel reads the entry only after
        // `publish`, and has read the one that stood here, as every entry is ours again by then.
        unsafe { self.entries.add((self.position & self.mask) as usize).write(entry) };
        self.position = self.position.wrapping_add(1);
    }

    /// Takes the next entry that the kernel has written.
    fn pop(&mut self) -> Option<T> {
        debug_assert!(!self.is_ours);
        if self.counters().0.load(Ordering::Acquire) == self.position {
            return None;
        }
        // SAFETY: the index is masked; the producer's counter, read with acquire, says that this
        // entry is written, and the kernel does not write it again before `publish`.
        let entry = unsafe { self.entries.add((self.position & self.mask) as usize).read() };
        self.position = self.position.wrapping_add(1);
        Some(entry)
    }

    /// Tells the kernel how far we are.
    fn publish(&self) {
        let (producer, consumer) = self.counters();
        let ours = if self.is_ours { producer } else { consumer };
        ours.store(self.position, Ordering::Release);
    }

    /// Entries that were pushed and that the kernel has not taken yet.
    fn waiting(&self) -> u32 {
        self.position.wrapping_sub(self.counters().1.load(Ordering::Acquire))
    }
}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        // SAFETY: mapped by `map` with this size; nothing borrowed from it outlives `self`.
        unsafe { libc::munmap(self.mapping.as_ptr().cast(), self.mapped_bytes) };
    }
}
