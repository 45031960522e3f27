//! The time of day, which several hosts share.

use std::time::SystemTime;

/// The host's time in ns since 1970.
pub(super) fn now_ns() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as u64)
}
