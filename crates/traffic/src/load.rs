//! How many frames per second are offered.

use std::fmt;
use std::str::FromStr;

use fwdlab_wire::ethernet::WIRE_OVERHEAD_LEN;

use crate::error::TrafficError;
use crate::recorded::Recording;

/// The offered load (RFC 2285): what the tester tries to send.
///
/// ```
/// use fwdlab_traffic::Load;
/// assert_eq!("500kpps".parse(), Ok(Load::Pps(500_000.0)));
/// let gigabit: Load = "1Gbps".parse()?;
/// // 64 bytes with FCS, 8 of preamble, 12 of gap: 84 bytes a frame on the wire.
/// assert_eq!(gigabit.frames_per_second(64.0).map(f64::floor), Some(1_488_095.0));
/// assert_eq!(Load::Max.frames_per_second(64.0), None);
/// # Ok::<(), fwdlab_traffic::TrafficError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// As fast as tester and device go, without loss in between: the ring pushes back.
    Max,
    /// Frames per second, all streams together.
    Pps(f64),
    /// Bits per second on the wire (layer 1), with preamble and gap.
    LineRate(f64),
    /// Each frame of a capture at its recorded time.
    Recorded,
}

impl Load {
    /// The rate in frames/s for frames of this mean length in bytes with FCS; `None` for
    /// [`Max`](Self::Max).
    pub fn frames_per_second(&self, mean_len_with_fcs: f64) -> Option<f64> {
        match self {
            Self::Max | Self::Recorded => None,
            Self::Pps(rate) => Some(*rate),
            Self::LineRate(bits) => {
                Some(bits / ((mean_len_with_fcs + WIRE_OVERHEAD_LEN as f64) * 8.0))
            }
        }
    }

    /// The mean rate in frames/s for the frames of a recording; `None` for [`Max`](Self::Max).
    pub fn frames_per_second_of(&self, recording: &Recording) -> Option<f64> {
        match self {
            Self::Recorded => recording.recorded_pps(),
            load => load.frames_per_second(recording.mean_len()),
        }
    }
}

impl FromStr for Load {
    type Err = TrafficError;

    /// Reads `max`, `recorded`, `500kpps`, `1.2Mpps`, `10Gbps`; SI prefixes k, M, G, in
    /// either case.
    fn from_str(text: &str) -> Result<Self, TrafficError> {
        let wrong = || TrafficError::Load { text: text.to_owned() };
        let trimmed = text.trim();
        match trimmed {
            "max" => return Ok(Self::Max),
            "recorded" => return Ok(Self::Recorded),
            _ => {}
        }
        let number_end =
            trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
        let (number, unit) = trimmed.split_at(number_end);
        let number: f64 = number.parse().map_err(|_| wrong())?;
        let unit = unit.trim().to_ascii_lowercase();
        let (factor, unit) = match unit.as_bytes().first() {
            Some(b'k') => (1e3, &unit[1..]),
            Some(b'm') => (1e6, &unit[1..]),
            Some(b'g') => (1e9, &unit[1..]),
            _ => (1.0, unit.as_str()),
        };
        let value = number * factor;
        if !(value > 0.0 && value.is_finite()) {
            return Err(wrong());
        }
        match unit {
            "pps" => Ok(Self::Pps(value)),
            "bps" | "bit/s" => Ok(Self::LineRate(value)),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self {
            Self::Max => return write!(f, "max"),
            Self::Recorded => return write!(f, "recorded"),
            Self::Pps(rate) => (*rate, "pps"),
            Self::LineRate(bits) => (*bits, "bps"),
        };
        match value {
            v if v >= 1e9 => write!(f, "{}G{unit}", v / 1e9),
            v if v >= 1e6 => write!(f, "{}M{unit}", v / 1e6),
            v if v >= 1e3 => write!(f, "{}k{unit}", v / 1e3),
            v => write!(f, "{v}{unit}"),
        }
    }
}
