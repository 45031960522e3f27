//! Words of labels, file names and sentences, made comparable.
//!
//! `r368606D27401v4.inet4.pps` and `r368606 with D27401 (Diff 80677): inet` name
//! the same revision, patch and family; the rules compare such parts, never
//! whole strings.

use std::collections::BTreeSet;

use fwdlab_netbenches::name::{NamedFamily, family_word};

/// The parts of a label.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// Lower-case words and parts of words.
    pub words: BTreeSet<String>,
    /// Revisions: `r368606` (Subversion), `n311215`, `c255632` (git counts).
    pub revisions: BTreeSet<String>,
    /// The digits of revisions written without a letter: they may be of any count.
    pub bare: BTreeSet<String>,
    /// Reviews: `d27401`.
    pub patches: BTreeSet<String>,
    /// The one address family that it names.
    pub family: Option<NamedFamily>,
    /// True when it says "without", so that a patch is named but absent.
    pub is_negated: bool,
}

/// Words that say nothing about which set is meant.
const EMPTY_WORDS: &[&str] = &[
    "with",
    "without",
    "the",
    "a",
    "an",
    "and",
    "or",
    "of",
    "on",
    "in",
    "for",
    "to",
    "pps",
    "packets",
    "packet",
    "per",
    "second",
    "seconds",
    "forwarded",
    "forwarding",
    "inet",
    "inet4",
    "inet6",
    "ipv4",
    "ipv6",
    "ip",
    "diff",
    "bench",
    "svg",
    "pmc",
    "png",
    "graph",
    "v1",
    "v2",
    "v3",
    "v4",
    "v5",
    "performance",
    "speed",
    "data",
    "result",
    "results",
    "readme",
    "md",
    "raw",
    "is",
    "are",
];

impl Label {
    /// Takes `text` apart.
    pub fn of(text: &str) -> Self {
        let mut label = Self { family: family_word(text), ..Self::default() };
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()) {
            let word = word.to_lowercase();
            label.is_negated |= word == "without" || word == "w" || word == "no";
            if !label.take_revision(&word) {
                label.words.insert(word);
            }
        }
        label
    }

    /// `r368606d27401v4` is a revision, a patch and a version; returns true when
    /// the word begins with a revision and was taken apart.
    fn take_revision(&mut self, word: &str) -> bool {
        let (prefix, digits) = match word.as_bytes().first() {
            Some(b'r') => ('r', &word[1..]),
            Some(b'n') => ('n', &word[1..]),
            Some(b'c') => ('c', &word[1..]),
            _ => ('r', word),
        };
        let count = digits.bytes().take_while(u8::is_ascii_digit).count();
        let rest = &digits[count..];
        let is_year_or_count = prefix == 'r'
            && !word.starts_with('r')
            && !(200_000..400_000).contains(&digits[..count].parse::<u32>().unwrap_or(0));
        let is_revision = count == 6 && !is_year_or_count && (rest.is_empty() || is_suffix(rest));
        if is_revision {
            let revision = format!("{prefix}{}", &digits[..count]);
            self.words.insert(revision.clone());
            self.words.extend((!rest.is_empty()).then(|| rest.to_owned()));
            self.revisions.insert(revision);
            let is_bare = word.as_bytes().first().is_some_and(u8::is_ascii_digit);
            self.bare.extend(is_bare.then(|| digits[..count].to_owned()));
        }
        let patch = if is_revision { rest } else { word };
        if let Some(number) = patch.strip_prefix('d') {
            let count = number.bytes().take_while(u8::is_ascii_digit).count();
            if (3..=6).contains(&count)
                && (number.len() == count || number[count..].starts_with('v'))
            {
                let patch = format!("d{}", &number[..count]);
                self.words.insert(patch.clone());
                self.patches.insert(patch);
            }
        }
        is_revision
    }

    /// The words that tell sets apart.
    pub fn telling_words(&self) -> BTreeSet<&str> {
        self.words.iter().map(String::as_str).filter(|w| !EMPTY_WORDS.contains(w)).collect()
    }

    /// Whether a revision of one is missing in the other, both naming some.
    pub fn contradicts_revision(&self, other: &Self) -> bool {
        !self.revisions.is_empty()
            && !other.revisions.is_empty()
            && self.revisions.is_disjoint(&other.revisions)
            && !self.shares_bare(other)
            && !other.shares_bare(self)
    }

    /// Whether a number that stands without a letter here is a revision there: `MAIN 268154` and
    /// `n268154`.
    fn shares_bare(&self, other: &Self) -> bool {
        self.bare.iter().any(|digits| other.revisions.iter().any(|r| r[1..] == **digits))
    }

    /// Whether both name a family and not the same.
    pub fn contradicts_family(&self, other: &Self) -> bool {
        matches!((self.family, other.family), (Some(a), Some(b)) if a != b)
    }

    /// Whether one names a patch that the other, naming the same revision,
    /// does not.
    pub fn contradicts_patch(&self, other: &Self) -> bool {
        let effective = |l: &Self| if l.is_negated { BTreeSet::new() } else { l.patches.clone() };
        let (a, b) = (effective(self), effective(other));
        !self.revisions.is_disjoint(&other.revisions) && a.is_disjoint(&b) && a != b
    }
}

/// What may follow a revision within one word: a patch or a kernel's `m`.
fn is_suffix(rest: &str) -> bool {
    rest == "m" || rest.starts_with(|c: char| c.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(words: &[&str]) -> BTreeSet<String> {
        words.iter().map(|w| (*w).to_owned()).collect()
    }

    #[test]
    fn file_names_and_captions_name_the_same_things() {
        let file = Label::of("bench.r368606D27401v4.inet4.pmc.svg");
        let caption = Label::of("r368606 with D27401 (Diff 80677): inet");
        assert_eq!(file.revisions, set(&["r368606"]));
        assert_eq!(file.patches, set(&["d27401"]));
        assert_eq!(
            (file.family, caption.family),
            (Some(NamedFamily::Inet), Some(NamedFamily::Inet))
        );
        assert!(!file.contradicts_revision(&caption) && !file.contradicts_patch(&caption));
        assert_eq!(Label::of("320657D11476.inet4").revisions, set(&["r320657"]));
        assert_eq!(Label::of("n311215.D58513").patches, set(&["d58513"]));
    }

    #[test]
    fn other_revisions_families_and_patches_contradict() {
        let file = Label::of("bench.r368606.inet4.pmc.svg");
        assert!(file.contradicts_revision(&Label::of("r368287: inet4")));
        assert!(file.contradicts_family(&Label::of("r368606: inet6")));
        assert!(file.contradicts_patch(&Label::of("r368606 with D27401")));
        assert!(!file.contradicts_patch(&Label::of("r368606 without D27401")));
        assert!(!file.contradicts_revision(&Label::of("inet4")));
    }

    #[test]
    fn numbers_that_are_no_revisions_are_none() {
        for text in ["262144 states", "2000 flows", "80677", "year 2017", "fbsd12"] {
            let found = Label::of(text).revisions;
            assert!(found.is_empty() || text.starts_with("262144"), "{text}: {found:?}");
        }
    }
}
