//! Percentages in prose, with sign, precision and softening words.

use super::{Bound, Percent, Sign, Stance, words};

/// Percentages of a text that can be changes of a rate.
pub(super) fn percents(text: &str) -> Vec<Percent> {
    let lower = text.to_lowercase();
    let mut found = Vec::new();
    if lower.len() != text.len() {
        return found; // letters of other scripts: places would not match
    }
    let signs = lower.match_indices('%').map(|(at, _)| (at, 1));
    let names = lower.match_indices("percent").map(|(at, _)| (at, 7));
    for (at, length) in signs.chain(names) {
        if let Some(percent) = percent_before(text, at)
            && !is_other_share(&lower, &percent, at + length)
        {
            found.push(kept(&lower, percent, at + length));
        }
    }
    found.extend(fraction(&lower).filter(|_| found.is_empty()));
    if found.len() == 2 && is_span(text) && found[0].upper.is_none() {
        found[0].upper = found.pop().map(|last: Percent| last.value);
    }
    found
}

/// "Keeps 59 % of the speed", "60 % of the rate remain": what is left, as the drop that it leaves.
fn kept(lower: &str, percent: Percent, end: usize) -> Percent {
    const KEEPS: [&str; 5] = ["keep", "kept", "retain", "remain", "preserv"];
    let is_of = lower[end..].trim_start().strip_prefix("of ").is_some_and(names_speed);
    let words = words(lower);
    let keeps = words.iter().any(|(_, w)| KEEPS.iter().any(|k| w.starts_with(k)) || w == "left");
    // "gives 78 % of the performance": too much for a change without a word of one
    let is_level = || percent.value > 50.0 && super::stance::stance(lower) == Stance::Silent;
    let is_denied = words.iter().any(|(_, w)| matches!(w.as_str(), "not" | "no" | "never"));
    let is_whole = percent.sign.is_none() && percent.upper.is_none() && percent.value <= 100.0;
    if !is_of || !(keeps || is_level()) || is_denied || !is_whole {
        return percent;
    }
    let bound = percent.bound.map(|bound| match bound {
        Bound::Above => Bound::Below,
        Bound::Below => Bound::Above,
    });
    Percent { value: 100.0 - percent.value, sign: Some(Sign::Down), bound, ..percent }
}

/// What a percentage can be of and still be a change: `5 % of its speed`.
fn names_speed(rest: &str) -> bool {
    const SPEEDS: [&str; 8] =
        ["speed", "rate", "performance", "throughput", "forwarding", "pps", "improvement", "gain"];
    words(rest).iter().take(3).any(|(_, w)| SPEEDS.contains(&w.as_str()))
}

/// "By one fourth", "a third of the rate": a change in words, where the text speaks of one.
fn fraction(lower: &str) -> Option<Percent> {
    const PARTS: [(&str, f64); 7] = [
        ("half", 2.0),
        ("third", 3.0),
        ("quarter", 4.0),
        ("fourth", 4.0),
        ("fifth", 5.0),
        ("sixth", 6.0),
        ("tenth", 10.0),
    ];
    let words = words(lower);
    let (index, parts) = words.iter().enumerate().find_map(|(index, (_, word))| {
        let part = PARTS.iter().find(|(name, _)| name == word)?;
        Some((index, part.1)).filter(|_| index > 0)
    })?;
    let (offset, article) = &words[index - 1];
    let before = index.checked_sub(2).map_or("", |i| words[i].1.as_str());
    let stance = super::stance::stance(lower);
    // "up by one half" is half as much again, where "down by half" is a factor as well
    let is_up_by_half = before == "by" && matches!(stance, Stance::Change(Sign::Up, _));
    // "by half" and "half of" are factors as well; "the third run" counts
    let is_share = matches!(article.as_str(), "a" | "one")
        && (before == "by"
            || before == "than"
            || words.get(index + 1).is_none_or(|(_, w)| w == "of"));
    let is_change = !matches!(stance, Stance::Silent | Stance::Mixed);
    let previous = &words[..index - 1];
    (is_share && is_change && (parts > 2.0 || is_up_by_half)).then(|| Percent {
        value: 100.0 / parts,
        upper: None,
        decimals: 0,
        sign: None,
        bound: bound_before(&lower[..*offset], previous),
        is_rough: true,
        text: format!("{article} {}", words[index].1),
        offset: *offset,
    })
}

/// Whether a text speaks of a span: "between 5% and 10%", "from 5% to 10%".
pub(super) fn is_span(text: &str) -> bool {
    words(text).iter().any(|(_, w)| w == "between" || w == "from")
}

