#!/bin/sh
# A testbed of three virtual machines: a device, a tester and a receiver, each with a kernel of its own,
# so that boots, panics and links that go down are real. For trying out device = "remote", and for its
# tests. Needs no root; needs qemu-system-x86, busybox-static, dropbear-bin, iproute2, and a kernel
# (examples/kernels.sh 6.1). A machine's files are gone after a boot.
#
#   remote-vms.sh up DIR [KERNEL]            makes it; DIR/testbed.toml names the machines
#   remote-vms.sh alone DIR [KERNEL]         the device only: the tester is this machine, without
#                                            privileges, and keeps rates that an emulated one does not
#   remote-vms.sh in DIR ROLE COMMAND...     runs a command on a machine
#   remote-vms.sh kernel DIR ROLE NAME       the next boots of a machine take kernels/NAME beside this script
#   remote-vms.sh monitor DIR ROLE COMMAND   tells QEMU: system_reset, set_link port0 off, stop, cont
#   remote-vms.sh down DIR                   takes it away
#
# It goes by itself when the process that started this script ends.
set -eu

die() { echo "remote-vms.sh: $*" >&2; exit 2; }

here=$(cd "$(dirname "$0")" && pwd)
. "$here/remote-here.sh"
modules='virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci failover net_failover
    virtio_net af_packet veth pktgen'

# A program and the libraries that it loads, into the root of the machines.
take() { # PROGRAM PACKAGE
    program=$(PATH=$PATH:/usr/sbin:/sbin command -v "$1") || die "needs $1: apt-get install $2"
    cp -L "$program" "$root/bin/"
    take_libraries "$program"
}

take_libraries() { # FILE
    for library in $(ldd "$1" 2>/dev/null | grep -o '/[^ ]*'); do
        mkdir -p "$root$(dirname "$library")"
        cp -L "$library" "$root$library"
    done
}

machine_files() { # KERNEL
    root=$DIR/root
    for dir in bin etc/dropbear root/.ssh proc sys dev tmp run var/tmp usr modules; do
        mkdir -p "$root/$dir"
    done
    take busybox busybox-static
    take dropbear dropbear-bin
    take ip iproute2
    # busybox as the shell takes its own ip.
    take dash dash
    ln -s dash "$root/bin/sh"
    # What fwdlab itself loads, which is put there later.
    [ -z "${PROGRAM:-}" ] || take_libraries "$PROGRAM"
    for link in sbin usr/bin usr/sbin; do ln -s /bin "$root/$link"; done
    for applet in $("$root/bin/busybox" --list); do
        [ -e "$root/bin/$applet" ] || ln -s busybox "$root/bin/$applet"
    done
    take_modules "$1" "$root/modules"
    echo 'root::0:0:root:/root:/bin/sh' > "$root/etc/passwd"
    echo 'root:x:0:' > "$root/etc/group"
    echo /bin/sh > "$root/etc/shells"
    cp "$DIR/key.pub" "$root/root/.ssh/authorized_keys"
    chmod -R go-rwx "$root/root"
    { printf '#!/bin/sh\nmodules="%s"\n' "$modules"; cat <<'INIT'; } > "$root/init"
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts
mount -t devpts devpts /dev/pts
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /tmp
for module in $modules; do
    [ ! -e /modules/$module.ko ] || insmod /modules/$module.ko
done
for word in $(cat /proc/cmdline); do
    case $word in
    role=*) role=${word#role=} ;;
    port=*)
        port=${word#port=} # NAME=MAC
        for dev in /sys/class/net/*; do
            [ "$(cat $dev/address)" != "${port#*=}" ] || ip link set "${dev##*/}" name "${port%%=*}"
        done
        ip link set "${port%%=*}" up
        ;;
    esac
done
hostname "$role"
ip link set lo up
ip addr add 10.0.2.15/24 dev eth0
echo "$role is up" > /dev/console
# What busybox's reboot asks of the first process.
trap 'busybox reboot -f' TERM
while :; do
    dropbear -F -s -r "/etc/dropbear/$role" </dev/null >/dev/null 2>&1 &
    wait
    sleep 1
done
INIT
    chmod 755 "$root/init"
}

take_modules() { # KERNEL DIR
    for module in $modules; do
        find "$1" \( -name "$module.ko" -o -name "$module.ko.xz" \) -exec cp {} "$2/" \;
    done
    for packed in "$2"/*.xz; do
        [ ! -e "$packed" ] || xz -d -f "$packed" || die "needs xz: apt-get install xz-utils"
    done
}

image_of() { # KERNEL
    IMAGE=$(ls "$1"/boot/vmlinuz-* 2>/dev/null | head -1)
    [ -n "$IMAGE" ] || die "needs a kernel: examples/kernels.sh ${1##*/}"
}

