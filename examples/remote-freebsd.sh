#!/bin/sh
# A testbed whose device is FreeBSD in a virtual machine, reached by ssh like any other: its two test
# ports are datagram sockets on the loopback, where fwdlab's tester sits. For trying out
# device = "remote" with FreeBSD, and for its tests. Needs no root: QEMU (qemu-system-x86), sshd
# (openssh-server), and a kernel and a root image whose start-up takes `fwdlab.sshkey=` or a tar
# archive on its second disk (docs/freebsd.md).
#
#   remote-freebsd.sh up DIR KERNEL ROOT  makes it; DIR/testbed.toml has fwdlab's tester,
#                                         DIR/pkt-gen.toml has pkt-gen on the guest itself
#   remote-freebsd.sh in DIR COMMAND      runs a command in the guest
#   remote-freebsd.sh down DIR            takes it away
#
# It goes by itself when the process that started this script ends. Rates are the emulator's: they
# show that a testbed works, and say nothing about FreeBSD.
set -eu

die() { echo "remote-freebsd.sh: $*" >&2; exit 2; }

here=$(cd "$(dirname "$0")" && pwd)
. "$here/remote-here.sh"

ask() { ssh -F "$DIR/ssh_config" -o UserKnownHostsFile="$DIR/known_hosts" -o BatchMode=yes -o ConnectTimeout=10 "$@"; }

