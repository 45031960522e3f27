//! Rates in a sentence that are reached or left, as "forwards at 12 Mpps" and "from 480 K to 960 K",
//! and sets said to be first or last.

use crate::clause::{Bound, Clause, Sign, Stance, quotes_earlier, words};
use crate::quantity::{Rate, Scaled, rates, scaled};

/// What else moves from so many thousands to so many.
const OTHERS: [&str; 19] = [
    "state",
    "size",
    "table",
    "flow",
    "buffer",
    "queue",
    "memory",
    "entr",
    "route",
    "hash",
    "limit",
    "descriptor",
    "mbuf",
    "cache",
    "session",
    "rule",
    "connection",
    "tunnel",
    "byte",
];

/// The two rates of "from A to B" and "A -> B"; `None` where something else moves.
pub fn ends(text: &str) -> Option<(Scaled, Scaled)> {
    let lower = text.to_lowercase();
    if OTHERS.iter().any(|noun| lower.contains(noun)) {
        return None;
    }
    let mut found = scaled(text);
    found.extend(rates(text).into_iter().map(Scaled::from));
    found.sort_by_key(|number| number.offset);
    let [from, to] = found.as_slice() else { return None };
    let before = text[..from.offset].to_lowercase();
    // "908 thousand packets per second" is found in two ways, one within the other
    let between = text.get(from.offset + from.text.len()..to.offset)?.to_lowercase();
    let is_from = before.trim_end_matches(['~', ' ']).ends_with("from") && between.contains("to");
    let is_arrow = between.contains("->") || between.contains("=>") || between.contains('→');
    (is_from || is_arrow).then(|| (from.clone(), to.clone()))
}

/// The two rates of "697 Kpps without it, 818 Kpps with": the one before the change first.
pub fn sides(text: &str) -> Option<(Scaled, Scaled)> {
    let found = crate::quantity::rates_of_one_unit(text);
    let [first, second] = found.as_slice() else { return None };
    let end = |rate: &Rate| rate.offset + rate.text.len();
    let is_after = |part: &str| {
        let words = words(part);
        let mut words = words.iter().map(|(_, word)| word.as_str());
        words.find_map(|word| match word {
            "with" | "after" | "patched" => Some(true),
            "without" | "before" | "unpatched" => Some(false),
            _ => None,
        })
    };
    let [head, middle, tail] =
        [&text[..first.offset], &text[end(first)..second.offset], &text[end(second)..]]
            .map(is_after);
    // said behind each of the two, or before each
    let (one, other) = if tail.is_some() { (middle?, tail?) } else { (head?, middle?) };
    let is_plain = head.is_none() || tail.is_none();
    let pair = (Scaled::from(first.clone()), Scaled::from(second.clone()));
    let in_order = if one { (pair.1, pair.0) } else { pair };
    (one != other && is_plain).then_some(in_order)
}

/// Whether what stands before a number makes it the upper end of a range: "between 150 and".
pub fn is_end_of_range(before: &str) -> bool {
    let before = words(before);
    let last: Vec<&str> = before.iter().rev().take(4).map(|(_, word)| word.as_str()).collect();
    matches!(last.first(), Some(&("and" | "to"))) && last.iter().any(|w| matches!(*w, "between"))
}

/// Beginnings of words before a rate that is reached.
const REACHES: [&str; 11] = [
    "reach", "forward", "stay", "remain", "achiev", "sustain", "deliver", "hits", "manages",
    "does", "peak",
];

/// Verbs of what a rate lies beyond.
const CROSSES: [&str; 16] = [
    "tops",
    "topped",
    "exceeds",
    "exceeded",
    "exceed",
    "surpasses",
    "passes",
    "passed",
    "clears",
    "cleared",
    "breaks",
    "broke",
    "crosses",
    "crossed",
    "cracks",
    "cracked",
];

/// Words between those and the rate.
const SOFTENERS: [&str; 9] =
    ["about", "around", "roughly", "nearly", "almost", "only", "just", "approximately", "some"];

/// Beginnings of words of which a rate may be, other than what is forwarded; and words by which it is
/// no statement of this page.
const NO_LEVEL: [&str; 25] = [
    "load", "offer", "send", "sent", "generat", "line", "wire", "limit", "traffic", "expect",
    "would", "could", "should", "might", "not", "never", "no", "cannot", "can't", "other",
    "another", "instead", "unlike", "than", "if",
];

