//! Amounts in a sentence: numbers and number words with what they are of, and how exactly they are meant.

use crate::softness::{Soft, softness};
use crate::token::{Kind, Token, listed};
use fwdlab_sentence::clause::Sign;

/// What an amount is of.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Unit {
    Percent,
    /// Packets/s.
    Rate,
    /// Seconds.
    Time,
    /// So many times.
    Factor,
    /// A third, 0.93 of.
    Fraction,
    /// Bits/s.
    Bits,
    /// Of something else, named by the word behind it; empty where nothing is.
    Count(String),
}

/// A number in a sentence.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Amount {
    /// In per cent, frames/s, seconds, times, or one.
    pub(crate) low: f64,
    /// The other end of a range, else the same.
    pub(crate) high: f64,
    /// One of the last digit as written.
    pub(crate) step: f64,
    pub(crate) unit: Unit,
    pub(crate) sign: Option<Sign>,
    pub(crate) soft: Soft,
    /// Its first token.
    pub(crate) first: usize,
    /// Behind its last token.
    pub(crate) end: usize,
    /// Written in words: a third, twice.
    pub(crate) is_worded: bool,
    /// "Of" follows: a share of something.
    pub(crate) is_of: bool,
}

impl Amount {
    pub(crate) fn is_range(&self) -> bool {
        self.low != self.high
    }

    pub(crate) fn middle(&self) -> f64 {
        (self.low + self.high) / 2.0
    }

    /// Whether a figure without its sign is what is meant.
    pub(crate) fn fits(&self, figure: f64) -> bool {
        let figure = figure.abs();
        let value = self.middle();
        let loose = match self.unit {
            _ if self.is_worded => 0.16,
            Unit::Percent | Unit::Fraction => 0.15,
            Unit::Factor => 0.1,
            _ => 0.06,
        };
        let exact = match self.unit {
            _ if self.is_worded => 0.12 * value,
            Unit::Percent if value < 5.0 => 0.75 * self.step,
            Unit::Percent => self.step,
            Unit::Factor => self.step.min(0.2 * value),
            // rounded, or cut
            _ => (0.55 * self.step).max(self.step.min(0.05 * value)).max(0.004 * value),
        };
        let rough = exact.max(loose * value).max(match self.unit {
            Unit::Percent => 0.3,
            _ => 0.0,
        });
        if self.is_range() {
            let slack = if self.soft == Soft::Exact { self.step } else { rough };
            return (self.low - slack..=self.high + slack).contains(&figure);
        }
        match self.soft {
            Soft::Exact => (figure - value).abs() <= exact * 1.0001,
            Soft::About => (figure - value).abs() <= rough,
            Soft::Above => figure >= value * 0.999,
            Soft::Below => figure <= value * 1.001,
            Soft::Nearly => {
                let short = if self.unit == Unit::Rate { 0.07 } else { 0.16 };
                figure <= value + exact && figure >= value - exact.max(short * value)
            }
            Soft::Beyond => figure >= value - exact && figure <= value + rough.max(0.16 * value),
        }
    }
}

/// All amounts of a sentence, in order.
pub(crate) fn amounts(tokens: &[Token]) -> Vec<Amount> {
    let mut found: Vec<Amount> = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match amount(tokens, at) {
            Some(own) => {
                at = own.end.max(at + 1);
                found.push(own);
            }
            None => at += 1,
        }
    }
    share_units(&mut found, tokens);
    share_nouns(&mut found, tokens);
    for own in &mut found {
        own.soft = softness(tokens, own.first, own.end);
        let next = tokens.get(own.end);
        own.is_of = next.is_some_and(|token| token.is_in("of what"));
    }
    found
}

/// A number as such: its value, the last digit, and where it ends.
struct Plain {
    value: f64,
    step: f64,
    sign: Option<Sign>,
    end: usize,
    is_worded: bool,
}

/// "[16.9, 18.2] %".
fn bracketed(tokens: &[Token], at: usize) -> Option<Amount> {
    if !tokens[at].is_mark(&['[']) {
        return None;
    }
    let first = plain(tokens, at + 1)?;
    let joint = tokens.get(first.end)?;
    if !joint.is_mark(&[',', ';', '…', '-']) && !joint.is("to") {
        return None;
    }
    let last = plain(tokens, first.end + 1)?;
    let is_inside = !tokens.get(last.end)?.is_mark(&[']']);
    let (unit, scale, end) = unit(tokens, last.end + usize::from(!is_inside), last.value)?;
    let (a, b) = (first.value * scale, last.value * scale);
    Some(Amount {
        low: a.min(b),
        high: a.max(b),
        step: first.step.min(last.step) * scale,
        unit,
        sign: None,
        soft: Soft::Exact,
        first: at,
        end: end + usize::from(is_inside),
        is_worded: false,
        is_of: false,
    })
}

