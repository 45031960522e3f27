//! What the data beside a page says: medians, logs, kernels, graph data.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use crate::archive::ResultsDir;
use crate::command::Range;
use crate::info::Info;
use crate::name::{NamedFamily, family_word};
use crate::pipeline::{MedianRule, Published};
use crate::pktgen::PktgenLog;
use crate::runs::{ReadConfiguration, Run, read_bounded, read_configurations};
use crate::series::{GraphRow, MAX_TABLE_BYTES, Series, graph_rows};

/// Values by prefix.
pub type Values = BTreeMap<String, Vec<f64>>;

/// The data of one directory.
#[derive(Clone, Debug, Default)]
pub struct DirData {
    /// Place below the root.
    pub relative: String,
    /// `.pps` files by prefix.
    pub series: BTreeMap<String, Series>,
    /// Logs by prefix.
    pub configurations: BTreeMap<String, ConfigurationData>,
    /// gnuplot data by file name.
    pub graphs: BTreeMap<String, Vec<GraphRow>>,
    /// gnuplot scripts by file name.
    pub scripts: BTreeMap<String, String>,
    /// What [`DirData::both_values`] gives, once it was asked.
    pub values: OnceLock<[Values; 2]>,
    /// Files that were read.
    pub files: usize,
}

/// The logs of one configuration, summed up.
#[derive(Clone, Debug, Default)]
pub struct ConfigurationData {
    /// Runs by number.
    pub runs: BTreeMap<u32, RunData>,
    /// The `.info` file.
    pub info: Info,
    /// What the senders were told.
    pub traffic: LoggedTraffic,
    /// Builds of pkt-gen (the source line in brackets), receivers and senders.
    pub builds: BTreeSet<u32>,
}

/// What the senders of a configuration were told, over all runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LoggedTraffic {
    /// Flows of all senders of a run together.
    pub flows: BTreeSet<u64>,
    /// Address ranges, source and destination.
    pub ranges: BTreeSet<String>,
    /// Frame lengths without FCS, as far as the commands name them.
    pub frame_lens: BTreeSet<u32>,
    /// Families.
    pub families: BTreeSet<NamedFamily>,
    /// Options that shape the traffic, as written, without addresses, MACs and
    /// interfaces.
    pub options: BTreeSet<String>,
    /// Asked rates in packets/s.
    pub asked_pps: Option<f64>,
}

/// One run, summed up.
#[derive(Clone, Debug, Default)]
pub struct RunData {
    /// What the published pipeline prints, by the two median rules.
    pub printed: Option<[String; 2]>,
    /// Packets/s received: median of the steady window.
    pub forwarded_pps: Option<f64>,
    /// Packets/s sent by all senders together: medians of their steady windows.
    pub offered_pps: Option<f64>,
    /// Why the run failed.
    pub failure: Option<String>,
}

impl DirData {
    /// Reads the data of `dir`.
    pub fn read(dir: &ResultsDir) -> Self {
        let infos = dir
            .configurations
            .values()
            .filter(|configuration| configuration.info.is_some())
            .count();
        let tables = dir.pps.len() + dir.graph_data.len() + dir.graph_scripts.len();
        let files = tables + infos + dir.logs();
        let mut data = Self { relative: dir.relative.clone(), files, ..Self::default() };
        for (prefix, path) in &dir.pps {
            if let Ok(bytes) = read_bounded(path, MAX_TABLE_BYTES) {
                data.series.insert(prefix.clone(), Series::parse(&bytes));
            }
        }
        for path in &dir.graph_data {
            if let Ok(bytes) = read_bounded(path, MAX_TABLE_BYTES) {
                data.graphs.insert(file_name(path), graph_rows(&bytes).0);
            }
        }
        for path in &dir.graph_scripts {
            if let Ok(bytes) = read_bounded(path, MAX_TABLE_BYTES) {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                data.scripts.insert(file_name(path), text);
            }
        }
        data.configurations = read_configurations(dir)
            .into_iter()
            .map(|(prefix, g)| (prefix, ConfigurationData::of(g)))
            .collect();
        data
    }

    /// Values by prefix: the `.pps` files, and the medians of the logs (by the current rule) for
    /// prefixes that have no such file.
    pub fn all_values(&self) -> &Values {
        &self.both_values()[0]
    }

    /// The same with the medians of the logs by the current and by the older rule.
    pub fn both_values(&self) -> &[Values; 2] {
        self.values.get_or_init(|| [0, 1].map(|rule| self.values_by(rule)))
    }

    fn values_by(&self, rule: usize) -> Values {
        let series = self.series.iter().map(|(prefix, s)| (prefix.clone(), s.values.clone()));
        let mut all: Values = series.collect();
        for (prefix, configuration) in &self.configurations {
            let values =
                || configuration.printed().iter().filter_map(|p| p[rule].parse().ok()).collect();
            if !all.contains_key(prefix) {
                let values: Vec<f64> = values();
                all.extend((!values.is_empty()).then(|| (prefix.clone(), values)));
            }
        }
        all
    }

