//! Streams of real stacks through the device: TCP sockets of the tester's two namespaces, all of them, and
//! the device between them, on one processor.
//!
//! What a byte costs the device cannot be seen from outside: its work is done in the senders' system calls,
//! between that of both ends, and merging or cutting frames is done on the way into it and out of it. So the
//! same streams are carried past it, too, by a cable between the ends, in turns of a slice each; the
//! difference is the device's.

mod ends;
mod trial;
mod wire;

pub(super) use self::ends::check;
pub(super) use self::trial::carry;
pub(super) use self::wire::{PAST, furnish, has_streams};
