//! The steps of BSD Router Project: a root that is mounted for reading, and a configuration that must be saved.
//! No such machine is at hand: a machine of the rig stands for it, whose root really is read-only, which
//! loses its configuration with each boot, and whose commands of FreeBSD are stand-ins.

use std::fs;
use std::path::Path;

use crate::rig::{Rig, text};

const NEEDS: &str = "the steps of BSDRP";

/// What the stand-ins are; each writes what it was told into `/var/tmp/told`.
const STAND_INS: &str = r#"
mount -t tmpfs none /var/tmp && mkdir /cfg && mount -t tmpfs none /cfg
cd /usr/local/bin
cat > mount <<'END'
#!/bin/sh
case "$*" in
"-uw /") echo "mount -uw /" >> /var/tmp/told; exec /bin/mount -o remount,rw / ;;
"-ur /") echo "mount -ur /" >> /var/tmp/told; exec /bin/mount -o remount,ro / ;;
esac
exec /bin/mount "$@"
END
cat > config <<'END'
#!/bin/sh
echo "config $1" >> /var/tmp/told
[ ! -e /cfg/saves-nothing ] || exit 0
rm -rf /cfg/etc
mkdir /cfg/etc
for f in sysctl.conf.local fwdlab; do [ ! -e /etc/$f ] || cp -Rp /etc/$f /cfg/etc/; done
END
cat > sha256 <<'END'
#!/bin/sh
exec sha256sum
END
cat > sysctl <<'END'
#!/bin/sh
[ "$1" = -n ] && shift
case $1 in
kern.boottime) exec cat /proc/sys/kernel/random/boot_id ;;
net.route.algo.inet.algo) exec sed -n "s/^$1=//p" /etc/sysctl.conf.local ;;
esac
exit 1
END
cat > ifconfig <<'END'
#!/bin/sh
echo "$1: flags=8843<UP> metric 0 mtu 1500"
echo "	ether $(cat /sys/class/net/$1/address)"
echo "	media: Ethernet 10Gbase-T (10Gbase-T <full-duplex>)"
[ "$(cat /sys/class/net/$1/carrier)" != 1 ] || echo "	status: active"
END
cat > netstat <<'END'
#!/bin/sh
s() { cat "/sys/class/net/$port/statistics/$1"; }
port=$2
echo "Name Mtu Network Address Ipkts Ierrs Idrop Ibytes Opkts Oerrs Obytes Coll Drop"
echo "$port 1500 <Link#1> 02:66 $(s rx_packets) $(s rx_errors) $(s rx_dropped) 0 $(s tx_packets) $(s tx_errors) 0 0 $(s tx_dropped)"
END
chmod 755 mount config sha256 sysctl ifconfig netstat
cat > /rig-on-reboot <<'END'
#!/bin/sh
/bin/mount -o remount,rw /
rm -rf /etc/sysctl.conf.local /etc/fwdlab /var/tmp/fwdlab
[ ! -e /cfg/etc ] || cp -Rp /cfg/etc/. /etc/
/bin/mount -o remount,ro /
END
chmod 755 /rig-on-reboot
echo 1 > /proc/sys/net/ipv4/ip_forward
ip route add 198.18.0.0/16 via 198.18.0.203 dev port0 onlink
ip route add 198.19.0.0/16 via 198.19.0.203 dev port1 onlink
ip neigh replace 198.18.0.203 lladdr 02:66:00:00:02:00 dev port0 nud permanent
ip neigh replace 198.19.0.203 lladdr 02:66:00:00:02:01 dev port1 nud permanent
/bin/mount -o remount,ro /
"#;

/// The shipped example with its sets, one short trial of each.
fn example(rig: &Rig) -> String {
    let example = include_str!("../../../../examples/remote-bsdrp-D27401.toml");
    for (key, wanted) in [("blocks = 5", 1), ("duration = \"20s\"", 1), ("flows = 2000", 1)] {
        assert_eq!(example.matches(key).count(), wanted, "{key}");
    }
    for algorithm in ["radix4", "bsearch4", "dpdk_lpm4"] {
        let set = rig.dir().join("bsdrp-configs").join(algorithm).join("etc");
        fs::create_dir_all(&set).expect("made");
        let line = format!("net.route.algo.inet.algo={algorithm}\n");
        fs::write(set.join("sysctl.conf.local"), line).expect("written");
    }
    let short = example.replace("blocks = 5", "blocks = 1").replace("\"20s\"", "\"300ms\"");
    let short = short.replace("\"10s\"", "\"100ms\"").replace("\"1s\"", "\"50ms\"");
    short.replace("load = \"max\"", "load = \"5kpps\"")
}

