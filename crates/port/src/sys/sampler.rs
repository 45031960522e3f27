//! The signal handler, timer and buffer of [`crate::sampler`].
//!
//! A monotonic timer interrupts one thread with SIGPROF; the handler walks the stack of that
//! thread and appends the return addresses to a buffer that was allocated before. Only the thread
//! that owns the [`Recorder`] is interrupted, and only it reads the buffer, so nothing is shared.

use std::io;
use std::ptr;
use std::sync::atomic::{AtomicI32, AtomicPtr, Ordering};

/// Deepest stack that is kept, innermost frames first.
const MAX_DEPTH: usize = 96;
/// Addresses that a recording holds; what comes later is counted as lost. 16 MiB.
const CAPACITY: usize = 2 << 20;

/// The recording that the handler writes to; null when there is none.
static ACTIVE: AtomicPtr<Buffer> = AtomicPtr::new(ptr::null_mut());

/// The thread that [`ACTIVE`] belongs to, 0 for none. Asked first: a signal that reaches another
/// thread (late, or sent by somebody) must not follow a pointer that its owner may free meanwhile.
static OWNER: AtomicI32 = AtomicI32::new(0);

/// Stacks one after the other: length, then so many addresses, innermost first.
struct Buffer {
    words: Vec<usize>,
    lost: u64,
}

/// A running recording of the thread that started it.
pub(crate) struct Recorder {
    timer: libc::timer_t,
    /// Made by `Box::into_raw`. Being a pointer, it also keeps the recorder on its thread, which
    /// the handler relies on.
    buffer: *mut Buffer,
}

/// Stacks as addresses, innermost first; the first address of each is where the thread was.
pub(crate) struct Recorded {
    pub(crate) stacks: Vec<Vec<usize>>,
    pub(crate) lost: u64,
}

impl Recorder {
    /// Starts to record the calling thread.
    pub(crate) fn start(frequency_hz: u32) -> io::Result<Self> {
        // The first walk loads what the unwinder needs, which must not happen in a signal handler.
        let mut depth = 0;
        walk(&mut |_| {
            depth += 1;
            depth < MAX_DEPTH
        });
        let words = Vec::with_capacity(CAPACITY);
        let buffer = Box::new(Buffer { words, lost: 0 });
        let buffer = Box::into_raw(buffer);
        if ACTIVE
            .compare_exchange(ptr::null_mut(), buffer, Ordering::AcqRel, Ordering::Acquire)
            .is_err()
        {
            free(buffer);
            return Err(io::Error::from(io::ErrorKind::ResourceBusy));
        }
        OWNER.store(this_thread(), Ordering::Release);
        match install_handler().and_then(|()| start_timer(frequency_hz)) {
            Ok(timer) => Ok(Self { timer, buffer }),
            Err(error) => {
                OWNER.store(0, Ordering::Release);
                ACTIVE.store(ptr::null_mut(), Ordering::Release);
                free(buffer);
                Err(error)
            }
        }
    }

    /// Ends the recording.
    pub(crate) fn stop(self) -> Recorded {
        self.end();
        // SAFETY: the handler no longer has the buffer, which lives until `self` is dropped.
        let buffer = unsafe { &*self.buffer };
        let words = &buffer.words;
        let mut stacks = Vec::new();
        let mut at = 0;
        while let Some(&length) = words.get(at) {
            stacks.push(words[at + 1..at + 1 + length].to_vec());
            at += 1 + length;
        }
        Recorded { stacks, lost: buffer.lost }
    }

    /// Stops the timer and takes the buffer from the handler: a signal that comes late finds no
    /// recording.
    fn end(&self) {
        let never = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        let never = libc::itimerspec { it_interval: never, it_value: never };
        // SAFETY: the timer was made by timer_create and is deleted by `drop` only.
        unsafe { libc::timer_settime(self.timer, 0, &never, ptr::null_mut()) };
        OWNER.store(0, Ordering::Release);
        ACTIVE.store(ptr::null_mut(), Ordering::Release);
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.end();
        // SAFETY: the timer was made by timer_create and is deleted here only.
        unsafe { libc::timer_delete(self.timer) };
        free(self.buffer);
    }
}

/// Frees a buffer that the handler cannot reach any more.
fn free(buffer: *mut Buffer) {
    // SAFETY: `buffer` comes from `Box::into_raw` in `start`, is freed once, and ACTIVE does not
    // hold it.
    drop(unsafe { Box::from_raw(buffer) });
}

