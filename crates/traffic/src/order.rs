//! In which order flows follow each other.

use std::fmt;
use std::str::FromStr;

use crate::error::TrafficError;

/// The order of flows in time.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Order {
    /// One after the other, the source fastest, and again.
    #[default]
    Sequential,
    /// A random permutation of all flows, and again.
    Random,
    /// Drawn with probability proportional to 1 / rank^exponent, over a random ranking.
    Zipf {
        /// The exponent, 0 to 4; 1.0 is the classic.
        exponent: f64,
    },
    /// Drawn so that a few flows carry a share of all frames, each of them as much as the others; the
    /// rest is spread evenly over the other flows.
    Elephants {
        /// How many, from 1; where there are no more flows, all are alike.
        flows: u32,
        /// Their share, above 0 and below 1.
        share: f64,
    },
}

impl Order {
    /// The numbers of a flow set's flows in this order, one whole turn before it repeats; the
    /// same seed gives the same order. For senders that are not part of this crate.
    pub fn turn(self, flows: u32, seed: u64) -> Vec<u32> {
        let mut cycle = Cycle::of_flows(self, flows, seed);
        (0..cycle.length).map(|_| cycle.next()).collect()
    }
}

impl FromStr for Order {
    type Err = TrafficError;

    /// Reads `sequential`, `random`, `zipf(EXPONENT)` or `elephants(FLOWS, SHARE%)`.
    fn from_str(text: &str) -> Result<Self, TrafficError> {
        let wrong = || TrafficError::Order { text: text.to_owned() };
        match text.trim() {
            "sequential" => Ok(Self::Sequential),
            "random" => Ok(Self::Random),
            other if other.starts_with("elephants") => elephants_of(other).ok_or_else(wrong),
            other => {
                let inner = other.strip_prefix("zipf(").and_then(|rest| rest.strip_suffix(')'));
                let exponent = inner.and_then(|number| number.trim().parse().ok());
                let valid = exponent.filter(|exponent| (0.0..=4.0).contains(exponent));
                valid.map(|exponent| Self::Zipf { exponent }).ok_or_else(wrong)
            }
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sequential => f.write_str("sequential"),
            Self::Random => f.write_str("random"),
            Self::Zipf { exponent } => write!(f, "zipf({exponent})"),
            Self::Elephants { flows, share } => {
                write!(f, "elephants({flows}, {}%)", (share * 1e11).round() / 1e9)
            }
        }
    }
}

/// Reads `elephants(FLOWS, SHARE%)`.
fn elephants_of(text: &str) -> Option<Order> {
    let inner = text.strip_prefix("elephants(")?.strip_suffix(')')?;
    let (flows, share) = inner.split_once(',')?;
    let flows: u32 = flows.trim().parse().ok().filter(|flows| *flows > 0)?;
    let percent: f64 = share.trim().strip_suffix('%')?.trim().parse().ok()?;
    let share = percent / 100.0;
    (share > 0.0 && share < 1.0).then_some(Order::Elephants { flows, share })
}

/// A sequence of numbers that repeats: flows, or frame sizes, or streams.
#[derive(Clone, Debug)]
pub(crate) struct Cycle {
    /// The numbers; empty means 0, 1, ..., `length` - 1.
    table: Vec<u32>,
    length: u32,
    next: u32,
}

/// Draws of a skewed order before it repeats, at least.
const SKEWED_DRAWS: u32 = 1 << 20;

impl Cycle {
    /// The flows in this order; the same seed gives the same order.
    pub(crate) fn of_flows(order: Order, flows: u32, seed: u64) -> Self {
        let table = match order {
            Order::Sequential => Vec::new(),
            Order::Random => permutation(flows, &mut SplitMix(seed)),
            Order::Zipf { exponent } => zipf(flows, exponent, &mut SplitMix(seed)),
            Order::Elephants { flows: few, share } => {
                elephants(flows, (few, share), &mut SplitMix(seed))
            }
        };
        let length = if table.is_empty() { flows } else { table.len() as u32 };
        Self { table, length, next: 0 }
    }

    /// Numbers 0, 1, ... each as often as its weight, evenly mixed.
    pub(crate) fn of_weights(weights: &[u32]) -> Self {
        let total: u32 = weights.iter().sum();
        let mut credit = vec![0_i64; weights.len()];
        let mut table = Vec::with_capacity(total as usize);
        // Smooth weighted round robin: each earns its weight, the richest pays for the turn.
        for _ in 0..total {
            for (credit, &weight) in credit.iter_mut().zip(weights) {
                *credit += i64::from(weight);
            }
            let richest = (0..credit.len()).rev().max_by_key(|&at| credit[at]).unwrap_or(0);
            credit[richest] -= i64::from(total);
            table.push(richest as u32);
        }
        Self { length: table.len() as u32, table, next: 0 }
    }

    #[inline(always)]
    pub(crate) fn next(&mut self) -> u32 {
        let at = self.next;
        self.next = if at + 1 == self.length { 0 } else { at + 1 };
        if self.table.is_empty() { at } else { self.table[at as usize] }
    }
}

impl Cycle {
    /// Takes as many numbers as follow each other one by one, at most so many: the first and their count,
    /// which is 0 where the order is another.
    #[inline(always)]
    pub(crate) fn run(&mut self, most: usize) -> (usize, usize) {
        if !self.table.is_empty() {
            return (0, 0);
        }
        let first = self.next as usize;
        let count = most.min((self.length as usize).saturating_sub(first));
        let next = first + count;
        self.next = if next == self.length as usize { 0 } else { next as u32 };
        (first, count)
    }
}

