//! What must hold before a verdict means anything, each as met, doubtful or not met.

use fwdlab_stats::coverage::BROKEN;
use fwdlab_stats::validity::{self, Finding, Severity};

use super::{Badge, Cell, Claims, State, VerdictClaim};
use crate::comparable;
use crate::judge::core_share;
use crate::known::Proven;
use fwdlab_results::units;
use fwdlab_results::{
    Benchmark, Checks, LimitedBy, Measured, Metric, Queue, Results, Trial, TruthKind,
};
use fwdlab_stats::{percent_interval, signed_percent};

/// The badges of a campaign, in the order in which a reader asks.
pub(super) fn badges(results: &Results, claims: &Claims) -> Vec<Badge> {
    let kept: Vec<&Trial> = results.trials.iter().filter(|t| t.is_ok()).collect();
    let mut badges = vec![trials(results, claims)];
    if !kept.is_empty() {
        badges.extend([
            offered(&kept),
            forwarded(&kept),
            headroom(&kept, &claims.verdicts),
            flows(&kept),
            frames(&kept),
            proof(results, claims),
        ]);
        badges.extend(cores(&kept));
        badges.extend(processor(&kept));
        badges.push(stability(claims));
    }
    badges.extend(own_truths(claims.proven.as_ref(), results.campaign.unproven.as_deref()));
    badges
}

fn trials(results: &Results, claims: &Claims) -> Badge {
    let p = &claims.progress;
    let state = if p.kept == p.planned {
        State::Good
    } else if p.kept == p.recorded {
        State::Warn
    } else {
        State::Bad
    };
    let repeated = match results.repeated.len() {
        0 => String::new(),
        n => format!("; {n} more did not count and ran again"),
    };
    let text = format!("{} planned, {} kept{repeated}", p.planned, p.kept);
    Badge { name: "trials", state, text }
}

fn offered(kept: &[&Trial]) -> Badge {
    let short = kept.iter().filter(|t| is_short(t)).count();
    let rates: Vec<f64> = kept.iter().filter_map(|t| t.offered_pps()).collect();
    if rates.is_empty() {
        let is_searched = kept.iter().all(|t| t.measured.search.is_some());
        let text = match is_searched {
            true => "searched for: it followed what came back",
            false => "not known: no sender was recorded",
        };
        return Badge { name: "offered", state: State::Warn, text: text.to_owned() };
    }
    let low = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let high = rates.iter().copied().fold(0.0, f64::max);
    let range = span(units::rate(low), &units::rate(high));
    match short {
        0 => Badge { name: "offered", state: State::Good, text: range },
        n => Badge {
            name: "offered",
            state: State::Bad,
            text: format!("{range}; below the asked load in {}", units::plural(n, "trial")),
        },
    }
}

/// Whether the tester stayed below the load that it was asked for.
fn is_short(trial: &Trial) -> bool {
    trial.offered_pps_asked.zip(trial.offered_pps()).is_some_and(|(a, o)| o < 0.995 * a)
}

/// From one figure to another, or the one that both look like.
fn span(low: String, high: &str) -> String {
    if low == high { low } else { format!("{low} to {high}") }
}

fn forwarded(kept: &[&Trial]) -> Badge {
    let sent: Option<u64> = kept.iter().map(|t| t.measured.sent).sum();
    let received: u64 = kept.iter().map(|t| t.measured.received).sum();
    let dropped: Option<u64> = kept.iter().map(|t| t.measured.dropped()).sum();
    let is_balanced = |m: &Measured| Some(m.received + m.dropped().unwrap_or(0)) == m.sent;
    let is_balanced = kept.iter().all(|t| is_balanced(&t.measured));
    let state = if is_balanced { State::Good } else { State::Warn };
    let drops = match dropped {
        None => "what the device dropped is not known".to_owned(),
        Some(dropped) => format!("{} dropped by the device", units::count(dropped)),
    };
    let text = match sent {
        None if received == 0 => format!("nobody counted frames, {drops}"),
        None => {
            let received = units::counted(received, "frame");
            format!("{received} received, how many were sent is not known, {drops}")
        }
        Some(sent) => {
            let share = if sent > 0 { received as f64 / sent as f64 } else { 0.0 };
            let (sent, share) = (units::counted(sent, "frame"), units::share(share));
            format!("{} of {sent} sent ({share}), {drops}", units::count(received))
        }
    };
    Badge { name: "forwarded", state, text }
}