/// Makes SIGPROF call [`on_signal`]. It stays so for good: the default action would end the
/// process if a signal came late.
fn install_handler() -> io::Result<()> {
    // SAFETY: sigaction is plain data, zeroes are its empty value; the handler has the signature
    // that SA_SIGINFO asks for and lives as long as the program.
    let result = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
            on_signal;
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        libc::sigaction(libc::SIGPROF, &action, ptr::null_mut())
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Interrupts the calling thread `frequency_hz` times a second.
fn start_timer(frequency_hz: u32) -> io::Result<libc::timer_t> {
    let every_ns = 1_000_000_000 / i64::from(frequency_hz.clamp(1, 100_000));
    let period =
        libc::timespec { tv_sec: every_ns / 1_000_000_000, tv_nsec: every_ns % 1_000_000_000 };
    let times = libc::itimerspec { it_interval: period, it_value: period };
    let mut timer: libc::timer_t = ptr::null_mut();
    // SAFETY: sigevent is plain data; the kernel reads both structures during the calls only and
    // writes the timer's id to `timer`, which is used after success alone.
    unsafe {
        let mut event: libc::sigevent = std::mem::zeroed();
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = libc::SIGPROF;
        event.sigev_notify_thread_id = this_thread();
        if libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, &mut timer) != 0 {
            return Err(io::Error::last_os_error());
        }
        if libc::timer_settime(timer, 0, &times, ptr::null_mut()) != 0 {
            let error = io::Error::last_os_error();
            libc::timer_delete(timer);
            return Err(error);
        }
    }
    Ok(timer)
}

/// Appends the stack of the interrupted thread.
///
/// Async-signal-safe: it allocates nothing (the buffer's capacity is never exceeded) and takes no
/// lock; the unwinder reads tables that are mapped already.
extern "C" fn on_signal(_: libc::c_int, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    if OWNER.load(Ordering::Acquire) != this_thread() {
        return;
    }
    let place = ACTIVE.load(Ordering::Acquire);
    if place.is_null() {
        return;
    }
    // SAFETY: this is the thread that made the recording, and the only one that frees its buffer,
    // which it does after it has cleared both statics: while they are set the buffer lives. No
    // other thread comes here, and this one does not touch the buffer between their being set and
    // cleared but in this handler, which does not interrupt itself.
    let buffer = unsafe { &mut *place };
    let start = buffer.words.len();
    if start + 1 + MAX_DEPTH > buffer.words.capacity() {
        buffer.lost += 1;
        return;
    }
    let interrupted = program_counter(context);
    buffer.words.push(0);
    // The walk begins in this handler; what counts begins where the thread was interrupted.
    let mut is_inside = false;
    walk(&mut |address| {
        is_inside |= address == interrupted;
        if is_inside {
            buffer.words.push(address);
        }
        buffer.words.len() - start - 1 < MAX_DEPTH
    });
    if !is_inside {
        buffer.words.push(interrupted);
    }
    buffer.words[start] = buffer.words.len() - start - 1;
}

/// The kernel's id of the calling thread.
fn this_thread() -> libc::pid_t {
    // SAFETY: gettid has no arguments and cannot fail.
    unsafe { libc::gettid() }
}

/// Calls `visit` with the address in each frame, innermost first, while it says so.
fn walk(visit: &mut dyn FnMut(usize) -> bool) {
    // SAFETY: unsynchronised use is asked for because a handler must take no lock; one thread
    // records at a time (ACTIVE), and resolving happens when the recording is over.
    unsafe { backtrace::trace_unsynchronized(|frame| visit(frame.ip() as usize)) };
}

/// Where the thread was when the signal came.
fn program_counter(context: *mut libc::c_void) -> usize {
    if context.is_null() {
        return 0;
    }
    // SAFETY: a handler with SA_SIGINFO gets a valid ucontext_t as its third argument.
    let machine = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext };
    #[cfg(target_arch = "x86_64")]
    return machine.gregs[libc::REG_RIP as usize] as usize;
    #[cfg(target_arch = "aarch64")]
    return machine.pc as usize;
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        let _ = machine;
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_on_a_thread_without_a_recording_does_not_follow_its_pointer() {
        // Addresses that nothing is mapped at: following one ends the process.
        let _one_at_a_time = crate::sampler::TESTS.lock();
        let nowhere = ptr::without_provenance_mut(64);
        OWNER.store(-1, Ordering::Release);
        ACTIVE.store(nowhere, Ordering::Release);
        on_signal(libc::SIGPROF, ptr::null_mut(), ptr::null_mut());
        assert_eq!(ACTIVE.load(Ordering::Acquire), nowhere, "left as it was");
        ACTIVE.store(ptr::null_mut(), Ordering::Release);
        OWNER.store(0, Ordering::Release);
    }
}
