//! E-divisive: the rival method, as Hunter and Otava use it (Matteson and James 2014; Fleming et
//! al. 2023): split where the energy distance of both sides is largest, keep the split when few
//! permutations have a larger one, go on in both halves.

/// Permutations of each test.
const PERMUTATIONS: usize = 199;

/// Indices at which a new level begins, by e-divisive at the given level of significance. O(n²) a
/// permutation of a stretch of n points.
pub fn changes(values: &[f64], alpha: f64, seed: u64) -> Vec<usize> {
    let logs: Vec<f64> = values.iter().map(|v| v.max(f64::MIN_POSITIVE).ln()).collect();
    let mut state = seed | 1;
    let mut found = Vec::new();
    let mut open = vec![(0, logs.len())];
    while let Some((start, end)) = open.pop() {
        let Some((at, size)) = best(&logs[start..end]) else { continue };
        let mut shuffled = logs[start..end].to_vec();
        let mut larger = 0;
        for _ in 0..PERMUTATIONS {
            shuffle(&mut shuffled, &mut state);
            larger += usize::from(best(&shuffled).is_some_and(|(_, other)| other >= size));
        }
        if (larger + 1) as f64 / (PERMUTATIONS + 1) as f64 <= alpha {
            found.push(start + at);
            open.push((start, start + at));
            open.push((start + at, end));
        }
    }
    found.sort_unstable();
    found
}

/// The split with the largest energy statistic. O(n²): the sums within and between are moved on
/// from one split to the next.
fn best(logs: &[f64]) -> Option<(usize, f64)> {
    const SHORTEST: usize = 2;
    let count = logs.len();
    if count < 2 * SHORTEST {
        return None;
    }
    let distance = |a: usize, b: usize| (logs[a] - logs[b]).abs();
    let to_others =
        |k: usize, from: usize, to: usize| (from..to).map(|o| distance(k, o)).sum::<f64>();
    let mut left = 0.0;
    let mut right: f64 = (0..count).map(|k| to_others(k, k + 1, count)).sum();
    let mut between = 0.0;
    let mut found: Option<(usize, f64)> = None;
    for at in 1..=count - SHORTEST {
        let moved = at - 1;
        let (to_left, to_right) = (to_others(moved, 0, moved), to_others(moved, at, count));
        left += to_left;
        right -= to_right;
        between += to_right - to_left;
        if at < SHORTEST {
            continue;
        }
        let (n, m) = (at as f64, (count - at) as f64);
        let energy =
            2.0 * between / (n * m) - 2.0 * left / (n * (n - 1.0)) - 2.0 * right / (m * (m - 1.0));
        let size = n * m / (n + m) * energy;
        if found.is_none_or(|(_, other)| size > other) {
            found = Some((at, size));
        }
    }
    found
}

/// Fisher and Yates with xorshift64*.
fn shuffle(values: &mut [f64], state: &mut u64) {
    for last in (1..values.len()).rev() {
        *state ^= *state >> 12;
        *state ^= *state << 25;
        *state ^= *state >> 27;
        let random = state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33;
        values.swap(last, (random % (last as u64 + 1)) as usize);
    }
}
