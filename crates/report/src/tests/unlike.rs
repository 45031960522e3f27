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
