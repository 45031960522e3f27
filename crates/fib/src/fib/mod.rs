//! One routing table with its nexthops, and the framework that keeps a lookup structure up to date
//! for readers: the control side. After FreeBSD's `fib_algo` (D27401), with time as a parameter and
//! nothing that runs by itself: call [`Fib::sync`] now and then.

mod attach;
mod attached;
mod default_route;
mod pinned;
mod policy;
mod reader;
mod route_cache;
mod routes;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::time::Duration;

pub use pinned::Pinned;
pub use policy::SyncPolicy;
pub use reader::Reader;
pub use route_cache::RouteCache;
pub use routes::{Applied, Loaded, Update};

use crate::caches::CacheSizes;
use crate::error::FibError;
use crate::family::Family;
use crate::log::{Action, Event, LogSink};
use crate::lookup::Lookup;
use crate::nexthop::{Nexthop, NexthopGroup, NexthopGroups, NexthopId, NexthopTable, NumberSink};
use crate::publish::Publisher;
use crate::registry::Registry;
use crate::rib::Rib;
use crate::sync::{Arc, AtomicU64, Ordering};
use attached::{Attached, Errors};
use pinned::View;
use policy::{Evaluation, Pending};

/// Which algorithm serves a table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Choice {
    /// The one with the highest preference for the table.
    #[default]
    Auto,
    /// The one of this name.
    Fixed(String),
}

/// A routing table with its nexthops and lookup structure: the control side.
///
/// Changes are visible to readers when the call returns if the algorithm applies them (all
/// large-table algorithms do, the others up to 64 routes); otherwise they wait for [`Fib::sync`] by
/// the [`SyncPolicy`], or for [`Fib::flush`]. Routes to connected networks, and those written
/// [by hand](Fib::by_hand), never wait.
pub struct Fib<F: Family> {
    number: u32,
    rib: Rib<F>,
    nexthops: NexthopTable<F>,
    registry: Registry<F>,
    choice: Choice,
    policy: SyncPolicy,
    caches: CacheSizes,
    attached: Attached<F>,
    errors: Errors,
    publisher: Publisher<View<F>>,
    /// What readers have.
    published: std::sync::Arc<dyn Lookup<F>>,
    published_groups: NexthopGroups,
    /// Changes of the RIB.
    generation: u64,
    /// Changes that readers see.
    visible: Arc<AtomicU64>,
    pending: Pending,
    evaluation: Evaluation,
    now: Duration,
    /// Before this time the module is not asked to do what it has left.
    next_part: Duration,
    builds: u64,
    log: Option<LogSink>,
    /// Told of each number before readers meet it.
    numbers: Option<NumberSink<F>>,
    /// How often each number is held.
    held: HashMap<NexthopId, u32>,
}

/// What [`Fib::sync`] has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Synced {
    /// A structure has been built and given to readers.
    pub rebuilt: bool,
    /// The algorithm has changed.
    pub switched: bool,
    /// When something is to be done next, if it is known: call [`Fib::sync`] then.
    pub next: Option<Duration>,
}

/// Figures of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    /// Number of routes.
    pub routes: usize,
    /// Number of routes of each prefix length, from 0 to the family's width.
    pub lengths: Vec<usize>,
    /// Number of nexthops, groups not counted.
    pub nexthops: usize,
    /// Number of nexthop groups.
    pub groups: usize,
    /// Changes of the table since it was made.
    pub generation: u64,
    /// Changes that readers see.
    pub visible_generation: u64,
    /// The algorithm that serves the table.
    pub algorithm: &'static str,
    /// How often a lookup structure has been built.
    pub builds: u64,
    /// Bytes that lookups may touch.
    pub lookup_bytes: usize,
    /// Bytes that the algorithm keeps for updates.
    pub builder_bytes: usize,
    /// Bytes of the routing table.
    pub rib_bytes: usize,
}

impl<F: Family> Fib<F> {
    /// An empty table with the algorithm chosen automatically from those of this crate.
    ///
    /// # Errors
    /// [`FibError::Algorithm`] when no algorithm could be built.
    pub fn new(number: u32) -> Result<Self, FibError> {
        Self::with_caches(number, CacheSizes::of_this_machine())
    }

    /// An empty table of number 0 with algorithms of your choice.
    ///
    /// # Errors
    /// [`FibError::NoAlgorithm`] when the registry is empty, [`FibError::Algorithm`] when the
    /// preferred algorithm could not be built.
    pub fn with(registry: Registry<F>) -> Result<Self, FibError> {
        Self::start(0, CacheSizes::of_this_machine(), registry)
    }

    /// Like [`Fib::new`], for a machine with other caches: automatic choice depends on them.
    ///
    /// # Errors
    /// [`FibError::Algorithm`] when no algorithm could be built.
    pub fn with_caches(number: u32, caches: CacheSizes) -> Result<Self, FibError> {
        Self::start(number, caches, Registry::standard())
    }

