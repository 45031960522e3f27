//! What a host is made of, as far as it moves figures.

use std::collections::BTreeMap;

use fwdlab_agent::order::Maker;
use fwdlab_counters::settings;

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

/// What of a host can change from one trial to the next: it is part of each trial's proof. Its ports are asked
/// anew where `may_differ`, else once for each connection: that takes a process for each question.
///
/// # Errors
/// When the connection breaks.
pub fn changing(
    host: &mut Connected,
    may_differ: bool,
    is_stopped: &dyn Fn() -> bool,
) -> Result<BTreeMap<String, String>> {
    if host.host.os != System::Linux {
        return Ok(BTreeMap::new());
    }
    let kept = host.settings.take().filter(|_| !may_differ);
    let ports = host.host.ports.iter().enumerate();
    let ports = ports.filter(|(_, port)| !port.is_datagram() && kept.is_none());
    let script = settings::script(ports.map(|(number, port)| (number, port.name.as_str())));
    let said = host.run(&script, is_stopped)?;
    let mut found = kept.unwrap_or_default();
    found.extend(settings::answers(&said.output));
    host.settings = Some(found.clone());
    Ok(found)
}

/// Which program of others makes the frames.
///
/// # Errors
/// When the connection breaks.
pub fn of_maker(host: &mut Connected, maker: Maker) -> Result<String> {
    let version = match maker {
        Maker::Pktgen => return Ok("pktgen of its kernel".to_owned()),
        Maker::Trafgen => "PATH=$PATH:/usr/sbin:/sbin; trafgen --version 2>&1 | head -n 1",
    };
    let said = host.run(version, &|| false)?;
    let words: Vec<&str> = said.output.split_whitespace().take(2).collect();
    Ok(format!("{} of netsniff-ng", words.join(" ")))
}

/// `igb1` as sysctl names it: `igb.1`.
fn dotted(name: &str) -> String {
    let end = name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    format!("{}.{}", &name[..end], &name[end..])
}

const LINUX: &str = r#"say() { printf '%s\t%s\n' "$1" "$(printf %s "$2" | tr '\n\t' '  ')"; }
say system "$(uname -srm)"
say machine "$([ -s /etc/machine-id ] && (printf 'fwdlab '; tr -d '\n' </etc/machine-id) | sha256sum | cut -c-16)"
say processor "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)"
say cores "$(grep -c ^processor /proc/cpuinfo)"
say governor "$(cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor 2>/dev/null)"
say mitigations "$(grep -h . /sys/devices/system/cpu/vulnerabilities/* 2>/dev/null | sort | uniq -c | sort -rn | head -3)"
say 'kernel command line' "$(sed 's/root=[^ ]*//; s/BOOT_IMAGE=[^ ]*//' /proc/cmdline)"
"#;

const LINUX_PORT: &str = r#"d=/sys/class/net/PORT
say 'port NUMBER driver' "$(basename "$(readlink $d/device/driver)" 2>/dev/null)"
say 'port NUMBER speed' "$(cat $d/speed 2>/dev/null)"
# Of a virtio port, the PCI device is one step higher.
p=$d/device; [ -e $p/numa_node ] || p=$d/device/..
n=$(cat $p/numa_node 2>/dev/null)
say 'port NUMBER numa node' "$n"
case $n in [0-9]*) say 'port NUMBER cores of its node' "$(cat /sys/devices/system/node/node$n/cpulist 2>/dev/null)";; esac
pcie() { w=$(cat $p/$1_link_width 2>/dev/null) && echo "$(cat $p/$1_link_speed) x$w"; }
say 'port NUMBER PCIe' "$(pcie current)"
say 'port NUMBER PCIe at most' "$(pcie max)"
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
say machine "$(sysctl -n kern.hostuuid | sha256 | cut -c 1-16)"
say processor "$(sysctl -n hw.model)"; say cores "$(sysctl -n hw.ncpu)"
"#;

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;

    #[test]
    fn a_port_says_its_node_the_cores_of_that_and_its_way_over_pcie() {
        let sys = tempfile::tempdir().expect("a directory");
        let write = |file: &str, text: &str| {
            let path = sys.path().join(file);
            fs::create_dir_all(path.parent().expect("a directory")).expect("made");
            fs::write(path, text).expect("written");
        };
        // A network card, a virtual one behind its PCI device, and one that is none.
        for (at, file, text) in [
            ("class/net/eth1/device", "numa_node", "1\n"),
            ("class/net/eth1/device", "current_link_speed", "8.0 GT/s PCIe\n"),
            ("class/net/eth1/device", "current_link_width", "4\n"),
            ("class/net/eth1/device", "max_link_speed", "8.0 GT/s PCIe\n"),
            ("class/net/eth1/device", "max_link_width", "8\n"),
            ("class/net/eth2", "numa_node", "-1\n"),
            ("class/net/eth2/device", "vendor", "0x1af4\n"),
            ("class/net/eth3", "speed", "10000\n"),
            ("devices/system/node/node1", "cpulist", "8-15\n"),
        ] {
            write(&format!("{at}/{file}"), text);
        }
        let said = |port: &str| {
            let (head, _) = LINUX.split_once('\n').expect("a line");
            let script = LINUX_PORT.replace("PORT", port).replace("NUMBER", "0");
            let script = script.replace("/sys/", &format!("{}/", sys.path().display()));
            let output = Command::new("sh").arg("-c").arg(format!("{head}\n{script}")).output();
            String::from_utf8(output.expect("a shell").stdout).expect("text")
        };
        let card = said("eth1");
        for line in [
            "port 0 numa node\t1\n",
            "port 0 cores of its node\t8-15\n",
            "port 0 PCIe\t8.0 GT/s PCIe x4\n",
            "port 0 PCIe at most\t8.0 GT/s PCIe x8\n",
        ] {
            assert!(card.contains(line), "{line:?} in {card}");
        }
        let virtual_one = said("eth2");
        assert!(virtual_one.contains("numa node\t-1\n"), "{virtual_one}");
        assert!(!virtual_one.contains("cores of its node"), "-1 is no node: {virtual_one}");
        let none = said("eth3");
        assert!(none.contains("speed\t10000\n") && none.contains("PCIe\t\n"), "{none}");
    }
}
