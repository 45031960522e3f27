//! The task of a FreeBSD guest as a shell script for the tools of its base system: the network is
//! set up, the tester runs past the device and through it, every setting is read back.
//!
//! ```text
//! jail tester      the host of the jails: the device
//!   epair0b  ------  epair0a
//!   epair1b  ------  epair1a
//!   epair2b  --+
//!   epair2a  --+     a cable
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use fwdlab_agent::task::{Task, TaskRoute, TaskTraffic};
use fwdlab_device::moment;
use fwdlab_experiment::network_length;
use fwdlab_results::Measured;
use fwdlab_routes::Prefix;
use fwdlab_traffic::{DEVICE_MACS, Endpoints, FlowSet, TESTER_MACS};

use super::rules::Rules;
use super::sessions;
use super::tunables::Tunables;

/// What the guest says when frames begin to go through the device.
pub(crate) const THROUGH_THE_DEVICE: &str = "sent frames through the device";

/// More than a frame takes from the tester through any device and back, in instructions: 8,000 and some
/// thousands.
const FRAME_NS: u64 = 25_000;

/// Cables that are laid, and how many more are made to choose from.
const CABLES: usize = 3;
const SPARE_CABLES: usize = 3;

/// Answers of more routes than these are not asked for one by one.
const ROUTES_LISTED: usize = 5_000;

/// What every device is: a router that answers nobody on its own.
const ROUTER: [(&str, &str); 4] = [
    ("net.inet.ip.forwarding", "1"),
    ("net.inet6.ip6.forwarding", "1"),
    ("net.inet.ip.redirect", "0"),
    ("net.inet6.ip6.redirect", "0"),
];

/// Of the whole guest: no announcements, no random numbers from what happens on the network (an
/// interface's frames are not harvested), and buffers for the receiver.
const GUEST: [(&str, &str); 5] = [
    ("net.inet6.ip6.dad_count", "0"),
    ("net.inet6.ip6.auto_linklocal", "0"),
    ("kern.random.harvest.mask", "351"),
    ("dev.netmap.buf_num", "16384"),
    ("net.bpf.optimize_writers", "1"),
];

/// Words of the lookup framework whose value `auto` leaves the choice to the kernel.
pub(crate) const CHOICES: [&str; 2] = ["net.route.algo.inet.algo", "net.route.algo.inet6.algo"];

/// Lookup algorithms that build nothing of their own, in the order of the families: with another, a
/// full table would be built anew again and again while it is written.
const PLAIN: [&str; 2] = ["radix4", "radix6"];

/// The functions that the script is made of.
const HEAD: &str = include_str!("functions.sh");

/// What a variant sets that is no sysctl.
#[derive(Clone, Copy, Debug)]
pub(super) struct Set<'a> {
    /// Modules to load.
    pub(super) modules: &'a [String],
    /// The filter that has rules.
    pub(super) rules: Option<Rules>,
    /// What it adds to the kernel's command line.
    pub(super) tunables: &'a Tunables,
}

