//! BPF programs and maps of Linux, without a BPF compiler: programs are assembled here
//! ([`Assembler`]), loaded with the bpf(2) system call and attached to interfaces by links that end
//! with the process. Needs CAP_BPF and CAP_NET_ADMIN.
//!
//! Interfaces are found in the network namespace of the calling thread.

mod assembler;

pub use crate::sys::bpf::{
    LiveFrames, Map, Program, Table, XdpLink, attach_xdp, attach_xdp_generic,
};
pub use assembler::{Assembler, Condition, Helper, Label, Register, Width, action};