/// The one rate of a clause, where it says that it is reached, or a bound of what is: "inet6 forwards at
/// about 750 Kpps", "IPv6 falls below 700 Kpps".
pub fn reached(clause: &Clause) -> Option<(Rate, Option<Bound>)> {
    let all = rates(&clause.text);
    let [rate] = all.as_slice() else { return None };
    let before = words(&clause.text[..rate.offset]);
    let verb = before.iter().rev().find(|(_, word)| !SOFTENERS.contains(&word.as_str()));
    let bound = verb.and_then(|(_, word)| match word.as_str() {
        "below" | "under" => Some(Bound::Below),
        "above" | "over" | "beyond" | "past" => Some(Bound::Above),
        _ => None,
    });
    // "tops 7 Mpps", "breaks the 6 Mpps barrier"
    let crossed = before.iter().rev().take(2).find(|(_, word)| word != "the");
    let is_crossed = crossed.is_some_and(|(_, word)| CROSSES.contains(&word.as_str()));
    let bound = bound.or(is_crossed.then_some(Bound::Above));
    let all = words(&clause.text);
    let is_reached = match bound {
        None => verb
            .is_some_and(|(_, verb)| verb == "at" || REACHES.iter().any(|r| verb.starts_with(r))),
        Some(_) => !all.iter().any(|(_, w)| {
            CHANGES.contains(&w.as_str())
                || matches!(
                    w.as_str(),
                    "cost" | "impact" | "difference" | "gap" | "gains" | "loses" | "by"
                )
        }),
    };
    let is_other = all.iter().enumerate().any(|(at, (_, w))| {
        // "patched or not" denies nothing
        let is_each = w == "not" && at > 0 && all[at - 1].1 == "or";
        !is_each
            && w != "thanks"
            && NO_LEVEL.iter().any(|n| if n.len() < 4 { w == n } else { w.starts_with(n) })
    });
    // "forwards 750 Kpps more" is a difference
    let next = words(&clause.text[rate.offset + rate.text.len()..]).into_iter().next();
    let is_more = next.is_some_and(|(_, w)| matches!(w.as_str(), "more" | "less" | "fewer"));
    let is_it = is_reached && !is_other && !is_more && !quotes_earlier(&clause.text);
    is_it.then(|| (rate.clone(), bound))
}

/// Whether the rates of a clause may be of what is sent, of a line, or of what nobody measured.
pub fn is_of_no_level(clause: &Clause) -> bool {
    let is_one = |word: &String| {
        word != "thanks"
            && NO_LEVEL.iter().any(|n| if n.len() < 4 { word == n } else { word.starts_with(n) })
    };
    words(&clause.text).iter().any(|(_, word)| is_one(word)) || quotes_earlier(&clause.text)
}

/// Words before a rate that is reached, and no difference.
const LEVELS: [&str; 12] = [
    "to", "at", "from", "is", "was", "reach", "reaches", "around", "of", "than", "forwards", "with",
];

/// Nouns of a change, "of" which a rate may be.
const CHANGES: [&str; 6] = ["gain", "loss", "drop", "improvement", "increase", "reduction"];

/// The one rate of a clause, where it may be a difference, and which way it goes: "we won 2 Mpps", "60
/// Kpps more".
pub fn difference(clause: &Clause) -> Option<(Sign, Rate)> {
    let all = rates(&clause.text);
    let [rate] = all.as_slice() else { return None };
    let before = words(&clause.text[..rate.offset]);
    let after = words(&clause.text[rate.offset + rate.text.len()..]);
    let next = after.first().map_or("", |(_, w)| w.as_str());
    let verb = before.iter().rev().find(|(_, word)| !SOFTENERS.contains(&word.as_str()));
    let by_verb = verb.and_then(|(_, verb)| match verb.as_str() {
        "removes" | "takes" | "costs" | "eats" | "loses" | "lost" => Some(Sign::Down),
        "adds" | "brings" | "gains" | "gained" | "wins" | "won" => Some(Sign::Up),
        _ => None,
    });
    let written = match clause.text[..rate.offset].chars().next_back() {
        Some('+') => Some(Sign::Up),
        Some('-' | '−') => Some(Sign::Down),
        _ => None,
    };
    let sign = match (written.or(by_verb), &clause.stance, next) {
        (Some(sign), ..) => sign,
        _ if verb.is_some_and(|(_, w)| matches!(w.as_str(), "additional" | "extra")) => Sign::Up,
        (_, _, "more") => Sign::Up,
        (_, _, "less" | "fewer") => Sign::Down,
        (_, Stance::Change(sign, _), _) => *sign,
        _ => return None,
    };
    let last = |count: usize| before.iter().rev().take(count).map(|(_, w)| w.as_str());
    let is_of_change = last(2).any(|w| w == "of") && last(3).any(|w| CHANGES.contains(&w));
    let is_level = last(1).any(|w| LEVELS.contains(&w));
    let is_counted = matches!(next, "more" | "less" | "fewer");
    (!is_level || is_of_change || is_counted).then(|| (sign, rate.clone()))
}

/// Words before a rate that is not what the named set reaches.
const NOT_ITS_OWN: [&str; 22] = [
    "from", "was", "were", "than", "against", "instead", "before", "over", "by", "load", "gain",
    "gains", "gained", "lost", "loses", "loss", "adds", "of", "vs", "versus", "with", "without",
];

