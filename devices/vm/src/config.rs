//! What a kernel must have been configured with to be booted and measured, held against its own
//! configuration before it boots: a kernel that lacks something otherwise says so in words of its own,
//! or not at all.

use std::collections::BTreeMap;
use std::path::Path;

use fwdlab_guard::{MIB, input};
use fwdlab_kernel::{Kernel, KernelModules};

use crate::VmError;

/// An option of a kernel's configuration.
#[derive(Clone, Copy, Debug)]
struct Wanted {
    name: &'static str,
    why: &'static str,
    may_be_module: bool,
    /// Options without which `make olddefconfig` drops it again.
    with: &'static [&'static str],
    /// Options one of which a kernel may have in its place; it lacks only where one of them is set.
    instead: &'static [&'static str],
}

const fn built_in(name: &'static str, why: &'static str, with: &'static [&'static str]) -> Wanted {
    Wanted { name, why, may_be_module: false, with, instead: &[] }
}

const fn module(name: &'static str, why: &'static str, with: &'static [&'static str]) -> Wanted {
    Wanted { name, why, may_be_module: true, with, instead: &[] }
}

impl Wanted {
    /// The module that it builds where it is one.
    fn module(&self) -> String {
        match self.name {
            "NET_PKTGEN" => "pktgen".to_owned(),
            "NF_CT_NETLINK" => "nf_conntrack_netlink".to_owned(),
            name => name.to_lowercase(),
        }
    }
}

/// What every guest needs.
const ALWAYS: [Wanted; 17] = [
    built_in("64BIT", "fwdlab in the guest is a 64-bit program", &[]),
    built_in("BINFMT_ELF", "to start fwdlab in the guest", &[]),
    built_in("BLK_DEV_INITRD", "the guest's files come as an initramfs", &[]),
    built_in("DEVTMPFS", "the guest's devices", &[]),
    built_in("PROC_FS", "settings are read back from /proc", &[]),
    built_in("SYSFS", "settings are read back from /sys", &[]),
    built_in("SYSCTL", "settings are sysctls", &["PROC_SYSCTL"]),
    built_in("TMPFS", "names of network namespaces", &["SHMEM"]),
    built_in("FILE_LOCKING", "names of network namespaces are taken under a lock", &[]),
    built_in("FUTEX", "fwdlab in the guest has threads", &[]),
    built_in("SERIAL_8250", "the guest reports over a serial port", &["TTY"]),
    built_in("SERIAL_8250_CONSOLE", "the kernel's messages go to a serial port", &["PRINTK"]),
    built_in("INET", "IPv4", &["NET"]),
    built_in("PACKET", "the tester's packet sockets", &["NET"]),
    built_in("UNIX", "a socket is asked for interfaces", &["NET"]),
    built_in(
        "NET_NS",
        "tester and device are in network namespaces of their own",
        &["NET", "MULTIUSER", "NAMESPACES"],
    ),
    module("VETH", "tester and device are joined by veth pairs", &["NETDEVICES", "NET_CORE"]),
];

const IPV6: Wanted = built_in("IPV6", "IPv6", &[]);
const PKTGEN: Wanted = module("NET_PKTGEN", "tester = \"pktgen\"", &[]);
const NF_TABLES: Wanted = module("NF_TABLES", "the experiment's rules", &["NETFILTER"]);

/// Without timers of their own, all sixteen clocks of a profile sample at the same ticks, a few frames each time.
const PROFILE: [Wanted; 2] = [
    built_in("KALLSYMS", "profile = true: functions have names", &[]),
    built_in("HIGH_RES_TIMERS", "profile = true: functions are sampled between ticks, too", &[]),
];

/// Other allocators have no slabs that could be made large: which frames share a page is chance then. A kernel for one
/// processor counted 100 instructions of each IPv4 frame more or less by chance of its boot, with SLUB, too.
const COUNTED: [Wanted; 2] = [
    Wanted {
        instead: &["SLOB", "SLAB"],
        ..built_in(
            "SLUB",
            "clock = \"instructions\": the same work counts the same with it alone",
            &[],
        )
    },
    built_in("SMP", "clock = \"instructions\": the same work counts the same with it alone", &[]),
];

