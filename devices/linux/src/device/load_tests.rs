//! The measures that overload the kernel, against truths that were planted.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fwdlab_device::turns::{Again, Workers};
use fwdlab_experiment::Experiment;
use fwdlab_port::affinity;
use fwdlab_results::{BackToBack, Benchmark, LatencyAt, Reset, SearchTrial};
use fwdlab_topology::TopologyError;
use nix::sched::{CloneFlags, setns};

use super::tests::{ALONE, first_trials_of};
use super::*;
use crate::LinuxError;
use crate::loads;
use crate::probe::try_live_frames;
use crate::setup::DEVICE;
use crate::tester::Offering;

/// The trials of one measure, by variant; nothing where this machine cannot.
fn trials(test: &str, measure: &str, variants: &str) -> Option<Vec<(String, Measured)>> {
    if affinity::allowed_cores().len() < 2 {
        eprintln!("SKIPPED {test}: needs two processors");
        return None;
    }
    let how = match measure {
        "loss-curve" => "[benchmarks]\nloads = [\"10%\", \"300%\"]\n",
        "recovery" => "[benchmarks]\noverload = \"200%\"\n",
        "soak" => "[benchmarks]\nsoak = \"400ms\"\n",
        _ => "",
    };
    let text = format!(
        "title = \"t\"\ndevice = \"linux\"\nbaseline = \"one\"\nmeasure = \"{measure}\"\n\
         duration = \"200ms\"\nwarmup = \"0ms\"\ninterval = \"20ms\"\n\
         {how}{variants}\
         [[traffic]]\nname = \"inet\"\nsource = \"198.18.10.1-198.18.10.20:2000\"\n\
         destination = \"198.19.10.1-198.19.10.100:2000\"\n\
         [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.203\"]\n"
    );
    first_trials_of("linux", &text, Path::new("t.toml"), test, usize::MAX)
}

/// Whether other programs had the processors in one of the trials, so that its figures are theirs.
fn is_crowded(test: &str, list: &[(String, Measured)]) -> bool {
    let shares = list.iter().filter_map(|(_, measured)| measured.environment.core_share);
    let least = shares.fold(1.0, f64::min);
    if least < 0.9 {
        eprintln!("SKIPPED {test}: the tester had its processor for {:.0} % only", 100.0 * least);
    }
    least < 0.9
}

/// A variant that drops what comes from one source in four, and one that does nothing.
fn lossy() -> String {
    let drop = "table inet t { chain c { type filter hook forward priority 0; \
                ip saddr { 198.18.10.1, 198.18.10.2, 198.18.10.3, 198.18.10.4, 198.18.10.5 } drop; }; }";
    format!(
        "[[variant]]\nname = \"one\"\nset = {{ nftables = \"{drop}\" }}\n\
         [[variant]]\nname = \"two\"\n"
    )
}

#[test]
fn loss_at_a_low_load_is_what_the_rules_drop_and_at_a_high_one_what_finds_no_room() {
    let test = "loss_at_a_low_load";
    let Some(list) = trials(test, "loss-curve", &lossy()) else { return };
    let share = |tried: &SearchTrial| tried.lost as f64 / tried.sent as f64;
    for (at, (name, measured)) in list.iter().enumerate() {
        let Some(Benchmark::LossCurve(own)) = &measured.benchmark else {
            panic!("{name}: a curve")
        };
        // Two thirds, unless a busy machine made the highest rate look lower than it is.
        assert!(share(&own.down[0]) > 0.1 && share(&own.up[1]) > 0.1, "{name}: {own:?}");
        if at == 0 {
            // Five of twenty sources; others may take the processors' time, and more is lost then.
            assert!(share(&own.up[0]) > 0.24, "{name}: {own:?}");
        }
        assert!(measured.proof.contains_key("device's processors"), "{:?}", measured.proof);
    }
}

