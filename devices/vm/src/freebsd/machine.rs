//! How QEMU starts a FreeBSD kernel: directly (PVH), with the task's disk, and the root's if there
//! is one.

use std::path::Path;

use fwdlab_kernel::freebsd::QCOW2;

use super::tunables::besides;

/// The machine that is emulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Board {
    /// Devices at fixed addresses; few instructions to boot.
    Micro,
    /// A PC with PCI, for kernels without `device virtio_mmio`.
    Q35,
}

/// What every guest is told on its kernel command line. The root is the task's disk; a panic
/// restarts, which ends QEMU; the second serial port is where it always was; packet filters that
/// are loaded let everything pass until they have rules.
const COMMAND_LINE: &str = "vfs.root.mountfrom=cd9660:/dev/vtbd0 \
    debug.debugger_on_panic=0 debug.debugger_on_trap=0 kern.panic_reboot_wait_time=0 \
    hint.uart.1.at=isa hint.uart.1.port=0x2F8 hint.uart.1.irq=0x3 \
    kern.timecounter.invariant_tsc=1 net.inet.ip.fw.default_to_accept=1";

/// The arguments that are FreeBSD's; `more` goes to the kernel's command line, `disk` and `console` are
/// paths of the task's disk and of the file for the console.
pub(crate) fn arguments(
    more: &str,
    board: Board,
    root: Option<&Path>,
    (disk, console): (&str, &str),
) -> Vec<String> {
    let kind = match board {
        Board::Micro => "virtio-blk-device",
        Board::Q35 => "virtio-blk-pci",
    };
    let mut all: Vec<String> = Vec::new();
    let mut add = |name: &str, value: String| all.extend([name.to_owned(), value]);
    if board == Board::Micro {
        // The guest restarts through the keyboard's controller.
        add("-device", "i8042".to_owned());
    }
    add("-append", besides(COMMAND_LINE, more));
    add("-drive", format!("id=task,file={disk},format=raw,if=none,readonly=on"));
    add("-device", format!("{kind},drive=task"));
    if let Some(root) = root {
        let format = if is_qcow2(root) { "qcow2" } else { "raw" };
        // A comma in a name is written twice.
        let file = root.display().to_string().replace(',', ",,");
        add("-drive", format!("id=root,file={file},format={format},if=none,readonly=on"));
        add("-device", format!("{kind},drive=root"));
    }
    add("-serial", format!("file:{console}"));
    add("-chardev", "stdio,id=voice,signal=off".to_owned());
    add("-device", "isa-serial,chardev=voice,iobase=0x2f8,irq=3,index=1".to_owned());
    all
}

impl Board {
    /// QEMU's name for it, with what of it is wanted.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Micro => "microvm,acpi=off,x-option-roms=off,pic=on,pit=on,rtc=on",
            Self::Q35 => "q35",
        }
    }
}

fn is_qcow2(path: &Path) -> bool {
    use std::io::Read;
    let mut start = [0; 4];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *QCOW2
}