fn amount(tokens: &[Token], at: usize) -> Option<Amount> {
    if let Some(own) = bracketed(tokens, at) {
        return Some(own);
    }
    if tokens[at].is("factor") {
        let next = at + 1 + usize::from(tokens.get(at + 1).is_some_and(|token| token.is("of")));
        let own = plain(tokens, next)?;
        let (low, high) = (own.value, own.value);
        return Some(Amount {
            low,
            high,
            step: own.step,
            is_worded: own.is_worded,
            ..worded(low, Unit::Factor, at, own.end)
        });
    }
    if let Some(own) = multiplied(tokens, at).or_else(|| share(tokens, at)) {
        return Some(own);
    }
    let is_times_before = tokens[at].is_mark(&['×']);
    let first = plain(tokens, at + usize::from(is_times_before))?;
    // a range
    let second = tokens
        .get(first.end)
        .filter(|token| token.is_mark(&['-', '–', '…', '~']) || token.is_in("to and or"));
    let is_between = at > 0 && tokens[at - 1].is_in("between from");
    let second = second.and_then(|token| {
        let other = plain(tokens, first.end + 1)?;
        let is_dash = !token.is_word();
        let unit_behind = unit(tokens, other.end, other.value)?.0;
        let is_from = at > 0 && tokens[at - 1].is("from");
        let is_known = !matches!(unit_behind, Unit::Count(_));
        let is_range = is_dash && other.value > first.value
            || token.is("to") && is_known && (!is_from || unit_behind == Unit::Percent)
            || token.is("or") && is_known
            || token.is("and") && is_between && is_known;
        is_range.then_some(other)
    });
    let last = second.as_ref().unwrap_or(&first);
    let (unit, scale, end) = if is_times_before {
        (Unit::Factor, 1.0, last.end)
    } else {
        unit(tokens, last.end, last.value)?
    };
    let is_share = matches!(unit, Unit::Count(_))
        && last.value < 1.5
        && last.step < 1.0
        && tokens.get(end).is_some_and(|next| next.is("of"));
    let unit = if is_share { Unit::Fraction } else { unit };
    let (a, b) = (first.value * scale, last.value * scale);
    Some(Amount {
        low: a.min(b),
        high: a.max(b),
        step: first.step.min(last.step) * scale,
        unit,
        sign: first.sign,
        soft: Soft::Exact,
        first: at,
        end,
        is_worded: first.is_worded,
        is_of: false,
    })
}

const ONES: &str = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen \
    fifteen sixteen seventeen eighteen nineteen twenty";
const TENS: [(&str, f64); 7] = [
    ("thirty", 30.0),
    ("forty", 40.0),
    ("fifty", 50.0),
    ("sixty", 60.0),
    ("seventy", 70.0),
    ("eighty", 80.0),
    ("ninety", 90.0),
];

/// A number word.
pub(crate) fn number_word(word: &str) -> Option<f64> {
    let one = ONES.split(" ").position(|own| own == word).map(|at| at as f64);
    one.or_else(|| TENS.iter().find(|(own, _)| *own == word).map(|(_, value)| *value))
}

fn plain(tokens: &[Token], at: usize) -> Option<Plain> {
    let own = tokens.get(at)?;
    // "one and a half"
    let word = |k: usize| tokens.get(at + k).map_or("", |token| token.text.as_str());
    if let (Some(whole), "and", "a", Some(part)) =
        (number_word(word(0)), word(1), word(2), part_word(word(3)))
    {
        return Some(Plain {
            value: whole + 1.0 / part,
            step: 0.1,
            sign: None,
            end: at + 4,
            is_worded: true,
        });
    }
    let (mut value, mut step, sign, mut is_worded, mut end) = match own.kind {
        Kind::Number(value, decimals, sign) => {
            let step = match decimals {
                0 => trailing(value),
                _ => 10f64.powi(-(decimals.min(12) as i32)),
            };
            (value, step, sign, false, at + 1)
        }
        Kind::Word => {
            let value = number_word(&own.text)?;
            let more = tokens.get(at + 1).filter(|_| value >= 20.0);
            let more = more.and_then(|next| number_word(&next.text)).filter(|next| *next < 10.0);
            (value + more.unwrap_or(0.0), 1.0, None, true, at + 1 + usize::from(more.is_some()))
        }
        Kind::Mark(_) => return None,
    };
    // "half a million" is read as a share
    while let Some(scale) = tokens.get(end).and_then(|token| magnitude(&token.text)) {
        value *= scale;
        step = if is_worded { scale } else { step * scale };
        end += 1;
        is_worded = false;
    }
    Some(Plain { value, step, sign, end, is_worded })
}

