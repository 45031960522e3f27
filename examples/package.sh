#!/bin/sh
# A Debian package of a built program: the program, its manual pages, completions, licence, examples and docs.
#
# usage: package.sh PROGRAM DIRECTORY
#   cargo build --profile dist --features full && examples/package.sh target/dist/fwdlab .
# Needs dpkg-deb, dpkg-shlibdeps and strip (apt-get install dpkg-dev). Prints the package's name. DEBFULLNAME and
# DEBEMAIL say who made it, SOURCE_DATE_EPOCH when (seconds; else when the changelog was written).
set -eu
[ $# -eq 2 ] || { echo "usage: package.sh PROGRAM DIRECTORY" >&2; exit 2; }
program=$(realpath "$1") out=$(realpath "$2")
home=$(realpath "$(dirname "$0")/..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/fwdlab
mkdir -m 755 "$root"
version=$("$program" --version | awk '{ print $2 }')
architecture=$(dpkg --print-architecture)
maintainer="${DEBFULLNAME:-the fwdlab authors} <${DEBEMAIL:-fwdlab@localhost}>"
written=$(date -u -R -d "@${SOURCE_DATE_EPOCH:-$(stat -c %Y "$home/CHANGELOG.md")}")

install -D -m 755 "$program" "$root/usr/bin/fwdlab"
strip --remove-section=.comment "$root/usr/bin/fwdlab"
mkdir -p "$root/usr/share/man/man1"
said=$("$program" man "$root/usr/share/man/man1" 2>&1) || { echo "$said" >&2; exit 1; }
gzip -9 -n "$root"/usr/share/man/man1/*.1
for shell in bash:bash-completion/completions/fwdlab fish:fish/vendor_completions.d/fwdlab.fish \
    zsh:zsh/vendor-completions/_fwdlab; do
    file=$root/usr/share/${shell#*:}
    mkdir -p "$(dirname "$file")"
    "$program" completions "${shell%%:*}" > "$file"
done
doc=$root/usr/share/doc/fwdlab
install -D -m 644 "$home/LICENSE" "$doc/copyright"
install -m 644 "$home/docs/third-party.md" "$home/CHANGELOG.md" "$doc/"
"$program" licences > "$doc/licences.txt"
# The changelog in Debian's form sends its reader to the program's own.
printf 'fwdlab (%s) unstable; urgency=medium\n\n  * What changed stands in CHANGELOG.md.\n\n -- %s  %s\n' \
    "$version" "$maintainer" "$written" | gzip -9 -n > "$doc/changelog.gz"
# Decompressing in Rust has the words of zlib in it, and is not zlib.
mkdir -p "$root/usr/share/lintian/overrides"
echo 'fwdlab: embedded-library *zlib*' > "$root/usr/share/lintian/overrides/fwdlab"
mkdir "$doc/examples"
install -m 644 "$home"/examples/*.toml "$home"/examples/capture.pcap "$doc/examples/"
# What examples and messages send their reader to.
install -m 755 "$home"/examples/*.sh "$doc/examples/"
chmod 644 "$doc/examples/remote-here.sh"    # which others read
install -m 644 "$home"/examples/*.yml "$home"/examples/*.c "$home/examples/Containerfile" "$doc/examples/"
mkdir "$doc/docs"
install -m 644 "$home"/docs/*.md "$doc/docs/"
cp -r "$home/docs/img" "$doc/docs/"

# Which libraries it needs, of which versions; dpkg-shlibdeps wants a source package around it, and DEBIAN in it.
mkdir "$root/DEBIAN" "$work/debian"
printf 'Source: fwdlab\n\nPackage: fwdlab\nArchitecture: any\n' > "$work/debian/control"
needs=$(cd "$work" && dpkg-shlibdeps --warnings=0 -O fwdlab/usr/bin/fwdlab | sed -n 's/^shlibs:Depends=//p')

size=$(du -sk "$root/usr" | cut -f 1)
cat > "$root/DEBIAN/control" <<END
Package: fwdlab
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $size
Depends: $needs
Recommends: iproute2, nftables, procps
Suggests: qemu-system-x86, busybox-static, openssh-client
Section: net
Priority: optional
Description: does this change make packets go faster?
 The forwarding lab: runs every variant of an experiment in randomised blocks,
 on its built-in router, on the Linux kernel or on kernels under QEMU, and
 writes a report whose every number comes from the recorded data.
END
(cd "$root" && find usr -type f -exec md5sum {} +) > "$root/DEBIAN/md5sums"    # for `dpkg --verify`
package=$out/fwdlab_${version}_$architecture.deb
# Under its name only when it is whole.
dpkg-deb --root-owner-group --build "$root" "$work/fwdlab.deb" > /dev/null
mv "$work/fwdlab.deb" "$package"
echo "$package"
