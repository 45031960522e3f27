//! Whether hardware virtualisation works here. That `/dev/kvm` can be opened proves little: on a
//! machine that is itself virtual, QEMU may end at once, or a guest may stand still forever. So a
//! kernel is booted.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, Instant};

use super::beginning::Beginning;
use super::freebsd::Board;
use super::qemu::{Accelerator, Machine, Start};
use fwdlab_agent::task::GuestClock;

/// The first words of every Linux kernel, and those of every FreeBSD kernel.
const GREETINGS: [&str; 2] = ["Linux version", "The FreeBSD Project"];

/// A kernel unpacks itself and greets within a second; more than that is a guest that stands still.
const PATIENCE: Duration = Duration::from_secs(10);

/// Tries hardware virtualisation: boots the kernel `image` by fwdlab's own `program`, or without
/// one of them, only opens the device.
///
/// # Errors
/// Why it does not work.
pub fn try_kvm(program: Option<&Path>, image: Option<&Path>) -> Result<(), String> {
    match (program, image) {
        (Some(program), Some(image)) => try_boot(program, image),
        _ => open(),
    }
}

fn open() -> Result<(), String> {
    let device = File::options().read(true).write(true).open("/dev/kvm");
    device.map(drop).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            "there is no /dev/kvm: the processor or the hypervisor offers no virtualisation"
                .to_owned()
        }
        _ => format!("/dev/kvm cannot be used: {error}; join the group kvm"),
    })
}

/// Boots the kernel `image` with hardware virtualisation until it greets. `launcher` is fwdlab's
/// own program.
///
/// # Errors
/// Why it does not work.
pub(super) fn try_boot(launcher: &Path, image: &Path) -> Result<(), String> {
    open()?;
    let is_freebsd = fwdlab_kernel::freebsd::is_kernel(image);
    let machine = Machine {
        launcher,
        image,
        payload: &[],
        beginning: Beginning::Boot,
        start: if is_freebsd {
            Start::FreeBsd { board: Board::Q35, root: None, loaded: None }
        } else {
            Start::Linux
        },
        command_line: if is_freebsd { "" } else { "earlyprintk=serial ignore_loglevel" },
        monitor: None,
        memory_mb: 256,
        clock: GuestClock::Wall,
        accelerator: Accelerator::Kvm,
    };
    let mut guest = machine.start().map_err(|error| error.to_string())?;
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        let has_ended = guest.has_ended();
        let console = guest.console();
        if GREETINGS.iter().any(|greeting| console.contains(greeting)) {
            return Ok(());
        }
        if has_ended {
            return Err(format!("QEMU ends with {:?}", last_words(&console)));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Err(format!("a guest stands still: no word of its kernel within {} s", PATIENCE.as_secs()))
}

/// What QEMU said at its end, without its own name and the place in its source.
fn last_words(console: &str) -> String {
    let line = super::console::telling_line(console, true);
    let is_place = |part: &&str| part.starts_with("qemu-system") || part.contains(".c:");
    let words: Vec<&str> = line.split(": ").skip_while(is_place).collect();
    words.join(": ").trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_qemu_says_is_shown_without_the_place_in_its_source() {
        let said = "qemu-system-x86_64: ../../target/i386/kvm/kvm.c:3183: kvm_buf_set_msrs: Assertion `x' failed.\n";
        assert_eq!(last_words(said), "kvm_buf_set_msrs: Assertion `x' failed");
        assert_eq!(
            last_words("qemu-system-x86_64: failed to initialize kvm: no\n"),
            "failed to initialize kvm: no"
        );
        assert_eq!(last_words(""), "it said nothing");
    }
}
