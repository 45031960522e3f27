//! Sides that differ in more, or in less, than the experiment says.

use std::fs;

use super::{directory, example};
use fwdlab_claims::claim::State;
use fwdlab_claims::{Claims, claims};
use fwdlab_results::Results;
use fwdlab_stats::Verdict;
use fwdlab_stats::validity::Finding;

fn modular(results: &mut Results) -> impl Iterator<Item = &mut fwdlab_results::Trial> {
    results.trials.iter_mut().filter(|trial| trial.variant == "modular")
}

fn is_invalid(claims: &Claims) -> bool {
    claims.verdicts.iter().any(|v| matches!(v.verdict, Verdict::Invalid { .. }))
}

fn proof(claims: &Claims) -> State {
    claims.badges.iter().find(|badge| badge.name == "proof of change").unwrap().state
}

#[test]
fn settings_that_the_device_does_not_answer_make_a_verdict_invalid() {
    let (_dir, mut results) = directory(example::results(&example::TWO, 8));
    let sound = claims(&results).unwrap();
    assert!(!is_invalid(&sound));
    assert_eq!(proof(&sound), State::Good);
    // What swapped labels look like: the experiment says otherwise.
    for trial in modular(&mut results) {
        let word = format!("net.route.algo.{}.algo", trial.family.name());
        trial.measured.proof.insert(word, "radix4".to_owned());
    }
    let swapped = claims(&results).unwrap();
    assert!(is_invalid(&swapped));
    assert_eq!(proof(&swapped), State::Bad);
    let found = swapped.verdicts.iter().flat_map(|v| &v.findings);
    let settings: Vec<&String> = found
        .filter_map(|f| match f {
            Finding::NotApplied { settings } => Some(settings),
            _ => None,
        })
        .flatten()
        .collect();
    assert!(settings[0].contains("radix4 where bsearch4 was wanted"), "{settings:?}");
    modular(&mut results).for_each(|trial| trial.measured.proof.clear());
    assert!(is_invalid(&claims(&results).unwrap()), "nothing was read back");
}

#[test]
fn a_second_factor_makes_a_verdict_invalid_unless_it_is_allowed() {
    let (dir, mut results) = directory(example::results(&example::TWO, 8));
    modular(&mut results).for_each(|trial| trial.load = "1Gbps".to_owned());
    let found = claims(&results).unwrap();
    assert!(is_invalid(&found));
    let text = format!("{:?}", found.verdicts[0].findings);
    assert!(text.contains("load (max / 1Gbps)"), "{text}");
    let path = dir.path().join("experiment.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("\"no-route\"", "\"no-route\", \"many-factors\"")).unwrap();
    assert!(!is_invalid(&claims(&results).unwrap()));
}

/// Two names of one file, or of one setting, are no variants: a gate must not pass by them.
#[test]
fn a_variant_under_two_names_is_told() {
    let (dir, mut results) = directory(example::results(&example::TWO, 8));
    let is_same = |results: &Results| {
        let claims = claims(results).unwrap();
        let found = |v: &fwdlab_claims::claim::VerdictClaim| {
            v.findings.iter().any(|f| matches!(f, Finding::NothingDiffers { .. }))
        };
        let count = claims.verdicts.iter().filter(|v| found(v)).count();
        assert!(count == 0 || count == claims.verdicts.len());
        count > 0
    };
    let variants = |radix: &str, modular: &str| {
        let text = format!(
            "[[variant]]\nname = \"radix\"\n{radix}\n[[variant]]\nname = \"modular\"\n{modular}\n"
        );
        fs::write(dir.path().join("experiment.toml"), text).unwrap();
    };
    assert!(!is_same(&results));
    variants("set = { a = \"1\" }", "set = { a = \"2\" }");
    assert!(!is_same(&results));
    variants("set = { a = \"1\" }", "set = { a = \"1\" }");
    assert!(is_same(&results));
    // Rules in two files, with the same bytes or not.
    variants("set = { nftables = \"a.nft\" }", "set = { nftables = \"b.nft\" }");
    let note = |results: &mut Results, sums: [&str; 2]| {
        let names = ["a.nft", "b.nft"].map(str::to_owned);
        results.campaign.inputs = names.into_iter().zip(sums.map(str::to_owned)).collect();
    };
    note(&mut results, ["5eed", "beef"]);
    assert!(!is_same(&results));
    note(&mut results, ["5eed", "5eed"]);
    assert!(is_same(&results));
    // Keys of the device's own, such as two kernels: the environment has their hashes.
    variants("kernel = \"old\"", "kernel = \"new\"");
    let record = |sums: [&str; 2]| {
        let device = ["radix", "modular"].into_iter().zip(sums).map(|(name, sum)| {
            (format!("kernel of {name}"), format!("bzImage-{name} (SHA-256 {sum})"))
        });
        let own = fwdlab_results::environment::Environment {
            device: device.collect(),
            ..Default::default()
        };
        own.write(dir.path()).unwrap();
    };
    record(["5eed", "beef"]);
    assert!(!is_same(&results));
    record(["5eed", "5eed"]);
    assert!(is_same(&results));
    fs::remove_file(dir.path().join("experiment.toml")).unwrap();
    assert!(!is_same(&results), "nothing is known of either");
}
