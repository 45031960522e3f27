//! What was measured and on what: device, machine, traffic, routes, variants.
//!
//! Facts of the journal come first; `experiment.toml` and `environment.json`
//! add what the journal does not hold. Both may be absent (imported results):
//! then the report says less, never something else.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use fwdlab_experiment::{Allowance, Recorded, RouteSource, Routes};
use fwdlab_wire::ethernet;
use serde::Serialize;

use crate::ClaimsError;
use fwdlab_results::Family;
use fwdlab_results::environment::{Build, Environment, Machine};
use fwdlab_results::journal::Chain;
use fwdlab_results::units;
use fwdlab_results::{About, EXPERIMENT_FILE, Results};

/// What was measured and on what.
#[derive(Debug, Clone, Serialize)]
pub struct Setting {
    /// Name of the device.
    pub device: String,
    /// What the device is.
    #[serde(skip)]
    pub about: About,
    /// Whether the trials ran in blocks.
    #[serde(skip)]
    pub is_blocked: bool,
    /// Machine, kernel and build; `None` when they were not recorded.
    pub environment: Option<Environment>,
    /// The traffics.
    pub traffics: Vec<TrafficSetting>,
    /// The routes in words; `None` when the experiment file does not say.
    pub routes: Option<String>,
    /// The variants with their settings; empty sets when the file does not say.
    pub variants: Vec<VariantSetting>,
    /// Seed of the running order.
    pub seed: u64,
    /// Length of a counting interval in ms.
    pub interval_ms: f64,
    /// SHA-256 of the experiment file.
    pub experiment_sha256: String,
    /// SHA-256 of the journal's last line, which stands for all lines before it; absent when the
    /// journal has no whole chain of hashes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub journal_sha256: Option<String>,
    /// Checks whose failure the experiment allows.
    #[serde(skip)]
    pub allow: Vec<Allowance>,
    /// The command that runs the same campaign again.
    pub command: String,
}

/// One traffic as it was sent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrafficSetting {
    /// Its name.
    pub name: String,
    /// Its address family.
    pub family: Family,
    /// Length of its frames in bytes, FCS included.
    pub frame_bytes: u16,
    /// Distinct flows planned; absent where nobody knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flows: Option<u64>,
    /// The order of its flows, where one has more frames than another: `zipf(1.1)`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<String>,
    /// Whether its frames go both ways.
    #[serde(skip)]
    pub is_both_ways: bool,
    /// The load as the experiment says it.
    pub load: String,
    /// The load in frames/s; `None` for as fast as possible.
    pub load_pps: Option<f64>,
    /// What a link of 1 Gb/s carries of such frames, in frames/s.
    pub gigabit_line_rate_pps: f64,
}

/// One variant and its settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VariantSetting {
    /// Its name.
    pub name: String,
    /// Control words and values.
    pub set: BTreeMap<String, String>,
    /// Keys beside these that are the device's own, as the file has them; `None` without that file.
    #[serde(skip)]
    pub own: Option<BTreeMap<String, String>>,
}

impl Setting {
    /// Reads the setting of `results` from its journal and the files beside it.
    ///
    /// # Errors
    /// When a file beside the journal exists and cannot be read or parsed.
    pub fn read(results: &Results) -> Result<Self, ClaimsError> {
        let experiment = experiment(&results.dir)?;
        let experiment = experiment.as_ref();
        let campaign = &results.campaign;
        Ok(Self {
            device: campaign.device.clone(),
            about: campaign.about.clone().unwrap_or_else(|| About::unknown(&campaign.device)),
            is_blocked: campaign.is_blocked(),
            environment: Environment::read(&results.dir)?,
            traffics: traffics(results, experiment),
            routes: experiment.and_then(routes),
            variants: campaign.variants.iter().map(|v| variant(v, experiment)).collect(),
            seed: campaign.seed,
            interval_ms: results.trials.first().map_or(0.0, |t| t.interval_ms),
            experiment_sha256: campaign.experiment_sha256.clone(),
            journal_sha256: Chain::read(&results.dir)?.last().map(str::to_owned),
            allow: experiment.map_or_else(Vec::new, |experiment| experiment.allow.clone()),
            command: match campaign.about.as_ref().and_then(|about| about.command.clone()) {
                Some(command) => command,
                None => command(experiment, campaign.seed),
            },
        })
    }

    /// The facts as lines, in the shape of the reports that people write:
    /// machine, system, flows, load, routes, variants, order.
    pub fn lines(&self) -> Vec<String> {
        self.lines_but(&[])
    }

