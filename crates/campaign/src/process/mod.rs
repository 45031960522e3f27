//! Trials in processes of their own.
//!
//! A process is dealt its memory when it starts: which pages hold the tables, which colours these
//! have, where the stack begins. All its trials share that luck, and an interval over them speaks for
//! one deal only. So where the device lives in this program's memory, every few blocks run in a
//! fresh process of the same program: [`serve`] runs there, [`Proxy`] is the device as the campaign
//! sees it. They speak JSON over pipes, a line a message. The process ends when its input does, so
//! that no trial outlives a campaign that was killed.

mod message;
mod parent;
mod serve;

#[cfg(test)]
mod tests;

pub use parent::{Proxy, Start};
pub use serve::{Wanted, serve};
