//! Control words: FreeBSD's sysctl names for the lookup framework, as text to set and read.
//!
//! | word | value |
//! |---|---|
//! | `net.route.algo.inet.algo`, `net.route.algo.inet6.algo` | `auto` or the name of an algorithm; reads as the name of the algorithm that serves the table |
//! | `net.route.algo.inet.algo_list`, `...inet6.algo_list` | names of all algorithms; read only |
//! | `net.route.algo.bucket_time_ms` | how long changes are collected before a rebuild |
//! | `net.route.algo.bucket_change_threshold_rate` | routes per second at which a rebuild waits for another bucket |
//! | `net.route.algo.fib_max_sync_delay_ms` | how long a change may wait at most |
//! | `net.route.algo.debug_level` | messages up to this syslog level are told |

use std::time::Duration;

use crate::error::FibError;
use crate::family::{Family, Inet, Inet6};
use crate::fib::{Choice, Fib, SyncPolicy};
use crate::fibs::Fibs;
use crate::registry::Registry;

/// What all words begin with.
const PREFIX: &str = "net.route.algo.";

/// A control word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Word {
    /// `net.route.algo.inet.algo`
    InetAlgo,
    /// `net.route.algo.inet6.algo`
    Inet6Algo,
    /// `net.route.algo.inet.algo_list`
    InetAlgoList,
    /// `net.route.algo.inet6.algo_list`
    Inet6AlgoList,
    /// `net.route.algo.bucket_time_ms`
    BucketTimeMs,
    /// `net.route.algo.bucket_change_threshold_rate`
    BucketChangeThresholdRate,
    /// `net.route.algo.fib_max_sync_delay_ms`
    FibMaxSyncDelayMs,
    /// `net.route.algo.debug_level`
    DebugLevel,
}

/// Why a control word cannot be read or set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// There is no such word.
    #[error("unknown control word `{name}`, known are: {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The words that there are.
        known: String,
    },
    /// The word can only be read.
    #[error("control word {name} is read only")]
    ReadOnly {
        /// Its name.
        name: &'static str,
    },
    /// The value is no number in range.
    #[error("{name}: `{value}` is not a number from {least} to {most}")]
    Number {
        /// The word.
        name: &'static str,
        /// What was given.
        value: String,
        /// Smallest value.
        least: u32,
        /// Largest value.
        most: u32,
    },
    /// There is no such table.
    #[error("no fib {fib}, there are {count}")]
    NoFib {
        /// Its number.
        fib: u32,
        /// How many there are.
        count: usize,
    },
    /// The algorithm is unknown or cannot serve the table.
    #[error("{name}: {error}")]
    Fib {
        /// The word.
        name: &'static str,
        /// What went wrong.
        error: FibError,
    },
}

impl Word {
    /// All words, in the order of their listing.
    pub const ALL: [Self; 8] = [
        Self::InetAlgo,
        Self::InetAlgoList,
        Self::Inet6Algo,
        Self::Inet6AlgoList,
        Self::BucketTimeMs,
        Self::BucketChangeThresholdRate,
        Self::FibMaxSyncDelayMs,
        Self::DebugLevel,
    ];

