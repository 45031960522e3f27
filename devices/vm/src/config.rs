//! What a kernel must have been configured with to be booted and measured, held against its own
//! configuration before it boots: a kernel that lacks something otherwise says so in words of its own,
//! or not at all.

use std::collections::BTreeMap;
use std::path::Path;

use fwdlab_guard::{MIB, input};

use crate::VmError;

/// Options that must be built in, each with what needs it.
const BUILT_IN: [(&str, &str); 15] = [
    ("64BIT", "fwdlab in the guest is a 64-bit program"),
    ("BINFMT_ELF", "to start fwdlab in the guest"),
    ("BLK_DEV_INITRD", "the guest's files come as an initramfs"),
    ("DEVTMPFS", "the guest's devices"),
    ("PROC_FS", "settings are read back from /proc"),
    ("SYSFS", "settings are read back from /sys"),
    ("SYSCTL", "settings are sysctls"),
    ("TMPFS", "names of network namespaces"),
    ("FILE_LOCKING", "names of network namespaces are taken under a lock"),
    ("FUTEX", "fwdlab in the guest has threads"),
    ("SERIAL_8250", "the guest reports over a serial port"),
    ("SERIAL_8250_CONSOLE", "the kernel's messages go to a serial port"),
    ("INET", "IPv4"),
    ("PACKET", "the tester's packet sockets"),
    ("NET_NS", "tester and device are in network namespaces of their own"),
];

/// What else some experiments need.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Needs {
    /// IPv6 traffic.
    pub ipv6: bool,
    /// nftables rules.
    pub rules: bool,
    /// The kernel's own generator.
    pub pktgen: bool,
}

/// Holds a kernel's configuration against what is needed. A kernel whose configuration is not known
/// is booted and says itself what it lacks.
pub(super) fn check(config: Option<&Path>, needs: Needs) -> Result<(), VmError> {
    const MOST_BYTES: u64 = 4 * MIB;
    let Some(path) = config else { return Ok(()) };
    let text = input::named_text(path, MOST_BYTES).map_err(VmError::file("read", path))?;
    let lacks = lacking(&text, needs);
    if lacks.is_empty() {
        return Ok(());
    }
    Err(VmError::Config { config: path.to_owned(), lacks: lacks.join("; ") })
}

/// Each option that is lacking, with what needs it.
fn lacking(text: &str, needs: Needs) -> Vec<String> {
    let set: BTreeMap<&str, &str> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("CONFIG_")?.split_once('='))
        .collect();
    if set.is_empty() {
        return Vec::new(); // not what a kernel's configuration looks like
    }
    let mut wanted: Vec<(&str, &str, bool)> =
        BUILT_IN.iter().map(|(name, why)| (*name, *why, false)).collect();
    wanted.push(("VETH", "tester and device are joined by veth pairs", true));
    if needs.ipv6 {
        wanted.push(("IPV6", "IPv6", false));
    }
    if needs.rules {
        wanted.push(("NF_TABLES", "the experiment's rules", true));
    }
    if needs.pktgen {
        wanted.push(("NET_PKTGEN", "tester = \"pktgen\"", true));
    }
    let is_there = |name: &str, may_be_module: bool| match set.get(name) {
        Some(&"y") => true,
        Some(&"m") => may_be_module,
        _ => false,
    };
    let lacking = wanted.into_iter().filter(|(name, _, module)| !is_there(name, *module));
    lacking
        .map(|(name, why, module)| {
            let values = if module { "y or m" } else { "y" };
            let is = set.get(name).copied().unwrap_or("not set");
            format!("CONFIG_{name} is {is}, wanted {values}: {why}")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> String {
        let mut text = String::from("# Linux/x86 6.12.0 Kernel Configuration\nCONFIG_VETH=m\n");
        for (name, _) in BUILT_IN {
            text.push_str(&format!("CONFIG_{name}=y\n"));
        }
        text
    }

    #[test]
    fn every_option_that_lacks_is_named_with_what_needs_it() {
        assert_eq!(lacking(&good(), Needs::default()), [""; 0]);
        let text = good().replace("CONFIG_NET_NS=y", "# CONFIG_NET_NS is not set");
        let text = text.replace("CONFIG_PACKET=y", "CONFIG_PACKET=m");
        let lacks = lacking(&text, Needs { ipv6: true, rules: true, pktgen: true });
        let names = ["PACKET is m", "NET_NS is not set", "IPV6", "NF_TABLES", "NET_PKTGEN"];
        assert_eq!(lacks.len(), names.len(), "{lacks:?}");
        for (line, name) in lacks.iter().zip(names) {
            assert!(line.starts_with(&format!("CONFIG_{name}")), "{line}");
        }
    }

    #[test]
    fn what_is_no_configuration_says_nothing() {
        assert_eq!(lacking("", Needs::default()), [""; 0]);
        check(None, Needs::default()).expect("nothing is known");
    }
}
