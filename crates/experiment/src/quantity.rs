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
        return Err(Complaint::new(
            format!("{text:?} is no time"),
            wanted(),
            "write a number and ms, s, m or h",
        ));
    };
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|d| (least..=most).contains(d))
        .ok_or_else(|| Complaint::new(format!("{text:?} is out of range"), wanted(), remedy))
}

/// A margin below this is none: no campaign resolves a ten-thousandth of a per cent, and pages would show 0 %.
const LEAST_MARGIN_PERCENT: f64 = 0.0001;

/// Reads a margin such as `1%` as a ratio (0.01).
pub fn margin(text: &str) -> Result<f64, Complaint> {
    text.strip_suffix('%')
        .and_then(|number| number.trim_end().parse::<f64>().ok())
        .filter(|percent| *percent >= LEAST_MARGIN_PERCENT && *percent <= 50.0)
        .map(|percent| percent / 100.0)
        .ok_or_else(|| {
            Complaint::new(
                format!("{text:?} is no margin"),
                format!("a percentage from {LEAST_MARGIN_PERCENT}% to 50%"),
                "write margin = \"1%\"",
            )
        })
}
