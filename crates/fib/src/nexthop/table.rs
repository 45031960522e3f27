//! The nexthops of a routing table: shared by its routes, counted, and numbered densely.
//!
//! A number that no route uses any more is given away again only when no reader can still hold it
//! from a lookup, see [`crate::Grace`].

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};

use super::{
    Nexthop, NexthopGroup, NexthopGroupError, NexthopGroups, NexthopId, NumberSink, Numbered,
    Target,
};
use crate::epoch::{Grace, Stamp};
use crate::family::Family;

#[derive(Debug, Clone)]
enum Entry<F: Family> {
    Vacant,
    Nexthop(Nexthop<F>),
    Group(Arc<NexthopGroup>),
}

#[derive(Debug, Clone)]
struct Slot<F: Family> {
    entry: Entry<F>,
    /// Routes and groups that point here.
    users: u32,
    /// Set while there are no users and readers see a table without it: when that began.
    retired: Option<Stamp>,
}

impl<F: Family> Slot<F> {
    const VACANT: Self = Self { entry: Entry::Vacant, users: 0, retired: None };
}

/// Nexthops and nexthop groups by number.
#[derive(Debug, Clone)]
pub struct NexthopTable<F: Family> {
    /// By number; number 0 is never used.
    slots: Vec<Slot<F>>,
    numbers: HashMap<Nexthop<F>, NexthopId>,
    group_numbers: HashMap<Vec<(NexthopId, u32)>, NexthopId>,
    groups: NexthopGroups,
    /// Without users since the last change that readers see.
    idle: Vec<NexthopId>,
    /// Without users, and readers may hold their numbers until the stamp passes.
    retired: VecDeque<(Stamp, NexthopId)>,
    vacant: BinaryHeap<Reverse<u32>>,
    /// Given away, and nobody told yet.
    untold: Vec<NexthopId>,
    used: usize,
}

impl<F: Family> Default for NexthopTable<F> {
    fn default() -> Self {
        Self {
            slots: vec![Slot::VACANT],
            numbers: HashMap::new(),
            group_numbers: HashMap::new(),
            groups: NexthopGroups::default(),
            idle: Vec::new(),
            retired: VecDeque::new(),
            vacant: BinaryHeap::new(),
            untold: Vec::new(),
            used: 0,
        }
    }
}

impl<F: Family> NexthopTable<F> {
    /// The nexthop of a number, unless that is vacant or a group's.
    pub fn nexthop(&self, id: NexthopId) -> Option<&Nexthop<F>> {
        match &self.slots.get(id.index())?.entry {
            Entry::Nexthop(nexthop) => Some(nexthop),
            _ => None,
        }
    }

    /// The group of a number, unless that is vacant or a nexthop's.
    pub fn nexthop_group(&self, id: NexthopId) -> Option<&NexthopGroup> {
        self.groups.nexthop_group(id)
    }

    /// The number of a nexthop that is in the table.
    pub fn number(&self, nexthop: &Nexthop<F>) -> Option<NexthopId> {
        self.numbers.get(nexthop).copied()
    }

    /// Nexthops in order of their numbers, without groups.
    pub fn iter(&self) -> impl Iterator<Item = (NexthopId, &Nexthop<F>)> {
        self.slots.iter().zip(0..).filter_map(|(slot, number)| match &slot.entry {
            Entry::Nexthop(nexthop) => Some((NexthopId(number), nexthop)),
            _ => None,
        })
    }

    /// Nexthop groups in order of their numbers.
    pub fn nexthop_groups(&self) -> impl Iterator<Item = (NexthopId, &NexthopGroup)> {
        self.slots.iter().zip(0..).filter_map(|(slot, number)| match &slot.entry {
            Entry::Group(group) => Some((NexthopId(number), group.as_ref())),
            _ => None,
        })
    }

    /// How many routes and groups point to a number.
    pub fn users(&self, id: NexthopId) -> u32 {
        self.slots.get(id.index()).map_or(0, |slot| slot.users)
    }