    /// The word's full name.
    pub fn name(self) -> &'static str {
        match self {
            Self::InetAlgo => "net.route.algo.inet.algo",
            Self::Inet6Algo => "net.route.algo.inet6.algo",
            Self::InetAlgoList => "net.route.algo.inet.algo_list",
            Self::Inet6AlgoList => "net.route.algo.inet6.algo_list",
            Self::BucketTimeMs => "net.route.algo.bucket_time_ms",
            Self::BucketChangeThresholdRate => "net.route.algo.bucket_change_threshold_rate",
            Self::FibMaxSyncDelayMs => "net.route.algo.fib_max_sync_delay_ms",
            Self::DebugLevel => "net.route.algo.debug_level",
        }
    }

    /// The word of a name.
    ///
    /// # Errors
    /// [`ControlError::Unknown`].
    pub fn parse(name: &str) -> Result<Self, ControlError> {
        Self::ALL.into_iter().find(|word| word.name() == name).ok_or_else(|| {
            let short = |word: &Self| word.name().trim_start_matches(PREFIX).to_owned();
            let known = Self::ALL.iter().map(short).collect::<Vec<_>>().join(", ");
            ControlError::Unknown { name: name.to_owned(), known: format!("{PREFIX}{{{known}}}") }
        })
    }

    /// Checks a value without setting it, for the validation of plans: algorithms are those of this
    /// crate. One by name may still fail to serve the table.
    ///
    /// # Errors
    /// What [`Fibs::set_word`] would say, as far as it does not depend on a table.
    pub fn check(self, value: &str) -> Result<(), ControlError> {
        match self {
            Self::InetAlgo => choice(self, &Registry::<Inet>::standard(), value).map(drop),
            Self::Inet6Algo => choice(self, &Registry::<Inet6>::standard(), value).map(drop),
            Self::InetAlgoList | Self::Inet6AlgoList => {
                Err(ControlError::ReadOnly { name: self.name() })
            }
            _ => self.number(value).map(drop),
        }
    }

    fn number(self, value: &str) -> Result<u32, ControlError> {
        let (least, most) = match self {
            Self::DebugLevel => (0, 7),
            Self::BucketTimeMs | Self::FibMaxSyncDelayMs => (0, 3_600_000),
            _ => (0, u32::MAX),
        };
        let number = value.parse::<u32>().ok().filter(|number| (least..=most).contains(number));
        let error = || ControlError::Number { name: self.name(), value: value.into(), least, most };
        number.ok_or_else(error)
    }

    fn error(self, error: FibError) -> ControlError {
        ControlError::Fib { name: self.name(), error }
    }
}

fn choice<F: Family>(
    word: Word,
    registry: &Registry<F>,
    value: &str,
) -> Result<Choice, ControlError> {
    if value == "auto" {
        return Ok(Choice::Auto);
    }
    let known = registry.named(value).map_err(|error| word.error(error))?;
    Ok(Choice::Fixed(known.name().to_owned()))
}

fn choose<F: Family>(word: Word, table: &mut Fib<F>, value: &str) -> Result<(), ControlError> {
    let choice = choice(word, table.registry(), value)?;
    table.set_algorithm(choice).map_err(|error| word.error(error))
}

impl Fibs {
    /// Sets a control word. Algorithms are set for the table `fib`, everything else for all tables.
    ///
    /// # Errors
    /// [`ControlError`]; nothing has changed then.
    pub fn set_word(&mut self, fib: u32, name: &str, value: &str) -> Result<(), ControlError> {
        let word = Word::parse(name)?;
        let count = self.len();
        let missing = ControlError::NoFib { fib, count };
        match word {
            Word::InetAlgo => choose(word, self.inet_mut(fib).ok_or(missing)?, value),
            Word::Inet6Algo => choose(word, self.inet6_mut(fib).ok_or(missing)?, value),
            Word::InetAlgoList | Word::Inet6AlgoList => word.check(value),
            Word::DebugLevel => {
                self.set_debug_level(word.number(value)?);
                Ok(())
            }
            _ => {
                let policy = with_number(*self.policy(), word, word.number(value)?);
                self.set_policy(policy);
                Ok(())
            }
        }
    }

    /// Reads a control word; for an algorithm the one that serves the table `fib` now.
    ///
    /// # Errors
    /// [`ControlError::Unknown`] and [`ControlError::NoFib`].
    pub fn word(&self, fib: u32, name: &str) -> Result<String, ControlError> {
        let missing = || ControlError::NoFib { fib, count: self.len() };
        let policy = self.policy();
        Ok(match Word::parse(name)? {
            Word::InetAlgo => self.inet(fib).ok_or_else(missing)?.algorithm_name().to_owned(),
            Word::Inet6Algo => self.inet6(fib).ok_or_else(missing)?.algorithm_name().to_owned(),
            Word::InetAlgoList => list(self.inet(fib).ok_or_else(missing)?),
            Word::Inet6AlgoList => list(self.inet6(fib).ok_or_else(missing)?),
            Word::BucketTimeMs => policy.bucket_time.as_millis().to_string(),
            Word::BucketChangeThresholdRate => policy.bucket_change_threshold_rate.to_string(),
            Word::FibMaxSyncDelayMs => policy.fib_max_sync_delay.as_millis().to_string(),
            Word::DebugLevel => self.debug_level().to_string(),
        })
    }
}

