//! Faster, slower or the same: the words of change and what negates or voids them.

use super::lexicon::{
    BRINGS, DOWN, DOWN_WORDS, NEGATIONS, NEUTRAL, NEUTRAL_VERBS, SAME, UNTOUCHED, UP, UP_WORDS,
};
use super::{Sign, Stance, words};
use crate::vocabulary::{Sense, sense, turn};

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
    let mut index = 0;
    while index < words.len() {
        let (next, end) = match turn(&words, index) {
            Some((sense, end)) => (stance_of_sense(&words, (index, end), sense), end),
            None => (stance_of_word(&words, index, &words[index].1), index + 1),
        };
        index = end;
        let Some(next) = next else { continue };
        found = match (found, next) {
            (Stance::Silent, next) => next,
            (Stance::Change(a, w), Stance::Change(b, _)) if a == b => Stance::Change(a, w),
            (Stance::Change(..), Stance::Change(..)) => return Stance::Mixed,
            (Stance::Differs(_), next @ Stance::Change(..)) => next,
            (first, _) => first,
        };
    }
    found
}

/// What a word or a turn of the vocabulary, from `begin` to `end`, says with what stands around it.
fn stance_of_sense(
    words: &[(usize, String)],
    (begin, end): (usize, usize),
    sense: Sense,
) -> Option<Stance> {
    let said = words[begin..end].iter().map(|(_, w)| w.as_str()).collect::<Vec<_>>().join(" ");
    let is_denied = is_negated(words, begin);
    let change = |sign: Sign, said: String| match is_denied {
        true => Stance::NotThat(sign, said),
        false => Stance::Change(sign, said),
    };
    // what denies a change, and its denial
    let denies = |sign: Sign, said: String| match is_denied {
        true => Stance::Change(sign, said),
        false => Stance::NotThat(sign, said),
    };
    if matches!(sense, Sense::Rise | Sense::Fall | Sense::Good | Sense::Bad)
        && is_of_a_setting(words, begin)
    {
        return None;
    }
    let turned = |sign: Sign| if is_of_a_burden(words, begin) { sign.turned() } else { sign };
    Some(match sense {
        Sense::Rise => change(turned(Sign::Up), said),
        Sense::Fall => change(turned(Sign::Down), said),
        Sense::Good => change(Sign::Up, said),
        Sense::Bad => change(Sign::Down, said),
        Sense::Alike if end == begin + 1 && !is_predicate(words, begin) => return None,
        Sense::Alike if is_denied => Stance::Differs(format!("not {said}")),
        Sense::Alike => Stance::NoChange(said),
        Sense::Free | Sense::Harmless => denies(Sign::Down, said),
        Sense::Useless => denies(Sign::Up, said),
    })
}

/// "The rates stay flat", "comparable figures": an adjective of sameness that is said of what is measured.
fn is_predicate(words: &[(usize, String)], index: usize) -> bool {
    const COPULAS: [&str; 22] = [
        "is", "are", "was", "were", "stays", "stay", "stayed", "remains", "remain", "remained",
        "be", "perform", "performs", "look", "looks", "keeps", "behave", "behaves", "being",
        "almost", "pretty", "both",
    ];
    let near = |from: usize, to: usize| words.get(from..to.min(words.len())).unwrap_or_default();
    let before = near(index.saturating_sub(3), index);
    let after = near(index + 1, index + 4);
    words.len() <= 5
        || before.iter().any(|(_, w)| COPULAS.contains(&w.as_str()))
        || is_about_speed(after)
}

/// "The cost falls", "reduces the latency": what changes is the better the lower it is.
fn is_of_a_burden(words: &[(usize, String)], index: usize) -> bool {
    const BURDENS: [&str; 14] = [
        "cost", "costs", "price", "overhead", "penalty", "latency", "delay", "time", "cycles",
        "toll", "loss", "losses", "damage", "ns",
    ];
    let at = |i: usize| words.get(i).map_or("", |(_, w)| w.as_str());
    let is_burden = |i: usize| BURDENS.contains(&at(i));
    let is_rate =
        |w: &str| matches!(w, "performance" | "throughput" | "rate" | "forwarding" | "speed");
    let is_object = (1..=3).find(|n| is_burden(index + n)).is_some_and(|n| {
        (1..n)
            .all(|k| !is_rate(at(index + k)) && !matches!(at(index + k), "by" | "of" | "is" | "a"))
    });
    let is_subject =
        (1..=7).filter_map(|n| index.checked_sub(n)).find(|i| is_burden(*i)).is_some_and(|i| {
            let before = i.checked_sub(1).map_or("", at);
            let is_noun = matches!(
                before,
                "the" | "its" | "a" | "this" | "their" | "per" | "per-packet" | "per-frame"
            ) || at(i + 1) == "of";
            is_noun && (i + 1..index).all(|k| !is_rate(at(k)))
        });
    is_object || is_subject
}

