//! From raw counts to a trial's record: do the counters of both sides agree, what bounded the
//! rate, which intervals are steady.

use std::collections::BTreeMap;

use fwdlab_stats::{plural, steady};

use crate::comparable::{self, FEWEST};
use crate::ledger::{astray, helps, imbalance, imbalance_of_ways, returned, suspects};
use fwdlab_results::{
    Benchmark, Interval, LimitedBy, Measured, Status, Steady, Trial, TrialEnvironment,
};

/// A device that had nothing to do for more than this share of a trial was waiting for frames.
/// Below it, the rate that was lost by waiting is smaller than the usual margin of 1 %.
const IDLE_SHARE: f64 = 0.01;

/// Where tester and device share a core, the device bounds the rate from this share on.
const DEVICE_SHARE: f64 = 2.0 / 3.0;

/// From this share of what the tester can send on, the rate is the tester's.
const GENERATOR_SHARE: f64 = 0.98;

/// A load counts as forwarded in full from this share on (METHOD: saturation).
const FORWARDED_SHARE: f64 = 0.995;

/// Fills the figures of `trial`, whose plan is known, from what was counted; `set` is what its
/// variant sets.
pub fn settle(trial: &mut Trial, measured: Measured, set: &BTreeMap<String, String>) {
    let (rate_pps, steady) = figure(&measured.intervals);
    trial.rate_pps = rate_pps;
    trial.steady = steady;
    trial.limited_by = limited_by(&measured, trial.rate_pps, trial.offered_pps_asked);
    trial.measured = measured;
    let own = warning_of_search(&trial.measured).into_iter().chain(returned(&trial.measured, set));
    let of_figure = trial.measured.benchmark.as_ref().and_then(Benchmark::warning);
    let own: Vec<String> = own.chain(of_figure).chain(trial.imbalance()).collect();
    trial.measured.warnings.extend(own);
    comparable::narrow(trial);
    trial.reason = fault(&trial.measured, trial.rate_pps, set);
    trial.status = if trial.reason.is_some() { Status::Failed } else { Status::Ok };
}

/// The largest load that a search tries is above all that the device forwarded before: it cannot bear it.
fn warning_of_search(measured: &Measured) -> Option<String> {
    let bore_all = measured.search.as_ref().is_some_and(|found| found.lower_pps >= found.upper_pps);
    bore_all.then(|| {
        "the device bore the largest load tried: the state of the machine changed, or it lets more through for a \
         short time than for long (make duration longer)"
            .to_owned()
    })
}

/// The trial's rate and the window that it is taken from. Intervals in which the processor was slow
/// do not count, as long as enough others remain. Where intervals hold only a few frames, nobody can
/// tell start-up from chance: all of them count, together.
fn figure(intervals: &[Interval]) -> (Option<f64>, Option<Steady>) {
    let fast: Vec<usize> = (0..intervals.len()).filter(|at| !intervals[*at].is_slow()).collect();
    let is_enough = fast.len() >= FEWEST;
    let kept: Vec<usize> = if is_enough { fast } else { (0..intervals.len()).collect() };
    let counted: Vec<Interval> = kept.iter().map(|at| intervals[*at]).collect();
    let (window, mut why) = if Interval::are_sparse(&counted, |interval| interval.rx) {
        let why = "few frames an interval: the rate is that of all intervals together";
        (0..kept.len(), why.to_owned())
    } else {
        let rates: Vec<f64> = counted.iter().map(Interval::rx_pps).collect();
        let window = steady::window(&rates);
        (window.first..window.first + window.count, window.why)
    };
    let rate = Interval::rate(counted.get(window.clone()).unwrap_or_default(), |i| i.rx);
    let inside = kept.get(window).unwrap_or_default();
    let steady = inside.first().zip(inside.last()).map(|(&first, &last)| {
        let skipped: Vec<usize> =
            (first..=last).filter(|at| inside.binary_search(at).is_err()).collect();
        if kept.len() < intervals.len() {
            let slow = intervals.len() - kept.len();
            why.push_str(&format!("; {slow} left out because the processor was slow"));
        }
        Steady {
            first,
            count: last + 1 - first,
            trimmed_head: first,
            trimmed_tail: intervals.len() - last - 1,
            skipped,
            why,
        }
    });
    (rate, steady)
}

