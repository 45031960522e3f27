//! Sentences and clauses.

use super::percent::{is_span, percents};

/// Splits at sentence ends and at words that turn to another claim; at `and`
/// and commas only when both sides hold a percentage of their own.
pub(super) fn split(text: &str) -> Vec<(usize, &str)> {
    const TURNS: [&str; 11] = [
        ". ",
        ".** ",
        ".* ",
        "; ",
        "! ",
        "? ",
        " but ",
        " whereas ",
        " while ",
        " however ",
        ".\n",
    ];
    const JOINTS: [&str; 3] = [" and ", ", ", " then "];
    let mut parts = vec![(0, text)];
    for turn in TURNS {
        parts = parts.into_iter().flat_map(|p| split_at(p, turn, |_, _| true)).collect();
    }
    for joint in JOINTS {
        let both =
            |a: &str, b: &str| !is_span(a) && !percents(a).is_empty() && !percents(b).is_empty();
        parts = parts.into_iter().flat_map(|p| split_at(p, joint, both)).collect();
    }
    parts = parts.into_iter().flat_map(split_at_labels).collect();
    // each side about a family of its own: "inet6 is slower, inet4 gains 17 %"
    let is_of_its_own = |a: &str, b: &str| {
        let (one, other) = (super::families(a), super::families(b));
        // "IPv4 pays a price, IPv6 none"
        let is_none = |text: &str| {
            let last = super::words(text).pop();
            last.is_some_and(|(_, word)| matches!(word.as_str(), "none" | "nothing"))
        };
        let says =
            |text: &str| super::stance::stance(text) != super::Stance::Silent || is_none(text);
        one.len() == 1 && other.len() == 1 && one != other && says(a) && says(b)
    };
    for joint in [", ", " and "] {
        parts = parts.into_iter().flat_map(|p| split_at(p, joint, is_of_its_own)).collect();
    }
    parts.retain(|(_, part)| !part.trim().is_empty());
    parts
}

/// `inet4: +14 % inet6: +8 %`: lines that each begin with what they are of.
fn split_at_labels((offset, text): (usize, &str)) -> Vec<(usize, &str)> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (colon, _) in text.match_indices(':') {
        let label = text[start..colon].trim_end().rfind(' ').map_or(start, |at| start + at + 1);
        let is_label = super::families(&text[label..colon]).len() == 1;
        let ends =
            !percents(&text[start..label]).is_empty() && !percents(&text[colon..]).is_empty();
        if label > start && is_label && ends {
            parts.push((offset + start, &text[start..label]));
            start = label;
        }
    }
    parts.push((offset + start, &text[start..]));
    parts
}

fn split_at<'a>(
    (offset, text): (usize, &'a str),
    joint: &str,
    may: impl Fn(&str, &str) -> bool,
) -> Vec<(usize, &'a str)> {
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, _) in text.match_indices(joint) {
        if at >= start && may(&text[start..at], &text[at + joint.len()..]) {
            parts.push((offset + start, &text[start..at]));
            start = at + joint.len();
        }
    }
    parts.push((offset + start, &text[start..]));
    parts
}