#[test]
fn a_device_made_slower_by_rules_has_less_throughput() {
    let rules = "ip saddr 10.0.0.1 drop; ".repeat(399) + "ip saddr 10.0.0.1 drop";
    let variants = format!(
        "[[variant]]\nname = \"one\"\n[[variant]]\nname = \"slow\"\n\
         set = {{ nftables = \"table inet t {{ chain c {{ type filter hook forward priority 0; {rules}; }}; }}\" }}\n"
    );
    let Some(list) = trials("a_device_made_slower_by_rules", "throughput", &variants) else {
        return;
    };
    if is_crowded("a_device_made_slower_by_rules", &list) {
        return;
    }
    let found: Vec<f64> =
        list.iter().filter_map(|(_, own)| Some(own.search.as_ref()?.mrr_pps)).collect();
    assert!(found.len() == 2 && found[1] < 0.7 * found[0], "{found:?}");
    for (name, measured) in &list {
        let search = measured.search.as_ref().expect("it was searched for");
        assert!(search.lower_pps <= 1.2 * search.mrr_pps && search.trials.len() > 3, "{name}");
    }
}

/// Latency of each variant at 2, 10 and 18 thousand frames a second; nothing where this machine cannot.
fn latencies(test: &str, variants: &str) -> Option<Vec<Vec<LatencyAt>>> {
    let text = format!(
        "title = \"t\"\ndevice = \"linux\"\nbaseline = \"one\"\nmeasure = \"throughput\"\nlatency = true\n\
         duration = \"200ms\"\nwarmup = \"0ms\"\ninterval = \"20ms\"\n{variants}\
         [[traffic]]\nname = \"inet\"\nsource = \"198.18.10.1-198.18.10.20:2000\"\n\
         destination = \"198.19.10.1-198.19.10.100:2000\"\n\
         [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.203\"]\n"
    );
    let experiment = Experiment::parse(Path::new("t.toml"), &text, &[&crate::LINUX]).unwrap();
    let experiment = Arc::new(experiment);
    let can = Namespaces::new(experiment.clone(), false)
        .and_then(|device| try_live_frames().map(|()| device).map_err(Into::into));
    let mut device = match can {
        Ok(device) => device,
        Err(error) => {
            eprintln!("SKIPPED {test}: {error}");
            return None;
        }
    };
    if affinity::allowed_cores().len() < 2 {
        eprintln!("SKIPPED {test}: needs two processors");
        return None;
    }
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let stop = AtomicBool::new(false);
    let watch = Watch { on_interval: &mut |_| (), stop: &stop };
    let mut found = Vec::new();
    for variant in &experiment.variants {
        device.set_up(variant).unwrap();
        let (mut settings, _) = device.applied.clone().unwrap();
        loads::place(&mut settings, device.core).unwrap();
        let request =
            Request { experiment: &experiment, variant, traffic: &experiment.traffics[0] };
        let shared = shared_map().unwrap();
        let _input = device.attach_input(&experiment, &settings, &shared).unwrap();
        device.tuning.place(&device.testbed, &settings).unwrap();
        let mut bench = Offering {
            testbed: &mut device.testbed,
            request: &request,
            core: device.core,
            watch: &watch,
            workers: Workers::of(settings.rps),
            again: Again::default(),
        };
        found.push(bench.latency_at_shares(20_000.0).unwrap());
    }
    Some(found)
}

/// Four hundred rules lie in the way of each frame, which take more than a nanosecond each. Whatever else runs here,
/// some frames have the processors for themselves: the least of each variant says what was planted.
#[test]
fn frames_take_at_least_as_long_as_the_rules_in_their_way() {
    let test = "frames_take_at_least_as_long_as_the_rules";
    let rules = "ip saddr 10.0.0.1 drop; ".repeat(399) + "ip saddr 10.0.0.1 drop";
    let variants = format!(
        "[[variant]]\nname = \"one\"\n[[variant]]\nname = \"slow\"\n\
         set = {{ nftables = \"table inet t {{ chain c {{ type filter hook forward priority 0; {rules}; }}; }}\" }}\n"
    );
    let Some(found) = latencies(test, &variants) else { return };
    for of_variant in &found {
        let shares: Vec<f64> = of_variant.iter().map(|at| at.share).collect();
        assert_eq!(shares, fwdlab_procedures::LATENCY_SHARES);
        for LatencyAt { figures: own, .. } in of_variant {
            let order = [own.minimum_ns, own.median_ns, own.p99_ns, own.p99_9_ns, own.maximum_ns];
            assert!(order.is_sorted() && own.minimum_ns > 0 && own.frames > 0, "{own:?}");
        }
    }
    let least = |of: &[LatencyAt]| of.iter().map(|at| at.figures.minimum_ns).min().unwrap();
    assert!(least(&found[1]) > least(&found[0]) + 400, "{found:?}");
    eprintln!("least {} and {} ns", least(&found[0]), least(&found[1]));
}

