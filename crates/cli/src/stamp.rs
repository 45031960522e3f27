//! What this build was made of.

use fwdlab_results::environment::Build;

/// This build, for `environment.json`.
pub fn build() -> Build {
    Build {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: env!("FWDLAB_COMMIT").to_owned(),
        rustc: env!("FWDLAB_RUSTC").to_owned(),
        profile: env!("FWDLAB_PROFILE").to_owned(),
        target: format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
    }
}
