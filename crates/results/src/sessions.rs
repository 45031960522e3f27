//! Sessions that a device tracks: what its table did, round by round.

use serde::{Deserialize, Serialize};

use crate::interval::median;

/// Sessions sent in rounds, each of which begins with an empty table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sessions {
    /// Sessions of a round.
    pub sessions: u64,
    /// Frames of a session, of both ways together.
    pub lifetime: u32,
    /// Entries for which the device's table has room.
    pub room: u64,
    /// What was counted, after the warm-up.
    pub rounds: Vec<SessionRound>,
}

/// One round: the table is emptied, what comes before the counted part is sent, then that part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionRound {
    /// Entries of the table after it had been emptied.
    pub emptied: u64,
    /// Entries when the counted part began.
    pub before: u64,
    /// Entries when it ended.
    pub after: u64,
    /// Frames sent in the counted part.
    pub sent: u64,
    /// Frames of them that came back.
    pub received: u64,
    /// How long the counted part took, in ns.
    pub ns: u64,
    /// How long the device worked on it, in ns.
    pub busy_ns: u64,
    /// Sessions for which the table had no room, of the whole round.
    #[serde(default)]
    pub refused: u64,
    /// Entries thrown out for new sessions, of the whole round.
    #[serde(default)]
    pub evicted: u64,
    /// Whether the device's processor was slow meanwhile.
    #[serde(default)]
    pub is_slow: bool,
}

impl Sessions {
    /// With fewer rounds than this at full speed, all count.
    const FEWEST: usize = 3;

    /// Busy nanoseconds of the device for each frame of the counted part: the median of the rounds.
    pub fn cost_ns(&self) -> Option<f64> {
        let cost = |round: &SessionRound| {
            (round.sent > 0 && round.busy_ns > 0).then(|| round.busy_ns as f64 / round.sent as f64)
        };
        self.middle(cost)
    }

    /// Frames of the counted part that came back, a second: the median of the rounds. None at all counts as
    /// one a second, however long it took to refuse them: a ratio has to be of something.
    pub fn forwarded_per_s(&self) -> Option<f64> {
        let rate = |round: &SessionRound| {
            let rate = round.received as f64 * 1e9 / round.ns as f64;
            (round.ns > 0).then_some(rate.max(1.0))
        };
        self.middle(rate)
    }

    /// The median of a figure over the rounds in which the processor was not slow.
    pub fn middle(&self, figure: impl Fn(&SessionRound) -> Option<f64>) -> Option<f64> {
        let of = |rounds: &mut dyn Iterator<Item = &SessionRound>| -> Vec<f64> {
            rounds.filter_map(&figure).collect()
        };
        let fast = of(&mut self.rounds.iter().filter(|round| !round.is_slow));
        let kept = if fast.len() >= Self::FEWEST { fast } else { of(&mut self.rounds.iter()) };
        median(&kept)
    }

    /// The fewest sessions that a round's table held, had refused or had thrown out when it ended, where these
    /// are fewer than there were.
    pub fn missing(&self) -> Option<u64> {
        let known = |round: &SessionRound| round.after + round.refused + round.evicted;
        self.rounds.iter().map(known).min().filter(|known| *known < self.sessions)
    }

    /// The most sessions of a round that found no room in the table, or made room by throwing others out, where any did.
    pub fn without_room(&self) -> Option<u64> {
        let without = |round: &SessionRound| round.refused + round.evicted;
        self.rounds.iter().map(without).max().filter(|most| *most > 0)
    }

    /// The most sessions that the table held, where it never was full: where most rounds refused none for want of room and
    /// threw none out.
    pub fn not_full(&self) -> Option<u64> {
        let roomy = self.rounds.iter().filter(|round| round.refused + round.evicted == 0);
        let is_full = 2 * roomy.clone().count() <= self.rounds.len();
        roomy.map(|round| round.after).max().filter(|held| *held > 0 && !is_full)
    }

