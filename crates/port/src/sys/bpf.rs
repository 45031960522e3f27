//! The bpf(2) system call: maps, programs, links, and live frames.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::AtomicU64;

const MAP_CREATE: libc::c_long = 0;
const MAP_UPDATE: libc::c_long = 2;
const PROG_LOAD: libc::c_long = 5;
const PROG_TEST_RUN: libc::c_long = 10;
const LINK_CREATE: libc::c_long = 28;

/// The map can be mapped into memory (BPF_F_MMAPABLE).
const MMAPABLE: u32 = 1 << 10;
/// The frames of a test run are real ones (BPF_F_TEST_XDP_LIVE_FRAMES).
const LIVE_FRAMES: u32 = 1 << 1;
/// XDP inside the driver (XDP_FLAGS_DRV_MODE).
const DRIVER_MODE: u32 = 1 << 2;
const GENERIC_MODE: u32 = 1 << 1;
/// Attach type of XDP programs (BPF_XDP).
const ATTACH_XDP: u32 = 37;

/// An array (BPF_MAP_TYPE_ARRAY).
const MAP_ARRAY: u32 = 2;
/// Programs to go on with (BPF_MAP_TYPE_PROG_ARRAY).
const MAP_PROGRAMS: u32 = 3;
/// Sockets to hand frames to (BPF_MAP_TYPE_XSKMAP).
const MAP_SOCKETS: u32 = 17;
/// A program that sees each frame that an interface receives (BPF_PROG_TYPE_XDP).
const PROGRAM_XDP: u32 = 6;
/// Signals while one program is loaded, each of which makes the kernel begin anew.
const MOST_SIGNALS: u32 = 8;

fn bpf<T>(command: libc::c_long, attribute: &mut T) -> io::Result<libc::c_long> {
    let size = std::mem::size_of::<T>();
    // SAFETY: the attribute is a plain structure of the size given, made for this command; the
    // addresses in it are those of buffers that the callers below keep alive over the call.
    let result =
        unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_mut(attribute), size) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn descriptor(command: libc::c_long, attribute: &mut impl Sized) -> io::Result<OwnedFd> {
    let number = bpf(command, attribute)?;
    // SAFETY: the commands used with this function return a new descriptor that is ours alone.
    Ok(unsafe { OwnedFd::from_raw_fd(number as libc::c_int) })
}

/// Tries again where a signal came between, but not for ever: the verifier then gives up with EAGAIN,
/// whatever the program is.
fn despite_signals<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let mut done = attempt();
    for _ in 0..MOST_SIGNALS {
        if !done.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock) {
            break;
        }
        done = attempt();
    }
    done
}

fn name(text: &str) -> [u8; 16] {
    let mut name = [0; 16];
    for (to, from) in name.iter_mut().take(15).zip(text.bytes()) {
        *to = from;
    }
    name
}

/// An array of 64-bit numbers that programs of the kernel and this process share.
#[derive(Debug)]
pub struct Map {
    descriptor: OwnedFd,
    memory: NonNull<AtomicU64>,
    words: usize,
}

// SAFETY: the memory is only reached as atomics and stays mapped as long as the map lives.
unsafe impl Send for Map {}
// SAFETY: as above; all methods only hand out shared atomics.
unsafe impl Sync for Map {}

#[repr(C)]
#[derive(Default)]
struct CreateMap {
    kind: u32,
    key_size: u32,
    value_size: u32,
    max_entries: u32,
    flags: u32,
    inner: u32,
    node: u32,
    name: [u8; 16],
}

