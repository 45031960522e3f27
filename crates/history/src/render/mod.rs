//! A history written down.

mod exports;
mod figure;
mod json;
mod page;
mod text;

pub use exports::{bencher, github_action_benchmark, otava};
pub use json::json;
pub use page::{html, readme};
pub use text::{markdown, text};

use crate::find::{History, Moved};

/// A ratio as per cent with its sign: `-3.1 %`.
fn percent(ratio: f64) -> String {
    format!("{:+.1} %", ratio * 100.0)
}

/// The interval of a change in words: `-3.1 % (-3.6 to -2.6)`.
fn size(moved: &Moved) -> String {
    let change = &moved.change;
    format!("{} ({:+.1} to {:+.1})", percent(change.ratio), change.low * 100.0, change.high * 100.0)
}

/// `between r312100 and r312205`.
fn place(history: &History, moved: &Moved) -> String {
    let (before, after) = history.ends(moved);
    format!("after {}, at or before {}", before.revision, after.revision)
}
