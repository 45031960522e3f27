//! Compares the numbers and directions in running text with the claims.
//!
//! A number with a unit (`%`, pps, frames/s, ns) must be a figure of the
//! report, rounded as it is written; a word of direction beside it must have
//! the sign of that figure; "no difference" is refuted by a verdict that says
//! otherwise. Numbers without a unit are not judged.

use fwdlab_claims::claim::{Claims, Spread, VerdictClaim};
use fwdlab_claims::setting::{LINKS, line_rate};
use fwdlab_results::units;
use fwdlab_sentence::quantity::unit_of_rate;

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Percent,
    Rate,
    Nanoseconds,
}

/// A figure of the report.
#[derive(Debug, Clone)]
struct Known {
    kind: Kind,
    value: f64,
    name: String,
    /// Whether its sign is a direction: an effect, or an end of its interval.
    is_effect: bool,
}

/// A number in the text.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Found {
    kind: Kind,
    /// In per cent, frames/s or ns.
    value: f64,
    /// Half of the last digit written, in the same unit.
    half_digit: f64,
    /// Whether a sign is written before it.
    is_signed: bool,
    /// Where it begins in the line, in bytes.
    start: usize,
    /// Where its unit ends.
    end: usize,
}

const UP: [&str; 6] = ["faster", "improv", "gain", "increase", "better", "speed-up"];
const DOWN: [&str; 7] = ["slower", "reduc", "loss", "decrease", "worse", "regress", "slowdown"];
const SAME: [&str; 5] =
    ["no difference", "no impact", "no change", "no effect", "same performance"];

/// Sentences on what does not agree, each with `file:line`.
pub fn check(text: &str, file: &str, claims: &Claims) -> Vec<String> {
    let known = known(claims);
    let mut doubts = Vec::new();
    for (k, line) in text.lines().enumerate() {
        let place = format!("{file}:{}", k + 1);
        for found in numbers(line) {
            doubts.extend(doubt(line, &found, &known).map(|d| format!("{place}: {d}")));
        }
        doubts.extend(factor_doubt(line, claims).map(|d| format!("{place}: {d}")));
        let lower = line.to_lowercase();
        if let Some(words) = SAME.iter().find(|w| lower.contains(**w))
            && let Some(verdict) =
                claims.verdicts.iter().find(|v| is_meant(&lower, v) && is_different(v))
        {
            doubts.push(format!("{place}: \"{words}\", but {}", verdict.sentence));
        }
    }
    doubts
}

/// A factor counts as that of a verdict when it lies as near as this, as a ratio.
const NEAR: f64 = 1.15;

/// "Twice as fast", "ten times", "a factor of 3": one verdict must give that ratio, or its inverse.
fn factor_doubt(line: &str, claims: &Claims) -> Option<String> {
    let (factor, written) = fwdlab_sentence::clause::factor(line)?;
    let lower = line.to_lowercase();
    let is_of_speed = UP.iter().chain(&DOWN).any(|word| lower.contains(word))
        || ["fast", "slow", "rate", "forward", "speed"].iter().any(|word| lower.contains(word));
    let ratios = || {
        let meant = claims.verdicts.iter().filter(|v| is_meant(&lower, v));
        meant.flat_map(|v| [&v.rate, &v.cost]).flatten().map(|c| c.estimate.ratio())
    };
    let distance = |ratio: f64| (ratio.ln().abs() - factor.ln().abs()).abs();
    let is_near = ratios().any(|ratio| distance(ratio) <= NEAR.ln());
    let nearest = ratios().min_by(|a, b| distance(*a).total_cmp(&distance(*b)))?;
    (is_of_speed && !is_near).then(|| {
        format!("\"{written}\" is no ratio of this report; the nearest is x{:.2}", nearest)
    })
}

/// Whether a line that names families or traffics names this verdict's.
fn is_meant(lower: &str, verdict: &VerdictClaim) -> bool {
    let names6 = lower.contains("inet6") || lower.contains("ipv6");
    let names4 = lower.contains("inet4")
        || lower.contains("ipv4")
        || lower.replace("inet6", "").contains("inet");
    match (names4, names6) {
        (true, false) => verdict.family == fwdlab_results::Family::Inet,
        (false, true) => verdict.family == fwdlab_results::Family::Inet6,
        _ => true,
    }
}

fn is_different(verdict: &VerdictClaim) -> bool {
    matches!(verdict.verdict.word(), "faster" | "slower")
}