impl Map {
    /// An array of `elements` elements of `element_words` numbers, all 0.
    ///
    /// # Errors
    /// There is no memory, or no privilege.
    pub fn array(called: &str, elements: u32, element_words: u32) -> io::Result<Self> {
        let mut attribute = CreateMap {
            kind: MAP_ARRAY,
            key_size: 4,
            value_size: element_words * 8,
            max_entries: elements,
            flags: MMAPABLE,
            name: name(called),
            ..CreateMap::default()
        };
        let descriptor = descriptor(MAP_CREATE, &mut attribute)?;
        let words = elements as usize * element_words as usize;
        // SAFETY: a new shared mapping of the map, at an address that the kernel chooses.
        let address = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                words * 8,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                descriptor.as_raw_fd(),
                0,
            )
        };
        if address == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let memory = NonNull::new(address.cast()).ok_or_else(io::Error::last_os_error)?;
        Ok(Self { descriptor, memory, words })
    }

    /// All numbers of all elements, one element after the other.
    pub fn words(&self) -> &[AtomicU64] {
        // SAFETY: so many words are mapped until `drop`, page-aligned, and only reached as atomics.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr(), self.words) }
    }

    pub(crate) fn number(&self) -> u32 {
        self.descriptor.as_raw_fd() as u32
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: mapped by `array` with this size, and no slice outlives `self`.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.words * 8) };
    }
}

/// A map that only programs look into: sockets to hand frames to, or programs to go on with. It
/// must live as long as they are to be found in it.
#[derive(Debug)]
pub struct Table {
    descriptor: OwnedFd,
}

#[repr(C)]
struct UpdateMap {
    map: u32,
    key: u64,
    value: u64,
    flags: u64,
}

impl Table {
    /// Room for `elements` AF_XDP sockets.
    ///
    /// # Errors
    /// There is no memory, or no privilege.
    pub fn sockets(called: &str, elements: u32) -> io::Result<Self> {
        Self::new(called, MAP_SOCKETS, elements)
    }

    /// Room for `elements` programs.
    ///
    /// # Errors
    /// There is no memory, or no privilege.
    pub fn programs(called: &str, elements: u32) -> io::Result<Self> {
        Self::new(called, MAP_PROGRAMS, elements)
    }

    fn new(called: &str, kind: u32, elements: u32) -> io::Result<Self> {
        let mut attribute = CreateMap {
            kind,
            key_size: 4,
            value_size: 4,
            max_entries: elements,
            name: name(called),
            ..CreateMap::default()
        };
        Ok(Self { descriptor: descriptor(MAP_CREATE, &mut attribute)? })
    }

    /// Puts a socket or a program into its place.
    ///
    /// # Errors
    /// There is no such place, or it is none that fits.
    pub fn set(&self, place: u32, what: BorrowedFd<'_>) -> io::Result<()> {
        let number = what.as_raw_fd() as u32;
        let mut attribute = UpdateMap {
            map: self.number(),
            key: std::ptr::from_ref(&place) as u64,
            value: std::ptr::from_ref(&number) as u64,
            flags: 0,
        };
        bpf(MAP_UPDATE, &mut attribute).map(drop)
    }

    pub(crate) fn number(&self) -> u32 {
        self.descriptor.as_raw_fd() as u32
    }
}

/// A loaded XDP program.
#[derive(Debug)]
pub struct Program {
    descriptor: OwnedFd,
}

#[repr(C)]
#[derive(Default)]
struct LoadProgram {
    kind: u32,
    instruction_count: u32,
    instructions: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
    name: [u8; 16],
    interface: u32,
    attach_type: u32,
}

