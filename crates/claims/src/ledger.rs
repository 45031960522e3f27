//! Do the counts of a trial agree: of the tester with those of the device, of each way with the whole, and which frames
//! left by the side of their senders.

use std::collections::BTreeMap;

use fwdlab_results::{Checks, Measured, Trial, TrialEnvironment, Way};
use fwdlab_stats::plural;
use fwdlab_stats::validity::{self, Finding};

/// Frames of a way that left the device on the side where they had come from: in all, everything adds up.
pub(crate) fn astray(measured: &Measured, set: &BTreeMap<String, String>) -> Option<String> {
    let [ahead, back] = &measured.ways[..] else { return None };
    // The ports of the device tell no more than by how many one way has more of them than the other.
    let is_seen = measured.ways.iter().any(|way| way.checks.returned > 0);
    let strays = |own: &Way, other: &Way| match is_seen {
        true => own.checks.returned,
        false => net_strays(measured, own, other).unwrap_or(0),
    };
    let ways = [
        (ahead, strays(ahead, back), ["sources", "destinations"]),
        (back, strays(back, ahead), ["destinations", "sources"]),
    ];
    let led: Vec<_> =
        ways.into_iter().filter(|(_, strays, _)| !measured.ledger.allows(*strays, 0)).collect();
    let (_, _, [from, to]) = *led.first()?;
    let told = led.iter().map(|(own, strays, [from, to])| {
        let of = own.device_received.unwrap_or(own.sent);
        format!("{strays} of {of} frames to the {to} left on the side of the {from}")
    });
    let told = told.collect::<Vec<_>>().join(" and ");
    let comma = if led.len() > 1 { "," } else { "" };
    let suspects = suspects(set);
    let to_what = match led.len() {
        1 => format!(
            "the {to}{suspects}, each of which needs one as long as any other in [routes] static with a gateway near \
             them, or with \"port {}\"",
            if from == "sources" { 1 } else { 0 }
        ),
        _ => format!(
            "either side{suspects}, each address of which needs one as long as any other in [routes] static with a \
             gateway near it, or with \"port 1\" to the destinations and \"port 0\" to the sources"
        ),
    };
    let is_back = led.iter().any(|(_, _, [from, _])| *from == "destinations");
    let of_files = if is_back { "; the routes of a file all leave by port 1" } else { "" };
    Some(format!(
        "{told}{comma} and came back to their senders: check the routes to {to_what}{of_files}"
    ))
}

/// By how many more frames of a way than of the other left on the wrong side, as the device's ports count.
fn net_strays(measured: &Measured, own: &Way, other: &Way) -> Option<u64> {
    let (received, sent) = (own.device_received?, own.device_sent?);
    let (other_received, other_sent) = (other.device_received?, other.device_sent?);
    // Neither sent nor dropped, were all that was dropped of this way; where nobody counted that, more
    // was sent on the other side than had come for it.
    let strays = match measured.dropped() {
        Some(dropped) => received.saturating_sub(sent).saturating_sub(dropped),
        None => other_sent.saturating_sub(other_received),
    };
    Some(strays.min(other_sent.saturating_sub(other.received)))
}

/// What to do where two counts of the same frames do not agree.
pub(crate) fn helps(measured: &Measured) -> String {
    if let Some(copies) = copies(measured) {
        return format!(
            "the device sent {copies} more than it received, and they came to the tester: look for what makes copies in it \
             (rules with dup, mirrors of tc, a loop), which no rate may count"
        );
    }
    let share = measured.environment.core_share.unwrap_or(1.0);
    if share < TrialEnvironment::LEAST_CORE_SHARE {
        // Streams take no load.
        let or = if measured.offers_load() { ", or ask for a lower load" } else { "" };
        return format!(
            "tester or device had its processor for {:.0} % of the time only, and what waits for it is counted by \
             one side: stop what else runs on this machine (`fwdlab doctor` watches each core){or}",
            100.0 * share
        );
    }
    "look for other programs that send or receive by the ports of the device or of the tester, and for anything \
     between the two that loses frames; if there is neither, run the trial again"
        .to_owned()
}

