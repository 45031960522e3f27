//! Words and numbers of a sentence or of a cell, each number with what it counts.

use fwdlab_sentence::subject::folded;

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Packets,
    Bits,
    Seconds,
    Percent,
    Watts,
    Times,
    /// Nothing that is written beside it; it may be scaled, as `13.3K`.
    Plain,
}

/// A number in base units, and half of the last digit that is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    pub value: f64,
    pub half: f64,
    pub unit: Unit,
}

/// What of a grid is named by its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seat {
    Row(usize),
    /// One of some columns.
    Columns(Vec<usize>),
}

/// A word or a number.
#[derive(Clone, Debug)]
pub struct Token {
    /// In lower case, without what surrounds it.
    pub text: String,
    /// Without what grammar adds to it.
    pub root: String,
    /// Those of a compound: `aes-gcm-256`, `in-house`.
    pub parts: Vec<String>,
    pub number: Option<Number>,
    /// Where it begins in the text.
    pub at: usize,
    /// Whether something ends behind it: a comma, a colon, a bracket.
    pub is_last: bool,
    /// What stands between it and the one before ends something.
    pub is_first: bool,
    /// Whether it comes before (0) or after (1) a change, by the words around it.
    pub side: Option<usize>,
    /// What it names of a grid by its place.
    pub seat: Option<Seat>,
}

impl Token {
    pub fn is(&self, words: &str) -> bool {
        words.split(' ').any(|word| word == self.text)
    }
}

/// Units by their names; those of time in seconds.
const UNITS: [(&str, Unit, f64); 39] = [
    ("w", Unit::Watts, 1.0),
    ("watt", Unit::Watts, 1.0),
    ("pps", Unit::Packets, 1.0),
    ("kpps", Unit::Packets, 1e3),
    ("mpps", Unit::Packets, 1e6),
    ("gpps", Unit::Packets, 1e9),
    ("packets/s", Unit::Packets, 1.0),
    ("pkt/s", Unit::Packets, 1.0),
    ("frames/s", Unit::Packets, 1.0),
    ("fps", Unit::Packets, 1.0),
    ("bps", Unit::Bits, 1.0),
    ("kbps", Unit::Bits, 1e3),
    ("mbps", Unit::Bits, 1e6),
    ("gbps", Unit::Bits, 1e9),
    ("tbps", Unit::Bits, 1e12),
    ("mbit/s", Unit::Bits, 1e6),
    ("gbit/s", Unit::Bits, 1e9),
    ("mb/s", Unit::Bits, 1e6),
    ("gb/s", Unit::Bits, 1e9),
    ("gbit", Unit::Bits, 1e9),
    ("mbit", Unit::Bits, 1e6),
    ("ns", Unit::Seconds, 1e-9),
    ("nanosecond", Unit::Seconds, 1e-9),
    ("nsec", Unit::Seconds, 1e-9),
    ("us", Unit::Seconds, 1e-6),
    ("µs", Unit::Seconds, 1e-6),
    ("μs", Unit::Seconds, 1e-6),
    ("usec", Unit::Seconds, 1e-6),
    ("microsecond", Unit::Seconds, 1e-6),
    ("ms", Unit::Seconds, 1e-3),
    ("msec", Unit::Seconds, 1e-3),
    ("millisecond", Unit::Seconds, 1e-3),
    ("%", Unit::Percent, 1.0),
    ("percent", Unit::Percent, 1.0),
    ("pct", Unit::Percent, 1.0),
    ("x", Unit::Times, 1.0),
    ("×", Unit::Times, 1.0),
    ("times", Unit::Times, 1.0),
    ("fold", Unit::Times, 1.0),
];

/// The unit that a word is.
pub fn unit_of(word: &str) -> Option<(Unit, f64)> {
    let word = word.trim_matches(|c: char| matches!(c, '(' | ')' | '[' | ']' | ',' | '.' | ':'));
    let lower = word.to_lowercase();
    let plain = if lower.len() > 4 { lower.trim_end_matches('s') } else { &lower };
    let own = |name: &str| UNITS.iter().find(|(unit, ..)| *unit == name);
    own(&lower).or_else(|| own(plain)).map(|(_, unit, scale)| (*unit, *scale))
}

/// Seconds and more, which are units behind a number only.
pub(crate) fn time_of(word: &str) -> Option<(Unit, f64)> {
    let scale = match word {
        "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
        "minute" | "minutes" => 60.0,
        "hour" | "hours" => 3600.0,
        _ => return None,
    };
    Some((Unit::Seconds, scale))
}

