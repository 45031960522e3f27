//! `cargo xtask bench`: runs the bench with its peers, or builds it for other machines.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};

use crate::workspace::cargo;

/// Peers in others' own code, as `bench/build.rs` names them.
const PEERS: [&str; 3] = ["poptrie", "dxr", "planb"];

/// A type of processor that the bench can be built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Processor {
    /// Any of 64 bits from Intel or AMD; AVX2 and AVX-512 are used where they are
    #[value(name = "x86_64")]
    X86,
    /// Any of 64 bits of Arm's
    #[value(name = "aarch64")]
    Arm,
}

impl Default for Processor {
    fn default() -> Self {
        if cfg!(target_arch = "aarch64") { Self::Arm } else { Self::X86 }
    }
}

impl Processor {
    fn target(self) -> &'static str {
        match self {
            Self::X86 => "x86_64-unknown-linux-musl",
            Self::Arm => "aarch64-unknown-linux-musl",
        }
    }
}

/// Compiles the peers named into the bench and runs it. What peers and crates take from the C library
/// lies on huge pages, as this project's tables do.
pub(crate) fn run(peers: &[String], arguments: &[String]) -> Result<bool> {
    let mut cargo = cargo();
    for peer in peers {
        let named = peer.split_once('=').filter(|(name, _)| PEERS.contains(name));
        let Some((name, directory)) = named else {
            bail!("--peer {peer}: write NAME=DIR, NAME is one of {}", PEERS.join(", "));
        };
        let directory = Path::new(directory)
            .canonicalize()
            .with_context(|| format!("--peer {peer}: cannot find {directory}"))?;
        cargo.env(format!("FWDLAB_PEER_{}", name.to_uppercase()), directory);
    }
    let status = cargo
        .env("GLIBC_TUNABLES", "glibc.malloc.hugetlb=1")
        .args(["run", "--profile", "bench", "--quiet", "--package", "fwdlab-bench", "--"])
        .args(arguments)
        .status()?;
    Ok(status.success())
}

/// Builds the bench into a file, to be copied to another machine.
pub(crate) fn build(root: &Path, file: &Path, processor: Processor) -> Result<bool> {
    let target = processor.target();
    let directory = target_directory(root);
    // The linker that comes with the compiler links for any processor.
    let variable = format!("CARGO_TARGET_{}_LINKER", target.to_uppercase().replace('-', "_"));
    let status = cargo()
        .env(variable, "rust-lld")
        .args(["build", "--profile", "bench", "--quiet", "--package", "fwdlab-bench"])
        .args(["--target", target, "--target-dir"])
        .arg(&directory)
        .status()?;
    ensure!(
        status.success(),
        "the bench cannot be built; if the target is missing: rustup target add {target}"
    );
    // The bench profile's directory has the name of what it inherits.
    let built = directory.join(target).join("release/fwdlab-bench");
    std::fs::copy(&built, file)
        .with_context(|| format!("cannot copy {} to {}", built.display(), file.display()))?;
    println!("{}: static, for {target}", file.display());
    println!("run it there: {} fib --write FILE.md", file.display());
    Ok(true)
}

fn target_directory(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}