fn headroom(kept: &[&Trial], verdicts: &[VerdictClaim]) -> Badge {
    let bounded = kept.iter().filter(|t| t.limited_by.hides_device()).count();
    let both = kept.iter().filter(|t| t.limited_by == LimitedBy::Core).count();
    let asked = |t: &&&Trial| matches!(t.measured.benchmark, Some(Benchmark::Convergence(_)));
    let short = kept.iter().filter(|t| is_short(t)).count();
    // What a search or a measure found is the device's only while both have their processors.
    let rests_on_cores =
        |t: &&&Trial| t.measured.search.is_some() || t.measured.benchmark.is_some();
    let away = kept.iter().filter(rests_on_cores).filter(|t| t.was_away()).count();
    let (state, text) = match bounded {
        0 if away > 0 => (
            State::Warn,
            format!(
                "in {away} of {} tester or device had their processors for less than {}: what they show \
                 may be the machine's",
                units::plural(kept.len(), "trial"),
                units::share(comparable::LEAST_CORE_SHARE)
            ),
        ),
        0 if short > 0 && kept.iter().all(|t| asked(&t)) => (
            State::Warn,
            format!(
                "the tester sent less than it was asked in {}: frames came less often than times need",
                units::plural(short, "trial")
            ),
        ),
        0 if !kept.is_empty() && kept.iter().filter(asked).count() == kept.len() => {
            (State::Good, "the load is the asked one: times rest on no limit".to_owned())
        }
        0 if kept.iter().any(|t| t.measured.environment.takes_turns) => in_turns(kept),
        0 if both > 0 => (
            State::Warn,
            format!(
                "in {both} of {} the tester took over a third of the core that it shares with the \
                 device: the rate is that of both{}",
                units::plural(kept.len(), "trial"),
                shared_core(kept)
            ),
        ),
        0 => {
            let text = "the device was the bottleneck of every trial".to_owned();
            let shared = shared_core(kept);
            let shares = if shared.is_empty() { "" } else { "; it shares a core with the tester" };
            (State::Good, text + shares + &shared)
        }
        n => (
            State::Warn,
            format!(
                "the device could have done more in {n} of {}; {}",
                units::plural(kept.len(), "trial"),
                rest_on(verdicts)
            ),
        ),
    };
    Badge { name: "tester headroom", state, text }
}

/// What verdicts rest on where the device could have done more.
fn rest_on(verdicts: &[VerdictClaim]) -> String {
    let by = |own: &&VerdictClaim, metric: Metric| own.metric == metric.name();
    let is_bounded =
        |own: &&VerdictClaim| own.bounded > 0 && (by(own, Metric::Rate) || by(own, Metric::Cost));
    let of: Vec<&VerdictClaim> = verdicts.iter().filter(is_bounded).collect();
    let by_cost = of.iter().filter(|own| by(own, Metric::Cost)).count();
    let is_apart = |own: &&VerdictClaim| {
        own.findings.iter().any(|finding| matches!(finding, Finding::CostsApart { .. }))
    };
    match by_cost {
        0 if of.iter().any(is_apart) => {
            "its own rate may be higher there, and costs that were taken in two ways are not compared"
                .to_owned()
        }
        0 => "its own rate may be higher there".to_owned(),
        n if n == of.len() => "those verdicts rest on its cost per frame".to_owned(),
        n => format!(
            "{n} of those {} verdicts rest on its cost per frame; in the others its own rate may be higher",
            of.len()
        ),
    }
}

/// Where tester and device take turns on one processor.
fn in_turns(kept: &[&Trial]) -> (State, String) {
    let text =
        "tester and device take turns on one processor: verdicts rest on the device's own cost";
    let is_known = |t: &&&Trial| t.measured.benchmark.is_some() || t.cost_ns().is_some();
    match kept.len() - kept.iter().filter(is_known).count() {
        0 => (State::Good, text.to_owned()),
        n => {
            let of = units::plural(kept.len(), "trial");
            (State::Warn, format!("{text}, which is not known in {n} of {of}"))
        }
    }
}

