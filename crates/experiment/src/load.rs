//! The offered load of a traffic, as the file writes it.

use fwdlab_traffic::Load;

use super::problem::Complaint;

/// The fastest line that a load may ask for.
const FASTEST_LINE_BPS: f64 = 400e9;

/// Reads `"max"`, `"500kpps"`, `"1Gbps"`.
pub(super) fn read(text: &str) -> Result<Load, Complaint> {
    const REMEDY: &str = "write load = \"max\" to send as fast as the tester can";
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

/// The line rate of somebody who writes its unit in another way: `100Mbit`, `1 Gb/s`.
fn meant(text: &str) -> Option<String> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit: String = text[digits.len()..].to_lowercase().split_whitespace().collect();
    let size = ["k", "M", "G"].into_iter().find(|size| unit.starts_with(&size.to_lowercase()))?;
    let is_bits = matches!(&unit[1..], "bit" | "bits" | "bit/s" | "bits/s" | "b" | "b/s" | "bps")
        || unit == "g";
    let meant = format!("{digits}{size}bps");
    (is_bits && meant.parse::<Load>().is_ok()).then_some(meant)
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
