//! Results that no machine produced: campaigns of any size for tests, the
//! same from run to run.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fwdlab_results::Family;
use fwdlab_results::Tick;
use fwdlab_results::{
    About, BackToBack, Benchmark, Burst, Busy, Campaign, Checks, Finished, Grouping, Interval,
    LatencyAt, LatencyFigures, LimitedBy, Link, Loss, LossCurve, Measured, Record, Recovery, Reset,
    Results, SCHEMA, SearchTrial, Soak, StampFigures, Status, Steady, Trial, TrialEnvironment,
    TrialOrder,
};

/// A variant of a made-up campaign.
pub struct Variant {
    pub name: &'static str,
    /// `net.route.algo.{inet,inet6}.algo` as read back.
    pub algorithms: [&'static str; 2],
    /// Rate in frames/s for inet and inet6.
    pub rates: [f64; 2],
}

/// The seeds' experiment: two variants.
pub const TWO: [Variant; 2] = [
    Variant { name: "radix", algorithms: ["radix4", "radix6"], rates: [4.11e6, 3.52e6] },
    Variant {
        name: "modular",
        algorithms: ["bsearch4", "radix6_lockless"],
        rates: [4.83e6, 3.27e6],
    },
];

/// Four variants.
pub const FOUR: [Variant; 4] = [
    Variant { name: "radix", algorithms: ["radix4", "radix6"], rates: [4.11e6, 3.52e6] },
    Variant { name: "bsearch", algorithms: ["bsearch4", "radix6"], rates: [4.83e6, 3.53e6] },
    Variant {
        name: "lockless",
        algorithms: ["radix4_lockless", "radix6_lockless"],
        rates: [4.42e6, 3.71e6],
    },
    Variant { name: "dxr", algorithms: ["dxr", "radix6_lockless"], rates: [4.95e6, 3.70e6] },
];

/// A small multiplicative generator: tests need noise, not randomness.
pub struct Noise(u64);

impl Noise {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2).wrapping_add(1))
    }

    /// Roughly normal, mean 0, standard deviation 1.
    pub fn next(&mut self) -> f64 {
        let mut sum = 0.0;
        for _ in 0..12 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            sum += (self.0 >> 33) as f64 / (1u64 << 31) as f64;
        }
        sum - 6.0
    }
}

/// A finished campaign of `blocks` blocks with a CV of 0.6 % between trials.
pub fn results(variants: &[Variant], blocks: u32) -> Results {
    let mut noise = Noise::new(7);
    let traffics = [("inet", Family::Inet), ("inet6", Family::Inet6)];
    let mut trials = Vec::new();
    for block in 1..=blocks {
        let shift = 1.0 + 0.002 * noise.next();
        let mut cells: Vec<(usize, usize)> =
            (0..variants.len()).flat_map(|v| (0..2).map(move |t| (v, t))).collect();
        let places = cells.len();
        for k in (1..places).rev() {
            let other = (noise.next().abs() * 1e6) as usize % (k + 1);
            cells.swap(k, other);
        }
        for (v, t) in cells {
            let rate = variants[v].rates[t] * shift * (1.0 + 0.006 * noise.next());
            let order = trials.len() as u32 + 1;
            trials.push(trial(&variants[v], traffics[t], (block, order), rate, &mut noise));
        }
    }
    Results {
        dir: std::path::PathBuf::new(),
        campaign: Campaign {
            schema: SCHEMA,
            experiment_sha256: "9f2c".repeat(16),
            inputs: Default::default(),
            title: "Impact of the modular FIB on forwarding performance".to_owned(),
            device: "builtin".to_owned(),
            about: Some(in_memory()),
            testbed: None,
            order: TrialOrder::Blocks,
            grouping: Grouping::Traffic,
            seed: 20_261_121,
            order_version: 1,
            blocks,
            until_decided: false,
            blocks_per_process: None,
            calibration: None,
            unproven: None,
            measure: fwdlab_results::Measure::Rate,
            margin: 0.01,
            baseline: variants[0].name.to_owned(),
            variants: variants.iter().map(|v| v.name.to_owned()).collect(),
            traffics: traffics.iter().map(|(name, _)| (*name).to_owned()).collect(),
            trials: trials.iter().map(|t: &Trial| t.id.clone()).collect(),
            started: "2026-11-21T13:00:00Z".to_owned(),
            environment_sha256: None,
        },
        trials,
        repeated: Vec::new(),
        resumed: Vec::new(),
        finished: Some(Finished {
            at: "2026-11-21T13:00:50Z".to_owned(),
            stopped: "all blocks run".to_owned(),
            earlier_truths: String::new(),
        }),
        known: Vec::new(),
        sequence: Vec::new(),
        is_torn: false,
        changed: None,
    }
}

