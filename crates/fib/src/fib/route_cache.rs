//! A reader's route cache: answers of IPv6 lookups by the first 64 bits of an address, for destinations that
//! come again.
//!
//! An entry is one word. Multiplying by an odd number permutes the numbers of 64 bits, so the upper bits
//! of the product say where an entry lies, and the rest of it, without those that its place (or its
//! neighbour's) says, whose it is: nothing but the entry is compared.
//!
//! ```text
//! key * MIX = place (18 bits) ...          entry = key * MIX << 16 | nexthop + 1
//! ```
//!
//! All entries are of one generation of the routes. A table that changes, and traffic whose destinations
//! seldom come again, are better off without: then a reader looks up every address as if there were
//! none of this, and tries again later, after twice as many frames each time.
//!
//! Note: with sets of three and two whole addresses a look took 45 instructions and gained nothing; as it is
//! it takes some 12, where the table takes 29 with three loads that wait for each other. IPv4 tables answer
//! in one load or two, which leaves nothing to gain.

use super::pinned::Pinned;
use crate::family::{Address, Family};
use crate::nexthop::NexthopId;

/// Addresses that are looked at together, a bit for each.
const CHUNK: usize = u64::BITS as usize;
/// Bits of a place.
const PLACE_BITS: u32 = 18;
/// Entries: 2 MiB for each reader, of which few destinations touch little.
const ENTRIES: usize = 1 << PLACE_BITS;
/// Places that an entry may have, one beside the other in a cache line.
const WAYS: usize = 4;
/// Bits of an entry that are its nexthop's: as many as all its places have in common.
const NEXTHOP_BITS: u32 = PLACE_BITS - WAYS.ilog2();
/// Entries with this and higher numbers are not kept: one more must fit.
const MOST: u64 = (1 << NEXTHOP_BITS) - 1;
/// The golden ratio (Knuth, vol. 3, section 6.4).
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
/// Elements are looked at in groups of this.
const LANES: usize = 16;

/// Addresses that are looked up without the table before it is used: a [`SAMPLED`]th of them, chosen by
/// what they are, is kept, and the second half says whether they come again.
const SAMPLE: u32 = 1 << 17;
const SAMPLED: u64 = 64;
/// Addresses after which it is judged whether the answers pay.
const WINDOW: u32 = 4096;
/// One missed address in so many takes the place of another.
const SELDOM: usize = 4;
/// Windows in which the table may fill up.
const FILLING: u32 = 64;
/// It pays if not more than one address in so many is missed; of a sample, in so many.
const FOUND: u32 = 16;
const FOUND_OF_SAMPLE: u32 = 4;
/// Windows in which it has paid, one after the other, before what was before is forgotten.
const GOOD: u32 = 256;
/// Addresses that are looked up without it after it has not paid, at first and at most; and after the routes
/// have changed.
const LEAST_REST: u32 = 1 << 18;
const MOST_REST: u32 = 1 << 24;
const REST_AFTER_CHANGE: u32 = 1 << 18;

/// Answers of lookups in one table that one reader keeps: for IPv6 tables, by the first 64 bits of an address.
///
/// It is used where destinations come again, which it finds out by itself, and where the algorithm tells what
/// may be kept ([`Pinned::lookup_half`]).
#[derive(Debug)]
pub struct RouteCache {
    /// None until they are first used.
    entries: Option<Box<[u64; ENTRIES]>>,
    /// Of the routes, when the entries were made.
    generation: u64,
    /// Addresses that are still to be looked up without it; 0 while it is in use.
    rest: u32,
    /// Whether they are sampled.
    is_sampling: bool,
    next_rest: u32,
    /// Since the last judgement.
    looked: u32,
    missed: u32,
    /// Windows that are still for filling.
    filling: u32,
    /// Windows in which it has paid.
    good: u32,
    /// Misses, by which it is chosen which of two entries is given up, and when.
    turn: usize,
}

impl Default for RouteCache {
    fn default() -> Self {
        Self::new()
    }
}

impl RouteCache {
    /// An empty one; its 2 MiB are taken when it is first used.
    #[cold]
    pub fn new() -> Self {
        Self {
            entries: None,
            generation: 0,
            rest: SAMPLE,
            is_sampling: false,
            next_rest: LEAST_REST,
            looked: 0,
            missed: 0,
            filling: 0,
            good: 0,
            turn: 0,
        }
    }

