//! `fwdlab fib`: the modular FIB with a table of one's own.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, bail};
use fwdlab_fib::{Family, Fib, Inet, Inet6, Nexthop, Prefix, control};
use fwdlab_lab::routes::{self, RouteTable};

use crate::output;