fn doubt(line: &str, found: &Found, known: &[Known]) -> Option<String> {
    let written = line[found.start..found.end].trim();
    let same_kind = || known.iter().filter(|k| k.kind == found.kind);
    let distance = |k: &Known| match (found.is_signed, k.is_effect) {
        (false, true) => (k.value.abs() - found.value.abs()).abs(),
        _ => (k.value - found.value).abs(),
    };
    let matching: Vec<&Known> =
        same_kind().filter(|k| distance(k) <= found.half_digit * 1.0001).collect();
    if matching.is_empty() {
        let nearest = same_kind().min_by(|a, b| distance(a).total_cmp(&distance(b)));
        let nearest = nearest
            .map_or_else(String::new, |k| format!("; the nearest is {}, {}", show(k), k.name));
        return Some(format!("{written} is no figure of this report{nearest}"));
    }
    let direction = direction(line, found)?;
    let contradicted = matching.iter().all(|k| k.is_effect && k.value * direction < 0.0);
    contradicted.then(|| {
        let word = if direction > 0.0 { "faster" } else { "slower" };
        format!("{written} is said to be {word}, but {} is {}", matching[0].name, show(matching[0]))
    })
}

/// +1 or -1 when a word of direction stands within 40 bytes of an unsigned
/// number, the nearest one deciding.
fn direction(line: &str, found: &Found) -> Option<f64> {
    if found.is_signed || found.kind != Kind::Percent {
        return None;
    }
    let lower = line.to_lowercase();
    if lower.len() != line.len() {
        return None;
    }
    let nearest = |words: &[&str]| {
        words
            .iter()
            .flat_map(|w| lower.match_indices(w).map(|(at, _)| at))
            .map(|at| if at >= found.end { at - found.end } else { found.start.saturating_sub(at) })
            .min()
    };
    match (nearest(&UP), nearest(&DOWN)) {
        (Some(up), down) if up <= 40 && down.is_none_or(|d| up < d) => Some(1.0),
        (_, Some(down)) if down <= 40 => Some(-1.0),
        _ => None,
    }
}

fn show(known: &Known) -> String {
    match known.kind {
        Kind::Percent if known.is_effect => units::signed_percent(known.value),
        Kind::Percent => units::share(known.value / 100.0),
        Kind::Rate => units::rate(known.value),
        Kind::Nanoseconds => format!("{} ns", units::ns(known.value)),
    }
}

/// Every figure that a reader may quote.
fn known(claims: &Claims) -> Vec<Known> {
    let mut known = Vec::new();
    let mut add = |kind, value, name: String, is_effect| {
        known.push(Known { kind, value, name, is_effect });
    };
    for v in &claims.verdicts {
        let name = format!("{} against {} with {}", v.variant, v.baseline, v.traffic);
        let own = [("rate", &v.rate), ("cost", &v.cost), ("its own figure", &v.own)];
        for (what, comparison) in own {
            let Some(c) = comparison else { continue };
            for (which, effect) in [
                ("effect", c.estimate),
                ("mean effect", c.mean),
                ("median effect", c.median),
                ("lower end", c.interval95.low),
                ("upper end", c.interval95.high),
                ("lower end (90 %)", c.interval90.low),
                ("upper end (90 %)", c.interval90.high),
            ] {
                add(Kind::Percent, effect.percent(), format!("{which} of {name} by {what}"), true);
            }
        }
        if let Some(c) = &v.cost {
            let time = (1.0 / c.estimate.ratio() - 1.0) * 100.0;
            add(Kind::Percent, time, format!("change of the time per frame of {name}"), false);
        }
        if let Some(saved) = &v.saved {
            let [low, high] = saved.interval_ns.map(f64::abs);
            for ns in [saved.ns.abs(), low, high, saved.baseline_ns] {
                add(Kind::Nanoseconds, ns, format!("time per frame saved by {name}"), false);
            }
            for device in &saved.on_devices {
                let on = format!("a device of {} ns per frame", device.ns_per_frame);
                add(Kind::Nanoseconds, device.ns_per_frame, on.clone(), false);
                let percent = device.ratio.map(|ratio| ratio.percent());
                percent.into_iter().for_each(|percent| {
                    add(Kind::Percent, percent, format!("effect of {name} on {on}"), true);
                });
            }
        }
        add(Kind::Percent, v.margin * 100.0, "the margin".to_owned(), false);
    }
    for c in &claims.cells {
        let name = format!("{} with {}", c.variant, c.traffic);
        let mut spread = |kind, spread: &Option<Spread>, what: &str| {
            let Some(s) = spread else { return };
            let ends = s.interval.into_iter().flatten();
            for value in [s.median, s.minimum, s.maximum].into_iter().chain(ends) {
                add(kind, value, format!("{what} of {name}"), false);
            }
            add(Kind::Percent, s.cv * 100.0, format!("CV of the {what} of {name}"), false);
        };
        spread(Kind::Rate, &c.rate, "rate");
        spread(Kind::Nanoseconds, &c.cost, "device cost");
        if let Some(share) = c.idle_share {
            add(Kind::Percent, share * 100.0, format!("idle share of {name}"), false);
        }
    }
    for t in &claims.setting.traffics {
        for gigabits in LINKS {
            let name = format!("line rate of {gigabits} Gb/s at {} bytes", t.frame_bytes);
            add(Kind::Rate, line_rate(gigabits, t.frame_bytes), name, false);
        }
        if let Some(pps) = t.load_pps {
            add(Kind::Rate, pps, format!("load of {}", t.name), false);
        }
    }
    let levels = claims.verdicts.iter().filter_map(|v| Some(v.comparison()?.level().percent()));
    for confidence in levels.chain([90.0, 95.0]) {
        add(Kind::Percent, confidence, "confidence".to_owned(), false);
    }
    known
}

