//! What the measures yield that have a figure of their own, beside the forwarding rate.
//!
//! The raw observations are recorded; the figure is computed from them wherever it is needed.

use serde::{Deserialize, Serialize};

use crate::interval::median;
use crate::{Convergence, Measure, SearchTrial, Sessions, Streams};

/// The observations of one trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "measure", rename_all = "kebab-case")]
pub enum Benchmark {
    /// Loss at each of many loads.
    LossCurve(LossCurve),
    /// Bursts.
    BackToBack(BackToBack),
    /// An overload and what came after it.
    Recovery(Recovery),
    /// A reset under load.
    Reset(Reset),
    /// A long load.
    Soak(Soak),
    /// New sessions.
    Insertion(Sessions),
    /// Frames of sessions that are known.
    Lookup(Sessions),
    /// New sessions for which there is no room.
    FullTable(Sessions),
    /// Routes that changed under traffic.
    Convergence(Convergence),
    /// Streams through the device.
    Goodput(Streams),
    /// Streams through the device and past it.
    ByteCost(Streams),
}

impl Benchmark {
    /// What was measured.
    pub const fn measure(&self) -> Measure {
        match self {
            Self::LossCurve(_) => Measure::LossCurve,
            Self::BackToBack(_) => Measure::BackToBack,
            Self::Recovery(_) => Measure::Recovery,
            Self::Reset(_) => Measure::Reset,
            Self::Soak(_) => Measure::Soak,
            Self::Insertion(_) => Measure::Insertion,
            Self::Lookup(_) => Measure::Lookup,
            Self::FullTable(_) => Measure::FullTable,
            Self::Convergence(_) => Measure::Convergence,
            Self::Goodput(_) => Measure::Goodput,
            Self::ByteCost(_) => Measure::ByteCost,
        }
    }

    /// The trial's figure in [`Measure::unit`]; `None` when nothing was observed.
    pub fn figure(&self) -> Option<f64> {
        match self {
            Self::LossCurve(own) => own.mean_forwarded_pps(),
            Self::BackToBack(own) => own.frames(),
            Self::Recovery(own) => Some(own.ended_ns.max(Recovery::RESOLUTION_NS) as f64 / 1e9),
            Self::Reset(own) => (own.gap_ns > 0).then_some(own.gap_ns as f64 / 1e9),
            Self::Soak(own) => Some(own.mean_s_without_loss()),
            Self::Insertion(own) | Self::Lookup(own) => own.cost_ns(),
            Self::FullTable(own) => own.forwarded_per_s(),
            Self::Convergence(own) => own.full_s(),
            Self::Goodput(own) => own.goodput_bits_per_s(),
            Self::ByteCost(own) => own.device_ns_per_byte(),
        }
    }
}