/// Frames that the device sent beyond those that it received, and the tester got all of: more than what a starved
/// processor leaves for later.
fn copies(measured: &Measured) -> Option<String> {
    let Measured { sent, device_received, device_sent, ledger, .. } = *measured;
    let came = measured.received + measured.checks.map_or(0, |checks| checks.astray);
    let (sent, into, out) = (sent?, device_received?, device_sent?);
    let is_whole = ledger.allows(into, sent) && ledger.allows(came, out);
    let is_more = out > into && came > sent && !ledger.allows(out, into);
    (is_whole && is_more).then(|| plural(out - into, "frame"))
}

/// Two counts of the same frames that do not agree as exactly as the ledger demands.
pub(crate) fn imbalance(measured: &Measured) -> Option<String> {
    let Measured { sent, device_received, device_sent, ledger, .. } = *measured;
    let came = measured.received + measured.checks.map_or(0, |checks| checks.astray);
    let left = device_sent.zip(measured.dropped()).map(|(sent, dropped)| sent + dropped);
    let sides = [
        ("the device received", device_received, "the tester sent", sent),
        ("the device sent or dropped", left, "it received", device_received),
        ("the tester received", Some(came), "the device sent", device_sent),
    ];
    let unequal = sides.into_iter().find_map(|(a, one, b, other)| {
        let (one, other) = (one?, other?);
        let differ = !ledger.allows(one, other);
        differ.then(|| format!(": {a} {one} frames, but {b} {other}"))
    });
    // Where nobody counted what it dropped, it may have dropped any number, but sent no more.
    let (out, into) = (device_sent.unwrap_or(0), device_received.unwrap_or(u64::MAX));
    let is_more = out > into && !ledger.allows(out, into);
    let more = || format!(": the device sent {out} frames, but received {into}");
    unequal.or_else(|| is_more.then(more))
}

/// A way, of frames that went both ways, whose counts do not agree as exactly as the ledger demands;
/// or ways that are not together what was counted in all.
pub(crate) fn imbalance_of_ways(measured: &Measured) -> Option<String> {
    let Measured { ref ways, ledger, .. } = *measured;
    if ways.is_empty() {
        return None;
    }
    let sum = |count: fn(&Way) -> u64| ways.iter().map(count).fold(0, u64::saturating_add);
    let sums = [
        ("sent", sum(|way| way.sent), measured.sent),
        ("received", sum(|way| way.received), Some(measured.received)),
        ("misrouted", sum(|way| way.checks.misrouted), measured.checks.map(|own| own.misrouted)),
    ];
    let unlike = sums.into_iter().find(|(_, ways, whole)| whole.is_some_and(|all| all != *ways));
    if let Some((what, ways, Some(whole))) = unlike {
        let both = format!("{ways} frames were {what} both ways together");
        return Some(format!(": {both}, but {whole} in all"));
    }
    // What came back to its senders came by the port of the other way.
    let returned = |at: usize| ways.get(at).map_or(0, |way| way.checks.returned);
    (0..).zip(ways).zip(Way::NAMES).find_map(|((at, way), name)| {
        let own = (way.received + way.checks.astray).saturating_sub(returned(at));
        let came = own + returned(1 - at);
        let sides = [
            ("the device received", way.device_received, "the tester sent", Some(way.sent)),
            ("the tester received", Some(came), "the device sent", way.device_sent),
        ];
        sides.into_iter().find_map(|(a, one, b, other)| {
            let (one, other) = (one?, other?);
            let differ = !ledger.allows(one, other);
            differ.then(|| format!(" {name}: {a} {one} frames, but {b} {other}"))
        })
    })
}

/// What to look at where frames that went one way left by the side of their senders: no port of the device counts them
/// as lost.
pub(crate) fn returned(measured: &Measured, set: &BTreeMap<String, String>) -> Option<String> {
    let returned = measured.checks.map_or(0, |checks| checks.returned);
    let is_told = measured.ways.is_empty() && returned > 0 && measured.received > 0;
    let frames = match measured.sent {
        Some(sent) => format!("{returned} of {}", plural(sent, "frame")),
        None => plural(returned, "frame"),
    };
    is_told.then(|| {
        format!(
            "{frames} left the device on the side of the sources and came back to their senders: check the routes to \
             the destinations{}",
            suspects(set)
        )
    })
}