/// Why the trial's figures may not be used, or nothing.
fn fault(
    measured: &Measured,
    rate_pps: Option<f64>,
    set: &BTreeMap<String, String>,
) -> Option<String> {
    let received = measured.received;
    if received == 0 {
        let sent = measured.sent.map_or("an unknown number".to_owned(), |n| n.to_string());
        let dropped = match measured.dropped() {
            Some(dropped) => format!("the device dropped {dropped}"),
            None => "what the device dropped is not known".to_owned(),
        };
        let set = suspects(set);
        let came = match measured.checks.map_or(0, |checks| checks.astray) {
            0 => format!("no frame came back of {sent} sent"),
            astray => format!(
                "of {sent} frames sent {astray} came back, each by another port than that behind which its destination \
                 lies"
            ),
        };
        return Some(format!("{came}: check the routes{set}; {dropped}"));
    }
    let counts = || {
        let why = imbalance(measured).or_else(|| imbalance_of_ways(measured))?;
        Some(format!("counters disagree{why}; {}", helps(measured)))
    };
    if let Some(why) = astray(measured, set).or_else(counts) {
        return Some(why);
    }
    if rate_pps.is_none_or(|rate| rate <= 0.0) {
        // What others take of a processor no longer trial gives back.
        let helps = match measured.environment.core_share {
            Some(share) if share < TrialEnvironment::LEAST_CORE_SHARE => format!(
                "its threads had their cores for {:.0} % of the time: stop what else runs on this machine",
                share * 100.0
            ),
            _ => "make the trial longer, or stop what else runs on this machine".to_owned(),
        };
        return Some(format!(
            "{} came back, but none within a counting interval: {helps}",
            plural(received, "frame")
        ));
    }
    set.iter().find_map(|(word, wanted)| match measured.proof.get(word) {
        Some(found) => refuted(word, wanted, found),
        None => Some(unproven(word, wanted, "nothing")),
    })
}

/// What is wrong where the device answers something else than the control word was set to.
pub fn refuted(word: &str, wanted: &str, found: &str) -> Option<String> {
    (!is_proof(wanted, found)).then(|| unproven(word, wanted, found))
}

fn unproven(word: &str, wanted: &str, found: &str) -> String {
    /// Rules have thousands of lines; whoever set them knows them by their beginning.
    const LONGEST: usize = 200;
    let shown = |text: &str| {
        let line = fwdlab_guard::words::one_line(text);
        let short: String = line.chars().take(LONGEST).collect();
        if short.len() < line.len() { format!("{short} ...") } else { short }
    };
    let quoted = |text: String| if text.is_empty() { "\"\"".to_owned() } else { text };
    let [wanted, found] = [wanted, found].map(shown).map(quoted);
    format!("{word} was set to {wanted}, but the device answers {found}")
}

/// Whether the device's answer shows that a setting took. Asked to choose for itself (`auto`), it
/// answers with its choice.
pub(crate) fn is_proof(wanted: &str, found: &str) -> bool {
    let numbers = || Some(number(wanted)? == number(found)?);
    match wanted {
        "auto" => !found.is_empty(),
        _ => wanted.eq_ignore_ascii_case(found) || numbers().unwrap_or(false),
    }
}

/// A number, also one that a kernel takes with 0x in front of it and answers without.
fn number(text: &str) -> Option<f64> {
    let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    match hexadecimal {
        Some(digits) => u64::from_str_radix(digits, 16).ok().map(|number| number as f64),
        None => text.parse().ok(),
    }
}

