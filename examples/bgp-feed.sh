#!/bin/bash
# How long after BGP tells a route do packets follow it? BIRD in one network namespace gives a table to
# BIRD in another, which puts it into the kernel's table there, and `fwdlab route --kernel-routes` follows
# that. Prints how many routes there are, when all were visible, and p50, p99 and the longest time from
# reading a change of the kernel's until packets follow it.
#
#     sudo examples/bgp-feed.sh PROGRAM TABLE
#
# PROGRAM is fwdlab, TABLE a list of prefixes, one a line, plain or gzipped; IPv4 is taken. Needs bird2.
# The namespaces are made for it and removed afterwards.
set -u
program=$(realpath "${1:?PROGRAM is missing}") table=${2:?TABLE is missing}
command -v bird >/dev/null || { echo "SKIPPED: no bird (apt-get install bird2)"; exit 0; }
work=$(mktemp -d) jobs=()
router=bgp-r-$$ peer=bgp-p-$$ host=bgp-h-$$
clean() {
    for job in "${jobs[@]}"; do kill "$job" 2>/dev/null && wait "$job" 2>/dev/null; done
    for name in $router $peer $host; do ip netns del "$name" 2>/dev/null; done
    rm -rf "$work"
}
trap clean EXIT
trap 'exit 1' INT TERM HUP
inside() { ip netns exec "$@"; }

for name in $router $peer $host; do ip netns add "$name" && ip -n "$name" link set lo up || exit 1; done
ip link add r0 netns $router type veth peer name h0 netns $host
ip link add r1 netns $router type veth peer name p0 netns $peer
for end in "$router r0 198.18.0.1" "$host h0 198.18.0.2" "$router r1 198.19.0.1" "$peer p0 198.19.0.2"; do
    read -r name link address <<<"$end"
    ip -n "$name" link set "$link" up
    ip -n "$name" addr add "$address/24" dev "$link"
    # The router's sockets take frames as they are on the wire.
    inside "$name" ethtool -K "$link" tso off gso off gro off tx off >/dev/null 2>&1
done
inside $router sysctl -qw net.ipv4.ip_forward=0

{
    echo "router id 198.19.0.2; protocol device {} protocol static { ipv4;"
    zcat -f "$table" | tr -d '\r' | awk '$1 ~ /^[0-9.]+\/[0-9]+$/ { print $1 }' | sort -u |
        grep -vE '^(0\.0\.0\.0/|198\.1[89]\.)' | sed 's/.*/route & blackhole;/'
    echo "} protocol bgp peer { local as 64501; neighbor 198.19.0.1 as 64500;"
    echo "ipv4 { export all; import none; next hop self; }; }"
} >"$work/peer.conf"
cat >"$work/router.conf" <<CONF
router id 198.19.0.1; protocol device {} protocol kernel { ipv4 { export all; import none; }; }
protocol bgp peer { local as 64500; neighbor 198.19.0.2 as 64501;
connect retry time 1; connect delay time 1; ipv4 { import all; export none; }; }
CONF
wanted=$(grep -c '^route ' "$work/peer.conf")
ctl() { "$program" ctl --socket "$work/ctl" "$@"; }

ip netns exec $router "$program" route --control "$work/ctl" --port r0 --port r1 --kernel-routes \
    >"$work/route.log" 2>&1 &
jobs+=($!)
ip netns exec $peer bird -f -c "$work/peer.conf" -s "$work/peer.ctl" &
jobs+=($!)
# Until the peer has read its table.
until birdc -s "$work/peer.ctl" show status >/dev/null 2>&1; do sleep 0.2; done
start=$(date +%s%N)
ip netns exec $router bird -f -c "$work/router.conf" -s "$work/router.ctl" &
jobs+=($!)
for ((i = 0; i < 3000; i++)); do
    shown=$(ctl --json show kernel 2>/dev/null)
    number() { grep -o "\"$1\": *[0-9]*" <<<"$shown" | head -1 | grep -o '[0-9]*$'; }
    routes=$(number routes) waiting=$(number waiting)
    # Beside them there are the two connected networks.
    if [ "${routes:-0}" -ge $((wanted + 2)) ] && [ "$waiting" = 0 ]; then
        echo "$wanted routes; all visible $((($(date +%s%N) - start) / 1000000)) ms after BIRD began"
        ctl show kernel
        ctl show fib
        exit 0
    fi
    sleep 0.1
done
echo "not all of $wanted routes came: $shown" >&2
cat "$work/route.log" >&2
exit 1