/// The script of one trial.
pub(super) fn text(task: &Task, set: &Set<'_>, khz: &str) -> String {
    let Set { modules, rules, tunables } = *set;
    let mut script = HEAD.to_owned();
    let mut line = |text: &str| {
        script.push_str(text);
        script.push('\n');
    };
    told(tunables, &mut line);
    line("stage 'loaded modules'");
    for module in modules {
        line(&format!("load_module {}", quoted(module)));
    }
    if let Some(rules) = rules {
        line(&rules.module());
    }
    line(&format!("khz={khz}"));
    line("stage 'built the network'");
    for (word, value) in GUEST {
        line(&format!("set_word {word} {value}"));
    }
    network(task, &mut line);
    line("stage 'set the device up'");
    for (word, value) in ROUTER {
        line(&format!("set_word {word} {value}"));
    }
    settings(task, rules, &mut line);
    if task.is_rehearsal {
        rehearsed(task, rules, &mut line);
        return script;
    }
    line("sleep 3");
    let sessions = task.sessions.map(|own| sessions::pass(own, task));
    if sessions.is_some() {
        line(&sessions::table(rules));
    }
    // The other way's interfaces are idle.
    let [cable, device] = [" epair2b epair2a", " epair0b epair1b"];
    let ways = [
        ("cable", "sent frames over a cable", [cable, device], task.cable_ns),
        ("device", THROUGH_THE_DEVICE, [device, cable], task.duration_ns),
    ];
    for (way, stage, [interfaces, idle], duration) in ways {
        let pass = |duration: u64, file: &str| {
            let idle = if file == way { idle } else { "" };
            format!(
                "jexec tester $G pass{interfaces} $P/frames {way} {duration} {} $khz{idle} >$P/{file} \
                 2>$P/why || give_up",
                task.interval_ns
            )
        };
        line(&format!("stage '{stage}'"));
        let has_states = way == "device" && rules == Some(Rules::Ipfw);
        if has_states {
            line(&pass(task.warmup_ns.max(every_flow_ns(task)), "settling"));
            line("settle");
        }
        let rounds = sessions.as_ref().filter(|_| way == "device");
        if task.warmup_ns > 0 && rounds.is_none() {
            line(&pass(task.warmup_ns, "warmup"));
        }
        if way == "device" {
            line(
                "r=$(frames epair0a 5); s=$(frames epair1a 8); o=$(frames epair0a 8); drops >$P/drops.0; b=$(buckets)",
            );
        }
        match rounds {
            Some(rounds) => rounds.iter().for_each(|text| line(text)),
            None => {
                line(&pass(duration, way));
                line(&format!("prove 'frame in each place of the receiver, {way}' cat $P/why"));
            }
        }
        if has_states {
            line(
                "[ \"$(buckets)\" = \"$b\" ] || echo \"ipfw made its table of states another size in the \
                 trial, $b and then $(buckets) buckets: so it cost two things\" >>$P/warnings",
            );
        }
    }
    line("stage 'read its settings back'");
    line("echo $(($(frames epair0a 5) - r)) >$P/received");
    // It also sent what came back to its senders.
    line("back=$(returned); echo $(($(frames epair1a 8) - s + back)) >$P/sent");
    line(
        "more=$(($(frames epair0a 8) - o - back)); [ $more -le 0 ] || echo \"$more frames more left the device on \
         the side of the sources: errors of its own (ICMP), or frames of flows that were first sent when nobody \
         listened there any more, and count as lost\" >>$P/warnings",
    );
    line("drops >$P/drops.1; drops_since $P/drops.0 $P/drops.1 >$P/drops");
    if sessions.is_some() {
        line(sessions::DROPS);
    }
    line("prove 'cables, of which the first were taken' cat $P/cables");
    proof(task, rules, &mut line);
    line("$G say counted $P || { echo 'the counts cannot be sent' >$P/why; give_up; }");
    line("sleep 60");
    script
}

/// A few frames of each traffic that is tried go through the device, and everything that was set is asked for
/// again.
fn rehearsed(task: &Task, rules: Option<Rules>, line: &mut impl FnMut(&str)) {
    if !task.from_state.is_empty() {
        line("sleep 3");
        line("stage 'sent a few frames of each traffic'");
    }
    for (number, own) in task.from_state.iter().enumerate() {
        let bursts = moment::BURSTS.map(|times| format!(" {}", own.duration_ns * u64::from(times)));
        line(&format!("try_frames $P/{}{}", tried_frames(number), bursts.concat()));
    }
    line("stage 'read its settings back'");
    proof(task, rules, line);
    line("rehearsed");
}

/// The file of the frames of a traffic that is tried.
pub(super) fn tried_frames(number: usize) -> String {
    format!("frames.{number}")
}

/// What the command line said is held against what the kernel has.
fn told(tunables: &Tunables, line: &mut impl FnMut(&str)) {
    for (name, value) in &tunables.settings {
        line(&format!("told {} {}", quoted(name), quoted(value)));
    }
    if tunables.has_options {
        line("prove 'cmdline options' sysctl -n debug.boothowto");
    }
}

