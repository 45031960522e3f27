//! What an experiment adds to a FreeBSD kernel's command line: settings `NAME=VALUE`, as in
//! loader.conf(5), and options (`-v`). A kernel takes any word in silence, so each is checked before
//! it boots and read back from it.

use fwdlab_kernel::freebsd::FLAGS;

/// Longest name and value that a kernel keeps (`KENV_MNAMELEN`, `KENV_MVALLEN`).
const LONGEST: usize = 127;

/// What belongs to the lab: where the task lies, and the port over which its results leave.
const RESERVED: [&str; 2] = ["vfs.root.mountfrom", "hint.uart.1."];

/// The checked words of a key `cmdline`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tunables {
    /// Names and values, in the order of the key.
    pub(super) settings: Vec<(String, String)>,
    /// Whether there are options.
    pub(super) has_options: bool,
}

impl Tunables {
    /// Of the key's text, or which word is wrong and what to do about it.
    pub(super) fn of(cmdline: &str) -> Result<Self, String> {
        let mut tunables = Self::default();
        for word in cmdline.split_whitespace() {
            let refused = |why: &str| Err(format!("{word:?} {why}"));
            if let Some(letters) = word.strip_prefix('-') {
                let is_known = |letter| FLAGS.iter().any(|flag| flag.1 == letter);
                if letters.is_empty() || !letters.chars().all(is_known) {
                    let known: String = FLAGS.iter().map(|flag| flag.1).collect();
                    return refused(&format!("is no option of the kernel; there are: -{known}"));
                }
                tunables.has_options = true;
                continue;
            }
            let Some((name, value)) = word.split_once('=') else {
                return refused("is no setting; write NAME=VALUE, as in loader.conf(5)");
            };
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
            if name.is_empty() || name.len() > LONGEST || !name.chars().all(is_plain) {
                return refused("has no name of a setting before its =");
            }
            if value.contains(['"', '\'', ',']) || value.len() > LONGEST || value.is_empty() {
                return refused(
                    "has a value that the kernel would not take whole: write it without quotation \
                     marks, commas and spaces, in 127 letters at most",
                );
            }
            if RESERVED.iter().any(|own| name.starts_with(own)) {
                return refused(
                    "is set by fwdlab itself; leave it out (another place of the root is fwdlab.root)",
                );
            }
            if tunables.settings.iter().any(|(other, _)| other == name) {
                return refused("is there twice; keep one of them");
            }
            tunables.settings.push((name.to_owned(), value.to_owned()));
        }
        Ok(tunables)
    }
}

/// The words of `all`, each a setting, that `more` does not set another way.
pub(super) fn besides(all: &str, more: &str) -> String {
    let name =
        |word: &str| word.split_once('=').map_or(word.to_owned(), |(name, _)| name.to_owned());
    let own: Vec<String> = more.split_whitespace().map(name).collect();
    let kept = all.split_whitespace().filter(|word| !own.contains(&name(word)));
    kept.chain(more.split_whitespace()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_and_options_are_told_from_what_the_kernel_would_take_in_silence() {
        let good =
            Tunables::of(" net.inet.ip.fw.default_to_accept=0 -v kern.hz=100 ").expect("words");
        let pairs: Vec<_> = good.settings.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        assert_eq!(pairs, [("net.inet.ip.fw.default_to_accept", "0"), ("kern.hz", "100")]);
        assert!(good.has_options && Tunables::of("") == Ok(Tunables::default()));
        let long = format!("a={}", "x".repeat(128));
        for (words, why) in [
            ("kern.hz=100 mitigations", "\"mitigations\" is no setting; write NAME=VALUE"),
            ("-x", "no option of the kernel"),
            ("-", "no option"),
            ("=1", "no name"),
            ("kern hz=1", "\"kern\" is no setting"),
            ("a=\"b\"", "without quotation marks"),
            ("a=b,c", "commas"),
            ("a=", "take whole"),
            (&long, "127 letters"),
            ("vfs.root.mountfrom=ufs:/dev/md0", "set by fwdlab itself"),
            ("hint.uart.1.irq=4", "set by fwdlab itself"),
            ("kern.hz=1 kern.hz=2", "twice"),
        ] {
            let told = Tunables::of(words).expect_err(words);
            assert!(told.contains(why), "{words}: {told}");
        }
    }

    #[test]
    fn what_an_experiment_sets_stands_in_place_of_our_own() {
        assert_eq!(besides("a=1 b=2  c=3", " b=4 -v"), "a=1 c=3 b=4 -v");
        assert_eq!(besides("a=1", ""), "a=1");
    }
}
