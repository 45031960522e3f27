//! Several routing tables ("fibs") of both families with one policy, as one machine has them.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};
use std::time::Duration;

use crate::algo::Algorithm;
use crate::error::FibError;
use crate::family::{Family, Inet, Inet6};
use crate::fib::{Fib, SyncPolicy};
use crate::log::{Event, Level};

/// Receives the messages of all tables.
type SharedSink = Arc<dyn Fn(&Event) + Send + Sync>;

/// The routing tables of a machine: for each number from 0 one of each family.
pub struct Fibs {
    inet: Vec<Fib<Inet>>,
    inet6: Vec<Fib<Inet6>>,
    policy: SyncPolicy,
    debug_level: Arc<AtomicU32>,
}

impl Fibs {
    /// `count` empty tables of each family.
    ///
    /// # Errors
    /// [`FibError::Algorithm`] when no algorithm could be built.
    pub fn new(count: u32) -> Result<Self, FibError> {
        Ok(Self {
            inet: (0..count).map(Fib::new).collect::<Result<_, _>>()?,
            inet6: (0..count).map(Fib::new).collect::<Result<_, _>>()?,
            policy: SyncPolicy::default(),
            debug_level: Arc::new(AtomicU32::new(Level::Notice as u32)),
        })
    }

    /// How many tables of each family there are.
    pub fn len(&self) -> usize {
        self.inet.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.inet.is_empty()
    }

    /// The IPv4 table of a number.
    pub fn inet(&self, fib: u32) -> Option<&Fib<Inet>> {
        self.inet.get(fib as usize)
    }

    /// The IPv4 table of a number, to be changed.
    pub fn inet_mut(&mut self, fib: u32) -> Option<&mut Fib<Inet>> {
        self.inet.get_mut(fib as usize)
    }

    /// The IPv6 table of a number.
    pub fn inet6(&self, fib: u32) -> Option<&Fib<Inet6>> {
        self.inet6.get(fib as usize)
    }

    /// The IPv6 table of a number, to be changed.
    pub fn inet6_mut(&mut self, fib: u32) -> Option<&mut Fib<Inet6>> {
        self.inet6.get_mut(fib as usize)
    }

    /// Adds a lookup algorithm to the IPv4 tables, at run time; where it is better than the present
    /// one, it takes over at once.
    ///
    /// # Errors
    /// [`FibError::AlgorithmExists`] when a table has one of its name; nothing has changed then.
    pub fn register(&mut self, algorithm: &'static dyn Algorithm<Inet>) -> Result<(), FibError> {
        register(&mut self.inet, algorithm)
    }

    /// As [`Fibs::register`], for the IPv6 tables.
    ///
    /// # Errors
    /// As [`Fibs::register`].
    pub fn register6(&mut self, algorithm: &'static dyn Algorithm<Inet6>) -> Result<(), FibError> {
        register(&mut self.inet6, algorithm)
    }

    /// Takes a lookup algorithm out of the IPv4 tables. Bans end with it.
    ///
    /// # Errors
    /// [`FibError::UnknownAlgorithm`], or [`FibError::AlgorithmBusy`] while it serves a table or was
    /// chosen for one; nothing has changed then.
    pub fn unregister(&mut self, name: &str) -> Result<(), FibError> {
        unregister(&mut self.inet, name)
    }

    /// As [`Fibs::unregister`], for the IPv6 tables.
    ///
    /// # Errors
    /// As [`Fibs::unregister`].
    pub fn unregister6(&mut self, name: &str) -> Result<(), FibError> {
        unregister(&mut self.inet6, name)
    }

    /// The policy of all tables.
    pub fn policy(&self) -> &SyncPolicy {
        &self.policy
    }

    /// Sets the policy of all tables.
    pub fn set_policy(&mut self, policy: SyncPolicy) {
        self.policy = policy;
        self.inet.iter_mut().for_each(|fib| fib.set_policy(policy));
        self.inet6.iter_mut().for_each(|fib| fib.set_policy(policy));
    }

    /// Messages up to this syslog level are told (default: 5, notice).
    pub fn debug_level(&self) -> u32 {
        self.debug_level.load(Ordering::Relaxed)
    }

    /// Sets up to which syslog level messages are told.
    pub fn set_debug_level(&mut self, level: u32) {
        self.debug_level.store(level, Ordering::Relaxed);
    }