pack() { # DIR
    (cd "$1" && find . | busybox cpio -o -H newc 2>/dev/null | gzip -1)
}

# What is unpacked last wins: the modules of another kernel.
kernel() { # ROLE NAME
    name=${2%.}
    image_of "$here/kernels/$name"
    if [ ! -e "$DIR/initrd-$name" ]; then
        mkdir -p "$DIR/modules-$name/modules"
        take_modules "$here/kernels/$name" "$DIR/modules-$name/modules"
        { cat "$DIR/initrd"; pack "$DIR/modules-$name"; } > "$DIR/initrd-$name.new"
        mv "$DIR/initrd-$name.new" "$DIR/initrd-$name"
    fi
    echo "$IMAGE" > "$DIR/$1.image"
    echo "$DIR/initrd-$name" > "$DIR/$1.initrd"
}

# A machine for ever: where it boots, QEMU ends and is started again, with the kernel of then.
boots() { # ROLE, then what QEMU is told
    role=$1
    shift
    while :; do
        qemu-system-x86_64 -no-reboot -kernel "$(cat "$DIR/$role.image")" -initrd "$(cat "$DIR/$role.initrd")" "$@" &
        echo $! > "$DIR/$role.pid"
        echo $! >> "$DIR/pids"
        wait $! || exit
        [ -f "$DIR/pids" ] || exit 0
    done
}

# A port of this machine that nobody has, of TCP and UDP.
free_port() { # NUMBER
    port=$((20000 + ($$ * 6 + $1) % 12000))
    while cat /proc/net/tcp /proc/net/udp | grep -qi "^ *[0-9]*: [0-9A-F]*:$(printf %04X "$port") "; do
        port=$((port + 6))
    done
    echo "$port"
}

# What QEMU is told of a port: sockets in DIR, or ports of this machine.
netdev() { # NAME HERE THERE
    case $2 in
    *[!0-9]*) printf 'dgram,id=%s,local.type=unix,local.path=%s,remote.type=unix,remote.path=%s' "$1" "$DIR/$2" "$DIR/$3" ;;
    *) datagrams "$@" ;;
    esac
}

