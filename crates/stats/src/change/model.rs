//! Levels with noise of which each point keeps a share to the next: how likely a series is.

use super::Settings;
use super::partition::{Sums, settle};

/// What the prior noise weighs, in degrees of freedom.
pub const PRIOR_DF: f64 = 4.0;
/// The shares that are tried.
const SHARES: [f64; 8] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7];
/// What a step has to bring to be part of the model, in logarithms of the number of points: its level and its place.
const OF_STEP: f64 = 3.0;
/// What a share costs, times its square: in seven long series of the archive shares are -0.1 to 0.4. Where any share is
/// as likely as none, a step is what wanders.
const OF_SHARE: f64 = 80.0;

/// A series, ready to be asked how well levels explain it.
pub struct Model {
    count: usize,
    /// Deviations from the mean of the series.
    off: Vec<f64>,
    /// For each share, sums of what is new in each point.
    news: Vec<News>,
    prior: f64,
    least: f64,
}

/// What is new in each point when it keeps a share of the one before it, as sums and sums of squares.
struct News {
    share: f64,
    sum: Vec<f64>,
    square: Vec<f64>,
}

/// How well levels explain a series.
#[derive(Clone, Copy, Debug)]
pub struct Fit {
    /// Twice the logarithm of the likelihood, negative, without constants, and what the share costs: less is better.
    deviance: f64,
    /// The share that fits best.
    share: f64,
    /// The variance of what is new in each point.
    variance: f64,
    /// Points, those of the prior with them.
    count: f64,
    /// Whether the variance is what the runs of a point say, and more than what the points do.
    is_least: bool,
}

impl Fit {
    /// The variance of the mean of many points, times their number.
    pub fn of_means(&self) -> f64 {
        self.variance / ((1.0 - self.share) * (1.0 - self.share))
    }

    /// Student's t of what this fit has and `other` has not.
    pub fn t_over(&self, other: &Self, df: f64) -> f64 {
        let gain = (other.deviance - self.deviance).max(0.0);
        let square = if self.is_least { gain } else { df * (gain / self.count).exp_m1() };
        square.sqrt()
    }
}

impl Model {
    pub fn new(logs: &[f64], floor: f64, settings: &Settings) -> Self {
        let centre = logs.iter().sum::<f64>() / logs.len().max(1) as f64;
        let off: Vec<f64> = logs.iter().map(|log| log - centre).collect();
        let news = SHARES.map(|share| {
            let (mut sum, mut square) = (vec![0.0, 0.0], vec![0.0, 0.0]);
            let (mut s, mut q) = (0.0, 0.0);
            for pair in off.windows(2) {
                let own = pair[1] - share * pair[0];
                s += own;
                q += own * own;
                sum.push(s);
                square.push(q);
            }
            News { share, sum, square }
        });
        let prior = settings.prior_noise * settings.prior_noise;
        let least = (floor * floor).max(1e-12);
        Self { count: off.len(), off, news: news.into(), prior, least }
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// The best fit with these steps, over all shares.
    pub fn fit(&self, sums: &Sums, steps: &[usize]) -> Fit {
        let mut levels = Vec::with_capacity(steps.len() + 1);
        let mut start = 0;
        for end in steps.iter().copied().chain([self.count]) {
            levels.push((start, end, sums.mean(start, end)));
            start = end;
        }
        let mut best: Option<Fit> = None;
        for news in &self.news {
            let own = self.with_share(news, &levels);
            if best.is_none_or(|best| own.deviance < best.deviance) {
                best = Some(own);
            }
        }
        best.unwrap_or(Fit {
            deviance: 0.0,
            share: 0.0,
            variance: self.prior,
            count: 1.0,
            is_least: false,
        })
    }

    fn with_share(&self, news: &News, levels: &[(usize, usize, f64)]) -> Fit {
        let rest = 1.0 - news.share * news.share;
        let mut squares = 0.0;
        let mut before: Option<f64> = None;
        for &(start, end, level) in levels {
            let first = self.off[start] - level;
            squares += match before {
                None => rest * first * first,
                Some(before) => (first - news.share * before).powi(2),
            };
            let inner = (end - start - 1) as f64;
            let centre = (1.0 - news.share) * level;
            let sum = news.sum[end] - news.sum[start + 1];
            let square = news.square[end] - news.square[start + 1];
            squares += (square - 2.0 * centre * sum + inner * centre * centre).max(0.0);
            before = Some(self.off[end - 1] - level);
        }
        let count = self.count as f64 + PRIOR_DF;
        let all = squares + PRIOR_DF * self.prior;
        let variance = (all / count).max(self.least);
        let deviance =
            count * variance.ln() + all / variance - rest.ln() + OF_SHARE * news.share * news.share;
        Fit { deviance, share: news.share, variance, count, is_least: variance > all / count }
    }

    /// Of the candidates those that are part of the likeliest model: the weakest goes first, and of all that are left on
    /// the way the model wins that needs few steps (Schwarz's criterion).
    pub fn likeliest(&self, sums: &Sums, mut steps: Vec<usize>) -> Vec<usize> {
        let of_step = OF_STEP * (self.count as f64).ln().max(1.0);
        let worth = |steps: &[usize]| self.fit(sums, steps).deviance + of_step * steps.len() as f64;
        let mut best = (worth(&steps), steps.clone());
        while !steps.is_empty() {
            let without = |k: usize| {
                let mut fewer = steps.clone();
                fewer.remove(k);
                (self.fit(sums, &fewer).deviance, fewer)
            };
            let next = (0..steps.len()).map(without).min_by(|a, b| a.0.total_cmp(&b.0));
            let Some((_, mut fewer)) = next else { break };
            settle(sums, &mut fewer, self.count);
            let own = worth(&fewer);
            if own < best.0 {
                best = (own, fewer.clone());
            }
            steps = fewer;
        }
        best.1
    }
}
