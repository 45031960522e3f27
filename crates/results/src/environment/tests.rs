use std::fs;

use super::*;

/// A made-up machine: files and their text under a root of their own.
fn root(files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

#[test]
fn reads_a_machine_as_linux_shows_it() {
    let root = root(&[
        (
            "proc/cpuinfo",
            "processor\t: 0\nmodel name\t: Example CPU @ 2.00GHz\nflags\t\t: fpu avx2 bmi2 hypervisor\n\nprocessor\t: 1\n",
        ),
        ("proc/meminfo", "MemTotal:        1024 kB\nMemFree: 1 kB\n"),
        ("sys/devices/system/cpu/cpu0/cache/index0/level", "1\n"),
        ("sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n"),
        ("sys/devices/system/cpu/cpu0/cache/index0/size", "32K\n"),
        ("sys/devices/system/cpu/cpu0/cache/index1/level", "3\n"),
        ("sys/devices/system/cpu/cpu0/cache/index1/type", "Unified\n"),
        ("sys/devices/system/cpu/cpu0/cache/index1/size", "2M\n"),
        ("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"),
    ]);
    let machine = Machine::look(root.path());
    assert_eq!(machine.processor, "Example CPU @ 2.00GHz");
    assert_eq!(machine.cores_online, 2);
    assert_eq!(machine.flags, ["avx2", "bmi2", "hypervisor"]);
    assert_eq!(machine.memory_bytes, 1_048_576);
    assert_eq!(machine.caches.len(), 2);
    assert_eq!(machine.caches[1].size_bytes, 2 * 1_048_576);
    assert_eq!(machine.turbo, "off");
    assert_eq!(machine.hypervisor, "yes");
}

#[test]
fn reads_a_kernel_as_linux_shows_it() {
    let root = root(&[
        ("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n"),
        ("etc/os-release", "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n"),
        ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
    ]);
    let kernel = Kernel::look(root.path());
    assert_eq!(kernel.release, "6.1.0-18-amd64");
    assert_eq!(kernel.distribution, "Debian GNU/Linux 12");
    assert_eq!(kernel.huge_pages, "madvise");
}

#[test]
fn a_machine_that_shows_nothing_is_not_an_error() {
    let root = root(&[]);
    assert_eq!(Machine::look(root.path()).processor, "");
    assert_eq!(Kernel::look(root.path()).release, "");
}

#[test]
fn the_environment_comes_back_from_its_file() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(Environment::read(dir.path()).unwrap(), None);
    let device = BTreeMap::from([("ports".to_owned(), "2".to_owned())]);
    let environment = Environment::collect(Build::default(), 7, device);
    environment.write(dir.path()).unwrap();
    assert_eq!(Environment::read(dir.path()).unwrap(), Some(environment));
}

#[test]
fn differences_are_named_with_both_values() {
    let one = Environment::default();
    let mut other = one.clone();
    other.seed = 9;
    assert!(one.differences(&other).is_empty());
    other.kernel.release = "6.2".to_owned();
    other.device.insert("ports".to_owned(), "2".to_owned());
    assert_eq!(one.differences(&other), ["kernel: unset, then 6.2", "ports: unset, then 2"]);
}

/// A kernel that was built again under its old release, and one that was booted with `mitigations=off`, were the same.
#[test]
fn another_build_of_a_release_and_another_command_line_differ() {
    let mut one = Environment::default();
    one.kernel.command_line = "root=/dev/vda1 quiet mitigations=auto quiet".to_owned();
    let mut other = one.clone();
    other.kernel.version = "#2 SMP".to_owned();
    other.kernel.huge_pages = "never".to_owned();
    other.machine.turbo = "off".to_owned();
    other.kernel.command_line = "quiet mitigations=off root=/dev/vda1 quiet".to_owned();
    let wanted = [
        "turbo: unset, then off",
        "build of the kernel: unset, then #2 SMP",
        "command line of the kernel: mitigations=auto, then mitigations=off",
        "transparent huge pages: unset, then never",
    ];
    assert_eq!(one.differences(&other), wanted);
    other = one.clone();
    other.kernel.command_line = "mitigations=auto quiet root=/dev/vda1 quiet".to_owned();
    assert!(one.differences(&other).is_empty(), "the same words");
}

#[test]
fn what_each_run_measures_anew_is_no_other_machine() {
    let one = Environment::default();
    let mut other = one.clone();
    for name in [
        "clock of receiver ahead of the controller",
        "tester: clock of tester ahead of the controller",
        "tester: agent of tester was started again",
    ] {
        other.device.insert(name.to_owned(), "0.010 ms".to_owned());
    }
    assert!(one.differences(&other).is_empty());
    other.device.insert("tester: processor".to_owned(), "x".to_owned());
    assert_eq!(one.differences(&other), ["tester: processor: unset, then x"]);
}

/// Two hosts of one model were the same machine.
#[test]
fn a_machine_is_told_from_another_of_its_kind_and_its_own_id_is_not_shown() {
    let one = root(&[("etc/machine-id", "0123456789abcdef0123456789abcdef\n")]);
    let two = root(&[("etc/machine-id", "0123456789abcdef0123456789abcdf0\n")]);
    let of = |root: &tempfile::TempDir| Environment {
        machine: Machine::look(root.path()),
        ..Environment::default()
    };
    let lines = of(&one).differences(&of(&two));
    let [line] = lines.as_slice() else { panic!("one line: {lines:?}") };
    assert!(line.starts_with("machine: ") && !line.contains("89abc"), "{line}");
    assert!(of(&one).differences(&of(&one)).is_empty());
    // Journals of before have none.
    let none = root(&[]);
    assert!(of(&none).differences(&of(&one)).is_empty());
    assert!(of(&one).differences(&of(&none)).is_empty());
}
