//! What the results depend on: processor, caches, compiler, commit.

use std::fs;
use std::process::Command;
use std::sync::OnceLock;

use fwdlab_fib::CacheSizes;

/// The last processor, which is the least used by interrupts on most machines; as it is found at the
/// first call, before any thread is bound to a core.
pub fn last_cpu() -> u32 {
    static LAST: OnceLock<u32> = OnceLock::new();
    *LAST.get_or_init(|| std::thread::available_parallelism().map_or(0, |n| n.get() as u32 - 1))
}

/// The processor's name, cores, caches and vector units.
pub fn processor() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = info.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_string())
    };
    let caches = CacheSizes::of_this_machine();
    format!(
        "{} (family {}, model {}), {} cores, L2 {} KiB, last-level cache {} KiB, {}",
        field("model name").unwrap_or_else(|| std::env::consts::ARCH.into()),
        field("cpu family").unwrap_or_default(),
        field("model\t").unwrap_or_default(),
        // Not what this thread may use: it is pinned by now.
        info.lines().filter(|line| line.starts_with("processor")).count(),
        caches.l2_bytes >> 10,
        caches.last_bytes >> 10,
        vectors(),
    )
}

#[cfg(target_arch = "x86_64")]
fn vectors() -> &'static str {
    match (is_x86_feature_detected!("avx512f"), is_x86_feature_detected!("avx2")) {
        (true, _) => "AVX-512",
        (_, true) => "AVX2",
        _ => "no AVX2",
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn vectors() -> &'static str {
    "no x86 vectors"
}

/// The compiler that built this bench.
pub fn compiler() -> &'static str {
    env!("FWDLAB_RUSTC")
}

/// The commit of the working directory.
pub fn commit() -> String {
    let output = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output();
    let text = output.ok().and_then(|o| String::from_utf8(o.stdout).ok()).unwrap_or_default();
    match text.trim() {
        "" => "unknown".into(),
        commit => commit.to_string(),
    }
}