#[test]
fn frames_without_room_for_a_time_are_refused_where_they_stand() {
    let text = "title = \"t\"\ndevice = \"linux\"\nbaseline = \"a\"\nmeasure = \"throughput\"\n\
                latency = true\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
                [[traffic]]\nname = \"inet6\"\nframe = \"min\"\nsource = \"[2001:2::1]:7\"\n\
                destination = \"[2001:2:0:8010::1]:7\"\n\
                [routes]\nstatic = [\"2001:2:0:8000::/49 via 2001:2:0:8000::2\"]\n";
    let check = |text: &str| {
        let experiment = Experiment::parse(Path::new("t.toml"), text, &[&crate::LINUX]).unwrap();
        crate::tester::check_latency(&experiment).map_err(|error| error.to_string())
    };
    let said = check(text).unwrap_err();
    assert!(said.starts_with("t.toml:12:9: traffic[1].frame: frames of 66 bytes"), "{said}");
    assert!(said.ends_with("write frame = 82, or remove latency"), "{said}");
    for change in [("\"min\"", "82"), ("latency = true\n", "")] {
        assert_eq!(check(&text.replace(change.0, change.1)), Ok(()));
    }
}

#[test]
fn an_overload_loses_frames_and_a_soak_dates_them() {
    let test = "an_overload_loses_frames";
    let variants = "[[variant]]\nname = \"one\"\n[[variant]]\nname = \"two\"\n";
    if let Some(list) = trials(test, "recovery", variants) {
        let Some(Benchmark::Recovery(own)) = &list[0].1.benchmark else { panic!("a recovery") };
        assert!(own.ended_ns <= 200_000_000, "{own:?}");
        let ratio = own.overload_pps / own.throughput_pps;
        assert!((ratio - 2.0).abs() < 1e-9, "{own:?}");
    }
    let Some(list) = trials(test, "soak", variants) else { return };
    let Some((_, measured)) = list.first() else { panic!("a trial") };
    let Some(Benchmark::Soak(own)) = &measured.benchmark else { panic!("a soak") };
    let dated: u64 = own.losses.iter().map(|loss| loss.frames).sum();
    assert_eq!(dated, own.lost);
}

/// A variant whose rules let so many frames through at once and then few, for each number; and one without.
fn limited(bursts: [u32; 2]) -> String {
    let rules = |burst: u32| {
        format!(
            "table inet t {{ chain c {{ type filter hook forward priority 0; \
             limit rate 250000/second burst {burst} packets accept; drop; }}; }}"
        )
    };
    format!(
        "[[variant]]\nname = \"one\"\nset = {{ nftables = \"{}\" }}\n\
         [[variant]]\nname = \"half\"\nset = {{ nftables = \"{}\" }}\n\
         [[variant]]\nname = \"none\"\n",
        rules(bursts[0]),
        rules(bursts[1])
    )
}

#[test]
fn the_longest_burst_is_what_rules_let_through_at_once_or_what_the_backlog_holds() {
    let test = "the_longest_burst";
    let Some(list) = trials(test, "back-to-back", &limited([600, 300])) else { return };
    let found: Vec<BackToBack> = list
        .iter()
        .map(|(name, measured)| match &measured.benchmark {
            Some(Benchmark::BackToBack(own)) => own.clone(),
            other => panic!("{name}: {other:?}"),
        })
        .collect();
    let frames: Vec<f64> = found.iter().filter_map(BackToBack::frames).collect();
    let [one, half, none] = frames[..] else { panic!("{found:?}") };
    // To 1/256; while a burst goes on, a few more are let through.
    assert!(one >= 0.99 * 600.0 && half >= 0.99 * 300.0, "{frames:?}");
    assert!(half < 0.75 * one, "{frames:?}");
    let backlog = fs::read_to_string("/proc/sys/net/core/netdev_max_backlog").expect("a sysctl");
    let backlog: f64 = backlog.trim().parse().expect("a number");
    assert!(none >= backlog && none > one, "{frames:?}, a backlog of {backlog}");
    assert!(found.iter().all(|own| own.found.len() >= 5), "{found:?}");
}

