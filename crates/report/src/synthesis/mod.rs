//! Several results directories side by side: hardware by variant.
//!
//! A table may only hold what can be compared: the same traffic (family,
//! frames, flows, load) and the same settings under each variant's name.
//! Whatever differs is refused by name, or, when that is asked for, stands in
//! the page as a warning.

mod machines;
mod render;

use std::path::Path;

use super::{ReportError, render as single};
use fwdlab_claims::claim::{Cell, Claims, VerdictClaim};
use fwdlab_claims::setting::{TrafficSetting, VariantSetting};
use fwdlab_results::{Imported, Results, environment::Environment, units};

pub use machines::text;
pub use render::write;

/// One results directory of a synthesis.
#[derive(Debug)]
pub struct Column {
    /// The hardware, as short as it stays unique.
    pub label: String,
    /// The hardware: what two directories of one machine share.
    pub machine: String,
    /// What the results say.
    pub claims: Claims,
    /// The trials.
    pub results: Results,
}

/// Results of several machines.
#[derive(Debug)]
pub struct Synthesis {
    /// The title that all share, else how many of how many machines they are.
    pub title: String,
    /// One per directory, in the order given.
    pub columns: Vec<Column>,
    /// Differences that were let in.
    pub warnings: Vec<String>,
}

impl Synthesis {
    /// Puts results beside each other.
    ///
    /// # Errors
    /// When one cannot be read or its claims do not resolve;
    /// [`ReportError::Mixed`] when they measured different things and
    /// `is_mixed` does not allow it.
    pub fn of(all: Vec<Results>, is_mixed: bool) -> Result<Self, ReportError> {
        let mut columns: Vec<Column> = Vec::with_capacity(all.len());
        for results in all {
            let claims = single::claims(&results)?;
            let (label, hardware) = match (&results.campaign.testbed, &claims.setting.environment) {
                (Some(testbed), _) => (testbed.name.clone(), None),
                (None, own) => (label(&claims, &results), own.as_ref().map(Environment::told_by)),
            };
            let machine = format!("{label} {hardware:?}");
            columns.push(Column { machine, label, claims, results });
        }
        let mut warnings = Vec::new();
        for other in columns.iter().skip(1) {
            for (wanted, got) in differences(&columns[0].claims, &other.claims) {
                let mixed = ReportError::Mixed {
                    dir: columns[0].results.dir.clone(),
                    wanted,
                    other: other.results.dir.clone(),
                    got,
                };
                if !is_mixed {
                    return Err(mixed);
                }
                warnings.push(mixed.to_string().replace(REMEDY, ""));
            }
        }
        warnings.extend(builds(&columns));
        tell_apart(&mut columns);
        let title = title(&columns);
        Ok(Self { title, columns, warnings })
    }

    /// Names of all traffics, in order of first appearance.
    pub fn traffics(&self) -> Vec<&str> {
        let names = self.columns.iter().flat_map(|c| &c.results.campaign.traffics);
        unique(names.map(String::as_str))
    }

    /// Names of all variants, in order of first appearance.
    pub fn variants(&self) -> Vec<&str> {
        let names = self.columns.iter().flat_map(|c| &c.results.campaign.variants);
        unique(names.map(String::as_str))
    }
}

impl Column {
    /// The cell of a variant with a traffic.
    pub fn cell(&self, traffic: &str, variant: &str) -> Option<&Cell> {
        self.claims.cells.iter().find(|c| c.traffic == traffic && c.variant == variant)
    }

    /// Coefficients of variation of the baseline and of the variant, of the figure that decides a verdict.
    fn variation(&self, verdict: &VerdictClaim) -> [f64; 2] {
        let cv = |variant| Some(self.cell(&verdict.traffic, variant)?.figure(verdict.metric)?.cv);
        [&verdict.baseline, &verdict.variant].map(|variant| cv(variant).unwrap_or(f64::NAN))
    }

    /// The verdict on a variant with a traffic.
    pub fn verdict(&self, traffic: &str, variant: &str) -> Option<&VerdictClaim> {
        self.claims.verdicts.iter().find(|v| v.traffic == traffic && v.variant == variant)
    }
}

