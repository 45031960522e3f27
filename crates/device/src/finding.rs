//! What a machine can do or cannot, as `fwdlab doctor` says it.

use serde::Serialize;

/// One thing that a device uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Its name.
    pub what: &'static str,
    /// Whether it is there.
    pub present: bool,
    /// What was seen.
    pub detail: String,
    /// What it makes possible.
    pub enables: &'static str,
    /// How to get it.
    pub remedy: &'static str,
    /// Whether the device does nothing without it.
    pub is_needed: bool,
}
