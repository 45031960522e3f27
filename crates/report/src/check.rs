//! Does a finished report still say what its journal says?

use std::fmt;
use std::fs;
use std::io;

use super::figure::Summary;
use super::{ReportError, render};
use fwdlab_claims::judge::steady_rates;
use fwdlab_results::{Results, Trial};

/// How far a recorded rate may lie from the median of its intervals, as a
/// ratio: rounding in the journal, no more.
const RATE_TOLERANCE: f64 = 1e-6;

/// Something in a results directory that does not agree with the journal.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Difference {
    /// A derived file is not there.
    Missing {
        /// Its name in the directory.
        file: String,
    },
    /// A derived file differs.
    Line {
        /// Its name in the directory.
        file: String,
        /// Number of the first line that differs, from 1.
        line: usize,
        /// The line as it stands; empty past the end.
        is: String,
        /// The line that the journal gives.
        wanted: String,
    },
    /// A derived file that is no text differs.
    Bytes {
        /// Its name in the directory.
        file: String,
    },
    /// A trial's recorded rate is not the median of its steady intervals.
    Rate {
        /// Id of the trial.
        trial: String,
        /// The rate as recorded, in frames/s.
        recorded: f64,
        /// The rate that its intervals give.
        computed: f64,
    },
    /// A trial's totals are less than its intervals.
    Totals {
        /// Id of the trial.
        trial: String,
        /// `sent` or `received`.
        what: &'static str,
        /// The total as recorded.
        recorded: u64,
        /// The sum over the intervals.
        computed: u64,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { file } => write!(f, "{file}: missing; `fwdlab report` makes it again"),
            Self::Line { file, line, is, wanted } => {
                write!(f, "{file}:{line}: says {is:?}, the journal gives {wanted:?}")
            }
            Self::Bytes { file } => write!(f, "{file}: not the picture that the journal gives"),
            Self::Rate { trial, recorded, computed } => write!(
                f,
                "trials.jsonl: trial {trial} records {recorded} frames/s, its steady intervals give {computed}"
            ),
            Self::Totals { trial, what, recorded, computed } => write!(
                f,
                "trials.jsonl: trial {trial} records {recorded} frames {what}, its intervals hold {computed}"
            ),
        }
    }
}

/// Derives everything again and compares it with what stands in the directory; also
/// compares each trial's figures with its raw intervals. Changes nothing.
///
/// # Errors
/// When the journal or a file cannot be read, or claims do not resolve.
pub fn check(results: &Results) -> Result<Vec<Difference>, ReportError> {
    let dir = &results.dir;
    let mut found: Vec<Difference> = results.trials.iter().flat_map(trial).collect();
    let claims = render::claims(results)?;
    for (name, wanted) in render::files(results, &claims)? {
        let path = dir.join(&name);
        match fs::read(&path) {
            Ok(is) if is == wanted => {}
            Ok(is) => found.push(difference(name, &is, &wanted)),
            // A build without pictures has made the rest.
            Err(e) if e.kind() == io::ErrorKind::NotFound && name.ends_with(".png") => {}
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                found.push(Difference::Missing { file: name });
            }
            Err(e) => return Err(ReportError::io("read", path)(e)),
        }
    }
    Ok(found)
}

fn trial(trial: &Trial) -> Vec<Difference> {
    let mut found = Vec::new();
    if !trial.is_ok() {
        return found;
    }
    if let (Some(recorded), Some(steady)) = (trial.rate_pps, Summary::of(&steady_rates(trial)))
        && (recorded - steady.median).abs() > RATE_TOLERANCE * steady.median.abs()
    {
        let computed = steady.median;
        found.push(Difference::Rate { trial: trial.id.clone(), recorded, computed });
    }
    let totals = [
        ("sent", trial.measured.sent, trial.measured.intervals.iter().map(|i| i.tx).sum::<u64>()),
        (
            "received",
            Some(trial.measured.received),
            trial.measured.intervals.iter().map(|i| i.rx).sum(),
        ),
    ];
    for (what, recorded, computed) in totals {
        if let Some(recorded) = recorded.filter(|recorded| *recorded < computed) {
            found.push(Difference::Totals { trial: trial.id.clone(), what, recorded, computed });
        }
    }
    found
}

fn difference(file: String, is: &[u8], wanted: &[u8]) -> Difference {
    let (Ok(is), Ok(wanted)) = (std::str::from_utf8(is), std::str::from_utf8(wanted)) else {
        return Difference::Bytes { file };
    };
    let (mut a, mut b) = (is.lines(), wanted.lines());
    let mut line = 0;
    loop {
        line += 1;
        match (a.next(), b.next()) {
            (None, None) => return Difference::Bytes { file },
            (x, y) if x == y => {}
            (x, y) => {
                let (is, wanted) = (shortened(x), shortened(y));
                return Difference::Line { file, line, is, wanted };
            }
        }
    }
}

/// A line for a message: long ones lose their end.
fn shortened(line: Option<&str>) -> String {
    const MOST: usize = 120;
    let line = line.unwrap_or("");
    if line.chars().count() <= MOST {
        return line.to_owned();
    }
    let mut text: String = line.chars().take(MOST).collect();
    text.push_str("...");
    text
}
