//! This test program as the only one of a guest whose kernel has 802.1Q.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::INSIDE;

/// What the guest needs of the kernel's files, each after what it depends on.
const MODULES: [&str; 6] = ["llc", "stp", "garp", "mrp", "8021q", "veth"];
/// How many seconds a guest may take; it has no processor of its own.
const PATIENCE: &str = "300";
/// What the guest says when the test has passed.
const PASSED: &str = "test result: ok. 1 passed";

/// Boots a guest that runs the test of this name; what is missing, if it cannot.
pub fn run(test: &str) -> Result<(), String> {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/kernels/6.1");
    let kernel = named(&kernels.join("boot"), "vmlinuz-")
        .ok_or("no kernel to boot (examples/kernels.sh 6.1 fetches one)")?;
    let dir = tempfile::tempdir().expect("a directory");
    let archive = archive(dir.path(), &kernels, test)?;
    let words = "console=ttyS0 quiet panic=-1 rdinit=/init";
    let mut qemu = Command::new("timeout");
    qemu.args([PATIENCE, "qemu-system-x86_64", "-accel", "tcg", "-m", "512", "-no-reboot"]);
    qemu.args(["-display", "none", "-serial", "stdio", "-nic", "none", "-append", words]);
    qemu.arg("-kernel").arg(&kernel).arg("-initrd").arg(&archive).stdin(Stdio::null());
    let output = qemu.output().map_err(|error| format!("no QEMU: {error}"))?;
    if output.status.code() == Some(127) {
        return Err("no QEMU (apt-get install qemu-system-x86)".to_owned());
    }
    let console = String::from_utf8_lossy(&output.stdout);
    assert!(console.contains(PASSED), "{console}{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// The file below a directory whose name begins so.
fn named(dir: &Path, start: &str) -> Option<PathBuf> {
    let files = fs::read_dir(dir).ok()?.flatten().map(|entry| entry.path());
    let is_it = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(start))
    };
    files.into_iter().find(is_it)
}

fn found_below(dir: &Path, name: &str) -> Option<PathBuf> {
    fs::read_dir(dir).ok()?.flatten().map(|entry| entry.path()).find_map(|path| {
        match path.is_dir() && !path.is_symlink() {
            true => found_below(&path, name),
            false => path.file_name().is_some_and(|own| own == name).then_some(path),
        }
    })
}

/// The guest's file system: a shell, ip(8), this program and the kernel's modules.
fn archive(dir: &Path, kernels: &Path, test: &str) -> Result<PathBuf, String> {
    let root = dir.join("root");
    for name in ["proc", "sys", "dev", "run", "bin", "modules"] {
        fs::create_dir_all(root.join(name)).expect("writable");
    }
    let busybox = program("busybox").ok_or("no busybox (apt-get install busybox-static)")?;
    let ip = program("ip").ok_or("no ip (apt-get install iproute2)")?;
    let own = std::env::current_exe().expect("a path");
    for (from, to) in [(&busybox, "bin/busybox"), (&ip, "bin/ip"), (&own, "bin/test")] {
        fs::copy(from, root.join(to)).expect("readable");
        for library in libraries(from) {
            let place = root.join(library.strip_prefix("/").expect("from the root"));
            fs::create_dir_all(place.parent().expect("a directory")).expect("writable");
            fs::copy(&library, place).expect("readable");
        }
    }
    for name in MODULES {
        let file = format!("{name}.ko");
        let path = found_below(&kernels.join("lib"), &file).ok_or(format!("no {file}"))?;
        fs::copy(path, root.join("modules").join(file)).expect("readable");
    }
    let modules = MODULES.map(|name| format!("/bin/busybox insmod /modules/{name}.ko\n")).concat();
    let init = format!(
        "#!/bin/busybox sh\nexport PATH=/bin {INSIDE}=kernel\n\
         busybox mount -t proc proc /proc\nbusybox mount -t sysfs sys /sys\n\
         busybox mount -t devtmpfs dev /dev\n{modules}\
         ip link set lo up\n/bin/test --exact {test} --nocapture 2>&1\n\
         busybox poweroff -f\n",
    );
    fs::write(root.join("init"), init).expect("writable");
    let pack =
        "chmod 755 root/init && cd root && busybox find . | busybox cpio -o -H newc > ../guest";
    let packed = Command::new("sh").args(["-c", pack]).current_dir(dir).output();
    let packed = packed.expect("a shell");
    assert!(packed.status.success(), "{}", String::from_utf8_lossy(&packed.stderr));
    Ok(dir.join("guest"))
}

fn program(name: &str) -> Option<PathBuf> {
    let places = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"];
    places.iter().map(|dir| Path::new(dir).join(name)).find(|path| path.is_file())
}

/// The libraries that a program is loaded with, its loader among them.
fn libraries(program: &Path) -> Vec<PathBuf> {
    let listed = Command::new("ldd").arg(program).output().expect("ldd");
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    listed.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from).collect()
}
