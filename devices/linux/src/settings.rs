//! The control words that a variant may set on the linux device.

use std::collections::BTreeMap;
use std::path::PathBuf;

use fwdlab_port::SocketKind;

use fwdlab_builtin::control;
use fwdlab_experiment::fields::nearest;
use fwdlab_experiment::problem::Complaint;
use fwdlab_experiment::{MOST_GENERATED, Variant};
use fwdlab_router::settable_words;
use fwdlab_topology::{NFTABLES, RuleSet};

/// `none`, `forward`, or the name of an object file.
pub const XDP: &str = "xdp";
/// So many generated routes more, or the name of a file of routes.
pub const ROUTES: &str = "routes";
/// Generic receive offload on the device's ports: `on` or `off`.
pub const GRO: &str = "gro";
/// Generic segmentation offload on the device's ports: `on` or `off`.
pub const GSO: &str = "gso";
/// Segmentation offload of TCP on the device's ports, which on veth pairs leaves large packets uncut: `on`
/// or `off`.
pub const TSO: &str = "tso";
/// The same three at the streams' ends.
pub const ENDS: [&str; 3] = ["ends.gro", "ends.gso", "ends.tso"];
/// What veth pairs have not.
const LRO: &str = "lro";
/// Frames are received by kernel threads instead of the tester's processor: `on` or `off`.
pub const THREADED: &str = "threaded";
/// Processors to which received frames are spread, as a hexadecimal mask; 0 is off.
pub const RPS: &str = "rps";

/// Who forwards: `kernel`, or `fwdlab` for the built-in router on packet sockets.
pub const ROUTER: &str = "router";
/// What sends and receives: a [`TesterKind`] or `auto`.
pub const TESTER: &str = "tester";
/// By which sockets the built-in router's frames come and go: `af_xdp`, `af_packet` or `auto`.
pub const PORTS: &str = "ports";
/// Whatever is fastest here.
const AUTO: &str = "auto";

const WORDS: [&str; 14] = [
    NFTABLES, XDP, ROUTES, GRO, GSO, TSO, ENDS[0], ENDS[1], ENDS[2], THREADED, RPS, ROUTER, TESTER,
    PORTS,
];

/// What a variant sets on the linux device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinuxSettings {
    /// Sysctls of the device's network namespace.
    pub sysctls: BTreeMap<String, String>,
    /// Rules of nftables.
    pub rules: Option<RuleSet>,
    /// What stands on the device's input.
    pub xdp: Xdp,
    /// Routes beside those of the experiment.
    pub routes: Option<MoreRoutes>,
    /// What the device's ports merge and leave uncut.
    pub offloads: Offloads,
    /// What the interfaces of the streams' ends do.
    pub ends: Offloads,
    /// Kernel threads receive.
    pub threaded: bool,
    /// Mask of processors for receive packet steering.
    pub rps: u64,
    /// The built-in router forwards, not the kernel.
    pub is_embedded: bool,
    /// The tester; without it, the fastest that this kernel has.
    pub tester: Option<TesterKind>,
    /// By which sockets the built-in router works; without it, the fastest that this kernel has.
    pub ports: Option<SocketKind>,
    /// Control words of the built-in router.
    pub router_words: BTreeMap<String, String>,
}

/// Offloads of an interface, which change what a frame is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offloads {
    /// Frames that are received are merged (GRO).
    pub gro: bool,
    /// The stack makes large packets, which are cut before they are sent (GSO).
    pub gso: bool,
    /// Large packets of TCP are left to the interface to be cut (TSO).
    pub tso: bool,
}

impl Offloads {
    /// Whether a frame is a packet, neither merged nor uncut.
    pub fn is_none(self) -> bool {
        !self.gro && !self.gso && !self.tso
    }
}

/// How frames are made and received on veth, from the fastest to the slowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TesterKind {
    /// XDP live frames put into the device's stack, as if its port had received them; received by an
    /// XDP program.
    Inject,
    /// XDP live frames sent over a veth pair, received by an XDP program.
    Live,
    /// AF_XDP sockets.
    AfXdp,
    /// Packet sockets, 64 frames in each system call, past the queueing discipline.
    AfPacket,
    /// The set-up that nobody thought about, to be measured beside the others: packet sockets, veth
    /// pairs with the kernel's own settings, no XDP program anywhere.
    Naive,
}

impl TesterKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Inject, Self::Live, Self::AfXdp, Self::AfPacket, Self::Naive];

    /// The name in experiment files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Inject => "inject",
            Self::Live => "live",
            Self::AfXdp => "af_xdp",
            Self::AfPacket => "af_packet",
            Self::Naive => "naive",
        }
    }
}

/// The XDP program on the device's input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Xdp {
    /// All frames go to the kernel's stack.
    #[default]
    None,
    /// fwdlab's forwarder: bpf_fib_lookup and redirect.
    Forward,
    /// The program of an object file; a relative path starts at the experiment file.
    File(PathBuf),
}

/// Routes of a variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MoreRoutes {
    /// So many for each family, as `generate` in `[routes]`.
    Generate(u32),
    /// A file, as `file` in `[routes]`.
    File(PathBuf),
}

