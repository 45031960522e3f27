//! Tables that keep themselves in step: a thread does what is due, so that nobody has to call
//! [`Fibs::sync`]. What FreeBSD's framework does by callouts.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fwdlab_fib::Fibs;

/// The thread sleeps no shorter than this.
const LEAST_SLEEP: Duration = Duration::from_millis(1);

/// What a [`Keeper`] keeps in step.
pub trait Kept: Send + 'static {
    /// Does what is due at `now`; returns when something is due again, if that is known.
    fn sync(&mut self, now: Duration) -> Option<Duration>;
}

impl Kept for Fibs {
    fn sync(&mut self, now: Duration) -> Option<Duration> {
        Fibs::sync(self, now)
    }
}

/// Owns the tables, or what has them, together with the thread that rebuilds them when changes have waited for long
/// enough and looks for better algorithms. Readers have no part in its lock.
///
/// ```
/// use fwdlab_fib::{Fibs, Nexthop};
/// use fwdlab_router::Keeper;
///
/// let keeper = Keeper::new(Fibs::new(1)?)?;
/// let mut reader = keeper.edit(|fibs| {
///     let fib = fibs.inet_mut(0).expect("the first table");
///     fib.add("10.0.0.0/8".parse()?, Nexthop::connected(1))?;
///     Ok::<_, Box<dyn std::error::Error>>(fib.reader())
/// })?;
/// assert!(!reader.lookup_ip("10.1.2.3".parse()?).is_none());
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub struct Keeper<T: Kept = Fibs> {
    shared: Arc<Shared<T>>,
    thread: Option<JoinHandle<()>>,
}

struct Shared<T> {
    state: Mutex<State<T>>,
    wake: Condvar,
    start: Instant,
}

struct State<T> {
    /// `None` once they have been given back.
    kept: Option<T>,
}

impl<T: Kept> Keeper<T> {
    /// Takes the tables, and starts the thread.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn new(tables: T) -> io::Result<Self> {
        let state = Mutex::new(State { kept: Some(tables) });
        let shared = Arc::new(Shared { state, wake: Condvar::new(), start: Instant::now() });
        let own = shared.clone();
        let thread = std::thread::Builder::new().name("fib".to_owned());
        let thread = thread.spawn(move || own.keep())?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Changes the tables, or looks at them; what has to wait is done by the thread.
    pub fn edit<R>(&self, edit: impl FnOnce(&mut T) -> R) -> R {
        let mut state = self.shared.lock();
        let tables = state.kept.as_mut().expect("invariant: only `into_inner` takes it, by value");
        let result = edit(tables);
        drop(state);
        self.shared.wake.notify_one();
        result
    }

    /// Looks at the tables; the thread is not woken for it.
    pub fn look<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        let state = self.shared.lock();
        look(state.kept.as_ref().expect("invariant: only `into_inner` takes it, by value"))
    }

    /// Ends the thread, and gives the tables back as they are.
    pub fn into_inner(mut self) -> T {
        self.end().expect("invariant: taken once, by value")
    }

    fn end(&mut self) -> Option<T> {
        let tables = self.shared.lock().kept.take();
        self.shared.wake.notify_one();
        if let Some(thread) = self.thread.take() {
            // It panics only where an algorithm from outside does.
            let _ = thread.join();
        }
        tables
    }
}

impl<T: Kept> Drop for Keeper<T> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<T: Kept> Shared<T> {
    fn keep(&self) {
        let mut state = self.lock();
        while let Some(tables) = &mut state.kept {
            let now = self.start.elapsed();
            let sleep = tables.sync(now).map(|next| next.saturating_sub(now).max(LEAST_SLEEP));
            state = match sleep {
                Some(sleep) => {
                    let woken = self.wake.wait_timeout(state, sleep);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.wake.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // An edit that panics leaves tables that are sound, if half edited.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fwdlab_fib::{Choice, Nexthop, Prefix};

    /// More routes than are rebuilt at each change.
    const ROUTES: u32 = 200;

    #[test]
    fn a_change_that_has_to_wait_arrives_without_a_tick_of_the_caller() {
        let mut fibs = Fibs::new(1).unwrap();
        let fib = fibs.inet_mut(0).unwrap();
        fib.set_algorithm(Choice::Fixed("bsearch4".to_owned())).unwrap();
        let route = |i: u32| (Prefix::covering(i << 16, 16), Nexthop::via(1, 1));
        fib.load((0..ROUTES).map(route)).unwrap();
        let mut reader = fib.reader();
        let keeper = Keeper::new(fibs).unwrap();
        for round in 1..=3_u32 {
            let id = keeper.edit(|fibs| {
                let fib = fibs.inet_mut(0).unwrap();
                let id = fib.change(route(7).0, Nexthop::via(1 + round, 1)).unwrap();
                assert!(!fib.is_synced(), "this is what the test is about");
                id
            });
            // Ends when the change is seen; nobody calls `sync`.
            while reader.lookup(7 << 16) != id {
                std::thread::yield_now();
            }
        }
        let fibs = keeper.into_inner();
        assert_eq!(fibs.inet(0).unwrap().rib().len(), ROUTES as usize);
    }

    #[test]
    fn an_edit_that_panics_and_an_end_without_thanks_leave_no_thread_behind() {
        let keeper = Keeper::new(Fibs::new(1).unwrap()).unwrap();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            keeper.edit(|_| panic!("within an edit"));
        }));
        assert!(panicked.is_err());
        assert_eq!(keeper.edit(|fibs| fibs.len()), 1);
        let shared = Arc::downgrade(&keeper.shared);
        drop(keeper);
        assert!(shared.upgrade().is_none(), "the thread has ended");
    }
}
