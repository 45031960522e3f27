//! What the vm device uses.

use std::path::{Path, PathBuf};

use fwdlab_device::DoctorFinding;

use fwdlab_kernel::freebsd::{self, KernelFile};
use fwdlab_kernel::{KernelAtHand, check, kernels_at_hand};

use crate::try_kvm;

/// Where experiment files are kept, from where people start the program.
const PLACES: [&str; 2] = ["examples", "."];

pub(super) fn findings(program: Option<&Path>) -> Vec<DoctorFinding> {
    let kernels: Vec<(&str, KernelAtHand)> = PLACES
        .into_iter()
        .flat_map(|place| kernels_at_hand(Path::new(place)).into_iter().map(move |k| (place, k)))
        .filter(|(place, kernel)| *place == PLACES[0] || !kernel.is_installed)
        .collect();
    let first = kernels.first().map(|(_, kernel)| kernel);
    let freebsd: Vec<FreeBsdAtHand> =
        PLACES.iter().flat_map(|place| freebsd_at_hand(Path::new(place))).collect();
    let has_freebsd = freebsd.iter().any(|kernel| kernel.is_usable);
    let linux = guests(&kernels, !has_freebsd);
    vec![emulator(), linux, freebsd_guests(freebsd), virtualisation(program, first)]
}

/// Where `examples/freebsd.sh` puts kernels and the root image.
const FREEBSD: &str = "freebsd";

/// The names that a root image may have there.
const ROOTS: [&str; 2] = ["root.qcow2", "root.img"];

/// A FreeBSD kernel that is there, in words, with what it or its root lacks.
#[derive(Default)]
struct FreeBsdAtHand {
    words: String,
    is_usable: bool,
    /// Whether kernel and root are all there.
    is_whole: bool,
}

/// The kernels in the directory `freebsd` below `base`.
fn freebsd_at_hand(base: &Path) -> Vec<FreeBsdAtHand> {
    let dir = base.join(FREEBSD);
    let root = ROOTS.iter().map(|name| dir.join(name)).find(|path| path.is_file());
    let entries = std::fs::read_dir(&dir).into_iter().flatten().flatten();
    let is_meant = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        freebsd::is_kernel(path) || (name.starts_with("kernel") && path.is_file())
    };
    let mut kernels: Vec<_> = entries.map(|entry| entry.path()).filter(is_meant).collect();
    kernels.sort();
    kernels.iter().map(|path| examined(path, root.as_deref())).collect()
}

fn examined(path: &Path, root: Option<&Path>) -> FreeBsdAtHand {
    let name = path.display().to_string();
    let kernel = match check(path).and_then(|()| KernelFile::read(path)) {
        Ok(kernel) => kernel,
        Err(error) => return FreeBsdAtHand { words: error.to_string(), ..Default::default() },
    };
    let modules = path.parent().map(|dir| dir.join("modules"));
    let parts = kernel.missing(modules.as_deref().filter(|dir| dir.is_dir()));
    let parts = parts.iter().map(|need| format!("{} ({})", need.names[0], need.why));
    let mut missing: Vec<String> = parts.collect();
    let mut fault = None;
    match root {
        _ if kernel.holds_root => {}
        Some(root) => fault = freebsd::check_root(root).err().map(|error| error.to_string()),
        None => missing.push("a root image beside it".to_owned()),
    }
    let ident = kernel.ident.clone().unwrap_or_else(|| "unnamed".to_owned());
    let lookup = match kernel.has("FIB_ALGO") {
        Some(true) => "FIB_ALGO",
        Some(false) => "no FIB_ALGO: one lookup, a baseline",
        None => "it does not say its options",
    };
    let lacks = match missing.as_slice() {
        [] => String::new(),
        missing => format!(" lacks {}", missing.join(", ")),
    };
    let fault = fault.map_or_else(String::new, |fault| format!(", but {fault}"));
    let (is_usable, is_whole) = (lacks.is_empty() && fault.is_empty(), fault.is_empty());
    FreeBsdAtHand {
        words: format!("{name} ({ident}, {lookup}){lacks}{fault}"),
        is_usable,
        is_whole,
    }
}

