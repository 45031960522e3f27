//! Published directories: from the logs, else the `.pps` files, else the data of the graph.

use std::collections::BTreeSet;
use std::path::Path;

use fwdlab_netbenches::archive::ResultsDir;
use fwdlab_netbenches::axes::Axes;
use fwdlab_netbenches::built::built;
use fwdlab_netbenches::hardware::Hardware;
use fwdlab_netbenches::info::Info;
use fwdlab_netbenches::name::{NamedFamily, family_word};
use fwdlab_netbenches::revision::Revision;
use fwdlab_netbenches::runs::{ReadConfiguration, read_bounded, read_configurations};
use fwdlab_netbenches::series::{MAX_TABLE_BYTES, Series, graph_rows};
use fwdlab_netbenches::trial::{Place, trial};
use fwdlab_results::{Family, Metric, Trial};

use super::{Read, patched};
use crate::machines::of_uname;
use crate::point::{Key, Point};

/// Reads one directory; `root` is the full path of the tree that it was found in.
pub fn read(dir: &ResultsDir, root: &Path) -> Read {
    let path = root.join(&dir.relative);
    let mut site =
        Site { dir, hardware: Hardware::of(&path.to_string_lossy()), read: Read::default() };
    let configurations = read_configurations(dir);
    for (prefix, configuration) in &configurations {
        site.take_logs(prefix, configuration);
    }
    let logged: BTreeSet<String> = configurations.into_keys().collect();
    for (prefix, file) in dir.pps.iter().filter(|(prefix, _)| !logged.contains(*prefix)) {
        site.take_medians(prefix, file);
    }
    if site.read.points.is_empty() {
        for file in &dir.graph_data {
            site.take_graph(file);
        }
    }
    site.read
}

/// A directory that is read.
struct Site<'a> {
    dir: &'a ResultsDir,
    hardware: Hardware,
    read: Read,
}

impl Site<'_> {
    /// A point of the runs of one configuration.
    fn take_logs(&mut self, prefix: &str, configuration: &ReadConfiguration) {
        let axes = Axes::of(prefix, &configuration.info);
        let place = |iteration| Place { iteration, ..Place::of(prefix, &configuration.info) };
        let trials: Vec<Trial> = configuration
            .runs
            .iter()
            .map(|(&iteration, run)| trial(run, &configuration.info, &place(iteration)))
            .collect();
        let good: Vec<&Trial> = trials.iter().filter(|trial| trial.is_ok()).collect();
        let Some(first) = good.first() else {
            let why = trials.iter().find_map(|trial| trial.reason.clone());
            let why = why.unwrap_or_else(|| "it has no runs".to_owned());
            self.read.skipped.push(format!("{}: {why}", self.place(prefix)));
            return;
        };
        let key = Key {
            family: first.family.name().to_owned(),
            frame_bytes: Some(first.frame_bytes),
            flows: first.flows_planned,
            ..self.key(&axes)
        };
        let values = good.iter().filter_map(|trial| Metric::Rate.of(trial)).collect();
        let date = configuration.info.uname().and_then(built);
        let (hardware, host) = configuration.info.uname().map(of_uname).unwrap_or_default();
        self.push(key, &axes, prefix, |point| {
            point.values = values;
            point.date = date;
            point.hardware = hardware;
            point.host = host;
        });
    }

    /// A point of a `.pps` file without logs.
    fn take_medians(&mut self, prefix: &str, file: &Path) {
        let axes = Axes::of(prefix, &Info::default());
        let values = match read_bounded(file, MAX_TABLE_BYTES) {
            Ok(bytes) => Series::parse(&bytes).values,
            Err(error) => {
                self.read.skipped.push(format!("{}: {error}", file.display()));
                return;
            }
        };
        let key = self.key(&axes);
        self.push(key, &axes, prefix, |point| point.values = values);
    }

    /// Points of the data of a graph over revisions; of any other graph none.
    fn take_graph(&mut self, file: &Path) {
        let Ok(bytes) = read_bounded(file, MAX_TABLE_BYTES) else { return };
        let stem = file.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        let named = if stem.starts_with("gnuplot") { String::new() } else { stem.clone() };
        let before = self.read.points.len();
        for row in graph_rows(&bytes).0 {
            let (Some(_), &[median, low, high]) =
                (Revision::parse(&row.label), row.values.as_slice())
            else {
                continue;
            };
            let traffic = if family_word(&named).is_some() { named.clone() } else { String::new() };
            let configuration = if traffic.is_empty() { named.clone() } else { String::new() };
            let axes = Axes { image: row.label.clone(), configuration, traffic };
            let key = self.key(&axes);
            let name = format!("{stem}.data:{}", row.label);
            self.push(key, &axes, &name, |point| point.summary = Some([median, low, high]));
        }
        if self.read.points.len() == before {
            self.read.skipped.push(format!(
                "{}: no row has a revision (r368606, n255632, 13.2) and a median, minimum and maximum, \
                 so it is no series",
                self.place(&format!("{stem}.data"))
            ));
        }
    }

    /// A file of the directory, as seen from the tree.
    fn place(&self, name: &str) -> String {
        Path::new(&self.dir.relative).join(name).display().to_string()
    }

    fn key(&self, axes: &Axes) -> Key {
        let family = match family_word(&axes.traffic) {
            Some(NamedFamily::Inet6) => Family::Inet6,
            _ => Family::Inet,
        };
        let is_plain = axes.traffic.is_empty() || family_word(&axes.traffic).is_some();
        Key {
            machine: self.hardware.machine.clone(),
            bench: self.hardware.bench.clone(),
            configuration: patched(&axes.configuration, axes.revision().as_ref()),
            family: family.name().to_owned(),
            traffic: if is_plain { String::new() } else { axes.traffic.clone() },
            unit: Metric::Rate.unit().to_owned(),
            ..Key::default()
        }
    }

    fn push(&mut self, key: Key, axes: &Axes, name: &str, fill: impl FnOnce(&mut Point)) {
        let directory = self.dir.relative.rsplit('/').next().unwrap_or_default();
        let revision = if axes.image.is_empty() {
            // the directory is of one image
            Revision::within(directory).map_or_else(|| directory.to_owned(), |r| r.text)
        } else {
            axes.image.clone()
        };
        let source = format!("{}/{name}", self.dir.relative).trim_start_matches('/').to_owned();
        let place = self.dir.path.canonicalize().ok();
        let mut point = Point { series: key, revision, source, place, ..Point::default() };
        fill(&mut point);
        self.read.points.push(point);
    }
}
