//! What the vm device uses.

use std::path::Path;

use fwdlab_device::Finding;

use crate::{KernelAtHand, kernels_at_hand, try_kvm};

/// Where experiment files are kept, from where people start the program.
const PLACES: [&str; 2] = ["examples", "."];

pub(super) fn findings(program: Option<&Path>) -> Vec<Finding> {
    let kernels: Vec<(&str, KernelAtHand)> = PLACES
        .into_iter()
        .flat_map(|place| kernels_at_hand(Path::new(place)).into_iter().map(move |k| (place, k)))
        .filter(|(place, kernel)| *place == PLACES[0] || kernel.name.starts_with("kernels/"))
        .collect();
    let first = kernels.first().map(|(_, kernel)| kernel);
    vec![emulator(), guests(&kernels), virtualisation(program, first)]
}

fn emulator() -> Finding {
    let version = fwdlab_guard::tool("qemu-system-x86_64").arg("--version").output();
    let version = version.ok().filter(|output| output.status.success()).and_then(|output| {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().next().map(str::to_owned)
    });
    Finding {
        what: "qemu-system-x86_64",
        present: version.is_some(),
        detail: version.unwrap_or_else(|| "not found".to_owned()),
        enables: "kernels in virtual machines (device = \"vm\")",
        remedy: "apt-get install qemu-system-x86",
        is_needed: true,
    }
}

fn guests(kernels: &[(&str, KernelAtHand)]) -> Finding {
    Finding {
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
        remedy: "examples/kernels.sh gets Linux 6.1 and 6.12 from Debian's packages, unpacked and \
                 not installed",
        is_needed: true,
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

fn virtualisation(program: Option<&Path>, kernel: Option<&KernelAtHand>) -> Finding {
    let tried = try_kvm(program, kernel.map(|kernel| kernel.image.as_path()));
    Finding {
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
