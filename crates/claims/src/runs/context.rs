//! What lies beside a series and can make its comparison meaningless.

use std::path::Path;

use serde::Serialize;

use fwdlab_netbenches::name::{LogKind, LogName, NamedFamily};
use fwdlab_netbenches::pktgen::PktgenLog;

/// Lengths with FCS of the smallest UDP frames, IPv4 and IPv6.
pub(super) const SMALLEST: [usize; 2] = [64, 66];

/// Longest log that is read.
const MOST_BYTES: u64 = 1 << 30;

/// What the logs of a series say.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Context {
    /// Distinct flows in the tester's command; the one farthest from the others when runs differ.
    pub flows: Option<u64>,
    /// Flows that the experiment plans.
    pub planned_flows: Option<u64>,
    /// Flows that the report beside it announces.
    pub announced_flows: Option<u64>,
    /// Offered load of each run, in frames/s.
    pub offered_pps: Vec<f64>,
    /// Forwarded rate of the same runs, in frames/s.
    pub forwarded_pps: Vec<f64>,
    /// Asked load, in frames/s.
    pub asked_pps: Option<f64>,
    /// Frame length with FCS, in bytes.
    pub frame_bytes: Option<usize>,
    /// Machine and build of the tester.
    pub tester: Option<String>,
}

impl Context {
    /// Reads the logs of a `.pps` file: `RAW/bench.<stem>.<run>.{sender,receiver}` beside it.
    pub fn beside(path: &Path) -> Option<Self> {
        let stem = path.file_stem()?.to_str()?;
        let directory = path.parent()?;
        let mut found = Self { announced_flows: announced_flows(directory), ..Self::default() };
        let mut names: Vec<(LogName, std::path::PathBuf)> =
            std::fs::read_dir(directory.join("RAW"))
                .ok()
                .into_iter()
                .flatten()
                .flatten()
                .filter_map(|entry| {
                    Some((LogName::parse(entry.file_name().to_str()?)?, entry.path()))
                })
                .filter(|(name, _)| name.prefix == stem)
                .collect();
        names.sort();
        for (name, path) in &names {
            if let LogKind::Sender(which) = &name.kind
                && which.is_empty()
            {
                found.take_sender(path);
                let receiver = names.iter().find(|(other, _)| {
                    other.kind == LogKind::Receiver && other.iteration == name.iteration
                });
                found.take_rates(path, receiver.map(|(_, path)| path.as_path()));
            }
        }
        (found != Self::default()).then_some(found)
    }

    fn take_sender(&mut self, path: &Path) {
        let Some(log) = read(path) else { return };
        let Some(command) = &log.command else { return };
        let inet6_least =
            if command.family() == NamedFamily::Inet6 { SMALLEST[1] } else { SMALLEST[0] };
        self.frame_bytes = Some((command.frame_len as usize + 4).max(inet6_least));
        self.asked_pps = command.rate_pps;
        self.flows = command.flows().or(self.flows);
        self.tester = Some(command.host.clone().unwrap_or_default());
    }

    fn take_rates(&mut self, sender: &Path, receiver: Option<&Path>) {
        let steady = |path: &Path| {
            let rates: Vec<f64> =
                read(path)?.readings.iter().map(|reading| reading.pps as f64).collect();
            fwdlab_stats::steady::window(&rates).figure(&rates)
        };
        if let (Some(offered), Some(forwarded)) = (steady(sender), receiver.and_then(steady)) {
            self.offered_pps.push(offered);
            self.forwarded_pps.push(forwarded);
        }
    }
}

fn read(path: &Path) -> Option<PktgenLog> {
    let log = PktgenLog::read(fwdlab_guard::input::found(path, MOST_BYTES).ok()?).ok()?;
    log.is_usable().then_some(log)
}

/// The number before the word `flows` in the README of a directory.
fn announced_flows(directory: &Path) -> Option<u64> {
    let text = fwdlab_guard::input::text(&directory.join("README.md"), MOST_BYTES).ok()?;
    let words: Vec<&str> = text.split_whitespace().collect();
    words.windows(4).find_map(|words| {
        let at =
            words.iter().skip(1).position(|word| word.trim_end_matches([',', '.']) == "flows")?;
        words[..=at].iter().rev().find_map(|word| word.replace(',', "").parse().ok())
    })
}
