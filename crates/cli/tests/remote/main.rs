//! `device = "remote"` on a testbed of namespaces with real sshds, which the tests make themselves: as
//! root and with openssh-server; else they are skipped.

// a test says on stderr what it skips
#![allow(clippy::print_stderr)]
#![cfg(target_os = "linux")]

mod bsdrp;
mod faults;
mod freebsd;
mod logins;
mod makers;
mod pool;
mod rig;
mod slurm;
mod streams;
mod testbed;
mod times;
mod vms;
mod whole;
