//! Lookup code of others, compiled from their own sources by `build.rs`.
//!
//! With unsafe code: calls across the language border.
#![allow(unsafe_code)]
// Where some of them are not at hand, what only they use lies idle.
#![cfg_attr(not(all(poptrie, dxr, planb)), allow(dead_code, unused_mut, unused_unsafe))]

use std::ffi::{c_int, c_void};
use std::marker::PhantomData;

use fwdlab_fib::algo::Dump;
use fwdlab_fib::{Family, Inet, Inet6, Registry};
use fwdlab_lookups::{BenchFamily, Contender, Keys, Origin, Ours, Recipe, Stream};

#[repr(C)]
struct Route<A> {
    addr: A,
    len: u32,
    nexthop: u32,
}

type Open<A> = unsafe extern "C" fn(*const Route<A>, usize, u32, *mut usize) -> *mut c_void;
type Close = unsafe extern "C" fn(*mut c_void);

/// `struct author4` of shim/author.h.
#[repr(C)]
pub struct Author4 {
    open: Open<u32>,
    lookup: unsafe extern "C" fn(*mut c_void, *const u32, usize, c_int) -> u64,
    close: Close,
}

type Lookup6 = unsafe extern "C" fn(*mut c_void, *const u128, *const u64, usize, c_int) -> u64;
type Batch6 = unsafe extern "C" fn(*mut c_void, *const u128, *const u64, usize, usize) -> u64;

/// `struct author6` of shim/author.h.
#[repr(C)]
pub struct Author6 {
    open: Open<u128>,
    lookup: Lookup6,
    /// None where the authors have no lookup of many addresses at once.
    batch: Option<Batch6>,
    close: Close,
}

// SAFETY: the declarations repeat the shims, which build.rs links; all are constant.
unsafe extern "C" {
    #[cfg(poptrie)]
    static author_poptrie4: Author4;
    #[cfg(poptrie)]
    static author_poptrie6: Author6;
    #[cfg(dxr)]
    static author_dxr: Author4;
    #[cfg(planb)]
    static author_planb: Author6;
}

/// What is linked, for one sentence.
pub fn describe() -> Vec<&'static str> {
    let mut all = Vec::new();
    if cfg!(poptrie) {
        all.push("poptrie in its author's C");
    }
    if cfg!(dxr) {
        all.push("FreeBSD's DXR in the kernel's C");
    }
    if cfg!(planb) {
        all.push("PlanB in an independent C++");
    }
    all
}

/// Recipes of the IPv4 peers.
pub fn inet() -> Vec<Recipe<Inet>> {
    let mut all: Vec<(&'static str, u32, &'static Author4)> = Vec::new();
    // SAFETY: the shims' constants never change.
    unsafe {
        #[cfg(poptrie)]
        all.push(("poptrie, its author's C", 16, &author_poptrie4));
        #[cfg(dxr)]
        all.push(("DXR, FreeBSD's C", 20, &author_dxr));
    }
    all.into_iter()
        .map(|(name, nexthop_bits, author)| -> Recipe<Inet> {
            (
                name,
                Box::new(move |dump| tried(Table::open(name, nexthop_bits, author, dump)?, dump)),
            )
        })
        .collect()
}

/// Recipes of the IPv6 peers.
pub fn inet6() -> Vec<Recipe<Inet6>> {
    let mut all: Vec<(&'static str, u32, &'static Author6)> = Vec::new();
    // SAFETY: the shims' constants never change.
    unsafe {
        #[cfg(poptrie)]
        all.push(("poptrie, its author's C", 16, &author_poptrie6));
        #[cfg(planb)]
        all.push(("PlanB, C++", 31, &author_planb));
    }
    all.into_iter()
        .map(|(name, nexthop_bits, author)| -> Recipe<Inet6> {
            (
                name,
                Box::new(move |dump| tried(Table::open(name, nexthop_bits, author, dump)?, dump)),
            )
        })
        .collect()
}

/// How a table of a family is opened and closed.
trait Author<A> {
    fn open(&self) -> Open<A>;
    fn close(&self) -> Close;
}

impl Author<u32> for Author4 {
    fn open(&self) -> Open<u32> {
        self.open
    }
    fn close(&self) -> Close {
        self.close
    }
}

impl Author<u128> for Author6 {
    fn open(&self) -> Open<u128> {
        self.open
    }
    fn close(&self) -> Close {
        self.close
    }
}

/// A table in its authors' code.
struct Table<A: Author<F::Addr> + 'static, F: Family> {
    name: String,
    nexthop_bits: u32,
    author: &'static A,
    table: *mut c_void,
    /// Per cent of answers that are wrong in the worst stream.
    wrong: f64,
    bytes: usize,
    family: PhantomData<F>,
}

