//! The measures of RFC 2544 and 9004 on the built-in device, against truths that were planted.

// a test says on stderr what it skips
#![allow(clippy::print_stderr)]
// a test may end with a panic wherever it stands
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use fwdlab_builtin::Builtin;
use fwdlab_device::{Kind, Place, Request, Watch};
use fwdlab_experiment::Experiment;
use fwdlab_results::{Benchmark, Measured, SearchTrial};

/// Trials want the same two cores: one runs at a time.
static CORES: Mutex<()> = Mutex::new(());

/// How often a trial is tried in which the device never ran.
const TRIES: u32 = 20;

/// A trial of `measure` with the first variant, which burns 1 us a frame; `None` without two cores.
fn trial(measure: &str, set: &str, routes: &str) -> Option<Measured> {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        eprintln!("SKIPPED a trial of {measure}: needs two cores");
        return None;
    }
    let how = match measure {
        "loss-curve" => "[benchmarks]\nloads = [\"10%\", \"1000%\"]\n",
        "soak" => "[benchmarks]\nsoak = \"300ms\"\n",
        _ => "",
    };
    let text = format!(
        "title = \"t\"\nbaseline = \"a\"\nmeasure = \"{measure}\"\nduration = \"100ms\"\n\
         warmup = \"20ms\"\ninterval = \"20ms\"\n{how}\
         [[variant]]\nname = \"a\"\n\
         set = {{ \"fwdlab.device.extra_ns_per_frame\" = 1000{set} }}\n\
         [[variant]]\nname = \"b\"\n[[traffic]]\nname = \"inet\"\nsource = \"198.18.10.1:7\"\n\
         destination = \"198.19.10.1-198.19.10.9:7\"\n\
         [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.203\"]\n{routes}\n"
    );
    let experiment = Experiment::of_text(Path::new("t.toml"), &text, &[&Builtin]).unwrap();
    let _alone = CORES.lock().unwrap_or_else(PoisonError::into_inner);
    let experiment = Arc::new(experiment);
    // As in a campaign, where frames of the pool are kept from use.
    let place = Place { layout: Some(7), ..Place::default() };
    let mut device = Builtin.open(&experiment, &place).unwrap();
    let stop = AtomicBool::new(false);
    let mut watch = Watch { on_interval: &mut |_| {}, stop: &stop };
    let variant = &experiment.variants[0];
    device.apply(variant, &mut watch).unwrap();
    let request = Request { experiment: &experiment, variant, traffic: &experiment.traffics[0] };
    // Others want the cores, too: what the device could not run for says so, and is tried again.
    for _ in 1..TRIES {
        match device.trial(&request, &mut watch) {
            Err(error) if error.to_string().contains("had no processor meanwhile") => {}
            other => return Some(other.unwrap()),
        }
    }
    Some(device.trial(&request, &mut watch).unwrap())
}

/// Its thread began on the tester's core, and waited there while the tester sent: 4 of 20 ms where the two took turns, and
/// all of a load where the tester is before all else.
#[test]
fn a_device_is_on_its_core_before_a_load_begins() {
    let first = |words: &[&str]| {
        let mut chrt = std::process::Command::new("chrt");
        chrt.args(["-r", "1"]).args(words).output()
    };
    if !first(&["true"]).is_ok_and(|done| done.status.success()) {
        eprintln!("SKIPPED a trial before all else: needs chrt and root");
        return;
    }
    let _alone = CORES.lock().unwrap_or_else(PoisonError::into_inner);
    let own = std::env::current_exe().unwrap();
    let own = own.to_str().unwrap();
    let done = first(&[own, "--exact", "loss_begins_where_the_device_can_no_more"]).unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stdout));
}

