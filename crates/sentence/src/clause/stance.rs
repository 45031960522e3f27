//! Faster, slower or the same: the words of change and what negates or voids them.

use super::lexicon::{
    BRINGS, DOWN, DOWN_WORDS, NEGATIONS, NEUTRAL, NEUTRAL_VERBS, SAME, UNTOUCHED, UP, UP_WORDS,
};
use super::{Sign, Stance, words};

/// Faster, slower or the same. Parentheses count only when nothing outside says
/// anything.
pub(super) fn stance(text: &str) -> Stance {
    let outside = without_parentheses(text);
    match stance_of(&outside) {
        Stance::Silent if outside.len() < text.len() => stance_of(text),
        stance => stance,
    }
}

fn without_parentheses(text: &str) -> String {
    let mut depth = 0usize;
    let mut kept = String::new();
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            c if depth == 0 => kept.push(c),
            _ => {}
        }
    }
    kept
}

fn stance_of(text: &str) -> Stance {
    let words = words(text);
    let is_reading_aid = words.windows(2).any(|w| w[0].1 == "is" && w[1].1 == "better");
    if is_reading_aid && words.len() <= 6 {
        return Stance::Silent; // "(higher is better)"
    }
    let mut found = Stance::Silent;
    for (index, (_, word)) in words.iter().enumerate() {
        let Some(next) = stance_of_word(&words, index, word) else { continue };
        found = match (found, next) {
            (Stance::Silent, next) => next,
            (Stance::Change(a, w), Stance::Change(b, _)) if a == b => Stance::Change(a, w),
            (Stance::Change(..), Stance::Change(..)) => return Stance::Mixed,
            (first, _) => first,
        };
    }
    found
}

