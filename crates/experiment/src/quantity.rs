//! Quantities with a unit, as text: durations and percentages.

use std::time::Duration;

use super::problem::Complaint;

/// The fewest intervals that a trial may have: a median needs a few to stand on.
pub(crate) const FEWEST_INTERVALS: u32 = 5;

/// The interval of a trial of this length where the file names none: 100 ms, or what gives a shorter
/// trial eight.
pub fn interval(duration: Duration) -> Duration {
    let usual = Duration::from_millis(100);
    if usual * FEWEST_INTERVALS <= duration {
        return usual;
    }
    let eighth = u64::try_from(duration.as_millis() / 8).unwrap_or(u64::MAX);
    Duration::from_millis(eighth.max(10))
}

/// Splits `12.5kpps` into number and unit.
pub fn number_and_unit(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    Some((number, text[end..].trim_start()))
}

/// Reads `1s`, `500ms`, `2m`, between `least` and ten minutes.
pub fn duration(text: &str, least: Duration) -> Result<Duration, Complaint> {
    let limits = (least, Duration::from_secs(600));
    duration_up_to(text, limits, "more blocks, not longer trials, make a verdict sharper")
}

/// Reads a time between the limits; `remedy` for one that is not.
pub fn duration_up_to(
    text: &str,
    (least, most): (Duration, Duration),
    remedy: &str,
) -> Result<Duration, Complaint> {
    let wanted =
        || format!("a time from {least:?} to {}s, such as \"1s\" or \"500ms\"", most.as_secs());
    let seconds = number_and_unit(text).and_then(|(number, unit)| match unit {
        "ms" => Some(number / 1_000.0),
        "s" => Some(number),
        "m" | "min" => Some(number * 60.0),
        "h" => Some(number * 3_600.0),
        _ => None,
    });
    let Some(seconds) = seconds else {
        let usual = "a number and ms, s, m or h";
        let fits = |text: &str| duration_up_to(text, (least, most), remedy).is_ok();
        return Err(Complaint::new(
            format!("{text:?} is no time"),
            wanted(),
            format!("write {}", with_units(text, &TIME_UNITS, usual, fits)),
        ));
    };
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|d| (least..=most).contains(d))
        .ok_or_else(|| Complaint::new(format!("{text:?} is out of range"), wanted(), remedy))
}

/// Units of times in which a number without one is likely to be meant.
const TIME_UNITS: [(&str, f64); 2] = [("s", 1.0), ("ms", 1.0)];
/// Those of shares, of which a ratio is one too.
const SHARE_UNITS: [(&str, f64); 2] = [("%", 1.0), ("%", 100.0)];

/// A number without its unit as it is written with one, in each way that fits; `usual` where none does.
fn with_units(
    bare: &str,
    units: &[(&str, f64)],
    usual: &str,
    fits: impl Fn(&str) -> bool,
) -> String {
    let Ok(number) = bare.trim().replace('_', "").parse::<f64>() else { return usual.to_owned() };
    // rounded, so that 0.07 is 7%
    let each = units.iter().map(|(unit, times)| {
        let value = (number * times * 1e9).round() / 1e9;
        format!("{value}{unit}")
    });
    let fitting: Vec<String> =
        each.filter(|text| fits(text)).map(|text| format!("{text:?}")).collect();
    if fitting.is_empty() { usual.to_owned() } else { fitting.join(" or ") }
}

/// As [`with_units`], of a time of at least `least`.
pub(crate) fn time_meant(bare: &str, least: Duration) -> String {
    with_units(bare, &TIME_UNITS, "\"1s\"", |text| duration(text, least).is_ok())
}

/// As [`with_units`], of a share that `fits`, in per cent: below 1 it may be a ratio as well.
pub(crate) fn share_meant(bare: &str, usual: &str, fits: impl Fn(f64) -> bool) -> String {
    let units = match bare.trim().parse::<f64>() {
        Ok(number) if number < 1.0 => &SHARE_UNITS[..],
        _ => &SHARE_UNITS[..1],
    };
    let percent = |text: &str| text.strip_suffix('%').and_then(|number| number.parse().ok());
    with_units(bare, units, usual, |text| percent(text).is_some_and(&fits))
}

/// A margin below this is none: no campaign resolves a ten-thousandth of a per cent, and pages would show 0 %.
const LEAST_MARGIN_PERCENT: f64 = 0.0001;

/// Reads a margin such as `1%` as a ratio (0.01).
pub fn margin(text: &str) -> Result<f64, Complaint> {
    text.strip_suffix('%')
        .and_then(|number| number.trim_end().parse::<f64>().ok())
        .filter(|percent| is_margin(*percent))
        .map(|percent| percent / 100.0)
        .ok_or_else(|| {
            Complaint::new(
                format!("{text:?} is no margin"),
                format!("a percentage from {LEAST_MARGIN_PERCENT}% to 50%"),
                format!("write margin = {}", margin_meant(text)),
            )
        })
}

fn is_margin(percent: f64) -> bool {
    (LEAST_MARGIN_PERCENT..=50.0).contains(&percent)
}

/// A margin without its unit as it is written with one.
pub(crate) fn margin_meant(bare: &str) -> String {
    share_meant(bare, "\"1%\"", is_margin)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `margin = 5` was told to be `"1%"`, and `duration = 100` to be `"1s"`.
    #[test]
    fn a_number_without_its_unit_is_shown_with_it() {
        let time = |bare: &str| time_meant(bare, Duration::from_millis(100));
        assert_eq!(time("100"), "\"100s\" or \"100ms\"");
        assert_eq!([time("5"), time("5_000"), time("0.5")], ["\"5s\"", "\"5000ms\"", "\"0.5s\""]);
        assert_eq!([time("0"), time("-5"), time("inf"), time("true")], ["\"1s\""; 4]);
        assert_eq!([margin_meant("5"), margin_meant("70")], ["\"5%\"", "\"1%\""]);
        assert_eq!(margin_meant("0.07"), "\"0.07%\" or \"7%\"");
        let said = duration("100", Duration::from_millis(100)).expect_err("no unit");
        assert_eq!(said.remedy, "write \"100s\" or \"100ms\"");
        let said = margin("5").expect_err("no unit");
        assert_eq!(said.remedy, "write margin = \"5%\"");
    }
}
