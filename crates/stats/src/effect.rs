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

    /// From a change in per cent; -100 and less end at the least ratio.
    fn from_percent(percent: f64) -> Self {
        Self((1.0 + percent / 100.0).max(LEAST_RATIO))
    }

    /// Whether it is more than ten times as fast or as slow: a percentage says nothing then (+78900 % is
    /// 790 times as much, and so near -100 % nobody sees a difference of ten times).
    pub fn is_far(self) -> bool {
        self.ln().abs() > MOST_TIMES.ln()
    }

    /// The other way round: how many times as slow.
    pub(crate) fn turned(self) -> Self {
        Self(1.0 / self.0)
    }
}

/// A change in per cent with a sign, as wide as it is precise: `+1.75 %`, `-17.5 %`, `+120 %`; `0.00 %`
/// where its digits carry no sign; `x790` or `x0.0500` beyond ten times ([`Effect::is_far`]).
pub fn signed_percent(percent: f64) -> String {
    far_change(percent).unwrap_or_else(|| shown(percent, true))
}

/// A change in per cent as the ratio that it is, `x790`, where it is beyond ten times ([`Effect::is_far`]).
pub fn far_change(percent: f64) -> Option<String> {
    let effect = Effect::from_percent(percent);
    effect.is_far().then(|| times(effect))
}

/// A change and its interval, both in per cent or, where one of the three is more than ten times as fast
/// or slow, both as ratios: `x0.120` and `[x0.001, x15.0]`.
pub fn signed_change(estimate: Effect, [low, high]: [Effect; 2]) -> [String; 2] {
    if [estimate, low, high].into_iter().any(Effect::is_far) {
        return [times(estimate), format!("[{}, {}]", times(low), times(high))];
    }
    let [estimate, low, high] = [estimate, low, high].map(Effect::percent);
    [signed_percent(estimate), percent_interval(low, high)]
}

/// An interval of changes in per cent: `[+16.7 %, +18.2 %]`. An end that is not 0 never looks like
/// 0, which would say whether "no change" lies inside: `[above 0 %, +0.48 %]`. Where both ends look like
/// it and 0 lies between them, they are written so: "from below 0 to above 0" may be anything. Where
/// both lie on one side of 0, the far one is rounded away from it: `[-0.01 %, below 0 %]`. Where an end
/// is more than ten times as fast or slow, both are ratios: `[below x0.001, x121]`.
pub fn percent_interval(low: f64, high: f64) -> String {
    let both = [low, high].map(Effect::from_percent);
    if both.into_iter().any(Effect::is_far) {
        return format!("[{}, {}]", times(both[0]), times(both[1]));
    }
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

/// A ratio for people: `x12.3`, `x0.0500`, `above x1000`; one that is not 1 never looks like it.
fn times(effect: Effect) -> String {
    format!("{}x{}", beyond(effect), digits(effect))
}

/// A proven ratio and its interval in a sentence: `a factor of 790 [650, 900]`, or what `named` says
/// behind it. Where no digit shown leaves anything open: `a factor of exactly 790`. Where all three are
/// beyond what is read: `a factor of more than 1000`.
pub(crate) fn factor(estimate: Effect, ends: [Effect; 2], named: &str) -> String {
    let show = |effect| format!("{}{}", beyond(effect), digits(effect));
    let [low, high] = ends.map(show);
    let is_one = show(estimate) == low && low == high;
    let side = match beyond(estimate) {
        "above " => "more than ",
        "below " => "less than ",
        _ if is_one => "exactly ",
        _ => "",
    };
    let interval = if is_one { String::new() } else { format!(" [{low}, {high}]") };
    let named = if side == "exactly " { "" } else { named };
    format!("a factor of {side}{}{interval}{named}", digits(estimate))
}

/// What stands before a ratio whose digits do not say which side of it is meant.
fn beyond(effect: Effect) -> &'static str {
    let ratio = effect.0;
    let is_like_one = ratio != 1.0 && three_digits(ratio) == "1.00";
    match ratio {
        _ if is_like_one && ratio > 1.0 => "above ",
        _ if is_like_one => "below ",
        _ if ratio > MOST_READ => "above ",
        _ if ratio < 1.0 / MOST_READ => "below ",
        _ => "",
    }
}

fn digits(effect: Effect) -> String {
    match effect.0 {
        large if large > MOST_READ => format!("{MOST_READ}"),
        small if small < 1.0 / MOST_READ => format!("{}", 1.0 / MOST_READ),
        ratio => match three_digits(ratio) {
            one if one == "1.00" => "1".to_owned(),
            text => text,
        },
    }
}

fn three_digits(ratio: f64) -> String {
    match ratio {
        large if large >= 99.95 => format!("{large:.0}"),
        large if large >= 9.995 => format!("{large:.1}"),
        middle if middle >= 0.9995 => format!("{middle:.2}"),
        small if small >= 0.09995 => format!("{small:.3}"),
        small if small >= 0.009_995 => format!("{small:.4}"),
        small => format!("{small:.5}"),
    }
}