    /// [`lines`](Self::lines) without the facts of the device that are said elsewhere.
    pub fn lines_but(&self, said: &[String]) -> Vec<String> {
        let mut lines = vec![self.device_line()];
        lines.extend(self.machine_lines(said));
        lines.push(flows_line(&self.traffics));
        lines.push(load_line(&self.traffics));
        lines.extend(self.routes.clone());
        lines
    }

    fn device_line(&self) -> String {
        let About { line, fact, .. } = &self.about;
        let Some(fact) = fact else { return line.clone() };
        let found = self.environment.as_ref().and_then(|e| e.device.get(fact));
        format!("{line}; {fact}: {}", found.map_or("not recorded", String::as_str))
    }

    fn machine_lines(&self, said: &[String]) -> Vec<String> {
        let Some(environment) = &self.environment else { return Vec::new() };
        let is_said = |name: &String| said.contains(name) || self.about.fact.as_ref() == Some(name);
        let lines = [
            machine_line(&environment.machine),
            system_line(environment),
            build_line(&environment.fwdlab),
            environment
                .device
                .iter()
                .filter(|(name, _)| !is_said(name))
                .map(|(name, value)| format!("{name}={value}"))
                .collect::<Vec<_>>()
                .join(", "),
        ];
        lines.into_iter().filter(|line| !line.is_empty()).collect()
    }
}

/// The parts that are known, joined.
fn known(parts: &[String]) -> String {
    let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|p| !p.is_empty()).collect();
    parts.join(", ")
}

/// `text` with a word before it, or nothing.
fn labelled(label: &str, text: &str) -> String {
    if text.is_empty() || text == "none" { String::new() } else { format!("{label} {text}") }
}

fn machine_line(machine: &Machine) -> String {
    let cores = match (machine.cores, machine.cores_online) {
        (0, _) => String::new(),
        (used, online) if used < online => format!("{used} of {}", units::plural(online, "core")),
        (used, _) => units::plural(used, "core"),
    };
    let memory = match machine.memory_bytes >> 20 {
        0 => String::new(),
        mib => format!("{:.1} GiB of memory", mib as f64 / 1024.0),
    };
    known(&[
        machine.product.clone(),
        machine.processor.clone(),
        cores,
        memory,
        labelled("hypervisor", &machine.hypervisor),
        labelled("governor", &machine.governor),
        labelled("turbo", &machine.turbo),
    ])
}

fn system_line(environment: &Environment) -> String {
    let kernel = &environment.kernel;
    let name = format!("{} {}", kernel.name, kernel.release).trim().to_owned();
    known(&[
        name,
        kernel.distribution.clone(),
        labelled("clock source", &kernel.clock_source),
        labelled("transparent huge pages", &kernel.huge_pages),
    ])
}

fn build_line(build: &Build) -> String {
    if build.version.is_empty() {
        return String::new();
    }
    let commit = if build.commit.is_empty() || build.commit == "unknown" {
        String::new()
    } else {
        format!(" ({})", build.commit)
    };
    let name = format!("fwdlab {}{commit}", build.version);
    let left_out = match &build.left_out[..] {
        [] => String::new(),
        parts => format!("without {}", parts.join(", ")),
    };
    let profile = labelled("profile", &build.profile);
    known(&[name, profile, build.rustc.clone(), build.target.clone(), left_out])
}

fn flows_line(traffics: &[TrafficSetting]) -> String {
    let kind = |t: &TrafficSetting| {
        if t.frame_bytes == t.family.smallest_udp_frame_bytes() {
            "smallest UDP frames"
        } else {
            "UDP frames"
        }
    };
    let length = |t: &TrafficSetting| format!("{} bytes for {}", t.frame_bytes, t.name);
    let flows = |t: &TrafficSetting| {
        let flows = match t.flows {
            Some(flows) => units::plural(flows, "flow"),
            None => "an unknown number of flows".to_owned(),
        };
        let skewed = t.order.as_ref().map(|order| format!(" (in the order {order})"));
        flows + &skewed.unwrap_or_default()
    };
    match traffics {
        [] => "no traffic was sent".to_owned(),
        [first, rest @ ..]
            if rest.iter().all(|t| flows(t) == flows(first) && kind(t) == kind(first)) =>
        {
            let lengths: Vec<String> = traffics.iter().map(length).collect();
            format!("{} of {} (with FCS {})", flows(first), kind(first), lengths.join(", "))
        }
        _ => {
            let parts: Vec<String> = traffics
                .iter()
                .map(|t| format!("{} of {} (with FCS {})", flows(t), kind(t), length(t)))
                .collect();
            parts.join(", ")
        }
    }
}

