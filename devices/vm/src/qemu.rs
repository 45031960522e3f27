//! QEMU as a child process: how it is started, followed, and never left behind.
//!
//! The child is started through fwdlab itself ([`super::launch`]), which asks the kernel to end it
//! when fwdlab ends, however that happens. Files that QEMU reads and writes lie in memory (memfd),
//! so that nothing is left on disk either.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use fwdlab_guard::Folder;

use super::VmError;
use super::beginning::Beginning;
use super::freebsd::{self, Board};
use super::memory::{filled, in_memory, path_of};
use fwdlab_agent::task::GuestClock;

/// The program.
pub(super) const PROGRAM: &str = "qemu-system-x86_64";

/// What every guest is told on its kernel command line. Nothing may depend on the host's time or
/// on chance: the time stamp counter ticks once a ns and needs no calibration, addresses and
/// seeds are fixed, and an error ends the guest at once.
const COMMAND_LINE: &str = "console=ttyS0 quiet loglevel=5 panic=-1 oops=panic nokaslr \
    random.trust_cpu=off random.trust_bootloader=on tsc=reliable tsc_early_khz=1000000 \
    no_timer_check net.ifnames=0 rdinit=/init";

/// With the clock of instructions: one slab of the kernel's allocator holds more frames than are ever on
/// their way (the tester has 128). With slabs of 8 or 16, as a kernel makes them for one processor, a batch
/// spreads over several; how many of them go through the allocator's slow path depended on where in
/// them the first frame lay, which other trials' lengths and other builds change for the whole pass: up to
/// 30 instructions a frame.
const LARGE_SLABS: &str = " slub_min_objects=256 slub_max_order=6";

/// With the clock of instructions: the kernel's clock is another timer (HPET) than the processor's own, for
/// which it would wait 100 ms in a loop that reads the time stamp counter. An emulator that counts stops at each
/// of these reads: half of the time that a boot took.
const NO_CALIBRATION: &str = " nolapic_timer";

/// Longest line that is taken for a message, in bytes; a kernel gone wild prints more.
const LONGEST_LINE: u64 = 16 << 20;

/// What is kept of a console, in bytes.
const LONGEST_LOG: usize = 1 << 20;

/// User and system time in /proc/PID/stat count in these units on every Linux that matters
/// (USER_HZ).
const TICKS_PER_SECOND: f64 = 100.0;

/// What executes the guest's instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Accelerator {
    /// The host's processor.
    Kvm,
    /// QEMU's translator.
    Tcg,
}

/// What is booted.
pub(super) struct Machine<'a> {
    /// fwdlab's own program.
    pub(super) launcher: &'a Path,
    pub(super) image: &'a Path,
    /// What the guest's first process and its task lie in.
    pub(super) payload: &'a [u8],
    pub(super) start: Start<'a>,
    pub(super) beginning: Beginning<'a>,
    /// What a variant adds to the kernel command line.
    pub(super) command_line: &'a str,
    pub(super) memory_mb: u32,
    pub(super) clock: GuestClock,
    /// With the clock of instructions, always [`Accelerator::Tcg`]: only it can count.
    pub(super) accelerator: Accelerator,
    /// Arguments that open QEMU's monitor.
    pub(super) monitor: Option<[String; 2]>,
}

/// How the guest's system is started.
#[derive(Clone, Copy, Debug)]
pub(super) enum Start<'a> {
    /// With the payload as its first file system in memory.
    Linux,
    /// With the payload as its first disk.
    FreeBsd {
        board: Board,
        /// The image of the user's root.
        root: Option<&'a Path>,
        /// What is started in place of the kernel's image.
        loaded: Option<&'a [u8]>,
    },
}

/// A running guest; ended when dropped.
pub(super) struct Running {
    child: Child,
    lines: mpsc::Receiver<String>,
    console: File,
    /// What QEMU reads.
    _files: [File; 2],
}

/// What became of waiting for a line.
pub(super) enum Heard {
    Line(String),
    /// Nothing yet.
    Silence,
    /// The guest has ended.
    End,
}

