//! A moment of traffic before anything is measured: where no frame comes back, none would in any trial.

use std::time::Duration;

use fwdlab_experiment::{Traffic, Variant};

/// How long frames are sent to see whether any comes back.
pub const LENGTH: Duration = Duration::from_millis(20);

/// Why a variant is not measured of whose frames none came back.
pub fn without_frames(sent: u64, traffic: &Traffic, variant: &Variant) -> String {
    format!(
        "none of {sent} frames of traffic {:?} came back, and none would in any trial; correct what keeps them: {}",
        traffic.name,
        suspects(variant)
    )
}

/// What a variant sets, as what may keep every frame.
fn suspects(variant: &Variant) -> String {
    let words: Vec<&str> = variant.set.keys().map(String::as_str).collect();
    match &words[..] {
        [] => "the routes".to_owned(),
        words => format!("{}, or the routes", words.join(", ")),
    }
}
