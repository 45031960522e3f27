//! Settings in which variants differ and that do nothing with the traffics of an experiment.

use fwdlab_experiment::{Experiment, Variant};
use fwdlab_results::Family;

const ROUTE_CACHE: &str = "fwdlab.device.route_cache";
const BATCH_LOOKUPS: &str = "fwdlab.device.batch_lookups";
const FAST_PATH: &str = "fwdlab.device.fast_path";
/// The words that choose an algorithm, each with the family whose lookups it is of.
const ALGORITHMS: [(&str, Family); 2] =
    [("net.route.algo.inet.algo", Family::Inet), ("net.route.algo.inet6.algo", Family::Inet6)];

/// Each difference to the baseline in a control word of the router that does nothing, in words.
pub fn differences(experiment: &Experiment) -> Vec<String> {
    let mut own = experiment.variants.iter();
    let Some(baseline) = own.find(|own| own.name == experiment.baseline) else { return Vec::new() };
    let others = experiment.variants.iter().filter(|own| own.name != baseline.name);
    others.flat_map(|variant| of_pair(experiment, baseline, variant)).collect()
}

fn of_pair(experiment: &Experiment, baseline: &Variant, variant: &Variant) -> Vec<String> {
    let said = |word: &str, why: String| {
        let (variant, baseline) = (&variant.name, &baseline.name);
        format!("{variant} differs from {baseline} in {word}, which does nothing here: {why}")
    };
    let mut found = Vec::new();
    for (word, family) in ALGORITHMS {
        let [b, v] =
            [baseline, variant].map(|own| own.set.get(word).map_or("auto", String::as_str));
        if b != v && !has(experiment, family) {
            found.push(said(word, format!("no traffic is {}", family.title())));
        }
    }
    let [b, v] = [baseline, variant].map(|own| !is_off(own, ROUTE_CACHE));
    let keeping = if b { baseline } else { variant };
    found.extend(
        why_nothing_is_kept(experiment, keeping)
            .filter(|_| b != v)
            .map(|why| said(ROUTE_CACHE, why)),
    );
    found
}

/// Why the route cache of a variant that has it on keeps nothing; nothing where it may.
fn why_nothing_is_kept(experiment: &Experiment, variant: &Variant) -> Option<String> {
    let (word, family) = ALGORITHMS[1];
    if !has(experiment, family) {
        return Some("it keeps answers of IPv6 lookups, and no traffic is IPv6".to_owned());
    }
    let named = variant.set.get(word).filter(|algorithm| *algorithm != "auto");
    if let Some(algorithm) = named {
        return Some(format!(
            "it keeps answers where the algorithm is left to auto, and {word} is {algorithm}"
        ));
    }
    let off = [BATCH_LOOKUPS, FAST_PATH].into_iter().find(|word| is_off(variant, word))?;
    Some(format!("it is of lookups in batches on the fast path, and {off} is 0"))
}

/// Whether a variant turns something off that is usually on.
fn is_off(variant: &Variant, word: &str) -> bool {
    variant.set.get(word).is_some_and(|value| value.parse() == Ok(0.0))
}

fn has(experiment: &Experiment, family: Family) -> bool {
    experiment.traffics.iter().any(|own| own.family == family || own.family == Family::Dual)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Builtin;

    const INET: [&str; 3] = ["inet", "198.18.10.1:7", "198.19.10.1:7"];
    const INET6: [&str; 3] = ["inet6", "[2001:2::10]:7", "[2001:2:0:8001::10]:7"];

    fn said([a, b]: [&str; 2], traffics: &[[&str; 3]]) -> Vec<String> {
        let traffic = |[name, source, destination]: &[&str; 3]| {
            format!(
                "[[traffic]]\nname = \"{name}\"\nsource = \"{source}\"\ndestination = \"{destination}\"\n"
            )
        };
        let traffics: String = traffics.iter().map(traffic).collect();
        let text = format!(
            "title = \"t\"\nbaseline = \"a\"\n[[variant]]\nname = \"a\"\nset = {{ {a} }}\n[[variant]]\n\
             name = \"b\"\nset = {{ {b} }}\n{traffics}[routes]\nstatic = [\"198.19.0.0/16 via \
             198.19.0.203\", \"2001:2:0:8000::/49 via 2001:2:0:8000::203\"]\n"
        );
        let experiment = Experiment::of_text(Path::new("t.toml"), &text, &[&Builtin]);
        differences(&experiment.expect("a right experiment"))
    }

    #[test]
    fn a_difference_that_does_nothing_is_said_with_the_reason() {
        let off = "\"fwdlab.device.route_cache\" = 0";
        let named = "\"net.route.algo.inet6.algo\" = \"direct6\"";
        let both = format!("{off}, {named}");
        let one = |[a, b]: [&str; 2], traffics: &[[&str; 3]], why: &str| {
            let all = said([a, b], traffics);
            let [only] = &all[..] else { panic!("{a} / {b}: {all:?}") };
            let start = "b differs from a in ";
            assert!(only.starts_with(start) && only.contains(why), "{a} / {b}: {only}");
        };
        one(["", off], &[INET], "no traffic is IPv6");
        one([named, &both], &[INET6], "net.route.algo.inet6.algo is direct6");
        let single = "\"fwdlab.device.batch_lookups\" = 0";
        one([single, &format!("{single}, {off}")], &[INET6], "fwdlab.device.batch_lookups is 0");
        one(["", named], &[INET], "no traffic is IPv6");
        // what is kept without it, or would be
        for own in [["", off], [off, ""], ["", named], [named, off], ["", &both]] {
            let wanted = if own == [named, off] { 1 } else { 0 };
            assert_eq!(said(own, &[INET, INET6]).len(), wanted, "{own:?}");
        }
        assert_eq!(said(["", "\"fwdlab.device.route_cache\" = 1"], &[INET]), [""; 0]);
    }
}