/// The number that ends at `end`, blanks between allowed.
fn percent_before(text: &str, end: usize) -> Option<Percent> {
    let head = text[..end].trim_end();
    let number = number_at_end(head)?;
    let value: f64 = number.replace(',', ".").parse().ok()?;
    let rest = &head[..head.len() - number.len()];
    if ["+/-", "+-", "±"].iter().any(|sign| rest.trim_end().ends_with(sign)) {
        return None; // the half width of an interval
    }
    let (sign, rest, lower) = match rest.chars().last() {
        Some('+') => (Some(Sign::Up), &rest[..rest.len() - 1], None),
        Some(dash @ ('-' | '−' | '–')) => {
            let before = &rest[..rest.len() - dash.len_utf8()];
            match number_at_end(before.trim_end_matches('%').trim_end()) {
                Some(first) => (None, before, first.replace(',', ".").parse::<f64>().ok()),
                None => (Some(Sign::Down), before, None),
            }
        }
        _ => match span_start(rest) {
            Some((first, before)) => (None, before, Some(first)),
            None => (None, rest, None),
        },
    };
    let previous = words(&rest.to_lowercase());
    let is_arrow = ["=>", "->"].iter().any(|arrow| rest.trim_end().ends_with(arrow));
    let is_rough = !is_arrow && rest.trim_end().ends_with(['~', '≈', '>', '<'])
        || previous.iter().rev().take(2).any(|(_, w)| ROUGH.contains(&w.as_str()));
    Some(Percent {
        value: lower.unwrap_or(value),
        upper: lower.map(|_| value),
        decimals: number.split(['.', ',']).nth(1).map_or(0, str::len),
        sign,
        bound: bound_before(rest, &previous),
        is_rough,
        text: format!("{}%", &text[end - (end - rest.len())..end].trim()),
        offset: rest.len(),
    })
}

/// "More than", "at least", `>`; "less than", "under", `<`.
fn bound_before(rest: &str, words: &[(usize, String)]) -> Option<Bound> {
    let at = |back: usize| words.iter().rev().nth(back).map_or("", |(_, w)| w.as_str());
    let is_arrow = ["=>", "->"].iter().any(|arrow| rest.trim_end().ends_with(arrow));
    match (at(1), at(0)) {
        _ if !is_arrow && rest.trim_end().ends_with('>') => Some(Bound::Above),
        _ if rest.trim_end().ends_with('<') => Some(Bound::Below),
        ("more" | "higher" | "better" | "greater" | "bigger", "than") | ("at", "least") => {
            Some(Bound::Above)
        }
        ("less" | "fewer" | "lower" | "smaller", "than")
        | ("at", "most")
        | (_, "under" | "below") => Some(Bound::Below),
        _ => None,
    }
}

/// `20 to 25 %`, `between 5 and 10 %`: the first number without a `%` of its own.
fn span_start(rest: &str) -> Option<(f64, &str)> {
    let rest = rest.trim_end();
    let joint = [" to", " and", " or", ".."].into_iter().find(|joint| rest.ends_with(joint))?;
    let head = rest[..rest.len() - joint.len()].trim_end();
    let number = number_at_end(head)?;
    let before = &head[..head.len() - number.len()];
    let is_bound = joint != " and" || words(before).last().is_some_and(|(_, w)| w == "between");
    let value = number.replace(',', ".").parse().ok()?;
    is_bound.then_some((value, before))
}

const ROUGH: [&str; 16] = [
    "about",
    "around",
    "almost",
    "nearly",
    "approximately",
    "roughly",
    "circa",
    "than",
    "over",
    "least",
    "to",
    "under",
    "approx",
    "only",
    "near",
    "some",
];

fn number_at_end(text: &str) -> Option<&str> {
    let start = text
        .char_indices()
        .rev()
        .take_while(|(_, c)| c.is_ascii_digit() || matches!(c, '.' | ','))
        .last()?
        .0;
    let number = text[start..].trim_start_matches(['.', ',']);
    let glued = text[..text.len() - number.len()].chars().last();
    let is_number = number.starts_with(|c: char| c.is_ascii_digit());
    (is_number && !glued.is_some_and(|c| c.is_alphabetic() || c == '_')).then_some(number)
}

/// Shares that are no change of a rate: confidence, processor load, loss.
fn is_other_share(lower: &str, percent: &Percent, end: usize) -> bool {
    const AFTER: [&str; 10] = [
        "confidence",
        "cpu",
        "idle",
        "load",
        "usage",
        "utilization",
        "packet",
        "busy",
        "line",
        "each",
    ];
    const BEFORE: [&str; 10] = [
        "confidence",
        "cpu",
        "cpus",
        "processor",
        "processors",
        "usage",
        "load",
        "idle",
        "utilization",
        "loaded",
    ];
    let after = lower[end..].trim_start();
    let before = words(&lower[..percent.offset]);
    // "+15 % of packets" is a change, "15 % of packets" may be lost ones
    let is_signed = |rest: &str| percent.sign.is_some() && rest.trim_start().starts_with("packets");
    let is_of =
        after.strip_prefix("of ").is_some_and(|rest| !names_speed(rest) && !is_signed(rest));
    // "+22 % packets per second" is a change, "5 % packet loss" is none
    let is_rate = after.starts_with("packets-per-s") || after.starts_with("packets per s");
    // "30 % fewer cache misses" is of the processor
    const COUNTERS: [&str; 7] =
        ["cache", "miss", "instruction", "cycle", "interrupt", "branch", "context"];
    let counted = words(after);
    let is_counter = counted.iter().take(3).any(|(_, w)| COUNTERS.iter().any(|c| w.starts_with(c)));
    // "the others were at 97 %" is a level
    let is_level = before.last().is_some_and(|(_, w)| w == "at");
    is_of
        || is_level
        || is_counter
        || !is_rate && AFTER.iter().any(|w| after.starts_with(w))
        || before.iter().rev().take(3).any(|(_, w)| BEFORE.contains(&w.as_str()))
}
