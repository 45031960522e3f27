//! `examples/freebsd.sh`: kernels and root images of FreeBSD from what somebody has of a release.

// a test says on stderr what it skips
#![allow(clippy::print_stderr)]
#![cfg(target_os = "linux")]

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

/// What a kernel is known by, and something that tells this one from others.
const KERNEL: &[u8] = b"\x7fELF\x02\x01\x01\x09 another";

/// Whether a root image can be made here; says that it is left out.
fn has_makefs(test: &str) -> bool {
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    let has_both = has("makefs") && has("xz");
    if !has_both {
        eprintln!("SKIPPED {test}: no makefs (apt-get install makefs)");
    }
    has_both
}

/// The script in a directory of its own.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/freebsd.sh");
        fs::copy(shipped, dir.path().join("freebsd.sh")).expect("copied");
        fs::write(dir.path().join("own"), KERNEL).expect("written");
        Self { dir }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.dir.path().join(name)
    }

    /// Whether it went well, and what it said.
    fn run(&self, words: &[&str]) -> (bool, String) {
        // Not by itself: another thread's child may still hold the copy open for writing.
        let mut command = Command::new("bash");
        command.arg(self.path("freebsd.sh"));
        let output = command.args(words).current_dir(self.dir.path()).output().expect("it starts");
        let said = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&said).into_owned())
    }

    fn assert_made(&self, words: &[&str]) -> String {
        let (is_made, said) = self.run(words);
        assert!(is_made, "{words:?}: {said}");
        said
    }

    fn assert_refused(&self, words: &[&str], why: &str) {
        let (is_made, said) = self.run(words);
        assert!(!is_made && said.contains(why), "{words:?}: {said}");
    }

    fn names(&self, of: &str) -> Vec<OsString> {
        let entries = fs::read_dir(self.path(of)).expect("made");
        let mut names: Vec<_> = entries.map(|entry| entry.expect("readable").file_name()).collect();
        names.sort();
        names
    }
}

/// Archives as a release has them, with a kernel that is none but for its first bytes.
fn release(dir: &Path) -> std::io::Result<()> {
    let (kernel, base) = (dir.join("k/boot/kernel"), dir.join("b/bin"));
    fs::create_dir_all(&kernel)?;
    fs::create_dir_all(&base)?;
    fs::write(kernel.join("kernel"), b"\x7fELF\x02\x01\x01\x09 and so on")?;
    fs::write(kernel.join("fib_dxr.ko"), b"a module")?;
    fs::write(base.join("sh"), b"a shell")?;
    let made = "for a in kernel base; do (cd ${a%\"${a#?}\"} && tar -cf - .) | xz > $a.txz; \
                echo \"$a.txz $(sha256sum $a.txz | cut -d' ' -f1)\" >> MANIFEST; done";
    Command::new("sh")
        .args(["-ec", made])
        .current_dir(dir)
        .status()
        .map(|status| assert!(status.success()))
}

/// The root image was of a kind that FreeBSD does not mount, and the script ended with an error of its own.
#[test]
fn a_root_image_is_made_of_the_archives_of_a_release() {
    if !has_makefs("a_root_image_is_made_of_the_archives_of_a_release") {
        return;
    }
    let place = Place::new();
    let archives = place.path("one");
    release(&archives).expect("archives");
    place.assert_made(&["archives", "one"]);
    // UFS1 as sys/ufs/ffs/fs.h has it: the superblock, and its mark in it.
    let image = fs::read(place.path("freebsd/root.img")).expect("a root image");
    let mark = 8192 + 1372;
    assert_eq!(image.get(mark..mark + 4), Some(&0x0001_1954_u32.to_le_bytes()[..]));
    assert_eq!(place.names("freebsd"), ["kernel", "modules", "root.img"], "nothing is left over");

    fs::write(archives.join("base.txz"), b"damaged").expect("written");
    place.assert_refused(&["archives", "one"], "base.txz has SHA-256");
    fs::remove_file(archives.join("MANIFEST")).expect("removed");
    place.assert_refused(&["archives", "one"], "there is no one/MANIFEST");
}

