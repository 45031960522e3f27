//! The figures of a ministat row from the values behind it, as both versions
//! of ministat print them.

use fwdlab_netbenches::number::format_g8;

/// Which arithmetic printed a row. The two changes came at different times, so
/// that all four mixtures stand in published pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Printer {
    /// The median of an even number of values is the upper middle one.
    pub has_upper_median: bool,
    /// The variance is computed in one pass, which loses precision.
    pub has_one_pass_variance: bool,
}

impl Printer {
    /// The current ministat.
    pub const V3: Self = Self { has_upper_median: false, has_one_pass_variance: false };
    /// Until 2016/17.
    const V1: Self = Self { has_upper_median: true, has_one_pass_variance: true };
    /// All, the newest first.
    pub const ALL: [Self; 4] = [
        Self::V3,
        Self { has_upper_median: true, has_one_pass_variance: false },
        Self { has_upper_median: false, has_one_pass_variance: true },
        Self::V1,
    ];
}

/// The figures of `values` (in the order of the file) as `printer` prints them:
/// `N Min Max Median Avg Stddev`. `None` under two values.
pub fn row_key(values: &[f64], printer: Printer) -> Option<String> {
    let n = values.len();
    if n < 2 {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mean = values.iter().sum::<f64>() / n as f64;
    let upper = sorted[n / 2];
    let median = if printer.has_upper_median { upper } else { (sorted[(n - 1) / 2] + upper) / 2.0 };
    let variance = if printer.has_one_pass_variance {
        let sum: f64 = values.iter().sum();
        let squares: f64 = values.iter().map(|x| x * x).sum();
        (squares - sum * sum / n as f64) / (n - 1) as f64
    } else {
        sorted.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1) as f64
    };
    let figures = [sorted[0], sorted[n - 1], median, mean, variance.max(0.0).sqrt()];
    Some(format!("{n} {}", figures.map(format_g8).join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_those_of_the_published_blocks() {
        let inet4 = [700_644.0, 696_261.0, 694_169.0, 696_703.0, 697_081.0];
        for printer in [Printer::V3, Printer::V1] {
            assert_eq!(
                row_key(&inet4, printer).as_deref(),
                Some("5 694169 700644 696703 696971.6 2341.4822")
            );
        }
        let line_rate = [14_817_398.0, 14_817_404.0, 14_817_300.0, 14_817_568.0, 14_817_212.0];
        assert_eq!(
            row_key(&line_rate, Printer::V3).as_deref(),
            Some("5 14817212 14817568 14817398 14817376 133.04435")
        );
        assert_ne!(row_key(&line_rate, Printer::V3), row_key(&line_rate, Printer::V1));
        assert_eq!(row_key(&[1.0], Printer::V3), None);
    }
}
