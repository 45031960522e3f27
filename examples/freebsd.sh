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

# sum_of LIST NAME: the SHA-256 of NAME, in small letters. A line of LIST has the name first (MANIFEST of a
# release), or the hash (sha256sum).
sum_of() {
    [ -f "$1" ] || die "there is no $1"
    local sum
    sum=$(awk -v file="$2" '{ sub(/\r$/, ""); second = $2; sub(/^\*?(\.\/)?/, "", second) }
        $1 == file { print tolower($2); exit } second == file { print tolower($1); exit }' "$1")
    [ -n "$sum" ] || die "$1 does not name $2"
    echo "$sum"
}

# check FILE SHA256
check() {
    local found
    found=$(sha256sum < "$1" | cut -d' ' -f1)
    [ "$found" = "$2" ] || die "$1 has SHA-256 $found, wanted $2: it is damaged, or not what it says"
}

# is_kernel FILE: an ELF file of FreeBSD
is_kernel() {
    [ -f "$1" ] || die "there is no $1"
    [ "$(head -c 8 "$1" | od -An -tx1 | tr -d ' \n')" = 7f454c4602010109 ] || die "$1 is no FreeBSD kernel"
}

# Where all is made before anything of it gets its name.
stage() {
    mkdir -p "$out"
    part=$(mktemp -d "$out/part.XXXXXX")
    trap 'chmod -R u+w "$part" 2>/dev/null; rm -rf "$part"' EXIT
}

# A set is not left half replaced by Ctrl-C.
commit() { trap '' INT TERM HUP; }

# archives DIR: kernel.txz and base.txz by the hashes in MANIFEST
archives() {
    local dir=$1 name sum tree
    command -v makefs >/dev/null || die "makefs is missing: apt-get install makefs"
    for name in kernel base; do
        [ -f "$dir/$name.txz" ] || die "there is no $dir/$name.txz"
        sum=$(sum_of "$dir/MANIFEST" "$name.txz")
        check "$dir/$name.txz" "$sum"
    done
    stage
    tree=$part/tree
    mkdir "$part/kernel.d" "$tree"
    tar -xf "$dir/kernel.txz" -C "$part/kernel.d"
    is_kernel "$part/kernel.d/boot/kernel/kernel"
    # What a guest runs; the rest of the base is left out.
    if ! tar -xf "$dir/base.txz" -C "$tree" --wildcards './bin/*' './sbin/*' './lib/*' './libexec/*' \
        './usr/bin/*' './usr/sbin/*' './usr/lib/*.so*' './etc/*' 2>/dev/null; then
        # Into an empty directory: links of the first attempt may lead out of it.
        chmod -R u+w "$tree"
        rm -rf "$tree"
        mkdir "$tree"
        tar -xf "$dir/base.txz" -C "$tree"
    fi
    # A link in their place may lead out of the tree, too.
    for name in dev tmp root boot var var/run var/db; do
        [ ! -L "$tree/$name" ] || rm "$tree/$name"
        mkdir -p "$tree/$name"
    done
    rm -rf "$tree/boot/kernel"
    mv "$part/kernel.d/boot/kernel" "$tree/boot/kernel"
    # UFS1: with version=2 Debian's makefs leaves the superblock where FreeBSD does not look for it.
    makefs -t ffs -o version=1 -M 32m -b 20% "$part/root.img" "$tree" >/dev/null
    cp -f "$tree/boot/kernel/kernel" "$part/kernel"
    mkdir "$part/modules"
    find "$tree/boot/kernel" -name '*.ko' -type f -exec cp -f {} "$part/modules/" \;
    commit
    if [ -f "$out/kernel-noalgo" ] && [ -f "$out/kernel" ] && ! cmp -s "$out/kernel" "$part/kernel"; then
        mv --backup=numbered "$out/kernel-noalgo" "$out/kernel-noalgo.old"
        echo "freebsd/kernel-noalgo was beside another kernel: it is freebsd/kernel-noalgo.old now"
    fi
    rm -rf "$out/modules"
    mv "$part/modules" "$out/modules"
    mv -f "$part/kernel" "$part/root.img" "$out/"
    echo "freebsd/kernel, freebsd/modules, freebsd/root.img: write root = \"freebsd/root.img\""
}

# files DIR: kernels and root image by the hashes in SHA256SUMS
files() {
    local dir=$1 name sum
    stage
    for name in kernel kernel-noalgo root.qcow2; do
        [ -f "$dir/$name" ] || die "there is no $dir/$name"
        sum=$(sum_of "$dir/SHA256SUMS" "$name")
        check "$dir/$name" "$sum"
        [ "$name" = root.qcow2 ] || is_kernel "$dir/$name"
        cp -f "$dir/$name" "$part/$name"
    done
    commit
    if [ -d "$out/modules" ]; then
        rm -rf "$out/modules"
        echo "freebsd/modules was of another kernel: it is gone"
    fi
    mv -f "$part/kernel" "$part/kernel-noalgo" "$part/root.qcow2" "$out/"
    echo "freebsd/kernel, freebsd/kernel-noalgo, freebsd/root.qcow2"
}

# kernel FILE NAME
kernel() {
    case $2 in
    '' | . | .. | */*) die "\"$2\" is no name of a file in freebsd: write one without a slash, such as kernel-own" ;;
    esac
    [ ! -d "$out/$2" ] || die "freebsd/$2 is a directory: take another name"
    is_kernel "$1"
    stage
    cp -f "$1" "$part/kernel"
    mv -f "$part/kernel" "$out/$2"
    echo "freebsd/$2"
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
files) files "${2?a directory with kernel, kernel-noalgo, root.qcow2 and SHA256SUMS}" ;;
kernel) kernel "${2?a kernel}" "${3?a name for it}" ;;
*)
    sed -n '2,/^set /p' "$0" | sed '$d; s/^# \{0,1\}//' >&2
    exit 2
    ;;
esac
