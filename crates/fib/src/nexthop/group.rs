//! Nexthop groups: several nexthops with weights, of which each flow takes one.
//!
//! A group is an array of buckets; a flow's hash picks a bucket, and the bucket names a member.
//! When members change, only the buckets that must move are moved (Linux calls this a resilient
//! group; the idea is D. Thaler and C. Hopps, RFC 2992, whose hash-threshold moves up to half of
//! all flows): when a member leaves, flows of the others stay where they are.

use std::sync::Arc;

use super::NexthopId;

/// Fewest buckets of a group.
const FEWEST_BUCKETS: usize = 256;
/// Buckets for each member, at least, when the group is made: weights are met to about 1/16.
const BUCKETS_PER_MEMBER: usize = 16;
/// Most members of a group.
const MOST_MEMBERS: usize = 4096;

/// Why a group cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NexthopGroupError {
    /// No member, or none with a weight above 0.
    #[error("a nexthop group needs a member with a weight above 0")]
    Empty,
    /// Too many members.
    #[error("{got} members are more than the {limit} that a nexthop group can have")]
    TooMany {
        /// How many were given.
        got: usize,
        /// How many can be.
        limit: usize,
    },
}

/// A nexthop group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NexthopGroup {
    /// Members in order of their numbers, with weights above 0.
    members: Vec<(NexthopId, u32)>,
    /// Who gets the flows of each bucket.
    buckets: Box<[NexthopId]>,
}

impl NexthopGroup {
    /// A group of members with their weights. Members with weight 0 are left out, weights of one
    /// member add up.
    ///
    /// # Errors
    /// [`NexthopGroupError`] when nobody is left or there are too many.
    pub fn new(members: &[(NexthopId, u32)]) -> Result<Self, NexthopGroupError> {
        let members = normalised(members)?;
        let wanted = (members.len() * BUCKETS_PER_MEMBER).next_power_of_two();
        let buckets = vec![NexthopId::NONE; wanted.max(FEWEST_BUCKETS)].into();
        let mut group = Self { members, buckets };
        group.share_out();
        Ok(group)
    }

    /// The group with other members; flows move only where weights ask for it. The number of
    /// buckets stays, unless there are more members than buckets.
    ///
    /// # Errors
    /// [`NexthopGroupError`], as for [`NexthopGroup::new`].
    pub fn with_members(&self, members: &[(NexthopId, u32)]) -> Result<Self, NexthopGroupError> {
        let members = normalised(members)?;
        if members.len() > self.buckets.len() {
            return Self::new(&members);
        }
        let mut group = Self { members, buckets: self.buckets.clone() };
        group.share_out();
        Ok(group)
    }

    /// The member for a flow. `flow_hash` should be well mixed in its upper bits.
    #[inline]
    pub fn member(&self, flow_hash: u32) -> NexthopId {
        // (hash * n) >> 32 maps 0..2^32 evenly to 0..n.
        let bucket = (u64::from(flow_hash) * self.buckets.len() as u64) >> 32;
        self.buckets[bucket as usize]
    }

    /// Members in order of their numbers, with their weights.
    pub fn members(&self) -> &[(NexthopId, u32)] {
        &self.members
    }

    /// The member of each bucket.
    pub fn buckets(&self) -> &[NexthopId] {
        &self.buckets
    }

    /// Gives each member its share of buckets, moving as few as can be.
    fn share_out(&mut self) {
        let mut missing = self.quotas();
        let mut vacant = Vec::new();
        for (at, owner) in self.buckets.iter().enumerate() {
            let member = self.members.binary_search_by_key(owner, |(id, _)| *id);
            match member {
                Ok(member) if missing[member] > 0 => missing[member] -= 1,
                _ => vacant.push(at),
            }
        }
        let heirs = self.members.iter().zip(missing);
        let heirs = heirs.flat_map(|((id, _), count)| std::iter::repeat_n(*id, count));
        for (at, heir) in vacant.into_iter().zip(heirs) {
            self.buckets[at] = heir;
        }
    }

    /// Buckets due to each member: proportional to its weight by largest remainders (Hamilton's
    /// method), but at least one.
    fn quotas(&self) -> Vec<usize> {
        let total: u64 = self.members.iter().map(|(_, weight)| u64::from(*weight)).sum();
        let exact = |weight: u32| self.buckets.len() as u64 * u64::from(weight);
        let mut quotas: Vec<usize> =
            self.members.iter().map(|(_, weight)| (exact(*weight) / total) as usize).collect();
        let given: usize = quotas.iter().sum();
        let mut order: Vec<usize> = (0..self.members.len()).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(exact(self.members[i].1) % total));
        for &i in order.iter().take(self.buckets.len() - given) {
            quotas[i] += 1;
        }
        while let Some(starved) = quotas.iter().position(|&quota| quota == 0) {
            let richest = (0..quotas.len()).max_by_key(|&i| quotas[i]).unwrap_or(starved);
            quotas[richest] -= 1;
            quotas[starved] = 1;
        }
        quotas
    }
}

