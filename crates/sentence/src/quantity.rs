//! Quantities in prose: rates, flow counts, frame lengths, numbers of runs.

/// A rate in packets/s as written.
#[derive(Clone, Debug, PartialEq)]
pub struct Rate {
    /// The number before its unit.
    pub number: f64,
    /// Decimals as written.
    pub decimals: usize,
    /// The unit in packets/s: 1, 1e3, 1e6, 1e9.
    pub unit: f64,
    /// As written.
    pub text: String,
    /// Where in the text.
    pub offset: usize,
}

impl Rate {
    /// In packets/s.
    pub fn pps(&self) -> f64 {
        self.number * self.unit
    }
}

/// A whole number with the noun that it counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Count {
    /// The number.
    pub value: u64,
    /// As written.
    pub text: String,
    /// Where in the text.
    pub offset: usize,
}

/// Words for a unit of rates, in lower case, and the frames/s that it stands for.
const UNITS: [(&str, f64); 12] = [
    ("mpps", 1e6),
    ("kpps", 1e3),
    ("gpps", 1e9),
    ("pps", 1.0),
    ("mp/s", 1e6),
    ("million packets", 1e6),
    ("millions packets", 1e6),
    ("million pps", 1e6),
    ("million frames/s", 1e6),
    ("packets per second", 1.0),
    ("packets/s", 1.0),
    ("frames/s", 1.0),
];

/// The unit of rates that begins a text in lower case, and the frames/s that it stands for.
pub fn unit_of_rate(lower: &str) -> Option<(&'static str, f64)> {
    UNITS.into_iter().find(|(name, _)| {
        lower.strip_prefix(name).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    })
}

/// Rates: `1.448Mpps`, `14.88 Mpps`, `500 Kpps`, `1488095 pps`,
/// `1.488 million packets per second`.
pub fn rates(text: &str) -> Vec<Rate> {
    let mut found = Vec::new();
    for (start, number) in numbers(text) {
        let after = &text[start + number.len()..];
        let lower: String = after.trim_start().chars().take(28).collect::<String>().to_lowercase();
        let Some((name, unit)) = unit_of_rate(&lower).or_else(|| counted_a_second(after)) else {
            continue;
        };
        let Some((value, decimals)) = parse(number) else { continue };
        let blanks = after.len() - after.trim_start().len();
        found.push(Rate {
            number: value,
            decimals,
            unit,
            text: text[start..].chars().take(number.len() + blanks + name.len()).collect(),
            offset: start,
        });
    }
    found
}

/// Rates, and a number without a unit that one of them is held against: `4.1 Mpps with it against 3.4 without`.
pub fn rates_of_one_unit(text: &str) -> Vec<Rate> {
    let mut found = rates(text);
    let [first] = found.as_slice() else { return found };
    let unit = first.unit;
    let is_held = |offset: usize| {
        let before = crate::clause::words(&text[..offset]);
        let last = before.last().map_or("", |(_, word)| word.as_str());
        offset > first.offset && matches!(last, "against" | "vs" | "versus" | "than" | "of")
    };
    let other = numbers(text).into_iter().find(|(offset, _)| is_held(*offset));
    found.extend(other.and_then(|(offset, text)| {
        let (number, decimals) = parse(text)?;
        Some(Rate { number, decimals, unit, text: text.to_owned(), offset })
    }));
    found
}

/// "72,000 packets forwarded each second": frames, and behind them what they are counted in.
fn counted_a_second(after: &str) -> Option<(&'static str, f64)> {
    // "7.2 % fewer packets per second" is none
    if !after.starts_with([' ', '\u{a0}']) || after.trim_start().starts_with('%') {
        return None;
    }
    let words: Vec<String> = after.split_whitespace().take(8).map(plain).collect();
    let is_frames = |word: &String| matches!(word.as_str(), "packets" | "frames");
    let frames = words.iter().take(4).position(is_frames)?;
    let each = words[frames..].windows(2).any(|w| {
        matches!(w[0].as_str(), "per" | "each" | "every" | "a") && w[1].starts_with("second")
    });
    let unit = words[..frames].iter().find_map(|word| match word.as_str() {
        "million" => Some(("million", 1e6)),
        "thousand" => Some(("thousand", 1e3)),
        _ => None,
    });
    each.then(|| unit.unwrap_or(("", 1.0)))
}