/// An ordinary user's second call stopped half-way, because a kernel is read-only; modules and a kernel of the
/// first set stayed beside the second; a link in a base had directories made outside of it.
#[test]
fn a_second_set_replaces_the_first_as_a_whole() {
    if !has_makefs("a_second_set_replaces_the_first_as_a_whole") {
        return;
    }
    let place = Place::new();
    let (one, other) = (place.path("one"), place.path("other"));
    release(&one).expect("archives");
    fs::create_dir(place.path("outside")).expect("made");
    fs::create_dir_all(other.join("k/boot/kernel")).expect("made");
    fs::write(other.join("k/boot/kernel/new.ko"), b"another module").expect("written");
    fs::create_dir_all(other.join("b")).expect("made");
    symlink(place.path("outside"), other.join("b/var")).expect("a link");
    release(&other).expect("archives");

    place.assert_made(&["archives", "one"]);
    place.assert_made(&["kernel", "own", "kernel-noalgo"]);
    let (kernel, module) = (place.path("freebsd/kernel"), place.path("freebsd/modules/stale.ko"));
    fs::set_permissions(&kernel, fs::Permissions::from_mode(0o555)).expect("ours");
    fs::write(module, b"of somewhere").expect("written");
    // The same again, by a list with tabs, capitals and the line ends of other systems: the kernel that was
    // built for it stays.
    let manifest = fs::read_to_string(one.join("MANIFEST")).expect("there");
    let shouted = manifest.lines().map(|line| {
        let (name, sum) = line.split_once(' ').expect("two words");
        format!("{name}\t{}\r\n", sum.to_uppercase())
    });
    fs::write(one.join("MANIFEST"), shouted.collect::<String>()).expect("written");
    let said = place.assert_made(&["archives", "one"]);
    assert!(!said.contains("kernel-noalgo"), "{said}");
    assert_eq!(place.names("freebsd"), ["kernel", "kernel-noalgo", "modules", "root.img"]);
    assert_eq!(place.names("freebsd/modules"), ["fib_dxr.ko"]);

    fs::remove_file(&kernel).expect("removed");
    fs::write(&kernel, KERNEL).expect("another kernel");
    let said = place.assert_made(&["archives", "other"]);
    assert!(said.contains("it is freebsd/kernel-noalgo.old now"), "{said}");
    assert_eq!(place.names("freebsd"), ["kernel", "kernel-noalgo.old", "modules", "root.img"]);
    assert_eq!(place.names("freebsd/modules"), ["fib_dxr.ko", "new.ko"]);
    assert!(place.names("outside").is_empty(), "nothing is made outside");
}

/// A kernel was replaced before the root image beside it was looked at.
#[test]
fn files_are_replaced_when_all_of_them_are_right() {
    let place = Place::new();
    fs::create_dir_all(place.path("freebsd/modules")).expect("made");
    fs::write(place.path("freebsd/kernel"), b"of before").expect("written");
    fs::create_dir(place.path("files")).expect("made");
    for name in ["kernel", "kernel-noalgo", "root.qcow2"] {
        fs::write(place.path("files").join(name), KERNEL).expect("written");
    }
    place.assert_refused(&["files", "files"], "there is no files/SHA256SUMS");
    let sum = Command::new("sha256sum").arg(place.path("own")).output().expect("it starts");
    let sum = String::from_utf8_lossy(&sum.stdout[..64]).to_uppercase();
    let list = |of_root: &str| {
        let text = format!("{sum}  kernel\r\n{sum} *kernel-noalgo\r\n{of_root}  ./root.qcow2\r\n");
        fs::write(place.path("files/SHA256SUMS"), text).expect("written");
    };
    list("00");
    place.assert_refused(&["files", "files"], "root.qcow2 has SHA-256");
    assert_eq!(fs::read(place.path("freebsd/kernel")).expect("there"), b"of before");
    list(&sum);
    let said = place.assert_made(&["files", "files"]);
    assert!(said.contains("freebsd/modules was of another kernel"), "{said}");
    assert_eq!(place.names("freebsd"), ["kernel", "kernel-noalgo", "root.qcow2"]);
}

#[test]
fn a_kernel_of_ones_own_stays_in_its_directory() {
    let place = Place::new();
    for name in ["..", "../kernel", "a/b", "/kernel"] {
        place.assert_refused(&["kernel", "own", name], "is no name of a file in freebsd");
    }
    place.assert_refused(&["kernel", "freebsd.sh", "kernel"], "is no FreeBSD kernel");
    place.assert_made(&["kernel", "own", "kernel"]);
    assert_eq!(place.names("freebsd"), ["kernel"]);
}