fn trial(
    variant: &Variant,
    (traffic, family): (&str, Family),
    (block, order): (u32, u32),
    rate: f64,
    noise: &mut Noise,
) -> Trial {
    let (head, steady) = (1, 8);
    let intervals: Vec<Interval> = (0..head + steady + 1)
        .map(|k| {
            let share = if k < head { 0.6 } else { 1.0 + 0.001 * noise.next() };
            let rx = (rate * share * 0.1).round() as u64;
            interval(rx)
        })
        .collect();
    let sent: u64 = intervals.iter().filter_map(|i| i.tx).sum();
    let mut rates: Vec<f64> = intervals[head..head + steady].iter().map(Interval::rx_pps).collect();
    rates.sort_by(f64::total_cmp);
    let word = format!("net.route.algo.{}.algo", family.name());
    let algorithm = variant.algorithms[usize::from(family == Family::Inet6)];
    Trial {
        id: format!("b{block:02}-{traffic}-{}", variant.name),
        block,
        order,
        variant: variant.name.to_owned(),
        traffic: traffic.to_owned(),
        family,
        measure: fwdlab_results::Measure::Rate,
        status: Status::Ok,
        reason: None,
        started: Some(format!("2026-11-21T13:{:02}:{:02}Z", order / 60 % 60, order % 60)),
        frame_bytes: family.smallest_udp_frame_bytes(),
        flows_planned: Some(2_000),
        load: "max".to_owned(),
        offered_pps_asked: None,
        interval_ms: 100.0,
        limited_by: LimitedBy::Device,
        failure: None,
        steady: Some(Steady {
            first: head,
            count: steady,
            trimmed_head: head,
            trimmed_tail: 1,
            skipped: Vec::new(),
            why: "the first interval lies below the level of the others".to_owned(),
        }),
        rate_pps: Some((rates[3] + rates[4]) / 2.0),
        measured: Measured {
            sent: Some(sent),
            received: sent,
            flows_seen: Some(2_000),
            drops: Some(BTreeMap::from([("no-route".to_owned(), 0)])),
            device_received: Some(sent),
            device_sent: Some(sent),
            checks: Some(Checks { checked: sent / 64, ..Checks::default() }),
            busy: Some(Busy { ns: 97_000_000 * intervals.len() as u64, frames: sent }),
            idle_share: Some(0.03),
            proof: BTreeMap::from([(word, algorithm.to_owned())]),
            environment: TrialEnvironment { pinned: true, ..TrialEnvironment::default() },
            intervals,
            ..Measured::default()
        },
    }
}

/// 100 ms with `rx` frames, in which the device was busy for 97 ms.
fn interval(rx: u64) -> Interval {
    serde_json::from_value(serde_json::json!({
        "ms": 100.0, "tx": rx, "rx": rx, "busy_ns": 97_000_000, "busy_frames": rx
    }))
    .unwrap()
}

/// The seeds' campaign with everything that can be doubtful: a failed trial,
/// trials limited by the generator, drops, a trial with a warning.
pub fn doubtful() -> Results {
    let mut results = results(&TWO, 8);
    for trial in &mut results.trials {
        match trial.id.as_str() {
            "b03-inet-modular" => {
                trial.status = Status::Failed;
                trial.reason = Some(
                    "sent 4,100,000 frames, received 4,099,990, dropped 0: 10 are lost".to_owned(),
                );
                trial.rate_pps = None;
            }
            "b05-inet6-radix" | "b06-inet6-modular" => {
                trial.limited_by = LimitedBy::Generator;
                trial.measured.idle_share = Some(0.31);
            }
            "b02-inet6-modular" => {
                trial
                    .measured
                    .warnings
                    .push("the hypervisor took 12 % of the processor time".to_owned());
                trial.measured.sent = trial.measured.sent.map(|sent| sent + 12);
                if let Some(drops) = &mut trial.measured.drops {
                    drops.insert("ttl-expired".to_owned(), 12);
                }
            }
            _ => {}
        }
    }
    results
}

