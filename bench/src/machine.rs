//! What the results depend on: processor, caches, compiler, commit.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};
use fwdlab_fib::{CacheSizes, Vectors};

/// What stands before the processor's name in a document.
pub const PROCESSOR: &str = "- Processor: ";

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

/// The text of a document that is to be written anew in parts; empty where there is none.
///
/// # Errors
/// When it cannot be read, or has figures of another processor: a document names one, for all of them.
pub fn earlier(path: Option<&Path>) -> Result<String> {
    let Some(path) = path.filter(|path| path.exists()) else { return Ok(String::new()) };
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    of_one_processor(path, &text, &processor())?;
    Ok(text)
}

fn of_one_processor(path: &Path, text: &str, ours: &str) -> Result<()> {
    let theirs = text.lines().find_map(|line| line.strip_prefix(PROCESSOR));
    if let Some(theirs) = theirs.filter(|theirs| *theirs != ours) {
        bail!(
            "{}: its figures are of another processor ({theirs}) than this one ({ours}): name another \
             file with --write",
            path.display()
        );
    }
    Ok(())
}

/// The vector units, and those that lookups were held to.
fn vectors() -> String {
    let (has, used) = (Vectors::of_this_processor(), Vectors::used());
    let name = |vectors| match vectors {
        Vectors::Avx512 => "AVX-512",
        Vectors::Avx2 => "AVX2",
        Vectors::Portable if cfg!(target_arch = "x86_64") => "no AVX2",
        Vectors::Portable => "no x86 vectors",
    };
    match used < has {
        true => format!("{}, own lookups with {}", name(has), name(used)),
        false => name(has).to_owned(),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_two_processors_do_not_come_into_one_document() {
        let path = Path::new("fib.md");
        let text = format!("# Route lookup\n\n{PROCESSOR}A, AVX-512\n- Compiler: rustc\n");
        assert!(of_one_processor(path, &text, "A, AVX-512").is_ok());
        assert!(of_one_processor(path, "", "A, AVX2").is_ok());
        let error = of_one_processor(path, &text, "A, AVX2").unwrap_err().to_string();
        assert!(error.starts_with("fib.md: ") && error.contains("--write"), "{error}");
    }
}
