//! The t table of ministat: six confidence levels, 100 degrees of freedom, three decimals.

use crate::distribution::{normal_quantile, t_quantile};

/// A confidence level that ministat knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Confidence {
    /// 80 %
    C80,
    /// 90 %
    C90,
    /// 95 %
    #[default]
    C95,
    /// 98 %
    C98,
    /// 99 %
    C99,
    /// "99.5 %": the table's column is that of one-sided 0.001, so it is really two-sided 99.8 %.
    C995,
}

/// Entries of the last column that differ from the rounded quantile: printed so in tables since
/// before there were computers to check them.
const MISPRINTS: [(usize, f64); 7] =
    [(1, 318.313), (7, 4.782), (8, 4.499), (9, 4.296), (10, 4.143), (11, 4.024), (12, 3.929)];

impl Confidence {
    /// The level of a percentage as given to `-c`, if the table has it.
    pub fn from_percent(percent: f64) -> Option<Self> {
        let all = [Self::C80, Self::C90, Self::C95, Self::C98, Self::C99, Self::C995];
        all.into_iter().find(|level| level.percent() == percent)
    }

    /// The label in per cent.
    pub fn percent(self) -> f64 {
        match self {
            Self::C80 => 80.0,
            Self::C90 => 90.0,
            Self::C95 => 95.0,
            Self::C98 => 98.0,
            Self::C99 => 99.0,
            Self::C995 => 99.5,
        }
    }

    fn one_sided_tail(self) -> f64 {
        match self {
            Self::C80 => 0.10,
            Self::C90 => 0.05,
            Self::C95 => 0.025,
            Self::C98 => 0.01,
            Self::C99 => 0.005,
            Self::C995 => 0.001,
        }
    }

    /// The table's entry for `df` >= 1 degrees of freedom; the normal quantile above 100.
    pub(super) fn critical(self, df: usize) -> f64 {
        if self == Self::C995
            && let Some((_, value)) = MISPRINTS.iter().find(|(row, _)| *row == df)
        {
            return *value;
        }
        let probability = 1.0 - self.one_sided_tail();
        let exact = if df > 100 {
            normal_quantile(probability)
        } else {
            t_quantile(probability, df as f64)
        };
        // through text, so that the double is the one nearest to the printed decimal
        format!("{exact:.3}").parse().unwrap_or(exact)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_its_six_levels_only() {
        assert_eq!(Confidence::from_percent(99.5), Some(Confidence::C995));
        assert_eq!(Confidence::from_percent(99.9), None);
        assert_eq!(Confidence::from_percent(f64::NAN), None);
    }

    #[test]
    fn entries_have_three_decimals_and_the_old_misprints() {
        assert_eq!(Confidence::C95.critical(8), 2.306);
        assert_eq!(Confidence::C995.critical(1), 318.313);
        assert_eq!(Confidence::C95.critical(101), 1.96);
        assert_eq!(Confidence::C80.critical(1), 3.078);
    }
}