/// What was wrong with frames of both sides of a comparison: the most frequent of it.
pub(crate) fn wrong_frames(sides: &[Vec<&Trial>; 2]) -> Option<Finding> {
    let trials = || sides.iter().flatten();
    let checks = || trials().filter_map(|t| t.measured.checks);
    let sum = |count: fn(Checks) -> u64| checks().map(count).sum::<u64>();
    let found = validity::frames(
        sum(|c| c.checked),
        &[
            ("duplicated", sum(|c| c.duplicated)),
            ("misrouted", sum(|c| c.misrouted)),
            ("with a bad TTL or hop limit", sum(|c| c.bad_ttl)),
            ("with a bad checksum", sum(|c| c.bad_checksum)),
            ("with a bad MAC address", sum(|c| c.bad_mac)),
            ("with a changed payload", sum(|c| c.bad_payload)),
        ],
    )?;
    // Whose flow it is and where it came is looked at of every frame, also where the rest is of a few.
    let came =
        || trials().map(|t| t.measured.received + t.measured.checks.map_or(0, |own| own.astray));
    Some(match found {
        Finding::FramesWrong { what, wrong, checked } if what == "misrouted" => {
            Finding::FramesWrong { what, wrong, checked: checked.max(came().sum()) }
        }
        other => other,
    })
}

