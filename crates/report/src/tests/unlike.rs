//! Sides that differ in more, or in less, than the experiment says.

use std::fs;

use super::{directory, example};
use fwdlab_claims::claim::{Cell, State};
use fwdlab_claims::judge::{Terms, judge_by};
use fwdlab_claims::setting::Setting;
use fwdlab_claims::{Claims, claims};
use fwdlab_results::{BusyBy, LimitedBy, Measured, Metric, Results, Trial};
use fwdlab_stats::Verdict;
use fwdlab_stats::validity::Finding;

fn modular(results: &mut Results) -> impl Iterator<Item = &mut Trial> {
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

#[test]
fn a_change_that_is_none_is_said_in_the_badge_of_its_proof() {
    let (dir, mut results) = directory(example::results(&example::TWO, 8));
    let badge = |results: &Results| {
        let found = claims(results).unwrap();
        let own = found.badges.iter().find(|badge| badge.name == "proof of change").unwrap();
        crate::write(dir.path(), results).unwrap();
        let page = fs::read_to_string(dir.path().join("README.md")).unwrap();
        (own.state, own.text.clone(), page)
    };
    assert_eq!(badge(&results).0, State::Good);
    let path = dir.path().join("experiment.toml");
    let text = fs::read_to_string(&path).unwrap();
    let (head, variants) = text.split_once("[[variant]]").unwrap();
    let set = variants.lines().find(|line| line.starts_with("set")).unwrap();
    let tail = variants.split_once("[[traffic]]").map_or("", |(_, tail)| tail);
    let one = |name: &str| format!("[[variant]]\nname = \"{name}\"\n{set}\n\n");
    let both = format!("{head}{}{}[[traffic]]{tail}", one("radix"), one("modular"));
    fs::write(&path, both).unwrap();
    for trial in modular(&mut results) {
        let word = format!("net.route.algo.{}.algo", trial.family.name());
        let usual = if word.contains("inet6") { "radix6" } else { "radix4" };
        trial.measured.proof.insert(word, usual.to_owned());
    }
    let (state, text, page) = badge(&results);
    assert_eq!(state, State::Warn, "{text}");
    assert!(text.starts_with("nothing differs: modular is radix under another name"), "{text}");
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains(&format!("- warning: proof of change: {text}")), "{page}");
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

/// The example with a third variant that sets a word of its own, which the first two leave alone and
/// the device answers with 0.
fn with_a_third() -> (tempfile::TempDir, Results) {
    let (dir, mut results) = directory(example::results(&example::TWO, 8));
    let path = dir.path().join("experiment.toml");
    let text = fs::read_to_string(&path).unwrap();
    let third =
        "[[variant]]\nname = \"third\"\nset = { \"net.inet.ip.redirect\" = 1 }\n\n[[traffic]]";
    fs::write(&path, text.replacen("[[traffic]]", third, 1)).unwrap();
    results.campaign.variants.push("third".to_owned());
    results.trials.iter_mut().for_each(|trial| {
        trial.measured.proof.insert("net.inet.ip.redirect".to_owned(), "0".to_owned());
    });
    (dir, results)
}

/// What the verdicts on `modular` were found invalid for.
fn invalid(claims: &Claims) -> Option<String> {
    let own = || claims.verdicts.iter().filter(|verdict| verdict.variant == "modular");
    let is_invalid = own().any(|own| matches!(own.verdict, Verdict::Invalid { .. }));
    is_invalid.then(|| own().map(|own| format!("{:?}", own.findings)).collect())
}

#[test]
fn a_word_that_neither_side_sets_has_one_value_on_both() {
    let (_dir, mut results) = with_a_third();
    assert!(invalid(&claims(&results).unwrap()).is_none());
    for trial in modular(&mut results) {
        trial.measured.proof.insert("net.inet.ip.redirect".to_owned(), "1".to_owned());
    }
    let text = invalid(&claims(&results).unwrap()).expect("another factor");
    assert!(text.contains("net.inet.ip.redirect (0 / 1)"), "{text}");
}

/// Two kernels of which only one has the word.
#[test]
fn a_word_that_one_side_lacks_is_no_factor() {
    let (_dir, mut results) = with_a_third();
    for trial in modular(&mut results) {
        trial.measured.proof.remove("net.inet.ip.redirect");
    }
    assert_eq!(invalid(&claims(&results).unwrap()), None);
}

#[test]
fn what_another_variant_set_may_not_outlive_it() {
    let (_dir, mut results) = with_a_third();
    let first = modular(&mut results).next().unwrap();
    first.measured.proof.insert("net.inet.ip.redirect".to_owned(), "1".to_owned());
    let found = claims(&results).unwrap();
    assert_eq!(proof(&found), State::Bad);
    let text = invalid(&found).expect("several values");
    assert!(
        text.contains("modular: net.inet.ip.redirect, which it does not set, was 0 and 1"),
        "{text}"
    );
}

/// The word that a third variant sets, and what the first two, which leave it alone, read of it.
const ALGO: &str = "net.route.algo.inet6.algo";

/// The example with two variants that differ in their routes, and a third that sets an algorithm: the device
/// says of the first two that it chose itself, and another one for each.
fn with_own_choices() -> (tempfile::TempDir, Results) {
    let (dir, mut results) = directory(example::results(&example::TWO, 8));
    let path = dir.path().join("experiment.toml");
    let text = fs::read_to_string(&path).unwrap();
    let (head, rest) = text.split_once("[[variant]]").unwrap();
    let (_, tail) = rest.split_once("[[traffic]]").unwrap();
    let variants =
        [("radix", "routes", "10"), ("modular", "routes", "1000"), ("third", ALGO, "dxr6")];
    let variants = variants.map(|(name, word, value)| {
        format!("[[variant]]\nname = \"{name}\"\nset = {{ \"{word}\" = \"{value}\" }}\n\n")
    });
    fs::write(&path, format!("{head}{}[[traffic]]{tail}", variants.concat())).unwrap();
    results.campaign.variants.push("third".to_owned());
    for trial in &mut results.trials {
        let (routes, algorithm) =
            if trial.variant == "radix" { ("10", "vector6") } else { ("1000", "tree6") };
        trial.measured.proof.clear();
        trial.measured.proof.insert("routes".to_owned(), routes.to_owned());
        let answers = Measured::answers(ALGO, algorithm.to_owned(), true);
        trial.measured.proof.extend(answers);
    }
    (dir, results)
}

#[test]
fn what_the_device_chooses_itself_is_a_consequence_and_named() {
    let (_dir, mut results) = with_own_choices();
    let sound = claims(&results).unwrap();
    assert_eq!(invalid(&sound), None);
    let own = sound.verdicts.iter().find(|own| own.variant == "modular").unwrap();
    let said: Vec<String> = own.findings.iter().map(Finding::to_string).collect();
    let named = format!("the device chose otherwise as a consequence: {ALGO} (vector6 / tree6)");
    assert!(said.contains(&named), "{said:?}");
    // One that changed its mind within a variant is named as well.
    let first = modular(&mut results).next().unwrap();
    first.measured.proof.insert(ALGO.to_owned(), "vector6".to_owned());
    assert_eq!(invalid(&claims(&results).unwrap()), None);
}

#[test]
fn what_somebody_set_is_no_choice_of_the_device() {
    let (_dir, mut results) = with_own_choices();
    let fixed = |trial: &mut Trial| trial.measured.proof.remove(&Measured::choice_of(ALGO));
    // In one trial of one side, and then in all of both.
    assert!(modular(&mut results).next().and_then(fixed).is_some());
    let text = invalid(&claims(&results).unwrap()).expect("another factor");
    assert!(text.contains("net.route.algo.inet6.algo (vector6 / tree6)"), "{text}");
    results.trials.iter_mut().for_each(|trial| drop(fixed(trial)));
    assert!(invalid(&claims(&results).unwrap()).is_some());
}

#[test]
fn nothing_is_a_consequence_where_nothing_is_varied() {
    let (dir, mut results) = with_own_choices();
    let path = dir.path().join("experiment.toml");
    let text = fs::read_to_string(&path).unwrap().replace("\"1000\"", "\"10\"");
    fs::write(&path, text).unwrap();
    for trial in modular(&mut results) {
        trial.measured.proof.insert("routes".to_owned(), "10".to_owned());
    }
    let found = claims(&results).unwrap();
    let all = || found.verdicts.iter().flat_map(|own| &own.findings);
    assert!(all().any(|own| matches!(own, Finding::NothingDiffers { .. })));
    assert!(!all().any(|own| matches!(own, Finding::OwnChoices { .. })));
}

#[test]
fn a_change_of_what_the_machine_has_anyway_is_none() {
    let (dir, mut results) = directory(example::results(&example::TWO, 8));
    let path = dir.path().join("experiment.toml");
    let text = fs::read_to_string(&path).unwrap();
    // The baseline sets nothing, and the machine has what the variant sets.
    let (head, rest) = text.split_once("name = \"radix\"").unwrap();
    let (_, tail) = rest.split_once("[[variant]]").unwrap();
    fs::write(&path, format!("{head}name = \"radix\"\n\n[[variant]]{tail}")).unwrap();
    assert_eq!(proof(&claims(&results).unwrap()), State::Good);
    let usual: Vec<_> = modular(&mut results).map(|trial| trial.measured.proof.clone()).collect();
    let baseline = results.trials.iter_mut().filter(|trial| trial.variant == "radix");
    for trial in baseline {
        let own = usual.iter().find(|proof| proof.keys().eq(trial.measured.proof.keys()));
        trial.measured.proof = own.unwrap().clone();
    }
    let found = claims(&results).unwrap();
    let badge = found.badges.iter().find(|badge| badge.name == "proof of change").unwrap();
    assert_eq!(badge.text, "read back the same as the baseline: modular (inet), modular (inet6)");
}

/// Ticks of all processors beside time between stamps named a winner: "slower by a factor of 18.0".
#[test]
fn costs_that_were_taken_in_two_ways_name_no_winner() {
    let (_dir, mut results) = directory(example::results(&example::TWO, 8));
    results.trials.iter_mut().for_each(|trial| trial.limited_by = LimitedBy::Core);
    let found = claims(&results).unwrap();
    assert!(found.verdicts.iter().all(|v| v.metric == "cost" && v.cost.is_some()));
    modular(&mut results).for_each(|trial| trial.measured.busy_by = Some(BusyBy::Ticks));
    let found = claims(&results).unwrap();
    for verdict in &found.verdicts {
        assert_eq!((verdict.metric, &verdict.cost), ("rate", &None));
        let why = verdict.findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        assert!(why.contains("that of modular is sampled at ticks of the kernel's clock"), "{why}");
    }
    // Asked for all the same, it says why there is none.
    let terms = Terms { metric: Some(Metric::Cost), ..Terms::of(&results) };
    let setting = Setting::read(&results).unwrap();
    let asked = judge_by(&results, &results.campaign.traffics[0], &setting, terms);
    assert!(asked[0].sentence.contains("cannot be compared"), "{}", asked[0].sentence);
    let Verdict::Invalid { why } = &asked[0].verdict else { panic!("{:?}", asked[0].verdict) };
    assert!(why.concat().contains("they are two quantities"), "{why:?}");
}

/// Eight trials of 0 to 53 ticks had a median of 89006 ns/frame, of the three that had any.
#[test]
fn where_ticks_were_too_few_in_a_trial_no_cost_is_told() {
    let (_dir, mut results) = directory(example::results(&example::TWO, 8));
    modular(&mut results).for_each(|trial| trial.measured.busy_by = Some(BusyBy::Ticks));
    let cost = |results: &Results| {
        let found = claims(results).unwrap();
        let is_it = |cell: &&Cell| {
            cell.variant == "modular" && cell.traffic == results.campaign.traffics[0]
        };
        let own = found.cells.iter().find(is_it).unwrap();
        own.cost.map(|cost| cost.n)
    };
    assert_eq!(cost(&results), Some(8));
    let first = results.campaign.traffics[0].clone();
    let one = modular(&mut results).find(|trial| trial.traffic == first).unwrap();
    one.measured.busy = None;
    one.measured.intervals.iter_mut().for_each(|interval| interval.busy = None);
    assert_eq!(cost(&results), None);
}

/// "ok: proof of change: ... differ from the baseline's" was said of `gro = "on"` and `gro = true`.
#[test]
fn two_spellings_that_the_device_reads_alike_are_nothing_that_differs() {
    let (_dir, mut results) = directory(example::results(&example::TWO, 8));
    let is_same = |results: &Results| {
        let found = claims(results).unwrap();
        found.verdicts.iter().all(|own| {
            own.findings.iter().any(|found| matches!(found, Finding::NothingDiffers { .. }))
        })
    };
    assert!(!is_same(&results));
    for trial in &mut results.trials {
        let words = ["net.route.algo.inet.algo", "net.route.algo.inet6.algo"];
        let alike = words.map(|word| (Measured::reading_of(word), "alike".to_owned()));
        trial.measured.proof.extend(alike);
    }
    assert!(is_same(&results));
}

/// "50 flows of smallest UDP frames" was all that was said of `order = "zipf(3)"`.
#[test]
fn skewed_flows_are_said() {
    let (dir, results) = directory(example::results(&example::TWO, 8));
    let path = dir.path().join("experiment.toml");
    let text = fs::read_to_string(&path).unwrap();
    let said = |order: &str| {
        let own = format!("[[traffic]]\norder = \"{order}\"\n");
        fs::write(&path, text.replace("[[traffic]]\n", &own)).unwrap();
        Setting::read(&results).unwrap().lines().join("\n")
    };
    assert!(said("zipf(3)").contains("flows (in the order zipf(3)) of "), "{}", said("zipf(3)"));
    assert!(!said("random").contains("order"), "{}", said("random"));
}
