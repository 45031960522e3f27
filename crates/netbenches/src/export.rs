//! fwdlab results as a netbenches-style directory, for the scripts, ministat
//! and gnuplot files that people have.
//!
//! Those scripts drop the first 15 and the last 10 text lines of a receiver
//! log. The logs written here have exactly so many lines around the steady
//! intervals, so that the scripts keep what fwdlab keeps and their median is
//! the one in the `.pps` file. Left-out intervals stay in `trials.jsonl`.

mod kept;
mod page;
mod search;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::import::safe_name;
use super::number::format_g8;
use super::pipeline::MedianRule;
use fwdlab_results::{Error, Result};
use fwdlab_results::{Interval, Results, Trial};
use kept::Kept;

/// Text lines that the published scripts drop at start and end.
const HEAD_LINES: usize = 15;
const TAIL_LINES: usize = 10;

/// The outcome of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// Series written.
    pub series: usize,
    /// Runs in them.
    pub runs: usize,
    /// Failed trials, of which only a log with the reason is written.
    pub failed: usize,
}

/// Writes `results` to the directory `to`, which must be absent or empty.
///
/// # Errors
/// When `to` holds something or cannot be written.
pub fn export(results: &Results, to: &Path) -> Result<Exported> {
    if fs::read_dir(to).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Error::Occupied { dir: to.to_owned(), state: "other" });
    }
    let raw = to.join("RAW");
    fs::create_dir_all(&raw).map_err(Error::io("create", &raw))?;
    let kept = Kept::read(&results.dir);
    let mut exported = Exported::default();
    let mut rows = String::from("#index median minimum maximum\n");
    let mut summaries = Vec::new();
    let mut by_name = BTreeMap::new();
    for (prefix, trials) in configurations(results, &kept) {
        let mut medians = Vec::new();
        for trial in &trials {
            medians.extend(write_run(&raw, &prefix, trial)?);
        }
        write(&raw.join(format!("bench.{prefix}.info")), &info(&trials))?;
        exported.series += 1;
        exported.runs += medians.len();
        exported.failed += trials.len() - medians.len();
        if medians.is_empty() {
            continue;
        }
        if search::write(to, &prefix, &trials, &kept)? {
            // what was searched for stands in files of its own
        } else if let Some((name, bytes)) = kept.medians(&prefix, &trials) {
            medians = super::series::Series::parse(bytes).values;
            write_bytes(&kept::place(to, &name), bytes)?;
        } else {
            let lines: String = medians.iter().map(|m| format!("{}\n", format_g8(*m))).collect();
            write(&to.join(format!("{prefix}.pps")), &lines)?;
        }
        let summary = summary(&medians);
        rows.push_str(&graph_row(&prefix, summary));
        summaries.push(summary);
        if let Some(first) = trials.first() {
            by_name.insert((first.variant.clone(), first.traffic.clone()), medians);
        }
    }
    let graphs = kept.graphs(&summaries);
    for (name, bytes) in graphs.iter().copied().chain(kept.scripts()).chain(kept.pages()) {
        write_bytes(&kept::place(to, name), bytes)?;
    }
    if graphs.is_empty() {
        write(&to.join("gnuplot.data"), &rows)?;
    }
    if kept.scripts().next().is_none() {
        write(&to.join("gnuplot.plt"), &page::script(results))?;
    }
    if kept.pages().next().is_none() {
        write(&to.join("README.md"), &page::page(results, &by_name))?;
    }
    Ok(exported)
}

/// Trials by prefix, each prefix a name that is safe in a file name.
fn configurations<'r>(results: &'r Results, kept: &Kept) -> BTreeMap<String, Vec<&'r Trial>> {
    let mut configurations: BTreeMap<String, Vec<&'r Trial>> = BTreeMap::new();
    for trial in &results.trials {
        let prefix = match kept.prefix(trial) {
            Some("") => String::new(),
            Some(prefix) => safe_name(prefix),
            None => safe_name(&format!("{}.{}", trial.variant, trial.traffic)).replace(' ', "_"),
        };
        configurations.entry(prefix).or_default().push(trial);
    }
    for trials in configurations.values_mut() {
        trials.sort_by_key(|t| t.block);
    }
    configurations
}

