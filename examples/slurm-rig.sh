#!/bin/sh
# A Slurm pool on one machine: a controller and two nodes, node1 and node2, each with the generic
# resource testbed:1. For trying out `fwdlab slurm`, and for its test. Needs root and Debian's slurmctld,
# slurmd and munge; whatever Slurm already runs on this machine is neither seen nor touched.
#
#   slurm-rig.sh up DIR                makes it and waits until both nodes are idle
#   slurm-rig.sh run DIR COMMAND...    runs a command of Slurm there
#   slurm-rig.sh die DIR NODE          kills all processes of a node, as loss of power does
#   slurm-rig.sh kill DIR NODE         kills a node's slurmd alone: its job runs on
#   slurm-rig.sh start DIR NODE        starts a node again
#   slurm-rig.sh down DIR              takes it away
set -eu

die() { echo "slurm-rig.sh: $*" >&2; exit 2; }

configure() {
    cat > "$DIR/slurm.conf" <<CONF
ClusterName=fwrig
SlurmctldHost=pool(10.67.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$DIR/munge.socket
StateSaveLocation=$DIR/state
SlurmdSpoolDir=$DIR/spool-%n
SlurmctldPidFile=$DIR/slurmctld.pid
SlurmdPidFile=$DIR/slurmd-%n.pid
SlurmctldLogFile=$DIR/slurmctld.log
SlurmdLogFile=$DIR/slurmd-%n.log
SlurmctldPort=6817
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_min_interval=100000,batch_sched_delay=0
GresTypes=testbed
JobRequeue=1
ReturnToService=2
SlurmdParameters=config_overrides
SlurmdTimeout=3
MessageTimeout=2
TCPTimeout=1
KillWait=2
NodeName=node1 NodeHostname=pool NodeAddr=10.67.0.1 Port=6821 CPUs=1 Gres=testbed:1
NodeName=node2 NodeHostname=pool NodeAddr=10.67.0.1 Port=6822 CPUs=1 Gres=testbed:1
PartitionName=pool Nodes=ALL Default=YES State=UP OverSubscribe=EXCLUSIVE MaxTime=INFINITE
CONF
    echo 'Name=testbed Count=1' > "$DIR/gres.conf"
    printf 'CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n' > "$DIR/cgroup.conf"
    # The first process of the pool: all others end with it.
    cat > "$DIR/init" <<'INIT'
set -e
dir=$1
hostname pool
mount --make-rprivate /
mount -t proc proc /proc
# Slurm refuses to look up any address where only the loopback interface has one.
ip link set lo up
ip link add pool0 type veth peer name pool1
ip addr add 10.67.0.1/24 dev pool0
ip link set pool0 up
ip link set pool1 up
printf '127.0.0.1 localhost\n10.67.0.1 pool\n' > "$dir/hosts"
mount --bind "$dir/hosts" /etc/hosts
export SLURM_CONF="$dir/slurm.conf"
munged --foreground --force --key-file="$dir/munge.key" --socket="$dir/munge.socket" \
    --pid-file="$dir/munged.pid" --log-file="$dir/munged.log" --seed-file="$dir/munged.seed" &
until [ -S "$dir/munge.socket" ]; do sleep 0.05; done
slurmctld -D -i &
for node in node1 node2; do
    sh "$dir/node" "$dir" $node &
done
while :; do wait; sleep 1; done
INIT
    # A node: processes of its own, so that it can die as a whole.
    cat > "$DIR/node" <<'NODE'
dir=$1 node=$2
exec unshare --mount --pid --fork --kill-child --mount-proc sh -c \
    ': "machine $0 $1"; slurmd -D -N "$1"; while :; do sleep 1; done' "$dir" "$node"
NODE
}

# The first process of a node and, above it, the one that started it.
machine_of() { pgrep -f "machine .*$DIR $1\$" || :; }

inside() { # NODE COMMAND...
    first=$(machine_of "$1" | tail -1)
    shift
    SLURM_CONF=$DIR/slurm.conf nsenter --target "$first" --all "$@"
}

up() {
    DIR=$1
    [ "$(id -u)" = 0 ] || die "needs root"
    PATH=$PATH:/usr/sbin:/sbin
    for program in munged slurmctld slurmd sbatch; do
        command -v $program >/dev/null || die "needs $program: apt-get install slurmctld slurmd slurm-client munge"
    done
    mkdir -p "$DIR/state"
    DIR=$(cd "$DIR" && pwd)
    head -c 128 /dev/urandom > "$DIR/munge.key"
    chmod 600 "$DIR/munge.key"
    configure
    unshare --net --mount --pid --uts --fork --kill-child sh "$DIR/init" "$DIR" </dev/null >"$DIR/log" 2>&1 &
    echo $! > "$DIR/pid"
    tries=0
    until [ "$("$0" run "$DIR" sinfo -h -N -o %T 2>/dev/null | sort -u)" = idle ]; do
        tries=$((tries + 1))
        [ "$tries" -lt 300 ] || { cat "$DIR/log" "$DIR"/*.log >&2; die "the pool does not start"; }
        sleep 0.1
    done
}

[ $# -ge 2 ] || die "usage: up DIR | run DIR COMMAND... | die|kill|start DIR NODE | down DIR"
command=$1 DIR=$2
shift 2
[ "$command" = up ] || [ "$command" = down ] || DIR=$(cd "$DIR" && pwd)
case $command in
up) up "$DIR" ;;
run)
    init=$(pgrep -P "$(cat "$DIR/pid")")
    SLURM_CONF=$DIR/slurm.conf exec nsenter --target "$init" --all --wd="$PWD" "$@"
    ;;
die) kill -9 $(machine_of "$1") ;;
kill) kill -9 $(pgrep --ns "$(machine_of "$1" | tail -1)" --nslist pid -x slurmd) ;;
start)
    if [ -n "$(machine_of "$1")" ]; then
        inside "$1" sh -c 'slurmd -D -N "$0" &' "$1" </dev/null >>"$DIR/log" 2>&1
    else
        "$0" run "$DIR" sh -c 'sh "$0/node" "$0" "$1" &' "$DIR" "$1" </dev/null >>"$DIR/log" 2>&1
    fi
    ;;
down) [ ! -e "$DIR/pid" ] || kill -9 "$(cat "$DIR/pid")" 2>/dev/null || : ;;
*) die "unknown command $command" ;;
esac
