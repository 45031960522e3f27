//! Numbers as people read them: rounded, with a sign where one is due. What has hundreds of digits is a power
//! of ten ([`decimal`]).

/// A change in per cent that is held against a published one: `+17.46 %`.
pub fn exact_percent(percent: f64) -> String {
    format!("{percent:+.2} %")
}

/// A ratio as a percentage without a sign: `0.83 %`.
pub fn share(ratio: f64) -> String {
    match ratio * 100.0 {
        p if p.abs() < 9.995 => format!("{p:.2} %"),
        p => format!("{p:.1} %"),
    }
}

/// A rate for people: `4.812 Mpps`, `819.1 kpps`, `950 pps`.
pub fn rate(pps: f64) -> String {
    let unit = RateUnit::of(pps);
    format!("{} {}", unit.show(pps), unit.name())
}

/// A figure of six digits, of no unit.
pub fn bare(value: f64) -> String {
    let decimals = match value.abs() {
        size if size >= 1e5 => 0,
        size if size >= 1e3 => 1,
        size if size >= 1.0 => 3,
        _ => 6,
    };
    decimal(value, decimals)
}

/// A figure in its unit, for people: rates as [`rate`], times as `s`, `ms` or `us`, bits as `Gbit/s`.
pub fn figure(value: f64, unit: &str) -> String {
    match unit {
        "frames/s" => rate(value),
        "s" if value >= 1.0 => format!("{} s", decimal(value, 2)),
        "s" if value >= 1e-3 => format!("{:.2} ms", value * 1e3),
        "s" => format!("{:.1} us", value * 1e6),
        "ns/frame" | "ns/session" => format!("{} {unit}", ns(value)),
        "ns/byte" => format!("{} {unit}", decimal(value, 3)),
        "bit/s" if value >= 1e9 => format!("{} Gbit/s", decimal(value / 1e9, 3)),
        "bit/s" if value >= 1e6 => format!("{:.1} Mbit/s", value / 1e6),
        "bit/s" if value >= 1e4 => format!("{:.1} kbit/s", value / 1e3),
        unit => format!("{} {unit}", decimal(value.round(), 0)),
    }
}

/// The unit of a column of rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RateUnit {
    /// Frames/s.
    Pps,
    /// Thousand frames/s.
    Kpps,
    /// Million frames/s.
    Mpps,
}

impl RateUnit {
    /// The unit for values up to about `pps`.
    pub fn of(pps: f64) -> Self {
        match pps {
            p if p >= 1e6 => Self::Mpps,
            p if p >= 1e4 => Self::Kpps,
            _ => Self::Pps,
        }
    }

    /// `Mpps`, `kpps` or `pps`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pps => "pps",
            Self::Kpps => "kpps",
            Self::Mpps => "Mpps",
        }
    }

    /// A rate in this unit, without its name.
    pub fn show(self, pps: f64) -> String {
        match self {
            Self::Pps => decimal(pps.round(), 0),
            Self::Kpps => decimal(pps / 1e3, 1),
            Self::Mpps => decimal(pps / 1e6, 3),
        }
    }
}

/// Nanoseconds per frame: `98.1`.
pub fn ns(value: f64) -> String {
    decimal(value, if value < 1e3 { 1 } else { 0 })
}

/// Nanoseconds of a difference, of which small ones matter: `0.25`, `12.3`.
pub fn ns_fine(value: f64) -> String {
    let decimals = match value.abs() {
        size if size < 9.995 => 2,
        size if size < 1e3 => 1,
        _ => 0,
    };
    decimal(value, decimals)
}

/// A level in per cent without needless digits: `95`, `99.9`.
pub fn level(percent: f64) -> String {
    let text = format!("{percent:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A p value: `0.003`, `<0.001`.
pub fn p_value(p: f64) -> String {
    if p < 0.001 { "<0.001".to_owned() } else { format!("{p:.3}") }
}

/// A count with separators: `1,488,095`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (k, c) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// A count with separators and its noun: `1 frame`, `1,488,095 frames`.
pub fn counted(n: u64, noun: &str) -> String {
    let ending = if n == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", count(n))
}

/// A figure without its decimals, with separators: `1,488,095`.
pub fn whole(value: f64) -> String {
    let rounded = decimal(value.abs().round(), 0);
    let digits = rounded.parse().map_or(rounded, count);
    if value <= -0.5 { format!("-{digits}") } else { digits }
}

/// A rate as `.pps` files and ministat hold it: one decimal at the most.
pub fn plain_rate(pps: f64) -> f64 {
    (pps * 10.0).round() / 10.0
}

pub use fwdlab_stats::{decimal, plural};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_carry_sign_and_three_digits() {
        assert_eq!(exact_percent(-5.703), "-5.70 %");
    }

    /// A median of 1e307 had 308 digits, one of 1e-317 was 0.000000.
    #[test]
    fn figures_of_hundreds_of_digits_are_powers_of_ten() {
        assert_eq!(
            [1234.56, 0.5, 0.0, 123_456.7].map(bare),
            ["1234.6", "0.500000", "0.000000", "123457"]
        );
        assert_eq!([1e307, 1e-317].map(bare), ["1.00000e307", "1.00000e-317"]);
        assert_eq!(rate(2.5e307), "2.50000e301 Mpps");
        for unit in ["frames/s", "s", "ns/frame", "ns/byte", "bit/s", "bytes"] {
            assert!(figure(1e307, unit).len() < 24, "{}", figure(1e307, unit));
        }
        assert_eq!((figure(1e-12, "frames"), rate(1e-12)), ("0 frames".into(), "0 pps".into()));
        assert_eq!((ns(1e300), ns_fine(-1e300)), ("1.00000e300".into(), "-1.00000e300".into()));
    }

    #[test]
    fn counts_are_grouped_by_three() {
        assert_eq!(count(1_488_095), "1,488,095");
        assert_eq!(count(999), "999");
        assert_eq!((whole(1_488_095.2), whole(-999.0)), ("1,488,095".into(), "-999".into()));
        assert_eq!(whole(-1e300), "-1.00000e300");
    }

    #[test]
    fn rates_carry_their_unit() {
        assert_eq!(rate(1_488_095.2), "1.488 Mpps");
        assert_eq!(rate(819_142.5), "819.1 kpps");
    }
}