/// How the lab's own truths came out, here and over all campaigns of this machine.
fn own_truths(proven: Option<&Proven>, unproven: Option<&str>) -> Option<Badge> {
    let name = "own truths";
    let why = unproven.map(str::to_owned);
    let Some(proven) = proven else {
        return why.map(|text| Badge { name, state: State::Warn, text });
    };
    let Proven { truths, earlier_held, earlier, e } = proven;
    let each = truths.iter().map(|own| {
        let interval = own.comparison.interval95;
        let interval = percent_interval(interval.low.percent(), interval.high.percent());
        let what = match own.kind {
            TruthKind::Same => "the baseline beside itself".to_owned(),
            TruthKind::Slower => {
                format!("a planted change of {}", signed_percent(own.truth.percent()))
            }
        };
        let not = if own.is_held { "" } else { "NOT " };
        format!("{what} with {} is {not}in {interval}", own.traffic)
    });
    let here = match truths.len() {
        0 => "too few blocks for any here".to_owned(),
        n => format!(
            "{} of {n} lie in their 95 % intervals here ({})",
            proven.held(),
            each.collect::<Vec<_>>().join("; ")
        ),
    };
    let before = match earlier {
        0 => String::new(),
        n => format!("; {earlier_held} of {n} in earlier campaigns of this machine"),
    };
    let less = why.map_or(String::new(), |why| format!("; {why}"));
    let text = format!(
        "{here}{before}; evidence that more than 5 % of such intervals are wrong: e = {e:.2} \
         ({BROKEN:.0} would show it){less}"
    );
    let state = match (proven.is_broken(), proven.held() == truths.len()) {
        (true, _) => State::Bad,
        (false, true) => State::Good,
        (false, false) => State::Warn,
    };
    Some(Badge { name, state, text })
}

/// How much of their processors tester and device had, where that was measured.
fn cores(kept: &[&Trial]) -> Option<Badge> {
    let mut shares: Vec<f64> = kept.iter().filter_map(|trial| core_share(trial)).collect();
    shares.sort_by(f64::total_cmp);
    let (low, high) = (shares.first().copied()?, shares.last().copied()?);
    let short = shares.iter().filter(|share| **share < comparable::LEAST_CORE_SHARE).count();
    let shares_text = span(units::share(low), &units::share(high));
    let text = format!("tester and device had {shares_text} of theirs");
    let least = units::share(comparable::LEAST_CORE_SHARE);
    let (state, text) = if validity::cores_taken(&shares, kept.len()).is_some() {
        (State::Bad, format!("{text}: this machine belongs to others, and no verdict is given"))
    } else if short > 0 {
        (State::Warn, format!("{text}; less than {least} in {}", units::plural(short, "trial")))
    } else {
        (State::Good, text)
    };
    Some(Badge { name: "cores", state, text })
}

/// What was left out because the device's processor was slow, where that was measured.
fn processor(kept: &[&Trial]) -> Option<Badge> {
    let all = || kept.iter().flat_map(|trial| &trial.measured.intervals);
    if all().all(|interval| interval.slow_share.is_none()) {
        return None;
    }
    let slow = all().filter(|interval| interval.is_slow()).count();
    let left = format!(
        "the device's processor was slow in {} of {}",
        units::count(slow as u64),
        units::plural(all().count(), "interval")
    );
    let mixed = kept
        .iter()
        .filter(|trial| trial.steady_intervals().iter().any(fwdlab_results::Interval::is_slow))
        .count();
    let (state, text) = match mixed {
        0 if slow == 0 => (State::Good, "at full speed in every interval".to_owned()),
        0 => (State::Good, format!("{left}; these do not count")),
        n => (
            State::Warn,
            format!("{left}; in {} too few others remained", units::plural(n, "trial")),
        ),
    };
    Some(Badge { name: "processor", state, text })
}