#[test]
fn a_buffer_of_known_size_is_found() {
    for buffer in [256.0, 2048.0] {
        let set = format!(", \"fwdlab.device.buffer_frames\" = {buffer}");
        let Some(measured) = trial("back-to-back", &set, "") else { return };
        let Some(Benchmark::BackToBack(own)) = &measured.benchmark else { panic!("bursts") };
        assert_eq!(measured.proof["fwdlab.device.buffer_frames"], buffer.to_string());
        assert_eq!((own.found.len(), own.most), (50, 8192));
        // The buffer, and at most two batches of 256 frames in the device's hands.
        let frames = own.frames().unwrap();
        assert!((buffer..=buffer + 512.0).contains(&frames), "{buffer}: {frames}");
        let corrected = own.buffer_frames().unwrap();
        assert!(corrected <= frames && corrected > 0.9 * buffer, "{buffer}: {corrected}");
    }
}

#[test]
fn loss_begins_where_the_device_can_no_more() {
    let Some(measured) = trial("loss-curve", "", "") else { return };
    let Some(Benchmark::LossCurve(own)) = &measured.benchmark else { panic!("a curve") };
    let shares = |tried: &[SearchTrial]| -> Vec<f64> {
        tried.iter().map(|one| (one.load_pps / own.mrr_pps * 100.0).round()).collect()
    };
    assert_eq!((shares(&own.down), shares(&own.up)), (vec![1000.0, 10.0], vec![10.0, 1000.0]));
    // It burns 1 us a frame: more than a million a second do not come through.
    assert!(own.mrr_pps < 1e6, "{}", own.mrr_pps);
    assert!(own.down[0].lost > 0 && own.up[1].lost > 0, "{own:?}");
    let figure = measured.benchmark.as_ref().unwrap().figure().unwrap();
    assert!(figure > 0.0 && figure < own.mrr_pps * 5.05, "{figure}");
}

#[test]
fn an_overload_loses_frames_and_the_throughput_is_what_it_was_before() {
    let Some(measured) = trial("recovery", "", "") else { return };
    let Some(Benchmark::Recovery(own)) = &measured.benchmark else { panic!("a recovery") };
    let found = measured.search.as_ref().expect("the throughput was searched for");
    assert_eq!(own.throughput_pps, found.lower_pps);
    assert!((own.overload_pps / own.throughput_pps - 1.1).abs() < 1e-9);
    assert!((own.relief_pps / own.throughput_pps - 0.5).abs() < 1e-9);
    assert!(own.ended_ns <= 100_000_000, "{own:?}");
}

#[test]
fn a_reset_takes_as_long_as_the_tables_do() {
    let Some(measured) = trial("reset", "", "generate = 20000") else { return };
    let Some(Benchmark::Reset(own)) = &measured.benchmark else { panic!("a reset") };
    assert!(own.start_ns > 0 && own.gap_ns >= own.start_ns, "{own:?}");
    // Frames fall due all the while, and only so many can wait.
    let due = own.load_pps * own.gap_ns as f64 / 1e9;
    let most = 4096.0 + own.load_pps / 50.0;
    assert!(own.lost as f64 >= due - most, "{own:?}: {due} due");
    // The device forwards again, and counts as it should.
    assert!(measured.received > 0);
    assert_eq!(measured.sent, measured.device_received);
}

#[test]
fn a_soak_dates_every_loss() {
    let Some(measured) = trial("soak", "", "") else { return };
    let Some(Benchmark::Soak(own)) = &measured.benchmark else { panic!("a soak") };
    assert!((own.load_pps / own.ndr_pps - 0.9).abs() < 1e-9);
    assert!(own.seconds >= 0.29, "{own:?}");
    let dated: u64 = own.losses.iter().map(|loss| loss.frames).sum();
    assert_eq!(dated, own.lost);
    assert!(own.losses.iter().all(|loss| loss.at_ns as f64 <= own.seconds * 1e9));
}

#[test]
fn a_buffer_that_cannot_be_is_refused() {
    let text = include_str!("../../../examples/rfc2544.toml");
    for value in ["1000", "32", "8192", "many"] {
        let text = text.replacen("\"1024\"", &format!("\"{value}\""), 1);
        let problems = Experiment::parse(Path::new("rfc2544.toml"), &text, &[&Builtin])
            .unwrap_err()
            .to_string();
        assert!(problems.contains("a power of two from 64 to 4096"), "{problems}");
        assert!(problems.contains("rfc2544.toml:"), "{problems}");
    }
}
