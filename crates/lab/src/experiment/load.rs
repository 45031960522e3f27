//! The offered load of a traffic.

use std::fmt;

use super::problem::Complaint;
use super::quantity::number_and_unit;

/// Bytes that a frame occupies on the wire besides its own (FCS included):
/// preamble and start delimiter 8, smallest gap 12 (IEEE 802.3).
const PREAMBLE_AND_GAP_BYTES: f64 = 20.0;

/// The fastest line that is taken for real, bits/s at layer 1.
const FASTEST_LINE_BPS: f64 = 400e9;

/// How many frames per second the tester offers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// As many as the tester can.
    Max,
    /// Frames per second.
    Pps(f64),
    /// The line rate of a link of so many bits/s, at layer 1 (preamble and
    /// gap counted): 1 Gb/s is 1,488,095 frames/s of 64 bytes.
    LineRate(f64),
}

impl Load {
    /// Frames per second for frames of `frame_bytes` (FCS included); `None`
    /// for [`Load::Max`].
    pub fn pps(&self, frame_bytes: u16) -> Option<f64> {
        match *self {
            Self::Max => None,
            Self::Pps(pps) => Some(pps),
            Self::LineRate(bps) => {
                Some(bps / ((f64::from(frame_bytes) + PREAMBLE_AND_GAP_BYTES) * 8.0))
            }
        }
    }

    /// Reads `max`, `500kpps`, `1Gbps`.
    pub(super) fn parse(text: &str) -> Result<Self, Complaint> {
        if text == "max" {
            return Ok(Self::Max);
        }
        let load = number_and_unit(text).and_then(|(number, unit)| {
            Some(match unit.to_ascii_lowercase().as_str() {
                "pps" => Self::Pps(number),
                "kpps" => Self::Pps(number * 1e3),
                "mpps" => Self::Pps(number * 1e6),
                "kbps" => Self::LineRate(number * 1e3),
                "mbps" => Self::LineRate(number * 1e6),
                "gbps" => Self::LineRate(number * 1e9),
                _ => return None,
            })
        });
        let load = load.ok_or_else(|| {
            Complaint::new(
                format!("{text:?} is no load"),
                "\"max\", frames/s such as \"500kpps\", or a line rate such as \"1Gbps\"",
                "write load = \"max\" to send as fast as the tester can",
            )
        })?;
        match load {
            Self::Pps(number) | Self::LineRate(number) if number < 1.0 => Err(Complaint::new(
                format!("{text:?} sends nothing"),
                "a load of at least 1 frame/s",
                "write load = \"max\" to send as fast as the tester can",
            )),
            load => Ok(load),
        }
    }

    /// Complains about a load that no line carries.
    pub(super) fn check(&self, frame_bytes: u16) -> Result<(), Complaint> {
        let Some(most) = Self::LineRate(FASTEST_LINE_BPS).pps(frame_bytes) else { return Ok(()) };
        match self.pps(frame_bytes) {
            Some(asked) if asked > most => Err(Complaint::new(
                format!(
                    "{asked:.0} frames/s of {frame_bytes} bytes need a line of {:.0} Gb/s",
                    asked / most * FASTEST_LINE_BPS / 1e9
                ),
                format!("at most 400Gbps, {most:.0} frames/s at this length"),
                "check the unit, or write load = \"max\"",
            )),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Load {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scaled = |f: &mut fmt::Formatter<'_>, number: f64, unit: &str| {
            let (divisor, prefix) = match number {
                n if n >= 1e9 && unit == "bps" => (1e9, "G"),
                n if n >= 1e6 => (1e6, "M"),
                n if n >= 1e3 => (1e3, "k"),
                _ => (1.0, ""),
            };
            write!(f, "{}{prefix}{unit}", number / divisor)
        };
        match *self {
            Self::Max => f.write_str("max"),
            Self::Pps(pps) => scaled(f, pps, "pps"),
            Self::LineRate(bps) => scaled(f, bps, "bps"),
        }
    }
}
