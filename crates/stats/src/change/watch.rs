//! Is today's result a change? A watch over a growing series whose false alarms are bounded at any
//! time.
//!
//! For each point at which a change could have begun a game is played against "nothing changed": the
//! rank of each later point among the points before is uniform then, whatever the noise looks like
//! (two states, heavy tails), so bets on extreme ranks win nothing on average. The capital of all
//! games together is an e-detector (Shin, Ramdas and Rinaldo 2024): as each game begins with 1, the
//! mean number of points before it passes `every` by chance is at least `every`.
//!
//! The price for assuming nothing: with fewer than some 25 points of history three new points cannot
//! be extreme enough.

/// Points in which at most one false alarm is asked for, by default.
pub const EVERY: f64 = 1_000.0;

/// Points of history that are looked at.
const HISTORY: usize = 60;
/// Points that a game lasts.
const LONGEST: usize = 30;
/// How sure the bets are.
const STAKE: f64 = 0.85;
/// The bands on which is bet: the share of the history that a point lies beyond, counted from the
/// outside.
const BANDS: [f64; 3] = [0.0, 0.05, 0.15];

/// What a watch says after the last point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alarm {
    /// The point after which the alarm was raised.
    pub raised: usize,
    /// The point at which the change most likely began.
    pub began: usize,
    /// True when the new points are above the old ones.
    pub is_up: bool,
    /// The capital at the alarm: 1 over it bounds the false alarms a point.
    pub evidence: f64,
}

/// The first alarm in `values`, or none: a false one comes at most once in `every` points on
/// average, whenever one stops. O(n · 60 · 30).
pub fn first_alarm(values: &[f64], every: f64) -> Option<Alarm> {
    (3..values.len()).find_map(|now| at(values, now, every))
}

/// All alarms; after each the history begins anew where the change began.
pub fn alarms(values: &[f64], every: f64) -> Vec<Alarm> {
    let mut found = Vec::new();
    let mut start = 0;
    while let Some(alarm) = first_alarm(&values[start..], every) {
        let began = start + alarm.began;
        found.push(Alarm { raised: start + alarm.raised, began, ..alarm });
        start = began;
    }
    found
}

/// Whether the games up to the point `now` are won.
fn at(values: &[f64], now: usize, every: f64) -> Option<Alarm> {
    let mut total = 0.0;
    let mut best = (0.0, 0, false);
    for began in (now + 1).saturating_sub(LONGEST).max(1)..=now {
        for is_up in [true, false] {
            let capital = game(values, began, now, is_up) / 2.0;
            total += capital;
            if capital > best.0 {
                best = (capital, began, is_up);
            }
        }
    }
    (total >= every).then_some(Alarm { raised: now, began: best.1, is_up: best.2, evidence: total })
}

/// Capital of the game that began at `began`, one way: the mean of those of the bands.
fn game(values: &[f64], began: usize, now: usize, is_up: bool) -> f64 {
    let sign = if is_up { 1.0 } else { -1.0 };
    let mut history: Vec<f64> =
        values[began.saturating_sub(HISTORY)..began].iter().map(|v| v * sign).collect();
    history.sort_by(f64::total_cmp);
    let count = history.len();
    let of_band = |share: f64| {
        let beyond = (share * count as f64) as usize;
        let Some(&edge) = history.get(count.wrapping_sub(beyond + 1)) else { return 0.0 };
        let mut inside = 0;
        let mut capital = 1.0;
        for (played, value) in values[began..=now].iter().enumerate() {
            // of the ranks that a further point may take among the points so far, those above the
            // edge: between the points beyond it, and past the last
            let chance = (inside + beyond + 1) as f64 / (count + played + 1) as f64;
            // a tie is taken against the bet: rounded values must not win by being equal
            if value * sign > edge {
                capital *= STAKE / chance;
                inside += 1;
            } else {
                capital *= (1.0 - STAKE) / (1.0 - chance);
            }
        }
        capital
    };
    BANDS.iter().map(|&share| of_band(share)).sum::<f64>() / BANDS.len() as f64
}

/// [`game`], for the test that it is fair.
#[cfg(test)]
pub fn game_for_tests(values: &[f64], began: usize, now: usize, is_up: bool) -> f64 {
    game(values, began, now, is_up)
}
