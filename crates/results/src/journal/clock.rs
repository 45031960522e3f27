//! Time stamps of records.

use std::time::{SystemTime, UNIX_EPOCH};

use jiff::Timestamp;

/// `time` in UTC to the second, as RFC 3339 writes it:
/// `2026-11-21T13:00:00Z`. Times before 1970 read as 1970.
pub fn utc_stamp(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX).strftime("%FT%TZ").to_string()
}

/// Seconds since 1970 of a stamp that [`utc_stamp`] wrote; `None` for anything
/// else, other ways to write a time included.
pub fn seconds_of_stamp(stamp: &str) -> Option<u64> {
    let time: Timestamp = stamp.parse().ok()?;
    let is_ours = time.strftime("%FT%TZ").to_string() == stamp;
    u64::try_from(time.as_second()).ok().filter(|_| is_ours)
}