fn freebsd_guests(kernels: Vec<FreeBsdAtHand>) -> DoctorFinding {
    let detail = kernels.iter().map(|kernel| kernel.words.as_str()).collect::<Vec<_>>().join("; ");
    DoctorFinding {
        what: "FreeBSD kernels to boot",
        // A damaged file beside a good one is somebody's next experiment.
        present: kernels.iter().any(|kernel| kernel.is_usable)
            && kernels.iter().all(|kernel| kernel.is_whole),
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

fn guests(kernels: &[(&str, KernelAtHand)], is_needed: bool) -> DoctorFinding {
    DoctorFinding {
        what: "kernels to boot",
        present: kernels.iter().any(|(_, kernel)| fault(kernel).is_none()),
        detail: match kernels {
            [] => "none in examples/kernels, ./kernels and /boot, and this directory is no tree in which \
                   one was built"
                .to_owned(),
            some => some
                .iter()
                .map(|(place, kernel)| words(place, kernel))
                .collect::<Vec<_>>()
                .join(", "),
        },
        enables: "variants of device = \"vm\", examples/kernels.toml",
        remedy: "one that lies elsewhere is named to `fwdlab run --kernel before=PATH --kernel after=PATH`, which \
                 looks at it first; or have examples/kernels.sh get Linux 6.1 and 6.12 from Debian's packages, \
                 unpacked and not installed",
        is_needed,
    }
}

/// Why an image that is there cannot be booted.
fn fault(kernel: &KernelAtHand) -> Option<String> {
    let found = check(&kernel.image).err().filter(|error| !error.is_of_files());
    found.map(|error| error.to_string())
}

fn words(place: &str, kernel: &KernelAtHand) -> String {
    if let Some(fault) = fault(kernel) {
        return fault;
    }
    let place = match place {
        "." => String::new(),
        place => format!("{place}/"),
    };
    let name = match kernel.is_installed {
        false => format!("{place}{} ({})", kernel.name, kernel.release),
        true => format!("{} (installed)", kernel.name),
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
        remedy: match kernel {
            Some(_) => "clock = \"instructions\" needs none; else use a machine of your own",
            None => {
                "clock = \"instructions\" needs no KVM; either needs a kernel to boot, and none is here: \
                 examples/kernels.sh gets two from Debian, unpacked and not installed"
            }
        },
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
        assert!(!finding.present, "{finding:?}");
        let name = place.join("kernel").display().to_string();
        assert!(finding.detail.starts_with(&format!("{name} is cut short: ")), "{finding:?}");
        assert!(!finding.detail.contains("lacks"), "{finding:?}");
        std::fs::write(place.join("kernel"), "text").expect("a file");
        let finding = freebsd_guests(freebsd_at_hand(dir.path()));
        assert!(!finding.present, "{finding:?}");
        assert!(finding.detail.starts_with(&format!("{name} is no kernel: ")), "{finding:?}");
    }

    #[test]
    fn a_damaged_kernel_beside_a_good_one_is_no_yes() {
        let kernel =
            |is_usable, is_whole| FreeBsdAtHand { words: "k".to_owned(), is_usable, is_whole };
        let is_present = |kernels| freebsd_guests(kernels).present;
        assert!(is_present(vec![kernel(true, true)]));
        assert!(is_present(vec![kernel(true, true), kernel(false, true)]), "it lacks a part");
        assert!(!is_present(vec![kernel(true, true), kernel(false, false)]));
        assert!(!is_present(vec![kernel(false, true)]) && !is_present(vec![]));
    }

    #[test]
    fn kernels_are_listed_with_what_is_missing_of_them() {
        let kernel = |name: &str, has_modules| KernelAtHand {
            name: name.to_owned(),
            release: "6.1.0-9".to_owned(),
            image: "boot/vmlinuz".into(),
            has_modules,
            is_installed: !name.contains('/'),
        };
        let found =
            [("examples", kernel("kernels/6.1", true)), ("examples", kernel("6.1.0-9", false))];
        let found = guests(&found, true);
        assert_eq!(
            found.detail,
            "examples/kernels/6.1 (6.1.0-9), 6.1.0-9 (installed) without modules"
        );
        assert!(found.present);
        let dir = tempfile::tempdir().expect("a directory");
        let empty = dir.path().join("vmlinuz-6.1");
        std::fs::write(&empty, "").expect("a file");
        let cut = KernelAtHand { image: empty, ..kernel("kernels/6.1", true) };
        let unfit = guests(&[("examples", cut)], true);
        assert!(!unfit.present && unfit.detail.contains("is no kernel: it is empty"), "{unfit:?}");
        // "It can be measured here" was said, and exit code 0, where there was nothing to boot.
        let none = guests(&[], true);
        assert!(!none.present && none.is_needed, "{none:?}");
        assert!(none.remedy.contains("examples/kernels.sh"), "{none:?}");
        assert!(!guests(&[], false).is_needed, "there are guests of FreeBSD");
        // "Use a machine of your own" was said where only a kernel was missing.
        let said = virtualisation(None, None).remedy;
        assert!(said.contains("examples/kernels.sh"), "{said}");
    }
}
