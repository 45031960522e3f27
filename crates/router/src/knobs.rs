//! Settings that the control side may change while workers run: a relaxed load each per poll.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A number that one side sets and others read.
#[derive(Debug)]
pub(crate) struct Knob(AtomicU64);

impl Knob {
    fn new(value: f64) -> Self {
        Self(AtomicU64::new(value.to_bits()))
    }

    #[inline]
    pub(crate) fn value(&self) -> f64 {
        f64::from_bits(self.0.load(Relaxed))
    }

    pub(crate) fn set(&self, value: f64) {
        self.0.store(value.to_bits(), Relaxed);
    }
}

/// The settings; [`crate::Router::control_words`] documents them.
#[derive(Debug)]
pub(crate) struct Knobs {
    pub(crate) extra_ns_per_frame: Knob,
    pub(crate) has_fast_path: Knob,
    pub(crate) has_batches: Knob,
    pub(crate) has_route_cache: Knob,
    pub(crate) has_host: Knob,
    pub(crate) has_redirects: Knob,
    pub(crate) has_redirects6: Knob,
    pub(crate) slow_path_pps: Knob,
    pub(crate) icmp_pps: Knob,
    pub(crate) icmp6_pps: Knob,
}

impl Default for Knobs {
    fn default() -> Self {
        Self {
            extra_ns_per_frame: Knob::new(0.0),
            has_fast_path: Knob::new(1.0),
            has_batches: Knob::new(1.0),
            has_route_cache: Knob::new(1.0),
            has_host: Knob::new(0.0),
            has_redirects: Knob::new(0.0),
            has_redirects6: Knob::new(0.0),
            slow_path_pps: Knob::new(10_000.0),
            icmp_pps: Knob::new(200.0),
            icmp6_pps: Knob::new(100.0),
        }
    }
}

/// The control word by which each worker burns so many extra nanoseconds per frame: a slowdown of
/// known size for calibration.
pub const EXTRA_NS_PER_FRAME: &str = "fwdlab.device.extra_ns_per_frame";

/// A control word with a number as its value.
pub(crate) struct Word {
    pub(crate) name: &'static str,
    /// What it takes, for messages.
    pub(crate) wanted: &'static str,
    most: f64,
    is_whole: bool,
    knob: fn(&Knobs) -> &Knob,
}

impl Word {
    /// The value of a text, if the word takes it.
    pub(crate) fn parse(&self, text: &str) -> Option<f64> {
        let value: f64 = text.parse().ok()?;
        let fits = (0.0..=self.most).contains(&value) && (!self.is_whole || value.fract() == 0.0);
        fits.then_some(value)
    }

    pub(crate) fn of<'a>(&self, knobs: &'a Knobs) -> &'a Knob {
        (self.knob)(knobs)
    }
}

/// All words of this kind.
pub(crate) const WORDS: &[Word] = &[
    Word {
        name: EXTRA_NS_PER_FRAME,
        wanted: "nanoseconds from 0 to 1000000, fractions allowed",
        most: 1e6,
        is_whole: false,
        knob: |knobs| &knobs.extra_ns_per_frame,
    },
    Word {
        name: "fwdlab.device.fast_path",
        wanted: "0 or 1",
        most: 1.0,
        is_whole: true,
        knob: |knobs| &knobs.has_fast_path,
    },
    Word {
        name: "fwdlab.device.batch_lookups",
        wanted: "0 or 1",
        most: 1.0,
        is_whole: true,
        knob: |knobs| &knobs.has_batches,
    },
    Word {
        name: "fwdlab.device.route_cache",
        wanted: "0 or 1",
        most: 1.0,
        is_whole: true,
        knob: |knobs| &knobs.has_route_cache,
    },
    Word {
        name: "fwdlab.device.host",
        wanted: "0 or 1",
        most: 1.0,
        is_whole: true,
        knob: |knobs| &knobs.has_host,
    },
    Word {
        name: "fwdlab.device.slow_path_pps",
        wanted: "whole packets per second from 0 to 1000000",
        most: 1e6,
        is_whole: true,
        knob: |knobs| &knobs.slow_path_pps,
    },
    Word {
        name: "net.inet.ip.redirect",
        wanted: "0 or 1",
        most: 1.0,
        is_whole: true,
        knob: |knobs| &knobs.has_redirects,
    },
    Word {
        name: "net.inet6.ip6.redirect",
        wanted: "0 or 1",
        most: 1.0,
        is_whole: true,
        knob: |knobs| &knobs.has_redirects6,
    },
    Word {
        name: "net.inet.icmp.icmplim",
        wanted: "whole messages per second from 0 to 1000000",
        most: 1e6,
        is_whole: true,
        knob: |knobs| &knobs.icmp_pps,
    },
    Word {
        name: "net.inet6.icmp6.errppslimit",
        wanted: "whole messages per second from 0 to 1000000",
        most: 1e6,
        is_whole: true,
        knob: |knobs| &knobs.icmp6_pps,
    },
];