fn limited_by(measured: &Measured, rate_pps: Option<f64>, asked_pps: Option<f64>) -> LimitedBy {
    if measured.search.is_some() || measured.benchmark.is_some() {
        return LimitedBy::Device; // the load is the one that the device bears
    }
    if let (Some(asked), Some(rate)) = (asked_pps, rate_pps)
        && rate >= asked * FORWARDED_SHARE
    {
        return LimitedBy::Load;
    }
    let TrialEnvironment { device_share, takes_turns, .. } = measured.environment;
    if takes_turns || device_share.is_some_and(|share| share < DEVICE_SHARE) {
        return LimitedBy::Core;
    }
    if let (Some(most), Some(rate)) = (measured.generator_pps, rate_pps)
        && rate >= most * GENERATOR_SHARE
    {
        return LimitedBy::Generator;
    }
    // Nobody looked whether the device had to wait: where all that was sent came through, less than was
    // asked for, or as much as a tester sends that was never tried alone, the device was not at its limit.
    let is_short = asked_pps.is_some() || measured.generator_pps.is_none();
    if measured.idle_share.is_none() && is_short && came_whole(measured) {
        return LimitedBy::Generator;
    }
    if measured.idle_share.is_some_and(|share| share > IDLE_SHARE) {
        LimitedBy::Generator
    } else {
        LimitedBy::Device
    }
}

/// Whether all that was sent came back, but for what two hosts read at two moments.
fn came_whole(measured: &Measured) -> bool {
    const BETWEEN_READINGS: f64 = 1e-4;
    let least = |sent: u64| sent as f64 * (1.0 - BETWEEN_READINGS);
    measured.sent.is_some_and(|sent| sent > 0 && measured.received as f64 >= least(sent))
}

#[cfg(test)]
mod tests {
    use fwdlab_results::{Checks, Queue, Way};

    use super::*;

    /// "check the routes" was all that was said of `net.ipv4.ip_forward = 0`.
    #[test]
    fn where_no_frame_comes_back_what_the_variant_sets_is_named() {
        let measured = Measured { sent: Some(5), ..Measured::default() };
        let none = fault(&measured, None, &BTreeMap::new()).expect("a fault");
        assert!(none.contains("5 sent: check the routes; what the device dropped"), "{none}");
        let rules = "table inet t {\n drop\n}".to_owned();
        let set = [("net.ipv4.ip_forward".to_owned(), "0".to_owned()), ("nftables".into(), rules)];
        let astray = Some(Checks { astray: 4, misrouted: 4, ..Checks::default() });
        let all = Measured { checks: astray, ..measured.clone() };
        let said = fault(&all, None, &BTreeMap::new()).expect("a fault");
        assert!(said.starts_with("of 5 frames sent 4 came back, each by another port"), "{said}");
        let set = fault(&measured, None, &BTreeMap::from(set)).expect("a fault");
        let wanted =
            "what the variant sets (net.ipv4.ip_forward = 0, nftables = table inet t {; drop; })";
        assert!(set.contains(wanted), "{set}");
    }

    #[test]
    fn a_setting_is_proven_by_the_same_number_in_another_spelling() {
        for (wanted, found) in [("0x400", "1024"), ("0X1f", "31"), ("1.0", "1"), ("on", "ON")] {
            assert!(is_proof(wanted, found), "{wanted} {found}");
        }
        for (wanted, found) in [("0x400", "400"), ("0x", "0"), ("0xg", "0"), ("", "4096")] {
            assert!(!is_proof(wanted, found), "{wanted} {found}");
        }
        let said = refuted("w", "", "4096").expect("refuted");
        assert_eq!(said, "w was set to \"\", but the device answers 4096");
    }

    /// Intervals of 1 ms with so many frames; a share of slow time above 4 % leaves one out.
    fn intervals(list: &[(u64, f64)]) -> Vec<Interval> {
        let one =
            |&(rx, slow)| Interval { ms: 1.0, rx, slow_share: Some(slow), ..Interval::default() };
        list.iter().map(one).collect()
    }