/// The device's share of a core on which the tester runs too.
fn shared_core(kept: &[&Trial]) -> String {
    let shares = kept.iter().filter_map(|t| t.measured.environment.device_share);
    let bounds = shares.fold(None, |bounds: Option<(f64, f64)>, share| {
        Some(bounds.map_or((share, share), |(low, high)| (low.min(share), high.max(share))))
    });
    bounds.map_or_else(String::new, |(low, high)| {
        format!("; the device had {} to {} of that core", units::share(low), units::share(high))
    })
}

fn flows(kept: &[&Trial]) -> Badge {
    let is_wrong =
        |t: &&&Trial| t.flows_due().is_some_and(|due| t.measured.flows_seen != Some(due));
    let wrong: Vec<_> = kept.iter().filter(is_wrong).collect();
    let mut planned: Vec<u64> = kept.iter().filter_map(|t| t.flows_planned).collect();
    planned.sort_unstable();
    planned.dedup();
    let planned: Vec<String> = planned.into_iter().map(units::count).collect();
    let planned = match planned.is_empty() {
        true => "how many were planned is not known".to_owned(),
        false => format!("{} planned", planned.join(" / ")),
    };
    if kept.iter().all(|t| t.measured.flows_seen.is_none()) {
        // of a published rate search only the sender's log may be there
        let is_heard = kept.iter().any(|t| t.measured.received > 0);
        let why =
            if is_heard { "the receiver did not count them" } else { "no receiver was logged" };
        let text = format!("{planned}; {why}");
        return Badge { name: "flows seen", state: State::Warn, text };
    }
    let one = wrong.first().map(|trial| {
        let seen = trial.measured.flows_seen.map_or("none counted".to_owned(), units::count);
        format!("{} in {}", seen, trial.id)
    });
    match one {
        None => Badge {
            name: "flows seen",
            state: State::Good,
            text: match kept.iter().any(|t| t.flows_due().is_none() && t.flows_planned.is_some()) {
                true => format!("{planned}; a full table refuses some"),
                false => format!("{planned}, all seen in every trial"),
            },
        },
        Some(one) => {
            let trials = units::plural(wrong.len(), "trial");
            Badge {
                name: "flows seen",
                state: State::Bad,
                text: format!("{planned}, another number seen in {trials} ({one})"),
            }
        }
    }
}

fn frames(kept: &[&Trial]) -> Badge {
    let checks = || kept.iter().filter_map(|t| t.measured.checks);
    let sum = |count: fn(Checks) -> u64| checks().map(count).sum::<u64>();
    let checked = sum(|c| c.checked);
    let wrong = sum(|c| {
        c.duplicated + c.misrouted + c.bad_ttl + c.bad_checksum + c.bad_mac + c.bad_payload
    });
    let reordered = sum(|c| c.reordered);
    let state = match (wrong, checked, reordered) {
        (0, 0, _) => State::Warn,
        (0, _, 0) => State::Good,
        (0, _, _) => State::Warn,
        _ => State::Bad,
    };
    if checked == 0 {
        let text = "the receiver did not look into them".to_owned();
        return Badge { name: "frames", state, text };
    }
    let text = format!(
        "{} looked into: {} wrong, {} reordered",
        units::count(checked),
        units::count(wrong),
        units::count(reordered)
    );
    Badge { name: "frames", state, text }
}