/// What the variant sets. A rehearsal says each word first: if the kernel stops, that is where.
fn settings(task: &Task, rules: Option<Rules>, line: &mut impl FnMut(&str)) {
    let say = |word: &str| match task.is_rehearsal {
        true => format!("stage {}; ", quoted(&format!("set {word}"))),
        false => String::new(),
    };
    for (word, value) in &task.sysctl {
        let command = match (CHOICES.contains(&word.as_str()), value.as_str()) {
            (true, "auto") => format!("leave {word}"),
            (true, _) => format!("choose {word} {}", quoted(value)),
            (false, _) => format!("set_word {} {}", quoted(word), quoted(value)),
        };
        line(&(say(word) + &command));
    }
    for (number, command) in rules.iter().flat_map(|rules| rules.load()).enumerate() {
        let said = rules.filter(|_| number == 0).map(|rules| say(rules.word()));
        line(&(said.unwrap_or_default() + &command));
    }
}

/// The guest's time in which every flow is sent once.
fn every_flow_ns(task: &Task) -> u64 {
    let TaskTraffic { source, destination, capture, .. } = &task.traffic;
    let frames = match capture {
        Some(capture) => capture.frames as u64,
        None => FlowSet::parse(source, destination).map_or(0, |flows| u64::from(flows.count())),
    };
    frames * FRAME_NS
}

/// A word of the shell.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn network(task: &Task, line: &mut impl FnMut(&str)) {
    line(
        "try 'there is no jail with a network of its own; the kernel needs options VIMAGE' \
         jail -c name=tester path=/ vnet persist allow.raw_sockets",
    );
    line(
        "for w in ip6.dad_count=0 ip6.auto_linklocal=0; do jexec tester sysctl net.inet6.$w; done",
    );
    // A rehearsal counts no cost.
    let spare = if task.is_rehearsal { 0 } else { SPARE_CABLES };
    line(&format!("cables {CABLES} {spare}"));
    for (index, mac) in DEVICE_MACS.iter().enumerate() {
        line(&format!("try 'an interface' ifconfig epair{index}a ether {mac} up"));
        line(&format!("try 'an interface' ifconfig epair{index}b ether {} ", strange(0xb, index)));
    }
    line(&format!("try 'an interface' ifconfig epair2a ether {}", strange(0xa, 2)));
    line(&format!("try 'an interface' ifconfig epair2b ether {}", strange(0xb, 2)));
    for interface in ["epair0b", "epair1b", "epair2a", "epair2b"] {
        line(&format!("try 'an interface' ifconfig {interface} vnet tester"));
        line(&format!("try 'an interface' jexec tester ifconfig {interface} up"));
    }
    for (index, address, length) in addresses(&task.routes) {
        let words = match address {
            IpAddr::V4(_) => format!("inet {address}/{length}"),
            IpAddr::V6(_) => format!("inet6 {address} prefixlen {length}"),
        };
        line(&format!("try 'an address' ifconfig epair{index}a {words}"));
    }
    let neighbours: BTreeSet<(IpAddr, usize)> =
        task.routes.iter().map(|route| (route.gateway, side(route))).collect();
    for (address, index) in neighbours {
        let tool = if address.is_ipv4() { "arp" } else { "ndp" };
        line(&format!("try 'a neighbour' {tool} -s {address} {}", TESTER_MACS[index]));
    }
    for (word, plain) in CHOICES.iter().zip(PLAIN) {
        // The kernel's own choice, where it is left to it, has to grow with the table.
        let is_chosen = task.sysctl.get(*word).is_some_and(|name| name != "auto");
        if is_chosen && task.routes.len() > ROUTES_LISTED {
            line(&format!("choose {word} {plain}"));
        }
    }
    line("$G routes $P/routes >$P/routes.said 2>$P/why || give_up");
}

/// An address that nobody else in the guest has; the tester's frames carry others.
fn strange(side: u8, index: usize) -> String {
    format!("02:00:00:00:{side:02x}:{index:02x}")
}

fn side(route: &TaskRoute) -> usize {
    usize::from(route.port.min(1))
}