/// Whether something before a word denies it: near, or with nothing but light words between.
pub(super) fn is_negated(words: &[(usize, String)], index: usize) -> bool {
    const LIGHT: [&str; 51] = [
        "a",
        "an",
        "the",
        "any",
        "much",
        "really",
        "so",
        "that",
        "big",
        "significant",
        "clear",
        "real",
        "measurable",
        "noticeable",
        "visible",
        "performance",
        "forwarding",
        "rate",
        "throughput",
        "to",
        "for",
        "of",
        "us",
        "be",
        "been",
        "make",
        "makes",
        "get",
        "gets",
        "bring",
        "brings",
        "show",
        "shows",
        "see",
        "give",
        "gives",
        "have",
        "has",
        "from",
        "it",
        "did",
        "does",
        "machine",
        "kernel",
        "enough",
        "call",
        "claim",
        "say",
        "seen",
        "found",
        "proves",
    ];
    let at = |i: usize| words.get(i).map_or("", |(_, w)| w.as_str());
    let is_light = |i: usize| {
        LIGHT.contains(&at(i))
            || crate::vocabulary::is_machine(at(i))
            || at(i).ends_with("ly")
            || fwdlab_netbenches::name::family_word(at(i)).is_some()
    };
    (1..=7).filter_map(|back| Some((back, index.checked_sub(back)?))).any(|(back, i)| {
        let is_only = at(i) == "not" && matches!(at(i + 1), "only" | "just");
        let is_none = at(i) == "single" && is_negation(at(i.saturating_sub(2)));
        let is_far =
            at(i) == "far" && at(i + 1) == "from" || at(i) == "anything" && at(i + 1) == "but";
        // "it would be wrong to say that"
        let is_refused = matches!(at(i), "wrong" | "false" | "incorrect" | "untrue")
            && matches!(at(i + 1), "to" | "that");
        let is_it = is_negation(at(i)) && !is_only || is_none || is_far || is_refused;
        let is_near = back <= 3 || at(i) != "without" && (i + 1..index).all(is_light);
        is_it && is_near
    })
}

fn stance_of_word(words: &[(usize, String)], index: usize, word: &str) -> Option<Stance> {
    let is = |list: &[&str]| list.iter().any(|w| word.starts_with(w));
    let at = |i: usize| words.get(i).map_or("", |(_, w)| w.as_str());
    let is_negated = is_negated(words, index);
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
    if let Some(said) = alike(words, index, is_negated) {
        return said;
    }
    let Some(sign) = sign else {
        return stance_of_sense(words, (index, index + 1), sense(word)?);
    };
    if is_of_a_setting(words, index) {
        return None;
    }
    let is_movement = matches!(sense(word), Some(Sense::Rise | Sense::Fall));
    let sign = if is_movement && is_of_a_burden(words, index) { sign.turned() } else { sign };
    if is_negated {
        return Some(Stance::NotThat(sign, word.to_owned()));
    }
    Some(Stance::Change(sign, word.to_owned()))
}

/// What a word says of nothing having changed; the inner `None` where it says nothing and is not to be read otherwise.
fn alike(words: &[(usize, String)], index: usize, is_negated: bool) -> Option<Option<Stance>> {
    let at = |i: usize| words.get(i).map_or("", |(_, w)| w.as_str());
    let word = at(index);
    if let Some(said) = nothing(words, index) {
        return Some(Some(said));
    }
    if is_as_fast_as(words, index) {
        return Some((!is_negated).then(|| Stance::NoChange(format!("as {word} as"))));
    }
    // "not impacted by the patch": of what else could it be
    let is_by = at(index + 1) == "by";
    if NEUTRAL_VERBS.contains(&word) && (is_by || is_about_speed(words) || names_family(words)) {
        return Some(is_negated.then(|| Stance::NoChange(format!("not {word}"))));
    }
    let is_on_par = word == "par" && index.checked_sub(1).is_some_and(|i| at(i) == "on");
    if (UNTOUCHED.contains(&word) || is_on_par) && (is_about_speed(words) || names_family(words)) {
        return Some((!is_negated).then(|| Stance::NoChange(word.to_owned())));
    }
    if SAME.contains(&word) {
        return Some(same(words, index, is_negated));
    }
    if !NEUTRAL.contains(&word) {
        return None;
    }
    // "impact on inet6: none"
    let is_none = words.last().is_some_and(|(_, w)| matches!(w.as_str(), "none" | "nil"));
    let is_strong = index.checked_sub(1).is_some_and(|i| STRONG.contains(&at(i)));
    Some(match is_negated || is_none {
        true => Some(Stance::NoChange(format!("no {word}"))),
        false => is_strong.then(|| Stance::Differs(format!("{} {word}", at(index - 1)))),
    })
}