/// The one rate of a clause, where it may be that of what the clause names.
pub fn stated(clause: &Clause) -> Option<Rate> {
    let all = rates(&clause.text);
    let [rate] = all.as_slice() else { return None };
    let before = words(&clause.text[..rate.offset]);
    let is_other = before.iter().rev().take(2).any(|(_, w)| NOT_ITS_OWN.contains(&w.as_str()));
    let is_denied = before.iter().any(|(_, w)| {
        matches!(w.as_str(), "without" | "no" | "not" | "disabling" | "removing" | "unlike")
    });
    let is_added = words(&clause.text).iter().any(|(_, w)| matches!(w.as_str(), "more" | "less"));
    let is_aside = clause.text[..rate.offset].trim_end().ends_with('(');
    (!is_other && !is_denied && !is_added && !is_aside).then(|| rate.clone())
}

/// Beginnings of what the words "best", "highest", "lowest" are said of.
const RATES: [&str; 13] = [
    "perform",
    "rate",
    "speed",
    "throughput",
    "pps",
    "value",
    "result",
    "forward",
    "choice",
    "case",
    "config",
    "score",
    "number",
];

/// The end of the ranking that a clause speaks of, by the word given: "the fastest is ...".
pub fn extreme(clause: &Clause) -> Option<(Sign, String)> {
    let words = words(&clause.text);
    let is_denied = words
        .iter()
        .any(|(_, w)| matches!(w.as_str(), "not" | "no" | "never" | "isn't" | "without"));
    let found = words.iter().enumerate().find_map(|(index, (_, word))| {
        let at = |back: usize| words.get(index + back).map_or("", |(_, w)| w.as_str());
        let next = at(1);
        // "the best firewall result"
        let is_of_rates =
            [next, at(2)].iter().any(|w| RATES.iter().any(|noun| w.starts_with(noun)))
                || matches!(next, "" | "is" | "was" | "are" | "with" | "one");
        match word.as_str() {
            "fastest" | "quickest" => Some((Sign::Up, word.clone())),
            "slowest" => Some((Sign::Down, word.clone())),
            "best" | "highest" | "optimum" | "optimal" if is_of_rates => {
                Some((Sign::Up, word.clone()))
            }
            "winner" => Some((Sign::Up, word.clone())),
            "loser" => Some((Sign::Down, word.clone())),
            "cheapest" => Some((Sign::Up, word.clone())),
            "worst" | "lowest" if is_of_rates => Some((Sign::Down, word.clone())),
            _ => None,
        }
    });
    found.filter(|_| !is_denied)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clause::clauses;

    /// It was found twice, once within the other, and what stands between the two was cut out from behind its end.
    #[test]
    fn one_number_that_is_found_in_two_ways_has_no_two_ends() {
        assert_eq!(ends("With the set I win back 908 thousand packets per second"), None);
    }

    #[test]
    fn a_rate_is_reached_where_the_words_before_it_say_so() {
        let of = |text: &str| reached(&clauses(text)[0]).map(|(rate, _)| rate.pps());
        let bound = |text: &str| reached(&clauses(text)[0]).and_then(|(_, bound)| bound);
        assert_eq!(bound("IPv6 falls below 700 Kpps with the patch."), Some(Bound::Below));
        assert_eq!(bound("inet6 is above 12 Mpps"), Some(Bound::Above));
        assert_eq!(of("inet6 forwards at about 850 Kpps either way."), Some(850e3));
        assert_eq!(of("IPv4 with the patch reaches 12.5 Mpps."), Some(12.5e6));
        assert_eq!(of("IPv4 stays around 700 Kpps"), Some(700e3));
        for text in [
            "The patch brings 175 Kpps for IPv4.",
            "Traffic load at 14.88 Mpps",
            "IPv4 can't reach 12 Mpps",
            "IPv4 is faster than 12 Mpps",
            "IPv4 reaches 12 Mpps, IPv6 10 Mpps",
            "IPv4 reached 700 Kpps two years ago",
            "12 Mpps for IPv4",
            "the loss of IPv4 is below 12 Kpps",
            "this machine forwards about 750 Kpps more IPv4 packets",
        ] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn two_rates_are_of_the_sides_named_beside_them() {
        let of = |text: &str| sides(text).map(|(from, to)| (from.value, to.value));
        let wanted = Some((697e3, 818e3));
        for text in [
            "697 Kpps without D27401, 818 Kpps with",
            "818 Kpps with the patch and 697 Kpps without",
            "Without it 697 Kpps, with it 818 Kpps",
            "697Kpps before, 818Kpps after",
        ] {
            assert_eq!(of(text), wanted, "{text}");
        }
        for text in ["697 Kpps with 818 Kpps", "697 Kpps, 818 Kpps with it", "697 Kpps before"] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_counted_in_thousands_is_no_rate() {
        assert!(ends("from ~480 K to ~960 K").is_some());
        assert!(ends("826 Kpps => 815 Kpps").is_some());
        assert!(ends("the table grows from 32K to 256K entries").is_none());
    }
}