/// A percentage for people: two decimals below 10, one below 100, none above; more where these would be 0.
pub(crate) fn percent(value: f64) -> String {
    match shown(value, false) {
        nothing if nothing == NOTHING && value != 0.0 => plain_percent(value),
        text => text,
    }
}

/// A percentage that somebody named, without needless digits, and with as many as it has to have: `1 %`,
/// `0.25 %`, `0.0001 %`.
pub fn plain_percent(percent: f64) -> String {
    /// Digits that a small one keeps.
    const KEPT: f64 = 2.0;
    let power = percent.abs().log10().floor();
    let decimals = (KEPT - 1.0 - power).clamp(KEPT, 12.0) as usize;
    let text = format!("{percent:.decimals$}");
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
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

/// Up to so many times as much or as little a percentage says something.
const MOST_TIMES: f64 = 10.0;

/// Beyond so many times as much or as little nobody reads the digits.
const MOST_READ: f64 = 1_000.0;

fn shown(value: f64, is_change: bool) -> String {
    let plus = if is_change && value > 0.0 { "+" } else { "" };
    let text = match value.abs() {
        size if size < 9.995 => format!("{plus}{value:.2} %"),
        size if size < 99.95 => format!("{plus}{value:.1} %"),
        _ => format!("{plus}{value:.0} %"),
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

    /// A margin and a difference of 0.0001 % were 0 %.
    #[test]
    fn what_somebody_named_is_not_rounded_to_nothing() {
        let named = [1.0, 0.25, 0.0001, 0.000_099_999, 0.0007 * 100.0, 0.011 * 100.0, 50.0];
        assert_eq!(
            named.map(plain_percent),
            ["1 %", "0.25 %", "0.0001 %", "0.0001 %", "0.07 %", "1.1 %", "50 %"]
        );
        assert_eq!(
            [1.0, 0.004, 0.0001, 0.0].map(percent),
            ["1.00 %", "0.004 %", "0.0001 %", "0.00 %"]
        );
        assert_eq!(plain_percent(0.0), "0 %");
    }

    #[test]
    fn changes_have_a_sign_where_their_digits_carry_one() {
        assert_eq!(signed_percent(1.0), "+1.00 %");
        assert_eq!(signed_percent(17.4631), "+17.5 %");
        assert_eq!(signed_percent(-7.2417), "-7.24 %");
        assert_eq!(signed_percent(-10.0), "-10.0 %");
        assert_eq!(signed_percent(120.4), "+120 %");
        assert_eq!([0.0, 0.004, -0.004].map(signed_percent), ["0.00 %"; 3]);
        assert_eq!([10.0, -80.0].map(signed_percent), ["+10.0 %", "-80.0 %"]);
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

    /// Two runs that agree to the last digit beside two that do not once gave an end of 21 digits, and
    /// +78900 % and [-100 %, +12000 %] are figures that nobody reads.
    #[test]
    fn beyond_ten_times_a_change_is_a_ratio() {
        assert_eq!(signed_percent(78_900.0), "x790");
        assert_eq!(signed_percent(-95.0), "x0.0500");
        assert_eq!(signed_percent(899.0), "+899 %");
        assert_eq!(percent_interval(-100.0, 12_000.0), "[below x0.001, x121]");
        assert_eq!(percent_interval(-100.0, 3.6e20), "[below x0.001, above x1000]");
        assert_eq!(percent_interval(-12.0, 1_400.0), "[x0.880, x15.0]");
        assert_eq!(percent_interval(0.001, 1_400.0), "[above x1, x15.0]");
        assert_eq!(percent_interval(-95.0, -0.001), "[x0.0500, below x1]");
        let own = |ratio: [f64; 3]| {
            let [estimate, low, high] = ratio.map(Effect::from_ratio);
            signed_change(estimate, [low, high])
        };
        assert_eq!(own([1.02, 1.01, 1.03]), ["+2.00 %", "[+1.00 %, +3.00 %]"]);
        // Both in one way of writing.
        assert_eq!(own([1.2, 0.12, 12.0]), ["x1.20", "[x0.120, x12.0]"]);
        assert_eq!(own([1.0, 0.05, 20.0]), ["x1", "[x0.0500, x20.0]"]);
    }

    #[test]
    fn a_factor_has_its_interval() {
        let own = |estimate, low, high| {
            factor(Effect(estimate), [Effect(low), Effect(high)], " (99 % interval)")
        };
        assert_eq!(own(790.4, 650.0, 900.0), "a factor of 790 [650, 900] (99 % interval)");
        assert_eq!(
            own(12.0, 1.0001, 5e9),
            "a factor of 12.0 [above 1, above 1000] (99 % interval)"
        );
        assert_eq!(own(12.0, 12.0, 12.001), "a factor of exactly 12.0");
        // Beyond what is read nothing is exact.
        assert_eq!(own(5e6, 5e6, 5e6), "a factor of more than 1000 (99 % interval)");
        assert_eq!(
            own(5e6, 12.0, 5e6),
            "a factor of more than 1000 [12.0, above 1000] (99 % interval)"
        );
        assert_eq!(
            own(1e-6, 1e-7, 1.0),
            "a factor of less than 0.001 [below 0.001, 1] (99 % interval)"
        );
    }
}
