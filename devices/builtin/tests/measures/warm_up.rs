//! Frames and time of the warm-up are in no figure.

use fwdlab_device::Place;

use crate::trial;

/// 10,000 frames a second for so long, after a warm-up that is three times as long.
const TEXT: &str = "title = \"t\"\nbaseline = \"a\"\nduration = \"100ms\"\nwarmup = \"300ms\"\n\
     interval = \"20ms\"\nlatency = true\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
     [[traffic]]\nname = \"inet\"\nsource = \"198.18.10.1:7\"\n\
     destination = \"198.19.10.1-198.19.10.9:7\"\nload = \"10kpps\"\n[routes]\n\
     static = [\"198.19.0.0/16 via 198.19.0.203\"]\n";

#[test]
fn what_is_counted_is_what_was_sent_after_it() {
    let mut shown = 0;
    let Some(trial) = trial(TEXT, Place::default(), &mut || shown += 1) else { return };
    assert!(trial.is_ok(), "the ledger adds up: {:?}", trial.reason);
    let measured = &trial.measured;
    let sent = measured.sent.unwrap();
    // A pause of this program may hold frames back; none is sent that did not fall due.
    assert!((1..=1_000).contains(&sent), "{sent} frames in 100 ms of 10,000 a second");
    assert_eq!(measured.device_received, Some(sent));
    let busy = measured.busy.unwrap();
    assert!(busy.frames <= sent, "{busy:?} for {sent} frames");
    assert!(measured.latency.is_some_and(|found| found.frames <= sent), "{:?}", measured.latency);
    let counted: u64 = measured.intervals.iter().map(|interval| interval.rx).sum();
    assert!(counted <= measured.received, "{counted} of {}", measured.received);
    assert_eq!(shown, measured.intervals.len());
}