/// A number of thousands or millions without a unit: `480 K`, `1.2M`.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaled {
    /// The number.
    pub value: f64,
    /// Half of its last decimal.
    pub step: f64,
    /// Softened by `~` or a word.
    pub is_rough: bool,
    /// As written.
    pub text: String,
    /// Where in the text.
    pub offset: usize,
}

impl From<Rate> for Scaled {
    fn from(rate: Rate) -> Self {
        let decimals = i32::try_from(rate.decimals.min(12)).unwrap_or(12);
        Self {
            value: rate.pps(),
            step: rate.unit * 0.5 * 10f64.powi(-decimals),
            is_rough: false,
            text: rate.text,
            offset: rate.offset,
        }
    }
}

/// Numbers of thousands or millions that name no unit, nor anything that they count at once.
pub fn scaled(text: &str) -> Vec<Scaled> {
    let mut found = Vec::new();
    for (offset, number) in numbers(text) {
        let after = &text[offset + number.len()..];
        let (factor, suffix) = magnitude(after);
        let Some((value, decimals)) = parse(number).filter(|_| suffix > 0) else { continue };
        let before = text[..offset].trim_end().to_lowercase();
        let softeners = ["~", "≈", "about", "around", "roughly", "nearly", "almost"];
        found.push(Scaled {
            value: value * factor,
            step: factor * 0.5 * 10f64.powi(-i32::try_from(decimals.min(12)).unwrap_or(12)),
            is_rough: softeners.iter().any(|w| before.ends_with(w)),
            text: text[offset..offset + number.len() + suffix].to_owned(),
            offset,
        });
    }
    found
}

/// Counts of flows: `2000 flows`, `50K unidirection flows`, `5 000 UDP flows`.
pub fn flow_counts(text: &str) -> Vec<Count> {
    counts(text, 3, |word| word == "flows" || word == "flow")
}

/// Counts of runs: `5 benches`, `5 runs`.
pub fn run_counts(text: &str) -> Vec<Count> {
    const RUNS: [&str; 8] =
        ["benches", "benchs", "runs", "iterations", "measures", "measurements", "tries", "bench"];
    let mut found = counts(text, 0, |word| RUNS.contains(&word));
    found.extend(times(text));
    found
}

