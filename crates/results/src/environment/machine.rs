//! Hardware and kernel, read from /proc and /sys of Linux.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fwdlab_guard::digest;
use serde::{Deserialize, Serialize};

/// Processor features that change what a forwarding path costs, by their
/// names in /proc/cpuinfo.
const FLAGS_THAT_MATTER: [&str; 14] = [
    "avx2",
    "avx512f",
    "avx512vl",
    "bmi1",
    "bmi2",
    "popcnt",
    "sse4_2",
    "pdpe1gb",
    "constant_tsc",
    "nonstop_tsc",
    "rdtscp",
    "hypervisor",
    "asimd",
    "sve",
];

/// Those that differ from model to model and not with the kernel.
const FLAGS_OF_A_MODEL: [&str; 9] =
    ["avx2", "avx512f", "avx512vl", "bmi1", "bmi2", "popcnt", "sse4_2", "asimd", "sve"];

/// The hardware, as far as the system shows it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Machine {
    /// Tells this machine from others of its kind: the first digits of SHA-256 of its machine-id(5), which itself
    /// is not to be made public; empty when it has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// Maker and product, where the firmware says so.
    pub product: String,
    /// Model of the processor.
    pub processor: String,
    /// Logical cores that this process may use.
    pub cores: usize,
    /// Logical cores of the machine.
    pub cores_online: usize,
    /// Those of the features that matter here which the processor has.
    pub flags: Vec<String>,
    /// Caches of the first core.
    pub caches: Vec<Cache>,
    /// Memory in bytes.
    pub memory_bytes: u64,
    /// Frequency governor of the first core; empty when there is none.
    pub governor: String,
    /// Whether the processor may exceed its nominal frequency: `on`, `off`,
    /// or empty when unknown.
    pub turbo: String,
    /// Whether cores run several threads: `on`, `off`, ...
    pub hyperthreading: String,
    /// The hypervisor: its name, `yes` when only its presence is known, or
    /// `none`.
    pub hypervisor: String,
}

/// One cache of a core.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Cache {
    /// Level, from 1.
    pub level: u32,
    /// `Data`, `Instruction` or `Unified`.
    pub kind: String,
    /// Size in bytes.
    pub size_bytes: u64,
}

/// The operating system.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Kernel {
    /// `Linux`.
    pub name: String,
    /// Release: `6.1.0-18-amd64`.
    pub release: String,
    /// Build: `#1 SMP PREEMPT_DYNAMIC ...`.
    pub version: String,
    /// Command line.
    pub command_line: String,
    /// The distribution.
    pub distribution: String,
    /// Clock source.
    pub clock_source: String,
    /// Transparent huge pages: `always`, `madvise` or `never`.
    pub huge_pages: String,
}

impl Machine {
    /// What it is called: product and processor with the number of cores. Two machines may have one name.
    pub fn name(&self) -> String {
        let parts = [self.product.as_str(), self.processor.as_str()];
        let named: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let cores = match self.cores_online {
            0 => String::new(),
            cores => format!(" ({cores} cores)"),
        };
        format!("{}{cores}", named.join(", "))
    }

    /// What tells it from others of its name: `L3` and `32768 KiB`, `avx512f` and nothing.
    pub(super) fn traits(&self) -> BTreeMap<String, String> {
        let is_telling = |flag: &&String| FLAGS_OF_A_MODEL.contains(&flag.as_str());
        let flags = self.flags.iter().filter(is_telling);
        let mut own: BTreeMap<String, String> =
            flags.map(|flag| (flag.clone(), String::new())).collect();
        let shown = |cache: &Cache| {
            let kind = match cache.kind.as_str() {
                "Unified" => String::new(),
                kind => format!(" {}", kind.to_lowercase()),
            };
            (format!("L{}{kind}", cache.level), format!("{} KiB", cache.size_bytes / 1024))
        };
        own.extend(self.caches.iter().map(shown));
        own
    }