fn stance_of_word(words: &[(usize, String)], index: usize, word: &str) -> Option<Stance> {
    let is = |list: &[&str]| list.iter().any(|w| word.starts_with(w));
    let at = |i: usize| words.get(i).map_or("", |(_, w)| w.as_str());
    let is_negated = (1..=3).any(|back| {
        index.checked_sub(back).is_some_and(|i| {
            let is_none = at(i) == "single" && is_negation(at(i.saturating_sub(2)));
            let is_only = at(i) == "not" && matches!(at(i + 1), "only" | "just");
            NEGATIONS.contains(&at(i)) && !is_only || is_none
        })
    });
    if is_cost(at(index + 1))
        && let Some(sign) = weighed(word)
    {
        let word = format!("{word} {}", at(index + 1));
        return (!is_negated).then_some(Stance::Change(sign, word));
    }
    let of_costs = compares_costs(words);
    let is_behind = index.checked_sub(1).is_some_and(|i| weighed(at(i)).is_some());
    if is_cost(word) && (is_behind || of_costs.is_some_and(|at| index < at)) {
        return None;
    }
    if of_costs == Some(index) {
        let sign = weighed(word).filter(|_| !is_negated);
        return sign.map(|sign| Stance::Change(sign, format!("{word} cost")));
    }
    let sign = match () {
        () if DOWN_WORDS.contains(&word) => Some(Sign::Down),
        () if is(&UP) || UP_WORDS.contains(&word) => Some(Sign::Up),
        () if is(&DOWN) => Some(Sign::Down),
        () => amount(words, index).or_else(|| movement(words, index)),
    };
    if (NEUTRAL.contains(&word) || JUDGED.contains(&word))
        && let Some(sign) = index.checked_sub(1).and_then(|i| quality(at(i)))
    {
        let word = format!("{} {word}", at(index - 1));
        return Some(match is_negated {
            true => Stance::NotThat(sign, word),
            false => Stance::Change(sign, word),
        });
    }
    if word == "significant"
        && is_negated
        && words.iter().any(|(_, w)| NEUTRAL.contains(&w.as_str()))
    {
        return Some(Stance::NoChange("not significant".to_owned()));
    }
    let is_nothing = (word.starts_with("change")
        && index.checked_sub(1).is_some_and(|i| at(i) == "nothing")
        || BRINGS.contains(&word) && at(index + 1) == "nothing")
        && !words.iter().any(|(_, w)| w.starts_with("config") || w.starts_with("setting"));
    let is_report = word == "nothing"
        && at(index + 1) == "to"
        && matches!(at(index + 2), "report" | "see" | "say" | "gain");
    if is_report {
        return Some(Stance::NoChange("nothing to report".to_owned()));
    }
    if is_nothing {
        return Some(Stance::NoChange(format!("{word} nothing")));
    }
    if is_as_fast_as(words, index) {
        return (!is_negated).then(|| Stance::NoChange(format!("as {word} as")));
    }
    // "not impacted by the patch": of what else could it be
    let is_by = at(index + 1) == "by";
    if NEUTRAL_VERBS.contains(&word) && (is_by || is_about_speed(words) || names_family(words)) {
        return is_negated.then(|| Stance::NoChange(format!("not {word}")));
    }
    let is_on_par = word == "par" && index.checked_sub(1).is_some_and(|i| at(i) == "on");
    if (UNTOUCHED.contains(&word) || is_on_par) && (is_about_speed(words) || names_family(words)) {
        return (!is_negated).then(|| Stance::NoChange(word.to_owned()));
    }
    let is_change = |word: &str| UP.iter().chain(&DOWN).any(|w| word.starts_with(w));
    if SAME.contains(&word) && is_change(at(index + 1)) {
        return None; // "same drop" speaks of a drop
    }
    if SAME.contains(&word) {
        let is_within_noise = at(index + 1) == "within"
            && words.iter().any(|(_, w)| matches!(w.as_str(), "error" | "noise" | "margin"));
        let is_claim =
            !is_negated && (ALONE.contains(&word) || is_about_speed(words) || is_within_noise);
        return is_claim.then(|| Stance::NoChange(word.to_owned()));
    }
    if NEUTRAL.contains(&word) {
        // "impact on inet6: none"
        let is_none = words.last().is_some_and(|(_, w)| matches!(w.as_str(), "none" | "nil"));
        return (is_negated || is_none).then(|| Stance::NoChange(format!("no {word}")));
    }
    let sign = sign?;
    if is_of_a_setting(words, index) {
        return None;
    }
    if is_negated {
        return Some(Stance::NotThat(sign, word.to_owned()));
    }
    Some(Stance::Change(sign, word.to_owned()))
}

fn is_cost(word: &str) -> bool {
    ["cost", "price", "overhead", "penalt"].iter().any(|noun| word.starts_with(noun))
}

/// "The cost of pf is lower than that of ipfw": where the comparative stands.
fn compares_costs(words: &[(usize, String)]) -> Option<usize> {
    let at = |i: usize| words.get(i).map_or("", |(_, w)| w.as_str());
    let is_it = |&i: &usize| {
        let is_before = words[..i].iter().any(|(_, w)| is_cost(w));
        let is_after = words[i..].iter().any(|(_, w)| is_cost(w) || w == "that");
        weighed(at(i)).is_some() && at(i + 1) == "than" && is_before && is_after
    };
    (0..words.len()).find(is_it)
}

/// "A lower cost", "a bigger price": the comparatives of what is paid.
fn weighed(word: &str) -> Option<Sign> {
    match word {
        "lower" | "smaller" | "cheaper" => Some(Sign::Up),
        "higher" | "bigger" | "larger" | "greater" => Some(Sign::Down),
        _ => None,
    }
}

fn is_negation(word: &str) -> bool {
    NEGATIONS.contains(&word)
}

/// "A positive impact", "a negative effect": which way a change goes.
fn quality(word: &str) -> Option<Sign> {
    match word {
        "positive" | "good" | "beneficial" | "great" | "nice" | "excellent" => Some(Sign::Up),
        "negative" | "bad" | "adverse" | "terrible" | "awful" => Some(Sign::Down),
        _ => None,
    }
}

