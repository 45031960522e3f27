# The lock of a testbed, a directory on its tester: functions of POSIX sh, run there by lock.rs.

# Which boot of its host this is, whatever its system.
boot() {
    { cat /proc/sys/kernel/random/boot_id || sysctl -n kern.boottime; } 2>/dev/null
}

# When a process started: its number alone may be another's by now.
started() { # PID
    { cut -d ' ' -f 22 "/proc/$1/stat" || ps -o lstart= -p "$1"; } 2>/dev/null
}

# Whether the holder's shell still runs in the same boot. A lock of an earlier version does not say when it started.
is_alive() { # DIR
    pid=$(cat "$1/pid" 2>/dev/null)
    case $pid in '' | 0* | *[!0-9]*) return 1 ;; esac
    [ "$(boot)" = "$(cat "$1/boot" 2>/dev/null)" ] && kill -0 "$pid" 2>/dev/null || return 1
    [ ! -s "$1/started" ] || [ "$(started "$pid")" = "$(cat "$1/started")" ]
}

# The owner is written last: until then nobody takes it for a lock that its owner's death left behind.
write_lock() { # DIR TOKEN OWNER
    {
        echo "$2" > "$1/token" && echo $$ > "$1/pid" && { started $$ || :; } > "$1/started" &&
            { boot || :; } > "$1/boot" && date -u > "$1/since" && printf '%s\n' "$3" > "$1/owner"
    } 2>&1
}

# Only one of two can make a directory.
take() { # DIR TOKEN OWNER
    mkdir "$1" 2>/dev/null || return 1
    if why=$(write_lock "$@"); then echo held; else rm -rf "$1"; echo unwritable $why; fi
}

# Takes the lock, goes on holding it, or takes it over, which is renaming, which only one of two successors can. Says
# `held`, `taken`, or `unwritable` and why.
hold() { # DIR TOKEN OWNER
    take "$@" && return
    if [ ! -e "$1" ] && [ ! -L "$1" ]; then echo unwritable $(mkdir "$1" 2>&1); return; fi
    if [ "$(cat "$1/token" 2>/dev/null)" = "$2" ]; then write_lock "$@" >/dev/null; echo held; return; fi
    if [ "$(cat "$1/owner" 2>/dev/null)" = "$3" ] && ! is_alive "$1" && mv "$1" "$1.$2" 2>/dev/null; then
        rm -rf "$1.$2"
        take "$@" && return
    fi
    echo taken
}

# Says who holds it, since when (`?` where it does not say), and whether he is alive; nothing where nothing has
# its name. What lies there may be anything: cut short by a full disk, a file, a link to nowhere.
look() { # DIR
    [ -e "$1" ] || [ -L "$1" ] || return 0
    for file in owner since; do
        line=$(head -n 1 "$1/$file" 2>/dev/null)
        printf '%s\n' "${line:-?}"
    done
    if is_alive "$1"; then echo yes; else echo no; fi
}
