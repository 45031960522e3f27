//! ministat(1), reproduced byte for byte: Student's pooled t on two to seven sets of values.
//!
//! The rules are those of FreeBSD's current ministat ([`Version::V3`]) and of Debian's package
//! 20150715 ([`Version::Compat2015`]), found from their output, not from their source. It is here
//! because published results quote it; for verdicts use [`paired`](crate::paired), since the pooled
//! t takes the order of runs for random and equal spread for granted.
//!
//! [`render`] is the pure part, [`cli`] the command with its options, errors and exit codes.

mod cformat;
mod cli;
mod dataset;
mod getopt;
mod number;
mod options;
mod plot;
mod read;
mod student;

pub use cli::{Streams, cli};
pub use dataset::Dataset;
use options::SYMBOLS;
pub use options::{DEFAULT_WIDTH, Error, MIN_VALUES, Options, Version};
pub use student::Confidence;

use cformat::general;
use dataset::Vitals;

/// Most data sets in one run, one symbol each.
pub const MAX_DATASETS: usize = 7;

/// The whole output: legends, plot, table of vitals and the comparison of every set with the first.
///
/// Up to seven data sets are shown. O(n) in the number of values, after they were sorted.
pub fn render(datasets: &[Dataset], options: &Options) -> Vec<u8> {
    let vitals: Vec<Vitals> = datasets.iter().map(|set| set.vitals(options.version)).collect();
    let mut out = Vec::new();
    if !options.is_quiet {
        for (i, set) in datasets.iter().enumerate() {
            out.extend([SYMBOLS[i + 1], b' ']);
            out.extend_from_slice(set.legend());
            out.push(b'\n');
        }
    }
    if options.has_plot && !options.is_vitals_only {
        plot::draw(datasets, &vitals, options, &mut out);
    }
    if !options.is_quiet {
        out.extend_from_slice(
            b"    N           Min           Max        Median           Avg        Stddev\n",
        );
    }
    for (i, own) in vitals.iter().enumerate() {
        out.push(SYMBOLS[i + 1]);
        out.extend_from_slice(own.row().as_bytes());
        if i > 0 && !options.is_vitals_only {
            out.extend_from_slice(difference(own, &vitals[0], options).as_bytes());
        }
    }
    out
}

/// The comparison of a set with the first one, by Student's t with pooled variance.
fn difference(own: &Vitals, reference: &Vitals, options: &Options) -> String {
    let (n, m) = (own.count, reference.count);
    let percent = options.confidence.percent();
    let t = options.confidence.critical(n + m - 2);
    let (n, m) = (n as f64, m as f64);
    let pooled = ((n - 1.0) * own.variance + (m - 1.0) * reference.variance) / (n + m - 2.0);
    let pooled = pooled.sqrt();
    let error = t * pooled * (1.0 / n + 1.0 / m).sqrt();
    let delta = own.mean - reference.mean;
    // written so that NaN is "not proven"
    if delta.abs() > error {
        let relative_error = match options.version {
            Version::Compat2015 | Version::Compat2016 => error * 100.0 / reference.mean,
            Version::V3 => t * ratio_variance(own, reference).sqrt() * 100.0 / reference.mean,
        };
        format!(
            "Difference at {percent:.1}% confidence\n\t{} +/- {}\n\t{}% +/- {}%\n\t(Student's t, pooled s = {})\n",
            general(delta, 6),
            general(error, 6),
            general(delta * 100.0 / reference.mean, 6),
            general(relative_error, 6),
            general(pooled, 6),
        )
    } else {
        format!("No difference proven at {percent:.1}% confidence\n")
    }
}

/// Variance of the ratio of the means, times the squared mean of the reference.
fn ratio_variance(own: &Vitals, reference: &Vitals) -> f64 {
    let (n, m) = (own.count as f64, reference.count as f64);
    let scaled =
        (m - 1.0) * reference.variance * (own.mean * own.mean) / (reference.mean * reference.mean);
    ((n - 1.0) * own.variance + scaled) * (n + m) / (n * m * (n + m - 2.0))
}

#[cfg(test)]
mod tests;
