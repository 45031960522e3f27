//! How much faster or slower: a ratio of speeds.

use serde::{Deserialize, Serialize};

/// Ratios of any two doubles stay within, so that neither they nor their percentages overflow.
const LEAST_RATIO: f64 = 1e-300;
const MOST_RATIO: f64 = 1e300;

/// A speed ratio, variant : baseline. 1.02 is "2 % faster", whatever the metric's direction.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Effect(pub(crate) f64);

impl Effect {
    /// From a ratio, which must be positive.
    pub fn from_ratio(ratio: f64) -> Self {
        Self(ratio)
    }

    /// From the natural logarithm of the ratio; ratios beyond 10^-300 and 10^300 end there.
    pub fn from_ln(ln: f64) -> Self {
        Self(ln.exp().clamp(LEAST_RATIO, MOST_RATIO))
    }

    /// The ratio itself, 1.0 for "no change".
    pub fn ratio(self) -> f64 {
        self.0
    }

    /// The natural logarithm of the ratio.
    pub fn ln(self) -> f64 {
        self.0.ln()
    }

    /// The change in per cent: 2.0 for a ratio of 1.02.
    pub fn percent(self) -> f64 {
        (self.0 - 1.0) * 100.0
    }
}

/// A change in per cent with a sign, as wide as it is precise: `+1.75 %`, `-17.5 %`, `+120 %`; `0.00 %`
/// where its digits carry no sign.
pub fn signed_percent(percent: f64) -> String {
    shown(percent, true)
}

/// An interval of changes in per cent: `[+16.7 %, +18.2 %]`. An end that is not 0 never looks like
/// 0, which would say whether "no change" lies inside: `[above 0 %, +0.48 %]`. Where both ends look like
/// it and 0 lies between them, they are written so: "from below 0 to above 0" may be anything. Where
/// both lie on one side of 0, the far one is rounded away from it: `[-0.01 %, below 0 %]`.
pub fn percent_interval(low: f64, high: f64) -> String {
    let holds_nothing = low <= 0.0 && high >= 0.0;
    if holds_nothing && [low, high].iter().all(|value| shown(*value, true) == NOTHING) {
        return format!("[{NOTHING}, {NOTHING}]");
    }
    let [low, high] = ends([low, high], true);
    format!("[{low}, {high}]")
}

/// Both ends of an interval that lies on one side of 0 or does not look like 0 at all.
pub(crate) fn ends([low, high]: [f64; 2], is_change: bool) -> [String; 2] {
    let outward = |far: f64, near: f64| {
        let is_tiny = [far, near].iter().all(|own| shown(*own, is_change) == NOTHING);
        if is_tiny && far * near > 0.0 { LEAST_PERCENT.copysign(far) } else { far }
    };
    let far = if low < 0.0 { [outward(low, high), high] } else { [low, outward(high, low)] };
    far.map(|own| end(own, is_change))
}

/// A percentage for people: two decimals below 10, one below 100, none above.
pub(crate) fn percent(value: f64) -> String {
    shown(value, false)
}

/// An end of an interval, with the sign of a change where one is asked for.
fn end(value: f64, is_change: bool) -> String {
    let text = shown(value, is_change);
    match text.as_str() {
        NOTHING if value > 0.0 => "above 0 %".to_owned(),
        NOTHING if value < 0.0 => "below 0 %".to_owned(),
        _ => text,
    }
}

/// What rounds to no change at all.
const NOTHING: &str = "0.00 %";

/// The smallest percentage that does not.
const LEAST_PERCENT: f64 = 0.01;

/// From here on nobody reads the digits of a percentage.
const MOST_PERCENT: f64 = 100_000.0;

fn shown(value: f64, is_change: bool) -> String {
    let plus = if is_change && value > 0.0 { "+" } else { "" };
    let text = match value.abs() {
        size if size < 9.995 => format!("{plus}{value:.2} %"),
        size if size < 99.95 => format!("{plus}{value:.1} %"),
        size if size < MOST_PERCENT => format!("{plus}{value:.0} %"),
        _ if value > 0.0 => format!("above {plus}{MOST_PERCENT:.0} %"),
        _ => format!("below -{MOST_PERCENT:.0} %"),
    };
    // "+0.00 %" and "-0.00 %" name a direction that their digits do not carry
    if text.ends_with(NOTHING) && text.len() <= NOTHING.len() + 1 {
        NOTHING.to_owned()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_have_a_sign_where_their_digits_carry_one() {
        assert_eq!(signed_percent(1.0), "+1.00 %");
        assert_eq!(signed_percent(17.4631), "+17.5 %");
        assert_eq!(signed_percent(-7.2417), "-7.24 %");
        assert_eq!(signed_percent(-10.0), "-10.0 %");
        assert_eq!(signed_percent(120.4), "+120 %");
        assert_eq!([0.0, 0.004, -0.004].map(signed_percent), ["0.00 %"; 3]);
        assert_eq!([10.0, -100.0].map(signed_percent), ["+10.0 %", "-100 %"]);
    }

    /// "[+0.00 %, +0.48 %]" may hold "no change" or not: the ends say which.
    #[test]
    fn an_end_that_is_not_0_does_not_look_like_it() {
        assert_eq!(percent_interval(-1.27, 0.481), "[-1.27 %, +0.48 %]");
        assert_eq!(percent_interval(1e-9, 0.481), "[above 0 %, +0.48 %]");
        assert_eq!(percent_interval(-0.481, -0.004), "[-0.48 %, below 0 %]");
        assert_eq!(percent_interval(-0.004, 0.004), "[0.00 %, 0.00 %]");
        assert_eq!(percent_interval(0.001, 0.004), "[above 0 %, +0.01 %]");
        assert_eq!(percent_interval(-0.004, -1e-9), "[-0.01 %, below 0 %]");
        assert_eq!(ends([-0.004, -0.003], false), ["-0.01 %", "below 0 %"]);
        assert_eq!(ends([0.003, 0.004], false), ["above 0 %", "0.01 %"]);
        assert_eq!(percent_interval(0.0, 0.0), "[0.00 %, 0.00 %]");
    }

    /// Two runs that agree to the last digit beside two that do not once gave an end of 21 digits.
    #[test]
    fn no_percentage_has_more_digits_than_anybody_reads() {
        assert_eq!(percent_interval(-100.0, 3.6e20), "[-100 %, above +100000 %]");
        assert_eq!(percent(-1e300), "below -100000 %");
        assert_eq!(percent(f64::INFINITY), "above 100000 %");
    }
}