    /// Sets who receives the messages of all tables, up to the debug level.
    pub fn set_log(&mut self, sink: impl Fn(&Event) + Send + Sync + 'static) {
        let sink: SharedSink = Arc::new(sink);
        self.inet.iter_mut().for_each(|fib| attach_log(fib, &sink, &self.debug_level));
        self.inet6.iter_mut().for_each(|fib| attach_log(fib, &sink, &self.debug_level));
    }

    /// Does what is due in all tables, see [`Fib::sync`]; returns when something is to be done next.
    pub fn sync(&mut self, now: Duration) -> Option<Duration> {
        let inet = self.inet.iter_mut().filter_map(|fib| fib.sync(now).next).min();
        let inet6 = self.inet6.iter_mut().filter_map(|fib| fib.sync(now).next).min();
        inet.into_iter().chain(inet6).min()
    }

    /// Makes all changes of all tables visible to readers now, see [`Fib::flush`].
    pub fn flush(&mut self) {
        self.inet.iter_mut().for_each(Fib::flush);
        self.inet6.iter_mut().for_each(Fib::flush);
    }
}

fn register<F: Family>(
    tables: &mut [Fib<F>],
    algorithm: &'static dyn Algorithm<F>,
) -> Result<(), FibError> {
    let name = algorithm.name();
    if tables.iter().any(|fib| fib.registry().get(name).is_some()) {
        return Err(FibError::AlgorithmExists { name, family: F::NAME });
    }
    tables.iter_mut().try_for_each(|fib| fib.attach(algorithm))
}

fn unregister<F: Family>(tables: &mut [Fib<F>], name: &str) -> Result<(), FibError> {
    tables.iter().try_for_each(|fib| fib.check_idle(name))?;
    tables.iter_mut().try_for_each(|fib| fib.detach(name))
}

fn attach_log<F: Family>(fib: &mut Fib<F>, sink: &SharedSink, debug_level: &Arc<AtomicU32>) {
    let (sink, debug_level) = (sink.clone(), debug_level.clone());
    fib.set_log(Some(Box::new(move |event| {
        if event.level() as u32 <= debug_level.load(Ordering::Relaxed) {
            sink(event);
        }
    })));
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::algo::Linear;
    use crate::{Nexthop, Prefix};

    #[test]
    fn algorithms_come_and_go_for_all_tables_or_for_none() {
        let mut fibs = Fibs::new(2).unwrap();
        let routes = (0..500u32).map(|i| (Prefix::covering(i << 20, 12), Nexthop::connected(1)));
        fibs.inet_mut(1).unwrap().load(routes).unwrap();
        let serving = fibs.inet(1).unwrap().algorithm_name();
        // Busy in one table: it stays in both.
        let busy = fibs.unregister(serving).unwrap_err();
        assert_eq!(busy, FibError::AlgorithmBusy { name: serving });
        assert!(fibs.inet(0).unwrap().algorithms().any(|name| name == serving));
        assert!(matches!(fibs.unregister("nosuch"), Err(FibError::UnknownAlgorithm { .. })));
        fibs.unregister("linear").unwrap();
        assert!((0..2).all(|fib| fibs.inet(fib).unwrap().algorithms().all(|n| n != "linear")));
        assert!(fibs.inet6(0).unwrap().algorithms().any(|name| name == "linear"));
        // There in one table: it comes to none.
        fibs.inet_mut(1).unwrap().attach(&Linear).unwrap();
        assert!(fibs.register(&Linear).is_err());
        assert!(fibs.inet(0).unwrap().algorithms().all(|name| name != "linear"));
        fibs.unregister6("linear").unwrap();
        fibs.register6(&Linear).unwrap();
    }

    #[test]
    fn tables_share_policy_and_log_but_not_routes() {
        let mut fibs = Fibs::new(2).unwrap();
        let lines = Arc::new(Mutex::new(Vec::new()));
        let sink = lines.clone();
        fibs.set_log(move |event| sink.lock().unwrap().push(event.to_string()));
        let routes = (0..500u32).map(|i| (Prefix::covering(i << 20, 12), Nexthop::connected(1)));
        fibs.inet_mut(1).unwrap().load(routes).unwrap();
        assert_eq!(
            (fibs.inet(0).unwrap().rib().len(), fibs.inet(1).unwrap().rib().len()),
            (0, 500)
        );
        let lines = lines.lock().unwrap();
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert!(lines[0].starts_with("[fib_algo] inet.1 (vector4#1) rebuild: switching algo to "));
        assert!(fibs.inet6(2).is_none());
        assert_eq!(fibs.sync(Duration::ZERO), None);
    }
}