/// The campaign as `fwdlab import` would have made it of published logs: no blocks, nothing counted
/// but frames, one run missing.
pub fn published() -> Results {
    let mut results = results(&TWO, 5);
    results.campaign.device = "imported".to_owned();
    results.campaign.about = Some(as_published());
    results.campaign.order = TrialOrder::Published;
    results.campaign.seed = 0;
    results.campaign.experiment_sha256 = String::new();
    results.trials.retain(|t| t.id != "b05-inet-modular");
    for trial in &mut results.trials {
        let kernel = format!("FreeBSD 13.0 {}", trial.variant);
        let mut intervals = std::mem::take(&mut trial.measured.intervals);
        for interval in &mut intervals {
            // as much offered in every run, whatever came through
            (interval.tx, interval.busy) = (Some(1_488_000), None);
        }
        trial.measured = Measured {
            sent: Some(intervals.iter().filter_map(|interval| interval.tx).sum()),
            received: trial.measured.received,
            proof: BTreeMap::from([("uname".to_owned(), kernel)]),
            intervals,
            ..Measured::default()
        };
    }
    results.campaign.trials = results.trials.iter().map(|t| t.id.clone()).collect();
    results
}

/// [`TWO`] with one family, its frames of three lengths.
pub fn with_lengths() -> Results {
    const LENGTHS: [u16; 3] = [64, 512, 1518];
    let mut results = results(&TWO, 8);
    let mut trials = Vec::new();
    for trial in results.trials.iter().filter(|trial| trial.traffic == "inet") {
        for frame_bytes in LENGTHS {
            trials.push(Trial {
                id: format!("{}-{frame_bytes}", trial.id),
                traffic: format!("inet-{frame_bytes}"),
                order: trials.len() as u32 + 1,
                frame_bytes,
                ..trial.clone()
            });
        }
    }
    results.campaign.traffics = LENGTHS.map(|bytes| format!("inet-{bytes}")).to_vec();
    results.campaign.trials = trials.iter().map(|trial| trial.id.clone()).collect();
    results.trials = trials;
    results
}

/// [`TWO`] with latencies: of the trial itself, and at half its rate.
pub fn with_latencies() -> Results {
    let mut results = results(&TWO, 8);
    for (k, trial) in results.trials.iter_mut().enumerate() {
        let median_ns = 2_000 + 10 * k as u64;
        let figures = LatencyFigures {
            frames: 1_000,
            minimum_ns: median_ns / 2,
            median_ns,
            p99_ns: 2 * median_ns,
            p99_9_ns: 3 * median_ns,
            p99_99_ns: 4 * median_ns,
            maximum_ns: 5 * median_ns,
        };
        trial.measured.latency = Some(figures);
        let half = LatencyFigures { median_ns: median_ns - 700, ..figures };
        trial.measured.latency_at = vec![LatencyAt { share: 0.5, figures: half }];
        trial.measured.stamps = Some(StampFigures {
            by: "kernel".to_owned(),
            probes: 1_500,
            stamped: 1_000,
            floor: Some(LatencyFigures { median_ns: 200, ..figures }),
            ..StampFigures::default()
        });
    }
    results
}

/// [`TWO`] with routes that changed meanwhile.
pub fn with_changes() -> Results {
    let mut results = results(&TWO, 8);
    for (k, trial) in (0..).zip(&mut results.trials) {
        trial.measured.churn = Some(fwdlab_results::Churned {
            asked_per_s: Some(1_000.0),
            changes: 990 + k,
            ns: 1_000_000_000,
            visible: 980,
            visible_p50_ns: 2_000 + 10 * k,
            visible_p99_ns: 9_000,
            visible_max_ns: 50_000,
            switches: 50,
            stale_frames: 100,
            builds: 12,
            ..fwdlab_results::Churned::default()
        });
    }
    results
}

/// [`TWO`] with frames that went both ways, three fifths of them ahead, and 1 % of those back lost; 2.5
/// joules for a million frames.
pub fn with_both_ways() -> Results {
    let mut results = results(&TWO, 8);
    for trial in &mut results.trials {
        let measured = &mut trial.measured;
        let way = |share: u64, lost: u64| {
            let of = |count: u64| count * share / 5;
            let sent = of(measured.sent.unwrap_or(0));
            fwdlab_results::Way {
                tx: measured
                    .intervals
                    .iter()
                    .map(|interval| of(interval.tx.unwrap_or(0)))
                    .collect(),
                rx: measured.intervals.iter().map(|interval| of(interval.rx)).collect(),
                sent,
                received: of(measured.received),
                checks: Checks { lost: sent * lost / 100, ..Checks::default() },
                ..fwdlab_results::Way::default()
            }
        };
        measured.ways = vec![way(3, 0), way(2, 1)];
        let queue = |(at, frames)| fwdlab_results::Queue { name: format!("cpu{at}"), frames };
        measured.queues = [(0, 100), (1, 100), (2, 100), (3, 500)].map(queue).to_vec();
        measured.joules = Some(2.5e-6 * measured.received as f64);
    }
    results
}

