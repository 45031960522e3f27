//! Tests of what the seam itself does.

use super::*;

#[test]
fn a_long_wait_ends_when_it_is_over_when_time_is_up_or_when_all_is_stopped() {
    let stop = AtomicBool::new(false);
    let watch = Watch { on_interval: &mut |_| {}, stop: &stop };
    let (limit, step) = (Duration::from_millis(5), Duration::from_millis(1));
    let mut looks = 0;
    let over = watch.wait(Duration::from_secs(60), step, || {
        looks += 1;
        looks == 3
    });
    assert!(over.expect("not stopped"));
    assert!(!watch.wait(limit, step, || false).expect("not stopped"));
    stop.store(true, Ordering::Relaxed);
    assert!(matches!(watch.wait(limit, step, || true), Err(DeviceError::Stopped)));
}

/// Notes how long it was asked to measure what; counts a frame a millisecond.
#[derive(Default)]
struct Noting {
    asked: Vec<(u64, &'static str)>,
}

impl Device for Noting {
    fn facts(&self) -> Facts {
        Facts::default()
    }

    fn apply(&mut self, variant: &Variant, _: &mut Watch<'_>) -> Result<Proof, DeviceError> {
        Ok(variant.set.clone())
    }

    fn measure(
        &mut self,
        trial: &Request<'_>,
        watch: &mut Watch<'_>,
    ) -> Result<Measured, DeviceError> {
        let Experiment { duration, interval, .. } = trial.experiment;
        let ms = duration.as_millis() as u64;
        self.asked.push((ms, trial.traffic.measure.name()));
        let each = Interval { ms: interval.as_secs_f64() * 1e3, ..Interval::default() };
        let intervals = vec![each; (ms / interval.as_millis() as u64) as usize];
        intervals.iter().for_each(|interval| (watch.on_interval)(interval));
        Ok(Measured { intervals, sent: Some(ms), ..Measured::default() })
    }

    fn profile(
        &mut self,
        trial: &Request<'_>,
        _: u32,
        watch: &mut Watch<'_>,
    ) -> Result<Profiled, DeviceError> {
        let measured = self.measure(trial, watch)?;
        Ok(Profiled { measured, stacks: Default::default(), profiler: "none".to_owned() })
    }
}

#[test]
fn a_warm_up_is_a_run_of_its_own_and_nothing_of_it_is_counted() {
    let text = |warmup: &str| {
        format!(
            "title = \"t\"\nbaseline = \"a\"\nmeasure = \"ndr\"\nduration = \"200ms\"\n\
             warmup = \"{warmup}\"\ninterval = \"20ms\"\n[[variant]]\nname = \"a\"\n\
             [[variant]]\nname = \"b\"\n[[traffic]]\nname = \"inet\"\n\
             source = \"198.18.0.1:7\"\ndestination = \"198.19.0.1:7\"\n\
             [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.2\"]\n"
        )
    };
    for (warmup, warm) in [("500ms", Some(500)), ("10ms", Some(10)), ("0ms", None)] {
        let (path, devices) = (Path::new("t.toml"), fwdlab_experiment::Anything);
        let experiment = Experiment::of_text(path, &text(warmup), &[&devices]);
        let experiment = experiment.expect("a valid experiment");
        let request = Request {
            experiment: &experiment,
            variant: &experiment.variants[0],
            traffic: &experiment.traffics[0],
        };
        let (stop, mut seen) = (AtomicBool::new(false), 0);
        let mut watch = Watch { on_interval: &mut |_| seen += 1, stop: &stop };
        let mut noting = Noting::default();
        let device: &mut dyn Device = &mut noting;
        let measured = device.trial(&request, &mut watch).expect("counted");
        assert_eq!((measured.sent, measured.intervals.len()), (Some(200), 10));
        let profiled = device.profiled_trial(&request, 1, &mut watch).expect("counted");
        assert_eq!(profiled.measured.sent, Some(200));
        let one: Vec<(u64, &str)> =
            warm.map(|ms| (ms, "rate")).into_iter().chain([(200, "ndr")]).collect();
        assert_eq!(noting.asked, [one.clone(), one].concat(), "warmup = {warmup:?}");
        assert_eq!(seen, 20, "who watches is shown what counts");
    }
}