/// Writes both logs of a run; returns its median, or what it searched for; `None` for a failed trial.
fn write_run(raw: &Path, prefix: &str, trial: &Trial) -> Result<Option<f64>> {
    let stem = format!("bench.{prefix}.{}", trial.block);
    if let Some(found) = search::found(trial) {
        write(&raw.join(format!("{stem}.sender")), &search::log(trial, found))?;
        return Ok(Some(found.number()));
    }
    let frame = Frame::of(trial);
    let steady = match frame.is_whole {
        true => trial.measured.intervals.clone(),
        false => trial.steady_intervals(),
    };
    if !trial.is_ok() || steady.is_empty() {
        let reason = trial.reason.as_deref().unwrap_or("no steady window");
        let text =
            format!("CMD: fwdlab {}\nouch, thread 0 exited with error: {reason}\n", trial.id);
        write(&raw.join(format!("{stem}.receiver")), &text)?;
        return Ok(None);
    }
    let trimmed = trial.steady.as_ref().map_or(0, |s| s.trimmed_head);
    let head = if frame.is_whole { 0 } else { trimmed };
    let start_ms: f64 = trial.measured.intervals.iter().take(head).map(|i| i.ms).sum();
    let rx = Side { name: "rx", total: "Received", frames: |i| Some(i.rx) };
    let tx = Side { name: "tx", total: "Sent", frames: |i| i.tx };
    write(&raw.join(format!("{stem}.receiver")), &rx.log(trial, &steady, start_ms, frame))?;
    if steady.iter().all(|interval| interval.tx.is_some()) {
        write(&raw.join(format!("{stem}.sender")), &tx.log(trial, &steady, start_ms, frame))?;
    }
    let kept = frame.kept(&steady);
    let mut rates: Vec<u64> = kept.iter().map(|i| rate(i, i.rx)).filter(|r| *r > 0).collect();
    rates.sort_unstable();
    Ok(MedianRule::MeanOfTwo.of(&rates))
}

/// The text lines around the intervals of a log.
#[derive(Clone, Copy)]
struct Frame {
    head_lines: usize,
    tail_lines: usize,
    /// Whether all intervals are written: the published scripts drop some of them, as they did from
    /// the log that was imported.
    is_whole: bool,
}

impl Frame {
    fn of(trial: &Trial) -> Self {
        let plain = Self { head_lines: HEAD_LINES, tail_lines: TAIL_LINES, is_whole: false };
        let dropped = trial.measured.proof.get("netbenches.dropped");
        let Some((head, tail)) = dropped.and_then(|text| text.split_once('+')) else {
            return plain;
        };
        match (head.parse::<usize>(), tail.parse::<usize>()) {
            (Ok(head), Ok(tail)) if head < HEAD_LINES && tail < TAIL_LINES => Self {
                head_lines: HEAD_LINES - head,
                tail_lines: TAIL_LINES - tail,
                is_whole: true,
            },
            _ => plain,
        }
    }

    /// The intervals that the published scripts keep of those that are written.
    fn kept(self, written: &[Interval]) -> &[Interval] {
        let (head, tail) = (HEAD_LINES - self.head_lines, TAIL_LINES - self.tail_lines);
        written.get(head..written.len().saturating_sub(tail)).unwrap_or_default()
    }
}

/// Sender or receiver.
struct Side {
    name: &'static str,
    total: &'static str,
    frames: fn(&Interval) -> Option<u64>,
}

impl Side {
    /// A log of pkt-gen's newer format.
    fn log(&self, trial: &Trial, steady: &[Interval], start_ms: f64, frame: Frame) -> String {
        let mut text = format!(
            "CMD: fwdlab {} -f {} -l {}\n",
            trial.id,
            self.name,
            trial.frame_bytes.saturating_sub(4)
        );
        let notes = [
            match trial.flows_planned {
                Some(flows) => format!("load {}, {flows} flows planned", trial.load),
                None => format!("load {}", trial.load),
            },
            format!("{} of {} intervals are steady", steady.len(), trial.measured.intervals.len()),
        ];
        for line in 1..frame.head_lines {
            let note =
                notes.get(line - 1).map_or("published scripts drop 15 lines here", String::as_str);
            text.push_str(&format!("000.000000 main [0] {note}\n"));
        }
        let mut at_ms = start_ms;
        for interval in steady {
            at_ms += interval.ms;
            text.push_str(&self.reading(trial, interval, at_ms));
        }
        let frames: u64 = steady.iter().filter_map(self.frames).fold(0, u64::saturating_add);
        let ms: f64 = steady.iter().map(|i| i.ms).sum();
        let bytes = frames.saturating_mul(u64::from(trial.frame_bytes.saturating_sub(4)));
        text.push_str(&format!(
            "{} {frames} packets {bytes} bytes {} events {} bytes each in {:.2} seconds.\n",
            self.total,
            steady.len(),
            trial.frame_bytes.saturating_sub(4),
            ms / 1000.0
        ));
        for _ in 1..frame.tail_lines {
            text.push_str("000.000000 main [0] published scripts drop 10 lines here\n");
        }
        text
    }

