//! Results of a rate search: the sender steps its rate towards what is received, and closes with
//! `Estimated Equilibrium Ethernet throughput= 55 Mb/s (maximum value seen: 56 Mb/s)`.

/// The result of a rate search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equilibrium {
    /// The rate found.
    pub found: Amount,
    /// The highest rate received on the way.
    pub most: Option<Amount>,
    /// Ethernet frame length that the log names, in bytes.
    pub frame_bytes: Option<u32>,
}

/// An amount of traffic a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// Bits of Ethernet frames.
    Bits(f64),
    /// Frames.
    Frames(f64),
}

impl Amount {
    /// Reads `55 Mb/s`, `55Mb/s`, `491 Kpps`.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim_start();
        let digits = text.bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
        let number: f64 = text[..digits].parse().ok()?;
        let unit = text[digits..].trim_start();
        let unit =
            unit.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',')).next()?;
        let (factor, unit) = match unit.as_bytes().first()? {
            b'k' | b'K' => (1e3, &unit[1..]),
            b'M' => (1e6, &unit[1..]),
            b'G' => (1e9, &unit[1..]),
            _ => (1.0, unit),
        };
        let value = number * factor;
        match unit {
            "b/s" | "bps" | "bit/s" => Some(Self::Bits(value)),
            "pps" => Some(Self::Frames(value)),
            _ => None,
        }
    }

    /// As files of such rates hold it: in Mb/s or kpps.
    pub fn number(self) -> f64 {
        match self {
            Self::Bits(bits) => bits / 1e6,
            Self::Frames(pps) => pps / 1e3,
        }
    }

    /// In frames/s for frames of a length, FCS and all; `None` for bits of frames of unknown length.
    pub fn pps(self, frame_bytes: Option<u32>) -> Option<f64> {
        match self {
            Self::Frames(pps) => Some(pps),
            Self::Bits(bits) => Some(bits / (8.0 * f64::from(frame_bytes.filter(|b| *b > 0)?))),
        }
    }
}

impl std::fmt::Display for Amount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Bits(_) => write!(f, "{} Mb/s", self.number()),
            Self::Frames(_) => write!(f, "{} kpps", self.number()),
        }
    }
}

impl Equilibrium {
    /// What follows `Equilibrium Ethernet throughput=`.
    pub fn parse(rest: &str) -> Option<Self> {
        let found = Amount::parse(rest)?;
        let most = rest
            .split_once("maximum value seen")
            .and_then(|(_, text)| Amount::parse(text.trim_start_matches([':', '=', ' '])));
        Some(Self { found, most, frame_bytes: None })
    }
}

/// One load that a search tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// What was offered.
    pub offered: Amount,
    /// What came back; `None` where the log does not say.
    pub forwarded: Option<Amount>,
}

impl Step {
    /// Reads steps as [`Step::text`] writes them.
    pub fn parse_all(text: &str) -> Vec<Self> {
        let step = |step: &str| {
            let (offered, forwarded) = step.split_once(':')?;
            Some(Self { offered: Amount::parse(offered)?, forwarded: Amount::parse(forwarded) })
        };
        text.split(',').filter_map(step).collect()
    }

    /// `500 Mb/s: 359 Mb/s, 250 Mb/s: 250 Mb/s`: what was offered, and what came back.
    pub fn text(steps: &[Self]) -> String {
        let steps = steps.iter().map(|step| {
            let forwarded = step.forwarded.map_or("?".to_owned(), |rate| rate.to_string());
            format!("{}: {forwarded}", step.offered)
        });
        steps.collect::<Vec<_>>().join(", ")
    }
}

/// The amount behind `Offering load = 50 Mb/s`, where a line has the words before it.
pub fn amount_behind(line: &str, words: &str) -> Option<Amount> {
    let lower = line.to_ascii_lowercase();
    let at = lower.find(words)?;
    Amount::parse(line[at + words.len()..].trim_start_matches([':', '=', ' ']))
}

/// `Ethernet frame size=60B`: the length that the search was made with.
pub fn frame_bytes(line: &str) -> Option<u32> {
    let lower = line.to_ascii_lowercase();
    let (_, rest) = lower.split_once("ethernet frame size")?;
    let rest = rest.trim_start_matches([':', '=', ' ']);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest[..digits].parse().ok().filter(|bytes| (14..=9216).contains(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_amounts_of_bits_and_frames() {
        assert_eq!(Amount::parse(" 55 Mb/s (max"), Some(Amount::Bits(55e6)));
        assert_eq!(Amount::parse("491Kpps"), Some(Amount::Frames(491e3)));
        assert_eq!(Amount::parse("1.2 Gb/s)"), Some(Amount::Bits(1.2e9)));
        for text in ["", "x", "5", "5 apples", "- Mb/s"] {
            assert_eq!(Amount::parse(text), None, "{text}");
        }
        assert_eq!(Amount::Bits(542.0 * 8.0 * 1000.0).pps(Some(542)), Some(1000.0));
        assert_eq!(Amount::Bits(1.0).pps(None), None);
        assert_eq!(frame_bytes("=> Ethernet frame size:542B"), Some(542));
        assert_eq!(frame_bytes("Ethernet frame size=0B"), None);
    }

    #[test]
    fn steps_are_read_as_they_are_written() {
        let mbps = |offered: f64, forwarded: Option<f64>| Step {
            offered: Amount::Bits(offered * 1e6),
            forwarded: forwarded.map(|rate| Amount::Bits(rate * 1e6)),
        };
        let steps = [mbps(500.0, Some(359.0)), mbps(250.0, None)];
        assert_eq!(Step::text(&steps), "500 Mb/s: 359 Mb/s, 250 Mb/s: ?");
        assert_eq!(Step::parse_all(&Step::text(&steps)), steps);
        assert_eq!(Step::parse_all("x, 5: 6, : 1 Mb/s"), []);
    }
}
