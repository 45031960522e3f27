//! The router from outside: frames in on one port, frames out on another.

// The whole crate is a test, which the lint cannot see.
#![allow(clippy::unwrap_used)]

mod accounting;
mod edits;
mod fragments;
mod fuzz;
mod itself;
mod neighbours;
mod rfc1812;
mod rfc791;
mod rfc8200;
mod rig;
mod vlans;
