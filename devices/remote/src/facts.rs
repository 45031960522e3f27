//! What a host is made of, as far as it moves figures.

use std::collections::BTreeMap;

use crate::Result;
use crate::host::Connected;
use crate::testbed::System;

/// Asks a host for its facts; what it does not show is left out.
///
/// # Errors
/// When the connection breaks.
pub fn ask(
    host: &mut Connected,
    is_stopped: &dyn Fn() -> bool,
) -> Result<BTreeMap<String, String>> {
    let mut script = match host.host.os {
        System::Linux => LINUX.to_owned(),
        System::Freebsd | System::Bsdrp => FREEBSD.to_owned(),
    };
    let ports = host.host.ports.iter().enumerate();
    for (number, port) in ports.filter(|(_, port)| !port.is_datagram()) {
        let name = &port.name;
        script.push_str(&match host.host.os {
            System::Linux => {
                LINUX_PORT.replace("PORT", name).replace("NUMBER", &number.to_string())
            }
            System::Freebsd | System::Bsdrp => {
                format!("say 'port {number} driver' \"$(sysctl -n dev.{}.%desc)\"\n", dotted(name))
            }
        });
    }
    script.push_str(":\n");
    let said = host.run(&script, is_stopped)?;
    let facts = said.output.lines().filter_map(|line| line.split_once('\t'));
    let facts = facts.filter(|(_, value)| !value.trim().is_empty());
    Ok(facts.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect())
}

/// `igb1` as sysctl names it: `igb.1`.
fn dotted(name: &str) -> String {
    let end = name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    format!("{}.{}", &name[..end], &name[end..])
}

const LINUX: &str = r#"say() { printf '%s\t%s\n' "$1" "$(printf %s "$2" | tr '\n\t' '  ')"; }
say system "$(uname -srm)"
say processor "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)"
say cores "$(grep -c ^processor /proc/cpuinfo)"
say governor "$(cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor 2>/dev/null)"
say mitigations "$(grep -h . /sys/devices/system/cpu/vulnerabilities/* 2>/dev/null | sort | uniq -c | sort -rn | head -3)"
say 'kernel command line' "$(sed 's/root=[^ ]*//; s/BOOT_IMAGE=[^ ]*//' /proc/cmdline)"
"#;

const LINUX_PORT: &str = r#"d=/sys/class/net/PORT
say 'port NUMBER driver' "$(basename "$(readlink $d/device/driver)" 2>/dev/null)"
say 'port NUMBER speed' "$(cat $d/speed 2>/dev/null)"
say 'port NUMBER numa node' "$(cat $d/device/numa_node 2>/dev/null)"
say 'port NUMBER PCIe' "$(cat $d/device/current_link_speed $d/device/current_link_width 2>/dev/null)"
say 'port NUMBER queues' "$(ls $d/queues 2>/dev/null)"
if command -v ethtool >/dev/null; then
say 'port NUMBER firmware' "$(ethtool -i PORT 2>/dev/null | sed -n 's/^firmware-version: //p')"
say 'port NUMBER rings' "$(ethtool -g PORT 2>/dev/null | sed -n '/Current/,$p' | grep -E '^(RX|TX):')"
say 'port NUMBER pause' "$(ethtool -a PORT 2>/dev/null | tail -n +2)"
say 'port NUMBER offloads' "$(ethtool -k PORT 2>/dev/null | grep -E '^(generic-receive|large-receive|tcp-seg|generic-seg|rx-check|tx-check)')"
fi
"#;

const FREEBSD: &str = r#"say() { printf '%s\t%s\n' "$1" "$(printf %s "$2" | tr '\n\t' '  ')"; }
say system "$(uname -srm)"
say version "$(sysctl -n kern.version)"
say processor "$(sysctl -n hw.model)"
say cores "$(sysctl -n hw.ncpu)"
"#;