# What the guest's start-up finds on its second disk: keys, addresses of the test network. Ports are
# found by their MAC addresses: the order of their names is the board's.
disk() {
    mkdir -p "$DIR/disk/etc/ssh" "$DIR/disk/etc/local.d" "$DIR/disk/root/.ssh"
    ssh-keygen -q -t ed25519 -N '' -C '' -f "$DIR/disk/etc/ssh/ssh_host_ed25519_key"
    cp "$DIR/key.pub" "$DIR/disk/root/.ssh/authorized_keys"
    cat > "$DIR/disk/etc/rc.local" <<'RC'
port() { for i in $(ifconfig -l); do ifconfig $i | grep -q "ether $1" && echo $i; done; }
a=$(port 52:54:00:00:01:01) b=$(port 52:54:00:00:01:02)
sysctl net.inet.ip.forwarding=1 net.inet6.ip6.forwarding=1 net.inet6.ip6.dad_count=0 >/dev/null
ifconfig $a inet 198.18.0.254/24 up
ifconfig $b inet 198.19.0.254/24 up
arp -s 198.19.0.203 02:66:00:00:02:02
route -q add -net 198.19.0.0/16 198.19.0.203
# Ports of the tester that runs here, pkt-gen: the far ends of two cables.
for i in 0 1; do
    ifconfig epair$i create >/dev/null
    ifconfig epair${i}a ether 02:66:00:00:03:0$i
    ifconfig epair${i}b ether 02:66:00:00:04:0$i up
done
ifconfig epair0a inet 198.51.100.254/24 up
ifconfig epair1a inet 203.0.113.254/24 up
arp -s 203.0.113.203 02:66:00:00:04:01
route -q add -net 100.66.0.0/16 203.0.113.203
for file in /etc/local.d/*.sh; do [ ! -f "$file" ] || sh "$file"; done
RC
    tar -C "$DIR/disk" --owner=0 --group=0 -cf "$DIR/disk.tar" .
}

card() { # NUMBER
    printf ' -netdev %s' "$(datagrams "p$1" $((BASE + 2 + $1)) $((BASE + 4 + $1)))"
    printf ' -device virtio-net-device,netdev=p%s,mac=52:54:00:00:01:0%s' "$1" "$1"
}

# Starts sshd and QEMU on ports from BASE on; fails when one of them is not free.
start() {
    rm -f "$DIR/pids"
    start_sshd $((BASE + 1))
    set -- $(card 1) $(card 2)
    qemu-system-x86_64 -machine microvm,acpi=off,x-option-roms=off,pic=on,pit=on,rtc=on -device i8042 \
        -cpu max -m 512 -nodefaults -no-user-config -display none -serial "file:$DIR/console" \
        -kernel "$KERNEL" -append "vfs.root.mountfrom=ufs:/dev/vtbd0" \
        -drive "id=root,file=$ROOT,if=none,snapshot=on" -device virtio-blk-device,drive=root \
        -drive "id=more,file=$DIR/disk.tar,format=raw,if=none,readonly=on" -device virtio-blk-device,drive=more \
        -netdev "user,id=n0,restrict=on,hostfwd=tcp:127.0.0.1:$BASE-:22" -device virtio-net-device,netdev=n0 \
        "$@" </dev/null >"$DIR/qemu.log" 2>&1 &
    echo $! >> "$DIR/pids"
    sleep 1
    for pid in $(cat "$DIR/pids"); do kill -0 "$pid" 2>/dev/null || { take_down "$DIR"; return 1; }; done
    go_with_owner
}

testbed() { # NAME PORTS TESTER
    printf 'name = "%s"\nknown-hosts = "known_hosts"\nssh-config = "ssh_config"\n' "$1"
    printf '[hosts.dut]\nssh = "guest"\nos = "freebsd"\nports = [%s]\n' "$2"
    printf '[hooks]\nconsole = ["tail", "-n", "50", "console"]\n'
    printf '[limits]\nboot = "200s"\n[hosts.tester]\n%s\n' "$3"
}

up() {
    command -v qemu-system-x86_64 >/dev/null || die "needs QEMU: apt-get install qemu-system-x86"
    mkdir -p "$DIR"
    DIR=$(cd "$DIR" && pwd)
    ssh-keygen -q -t ed25519 -N '' -f "$DIR/key"
    need_sshd
    disk
    # Below the ports that systems hand out by themselves.
    BASE=$((20000 + $$ % 1200 * 10)) tries=0
    until start; do
        tries=$((tries + 1)) BASE=$((20000 + (BASE - 20000 + 10) % 12000))
        [ $tries -lt 20 ] || { cat "$DIR/qemu.log" "$DIR/sshd.log" >&2; die "QEMU or sshd does not start"; }
    done
    { ssh_host guest "$BASE" root; ssh_host tester $((BASE + 1)) "$(id -un)"; } > "$DIR/ssh_config"
    { known "$BASE" "$DIR/disk/etc/ssh/ssh_host_ed25519_key.pub"; known $((BASE + 1)) "$DIR/hostkey.pub"; } > "$DIR/known_hosts"
    tries=0
    until ask guest 'ifconfig epair1a | grep -q 203.0.113.254' 2>"$DIR/ssh.log"; do
        tries=$((tries + 1))
        [ $tries -lt 200 ] && [ -f "$DIR/pids" ] || { tail -n 5 "$DIR/console" "$DIR/ssh.log" >&2; take_down "$DIR"; die "the guest does not answer"; }
        sleep 0.3
    done
    named() { ask guest "for i in \$(ifconfig -l); do ifconfig \$i | grep -q $1 && echo \$i; done"; }
    m=52:54:00:00:01
    { testbed freebsd-guest \
        "$(port "$(named $m:01)" $m:01), $(port "$(named $m:02)" $m:02)" \
        "$(printf 'ssh = "tester"\nos = "linux"\ndirectory = "%s/files"\nports = [%s, %s]' "$DIR" \
            "$(datagram_port $((BASE + 5)) $((BASE + 3)) 02:66:00:00:02:01)" \
            "$(datagram_port $((BASE + 6)) $((BASE + 4)) 02:66:00:00:02:02)")"
    } > "$DIR/testbed.toml"
    { testbed freebsd-pkt-gen \
        "$(port epair0a 02:66:00:00:03:00), $(port epair1a 02:66:00:00:03:01)" \
        "$(printf 'ssh = "guest"\nos = "freebsd"\ndirectory = "/var/tmp/fwdlab-tester"\nports = [%s, %s]' \
            "$(port epair0b 02:66:00:00:04:00)" "$(port epair1b 02:66:00:00:04:01)")"
        printf '[tester]\nkind = "pkt-gen"\n'
    } > "$DIR/pkt-gen.toml"
}

[ $# -ge 2 ] || die "usage: up DIR KERNEL ROOT | in DIR COMMAND | down DIR"
command=$1 DIR=$2
shift 2
case $command in
up)
    [ $# = 2 ] && [ -f "$1" ] && [ -f "$2" ] || die "usage: up DIR KERNEL ROOT, which are files"
    KERNEL=$1 ROOT=$2 OWNER=$PPID
    up
    ;;
in) ask guest "$*" ;;
down) take_down "$DIR" ;;
*) die "unknown command $command" ;;
esac
