//! Sysctls as files below /proc/sys, which show those of the calling thread's network namespace.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The file of a sysctl. As in sysctl(8), names are written with dots, or with slashes when a part
/// of them holds a dot.
fn path(name: &str) -> io::Result<PathBuf> {
    let separator = if name.contains('/') { '/' } else { '.' };
    let mut path = Path::new("/proc/sys").to_owned();
    for part in name.split(separator) {
        if part.is_empty() || part == "." || part == ".." {
            return Err(io::Error::from(io::ErrorKind::NotFound));
        }
        path.push(part);
    }
    Ok(path)
}

/// The value of a sysctl, parts separated by single blanks.
pub(super) fn read(name: &str) -> io::Result<String> {
    let text = fs::read_to_string(path(name)?)?;
    Ok(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Sets a sysctl; it must exist.
pub(super) fn write(name: &str, value: &str) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).open(path(name)?)?;
    io::Write::write_all(&mut file, value.as_bytes())
}

/// Whether a sysctl belongs to an interface, so that it exists only after that.
pub(super) fn names_interface(name: &str) -> bool {
    let separator = if name.contains('/') { '/' } else { '.' };
    let parts: Vec<&str> = name.split(separator).collect();
    match parts[..] {
        ["net", "ipv4" | "ipv6", "conf" | "neigh", interface, ..] => {
            !matches!(interface, "all" | "default")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_files_and_never_leave_the_directory() {
        let file = |name| path(name).ok().map(|path| path.display().to_string());
        assert_eq!(file("net.ipv4.ip_forward").as_deref(), Some("/proc/sys/net/ipv4/ip_forward"));
        let with_dot = "net/ipv4/conf/eth0.5/rp_filter";
        assert_eq!(file(with_dot), Some(format!("/proc/sys/{with_dot}")));
        assert_eq!(file("net/../../etc/passwd"), None);
        assert_eq!(file("net..ipv4"), None);
    }

    #[test]
    fn sysctls_of_interfaces_are_told_from_those_of_the_namespace() {
        assert!(names_interface("net.ipv4.conf.left.rp_filter"));
        assert!(!names_interface("net.ipv4.conf.all.rp_filter"));
        assert!(!names_interface("net.ipv4.ip_forward"));
    }
}
