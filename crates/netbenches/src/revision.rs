//! Revisions as people write them in file names: `312205`, `r368606D27401v4`, `n311215`, `c255412`,
//! `11.1BETA1`, `2026-11-01`, a git hash.

use std::cmp::Ordering;

/// What kind of number orders revisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Line {
    /// A release: `11.1`.
    Release,
    /// A Subversion revision.
    Svn,
    /// The number of commits before it, as FreeBSD counts since git.
    Commits,
    /// A day.
    Day,
    /// A git hash, which has no order.
    Hash,
}

/// A revision, as written and as ordered.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Revision {
    /// As it stands in the name.
    pub text: String,
    /// What kind of number it is.
    pub line: Line,
    /// The number or numbers.
    pub numbers: Vec<u64>,
    /// What is written behind the number: a patch, a branch; empty for none.
    pub patch: String,
}

impl Revision {
    /// Reads a whole name; `None` when it is no revision.
    pub fn parse(name: &str) -> Option<Self> {
        day(name)
            .or_else(|| release(name))
            .or_else(|| counted(name))
            .or_else(|| hash(name))
            .map(|(line, numbers, patch)| Self { text: name.to_owned(), line, numbers, patch })
    }

    /// The last revision among the parts of a directory's name: `fbsd13-r368287.D27401v2`.
    pub fn within(name: &str) -> Option<Self> {
        if let Some(whole) = Self::parse(name).filter(|r| r.line != Line::Release) {
            return Some(whole);
        }
        let parts: Vec<&str> = name.split(['.', '-', '_', ' ']).collect();
        let found = parts.iter().enumerate().rev().find_map(|(i, part)| {
            let own = Self::parse(part).filter(|r| r.line != Line::Release)?;
            Some((i, own))
        });
        let Some((at, mut own)) = found else {
            let plain = name.trim_start_matches(|c: char| !c.is_ascii_digit());
            return Self::parse(plain)
                .filter(|own| own.line == Line::Release)
                .map(|own| Self { text: name.to_owned(), ..own });
        };
        if own.patch.is_empty() {
            let is_patch = |part: &&&str| {
                part.strip_prefix('D').is_some_and(|n| n.starts_with(|c: char| c.is_ascii_digit()))
            };
            own.patch =
                parts[at + 1..].iter().find(is_patch).map_or(String::new(), |p| (*p).into());
        }
        Some(own)
    }

    /// True for a revision of the line itself, without a patch.
    pub fn is_plain(&self) -> bool {
        self.patch.is_empty()
    }

    /// The order of two revisions; `None` between kinds that have none.
    pub fn order(&self, other: &Self) -> Option<Ordering> {
        let by_age = |line| matches!(line, Line::Svn | Line::Commits);
        if self.line == Line::Hash || other.line == Line::Hash {
            return None;
        }
        if self.line == other.line {
            return Some(self.place().cmp(&other.place()));
        }
        // FreeBSD left Subversion for git
        (by_age(self.line) && by_age(other.line)).then(|| self.line.cmp(&other.line))
    }

    /// What orders it within its line: a day is before all times of it, and what comes before a release before it
    /// (`6.12-rc2`, `6.12-rc10`, `6.12`).
    fn place(&self) -> (Vec<u64>, u8, u64) {
        match self.line {
            Line::Day => (self.numbers.iter().map(|own| to_the_second(*own)).collect(), 0, 0),
            Line::Release => {
                let name = self.patch.trim_end_matches(|c: char| c.is_ascii_digit());
                let stage = match name {
                    "ALPHA" => 0,
                    "BETA" => 1,
                    "RC" | "rc" => 2,
                    _ => 3,
                };
                (self.numbers.clone(), stage, self.patch[name.len()..].parse().unwrap_or(0))
            }
            _ => (self.numbers.clone(), 0, 0),
        }
    }

    /// True when both name the same state, written as it may be: `r312205` and `312205`.
    pub fn is_same(&self, other: &Self) -> bool {
        self.line == other.line
            && self.patch == other.patch
            && (self.numbers == other.numbers)
            && (self.line != Line::Hash || self.text == other.text)
    }
}

type Parts = (Line, Vec<u64>, String);

/// The digits of a day or a time of it as fourteen: `20261101` is `20261101000000`.
fn to_the_second(digits: u64) -> u64 {
    const LEAST: u64 = 20_000_101_000_000;
    let mut digits = digits;
    while (1..LEAST).contains(&digits) {
        digits *= 10;
    }
    digits
}

/// `312205`, `r368606D27401v4`, `n311215`, `c255412`.
fn counted(name: &str) -> Option<Parts> {
    let (line, rest) = match name.as_bytes().first()? {
        b'r' => (Line::Svn, &name[1..]),
        b'n' | b'c' => (Line::Commits, &name[1..]),
        b'0'..=b'9' => (Line::Svn, name),
        _ => return None,
    };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let is_long_enough = (5..=7).contains(&digits);
    let number = rest.get(..digits).filter(|_| is_long_enough)?.parse().ok()?;
    // a hash may begin with digits
    let patch = &rest[digits..];
    let is_hash = name.len() >= 10 && name.bytes().all(is_of_a_hash);
    (!is_hash).then(|| (line, vec![number], patch.trim_start_matches(['.', '-', '+']).to_owned()))
}