    #[test]
    fn a_rate_within_two_per_cent_of_the_testers_own_is_the_testers() {
        let tester = Measured { generator_pps: Some(1e6), ..Measured::default() };
        assert_eq!(limited_by(&tester, Some(979_000.0), None), LimitedBy::Device);
        assert_eq!(limited_by(&tester, Some(981_000.0), None), LimitedBy::Generator);
        // What was asked for came through: nobody was at a limit.
        assert_eq!(limited_by(&tester, Some(981_000.0), Some(981_000.0)), LimitedBy::Load);
    }

    /// "Limited by device", and equivalent, was said of two variants behind a tester of 6 kpps.
    #[test]
    fn a_device_that_lost_nothing_is_not_the_limit_of_a_tester_that_nobody_measured_alone() {
        let of = |received| Measured { sent: Some(3_000), received, ..Measured::default() };
        assert_eq!(limited_by(&of(3_000), Some(6e3), None), LimitedBy::Generator);
        assert_eq!(limited_by(&of(2_900), Some(6e3), None), LimitedBy::Device);
        // Later than asked, and nothing lost: it was the tester's, too.
        let late = Measured { generator_pps: Some(2e5), ..of(3_000) };
        assert_eq!(limited_by(&late, Some(4_906.0), Some(5e3)), LimitedBy::Generator);
        assert_eq!(limited_by(&late, Some(6e3), None), LimitedBy::Device);
        // A device that says that it never waited was at its limit, however the frames were held back.
        let busy = Measured { idle_share: Some(0.0), ..of(3_000) };
        assert_eq!(limited_by(&busy, Some(6e3), None), LimitedBy::Device);
    }

    /// "Limited by tester" was said of a guest's device that took 210,000 instructions a frame, the tester 8,000.
    #[test]
    fn where_tester_and_device_take_turns_the_rate_is_that_of_both() {
        let own = Measured { idle_share: Some(0.04), ..Measured::default() };
        assert_eq!(limited_by(&own, Some(5e3), None), LimitedBy::Generator, "as journals have it");
        let environment = TrialEnvironment { takes_turns: true, ..TrialEnvironment::default() };
        let turns = Measured { environment, ..own };
        assert_eq!(limited_by(&turns, Some(5e3), None), LimitedBy::Core);
        assert_eq!(limited_by(&turns, Some(5e3), Some(5e3)), LimitedBy::Load);
    }

    #[test]
    fn slow_intervals_do_not_count_as_long_as_four_others_remain() {
        let mixed = intervals(&[
            (10, 0.0),
            (70, 1.0),
            (100, 0.0),
            (101, 0.04),
            (72, 0.9),
            (99, 0.01),
            (100, 0.0),
            (100, 0.02),
            (71, 0.05),
        ]);
        let (rate, steady) = figure(&mixed);
        assert_eq!(rate, Some(100_000.0));
        let steady = steady.expect("a window");
        // The first is start-up, the last is slow.
        assert_eq!((steady.first, steady.count), (2, 6));
        assert_eq!((steady.trimmed_head, steady.trimmed_tail), (2, 1));
        assert_eq!(steady.skipped, [4]);
        assert!(steady.why.contains("3 left out because the processor was slow"), "{}", steady.why);
    }

    #[test]
    fn a_trial_that_was_slow_nearly_throughout_counts_as_a_whole() {
        let slow =
            intervals(&[(700, 1.0), (710, 1.0), (1000, 0.0), (700, 0.8), (700, 1.0), (690, 1.0)]);
        let (rate, steady) = figure(&slow);
        assert_eq!(rate, Some(700_000.0));
        assert!(steady.expect("a window").skipped.is_empty());
        assert_eq!(figure(&[]), (None, None));
    }

    #[test]
    fn few_frames_an_interval_count_together() {
        // One frame in some intervals: their median is 0 or 1000 frames/s, whatever came through.
        let few = intervals(&[(0, 0.0), (1, 0.0), (0, 0.0), (0, 0.0), (1, 0.0), (0, 0.0)]);
        let (rate, steady) = figure(&few);
        let rate = rate.expect("a rate");
        assert!((rate - 2_000.0 / 6.0).abs() < 1e-9, "{rate}");
        let steady = steady.expect("a window");
        assert_eq!((steady.first, steady.count), (0, 6));
        assert!(steady.why.contains("few frames"), "{}", steady.why);
        // No interval at all, and none that lasted.
        assert_eq!(figure(&intervals(&[(0, 0.0); 6])), (None, None));
        let timeless = [Interval { rx: 5, ..Interval::default() }; 3];
        assert_eq!(figure(&timeless).0, None);
    }

