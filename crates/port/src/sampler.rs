//! A sampling profiler for one thread of this process: no root, no perf, no other thread
//! disturbed.
//!
//! A timer of the monotonic clock interrupts the thread and records its call stack. For a thread
//! that polls on a core of its own this is a profile of its time; kernel frames are not seen. The
//! timer has high resolution, so the sampling rate does not depend on the kernel's tick.
//!
//! ```
//! use fwdlab_port::sampler::Sampler;
//!
//! let sampler = Sampler::start(1999)?;
//! let mut sum = 0_u64;
//! for n in 0..20_000_000_u64 {
//!     sum = std::hint::black_box(sum.wrapping_mul(31) ^ n);
//! }
//! let samples = sampler.stop();
//! assert!(samples.total() > 0 && samples.lost == 0);
//! # Ok::<(), fwdlab_port::PortError>(())
//! ```

use std::collections::{BTreeMap, HashMap};

use crate::PortError;
use crate::sys::sampler::{Recorded, Recorder};

/// A running recording of the thread that started it. One at a time in a process.
pub struct Sampler(Recorder);

/// What was recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples {
    /// Samples by stack, outermost function first; inlined functions are frames of their own
    /// where the program holds line tables. Names are without generic arguments.
    pub stacks: BTreeMap<Vec<String>, u64>,
    /// Samples for which there was no room.
    pub lost: u64,
}

impl Sampler {
    /// Starts to record the calling thread, `frequency_hz` times a second.
    ///
    /// # Errors
    /// Another recording runs in this process, or the system grants no timer.
    pub fn start(frequency_hz: u32) -> Result<Self, PortError> {
        Recorder::start(frequency_hz).map(Self).map_err(|source| PortError::Sampler { source })
    }

    /// Ends the recording and finds the names of the functions, which takes up to a second the
    /// first time.
    pub fn stop(self) -> Samples {
        named(self.0.stop())
    }
}

impl Samples {
    /// Samples in all stacks.
    pub fn total(&self) -> u64 {
        self.stacks.values().sum()
    }
}

/// Puts names to addresses.
fn named(recorded: Recorded) -> Samples {
    let mut names: HashMap<usize, Vec<String>> = HashMap::new();
    let mut samples = Samples { stacks: BTreeMap::new(), lost: recorded.lost };
    for stack in recorded.stacks {
        let mut frames = Vec::new();
        for (depth, &address) in stack.iter().enumerate() {
            // `resolve` looks one byte before a return address; the innermost is none.
            let address = if depth == 0 { address + 1 } else { address };
            let functions = names.entry(address).or_insert_with(|| functions_at(address));
            frames.extend(functions.iter().cloned());
        }
        frames.reverse();
        *samples.stacks.entry(frames).or_insert(0) += 1;
    }
    samples
}

/// The functions at an address, innermost first: one, and those it is inlined into. Those of Rust's
/// core library (iterators, atomics, options) are left out where something else called them: their
/// time is their caller's.
fn functions_at(address: usize) -> Vec<String> {
    let mut all = Vec::new();
    let mut wanted = Vec::new();
    backtrace::resolve(address as *mut _, |symbol| {
        let file = symbol.filename().map(|file| file.to_string_lossy().into_owned());
        // `{:#}` leaves out the hash at the end.
        let name = symbol.name().map_or("[unknown]".to_owned(), |name| format!("{name:#}"));
        let name = placed(plain(&name), file.as_deref());
        if !file.is_some_and(|file| file.contains("/library/core/")) {
            wanted.push(name.clone());
        }
        all.push(name);
    });
    match (wanted.is_empty(), all.is_empty()) {
        (false, _) => wanted,
        (true, false) => all,
        (true, true) => vec!["[unknown]".to_owned()],
    }
}