#[test]
fn a_reset_takes_longer_where_there_are_more_routes_and_loses_frames_meanwhile() {
    let test = "a_reset_takes_longer";
    let variants = "[[variant]]\nname = \"one\"\n[[variant]]\nname = \"full\"\n\
                    set = { routes = \"30000\" }\n";
    let Some(list) = trials(test, "reset", variants) else { return };
    if is_crowded(test, &list) {
        return;
    }
    let found: Vec<&Reset> = list
        .iter()
        .map(|(name, measured)| match &measured.benchmark {
            Some(Benchmark::Reset(own)) => own,
            other => panic!("{name}: {other:?}"),
        })
        .collect();
    for own in &found {
        assert!(own.gap_ns > 0 && own.start_ns > 0, "{own:?}");
    }
    assert!(found[1].start_ns > found[0].start_ns && found[1].lost > 0, "{found:?}");
    // All that was there is there again: frames are counted after it as before.
    for (name, measured) in &list {
        assert!(measured.received > 0, "{name}");
    }
}

/// One trial of a measure while something happens in the device's namespace, on a thread of its own there until it is
/// told that the trial is over; with what that was. Nothing where this machine cannot.
fn trial_beside<T: Send>(
    test: &str,
    (measure, how, set): (&str, &str, &str),
    plant: impl FnOnce(&AtomicBool) -> T + Send,
) -> Option<(Measured, T)> {
    let text = format!(
        "title = \"t\"\ndevice = \"linux\"\nbaseline = \"one\"\nmeasure = \"{measure}\"\n\
         duration = \"100ms\"\nwarmup = \"0ms\"\ninterval = \"20ms\"\n[benchmarks]\n{how}\n\
         [[variant]]\nname = \"one\"\n{set}\n[[variant]]\nname = \"two\"\n\
         [[traffic]]\nname = \"inet\"\nsource = \"198.18.10.1-198.18.10.20:2000\"\n\
         destination = \"198.19.10.1-198.19.10.100:2000\"\n\
         [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.203\"]\n"
    );
    let text = if how.is_empty() { text.replace("[benchmarks]\n", "") } else { text };
    let read = Experiment::of_text(Path::new("t.toml"), &text, &[&crate::LINUX]);
    let experiment = Arc::new(read.expect("a right experiment"));
    let skipped = |why: String| {
        eprintln!("SKIPPED {test}: {why}");
        None
    };
    if affinity::allowed_cores().len() < 2 {
        return skipped("needs two processors".to_owned());
    }
    let can = Namespaces::new(experiment.clone(), false)
        .and_then(|device| try_live_frames().map(|()| device).map_err(Into::into));
    let mut device = match can {
        Ok(device) => device,
        Err(error) => return skipped(error.to_string()),
    };
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let (stop, is_over) = (AtomicBool::new(false), AtomicBool::new(false));
    let mut watch = Watch { on_interval: &mut |_| (), stop: &stop };
    let variant = &experiment.variants[0];
    match device.set_up(variant) {
        Err(error @ LinuxError::Topology(TopologyError::NftMissing { .. })) => {
            return skipped(error.to_string());
        }
        set_up => set_up.expect("set up"),
    };
    let name = device.testbed.namespace(DEVICE).expect("the device's").name().to_owned();
    let (made, planted) = std::thread::scope(|scope| {
        let planted = scope.spawn(|| {
            let namespace = fs::File::open(Path::new("/run/netns").join(name)).expect("a file");
            setns(namespace, CloneFlags::CLONE_NEWNET).expect("entered");
            plant(&is_over)
        });
        let request =
            Request { experiment: &experiment, variant, traffic: &experiment.traffics[0] };
        let made = device.trial(&request, &mut watch);
        is_over.store(true, Ordering::Relaxed);
        (made, planted.join().expect("planted"))
    });
    match made {
        Ok(measured) => {
            let share = measured.environment.core_share.unwrap_or(1.0);
            match share < 0.9 {
                true => {
                    skipped(format!("the tester had its processor for {:.0} % only", 100.0 * share))
                }
                false => Some((measured, planted)),
            }
        }
        Err(error) => skipped(format!("other programs have the processors: {error}")),
    }
}