impl Benchmark {
    /// What is to be known of a figure that says less than it seems to: the end of what was looked at was
    /// reached before what was looked for.
    pub fn warning(&self) -> Option<String> {
        match self {
            Self::BackToBack(own) if 2 * own.unbounded() > own.found.len() => Some(format!(
                "no burst was too long: {} the most that can be sent at once, and the device's longest burst is at \
                 least that",
                if own.most == 1 {
                    "1 frame is".to_owned()
                } else {
                    format!("{} frames are", own.most)
                }
            )),
            Self::BackToBack(own) if !own.is_rested => Some(format!(
                "bursts become longer still when the device rests for longer than {:.0} ms between them: its longest \
                 burst is at least the one found",
                own.rest_ms.unwrap_or_default()
            )),
            Self::Recovery(own) if !own.has_ended() => Some(format!(
                "loss had not ended {:.0} ms after the overload, when nobody looked any longer: the time of the \
                 recovery is at least that; make duration longer, or relief less",
                own.overload_ms
            )),
            Self::Recovery(own) if own.is_without_loss() => Some(format!(
                "the overload of {:.0} frames/s lost no frame: it was none that the device could not bear, or its \
                 buffer held it, and the time of the recovery says nothing; make duration longer, or overload more",
                own.overload_pps
            )),
            Self::Soak(own) if 2.0 * own.lossy_s() > own.seconds => Some(format!(
                "frames were lost during {:.0} % of the soak: this load is none that the device bears for long",
                (100.0 * own.lossy_s() / own.seconds).min(100.0)
            )),
            Self::LossCurve(own) => own.doubt(),
            Self::Convergence(own) => own.warning(),
            Self::Insertion(own) | Self::Lookup(own) if own.is_tracked() => {
                let without = own.without_room().map(|without| {
                    format!(
                        "{without} of {} sessions of a round found no room in the table, or others were thrown out for \
                         them (it has room for {}): the figure is not that of sessions that are tracked; make fewer \
                         flows, or the table larger",
                        own.sessions, own.room
                    )
                });
                without.or_else(|| own.missing().map(|known| {
                    format!(
                        "after a round the table held {known} of {} sessions: the others were not tracked, were \
                         dropped, or had been forgotten, so that their later frames began sessions anew; look at \
                         the rules and at the timeouts of tracking, which have to be longer than a round",
                        own.sessions
                    )
                }))
            }
            Self::FullTable(own) => own.not_full().map(|held| {
                format!(
                    "the table was not full: it held {held} sessions of {} when a round ended, has room for {}, and \
                     refused none and threw none out: the figure is not that of a full table; look at what the rules \
                     drop, and at the timeouts of tracking",
                    own.sessions, own.room
                )
            }),
            _ => None,
        }
    }
}

/// Loss against offered load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LossCurve {
    /// What the device forwarded of all that the tester could send, in frames/s: loads are shares
    /// of it.
    pub mrr_pps: f64,
    /// From the highest load to the lowest.
    pub down: Vec<SearchTrial>,
    /// And up again.
    pub up: Vec<SearchTrial>,
}

impl LossCurve {
    /// A device forwards so many times its maximum receive rate at the most, of which both are counted.
    const MOST_OF_MRR: f64 = 1.05;

    /// Above its maximum receive rate a device loses what is too much, unless that rate is too low or the rest waits.
    fn doubt(&self) -> Option<String> {
        let all = || self.down.iter().chain(&self.up);
        let came = |own: &SearchTrial| own.load_pps * (1.0 - own.loss_ratio());
        let most = all().map(came).fold(0.0, f64::max);
        let shortest = all().map(|own| own.ms).reduce(f64::min)?;
        (most > self.mrr_pps * Self::MOST_OF_MRR).then(|| {
            format!(
                "too few frames were lost above the maximum receive rate: that rate is too low, or frames waited in \
                 buffers, which a load longer than {shortest:.0} ms would have filled; make duration longer, or loads \
                 fewer"
            )
        })
    }

    /// Mean over all loads, both ways, of what was forwarded, in frames/s.
    fn mean_forwarded_pps(&self) -> Option<f64> {
        let all = || self.down.iter().chain(&self.up);
        let sum: f64 = all().map(|one| one.load_pps * (1.0 - one.loss_ratio())).sum();
        let count = all().count();
        (count > 0).then(|| sum / count as f64)
    }
}

impl SearchTrial {
    /// Lost of sent, 0 to 1; a trial that sent nothing lost everything.
    pub fn loss_ratio(&self) -> f64 {
        if self.sent == 0 { 1.0 } else { self.lost as f64 / self.sent as f64 }
    }
}

/// The longest burst without loss, found many times.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BackToBack {
    /// One for each search.
    pub found: Vec<Burst>,
    /// Frames of the longest burst that can be sent.
    pub most: u64,
    /// What the device forwards of all that the tester can send, in frames/s.
    pub mrr_pps: f64,
    /// How long the device rested between two bursts, in ms, where it was found out how long it has to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rest_ms: Option<f64>,
    /// Whether a longer rest would not have made them longer.
    #[serde(default = "yes", skip_serializing_if = "Clone::clone")]
    pub is_rested: bool,
}

const fn yes() -> bool {
    true
}

/// A burst of frames with no gap between them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Burst {
    /// Frames in it.
    pub frames: u64,
    /// From the first to the last, in ns.
    pub ns: u64,
}