    /// "The tester received 2415 frames, but the device sent 3439" was all that was said.
    #[test]
    fn frames_that_come_back_to_their_senders_are_named_with_what_helps() {
        let way = |sent, received, device: [u64; 2]| Way {
            sent,
            received,
            device_received: Some(device[0]),
            device_sent: Some(device[1]),
            ..Way::default()
        };
        let of = |ways: [Way; 2], dropped: Option<u64>| {
            let measured = Measured {
                sent: Some(ways.iter().map(|way| way.sent).sum()),
                received: ways.iter().map(|way| way.received).sum(),
                device_received: ways.iter().map(|way| way.device_received).sum(),
                device_sent: ways.iter().map(|way| way.device_sent).sum(),
                drops: dropped.map(|count| BTreeMap::from([("no-route".to_owned(), count)])),
                ways: ways.into(),
                ..Measured::default()
            };
            fault(&measured, Some(1.0), &BTreeMap::new())
        };
        let all = of([way(2415, 2415, [2415, 3439]), way(1024, 0, [1024, 0])], Some(0));
        let all = all.expect("a fault");
        let named =
            "1024 of 1024 frames to the sources left on the side of the destinations and came back";
        assert!(all.contains(named) && all.contains("\"port 0\""), "{all}");
        // Some of them, beside others that were dropped; and where nobody counted drops.
        let [half, unknown] = [Some(20), None].map(|dropped| {
            let sent = 30 + 80 - u64::from(dropped.is_some()) * 20;
            of([way(100, 50, [100, 50]), way(80, 80, [80, sent])], dropped).expect("a fault")
        });
        for (said, strays) in [(half, 10), (unknown, 30)] {
            let named = format!(
                "{strays} of 100 frames to the destinations left on the side of the sources"
            );
            assert!(said.contains(&named) && said.contains("\"port 1\""), "{said}");
        }
        // What was dropped is no stray, on whichever way.
        assert_eq!(of([way(100, 90, [100, 90]), way(80, 80, [80, 80])], Some(10)), None);
        // Frames that are lost behind the device did not come back to anybody.
        let lost = of([way(100, 100, [100, 100]), way(80, 70, [80, 80])], Some(0)).expect("lost");
        assert!(lost.contains("counters disagree"), "{lost}");
    }

    /// "The tester received 9985 frames, but the device sent 10000" was all that was said.
    #[test]
    fn counts_that_disagree_come_with_what_helps() {
        let with = |core_share| Measured {
            sent: Some(100),
            received: 85,
            device_received: Some(100),
            device_sent: Some(90),
            environment: TrialEnvironment { core_share, ..TrialEnvironment::default() },
            ..Measured::default()
        };
        let said = |core_share| {
            fault(&with(core_share), Some(1e3), &BTreeMap::new()).expect("they disagree")
        };
        let starved = said(Some(0.62));
        let counts = "counters disagree: the tester received 85 frames, but the device sent 90; ";
        assert!(starved.starts_with(counts), "{starved}");
        assert!(starved.contains("62 % of the time only") && starved.contains("lower load"));
        for undisturbed in [said(Some(0.99)), said(None)] {
            assert!(undisturbed.starts_with(counts), "{undisturbed}");
            assert!(undisturbed.contains("look for other programs"), "{undisturbed}");
        }
    }