impl Program {
    /// Has the kernel verify and compile an XDP program.
    ///
    /// # Errors
    /// The kernel refuses; what its verifier said is part of the error.
    pub fn load_xdp(called: &str, code: &[u8]) -> io::Result<Self> {
        let attempt = |log: &mut [u8]| {
            let mut attribute = LoadProgram {
                kind: PROGRAM_XDP,
                instruction_count: (code.len() / 8) as u32,
                instructions: code.as_ptr() as u64,
                license: c"Dual BSD/GPL".as_ptr() as u64,
                log_level: u32::from(!log.is_empty()),
                log_size: log.len() as u32,
                log: if log.is_empty() { 0 } else { log.as_mut_ptr() as u64 },
                name: name(called),
                attach_type: ATTACH_XDP,
                ..LoadProgram::default()
            };
            descriptor(PROG_LOAD, &mut attribute)
        };
        let loaded = despite_signals(|| attempt(&mut []));
        loaded.map(|descriptor| Self { descriptor }).map_err(|refusal| {
            let mut log = vec![0; 1 << 16];
            match despite_signals(|| attempt(&mut log)) {
                Err(error) if error.kind() != io::ErrorKind::PermissionDenied || log[0] != 0 => {
                    let said = last_lines(&log);
                    io::Error::new(io::ErrorKind::InvalidData, format!("{called}: {error}: {said}"))
                }
                _ => refusal,
            }
        })
    }

    /// Runs an XDP program on frames that are real: what it answers for each is done, as if the
    /// frame had come in by interface `live.interface`. Returns when `live.repeat` frames are done.
    ///
    /// # Errors
    /// The kernel cannot (before 5.18), there is no such interface, or a signal came.
    pub fn run_live(&self, live: &LiveFrames<'_>) -> io::Result<()> {
        let length = live.frame.len() as u32;
        // struct xdp_md: data, data_end, data_meta, ingress_ifindex, rx_queue_index, egress_ifindex
        let context: [u32; 6] = [0, length, 0, live.interface, 0, 0];
        let mut attribute = TestRun {
            program: self.descriptor.as_raw_fd() as u32,
            data_size_in: length,
            data_in: live.frame.as_ptr() as u64,
            repeat: live.repeat,
            context_size_in: std::mem::size_of_val(&context) as u32,
            context_in: context.as_ptr() as u64,
            flags: LIVE_FRAMES,
            batch_size: live.batch,
            ..TestRun::default()
        };
        bpf(PROG_TEST_RUN, &mut attribute).map(drop)
    }
}

/// Frames to run a program on.
#[derive(Clone, Copy, Debug)]
pub struct LiveFrames<'a> {
    /// What each frame holds at first. Frames are used again: the program sees what it, and
    /// whoever got the frame, left in it.
    pub frame: &'a [u8],
    /// Number of the interface.
    pub interface: u32,
    /// How many frames.
    pub repeat: u32,
    /// Frames handed on at once, at most 256.
    pub batch: u32,
}

#[repr(C)]
#[derive(Default)]
struct TestRun {
    program: u32,
    answer: u32,
    data_size_in: u32,
    data_size_out: u32,
    data_in: u64,
    data_out: u64,
    repeat: u32,
    duration: u32,
    context_size_in: u32,
    context_size_out: u32,
    context_in: u64,
    context_out: u64,
    flags: u32,
    cpu: u32,
    batch_size: u32,
    unused: u32,
}

/// The end of the verifier's log, on one line.
fn last_lines(log: &[u8]) -> String {
    let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
    let text = String::from_utf8_lossy(&log[..end]);
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("processed")).collect();
    lines[lines.len().saturating_sub(6)..].join(" | ")
}

/// A program on an interface; taken off when dropped.
#[derive(Debug)]
pub struct XdpLink {
    _descriptor: OwnedFd,
}

#[repr(C)]
#[derive(Default)]
struct CreateLink {
    program: u32,
    interface: u32,
    attach_type: u32,
    flags: u32,
}

/// Attaches an XDP program to the interface of this number, inside its driver.
///
/// # Errors
/// The driver cannot, or there is another program.
pub fn attach_xdp(program: &Program, interface: u32) -> io::Result<XdpLink> {
    attach(program, interface, DRIVER_MODE)
}

/// Attaches an XDP program to an interface that has no driver for it, such as the loopback.
///
/// # Errors
/// There is no such interface, or it has another program.
pub fn attach_xdp_generic(program: &Program, interface: u32) -> io::Result<XdpLink> {
    attach(program, interface, GENERIC_MODE)
}