impl<A: Author<F::Addr>, F: Family> Table<A, F> {
    /// None when the authors' code refuses the table.
    fn open(
        name: &'static str,
        nexthop_bits: u32,
        author: &'static A,
        dump: &Dump<F>,
    ) -> Option<Self> {
        let route = |&(prefix, nexthop): &(fwdlab_fib::Prefix<F>, fwdlab_fib::NexthopId)| Route {
            addr: prefix.addr(),
            len: u32::from(prefix.len()),
            nexthop: nexthop.0,
        };
        let default = dump.routes().iter().find(|route| route.0.len() == 0);
        let without = default.map_or(0, |route| route.1.0);
        let routes: Vec<Route<F::Addr>> =
            dump.routes().iter().filter(|route| route.0.len() > 0).map(route).collect();

        let mut bytes = 0;
        // SAFETY: the routes live during the call; a null pointer is handled below.
        let table =
            unsafe { author.open()(routes.as_ptr(), routes.len(), without, &raw mut bytes) };
        let family = PhantomData;
        let name = name.to_owned();
        (!table.is_null()).then_some(Self {
            name,
            nexthop_bits,
            author,
            table,
            wrong: 0.0,
            bytes,
            family,
        })
    }
}

impl<A: Author<F::Addr>, F: Family> Drop for Table<A, F> {
    fn drop(&mut self) {
        // SAFETY: opened by the same author, closed only here.
        unsafe { self.author.close()(self.table) }
    }
}

/// Keys of each stream that a table is tried with before it takes part, and how many of them are
/// asked one by one where something is wrong.
const TRIED: usize = 1 << 20;
const ASKED: usize = 1 << 16;

/// Tries a table against the plain radix tree. Where its authors' code answers some addresses wrongly it
/// takes part for its speed under a name that says so; where it answers more than one in ten wrongly it
/// is left out.
fn tried<F, A>(mut table: Table<A, F>, dump: &Dump<F>) -> Option<Box<dyn Contender<F>>>
where
    F: BenchFamily,
    A: Author<F::Addr> + 'static,
    Table<A, F>: Contender<F>,
{
    let registry = Registry::<F>::standard();
    let radix = registry.iter().find(|algorithm| algorithm.name().ends_with("_lockless"))?;
    let mut oracle = Ours::new("radix tree", 32, radix.build(dump).ok()?);
    for stream in [Stream::Table, Stream::Uniform] {
        let keys = stream.draw(dump, TRIED);
        if oracle.single(&keys, false) == table.single(&keys, false) {
            continue;
        }
        let asked = keys.head(ASKED);
        let mut is_wrong = |key: &Keys<F>| oracle.single(key, false) != table.single(key, false);
        let wrong = asked.one_by_one().filter(|key| is_wrong(key)).count();
        if wrong * 10 > ASKED {
            eprintln!(
                "{} is left out of a table of {} routes: {wrong} of {ASKED} answers are wrong \
                 ({} stream)",
                table.name,
                dump.len(),
                stream.name()
            );
            return None;
        }
        table.wrong = table.wrong.max(100.0 * (wrong.max(1)) as f64 / ASKED as f64);
    }
    if table.wrong > 0.0 {
        table.name = format!("{}, {:.2} % of answers wrong", table.name, table.wrong);
    }
    Some(Box::new(table))
}

impl Contender<Inet> for Table<Author4, Inet> {
    fn name(&self) -> &str {
        &self.name
    }
    fn is_held_to_answers(&self) -> bool {
        self.wrong == 0.0
    }
    fn origin(&self) -> Origin {
        Origin::Peer
    }
    fn nexthop_bits(&self) -> u32 {
        self.nexthop_bits
    }
    fn memory_bytes(&self) -> usize {
        self.bytes
    }
    fn batch(&mut self, keys: &Keys<Inet>, _burst: usize) -> u64 {
        self.single(keys, false)
    }
    fn single(&mut self, keys: &Keys<Inet>, dependent: bool) -> u64 {
        let addrs = keys.native();
        // SAFETY: `table` is open, `addrs` holds the number of addresses passed.
        unsafe {
            (self.author.lookup)(self.table, addrs.as_ptr(), addrs.len(), c_int::from(dependent))
        }
    }
}

impl Contender<Inet6> for Table<Author6, Inet6> {
    fn name(&self) -> &str {
        &self.name
    }
    fn is_held_to_answers(&self) -> bool {
        self.wrong == 0.0
    }
    fn origin(&self) -> Origin {
        Origin::Peer
    }
    fn nexthop_bits(&self) -> u32 {
        self.nexthop_bits
    }
    fn memory_bytes(&self) -> usize {
        self.bytes
    }
    fn batch(&mut self, keys: &Keys<Inet6>, burst: usize) -> u64 {
        let Some(batch) = self.author.batch else { return self.single(keys, false) };
        let (addrs, upper) = (keys.native(), keys.upper());
        // SAFETY: as in `single`; both lists have the same length.
        unsafe { batch(self.table, addrs.as_ptr(), upper.as_ptr(), addrs.len(), burst.max(1)) }
    }
    fn single(&mut self, keys: &Keys<Inet6>, dependent: bool) -> u64 {
        let (addrs, upper) = (keys.native(), keys.upper());
        let dependent = c_int::from(dependent);
        // SAFETY: `table` is open, both lists hold the number of addresses passed.
        unsafe {
            (self.author.lookup)(self.table, addrs.as_ptr(), upper.as_ptr(), addrs.len(), dependent)
        }
    }
}
