//! FreeBSD's system calls for x86-64, and memory that comes from them. All unsafe code of the
//! guest's program is below this module.

mod arguments;
mod call;
mod errno;
mod file;
mod listener;
mod netmap;
mod start;

use call::{call, number};
use errno::plain;
pub use arguments::Arguments;
pub use errno::{Answered, Errno};
pub use file::{ANEW, ERRORS, File, Name, OUTPUT, READ, READ_WRITE, WRITE};
pub use listener::Listener;
pub use netmap::{MOST_OTHERS, Receiver};

/// A file's whole content, up to `most` bytes.
pub fn whole(path: &[u8], most: usize) -> Answered<&'static mut [u8]> {
    let file = File::open(path, READ)?;
    let memory = memory(most)?;
    let length = fill(file, memory)?;
    file.close();
    Ok(&mut memory[..length])
}

/// Reads until the end or until `into` is full.
pub fn fill(file: File, into: &mut [u8]) -> Answered<usize> {
    let mut length = 0;
    while length < into.len() {
        match file.read(&mut into[length..])? {
            0 => break,
            more => length += more,
        }
    }
    Ok(length)
}

/// Fresh memory, all zero.
pub fn memory(bytes: usize) -> Answered<&'static mut [u8]> {
    call::map(None, bytes)
}

pub fn process_id() -> usize {
    call(number::GETPID, [0; 6]).unwrap_or(0)
}

/// Lets others run.
pub fn yield_processor() {
    let _ = call(number::SCHED_YIELD, [0; 6]);
}

/// Gives this process and its children a fixed priority (rtprio(2)): otherwise the scheduler rates
/// them by how long they slept before, which differs from boot to boot when a disk is waited for.
fn fix_priority() {
    const SET: usize = 1;
    // Class (real time) and priority within it.
    let priority: [u16; 2] = [2, 0];
    let _ = call(number::RTPRIO, [SET, 0, priority.as_ptr() as usize, 0, 0, 0]);
}

/// The processor's time stamp counter. With the clock of instructions it counts those.
pub fn ticks() -> u64 {
    call::time_stamp()
}

/// A sender of whole frames on an interface (bpf(4)).
pub fn frame_sender(interface: &[u8]) -> Answered<File> {
    let file = File::open(b"/dev/bpf", WRITE)?;
    file.bind(interface)?;
    file.control(0x8004_4275, &mut 1_u32)?; // BIOCSHDRCMPLT: the source address is ours
    Ok(file)
}

/// A socket to the kernel's routing table, whose answers are not listened to.
pub fn routing_socket() -> Answered<File> {
    const PF_ROUTE: usize = 17;
    const SOCK_RAW: usize = 3;
    let socket = call(number::SOCKET, [PF_ROUTE, SOCK_RAW, 0, 0, 0, 0])?;
    call(number::SHUTDOWN, [socket, 0, 0, 0, 0, 0])?;
    Ok(File(socket))
}

/// Mounts `from` (nothing for file systems in memory) at `path`.
pub fn mount(kind: &[u8], from: &[u8], path: &[u8], is_read_only: bool) -> Answered<()> {
    let names = [
        Name::of(&[b"fstype"]),
        Name::of(&[kind]),
        Name::of(&[b"fspath"]),
        Name::of(&[path]),
        Name::of(&[b"from"]),
        Name::of(&[from]),
    ];
    let mut pieces = [[0_usize; 2]; 6];
    for (piece, name) in pieces.iter_mut().zip(&names) {
        *piece = [name.address(), name.length + 1];
    }
    let count = pieces.len();
    plain(call(
        number::NMOUNT,
        [pieces.as_ptr() as usize, count, usize::from(is_read_only), 0, 0, 0],
    ))
}

pub fn make_directory(path: &[u8]) -> Answered<()> {
    plain(call(number::MKDIR, [Name::of(&[path]).address(), 0o755, 0, 0, 0, 0]))
}

pub fn make_pipe(path: &[u8]) -> Answered<()> {
    plain(call(number::MKFIFO, [Name::of(&[path]).address(), 0o600, 0, 0, 0, 0]))
}

/// Makes `path` the root of this process and its children.
pub fn change_root(path: &[u8]) -> Answered<()> {
    plain(call(number::CHROOT, [Name::of(&[path]).address(), 0, 0, 0, 0, 0]))?;
    plain(call(number::CHDIR, [Name::of(&[b"/"]).address(), 0, 0, 0, 0, 0]))
}

/// A value of the kernel's environment, which comes from its command line.
pub fn kernel_environment<'b>(name: &[u8], into: &'b mut [u8]) -> Answered<&'b [u8]> {
    let address = into.as_mut_ptr() as usize;
    let length = call(number::KENV, [0, Name::of(&[name]).address(), address, into.len(), 0, 0])?;
    Ok(&into[..length.min(into.len()).saturating_sub(1)])
}

/// Runs a program with the console as its input and output; returns its status when it has ended.
pub fn run_with_console(program: &[&[u8]], environment: &[&[u8]]) -> Answered<u32> {
    let child = call::fork()?;
    if child == 0 {
        let _ = call(number::SETSID, [0; 6]);
        fix_priority();
        if let Ok(console) = File::open(b"/dev/console", READ_WRITE) {
            for standard in 0..3 {
                let _ = call(number::DUP2, [console.0, standard, 0, 0, 0, 0]);
            }
        }
        let arguments: [Name; 4] =
            core::array::from_fn(|at| Name::of(program.get(at..=at).unwrap_or_default()));
        let variables: [Name; 4] =
            core::array::from_fn(|at| Name::of(environment.get(at..=at).unwrap_or_default()));
        let list = |names: &[Name; 4], count: usize| -> [usize; 5] {
            core::array::from_fn(|at| if at < count.min(4) { names[at].address() } else { 0 })
        };
        let argument_list = list(&arguments, program.len());
        let variable_list = list(&variables, environment.len());
        let _ = call(
            number::EXECVE,
            [
                arguments[0].address(),
                argument_list.as_ptr() as usize,
                variable_list.as_ptr() as usize,
                0,
                0,
                0,
            ],
        );
        exit(127);
    }
    loop {
        let mut status = 0_u32;
        let address = core::ptr::from_mut(&mut status) as usize;
        // The first process also inherits everybody's orphans.
        if call(number::WAIT4, [usize::MAX, address, 0, 0, 0, 0])? == child {
            return Ok(status);
        }
    }
}

pub fn restart() {
    let _ = call(number::REBOOT, [0x4, 0, 0, 0, 0, 0]); // RB_NOSYNC: there is nothing to keep
}

pub fn exit(status: i32) -> ! {
    loop {
        let _ = call(number::EXIT, [status as usize, 0, 0, 0, 0, 0]);
    }
}