/// What zeros at the end of a whole number leave open, up to a tenth of it.
fn trailing(value: f64) -> f64 {
    let mut step = 1.0;
    while step * 10.0 <= value * 0.1 && value % (step * 10.0) == 0.0 {
        step *= 10.0;
    }
    step
}

fn magnitude(word: &str) -> Option<f64> {
    Some(match word {
        "hundred" | "hundreds" => 100.0,
        "thousand" | "thousands" => 1e3,
        "million" | "millions" => 1e6,
        _ => return None,
    })
}

/// The unit behind a number, what it multiplies it by, and where it ends.
fn unit(tokens: &[Token], at: usize, value: f64) -> Option<(Unit, f64, usize)> {
    let text = |k: usize| tokens.get(at + k).map_or("", |token| token.text.as_str());
    // 10-Gigabit, 64-byte
    let skip = usize::from(text(0) == "-" && tokens.get(at + 1).is_some_and(Token::is_word));
    let own = |k: usize| text(skip + k);
    let end = |k: usize| at + skip + k;
    let slash = |k: usize| own(k) == "/" && matches!(own(k + 1), "s" | "sec" | "second");
    Some(match own(0) {
        "%" | "percent" | "pct" => {
            let is_points = matches!(own(1), "points" | "point");
            (Unit::Percent, 1.0, end(1 + usize::from(is_points)))
        }
        "per" if own(1) == "cent" => (Unit::Percent, 1.0, end(2)),
        "percentage" | "pp" => (Unit::Percent, 1.0, end(if own(1) == "points" { 2 } else { 1 })),
        "kpps" => (Unit::Rate, 1e3, end(1)),
        "mpps" => (Unit::Rate, 1e6, end(1)),
        "gpps" => (Unit::Rate, 1e9, end(1)),
        "pps" => (Unit::Rate, 1.0, end(1)),
        "kp" | "kpkt" if slash(1) => (Unit::Rate, 1e3, end(3)),
        "mp" | "mpkt" if slash(1) => (Unit::Rate, 1e6, end(3)),
        "k" | "m" => {
            let scale = if own(0) == "k" { 1e3 } else { 1e6 };
            match own(1) {
                "pps" => (Unit::Rate, scale, end(2)),
                noun if is_noun_of_settings(noun) => (Unit::Count(noun.to_owned()), scale, end(1)),
                _ => (Unit::Rate, scale, end(1)),
            }
        }
        "ns" | "nanosecond" | "nanoseconds" | "nsec" => (Unit::Time, 1e-9, end(1)),
        "us" | "µs" | "microsecond" | "microseconds" | "usec" => (Unit::Time, 1e-6, end(1)),
        "ms" | "millisecond" | "milliseconds" | "msec" => (Unit::Time, 1e-3, end(1)),
        "×" => match tokens.get(at + skip + 1) {
            Some(next) if next.is_number() => (Unit::Count("x".to_owned()), 1.0, end(1)),
            _ => (Unit::Factor, 1.0, end(1)),
        },
        "times" if is_of_runs(tokens, at + skip) => (Unit::Count("runs".to_owned()), 1.0, end(1)),
        "times" | "fold" => (Unit::Factor, 1.0, end(1)),
        "gbit" | "gbps" | "gb" if slash(1) || own(0) == "gbps" => (Unit::Bits, 1e9, end(1)),
        "mbit" | "mbps" | "mb" if slash(1) || own(0) == "mbps" => (Unit::Bits, 1e6, end(1)),
        _ => match counted(tokens, at + skip, value) {
            Some(end) => (Unit::Rate, 1.0, end),
            None => (Unit::Count(noun(tokens, at + skip)), 1.0, end(0)),
        },
    })
}

