//! Real machines over plain ssh: a device under test, a tester, and a receiver where it is another.
//!
//! The experiment says what is compared, a [testbed](testbed) file names the machines. A trial locks
//! the testbed, sets the device up and proves it, sends a few frames as a probe, measures while nothing
//! is sent to the device by any other way, and holds the counters of both sides against each other.
//! Whatever breaks becomes a failure of a kind, with what was done about it.

#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod device;
mod doctor;
mod dut;
mod error;
mod facts;
mod host;
mod kind;
mod links;
mod lock;
mod logs;
mod machines;
mod mend;
mod prove;
mod reach;
mod sampler;
mod secrets;
mod settings;
mod ssh;
mod testbed;
mod tester;
mod unlock;

pub use doctor::{check, examine};
pub use error::{RemoteError, Result};
pub use kind::Remote;
pub use unlock::unlock;