/// The measures that have a figure of their own, each a traffic: the second variant's is a tenth
/// larger, whatever its rate.
pub fn with_benchmarks() -> Results {
    let mut results = results(&TWO, 8);
    let measures = ["loss-curve", "back-to-back", "recovery", "reset", "soak"];
    let base: Vec<Trial> =
        results.trials.iter().filter(|trial| trial.family == Family::Inet).cloned().collect();
    results.trials.clear();
    for trial in base {
        let gain = if trial.variant == TWO[0].name { 1.0 } else { 1.1 };
        let figure = gain * (1.0 + 1e-3 * f64::from(trial.block % 3));
        for measure in measures {
            let traffic = format!("{}-{measure}", trial.traffic);
            let id = format!("b{:02}-{traffic}-{}", trial.block, trial.variant);
            let order = results.trials.len() as u32 + 1;
            let mut trial = Trial { id, order, traffic, ..trial.clone() };
            trial.measured.benchmark = Some(observed(measure, figure));
            results.trials.push(trial);
        }
    }
    let traffics: std::collections::BTreeSet<String> =
        results.trials.iter().map(|trial| trial.traffic.clone()).collect();
    results.campaign.traffics = traffics.into_iter().collect();
    results.campaign.trials = results.trials.iter().map(|t| t.id.clone()).collect();
    results
}

fn observed(measure: &str, figure: f64) -> Benchmark {
    let tried =
        |load_pps: f64, lost| SearchTrial { load_pps, ms: 100.0, sent: 1_000, lost, waited: 0 };
    let ns = (figure * 1e6) as u64;
    match measure {
        "loss-curve" => Benchmark::LossCurve(LossCurve {
            mrr_pps: 1e6 * figure,
            down: vec![tried(1.2e6 * figure, 200), tried(0.6e6 * figure, 0)],
            up: vec![tried(0.6e6 * figure, 0), tried(1.2e6 * figure, 180)],
        }),
        "back-to-back" => Benchmark::BackToBack(BackToBack {
            found: vec![Burst { frames: (1e3 * figure) as u64, ns: 1_000 }; 3],
            most: 8_192,
            mrr_pps: 1e6,
            rest_ms: None,
            is_rested: true,
        }),
        "recovery" => Benchmark::Recovery(Recovery {
            throughput_pps: 1e6,
            overload_pps: 1.1e6,
            relief_pps: 0.5e6,
            overload_ms: 100.0,
            lost_in_overload: 7_000,
            lost_afterwards: 30,
            ended_ns: ns,
        }),
        "reset" => {
            Benchmark::Reset(Reset { load_pps: 5e5, gap_ns: ns, start_ns: ns / 2, lost: 500 })
        }
        _ => Benchmark::Soak(Soak {
            ndr_pps: 1e6,
            load_pps: 0.9e6,
            seconds: 10.0 * figure,
            sent: 9_000_000,
            lost: 12,
            losses: vec![Loss { at_ns: 2_000_000_000, ns: 1_000, frames: 12 }],
        }),
    }
}

/// Writes a results directory as `fwdlab run` leaves it.
pub fn write(results: &mut Results, dir: &Path) {
    fs::create_dir_all(dir).unwrap();
    results.dir = dir.to_owned();
    let mut text = line(&Record::Campaign(Box::new(results.campaign.clone())));
    for trial in &results.trials {
        text += &line(&Record::Trial(Box::new(trial.clone())));
    }
    if let Some(finished) = &results.finished {
        text += &line(&Record::Finished(finished.clone()));
    }
    fs::write(dir.join("trials.jsonl"), text).unwrap();
    fs::write(dir.join("experiment.toml"), experiment(results)).unwrap();
    fs::write(dir.join("environment.json"), ENVIRONMENT).unwrap();
}

fn line(record: &Record) -> String {
    serde_json::to_string(record).unwrap() + "\n"
}