/// Units in the text but those of rates, the longest first.
const UNITS: [(&str, Kind); 7] = [
    ("instructions", Kind::Nanoseconds),
    ("nanoseconds", Kind::Nanoseconds),
    ("ns/frame", Kind::Nanoseconds),
    ("per cent", Kind::Percent),
    ("percent", Kind::Percent),
    ("ns", Kind::Nanoseconds),
    ("%", Kind::Percent),
];

/// The numbers of a line that carry one of the units.
fn numbers(line: &str) -> Vec<Found> {
    let bytes = line.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let is_start = bytes[at].is_ascii_digit()
            && (at == 0
                || !(bytes[at - 1].is_ascii_alphanumeric()
                    || matches!(bytes[at - 1], b'.' | b'_')));
        if !is_start {
            at += 1;
            continue;
        }
        let mut end = at;
        while end < bytes.len()
            && (bytes[end].is_ascii_digit() || matches!(bytes[end], b'.' | b','))
        {
            end += 1;
        }
        let digits = line[at..end].trim_end_matches(['.', ',']);
        if let Some(number) = number(line, at, digits) {
            found.push(number);
        }
        at = end;
    }
    found
}

fn number(line: &str, start: usize, digits: &str) -> Option<Found> {
    let after = &line[start + digits.len()..];
    let rest = after.trim_start_matches([' ', '\u{a0}']);
    let lower = rest.to_lowercase();
    let of_others = || {
        let (unit, kind) = UNITS.into_iter().find(|(unit, _)| {
            lower.strip_prefix(unit).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        })?;
        Some((unit, kind, 1.0))
    };
    let of_rates = unit_of_rate(&lower).map(|(unit, scale)| (unit, Kind::Rate, scale));
    let (unit, kind, scale) = of_rates.or_else(of_others)?;
    let plain = digits.replace(',', "");
    let value: f64 = plain.parse().ok()?;
    let decimals = plain.split_once('.').map_or(0, |(_, d)| d.len());
    let before = line[..start].chars().next_back();
    let sign = if matches!(before, Some('-' | '\u{2212}')) { -1.0 } else { 1.0 };
    Some(Found {
        kind,
        value: sign * value * scale,
        half_digit: 0.5 * 10f64.powi(-(i32::try_from(decimals).ok()?)) * scale,
        is_signed: matches!(before, Some('+' | '-' | '\u{2212}')),
        start: if matches!(before, Some('+' | '-')) { start - 1 } else { start },
        end: start + digits.len() + (after.len() - rest.len()) + unit.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_with_unit_sign_and_precision() {
        let found =
            numbers("from 1,488,095 pps to 4.83 Mpps, -7.2% and +3 per cent in 2000 flows, v1.2");
        let values: Vec<f64> = found.iter().map(|f| f.value).collect();
        assert_eq!(values, [1_488_095.0, 4.83e6, -7.2, 3.0]);
        assert_eq!(found[1].half_digit, 5e3);
        assert!(found[2].is_signed && !found[1].is_signed);
    }

    #[test]
    fn nearest_word_of_direction_decides() {
        let line =
            "an improvement of 17.5% on IPv4, and a long way off a reduction of 7.2% on IPv6";
        let found = numbers(line);
        assert_eq!(direction(line, &found[0]), Some(1.0));
        assert_eq!(direction(line, &found[1]), Some(-1.0));
    }
}