impl BackToBack {
    /// The median of the searches, in frames. A search in which not even one frame came through counts as one
    /// frame: a ratio has to be of something, and left out it would make the others' bursts the device's.
    pub fn frames(&self) -> Option<f64> {
        let frames = self.found.iter().map(|burst| burst.frames.max(1) as f64);
        median(&frames.collect::<Vec<_>>())
    }

    /// Frames that the device holds back, by the correction of RFC 9004: it forwards
    /// some of a burst while the rest arrives.
    pub fn buffer_frames(&self) -> Option<f64> {
        let buffer = |burst: &Burst| {
            let forwarded = self.mrr_pps * burst.ns as f64 / 1e9;
            (burst.frames as f64 - forwarded).max(0.0)
        };
        median(&self.found.iter().map(buffer).collect::<Vec<_>>())
    }

    /// The time, in s, in which the device forwards what it holds back.
    pub fn buffer_s(&self) -> Option<f64> {
        Some(self.buffer_frames()? / self.mrr_pps).filter(|s| s.is_finite())
    }

    /// Searches that met no loss: the device's buffer is larger than can be said.
    pub fn unbounded(&self) -> usize {
        self.found.iter().filter(|burst| burst.frames >= self.most).count()
    }
}

/// An overload, then a load that the device bears.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Recovery {
    /// The throughput that the same trial found, in frames/s.
    pub throughput_pps: f64,
    /// Load of the overload, in frames/s.
    pub overload_pps: f64,
    /// Load afterwards, in frames/s.
    pub relief_pps: f64,
    /// How long the overload lasted, in ms.
    pub overload_ms: f64,
    /// Frames lost in it.
    pub lost_in_overload: u64,
    /// Frames lost afterwards.
    pub lost_afterwards: u64,
    /// From the end of the overload to the last loss before the first quiet time, in ns; 0 when
    /// nothing was lost afterwards.
    pub ended_ns: u64,
}

impl Recovery {
    /// The shortest time that counts, in ns: as long as the tester is busy with a batch of frames.
    pub const RESOLUTION_NS: u64 = 10_000;

    /// Loss has ended when none follows for so long, in ns: what comes later is another loss.
    pub const QUIET_NS: u64 = 20_000_000;

    /// Whether no frame was lost at all: there was nothing to recover from.
    pub fn is_without_loss(&self) -> bool {
        self.lost_in_overload == 0 && self.lost_afterwards == 0 && self.ended_ns == 0
    }

    /// Whether there was a time without loss before the end of what was looked at, which lasts as long as the
    /// overload did.
    pub fn has_ended(&self) -> bool {
        self.ended_ns == 0 || self.ended_ns + Self::QUIET_NS <= (self.overload_ms * 1e6) as u64
    }
}

/// A reset under load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reset {
    /// The load, in frames/s.
    pub load_pps: f64,
    /// From the last frame before to the first frame after the reset, in ns.
    pub gap_ns: u64,
    /// What the device itself took to start anew, in ns.
    pub start_ns: u64,
    /// Frames lost: those that did not come back, and those for which the device had no room for so long that they
    /// were given up.
    pub lost: u64,
}

impl Reset {
    /// Frames that fell due in the gap. Not all of them are lost: what waits and is sent afterwards is late.
    pub fn due(&self) -> f64 {
        self.load_pps * self.gap_ns as f64 / 1e9
    }
}

/// A long load.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Soak {
    /// The non-drop rate that the same trial found, in frames/s.
    pub ndr_pps: f64,
    /// The load, in frames/s.
    pub load_pps: f64,
    /// For how long, in s.
    pub seconds: f64,
    /// Frames that were due.
    pub sent: u64,
    /// Frames of them that did not come back.
    pub lost: u64,
    /// When they were lost, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<Loss>,
}

/// Frames lost one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// Since the beginning, in ns.
    pub at_ns: u64,
    /// From the first to the last, in ns.
    pub ns: u64,
    /// How many.
    pub frames: u64,
}

