//! Machines of one name. A name is what the firmware says, or the path of a published directory; two machines may have
//! the same one.
//!
//! Points whose hardware is known to differ are of series of their own. A host name alone is no proof: a machine gets
//! another with each installation, so that its points stay together, and whoever reads them is told.

use std::collections::{BTreeMap, BTreeSet};

use fwdlab_results::units;

use crate::point::{Key, Point};

/// What tells a machine from others of its name: `L3` and `32768 KiB`, `avx512f` and nothing.
type Traits = BTreeMap<String, String>;

/// Architectures as uname has them.
const ARCHITECTURES: [&str; 10] = [
    "amd64",
    "x86_64",
    "i386",
    "i686",
    "arm64",
    "aarch64",
    "armv7",
    "powerpc64",
    "powerpc64le",
    "riscv64",
];

/// Of a machine of which only its uname is known: its traits and its host name.
pub(crate) fn of_uname(uname: &str) -> (Traits, String) {
    let words: Vec<&str> = uname.split_whitespace().collect();
    let architecture = words.iter().rev().find(|word| ARCHITECTURES.contains(word));
    let traits = architecture.map(|own| ("architecture".to_owned(), (*own).to_owned()));
    let host = words.get(1).filter(|_| words.len() > 3).copied().unwrap_or_default();
    (traits.into_iter().collect(), host.to_owned())
}

/// Gives the points of another machine of the same name a name of their own, and says where one name stands for
/// several machines, or may. The machine that was measured first keeps the name, and points of which nothing is known
/// are its.
pub(crate) fn tell_apart(points: &mut [Point]) -> Vec<String> {
    spell_alike(points);
    let mut names: BTreeMap<&str, Vec<&Point>> = BTreeMap::new();
    for point in &*points {
        names.entry(&point.series.machine).or_default().push(point);
    }
    let mut warnings = Vec::new();
    let mut called: BTreeMap<(String, Traits), String> = BTreeMap::new();
    for (name, own) in names {
        let machines = machines(&own);
        if let [first, others @ ..] = machines.as_slice()
            && !others.is_empty()
        {
            let named = others.iter().map(|(traits, _)| {
                let other = format!("{name} [{}]", beside(traits, &first.0));
                called.insert((name.to_owned(), traits.clone()), other.clone());
                other
            });
            let named: Vec<String> = named.collect();
            warnings.push(split(name, &named, &machines));
        }
        warnings.extend(hosts(name, &own));
    }
    for point in points {
        let key = (point.series.machine.clone(), point.hardware.clone());
        if let Some(name) = called.get(&key) {
            point.series = Key { machine: name.clone(), ..point.series.clone() };
        }
    }
    warnings
}

/// Names that differ in `-`, `_` and case alone are one, spelled as the first of them in the order of letters.
fn spell_alike(points: &mut [Point]) {
    let plain = |name: &str| name.to_ascii_lowercase().replace('-', "_");
    let names: BTreeSet<String> = points.iter().map(|own| own.series.machine.clone()).collect();
    let mut first: BTreeMap<String, &String> = BTreeMap::new();
    for name in &names {
        first.entry(plain(name)).or_insert(name);
    }
    for point in points {
        if let Some(name) = first.get(&plain(&point.series.machine)) {
            point.series.machine.clone_from(name);
        }
    }
}

/// The machines of some points, each with how many it has, the one that was measured first before the others.
fn machines(points: &[&Point]) -> Vec<(Traits, usize)> {
    // since when, and how many
    let mut found: BTreeMap<&Traits, (Option<&str>, usize)> = BTreeMap::new();
    for point in points.iter().filter(|point| !point.hardware.is_empty()) {
        let date = point.date.as_deref();
        let own = found.entry(&point.hardware).or_insert((date, 0));
        own.1 += 1;
        own.0 = match (own.0, date) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }
    let mut order: Vec<_> = found.into_iter().collect();
    // without a date it is later than with one
    order.sort_by_key(|(_, (date, _))| (date.is_none(), *date));
    order.into_iter().map(|(traits, (_, count))| (traits.clone(), count)).collect()
}

/// What one machine has and the other has not, in words.
fn beside(own: &Traits, first: &Traits) -> String {
    let names: BTreeSet<&String> = own.keys().chain(first.keys()).collect();
    let shown = |name: &&String| match (own.get(*name), first.get(*name)) {
        (one, other) if one == other => None,
        (None, _) => Some(format!("without {name}")),
        (Some(value), _) if value.is_empty() => Some((*name).clone()),
        (Some(value), _) => Some(format!("{name} {value}")),
    };
    names.iter().filter_map(shown).collect::<Vec<_>>().join(", ")
}

fn split(name: &str, others: &[String], machines: &[(Traits, usize)]) -> String {
    let of = |at: usize| units::plural(machines[at].1 as u64, "point");
    let others: Vec<String> =
        others.iter().enumerate().map(|(at, own)| format!("'{own}' ({})", of(at + 1))).collect();
    format!(
        "'{name}' is the name of {} machines: the one measured first keeps it ({}), and the series of {} are kept apart",
        machines.len(),
        of(0),
        others.join(" and ")
    )
}

/// The host names of one machine, where it has several.
fn hosts(name: &str, points: &[&Point]) -> Option<String> {
    // machines that are told apart already are not asked about again
    let mut by_hardware: BTreeMap<&Traits, BTreeMap<&str, usize>> = BTreeMap::new();
    for point in points.iter().filter(|point| !point.host.is_empty()) {
        *by_hardware.entry(&point.hardware).or_default().entry(&point.host).or_default() += 1;
    }
    let many = by_hardware.into_values().find(|hosts| hosts.len() > 1)?;
    let shown: Vec<String> = many
        .iter()
        .map(|(host, count)| format!("{host} ({})", units::plural(*count as u64, "point")))
        .collect();
    Some(format!(
        "'{name}' calls itself {}: its points are of one series, since a host name changes with an installation; if these \
         are several machines, keep their results below directories of different names",
        shown.join(" and ")
    ))
}

#[cfg(test)]
mod tests;
