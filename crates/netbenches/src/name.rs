//! Names of the files in a `RAW/` directory: `bench.<IMAGE>.<CFG>.<PKTGEN>.<ITER>.<KIND>`.
//!
//! IMAGE and CFG may hold dots, and any part may be empty and then is absent,
//! so the parts before the iteration cannot be told apart by the name alone:
//! together they are the [`LogName::prefix`], which is also the name of the
//! `.pps` file. `.info` files say which part is which.

/// What a file of a run holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LogKind {
    /// What pkt-gen wrote on the receiving side.
    Receiver,
    /// What a pkt-gen wrote on the sending side; the text tells further
    /// senders apart (empty, `_2`, `_gen2`, `_gen2_2`).
    Sender(String),
}

/// The parts of a log's file name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogName {
    /// What stands between `bench.` and the iteration.
    pub prefix: String,
    /// Number of the run.
    pub iteration: u32,
    /// Which side wrote it.
    pub kind: LogKind,
}

impl LogName {
    /// Reads a file name (no directories); `None` for any other file.
    pub fn parse(name: &str) -> Option<Self> {
        let rest = name.strip_prefix("bench.")?;
        let (rest, extension) = rest.rsplit_once('.')?;
        let kind = match extension.strip_prefix("sender") {
            Some(which) if which.is_empty() || which.starts_with('_') => {
                LogKind::Sender(which.to_owned())
            }
            _ if extension == "receiver" => LogKind::Receiver,
            _ => return None,
        };
        let (prefix, iteration) = match rest.rsplit_once('.') {
            Some((prefix, iteration)) => (prefix, iteration),
            None => ("", rest),
        };
        if iteration.is_empty() || !iteration.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        Some(Self { prefix: prefix.to_owned(), iteration: iteration.parse().ok()?, kind })
    }
}

/// What a name says of an address family: `inet4`, `inet6`, `IPv4`, `v6`, ...
/// Only whole words count, so that `r368606` is not an inet6.
pub fn family_word(text: &str) -> Option<NamedFamily> {
    let mut found = None;
    for word in text.split(|c: char| !c.is_ascii_alphanumeric()) {
        let named = match word.to_ascii_lowercase().as_str() {
            "inet" | "inet4" | "ipv4" | "ip4" | "v4" => NamedFamily::Inet,
            "inet6" | "ipv6" | "ip6" | "v6" => NamedFamily::Inet6,
            _ => continue,
        };
        match found {
            None => found = Some(named),
            Some(before) if before != named => return None, // names both
            Some(_) => {}
        }
    }
    found
}

/// An address family named in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NamedFamily {
    /// IPv4.
    Inet,
    /// IPv6.
    Inet6,
}

impl NamedFamily {
    /// `IPv4` or `IPv6`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Inet => "IPv4",
            Self::Inet6 => "IPv6",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(name: &str) -> Option<(String, u32, LogKind)> {
        LogName::parse(name).map(|n| (n.prefix, n.iteration, n.kind))
    }

    #[test]
    fn parts_may_be_absent_or_hold_dots() {
        let receiver = |p: &str, i| Some((p.to_owned(), i, LogKind::Receiver));
        assert_eq!(parsed("bench.r368606.inet4.5.receiver"), receiver("r368606.inet4", 5));
        assert_eq!(
            parsed("bench.fbsd12.0.pf-statefull.inet4.10.receiver"),
            receiver("fbsd12.0.pf-statefull.inet4", 10)
        );
        assert_eq!(parsed("bench.1.receiver"), receiver("", 1));
    }

    #[test]
    fn tells_further_senders_apart() {
        for (extension, which) in [
            ("sender", ""),
            ("sender_2", "_2"),
            ("sender_gen2", "_gen2"),
            ("sender_gen2_2", "_gen2_2"),
        ] {
            let name = format!("bench.a.1.{extension}");
            assert_eq!(parsed(&name).map(|n| n.2), Some(LogKind::Sender(which.into())));
        }
    }

    #[test]
    fn other_files_are_not_logs() {
        for name in [
            "bench.r1.inet4.info",
            "bench.r1.inet4.1.pmc.graph",
            "bench.r1.inet4.x.receiver",
            "bench.r1.99999999999999999999.receiver",
            "r1.inet4.pps",
            "bench.",
            "bench.1.senders",
        ] {
            assert_eq!(parsed(name), None, "{name}");
        }
    }

    #[test]
    fn a_family_is_a_whole_word() {
        assert_eq!(family_word("r368606: inet packets"), Some(NamedFamily::Inet));
        assert_eq!(family_word("r320657, inet6, packets"), Some(NamedFamily::Inet6));
        assert_eq!(family_word("bench.r368606D27401v4.inet4.pmc.svg"), Some(NamedFamily::Inet));
        assert_eq!(family_word("r368606"), None);
        assert_eq!(family_word("IPv6 is faster than IPv4"), None);
    }
}
