//! Amounts that share a unit or what they count: "2 to 3 Mpps", "from 32K to 256K entries".

use super::figure::{Amount, Unit};
use super::unit::{is_counted, is_noun_of_settings, unit_scale};
use crate::token::{Token, listed};

/// "2 to 3 Mpps", "14-17 kpps", "832 against 771 kpps": a number without a unit takes that of the next that has one.
pub(super) fn share_units(found: &mut [Amount], tokens: &[Token]) {
    for at in (0..found.len().saturating_sub(1)).rev() {
        let (own, next) = (&found[at], &found[at + 1]);
        let Unit::Count(noun) = &own.unit else { continue };
        let between = tokens.get(own.end..next.first).unwrap_or_default();
        const JOINTS: &str = "to and or against vs versus from than instead up down";
        let is_joined = between.len() <= 2
            && between.iter().all(|t| {
                t.is_in(JOINTS) || t.is("of") || t.is_mark(&['→', '/', ',', '-', '–', '.'])
            });
        let is_bare = noun.is_empty() || listed(JOINTS, noun.as_str());
        if is_bare
            && is_joined
            && !matches!(next.unit, Unit::Count(_) | Unit::Fraction)
            && !next.is_worded
        {
            let scale = match tokens[next.first..next.end].iter().find_map(|t| unit_scale(&t.text))
            {
                Some(scale) if next.unit == Unit::Rate => scale,
                _ if next.unit == Unit::Time => {
                    let written =
                        tokens[next.first].text.trim_start_matches(['+', '-']).parse::<f64>();
                    written.map_or(1.0, |written| next.low / written)
                }
                _ => 1.0,
            };
            let unit = next.unit.clone();
            found[at].rescale(scale, unit);
        }
    }
    // "4.1 Mpps with the patch against 3.4 without it"
    for at in 1..found.len() {
        let before = tokens.get(found[at].first.wrapping_sub(1));
        let is_decimal = found[at].step < 1.0;
        let is_held = before.is_some_and(|t| {
            t.is_in("against vs versus than to from")
                || t.is_mark(&['→'])
                || is_decimal && t.is_word()
        });
        let is_bare = matches!(&found[at].unit, Unit::Count(noun) if !is_counted(noun) && !is_noun_of_settings(noun));
        if is_held && is_bare && found[at - 1].unit == Unit::Time {
            let before = &found[at - 1];
            let written = tokens[before.first].text.trim_start_matches(['+', '-']).parse::<f64>();
            let scale = written.map_or(1e-9, |written| before.low / written);
            found[at].rescale(scale, Unit::Time);
            continue;
        }
        if !(is_held && is_bare && found[at - 1].unit == Unit::Rate) {
            continue;
        }
        let before = &found[at - 1];
        let scale = tokens[before.first..before.end].iter().find_map(|t| unit_scale(&t.text));
        found[at].rescale(scale.unwrap_or(1.0), Unit::Rate);
    }
}

/// "From 32K to 256K entries": what the next number counts, this one does.
pub(super) fn share_nouns(found: &mut [Amount], tokens: &[Token]) {
    for at in (0..found.len().saturating_sub(1)).rev() {
        let (own, next) = (&found[at], &found[at + 1]);
        let Unit::Count(noun) = &next.unit else { continue };
        let is_bare = own.unit == Unit::Rate
            && !tokens[own.first..own.end]
                .iter()
                .any(|t| t.text.ends_with("pps") || t.is("packets"));
        let between = tokens.get(own.end..next.first).unwrap_or_default();
        let is_joined = between.len() <= 3 && between.iter().any(|t| t.is_in("to from and or"));
        if is_bare && is_joined && is_noun_of_settings(noun) {
            let unit = next.unit.clone();
            found[at].unit = unit;
        }
    }
}
