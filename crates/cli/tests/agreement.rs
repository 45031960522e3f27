//! One campaign has one verdict: whatever shows it names the same, and it follows from p and the
//! interval beside it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use fwdlab_compare::{Format, Options, compare, render};
use fwdlab_results::Results;
use fwdlab_stats::{Comparison, Verdict};
use serde_json::json;

/// Campaigns that are drawn.
const CAMPAIGNS: u64 = 500;
/// Every so many of them is reported into files too, with its figures.
const WRITTEN: u64 = 25;

/// splitmix64.
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[(self.unit() * all.len() as f64) as usize]
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

/// A journal as a device wrote it that nothing but its own speed bounds.
fn journal(random: &mut Random) -> String {
    let blocks = random.one_of(&[3, 4, 5, 8, 12, 20]);
    let traffics: &[&str] = random.one_of(&[&["inet"][..], &["inet", "inet6"]]);
    let effect = random.one_of(&[0.0, 0.0, 0.003, 0.01, 0.05, -0.02]);
    let noise = random.one_of(&[0.000_2, 0.002, 0.01, 0.05]);
    let rare = random.one_of(&[0.0, 0.0, 0.05, 0.2]);
    let (mut lines, mut ids) = (String::new(), Vec::new());
    for block in 1..=blocks {
        for traffic in traffics {
            let mut variants = ["radix", "modular"];
            if random.unit() < 0.5 {
                variants.reverse();
            }
            for variant in variants {
                let mut rate = 4e6 * (1.0 + noise * random.normal());
                rate *= if variant == "modular" { 1.0 + effect } else { 1.0 };
                rate *= if random.unit() < rare { 0.63 } else { 1.0 };
                let id = format!("b{block:02}-{traffic}-{variant}");
                let frames = (rate / 10.0).round() as u64;
                let interval = json!({"ms": 100.0, "tx": frames, "rx": frames,
                    "busy_ns": 99_000_000u64, "busy_frames": frames});
                let all = frames * 6;
                let trial = json!({"record": "trial", "id": id, "block": block,
                    "order": ids.len() + 1, "variant": variant, "traffic": traffic,
                    "family": traffic, "status": "ok", "reason": null,
                    "started": "2026-11-22T10:33:48Z", "frame_bytes": 64, "flows_planned": 2000,
                    "flows_seen": 2000, "load": "max", "offered_pps_asked": null,
                    "interval_ms": 100.0, "limited_by": "device", "intervals": vec![interval; 6],
                    "steady": {"first": 0, "count": 6, "trimmed_head": 0, "trimmed_tail": 0,
                        "why": "steady throughout"},
                    "rate_pps": frames as f64 * 10.0, "sent": all, "received": all, "drops": {},
                    "device_received": all, "device_sent": all,
                    "checks": {"checked": all, "lost": 0, "duplicated": 0, "reordered": 0,
                        "misrouted": 0, "bad_ttl": 0, "bad_checksum": 0, "bad_mac": 0},
                    "busy_ns": 594_000_000u64, "busy_frames": all, "idle_share": 0.01,
                    "proof": {}, "environment": {"core_share": 1.0, "pinned": true},
                    "warnings": []});
                ids.push(id);
                let _ = writeln!(lines, "{trial}");
            }
        }
    }
    let campaign = json!({"record": "campaign", "schema": 1, "experiment_sha256": "0".repeat(64),
        "title": "drawn", "device": "builtin", "seed": 1, "blocks": blocks, "until_decided": false,
        "margin": 0.01, "baseline": "radix", "variants": ["radix", "modular"],
        "traffics": traffics, "trials": ids, "started": "2026-11-22T10:33:48Z"});
    let end =
        json!({"record": "finished", "at": "2026-11-22T10:53:48Z", "stopped": "all blocks run"});
    format!("{campaign}\n{lines}{end}\n")
}