    /// Highest number in use; an array of one more element can be indexed by all of them.
    pub fn highest(&self) -> NexthopId {
        let in_use = |slot: &Slot<F>| !matches!(slot.entry, Entry::Vacant);
        NexthopId(self.slots.iter().rposition(in_use).unwrap_or(0) as u32)
    }

    /// Number of nexthops and groups.
    pub fn len(&self) -> usize {
        self.used
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    pub(crate) fn reader_groups(&self) -> &NexthopGroups {
        &self.groups
    }

    /// The number of a target, with one user more. `None` for a number that is not in the table.
    pub(crate) fn acquire(
        &mut self,
        target: &Target<F>,
        grace: &Grace<'_>,
    ) -> Result<Option<NexthopId>, NexthopGroupError> {
        let id = match target {
            Target::Nexthop(nexthop) => self.intern(*nexthop, grace),
            Target::Group(members) => self.intern_group(members, grace)?,
            Target::Known(id) => match self.slots.get(id.index()).map(|slot| &slot.entry) {
                None | Some(Entry::Vacant) => return Ok(None),
                Some(_) => *id,
            },
        };
        self.slots[id.index()].users += 1;
        Ok(Some(id))
    }

    /// Takes one user off. The number stays taken until readers see a table without it.
    pub(crate) fn release(&mut self, id: NexthopId) {
        let Some(slot) = self.slots.get_mut(id.index()) else { return };
        slot.users = slot.users.saturating_sub(1);
        slot.retired = None;
        if slot.users == 0 && !id.is_none() {
            self.idle.push(id);
        }
    }

    /// Tells of the numbers that were given away since the last time, members before their groups.
    pub(crate) fn tell(&mut self, sink: Option<&mut NumberSink<F>>) {
        let mut untold = std::mem::take(&mut self.untold);
        if let Some(sink) = sink {
            untold.iter().for_each(|id| self.tell_one(*id, sink));
        }
        // Its memory is used again.
        untold.clear();
        self.untold = untold;
    }

    /// Tells of all numbers, members before their groups.
    pub(crate) fn tell_all(&self, sink: &mut NumberSink<F>) {
        let nexthops = self.iter().map(|(id, _)| id);
        let groups = self.nexthop_groups().map(|(id, _)| id);
        nexthops.chain(groups).for_each(|id| self.tell_one(id, sink));
    }

    fn tell_one(&self, id: NexthopId, sink: &mut NumberSink<F>) {
        match self.slots.get(id.index()).map(|slot| &slot.entry) {
            Some(Entry::Nexthop(nexthop)) => sink(id, Numbered::Nexthop(nexthop)),
            Some(Entry::Group(group)) => sink(id, Numbered::Group(group)),
            _ => {}
        }
    }

    /// Tells that readers see the table as it is now, and frees numbers that nobody can hold.
    pub(crate) fn settle(&mut self, grace: &Grace<'_>) {
        if !self.idle.is_empty() {
            let stamp = grace.stamp();
            for id in self.idle.drain(..) {
                self.slots[id.index()].retired = Some(stamp);
                self.retired.push_back((stamp, id));
            }
        }
        self.collect(grace);
    }

    /// Gives a group other members; its number and its routes stay.
    pub(crate) fn change_nexthop_group(
        &mut self,
        id: NexthopId,
        members: &[(Nexthop<F>, u32)],
        grace: &Grace<'_>,
    ) -> Result<bool, NexthopGroupError> {
        let Some(old) = self.groups.nexthop_group(id).cloned() else { return Ok(false) };
        let members = self.acquire_members(members, grace);
        let new = match old.with_members(&members) {
            Ok(new) => new,
            Err(error) => {
                members.iter().for_each(|(member, _)| self.release(*member));
                return Err(error);
            }
        };
        self.forget_members(id, old.members());
        self.group_numbers.entry(new.members().to_vec()).or_insert(id);
        self.hold_members(&members, &new);
        old.members().iter().for_each(|(member, _)| self.release(*member));
        self.put_group(id, Some(Arc::new(new)));
        Ok(true)
    }

    fn intern(&mut self, nexthop: Nexthop<F>, grace: &Grace<'_>) -> NexthopId {
        if let Some(&id) = self.numbers.get(&nexthop) {
            return id;
        }
        let id = self.take_number(grace);
        self.slots[id.index()].entry = Entry::Nexthop(nexthop);
        self.numbers.insert(nexthop, id);
        id
    }

    fn intern_group(
        &mut self,
        members: &[(Nexthop<F>, u32)],
        grace: &Grace<'_>,
    ) -> Result<NexthopId, NexthopGroupError> {
        let members = self.acquire_members(members, grace);
        let group = match NexthopGroup::new(&members) {
            Ok(group) => group,
            Err(error) => {
                members.iter().for_each(|(member, _)| self.release(*member));
                return Err(error);
            }
        };
        if let Some(&id) = self.group_numbers.get(group.members()) {
            members.iter().for_each(|(member, _)| self.release(*member));
            return Ok(id);
        }
        self.hold_members(&members, &group);
        let id = self.take_number(grace);
        self.group_numbers.insert(group.members().to_vec(), id);
        self.put_group(id, Some(Arc::new(group)));
        Ok(id)
    }

    /// Numbers of members, each with one user more for each time that it is named.
    fn acquire_members(
        &mut self,
        members: &[(Nexthop<F>, u32)],
        grace: &Grace<'_>,
    ) -> Vec<(NexthopId, u32)> {
        let number = |&(nexthop, weight): &(Nexthop<F>, u32)| {
            let id = self.intern(nexthop, grace);
            self.slots[id.index()].users += 1;
            (id, weight)
        };
        members.iter().map(number).collect()
    }

    /// Leaves one user for each member of the finished group: it may have dropped members without
    /// weight and joined those that were named twice.
    fn hold_members(&mut self, named: &[(NexthopId, u32)], group: &NexthopGroup) {
        for (member, _) in group.members() {
            self.slots[member.index()].users += 1;
        }
        named.iter().for_each(|(member, _)| self.release(*member));
    }

    /// Two groups can come to have the same members; only one of them is found by its members.
    fn forget_members(&mut self, id: NexthopId, members: &[(NexthopId, u32)]) {
        if self.group_numbers.get(members) == Some(&id) {
            self.group_numbers.remove(members);
        }
    }

    fn put_group(&mut self, id: NexthopId, group: Option<Arc<NexthopGroup>>) {
        self.slots[id.index()].entry = group.clone().map_or(Entry::Vacant, Entry::Group);
        self.groups.set(id, group);
    }

    fn take_number(&mut self, grace: &Grace<'_>) -> NexthopId {
        self.collect(grace);
        self.used += 1;
        let id = match self.vacant.pop() {
            Some(Reverse(number)) => NexthopId(number),
            None => {
                self.slots.push(Slot::VACANT);
                NexthopId((self.slots.len() - 1) as u32)
            }
        };
        self.untold.push(id);
        id
    }

    fn collect(&mut self, grace: &Grace<'_>) {
        // In the order of their stamps, so the first that has not passed ends it.
        while let Some(&(stamp, id)) = self.retired.front() {
            if !grace.has_passed(stamp) {
                return;
            }
            self.retired.pop_front();
            self.free(id, stamp);
        }
    }

    /// Makes a number vacant, unless it has found users since the stamp or is vacant already.
    fn free(&mut self, id: NexthopId, stamp: Stamp) {
        let slot = &mut self.slots[id.index()];
        if slot.users > 0 || slot.retired.take_if(|retired| *retired == stamp).is_none() {
            return;
        }
        match std::mem::replace(&mut slot.entry, Entry::Vacant) {
            Entry::Vacant => return,
            Entry::Nexthop(nexthop) => {
                self.numbers.remove(&nexthop);
            }
            Entry::Group(group) => {
                self.forget_members(id, group.members());
                self.put_group(id, None);
                group.members().iter().for_each(|(member, _)| self.release(*member));
            }
        }
        self.used -= 1;
        self.vacant.push(Reverse(id.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Inet;
    use crate::epoch::Epochs;

    fn via(gateway: u32) -> Nexthop<Inet> {
        Nexthop::via(gateway, 0)
    }

    #[test]
    fn equal_nexthops_share_a_number_and_numbers_are_dense() {
        let grace = Grace::without_readers();
        let mut table = NexthopTable::<Inet>::default();
        let mut acquire = |gateway| table.acquire(&via(gateway).into(), &grace).unwrap().unwrap().0;
        assert_eq!([acquire(7), acquire(8), acquire(7), acquire(9)], [1, 2, 1, 3]);
        assert_eq!((table.users(NexthopId(1)), table.len()), (2, 3));
        table.release(NexthopId(2));
        table.settle(&grace);
        assert_eq!(table.nexthop(NexthopId(2)), None);
        assert_eq!(table.acquire(&via(10).into(), &grace), Ok(Some(NexthopId(2))));
        assert_eq!(table.highest(), NexthopId(3));
    }

    #[test]
    fn a_number_is_not_reused_while_a_reader_may_hold_it() {
        let epochs = Epochs::new();
        let slot = epochs.register();
        let grace = Grace::of(&epochs);
        let mut table = NexthopTable::<Inet>::default();
        let id = table.acquire(&via(1).into(), &grace).unwrap().unwrap();
        epochs.pin(&slot);
        table.release(id);
        table.settle(&grace);
        assert_ne!(table.acquire(&via(2).into(), &grace), Ok(Some(id)));
        assert_eq!(table.nexthop(id), Some(&via(1)));
        epochs.unpin(&slot);
        assert_eq!(table.acquire(&via(3).into(), &grace), Ok(Some(id)));
    }

    #[test]
    fn a_number_that_finds_users_again_stays() {
        let epochs = Epochs::new();
        let slot = epochs.register();
        let grace = Grace::of(&epochs);
        let mut table = NexthopTable::<Inet>::default();
        let id = table.acquire(&via(1).into(), &grace).unwrap().unwrap();
        epochs.pin(&slot);
        table.release(id);
        table.settle(&grace);
        assert_eq!(table.acquire(&id.into(), &grace), Ok(Some(id)));
        table.release(id);
        epochs.unpin(&slot);
        // The first stamp has passed, but readers still see a table with the number.
        table.collect(&grace);
        assert_eq!(table.nexthop(id), Some(&via(1)));
        table.settle(&grace);
        assert!(table.is_empty());
    }

    #[test]
    fn a_group_holds_its_members_and_lets_them_go() {
        let grace = Grace::without_readers();
        let mut table = NexthopTable::<Inet>::default();
        let members = vec![(via(1), 1), (via(2), 0), (via(3), 2), (via(3), 1)];
        let id = table.acquire(&members.clone().into(), &grace).unwrap().unwrap();
        assert_eq!(table.acquire(&members.into(), &grace), Ok(Some(id)));
        assert_eq!(table.users(id), 2);
        table.settle(&grace);
        // The member without weight is gone.
        assert_eq!((table.iter().count(), table.nexthop_groups().count()), (2, 1));
        assert!(table.change_nexthop_group(id, &[(via(3), 1), (via(4), 1)], &grace).unwrap());
        table.settle(&grace);
        let gateways: Vec<_> = table.iter().map(|(_, hop)| hop.gateway.unwrap()).collect();
        assert_eq!(gateways.len(), 2);
        assert!(gateways.contains(&3) && gateways.contains(&4));
        table.release(id);
        table.release(id);
        table.settle(&grace);
        table.settle(&grace);
        assert!(table.is_empty() && table.group_numbers.is_empty() && table.numbers.is_empty());
    }

    #[test]
    fn an_empty_group_and_an_unknown_number_are_refused() {
        let grace = Grace::without_readers();
        let mut table = NexthopTable::<Inet>::default();
        assert_eq!(table.acquire(&vec![(via(1), 0)].into(), &grace), Err(NexthopGroupError::Empty));
        assert_eq!(table.acquire(&NexthopId(5).into(), &grace), Ok(None));
        assert_eq!(table.acquire(&NexthopId::NONE.into(), &grace), Ok(None));
        assert_eq!(table.change_nexthop_group(NexthopId(1), &[], &grace), Ok(false));
        table.settle(&grace);
        assert!(table.is_empty());
    }
}