/// Whether the settings of each variant were read back from the device.
fn proof(results: &Results, claims: &Claims) -> Badge {
    let name = "proof of change";
    if !results.campaign.is_blocked() {
        return logged_change(name, claims);
    }
    let unproven = claims.verdicts.iter().flat_map(|v| &v.findings).find_map(|f| match f {
        Finding::NotApplied { .. } => Some(f.to_string()),
        _ => None,
    });
    if let Some(text) = unproven {
        return Badge { name, state: State::Bad, text };
    }
    let mut twins: Vec<String> = claims
        .verdicts
        .iter()
        .flat_map(|v| &v.findings)
        .filter(|f| matches!(f, Finding::NothingDiffers { .. }))
        .map(Finding::to_string)
        .collect();
    twins.dedup();
    if !twins.is_empty() {
        return Badge { name, state: State::Warn, text: twins.join("; ") };
    }
    let baseline =
        |traffic: &str| claims.cells.iter().find(|c| c.is_baseline && c.traffic == traffic);
    let is_silent = |cell: &&Cell| cell.proof.is_empty();
    let silent: Vec<&str> = results
        .campaign
        .variants
        .iter()
        .filter(|v| claims.cells.iter().any(|c| c.variant == **v && is_silent(&c)))
        .map(String::as_str)
        .collect();
    if !silent.is_empty() {
        // What FAILED before it began says nothing of what the device answers.
        let text = match claims.cells.iter().filter(is_silent).all(|cell| cell.kept.is_empty()) {
            true => {
                format!("no trial that counts, and so nothing read back, of {}", silent.join(", "))
            }
            false => format!("nothing read back from the device for {}", silent.join(", ")),
        };
        return Badge { name, state: State::Warn, text };
    }
    let same: Vec<String> = claims
        .cells
        .iter()
        .filter(|c| !c.is_baseline && baseline(&c.traffic).is_some_and(|b| is_same(claims, b, c)))
        .map(|c| format!("{} ({})", c.variant, c.traffic))
        .collect();
    if same.is_empty() {
        let text = "each variant's settings were read back and differ from the baseline's";
        Badge { name, state: State::Good, text: text.to_owned() }
    } else {
        let text = format!("read back the same as the baseline: {}", same.join(", "));
        Badge { name, state: State::Warn, text }
    }
}

/// Whether two cells read back the same: every word that either of them sets, and all else that was read
/// back of both. (With the traffic of one family a device may answer neither for a word of the other.)
fn is_same(claims: &Claims, one: &Cell, other: &Cell) -> bool {
    let variants = claims.setting.variants.iter();
    let two = variants.filter(|v| [&one.variant, &other.variant].contains(&&v.name));
    let (a, b) = (&one.proof, &other.proof);
    let mut words = two.flat_map(|variant| variant.set.keys());
    let are_known = words.all(|word| a.contains_key(word) == b.contains_key(word));
    let is_unlike = |(word, value): (&String, &String)| b.get(word).is_some_and(|v| v != value);
    are_known && !a.iter().filter(|(word, _)| !Queue::is_count(word)).any(is_unlike)
}

/// Whether the logs of each variant name another kernel, image or
/// configuration than the baseline's.
fn logged_change(name: &'static str, claims: &Claims) -> Badge {
    let logged = |c: &Cell| ["uname", "image", "configuration"].map(|k| c.proof.get(k).cloned());
    let same: Vec<String> = claims
        .cells
        .iter()
        .filter(|c| !c.is_baseline)
        .filter(|c| {
            let baseline = claims.cells.iter().find(|b| b.is_baseline && b.traffic == c.traffic);
            baseline.is_some_and(|b| logged(b) == logged(c))
        })
        .map(|c| format!("{} ({})", c.variant, c.traffic))
        .collect();
    if same.is_empty() {
        let text = "each variant's logs name another kernel, image or configuration than the \
                    baseline's; nothing was read back while the trials ran";
        Badge { name, state: State::Warn, text: text.to_owned() }
    } else {
        let text = format!("logged the same as the baseline: {}", same.join(", "));
        Badge { name, state: State::Warn, text }
    }
}

fn stability(claims: &Claims) -> Badge {
    let unstable = |f: &&Finding| {
        // those have badges of their own
        let is_elsewhere =
            matches!(f, Finding::TrialsMissing { .. } | Finding::NothingDiffers { .. });
        f.severity() == Severity::Warning && !is_elsewhere
    };
    let doubts: Vec<String> = claims
        .verdicts
        .iter()
        .flat_map(|v| {
            v.findings.iter().filter(unstable).map(|f| format!("{}: {}", v.traffic, v.doubt(f)))
        })
        .collect();
    match doubts.as_slice() {
        [] => Badge {
            name: "stability",
            state: State::Good,
            text: "no stray run, no second cluster, no drift".to_owned(),
        },
        [one] => Badge { name: "stability", state: State::Warn, text: one.clone() },
        [one, rest @ ..] => Badge {
            name: "stability",
            state: State::Warn,
            text: format!("{one} (and {} more)", rest.len()),
        },
    }
}