/// What is good or bad as the change is that it stands for.
const JUDGED: [&str; 6] = ["idea", "news", "choice", "surprise", "thing", "deal"];

/// "Speeds up", "packets per second go down": verbs of movement where the clause is about speed.
fn movement(words: &[(usize, String)], index: usize) -> Option<Sign> {
    let at = |i: usize| words.get(i).map_or("", |(_, w)| w.as_str());
    let before = index.checked_sub(1).map_or("", at);
    let is_of_frames = || words.iter().any(|(_, w)| matches!(w.as_str(), "packets" | "frames"));
    match (at(index), at(index + 1)) {
        ("good", "for") => Some(Sign::Up),
        ("takes" | "took", _)
            if (1..=4).any(|k| matches!(at(index + k), "out" | "off" | "away")) =>
        {
            Some(Sign::Down)
        }
        ("step", "back" | "backward" | "backwards") => Some(Sign::Down),
        ("step", "forward") => Some(Sign::Up),
        ("got" | "gets" | "get", "something" | "anything") => Some(Sign::Up),
        ("hit" | "hits", next) if fwdlab_netbenches::name::family_word(next).is_some() => {
            Some(Sign::Down)
        }
        ("hit", _) if matches!(before, "a" | "performance" | "big" | "huge") => Some(Sign::Down),
        ("speed" | "speeds" | "sped", _) if (1..=4).any(|k| at(index + k) == "up") => {
            Some(Sign::Up)
        }
        ("bad", "for") => Some(Sign::Down),
        (verb, "by" | "from") if is_number(at(index + 2)) => moves(verb),
        (verb, "to") if is_rate(words, index + 2) => moves(verb),
        ("go" | "goes" | "went" | "come" | "comes" | "came", way @ ("up" | "down"))
            if is_about_speed(words) || is_of_frames() =>
        {
            Some(if way == "up" { Sign::Up } else { Sign::Down })
        }
        (verb, next) if next != "back" && verb != "fallback" && names_family(words) => moves(verb),
        _ => None,
    }
}