    /// Whether the device tracked any session at all.
    pub fn is_tracked(&self) -> bool {
        self.rounds.iter().any(|round| round.after > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Benchmark;

    #[test]
    fn slow_rounds_count_only_where_too_few_others_remain() {
        let round = |busy_ns, is_slow| SessionRound {
            sent: 10,
            received: 5,
            ns: 1_000,
            busy_ns,
            is_slow,
            ..SessionRound::default()
        };
        let mut own = Sessions {
            rounds: vec![round(900, true), round(100, false), round(110, false)],
            ..Sessions::default()
        };
        assert_eq!(own.cost_ns(), Some(11.0));
        own.rounds.push(round(105, false));
        assert_eq!(own.cost_ns(), Some(10.5));
        assert_eq!(own.forwarded_per_s(), Some(5e6));
        own.rounds.iter_mut().for_each(|round| round.received = 0);
        assert_eq!(own.forwarded_per_s(), Some(1.0), "none counts as one a second");
        own.rounds.iter_mut().for_each(|round| round.ns *= 3);
        assert_eq!(own.forwarded_per_s(), Some(1.0), "however long it took");
        own.rounds.clear();
        assert_eq!((own.cost_ns(), own.forwarded_per_s(), own.is_tracked()), (None, None, false));
    }

    #[test]
    fn sessions_that_the_table_has_forgotten_are_missing() {
        let round = |after, refused| SessionRound { after, refused, ..SessionRound::default() };
        let of = |rounds| Sessions { sessions: 2000, rounds, ..Sessions::default() }.missing();
        assert_eq!(of(vec![round(2000, 0), round(1990, 10), round(4000, 0)]), None);
        assert_eq!(of(vec![round(2000, 0), round(1983, 0)]), Some(1983));
    }

    /// Lookup in a table of 250 of 600 sessions gave a figure without a word.
    #[test]
    fn a_table_that_is_too_small_for_the_sessions_is_told() {
        let of = |refused, evicted| {
            let round = SessionRound { after: 250, refused, evicted, ..SessionRound::default() };
            let rounds = vec![SessionRound { after: 600, ..SessionRound::default() }, round];
            Sessions { sessions: 600, room: 250, rounds, ..Sessions::default() }
        };
        for (own, without) in [(of(350, 0), "350"), (of(0, 350), "350")] {
            for figure in [Benchmark::Lookup(own.clone()), Benchmark::Insertion(own.clone())] {
                let told = figure.warning().expect("a warning");
                assert!(told.starts_with(&format!("{without} of 600 sessions")), "{told}");
                assert!(told.contains("room for 250"), "{told}");
            }
            assert_eq!(Benchmark::FullTable(own).warning(), None, "it is to be full");
        }
        let roomy = Sessions {
            rounds: vec![SessionRound { after: 600, ..SessionRound::default() }],
            ..of(0, 0)
        };
        assert_eq!(Benchmark::Lookup(roomy).warning(), None);
    }

    /// "287681 sessions/s through a full table" stood beside a table of 160,000 sessions with room for 262,144.
    #[test]
    fn a_table_that_never_is_full_is_told() {
        let of = |after, refused, evicted| {
            let full = SessionRound { after: 250, refused: 350, ..SessionRound::default() };
            let round = SessionRound { after, refused, evicted, ..SessionRound::default() };
            let rounds = vec![round, full, round];
            Benchmark::FullTable(Sessions {
                sessions: 600,
                room: 250,
                rounds,
                ..Sessions::default()
            })
            .warning()
        };
        let told = of(160, 0, 0).expect("a warning");
        assert!(told.starts_with("the table was not full: it held 160 sessions of 600"), "{told}");
        for (refused, evicted) in [(350, 0), (0, 350)] {
            assert_eq!(of(250, refused, evicted), None);
        }
        // What is not tracked at all is told by the trial.
        assert_eq!(of(0, 0, 0), None);
    }
}