const PORTS: Wanted =
    built_in("X86_IOPL_IOPERM", "boots = \"block\": the guest stops itself by a port", &[]);

/// To count connections, and to forget them.
const SESSIONS: [Wanted; 2] = [
    module("NF_CONNTRACK", "kind = \"sessions\"", &["NETFILTER"]),
    module("NF_CT_NETLINK", "kind = \"sessions\"", &["NETFILTER_NETLINK"]),
];

/// What rules need besides, each with the words, one after the other, that ask for it. All of them are words that
/// nft(8) keeps for itself: nothing can be named so.
const BY_WORDS: [(&[&str], Wanted); 18] = [
    (&["table", "inet"], module("NF_TABLES_INET", "`table inet` in the rules", &[])),
    (&["table", "ip"], module("NF_TABLES_IPV4", "`table ip` in the rules", &[])),
    (&["table", "ip6"], module("NF_TABLES_IPV6", "`table ip6` in the rules", &[])),
    (&["table", "netdev"], module("NF_TABLES_NETDEV", "`table netdev` in the rules", &[])),
    (&["ct"], module("NFT_CT", "`ct` in the rules", &["NF_CONNTRACK"])),
    (&["limit"], module("NFT_LIMIT", "`limit` in the rules", &[])),
    (&["log"], module("NFT_LOG", "`log` in the rules", &[])),
    (&["masquerade"], module("NFT_MASQ", "`masquerade` in the rules", NAT)),
    (&["type", "nat"], module("NFT_NAT", "`type nat` in the rules", NAT)),
    (&["snat", "to"], module("NFT_NAT", "`snat` in the rules", NAT)),
    (&["dnat", "to"], module("NFT_NAT", "`dnat` in the rules", NAT)),
    (&["redirect", "to"], module("NFT_REDIR", "`redirect` in the rules", NAT)),
    (&["reject"], module("NFT_REJECT", "`reject` in the rules", &[])),
    (&["numgen"], module("NFT_NUMGEN", "`numgen` in the rules", &[])),
    (&["jhash"], module("NFT_HASH", "`jhash` in the rules", &[])),
    (&["symhash"], module("NFT_HASH", "`symhash` in the rules", &[])),
    (&["flowtable"], module("NF_FLOW_TABLE", "`flowtable` in the rules", INGRESS)),
    (&["flow", "add"], module("NFT_FLOW_OFFLOAD", "`flow add` in the rules", FLOWS)),
];

const NAT: &[&str] = &["NF_CONNTRACK", "NF_TABLES_IPV4", "NFT_NAT"];
const INGRESS: &[&str] = &["NF_CONNTRACK", "NETFILTER_INGRESS"];
const FLOWS: &[&str] =
    &["NF_CONNTRACK", "NETFILTER_INGRESS", "NF_FLOW_TABLE", "NF_FLOW_TABLE_INET"];

/// What else some experiments need.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Needs<'a> {
    /// IPv6 traffic.
    pub ipv6: bool,
    /// Some variant has nftables rules, so that nft(8) is in all guests.
    pub nft: bool,
    /// The nftables rules of the variant that boots this kernel.
    pub rules: Option<&'a str>,
    /// The kernel's own generator.
    pub pktgen: bool,
    /// Traffic of sessions.
    pub sessions: bool,
    /// The guest stops itself, so that its state is kept.
    pub state: bool,
    /// Trials with profiles follow.
    pub profile: bool,
    /// Verdicts rest on instructions that were counted.
    pub instructions: bool,
}

impl Needs<'_> {
    fn wanted(self) -> Vec<Wanted> {
        let mut wanted = ALWAYS.to_vec();
        wanted.extend(self.ipv6.then_some(IPV6));
        wanted.extend(self.nft.then_some(NF_TABLES));
        wanted.extend(self.pktgen.then_some(PKTGEN));
        wanted.extend(self.state.then_some(PORTS));
        wanted.extend(PROFILE.into_iter().filter(|_| self.profile));
        wanted.extend(COUNTED.into_iter().filter(|_| self.instructions));
        wanted.extend(SESSIONS.into_iter().filter(|_| self.sessions));
        let words = words(self.rules.unwrap_or_default());
        for (asking, option) in BY_WORDS {
            let asks = words.windows(asking.len()).any(|some| some == asking);
            if asks && wanted.iter().all(|one| one.name != option.name) {
                wanted.push(option);
            }
        }
        wanted
    }
}