/// A rig whose device is one.
fn up() -> Option<Rig> {
    let rig = Rig::up(NEEDS, &[])?;
    rig.on("dut", STAND_INS);
    let write = rig.on("dut", "touch /etc/x 2>/dev/null && echo writable; cat /proc/mounts");
    if write.contains("writable") {
        eprintln!("SKIPPED {NEEDS}: the root of a machine cannot be made read-only here");
        return None;
    }
    let file = rig.dir().join("testbed.toml");
    let testbed = fs::read_to_string(&file).expect("readable");
    let (dut, rest) = testbed.split_once("[hosts.tester]").expect("a tester");
    let dut = dut.replace("os = \"linux\"", "os = \"bsdrp\"");
    fs::write(file, format!("{dut}[hosts.tester]{rest}")).expect("writable");
    Some(rig)
}

fn told(rig: &Rig) -> Vec<String> {
    rig.on("dut", "cat /var/tmp/told").lines().map(str::to_owned).collect()
}

#[test]
fn a_set_of_each_variant_is_written_to_a_read_only_root_and_saved_across_the_boot() {
    let Some(rig) = up() else { return };
    let output = rig.run(&example(&rig));
    rig.assert_finished(&output);
    let trials = rig.records("trial");
    assert_eq!(trials.len(), 3);
    for trial in &trials {
        let own = &trial["variant"];
        assert_eq!(trial["proof"]["sysctl -n net.route.algo.inet.algo"], *own, "{trial}");
        assert!(trial["proof"]["configuration"].to_string().contains("1 file, SHA-256"), "{trial}");
        assert!(trial["received"].as_u64().is_some_and(|frames| frames > 500), "{trial}");
        assert_eq!(trial["device_received"], trial["sent"], "{trial}");
    }
    // Open, copied, closed, saved: once for each variant, in this order.
    let steps = ["mount -uw /", "mount -ur /", "config save"];
    assert_eq!(told(&rig), steps.repeat(3));
    assert!(rig.on("dut", "touch /etc/x 2>&1").contains("Read-only file system"));
}

/// A boot forgets all but the configuration: which files are ours must be part of it.
#[test]
fn a_variant_without_a_set_has_none_of_the_one_before_it() {
    let Some(rig) = up() else { return };
    let look =
        "expect = [{ run = \"test -e /etc/sysctl.conf.local && echo there || echo gone\", is = ";
    let own = "configuration = \"bsdrp-configs/bsearch4\"\n\
               expect = [{ run = \"sysctl -n net.route.algo.inet.algo\", is = \"bsearch4\" }]";
    let whole = example(&rig);
    assert!(whole.contains(own), "{whole}");
    let without = whole.replace(own, &format!("reboot = \"trial\"\n{look}\"gone\" }}]"));
    let output = rig.run(&without.replace("blocks = 1", "blocks = 2"));
    rig.assert_finished(&output);
    // Of two blocks, a trial with a set comes before one of these in whatever order.
    let trials = rig.records("trial");
    let without = trials.iter().filter(|trial| trial["variant"] == "bsearch4");
    assert_eq!(
        without.map(|trial| &trial["proof"]["configuration"]).collect::<Vec<_>>(),
        ["none"; 2]
    );
}

#[test]
fn a_set_that_was_not_saved_is_found_after_the_boot() {
    let Some(rig) = up() else { return };
    rig.on("dut", "touch /cfg/saves-nothing");
    rig.edit("testbed.toml", "boot = \"20s\"", "boot = \"20s\"\nattempts = 1");
    let output = rig.run(&example(&rig));
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert_eq!(rig.failures(), ["proof-mismatch"; 3]);
    let reason = rig.records("trial")[0]["reason"].to_string();
    assert!(reason.contains("/etc/sysctl.conf.local is not there"), "{reason}");
    assert!(reason.contains("saved across a reboot"), "{reason}");
}

#[test]
fn a_set_that_cannot_be_written_leaves_the_root_read_only() {
    let Some(rig) = up() else { return };
    let experiment = example(&rig);
    // A directory is where the file has to go, and something is in it.
    rig.on(
        "dut",
        "/bin/mount -o remount,rw /; mkdir -p /etc/sysctl.conf.local/full; \
         /bin/mount -o remount,ro /",
    );
    let output = rig.run(&experiment);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let steps = told(&rig);
    assert_eq!(steps.len() % 2, 0, "{steps:?}");
    assert!(steps.chunks(2).all(|two| two == ["mount -uw /", "mount -ur /"]), "{steps:?}");
    assert!(!steps.is_empty() && Path::new(&rig.results()).exists());
    let left = rig.on("dut", "touch /etc/x 2>&1");
    assert!(left.contains("Read-only file system"), "{left}");
}