fn attach(program: &Program, interface: u32, flags: u32) -> io::Result<XdpLink> {
    let program = program.descriptor.as_raw_fd() as u32;
    let mut attribute = CreateLink { program, interface, attach_type: ATTACH_XDP, flags };
    Ok(XdpLink { _descriptor: descriptor(LINK_CREATE, &mut attribute)? })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Instant;

    use super::*;

    /// How often `despite_signals` tries where the first `signals` attempts meet one, and whether it
    /// gets through.
    fn tries(signals: u32) -> (u32, bool) {
        let mut tried = 0;
        let done = despite_signals(|| {
            tried += 1;
            if tried > signals { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::EAGAIN)) }
        });
        (tried, done.is_ok())
    }

    #[test]
    fn what_a_signal_ends_is_tried_again_but_not_for_ever() {
        assert_eq!(tries(0), (1, true));
        assert_eq!(tries(MOST_SIGNALS), (MOST_SIGNALS + 1, true));
        assert_eq!(tries(u32::MAX), (MOST_SIGNALS + 1, false));
        let refused = despite_signals(|| -> io::Result<()> {
            Err(io::Error::from_raw_os_error(libc::EPERM))
        });
        assert_eq!(refused.expect_err("as it was").raw_os_error(), Some(libc::EPERM));
    }

    /// Counts to 100,000, every step of which the verifier walks through.
    fn long_to_verify() -> Vec<u8> {
        [
            [0xb7, 0x01, 0, 0, 0, 0, 0, 0],                   // r1 = 0
            [0x07, 0x01, 0, 0, 1, 0, 0, 0],                   // r1 += 1
            [0xa5, 0x01, 0xfe, 0xff, 0xa0, 0x86, 0x01, 0x00], // if r1 < 100,000: one line up
            [0xb7, 0x00, 0, 0, 2, 0, 0, 0],                   // r0 = XDP_PASS
            [0x95, 0, 0, 0, 0, 0, 0, 0],                      // exit
        ]
        .concat()
    }

    static HEARD: AtomicU32 = AtomicU32::new(0);

    extern "C" fn hear(_: libc::c_int) {
        HEARD.fetch_add(1, Ordering::Relaxed);
    }

    #[test]
    fn a_signal_while_a_program_is_loaded_is_no_refusal() {
        let code = long_to_verify();
        let begin = Instant::now();
        match Program::load_xdp("fwdlab_long", &code) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return eprintln!(
                    "SKIPPED a_signal_while_a_program_is_loaded_is_no_refusal: needs root: {error}"
                );
            }
            loaded => drop(loaded.expect("it loads where nobody disturbs")),
        }
        let step = begin.elapsed() / 4;
        let signal = libc::SIGRTMIN() + 5;
        let handler: extern "C" fn(libc::c_int) = hear;
        // SAFETY: the handler touches an atomic alone; nobody else uses this signal.
        let before = unsafe { libc::signal(signal, handler as *const () as libc::sighandler_t) };
        assert_ne!(before, libc::SIG_ERR);
        // SAFETY: no preconditions.
        let loader = unsafe { libc::pthread_self() };
        for _ in 0..10 {
            std::thread::scope(|scope| {
                // Fewer than what is borne, so that it loads in the end however busy the machine is.
                scope.spawn(|| {
                    for _ in 0..MOST_SIGNALS / 2 {
                        std::thread::sleep(step);
                        // SAFETY: the loading thread waits for this one before it ends.
                        unsafe { libc::pthread_kill(loader, signal) };
                    }
                });
                let loaded = Program::load_xdp("fwdlab_long", &code);
                loaded.expect("it loads, whatever signals come");
            });
        }
        assert_eq!(HEARD.load(Ordering::Relaxed), 10 * (MOST_SIGNALS / 2));
    }
}
