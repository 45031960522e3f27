//! What changes of routes cost: how soon a reader sees one, how many can be made, and what readers
//! lose by them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::{BenchFamily, Stream};
use fwdlab_fib::algo::Dump;
use fwdlab_fib::{
    Address, Choice, Fib, FibError, Nexthop, NexthopId, Prefix, Random, Reader, Update,
};

/// Keys of the reader that runs meanwhile.
const READER_KEYS: usize = 1 << 18;
/// Addresses of one batch of its lookups.
const BURST: usize = 256;
/// Changes of one call where they are made together.
const BATCH: usize = 256;
/// Changes of the default route.
const DEFAULTS: usize = 31;
/// How long it is left alone, and how long it meets changes, in turn.
const SHARE_PHASE: Duration = Duration::from_millis(300);
/// From the start of the reader to the first change.
const WARM_UP: Duration = Duration::from_millis(100);
/// For how long changes are made as fast as they go.
const RUSH_MOST: Duration = Duration::from_secs(5);
/// Changes a second that readers meet.
const CALM_RATE: u32 = 1000;

/// What to measure.
#[derive(Debug, Clone)]
pub struct UpdatePlan {
    /// Single changes whose time is taken.
    pub single: usize,
    /// Changes made as fast as they go, for 5 s at most.
    pub rush: usize,
    /// Phases without and with changes, each.
    pub phases: usize,
    /// Called first by the thread that makes the changes, and by the one that looks up: to bind
    /// them to different cores. Where both share one, each waits for the other's time slice.
    pub place: fn(Part),
}

/// A thread of the measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Makes the changes.
    Writer,
    /// Looks up at full speed.
    Reader,
}

/// What changes cost with one algorithm.
#[derive(Debug, Clone)]
pub struct UpdateFigure {
    /// `inet` or `inet6`.
    pub family: &'static str,
    /// Name of the table.
    pub table: String,
    /// The algorithm.
    pub name: &'static str,
    /// Whether it is what the framework chooses by itself.
    pub auto: bool,
    /// From the call that changes a route until a lookup gives the new answer, while another thread
    /// looks up at full speed: median.
    pub median_us: f64,
    /// The same: 99.9 % of the changes take at most this.
    pub p999_us: f64,
    /// The median of changes of the default route, as `median_us`.
    pub default_us: f64,
    /// Changes a second, one at a time, while another thread looks up.
    pub changes_per_s: f64,
    /// Changes a second, 256 in a call.
    pub batched_per_s: f64,
    /// The reader's rate under 1,000 changes/s, as a share of its rate without.
    pub reader_share: f64,
    /// Time to load all routes into an empty table, sorting, RIB and lookup structure.
    pub load_s: f64,
    /// Time to build the lookup structure from the RIB.
    pub build_s: f64,
}

/// Measures changes of a table with the named algorithm, or with the one that is chosen.
///
/// # Errors
/// When the algorithm cannot serve the table.
pub(crate) fn updates<F: BenchFamily>(
    table: &str,
    dump: &Dump<F>,
    algorithm: Option<&str>,
    plan: &UpdatePlan,
) -> Result<UpdateFigure, FibError> {
    (plan.place)(Part::Writer);
    let mut fib = Fib::<F>::new(0)?;
    let start = Instant::now();
    fib.load(dump.routes().iter().map(|(prefix, id)| (*prefix, nexthop::<F>(id.0 as u16))))?;
    let load_s = start.elapsed().as_secs_f64();
    let chosen = fib.algorithm_name();
    if let Some(name) = algorithm {
        fib.set_algorithm(Choice::Fixed(name.to_string()))?;
    }
    let dump_again = fib.rib().dump();
    let algorithm = fib.registry().get(fib.algorithm_name());
    let start = Instant::now();
    let _built = algorithm.map(|algorithm| algorithm.build(&dump_again));
    let build_s = start.elapsed().as_secs_f64();
    drop(dump_again);

    let keys = Stream::Table.draw(dump, READER_KEYS);
    let mut changer = Changer::new(fib, dump);
    let watch = Watch::default();
    let reader = changer.fib.reader();
    let figures = thread::scope(|scope| {
        let counter = scope.spawn(|| {
            (plan.place)(Part::Reader);
            watch.run(reader, keys.native());
        });
        // Until both threads are on cores of their own.
        thread::sleep(WARM_UP);
        let mut times = (0..plan.single).map(|_| changer.timed()).collect::<Result<Vec<_>, _>>();
        if let Ok(times) = &mut times {
            times.sort_unstable();
        }
        let default = changer.default_route(plan.single.min(DEFAULTS));
        let rate = changer.rush(plan.rush, 1);
        let batched = changer.rush(plan.rush, BATCH);
        let share = changer.share(&watch, plan.phases);
        watch.is_over.store(true, Ordering::Release);
        let _nothing = counter.join();
        Ok::<_, FibError>((times?, default?, [rate?, batched?], share?))
    });
    let (times, default_us, [changes_per_s, batched_per_s], reader_share) = figures?;
    let at = |share: f64| {
        let index = (times.len() as f64 * share) as usize;
        times.get(index.min(times.len().saturating_sub(1))).map_or(0.0, |t| t.as_secs_f64() * 1e6)
    };
    Ok(UpdateFigure {
        family: F::NAME,
        table: table.to_string(),
        name: changer.fib.algorithm_name(),
        auto: chosen == changer.fib.algorithm_name(),
        median_us: at(0.5),
        p999_us: at(0.999),
        default_us,
        changes_per_s,
        batched_per_s,
        reader_share,
        load_s,
        build_s,
    })
}

