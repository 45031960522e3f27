//! The measures that overload the kernel, against truths that were planted.

use std::path::Path;

use fwdlab_results::SearchTrial;

use super::tests::first_trials_of;
use super::*;

/// The trials of one measure, by variant; nothing where this machine cannot.
fn trials(test: &str, measure: &str, variants: &str) -> Option<Vec<(String, Measured)>> {
    if affinity::allowed_cores().len() < 2 {
        eprintln!("SKIPPED {test}: needs two processors");
        return None;
    }
    let text = format!(
        "title = \"t\"\ndevice = \"linux\"\nbaseline = \"one\"\nmeasure = \"{measure}\"\n\
         duration = \"200ms\"\nwarmup = \"0ms\"\ninterval = \"20ms\"\n\
         [benchmarks]\nloads = [\"10%\", \"300%\"]\nsoak = \"400ms\"\noverload = \"200%\"\n{variants}\
         [[traffic]]\nname = \"inet\"\nsource = \"198.18.10.1-198.18.10.20:2000\"\n\
         destination = \"198.19.10.1-198.19.10.100:2000\"\n\
         [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.203\"]\n"
    );
    let text = match measure {
        "throughput" => text.replace(
            "[benchmarks]\nloads = [\"10%\", \"300%\"]\nsoak = \"400ms\"\noverload = \"200%\"\n",
            "",
        ),
        _ => text,
    };
    first_trials_of("linux", &text, Path::new("t.toml"), test, usize::MAX)
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
        assert!(share(&own.down[0]) > 0.5 && share(&own.up[1]) > 0.5, "{name}: {own:?}");
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
    let found: Vec<f64> =
        list.iter().filter_map(|(_, own)| Some(own.search.as_ref()?.mrr_pps)).collect();
    assert!(found.len() == 2 && found[1] < 0.7 * found[0], "{found:?}");
    for (name, measured) in &list {
        let search = measured.search.as_ref().expect("it was searched for");
        assert!(search.lower_pps <= 1.2 * search.mrr_pps && search.trials.len() > 3, "{name}");
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