fn parts_of(text: &str) -> Vec<String> {
    let parts: Vec<String> =
        text.split(['-', '_', '/']).filter(|own| !own.is_empty()).map(root_of).collect();
    if parts.len() > 1 { parts } else { Vec::new() }
}

/// A word without what grammar adds to it; families by one name.
pub fn root_of(word: &str) -> String {
    match fwdlab_netbenches::name::family_word(word) {
        Some(family) => format!("{family:?}").to_lowercase(),
        // "the forwarding case" of a row that is called "forward"
        None if word.len() > 6 => folded(word.strip_suffix("ing").unwrap_or(word)),
        None => folded(word),
    }
}

/// The tokens of a text.
pub fn tokens(text: &str) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::new();
    let mut at = 0;
    let mut is_first = true;
    // what stands behind "±" is no figure of its own
    let mut is_half = false;
    for raw in text.split_inclusive(char::is_whitespace) {
        let start = at;
        at += raw.len();
        let word = raw.trim_end();
        let open = word.trim_start_matches(['(', '[', '"', '\'', '`', '*', '_', '=', '>', '|']);
        is_first |= word.starts_with(['(', '[']) || matches!(open, "-" | "--" | "–" | "—" | "->");
        let own = open.trim_end_matches([
            ')', ']', '"', '\'', '`', '*', '_', '.', ',', ';', ':', '!', '?', '|',
        ]);
        if own.is_empty() || !own.contains(|c: char| c.is_alphanumeric() || c == '%') {
            is_half |= matches!(word, "±" | "+/-" | "+-");
            is_first |= !own.is_empty() && own != "~";
            continue;
        }
        let is_last = open[own.len()..].contains([',', ';', ':', ')', ']', '!', '?', '.']);
        // "-rc4" is a name without its beginning, "-7 %" a change
        let bare = own.trim_start_matches('-');
        let own = if bare.starts_with(|c: char| c.is_alphabetic()) { bare } else { own };
        let text = own.to_lowercase();
        found.push(Token {
            root: root_of(text.split("'s").next().unwrap_or(&text)),
            parts: parts_of(&text),
            number: number(own).filter(|_| !is_half && !own.starts_with('±')),
            text,
            at: start + (word.len() - open.len()),
            is_last,
            is_first,
            side: None,
            seat: None,
        });
        is_first = is_last;
        is_half = false;
    }
    number_words(&mut found);
    join_units(&mut found);
    sides(&mut found);
    found
}

/// "Eight queues", "thousand rules": small numbers in words.
fn number_words(tokens: &mut [Token]) {
    const NUMBERS: [(&str, f64); 16] = [
        ("one", 1.0),
        ("single", 1.0),
        ("two", 2.0),
        ("three", 3.0),
        ("four", 4.0),
        ("five", 5.0),
        ("six", 6.0),
        ("seven", 7.0),
        ("eight", 8.0),
        ("nine", 9.0),
        ("ten", 10.0),
        ("twelve", 12.0),
        ("sixteen", 16.0),
        ("hundred", 100.0),
        ("thousand", 1e3),
        ("million", 1e6),
    ];
    for at in 0..tokens.len() {
        let is_scale = |own: &str| matches!(own, "thousand" | "million");
        // "908 thousand" is one number
        if at > 0 && is_scale(&tokens[at].text) && tokens[at - 1].number.is_some() {
            continue;
        }
        let token = &mut tokens[at];
        if let Some((_, value)) = NUMBERS.iter().find(|(word, _)| token.text == *word) {
            token.number = Some(Number { value: *value, half: 0.0, unit: Unit::Plain });
            token.root = format!("{value}");
        }
    }
}

/// The number that a word of a name is: `100k`, `1000`.
pub fn value_of_word(word: &str) -> Option<f64> {
    let is_of_digits = word.starts_with(|c: char| c.is_ascii_digit());
    let own = number(word).filter(|own| is_of_digits && own.unit == Unit::Plain)?;
    Some(own.value)
}

/// "From A to B", "A -> B", "was A, now B", "A instead of B": which number is of before and which of after.
fn sides(tokens: &mut [Token]) {
    let is_own = |own: &Token| {
        own.number.is_some_and(|number| {
            !matches!(number.unit, Unit::Percent | Unit::Times)
                && (number.unit != Unit::Plain || own.text.ends_with(['k', 'm']))
        })
    };
    let places: Vec<usize> = (0..tokens.len()).filter(|at| is_own(&tokens[*at])).collect();
    let [first, second] = places.as_slice() else { return };
    let (first, second) = (*first, *second);
    let between = &tokens[first + 1..second];
    let has = |own: &[Token], words: &str| own.iter().any(|token| token.is(words));
    let is_back = has(between, "instead");
    let is_on = between.is_empty() && tokens[second].is_first && !tokens[first].is_last
        || has(&tokens[..first], "from was were") && has(between, "to now is")
        || has(between, "down up") && has(between, "to") && between.len() < 4;
    if is_back || is_on {
        tokens[first].side = Some(usize::from(is_back));
        tokens[second].side = Some(usize::from(!is_back));
    }
}