/// `2026-11-01` or `20261101`, with anything of a time behind it.
fn day(name: &str) -> Option<Parts> {
    let digits: String = name.chars().filter(char::is_ascii_digit).collect();
    let is_day_text = name.chars().all(|c| c.is_ascii_digit() || "-_:TZ. ".contains(c));
    if !is_day_text || !matches!(digits.len(), 8 | 12 | 14) || !digits.starts_with("20") {
        return None;
    }
    let number = |from: usize, to: usize| digits.get(from..to)?.parse::<u64>().ok();
    let (month, day) = (number(4, 6)?, number(6, 8)?);
    let is_day = (1..=12).contains(&month) && (1..=31).contains(&day);
    is_day.then(|| (Line::Day, vec![digits.parse().unwrap_or(0)], String::new()))
}

/// `11.0`, `11.1BETA1`, `6.12.3`.
fn release(name: &str) -> Option<Parts> {
    let name = name.strip_prefix('v').unwrap_or(name);
    let plain: usize = name.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
    let (numbers, rest) = name.split_at(plain);
    let numbers = numbers.trim_end_matches('.');
    let parts: Option<Vec<u64>> =
        numbers.split('.').map(|n| n.parse().ok().filter(|n| *n < 10_000)).collect();
    let parts = parts.filter(|parts| (2..=4).contains(&parts.len()))?;
    let rest = rest.trim_start_matches(['-', '.']);
    let is_stage = ["", "BETA", "RC", "ALPHA", "rc", "REL"].iter().any(|stage| {
        let number = rest.strip_prefix(stage);
        number.is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()) || *stage == "REL")
    });
    let patch = if rest.starts_with("REL") { "" } else { rest };
    is_stage.then(|| (Line::Release, parts, patch.to_owned()))
}

/// Seven to forty hexadecimal digits, of both sorts.
fn hash(name: &str) -> Option<Parts> {
    let is_hash = (7..=40).contains(&name.len())
        && name.bytes().all(is_of_a_hash)
        && name.bytes().any(|b| b.is_ascii_digit())
        && name.bytes().any(|b| b.is_ascii_alphabetic());
    is_hash.then(|| (Line::Hash, Vec::new(), String::new()))
}

fn is_of_a_hash(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str) -> Option<(Line, Vec<u64>, String)> {
        Revision::parse(name).map(|r| (r.line, r.numbers, r.patch))
    }

    #[test]
    fn reads_what_stands_in_names() {
        let plain = |line, number| Some((line, vec![number], String::new()));
        assert_eq!(read("312205"), plain(Line::Svn, 312_205));
        assert_eq!(read("r312205"), plain(Line::Svn, 312_205));
        assert_eq!(read("n311215"), plain(Line::Commits, 311_215));
        assert_eq!(read("c255412"), plain(Line::Commits, 255_412));
        assert_eq!(read("r368606D27401v4"), Some((Line::Svn, vec![368_606], "D27401v4".into())));
        assert_eq!(read("320657D11476"), Some((Line::Svn, vec![320_657], "D11476".into())));
        assert_eq!(read("318516current"), Some((Line::Svn, vec![318_516], "current".into())));
        assert_eq!(read("11.1BETA1"), Some((Line::Release, vec![11, 1], "BETA1".into())));
        assert_eq!(read("2026-11-01"), plain(Line::Day, 20_261_101));
        assert_eq!(read("0ec6be0"), Some((Line::Hash, vec![], String::new())));
        for other in ["forwarding", "inet4", "2048", "pf-statefull", "default", "-1", "", "ünïcode"]
        {
            assert_eq!(read(other), None, "{other}");
        }
    }

    #[test]
    fn finds_the_revision_in_the_name_of_a_directory() {
        let within = |name: &str| Revision::within(name).map(|r| (r.text, r.patch));
        assert_eq!(within("fbsd13-r368287.D27401v2"), Some(("r368287".into(), "D27401v2".into())));
        assert_eq!(
            within("fbsd12-stable.r354440.BSDRP.1.96"),
            Some(("r354440".into(), String::new()))
        );
        assert_eq!(within("fbsd11.0"), Some(("fbsd11.0".into(), String::new())));
        assert_eq!(within("fbsd.2016"), None);
    }

    #[test]
    fn orders_numbers_as_numbers_and_git_after_subversion() {
        let of = |name: &str| Revision::parse(name).unwrap();
        assert_eq!(of("99999").order(&of("r312205")), Some(Ordering::Less));
        assert_eq!(of("r368606").order(&of("n255412")), Some(Ordering::Less));
        assert_eq!(of("11.0").order(&of("11.10")), Some(Ordering::Less));
        assert_eq!(of("0ec6be0").order(&of("r368606")), None);
        assert!(of("r312205").is_same(&of("312205")));
    }

    /// Names decided: 6.12 before its candidates, the tenth of them before the second; and all days before all times.
    #[test]
    fn orders_what_leads_to_a_release_before_it_and_days_among_times() {
        let lines = [
            &["v6.11", "v6.12-rc1", "v6.12-rc2", "v6.12-rc10", "v6.12", "v6.12.1"][..],
            &["11.1ALPHA2", "11.1BETA1", "11.1BETA3", "11.1RC1", "11.1"],
            &["20240101", "202401011200", "2024-01-02", "2024-01-02 00:00:01", "2024-01-03"],
        ];
        for names in lines {
            let read: Vec<Revision> =
                names.iter().map(|own| Revision::parse(own).unwrap()).collect();
            for (at, own) in read.iter().enumerate() {
                for (its, other) in read.iter().enumerate() {
                    assert_eq!(own.order(other), Some(at.cmp(&its)), "{own:?} {other:?}");
                }
            }
        }
    }
}