impl Fibs {
    /// Whether the value of a control word is the table's own choice (`auto`), which may change with its
    /// routes; [`Fibs::word`] reads what it chose.
    ///
    /// # Errors
    /// [`ControlError::Unknown`] and [`ControlError::NoFib`].
    pub fn is_automatic(&self, fib: u32, name: &str) -> Result<bool, ControlError> {
        let missing = || ControlError::NoFib { fib, count: self.len() };
        let choice = match Word::parse(name)? {
            Word::InetAlgo => self.inet(fib).ok_or_else(missing)?.choice(),
            Word::Inet6Algo => self.inet6(fib).ok_or_else(missing)?.choice(),
            _ => return Ok(false),
        };
        Ok(*choice == Choice::Auto)
    }
}

fn with_number(mut policy: SyncPolicy, word: Word, number: u32) -> SyncPolicy {
    let ms = Duration::from_millis(u64::from(number));
    match word {
        Word::BucketTimeMs => policy.bucket_time = ms,
        Word::BucketChangeThresholdRate => policy.bucket_change_threshold_rate = number,
        Word::FibMaxSyncDelayMs => policy.fib_max_sync_delay = ms,
        _ => {}
    }
    policy
}

fn list<F: Family>(table: &Fib<F>) -> String {
    table.algorithms().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_can_be_read_and_what_is_set_reads_back() {
        let mut fibs = Fibs::new(1).unwrap();
        for (name, value) in [
            ("net.route.algo.inet.algo", "radix4"),
            ("net.route.algo.inet6.algo", "radix6_lockless"),
            ("net.route.algo.bucket_time_ms", "20"),
            ("net.route.algo.bucket_change_threshold_rate", "1000"),
            ("net.route.algo.fib_max_sync_delay_ms", "200"),
            ("net.route.algo.debug_level", "7"),
        ] {
            Word::parse(name).unwrap().check(value).unwrap();
            fibs.set_word(0, name, value).unwrap();
            assert_eq!(fibs.word(0, name).unwrap(), value);
        }
        assert_eq!(fibs.inet(0).unwrap().policy().bucket_time, Duration::from_millis(20));
        let list = fibs.word(0, "net.route.algo.inet.algo_list").unwrap();
        assert!(list.contains("radix4_lockless, radix4"), "{list}");
        assert!(!fibs.is_automatic(0, "net.route.algo.inet.algo").unwrap());
        fibs.set_word(0, "net.route.algo.inet.algo", "auto").unwrap();
        assert_ne!(fibs.word(0, "net.route.algo.inet.algo").unwrap(), "radix4");
        assert!(fibs.is_automatic(0, "net.route.algo.inet.algo").unwrap());
        assert!(!fibs.is_automatic(0, "net.route.algo.bucket_time_ms").unwrap());
    }

    #[test]
    fn each_table_has_its_own_algorithm() {
        let mut fibs = Fibs::new(2).unwrap();
        let word = "net.route.algo.inet.algo";
        fibs.set_word(1, word, "radix4").unwrap();
        assert_ne!(fibs.word(0, word).unwrap(), "radix4");
        let error = fibs.set_word(2, word, "radix4").unwrap_err();
        assert_eq!(error.to_string(), "no fib 2, there are 2");
    }

    #[test]
    fn bad_words_and_values_are_refused_with_a_remedy() {
        let mut fibs = Fibs::new(1).unwrap();
        let mut set =
            |name: &str, value: &str| fibs.set_word(0, name, value).unwrap_err().to_string();
        assert!(set("net.route.algo.inet.algorithm", "x").contains("{inet.algo, inet.algo_list"));
        assert!(set("net.route.algo.inet.algo", "radix6").contains("choose one of: "));
        assert_eq!(
            set("net.route.algo.bucket_time_ms", "-1"),
            "net.route.algo.bucket_time_ms: `-1` is not a number from 0 to 3600000"
        );
        assert_eq!(
            set("net.route.algo.inet6.algo_list", "radix6"),
            "control word net.route.algo.inet6.algo_list is read only"
        );
    }
}
