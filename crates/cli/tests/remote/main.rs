//! `device = "remote"` on a testbed of namespaces with real sshds, which the tests make themselves: as
//! root and with openssh-server; else they are skipped.
#![cfg(target_os = "linux")]

mod faults;
mod logins;
mod pool;
mod rig;
mod testbed;
mod whole;
