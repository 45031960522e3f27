#!/usr/bin/env bash
# Gets the kernels of kernels.toml from Debian's archive, unpacked beside this script. Nothing is
# installed.
#
#   examples/kernels.sh              both kernels
#   examples/kernels.sh 6.1          only this one
set -euo pipefail
cd "$(dirname "$0")"

# get NAME METAPACKAGE: the metapackage depends on the newest build of its kernel.
get() {
    local name=$1 image
    [ -d "kernels/$name/boot" ] && return
    image=$(apt-cache depends "$2" | sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
    if [ -z "$image" ]; then
        echo "no package $2 here: run apt-get update, or add Debian's backports to apt's sources" >&2
        return 1
    fi
    mkdir -p kernels
    rm -rf "kernels/$name.part"
    (cd kernels && apt-get download -qq "$image")
    dpkg-deb -x kernels/"$image"_*.deb "kernels/$name.part"
    rm kernels/"$image"_*.deb
    mv "kernels/$name.part" "kernels/$name"
    echo "kernels/$name: $image"
}

wanted=("$@")
[ "${#wanted[@]}" -gt 0 ] || wanted=(6.1 6.12)
for name in "${wanted[@]}"; do
    case $name in
    6.1) get 6.1 linux-image-cloud-amd64 ;;
    6.12) get 6.12 linux-image-6.12-cloud-amd64 || get 6.12 linux-image-cloud-amd64/bookworm-backports ;;
    *) echo "no kernel $name: 6.1 or 6.12" >&2; exit 2 ;;
    esac
done