/// The device's own addresses: the last but one in the /24, or /64, of each gateway.
fn addresses(routes: &[TaskRoute]) -> Vec<(usize, IpAddr, u8)> {
    let mut networks = BTreeMap::new();
    for route in routes {
        let network = Prefix::covering(route.gateway, network_length(route.gateway));
        networks.insert((side(route), network), route.gateway);
    }
    let own = networks.into_iter().map(|((index, network), gateway)| {
        let last = network.bounds().1;
        let candidates = [last - 1, last - 2].map(|own| match gateway {
            IpAddr::V4(_) => IpAddr::from((own as u32).to_be_bytes()),
            IpAddr::V6(_) => IpAddr::from(own.to_be_bytes()),
        });
        let [first, second] = candidates;
        (index, if first == gateway { second } else { first }, network.length())
    });
    own.collect()
}

/// Everything that was set is asked for again.
fn proof(task: &Task, rules: Option<Rules>, line: &mut impl FnMut(&str)) {
    line("prove kernel sysctl -n kern.version");
    line("prove configuration uname -i");
    line("prove 'started as by' sysctl -n machdep.bootmethod");
    line("prove jails jls -n name vnet");
    line("prove 'routes set' cat $P/routes.said");
    for (word, _) in ROUTER {
        line(&format!("prove {word} sysctl -n {word}"));
    }
    for word in task.sysctl.keys() {
        line(&format!("prove {0} sysctl -n {0}", quoted(word)));
    }
    let others = task.read.iter().map(String::as_str);
    let is_set = |word: &&str| task.sysctl.contains_key(*word);
    let asked: BTreeSet<&str> = CHOICES.into_iter().filter(|w| !is_set(w)).chain(others).collect();
    for word in asked {
        match Rules::of(word) {
            Some(rules) => rules.ask().iter().for_each(|command| line(command)),
            None => line(&format!(
                "sysctl -n {0} >/dev/null 2>&1 && prove {0} sysctl -n {0}",
                quoted(word)
            )),
        }
    }
    for word in CHOICES {
        // Nothing in a guest that has just booted has fixed it: the kernel chooses, and may choose anew.
        if task.sysctl.get(word).is_none_or(|value| value == "auto") {
            let (asked, choice) = (quoted(word), quoted(&Measured::choice_of(word)));
            let auto = Measured::OWN_CHOICE;
            line(&format!("sysctl -n {asked} >/dev/null 2>&1 && prove {choice} echo {auto}"));
        }
    }
    let traffic = &task.traffic;
    if let Ok(ends) = traffic.destination.parse::<Endpoints>() {
        let destination = ends.first();
        let (family, address) = match ends.family() {
            fwdlab_traffic::Family::Inet => ("", IpAddr::from((destination as u32).to_be_bytes())),
            fwdlab_traffic::Family::Inet6 => ("-6 ", IpAddr::from(destination.to_be_bytes())),
        };
        line(&format!(
            "prove 'route to {address}' sh -c \"route -n {family}get {address} | \
             awk '/gateway:|interface:/ {{ print \\$2 }}'\""
        ));
    }
    for (name, family) in [("inet", "IPv4"), ("inet6", "IPv6")] {
        if task.routes.len() <= ROUTES_LISTED {
            line(&format!(
                "prove '{family} routes in the kernel' sh -c \"netstat -rn -f {name} | grep -c epair\""
            ));
        }
    }
    if let Some(rules) = rules {
        rules.prove().iter().for_each(|command| line(command));
    }
    if rules == Some(Rules::Ipfw) {
        line("[ -z \"$(buckets)\" ] || prove 'buckets of ipfw states' buckets");
    }
}

/// The routes as the guest's program reads them.
pub(super) fn routes(task: &Task) -> Vec<u8> {
    let mut file = Vec::with_capacity(36 * task.routes.len());
    let octets = |address: IpAddr| match address {
        IpAddr::V4(address) => {
            let mut all = [0; 16];
            all[..4].copy_from_slice(&address.octets());
            all
        }
        IpAddr::V6(address) => address.octets(),
    };
    for route in &task.routes {
        let family = if route.destination.is_ipv4() { 4 } else { 6 };
        file.extend([family, route.length, 0, 0]);
        file.extend(octets(route.destination));
        file.extend(octets(route.gateway));
    }
    file
}