/// What a variant sets, as what may have stopped every frame.
pub(crate) fn suspects(set: &BTreeMap<String, String>) -> String {
    const MOST: usize = 4;
    const LONGEST: usize = 60;
    if set.is_empty() {
        return String::new();
    }
    let shown = |(word, value): (&String, &String)| {
        let line = value.lines().map(str::trim).collect::<Vec<_>>().join("; ");
        let short: String = line.chars().take(LONGEST).collect();
        let more = if short.len() < line.len() { " ..." } else { "" };
        format!("{word} = {}{more}", fwdlab_guard::words::one_line(&short))
    };
    let words: Vec<String> = set.iter().take(MOST).map(shown).collect();
    let more = if set.len() > MOST { ", ..." } else { "" };
    format!(", and what the variant sets ({}{more})", words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 200 one way and 40 the other 160 were told, and of 40 and 40 nothing.
    #[test]
    fn frames_that_come_back_to_their_senders_are_told_of_each_way() {
        let way = |sent, returned, left| Way {
            sent,
            received: sent - returned,
            device_received: Some(sent),
            device_sent: Some(left),
            checks: Checks { misrouted: returned, astray: returned, returned, ..Checks::default() },
            ..Way::default()
        };
        let both = |ahead: u64, back: u64| {
            let ways =
                vec![way(1000, ahead, 1000 - ahead + back), way(900, back, 900 - back + ahead)];
            let all = ahead + back;
            let checks = Checks { misrouted: all, astray: all, returned: all, ..Checks::default() };
            Measured {
                sent: Some(1900),
                received: 1900 - all,
                device_received: Some(1900),
                device_sent: Some(1900),
                drops: Some(BTreeMap::new()),
                checks: Some(checks),
                ways,
                ..Measured::default()
            }
        };
        for (ahead, back) in [(200, 40), (40, 40)] {
            let said = astray(&both(ahead, back), &BTreeMap::new()).expect("a fault");
            let wanted = format!(
                "{ahead} of 1000 frames to the destinations left on the side of the sources and {back} of 900 \
                 frames to the sources left on the side of the destinations, and came back to their senders"
            );
            assert!(said.starts_with(&wanted), "{said}");
            assert!(said.contains("\"port 1\" to the destinations and \"port 0\""), "{said}");
        }
        let said = astray(&both(0, 7), &BTreeMap::new()).expect("a fault");
        assert!(said.starts_with("7 of 900 frames to the sources left"), "{said}");
        assert!(said.contains("with \"port 0\"; the routes of a file"), "{said}");
        // Where the kernel sent frames of its own, its ports tell nothing; the receivers still do.
        let mut own = both(3, 3);
        own.ways.iter_mut().for_each(|way| (way.device_received, way.device_sent) = (None, None));
        assert!(astray(&own, &BTreeMap::new()).is_some_and(|said| said.starts_with("3 of 1000")));
        assert_eq!(astray(&both(0, 0), &BTreeMap::new()), None);
    }

    #[test]
    fn each_way_has_a_ledger_of_its_own() {
        let way = |sent, received, device: [u64; 2]| Way {
            sent,
            received,
            device_received: Some(device[0]),
            device_sent: Some(device[1]),
            ..Way::default()
        };
        let both = |ahead: Way, back: Way| Measured {
            sent: Some(ahead.sent + back.sent),
            received: ahead.received + back.received,
            ways: vec![ahead, back],
            ..Measured::default()
        };
        let mut good = both(way(100, 90, [100, 90]), way(70, 70, [70, 70]));
        assert_eq!(imbalance_of_ways(&good), None);
        good.sent = Some(171);
        let why = imbalance_of_ways(&good).expect("a frame that went neither way");
        assert!(why.contains("170 frames were sent both ways"), "{why}");
        // A frame of one way that left by the port of the other: in all, everything adds up.
        let astray = both(way(100, 99, [100, 99]), way(70, 70, [70, 71]));
        let why = imbalance_of_ways(&astray).expect("a frame that went astray");
        assert!(why.contains("to the sources") && why.contains("71"), "{why}");
        // What came by another port on the right side, or the wrong one, was sent by the device.
        let checks = Checks { astray: 9, misrouted: 9, ..Checks::default() };
        let mut strayed = both(Way { checks, ..way(100, 91, [100, 100]) }, way(70, 70, [70, 70]));
        strayed.checks = Some(checks);
        (strayed.device_received, strayed.device_sent) = (Some(170), Some(170));
        assert_eq!((imbalance(&strayed), imbalance_of_ways(&strayed)), (None, None));
        // Those that came back to their senders left by the port of the other way.
        let returned = Checks { returned: 9, ..checks };
        let turned =
            both(Way { checks: returned, ..way(100, 91, [100, 91]) }, way(70, 70, [70, 79]));
        assert_eq!(imbalance_of_ways(&turned), None);
        strayed.checks = Some(Checks { misrouted: 18, ..checks });
        let why = imbalance_of_ways(&strayed).expect("counted twice");
        assert!(why.contains("9 frames were misrouted both ways together, but 18 in all"), "{why}");
        let within = Measured { ledger: fwdlab_results::Ledger::Within(1), ..astray };
        assert_eq!(imbalance_of_ways(&within), None);
    }

    /// "Rules or program" was all that was said of them.
    #[test]
    fn frames_of_one_way_that_come_back_are_a_warning_with_what_to_look_at() {
        let checks = Checks { misrouted: 4, astray: 4, returned: 4, ..Checks::default() };
        let own =
            Measured { sent: Some(9), received: 5, checks: Some(checks), ..Measured::default() };
        let said = returned(&own, &BTreeMap::new()).expect("a warning");
        assert!(
            said.starts_with("4 of 9 frames left the device on the side of the sources"),
            "{said}"
        );
        // By another port on the right side.
        let checks = Checks { returned: 0, ..checks };
        let right = Measured { checks: Some(checks), ..own };
        assert_eq!(returned(&right, &BTreeMap::new()), None);
    }

    /// "360 of 790 misrouted" was said of 7000 frames, of which 430 were looked into.
    #[test]
    fn misrouted_frames_are_held_against_all_that_came() {
        let mut trial = fwdlab_results::examples::trial(0);
        trial.measured.received = 6640;
        let checks = Checks { checked: 430, misrouted: 360, astray: 360, ..Checks::default() };
        trial.measured.checks = Some(checks);
        let said =
            |trial: &Trial| wrong_frames(&[vec![trial], Vec::new()]).map(|found| found.to_string());
        assert_eq!(said(&trial).as_deref(), Some("frames: 360 of 7000 misrouted"));
        trial.measured.checks = Some(Checks { bad_ttl: 400, ..checks });
        let wanted = "frames: 400 of 430 with a bad TTL or hop limit";
        assert_eq!(said(&trial).as_deref(), Some(wanted));
    }
}
