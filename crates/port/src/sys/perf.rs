//! Samples of where one processor spends its time (perf_event_open(2)): the kernel's own clock
//! interrupts it once a period and notes the call chain.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering, fence};

/// `perf_event_attr` as words of 64 bits, in its fifth version.
const ATTRIBUTE_WORDS: usize = 14;
const TYPE_SOFTWARE: u64 = 1;
const CONFIG_CPU_CLOCK: u64 = 0;
const SAMPLE_CALL_CHAIN: u64 = 1 << 5;
/// Begin disabled; leave out the idle task and the user's part of call chains.
const FLAGS: u64 = 1 | 1 << 7 | 1 << 22;

/// Requests of ioctl(2).
const ENABLE: libc::c_ulong = 0x2400;
const DISABLE: libc::c_ulong = 0x2401;

const PAGE: usize = 4096;
/// Room for the samples of one clock: 2 MiB hold some 8,000 chains of 30 functions.
const DATA_BYTES: usize = 2 << 20;
/// Where the first page says how far the kernel has written.
const HEAD_OFFSET: usize = 1024;

const RECORD_SAMPLE: u32 = 9;
const RECORD_LOST: u32 = 2;
/// Addresses from here on are marks in a chain ("kernel begins", "user begins").
const FIRST_MARK: u64 = u64::MAX - 4095;

/// A running sampler.
#[derive(Debug)]
pub(crate) struct Sampler {
    descriptor: OwnedFd,
    ring: NonNull<u8>,
}

/// What a sampler has noted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// Call chains as addresses, the innermost function first.
    pub chains: Vec<Vec<u64>>,
    /// Samples that did not fit.
    pub lost: u64,
}

impl Sampler {
    /// Samples `processor` every `period_ns`, whatever runs on it, from now on.
    pub(crate) fn start(processor: i32, period_ns: u64) -> io::Result<Self> {
        let mut attribute = [0_u64; ATTRIBUTE_WORDS];
        attribute[0] = TYPE_SOFTWARE | (ATTRIBUTE_WORDS as u64 * 8) << 32;
        attribute[1] = CONFIG_CPU_CLOCK;
        attribute[2] = period_ns;
        attribute[3] = SAMPLE_CALL_CHAIN;
        attribute[5] = FLAGS;
        let (every_process, no_group, no_flags): (libc::pid_t, libc::c_int, libc::c_ulong) =
            (-1, -1, 0);
        // SAFETY: the attribute lives over the call and says its own size; the rest are numbers.
        let number = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                attribute.as_ptr(),
                every_process,
                processor,
                no_group,
                no_flags,
            )
        };
        if number < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new, valid and nobody else's.
        let descriptor = unsafe { OwnedFd::from_raw_fd(number as libc::c_int) };
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let null = std::ptr::null_mut();
        let raw = descriptor.as_raw_fd();
        // SAFETY: a new shared mapping at an address of the kernel's choice.
        let ring =
            unsafe { libc::mmap(null, PAGE + DATA_BYTES, protection, libc::MAP_SHARED, raw, 0) };
        if ring == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let ring = NonNull::new(ring.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        let sampler = Self { descriptor, ring };
        sampler.control(ENABLE)?;
        Ok(sampler)
    }

    /// Ends sampling and returns what was noted.
    pub(crate) fn stop(self) -> io::Result<Samples> {
        self.control(DISABLE)?;
        // SAFETY: the kernel keeps an aligned 64-bit position here, in our mapping.
        let head = unsafe { &*self.ring.add(HEAD_OFFSET).as_ptr().cast::<AtomicU64>() };
        let written = head.load(Ordering::Acquire) as usize;
        fence(Ordering::Acquire);
        // SAFETY: the data pages follow the first one; the event is off, so that nobody writes to
        // them any more.
        let data = unsafe { std::slice::from_raw_parts(self.ring.add(PAGE).as_ptr(), DATA_BYTES) };
        // We never said that we had read anything, so the kernel never wrapped around.
        Ok(parse(&data[..written.min(DATA_BYTES)]))
    }

    fn control(&self, request: libc::c_ulong) -> io::Result<()> {
        // SAFETY: these two requests take a number only.
        match unsafe { libc::ioctl(self.descriptor.as_raw_fd(), request as _, 0) } {
            0.. => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping that `start` made; no borrow of it outlives `stop`.
        unsafe { libc::munmap(self.ring.as_ptr().cast(), PAGE + DATA_BYTES) };
    }
}

/// Reads records: a header of type (32 bits), misc (16) and size (16), then for a sample the
/// number of addresses and the addresses, for a loss an id and a count.
fn parse(mut data: &[u8]) -> Samples {
    let word = |bytes: &[u8], index: usize| {
        let bytes = bytes.get(8 * index..8 * index + 8)?;
        Some(u64::from_ne_bytes(bytes.try_into().ok()?))
    };
    let mut samples = Samples::default();
    while let Some(header) = word(data, 0) {
        let (kind, size) = (header as u32, (header >> 48) as usize);
        if size < 8 || size > data.len() {
            break;
        }
        let (record, rest) = data.split_at(size);
        let body = &record[8..];
        if kind == RECORD_SAMPLE {
            let count = word(body, 0).unwrap_or(0) as usize;
            let addresses = (1..=count).map_while(|index| word(body, index));
            samples.chains.push(addresses.filter(|&address| address < FIRST_MARK).collect());
        } else if kind == RECORD_LOST {
            samples.lost += word(body, 1).unwrap_or(0);
        }
        data = rest;
    }
    samples
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(kind: u32, body: &[u64]) -> Vec<u8> {
        let size = 8 + 8 * body.len() as u64;
        let header = u64::from(kind) | size << 48;
        std::iter::once(&header).chain(body).flat_map(|word| word.to_ne_bytes()).collect()
    }

    #[test]
    fn chains_lose_their_marks_and_a_cut_record_ends_the_reading() {
        let mut data = record(RECORD_SAMPLE, &[3, (-128_i64) as u64, 0xffff_ffff_8100_0000, 7]);
        data.extend(record(RECORD_LOST, &[1, 5]));
        data.extend(record(77, &[1]));
        data.extend(record(RECORD_SAMPLE, &[1, 9]));
        let whole = Samples { chains: vec![vec![0xffff_ffff_8100_0000, 7], vec![9]], lost: 5 };
        assert_eq!(parse(&data), whole);
        assert_eq!(parse(&data[..data.len() - 1]).chains.len(), 1);
    }
}
