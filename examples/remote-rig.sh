#!/bin/sh
# A testbed without hardware: a device, a tester and (with --receiver) a receiver as namespaces of this
# machine, each with its own network, mounts, processes, host name, sshd and boot id. For trying out
# device = "remote", and for its tests. Needs root and Debian's openssh-server.
#
#   remote-rig.sh up DIR [--receiver] [--tester KIND] [--of PID]
#                                       makes it; DIR/testbed.toml names the machines, and the tester
#                                       where it is not fwdlab's own: trafgen. Once process PID is gone,
#                                       the next rig takes this one away, though it runs
#   remote-rig.sh run DIR COMMAND...    runs a command where the machines can be reached
#   remote-rig.sh in DIR ROLE COMMAND   runs a command on a machine, past ssh
#   remote-rig.sh down DIR              takes it away
set -eu

die() { echo "remote-rig.sh: $*" >&2; exit 2; }

name_of() { cat "$1/name"; }

# The namespaces of a rig, by its name.
netns_of() { ip netns list | awk -v n="$1-" 'index($1, n) == 1 { print $1 }'; }

# Processes of its machines: while there is one, somebody may be using the rig.
lives_of() {
    for netns in $(netns_of "$1" | grep -v -e '-ctl$'); do
        ip netns pids "$netns" 2>/dev/null || :
    done
}

# Everything of a rig: processes first, then the namespaces, with which links and mounts go.
take_down() {
    for netns in $(netns_of "$1"); do
        pids=$(ip netns pids "$netns" 2>/dev/null) || :
        [ -z "$pids" ] || kill -9 $pids 2>/dev/null || :
        # Another rig may be taking the same away.
        ip netns del "$netns" 2>/dev/null || [ ! -e "/run/netns/$netns" ]
    done
}

machine() { # ROLE NUMBER
    role=$1 number=$2
    dir=$DIR/$role
    mkdir -p "$dir/over"
    ssh-keygen -q -t ed25519 -N '' -f "$dir/hostkey"
    echo "10.66.$number.2 $(cut -d' ' -f1,2 "$dir/hostkey.pub")" >> "$DIR/known_hosts"
    printf 'Host %s\n  HostName 10.66.%s.2\n  User root\n  IdentityFile %s\n  IdentitiesOnly yes\n' \
        "$role" "$number" "$DIR/key" >> "$DIR/ssh_config"
    cat /proc/sys/kernel/random/uuid > "$dir/boot_id"
    ip netns add "$NAME-$role"
    ip link add eth0 netns "$NAME-$role" type veth peer name "$role" netns "$NAME-ctl"
    ip -n "$NAME-ctl" addr add "10.66.$number.1/30" dev "$role"
    ip -n "$NAME-ctl" link set "$role" up
    ip -n "$NAME-$role" addr add "10.66.$number.2/30" dev eth0
    ip -n "$NAME-$role" link set eth0 up
    ip -n "$NAME-$role" link set lo up
}

boot() { # ROLE
    dir=$DIR/$1
    ip netns exec "$NAME-$1" unshare --mount --pid --uts --fork --kill-child \
        sh "$DIR/init" "$1" "$dir" </dev/null >"$dir/log" 2>&1 &
    echo $! > "$dir/pid"
}

cable() { # ROLE PORT MAC  ROLE PORT MAC
    ip link add "$2" netns "$NAME-$1" address "$3" type veth \
        peer name "$5" netns "$NAME-$4" address "$6"
    ip -n "$NAME-$1" link set "$2" up
    ip -n "$NAME-$4" link set "$5" up
}