machine() { # ROLE NUMBER, then of each port NAME MAC HERE THERE
    role=$1 number=$2 key=$DIR/root/etc/dropbear/$1
    shift 2
    control=$(free_port "$number")
    dropbearkey -y -f "$key" | awk -v at="[127.0.0.1]:$control" '/^ssh-/ { print at, $1, $2 }' >> "$DIR/known_hosts"
    ssh_host "$role" "$control" root >> "$DIR/ssh_config"
    names=port=eth0=02:77:00:00:0$number:ff
    nics="-netdev user,id=control,restrict=on,hostfwd=tcp:127.0.0.1:$control-:22
        -device virtio-net-pci,netdev=control,mac=02:77:00:00:0$number:ff,romfile="
    while [ $# -gt 0 ]; do
        names="$names port=$1=$2"
        nics="$nics -netdev $(netdev "$1" "$3" "$4")
            -device virtio-net-pci,netdev=$1,mac=$2,romfile="
        shift 4
    done
    # Whether its timer works, Linux tells by how many ticks come while it counts: beside other work, too few do.
    mkfifo "$DIR/$role.monitor.in" "$DIR/$role.monitor.out"
    echo "$IMAGE" > "$DIR/$role.image"
    echo "$DIR/initrd" > "$DIR/$role.initrd"
    # A redirection of the function alone would keep what the caller reads open.
    ( exec </dev/null >"$DIR/$role.qemu" 2>&1
    boots "$role" -name "$role" -machine q35 -accel "${ACCELERATOR:-tcg}" ${COUNTED:+-icount shift=3,sleep=on} -cpu max -m 256 \
        -display none -nodefaults -no-user-config \
        -append "console=ttyS0 panic=0 quiet no_timer_check role=$role $names" \
        -chardev "file,id=console,path=$DIR/$role.console,append=on" -serial chardev:console \
        -chardev "pipe,id=monitor,path=$DIR/$role.monitor" -mon chardev=monitor \
        $nics ) &
    echo $! >> "$DIR/pids"
    until [ -s "$DIR/$role.pid" ]; do sleep 0.05; done
}

testbed() { # NAME MORE-OF-THE-DEVICE; its testers are said on standard input
    cat <<TESTBED
name = "$1"
known-hosts = "known_hosts"
ssh-config = "ssh_config"
[hosts.dut]
ssh = "dut"
os = "linux"$2
ports = [$(port port0 02:77:00:00:01:00), $(port port1 02:77:00:00:01:01)]
[hooks]
power-cycle = ["$here/remote-vms.sh", "monitor", "$DIR", "dut", "system_reset"]
kernel = ["$here/remote-vms.sh", "kernel", "$DIR", "dut", "{kernel}"]
console = ["tail", "-n", "100", "$DIR/dut.console"]
[limits]
boot = "240s"
silent-dut = "10s"
TESTBED
    cat
}

prepare() { # KERNEL, then the roles
    command -v qemu-system-x86_64 >/dev/null || die "needs QEMU: apt-get install qemu-system-x86"
    command -v dropbearkey >/dev/null || die "needs dropbearkey: apt-get install dropbear-bin"
    image_of "$1"
    mkdir -p "$DIR"
    DIR=$(cd "$DIR" && pwd)
    : > "$DIR/known_hosts"
    : > "$DIR/ssh_config"
    : > "$DIR/pids"
    ssh-keygen -q -t ed25519 -N '' -f "$DIR/key"
    machine_files "$1"
    shift
    for role in "$@"; do
        dropbearkey -t ed25519 -f "$DIR/root/etc/dropbear/$role" >/dev/null 2>&1
    done
    pack "$DIR/root" > "$DIR/initrd"
    go_with_owner
}

wait_for() { # ROLES
    for role in "$@"; do
        tries=0
        until ssh -F "$DIR/ssh_config" -o BatchMode=yes -o UserKnownHostsFile="$DIR/known_hosts" \
            -o ConnectTimeout=5 "$role" true 2>"$DIR/$role.ssh"
        do
            tries=$((tries + 1))
            if [ "$tries" -gt 240 ] || ! kill -0 "$(cat "$DIR/$role.pid")" 2>/dev/null; then
                cat "$DIR/$role.qemu" "$DIR/$role.console" "$DIR/$role.ssh" >&2
                take_down "$DIR"
                die "$role does not start"
            fi
            sleep 0.5
        done
    done
}

up() { # KERNEL
    prepare "$1" dut tester receiver
    machine dut 1 port0 02:77:00:00:01:00 a1 a2 port1 02:77:00:00:01:01 b1 b2
    machine tester 2 send 02:77:00:00:02:00 a2 a1
    machine receiver 3 receive 02:77:00:00:03:00 b2 b1
    testbed vms "" > "$DIR/testbed.toml" <<TESTERS
[hosts.tester]
ssh = "tester"
os = "linux"
ports = [$(port send 02:77:00:00:02:00)]
[hosts.receiver]
ssh = "receiver"
os = "linux"
ports = [$(port receive 02:77:00:00:03:00)]
TESTERS
    wait_for dut tester receiver
}

alone() { # KERNEL
    prepare "$1" dut
    need_sshd
    sshd=$(free_port 0) a=$(free_port 2) b=$(free_port 3) c=$(free_port 4) d=$(free_port 5)
    start_sshd "$sshd"
    ssh_host tester "$sshd" "$(id -un)" >> "$DIR/ssh_config"
    known "$sshd" "$DIR/hostkey.pub" >> "$DIR/known_hosts"
    # Its clock counts instructions, so that what a frame costs it does not depend on this machine.
    COUNTED=yes
    machine dut 1 port0 02:77:00:00:01:00 "$a" "$b" port1 02:77:00:00:01:01 "$c" "$d"
    testbed vm "
cost = \"whole-host\"" > "$DIR/testbed.toml" <<TESTER
[hosts.tester]
ssh = "tester"
os = "linux"
directory = "$DIR/files"
ports = [$(datagram_port "$b" "$a" 02:77:00:00:02:00), $(datagram_port "$d" "$c" 02:77:00:00:02:01)]
TESTER
    wait_for dut
}

[ $# -ge 2 ] || die "usage: up DIR [KERNEL] | alone DIR [KERNEL] | in DIR ROLE COMMAND... | kernel DIR ROLE NAME | monitor DIR ROLE COMMAND | down DIR"
command=$1 DIR=$2
shift 2
case $command in
up | alone)
    OWNER=$PPID
    "$command" "${1:-$here/kernels/6.1}"
    ;;
in)
    role=$1
    shift
    exec ssh -F "$DIR/ssh_config" -o BatchMode=yes -o UserKnownHostsFile="$DIR/known_hosts" "$role" "$@"
    ;;
kernel)
    DIR=$(cd "$DIR" && pwd)
    kernel "$1" "$2"
    ;;
monitor)
    role=$1
    shift
    echo "$*" > "$DIR/$role.monitor.in"
    ;;
down) take_down "$DIR" ;;
*) die "unknown command $command" ;;
esac
