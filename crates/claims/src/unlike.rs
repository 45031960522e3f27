//! Do the two sides of a comparison differ in what the experiment varies, and in nothing else?

use std::collections::{BTreeMap, BTreeSet};

use fwdlab_stats::validity::{self, Finding};

use crate::setting::{Setting, VariantSetting};
use crate::settle::is_proof;
use fwdlab_experiment::Allowance;
use fwdlab_results::{Measured, Results, Trial};

/// The trials of the baseline and of the variant.
type Sides<'a> = [Vec<&'a Trial>; 2];

/// Settings that were not proven to be applied, and factors that differ beside them.
pub(crate) fn unlike(results: &Results, setting: &Setting, sides: &Sides<'_>) -> Vec<Finding> {
    let sets = sides.each_ref().map(|side| {
        let name = side.first().map(|trial| trial.variant.as_str());
        let found = setting.variants.iter().find(|variant| Some(variant.name.as_str()) == name);
        found.map(|variant| &variant.set)
    });
    let words: BTreeSet<&String> = setting.variants.iter().flat_map(|v| v.set.keys()).collect();
    let not_applied = sides.iter().zip(sets).flat_map(|(side, set)| {
        let Some(set) = set else { return Vec::new() };
        let left_alone = words.iter().copied().filter(|word| !set.contains_key(*word));
        let mut list = unproven(results, side, set);
        list.extend(unsteady(side, left_alone.filter(|word| !is_own_choice(side, word))));
        list
    });
    let settings: Vec<String> = not_applied.collect();
    let applied = (!settings.is_empty()).then_some(Finding::NotApplied { settings });
    let chosen = own_choices(setting, sides, &words);
    let is_allowed = setting.allow.contains(&Allowance::ManyFactors);
    let others = words.iter().copied().filter(|word| !chosen.contains_key(word.as_str()));
    let factors = if is_allowed { None } else { factors(sides, sets, &others.collect()) };
    let chosen: Vec<String> =
        chosen.into_iter().map(|(word, [b, v])| format!("{word} ({b} / {v})")).collect();
    let chosen = (!chosen.is_empty()).then_some(Finding::OwnChoices { words: chosen });
    applied.into_iter().chain(factors).chain(chosen).chain(same(results, setting, sides)).collect()
}

/// Words that are left to the device on both sides, by whoever sets them or by nobody, and read back
/// differently, each with what it is on either side. That is a consequence of what the experiment varies, as a
/// larger table asks for another algorithm, and no second factor. Nothing is a consequence where nothing
/// is varied; nor is what the device does not say to have chosen itself: that has been set by somebody.
fn own_choices<'a>(
    setting: &Setting,
    sides: &Sides<'_>,
    words: &BTreeSet<&'a String>,
) -> BTreeMap<&'a str, [String; 2]> {
    let is_left = |word: &str| sides.iter().all(|side| is_own_choice(side, word));
    let Some([b, v]) = variants(setting, sides) else { return BTreeMap::new() };
    let is_varied = |word: &String| b.set.get(word) != v.set.get(word) && !is_left(word);
    if b.own == v.own && !words.iter().any(|word| is_varied(word)) {
        return BTreeMap::new();
    }
    let left = words.iter().filter(|word| is_left(word)).map(|word| {
        let values =
            sides.each_ref().map(|side| answers(side, word).into_iter().collect::<Vec<_>>());
        (word.as_str(), values.map(|own| own.join(" and ")))
    });
    left.filter(|(_, [b, v])| b != v).collect()
}

/// Whether the device says in every trial of a side that has a word that its value is its own choice.
fn is_own_choice(side: &[&Trial], word: &str) -> bool {
    let choice = Measured::choice_of(word);
    let mut saying =
        side.iter().map(|t| &t.measured.proof).filter(|p| p.contains_key(word)).peekable();
    let is_own = |proof: &BTreeMap<String, String>| {
        proof.get(&choice).is_some_and(|value| value == Measured::OWN_CHOICE)
    };
    saying.peek().is_some() && saying.all(is_own)
}

/// The two variants, where the experiment names both.
fn variants<'a>(setting: &'a Setting, sides: &Sides<'_>) -> Option<[&'a VariantSetting; 2]> {
    let of = |side: &Vec<&Trial>| {
        let name = &side.first()?.variant;
        setting.variants.iter().find(|variant| variant.name == *name)
    };
    let [b, v] = sides.each_ref().map(of);
    b.zip(v).map(<[_; 2]>::from)
}

