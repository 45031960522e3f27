P=/tmp/fwdlab
G=$P/guest
stage() { echo "fwdlab: $1"; $G say stage "$1"; }
give_up() { cat $P/why; $G say failed $P/why; sleep 60; exit 1; }
# try WHAT COMMAND...: what a command says when it fails ends the trial.
try() {
	what=$1; shift
	"$@" >$P/out 2>&1 && return
	{ echo "$what: $*"; tail -n 15 $P/out; } >$P/why
	give_up
}
# set_word NAME VALUE: sets a sysctl and reads it back.
set_word() {
	try "the kernel does not take a setting" sysctl "$1=$2"
}
# load_module NAME: one that lies on the task's disk, or in the root image.
load_module() {
	kldstat -q -m $1 && return
	[ -f $P/$1.ko ] && m=$P/$1.ko || m=$1
	kldload -n $m >$P/out 2>&1 && return
	{
		echo "the module $1 cannot be loaded: $(tail -n 3 $P/out)"
		dmesg | grep link_elf | tail -n 2
		case $1 in fib_*|dpdk_lpm*)
			sysctl -n net.route.algo.inet.algo_list >/dev/null 2>&1 ||
				echo "it needs a kernel with options FIB_ALGO, and this one has none: write load = [] for it";;
		esac
		[ -f $P/$1.ko ] || echo "$1.ko was looked for beside the kernel, in the directory modules there, in that" \
			"of the key modules, and in /boot/kernel of the root image, which holds:" $(cd /boot/kernel && echo *.ko)
	} >$P/why
	give_up
}
# told NAME VALUE: what the key cmdline says, as the kernel has it; a value that the kernel shows as a sysctl, too.
told() {
	is=$($G kenv $1) && [ "$is" = "$2" ] || {
		echo "cmdline says $1=$2, and the kernel has '$is'" >$P/why
		give_up
	}
	prove "cmdline $1" echo "$is"
	sysctl -n $1 >/dev/null 2>&1 && { prove $1 sysctl -n $1; return; }
	case $1 in net.*|kern.*|vm.*|hw.*|dev.*|security.*|debug.*)
		echo "cmdline: there is no sysctl $1, so nothing shows that the kernel took it" >>$P/warnings;;
	esac
}
# leave WORD: the choice of a lookup algorithm stays with the kernel, which has to have one.
leave() {
	sysctl -n $1 >/dev/null 2>&1 && return
	echo "$1 is not there: this kernel was built without options FIB_ALGO" >$P/why
	give_up
}
# choose WORD NAME: a lookup algorithm, which has to be there, and takes a while to be ready.
choose() {
	list=$(sysctl -n $1_list 2>/dev/null) || {
		echo "$1 is not there: this kernel was built without options FIB_ALGO" >$P/why
		give_up
	}
	case ", $list," in *", $2,"*) ;; *)
		echo "lookup algorithm $2 is not loaded for $1; there are: $list." \
			"Name its module in load (fib_dxr, dpdk_lpm4, dpdk_lpm6)" >$P/why
		give_up;;
	esac
	sysctl $1=$2 >$P/out 2>&1
	sleep 1
	[ "$(sysctl -n $1)" = $2 ] && return
	{ echo "the kernel does not take lookup algorithm $2 for this table ($1), and stays with" \
		"$(sysctl -n $1) (bsearch4 takes some ten routes)"; dmesg | grep fib_algo | tail -n 3; } >$P/why
	give_up
}
# cables COUNT SPARE: makes so many epairs, epair0 and so on; of more, those over which a frame costs least.
cables() {
	all= n=0
	while [ $n -lt $(($1 + $2)) ]; do
		try 'there is no epair; the kernel needs device epair or the module if_epair' ifconfig epair$n create up
		all="$all epair$n" n=$((n + 1))
	done
	[ $2 -gt 0 ] || return
	for i in $all; do ifconfig ${i}b up; done
	$G cables $P/frames $khz $all 2>$P/why >$P/unsorted || give_up
	awk '{ print $1, NR, $2 }' $P/unsorted | sort -n -k 1,1 -k 2,2 >$P/cables
	n=0
	for i in $(awk '{ print $3 }' $P/cables); do
		[ $n -lt $1 ] || { ifconfig ${i}a destroy; continue; }
		for end in a b; do ifconfig $i$end down name taken$n$end >/dev/null; done
		n=$((n + 1))
	done
	while [ $n -gt 0 ]; do
		n=$((n - 1))
		for end in a b; do try 'an interface' ifconfig taken$n$end name epair$n$end; done
	done
}
prove() { name=$1; shift; { echo "$name"; "$@" 2>&1 | sed 's/^/	/'; } >>$P/proof; }
frames() { netstat -n -I $1 | awk -v column=$2 '/<Link/ { print $column; exit }'; }
drops() {
	netstat -s -p ip; netstat -s -p ip6
}
drops_since() {
	awk 'FNR == 1 { file++ }
	/not forwardable|dropped|discarded|bad header|with bad|exceeded|cannot be forwarded/ {
		count = $1; $1 = ""; name = FNR $0
		if (file == 1) before[name] = count
		else if (count > before[name]) { sub(/^[0-9]+ /, "", name); print count - before[name], name }
	}' $1 $2
}
# buckets: how large ipfw's table of states is; nothing without ipfw. (dyn_count, the number of states, now and
# then says 0 where there are 2000.)
buckets() { sysctl -n net.inet.ip.fw.curr_dyn_buckets 2>/dev/null; }
# settle: ipfw looks once a second whether its table of states is too small for them, and enlarges it then.
settle() {
	for n in 1 2 3 4 5; do
		before=$(buckets)
		[ -n "$before" ] || return 0
		sleep 2
		[ "$(buckets)" = "$before" ] && return
	done
}
# returned: how many of its frames the tester saw come back on the side of their senders.
returned() {
	n=$(sed -n 's/.*"returned":\([0-9]*\).*/\1/p' $P/device)
	echo ${n:-0}
}
# try_frames FILE NS...: sends frames through the device for a moment, and longer as long as none of them comes back.
try_frames() {
	file=$1 sent=0; shift
	for ns; do
		jexec tester $G pass epair0b epair1b $file tried $ns $ns $khz >$P/device 2>$P/why || give_up
		counts=$(sed -n 's/.*"sent":\([0-9]*\),"received":\([0-9]*\),"flows_seen.*/\1 \2/p' $P/device)
		sent=$((sent + ${counts% *})) back=${counts#* }
		[ $back -gt 0 ] && break
	done
	tried="$tried${tried:+,}[$sent,$back]"
}
# rehearsed: says what was tried and read back, where nothing was counted.
rehearsed() {
	checks='"checked":0,"lost":0,"duplicated":0,"reordered":0,"misrouted":0,"bad_ttl":0,"bad_checksum":0,"bad_mac":0'
	for way in cable device; do
		echo "{\"intervals\":[],\"sent\":0,\"received\":0,\"flows_seen\":0,\"checks\":{$checks}}" >$P/$way
	done
	echo 0 >$P/received; echo 0 >$P/sent; : >$P/drops; echo "$tried" >$P/tried
	$G say counted $P || { echo 'what was tried cannot be sent' >$P/why; give_up; }
	sleep 60
}
tried=
: >$P/warnings
