//! Readers beside a writer: two threads look addresses up in batches while routes change. Readers
//! take no lock; each answer is right before a change or after it.
//!
//! `cargo run --release -p fwdlab-fib --example readers_and_writer`

use std::error::Error;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use fwdlab_fib::{Fib, Inet, Nexthop, NexthopId, Prefix, Reader};

/// A network of /24 by its number.
fn network(number: u32) -> Prefix<Inet> {
    Prefix::covering(number << 8, 24)
}

/// Looks up until the writer is done; returns the number of lookups.
fn read(mut reader: Reader<Inet>, is_over: &AtomicBool) -> u64 {
    let addrs: Vec<u32> = (0..256).map(|i| (i * 977) << 8 | 7).collect();
    let mut answers = [NexthopId::NONE; 256];
    let mut lookups = 0;
    while !is_over.load(Ordering::Relaxed) {
        // All answers of a batch come from a table that is held still, apart from changes in place.
        let table = reader.pin();
        table.lookup_batch(&addrs, &mut answers);
        lookups += answers.iter().filter(|answer| !answer.is_none()).count() as u64;
    }
    lookups
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut fib = Fib::<Inet>::new(0)?;
    let via = |i: u32| Nexthop::via(0xc612_0001 + i % 50, (i % 4) as u16);
    fib.load((0..300_000).map(|i| (network(i), via(i))))?;
    println!("{} routes, served by {}", fib.rib().len(), fib.algorithm_name());

    let is_over = AtomicBool::new(false);
    let start = Instant::now();
    let changes = 200_000;
    let lookups = thread::scope(|scope| {
        let readers = [fib.reader(), fib.reader()];
        let readers = readers.map(|reader| scope.spawn(|| read(reader, &is_over)));
        for i in 0..changes {
            // Visible to readers when it returns, where the algorithm changes its structure in place;
            // otherwise after a `sync` that finds it due.
            fib.change(network(i % 300_000), via(i + 1))?;
            fib.sync(start.elapsed());
        }
        is_over.store(true, Ordering::Relaxed);
        let counts = readers.map(|reader| reader.join().unwrap_or(0));
        Ok::<_, Box<dyn Error>>(counts.iter().sum::<u64>())
    })?;
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{:.2} million lookups/s while {:.0} thousand changes/s were made",
        lookups as f64 / seconds / 1e6,
        f64::from(changes) / seconds / 1e3
    );
    Ok(())
}
