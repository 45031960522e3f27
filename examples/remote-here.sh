# Read by the scripts beside it: this machine as the tester of a testbed, behind an sshd of its own that
# needs no root. They say `die`, and have DIR, DIR/key, and OWNER: when that process ends, all goes.

# An sshd is there.
need_sshd() {
    SSHD=$(command -v sshd || echo /usr/sbin/sshd)
    [ -x "$SSHD" ] || die "needs sshd: apt-get install openssh-server"
    # sshd asks for this directory, and only root can make it.
    [ "$(id -u)" != 0 ] || mkdir -p /run/sshd
    ssh-keygen -q -t ed25519 -N '' -f "$DIR/hostkey"
}

start_sshd() { # PORT
    printf 'Port %s\nListenAddress 127.0.0.1\nHostKey %s\nAuthorizedKeysFile %s\n' \
        "$1" "$DIR/hostkey" "$DIR/key.pub" > "$DIR/sshd_config"
    printf 'PermitRootLogin yes\nPasswordAuthentication no\nStrictModes no\nUsePAM no\nPidFile none\nPrintMotd no\nMaxStartups 100\n' \
        >> "$DIR/sshd_config"
    "$SSHD" -D -e -f "$DIR/sshd_config" </dev/null >"$DIR/sshd.log" 2>&1 &
    echo $! >> "$DIR/pids"
}

ssh_host() { # ALIAS PORT USER: for ssh_config
    printf 'Host %s\n  HostName 127.0.0.1\n  Port %s\n  User %s\n  IdentityFile %s\n  IdentitiesOnly yes\n' \
        "$1" "$2" "$3" "$DIR/key"
}

known() { # PORT PUBLIC-KEY-FILE: for known_hosts
    echo "[127.0.0.1]:$1 $(cut -d' ' -f1,2 "$2")"
}

port() { printf '{ name = "%s", mac = "%s" }' "$1" "$2"; }

# A cable of datagrams on the loopback, one a frame: what QEMU is told of one end.
datagrams() { # NAME HERE THERE
    printf 'dgram,id=%s,local.type=inet,local.host=127.0.0.1,local.port=%s,remote.type=inet,remote.host=127.0.0.1,remote.port=%s' "$@"
}

# The other end: a port of fwdlab's tester.
datagram_port() { # HERE THERE MAC
    port "udp:127.0.0.1:$1-127.0.0.1:$2" "$3"
}

take_down() { # DIR
    [ -f "$1/pids" ] || return 0
    pids=$(cat "$1/pids")
    # First: what starts something anew looks for it.
    rm -f "$1/pids"
    for pid in $pids; do kill -9 "$pid" 2>/dev/null || :; done
}

go_with_owner() {
    ( while kill -0 "$OWNER" 2>/dev/null && [ -f "$DIR/pids" ]; do sleep 1; done; take_down "$DIR" ) \
        </dev/null >/dev/null 2>&1 &
}