impl Machine<'_> {
    /// Starts QEMU.
    pub(super) fn start(&self) -> Result<Running, VmError> {
        let payload = filled("fwdlab-guest", self.payload)?;
        let (image, kernel) = match self.start {
            Start::FreeBsd { loaded: Some(loaded), .. } => {
                let file = filled("fwdlab-kernel", loaded)?;
                (path_of(&file), file)
            }
            _ => (self.image.display().to_string(), in_memory("no-kernel")?),
        };
        let console = in_memory("fwdlab-console")?;
        let mut command = fwdlab_guard::tool(self.launcher);
        command.arg("launch").arg(std::process::id().to_string()).arg(PROGRAM);
        command.args(self.arguments(image, &path_of(&payload), &path_of(&console)));
        // A process group of its own: Ctrl-C is for fwdlab, which ends the guest itself.
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped());
        let failed = |source| VmError::Qemu { program: PROGRAM.to_owned(), source };
        let stderr = console.try_clone().map_err(failed)?;
        let mut child = command.stderr(stderr).spawn().map_err(failed)?;
        let (sender, lines) = mpsc::channel();
        if let Some(stdout) = child.stdout.take() {
            std::thread::spawn(move || read_lines(stdout, &sender));
        }
        Ok(Running { child, lines, console, _files: [payload, kernel] })
    }

    fn arguments(&self, image: String, payload: &str, console: &str) -> Vec<String> {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mut all = words("-nodefaults -no-user-config -display none -no-reboot -smp 1");
        all.extend(words(match (self.clock, self.accelerator) {
            // Random numbers of the processor would come from the host.
            (GuestClock::Instructions, _) => {
                "-accel tcg -cpu max,-rdrand,-rdseed -icount shift=0,sleep=off \
                 -rtc base=2020-01-01,clock=vm -seed 1"
            }
            (GuestClock::Wall, Accelerator::Kvm) => "-accel kvm -cpu host",
            (GuestClock::Wall, Accelerator::Tcg) => "-accel tcg -cpu max",
        }));
        all.retain(|word| !word.is_empty());
        let board = match self.start {
            Start::Linux => "pc",
            Start::FreeBsd { board, .. } => board.name(),
        };
        let pair = |a: &str, b: String| [a.to_owned(), b];
        all.extend(pair("-machine", board.to_owned()));
        all.extend(pair("-m", format!("{}M", self.memory_mb)));
        all.extend(pair("-kernel", image));
        match self.start {
            Start::Linux => {
                all.extend(pair("-initrd", payload.to_owned()));
                all.extend(pair("-append", self.full_command_line()));
                all.extend(pair("-serial", format!("file:{console}")));
                all.extend(pair("-serial", "stdio".to_owned()));
            }
            Start::FreeBsd { board, root, .. } => {
                all.extend(freebsd::arguments(self.command_line, board, root, (payload, console)));
            }
        }
        all.extend(self.beginning.arguments());
        all.extend(self.monitor.iter().flatten().cloned());
        all
    }

    fn full_command_line(&self) -> String {
        // With the host's clock, the counter's rate is the host's.
        let own = match self.clock {
            GuestClock::Instructions => format!("{COMMAND_LINE}{LARGE_SLABS}{NO_CALIBRATION}"),
            GuestClock::Wall => COMMAND_LINE.replace("tsc_early_khz=1000000 ", ""),
        };
        let space = if self.command_line.is_empty() { "" } else { " " };
        format!("{own}{space}{} -- guest", self.command_line)
    }
}

impl Running {
    /// Waits a short while for a line.
    pub(super) fn listen(&mut self, patience: Duration) -> Heard {
        match self.lines.recv_timeout(patience) {
            Ok(line) => Heard::Line(line),
            Err(mpsc::RecvTimeoutError::Timeout) => Heard::Silence,
            Err(mpsc::RecvTimeoutError::Disconnected) => Heard::End,
        }
    }

    /// Processor time that QEMU has used, which grows with the guest's progress whatever else
    /// the host does.
    pub(super) fn processor_time(&self) -> Option<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).ok()?;
        processor_time(&stat)
    }

    /// Whether QEMU runs no more.
    pub(super) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// All that the guest has written to its console, and QEMU to its standard error.
    pub(super) fn console(&mut self) -> String {
        let mut bytes = Vec::new();
        let read = self.console.seek(SeekFrom::Start(0));
        let _ = read.and_then(|_| self.console.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself; either way, nothing is left of it.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The 14th and 15th field of proc_pid_stat(5), counted after the name in parentheses, which may
/// hold anything.
fn processor_time(stat: &str) -> Option<Duration> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let user: f64 = fields.next()?.parse().ok()?;
    let system: f64 = fields.next()?.parse().ok()?;
    Some(Duration::from_secs_f64((user + system) / TICKS_PER_SECOND))
}

/// What QEMU calls itself.
pub(super) fn version() -> String {
    let output = fwdlab_guard::tool(PROGRAM).arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.ok()
        .and_then(|text| text.lines().next().map(str::to_owned))
        .unwrap_or_else(|| format!("{PROGRAM} is not installed"))
}

fn read_lines(stdout: impl Read, sender: &mpsc::Sender<String>) {
    let mut reader = BufReader::new(stdout);
    let mut line = Vec::new();
    loop {
        line.clear();
        match reader.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                    return;
                }
            }
        }
    }
}