/// Fisher and Yates.
fn permutation(count: u32, random: &mut SplitMix) -> Vec<u32> {
    let mut table: Vec<u32> = (0..count).collect();
    for last in (1..count).rev() {
        table.swap(last as usize, random.below(last + 1) as usize);
    }
    table
}

fn zipf(flows: u32, exponent: f64, random: &mut SplitMix) -> Vec<u32> {
    let mut sum = 0.0;
    let cumulated: Vec<f64> = (1..=flows)
        .map(|rank| {
            sum += f64::from(rank).powf(-exponent);
            sum
        })
        .collect();
    let flow_of_rank = permutation(flows, random);
    let draws = SKEWED_DRAWS.max(flows.saturating_mul(2));
    (0..draws)
        .map(|_| {
            let at = random.unit() * sum;
            let rank = cumulated.partition_point(|&upto| upto <= at);
            flow_of_rank[rank.min(flows as usize - 1)]
        })
        .collect()
}

fn elephants(flows: u32, (few, share): (u32, f64), random: &mut SplitMix) -> Vec<u32> {
    if few >= flows {
        return permutation(flows, random);
    }
    let flow_of_rank = permutation(flows, random);
    let draws = SKEWED_DRAWS.max(flows.saturating_mul(2));
    (0..draws)
        .map(|_| {
            let rank = match random.unit() < share {
                true => random.below(few),
                false => few + random.below(flows - few),
            };
            flow_of_rank[rank as usize]
        })
        .collect()
}

/// SplitMix64 (Steele, Lea and Flood 2014): small, seeded, the same on every machine.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform below `limit`, by the upper half of a product; the bias is below 2^-32.
    fn below(&mut self, limit: u32) -> u32 {
        (((self.next() >> 32) * u64::from(limit)) >> 32) as u32
    }

    /// Uniform in [0, 1).
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often each flow is drawn in a turn, the most frequent first, and how many draws there are.
    fn counts(order: Order, flows: u32) -> (Vec<u64>, f64) {
        let turn = order.turn(flows, 7);
        let mut counts = vec![0_u64; flows as usize];
        for flow in &turn {
            counts[*flow as usize] += 1;
        }
        counts.sort_unstable_by(|a, b| b.cmp(a));
        (counts, turn.len() as f64)
    }

    /// Six standard deviations of a count with this expectation.
    fn far(expected: f64) -> f64 {
        6.0 * expected.sqrt() + 1.0
    }

    #[test]
    fn a_zipf_order_draws_each_rank_as_often_as_its_power_says() {
        for exponent in [0.0, 0.8, 1.1, 2.0] {
            let (counts, draws) = counts(Order::Zipf { exponent }, 500);
            let sum: f64 = (1..=500).map(|rank| f64::from(rank).powf(-exponent)).sum();
            let expected = |rank: u32| draws * f64::from(rank).powf(-exponent) / sum;
            // The frequent ones cannot change places by chance; without skew all are alike.
            for rank in 1..=if exponent > 0.0 { 5 } else { 500 } {
                let (found, wanted) = (counts[rank as usize - 1] as f64, expected(rank));
                assert!(
                    (found - wanted).abs() < far(wanted),
                    "{exponent} {rank}: {found} {wanted}"
                );
            }
            // The rest together.
            let (tail, wanted) =
                (counts[5..].iter().sum::<u64>() as f64, (6..=500).map(expected).sum::<f64>());
            assert!((tail - wanted).abs() < far(wanted), "{exponent}: {tail} {wanted}");
        }
    }

    #[test]
    fn elephants_carry_their_share_evenly_and_the_others_the_rest() {
        let (few, share) = (4, 0.8);
        let (counts, draws) = counts(Order::Elephants { flows: few, share }, 200);
        for (rank, &found) in counts.iter().enumerate() {
            let wanted = match rank < few as usize {
                true => draws * share / f64::from(few),
                false => draws * (1.0 - share) / 196.0,
            };
            assert!((found as f64 - wanted).abs() < far(wanted), "{rank}: {found} {wanted}");
        }
        // Which they are is drawn; the same seed draws the same.
        let order = Order::Elephants { flows: 1, share: 0.9 };
        let most = |seed| {
            let turn = order.turn(100, seed);
            let count = |flow: u32| turn.iter().filter(|own| **own == flow).count();
            (0..100).max_by_key(|flow| count(*flow))
        };
        assert_eq!(most(1), most(1));
        assert!((2..20).any(|seed| most(seed) != most(1)));
        // Nobody is left beside them: all flows in turn.
        let (all, draws) = self::counts(Order::Elephants { flows: 9, share }, 5);
        assert_eq!((all, draws), (vec![1; 5], 5.0));
    }

    #[test]
    fn orders_are_read_as_they_are_written() {
        for text in ["sequential", "random", "zipf(1.1)", "elephants(4, 80%)"] {
            assert_eq!(text.parse::<Order>().unwrap().to_string(), text);
        }
        assert_eq!("elephants(1,5%)".parse(), Ok(Order::Elephants { flows: 1, share: 0.05 }));
        for wrong in [
            "elephants",
            "elephants()",
            "elephants(4)",
            "elephants(0, 5%)",
            "elephants(4, 0%)",
            "elephants(4, 100%)",
            "elephants(4, 0.8)",
            "elephants(-1, 5%)",
            "elephants(4, NaN%)",
        ] {
            assert!(wrong.parse::<Order>().is_err(), "{wrong}");
        }
    }
}