    /// Longest matches of many addresses in a table, from what was kept or looked up: `nexthops[i]` belongs to
    /// `addresses[i]`. When the slices differ in length, the shorter one counts.
    ///
    /// Answers of an algorithm that a user named are kept, too: ask [`Pinned::is_automatic`] where they should
    /// not be.
    pub fn lookup_batch<F: Family>(
        &mut self,
        table: &Pinned<'_, F>,
        addresses: &[F::Addr],
        nexthops: &mut [NexthopId],
    ) {
        let count = addresses.len().min(nexthops.len());
        let (addresses, nexthops) = (&addresses[..count], &mut nexthops[..count]);
        if self.is_waiting(table) {
            self.wait(table, addresses);
            return table.lookup_batch(addresses, nexthops);
        }
        for (addresses, nexthops) in addresses.chunks(CHUNK).zip(nexthops.chunks_mut(CHUNK)) {
            if !self.look_up(table, addresses, nexthops) {
                table.lookup_batch(addresses, nexthops);
            }
        }
    }

    #[inline(always)]
    fn is_waiting<F: Family>(&self, table: &Pinned<'_, F>) -> bool {
        self.rest > 0 || self.generation != table.generation()
    }

    /// Whether it can pay: IPv4 tables answer in one load or two.
    #[inline(always)]
    pub(super) const fn pays<F: Family>() -> bool {
        F::BITS == 128
    }

    /// Lets addresses pass by where that is all that there is to do, in a few instructions.
    #[inline(always)]
    pub(super) fn passes<F: Family>(&mut self, table: &Pinned<'_, F>, count: usize) -> bool {
        let rests = !self.is_sampling && self.generation == table.generation();
        let passes = rests && self.rest as usize > SAMPLE as usize + count;
        self.rest -= if passes { count as u32 } else { 0 };
        passes
    }

    /// Finds the nexthops of up to 64 addresses; false, and nothing done, where it is better not used.
    #[inline(always)]
    pub fn look_up<F: Family>(
        &mut self,
        table: &Pinned<'_, F>,
        addresses: &[F::Addr],
        nexthops: &mut [NexthopId],
    ) -> bool {
        if self.is_waiting(table) {
            self.wait(table, addresses);
            return false;
        }
        let Some(entries) = self.entries.as_deref() else { return false };
        let mut found = [0; CHUNK];
        let count = addresses.len().min(CHUNK);
        look::<F>(entries, &addresses[..count], &mut found);
        let mut missed = 0_u64;
        let groups = count.next_multiple_of(LANES).min(CHUNK);
        for (at, found) in found[..groups].iter().enumerate() {
            missed |= u64::from(*found >= MOST) << at;
        }
        for (nexthop, found) in nexthops.iter_mut().zip(&found[..count]) {
            *nexthop = NexthopId(*found as u32);
        }
        self.looked += count as u32;
        if missed != 0 {
            self.find_missed(table, (addresses, missed), nexthops);
        }
        if self.looked >= WINDOW {
            self.judge();
        }
        true
    }

    /// What was not where it is looked for first: beside it, or looked up together with all that is nowhere.
    #[inline(never)]
    fn find_missed<F: Family>(
        &mut self,
        table: &Pinned<'_, F>,
        (addresses, mut missed): (&[F::Addr], u64),
        nexthops: &mut [NexthopId],
    ) {
        let Some(entries) = self.entries.as_deref() else { return };
        let (mut left, mut count) = ([0; CHUNK], 0);
        let mut unknown = [F::Addr::ZERO; CHUNK];
        while missed != 0 {
            let at = missed.trailing_zeros() as usize;
            missed &= missed - 1;
            let mixed = mixed(half::<F>(addresses[at]));
            let other = elsewhere(entries, mixed);
            nexthops[at] = NexthopId(other as u32);
            (left[count % CHUNK], unknown[count % CHUNK]) = (at, addresses[at]);
            count += usize::from(other >= MOST);
        }
        let count = count.min(CHUNK);
        self.missed += count as u32;
        let mut answers = [NexthopId::NONE; CHUNK];
        table.lookup_batch(&unknown[..count], &mut answers[..count]);
        for (&at, &answer) in left.iter().zip(&answers[..count]) {
            nexthops[at] = answer;
        }
        for &address in &unknown[..count] {
            self.keep(table, address);
        }
    }

    /// Lets addresses pass by, or takes a sample of them.
    #[inline(never)]
    fn wait<F: Family>(&mut self, table: &Pinned<'_, F>, addresses: &[F::Addr]) {
        if self.generation != table.generation() {
            self.generation = table.generation();
            let rest = if self.entries.is_some() { REST_AFTER_CHANGE } else { SAMPLE };
            (self.rest, self.is_sampling) = (self.rest.max(rest), false);
        }
        let before = self.rest;
        self.rest = before.saturating_sub(addresses.len() as u32);
        if !self.is_sampling {
            if self.rest <= SAMPLE {
                self.begin(table, addresses);
            }
            return;
        }
        addresses.iter().for_each(|address| self.sample(table, *address));
        if before > SAMPLE / 2 && self.rest <= SAMPLE / 2 {
            (self.looked, self.missed) = (0, 0);
        }
        if self.rest == 0 {
            match self.missed * FOUND_OF_SAMPLE <= self.looked {
                true => (self.looked, self.missed, self.filling, self.good) = (0, 0, FILLING, 0),
                false => self.give_up(),
            }
        }
    }

