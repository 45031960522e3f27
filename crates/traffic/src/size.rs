//! How long frames are. All lengths here count the 4-byte FCS, as frame sizes in benchmarks do.

use std::fmt;
use std::str::FromStr;

use fwdlab_wire::ethernet::{
    FCS_LEN, HEADER_LEN, MIN_FRAME_LEN_WITH_FCS, MIN_IPV6_UDP_FRAME_LEN_WITH_FCS,
};

use crate::error::TrafficError;
use crate::flows::Family;

/// The largest test frame: a jumbo frame of 9,216 bytes.
pub const MAX: usize = 9216;

/// A mix of frame sizes; a fixed size is a mix of one.
///
/// ```
/// use fwdlab_traffic::{Family, FrameSizes};
/// let min: FrameSizes = "min".parse()?;
/// assert_eq!(min.lengths(Family::Inet6)?, [(66, 1)]);
/// let imix: FrameSizes = "imix".parse()?;
/// assert_eq!(imix.mean_len(Family::Inet)?, (7.0 * 64.0 + 4.0 * 594.0 + 1518.0) / 12.0);
/// # Ok::<(), fwdlab_traffic::TrafficError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameSizes {
    /// Length with FCS (0 = the family's smallest) and its weight.
    parts: Vec<(usize, u32)>,
}

impl FrameSizes {
    /// The smallest frames of each family.
    pub fn min() -> Self {
        Self { parts: vec![(0, 1)] }
    }

    /// Frames of one length in bytes with FCS.
    pub fn fixed(len_with_fcs: usize) -> Self {
        Self { parts: vec![(len_with_fcs, 1)] }
    }

    /// The "simple IMIX": 7 small, 4 medium, 1 large of 12 frames.
    pub fn imix() -> Self {
        Self { parts: vec![(0, 7), (594, 4), (1518, 1)] }
    }

    /// The lengths (with FCS) and their weights for a family.
    ///
    /// # Errors
    /// A length is out of the family's range.
    pub fn lengths(&self, family: Family) -> Result<Vec<(usize, u32)>, TrafficError> {
        let min = match family {
            Family::Inet => MIN_FRAME_LEN_WITH_FCS,
            Family::Inet6 => MIN_IPV6_UDP_FRAME_LEN_WITH_FCS,
        };
        let check = |&(len, weight): &(usize, u32)| match len {
            0 => Ok((min, weight)),
            len if (min..=MAX).contains(&len) => Ok((len, weight)),
            len => Err(TrafficError::FrameLen { len, family: family.name(), min, max: MAX }),
        };
        self.parts.iter().map(check).collect()
    }

    /// The longest length with FCS in bytes, at least the smallest frame of either family.
    pub fn longest(&self) -> usize {
        self.parts.iter().map(|&(len, _)| len).fold(MIN_IPV6_UDP_FRAME_LEN_WITH_FCS, usize::max)
    }

    /// Whether there are frames of several lengths.
    pub fn is_mixed(&self) -> bool {
        self.parts.len() > 1
    }

    /// Mean length in bytes with FCS.
    ///
    /// # Errors
    /// As [`lengths`](Self::lengths).
    pub fn mean_len(&self, family: Family) -> Result<f64, TrafficError> {
        let lengths = self.lengths(family)?;
        let total: f64 = lengths.iter().map(|&(len, weight)| len as f64 * f64::from(weight)).sum();
        let weights: u32 = lengths.iter().map(|&(_, weight)| weight).sum();
        Ok(total / f64::from(weights))
    }
}

/// The MTU in bytes that a port needs for frames of this length with FCS.
pub fn mtu_of(len_with_fcs: usize) -> usize {
    len_with_fcs.saturating_sub(HEADER_LEN + FCS_LEN)
}

impl FromStr for FrameSizes {
    type Err = TrafficError;

    /// Reads `min`, `imix`, a length, or `LEN:WEIGHT,LEN:WEIGHT,...`.
    fn from_str(text: &str) -> Result<Self, TrafficError> {
        let wrong = || TrafficError::FrameSize { text: text.to_owned() };
        match text.trim() {
            "min" => return Ok(Self::min()),
            "imix" => return Ok(Self::imix()),
            _ => {}
        }
        let part = |part: &str| {
            let (len, weight) = part.split_once(':').unwrap_or((part, "1"));
            let len = match len.trim() {
                "min" => 0,
                len => len.parse().ok().filter(|&len: &usize| len > 0).ok_or_else(wrong)?,
            };
            let weight: u32 = weight.trim().parse().map_err(|_| wrong())?;
            if (1..=1000).contains(&weight) { Ok((len, weight)) } else { Err(wrong()) }
        };
        let parts = text.split(',').map(part).collect::<Result<Vec<_>, _>>()?;
        // "64:7,594" may be a mix without its last weight, or a number with a comma in it.
        let weights = text.split(',').filter(|part| part.contains(':')).count();
        let is_half = weights != 0 && weights != parts.len();
        if is_half || parts.len() > 64 { Err(wrong()) } else { Ok(Self { parts }) }
    }
}

impl fmt::Display for FrameSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let len = |len: usize| if len == 0 { "min".to_owned() } else { len.to_string() };
        if let [(only, _)] = self.parts[..] {
            return f.write_str(&len(only));
        }
        let parts = self.parts.iter().map(|&(size, weight)| format!("{}:{weight}", len(size)));
        f.write_str(&parts.collect::<Vec<_>>().join(","))
    }
}