    /// The family of a prefix: by its senders' commands, else by its name.
    pub fn family(&self, prefix: &str) -> Option<NamedFamily> {
        let logged = self.configurations.get(prefix).map(|g| &g.traffic.families);
        match logged {
            Some(families) if families.len() == 1 => families.first().copied(),
            _ => family_word(prefix),
        }
    }
}

fn file_name(path: &std::path::Path) -> String {
    path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}

impl ConfigurationData {
    fn of(configuration: ReadConfiguration) -> Self {
        let mut data = Self { traffic: LoggedTraffic::of(&configuration), ..Self::default() };
        data.builds.extend(
            configuration
                .receiver_logs()
                .chain(configuration.sender_logs())
                .filter_map(|l| l.build),
        );
        data.runs = configuration.runs.iter().map(|(&n, run)| (n, RunData::of(run))).collect();
        data.info = configuration.info;
        data
    }

    /// The medians of the runs as the published pipeline prints them, by both rules.
    pub fn printed(&self) -> Vec<&[String; 2]> {
        self.runs.values().filter_map(|run| run.printed.as_ref()).collect()
    }

    /// Median over the runs of what was sent, in packets/s.
    pub fn offered_pps(&self) -> Option<f64> {
        middle(self.runs.values().filter_map(|r| r.offered_pps).collect())
    }

    /// Median over the runs of what was received, in packets/s.
    pub fn forwarded_pps(&self) -> Option<f64> {
        middle(self.runs.values().filter_map(|r| r.forwarded_pps).collect())
    }
}

fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

impl LoggedTraffic {
    fn of(configuration: &ReadConfiguration) -> Self {
        let mut traffic = Self::default();
        for run in configuration.runs.values() {
            let mut flows: BTreeMap<String, u64> = BTreeMap::new();
            for command in run.sender_logs().filter_map(|log| log.command.as_ref()) {
                let show = |r: &Range| format!("{}-{}", r.first, r.last);
                if let (Some(s), Some(d), Some(n)) =
                    (&command.source, &command.destination, command.flows())
                {
                    let range = format!("{} -> {}", show(s), show(d));
                    traffic.ranges.insert(range.clone());
                    flows.insert(range, n);
                }
                traffic.frame_lens.extend(command.has_frame_len.then_some(command.frame_len));
                traffic.families.insert(command.family());
                traffic.options.insert(shaping_options(&command.text));
                traffic.asked_pps = command.rate_pps.or(traffic.asked_pps);
            }
            if !flows.is_empty() {
                traffic.flows.insert(flows.values().fold(0, |sum: u64, &n| sum.saturating_add(n)));
            }
        }
        traffic
    }
}

/// The options of a command that change what is sent, in a fixed order: burst,
/// threads, rate and flags; addresses, interfaces and counts are left out.
fn shaping_options(text: &str) -> String {
    const SHAPING: [&str; 7] = ["-b", "-p", "-R", "-U", "-Z", "-z", "-I"];
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut found: Vec<String> = Vec::new();
    for (index, word) in words.iter().enumerate() {
        if SHAPING.contains(word) {
            let value = words.get(index + 1).filter(|w| !w.starts_with('-')).copied();
            found.push([*word, value.unwrap_or("")].join(" ").trim().to_owned());
        }
    }
    found.sort();
    found.join(" ")
}

impl RunData {
    fn of(run: &Run) -> Self {
        let mut data = Self { failure: failure(run), ..Self::default() };
        if let Some(log) = run.good_receiver() {
            let published = Published::of(log);
            let printed = MedianRule::ALL.map(|rule| published.printed(rule));
            if let [Some(newer), Some(older)] = printed {
                data.printed = Some([newer, older]);
            }
            data.forwarded_pps = steady_pps(log);
        }
        let offered: Vec<f64> = run.sender_logs().filter_map(steady_pps).collect();
        data.offered_pps = (!offered.is_empty()).then(|| offered.iter().sum());
        data
    }
}

fn failure(run: &Run) -> Option<String> {
    match &run.receiver {
        // a rate search has its result in the sender's log
        None if run.sender_logs().any(|log| log.equilibrium.is_some()) => None,
        None => Some("no receiver log".to_owned()),
        Some(Err(why)) => Some(why.clone()),
        Some(Ok(log)) => log.failure().map(ToString::to_string),
    }
}

/// Median of the steady window of a log.
fn steady_pps(log: &PktgenLog) -> Option<f64> {
    let rates: Vec<f64> = log.readings.iter().map(|s| s.pps as f64).collect();
    fwdlab_stats::steady::window(&rates).figure(&rates)
}
