//! What this build left out.

use crate::devices;
use crate::feature::Feature;

/// Parts of reports; those of devices stand in the list of devices.
const OF_REPORTS: [Feature; 2] = [
    Feature::part(
        "flame",
        "flame graphs, and profiles of the whole machine",
        cfg!(feature = "flame"),
    ),
    Feature::part("png", "figures as PNG beside SVG", cfg!(feature = "png")),
];

/// What this build left out.
pub fn left_out() -> impl Iterator<Item = Feature> {
    let all = OF_REPORTS.into_iter().chain(devices::PARTS);
    all.filter(|feature| !feature.is_there)
}

/// How to get everything.
pub const REMEDY: &str = "build it with `cargo build --release --features full`";

/// Names what this build leaves out of reports, on stderr.
pub fn say_what_reports_lack() {
    let lacking: Vec<&str> = OF_REPORTS
        .iter()
        .filter(|feature| !feature.is_there)
        .map(|feature| feature.enables)
        .collect();
    if !lacking.is_empty() {
        fwdlab_guard::say!("left out of this build: {}; {REMEDY}", lacking.join("; "));
    }
}
