//! The best partition of a series into levels.

use super::filter::noise;

/// Longest series that is partitioned at once; longer ones are cut into overlapping pieces of it.
const PIECE: usize = 2_000;
/// Fewer points than these do not show how large their noise is.
const SHORT: usize = 6;

/// Sums from which the squared error of any stretch follows in O(1).
pub struct Sums {
    sum: Vec<f64>,
    square: Vec<f64>,
}

impl Sums {
    /// Of a series.
    pub fn new(logs: &[f64]) -> Self {
        // around the mean: squares of large logarithms would swallow small differences
        let centre = logs.iter().sum::<f64>() / logs.len().max(1) as f64;
        let (mut sum, mut square) = (vec![0.0], vec![0.0]);
        let (mut s, mut q) = (0.0, 0.0);
        for value in logs {
            s += value - centre;
            q += (value - centre) * (value - centre);
            sum.push(s);
            square.push(q);
        }
        Self { sum, square }
    }

    /// Squared error of the stretch `from..to` around its mean.
    pub fn error(&self, from: usize, to: usize) -> f64 {
        let count = to.saturating_sub(from).max(1) as f64;
        let sum = self.sum[to] - self.sum[from];
        (self.square[to] - self.square[from] - sum * sum / count).max(0.0)
    }

    /// Mean of the stretch, less that of the series.
    pub fn mean(&self, from: usize, to: usize) -> f64 {
        (self.sum[to] - self.sum[from]) / to.saturating_sub(from).max(1) as f64
    }
}

/// Moves each candidate to the best place between its neighbours.
pub fn settle(sums: &Sums, candidates: &mut [usize], count: usize) {
    for k in 0..candidates.len() {
        let start = if k == 0 { 0 } else { candidates[k - 1] };
        let end = candidates.get(k + 1).copied().unwrap_or(count);
        let split = |at: usize| sums.error(start, at) + sums.error(at, end);
        let best = (start + 1..end).min_by(|&a, &b| split(a).total_cmp(&split(b)));
        if let Some(best) = best.filter(|&best| split(best) < split(candidates[k])) {
            candidates[k] = best;
        }
    }
}

/// Indices at which a new level begins, in order. O(n²) within [`PIECE`] points.
pub fn levels(clean: &[f64], floor: f64) -> Vec<usize> {
    // the steps of a short series may all be changes
    let spread = if clean.len() < SHORT { floor } else { noise(clean).max(floor) };
    if clean.len() <= PIECE {
        return piece(clean, spread);
    }
    let mut found = Vec::new();
    let mut start = 0;
    while start < clean.len() {
        let end = (start + PIECE).min(clean.len());
        let own = piece(&clean[start..end], spread);
        found.extend(own.into_iter().map(|at| at + start));
        if end == clean.len() {
            break;
        }
        start = end - PIECE / 4;
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn piece(clean: &[f64], spread: f64) -> Vec<usize> {
    let count = clean.len();
    let shortest = if count < SHORT { 1 } else { 2 };
    let sums = Sums::new(clean);
    // few too many rather than one too few: `confirm` withdraws what does not hold
    let penalty = 3.0 * (count as f64).ln().max(1.0) * (spread * spread).max(1e-12);
    let mut best = vec![f64::INFINITY; count + 1];
    let mut from = vec![0usize; count + 1];
    best[0] = -penalty;
    for end in shortest..=count {
        for start in 0..=end - shortest {
            let total = best[start] + sums.error(start, end) + penalty;
            if total < best[end] {
                best[end] = total;
                from[end] = start;
            }
        }
    }
    let mut found = Vec::new();
    let mut end = count;
    while end > 0 {
        end = from[end];
        if end > 0 {
            found.push(end);
        }
    }
    found.reverse();
    found
}