    /// Looks at the machine whose file systems are mounted under `root`.
    pub(super) fn look(root: &Path) -> Self {
        let cpuinfo = text(root, "proc/cpuinfo");
        let flags = field(&cpuinfo, "flags").or_else(|| field(&cpuinfo, "Features"));
        let flags: Vec<&str> = flags.unwrap_or_default().split_whitespace().collect();
        let processor = field(&cpuinfo, "model name").or_else(|| field(&cpuinfo, "CPU part"));
        Self {
            id: id(root),
            product: product(root),
            processor: processor.unwrap_or_default().to_owned(),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            cores_online: cpuinfo.lines().filter(|l| l.starts_with("processor")).count(),
            hypervisor: hypervisor(root, flags.contains(&"hypervisor")),
            flags: FLAGS_THAT_MATTER
                .iter()
                .filter(|flag| flags.contains(flag))
                .map(|&flag| flag.to_owned())
                .collect(),
            caches: caches(root),
            memory_bytes: memory_bytes(&text(root, "proc/meminfo")),
            governor: text(root, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            turbo: turbo(root),
            hyperthreading: text(root, "sys/devices/system/cpu/smt/control"),
        }
    }
}

impl Kernel {
    /// Looks at the system whose file systems are mounted under `root`.
    pub(super) fn look(root: &Path) -> Self {
        let release = text(root, "etc/os-release");
        let distribution = release
            .lines()
            .find_map(|line| line.strip_prefix("PRETTY_NAME="))
            .map(|name| name.trim_matches('"').to_owned());
        Self {
            name: text(root, "proc/sys/kernel/ostype"),
            release: text(root, "proc/sys/kernel/osrelease"),
            version: text(root, "proc/sys/kernel/version"),
            command_line: text(root, "proc/cmdline"),
            distribution: distribution.unwrap_or_default(),
            clock_source: text(
                root,
                "sys/devices/system/clocksource/clocksource0/current_clocksource",
            ),
            huge_pages: chosen(&text(root, "sys/kernel/mm/transparent_hugepage/enabled")),
        }
    }
}

/// A small file without the white space around it; empty when it cannot be
/// read.
fn text(root: &Path, path: &str) -> String {
    fs::read(root.join(path))
        .map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned())
        .unwrap_or_default()
}

/// The first value of `name` in `name : value` lines.
fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim())
}

/// The bracketed word of `always [madvise] never`.
fn chosen(text: &str) -> String {
    let inside = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
    inside.map(|(word, _)| word.to_owned()).unwrap_or_default()
}

fn id(root: &Path) -> String {
    match text(root, "etc/machine-id") {
        id if id.is_empty() => id,
        id => digest::of(format!("fwdlab {id}").as_bytes()).chars().take(16).collect(),
    }
}

fn product(root: &Path) -> String {
    let maker = text(root, "sys/class/dmi/id/sys_vendor");
    let name = text(root, "sys/class/dmi/id/product_name");
    format!("{maker} {name}").trim().to_owned()
}

fn memory_bytes(meminfo: &str) -> u64 {
    let kib = field(meminfo, "MemTotal").and_then(|value| value.split_whitespace().next());
    kib.and_then(|number| number.parse::<u64>().ok()).unwrap_or(0) * 1_024
}

fn hypervisor(root: &Path, is_flagged: bool) -> String {
    let named = text(root, "sys/hypervisor/type");
    match (named.is_empty(), is_flagged) {
        (false, _) => named,
        (true, true) => "yes".to_owned(),
        (true, false) => "none".to_owned(),
    }
}

fn turbo(root: &Path) -> String {
    let no_turbo = text(root, "sys/devices/system/cpu/intel_pstate/no_turbo");
    let boost = text(root, "sys/devices/system/cpu/cpufreq/boost");
    match (no_turbo.as_str(), boost.as_str()) {
        ("0", _) | (_, "1") => "on".to_owned(),
        ("1", _) | (_, "0") => "off".to_owned(),
        _ => String::new(),
    }
}

fn caches(root: &Path) -> Vec<Cache> {
    const MOST: u32 = 16;
    (0..MOST)
        .map_while(|index| {
            let of = |name: &str| {
                text(root, &format!("sys/devices/system/cpu/cpu0/cache/index{index}/{name}"))
            };
            let level = of("level").parse().ok()?;
            Some(Cache { level, kind: of("type"), size_bytes: size_bytes(&of("size")) })
        })
        .collect()
}

/// Reads `32K`, `1M` or a plain number.
fn size_bytes(text: &str) -> u64 {
    let digits = text.trim_end_matches(['K', 'M']);
    let unit = match text.as_bytes().last() {
        Some(b'K') => 1_024,
        Some(b'M') => 1_024 * 1_024,
        _ => 1,
    };
    digits.parse::<u64>().unwrap_or(0).saturating_mul(unit)
}