/// "Measured ten times", "ran 7 times".
fn times(text: &str) -> Option<Count> {
    const VERBS: [&str; 13] = [
        "measured",
        "ran",
        "run",
        "repeated",
        "tested",
        "benched",
        "benchmarked",
        "rerun",
        "done",
        "taken",
        "performed",
        "executed",
        "made",
    ];
    const NUMBERS: [&str; 11] = [
        "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    ];
    let words = crate::clause::words(text);
    // "ran ten times as fast" counts no runs
    let is_factor =
        |word: &str| matches!(word, "as" | "more" | "less" | "faster" | "slower" | "higher");
    let is_it = |at: &usize| {
        let word = |k: usize| words.get(at + k).map_or("", |(_, w)| w.as_str());
        VERBS.contains(&word(0)) && word(2) == "times" && !is_factor(word(3))
    };
    let at = (0..words.len()).find(is_it)?;
    let (offset, word) = &words[at + 1];
    let named = NUMBERS.iter().zip(2..).find(|(name, _)| *name == word).map(|(_, value)| value);
    let value = named.or_else(|| word.parse().ok())?;
    Some(Count { value, text: format!("{word} times"), offset: *offset })
}

/// "Each configuration was run six times": of each set, and of no part of them.
pub fn is_of_each_set(text: &str, count: &Count) -> bool {
    const EACH: [&str; 3] = ["each", "every", "all"];
    const LESS: [&str; 7] =
        ["discarded", "dropped", "omitted", "thrown", "excluded", "first", "last"];
    let words = crate::clause::words(text);
    let before = words.iter().filter(|(at, _)| *at < count.offset).rev().take(6);
    let has_each = before.into_iter().any(|(_, word)| EACH.contains(&word.as_str()));
    let has_less = words.iter().any(|(_, word)| LESS.contains(&word.as_str()));
    count.text.ends_with(" times") && has_each && !has_less
}

/// Frame lengths in bytes: `frame size:542B`, `62-byte frames`, `frame size of 64 bytes`.
pub fn frame_lengths(text: &str) -> Vec<Count> {
    let lower = text.to_lowercase();
    let mut found = Vec::new();
    if lower.len() != text.len() {
        return found;
    }
    for (start, number) in numbers(&lower) {
        let after = lower[start + number.len()..].trim_start_matches([' ', '-']);
        let is_bytes = ["bytes", "byte", "b ", "b)", "b,"].iter().any(|u| after.starts_with(u))
            || after == "b";
        let near = &lower[start.saturating_sub(24).max(floor_boundary(&lower, start))..start];
        let names_frame = near.contains("frame")
            || after
                .trim_start_matches("bytes")
                .trim_start_matches("byte")
                .trim_start()
                .starts_with("frame");
        if let (true, true, Ok(value)) = (is_bytes, names_frame, number.parse()) {
            found.push(Count { value, text: format!("{number} bytes"), offset: start });
        }
    }
    found
}

/// The nearest character boundary at or below 24 bytes before `at`.
fn floor_boundary(text: &str, at: usize) -> usize {
    let mut start = at.saturating_sub(24);
    while start < at && !text.is_char_boundary(start) {
        start += 1;
    }
    start
}

/// A number with up to `gap` words before a noun that `is_noun` takes.
fn counts(text: &str, gap: usize, is_noun: impl Fn(&str) -> bool) -> Vec<Count> {
    let mut found = Vec::new();
    for (start, number) in numbers(text) {
        let after = &text[start + number.len()..];
        let (factor, suffix) = magnitude(after);
        let text = text[start..start + number.len() + suffix].trim().to_owned();
        let after = &after[suffix..];
        if !after.starts_with([' ', '\u{a0}']) {
            continue;
        }
        let words = after.split_whitespace().take(gap + 1);
        let nouns = words.take_while(|w| !w.ends_with([',', ';', '.']) || is_noun(&plain(w)));
        let is_counted = nouns.into_iter().any(|word| is_noun(&plain(word)));
        let is_grouped = factor == 1.0 || number.split(',').nth(1).is_some_and(|p| p.len() == 3);
        let plain = if is_grouped { number.replace(',', "") } else { number.replace(',', ".") };
        let Some(value) = parse(&plain).map(|(value, _)| value * factor) else { continue };
        if is_counted && (value - value.round()).abs() < 1e-6 && value < 1e12 {
            found.push(Count { value: value.round() as u64, text, offset: start });
        }
    }
    found
}

/// `5M`, `5 M`, `50K`, `5 million`: the factor, and the bytes that it takes after the number.
fn magnitude(after: &str) -> (f64, usize) {
    let rest = after.trim_start_matches([' ', '\u{a0}']);
    let blanks = after.len() - rest.len();
    let names = [
        ("millions", 1e6),
        ("million", 1e6),
        ("thousand", 1e3),
        ("k", 1e3),
        ("K", 1e3),
        ("M", 1e6),
    ];
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric());
    let named = names.iter().find(|(name, _)| rest.strip_prefix(name).is_some_and(ends));
    named.map_or((1.0, 0), |(name, factor)| (*factor, blanks + name.len()))
}