/// Whether tests of several seconds are asked for.
fn is_long(test: &str) -> bool {
    let is_asked = std::env::var_os("FWDLAB_LONG_TESTS").is_some();
    if !is_asked {
        eprintln!("SKIPPED {test}: takes some seconds; FWDLAB_LONG_TESTS=1 runs it");
    }
    is_asked
}

/// How long the device forwarded nothing.
#[derive(Clone, Copy, Debug)]
struct Shut {
    /// When it began.
    at: Instant,
    /// At least and at most.
    between: [Duration; 2],
}

/// Forwards nothing for so long.
fn shut(time: Duration) -> Shut {
    let forward =
        |value: &str| fs::write("/proc/sys/net/ipv4/ip_forward", value).expect("a sysctl");
    let before = Instant::now();
    forward("0");
    let at = Instant::now();
    std::thread::sleep(time);
    let least = at.elapsed();
    forward("1");
    Shut { at, between: [least, before.elapsed()] }
}

/// Of the kernel's file about the network of this thread.
fn of_network(file: &str) -> String {
    fs::read_to_string(format!("/proc/thread-self/net/{file}")).expect("a file of the kernel's")
}

/// From the moment when the routes are gone the device is shut for longer than it takes to make it anew.
#[test]
fn a_reset_takes_as_long_as_the_device_stays_shut() {
    let test = "a_reset_takes_as_long";
    let time = Duration::from_millis(120);
    let plant = |is_over: &AtomicBool| {
        let has_route = || of_network("route").contains("000013C6");
        let mut was_there = false;
        while !is_over.load(Ordering::Relaxed) {
            let is_there = has_route();
            if was_there && !is_there {
                return Some(shut(time));
            }
            was_there = is_there;
            std::thread::sleep(Duration::from_micros(500));
        }
        None
    };
    let Some((measured, planted)) = trial_beside(test, ("reset", "", ""), plant) else { return };
    let Some(Benchmark::Reset(own)) = &measured.benchmark else { panic!("a reset") };
    let Some(Shut { between: [least, most], .. }) = planted else {
        eprintln!("SKIPPED {test}: the reset was not seen: other programs have the processors");
        return;
    };
    let gap = Duration::from_nanos(own.gap_ns);
    eprintln!("{test}: shut for {least:?} to {most:?}, a gap of {gap:?}");
    // Seen to 0.2 ms; the device was away before it was shut, and its first frame takes some time.
    assert!(gap >= least.saturating_sub(Duration::from_millis(1)), "{gap:?}");
    assert!(gap <= most + Duration::from_millis(60), "{gap:?}, {most:?}");
    let due = own.load_pps * least.as_secs_f64();
    assert!(own.lost as f64 >= 0.9 * due, "{own:?}");
}