    fn reading(&self, trial: &Trial, interval: &Interval, at_ms: f64) -> String {
        let frames = (self.frames)(interval).unwrap_or(0);
        let pps = rate(interval, frames);
        let bits = u64::from(trial.frame_bytes.saturating_sub(4)) * 8;
        format!(
            "{:07.3}000 main_thread [1] {pps} pps ({frames} pkts {} bps in {:.0} usec) 0.00 avg_batch 0 min_space\n",
            at_ms / 1000.0 % 1000.0,
            pps.saturating_mul(bits),
            interval.ms * 1000.0
        )
    }
}

/// Frames/s of an interval as a whole number, which is what pkt-gen prints.
fn rate(interval: &Interval, frames: u64) -> u64 {
    let rate = frames as f64 * 1000.0 / interval.ms;
    if rate.is_finite() { rate.round() as u64 } else { 0 }
}

fn info(trials: &[&Trial]) -> String {
    let first = trials.first();
    let proof =
        |name: &str| first.and_then(|t| t.measured.proof.get(name)).map_or("", String::as_str);
    let values = [
        ("IMAGE", first.map_or("", |t| t.variant.as_str())),
        ("CFG", proof("configuration")),
        ("PKTGEN", first.map_or("", |t| t.traffic.as_str())),
        ("UNAME", proof("uname")),
    ];
    values.iter().map(|(name, value)| format!("{name}=\"{}\"\n", quoted(value))).collect()
}

/// Text within a shell's double quotes: nothing in it is expanded.
fn quoted(text: &str) -> String {
    let mut safe = String::new();
    for c in text.chars() {
        if matches!(c, '"' | '\\' | '$' | '`') {
            safe.push('\\');
        }
        safe.push(if c.is_control() { ' ' } else { c });
    }
    safe
}

/// Median, minimum and maximum.
fn summary(medians: &[f64]) -> [f64; 3] {
    let mut sorted = medians.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    [(sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0, sorted[0], sorted[n - 1]]
}

fn graph_row(prefix: &str, summary: [f64; 3]) -> String {
    let [median, low, high] = summary.map(format_g8);
    format!("{prefix} {median} {low} {high}\n")
}

fn write_bytes(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).map_err(Error::io("write", path))
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::write(path, text).map_err(Error::io("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::import;
    use crate::info::Info;
    use crate::reproduction::reproduce;
    use crate::tests::published;

    #[test]
    fn quotes_survive_a_shell() {
        let hostile = "$(reboot) `id` \"x\\";
        let text = format!("IMAGE=\"{}\"", quoted(hostile));
        assert_eq!(Info::parse(text.as_bytes()).image(), Some(hostile));
    }

    #[test]
    fn what_is_exported_is_reproduced_by_the_published_pipeline() {
        let Some(root) = published("what_is_exported_is_reproduced_by_the_published_pipeline")
        else {
            return;
        };
        let dir = "Xeon_E5-2650_8Cores/Chelsio_T540-CR/firewalls/results/fbsd13-r368606.D27401v3";
        let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        import(&root.join(dir), one.path()).unwrap();
        let results = Results::read(one.path()).unwrap();
        let exported = export(&results, two.path()).unwrap();
        assert_eq!((exported.series, exported.runs, exported.failed), (4, 20, 0));
        let rows = reproduce(two.path()).unwrap();
        assert_eq!(rows.len(), 20);
        for row in &rows {
            assert!(row.is_reproduced(), "{row:?}");
            let trial = results.trials.iter().find(|t| {
                t.block == row.iteration && row.prefix == format!("{}.{}", t.variant, t.traffic)
            });
            let median = &trial.unwrap().measured.proof["netbenches.median"];
            assert_eq!(format_g8(row.published.unwrap()), *median, "{row:?}");
        }
    }
}
