//! What of a host with Linux and its ports can be set otherwise at any time, and moves figures.

use std::collections::BTreeMap;

const CHANGING: &str = "g=; { read -r g < /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor; } 2>/dev/null; \
    echo '= host'; echo \"governor: $g\"\n";

/// Nothing is started but ethtool, where it is there.
const CHANGING_PORT: &str = "if command -v ethtool >/dev/null; then \
    echo '=NUMBER driver'; ethtool -i PORT; echo '=NUMBER rings'; ethtool -g PORT; \
    echo '=NUMBER pause'; ethtool -a PORT; echo '=NUMBER offloads'; ethtool -k PORT; fi 2>/dev/null\n";

/// What of the offloads moves figures.
const OFFLOADS: [&str; 6] = [
    "rx-checksumming",
    "tx-checksumming",
    "tcp-segmentation-offload",
    "generic-segmentation-offload",
    "generic-receive-offload",
    "large-receive-offload",
];

/// What asks for it, of ports by their number and name.
pub fn script<'a>(ports: impl Iterator<Item = (usize, &'a str)>) -> String {
    let mut script = CHANGING.to_owned();
    for (number, name) in ports {
        let named = CHANGING_PORT.replace("PORT", name);
        script.push_str(&named.replace("NUMBER", &number.to_string()));
    }
    script
}

/// What the host answered: a line with `=`, number of the port and kind of what follows, then that.
pub fn answers(said: &str) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let (mut port, mut kind) = ("", "");
    for line in said.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix('=') {
            (port, kind) = rest.split_once(' ').unwrap_or((rest, ""));
            continue;
        }
        let Some((key, value)) = line.split_once(':').map(|(k, v)| (k, v.trim())) else { continue };
        // Before this heading stands what could be set, behind it what is.
        if kind == "rings" && key.starts_with("Current") {
            found.remove(&format!("port {port} {kind}"));
        }
        let word = value.split_whitespace().next().unwrap_or_default();
        let (name, text) = match (kind, key) {
            (_, _) if word.is_empty() => continue,
            ("host", key) => (key.to_owned(), value.to_owned()),
            ("driver", "driver") => (format!("port {port} driver"), value.to_owned()),
            ("driver", "firmware-version") => (format!("port {port} firmware"), value.to_owned()),
            ("rings", "RX" | "TX") | ("pause", "RX" | "TX" | "Autonegotiate") => {
                (format!("port {port} {kind}"), format!("{key} {word}"))
            }
            ("offloads", key) if OFFLOADS.contains(&key) => {
                (format!("port {port} {kind}"), format!("{key} {word}"))
            }
            _ => continue,
        };
        let all = found.entry(name).or_default();
        if !all.is_empty() {
            all.push_str(", ");
        }
        all.push_str(&text);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_change_is_read_as_ethtool_says_it() {
        let said = "= host\ngovernor: performance\n\
            =0 driver\ndriver: igb\nversion: 6.1\nfirmware-version: 3.11, 0x8000046e\n\
            =0 rings\nRing parameters for igb0:\nPre-set maximums:\nRX:\t\t4096\nTX:\t\t4096\n\
            Current hardware settings:\nRX:\t\t256\nRX Mini:\tn/a\nTX:\t\t512\n\
            =0 pause\nPause parameters for igb0:\nAutonegotiate:\ton\nRX:\t\ton\nTX:\t\toff\n\
            =0 offloads\nFeatures for igb0:\nrx-checksumming: on\n\ttx-checksum-ipv4: off [fixed]\n\
            generic-receive-offload: off\nlarge-receive-offload: off [fixed]\n\
            =1 driver\n=1 rings\n";
        let found: Vec<_> =
            answers(said).into_iter().map(|(key, value)| format!("{key} = {value}")).collect();
        let wanted = [
            "governor = performance",
            "port 0 driver = igb",
            "port 0 firmware = 3.11, 0x8000046e",
            "port 0 offloads = rx-checksumming on, generic-receive-offload off, large-receive-offload off",
            "port 0 pause = Autonegotiate on, RX on, TX off",
            "port 0 rings = RX 256, TX 512",
        ];
        assert_eq!(found, wanted);
        assert!(answers("= host\ngovernor: \n").is_empty(), "what is not there is no fact");
    }
}
