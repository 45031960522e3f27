//! What this build was made of.

use fwdlab_results::environment::Build;

use crate::features;

/// Version, commit and profile, for `--version`.
pub const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (",
    env!("FWDLAB_COMMIT"),
    ", profile ",
    env!("FWDLAB_PROFILE"),
    ")"
);

/// This build, for `environment.json`.
pub fn build() -> Build {
    Build {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: env!("FWDLAB_COMMIT").to_owned(),
        rustc: env!("FWDLAB_RUSTC").to_owned(),
        profile: env!("FWDLAB_PROFILE").to_owned(),
        target: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
        left_out: features::left_out().map(|feature| feature.enables.to_owned()).collect(),
    }
}
