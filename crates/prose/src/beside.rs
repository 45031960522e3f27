//! Rates of measured sets that no block of the page shows: "ipfw with D27401 forwards 948 kpps" where only the
//! medians stand beside the page.

use std::collections::BTreeSet;

use fwdlab_evidence::finding::{AuditFindings, Rule, Severity, Text};
use fwdlab_evidence::surroundings::Surroundings;
use fwdlab_netbenches::name::family_word;
use fwdlab_netbenches::page::Item;
use fwdlab_results::units::rate;
use fwdlab_sentence::clause::{Clause, quotes_earlier};
use fwdlab_sentence::levels::is_of_no_level;
use fwdlab_sentence::quantity::rates;
use fwdlab_sentence::subject::{folded, is_of_others, spoken};

use crate::held::{line_of, of_another_machine, sentence_of};

/// Share by which a rate has to be off the values that are meant.
const FAR: f64 = 0.02;

/// A clause whose rates are those of no set that it names.
pub(crate) fn check(
    around: &Surroundings<'_>,
    item: &Item,
    clause: &Clause,
    findings: &mut AuditFindings,
) {
    let stated = rates(&clause.text);
    let sentence = sentence_of(item, clause);
    if stated.is_empty()
        || clause.families.len() != 1
        || is_of_no_level(clause)
        || quotes_earlier(sentence)
        || is_of_others(sentence)
        || of_another_machine(around, item, clause)
    {
        return;
    }
    let all = around.data.all_values();
    let names: Vec<(&String, BTreeSet<String>)> =
        all.keys().map(|prefix| (prefix, words_of(prefix))).collect();
    let is_known = |word: &String| names.iter().any(|(_, own)| own.contains(word));
    let is_everywhere = |word: &String| names.iter().all(|(_, own)| own.contains(word));
    let said: BTreeSet<String> =
        spoken(&clause.text).into_iter().filter(|w| is_known(w) && !is_everywhere(w)).collect();
    let is_meant = |(prefix, own): &&(&String, BTreeSet<String>)| {
        said.is_subset(own)
            && around.data.family(prefix).is_some_and(|own| clause.families.contains(&own))
    };
    let mut meant = names.iter().filter(is_meant);
    let (Some((prefix, _)), None) = (meant.next().filter(|_| said.len() > 1), meant.next()) else {
        return;
    };
    let sources = around.sets.iter().flatten().filter_map(|set| set.source.as_ref());
    if sources.into_iter().any(|source| source.prefix == **prefix) {
        return;
    }
    let values = &all[*prefix];
    let low = values.iter().copied().fold(f64::INFINITY, f64::min) * (1.0 - FAR);
    let high = values.iter().copied().fold(0.0, f64::max) * (1.0 + FAR);
    if values.is_empty() || stated.iter().any(|own| (low..=high).contains(&own.pps())) {
        return;
    }
    let median = rate(fwdlab_stats::median(values));
    let claim = format!("'{}' in: {}", stated[0].text, clause.text.trim());
    let text = Text::new(claim, format!("{prefix} has {median}"), format!("write {median}"));
    findings.add(Rule::ClaimRate, Severity::Check, line_of(item, clause), text);
}

/// The words of a name: `r368606D27401.pf-statefull.inet4` holds `d27401`, `pf` and `stateful`.
fn words_of(prefix: &str) -> BTreeSet<String> {
    let mut own = BTreeSet::new();
    for part in prefix.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()) {
        let digits = part.find('D').map_or("", |at| &part[at + 1..]);
        let digits = &digits[..digits.bytes().take_while(u8::is_ascii_digit).count()];
        if digits.len() > 3 {
            own.insert(format!("d{digits}"));
        }
        if family_word(part).is_none() {
            own.insert(folded(part));
        }
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_holds_its_patch() {
        let own = words_of("r368606D27401v4.pf-statefull.inet4");
        let wanted = ["d27401", "pf", "r368606d27401v4", "stateful"];
        assert_eq!(own.into_iter().collect::<Vec<_>>(), wanted);
    }
}