fn load_line(traffics: &[TrafficSetting]) -> String {
    let load = |t: &TrafficSetting| match t.load_pps {
        Some(pps) => format!("{} ({})", units::rate(pps), t.load),
        None => "as fast as the tester sends".to_owned(),
    };
    let loads = match traffics {
        [first, rest @ ..] if rest.iter().all(|t| load(t) == load(first)) => load(first),
        _ => {
            let parts: Vec<String> =
                traffics.iter().map(|t| format!("{} for {}", load(t), t.name)).collect();
            parts.join(", ")
        }
    };
    let mut rates: Vec<String> = traffics
        .iter()
        .map(|t| format!("{} at {} bytes", units::rate(t.gigabit_line_rate_pps), t.frame_bytes))
        .collect();
    rates.dedup();
    format!("Traffic load: {loads} (Gigabit line rate: {})", rates.join(", "))
}

/// How the flows of a traffic are skewed; traffics of several measures or families are called by their own names and more.
fn skewed(name: &str, experiment: Option<&Recorded>) -> Option<String> {
    let is_own = |own: &str| {
        name.strip_prefix(own).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let orders = experiment.into_iter().flat_map(|experiment| &experiment.orders);
    let [_, order] = orders.filter(|[own, _]| is_own(own)).max_by_key(|[own, _]| own.len())?;
    (!["sequential", "random"].contains(&order.trim())).then(|| order.clone())
}

fn traffics(results: &Results, experiment: Option<&Recorded>) -> Vec<TrafficSetting> {
    let first = |name: &String| results.trials.iter().find(|t| t.traffic == *name);
    results
        .campaign
        .traffics
        .iter()
        .filter_map(|name| {
            let trial = first(name)?;
            Some(TrafficSetting {
                name: name.clone(),
                family: trial.family,
                frame_bytes: trial.frame_bytes,
                flows: trial.flows_planned,
                order: skewed(name, experiment),
                is_both_ways: results
                    .trials
                    .iter()
                    .any(|own| own.traffic == *name && own.measured.is_both_ways()),
                load: trial.load.clone(),
                load_pps: trial.offered_pps_asked,
                gigabit_line_rate_pps: line_rate(1.0, trial.frame_bytes),
            })
        })
        .collect()
}

/// Common link speeds in Gb/s.
pub const LINKS: [f64; 6] = [1.0, 10.0, 25.0, 40.0, 100.0, 400.0];

/// Frames/s that a link of `gigabits` Gb/s carries of frames of this length.
pub fn line_rate(gigabits: f64, frame_bytes: u16) -> f64 {
    let bits = (gigabits * 1e9) as u64;
    ethernet::line_rate_pps(bits, frame_bytes.into()) as f64
}

/// The experiment as it ran; `None` when it was not kept, as of published runs.
fn experiment(dir: &Path) -> Result<Option<Recorded>, ClaimsError> {
    let path = dir.join(EXPERIMENT_FILE);
    let Some(text) = read_if_present(&path)? else { return Ok(None) };
    Recorded::read(&text).map(Some).map_err(|detail| ClaimsError::Damaged { path, detail })
}

/// The command that runs the campaign again. The order of the trials follows
/// from the seed, which a file without one leaves to chance.
fn command(experiment: Option<&Recorded>, seed: u64) -> String {
    if experiment.is_some_and(|experiment| experiment.seed.is_some()) {
        "fwdlab run experiment.toml -o DIR".to_owned()
    } else {
        format!("fwdlab run experiment.toml --seed {seed} -o DIR")
    }
}

fn routes(experiment: &Recorded) -> Option<String> {
    let Routes { fixed, source } = &experiment.routes;
    let fixed = (!fixed.is_empty()).then(|| units::plural(fixed.len(), "static route"));
    let source = source.as_ref().map(|source| match source {
        RouteSource::File(file) => format!("the routes of {}", file.display()),
        RouteSource::Generate(n) => format!("{} per family", units::plural(*n, "synthetic route")),
    });
    let parts: Vec<String> = fixed.into_iter().chain(source).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn variant(name: &str, experiment: Option<&Recorded>) -> VariantSetting {
    let variants = experiment.into_iter().flat_map(|experiment| &experiment.variants);
    let found = variants.rev().find(|variant| variant.name == name);
    VariantSetting {
        name: name.to_owned(),
        set: found.map(|variant| variant.set.clone()).unwrap_or_default(),
        own: found.map(|variant| {
            variant.own.iter().map(|(key, value)| (key.clone(), value.to_string())).collect()
        }),
    }
}

/// Longest text beside a journal that is read.
const MOST_TEXT_BYTES: u64 = 16 * fwdlab_guard::MIB;

/// The text of a file; `None` when there is no such file.
pub fn read_if_present(path: &Path) -> Result<Option<String>, ClaimsError> {
    match fwdlab_guard::input::text(path, MOST_TEXT_BYTES) {
        Ok(text) => Ok(Some(text)),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(ClaimsError::io("read", path)(e)),
    }
}