    fn start(number: u32, caches: CacheSizes, registry: Registry<F>) -> Result<Self, FibError> {
        let rib = Rib::new();
        let nexthops = NexthopTable::default();
        let algorithm = attached::first(&registry, &rib, caches)?;
        let attached = Attached::build(algorithm, &rib)?;
        let groups = nexthops.reader_groups().clone();
        let default = attached.default.clone();
        let view = View { lookup: attached.lookup(), default, groups, is_automatic: true };
        Ok(Self {
            number,
            rib,
            nexthops,
            registry,
            choice: Choice::Auto,
            policy: SyncPolicy::default(),
            caches,
            attached,
            errors: HashMap::new(),
            published: view.lookup.clone(),
            published_groups: view.groups.clone(),
            publisher: Publisher::new(view),
            generation: 0,
            visible: Arc::new(AtomicU64::new(0)),
            pending: Pending::default(),
            evaluation: Evaluation::default(),
            now: Duration::ZERO,
            next_part: Duration::ZERO,
            builds: 1,
            log: None,
            numbers: None,
            held: HashMap::new(),
        })
    }

    /// Number of the table.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The routes.
    pub fn rib(&self) -> &Rib<F> {
        &self.rib
    }

    /// The nexthops and groups.
    pub fn nexthops(&self) -> &NexthopTable<F> {
        &self.nexthops
    }

    /// The nexthop of a number that a lookup has answered with.
    pub fn nexthop(&self, id: NexthopId) -> Option<&Nexthop<F>> {
        self.nexthops.nexthop(id)
    }

    /// The group of a number that a lookup has answered with.
    pub fn nexthop_group(&self, id: NexthopId) -> Option<&NexthopGroup> {
        self.nexthops.nexthop_group(id)
    }

    /// A reader for one worker thread.
    pub fn reader(&self) -> Reader<F> {
        Reader::new(self.publisher.subscribe(), self.visible.clone())
    }

    /// Number of changes of the table since it was made.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// How often a lookup structure has been built.
    pub fn builds(&self) -> u64 {
        self.builds
    }

    /// Whether readers see all changes.
    pub fn is_synced(&self) -> bool {
        !self.pending.is_pending()
    }

    /// What was chosen.
    pub fn choice(&self) -> &Choice {
        &self.choice
    }

    /// Name of the algorithm that serves the table now.
    pub fn algorithm_name(&self) -> &'static str {
        self.attached.name()
    }

    /// Names of the algorithms that the table can choose from.
    pub fn algorithms(&self) -> impl Iterator<Item = &'static str> + use<F> {
        self.registry.names()
    }

    /// The algorithms that the table can choose from.
    pub fn registry(&self) -> &Registry<F> {
        &self.registry
    }

    /// When pending changes lead to a rebuild.
    pub fn policy(&self) -> &SyncPolicy {
        &self.policy
    }

    /// Sets when pending changes lead to a rebuild.
    pub fn set_policy(&mut self, policy: SyncPolicy) {
        self.policy = policy;
    }

    /// Sets who receives the framework's messages.
    pub fn set_log(&mut self, log: Option<LogSink>) {
        self.log = log;
    }

    /// Sets who is told of each number that a nexthop or a group is given, in the call that gives it and
    /// before a reader can meet it: whoever keeps something by number has it ready then. Told at once of
    /// those that there are. A number is given to something else only when no [`Pinned`] reader can hold
    /// its last meaning.
    pub fn set_number_sink(&mut self, mut sink: NumberSink<F>) {
        self.nexthops.tell_all(&mut sink);
        self.numbers = Some(sink);
    }

    /// Figures of the table. O(nexthops).
    pub fn stats(&self) -> Stats {
        Stats {
            routes: self.rib.len(),
            lengths: self.rib.lengths().to_vec(),
            nexthops: self.nexthops.iter().count(),
            groups: self.nexthops.nexthop_groups().count(),
            generation: self.generation,
            visible_generation: self.visible_generation(),
            algorithm: self.algorithm_name(),
            builds: self.builds,
            lookup_bytes: self.published.memory_bytes(),
            builder_bytes: self.attached.module.builder_bytes(),
            rib_bytes: self.rib.memory_bytes(),
        }
    }

    /// Changes that readers see.
    fn visible_generation(&self) -> u64 {
        self.visible.load(Ordering::Acquire)
    }

    fn tell(&mut self, action: Action) {
        let Some(log) = &mut self.log else { return };
        let algorithm = self.attached.name();
        let (fib, builds) = (self.number, self.builds);
        log(&Event { family: F::NAME, fib, algorithm, builds, action });
    }
}