/// Once a load has lasted longer than those of the search, the device is shut.
#[test]
fn a_soak_finds_one_loss_of_what_was_due_while_the_device_was_shut_and_its_time() {
    let test = "a_soak_finds_one_loss";
    if !is_long(test) {
        return;
    }
    let time = Duration::from_millis(60);
    let plant = |is_over: &AtomicBool| {
        let received = || {
            let line = of_network("dev").lines().find_map(|line| {
                line.trim().strip_prefix("port0:")?.split_whitespace().nth(1)?.parse::<u64>().ok()
            });
            line.unwrap_or(0)
        };
        let (mut last, mut seen) = (received(), Instant::now());
        let mut begun = seen;
        while !is_over.load(Ordering::Relaxed) {
            // Seldom, as it takes time from the tester or the device.
            std::thread::sleep(Duration::from_millis(5));
            let (count, now) = (received(), Instant::now());
            if count != last {
                if now - seen > Duration::from_millis(15) {
                    begun = now;
                }
                (last, seen) = (count, now);
                if now - begun > Duration::from_millis(250) {
                    return Some((begun, shut(time)));
                }
            }
        }
        None
    };
    let how = "soak = \"600ms\"\nsoak_load = \"30%\"";
    let Some((measured, planted)) = trial_beside(test, ("soak", how, ""), plant) else { return };
    let Some(Benchmark::Soak(own)) = &measured.benchmark else { panic!("a soak") };
    let Some((begun, Shut { at, between: [least, most] })) = planted else {
        eprintln!("SKIPPED {test}: the soak was not seen: other programs have the processors");
        return;
    };
    let frames = [least, most].map(|time| own.load_pps * time.as_secs_f64());
    let at = at - begun;
    eprintln!("{test}: shut after {at:?} for {least:?} to {most:?}: {frames:.0?} frames; {own:?}");
    assert_eq!(own.losses.iter().map(|loss| loss.frames).sum::<u64>(), own.lost);
    let longest = own.losses.iter().max_by_key(|loss| loss.frames).expect("a loss");
    // What comes in bursts of the tester's may be due a little earlier or later.
    let found = longest.frames as f64;
    assert!(found >= 0.9 * frames[0] && found <= 1.1 * frames[1] + 200.0, "{found} of {frames:?}");
    // Dated to 100 ms.
    let at = at.as_nanos() as u64;
    let slack = 20_000_000;
    assert!(
        longest.at_ns <= at + slack && at <= longest.at_ns + longest.ns + slack,
        "{at} {own:?}"
    );
}

/// Rules that shut senders out for 60 ms after the last frame too many: so long after an overload they are let through
/// again.
#[test]
fn loss_ends_when_senders_are_let_through_again_after_an_overload() {
    let test = "loss_ends_when_senders";
    if !is_long(test) {
        return;
    }
    let rules = "table inet t { set s { type ipv4_addr; flags dynamic, timeout; timeout 60ms; size 256; }; \
                 chain c { type filter hook forward priority 0; \
                 limit rate over 60000/second burst 2000 packets update @s { ip saddr } drop; ip saddr @s drop; }; }";
    let set = format!("set = {{ nftables = \"{rules}\" }}");
    let how = "overload = \"200%\"\nrelief = \"20%\"";
    let none = |_: &AtomicBool| ();
    let Some((measured, ())) = trial_beside(test, ("recovery", how, &set), none) else { return };
    let Some(Benchmark::Recovery(own)) = &measured.benchmark else { panic!("a recovery") };
    eprintln!("{test}: {own:?}");
    // The bucket has to empty in 100 ms.
    if own.overload_pps < 90_000.0 {
        eprintln!(
            "SKIPPED {test}: other programs have the processors: no overload in twice what was found"
        );
        return;
    }
    assert!(own.lost_in_overload > 0, "{own:?}");
    let [least, most] = [50, 75].map(Duration::from_millis);
    let ended = Duration::from_nanos(own.ended_ns);
    assert!(least <= ended && ended <= most, "{own:?}");
}

/// A shaper that holds so many frames, and lets few go meanwhile.
#[test]
fn a_shaper_holds_as_many_frames_as_it_was_told() {
    let test = "a_shaper_holds_as_many_frames";
    if !is_long(test) {
        return;
    }
    for frames in [300_u64, 600] {
        // Frames of 64 bytes are 60 to it: 40,000 a second.
        let bytes = (60 * frames).to_string();
        let plant = move |_: &AtomicBool| {
            let words = "qdisc add dev port1 root tbf rate 19200kbit burst 2000 limit";
            let told = Command::new("tc").args(words.split(' ').chain([&bytes[..]])).status();
            told.is_ok_and(|told| told.success())
        };
        let own = trial_beside(test, ("back-to-back", "", ""), plant);
        let Some((measured, is_there)) = own else { return };
        if !is_there {
            eprintln!("SKIPPED {test}: there is no tc, or no tbf in this kernel");
            return;
        }
        let Some(Benchmark::BackToBack(own)) = &measured.benchmark else { panic!("bursts") };
        let found = own.frames().expect("bursts");
        eprintln!("{test}: {frames} planted, {found} found, buffers of {:?}", own.buffer_frames());
        // What is let go while a burst comes (a millisecond or two), and what may go at once: 33 frames.
        let most = 1.05 * frames as f64 + 33.0 + 200.0;
        assert!(found >= 0.98 * frames as f64 && found <= most, "{found} of {frames}");
    }
}

