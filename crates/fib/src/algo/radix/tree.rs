//! The radix tree of the BSD kernels.
//!
//! After K. Sklower, "A Tree-Based Packet Routing Table for Berkeley Unix" (USENIX Winter 1991),
//! and chapter 18 of "TCP/IP Illustrated, Volume 2", for contiguous masks:
//!
//! - An inner node tests one bit of the address and skips the bits on which all leaves below agree.
//! - A leaf holds one address and the routes that start at it, longest first (4.4BSD's "duplicated
//!   keys").
//! - A route shorter than the bit that some ancestor of its leaf tests is also entered in the mask
//!   list of the topmost such ancestor. All addresses below an ancestor share that many bits.
//! - A lookup goes down to a leaf without comparing anything, finds the first bit in which the
//!   leaf differs from the address, and then takes the first route not longer than that: of the
//!   leaf, then of the mask lists on the way back up.

use crate::family::{Address, Family};
use crate::nexthop::NexthopId;
use crate::prefix::Prefix;

const NIL: u32 = u32::MAX;
const ROOT: u32 = 0;
/// `bit` of a leaf: larger than every tested bit.
const LEAF: u16 = u16::MAX;

/// Inner node or leaf. They are made in pairs, one pair for each new address, as in BSD's
/// `rtentry`.
#[derive(Debug, Clone)]
struct Node<A> {
    /// The tested bit, or [`LEAF`].
    bit: u16,
    parent: u32,
    /// Children for bit 0 and bit 1; unused in leaves.
    child: [u32; 2],
    /// The address of a leaf.
    key: A,
    /// First of the leaf's routes, or of the inner node's mask list; longest first.
    routes: u32,
}

/// A route in the list of a leaf.
#[derive(Debug, Clone, Copy)]
struct Route {
    len: u8,
    nexthop: NexthopId,
    next: u32,
}

/// An entry of a mask list: a route of some leaf below.
#[derive(Debug, Clone, Copy)]
struct Mask {
    len: u8,
    route: u32,
    next: u32,
}

/// The tree. Its root tests bit 0, and its two outermost leaves (address 0 and the last address)
/// are always there, so that no lookup meets an empty tree.
#[derive(Debug, Clone)]
pub(super) struct Tree<F: Family> {
    nodes: Vec<Node<F::Addr>>,
    routes: Vec<Route>,
    masks: Vec<Mask>,
    free_nodes: Vec<u32>,
    free_routes: Vec<u32>,
    free_masks: Vec<u32>,
}

impl<F: Family> Tree<F> {
    pub(super) fn new() -> Self {
        let root = Node { bit: 0, parent: NIL, child: [1, 2], key: F::Addr::ZERO, routes: NIL };
        let first = Node { bit: LEAF, parent: ROOT, child: [NIL; 2], ..root.clone() };
        let last = Node { key: F::Addr::MAX, ..first.clone() };
        Self {
            nodes: vec![root, first, last],
            routes: Vec::new(),
            masks: Vec::new(),
            free_nodes: Vec::new(),
            free_routes: Vec::new(),
            free_masks: Vec::new(),
        }
    }

    #[inline]
    pub(super) fn lookup(&self, addr: F::Addr) -> NexthopId {
        let mut at = self.leaf_of(addr);
        let leaf = &self.nodes[at as usize];
        let agree = (addr ^ leaf.key).leading_zeros() as u8;
        let mut next = leaf.routes;
        while next != NIL {
            let route = &self.routes[next as usize];
            if route.len <= agree {
                return route.nexthop;
            }
            next = route.next;
        }
        while at != ROOT {
            at = self.nodes[at as usize].parent;
            let mut next = self.nodes[at as usize].routes;
            while next != NIL {
                let mask = &self.masks[next as usize];
                if mask.len <= agree {
                    return self.routes[mask.route as usize].nexthop;
                }
                next = mask.next;
            }
        }
        NexthopId::NONE
    }

    /// Adds a route or changes its nexthop.
    pub(super) fn insert(&mut self, prefix: Prefix<F>, nexthop: NexthopId) {
        let leaf = self.leaf_for(prefix.addr());
        if let Some(known) = self.route_of(leaf, prefix.len()) {
            self.routes[known as usize].nexthop = nexthop;
            return;
        }
        let route = take(&mut self.free_routes, &mut self.routes, |next| Route {
            len: prefix.len(),
            nexthop,
            next,
        });
        self.link_route(leaf, route);
        if let Some(holder) = self.mask_holder(leaf, prefix.len()) {
            self.link_mask(holder, prefix.len(), route);
        }
    }

