//! Routes that changed under traffic: when frames came by the new path, and which were lost (RFC 6413,
//! RFC 7747).

use serde::{Deserialize, Serialize};

use crate::interval::median;

/// Changes of the routes to many prefixes at once, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Convergence {
    /// The load, in frames/s.
    pub load_pps: f64,
    /// Each change of all routes.
    pub events: Vec<RouteEvent>,
    /// Share of the time of these changes in which the device's thread had its processor, 0 to 1, where it
    /// never sleeps; or that in which those that change routes and sync tables did not wait for theirs, where it is
    /// smaller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_share: Option<f64>,
}

/// One change of the routes to all prefixes. Times are since the device was given the first of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteEvent {
    /// Until the device had taken all changes, in ns.
    pub given_ns: u64,
    /// How long was waited for frames by the new path, in ns.
    pub waited_ns: u64,
    /// Frames that came when nobody waited for them any more, because none had come for so long: they are not
    /// lost, but what stood still was the device as a whole, or its processor was not there.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub late: u64,
    /// Each prefix, in order of its addresses.
    pub prefixes: Vec<PrefixEvent>,
}

/// What came of the frames to one prefix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrefixEvent {
    /// First frame by the new path, in ns; absent when there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_ns: Option<u64>,
    /// Last frame by the old path, in ns; absent when none came after the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_ns: Option<u64>,
    /// Frames that were sent and came by neither.
    pub lost: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl RouteEvent {
    /// For frames by the new path nobody waits longer, in ns; what is missing then counts as that.
    pub const LONGEST_NS: u64 = 5_000_000_000;

    /// A path is left when no frame came by it for so long, in ns.
    pub const QUIET_NS: u64 = 5_000_000;

    /// Frames of this change that came later than anybody waited, by prefix: late, and not lost.
    pub fn add_late(&mut self, late: &[u64]) {
        for (prefix, late) in self.prefixes.iter_mut().zip(late) {
            let own = prefix.lost.min(*late);
            prefix.lost -= own;
            self.late += own;
        }
    }

    /// Until the last prefix had frames by the new path, and none by the old one, in ns: the full convergence
    /// time of RFC 6413. Where one had none by the new path, as long as frames are waited for.
    pub fn full_ns(&self) -> u64 {
        let of =
            |own: &PrefixEvent| own.new_ns.unwrap_or(Self::LONGEST_NS).max(own.old_ns.unwrap_or(0));
        self.prefixes.iter().map(of).max().unwrap_or(0)
    }

    /// Whether all prefixes took the new path, and left the old one, before nobody looked any longer.
    pub fn has_ended(&self) -> bool {
        self.unconverged() == 0 && self.full_ns() + Self::QUIET_NS <= Self::LONGEST_NS
    }

    /// Prefixes of which no frame came by the new path.
    pub fn unconverged(&self) -> usize {
        self.prefixes.iter().filter(|own| own.new_ns.is_none()).count()
    }

    /// Frames lost, of all prefixes.
    pub fn lost(&self) -> u64 {
        self.prefixes.iter().map(|own| own.lost).sum()
    }
}

impl Convergence {
    /// Median of a figure over the events.
    pub fn middle(&self, figure: impl Fn(&RouteEvent) -> f64) -> Option<f64> {
        median(&self.events.iter().map(figure).collect::<Vec<_>>())
    }

    /// The full convergence time in s: the median of the events. Of an event that never ended the time is not known,
    /// only that it is longer than any that did: where one is in the middle, the figure is as long as frames were
    /// waited for, the least that it can be.
    pub fn full_s(&self) -> Option<f64> {
        let middle = self.middle(|event| event.full_ns().max(1) as f64 / 1e9)?;
        let is_bound = 2 * self.unended() >= self.events.len();
        Some(if is_bound { RouteEvent::LONGEST_NS as f64 / 1e9 } else { middle })
    }

    /// Events that had not ended when nobody looked any longer.
    fn unended(&self) -> usize {
        self.events.iter().filter(|event| !event.has_ended()).count()
    }

    /// What is to be known of a figure some of whose changes never ended.
    pub(crate) fn warning(&self) -> Option<String> {
        let (unended, all) = (self.unended(), self.events.len());
        let left = self.events.iter().map(RouteEvent::unconverged).max()?;
        let bound = if 2 * unended >= all {
            "the convergence time is at least that"
        } else {
            "its figure is that of the others"
        };
        (unended > 0).then(|| {
            format!(
                "in {unended} of {all} changes not all prefixes took the new path, and left the old one, within {:.0} s, \
                 when nobody looked any longer ({left} at most never took it): {bound}; look at the rules, and at the \
                 sync policy (net.route.algo)",
                RouteEvent::LONGEST_NS as f64 / 1e9
            )
        })
    }