    /// "Look for other programs", and "its processor for 75 % of the time", was said of a rule with dup.
    #[test]
    fn a_device_that_makes_copies_is_told() {
        let with = |received, device_sent| Measured {
            sent: Some(1000),
            received,
            device_received: Some(1000),
            device_sent: Some(device_sent),
            drops: Some(BTreeMap::new()),
            environment: TrialEnvironment { core_share: Some(0.6), ..TrialEnvironment::default() },
            ..Measured::default()
        };
        let said = |measured| fault(&measured, Some(1e3), &BTreeMap::new()).expect("they disagree");
        let copied = said(with(1100, 1100));
        assert!(copied.contains("sent 100 frames more than it received"), "{copied}");
        assert!(copied.contains("dup") && !copied.contains("60 %"), "{copied}");
        // What came to nobody need be no copy.
        for other in [said(with(1000, 1100)), said(with(1000, 990))] {
            assert!(other.contains("60 % of the time only"), "{other}");
        }
    }

    #[test]
    fn drops_that_nobody_counted_are_demanded_of_nobody() {
        let count = |device_received, device_sent, drops| Measured {
            sent: Some(100),
            received: 90,
            device_received: Some(device_received),
            device_sent: Some(device_sent),
            drops,
            ..Measured::default()
        };
        assert_eq!(imbalance(&count(100, 90, None)), None);
        let why = imbalance(&count(100, 90, Some(BTreeMap::new()))).expect("10 are missing");
        assert!(why.contains("sent or dropped 90 frames"), "{why}");
        // Whatever it dropped, it cannot send more than it received.
        let more = Measured { sent: None, ..count(80, 90, None) };
        let why = imbalance(&more).expect("10 more");
        assert!(why.contains("the device sent 90 frames, but received 80"), "{why}");
        let silent = Measured { received: 0, ..count(100, 0, None) };
        let why = fault(&silent, None, &BTreeMap::new()).expect("nothing came back");
        assert!(why.contains("what the device dropped is not known"), "{why}");
        assert!(why.contains("check the routes; "), "nothing was set: {why}");
        let long = format!("block all\n{}", "pass quick all\n".repeat(10));
        let set = [("net.inet.ip.forwarding", "0"), ("pf", &long)];
        let set = set.map(|(word, value)| (word.to_owned(), value.to_owned())).into();
        let why = fault(&silent, None, &set).expect("nothing came back");
        let named = "what the variant sets (net.inet.ip.forwarding = 0, pf = block all; pass quick";
        assert!(why.contains(named) && why.contains(" ...)"), "{why}");
    }

    /// A load that was borne, all of it, was said to be "the rate of one, not of all".
    #[test]
    fn one_processor_with_all_frames_is_a_finding_where_the_load_was_not_borne() {
        let queues = [("cpu0", 0), ("cpu1", 6038)]
            .map(|(name, frames)| Queue { name: name.to_owned(), frames });
        let of = |share: f64| {
            let mut trial = fwdlab_results::examples::trial(0);
            let measured = Measured { queues: queues.to_vec(), ..trial.measured.clone() };
            trial.offered_pps_asked = trial.rate_pps.map(|rate| rate / share);
            settle(&mut trial, measured, &BTreeMap::new());
            trial.measured.warnings.concat().contains("imbalance: cpu1 took 2.0 times")
        };
        assert_eq!([of(1.0), of(0.5)], [false, true]);
    }

    #[test]
    fn a_trial_without_a_rate_fails() {
        let mut trial = fwdlab_results::examples::trial(0);
        let measured = Measured { intervals: Vec::new(), ..trial.measured.clone() };
        settle(&mut trial, measured, &BTreeMap::new());
        assert_eq!(trial.status, Status::Failed);
        let reason = trial.reason.clone().expect("a reason");
        assert!(reason.contains("none within a counting interval: make the trial"), "{reason}");
        let mut measured = Measured { intervals: Vec::new(), ..trial.measured.clone() };
        measured.environment.core_share = Some(0.31);
        settle(&mut trial, measured, &BTreeMap::new());
        let reason = trial.reason.expect("a reason");
        let starved = "its threads had their cores for 31 % of the time: stop what else runs";
        assert!(reason.contains(starved), "a longer trial was advised: {reason}");
    }
}
