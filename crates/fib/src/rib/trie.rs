//! A path-compressed binary trie (D. Morrison, "PATRICIA", JACM 1968) whose nodes are prefixes:
//! a node's children lie inside it, on the two sides of its next bit. Nodes without route ("glue")
//! stand only where two branches part, so n routes need at most 2n nodes.
//!
//! It serves control, not packets: one change costs one walk of some 20 nodes in a full table, and
//! what a lookup algorithm asks during an update (what lies inside, what shines through) is a walk
//! over the same nodes.

use crate::algo::Dump;
use crate::family::{Address, Family};
use crate::nexthop::NexthopId;
use crate::prefix::Prefix;
use crate::simd::prefetch::prefetch;
use crate::simd::region::huge_pages;

#[cfg(test)]
thread_local! {
    /// How often this thread has dumped a table: who must not is held to it.
    pub(crate) static DUMPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// No child. The root is nobody's child.
const NIL: u32 = 0;
const ROOT: usize = 0;
/// Most walks of [`Rib::fetch`].
pub(crate) const WALKS: usize = 32;

#[derive(Debug, Clone, Copy)]
struct Node<A> {
    addr: A,
    child: [u32; 2],
    nexthop: NexthopId,
    len: u8,
}

/// A routing table: each prefix once, with its nexthop.
#[derive(Debug, Clone)]
pub struct Rib<F: Family> {
    nodes: Vec<Node<F::Addr>>,
    free: Vec<u32>,
    routes: usize,
    by_len: Vec<usize>,
    /// Whether [`Rib::part`] leaves the default route out.
    hides_default: bool,
}

impl<F: Family> Default for Rib<F> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F: Family> Rib<F> {
    /// An empty table.
    pub fn new() -> Self {
        let root = Node::of(Prefix::<F>::DEFAULT, NexthopId::NONE);
        let by_len = vec![0; usize::from(F::BITS) + 1];
        Self { nodes: vec![root], free: Vec::new(), routes: 0, by_len, hides_default: false }
    }

    /// The table of a sorted list. O(n).
    pub fn from_dump(dump: &Dump<F>) -> Self {
        let mut rib = Self::new();
        // A full table needs 1.6 nodes a route; more than 2 are never needed.
        rib.nodes.reserve(dump.len() / 4 * 7);
        huge_pages(&mut rib.nodes);
        // The nodes from the root to the last route: all that a later route can hang on.
        let mut path = vec![ROOT as u32];
        for &(prefix, nexthop) in dump.routes() {
            rib.count(prefix, NexthopId::NONE, nexthop);
            rib.append(&mut path, prefix, nexthop);
        }
        rib
    }

    /// Sets the nexthop of a prefix and returns the one before ([`NexthopId::NONE`] when the
    /// route is new). Setting [`NexthopId::NONE`] deletes the route.
    pub fn set(&mut self, prefix: Prefix<F>, nexthop: NexthopId) -> NexthopId {
        let old =
            if nexthop.is_none() { self.remove(prefix) } else { self.insert(prefix, nexthop) };
        self.count(prefix, old, nexthop);
        old
    }

    /// Fetches the nodes on the ways to some prefixes (at most [`WALKS`], the others are left), which are
    /// about to be changed. A walk waits for one node after the other, and most nodes of a full table lie
    /// in memory; these walks go side by side and wait together.
    pub(crate) fn fetch(&self, prefixes: impl Iterator<Item = Prefix<F>>) {
        let mut walks = [(Prefix::DEFAULT, ROOT); WALKS];
        walks.iter_mut().zip(prefixes).for_each(|(walk, prefix)| walk.0 = prefix);
        let mut is_moving = true;
        while is_moving {
            is_moving = false;
            for (prefix, at) in &mut walks {
                let node = &self.nodes[*at];
                if node.len >= prefix.len() {
                    continue;
                }
                let next = node.child_towards(prefix.addr());
                if next != NIL {
                    prefetch(&self.nodes, next as usize);
                    (*at, is_moving) = (next as usize, true);
                }
            }
        }
    }

    /// The nexthop of exactly this prefix.
    pub fn exact(&self, prefix: Prefix<F>) -> NexthopId {
        match self.topmost_inside(prefix) {
            Some(at) if self.nodes[at].len == prefix.len() => self.nodes[at].nexthop,
            _ => NexthopId::NONE,
        }
    }

    /// The longest route that matches an address.
    pub fn longest_match(&self, addr: F::Addr) -> Option<(Prefix<F>, NexthopId)> {
        let mut best = None;
        let mut at = ROOT;
        loop {
            let node = &self.nodes[at];
            if !node.contains(addr) {
                return best;
            }
            if !node.nexthop.is_none() {
                best = Some((node.prefix(), node.nexthop));
            }
            at = node.child_towards(addr) as usize;
            if at == NIL as usize {
                return best;
            }
        }
    }

    /// All routes inside `prefix`, the prefix itself included, in order of (address, length).
    pub fn covered(&self, prefix: Prefix<F>) -> Covered<'_, F> {
        self.walk(prefix, false).1
    }

    /// The nexthop of the longest route that contains `prefix` and is shorter than it, which shines
    /// through where none inside matches, and those [`Rib::covered`].
    ///
    /// Without the default route in the table of an algorithm that
    /// [leaves it](crate::algo::Algorithm::leaves_default) to the framework.
    pub fn part(&self, prefix: Prefix<F>) -> (NexthopId, Covered<'_, F>) {
        self.walk(prefix, self.hides_default)
    }

    /// [`Rib::part`] leaves the default route out from now on, or no more.
    pub(crate) fn hide_default(&mut self, hides: bool) {
        self.hides_default = hides;
    }

    fn walk(&self, prefix: Prefix<F>, hides_default: bool) -> (NexthopId, Covered<'_, F>) {
        let (mut outer, mut at) = (NexthopId::NONE, ROOT as u32);
        let stack = Vec::with_capacity(WALKS);
        let mut covered = Covered { rib: self, stack, hides_default };
        loop {
            let node = &self.nodes[at as usize];
            if node.len >= prefix.len() {
                covered.stack.extend(prefix.contains(node.addr).then_some(at));
                return (outer, covered);
            }
            if !node.contains(prefix.addr()) {
                return (outer, covered);
            }
            let is_hidden = hides_default && at == ROOT as u32;
            if !is_hidden && !node.nexthop.is_none() {
                outer = node.nexthop;
            }
            at = node.child_towards(prefix.addr());
            if at == NIL {
                return (outer, covered);
            }
        }
    }

    /// All routes in order of (address, length).
    pub fn iter(&self) -> Covered<'_, F> {
        self.covered(Prefix::DEFAULT)
    }

    /// Number of routes.
    pub fn len(&self) -> usize {
        self.routes
    }

    /// Whether there is no route.
    pub fn is_empty(&self) -> bool {
        self.routes == 0
    }

    /// Number of routes of each prefix length, from 0 to the family's width.
    pub fn lengths(&self) -> &[usize] {
        &self.by_len
    }

    /// Bytes that the table takes.
    pub fn memory_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node<F::Addr>>() + self.free.capacity() * size_of::<u32>()
    }

    /// All routes as a sorted list. O(n).
    pub fn dump(&self) -> Dump<F> {
        #[cfg(test)]
        DUMPS.set(DUMPS.get() + 1);
        let mut routes = Vec::with_capacity(self.routes);
        routes.extend(self.iter());
        Dump::new(routes)
    }

    /// All routes but the default route, as [`Rib::dump`].
    pub(crate) fn dump_below_default(&self) -> Dump<F> {
        #[cfg(test)]
        DUMPS.set(DUMPS.get() + 1);
        let mut routes = Vec::with_capacity(self.routes);
        routes.extend(self.walk(Prefix::DEFAULT, true).1);
        Dump::new(routes)
    }

    fn count(&mut self, prefix: Prefix<F>, old: NexthopId, new: NexthopId) {
        let count = &mut self.by_len[usize::from(prefix.len())];
        match (old.is_none(), new.is_none()) {
            (true, false) => {
                *count += 1;
                self.routes += 1;
            }
            (false, true) => {
                *count -= 1;
                self.routes -= 1;
            }
            _ => {}
        }
    }

    /// The node nearest to the root that lies inside `prefix`.
    fn topmost_inside(&self, prefix: Prefix<F>) -> Option<usize> {
        let mut at = ROOT;
        loop {
            let node = &self.nodes[at];
            if node.len >= prefix.len() {
                return prefix.contains(node.addr).then_some(at);
            }
            if !node.contains(prefix.addr()) {
                return None;
            }
            at = node.child_towards(prefix.addr()) as usize;
            if at == NIL as usize {
                return None;
            }
        }
    }

    fn insert(&mut self, prefix: Prefix<F>, nexthop: NexthopId) -> NexthopId {
        let mut at = ROOT;
        loop {
            let node = self.nodes[at];
            if node.len == prefix.len() {
                return std::mem::replace(&mut self.nodes[at].nexthop, nexthop);
            }
            let next = node.child_towards(prefix.addr());
            let inside = next != NIL && self.nodes[next as usize].covers(&prefix);
            if !inside {
                self.hang(at, prefix, nexthop);
                return NexthopId::NONE;
            }
            at = next as usize;
        }
    }

    /// Puts a new prefix below `at`, which contains it, while the child on that side does not.
    fn hang(&mut self, at: usize, prefix: Prefix<F>, nexthop: NexthopId) {
        let side = side::<F>(prefix.addr(), self.nodes[at].len);
        let child = self.nodes[at].child[side];
        let mut leaf = Node::of(prefix, nexthop);
        if child == NIL {
            self.nodes[at].child[side] = self.take(leaf);
            return;
        }
        let below = self.nodes[child as usize];
        let common = below.prefix::<F>().common_len(&prefix);
        if common == prefix.len() {
            leaf.child[side_of(&below, common)] = child;
            self.nodes[at].child[side] = self.take(leaf);
            return;
        }
        let mut glue = Node::of(Prefix::<F>::covering(prefix.addr(), common), NexthopId::NONE);
        glue.child[side_of(&below, common)] = child;
        glue.child[side_of(&leaf, common)] = self.take(leaf);
        self.nodes[at].child[side] = self.take(glue);
    }

    /// Like `insert`, for a prefix that sorts after all others.
    fn append(&mut self, path: &mut Vec<u32>, prefix: Prefix<F>, nexthop: NexthopId) {
        let is_around = |&at: &u32| self.nodes[at as usize].covers(&prefix);
        let depth = path.iter().rposition(is_around).unwrap_or(0);
        path.truncate(depth + 1);
        let at = path[depth] as usize;
        if self.nodes[at].len == prefix.len() {
            self.nodes[at].nexthop = nexthop;
            return;
        }
        self.hang(at, prefix, nexthop);
        let mut down = at;
        while self.nodes[down].len < prefix.len() {
            let next = self.nodes[down].child_towards(prefix.addr());
            path.push(next);
            down = next as usize;
        }
    }

    fn remove(&mut self, prefix: Prefix<F>) -> NexthopId {
        let (mut above, mut parent, mut at) = (ROOT, ROOT, ROOT);
        while self.nodes[at].len < prefix.len() {
            let next = self.nodes[at].child_towards(prefix.addr());
            if next == NIL || !self.nodes[next as usize].covers(&prefix) {
                return NexthopId::NONE;
            }
            (above, parent, at) = (parent, at, next as usize);
        }
        let old = std::mem::take(&mut self.nodes[at].nexthop);
        if at == ROOT || old.is_none() {
            return old;
        }
        match self.nodes[at].child {
            [NIL, NIL] => {
                self.bypass(parent, at, NIL);
                let left = self.nodes[parent];
                // A fork with one branch left is no fork.
                if parent != ROOT && left.nexthop.is_none() {
                    self.bypass(above, parent, left.child[0] | left.child[1]);
                }
            }
            [one, NIL] | [NIL, one] => self.bypass(parent, at, one),
            _ => {}
        }
        old
    }

    /// Takes `at` out from below `parent` and puts `heir` there.
    fn bypass(&mut self, parent: usize, at: usize, heir: u32) {
        let side = side_of(&self.nodes[at], self.nodes[parent].len);
        self.nodes[parent].child[side] = heir;
        self.free.push(at as u32);
    }

    fn take(&mut self, node: Node<F::Addr>) -> u32 {
        if let Some(place) = self.free.pop() {
            self.nodes[place as usize] = node;
            return place;
        }
        self.nodes.push(node);
        (self.nodes.len() - 1) as u32
    }
}

