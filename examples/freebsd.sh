#!/usr/bin/env bash
# Gets a FreeBSD kernel and a root image for freebsd-modular-fib.toml into the directory freebsd
# beside this script. Nothing is installed.
#
#   examples/freebsd.sh mirror URL        a release's directory on a mirror: it holds MANIFEST,
#                                         kernel.txz and base.txz (.../releases/amd64/VERSION)
#   examples/freebsd.sh archives DIR      the same three files from a directory
#   examples/freebsd.sh files DIR         kernel, kernel-noalgo and root.qcow2 that are made
#                                         already, with their SHA256SUMS
#   examples/freebsd.sh kernel FILE NAME  a kernel of your own, as freebsd/NAME
#
# Every file is checked against its SHA-256 before it is used. A release has no kernel without
# `options FIB_ALGO`: build one (docs/freebsd.md) and add it with `kernel FILE kernel-noalgo`.
# A root image is made of base.txz with makefs(8) (apt-get install makefs).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$here/freebsd

die() { echo "freebsd.sh: $*" >&2; exit 1; }

# check FILE SHA256
check() {
    local found
    found=$(sha256sum "$1" | cut -d' ' -f1)
    [ "$found" = "$2" ] || die "$1 has SHA-256 $found, wanted $2: it is damaged, or not what it says"
}

# is_kernel FILE: an ELF file of FreeBSD
is_kernel() {
    [ "$(head -c 8 "$1" | od -An -tx1 | tr -d ' \n')" = 7f454c4602010109 ] || die "$1 is no FreeBSD kernel"
}

# archives DIR: kernel.txz and base.txz by the hashes in MANIFEST
archives() {
    local dir=$1 name sum
    command -v makefs >/dev/null || die "makefs is missing: apt-get install makefs"
    for name in kernel base; do
        [ -f "$dir/$name.txz" ] || die "there is no $dir/$name.txz"
        sum=$(awk -v file="$name.txz" '$1 == file { print $2 }' "$dir/MANIFEST")
        [ -n "$sum" ] || die "$dir/MANIFEST does not name $name.txz"
        check "$dir/$name.txz" "$sum"
    done
    mkdir -p "$out"
    tree=$(mktemp -d "$out/part.XXXXXX")
    trap 'chmod -R u+w "$tree" 2>/dev/null; rm -rf "$tree"' EXIT
    tar -xf "$dir/kernel.txz" -C "$tree"
    # What a guest runs; the rest of the base is left out.
    tar -xf "$dir/base.txz" -C "$tree" --wildcards './bin/*' './sbin/*' './lib/*' './libexec/*' \
        './usr/bin/*' './usr/sbin/*' './usr/lib/*.so*' './etc/*' 2>/dev/null ||
        tar -xf "$dir/base.txz" -C "$tree"
    mkdir -p "$tree"/{dev,tmp,var/run,var/db,root}
    is_kernel "$tree/boot/kernel/kernel"
    # UFS1: with version=2 Debian's makefs leaves the superblock where FreeBSD does not look for it.
    makefs -t ffs -o version=1 -M 32m -b 20% "$out/root.img" "$tree" >/dev/null
    cp "$tree/boot/kernel/kernel" "$out/kernel"
    mkdir -p "$out/modules"
    find "$tree/boot/kernel" -name '*.ko' -exec cp {} "$out/modules/" \;
    echo "freebsd/kernel, freebsd/modules, freebsd/root.img: write root = \"freebsd/root.img\""
}

case ${1-} in
mirror)
    url=${2?a mirror, as freebsd.sh mirror https://MIRROR/releases/amd64/VERSION}
    mkdir -p "$out/archives"
    for name in MANIFEST kernel.txz base.txz; do
        curl -fL --retry 3 -o "$out/archives/$name.part" "$url/$name" || die "$url/$name cannot be fetched"
        mv "$out/archives/$name.part" "$out/archives/$name"
    done
    archives "$out/archives"
    ;;
archives) archives "${2?a directory with MANIFEST, kernel.txz and base.txz}" ;;
files)
    dir=${2?a directory with kernel, kernel-noalgo, root.qcow2 and SHA256SUMS}
    mkdir -p "$out"
    for name in kernel kernel-noalgo root.qcow2; do
        [ -f "$dir/$name" ] || die "there is no $dir/$name"
        sum=$(awk -v file="$name" '{ sub(/^\*?(\.\/)?/, "", $2) } $2 == file { print $1 }' "$dir/SHA256SUMS")
        [ -n "$sum" ] || die "$dir/SHA256SUMS does not name $name"
        check "$dir/$name" "$sum"
        [ "$name" = root.qcow2 ] || is_kernel "$dir/$name"
        cp -f "$dir/$name" "$out/$name"
    done
    echo "freebsd/kernel, freebsd/kernel-noalgo, freebsd/root.qcow2"
    ;;
kernel)
    is_kernel "${2?a kernel}"
    mkdir -p "$out"
    cp -f "$2" "$out/${3?a name for it}"
    echo "freebsd/$3"
    ;;
*)
    sed -n '2,/^set /p' "$0" | sed '$d; s/^# \{0,1\}//' >&2
    exit 2
    ;;
esac