fn plain(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

/// Numbers that stand alone or before a unit, not within a word.
fn numbers(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut start = None;
    let mut previous = ' ';
    for (at, c) in text.char_indices().chain([(text.len(), '\0')]) {
        let is_part = c.is_ascii_digit() || (matches!(c, '.' | ',') && start.is_some());
        match (start, is_part) {
            (None, true) if !previous.is_alphanumeric() && previous != '_' => start = Some(at),
            (Some(from), false) => {
                found.push((from, text[from..at].trim_end_matches(['.', ','])));
                start = None;
            }
            _ => {}
        }
        previous = c;
    }
    found
}

fn parse(number: &str) -> Option<(f64, usize)> {
    let text = number.replace(',', ".");
    let value: f64 = text.parse().ok().filter(|v: &f64| v.is_finite())?;
    Some((value, text.split('.').nth(1).map_or(0, str::len)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_rates_in_every_unit() {
        let pps =
            |text: &str| rates(text).iter().map(|r| (r.pps(), r.decimals)).collect::<Vec<_>>();
        assert_eq!(pps("Traffic load at 1.448Mpps (Gigabit)"), [(1.448e6, 3)]);
        assert_eq!(pps("from 700Kpps to 1,2 Mpps"), [(700e3, 0), (1.2e6, 1)]);
        assert_eq!(
            pps("1488095 pps, or 1.488 million packets per second"),
            [(1_488_095.0, 0), (1.488e6, 3)]
        );
        assert!(pps("r14Mpps 5 mppsx").is_empty());
        assert_eq!(pps("72000 packets forwarded each second"), [(72e3, 0)]);
        assert_eq!(pps("5 million IPv4 packets go through every second"), [(5e6, 0)]);
        assert!(pps("1000 packets in 1.2 ms").is_empty());
        assert!(pps("7.2 % fewer packets per second").is_empty());
        let both = rates_of_one_unit("4.1 Mpps with it against 3.4 without");
        assert_eq!(
            both.iter().map(|rate| (rate.number, rate.unit)).collect::<Vec<_>>(),
            [(4.1, 1e6), (3.4, 1e6)]
        );
        assert_eq!(rates_of_one_unit("4.1 Mpps with 2 queues").len(), 1);
    }

    #[test]
    fn reads_counts_of_flows_and_runs() {
        let flows = |text: &str| flow_counts(text).iter().map(|c| c.value).collect::<Vec<_>>();
        assert_eq!(flows("- 2000 flows of smallest UDP packets"), [2000]);
        assert_eq!(flows("- BUG: 200 flows only of smallest UDP packets"), [200]);
        assert_eq!(flows("50K unidirection flows (So 100K in pf states table)"), [50_000]);
        for text in ["5M flows", "5 M flows", "5 million UDP flows", "5,000,000 flows"] {
            assert_eq!(flows(text), [5_000_000], "{text}");
        }
        assert_eq!(flows("1.5M flows"), [1_500_000]);
        assert_eq!(flow_counts("with 5M flows")[0].text, "5M");
        assert!(flows("10 Gigabit ports, 2000 different things, and some flows").is_empty());
        assert_eq!(run_counts("maximum values of 5 benches")[0].value, 5);
        assert_eq!(run_counts("Each kernel was measured ten times")[0].value, 10);
        assert!(run_counts("it ran ten times as fast").is_empty());
    }

    #[test]
    fn reads_thousands_and_millions() {
        let found = scaled("from ~480 K to 1.2M, r480K, 5 Kpps, 7 million");
        let values: Vec<(f64, bool)> = found.iter().map(|s| (s.value, s.is_rough)).collect();
        assert_eq!(values, [(480e3, true), (1.2e6, false), (7e6, false)]);
        assert_eq!((found[0].text.as_str(), found[1].step), ("480 K", 50e3));
    }

    #[test]
    fn reads_frame_lengths() {
        let found =
            frame_lengths("500Bytes UDP load => packet size: 528B => Ethernet frame size:542B");
        assert_eq!(found.iter().map(|c| c.value).collect::<Vec<_>>(), [542]);
        assert_eq!(frame_lengths("62-byte frames")[0].value, 62);
        let _ = frame_lengths("é".repeat(40).as_str());
    }

    /// "A third of the runs" is of some.
    #[test]
    fn each_set_was_run_so_many_times() {
        let of = |text: &str| run_counts(text).iter().any(|own| is_of_each_set(text, own));
        assert!(of("Each configuration was run six times."));
        assert!(of("every measure was done 3 times, after a reboot"));
        assert!(!of("Each was run six times, of which the first is left out."));
        assert!(!of("It was run six times."));
        assert!(!of("5 runs of each kernel"));
    }
}
