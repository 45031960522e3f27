//! Synthetic tables against what was measured on the real one.

use super::*;
use fwdlab_fib::{Inet, Inet6};

fn share(table: &[(Prefix<impl Family>, NexthopId)], len: u8) -> f64 {
    table.iter().filter(|(prefix, _)| prefix.len() == len).count() as f64 / table.len() as f64
}

/// Number of blocks of a length that hold routes of at least that length.
fn blocks<F: Family>(table: &[(Prefix<F>, NexthopId)], len: u8) -> usize {
    let inside = table.iter().filter(|(prefix, _)| prefix.len() >= len);
    let mut blocks: Vec<_> = inside.map(|(p, _)| Prefix::<F>::covering(p.addr(), len)).collect();
    blocks.dedup();
    blocks.len()
}

/// Share of routes that lie inside another one.
fn nested<F: Family>(table: &[(Prefix<F>, NexthopId)]) -> f64 {
    let mut around: Vec<Prefix<F>> = Vec::new();
    let mut count = 0;
    for (prefix, _) in table {
        around.retain(|outer| outer.covers(prefix));
        count += usize::from(!around.is_empty());
        around.push(*prefix);
    }
    count as f64 / table.len() as f64
}

fn close(what: &str, got: f64, want: f64, tolerance: f64) {
    let error = (got / want - 1.0).abs();
    assert!(error <= tolerance, "{what}: {got} instead of {want}, off by {:.1} %", 100.0 * error);
}

#[test]
fn a_full_inet_table_has_the_measured_shape() {
    let table = Synth::new(FULL_INET, 100, 1).table::<Inet>();
    assert_eq!(table.len(), FULL_INET);
    assert!(table.is_sorted_by(|a, b| a.0 < b.0));
    for (len, want) in
        [(16, 0.0150), (20, 0.0472), (21, 0.0563), (22, 0.1204), (23, 0.1070), (24, 0.5962)]
    {
        close(&format!("share of /{len}"), share(&table, len), want, 0.1);
    }
    close("nested", nested(&table), 0.507, 0.15);
    for (len, want) in [(8, 220), (12, 3049), (16, 33_013), (20, 172_444), (24, 537_971)] {
        close(&format!("/{len} blocks"), blocks(&table, len) as f64, f64::from(want), 0.05);
    }
}

#[test]
fn a_full_inet6_table_has_the_measured_shape() {
    let table = Synth::new(FULL_INET6, 100, 1).table::<Inet6>();
    assert_eq!(table.len(), FULL_INET6);
    for (len, want) in
        [(29, 0.0273), (32, 0.1408), (36, 0.0374), (40, 0.0838), (44, 0.0897), (48, 0.4714)]
    {
        close(&format!("share of /{len}"), share(&table, len), want, 0.2);
    }
    close("nested", nested(&table), 0.569, 0.05);
    for (len, want) in [(20, 617), (24, 7246), (32, 29_369), (40, 31_568), (48, 75_568)] {
        close(&format!("/{len} blocks"), blocks(&table, len) as f64, f64::from(want), 0.1);
    }
}

#[test]
fn tables_of_every_size_have_exactly_that_size() {
    for size in [0, 1, 2, 10, 1000, 12_345, 100_000] {
        assert_eq!(Synth::new(size, 3, 7).table::<Inet>().len(), size);
        assert_eq!(Synth::new(size, 3, 7).table::<Inet6>().len(), size);
    }
}

#[test]
fn tables_grow_to_twice_the_internet() {
    let table = Synth::new(2_000_000, 65_535, 2).table::<Inet>();
    assert_eq!(table.len(), 2_000_000);
    assert!(table.is_sorted_by(|a, b| a.0 < b.0));
    assert!(share(&table, 24) > 0.5);
    let table = Synth::new(1_000_000, 65_535, 2).table::<Inet6>();
    assert_eq!(table.len(), 1_000_000);
}

#[test]
fn a_seed_gives_the_same_table_and_another_seed_another_one() {
    let table = |seed| Synth::new(5000, 50, seed).table::<Inet6>();
    assert_eq!(table(3), table(3));
    assert_ne!(table(3), table(4));
    let routes = Synth::new(10_000, 50, 1).table::<Inet>();
    let sum = routes.iter().fold(0u64, |sum, (prefix, nexthop)| {
        let route = u64::from(prefix.addr()) << 16 | u64::from(prefix.len()) << 8;
        (sum ^ route ^ u64::from(nexthop.0)).wrapping_mul(0x100_0000_01b3)
    });
    assert_eq!(sum, 0x8007_5b08_a337_0b80, "tables of published benchmarks have changed: {sum:#x}");
}

#[test]
fn nexthops_are_dense_and_follow_their_locality() {
    let table = Synth { locality: 0.9, ..Synth::new(20_000, 7, 1) }.table::<Inet>();
    let same = table.windows(2).filter(|pair| pair[0].1 == pair[1].1).count();
    close("equal neighbours", same as f64 / 20_000.0, 0.9 + 0.1 / 7.0, 0.02);
    assert!((1..=7).all(|hop| table.iter().any(|(_, nexthop)| nexthop.0 == hop)));
}
