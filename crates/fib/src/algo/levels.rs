//! A B+-tree without pointers: the keys of each level follow each other, and a child's place is computed.

/// The levels of a linearised tree of nodes of `KEYS` children over sorted keys, the root first and at
/// least so many. Unused keys are the highest number.
pub(super) fn of_keys<N, const KEYS: usize>(
    keys: &[u64],
    (node, first): (impl Fn([u64; KEYS]) -> N, impl Fn(&N) -> u64),
    least: usize,
) -> Vec<Vec<N>> {
    let row = |keys: &[u64]| -> Vec<N> {
        let node_of =
            |keys: &[u64]| node(std::array::from_fn(|i| keys.get(i).copied().unwrap_or(u64::MAX)));
        keys.chunks(KEYS).map(node_of).collect()
    };
    let mut levels = vec![row(keys)];
    while let Some(level) = levels.last().filter(|level| level.len() > 1 || levels.len() < least) {
        let firsts: Vec<u64> = level.iter().map(&first).collect();
        levels.push(row(&firsts));
    }
    levels.reverse();
    levels
}