    /// A time, in ns, which so many of the prefixes of an event had at most: the median of the events, so that
    /// it is never above the full convergence time; `share` is 0 to 1.
    pub fn quantile_ns(
        &self,
        time: impl Fn(&PrefixEvent) -> Option<u64>,
        share: f64,
    ) -> Option<u64> {
        let of_one = |event: &RouteEvent| {
            let mut times: Vec<u64> = event.prefixes.iter().filter_map(&time).collect();
            times.sort_unstable();
            let at = (share * times.len() as f64).ceil() as usize;
            times.get(at.saturating_sub(1)).map(|ns| *ns as f64)
        };
        let each: Vec<f64> = self.events.iter().filter_map(of_one).collect();
        median(&each).map(|ns| ns as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_convergence_is_that_of_the_last_prefix() {
        let prefix = |new_ns, lost| PrefixEvent { new_ns, old_ns: None, lost };
        let event = |list: &[Option<u64>]| RouteEvent {
            given_ns: 5,
            late: 0,
            waited_ns: 900,
            prefixes: list.iter().map(|new| prefix(*new, 2)).collect(),
        };
        let own = Convergence {
            load_pps: 1e6,
            events: vec![
                event(&[Some(10), Some(40)]),
                event(&[Some(20), None]),
                event(&[Some(30), Some(50)]),
            ],
            device_share: None,
        };
        assert_eq!(
            own.events[1].full_ns(),
            RouteEvent::LONGEST_NS,
            "a prefix that never came counts as long as is waited for frames"
        );
        assert_eq!((own.events[1].unconverged(), own.events[0].lost()), (1, 4));
        assert_eq!(own.full_s(), Some(50e-9));
        assert_eq!(own.quantile_ns(|own| own.new_ns, 0.5), Some(20));
        assert_eq!(own.quantile_ns(|own| own.new_ns, 1.0), Some(40));
        assert_eq!(own.quantile_ns(|own| own.old_ns, 0.5), None);
        assert_eq!(Convergence::default().full_s(), None);
    }

    /// A change that never came was given up after 5 s, and the one back over after 5 ms: no prefix had moved. Their
    /// median, 2.5 s, was the figure, without a warning.
    #[test]
    fn changes_that_never_ended_make_the_figure_the_least_that_it_can_be_and_say_so() {
        let prefix = |new_ns| PrefixEvent { new_ns, ..PrefixEvent::default() };
        let event = |new_ns, waited_ns| RouteEvent {
            prefixes: vec![prefix(Some(10)), prefix(new_ns)],
            waited_ns,
            ..RouteEvent::default()
        };
        let of = |events: Vec<RouteEvent>| {
            let own = Convergence { events, ..Convergence::default() };
            (own.full_s(), own.warning())
        };
        let (late, never) = (Some(1_000_000), None);
        let (figure, said) = of(vec![event(never, 5_100_000_000), event(never, 5_200_000)]);
        assert_eq!(figure, Some(5.0));
        assert!(said.unwrap().starts_with("in 2 of 2 changes not all prefixes"));
        // Rules that let one prefix through by one of the paths only.
        let (figure, said) = of(vec![event(never, 5_100_000_000), event(late, 6_000_000)]);
        assert_eq!(figure, Some(5.0));
        let said = said.unwrap();
        assert!(said.contains("within 5 s") && said.contains("is at least that"), "{said}");
        let (figure, said) = of(vec![event(never, 5_100_000_000), event(late, 0), event(late, 0)]);
        assert_eq!(figure, Some(1e-3));
        assert!(said.unwrap().contains("in 1 of 3 changes"));
        assert_eq!(of(vec![event(late, 0), event(late, 0)]), (Some(1e-3), None));
        // Frames that go on by the old path to the end.
        let mut both = event(late, 5_100_000_000);
        both.prefixes[0].old_ns = Some(4_999_000_000);
        let (figure, said) = of(vec![both]);
        assert_eq!((figure, said.is_some()), (Some(5.0), true));
    }

    /// 99 % of the prefixes were once said to have the new path 12 ms after all had it: of one slow event.
    #[test]
    fn a_share_of_the_prefixes_is_never_later_than_all_of_them() {
        let prefix = |new_ns| PrefixEvent { new_ns: Some(new_ns), old_ns: None, lost: 0 };
        let event = |list: &[u64]| RouteEvent {
            prefixes: list.iter().map(|new| prefix(*new)).collect(),
            ..RouteEvent::default()
        };
        let events = vec![event(&[10, 20]), event(&[11, 21]), event(&[500, 900])];
        let own = Convergence { events, ..Convergence::default() };
        let all = own.full_s().map(|all| (all * 1e9) as u64);
        assert!(own.quantile_ns(|one| one.new_ns, 0.99) <= all, "{all:?}");
        assert_eq!(own.quantile_ns(|one| one.new_ns, 0.99), Some(21));
    }

    /// A device that goes back to the old path has not converged when the first frame came by the new one.
    #[test]
    fn frames_by_the_old_path_put_the_convergence_off() {
        let prefix = |new_ns, old_ns| PrefixEvent { new_ns: Some(new_ns), old_ns, lost: 0 };
        let of = |old_ns| {
            let prefixes = vec![prefix(10, old_ns), prefix(30, Some(5))];
            RouteEvent { prefixes, waited_ns: 900, ..RouteEvent::default() }.full_ns()
        };
        assert_eq!((of(None), of(Some(20)), of(Some(400))), (30, 30, 400));
    }

    #[test]
    fn frames_that_come_late_are_not_lost() {
        let prefix = |lost| PrefixEvent { lost, ..PrefixEvent::default() };
        let prefixes = vec![prefix(3), prefix(0), prefix(5)];
        let mut event = RouteEvent { prefixes, ..RouteEvent::default() };
        event.add_late(&[3, 1, 2]);
        assert_eq!((event.lost(), event.late), (3, 5), "the fourth of the second was never missed");
    }
}