/// One page's title is none for pages that have others.
fn title(columns: &[Column]) -> String {
    let titles = unique(columns.iter().map(|column| column.claims.title.as_str()));
    if let [one] = titles.as_slice() {
        return (*one).to_owned();
    }
    on_machines(columns)
}

/// How many campaigns of how many machines these are.
fn on_machines(columns: &[Column]) -> String {
    let machines = unique(columns.iter().map(|column| column.machine.as_str())).len();
    let machines = match machines {
        1 => "one machine".to_owned(),
        several => format!("{several} machines"),
    };
    format!("{} on {machines}", units::plural(columns.len(), "campaign"))
}

/// The end of [`ReportError::Mixed`]'s message, which a warning does not need.
const REMEDY: &str = "; make two syntheses, or say --mixed to have both in one with a warning";

fn unique<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for name in names {
        if !found.contains(&name) {
            found.push(name);
        }
    }
    found
}

/// What one directory measured and what the other measured instead.
fn differences(first: &Claims, other: &Claims) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for a in &first.setting.traffics {
        let same = other.setting.traffics.iter().find(|b| b.name == a.name);
        if let Some(b) = same.filter(|b| *b != a) {
            found.push((traffic_text(a), traffic_text(b)));
        }
    }
    for a in &first.setting.variants {
        let same = other.setting.variants.iter().find(|b| b.name == a.name);
        if let Some(b) = same.filter(|b| *b != a) {
            found.push((variant_text(a), variant_text(b)));
        }
    }
    found
}

fn traffic_text(t: &TrafficSetting) -> String {
    let flows = t.flows.map_or("unknown flows".to_owned(), |flows| units::plural(flows, "flow"));
    format!(
        "{} as {flows} of {} frames of {} bytes at load {}",
        t.name,
        t.family.title(),
        t.frame_bytes,
        t.load
    )
}

fn variant_text(v: &VariantSetting) -> String {
    let set: Vec<String> = v.set.iter().map(|(k, value)| format!("{k}={value}")).collect();
    format!(
        "{} as {}",
        v.name,
        if set.is_empty() { "default settings".to_owned() } else { set.join(", ") }
    )
}

/// Different builds or devices are allowed, but said.
fn builds(columns: &[Column]) -> Vec<String> {
    let of = |c: &Column| {
        let build =
            c.claims.setting.environment.as_ref().map(|e| e.fwdlab.clone()).unwrap_or_default();
        format!("device {}, fwdlab {} {}", c.claims.setting.device, build.version, build.commit)
    };
    let Some(first) = columns.first().map(of) else { return Vec::new() };
    let others = columns.iter().skip(1).filter(|c| of(c) != first);
    others
        .map(|c| {
            format!(
                "{} ran with {}, the first directory with {first}",
                c.results.dir.display(),
                of(c)
            )
        })
        .collect()
}

/// The hardware of a directory: its processor or product, or what the path of a published one says,
/// else the directory's name.
fn label(claims: &Claims, results: &Results) -> String {
    let machine = claims.setting.environment.as_ref().map(|e| &e.machine);
    let known = machine.map(|m| if m.processor.is_empty() { &m.product } else { &m.processor });
    let published = || Imported::read(&results.dir).map(|imported| imported.machine);
    let named = known.cloned().filter(|text| !text.is_empty()).or_else(published);
    named.unwrap_or_else(|| dir_name(&results.dir))
}

fn dir_name(dir: &Path) -> String {
    dir.file_name().map_or_else(|| dir.display().to_string(), |n| n.to_string_lossy().into_owned())
}

/// Adds the directory's name to labels that several share, and a number
/// where even that does not tell them apart.
fn tell_apart(columns: &mut [Column]) {
    let count =
        |columns: &[Column], label: &str| columns.iter().filter(|c| c.label == label).count();
    let shared: Vec<bool> = columns.iter().map(|c| count(columns, &c.label) > 1).collect();
    for (column, _) in columns.iter_mut().zip(&shared).filter(|(_, is_shared)| **is_shared) {
        column.label = format!("{} ({})", column.label, dir_name(&column.results.dir));
    }
    let shared: Vec<bool> = columns.iter().map(|c| count(columns, &c.label) > 1).collect();
    for (k, column) in columns.iter_mut().enumerate().filter(|(k, _)| shared[*k]) {
        column.label = format!("{} #{}", column.label, k + 1);
    }
}