/// Which way a verb of movement goes.
fn moves(verb: &str) -> Option<Sign> {
    let is = |list: &[&str]| list.iter().any(|begin| verb.starts_with(begin));
    if is(&["jump", "climb", "leap", "rise", "rose", "soar"]) {
        return Some(Sign::Up);
    }
    let is_down = is(&["fall", "fell", "sink", "sank", "tumbl", "plung", "collaps"]);
    is_down.then_some(Sign::Down)
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

/// Whether a rate begins at a word: `1.2 Mpps`, `300Kpps`.
fn is_rate(words: &[(usize, String)], index: usize) -> bool {
    let at = |i: usize| words.get(i).map_or("", |(_, w)| w.as_str());
    is_number(at(index)) && (at(index).ends_with("pps") || at(index + 1).ends_with("pps"))
}

/// Words before "more packets" that make it a claim, and no name of what is sent.
const QUANTIFIERS: [&str; 13] = [
    "little", "bit", "lot", "much", "even", "slightly", "far", "many", "gives", "brings",
    "forwards", "gets", "get",
];

/// "27 % more packets", "a bit less performance": more and less of what is forwarded.
fn amount(words: &[(usize, String)], index: usize) -> Option<Sign> {
    let at = |i: usize| words.get(i).map_or("", |(_, w)| w.as_str());
    let before = index.checked_sub(1).map_or("", at);
    let sign = match at(index) {
        // "1.4 % below what it was"
        "above" if before.ends_with('%') => return Some(Sign::Up),
        "below" if before.ends_with('%') => return Some(Sign::Down),
        "more" => Sign::Up,
        "less" | "fewer" => Sign::Down,
        _ => return None,
    };
    let is_of_frames = ["packet", "frame", "pps", "performance", "throughput", "forward"]
        .iter()
        .any(|noun| at(index + 1).starts_with(noun));
    let is_counted = before.ends_with('%') || before == "percent" || QUANTIFIERS.contains(&before);
    (is_counted && is_of_frames).then_some(sign)
}

/// "As fast as", but not "twice as fast as".
fn is_as_fast_as(words: &[(usize, String)], index: usize) -> bool {
    let at = |i: usize| words.get(i).map_or("", |(_, w)| w.as_str());
    let Some(first) = index.checked_sub(1).filter(|_| matches!(at(index), "fast" | "quick")) else {
        return false;
    };
    let before = first.checked_sub(1).map_or("", at);
    let is_counted =
        matches!(before, "times" | "twice" | "half" | "thrice" | "nearly" | "almost" | "again");
    at(first) == "as" && at(index + 1) == "as" && !is_counted
}

fn names_family(words: &[(usize, String)]) -> bool {
    words.iter().any(|(_, w)| fwdlab_netbenches::name::family_word(w).is_some())
}

/// Words of sameness that speak of a result by themselves.
const ALONE: [&str; 7] = [
    "unchanged",
    "neutral",
    "negligible",
    "identically",
    "indistinguishable",
    "unaffected",
    "unimpacted",
];

/// "The same speed" is a claim, "the same hardware" is none.
fn is_about_speed(words: &[(usize, String)]) -> bool {
    const SPEED: [&str; 18] = [
        "performance",
        "performances",
        "speed",
        "throughput",
        "pps",
        "rate",
        "forwarding",
        "level",
        "impact",
        "speeds",
        "rates",
        "result",
        "results",
        "figures",
        "behavior",
        "behaviour",
        "number",
        "numbers",
    ];
    words.iter().any(|(_, w)| SPEED.contains(&w.as_str()))
}

/// "increased from 32K to 256K", "packet loss", "reduced number of queues": a
/// setting or a count moved, not the rate.
fn is_of_a_setting(words: &[(usize, String)], index: usize) -> bool {
    let at = |i: usize| words.get(i).map_or("", |(_, w)| w.as_str());
    let before = index.checked_sub(1).map_or("", at);
    let word = at(index);
    let is_moved = matches!(
        word,
        "increased"
            | "decreased"
            | "reduced"
            | "lowered"
            | "raised"
            | "increasing"
            | "decreasing"
            | "reducing"
            | "lowering"
            | "raising"
    );
    let to_a_value = (1..=4).any(|n| {
        matches!(at(index + n), "from" | "to")
            && at(index + n + 1).starts_with(|c: char| c.is_ascii_digit())
            && !at(index + n + 1).ends_with("pps")
            && !at(index + n + 1).ends_with('%')
    });
    let is_of_packets = word.starts_with("drop") && at(index + 1).starts_with("packet");
    let is_slow_path =
        word.starts_with("slow") && (word.contains("path") || at(index + 1) == "path");
    let is_number_of = at(index + 1) == "number" || at(index + 2) == "number";
    // "to reduce the error" is about the measurement
    let is_of_errors = (1..=3)
        .any(|n| ["error", "noise", "deviation", "variance", "jitter"].contains(&at(index + n)));
    // "the faster of the two" ranks what the clause names, not the block's sets, but for families
    let is_ranking = before == "the" && at(index + 1) == "of" && !names_family(words);
    // "the impact is lower" weighs a change, and does not say which way it goes
    let subject = index.checked_sub(2).map_or("", at);
    let is_weighed = matches!(before, "is" | "was" | "are")
        && matches!(subject, "impact" | "difference" | "effect" | "gap" | "overhead" | "penalty");
    let is_up = UP.iter().any(|up| word.starts_with(up));
    matches!(before, "packet" | "packets" | "frame") && !is_up
        || is_ranking
        || is_weighed
        || is_of_packets
        || is_of_errors
        || is_slow_path
        || is_moved && (to_a_value || is_number_of)
        || word == "cost" && before == "at"
        || word.starts_with("lower") && at(index + 1) == "layer"
}