impl LinuxSettings {
    /// The settings of a variant that was read for the linux device. Words that are none, which a
    /// validated experiment does not have, are left out.
    pub fn of(variant: &Variant) -> Self {
        let mut settings = Self::default();
        for (word, value) in &variant.set {
            let _ = settings.set(word, value);
        }
        settings
    }

    /// Whether it changes how frames come in by the device's port, which [`TesterKind::Inject`]
    /// goes past.
    pub fn concerns_input(&self) -> bool {
        let Self { xdp, offloads, threaded, rps, is_embedded, .. } = self;
        *xdp != Xdp::None || offloads.gro || *threaded || *rps != 0 || *is_embedded
    }

    fn set(&mut self, word: &str, value: &str) -> Result<(), Complaint> {
        match word {
            NFTABLES => self.rules = Some(RuleSet::named(value)),
            XDP => {
                self.xdp = match value {
                    "none" => Xdp::None,
                    "forward" => Xdp::Forward,
                    file if file.ends_with(".o") => Xdp::File(PathBuf::from(file)),
                    _ => return Err(wrong(value, "none, forward or an object file (*.o)")),
                }
            }
            ROUTES => {
                self.routes = Some(match value.parse::<u64>() {
                    Ok(count) if count > MOST_GENERATED => {
                        return Err(wrong(value, format!("at most {MOST_GENERATED} routes")));
                    }
                    Ok(count) => MoreRoutes::Generate(count as u32),
                    Err(_) => MoreRoutes::File(PathBuf::from(value)),
                });
            }
            GRO => self.offloads.gro = switch(value)?,
            GSO => self.offloads.gso = switch(value)?,
            TSO => self.offloads.tso = switch(value)?,
            word if word == ENDS[0] => self.ends.gro = switch(value)?,
            word if word == ENDS[1] => self.ends.gso = switch(value)?,
            word if word == ENDS[2] => self.ends.tso = switch(value)?,
            THREADED => self.threaded = switch(value)?,
            RPS => {
                let digits = value.trim_start_matches("0x");
                self.rps = u64::from_str_radix(digits, 16)
                    .map_err(|_| wrong(value, "a hexadecimal mask of processors such as 2"))?;
            }
            ROUTER => {
                self.is_embedded = match value {
                    "kernel" => false,
                    "fwdlab" => true,
                    _ => return Err(wrong(value, "kernel or fwdlab")),
                }
            }
            TESTER if value == AUTO => self.tester = None,
            TESTER => {
                let kind = TesterKind::ALL.into_iter().find(|kind| kind.name() == value);
                let known = "auto, inject, live, af_xdp, af_packet or naive";
                self.tester = Some(kind.ok_or_else(|| wrong(value, known))?);
            }
            PORTS if value == AUTO => self.ports = None,
            PORTS => {
                let kind = value.parse().map_err(|_| wrong(value, "auto, af_xdp or af_packet"))?;
                self.ports = Some(kind);
            }
            word if control::is_settable(word) => {
                self.router_words.insert(word.to_owned(), value.to_owned());
            }
            // Nothing would be written, and the sysctl stay what it was.
            _ if value.trim().is_empty() => {
                return Err(wrong(value, "the value that the sysctl is to have"));
            }
            _ => {
                self.sysctls.insert(word.to_owned(), value.to_owned());
            }
        }
        Ok(())
    }
}

/// Checks the name of a control word, for the device of this name. Which sysctls there are only the
/// kernel knows.
pub(super) fn check_word(word: &str, device: &str) -> Result<(), Complaint> {
    if control::is_of_router(word) {
        let own = control::check_name(word, device);
        return own.map_err(|own| match device {
            "linux" => Complaint {
                wanted: format!("{}, each beside router = \"fwdlab\"", own.wanted),
                ..own
            },
            _ => own,
        });
    }
    if WORDS.contains(&word) || word.starts_with("net.") || word.starts_with("net/") {
        return Ok(());
    }
    if word == LRO {
        return Err(Complaint::new(
            "veth pairs have no large receive offload",
            format!("{GRO} = \"on\", which merges frames of a stream in the kernel"),
            format!("write {GRO} instead"),
        ));
    }
    let remedy = match nearest(word, WORDS.into_iter().chain(settable_words())) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => "remove it".to_owned(),
    };
    Err(Complaint::new(
        format!("the {device} device has no such control word"),
        format!(
            "one of {}, a sysctl of a network namespace: net. ..., or a control word of fwdlab's \
             router: {}",
            WORDS.join(", "),
            settable_words().join(", "),
        ),
        remedy,
    ))
}

/// Checks the value of a known control word.
pub(super) fn check_value(word: &str, value: &str) -> Result<(), Complaint> {
    LinuxSettings::default().set(word, value)?;
    match control::is_settable(word) {
        true => control::check_value(word, value),
        false => Ok(()),
    }
}

