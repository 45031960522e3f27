//! Stray points out of the way: one or two bad days in a row.

use crate::dataset::median;

/// Points on either side of the window.
const HALF: usize = 2;
/// Fewest points of a series that is filtered.
pub const FEWEST: usize = 5;
/// How many standard deviations from its neighbours' median make a point stray.
const FAR: f64 = 3.0;

/// The series with stray points replaced by the median of the five points around them, as Hampel's
/// filter does. A step of three points or more stays where it is.
pub fn without_strays(logs: &[f64], floor: f64) -> Vec<f64> {
    if logs.len() < FEWEST {
        return logs.to_vec();
    }
    let reach = FAR * noise(logs).max(floor).max(f64::EPSILON);
    (0..logs.len())
        .map(|i| {
            let start = i.saturating_sub(HALF).min(logs.len() - FEWEST);
            let middle = median(&logs[start..start + FEWEST]);
            if (logs[i] - middle).abs() > reach { middle } else { logs[i] }
        })
        .collect()
}

/// The same but for the first and the last points, one or two: in a short series nothing tells whether they are bad days
/// or a level of their own.
pub fn without_strays_between(logs: &[f64], floor: f64) -> Vec<f64> {
    let mut clean = without_strays(logs, floor);
    let ways: [&mut dyn Iterator<Item = usize>; 2] =
        [&mut (0..logs.len()), &mut (0..logs.len()).rev()];
    for way in ways {
        for at in way.take(HALF) {
            if clean[at] == logs[at] {
                break;
            }
            clean[at] = logs[at];
        }
    }
    clean
}

/// Noise from point to point: from the median size of the steps, which a few changes of level do
/// not move.
pub fn noise(logs: &[f64]) -> f64 {
    /// Median of |z| of a standard normal.
    const MEDIAN_ABSOLUTE: f64 = 0.674_489_750_196_081_7;
    let steps: Vec<f64> = logs.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    if steps.is_empty() {
        return 0.0;
    }
    median(&steps) / MEDIAN_ABSOLUTE / std::f64::consts::SQRT_2
}