const ENVIRONMENT: &str = r#"{
  "fwdlab": { "version": "0.1.0", "commit": "0123abc", "rustc": "rustc 1.95.0", "profile": "release",
    "target": "x86_64-linux" },
  "machine": { "product": "Example Board", "processor": "Example CPU 3.0 GHz", "cores": 2,
    "cores_online": 4, "memory_bytes": 17179869184, "hypervisor": "none", "governor": "performance" },
  "kernel": { "name": "Linux", "release": "6.1.0", "distribution": "Debian GNU/Linux 12",
    "clock_source": "tsc" },
  "seed": 20261121
}
"#;

fn experiment(results: &Results) -> String {
    let mut text = format!(
        "title = \"{}\"\ndevice = \"builtin\"\nbaseline = \"{}\"\nmargin = \"1%\"\nblocks = {}\n\
         allow = [\"no-route\"]\n",
        results.campaign.title, results.campaign.baseline, results.campaign.blocks
    );
    for variant in &results.campaign.variants {
        let proof: BTreeMap<&String, &String> = results
            .trials
            .iter()
            .filter(|t| t.variant == *variant)
            .flat_map(|t| &t.measured.proof)
            .collect();
        let set: Vec<String> = proof.iter().map(|(k, v)| format!("\"{k}\" = \"{v}\"")).collect();
        text += &format!("\n[[variant]]\nname = \"{variant}\"\nset = {{ {} }}\n", set.join(", "));
    }
    for (name, [source, destination]) in [
        ("inet", ["198.18.10.1-198.18.10.20:2000", "198.19.10.1-198.19.10.100:2000"]),
        ("inet6", ["[2001:2::1]-[2001:2::14]:2000", "[2001:2:0:8010::1]-[2001:2:0:8010::64]:2000"]),
    ] {
        text += &format!(
            "\n[[traffic]]\nname = \"{name}\"\nsource = \"{source}\"\ndestination = \"{destination}\"\n"
        );
    }
    text + "\n[routes]\nstatic = [\"198.18.0.0/16 via 198.18.0.203\", \"198.19.0.0/16 via 198.19.0.203\"]\n"
}

/// Adds profiles of all variants with both traffics, as a profiler would
/// leave them: the lookup's share differs between the variants.
pub fn write_profiles(results: &Results, dir: &Path) {
    let place = dir.join("profiles");
    fs::create_dir_all(&place).unwrap();
    for (v, variant) in results.campaign.variants.iter().enumerate() {
        for traffic in &results.campaign.traffics {
            let lookup = 900 - 220 * v;
            let text = format!(
                "worker;inhale;ring::receive 700\nworker;process;parse 600\n\
                 worker;process;checksum 350\nworker;process;fib::lookup;{variant} {lookup}\n\
                 worker;process;rewrite 400\nworker;exhale;ring::send 650\nworker;clock 90\n"
            );
            fs::write(place.join(format!("{variant}.{traffic}.folded")), text).unwrap();
            let rates = results.figures(fwdlab_results::Metric::Rate, variant, traffic);
            let about = serde_json::json!({
                "profiler": "a made-up profiler", "rate_pps": rates[0].1 * 0.99, "idle_share": 0.02
            });
            fs::write(place.join(format!("{variant}.{traffic}.json")), about.to_string()).unwrap();
        }
    }
}

/// Notes of which some agree with [`TWO`] and some do not.
pub const NOTES: &str = "We saw an improvement of 18.4 % on IPv4, and a reduction of 7.0% on IPv6.\n\
    Gigabit line rate is 1.488 Mpps, not 1.448 Mpps.\n\
    IPv6 is 7.0 % faster.\n\
    No impact on IPv6 forwarding.\n\
    The lookup costs 12.5 ns in 2000 flows.\n";

/// What a device in memory says of itself.
pub fn in_memory() -> About {
    About {
        line: "Device: the embedded router of fwdlab, joined to the tester by memory rings (no \
               network card, no kernel)"
            .to_owned(),
        fact: None,
        link: Link::Memory,
        command: None,
        tick: Tick::default(),
    }
}

fn as_published() -> About {
    About {
        line: "Published results, imported: the order of their runs and what the device answered \
               are unknown"
            .to_owned(),
        fact: None,
        link: Link::Wire,
        command: Some("fwdlab import PUBLISHED-DIRECTORY -o DIR".to_owned()),
        tick: Tick::default(),
    }
}
