//! What the vm device uses.

use std::path::Path;

use fwdlab_device::DoctorFinding;

use crate::freebsd::{self, KernelFile};
use crate::{KernelAtHand, kernels_at_hand, try_kvm};

/// Where experiment files are kept, from where people start the program.
const PLACES: [&str; 2] = ["examples", "."];

pub(super) fn findings(program: Option<&Path>) -> Vec<DoctorFinding> {
    let kernels: Vec<(&str, KernelAtHand)> = PLACES
        .into_iter()
        .flat_map(|place| kernels_at_hand(Path::new(place)).into_iter().map(move |k| (place, k)))
        .filter(|(place, kernel)| *place == PLACES[0] || kernel.name.starts_with("kernels/"))
        .collect();
    let first = kernels.first().map(|(_, kernel)| kernel);
    let freebsd = PLACES.iter().flat_map(|place| freebsd_at_hand(Path::new(place))).collect();
    vec![emulator(), guests(&kernels), freebsd_guests(freebsd), virtualisation(program, first)]
}

/// Where `examples/freebsd.sh` puts kernels and the root image.
const FREEBSD: &str = "freebsd";

/// The names that a root image may have there.
const ROOTS: [&str; 2] = ["root.qcow2", "root.img"];

/// A FreeBSD kernel that is there, in words, and what it or its root lacks.
struct FreeBsdAtHand {
    words: String,
    missing: Vec<String>,
}

/// The kernels in the directory `freebsd` below `base`.
fn freebsd_at_hand(base: &Path) -> Vec<FreeBsdAtHand> {
    let dir = base.join(FREEBSD);
    let has_root = ROOTS.iter().any(|name| dir.join(name).is_file());
    let entries = std::fs::read_dir(&dir).into_iter().flatten().flatten();
    let mut kernels: Vec<_> =
        entries.map(|entry| entry.path()).filter(|path| freebsd::is_kernel(path)).collect();
    kernels.sort();
    kernels.iter().map(|path| examined(path, has_root)).collect()
}

fn examined(path: &Path, has_root: bool) -> FreeBsdAtHand {
    let name = path.display().to_string();
    let kernel = match KernelFile::read(path) {
        Ok(kernel) => kernel,
        Err(error) => return FreeBsdAtHand { words: name, missing: vec![error.to_string()] },
    };
    let modules = path.parent().map(|dir| dir.join("modules"));
    let parts = kernel.missing(modules.as_deref().filter(|dir| dir.is_dir()));
    let parts = parts.iter().map(|need| format!("{} ({})", need.names[0], need.why));
    let mut missing: Vec<String> = parts.collect();
    missing.extend((!has_root && !kernel.holds_root).then(|| "a root image beside it".to_owned()));
    let ident = kernel.ident.clone().unwrap_or_else(|| "unnamed".to_owned());
    let lookup = match kernel.has("FIB_ALGO") {
        Some(true) => "FIB_ALGO",
        Some(false) => "no FIB_ALGO: one lookup, a baseline",
        None => "it does not say its options",
    };
    FreeBsdAtHand { words: format!("{name} ({ident}, {lookup})"), missing }
}

fn freebsd_guests(kernels: Vec<FreeBsdAtHand>) -> DoctorFinding {
    let words = kernels.iter().map(|kernel| match kernel.missing.as_slice() {
        [] => kernel.words.clone(),
        missing => format!("{} lacks {}", kernel.words, missing.join(", ")),
    });
    let detail = words.collect::<Vec<_>>().join("; ");
    DoctorFinding {
        what: "FreeBSD kernels to boot",
        present: kernels.iter().any(|kernel| kernel.missing.is_empty()),
        detail: if detail.is_empty() { "none in examples/freebsd".to_owned() } else { detail },
        enables: "FreeBSD guests of device = \"vm\", examples/freebsd-modular-fib.toml",
        remedy: "examples/freebsd.sh gets a kernel and a root image; what a kernel lacks goes into \
                 its configuration",
        is_needed: false,
    }
}