/// The file that a control word names.
pub(super) fn names_file(word: &str, value: &str) -> Option<PathBuf> {
    let mut settings = LinuxSettings::default();
    settings.set(word, value).ok()?;
    match settings {
        LinuxSettings { rules: Some(rules), .. } => rules.file(),
        LinuxSettings { xdp: Xdp::File(file), .. } => Some(file),
        LinuxSettings { routes: Some(MoreRoutes::File(file)), .. } => Some(file),
        _ => None,
    }
}

/// Whether the word is a sysctl of the device's network namespace.
pub(super) fn is_sysctl(word: &str) -> bool {
    !WORDS.contains(&word) && !control::is_settable(word)
}

/// Whether the word is one of the built-in router's, or says how its frames come and go.
pub(super) fn is_router_word(word: &str) -> bool {
    control::is_settable(word) || word == PORTS
}

fn switch(value: &str) -> Result<bool, Complaint> {
    match value {
        "on" | "true" | "1" => Ok(true),
        "off" | "false" | "0" => Ok(false),
        _ => Err(wrong(value, "on or off")),
    }
}

fn wrong(value: &str, wanted: impl Into<String>) -> Complaint {
    Complaint::new(format!("{value:?} does not fit this control word"), wanted, "correct the value")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(pairs: &[(&str, &str)]) -> LinuxSettings {
        let set = pairs.iter().map(|(word, value)| ((*word).to_owned(), (*value).to_owned()));
        LinuxSettings::of(&Variant {
            name: "v".to_owned(),
            set: set.collect(),
            own: Default::default(),
        })
    }

    #[test]
    fn words_become_settings() {
        let found = settings(&[
            ("net.ipv4.conf.all.rp_filter", "1"),
            ("nftables", "table inet f { }"),
            ("xdp", "forward"),
            ("routes", "1000"),
            ("rps", "2"),
            ("gro", "on"),
        ]);
        assert_eq!(found.sysctls.len(), 1);
        assert_eq!(found.rules, Some(RuleSet::Inline("table inet f { }".to_owned())));
        assert_eq!(found.xdp, Xdp::Forward);
        assert_eq!(found.routes, Some(MoreRoutes::Generate(1000)));
        assert_eq!((found.rps, found.offloads.gro, found.threaded), (2, true, false));
        assert_eq!((found.tester, found.ports), (None, None));
        for count in ["999999999", "99999999999"] {
            let refused = check_value("routes", count).expect_err("too many");
            assert!(refused.wanted.contains("4000000"), "{}", refused.wanted);
        }
        let found = settings(&[("tso", "on"), ("ends.gso", "on")]);
        assert_eq!(found.offloads, Offloads { tso: true, ..Offloads::default() });
        assert_eq!(found.ends, Offloads { gso: true, ..Offloads::default() });
        let found = settings(&[("tester", "af_packet"), ("ports", "af_xdp")]);
        assert_eq!(found.tester, Some(TesterKind::AfPacket));
        assert_eq!(found.ports, Some(SocketKind::Xdp));
        let file = settings(&[("nftables", "rules.nft")]).rules;
        assert_eq!(file, Some(RuleSet::File(PathBuf::from("rules.nft"))));
    }

    #[test]
    fn every_word_of_the_router_goes_to_the_router() {
        for word in settable_words() {
            assert!(check_word(word, "linux").is_ok(), "{word}");
            assert!(check_value(word, "no such value").is_err(), "{word}");
            assert!(is_router_word(word), "{word}");
            let found = settings(&[(word, "1")]);
            assert!(found.sysctls.is_empty() && found.router_words[word] == "1", "{word}");
        }
        // Misspelt, it is no sysctl; and the device is called by its own name.
        for word in ["net.inet.ip.redirekt", "fwdlab.device.fastpath"] {
            let complaint = check_word(word, "builtin-veth").expect_err("misspelt");
            assert!(complaint.what.contains("builtin-veth"), "{}", complaint.what);
            assert!(complaint.remedy.contains("did you mean"), "{}", complaint.remedy);
        }
        // What is named is refused where the kernel forwards.
        for (device, is_said) in [("linux", true), ("builtin-veth", false)] {
            let complaint = check_word("fwdlab.device.buffer_frames", device).expect_err("none");
            let wanted = complaint.wanted;
            assert_eq!(wanted.contains("beside router = \"fwdlab\""), is_said, "{wanted}");
        }
        let complaint = check_word("nonsense", "builtin-veth").expect_err("none of any");
        assert!(complaint.what.contains("builtin-veth"), "{}", complaint.what);
    }

    #[test]
    fn wrong_words_and_values_are_refused() {
        assert!(check_word("net.ipv4.ip_forward", "linux").is_ok());
        let complaint = check_word("nftable", "linux").expect_err("misspelt");
        assert!(complaint.remedy.contains("nftables"));
        let wrong = [
            ("xdp", "yes"),
            ("gro", "maybe"),
            ("rps", "x"),
            ("tester", "dpdk"),
            ("ports", "x"),
            ("net.ipv4.x", " "),
        ];
        let complaint = check_word("lro", "linux").expect_err("veth has none");
        assert!(complaint.remedy.contains("write gro"), "{}", complaint.remedy);
        for (word, value) in wrong {
            assert!(check_value(word, value).is_err(), "{word} = {value}");
        }
    }
}
