//! Token buckets: how often the router answers for itself.

/// Allows `per_second` events on average and as many at once after a quiet second. Time is a
/// parameter.
#[derive(Debug, Clone)]
pub(crate) struct TokenBucket {
    per_second: u64,
    /// Tokens times 10^9, so that nanoseconds times the rate add up exactly.
    level: u64,
    last_ns: u64,
}

const ONE: u64 = 1_000_000_000;

impl TokenBucket {
    /// A full bucket; `per_second` at most 10^6.
    pub(crate) fn new(per_second: u64) -> Self {
        let per_second = per_second.min(1_000_000);
        Self { per_second, level: per_second * ONE, last_ns: 0 }
    }

    /// Changes the rate; the bucket is full then.
    pub(crate) fn set_rate(&mut self, per_second: u64) {
        if per_second != self.per_second {
            *self = Self { last_ns: self.last_ns, ..Self::new(per_second) };
        }
    }

    /// Takes a token if there is one. Time that runs backwards counts as standing still.
    pub(crate) fn take(&mut self, now_ns: u64) -> bool {
        let elapsed = now_ns.saturating_sub(self.last_ns).min(ONE);
        self.last_ns = self.last_ns.max(now_ns);
        self.level = (self.level + elapsed * self.per_second).min(self.per_second * ONE);
        let has_token = self.level >= ONE;
        if has_token {
            self.level -= ONE;
        }
        has_token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allows_the_rate_and_one_burst() {
        let mut bucket = TokenBucket::new(100);
        let allowed = |bucket: &mut TokenBucket, from: u64, to: u64| {
            (from..to).step_by(1_000_000).filter(|&now| bucket.take(now)).count()
        };
        assert_eq!(allowed(&mut bucket, 0, 1), 1);
        assert_eq!((0..1000).filter(|_| bucket.take(1)).count(), 99);
        assert_eq!(allowed(&mut bucket, ONE, ONE * 2), 199);
        assert_eq!(allowed(&mut bucket, ONE * 2, ONE * 3), 100);
    }

    #[test]
    fn a_rate_of_zero_allows_nothing() {
        let mut bucket = TokenBucket::new(0);
        assert!(!bucket.take(u64::MAX));
        bucket.set_rate(1);
        assert!(bucket.take(u64::MAX) && !bucket.take(0));
    }
}
