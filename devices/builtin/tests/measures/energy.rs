//! Energy by a counter that was planted.

use std::fs;

use fwdlab_claims::claim::Spread;
use fwdlab_device::Place;
use fwdlab_device::energy::Powercap;

const TEXT: &str = "title = \"t\"\nbaseline = \"a\"\nduration = \"100ms\"\nwarmup = \"20ms\"\n\
    interval = \"20ms\"\nmeasure = \"pdr\"\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
    [[traffic]]\nname = \"inet\"\nsource = \"198.18.10.1:7\"\ndestination = \"198.19.10.1:7\"\n\
    [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.203\"]\n";

#[test]
fn joules_are_those_used_while_frames_are_counted() {
    const END: u64 = 10_000_000;
    let scratch = tempfile::tempdir().unwrap();
    let zone = scratch.path().join("intel-rapl:0");
    fs::create_dir(&zone).unwrap();
    let put = |name: &str, text: String| fs::write(zone.join(name), text).unwrap();
    put("name", "package-0\n".to_owned());
    put("max_energy_range_uj", format!("{END}\n"));
    // Starts again within the trial.
    let mut counter = END - 150_000;
    put("energy_uj", format!("{counter}\n"));
    let mut intervals = 0_u64;
    let mut use_energy = || {
        intervals += 1;
        counter = (counter + 100_000) % (END + 1);
        put("energy_uj", format!("{counter}\n"));
    };
    let place = Place { powercap: Powercap::at(scratch.path()), ..Place::default() };
    // Twenty intervals, of which a busy machine may take one or two from what is counted.
    let text = TEXT.replace("100ms", "400ms");
    let Some(trial) = crate::trial(&text, place, &mut use_energy) else { return };
    assert_eq!(trial.reason, None);
    // 0.1 J an interval, those of the search before it not among them.
    assert_eq!(intervals, trial.measured.intervals.len() as u64);
    let truth = intervals as f64 * 0.1;
    let joules = trial.measured.joules.unwrap();
    // From the end of one interval to that of another, by the clock: an interval more or less on a busy machine.
    assert!((joules - truth).abs() < 0.25 * truth, "{joules} {truth}");
    let by_frames = trial.measured.joules_per_million().unwrap();
    assert!((by_frames * trial.measured.received as f64 / 1e6 - joules).abs() < 1e-9);
}

/// Joules for a million frames of a trial at a load, of whose intervals each uses so many uJ.
fn joules_per_million(of_interval_uj: u64) -> Option<f64> {
    let scratch = tempfile::tempdir().unwrap();
    let zone = scratch.path().join("intel-rapl:0");
    fs::create_dir(&zone).unwrap();
    let put = |name: &str, text: &str| fs::write(zone.join(name), text).unwrap();
    put("name", "package-0\n");
    put("energy_uj", "0\n");
    let mut counter = 0;
    let mut use_energy = || {
        counter += of_interval_uj;
        put("energy_uj", &format!("{counter}\n"));
    };
    let place = Place { powercap: Powercap::at(scratch.path()), ..Place::default() };
    let at_a_load = "flows = 1\nload = \"20kpps\"\n[routes]";
    let text = TEXT.replace("pdr", "rate").replace("[routes]", at_a_load);
    let trial = crate::trial(&text, place, &mut use_energy)?;
    trial.measured.joules_per_million()
}

/// Found as the report finds it: by the ratios of the blocks, with the interval of their median.
#[test]
fn a_device_that_takes_half_more_energy_is_found_and_one_that_takes_as_much_is_not() {
    let mut ratios = [Vec::new(), Vec::new()];
    for _ in 0..7 {
        let used = [100_000, 150_000, 100_000].map(joules_per_million);
        let [Some(base), Some(more), Some(same)] = used else { return };
        ratios[0].push(more / base);
        ratios[1].push(same / base);
    }
    let [more, same] = ratios.map(|ratios| Spread::of(&ratios).unwrap());
    let is_within = |spread: &Spread, truth: f64| {
        let [low, high] = spread.interval.unwrap();
        low <= truth && truth <= high
    };
    assert!(is_within(&more, 1.5) && !is_within(&more, 1.0), "{more:?}");
    assert!(is_within(&same, 1.0) && !is_within(&same, 1.5), "{same:?}");
}

#[test]
fn a_machine_that_does_not_tell_has_no_energy() {
    let scratch = tempfile::tempdir().unwrap();
    let place = Place { powercap: Powercap::at(scratch.path()), ..Place::default() };
    let text = TEXT.replace("pdr", "rate");
    let Some(trial) = crate::trial(&text, place, &mut || {}) else { return };
    assert_eq!((trial.measured.joules, trial.measured.joules_per_million()), (None, None));
}