    /// Begins a sample, in an empty table, unless the algorithm does not tell what could be kept.
    #[cold]
    fn begin<F: Family>(&mut self, table: &Pinned<'_, F>, addresses: &[F::Addr]) {
        if !addresses.iter().any(|address| table.lookup_half(*address).is_some()) {
            return self.give_up();
        }
        match &mut self.entries {
            Some(entries) => entries.fill(0),
            None => self.entries = vec![0; ENTRIES].into_boxed_slice().try_into().ok(),
        }
        (self.rest, self.is_sampling, self.looked, self.missed) = (SAMPLE, true, 0, 0);
    }

    /// Keeps an address if it is one of the sample.
    #[inline(always)]
    fn sample<F: Family>(&mut self, table: &Pinned<'_, F>, address: F::Addr) {
        let mixed = mixed(half::<F>(address));
        // Bits that say neither the place nor, as the lowest do, how the address ends.
        if mixed >> 32 & (SAMPLED - 1) != 0 {
            return;
        }
        self.looked += 1;
        let Some(entries) = self.entries.as_deref() else { return };
        if difference(entries[place(mixed)], mixed).min(elsewhere(entries, mixed)) >= MOST {
            self.missed += 1;
            self.keep(table, address);
        }
    }

    /// Makes an entry of an address, if there is room or it is its turn.
    fn keep<F: Family>(&mut self, table: &Pinned<'_, F>, address: F::Addr) {
        let Some(entries) = self.entries.as_deref_mut() else { return };
        let mixed = mixed(half::<F>(address));
        let places: [_; WAYS] = std::array::from_fn(|way| place(mixed) ^ way);
        self.turn = self.turn.wrapping_add(1);
        let empty = places.into_iter().find(|place| entries[*place] == 0);
        // Of more destinations than places some stay rather than all go in turn.
        let is_turn = self.turn.is_multiple_of(SELDOM);
        if let Some(place) = empty.or(is_turn.then_some(places[self.turn / SELDOM % WAYS]))
            && let Some(nexthop) = table.lookup_half(address)
            && u64::from(nexthop.0) < MOST
        {
            entries[place] = mixed << NEXTHOP_BITS | (u64::from(nexthop.0) + 1);
        }
    }

    #[inline(never)]
    fn judge(&mut self) {
        let pays = self.missed * FOUND <= self.looked;
        (self.looked, self.missed) = (0, 0);
        if pays {
            (self.filling, self.good) = (0, self.good.saturating_add(1));
            if self.good == GOOD {
                self.next_rest = LEAST_REST;
            }
        } else if self.filling > 0 {
            self.filling -= 1;
        } else {
            self.give_up();
        }
    }

    fn give_up(&mut self) {
        (self.rest, self.is_sampling) = (self.next_rest, false);
        self.next_rest = (2 * self.rest).min(MOST_REST);
    }
}

/// What the first places of these addresses say.
///
/// A call, so that it is not compiled for vector units: there a product of 64 bits takes six
/// multiplications, and a gather as long as the loads.
#[inline(never)]
fn look<F: Family>(entries: &[u64; ENTRIES], addresses: &[F::Addr], found: &mut [u64; CHUNK]) {
    for (found, address) in found.iter_mut().zip(addresses) {
        let mixed = mixed(half::<F>(*address));
        *found = difference(entries[place(mixed)], mixed);
    }
}

/// The first half of an address.
#[inline(always)]
fn half<F: Family>(address: F::Addr) -> u64 {
    (address.to_u128() >> (F::BITS / 2)) as u64
}

#[inline(always)]
fn mixed(key: u64) -> u64 {
    key.wrapping_mul(MIX)
}

/// Where an entry is looked for first; its other places differ in the last bits and lie beside it.
#[inline(always)]
fn place(mixed: u64) -> usize {
    (mixed >> (u64::BITS - PLACE_BITS)) as usize
}

/// The nexthop of the entry in one of the other places, if there is one; [`MOST`] or more if not.
#[inline(always)]
fn elsewhere(entries: &[u64; ENTRIES], mixed: u64) -> u64 {
    let others = (1..WAYS).map(|way| difference(entries[place(mixed) ^ way], mixed));
    others.fold(u64::MAX, u64::min)
}

/// The nexthop of an entry, if it is this one's; [`MOST`] or more if not.
#[inline(always)]
fn difference(entry: u64, mixed: u64) -> u64 {
    (entry ^ mixed << NEXTHOP_BITS).wrapping_sub(1)
}

#[cfg(test)]
mod tests;
