//! Builds the program that runs in FreeBSD guests: without any library, by the compiler that
//! builds fwdlab, for the host's own processor. Where that is no x86-64, there is none, and
//! FreeBSD guests are refused with that reason.

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

const SOURCES: &str = "guest";

fn main() {
    println!("cargo:rerun-if-changed={SOURCES}");
    println!("cargo:rerun-if-changed=build.rs");
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let program = Path::new(&variable("OUT_DIR")).join("freebsd-guest");
    let target = variable("TARGET");
    let fits = target.starts_with("x86_64-") && target.contains("-linux-");
    if fits && build(&variable("RUSTC"), &target, &program) {
        return;
    }
    if fits {
        println!("cargo:warning=the program for FreeBSD guests could not be built");
    }
    if let Err(error) = fs::write(&program, []) {
        println!("cargo:warning=cannot write {}: {error}", program.display());
    }
}

fn build(compiler: &str, target: &str, program: &Path) -> bool {
    let mut command = Command::new(compiler);
    command.args(["--edition", "2024", "--crate-name", "guest", "--target", target]);
    command.args(["-C", "panic=abort", "-C", "opt-level=2", "-C", "strip=symbols"]);
    command.args(["-C", "relocation-model=static", "-C", "linker=cc"]);
    let link = "-nostartfiles -nostdlib -static -no-pie -Wl,--build-id=none";
    command.arg("-C").arg(format!("link-args={link}"));
    command.arg("-o").arg(program).arg(Path::new(SOURCES).join("main.rs"));
    command.status().is_ok_and(|status| status.success())
}
