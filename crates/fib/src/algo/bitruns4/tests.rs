use super::*;
use crate::algo::{Algorithm, Dump};
use crate::family::Inet;
use crate::prefix::Prefix;

#[test]
fn a_record_of_up_to_28_runs_lies_in_one_cache_line() {
    // 27 /24s that alternate with the default.
    let route = |i: u32| (Prefix::<Inet>::covering(i << 9, 24), NexthopId(2));
    let mut routes: Vec<_> = (0..14).map(route).collect();
    routes.push((Prefix::DEFAULT, NexthopId(1)));
    let module = BitRuns4.build(&Dump::new(routes)).unwrap();
    let lookup = module.lookup();
    for addr in (0..1 << 14).step_by(64) {
        let wanted = if addr >> 8 & 1 == 0 && addr >> 9 < 14 { 2 } else { 1 };
        assert_eq!(lookup.lookup(addr), NexthopId(wanted), "{addr:x}");
    }
}
