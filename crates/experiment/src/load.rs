//! The offered load of a traffic, as the file writes it.

use fwdlab_traffic::Load;

use super::problem::Complaint;

/// The fastest line that a load may ask for.
const FASTEST_LINE_BPS: f64 = 400e9;

/// Reads `"max"`, `"500kpps"`, `"1Gbps"`.
pub(super) fn read(text: &str) -> Result<Load, Complaint> {
    const REMEDY: &str = "write load = \"max\" to send as fast as the tester can";
    // small letters and great ones are the same, but for those whose unit says bytes
    if let Some(size) = text.trim().strip_suffix("Bps") {
        return Err(Complaint::new(
            format!("{text:?} says bytes"),
            "a line rate in bits/s such as \"1Gbps\"",
            format!("write \"{size}bps\" for as many bits, or eight times that for these bytes"),
        ));
    }
    let load: Load = text.parse().map_err(|_| {
        Complaint::new(
            format!("{text:?} is no load"),
            "\"max\", frames/s such as \"500kpps\", or a line rate such as \"1Gbps\"",
            meant(text)
                .map_or_else(|| REMEDY.to_owned(), |meant| format!("did you mean \"{meant}\"?")),
        )
    })?;
    match load {
        Load::Pps(number) | Load::LineRate(number) if number < 1.0 => Err(Complaint::new(
            format!("{text:?} sends nothing"),
            "a load of at least 1 frame/s",
            REMEDY,
        )),
        load => Ok(load),
    }
}

/// The load of somebody who writes it in another way: `100Mbit`, `1 Gb/s`, `1000`, `1,2Mpps`, `Max`.
fn meant(text: &str) -> Option<String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit: String = text[digits.len()..].to_lowercase().split_whitespace().collect();
    let mut sizes = ["k", "M", "G"].into_iter();
    let Some(size) = sizes.find(|size| unit.starts_with(&size.to_lowercase())) else {
        return otherwise(text);
    };
    let is_bits = matches!(&unit[1..], "bit" | "bits" | "bit/s" | "bits/s" | "b" | "b/s" | "bps")
        || unit == "g";
    let meant = format!("{digits}{size}bps");
    if is_bits && meant.parse::<Load>().is_ok() { Some(meant) } else { otherwise(text) }
}

/// A number alone is one of frames; `max` in great letters, a decimal comma, and `p/s` are what they seem.
fn otherwise(text: &str) -> Option<String> {
    let text = text.trim();
    let after_comma = text.split_once(',').map_or("", |(_, rest)| rest);
    let is_thousands = after_comma.chars().take_while(char::is_ascii_digit).count() == 3;
    let point = if is_thousands { text.to_owned() } else { text.replacen(',', ".", 1) };
    let is_number = point.parse::<f64>().is_ok_and(|number| number >= 1.0);
    let named = [
        if is_number { format!("{point}pps") } else { text.to_lowercase() },
        point.replace("pps/s", "pps").replace("p/s", "pps"),
    ];
    named.into_iter().find(|own| own.parse::<Load>().is_ok())
}

/// Refuses a load that no line carries, and a recorded one without a capture.
pub(super) fn check(load: Load, frame_bytes: u16, is_captured: bool) -> Result<(), Complaint> {
    if load == Load::Recorded && !is_captured {
        return Err(Complaint::new(
            "nothing was recorded that says when frames are due",
            "load = \"recorded\" beside capture",
            "write load = \"max\" or a rate, or name a capture",
        ));
    }
    let bytes = f64::from(frame_bytes);
    let Some(most) = Load::LineRate(FASTEST_LINE_BPS).frames_per_second(bytes) else {
        return Ok(());
    };
    match load.frames_per_second(bytes) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_in_other_words_are_told_how_they_are_written() {
        let said = |text: &str| format!("{:?}", read(text).unwrap_err());
        for (text, meant) in [
            ("1000", "1000pps"),
            ("1,2Mpps", "1.2Mpps"),
            ("Max", "max"),
            ("1Mp/s", "1Mpps"),
            ("100Mbit", "100Mbps"),
            ("10G", "10Gbps"),
        ] {
            assert!(
                said(text).contains(&format!("did you mean \\\"{meant}\\\"")),
                "{}",
                said(text)
            );
        }
        assert!(!said("1,000Mpps").contains("did you mean"));
    }

    /// Eight times too little was sent.
    #[test]
    fn bytes_are_not_taken_for_bits() {
        let said = format!("{:?}", read("1GBps").unwrap_err());
        assert!(said.contains("bytes") && said.contains("1Gbps"), "{said}");
        assert!(read("1Gbps").is_ok() && read("1GBPS").is_ok() && read("1Kpps").is_ok());
    }
}
