//! Pages and chunks: equal ones are kept once, and freed when the last entry that leads to them has
//! gone and no reader can look at them any more.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::Ordering::Relaxed;

use crate::algo::slab::{Full, Offset, Slab};
use crate::simd::records::Records;

/// The pieces of a region, by what they hold. Numbers of a piece are 32 bits, two in a word.
#[derive(Default)]
pub(super) struct Pieces {
    hasher: RandomState,
    /// Offsets of the pieces of a hash.
    of_hash: HashMap<u64, Vec<Offset>>,
    /// By offset: how many entries lead there, and how many numbers it has.
    known: HashMap<Offset, Known>,
}

#[derive(Clone, Copy)]
struct Known {
    users: u32,
    len: u32,
}

impl Pieces {
    /// The offset of a piece that holds these numbers, with one user more; and whether it is new.
    pub(super) fn take(
        &mut self,
        numbers: &[u32],
        records: &Records,
        slab: &mut Slab,
    ) -> Result<(Offset, bool), Full> {
        let hash = self.hasher.hash_one(numbers);
        let alike = self.of_hash.entry(hash).or_default();
        for &offset in alike.iter() {
            if let Some(known) = self.known.get_mut(&offset)
                && holds(records, offset, known.len, numbers)
            {
                known.users += 1;
                return Ok((offset, false));
            }
        }
        let offset = slab.take(words(numbers.len()))?;
        let halves = &records.region().halves()[offset as usize * 2..][..numbers.len()];
        halves.iter().zip(numbers).for_each(|(half, number)| half.store(*number, Relaxed));
        alike.push(offset);
        self.known.insert(offset, Known { users: 1, len: numbers.len() as u32 });
        Ok((offset, true))
    }

    /// Takes one user off a piece. When it was the last, the piece is retired and what it holds is
    /// returned: it may lead on.
    pub(super) fn release(
        &mut self,
        offset: Offset,
        records: &Records,
        slab: &mut Slab,
    ) -> Option<Vec<u32>> {
        let known = self.known.get_mut(&offset)?;
        known.users -= 1;
        if known.users > 0 {
            return None;
        }
        let len = known.len as usize;
        self.known.remove(&offset);
        let halves = &records.region().halves()[offset as usize * 2..][..len];
        let numbers: Vec<u32> = halves.iter().map(|half| half.load(Relaxed)).collect();
        let hash = self.hasher.hash_one(&numbers[..]);
        if let Some(alike) = self.of_hash.get_mut(&hash) {
            alike.retain(|other| *other != offset);
            if alike.is_empty() {
                self.of_hash.remove(&hash);
            }
        }
        slab.retire(offset, words(len));
        Some(numbers)
    }

    /// How many different pieces there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    /// Bytes of the lists kept here.
    pub(super) fn builder_bytes(&self) -> usize {
        self.known.capacity() * size_of::<(Offset, Known)>()
            + self.of_hash.capacity() * (size_of::<(u64, Vec<Offset>)>() + size_of::<Offset>())
    }
}

fn holds(records: &Records, offset: Offset, len: u32, numbers: &[u32]) -> bool {
    let halves = &records.region().halves()[offset as usize * 2..];
    len as usize == numbers.len()
        && halves.iter().zip(numbers).all(|(half, number)| half.load(Relaxed) == *number)
}

fn words(numbers: usize) -> usize {
    numbers.div_ceil(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::epoch::Grace;

    #[test]
    fn equal_pieces_are_one_until_their_last_user_goes() {
        let records = Records::zeroed(256).unwrap();
        let mut slab = Slab::new(records.words(), 0);
        let mut pieces = Pieces::default();
        let (one, is_new) = pieces.take(&[1, 2, 3], &records, &mut slab).unwrap();
        assert!(is_new);
        assert_eq!(pieces.take(&[1, 2, 3], &records, &mut slab), Ok((one, false)));
        let (other, _) = pieces.take(&[1, 2], &records, &mut slab).unwrap();
        assert!(other != one && pieces.len() == 2);
        assert_eq!(pieces.release(one, &records, &mut slab), None);
        assert_eq!(pieces.release(one, &records, &mut slab), Some(vec![1, 2, 3]));
        assert_eq!((pieces.len(), pieces.release(one, &records, &mut slab)), (1, None));
        // Its words come back after a grace period, and not before.
        let (again, _) = pieces.take(&[1, 2, 3], &records, &mut slab).unwrap();
        assert_ne!(again, one);
        slab.stamp(&Grace::without_readers());
        slab.reclaim_all(&Grace::without_readers());
        assert_eq!(pieces.take(&[7, 8, 9], &records, &mut slab), Ok((one, true)));
    }
}