/// "72,000 packets forwarded each second", "5 million IPv4 packets": packets a second, and where that ends.
fn counted(tokens: &[Token], at: usize, value: f64) -> Option<usize> {
    let near = |from: usize, to: usize| tokens.get(from..to.min(tokens.len())).unwrap_or_default();
    let is_packet = |token: &Token| token.is_in("packets frames packet frame pkts");
    let stops = |token: &Token| !token.is_word() || token.is_in("of and per");
    let way = near(at, at + 4);
    let packets = way.iter().position(is_packet)?;
    if way[..packets].iter().any(stops) {
        return None;
    }
    let behind = near(at + packets + 1, at + packets + 6);
    let each = behind.iter().zip(behind.iter().skip(1)).position(|(own, next)| {
        (own.is_in("per each every a") || own.is_mark(&['/']))
            && (next.text.starts_with("sec") || next.is("s"))
    });
    match each {
        Some(each) => Some(at + packets + 3 + each),
        None if value >= 20_000.0 => Some(at + packets + 1),
        None => None,
    }
}

/// The word that says what is counted.
fn noun(tokens: &[Token], at: usize) -> String {
    let way = tokens.get(at..(at + 4).min(tokens.len())).unwrap_or_default();
    let way: Vec<&Token> = way.iter().take_while(|token| token.is_word()).collect();
    let known =
        way.iter().find(|token| is_noun_of_settings(&token.text) || is_counted(&token.text));
    known.or(way.first()).map_or(String::new(), |token| token.text.clone())
}

/// Nouns that what is counted on a page is called by.
pub(crate) fn is_counted(word: &str) -> bool {
    let roots = [
        "run",
        "bench",
        "measure",
        "sample",
        "value",
        "iteration",
        "repetition",
        "set",
        "series",
        "machine",
        "box",
        "router",
        "comparison",
        "block",
        "difference",
        "famil",
        "protocol",
        "degree",
        "packet",
        "frame",
        "kernel",
        "variant",
        "datapoint",
        "point",
    ];
    roots.iter().any(|root| word.starts_with(root))
}

/// Nouns of settings, which no figure of a set gives.
pub(crate) fn is_noun_of_settings(word: &str) -> bool {
    let roots = [
        "flow",
        "route",
        "core",
        "thread",
        "queue",
        "byte",
        "ghz",
        "mhz",
        "line",
        "file",
        "week",
        "day",
        "hour",
        "minute",
        "second",
        "port",
        "cpu",
        "gigabit",
        "gbit",
        "g",
        "gb",
        "mb",
        "kb",
        "b",
        "year",
        "month",
        "patch",
        "commit",
        "state",
        "rule",
        "bit",
        "address",
        "destination",
        "user",
        "people",
        "euro",
        "dollar",
        "watt",
        "instruction",
        "cycle",
        "descriptor",
        "cable",
        "nic",
        "card",
        "head",
        "stable",
        "release",
        "entr",
        "slot",
        "connection",
        "session",
        "prefix",
        "buffer",
        "mbuf",
    ];
    roots.iter().any(|root| word == *root || root.len() > 2 && word.starts_with(root))
}

/// "Measured three times": runs, and no factor.
fn is_of_runs(tokens: &[Token], at: usize) -> bool {
    const VERBS: &str = "measured ran run repeated rerun tested benchmarked benched booted executed kernels \
    performed";
    let next = tokens.get(at + 1);
    let is_compared = next.is_some_and(|token| {
        token.is_in("as faster slower more less higher lower the that what larger bigger")
    });
    let from = at.saturating_sub(4);
    !is_compared && tokens[from..at].iter().any(|token| token.is_in(VERBS))
        || next.is_some_and(|token| token.is_in("each apiece per"))
}