/// The words of rules, without comments and quoted text.
fn words(rules: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for line in rules.lines() {
        // What stands between the first and second quotation mark, the third and fourth, ... is text.
        for bare in line.split('"').step_by(2) {
            let (code, comment) =
                bare.split_once('#').map_or((bare, false), |(code, _)| (code, true));
            let is_word = |c: char| c.is_alphanumeric() || "_-$@./".contains(c);
            words.extend(code.split(|c| !is_word(c)).filter(|word| !word.is_empty()));
            if comment {
                break;
            }
        }
    }
    words
}

/// Holds a kernel's configuration, beside it or in it, and the files of its modules, against what is needed. Of a
/// kernel whose configuration is not known it is said that it shows what it lacks when it boots.
pub(super) fn check(
    kernel: &Kernel,
    modules: Option<&KernelModules>,
    needs: Needs<'_>,
) -> Result<(), VmError> {
    let Some((path, text)) = configuration(kernel)? else {
        fwdlab_guard::say!("{}", unknown(&kernel.image));
        return Ok(());
    };
    let set = Options::of(&text);
    let lacking = set.lacking(needs);
    if lacking.is_empty() {
        let lacks = set.without_file(modules, needs).join("; ");
        return match lacks.is_empty() {
            true => Ok(()),
            false => Err(VmError::ModuleFiles { config: path.to_owned(), lacks }),
        };
    }
    let lacks: Vec<String> = lacking.iter().map(|option| set.says(option)).collect();
    let enable = set.enabling(&lacking);
    Err(VmError::Config { config: path.to_owned(), lacks: lacks.join("; "), enable })
}

/// A kernel's configuration, with the file that has it.
fn configuration(kernel: &Kernel) -> Result<Option<(&Path, String)>, VmError> {
    const MOST_BYTES: u64 = 4 * MIB;
    let Some(path) = &kernel.config else {
        return Ok(kernel.own_configuration().map(|text| (kernel.image.as_path(), text)));
    };
    let text = input::named_text(path, MOST_BYTES).map_err(VmError::file("read", path))?;
    Ok(Some((path, text)))
}

fn unknown(image: &Path) -> String {
    format!(
        "how {} was configured is not known: what it lacks shows only when it boots; put its .config beside it",
        image.display()
    )
}