up() {
    DIR=$1
    [ "$(id -u)" = 0 ] || die "needs root"
    sshd=$(command -v sshd || echo /usr/sbin/sshd)
    [ -x "$sshd" ] || die "needs sshd: apt-get install openssh-server"
    case $DIR in /*) ;; *) DIR=$PWD/$DIR ;; esac
    case $DIR in
    *[!A-Za-z0-9/._+-]*) die "$DIR: take a directory without blanks and signs in its path, such as /tmp/bed" ;;
    esac
    mkdir -p "$DIR"
    DIR=$(cd "$DIR" && pwd)
    if [ -e "$DIR/name" ]; then
        [ -z "$(lives_of "$(name_of "$DIR")")" ] || die "$DIR has a rig that runs: remote-rig.sh down $DIR"
        take_down "$(name_of "$DIR")"
    fi
    # What killed owners have left; a rig that runs is its owner's, also when the shell that made it is gone.
    for other in $(ip netns list | sed -n 's/^\(fwrig-[^ ]*\)-[a-z]*\( .*\)*$/\1/p' | sort -u); do
        owner=${other#fwrig-}
        kill -0 "${owner%%-*}" 2>/dev/null && continue
        case $other in fwrig-*-of-*) ;; *) [ -z "$(lives_of "$other")" ] || continue ;; esac
        take_down "$other"
    done
    NAME=fwrig-${OWNER:-$PPID}-${OWNER:+of-}$(basename "$DIR" | tr -cd 'a-zA-Z0-9' | tail -c 8)$(echo "$DIR" | cksum | cut -d' ' -f1)
    take_down "$NAME"
    # A rig that does not come up leaves nothing that runs.
    trap '[ $? = 0 ] || take_down "$NAME"' EXIT
    trap 'exit 130' INT TERM HUP
    # What an earlier rig in this directory has left.
    [ ! -e "$DIR/name" ] || rm -rf "$DIR/key" "$DIR/key.pub" "$DIR/dut" "$DIR/tester" "$DIR/receiver"
    echo "$NAME" > "$DIR/name"
    ssh-keygen -q -t ed25519 -N '' -f "$DIR/key"
    : > "$DIR/known_hosts"
    : > "$DIR/ssh_config"
    ip netns add "$NAME-ctl"
    ip -n "$NAME-ctl" link set lo up
    cat > "$DIR/init" <<'INIT'
# The first process of a machine: a root of its own over this machine's, then sshd for ever.
role=$1 dir=$2
set -e
hostname "$role"
mount --make-rprivate /
mount -t tmpfs -o mode=755 rig "$dir/over"
mkdir "$dir/over/upper" "$dir/over/work" "$dir/over/root"
mount -t overlay -o "lowerdir=/,upperdir=$dir/over/upper,workdir=$dir/over/work" rig "$dir/over/root"
cd "$dir/over/root"
mount -t proc proc proc
mount -t sysfs sysfs sys
mount --rbind /dev dev
mount -t tmpfs rig run
mount -t tmpfs rig tmp
mkdir -p run/sshd root/.ssh var/tmp etc/ssh
mount --bind "$dir/boot_id" proc/sys/kernel/random/boot_id
cp "$dir/hostkey" etc/ssh/rig_hostkey
cp "$dir/../key.pub" etc/ssh/rig_authorized
chmod 600 etc/ssh/rig_hostkey
cat > etc/ssh/rig_config <<CONFIG
HostKey /etc/ssh/rig_hostkey
AuthorizedKeysFile /etc/ssh/rig_authorized
PermitRootLogin yes
PasswordAuthentication no
StrictModes no
UsePAM no
UseDNS no
PidFile none
PrintMotd no
MaxStartups 100
CONFIG
rm -f sbin/reboot usr/sbin/reboot
cat > usr/sbin/reboot <<'REBOOT'
#!/bin/sh
# A boot as others see it: another boot id, every process gone, nothing in /run and /tmp.
[ ! -e /rig-never-reboots ] || exit 0
[ ! -x /rig-on-reboot ] || /rig-on-reboot
read -r id < /proc/sys/kernel/random/uuid
# Everybody stands still first: no connection of this boot ever sees the next one's id.
kill -STOP -1
echo "$id" > /proc/sys/kernel/random/boot_id
ip route flush proto 177 2>/dev/null
kill -9 -1
REBOOT
chmod 755 usr/sbin/reboot
[ -e sbin/reboot ] || ln -s /usr/sbin/reboot sbin/reboot
exec chroot . sh -c 'while :; do "$0" -D -e -f /etc/ssh/rig_config; sleep 1; done' "$SSHD"
INIT
    machine dut 1
    machine tester 2
    [ "$RECEIVER" = no ] || machine receiver 3
    cable tester send 02:66:00:00:02:00 dut port0 02:66:00:00:01:00
    if [ "$RECEIVER" = no ]; then
        cable dut port1 02:66:00:00:01:01 tester receive 02:66:00:00:02:01
    else
        cable dut port1 02:66:00:00:01:01 receiver receive 02:66:00:00:03:00
    fi
    # A cable from the tester to itself, for [tester] loopback.
    cable tester loop0 02:66:00:00:02:10 tester loop1 02:66:00:00:02:11
    {
        printf 'name = "rig"\nknown-hosts = "known_hosts"\nssh-config = "ssh_config"\n'
        printf '[hosts.dut]\nssh = "dut"\nos = "linux"\nports = [{ name = "port0", mac = "02:66:00:00:01:00" }, { name = "port1", mac = "02:66:00:00:01:01" }]\n'
        if [ "$RECEIVER" = no ]; then
            printf '[hosts.tester]\nssh = "tester"\nos = "linux"\nports = [{ name = "send", mac = "02:66:00:00:02:00" }, { name = "receive", mac = "02:66:00:00:02:01" }]\n'
        else
            printf '[hosts.tester]\nssh = "tester"\nos = "linux"\nports = [{ name = "send", mac = "02:66:00:00:02:00" }]\n'
            printf '[hosts.receiver]\nssh = "receiver"\nos = "linux"\nports = [{ name = "receive", mac = "02:66:00:00:03:00" }]\n'
        fi
        printf '[limits]\nboot = "20s"\nsilent-dut = "3s"\n'
        [ -z "$KIND" ] || printf '[tester]\nkind = "%s"\n' "$KIND"
    } > "$DIR/testbed.toml"
    SSHD=$sshd
    export SSHD
    boot dut
    boot tester
    [ "$RECEIVER" = no ] || boot receiver
    # Up when every sshd lets us in.
    for role in $(awk '/^Host/ { print $2 }' "$DIR/ssh_config"); do
        tries=0
        until ip netns exec "$NAME-ctl" ssh -F "$DIR/ssh_config" -o BatchMode=yes \
            -o UserKnownHostsFile="$DIR/known_hosts" -o ConnectTimeout=2 "$role" true 2>"$DIR/$role/ssh"
        do
            tries=$((tries + 1))
            [ "$tries" -lt 100 ] || { cat "$DIR/$role/log" "$DIR/$role/ssh" >&2; die "$role does not start"; }
            sleep 0.1
        done
    done
}

[ $# -ge 2 ] || die "usage: up DIR [--receiver] [--tester KIND] [--of PID] | run DIR COMMAND... | in DIR ROLE COMMAND... | down DIR"
command=$1 dir=$2
shift 2
case $command in
up)
    RECEIVER=no KIND= OWNER=
    while [ $# -gt 0 ]; do
        case $1 in
        --receiver) RECEIVER=yes ;;
        --tester)
            KIND=${2:?a kind of tester}
            shift
            ;;
        --of)
            OWNER=${2:?a process}
            shift
            ;;
        *) die "unknown option $1" ;;
        esac
        shift
    done
    up "$dir"
    ;;
run) exec ip netns exec "$(name_of "$dir")-ctl" "$@" ;;
in)
    role=$1
    shift
    # The shell below pid 1 of the machine is the one that changed its root.
    pid=$(ip netns pids "$(name_of "$dir")-$role" | xargs -n1 sh -c \
        'grep -q "^NSpid:.*[[:space:]]1$" /proc/$0/status && echo $0' | head -1)
    exec nsenter --target "$pid" --all --root --wd "$@"
    ;;
down)
    [ ! -e "$dir/name" ] || take_down "$(name_of "$dir")"
    ;;
*) die "unknown command $command" ;;
esac
