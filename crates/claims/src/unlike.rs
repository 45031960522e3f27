//! Do the two sides of a comparison differ in what the experiment varies, and in nothing else?

use std::collections::{BTreeMap, BTreeSet};

use fwdlab_stats::validity::{self, Finding};

use crate::setting::{Setting, VariantSetting};
use crate::settle::is_proof;
use fwdlab_experiment::Allowance;
use fwdlab_results::{Results, Trial};

/// The trials of the baseline and of the variant.
type Sides<'a> = [Vec<&'a Trial>; 2];

/// Settings that were not proven to be applied, and factors that differ beside them.
pub(crate) fn unlike(results: &Results, setting: &Setting, sides: &Sides<'_>) -> Vec<Finding> {
    let sets = sides.each_ref().map(|side| {
        let name = side.first().map(|trial| trial.variant.as_str());
        let found = setting.variants.iter().find(|variant| Some(variant.name.as_str()) == name);
        found.map(|variant| &variant.set)
    });
    let unproven: Vec<String> = sides
        .iter()
        .zip(sets)
        .flat_map(|(side, set)| set.map(|set| unproven(results, side, set)).unwrap_or_default())
        .collect();
    let applied = (!unproven.is_empty()).then_some(Finding::NotApplied { settings: unproven });
    let is_allowed = setting.allow.contains(&Allowance::ManyFactors);
    let factors = if is_allowed { None } else { factors(sides, sets) };
    applied.into_iter().chain(factors).chain(same(results, setting, sides)).collect()
}

/// Two names of one thing: both sides are set alike, and files that only their names tell apart hold
/// the same bytes.
fn same(results: &Results, setting: &Setting, sides: &Sides<'_>) -> Option<Finding> {
    let of = |side: &Vec<&Trial>| {
        let name = &side.first()?.variant;
        setting.variants.iter().find(|variant| variant.name == *name)
    };
    let [b, v] = sides.each_ref().map(of);
    let (b, v) = (b?, v?);
    let values = |own: &VariantSetting| -> BTreeMap<String, String> {
        let bytes = |value: &String| results.campaign.inputs.get(value).unwrap_or(value).clone();
        own.set.iter().map(|(word, value)| (word.clone(), bytes(value))).collect()
    };
    let (of_b, of_v) = (b.own.as_ref()?, v.own.as_ref()?);
    let is_alike = |key: &String| {
        let [b, v] = [b, v].map(|own| digest(setting, key, own));
        of_b.get(key) == of_v.get(key) || b.is_some() && b == v
    };
    let is_same = values(b) == values(v) && of_b.keys().chain(of_v.keys()).all(is_alike);
    let [baseline, variant] = [b, v].map(|own| own.name.clone());
    is_same.then_some(Finding::NothingDiffers { baseline, variant })
}

/// What the environment says of the bytes of the file that a device's own key of a variant names.
fn digest<'a>(setting: &'a Setting, key: &str, variant: &VariantSetting) -> Option<&'a str> {
    let facts = &setting.environment.as_ref()?.device;
    let (_, digest) = facts.get(&format!("{key} of {}", variant.name))?.split_once("(SHA-256 ")?;
    Some(digest)
}

/// The words of `set` that the device answers otherwise in one of the trials, or never in any trial
/// of the variant. (With the traffic of one family a device may not answer for the other.)
fn unproven(results: &Results, side: &[&Trial], set: &BTreeMap<String, String>) -> Vec<String> {
    let Some(first) = side.first() else { return Vec::new() };
    let name = &first.variant;
    let answers = |word: &String| -> Vec<&String> {
        side.iter().filter_map(|trial| trial.measured.proof.get(word)).collect()
    };
    let never = |word: &String| {
        let own = || results.trials.iter().filter(|t| t.variant == *name && t.is_ok());
        own().all(|trial| !trial.measured.proof.contains_key(word))
    };
    set.iter()
        .filter_map(|(word, wanted)| {
            match answers(word).into_iter().find(|found| !is_proof(wanted, found)) {
                Some(found) => Some(format!("{name}: {word} is {found} where {wanted} was wanted")),
                None if never(word) => Some(format!("{name}: {word} was not read back")),
                None => None,
            }
        })
        .collect()
}

/// More than what the experiment varies.
fn factors(sides: &Sides<'_>, sets: [Option<&BTreeMap<String, String>>; 2]) -> Option<Finding> {
    let nothing = BTreeMap::new();
    let [b, v] = sets.map(|set| set.unwrap_or(&nothing));
    let words: BTreeSet<&String> = b.keys().chain(v.keys()).collect();
    let absent = "not set".to_owned();
    let mut varied: Vec<(&str, String, String)> = words
        .into_iter()
        .map(|word| {
            let of = |set: &BTreeMap<String, String>| set.get(word).unwrap_or(&absent).clone();
            (word.as_str(), of(b), of(v))
        })
        .filter(|(_, b, v)| b != v)
        .collect();
    let expected: Vec<&str> = varied.iter().map(|(word, _, _)| *word).collect();
    for (name, value) in FACTORS {
        // The word "tester" says which tester it is to be.
        // A side of which no trial is kept says nothing.
        if !expected.contains(&name) && sides.iter().all(|side| !side.is_empty()) {
            let [b, v] = sides.each_ref().map(|side| distinct(side, value));
            varied.push((name, b, v));
        }
    }
    let factors: Vec<(&str, &str, &str)> =
        varied.iter().map(|(name, b, v)| (*name, b.as_str(), v.as_str())).collect();
    validity::one_factor(&factors, &expected)
}

/// A factor of a trial that must be the same on both sides, unless a variant sets it.
type Factor = (&'static str, fn(&Trial) -> String);

const FACTORS: [Factor; 5] = [
    ("frame length", |trial| trial.frame_bytes.to_string()),
    ("flows", |trial| in_words(trial.flows_planned)),
    ("load", |trial| trial.load.clone()),
    ("interval", |trial| format!("{} ms", trial.interval_ms)),
    ("tester", |trial| trial.measured.proof.get("tester used").cloned().unwrap_or_default()),
];

fn in_words(count: Option<u64>) -> String {
    count.map_or("not known".to_owned(), |count| count.to_string())
}

/// The values that a factor has on one side.
fn distinct(side: &[&Trial], value: fn(&Trial) -> String) -> String {
    let values: BTreeSet<String> = side.iter().map(|trial| value(trial)).collect();
    values.into_iter().collect::<Vec<_>>().join(" and ")
}