/// A function's name without generic arguments; of `<Type as Trait>::function` the type and the
/// function.
fn plain(name: &str) -> String {
    let mut out = String::new();
    let mut rest = name;
    while let Some(c) = rest.chars().next() {
        if c != '<' {
            out.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let (inside, after) = bracketed(rest);
        let is_generic = out.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | ':'));
        if is_generic {
            out.truncate(out.trim_end_matches("::").len());
        } else {
            let is_type = inside.find(" as ").unwrap_or(inside.len());
            // A generic argument before " as " would have been cut in two.
            let of_type = if inside[..is_type].contains('<') { inside } else { &inside[..is_type] };
            let of_type = plain(of_type);
            out.push_str(of_type.split(" as ").next().unwrap_or(&of_type));
        }
        rest = after;
    }
    out
}

/// What stands between the bracket with which `text` begins and its partner, and what follows.
/// The arrow of a function type is no bracket.
fn bracketed(text: &str) -> (&str, &str) {
    let mut depth = 0_usize;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if before != '-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (&text[1..at], &text[at + 1..]);
        }
        before = c;
    }
    (&text[1..], "")
}

/// A bare function name (line tables hold no paths) with the end of its file's path as its module:
/// `bit` in `algo/radix/tree.rs` is `radix::tree::bit`.
fn placed(name: String, file: Option<&str>) -> String {
    let Some(file) = file.filter(|_| !name.contains("::")) else { return name };
    let Some(stem) = file.strip_suffix(".rs") else { return name };
    let mut parts: Vec<&str> = stem
        .rsplit(['/', '\\'])
        .filter(|part| !matches!(*part, "mod" | "lib" | "src"))
        .take(2)
        .collect();
    parts.reverse();
    parts.push(&name);
    parts.join("::")
}

/// Held by the tests that record.
#[cfg(test)]
pub(crate) static TESTS: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn spin_for_the_sampler(rounds: u64) -> u64 {
        (0..rounds).fold(0, |sum: u64, n| std::hint::black_box(sum.wrapping_mul(31) ^ n))
    }

    #[test]
    fn names_lose_their_generic_arguments() {
        for (long, short) in [
            ("a::b::<u32>::c", "a::b::c"),
            ("<a::B<fn(u8) -> u8> as x::Trait<u32>>::go::{{closure}}", "a::B::go::{{closure}}"),
            ("bit<u32>", "bit"),
            ("new<core::slice::Iter<u32>, [u8; 4]>", "new"),
            ("<[T]>::len", "[T]::len"),
            ("plain_c_function", "plain_c_function"),
            ("broken<a", "broken"),
        ] {
            assert_eq!(plain(long), short);
        }
    }

    #[test]
    fn bare_names_get_the_module_of_their_file() {
        let tree = Some("/home/x/crates/fib/src/algo/radix/tree.rs");
        assert_eq!(placed("bit".to_owned(), tree), "radix::tree::bit");
        assert_eq!(placed("a::bit".to_owned(), tree), "a::bit");
        assert_eq!(placed("poll".to_owned(), Some("crates/port/src/lib.rs")), "crates::port::poll");
        assert_eq!(placed("memcpy".to_owned(), None), "memcpy");
    }

    /// One test, because there is one recording at a time in a process.
    #[test]
    fn samples_name_the_function_that_ran_and_only_one_recording_runs_at_a_time() {
        let _one_at_a_time = TESTS.lock();
        let sampler = Sampler::start(1999).unwrap();
        assert!(Sampler::start(1999).is_err());
        let begun = std::time::Instant::now();
        while begun.elapsed().as_millis() < 300 {
            spin_for_the_sampler(100_000);
        }
        let samples = sampler.stop();
        assert_eq!(samples.lost, 0);
        assert!(samples.total() > 30, "{} samples in 300 ms", samples.total());
        let of_spin: u64 = samples
            .stacks
            .iter()
            .filter(|(stack, _)| stack.iter().any(|f| f.contains("spin_for_the_sampler")))
            .map(|(_, n)| n)
            .sum();
        assert!(of_spin * 10 > samples.total() * 8, "{of_spin} of {}", samples.total());
        let again = Sampler::start(1999).unwrap();
        drop(again);
        assert!(Sampler::start(100).is_ok());
    }
}