/// Two names of one thing: both sides are set alike or read back alike, and files that only their names
/// tell apart hold the same bytes.
fn same(results: &Results, setting: &Setting, sides: &Sides<'_>) -> Option<Finding> {
    let [b, v] = variants(setting, sides)?;
    let inputs = &results.campaign.inputs;
    let is_word_alike = |word: &String| {
        let values = [b, v].map(|own| own.set.get(word));
        let [of_b, of_v] = values.map(|value| value.map(|own| inputs.get(own).unwrap_or(own)));
        let is_file = values.into_iter().flatten().any(|value| inputs.contains_key(value));
        // What one side leaves alone, or leaves to the device, may be what the other sets.
        let [read_b, read_v] = sides.each_ref().map(|side| readings(side, word));
        of_b == of_v || !is_file && read_b.len() == 1 && read_b == read_v
    };
    let (of_b, of_v) = (b.own.as_ref()?, v.own.as_ref()?);
    let is_alike = |key: &String| {
        let [b, v] = [b, v].map(|own| digest(setting, key, own));
        of_b.get(key) == of_v.get(key) || b.is_some() && b == v
    };
    let is_same = b.set.keys().chain(v.set.keys()).all(is_word_alike)
        && of_b.keys().chain(of_v.keys()).all(is_alike);
    let [baseline, variant] = [b, v].map(|own| own.name.clone());
    is_same.then_some(Finding::NothingDiffers { baseline, variant })
}

/// What the environment says of the bytes of the file that a device's own key of a variant names.
fn digest<'a>(setting: &'a Setting, key: &str, variant: &VariantSetting) -> Option<&'a str> {
    let facts = &setting.environment.as_ref()?.device;
    let (_, digest) = facts.get(&format!("{key} of {}", variant.name))?.split_once("(SHA-256 ")?;
    Some(digest)
}

/// Words that a variant leaves alone, and that had several values in its trials: what another variant
/// set was still in force.
fn unsteady<'a>(side: &[&Trial], left_alone: impl Iterator<Item = &'a String>) -> Vec<String> {
    let Some(first) = side.first() else { return Vec::new() };
    left_alone
        .filter_map(|word| {
            let values = answers(side, word);
            let listed = values.iter().copied().collect::<Vec<_>>().join(" and ");
            let name = &first.variant;
            (values.len() > 1)
                .then(|| format!("{name}: {word}, which it does not set, was {listed}"))
        })
        .collect()
}

/// What the device answered for a word, each answer once; none where it did not.
fn answers<'a>(side: &[&'a Trial], word: &str) -> BTreeSet<&'a str> {
    side.iter().filter_map(|trial| trial.measured.proof.get(word)).map(String::as_str).collect()
}

/// The same in the device's own spelling.
fn readings<'a>(side: &[&'a Trial], word: &str) -> BTreeSet<&'a str> {
    let own = answers(side, &Measured::reading_of(word));
    if own.is_empty() { answers(side, word) } else { own }
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

/// More than what the experiment varies: `all` are the words that any of its variants sets.
fn factors(
    sides: &Sides<'_>,
    sets: [Option<&BTreeMap<String, String>>; 2],
    all: &BTreeSet<&String>,
) -> Option<Finding> {
    let nothing = BTreeMap::new();
    let [b, v] = sets.map(|set| set.unwrap_or(&nothing));
    let words: BTreeSet<&String> = b.keys().chain(v.keys()).collect();
    let absent = "not set".to_owned();
    let mut varied: Vec<(&str, String, String)> = words
        .iter()
        .map(|word| {
            let of = |set: &BTreeMap<String, String>| set.get(*word).unwrap_or(&absent).clone();
            (word.as_str(), of(b), of(v))
        })
        .filter(|(_, b, v)| b != v)
        .collect();
    let expected: Vec<&str> = varied.iter().map(|(word, _, _)| *word).collect();
    // What only other variants set has one value on both sides, unless something else changed it.
    for word in all.difference(&words) {
        let [b, v] = sides.each_ref().map(|side| answers(side, word));
        if let (Some(b), Some(v)) = (b.first(), v.first())
            && b != v
        {
            varied.push((word.as_str(), (*b).to_owned(), (*v).to_owned()));
        }
    }
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