    /// Deletes a route, if it is there.
    pub(super) fn remove(&mut self, prefix: Prefix<F>) {
        let leaf = self.leaf_of(prefix.addr());
        if self.nodes[leaf as usize].key != prefix.addr() {
            return;
        }
        let Some(route) = self.route_of(leaf, prefix.len()) else { return };
        if let Some(holder) = self.mask_holder(leaf, prefix.len()) {
            self.unlink_mask(holder, prefix.len());
        }
        self.unlink_route(leaf, route);
        let is_outermost = prefix.addr() == F::Addr::ZERO || prefix.addr() == F::Addr::MAX;
        if self.nodes[leaf as usize].routes == NIL && !is_outermost {
            self.remove_leaf(leaf);
        }
    }

    pub(super) fn memory_bytes(&self) -> usize {
        size_of_val(self.nodes.as_slice())
            + size_of_val(self.routes.as_slice())
            + size_of_val(self.masks.as_slice())
    }

    #[inline]
    fn leaf_of(&self, addr: F::Addr) -> u32 {
        let mut at = ROOT;
        loop {
            let node = &self.nodes[at as usize];
            if node.bit == LEAF {
                return at;
            }
            at = node.child[usize::from(addr.bit(u32::from(node.bit)))];
        }
    }

    /// The leaf of exactly this address, made if need be.
    fn leaf_for(&mut self, addr: F::Addr) -> u32 {
        let near = self.leaf_of(addr);
        let agree = (addr ^ self.nodes[near as usize].key).leading_zeros();
        if agree == F::Addr::BITS {
            return near;
        }
        // The new inner node tests the first differing bit; it goes where the bits on the way down
        // pass that number.
        let bit = agree as u16;
        let mut below = near;
        while self.nodes[self.nodes[below as usize].parent as usize].bit > bit {
            below = self.nodes[below as usize].parent;
        }
        let above = self.nodes[below as usize].parent;
        let side = usize::from(addr.bit(agree));
        let leaf = self.take_node(Node {
            bit: LEAF,
            parent: NIL,
            child: [NIL; 2],
            key: addr,
            routes: NIL,
        });
        let mut child = [below; 2];
        child[side] = leaf;
        let inner = self.take_node(Node { bit, parent: above, child, key: addr, routes: NIL });
        self.replace_child(above, below, inner);
        self.nodes[leaf as usize].parent = inner;
        self.nodes[below as usize].parent = inner;
        self.raise_masks(below, inner);
        leaf
    }

    /// Enters in `inner`, newly put above `below`, the routes that it must hold now.
    fn raise_masks(&mut self, below: u32, inner: u32) {
        let bit = self.nodes[inner as usize].bit;
        if self.nodes[below as usize].bit != LEAF {
            // Lists are sorted, longest first: what is short enough is the tail.
            let tail = self.cut_masks(below, bit);
            self.nodes[inner as usize].routes = tail;
            return;
        }
        let above = self.nodes[inner as usize].parent;
        let mut next = self.nodes[below as usize].routes;
        while next != NIL {
            let Route { len, next: after, .. } = self.routes[next as usize];
            // Shorter ones have a holder further up already.
            if u16::from(len) <= bit && u16::from(len) > self.nodes[above as usize].bit {
                self.link_mask(inner, len, next);
            }
            next = after;
        }
    }

    /// Takes the masks of at most `bit` bits out of a node's list.
    fn cut_masks(&mut self, node: u32, bit: u16) -> u32 {
        let mut before = NIL;
        let mut next = self.nodes[node as usize].routes;
        while next != NIL && u16::from(self.masks[next as usize].len) > bit {
            before = next;
            next = self.masks[next as usize].next;
        }
        match before {
            NIL => self.nodes[node as usize].routes = NIL,
            _ => self.masks[before as usize].next = NIL,
        }
        next
    }

    /// The topmost inner node above `leaf` that tests a bit at or after `len`.
    fn mask_holder(&self, leaf: u32, len: u8) -> Option<u32> {
        let mut holder = None;
        let mut at = self.nodes[leaf as usize].parent;
        while at != NIL && self.nodes[at as usize].bit >= u16::from(len) {
            holder = Some(at);
            at = self.nodes[at as usize].parent;
        }
        holder
    }