/// What a kernel was configured with.
struct Options<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Options<'a> {
    fn of(text: &'a str) -> Self {
        let line = |line: &'a str| line.trim().strip_prefix("CONFIG_")?.split_once('=');
        Self(text.lines().filter_map(line).collect())
    }

    /// The options that are lacking; none of what is no configuration.
    fn lacking(&self, needs: Needs<'_>) -> Vec<Wanted> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let is_there = |one: &Wanted| match self.0.get(one.name) {
            Some(&"y") => true,
            Some(&"m") => one.may_be_module,
            _ => !one.instead.is_empty() && self.others(one).is_empty(),
        };
        needs.wanted().into_iter().filter(|one| !is_there(one)).collect()
    }

    /// What is set in place of an option.
    fn others(&self, one: &Wanted) -> Vec<&'static str> {
        let is_set = |name: &&&str| self.0.get(**name) == Some(&"y");
        one.instead.iter().filter(is_set).copied().collect()
    }

    /// The options that are modules whose files are missing, each in words.
    fn without_file(&self, modules: Option<&KernelModules>, needs: Needs<'_>) -> Vec<String> {
        let mut words = Vec::new();
        for one in needs.wanted().iter().filter(|one| self.0.get(one.name) == Some(&"m")) {
            let file = one.module();
            let lacks = match modules {
                Some(known) if known.has(&file) => continue,
                Some(known) => format!("{} holds no {file}.ko", known.dir().display()),
                None => format!("there is no directory of modules with {file}.ko"),
            };
            words.push(format!("CONFIG_{} is m, and {lacks}: {}", one.name, one.why));
        }
        words
    }

    fn says(&self, option: &Wanted) -> String {
        let values = if option.may_be_module { "y or m" } else { "y" };
        let is = self.0.get(option.name).copied().unwrap_or("not set");
        format!("CONFIG_{} is {is}, wanted {values}: {}", option.name, option.why)
    }

    /// The command that sets what is lacking, with what it depends on.
    fn enabling(&self, lacking: &[Wanted]) -> String {
        let mut names: Vec<&str> = Vec::new();
        for option in lacking {
            let needed = option.with.iter().filter(|name| !self.0.contains_key(*name));
            for name in needed.copied().chain([option.name]) {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        // Of a choice the other one stays unless it is taken away.
        let others = lacking.iter().flat_map(|option| self.others(option));
        let flags: Vec<String> = others
            .map(|name| format!("-d {name}"))
            .chain(names.iter().map(|name| format!("-e {name}")))
            .collect();
        format!("./scripts/config {} && make olddefconfig", flags.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> String {
        let mut text = String::from("# Linux/x86 6.12.0 Kernel Configuration\n");
        for option in ALWAYS {
            let value = if option.may_be_module { "m" } else { "y" };
            text.push_str(&format!("CONFIG_{}={value}\n", option.name));
        }
        text
    }

    fn with(config: Option<&Path>) -> Kernel {
        let image = Path::new("no/bzImage").to_owned();
        Kernel { image, modules: None, config: config.map(Path::to_owned) }
    }

    fn names(text: &str, needs: Needs<'_>) -> Vec<&'static str> {
        Options::of(text).lacking(needs).iter().map(|option| option.name).collect()
    }

    #[test]
    fn every_option_that_lacks_is_named_with_what_needs_it() {
        assert_eq!(names(&good(), Needs::default()), [""; 0]);
        let text = good().replace("CONFIG_NET_NS=y", "# CONFIG_NET_NS is not set");
        let text = text.replace("CONFIG_PACKET=y", "CONFIG_PACKET=m");
        let needs = Needs {
            ipv6: true,
            nft: true,
            pktgen: true,
            rules: None,
            sessions: true,
            state: true,
            profile: true,
            instructions: true,
        };
        let lacks = [
            "PACKET",
            "NET_NS",
            "IPV6",
            "NF_TABLES",
            "NET_PKTGEN",
            "X86_IOPL_IOPERM",
            "KALLSYMS",
            "HIGH_RES_TIMERS",
            "SMP",
            "NF_CONNTRACK",
            "NF_CT_NETLINK",
        ];
        assert_eq!(names(&text, needs), lacks);
        let set = Options::of(&text);
        let lacking = set.lacking(needs);
        let first = "CONFIG_PACKET is m, wanted y: the tester's packet sockets";
        assert_eq!(set.says(&lacking[0]), first);
        assert_eq!(
            set.enabling(&lacking),
            "./scripts/config -e NET -e PACKET -e MULTIUSER -e NAMESPACES -e NET_NS -e IPV6 -e NETFILTER \
             -e NF_TABLES -e NET_PKTGEN -e X86_IOPL_IOPERM -e KALLSYMS -e HIGH_RES_TIMERS -e SMP \
             -e NF_CONNTRACK -e NETFILTER_NETLINK -e NF_CT_NETLINK && make olddefconfig"
        );
    }

    /// One made by `make tinyconfig` was booted with what was named then, and could not open its ports.
    #[test]
    fn the_smallest_configuration_gets_all_that_a_guest_needs() {
        let set = Options::of("CONFIG_64BIT=y\n");
        assert_eq!(
            set.enabling(&set.lacking(Needs { ipv6: true, ..Needs::default() })),
            "./scripts/config -e BINFMT_ELF -e BLK_DEV_INITRD -e DEVTMPFS -e PROC_FS -e SYSFS -e PROC_SYSCTL \
             -e SYSCTL -e SHMEM -e TMPFS -e FILE_LOCKING -e FUTEX -e TTY -e SERIAL_8250 -e PRINTK \
             -e SERIAL_8250_CONSOLE -e NET -e INET -e PACKET -e UNIX -e MULTIUSER -e NAMESPACES -e NET_NS \
             -e NETDEVICES -e NET_CORE -e VETH -e IPV6 && make olddefconfig"
        );
    }

    /// With SLOB, IPv6 that a patch does not touch was "faster by exactly 662 instructions".
    #[test]
    fn instructions_are_counted_with_the_allocator_that_repeats() {
        let counting = Needs { instructions: true, ..Needs::default() };
        for other in ["SLOB", "SLAB"] {
            let text =
                format!("{}CONFIG_SMP=y\nCONFIG_{other}=y\n# CONFIG_SLUB is not set\n", good());
            assert_eq!(names(&text, counting), ["SLUB"]);
            assert_eq!(names(&text, Needs::default()), [""; 0], "a clock of time");
            let set = Options::of(&text);
            let command = format!("./scripts/config -d {other} -e SLUB && make olddefconfig");
            assert_eq!(set.enabling(&set.lacking(counting)), command);
        }
        for allocator in ["CONFIG_SLUB=y\n", ""] {
            let text = good() + "CONFIG_SMP=y\n" + allocator;
            assert_eq!(names(&text, counting), [""; 0], "kernels without a choice have SLUB");
        }
    }

    /// A patch that added 63 instructions was "faster by exactly 37.8", proven.
    #[test]
    fn instructions_are_not_counted_on_a_kernel_for_one_processor() {
        let counting = Needs { instructions: true, ..Needs::default() };
        let text = good() + "# CONFIG_SMP is not set\n";
        assert_eq!(names(&text, counting), ["SMP"]);
        assert_eq!(names(&text, Needs::default()), [""; 0], "a clock of time");
    }

    #[test]
    fn rules_ask_for_what_their_words_need() {
        let rules = |rules| {
            let needs = Needs { nft: true, rules: Some(rules), ..Needs::default() };
            names(&format!("{}CONFIG_NF_TABLES=m\n", good()), needs)
        };
        assert_eq!(
            rules("table inet f { chain c { ct state established accept\n limit rate 1/second } }"),
            ["NF_TABLES_INET", "NFT_CT", "NFT_LIMIT"]
        );
        assert_eq!(
            rules("table ip n { chain c { type nat hook postrouting priority 0; masquerade\n} }"),
            ["NF_TABLES_IPV4", "NFT_MASQ", "NFT_NAT"]
        );
        let flows =
            "table inet f { flowtable t { hook ingress priority 0; devices = { port0 }; }; }";
        assert_eq!(rules(flows), ["NF_TABLES_INET", "NF_FLOW_TABLE"]);
        // Text, comments and values of other words ask for nothing.
        let none = "# ct limit rate\nchain c { icmp type redirect comment \"ct # x\" drop # ct\n";
        assert_eq!(rules(none), [""; 0]);
        assert_eq!(rules("ct status dnat accept comment \"table inet\""), ["NFT_CT"]);
    }

    #[test]
    fn what_is_no_configuration_says_nothing() {
        assert_eq!(names("", Needs::default()), [""; 0]);
        check(&with(None), None, Needs::default()).expect("nothing is known");
    }

    /// It was booted, and said so in its guest, after a boot for each variant.
    #[test]
    fn a_module_that_was_configured_and_not_built_is_named_before_anything_boots() {
        let dir = tempfile::tempdir().expect("a directory");
        let config = dir.path().join(".config");
        std::fs::write(&config, good() + "CONFIG_NET_PKTGEN=m\n").expect("a file");
        let needs = Needs { pktgen: true, ..Needs::default() };
        let told = |modules: Option<&KernelModules>| {
            check(&with(Some(&config)), modules, needs).expect_err("no files").to_string()
        };
        let without = told(None);
        assert!(without.contains("CONFIG_VETH is m, and there is no directory"), "{without}");
        std::fs::write(dir.path().join("veth.ko"), "").expect("a file");
        let some = told(Some(&KernelModules::read(dir.path()).expect("a directory")));
        assert!(some.contains("CONFIG_NET_PKTGEN is m, and ") && some.contains("no pktgen.ko"));
        assert!(!some.contains("VETH") && some.contains("`make modules`"), "{some}");
        std::fs::write(dir.path().join("pktgen.ko"), "").expect("a file");
        let all = KernelModules::read(dir.path()).expect("a directory");
        check(&with(Some(&config)), Some(&all), needs).expect("all are there");
    }
}
