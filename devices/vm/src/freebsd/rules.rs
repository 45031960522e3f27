//! Rule sets of FreeBSD's packet filters, as variants.

/// Where our files lie in the guest.
pub(super) const PLACE: &str = "/tmp/fwdlab";

/// A packet filter of FreeBSD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rules {
    Pf,
    Ipfw,
}

/// The control words that hold rules of FreeBSD's filters.
pub(crate) const WORDS: [&str; 2] = ["pf", "ipfw"];

impl Rules {
    /// The filter that a control word stands for.
    pub(crate) fn of(word: &str) -> Option<Self> {
        match word {
            "pf" => Some(Self::Pf),
            "ipfw" => Some(Self::Ipfw),
            _ => None,
        }
    }

    /// Its control word, which is also its module.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Pf => "pf",
            Self::Ipfw => "ipfw",
        }
    }

    /// The word by which rules translate addresses, if they do.
    pub(super) fn translation(self, rules: &str) -> Option<&'static str> {
        let known: &[&'static str] = match self {
            Self::Pf => &["nat", "rdr", "binat", "nat-to", "rdr-to", "binat-to"],
            Self::Ipfw => &["nat", "nptv6", "nat64lsn", "nat64stl", "nat64clat"],
        };
        let bare = rules.lines().map(|line| line.split('#').next().unwrap_or_default());
        let mut words = bare.flat_map(str::split_whitespace);
        words.find_map(|word| known.iter().copied().find(|known| *known == word))
    }

    /// Command that loads its module; what its sysctls are is known from then on.
    pub(super) fn module(self) -> String {
        format!("load_module {}", self.word())
    }

    /// Commands that load the rules, which lie in a file.
    pub(super) fn load(self) -> Vec<String> {
        let file = format!("{PLACE}/rules");
        match self {
            Self::Pf => vec![
                // Without its list of systems, pfctl loads rules only beside what is there: nothing.
                "[ -f /etc/pf.os ] && o= || o=-m".to_owned(),
                format!(
                    "try 'pf refuses the rules; pfctl -n -f FILE on a FreeBSD host says the same' pfctl -q $o -f {file}"
                ),
                "try 'pf cannot be enabled' pfctl -q -e".to_owned(),
            ],
            Self::Ipfw => vec![format!(
                "try 'ipfw refuses the rules; ipfw -n FILE on a FreeBSD host says the same' ipfw -q {file}"
            )],
        }
    }

    /// Commands for the table of states: how many there are, all forgotten, how many there may be, how many
    /// were refused since the boot.
    pub(super) fn states(self) -> [&'static str; 4] {
        match self {
            Self::Pf => [
                "pfctl -q -s states | wc -l",
                "pfctl -q -F states",
                "pfctl -q -s memory | awk '$1 == \"states\" { print $4 }'",
                "pfctl -q -s info | awk '$1 ~ /^(memory|state-limit)$/ { n += $2 } END { print n + 0 }'",
            ],
            Self::Ipfw => [
                "ipfw -D list 2>/dev/null | grep -c ' STATE '",
                // What is forgotten is given back once a second.
                "ipfw -q -D delete 1-65534; sleep 2",
                "sysctl -n net.inet.ip.fw.dyn_max",
                "sysctl -n vm.uma.IPFW_dynamic_states_data.stats.fails",
            ],
        }
    }

    /// Commands that read the rules back where nobody set any: without its module there are none.
    pub(super) fn ask(self) -> [String; 2] {
        let word = self.word();
        [
            format!("kldstat -q -m {word} || prove {word} true"),
            format!("kldstat -q -m {word} && {{ {}; }}", self.prove().join("; ")),
        ]
    }

    /// Commands that read the rules back; of ipfw also its last one, which nobody wrote.
    pub(super) fn prove(self) -> &'static [&'static str] {
        match self {
            Self::Pf => &["prove pf sh -c \"pfctl -q -s rules 2>/dev/null\""],
            Self::Ipfw => &[
                "prove ipfw sh -c \"ipfw list 2>/dev/null | grep -v ^65535\"",
                "prove 'ipfw closing rule' sh -c \"ipfw list 2>/dev/null | grep ^65535 | tail -n 1\"",
            ],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_translate_are_known_by_their_words() {
        for (filter, rules, wanted) in [
            (Rules::Pf, "pass all\n", None),
            (Rules::Pf, "# nat on em0\npass in proto udp to port natd keep state\n", None),
            (Rules::Pf, "nat on vtnet1 from any to any -> (vtnet1)\npass all\n", Some("nat")),
            (Rules::Pf, "pass out on vtnet1 nat-to 198.19.0.1\n", Some("nat-to")),
            (Rules::Ipfw, "add 100 allow ip from any to any\n", None),
            (
                Rules::Ipfw,
                "nat 1 config ip 198.19.0.1\nadd 50 nat 1 ip from any to any\n",
                Some("nat"),
            ),
        ] {
            assert_eq!(filter.translation(rules), wanted, "{rules}");
        }
    }
}