impl Soak {
    /// The shortest time without loss that can be seen, in s: what is nearer is one loss.
    const RESOLUTION_S: f64 = 0.001;

    /// Mean time without loss between losses, in s; the whole time when there was none. The time in which
    /// frames were lost is no part of it: one loss without an end is not one loss in the middle.
    fn mean_s_without_loss(&self) -> f64 {
        let without = (self.seconds - self.lossy_s()).max(0.0);
        (without / (self.losses.len() + 1) as f64).max(Self::RESOLUTION_S)
    }

    /// The time in which frames were lost, in s.
    fn lossy_s(&self) -> f64 {
        self.losses.iter().map(|loss| loss.ns as f64 / 1e9).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(load_pps: f64, sent: u64, lost: u64) -> SearchTrial {
        SearchTrial { load_pps, ms: 100.0, sent, lost, waited: 0 }
    }

    #[test]
    fn the_figure_of_a_curve_is_what_was_forwarded_over_all_loads_both_ways() {
        // A device of 1000 frames/s.
        let down = vec![tried(1250.0, 125, 25), tried(500.0, 50, 0)];
        let up = vec![tried(500.0, 50, 0), tried(1250.0, 125, 25)];
        let curve = Benchmark::LossCurve(LossCurve { mrr_pps: 1000.0, down, up });
        assert_eq!(curve.figure(), Some(750.0));
        assert_eq!(Benchmark::LossCurve(LossCurve::default()).figure(), None);
    }

    /// 0.000 % were lost at 120 % of what the device could do: 2048 of 4608 frames waited when the load ended.
    #[test]
    fn a_curve_without_loss_above_the_maximum_receive_rate_says_so() {
        let of = |lost| {
            let down = vec![tried(1200.0, 1200, lost), tried(900.0, 900, 0)];
            Benchmark::LossCurve(LossCurve { mrr_pps: 1000.0, down, up: Vec::new() }).warning()
        };
        let said = of(0).unwrap();
        assert!(
            said.contains("above the maximum receive rate") && said.contains("100 ms"),
            "{said}"
        );
        assert!(of(80).is_some(), "half of what is too much");
        assert_eq!((of(200), of(160)), (None, None));
    }

    fn bursts(found: Vec<Burst>, most: u64) -> BackToBack {
        BackToBack { found, most, mrr_pps: 1e6, rest_ms: None, is_rested: true }
    }

    #[test]
    fn a_buffer_is_the_burst_without_what_left_meanwhile() {
        // 1200 frames in 1.2 ms at 1 M frames/s, of which 240 left at 0.2 M frames/s.
        let burst = Burst { frames: 1200, ns: 1_200_000 };
        let own = BackToBack { mrr_pps: 200_000.0, ..bursts(vec![burst; 3], 4096) };
        assert_eq!((own.frames(), own.unbounded()), (Some(1200.0), 0));
        assert!((own.buffer_frames().unwrap() - 960.0).abs() < 1e-6);
        assert!((own.buffer_s().unwrap() - 960.0 / 200_000.0).abs() < 1e-9);
    }

    #[test]
    fn a_recovery_without_loss_counts_as_the_shortest_that_can_be_seen() {
        let seconds = |ended_ns| Benchmark::Recovery(Recovery { ended_ns, ..Recovery::default() });
        assert_eq!(seconds(0).figure(), Some(1e-5));
        assert_eq!(seconds(30_000_000).figure(), Some(0.03));
    }

    #[test]
    fn a_soak_without_loss_lasts_as_long_as_it_lasted() {
        let mut soak = Soak { seconds: 60.0, ..Soak::default() };
        assert_eq!(soak.mean_s_without_loss(), 60.0);
        soak.losses = vec![Loss::default(); 2];
        assert_eq!(soak.mean_s_without_loss(), 20.0);
    }

    /// Half of the time was said of a device that lost frames from beginning to end, as of one that lost one frame.
    #[test]
    fn a_soak_that_loses_frames_all_the_time_is_without_loss_for_none_of_it() {
        let of = |losses: Vec<Loss>| Soak { seconds: 10.0, losses, ..Soak::default() };
        let loss = |ns| Loss { at_ns: 0, ns, frames: 9 };
        let (dead, once) = (of(vec![loss(10_000_000_000)]), of(vec![loss(1_000)]));
        assert_eq!(dead.mean_s_without_loss(), 0.001);
        assert!((once.mean_s_without_loss() - 5.0).abs() < 1e-3);
        let said = Benchmark::Soak(dead).warning().unwrap();
        assert!(said.contains("lost during 100 % of the soak"), "{said}");
        assert_eq!(Benchmark::Soak(once).warning(), None);
    }

    /// The searches that found nothing were left out: 48 of them, and two bursts of 600 frames, were 600 frames.
    #[test]
    fn searches_in_which_no_frame_came_through_count() {
        let burst = |frames| Burst { frames, ns: 1_000 };
        let mut found = vec![burst(0); 48];
        found.extend([burst(600); 2]);
        let own = bursts(found, 4096);
        assert_eq!(own.frames(), Some(1.0));
        assert_eq!(BackToBack::default().frames(), None);
    }

    /// With a timeout of 0 s "the cost of a frame of a known session" was that of a new one, and nothing said so.
    #[test]
    fn sessions_that_were_not_known_any_more_are_told() {
        let round = |after| crate::SessionRound { after, ..Default::default() };
        let of = |after| {
            let rounds = vec![round(after)];
            Benchmark::Lookup(Sessions { sessions: 2000, rounds, ..Sessions::default() }).warning()
        };
        assert!(of(1983).unwrap().contains("held 1983 of 2000 sessions"));
        assert_eq!((of(2000), of(0)), (None, None), "what tracks nothing is told elsewhere");
    }

    #[test]
    fn a_figure_at_the_end_of_what_was_looked_at_says_so() {
        let burst = |frames| Burst { frames, ns: 1_000 };
        let own = |frames| bursts(vec![burst(frames); 50], 64);
        assert!(
            Benchmark::BackToBack(own(64)).warning().unwrap().contains("64 frames are the most")
        );
        assert_eq!(Benchmark::BackToBack(own(63)).warning(), None);
        let tired = BackToBack { rest_ms: Some(200.0), is_rested: false, ..own(63) };
        let said = Benchmark::BackToBack(tired).warning().unwrap();
        assert!(said.contains("longer than 200 ms between them"), "{said}");
        let recovery = |ended_ns| {
            let lost_in_overload = 9;
            let own = Recovery { ended_ns, overload_ms: 100.0, ..Recovery::default() };
            Benchmark::Recovery(Recovery { lost_in_overload, ..own })
        };
        let said = recovery(95_000_000).warning().unwrap();
        assert!(said.contains("had not ended 100 ms after"), "{said}");
        assert_eq!((recovery(80_000_000).warning(), recovery(0).warning()), (None, None));
    }

    /// The search had found too little, and its 110 % overloaded nothing: 10 us were the best figure of all.
    #[test]
    fn an_overload_that_lost_nothing_is_no_recovery_and_says_so() {
        let own = Recovery { overload_pps: 66_156.2, overload_ms: 300.0, ..Recovery::default() };
        let said = Benchmark::Recovery(own).warning().unwrap();
        assert!(said.starts_with("the overload of 66156 frames/s lost no frame"), "{said}");
    }

    #[test]
    fn observations_are_read_as_they_were_written_and_know_their_measure() {
        for own in [
            Benchmark::LossCurve(LossCurve::default()),
            Benchmark::BackToBack(BackToBack::default()),
            Benchmark::Recovery(Recovery::default()),
            Benchmark::Reset(Reset::default()),
            Benchmark::Soak(Soak::default()),
        ] {
            let text = serde_json::to_string(&own).unwrap();
            assert!(text.contains(&format!("\"measure\":{:?}", own.measure().name())), "{text}");
            assert_eq!(serde_json::from_str::<Benchmark>(&text).unwrap(), own);
            assert!(own.measure().is_benchmark());
        }
    }
}