fn emulator() -> DoctorFinding {
    let version = fwdlab_guard::tool("qemu-system-x86_64").arg("--version").output();
    let version = version.ok().filter(|output| output.status.success()).and_then(|output| {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().next().map(str::to_owned)
    });
    DoctorFinding {
        what: "qemu-system-x86_64",
        present: version.is_some(),
        detail: version.unwrap_or_else(|| "not found".to_owned()),
        enables: "kernels in virtual machines (device = \"vm\")",
        remedy: "apt-get install qemu-system-x86",
        is_needed: true,
    }
}

fn guests(kernels: &[(&str, KernelAtHand)]) -> DoctorFinding {
    DoctorFinding {
        what: "kernels to boot",
        present: !kernels.is_empty(),
        detail: match kernels {
            [] => "none in examples/kernels, ./kernels and /boot".to_owned(),
            some => some
                .iter()
                .map(|(place, kernel)| words(place, kernel))
                .collect::<Vec<_>>()
                .join(", "),
        },
        enables: "variants of device = \"vm\", examples/kernels.toml",
        remedy: "name your own, or have examples/kernels.sh get Linux 6.1 and 6.12 from Debian's \
                 packages, unpacked and not installed",
        // Kernels may lie anywhere.
        is_needed: false,
    }
}

fn words(place: &str, kernel: &KernelAtHand) -> String {
    let is_unpacked = kernel.name.starts_with("kernels/");
    let place = match place {
        "." => String::new(),
        place => format!("{place}/"),
    };
    let name = match is_unpacked {
        true => format!("{place}{} ({})", kernel.name, kernel.release),
        false => format!("{} (installed)", kernel.name),
    };
    if kernel.has_modules { name } else { format!("{name} without modules") }
}

fn virtualisation(program: Option<&Path>, kernel: Option<&KernelAtHand>) -> DoctorFinding {
    let tried = try_kvm(program, kernel.map(|kernel| kernel.image.as_path()));
    DoctorFinding {
        what: "KVM",
        present: tried.is_ok() && program.and(kernel).is_some(),
        detail: match (tried, program.and(kernel)) {
            (Err(why), _) => why,
            (Ok(()), Some(kernel)) => format!("{} was booted with it", kernel.release),
            (Ok(()), None) => "/dev/kvm can be opened; no kernel was booted to try it".to_owned(),
        },
        enables: "device = \"vm\" with clock = \"wall\": guests at the speed of the processor",
        remedy: "clock = \"instructions\" needs none; else use a machine of your own",
        is_needed: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_freebsd_kernel_lacks_is_named() {
        let dir = tempfile::tempdir().expect("a directory");
        let place = dir.path().join(FREEBSD);
        std::fs::create_dir(&place).expect("a directory");
        std::fs::write(place.join("kernel"), b"\x7fELF\x02\x01\x01\x09 cut").expect("a file");
        std::fs::write(place.join("README"), "no kernel").expect("a file");
        let found = freebsd_at_hand(dir.path());
        assert_eq!(found.len(), 1);
        let finding = freebsd_guests(found);
        assert!(!finding.present && finding.detail.contains("is no FreeBSD kernel"), "{finding:?}");
        let kernel = |missing: &[&str]| FreeBsdAtHand {
            words: "freebsd/kernel (MINE, FIB_ALGO)".to_owned(),
            missing: missing.iter().map(|part| (*part).to_owned()).collect(),
        };
        let lacking = freebsd_guests(vec![kernel(&["netmap (the tester's receiver)"])]);
        assert!(!lacking.present && lacking.detail.contains("lacks netmap"), "{lacking:?}");
        assert!(freebsd_guests(vec![kernel(&[])]).present);
    }

    #[test]
    fn kernels_are_listed_with_what_is_missing_of_them() {
        let kernel = |name: &str, has_modules| KernelAtHand {
            name: name.to_owned(),
            release: "6.1.0-9".to_owned(),
            image: "boot/vmlinuz".into(),
            has_modules,
        };
        let found = guests(&[
            ("examples", kernel("kernels/6.1", true)),
            ("examples", kernel("6.1.0-9", false)),
        ]);
        assert_eq!(
            found.detail,
            "examples/kernels/6.1 (6.1.0-9), 6.1.0-9 (installed) without modules"
        );
        assert!(found.present);
        let none = guests(&[]);
        assert!(!none.present && none.remedy.contains("examples/kernels.sh"), "{none:?}");
    }
}