    fn remove_leaf(&mut self, leaf: u32) {
        let inner = self.nodes[leaf as usize].parent;
        let child = self.nodes[inner as usize].child;
        let sibling = if child[0] == leaf { child[1] } else { child[0] };
        let above = self.nodes[inner as usize].parent;
        self.replace_child(above, inner, sibling);
        self.nodes[sibling as usize].parent = above;
        self.lower_masks(inner, sibling);
        self.free_nodes.extend([leaf, inner]);
    }

    /// Gives the masks of `inner`, which goes away, to the node that takes its place.
    fn lower_masks(&mut self, inner: u32, sibling: u32) {
        let list = self.nodes[inner as usize].routes;
        let is_leaf = self.nodes[sibling as usize].bit == LEAF;
        let mut last = NIL;
        let mut next = list;
        while next != NIL {
            last = next;
            next = self.masks[next as usize].next;
            if is_leaf {
                // The leaf's own list has the route; no other leaf is left to share it.
                self.free_masks.push(last);
            }
        }
        if is_leaf || list == NIL {
            return;
        }
        // The sibling's own masks are longer than the bit that `inner` tested, so they go first.
        let mut tail = self.nodes[sibling as usize].routes;
        if tail == NIL {
            self.nodes[sibling as usize].routes = list;
            return;
        }
        while self.masks[tail as usize].next != NIL {
            tail = self.masks[tail as usize].next;
        }
        self.masks[tail as usize].next = list;
        debug_assert!(self.masks[last as usize].next == NIL);
    }

    fn replace_child(&mut self, parent: u32, old: u32, new: u32) {
        for child in &mut self.nodes[parent as usize].child {
            if *child == old {
                *child = new;
            }
        }
    }

    fn route_of(&self, leaf: u32, len: u8) -> Option<u32> {
        let mut next = self.nodes[leaf as usize].routes;
        while next != NIL && self.routes[next as usize].len != len {
            next = self.routes[next as usize].next;
        }
        (next != NIL).then_some(next)
    }

    fn link_route(&mut self, leaf: u32, route: u32) {
        let len = self.routes[route as usize].len;
        let mut before = NIL;
        let mut next = self.nodes[leaf as usize].routes;
        while next != NIL && self.routes[next as usize].len > len {
            before = next;
            next = self.routes[next as usize].next;
        }
        self.routes[route as usize].next = next;
        match before {
            NIL => self.nodes[leaf as usize].routes = route,
            _ => self.routes[before as usize].next = route,
        }
    }

    fn unlink_route(&mut self, leaf: u32, route: u32) {
        let after = self.routes[route as usize].next;
        let mut next = self.nodes[leaf as usize].routes;
        if next == route {
            self.nodes[leaf as usize].routes = after;
        }
        while next != NIL {
            let here = &mut self.routes[next as usize];
            if here.next == route {
                here.next = after;
            }
            next = here.next;
        }
        self.free_routes.push(route);
    }

    fn link_mask(&mut self, holder: u32, len: u8, route: u32) {
        let mask = take(&mut self.free_masks, &mut self.masks, |next| Mask { len, route, next });
        let mut before = NIL;
        let mut next = self.nodes[holder as usize].routes;
        while next != NIL && self.masks[next as usize].len > len {
            before = next;
            next = self.masks[next as usize].next;
        }
        self.masks[mask as usize].next = next;
        match before {
            NIL => self.nodes[holder as usize].routes = mask,
            _ => self.masks[before as usize].next = mask,
        }
    }

    fn unlink_mask(&mut self, holder: u32, len: u8) {
        let mut before = NIL;
        let mut next = self.nodes[holder as usize].routes;
        while next != NIL && self.masks[next as usize].len != len {
            before = next;
            next = self.masks[next as usize].next;
        }
        if next == NIL {
            return;
        }
        let after = self.masks[next as usize].next;
        match before {
            NIL => self.nodes[holder as usize].routes = after,
            _ => self.masks[before as usize].next = after,
        }
        self.free_masks.push(next);
    }

    fn take_node(&mut self, node: Node<F::Addr>) -> u32 {
        take(&mut self.free_nodes, &mut self.nodes, |_| node)
    }
}

/// Puts an item into a free place of the list, or at its end; `item` gets an empty link.
fn take<T>(free: &mut Vec<u32>, list: &mut Vec<T>, item: impl FnOnce(u32) -> T) -> u32 {
    let item = item(NIL);
    if let Some(place) = free.pop() {
        list[place as usize] = item;
        return place;
    }
    list.push(item);
    (list.len() - 1) as u32
}
