#!/usr/bin/env bash
# Makes docs/gallery.md and its pictures anew from results directories; nothing in them is written by hand.
#
#   docs/pictures.sh KERNELS PUBLISHED PROFILED
#   docs/pictures.sh history
#
# The second form makes only the pictures of a history, from the archive's series among the tests' fixtures.
# KERNELS: of examples/kernel-rules.toml with `profile = true`; PUBLISHED: an import of published logs;
# PROFILED: an import with published call graphs. FWDLAB names the program, with all features. Needs
# Chromium, and ImageMagick's convert.
set -euo pipefail

[ $# -eq 3 ] || [ "$*" = history ] || { sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }
docs=$(cd "$(dirname "$0")" && pwd)
program=${FWDLAB:-fwdlab}
scratch=$(mktemp -d)
export TMPDIR=$scratch   # what Chromium leaves goes with it
trap 'rm -rf "$scratch"' EXIT

# picture DIRECTORY FILE light|dark WIDTH SECTION...: a page with these of its sections, without the
# empty space below.
picture() {
    local page=$1/index.html file=$2 scheme=$3 width=$4 hidden=section
    shift 4
    for section in "$@"; do hidden+=":not(#$section)"; done
    sed "s|</head>|<style>$hidden{display:none}</style></head>|" "$page" >"$scratch/page.html"
    shot "$file" "$scheme" "$width"
}

# shot FILE light|dark WIDTH: the page of the scratch directory.
shot() {
    local file=$docs/img/$1 scheme=1 width=$3
    [ "$2" = dark ] && scheme=0
    # Chromium opens no window narrower than 500 px: a frame is.
    printf '<body style="margin:0"><iframe src=page.html style="border:0;width:%spx;height:6000px">' \
        "$width" >"$scratch/frame.html"
    # A flame graph in the page may come after the picture is taken: of three, the one with the most in it.
    rm -f "$scratch/page.png"
    for _ in 1 2 3; do
        chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars \
            --user-data-dir="$scratch/profile" --window-size="$((width < 500 ? 500 : width)),6000" \
            --blink-settings=preferredColorScheme=$scheme \
            --screenshot="$scratch/next.png" "file://$scratch/frame.html" 2>/dev/null >&2
        if [ ! -e "$scratch/page.png" ] || \
            [ "$(stat -c %s "$scratch/next.png")" -gt "$(stat -c %s "$scratch/page.png")" ]; then
            mv "$scratch/next.png" "$scratch/page.png"
        fi
    done
    # down to where the page ends, and as much again below it as stands at its side
    local end
    end=$(convert "$scratch/page.png" -crop "${width}x6000+0+0" +repage -trim -format '%[fx:h+page.y]' info:)
    convert "$scratch/page.png" -crop "${width}x$((end + 12))+0+0" +repage +dither -colors 255 "$file"
}

# sentences DIRECTORY: what the report says, as a quotation.
sentences() {
    "$program" report "$1" --format json |
        grep -o '"sentence": "[^"]*"' | sed 's/^"sentence": "\(.*\)"$/> - \1/'
}

# history: three configurations of a machine and another machine, as the archive published them.
history() {
    local fixtures=$docs/../crates/stats/tests/fixtures/archive series machine
    for series in c2558-forwarding c2558-ipfw c2558-pf gx412t-forwarding; do
        machine=Atom_C2558_4Cores-Intel_i350
        [ "${series%%-*}" = gx412t ] && machine=AMD_GX-412TC_4Cores_Intel_i210AT
        mkdir -p "$scratch/archive/$machine/forwarding-pf-ipfw/results/fbsd.2016"
        cp "$fixtures/$series-2016.data" \
            "$scratch/archive/$machine/forwarding-pf-ipfw/results/fbsd.2016/${series#*-}.data"
    done
    (cd "$scratch" && "$program" history archive -o history)
    cp "$scratch/history/history.html" "$scratch/page.html"
    shot history-light.png light 1000
    shot history-narrow-dark.png dark 400
}

history
[ $# -eq 3 ] || exit 0
kernels=$1 published=$2 profiled=$3
for results in "$@"; do "$program" report "$results" >/dev/null; done
picture "$kernels" kernel-verdicts.png light 1000 verdicts forest
picture "$kernels" kernel-functions.png light 1000 verdicts functions
picture "$kernels" kernel-narrow-dark.png dark 400 verdicts forest
picture "$kernels" report-dark.png dark 1400 figures
picture "$published" report-light.png light 1000 verdicts checks forest
picture "$profiled" flame-difference.png light 1400 flames

cat >"$docs/gallery.md" <<TEXT
# Reports, as they look

Pages that \`fwdlab\` wrote, in Chromium. Sections are left out, and nothing else is changed: \`docs/pictures.sh\`
takes the pictures, and the sentences below are those of the reports' own data.

What a setting and a rule cost on Linux 6.1 (\`examples/kernel-rules.toml\`, three of its variants):

$(sentences "$kernels")

![The verdicts with their intervals, and a forest plot of all changes](img/kernel-verdicts.png)

The same: where the change is. The sum is the figure of the verdict; IPv6, which rp_filter does not touch,
is the control.

![Tables of functions with instructions per frame for both kernels, their changes with intervals, the others in one row, and the sum](img/kernel-functions.png)

On a telephone, at night: [400 px, dark](img/kernel-narrow-dark.png). Its figures, every trial a mark:
[rates and device costs, 1400 px, dark](img/report-dark.png).

What D27401, FreeBSD's modular FIB, changed on an AMD GX-412TC, from published logs ([verdicts, checks and
effects](img/report-light.png)):

$(sentences "$published")

In IPv4 forwarding on an Atom C2758, from published call graphs: [differential flame
graph](img/flame-difference.png).

A year of the netbenches archive on two machines (\`fwdlab history\`): three configurations of one fall
together, and rise together with the other machine. [On a telephone, at night](img/history-narrow-dark.png):

![Series over revisions with intervals, levels and marked changes](img/history-light.png)
TEXT
