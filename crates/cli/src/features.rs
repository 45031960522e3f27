//! What a build may leave out, because it takes long to compile.

use crate::devices::OF_KERNELS;

/// A part of the program that a build may leave out.
#[derive(Clone, Copy, Debug)]
pub struct Feature {
    /// Its name for cargo.
    pub name: &'static str,
    /// What it does.
    pub enables: &'static str,
    /// The device of an experiment that it is, if it is one.
    pub device: Option<&'static str>,
    /// Whether this build has it.
    pub is_there: bool,
}

/// Every part.
pub const ALL: [Feature; 5] = [
    part("flame", "flame graphs, and profiles of the whole machine", cfg!(feature = "flame")),
    part("png", "figures as PNG beside SVG", cfg!(feature = "png")),
    part("sampler", "profiles of the built-in device", cfg!(feature = "sampler")),
    Feature {
        device: Some(OF_KERNELS),
        ..part("vm", "kernels in virtual machines (device = \"vm\")", cfg!(feature = "vm"))
    },
    part("xdp-object", "XDP programs of your own (xdp = \"FILE.o\")", cfg!(feature = "xdp-object")),
];

const fn part(name: &'static str, enables: &'static str, is_there: bool) -> Feature {
    Feature { name, enables, device: None, is_there }
}

/// What this build left out.
pub fn left_out() -> impl Iterator<Item = Feature> {
    ALL.into_iter().filter(|feature| !feature.is_there)
}

/// How to get everything.
pub const REMEDY: &str = "build it with `cargo build --release --features full`";

/// Names what this build leaves out of reports, on stderr.
pub fn say_what_reports_lack() {
    let lacking: Vec<&str> = left_out()
        .filter(|feature| matches!(feature.name, "flame" | "png"))
        .map(|feature| feature.enables)
        .collect();
    if !lacking.is_empty() {
        fwdlab_guard::say!("left out of this build: {}; {REMEDY}", lacking.join("; "));
    }
}
