//! What a guest's console says of its end, and what to do about it.

use crate::qemu::PROGRAM;

/// What is quoted of a line of a console, in characters.
const LONGEST_QUOTE: usize = 300;

/// How lines begin, or what they hold, that say why a kernel stopped.
const REASONS: [&str; 4] = ["Kernel panic", "panic: ", "Fatal trap", "Fatal double fault"];

/// A FreeBSD kernel says so why it enters its debugger; of a panic it said more before.
const DEBUGGER: &str = "KDB: enter: ";

/// So many of a console's last lines are quoted, each as long as this.
const LAST_LINES: usize = 3;
const LAST_LENGTH: usize = 100;

/// How the last line begins when a FreeBSD kernel waits for a person: in its debugger, or for the
/// name of a root file system.
const QUESTIONS: [&str; 2] = ["db>", "mountroot>"];

/// The line of a console that says most about why a guest ended: the last panic, else the last
/// line; cut if it is long. With what to do, where that is known.
pub(super) fn telling_line(console: &str, has_begun: bool) -> String {
    let mut lines = console.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    let last = lines.next().unwrap_or("it said nothing");
    let holds = |words: &[&str]| {
        console.lines().rev().find(|line| words.iter().any(|word| line.contains(word)))
    };
    let reason = holds(&REASONS).or_else(|| holds(&[DEBUGGER]));
    let told: String = reason.map_or(last, str::trim).chars().take(LONGEST_QUOTE).collect();
    match remedy(console, has_begun) {
        Some(remedy) => format!("{told}; {remedy}"),
        None => told,
    }
}

/// The line that says most, what to do, and what the console ends with. A guest that `has_begun` is set
/// up, so that something of it may be to blame.
pub(super) fn told(console: &str, has_begun: bool) -> String {
    match ending(console).as_slice() {
        [] | [_] => telling_line(console, has_begun),
        _ => format!("{} ({})", telling_line(console, has_begun), last_lines(console)),
    }
}

/// What the console ends with.
pub(super) fn last_lines(console: &str) -> String {
    format!("its last lines: {}", ending(console).join(" | "))
}

fn ending(console: &str) -> Vec<String> {
    let lines = console.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    let mut last: Vec<String> =
        lines.take(LAST_LINES).map(|line| line.chars().take(LAST_LENGTH).collect()).collect();
    last.reverse();
    last
}

/// Whether the guest waits for an answer that nobody will give.
pub(super) fn asks(console: &str) -> bool {
    let last = console.lines().rev().map(str::trim).find(|line| !line.is_empty());
    last.is_some_and(|line| QUESTIONS.iter().any(|question| line.starts_with(question)))
}

/// What to do about a kernel that stopped once something was set, and before.
const UNSET: &str = "its console has the call trace; try the kernel without what the variant sets";
const UNTOUCHED: &str = "nothing had been set yet: its file may be damaged, compare it with the one that was \
                         built (sha256sum); or it does not bear what cmdline and start say";

/// What to do about a console's words.
fn remedy(console: &str, has_begun: bool) -> Option<&'static str> {
    let stopped = if has_begun { UNSET } else { UNTOUCHED };
    let remedies: [(&str, &'static str); 10] = [
        (
            "mountroot>",
            "the kernel needs device virtio_blk (and virtio_mmio or virtio_pci) and options CD9660",
        ),
        (
            "pvclock_get_timecount",
            "this FreeBSD kernel takes Xen's clock without Xen when it is started directly: write \
             start = \"loader\" in [vm]",
        ),
        (
            "Error loading uncompressed kernel without PVH",
            "of Linux name arch/x86/boot/bzImage, not vmlinux",
        ),
        (
            "linux kernel too old to load a ram disk",
            "this is no kernel of x86-64: name a bzImage or vmlinuz file",
        ),
        ("no init", "the task's disk could not be read"),
        ("out of swap space", "give the guest more memory: memory_mb in [vm]"),
        ("Kernel panic", stopped),
        ("KDB: stack backtrace", stopped),
        ("Fatal trap", stopped),
        (DEBUGGER, "it waits in its debugger; its console says where it stopped"),
    ];
    let known = remedies.iter().find(|(words, _)| console.contains(words));
    // What QEMU itself says is no matter of the kernel's.
    let is_unknown = !has_begun && !console.contains(PROGRAM);
    known.map(|(_, remedy)| *remedy).or_else(|| is_unknown.then_some(UNTOUCHED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_says_more_than_the_last_line_and_a_gone_wild_line_is_cut() {
        let console = "[1.0] Kernel panic - not syncing: no one\n[1.1] Rebooting\n\n";
        let told = telling_line(console, true);
        assert!(
            told.starts_with("[1.0] Kernel panic - not syncing: no one; its console"),
            "{told}"
        );
        assert_eq!(telling_line(&"x".repeat(5_000), true).len(), LONGEST_QUOTE);
        assert_eq!(telling_line("\n \n", true), "it said nothing");
        let freebsd = "panic: page fault\ncpuid = 0\nKDB: stack backtrace:\nUptime: 1s\n";
        assert!(telling_line(freebsd, true).starts_with("panic: page fault; its console has"));
        // A kernel that nobody has told anything yet, such as one with a hole in its file.
        for console in [freebsd, "Fatal trap 12: page fault while in kernel mode\n", "Booting\n"] {
            let told = telling_line(console, false);
            assert!(told.contains("its file may be damaged"), "{told}");
        }
    }

    #[test]
    fn a_kernel_that_waits_for_a_person_is_noticed_and_helped() {
        assert!(asks("panic: x\nKDB: enter: panic\n[ thread pid 1 tid 100002 ]\ndb> \n"));
        assert!(!asks("db> was here\nTrying to mount root\n") && !asks(""));
        let console = "Mounting from cd9660:/dev/vtbd0 failed with error 2.\n\nmountroot> ";
        assert!(asks(console));
        let panic = "booting\npanic: out of luck\ncpuid = 0\nKDB: stack backtrace:\n#0 here\n\
                     KDB: enter: panic\n[ thread pid 1 ]\nStopped at here\ndb> ";
        let words = told(panic, true);
        assert!(words.starts_with("panic: out of luck; its console has the call trace"), "{words}");
        assert!(words.ends_with("lines: [ thread pid 1 ] | Stopped at here | db>)"), "{words}");
        assert!(
            telling_line(console, false).contains("virtio_blk"),
            "{}",
            telling_line(console, false)
        );
    }
}