fn normalised(members: &[(NexthopId, u32)]) -> Result<Vec<(NexthopId, u32)>, NexthopGroupError> {
    let mut members: Vec<_> = members.iter().copied().filter(|(_, weight)| *weight > 0).collect();
    members.sort_unstable();
    members.dedup_by(|later, earlier| {
        let same = later.0 == earlier.0;
        if same {
            earlier.1 = earlier.1.saturating_add(later.1);
        }
        same
    });
    match members.len() {
        0 => Err(NexthopGroupError::Empty),
        got if got > MOST_MEMBERS => Err(NexthopGroupError::TooMany { got, limit: MOST_MEMBERS }),
        _ => Ok(members),
    }
}

/// The groups of a table by number, as readers see them.
#[derive(Debug, Clone, Default)]
pub(crate) struct NexthopGroups {
    by_number: Arc<Vec<Option<Arc<NexthopGroup>>>>,
    changes: u64,
}

impl NexthopGroups {
    #[inline]
    pub(crate) fn nexthop_group(&self, id: NexthopId) -> Option<&NexthopGroup> {
        self.by_number.get(id.index())?.as_deref()
    }

    pub(crate) fn set(&mut self, id: NexthopId, group: Option<Arc<NexthopGroup>>) {
        self.changes += 1;
        let groups = Arc::make_mut(&mut self.by_number);
        if groups.len() <= id.index() {
            groups.resize(id.index() + 1, None);
        }
        groups[id.index()] = group;
    }

    /// Whether `self` and `other`, of one table, hold the same.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.changes == other.changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(weights: &[u32]) -> Vec<(NexthopId, u32)> {
        weights.iter().zip(1..).map(|(&weight, id)| (NexthopId(id), weight)).collect()
    }

    fn share(group: &NexthopGroup, id: u32) -> usize {
        group.buckets().iter().filter(|owner| owner.0 == id).count()
    }

    #[test]
    fn weights_are_met_to_a_bucket_and_nobody_starves() {
        let group = NexthopGroup::new(&ids(&[1, 2, 5])).unwrap();
        assert_eq!(group.buckets().len(), 256);
        for (id, want) in [(1, 32), (2, 64), (3, 160)] {
            assert_eq!(share(&group, id), want);
        }
        let lopsided = NexthopGroup::new(&ids(&[u32::MAX, 1])).unwrap();
        assert_eq!(share(&lopsided, 2), 1);
    }

    #[test]
    fn every_bucket_is_reached_and_the_ends_are_inside() {
        let group = NexthopGroup::new(&ids(&[1, 1])).unwrap();
        assert_eq!(group.member(0), group.buckets()[0]);
        assert_eq!(group.member(u32::MAX), group.buckets()[255]);
        assert_eq!(group.member(1 << 24), group.buckets()[1]);
    }

    #[test]
    fn flows_of_others_stay_when_a_member_leaves_and_comes_back() {
        let group = NexthopGroup::new(&ids(&[3, 1, 4, 1, 5])).unwrap();
        let without: Vec<_> = ids(&[3, 1, 4, 1, 5]).into_iter().filter(|m| m.0.0 != 3).collect();
        let smaller = group.with_members(&without).unwrap();
        for (before, after) in group.buckets().iter().zip(smaller.buckets()) {
            assert!(before.0 == 3 || before == after);
            assert_ne!(after.0, 3);
        }
        let again = smaller.with_members(&ids(&[3, 1, 4, 1, 5])).unwrap();
        let moved = smaller.buckets().iter().zip(again.buckets()).filter(|(a, b)| a != b);
        assert_eq!(moved.count(), share(&again, 3));
    }

    #[test]
    fn a_group_without_weight_or_with_too_many_members_is_refused() {
        assert_eq!(NexthopGroup::new(&[]), Err(NexthopGroupError::Empty));
        assert_eq!(NexthopGroup::new(&ids(&[0, 0])), Err(NexthopGroupError::Empty));
        assert!(matches!(
            NexthopGroup::new(&ids(&[1; 5000])),
            Err(NexthopGroupError::TooMany { .. })
        ));
        let many = NexthopGroup::new(&ids(&[1; 4096])).unwrap();
        assert!((1..=4096).all(|id| share(&many, id) == 16));
    }
}
