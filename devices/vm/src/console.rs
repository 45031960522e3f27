//! What a guest's console says of its end, and what to do about it.

/// What is quoted of a line of a console, in characters.
const LONGEST_QUOTE: usize = 300;

/// How lines begin, or what they hold, that say why a kernel stopped.
const REASONS: [&str; 4] = ["Kernel panic", "panic: ", "Fatal trap", "Fatal double fault"];

/// How the last line begins when a FreeBSD kernel waits for a person: in its debugger, or for the
/// name of a root file system.
const QUESTIONS: [&str; 2] = ["db>", "mountroot>"];

/// The line of a console that says most about why a guest ended: the last panic, else the last
/// line; cut if it is long. With what to do, where that is known.
pub(super) fn telling_line(console: &str) -> String {
    let mut lines = console.lines().rev().map(str::trim).filter(|line| !line.is_empty());
    let last = lines.next().unwrap_or("it said nothing");
    let reason = console.lines().rev().find(|line| REASONS.iter().any(|r| line.contains(r)));
    let told: String = reason.map_or(last, str::trim).chars().take(LONGEST_QUOTE).collect();
    match remedy(console) {
        Some(remedy) => format!("{told}; {remedy}"),
        None => told,
    }
}

/// Whether the guest waits for an answer that nobody will give.
pub(super) fn asks(console: &str) -> bool {
    let last = console.lines().rev().map(str::trim).find(|line| !line.is_empty());
    last.is_some_and(|line| QUESTIONS.iter().any(|question| line.starts_with(question)))
}

/// What to do about a console's words.
fn remedy(console: &str) -> Option<&'static str> {
    const REMEDIES: [(&str, &str); 5] = [
        (
            "mountroot>",
            "the kernel needs device virtio_blk (and virtio_mmio or virtio_pci) and options CD9660",
        ),
        (
            "pvclock_get_timecount",
            "this FreeBSD kernel takes Xen's clock without Xen when it is started directly: use one \
             with that fixed, or KVM (clock = \"wall\")",
        ),
        ("Error loading uncompressed kernel without PVH", "build the kernel with options XENHVM"),
        ("no init", "the task's disk could not be read"),
        ("out of swap space", "give the guest more memory: memory_mb in [vm]"),
    ];
    REMEDIES.iter().find(|(words, _)| console.contains(words)).map(|(_, remedy)| *remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_says_more_than_the_last_line_and_a_gone_wild_line_is_cut() {
        let console = "[1.0] Kernel panic - not syncing: no one\n[1.1] Rebooting\n\n";
        assert_eq!(telling_line(console), "[1.0] Kernel panic - not syncing: no one");
        assert_eq!(telling_line(&"x".repeat(5_000)).len(), LONGEST_QUOTE);
        assert_eq!(telling_line("\n \n"), "it said nothing");
        let freebsd = "panic: page fault\ncpuid = 0\nKDB: stack backtrace:\nUptime: 1s\n";
        assert_eq!(telling_line(freebsd), "panic: page fault");
    }

    #[test]
    fn a_kernel_that_waits_for_a_person_is_noticed_and_helped() {
        assert!(asks("panic: x\nKDB: enter: panic\n[ thread pid 1 tid 100002 ]\ndb> \n"));
        assert!(!asks("db> was here\nTrying to mount root\n") && !asks(""));
        let console = "Mounting from cd9660:/dev/vtbd0 failed with error 2.\n\nmountroot> ";
        assert!(asks(console));
        assert!(telling_line(console).contains("virtio_blk"), "{}", telling_line(console));
    }
}