/// Without the ends of its lines, which are a matter of width.
fn flowing(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The verdict follows from what stands beside it.
fn assert_follows(verdict: &Verdict, own: &Comparison, margin: f64) {
    let is_proven = own.p <= own.confidence.alpha();
    assert_eq!(is_proven, own.interval95.excludes_no_change(), "{own:?}");
    assert!(own.interval95.covers(own.estimate) && own.interval90.covers(own.estimate), "{own:?}");
    let is_clear = own.rare.is_none_or(|rare| !rare.is_unclear(margin));
    let is_enough = own.n.baseline.min(own.n.variant) >= 4;
    let is_equivalent = own.interval90.is_within(margin) && is_clear && is_enough;
    let wanted = match (is_equivalent, is_proven, own.estimate.ratio() > 1.0) {
        (true, ..) => "equivalent",
        (false, true, true) => "faster",
        (false, true, false) => "slower",
        (false, false, _) => "inconclusive",
    };
    assert_eq!(verdict.word(), wanted, "{own:?}");
}

/// Checks one campaign; returns the words of its verdicts.
fn agree(dir: &Path, is_written: bool) -> Vec<&'static str> {
    let results = Results::read(dir).expect("a journal");
    let claims = fwdlab_report::claims(&results).expect("claims");
    let options = Options { sources: vec![dir.to_owned()], ..Options::default() };
    let compared = compare(&options, &mut std::io::empty()).expect("a comparison");
    let judged: Vec<_> = compared.groups.iter().flat_map(|group| &group.judgements).collect();
    assert_eq!(judged.len(), claims.verdicts.len());
    let terminal = flowing(&fwdlab_report::terminal(&results, 100, false));
    let markdown = flowing(&fwdlab_report::github(&results).expect("Markdown"));
    let by_compare = [Format::Text, Format::Markdown, Format::Json]
        .map(|form| flowing(&String::from_utf8_lossy(&render(&compared, form).expect("a text"))));
    let json = fwdlab_report::json(&claims).expect("JSON");
    let files = is_written.then(|| {
        fwdlab_report::write(dir, &results).expect("a report");
        let read = |name| flowing(&fs::read_to_string(dir.join(name)).expect("a file"));
        (read("README.md"), read("claims.json"))
    });
    let words = claims.verdicts.iter().map(|verdict| {
        let twin = judged.iter().find(|one| one.sentence == verdict.sentence);
        let twin = twin.unwrap_or_else(|| panic!("compare does not say: {}", verdict.sentence));
        assert_eq!(twin.verdict, verdict.verdict);
        assert_eq!(twin.comparison.as_ref(), verdict.comparison());
        let sentence = flowing(&verdict.sentence);
        for text in [&terminal, &markdown].into_iter().chain(&by_compare) {
            assert!(text.contains(&sentence), "{sentence}\n{text}");
        }
        assert!(json.contains(&serde_json::to_string(&verdict.sentence).expect("JSON")));
        if let Some((readme, claims)) = &files {
            assert!(readme.contains(&sentence), "{sentence}\n{readme}");
            assert!(claims.contains(&sentence));
        }
        let comparison = verdict.comparison().expect("a comparison");
        assert_follows(&verdict.verdict, comparison, verdict.margin);
        verdict.verdict.word()
    });
    words.collect()
}

#[test]
fn whatever_shows_a_campaign_names_one_verdict() {
    let mut seen: Vec<&str> = Vec::new();
    for seed in 0..CAMPAIGNS {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let text = journal(&mut Random(seed.wrapping_mul(0x2545_f491_4f6c_dd1d)));
        fs::write(dir.path().join("trials.jsonl"), text).expect("a journal");
        seen.extend(agree(dir.path(), seed % WRITTEN == 0));
    }
    for word in ["equivalent", "faster", "slower", "inconclusive"] {
        let count = seen.iter().filter(|own| **own == word).count();
        assert!(count >= 20, "{word}: {count} of {}", seen.len());
    }
}