/// A number with the unit that is written to it: `88%`, `1,488,095`, `1,4`, `13.3K`, `-7.2%`, `7.5x`.
fn number(word: &str) -> Option<Number> {
    let bare = word.trim_start_matches(['+', '-', '−', '~', '≈', '<', '>', '±', 'x', '×']);
    let end =
        bare.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',').unwrap_or(bare.len());
    let (digits, rest) = bare.split_at(end);
    let digits = digits.trim_end_matches(['.', ',']);
    if !digits.starts_with(|c: char| c.is_ascii_digit()) || digits.matches('.').count() > 1 {
        return None;
    }
    let is_decimal_comma = !digits.contains('.')
        && digits.split_once(',').is_some_and(|(_, own)| matches!(own.len(), 1 | 2));
    let plain = if is_decimal_comma { digits.replace(',', ".") } else { digits.replace(',', "") };
    let decimals = plain.split_once('.').map_or(0, |(_, own)| own.len());
    let value: f64 = plain.parse().ok()?;
    let half = 0.5 * 10f64.powi(-i32::try_from(decimals.min(12)).unwrap_or(12));
    let rest = rest.trim_start_matches('-');
    let (unit, scale) = match rest {
        "" if word.starts_with(['x', '×']) => (Unit::Times, 1.0),
        "" => (Unit::Plain, 1.0),
        "k" | "K" => (Unit::Plain, 1e3),
        "m" | "M" => (Unit::Plain, 1e6),
        "g" | "G" => (Unit::Plain, 1e9),
        own => unit_of(own).or_else(|| time_of(own))?,
    };
    Some(Number { value: value * scale, half: half * scale, unit })
}

/// Gives a number the unit of the words behind it: `21.1 Mpps`, `908 thousand packets per second`.
fn join_units(tokens: &mut Vec<Token>) {
    let mut at = 0;
    while at + 1 < tokens.len() {
        let is_open = tokens[at].number.is_some_and(|own| own.unit == Unit::Plain);
        if !is_open || tokens[at].is_last {
            at += 1;
            continue;
        }
        let behind = |k: usize| tokens.get(at + k).map_or("", |own| own.text.as_str());
        let scaled = match behind(1) {
            "thousand" => 1e3,
            "million" | "millions" => 1e6,
            _ => 1.0,
        };
        let mut taken = usize::from(scaled != 1.0);
        let next = behind(taken + 1);
        let unit = unit_of(next).filter(|_| next != "x").or_else(|| time_of(next));
        let found = unit.or_else(|| {
            let is_rate = matches!(next, "packets" | "frames" | "packet")
                && matches!(behind(taken + 2), "per" | "a" | "each");
            let is_cent = next == "per" && behind(taken + 2) == "cent";
            taken += if is_rate { 2 } else { usize::from(is_cent) };
            if is_rate {
                return Some((Unit::Packets, 1.0));
            }
            is_cent.then_some((Unit::Percent, 1.0))
        });
        taken += usize::from(found.is_some());
        let (unit, scale) = found.unwrap_or((Unit::Plain, 1.0));
        if let Some(own) = &mut tokens[at].number {
            *own =
                Number { value: own.value * scaled * scale, half: own.half * scaled * scale, unit };
        }
        if let Some(last) = tokens.get(at + taken) {
            tokens[at].is_last = last.is_last;
        }
        tokens.drain(at + 1..(at + 1 + taken).min(tokens.len()));
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_unit_that_stands_beside_them() {
        let own = tokens(
            "At 256 byte frames it is 21.11 Mpps, 88.8 % or 13.3K; 908 thousand packets per second, 1,4 Mpps and 3x",
        );
        let found: Vec<(f64, Unit)> = own
            .iter()
            .filter_map(|own| own.number)
            .map(|own| ((own.value * 1e3).round() / 1e3, own.unit))
            .collect();
        let wanted = [
            (256.0, Unit::Plain),
            (21.11e6, Unit::Packets),
            (88.8, Unit::Percent),
            (13300.0, Unit::Plain),
            (908e3, Unit::Packets),
            (1.4e6, Unit::Packets),
            (3.0, Unit::Times),
        ];
        assert_eq!(found, wanted);
        assert!(number("1.2.3").is_none() && number("r320657").is_none());
    }
}
