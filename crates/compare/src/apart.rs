//! What differs between campaigns beside the change that is looked for: another machine, another build, other routes
//! make a difference as well as a patch does.

use std::path::Path;

use fwdlab_claims::setting::{Setting, TrafficSetting, VariantSetting};
use fwdlab_guard::words::one_line;
use fwdlab_results::Results;
use fwdlab_stats::plural;
use fwdlab_stats::validity::Finding;
use serde::Serialize;

use crate::CompareError;

/// What differs between two campaigns, and may make the difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Apart {
    /// The campaign that the other is held against.
    pub first: String,
    /// The other.
    pub other: String,
    /// Each with both values, that of `first` before that of `other`.
    pub differences: Vec<String>,
}

impl std::fmt::Display for Apart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { first, other, differences } = self;
        let what = differences.join("; ");
        write!(
            f,
            "{first} and {other} differ in what they ran on, which may make a difference: {what}"
        )
    }
}

/// The settings of both sides' campaigns.
pub(crate) struct Settings([Vec<Setting>; 2]);

impl Settings {
    pub(crate) fn read(sides: [&[Results]; 2]) -> Result<Self, CompareError> {
        let [before, after] = sides.map(|side| -> Result<Vec<Setting>, CompareError> {
            side.iter().map(|own| Ok(Setting::read(own)?)).collect()
        });
        Ok(Self([before?, after?]))
    }

    /// Whether something else was sent after the change than before it.
    pub(crate) fn traffic(&self, name: &str) -> Option<Finding> {
        let of = |side: &Vec<Setting>| {
            side.first()?.traffics.iter().find(|own| own.name == name).cloned()
        };
        let traffic = [of(&self.0[0])?, of(&self.0[1])?];
        let is_same = is_same_traffic(&traffic[0], &traffic[1]);
        (!is_same).then(|| Finding::TrafficDiffers { traffic: traffic.map(|own| sent(&own)) })
    }

    /// What else differs, a list for each campaign that has one: of several with the same the first is named.
    pub(crate) fn apart(&self, sides: [&[Results]; 2]) -> Vec<Apart> {
        let dirs = sides.into_iter().flatten().map(|own| own.dir.as_path());
        let mut all = self.0.iter().flatten().zip(dirs);
        let Some((first, first_dir)) = all.next() else { return Vec::new() };
        let mut found: Vec<Apart> = Vec::new();
        for (setting, dir) in all {
            let differences = differences(first, setting);
            if !differences.is_empty() && found.iter().all(|own| own.differences != differences) {
                let [first, other] = [first_dir, dir].map(named);
                found.push(Apart { first, other, differences });
            }
        }
        found
    }
}

impl Settings {
    /// The campaigns that a debug build measured.
    pub(crate) fn debug_builds(&self, sides: [&[Results]; 2]) -> Vec<String> {
        let dirs = sides.into_iter().flatten().map(|own| named(&own.dir));
        let is_debug = |own: &Setting| {
            own.environment.as_ref().is_some_and(|own| own.fwdlab.profile == "debug")
        };
        let all = self.0.iter().flatten().zip(dirs);
        all.filter(|(own, _)| is_debug(own)).map(|(_, dir)| dir).collect()
    }
}

fn named(dir: &Path) -> String {
    one_line(&dir.to_string_lossy()).into_owned()
}

/// Loads are the same where they are written alike or come to the same rate; of a rate that is searched for each trial
/// has its own.
fn is_same_traffic(a: &TrafficSetting, b: &TrafficSetting) -> bool {
    let known =
        |own: &TrafficSetting| (own.family, own.frame_bytes, own.order.clone(), own.is_both_ways);
    let is_same_load = a.load == b.load || (a.load_pps.is_some() && a.load_pps == b.load_pps);
    let is_same_flows = a.flows.is_none() || b.flows.is_none() || a.flows == b.flows;
    known(a) == known(b) && is_same_load && is_same_flows
}

/// A traffic in words.
fn sent(traffic: &TrafficSetting) -> String {
    let TrafficSetting { family, frame_bytes, flows, order, is_both_ways, load, .. } = traffic;
    let flows = flows.map(|flows| format!("{} of ", plural(flows as usize, "flow")));
    let order = order.as_ref().map(|order| format!(" in the order {order}"));
    format!(
        "{}{} frames of {frame_bytes} bytes{}{} at load {load}",
        flows.unwrap_or_default(),
        family.title(),
        order.unwrap_or_default(),
        if *is_both_ways { " both ways" } else { "" },
    )
}

/// What two campaigns differ in, but for their traffics.
fn differences(first: &Setting, other: &Setting) -> Vec<String> {
    let mut found = Vec::new();
    if first.device != other.device {
        found.push(format!("device: {}, {}", first.device, other.device));
    }
    if let (Some(one), Some(two)) = (&first.environment, &other.environment) {
        found.extend(one.differences(two));
    }
    if first.routes != other.routes {
        let words = |own: &Setting| own.routes.clone().unwrap_or_else(|| "none".to_owned());
        found.push(format!("routes: {}, {}", words(first), words(other)));
    }
    for own in &first.variants {
        let same = other.variants.iter().find(|variant| variant.name == own.name);
        if let Some(variant) = same.filter(|variant| *variant != own) {
            found.push(format!("{} with {}, with {}", own.name, set(own), set(variant)));
        }
    }
    found.iter().map(|own| one_line(own).into_owned()).collect()
}

/// What a variant sets, in words.
fn set(variant: &VariantSetting) -> String {
    let own = variant.own.iter().flatten();
    let all: Vec<String> =
        variant.set.iter().chain(own).map(|(word, value)| format!("{word}={value}")).collect();
    if all.is_empty() { "nothing set".to_owned() } else { all.join(" ") }
}
