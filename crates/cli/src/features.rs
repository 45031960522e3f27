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

/// What a build may leave out.
fn all() -> impl Iterator<Item = Feature> {
    OF_REPORTS.into_iter().chain(devices::PARTS)
}

/// What this build left out.
pub fn left_out() -> impl Iterator<Item = Feature> {
    all().filter(|feature| !feature.is_there)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_manifest_may_leave_out_is_named() {
        let manifest: toml::Table = include_str!("../Cargo.toml").parse().unwrap();
        let full = manifest["features"]["full"].as_array().unwrap();
        let mut named: Vec<&str> = all().map(|feature| feature.name).collect();
        named.sort_unstable();
        assert_eq!(full.iter().filter_map(toml::Value::as_str).collect::<Vec<_>>(), named);
    }
}