/// Progress of a guest: how long it has said nothing.
pub(super) struct Progress {
    last: Instant,
    last_processor_time: Duration,
    limit: Duration,
}

/// A guest that waits for something that never comes uses no processor time; this much of the
/// host's time is enough to tell, however busy the host.
const LONGEST_SLEEP: Duration = Duration::from_secs(300);

impl Progress {
    /// `limit` is in processor time of QEMU.
    pub(super) fn new(limit: Duration) -> Self {
        Self { last: Instant::now(), last_processor_time: Duration::ZERO, limit }
    }

    /// The guest has said something.
    pub(super) fn heard(&mut self, running: &Running) {
        self.last = Instant::now();
        self.last_processor_time = running.processor_time().unwrap_or_default();
    }

    /// The limit that the guest's silence has passed, in words.
    pub(super) fn exceeded(&self, running: &Running) -> Option<String> {
        let used = running.processor_time().unwrap_or_default();
        let silent = used.saturating_sub(self.last_processor_time);
        if silent > self.limit {
            return Some(format!("{} s of QEMU's processor time", self.limit.as_secs()));
        }
        let is_asleep = self.last.elapsed() > LONGEST_SLEEP.max(self.limit * 4);
        is_asleep.then(|| format!("{} s", self.last.elapsed().as_secs()))
    }
}

/// Keeps the console of a failed trial in a file, its end if it is long; says where.
pub(super) fn keep_console(text: &str, dir: &Path, name: &str) -> PathBuf {
    let path = dir.join(format!("{name}.log"));
    let end = &text.as_bytes()[text.len().saturating_sub(LONGEST_LOG)..];
    let folder = || match (dir.parent(), dir.file_name()) {
        (Some(parent), Some(name)) => Folder::open(parent)?.sub(name),
        _ => Folder::open(dir),
    };
    let kept = folder().and_then(|folder| folder.put(format!("{name}.log").as_ref(), end));
    match kept {
        Ok(()) => path,
        // The failure of the trial matters more than that its log is lost; on a full disk, half
        // a log would leave no room to record it.
        Err(error) => PathBuf::from(format!("no file ({}: {error})", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(clock: GuestClock) -> Machine<'static> {
        Machine {
            launcher: Path::new("fwdlab"),
            image: Path::new("vmlinuz"),
            payload: &[],
            start: Start::Linux,
            beginning: Beginning::Boot,
            command_line: "mitigations=off",
            memory_mb: 512,
            clock,
            accelerator: Accelerator::Tcg,
            monitor: None,
        }
    }

    #[test]
    fn a_clock_of_instructions_leaves_nothing_to_chance() {
        let line = machine(GuestClock::Instructions)
            .arguments("vmlinuz".to_owned(), "/initrd", "/console")
            .join(" ");
        for part in ["-icount shift=0,sleep=off", "clock=vm", "-rdrand", "-seed 1", "nokaslr"] {
            assert!(line.contains(part), "{part} in {line}");
        }
        assert!(line.contains("mitigations=off -- guest"), "{line}");
        let wall = machine(GuestClock::Wall)
            .arguments("vmlinuz".to_owned(), "/initrd", "/console")
            .join(" ");
        assert!(!wall.contains("icount") && !wall.contains("tsc_early_khz"), "{wall}");
        let root = Some(Path::new("a,b"));
        let start = Start::FreeBsd { board: Board::Micro, root, loaded: None };
        let guest = Machine { start, ..machine(GuestClock::Instructions) };
        let line = guest.arguments("vmlinuz".to_owned(), "/disk", "/console").join(" ");
        for part in ["-icount shift=0", "-machine microvm,", "file=/disk,format=raw", "file=a,,b"] {
            assert!(line.contains(part), "{part} in {line}");
        }
    }

    #[test]
    fn processor_time_is_found_after_a_name_with_parentheses() {
        let stat = "42 (qemu) (x) S 1 1 1 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 3 0 100 0";
        assert_eq!(processor_time(stat), Some(Duration::from_secs(3)));
        assert_eq!(processor_time("nonsense"), None);
    }
}