/// "Twice", "doubled", "sixfold", "half again as many", "cut in half".
fn multiplied(tokens: &[Token], at: usize) -> Option<Amount> {
    let text = |k: usize| tokens.get(at + k).map_or("", |token| token.text.as_str());
    let own = text(0);
    let fold = own.strip_suffix("fold").and_then(number_word);
    if own.starts_with("doubl") && text(1).starts_with("digit") {
        return Some(Amount { low: 10.0, high: 99.9, ..worded(10.0, Unit::Percent, at, at + 2) });
    }
    let begins = |root: &str| own.starts_with(root);
    let (value, length) = match own {
        _ if fold.is_some() => (fold?, 1),
        "twice" => (2.0, 1),
        "thrice" => (3.0, 1),
        "half" if text(1) == "again" && text(2) == "as" => (1.5, 3),
        "half" if text(1) == "as" => (0.5, 2),
        "in" if text(1) == "half" => (0.5, 2),
        _ if begins("doubl") => (2.0, 1),
        _ if begins("tripl") || begins("trebl") => (3.0, 1),
        _ if begins("quadrupl") => (4.0, 1),
        _ if begins("halv") => (0.5, 1),
        _ => return None,
    };
    Some(worded(value, Unit::Factor, at, at + length))
}

fn worded(value: f64, unit: Unit, first: usize, end: usize) -> Amount {
    let (low, high, step, soft) = (value, value, 0.0, Soft::Exact);
    Amount { low, high, step, unit, sign: None, soft, first, end, is_worded: true, is_of: false }
}

/// "A third", "two thirds", "half", "one in five", "seven of every hundred", "half a million pps".
fn share(tokens: &[Token], at: usize) -> Option<Amount> {
    let text = |k: usize| tokens.get(at + k).map_or("", |token| token.text.as_str());
    let many = match text(0) {
        "a" | "an" => Some(1.0),
        word => number_word(word).or(match tokens.get(at)?.kind {
            Kind::Number(value, ..) => Some(value),
            _ => None,
        }),
    };
    if let Some((many, part)) = many.zip(part_word(text(1)))
        && text(2) != "run"
        && many < part
    {
        return scaled(tokens, many / part, at, at + 2);
    }
    if let Some((many, all)) = many.and_then(|many| {
        let (skip, is_packet) = match (text(1), text(2), text(3)) {
            ("of", "every" | "each", _) => (3, true),
            ("out", "of", "every" | "each" | "a") => (4, true),
            ("packet" | "packets", "in" | "of", _) => (3, true),
            ("in", "every", _) => (3, true),
            ("in", _, _) => (2, false),
            ("out", "of", _) => (3, false),
            _ => return None,
        };
        let all = plain(tokens, at + skip).or_else(|| {
            magnitude(text(skip)).map(|value| Plain {
                value,
                step: 1.0,
                sign: None,
                end: at + skip + 1,
                is_worded: true,
            })
        })?;
        let noun = tokens.get(all.end).map_or("", |token| token.text.as_str());
        let is_of_sets = is_counted(noun) && !noun.starts_with("packet");
        (many < all.value && !is_of_sets && (is_packet || !is_noun_of_settings(noun)))
            .then_some((many, all))
    }) {
        return Some(worded(many / all.value, Unit::Fraction, at, all.end));
    }
    if text(0) == "half" && !tokens.get(at.wrapping_sub(1)).is_some_and(|t| t.is_in("first second"))
    {
        return scaled(tokens, 0.5, at, at + 1);
    }
    None
}

/// A share of one, or of a million packets.
fn scaled(tokens: &[Token], value: f64, first: usize, mut end: usize) -> Option<Amount> {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let mut next = end;
    while matches!(text(next), "a" | "an" | "of") {
        next += 1;
    }
    let scale = match text(next) {
        "million" => Some(1e6),
        "thousand" => Some(1e3),
        _ => None,
    };
    if matches!(text(next), "percent" | "%") && next > end {
        return Some(worded(value, Unit::Percent, first, next + 1));
    }
    if scale.is_some() || matches!(text(next), "mpps" | "kpps") && next > end {
        let scale = scale.inspect(|_| next += 1).unwrap_or(1.0);
        let (unit, more, stop) = unit(tokens, next, value * scale)?;
        let unit = if matches!(unit, Unit::Count(_)) { Unit::Rate } else { unit };
        end = stop;
        return Some(Amount {
            soft: Soft::Exact,
            ..worded(value * scale * more, unit, first, end)
        });
    }
    Some(worded(value, Unit::Fraction, first, end))
}

fn part_word(word: &str) -> Option<f64> {
    let word = word.strip_suffix('s').unwrap_or(word);
    Some(match word {
        "half" | "halve" => 2.0,
        "third" => 3.0,
        "quarter" | "fourth" => 4.0,
        "fifth" => 5.0,
        "sixth" => 6.0,
        "seventh" => 7.0,
        "eighth" => 8.0,
        "ninth" => 9.0,
        "tenth" => 10.0,
        "twelfth" => 12.0,
        "twentieth" => 20.0,
        "hundredth" => 100.0,
        _ => return None,
    })
}