impl<A: Address> Node<A> {
    fn of<F: Family<Addr = A>>(prefix: Prefix<F>, nexthop: NexthopId) -> Self {
        Self { addr: prefix.addr(), child: [NIL; 2], nexthop, len: prefix.len() }
    }

    #[inline]
    fn prefix<F: Family<Addr = A>>(&self) -> Prefix<F> {
        Prefix::of_masked(self.addr, self.len)
    }

    /// As [`Prefix::contains`].
    #[inline]
    fn contains(&self, addr: A) -> bool {
        (self.addr ^ addr).leading_zeros() >= u32::from(self.len)
    }

    /// As [`Prefix::covers`].
    #[inline]
    fn covers<F: Family<Addr = A>>(&self, other: &Prefix<F>) -> bool {
        self.len <= other.len() && self.contains(other.addr())
    }

    #[inline]
    fn child_towards(&self, addr: A) -> u32 {
        self.child[usize::from(addr.bit(u32::from(self.len)))]
    }
}

#[inline]
fn side<F: Family>(addr: F::Addr, len: u8) -> usize {
    usize::from(addr.bit(u32::from(len)))
}

#[inline]
fn side_of<A: Address>(node: &Node<A>, len: u8) -> usize {
    usize::from(node.addr.bit(u32::from(len)))
}

/// Routes in order of (address, length); see [`Rib::covered`].
#[derive(Debug, Clone)]
pub struct Covered<'a, F: Family> {
    rib: &'a Rib<F>,
    /// Nodes still to be walked, the next one last.
    stack: Vec<u32>,
    hides_default: bool,
}

impl<F: Family> Iterator for Covered<'_, F> {
    type Item = (Prefix<F>, NexthopId);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let at = self.stack.pop()? as usize;
            let node = &self.rib.nodes[at];
            let [left, right] = node.child;
            if right != NIL {
                prefetch(&self.rib.nodes, right as usize);
                self.stack.push(right);
            }
            if left != NIL {
                self.stack.push(left);
            }
            let is_hidden = self.hides_default && at == ROOT;
            if !is_hidden && !node.nexthop.is_none() {
                return Some((node.prefix(), node.nexthop));
            }
        }
    }
}