/// A load above what rules let through loses frames until it ends, and a soak below it does not end them.
#[test]
fn what_rules_let_through_is_where_recovery_begins_and_a_soak_ends() {
    let test = "what_rules_let_through";
    let variants = limited([2000, 2000]);
    if let Some(list) = trials(test, "recovery", &variants)
        && !is_crowded(test, &list)
    {
        for (name, measured) in list.iter().take(2) {
            let Some(Benchmark::Recovery(own)) = &measured.benchmark else { panic!("{name}") };
            // Twice what is let through without a loss: a good part of it is lost while it lasts.
            let due = own.overload_pps * own.overload_ms / 1e3;
            assert!(own.lost_in_overload as f64 > 0.2 * due, "{name}: {own:?}");
            assert!(own.throughput_pps < 400_000.0, "{name}: {own:?}");
        }
    }
    let Some(list) = trials(test, "soak", &variants) else { return };
    if is_crowded(test, &list) {
        return;
    }
    for (name, measured) in list.iter().take(2) {
        let Some(Benchmark::Soak(own)) = &measured.benchmark else { panic!("{name}") };
        assert!(own.load_pps < 400_000.0, "{name}: {own:?}");
    }
}

/// The text of an experiment with these keys on top, of a variant, and of the traffic.
fn refused(top: &str, set: &str, traffic: &str) -> String {
    let text = format!(
        "title = \"t\"\ndevice = \"linux\"\nbaseline = \"one\"\n{top}\n\
         [[variant]]\nname = \"one\"\n[[variant]]\nname = \"two\"\nset = {{ {set} }}\n\
         [[traffic]]\nname = \"inet\"\nsource = \"198.18.10.1-198.18.10.20:2000\"\n\
         destination = \"198.19.10.1-198.19.10.100:2000\"\n{traffic}\n\
         [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.203\", \"198.18.0.0/16 via 198.18.0.203\"]\n"
    );
    let read = Experiment::of_text(Path::new("t.toml"), &text, &[&crate::LINUX]);
    read.expect_err("refused").to_string()
}

#[test]
fn what_changes_how_an_overload_comes_is_refused_at_its_line() {
    for (measure, set, traffic, line, said) in [
        ("ndr", "", "direction = \"both\"", 14, "that go one way between two ports"),
        ("loss-curve", "", "ports = 4", 14, "that go one way between two ports"),
        (
            "recovery",
            "tester = \"af_xdp\"",
            "",
            9,
            "wanted tester = \"auto\" beside such a measure",
        ),
        ("soak", "router = \"fwdlab\"", "", 9, "wanted router = \"kernel\" beside such a measure"),
        (
            "back-to-back",
            "threaded = \"on\"",
            "",
            9,
            "wanted threaded = \"off\" beside such a measure",
        ),
        ("reset", "tester = \"inject\"", "", 9, "wanted tester = \"auto\" beside such a measure"),
    ] {
        let problems = refused(&format!("measure = \"{measure}\""), set, traffic);
        let place = format!("t.toml:{line}:");
        assert!(problems.contains(said), "{measure}: {problems}");
        assert!(problems.contains(&place), "{measure}: {problems}");
    }
    let problems = refused("measure = \"rate\"\nlatency = true", "", "");
    assert!(problems.contains("latency at a rate that is not searched for"), "{problems}");
    assert!(problems.contains("write measure = \"throughput\", or remove latency"), "{problems}");
}

#[test]
fn what_is_set_on_two_ports_is_refused_beside_more() {
    for set in ["rps = 3", "gro = \"on\"", "threaded = \"on\"", "xdp = \"forward\""] {
        let problems = refused("", set, "ports = 4");
        assert!(problems.contains("set on two ports of the device"), "{set}: {problems}");
        assert!(problems.contains("t.toml:9:"), "{set}: {problems}");
    }
    let problems = refused("", "tester = \"live\"", "ports = 4");
    assert!(problems.contains("sends one way only"), "{problems}");
}