/// "2 to 3 Mpps", "14-17 kpps", "832 against 771 kpps": a number without a unit takes that of the next that has one.
fn share_units(found: &mut [Amount], tokens: &[Token]) {
    for at in (0..found.len().saturating_sub(1)).rev() {
        let (own, next) = (&found[at], &found[at + 1]);
        let Unit::Count(noun) = &own.unit else { continue };
        let between = tokens.get(own.end..next.first).unwrap_or_default();
        const JOINTS: &str = "to and or against vs versus from than instead up down";
        let is_joined = between.len() <= 2
            && between.iter().all(|t| {
                t.is_in(JOINTS) || t.is("of") || t.is_mark(&['→', '/', ',', '-', '–', '.'])
            });
        let is_bare = noun.is_empty() || listed(JOINTS, noun.as_str());
        if is_bare
            && is_joined
            && !matches!(next.unit, Unit::Count(_) | Unit::Fraction)
            && !next.is_worded
        {
            let scale = match tokens[next.first..next.end].iter().find_map(|t| unit_scale(&t.text))
            {
                Some(scale) if next.unit == Unit::Rate => scale,
                _ if next.unit == Unit::Time => {
                    let written =
                        tokens[next.first].text.trim_start_matches(['+', '-']).parse::<f64>();
                    written.map_or(1.0, |written| next.low / written)
                }
                _ => 1.0,
            };
            let unit = next.unit.clone();
            let own = &mut found[at];
            own.low *= scale;
            own.high *= scale;
            own.step *= scale;
            own.unit = unit;
        }
    }
    // "4.1 Mpps with the patch against 3.4 without it"
    for at in 1..found.len() {
        let before = tokens.get(found[at].first.wrapping_sub(1));
        let is_decimal = found[at].step < 1.0;
        let is_held = before.is_some_and(|t| {
            t.is_in("against vs versus than to from")
                || t.is_mark(&['→'])
                || is_decimal && t.is_word()
        });
        let is_bare = matches!(&found[at].unit, Unit::Count(noun) if !is_counted(noun) && !is_noun_of_settings(noun));
        if is_held && is_bare && found[at - 1].unit == Unit::Time {
            let before = &found[at - 1];
            let written = tokens[before.first].text.trim_start_matches(['+', '-']).parse::<f64>();
            let scale = written.map_or(1e-9, |written| before.low / written);
            let own = &mut found[at];
            own.low *= scale;
            own.high *= scale;
            own.step *= scale;
            own.unit = Unit::Time;
            continue;
        }
        if !(is_held && is_bare && found[at - 1].unit == Unit::Rate) {
            continue;
        }
        let before = &found[at - 1];
        let scale = tokens[before.first..before.end].iter().find_map(|t| unit_scale(&t.text));
        let scale = scale.unwrap_or(1.0);
        let own = &mut found[at];
        own.low *= scale;
        own.high *= scale;
        own.step *= scale;
        own.unit = Unit::Rate;
    }
}

/// "From 32K to 256K entries": what the next number counts, this one does.
fn share_nouns(found: &mut [Amount], tokens: &[Token]) {
    for at in (0..found.len().saturating_sub(1)).rev() {
        let (own, next) = (&found[at], &found[at + 1]);
        let Unit::Count(noun) = &next.unit else { continue };
        let is_bare = own.unit == Unit::Rate
            && !tokens[own.first..own.end]
                .iter()
                .any(|t| t.text.ends_with("pps") || t.is("packets"));
        let between = tokens.get(own.end..next.first).unwrap_or_default();
        let is_joined = between.len() <= 3 && between.iter().any(|t| t.is_in("to from and or"));
        if is_bare && is_joined && is_noun_of_settings(noun) {
            let unit = next.unit.clone();
            found[at].unit = unit;
        }
    }
}

fn unit_scale(word: &str) -> Option<f64> {
    Some(match word {
        "kpps" | "k" | "thousand" => 1e3,
        "mpps" | "m" | "million" => 1e6,
        "gpps" => 1e9,
        "pps" => 1.0,
        _ => return None,
    })
}