fn nexthop<F: BenchFamily>(number: u16) -> Nexthop<F> {
    // Through a gateway: routes to connected networks never wait.
    Nexthop::via(F::Addr::truncate(number.into()), number)
}

/// A reader at full speed that counts its lookups.
#[derive(Default)]
struct Watch {
    lookups: AtomicU64,
    is_over: AtomicBool,
}

impl Watch {
    fn run<F: BenchFamily>(&self, mut reader: Reader<F>, keys: &[F::Addr]) {
        let mut answers = [NexthopId::NONE; BURST];
        while !self.is_over.load(Ordering::Acquire) {
            for keys in keys.chunks(BURST) {
                reader.lookup_batch(keys, &mut answers);
                std::hint::black_box(&answers);
                self.lookups.fetch_add(keys.len() as u64, Ordering::Relaxed);
            }
        }
    }
}

/// Changes random routes of a table.
struct Changer<F: BenchFamily> {
    fib: Fib<F>,
    reader: Reader<F>,
    prefixes: Vec<Prefix<F>>,
    nexthops: u64,
    random: Random,
    started: Instant,
}

impl<F: BenchFamily> Changer<F> {
    fn new(fib: Fib<F>, dump: &Dump<F>) -> Self {
        let prefixes = dump.routes().iter().map(|route| route.0).collect();
        let nexthops = u64::from(dump.highest_nexthop());
        let reader = fib.reader();
        Self { fib, reader, prefixes, nexthops, random: Random::new(77), started: Instant::now() }
    }

    /// Another nexthop for a random route, or its deletion, or its return.
    fn draw(&mut self) -> (Prefix<F>, Update<F>) {
        let prefix = self.prefixes[self.random.below(self.prefixes.len() as u64) as usize];
        let new = nexthop::<F>(1 + self.random.below(self.nexthops) as u16);
        match self.random.below(4) {
            0 => (prefix, Update::Delete(prefix)),
            _ => (prefix, Update::Set(prefix, new.into())),
        }
    }

    fn change(&mut self) -> Result<(), FibError> {
        let update = self.draw().1;
        self.fib.apply(&[update]).map(|_| ())
    }

    /// The median time of so many changes of the default route, in us.
    fn default_route(&mut self, count: usize) -> Result<f64, FibError> {
        let mut times = Vec::with_capacity(count);
        for number in 0..count {
            // Each to another nexthop than before, the last to none, as it was.
            let update = match number + 1 == count {
                true => Update::Delete(Prefix::DEFAULT),
                false => Update::Set(Prefix::DEFAULT, nexthop::<F>(1 + number as u16 % 2).into()),
            };
            times.push(self.time(Prefix::DEFAULT, update)?.as_secs_f64() * 1e6);
        }
        Ok(crate::median(&times))
    }

    fn timed(&mut self) -> Result<Duration, FibError> {
        let (prefix, update) = self.draw();
        self.time(prefix, update)
    }

    /// The time from the call until a lookup sees the change.
    fn time(&mut self, prefix: Prefix<F>, update: Update<F>) -> Result<Duration, FibError> {
        let start = Instant::now();
        self.fib.apply(&[update])?;
        while !self.fib.is_synced() {
            self.fib.sync(self.started.elapsed());
        }
        let took = start.elapsed();
        // Where a longer route begins at the same address, that one answers.
        let addr = prefix.addr();
        let wanted = self.fib.rib().longest_match(addr).map_or(NexthopId::NONE, |route| route.1);
        let got = self.reader.lookup(addr);
        match got == wanted {
            true => Ok(took),
            false => Err(FibError::Disagree {
                one: format!("{} after a change of {prefix}", self.fib.algorithm_name()),
                other: "the routing table".to_string(),
            }),
        }
    }

    /// Changes a second, of so many changes or as many as [`RUSH_MOST`] allows, `batch` in a call.
    fn rush(&mut self, count: usize, batch: usize) -> Result<f64, FibError> {
        let start = Instant::now();
        let mut done = 0;
        let mut updates = Vec::with_capacity(batch);
        while done < count && start.elapsed() < RUSH_MOST {
            updates.clear();
            updates.extend((0..batch).map(|_| self.draw().1));
            self.fib.apply(&updates)?;
            done += batch;
        }
        while !self.fib.is_synced() {
            self.fib.sync(self.started.elapsed());
        }
        Ok(done as f64 / start.elapsed().as_secs_f64())
    }

    /// The reader's rate with changes over its rate without: the median of pairs of phases.
    fn share(&mut self, watch: &Watch, phases: usize) -> Result<f64, FibError> {
        let mut shares = Vec::new();
        for _ in 0..phases {
            let calm = self.phase(watch, 0)?;
            shares.push(self.phase(watch, CALM_RATE)? / calm);
        }
        Ok(crate::median(&shares))
    }

    /// The reader's lookups a second during a phase with so many changes a second.
    fn phase(&mut self, watch: &Watch, rate: u32) -> Result<f64, FibError> {
        let before = watch.lookups.load(Ordering::Relaxed);
        let start = Instant::now();
        let mut done = 0;
        while start.elapsed() < SHARE_PHASE {
            let due = start.elapsed().mul_f64(f64::from(rate)).as_secs();
            while done < due {
                self.change()?;
                done += 1;
            }
            self.fib.sync(self.started.elapsed());
            thread::sleep(Duration::from_micros(500));
        }
        let lookups = watch.lookups.load(Ordering::Relaxed) - before;
        Ok(lookups as f64 / start.elapsed().as_secs_f64())
    }
}