/// "Nothing changes", "it brings nothing", "nothing to report".
fn nothing(words: &[(usize, String)], index: usize) -> Option<Stance> {
    let at = |i: usize| words.get(i).map_or("", |(_, w)| w.as_str());
    let word = at(index);
    let is_report = word == "nothing"
        && at(index + 1) == "to"
        && matches!(at(index + 2), "report" | "see" | "say" | "gain");
    if is_report {
        return Some(Stance::NoChange("nothing to report".to_owned()));
    }
    let is_apart = word == "apart"
        && words[..index].iter().any(|(_, w)| matches!(w.as_str(), "tell" | "told" | "keep"))
        && words[..index]
            .iter()
            .any(|(_, w)| matches!(w.as_str(), "can't" | "cannot" | "not" | "hard" | "couldn't"));
    if is_apart {
        return Some(Stance::NoChange("cannot tell apart".to_owned()));
    }
    let is_nothing = (word.starts_with("change")
        && index.checked_sub(1).is_some_and(|i| at(i) == "nothing")
        || BRINGS.contains(&word) && at(index + 1) == "nothing")
        && !words.iter().any(|(_, w)| w.starts_with("config") || w.starts_with("setting"));
    is_nothing.then(|| Stance::NoChange(format!("{word} nothing")))
}

/// "The same", "identical within the noise"; "same drop" speaks of a drop.
fn same(words: &[(usize, String)], index: usize, is_negated: bool) -> Option<Stance> {
    let at = |i: usize| words.get(i).map_or("", |(_, w)| w.as_str());
    let word = at(index);
    if UP.iter().chain(&DOWN).any(|w| at(index + 1).starts_with(w)) {
        return None;
    }
    if is_negated && is_about_speed(words) {
        return Some(Stance::Differs(format!("not {word}")));
    }
    let is_within_noise = at(index + 1) == "within"
        && words.iter().any(|(_, w)| matches!(w.as_str(), "error" | "noise" | "margin"));
    let is_claim =
        !is_negated && (ALONE.contains(&word) || is_about_speed(words) || is_within_noise);
    is_claim.then(|| Stance::NoChange(word.to_owned()))
}

fn is_cost(word: &str) -> bool {
    ["cost", "price", "overhead", "penalt"].iter().any(|noun| word.starts_with(noun))
}

/// "The cost of pf is lower than that of ipfw": where the comparative stands.
fn compares_costs(words: &[(usize, String)]) -> Option<usize> {
    let at = |i: usize| words.get(i).map_or("", |(_, w)| w.as_str());
    let is_it = |&i: &usize| {
        let is_before = || words[..i].iter().any(|(_, w)| is_cost(w));
        let is_after = || words[i..].iter().any(|(_, w)| is_cost(w) || w == "that");
        weighed(at(i)).is_some() && at(i + 1) == "than" && is_before() && is_after()
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
    NEGATIONS.contains(&word) || word.ends_with("n't")
}

/// Adjectives by which a difference is one.
const STRONG: [&str; 16] = [
    "huge",
    "big",
    "large",
    "clear",
    "significant",
    "noticeable",
    "visible",
    "measurable",
    "strong",
    "massive",
    "substantial",
    "considerable",
    "real",
    "enormous",
    "important",
    "notable",
];

/// "Huge difference": whether what [`Stance::Differs`] was said by asks for a large one.
pub fn is_of_a_huge_one(said: &str) -> bool {
    const HUGE: [&str; 6] = ["huge", "big", "large", "massive", "substantial", "enormous"];
    said.split(' ').next().is_some_and(|word| HUGE.contains(&word))
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
        // "95 ns less", "300 cycles more": of what a frame takes
        "more" if is_time(before) => return Some(Sign::Down),
        "less" | "fewer" if is_time(before) => return Some(Sign::Up),
        "more" => Sign::Up,
        "less" | "fewer" => Sign::Down,
        _ => return None,
    };
    let is_frames = |word: &str, nouns: &[&str]| nouns.iter().any(|noun| word.starts_with(noun));
    let is_of_speed = is_frames(at(index + 1), &["pps", "performance", "throughput", "forward"]);
    let is_of_frames = (1..=3).any(|n| is_frames(at(index + n), &["packet", "frame"]));
    let is_counted = before.ends_with('%') || before == "percent" || QUANTIFIERS.contains(&before);
    let is_sent =
        ["send", "sent", "generat", "offer", "receiv", "the", "of", "with", "for", "need"];
    let is_moved = !before.is_empty() && !is_sent.iter().any(|verb| before.starts_with(verb));
    let is_able = ["performant", "efficient", "effective", "capable", "powerful", "productive"];
    let is_it = is_counted && is_of_speed
        || is_of_frames && (is_counted || is_moved)
        || is_able.contains(&at(index + 1));
    is_it.then_some(sign)
}

/// Whether a word is a unit of the time that a frame takes.
fn is_time(word: &str) -> bool {
    matches!(word, "ns" | "nanoseconds" | "us" | "µs" | "microseconds" | "cycles")
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

/// What may change beside a rate.
const OF_OTHERS: [&str; 24] = [
    "error",
    "noise",
    "deviation",
    "variance",
    "jitter",
    "buffer",
    "buffers",
    "mbuf",
    "mbufs",
    "descriptors",
    "limit",
    "limits",
    "memory",
    "clock",
    "frequency",
    "temperature",
    "fan",
    "timeout",
    "interval",
    "samples",
    "size",
    "confidence",
    "precision",
    "turbo",
];

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
    // "to reduce the error" is about the measurement, "increased the buffer" about what was set
    let is_of_errors = (1..=3).any(|n| OF_OTHERS.contains(&at(index + n)));
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
