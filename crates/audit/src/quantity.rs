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

/// Rates: `1.448Mpps`, `14.88 Mpps`, `500 Kpps`, `1488095 pps`,
/// `1.488 million packets per second`.
pub fn rates(text: &str) -> Vec<Rate> {
    let mut found = Vec::new();
    for (start, number) in numbers(text) {
        let after = &text[start + number.len()..];
        let lower: String = after.trim_start().chars().take(28).collect::<String>().to_lowercase();
        let units: [(&str, f64); 10] = [
            ("mpps", 1e6),
            ("kpps", 1e3),
            ("gpps", 1e9),
            ("pps", 1.0),
            ("mp/s", 1e6),
            ("million packets", 1e6),
            ("millions packets", 1e6),
            ("million pps", 1e6),
            ("packets per second", 1.0),
            ("packets/s", 1.0),
        ];
        let unit = units.iter().find(|(name, _)| {
            lower.strip_prefix(name).is_some_and(|r| !r.starts_with(|c: char| c.is_alphanumeric()))
        });
        let Some((name, unit)) = unit else { continue };
        let Some((value, decimals)) = parse(number) else { continue };
        let blanks = after.len() - after.trim_start().len();
        found.push(Rate {
            number: value,
            decimals,
            unit: *unit,
            text: text[start..].chars().take(number.len() + blanks + name.len()).collect(),
            offset: start,
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
    counts(text, 0, |word| RUNS.contains(&word))
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
        let (factor, after) = match after.chars().next() {
            Some('k' | 'K') => (1000, &after[1..]),
            Some('M') => (1_000_000, &after[1..]),
            _ => (1, after),
        };
        if !after.starts_with([' ', '\u{a0}']) {
            continue;
        }
        let words = after.split_whitespace().take(gap + 1);
        let nouns = words.take_while(|w| !w.ends_with([',', ';', '.']) || is_noun(&plain(w)));
        let is_counted = nouns.into_iter().any(|word| is_noun(&plain(word)));
        let Some((value, _)) = parse(&number.replace(',', "")) else { continue };
        if is_counted && value.fract() == 0.0 && value < 1e12 {
            found.push(Count {
                value: value as u64 * factor,
                text: number.to_owned(),
                offset: start,
            });
        }
    }
    found
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
    }

    #[test]
    fn reads_counts_of_flows_and_runs() {
        let flows = |text: &str| flow_counts(text).iter().map(|c| c.value).collect::<Vec<_>>();
        assert_eq!(flows("- 2000 flows of smallest UDP packets"), [2000]);
        assert_eq!(flows("- BUG: 200 flows only of smallest UDP packets"), [200]);
        assert_eq!(flows("50K unidirection flows (So 100K in pf states table)"), [50_000]);
        assert!(flows("10 Gigabit ports, 2000 different things, and some flows").is_empty());
        assert_eq!(run_counts("maximum values of 5 benches")[0].value, 5);
    }

    #[test]
    fn reads_frame_lengths() {
        let found =
            frame_lengths("500Bytes UDP load => packet size: 528B => Ethernet frame size:542B");
        assert_eq!(found.iter().map(|c| c.value).collect::<Vec<_>>(), [542]);
        assert_eq!(frame_lengths("62-byte frames")[0].value, 62);
        let _ = frame_lengths("é".repeat(40).as_str());
    }
}
