//! Rates and latencies of a device that is slowed down by a known time per frame.

use fwdlab_device::Place;
use fwdlab_results::Trial;

/// Of a device that takes so many ns longer for each frame.
fn trial(extra_ns: u32, (ms, keys): (u32, &str), load: &str) -> Option<Trial> {
    let text = format!(
        "title = \"t\"\nbaseline = \"slow\"\nduration = \"{ms}ms\"\nwarmup = \"20ms\"\n\
         interval = \"20ms\"\n{keys}\n\
         [[variant]]\nname = \"slow\"\nset = {{ \"fwdlab.device.extra_ns_per_frame\" = {extra_ns} }}\n\
         [[variant]]\nname = \"b\"\n\
         [[traffic]]\nname = \"inet\"\nsource = \"198.18.10.0-198.18.10.7:7\"\n\
         destination = \"198.19.10.1-198.19.10.9:7\"\nload = \"{load}\"\n\
         [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.203\"]\n"
    );
    crate::trial(&text, Place::default(), &mut || {})
}

#[test]
fn no_rate_without_loss_is_above_what_the_planted_time_leaves() {
    for measure in ["ndr", "pdr", "throughput"] {
        // 2 us a frame leave half a million; a search goes on to half a per cent, and buffers hold 2560 frames, which are 4 %
        // of a load of 120 ms (of 40 ms, as loads of trials of 200 are, 13).
        let keys = format!("measure = {measure:?}");
        let Some(trial) = trial(2_000, (600, &keys), "max") else { continue };
        let search = trial.measured.search.as_ref().expect("it was searched for");
        assert!(search.lower_pps > 0.0, "{measure}: {search:?}");
        assert!(search.lower_pps < 1.1 * 500_000.0, "{measure}: {search:?}");
        assert!(search.lower_pps <= search.upper_pps, "{measure}: {search:?}");
    }
}

#[test]
fn half_of_the_frames_take_the_planted_time_or_longer() {
    let Some(trial) = trial(50_000, (200, "latency = true"), "1kpps") else { return };
    let latency = trial.measured.latency.expect("it was measured");
    assert_eq!(latency.frames, trial.measured.received);
    // What was burnt too much for one frame, 2 us at the most, counts for the next. Single frames may seem
    // faster, where somebody else had the tester's processor between a look at the clock and one at the ring.
    assert!(latency.median_ns >= 48_000, "{latency:?}");
    assert!(latency.median_ns >= latency.minimum_ns, "{latency:?}");
}
