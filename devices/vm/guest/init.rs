//! The first process: the root file system is a small one of ours; the user's root is mounted
//! below it, read-only, and everything runs in there. It leaves no trace, and nothing of the
//! image's own start-up runs.

use crate::say;
use crate::sys::{self, ANEW, ERRORS, File, READ_WRITE};
use crate::text::Text;

/// Where the user's root is mounted, and where the task lies in it.
const BASE: &[u8] = b"/base";
const PLACE: &[u8] = b"/base/tmp/fwdlab";

/// The names of file systems on which a root may lie, tried in this order when the kernel's
/// command line names none.
const ROOTS: [&[u8]; 7] = [
    b"/dev/md0",
    b"/dev/vtbd1",
    b"/dev/gpt/rootfs",
    b"/dev/ufs/rootfs",
    b"/dev/vtbd1p4",
    b"/dev/vtbd1p3",
    b"/dev/vtbd1p2",
];

/// Fills the kernel's store of random numbers, the same at every boot: guests are for tests.
const SEED: [u8; 4096] = [0x5a; 4096];

pub fn run() -> i32 {
    // For messages, until the script's own.
    for _ in 0..3 {
        let _ = File::open(b"/dev/console", READ_WRITE);
    }
    if let Err(why) = prepare() {
        complain(why);
        sys::restart();
        return 1;
    }
    let program: [&[u8]; 2] = [b"/bin/sh", b"/tmp/fwdlab/task.sh"];
    let path: &[u8] = b"PATH=/sbin:/bin:/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin";
    match sys::run_with_console(&program, &[path, b"HOME=/root"]) {
        Ok(0) => {}
        Ok(0x7f00) => complain(b"the root image has no /bin/sh"),
        _ => complain(b"the task's script ended early"),
    }
    sys::restart();
    1
}

fn complain(why: &[u8]) {
    let _ = ERRORS.write(b"fwdlab: ");
    let _ = ERRORS.write(why);
    let _ = ERRORS.write(b"\n");
    let _ = say::failed(why);
}

fn prepare() -> Result<(), &'static [u8]> {
    mount_root()?;
    sys::mount(b"devfs", b"", b"/base/dev", false)
        .map_err(|_| b"cannot mount devfs on /dev of the root image".as_slice())?;
    sys::mount(b"tmpfs", b"", b"/base/tmp", false).map_err(|_| {
        b"cannot mount tmpfs on /tmp of the root image: the kernel needs options TMPFS".as_slice()
    })?;
    let no_room = b"cannot write below /tmp".as_slice();
    sys::make_directory(PLACE).map_err(|_| no_room)?;
    copy_all().map_err(|_| no_room)?;
    sys::change_root(BASE).map_err(|_| b"cannot change the root".as_slice())?;
    if let Ok(random) = File::open(b"/dev/random", READ_WRITE) {
        let _ = random.write(&SEED);
        random.close();
    }
    Ok(())
}

fn mount_root() -> Result<(), &'static [u8]> {
    let mut place = [0_u8; 128];
    let named = sys::kernel_environment(b"fwdlab.root", &mut place).unwrap_or(b"");
    let wanted: &[&[u8]] = if named.is_empty() { &ROOTS } else { &[named] };
    if wanted.iter().any(|from| sys::mount(b"ufs", from, BASE, true).is_ok()) {
        return Ok(());
    }
    Err(b"cannot mount the root image: no UFS file system was found on it")
}

/// Copies the task from our small root. `FILES` there lists a name and the name to be copied to
/// in each line.
fn copy_all() -> sys::Answered<()> {
    let list = sys::whole(b"/files", 1 << 16)?;
    for line in crate::text::lines(list) {
        let mut words = line.split(|&byte| byte == b' ');
        let (Some(from), Some(to)) = (words.next(), words.next()) else { continue };
        let bytes = sys::whole(from, 256 << 20)?;
        let mut path = Text::with_room(256)?;
        path.put(PLACE).put(b"/").put(to);
        let file = File::open(path.bytes(), ANEW)?;
        file.write_all(bytes)?;
        file.close();
    }
    Ok(())
}
