//! What runs in a FreeBSD guest: one program without any library, so that it needs nothing of the
//! image that it runs in. Built for the host's processor by `build.rs`; marked as a program of
//! FreeBSD by its note.
//!
//! - as the first process: mounts the user's root read-only and runs the task's script in it;
//! - `say`: the guest's messages, over the second serial port;
//! - `routes`: writes routes into the kernel's table;
//! - `cables`: which epairs a frame crosses at least cost;
//! - `pass`: the tester, which sends through bpf(4) and receives through netmap(4);
//! - `kenv`: what the kernel was told at its start;
//! - `pipes`, `sessions`: the tester of devices that track sessions, and how it asks for their table.
//!
//! netmap as the sender would keep a hand on each frame, so that the kernel has to make room
//! for another Ethernet header: some 300 instructions more for each frame.

#![no_std]
#![no_main]
#![no_builtins]

mod frames;
mod init;
mod pass;
mod place;
mod returns;
mod routes;
mod say;
mod sessions;
mod sys;
mod tester;
mod text;

use sys::Arguments;

/// Begins every run.
fn main(arguments: &Arguments) -> i32 {
    if sys::process_id() == 1 {
        return init::run();
    }
    let done = match arguments.get(1) {
        b"say" => say::run(arguments),
        b"routes" => routes::run(arguments),
        b"cables" => place::cables(arguments),
        b"pass" => pass::run(arguments),
        b"kenv" => environment(arguments),
        b"pipes" => pipes(arguments),
        b"sessions" => sessions::run(arguments),
        _ => Err(text::Problem::new("usage: say | routes | cables | pass | kenv | pipes | sessions")),
    };
    match done {
        Ok(()) => 0,
        Err(problem) => {
            problem.print();
            1
        }
    }
}

/// `kenv NAME`: prints its value.
fn environment(arguments: &Arguments) -> text::Done {
    let mut place = [0_u8; 256];
    let value = sys::kernel_environment(arguments.get(2), &mut place);
    let value = value.map_err(text::Problem::with("the kernel knows no such name"))?;
    sys::OUTPUT.write_all(value).map_err(text::Problem::with("cannot write"))
}

/// `pipes NAME NAME`: makes two.
fn pipes(arguments: &Arguments) -> text::Done {
    for at in [2, 3] {
        sys::make_pipe(arguments.get(at)).map_err(text::Problem::with("no named pipe"))?;
    }
    Ok(())
}
