//! Convergence, with a delay planted in the device's sync policy.

use fwdlab_device::Place;
use fwdlab_results::{Benchmark, Convergence, PrefixEvent, RouteEvent};

/// Built anew for each change, 400 ms after it (tables of few routes at once).
const LATE: &str = "\"net.route.algo.inet.algo\" = \"radix4_lockless\", \
    \"net.route.algo.bucket_time_ms\" = 400";
/// Each change is made in place.
const AT_ONCE: &str = "\"net.route.algo.inet.algo\" = \"radix4\"";

fn convergence(set: &str) -> Option<Convergence> {
    convergence_at(set, "100kpps")
}

fn convergence_at(set: &str, load: &str) -> Option<Convergence> {
    let text = format!(
        "title = \"t\"\nbaseline = \"a\"\nduration = \"100ms\"\nwarmup = \"0ms\"\n\
         interval = \"20ms\"\nmeasure = \"convergence\"\n[[variant]]\nname = \"a\"\n\
         set = {{ {set} }}\n[[variant]]\nname = \"b\"\n[[traffic]]\nname = \"inet\"\n\
         source = \"198.18.10.1:7\"\ndestination = \"198.19.10.1-198.19.10.50:7\"\n\
         load = \"{load}\"\n[routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.203\", \
         \"198.18.0.0/16 via 198.18.0.203\"]\ngenerate = 20000\n"
    );
    let trial = crate::trial(&text, Place::default(), &mut || {})?;
    assert_eq!(trial.reason, None);
    match trial.measured.benchmark {
        Some(Benchmark::Convergence(own)) => Some(own),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_delay_of_the_table_is_the_convergence_time_of_every_prefix() {
    // A trial leaves the thread that runs it on one core.
    let on_a_thread = |set| std::thread::spawn(move || convergence(set)).join().unwrap();
    let (Some(late), Some(at_once)) = (on_a_thread(LATE), on_a_thread(AT_ONCE)) else { return };
    for own in [&late, &at_once] {
        assert!(own.events.len() >= 2, "there and back");
        let share = own.device_share.expect("the system tells");
        for event in &own.events {
            assert_eq!((event.prefixes.len(), event.unconverged()), (50, 0));
            // Memory rings lose nothing, nor does a change of routes, however seldom the device runs.
            assert_eq!(event.lost(), 0, "{share} {event:?}");
        }
    }
    let least = |own: &Convergence, ns: fn(&PrefixEvent) -> Option<u64>| {
        own.events.iter().flat_map(|event| &event.prefixes).filter_map(ns).min().unwrap()
    };
    // No prefix converged before the planted delay (less what the timer takes off), and frames
    // went on by the old path as long.
    assert!(least(&late, |own| own.new_ns) > 200_000_000, "{late:?}");
    assert!(least(&late, |own| own.old_ns) > 200_000_000, "{late:?}");
    let full = |own: &Convergence| own.events.iter().map(RouteEvent::full_ns).min();
    assert!(full(&at_once) < full(&late), "{at_once:?}");
}

/// The load of a link was refused by the tester, trial for trial.
#[test]
fn a_line_rate_is_a_load_of_convergence_too() {
    let on_a_thread = || convergence_at(AT_ONCE, "100Mbps");
    let Some(own) = std::thread::spawn(on_a_thread).join().unwrap() else { return };
    assert!((own.load_pps - 148_809.5).abs() < 1.0, "{}", own.load_pps);
    assert!(own.events.len() >= 2, "there and back");
}
