//! The store: text that git can hold. One JSON object a line, only ever added to.
//!
//! It holds points and acknowledgements. Points can be read from the results again at any time: a
//! store that is lost loses only what was acknowledged.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read as _, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

use fwdlab_netbenches::revision::Revision;
use serde::{Deserialize, Serialize};

use crate::point::Point;
use crate::{Error, Result};

/// Longest line that is read.
const MAX_LINE: u64 = 4 * 1024 * 1024;
/// Runs whose figures, taken together, no other campaign of that moment has.
const FEWEST_RUNS: usize = 3;
/// Longest store that is read.
const MAX_STORE: u64 = 4 << 30;
/// What some editors put before a text in UTF-8.
const MARK_OF_ORDER: &[u8] = b"\xef\xbb\xbf";

/// How the lines begin that git leaves in a file whose merge it could not end.
const MARKS: [&[u8]; 4] = [b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>"];

/// How large a change of a series was when something was said of it, in per cent with its 95 % interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Size {
    /// The series.
    pub series: String,
    /// The new level over the old one, less 100 %.
    pub percent: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// On which days the revisions before and after a change were measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Days {
    /// Of the last before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_before: Option<String>,
    /// Of the first changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_changed: Option<String>,
}

impl Days {
    fn is_empty(&self) -> bool {
        self.last_before.is_none() && self.first_changed.is_none()
    }
}

/// An alert that somebody knows of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Acknowledged {
    /// The alert's id when it was acknowledged.
    pub id: String,
    /// Why.
    pub reason: String,
    /// The series that had moved.
    pub series: Vec<String>,
    /// How much each of them had; absent in lines of earlier versions, which hold for any size.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<Size>,
    /// The revision before the change.
    pub last_before: String,
    /// The first one after it.
    pub first_changed: String,
    /// The days of both, where one revision was measured on several; absent in lines of earlier versions.
    #[serde(default, skip_serializing_if = "Days::is_empty")]
    pub days: Days,
    /// Absent where a person knows of it; else what a second measurement said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_confirmed: Option<bool>,
}

impl Acknowledged {
    /// Whether its place and that of a change between two revisions can be one, as far as the revisions alone tell.
    pub(crate) fn overlaps(&self, last_before: &str, first_changed: &str) -> bool {
        let is_less = |a: &str, b: &str| match (Revision::parse(a), Revision::parse(b)) {
            (Some(a), Some(b)) => a.order(&b).is_some_and(std::cmp::Ordering::is_lt),
            _ => false,
        };
        is_less(&self.last_before, first_changed) && is_less(last_before, &self.first_changed)
    }
}

/// One line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "lowercase")]
enum Record {
    Point(Box<Point>),
    Ack(Acknowledged),
}

/// What a store holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Store {
    /// The points.
    pub points: Vec<Point>,
    /// The acknowledgements.
    pub acknowledged: Vec<Acknowledged>,
    /// The last line, where it was cut short.
    torn: Option<Vec<u8>>,
}

impl Store {
    /// Reads a store; one that does not exist is empty. A last line that ends within its record was cut short by
    /// a kill and is left out: [`Self::torn`] has it. One that lacks only its newline counts. Blank lines say
    /// nothing, nor does a mark of byte order; a line that stands there twice, as when both sides of a merge added
    /// it, counts once.
    ///
    /// # Errors
    /// When the file cannot be read, is none (a pipe), or a line is no record; the error names it.
    pub fn read(path: &Path) -> Result<Self> {
        let file = match fwdlab_guard::input::named(path, MAX_STORE) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(Error::io("read", path)(error)),
        };
        // where a system has no locks, whoever writes at the same time may be seen halfway
        let _ = file.lock_shared();
        let mut store = Self::default();
        let mut known: HashSet<Vec<u8>> = HashSet::new();
        let mut input = BufReader::new(file);
        for number in 1.. {
            let mut line = Vec::new();
            let read = input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line);
            if read.map_err(Error::io("read", path))? == 0 {
                break;
            }
            if number == 1 && line.starts_with(MARK_OF_ORDER) {
                line.drain(..MARK_OF_ORDER.len());
            }
            let is_last = line.last() != Some(&b'\n') && (line.len() as u64) < MAX_LINE;
            let record = line.trim_ascii();
            if MARKS.iter().any(|mark| record.starts_with(mark)) {
                return Err(Error::Conflict { path: path.to_owned(), line: number });
            }
            if record.is_empty() || known.contains(record) {
                continue;
            }
            known.insert(record.to_vec());
            match serde_json::from_slice(&line) {
                Ok(Record::Point(point)) => store.points.push(*point),
                Ok(Record::Ack(ack)) => store.acknowledged.push(ack),
                Err(error) if is_last && error.is_eof() => {
                    store.torn = Some(line);
                    break;
                }
                Err(error) => {
                    let (path, what) = (path.to_owned(), error.to_string());
                    if store.points.is_empty() && store.acknowledged.is_empty() {
                        return Err(Error::NoStore { path, what });
                    }
                    return Err(Error::StoreLine { path, line: number, what });
                }
            }
        }
        Ok(store)
    }

    /// The last line where it was cut short. It is no record; the next that is added puts it into [`torn_file`].
    pub fn torn(&self) -> Option<String> {
        self.torn.as_ref().map(|line| String::from_utf8_lossy(line).into_owned())
    }

    /// Adds the points that are not in it yet, to the file as well; returns how many. A source that
    /// was measured anew is a new point.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add(&mut self, path: &Path, points: Vec<Point>) -> Result<usize> {
        let mut known: HashMap<String, usize> = HashMap::new();
        for (index, point) in self.points.iter().enumerate() {
            known.insert(encode(&Record::Point(Box::new(measured(point))))?, index);
        }
        let mut lines = Vec::new();
        for point in points {
            let line = encode(&Record::Point(Box::new(measured(&point))))?;
            // numbers that were written and read again may differ in their last digit
            let again = serde_json::from_str::<Record>(&line).ok();
            let again = again.map(|record| encode(&record)).transpose()?;
            match known.entry(again.unwrap_or(line)) {
                Entry::Occupied(own) => {
                    let own = &mut self.points[*own.get()];
                    own.place = point.place;
                    own.called = point.called;
                    if own.setting.is_empty() {
                        own.setting = point.setting;
                    }
                    // lines of earlier versions say nothing of the hardware
                    if own.hardware.is_empty() && own.host.is_empty() {
                        own.hardware = point.hardware;
                        own.host = point.host;
                    }
                }
                Entry::Vacant(new) => {
                    new.insert(self.points.len());
                    lines.push(encode(&Record::Point(Box::new(point.clone())))?);
                    self.points.push(point);
                }
            }
        }
        self.append(path, &lines)?;
        Ok(lines.len())
    }

    /// Adds an acknowledgement.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn acknowledge(&mut self, path: &Path, ack: Acknowledged) -> Result<()> {
        let line = encode(&Record::Ack(ack.clone()))?;
        self.acknowledged.push(ack);
        self.append(path, &[line])
    }

    /// Adds lines, while nobody else does. What stands at the end of the file is looked at again: another may have
    /// added to it since it was read.
    fn append(&mut self, path: &Path, lines: &[String]) -> Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let mut options = OpenOptions::new();
        let file = options.create(true).read(true).append(true).open(path);
        let mut file = file.map_err(Error::io("open", path))?;
        let _ = file.lock();
        if let Some(line) = self.torn.take()
            && end(&mut file, line.len()).map_err(Error::io("read", path))? == line
        {
            let beside = torn_file(path);
            keep(&beside, &line).map_err(Error::io("write", beside))?;
            let length = file.metadata().map(|data| data.len());
            let cut = |length: u64| file.set_len(length.saturating_sub(line.len() as u64));
            length.and_then(cut).map_err(Error::io("shorten", path))?;
        }
        let last = end(&mut file, 1).map_err(Error::io("read", path))?;
        let first = if matches!(last.as_slice(), [] | [b'\n']) { "" } else { "\n" };
        let text = format!("{first}{}\n", lines.join("\n"));
        let put = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
        put.map_err(Error::io("write", path))
    }
}

/// A point without what is known of its machine.
fn measured(point: &Point) -> Point {
    Point {
        hardware: BTreeMap::new(),
        host: String::new(),
        setting: BTreeMap::new(),
        source: source(point),
        ..point.clone()
    }
}

/// Where a point is from, as far as that tells it from others: figures of some runs on one day are of that campaign,
/// whatever its directory is called since.
fn source(point: &Point) -> String {
    let varies = point.values.iter().any(|own| *own != point.values[0]);
    match point.date.is_some() && point.values.len() >= FEWEST_RUNS && varies {
        true => String::new(),
        false => point.source.clone(),
    }
}

/// The last bytes of a file, as many as there are.
fn end(file: &mut File, count: usize) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(count as u64)))?;
    let mut bytes = Vec::with_capacity(count);
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Where lines of a store that were cut short are kept: `history.jsonl.torn`.
pub fn torn_file(store: &Path) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push(".torn");
    name.into()
}

/// Adds a line to a file.
fn keep(path: &Path, line: &[u8]) -> io::Result<()> {
    // not through a link that somebody put there
    let mut file =
        fwdlab_guard::input::written(OpenOptions::new().create(true).append(true), path)?;
    file.write_all(&[line, b"\n"].concat())?;
    file.sync_all()
}

fn encode(record: &Record) -> Result<String> {
    let named = |source| Error::Encode { what: "a record of the store", source };
    serde_json::to_string(record).map_err(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(revision: &str) -> Point {
        Point { revision: revision.into(), values: vec![1.5, 2.0], ..Point::default() }
    }

    #[test]
    fn is_only_added_to_and_takes_a_point_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history.jsonl");
        let mut store = Store::read(&path).unwrap();
        assert_eq!(store.add(&path, vec![point("r1"), point("r1"), point("r2")]).unwrap(), 2);
        let before = std::fs::read(&path).unwrap();
        let mut again = Store::read(&path).unwrap();
        assert_eq!(again, store);
        assert_eq!(again.add(&path, vec![point("r2"), point("r3")]).unwrap(), 1);
        assert!(std::fs::read(&path).unwrap().starts_with(&before));
    }

    #[test]
    fn an_acknowledgement_without_sizes_is_read_as_it_was_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history.jsonl");
        let old = "{\"record\":\"ack\",\"id\":\"3fa19c20\",\"reason\":\"known\",\"series\":[\"atom pf\"],\
                   \"last_before\":\"r1\",\"first_changed\":\"r2\"}\n";
        std::fs::write(&path, old).unwrap();
        let mut store = Store::read(&path).unwrap();
        let own = store.acknowledged[0].clone();
        assert!(own.sizes.is_empty() && own.series == ["atom pf"]);
        let size = Size { series: "atom pf".into(), percent: -3.0, low: -3.5, high: -2.5 };
        store.acknowledge(&path, Acknowledged { sizes: vec![size], ..own }).unwrap();
        assert!(std::fs::read_to_string(&path).unwrap().starts_with(old));
        assert_eq!(Store::read(&path).unwrap(), store);
    }

    #[test]
    fn figures_of_many_digits_are_taken_once_too() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history.jsonl");
        let values: Vec<f64> =
            (1..400).map(|k| 512_000.0 * 0.95 * (1.0 + f64::from(k) / 997.0)).collect();
        let long = |values: &[f64]| Point { values: values.to_vec(), ..point("r1") };
        let points = || values.chunks(5).map(long).collect();
        assert_eq!(Store::default().add(&path, points()).unwrap(), 80);
        assert_eq!(Store::read(&path).unwrap().add(&path, points()).unwrap(), 0);
    }

    /// A directory that was renamed after it was stored was a second point of the same campaign.
    #[test]
    fn a_campaign_whose_directory_was_renamed_is_taken_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history.jsonl");
        let own = |source: &str, values: &[f64]| Point {
            source: format!("{source}/radix.inet"),
            date: Some("2026-01-01T00:00:01Z".into()),
            values: values.to_vec(),
            ..point("r1")
        };
        let first = own("monday", &[1.5, 2.0, 2.5]);
        assert_eq!(Store::default().add(&path, vec![first]).unwrap(), 1);
        let mut store = Store::read(&path).unwrap();
        let renamed = own("tuesday", &[1.5, 2.0, 2.5]);
        assert_eq!(store.add(&path, vec![renamed.clone()]).unwrap(), 0);
        // other figures, another day, or figures that any campaign may have are no copy
        let other = own("tuesday", &[1.5, 2.0, 2.6]);
        let later = Point { date: Some("2026-01-02T00:00:01Z".into()), ..renamed };
        let flat = |source| own(source, &[2.0, 2.0, 2.0]);
        assert_eq!(
            store.add(&path, vec![other, later, flat("monday"), flat("tuesday")]).unwrap(),
            4
        );
    }

    /// What a later version knows of a machine is no other point.
    #[test]
    fn a_point_whose_machine_is_known_since_is_taken_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history.jsonl");
        assert_eq!(Store::default().add(&path, vec![point("r1")]).unwrap(), 1);
        let known = |revision: &str| Point {
            hardware: BTreeMap::from([("L3".to_owned(), "16384 KiB".to_owned())]),
            host: "apu2".into(),
            ..point(revision)
        };
        let mut store = Store::read(&path).unwrap();
        assert_eq!(store.add(&path, vec![known("r1"), known("r2")]).unwrap(), 1);
        assert!(store.points.iter().all(|point| point.host == "apu2"), "{:?}", store.points);
        let again = Store::read(&path).unwrap().points;
        assert_eq!((again[0].host.as_str(), &again[1]), ("", &known("r2")));
        assert_eq!(Store::read(&path).unwrap().add(&path, vec![known("r2")]).unwrap(), 0);
    }

    /// An editor may leave the last newline out: the line was not read, and deleted by the next that was added.
    #[test]
    fn a_whole_last_line_without_its_newline_is_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history.jsonl");
        Store::default().add(&path, vec![point("r1"), point("r2")]).unwrap();
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        let mut store = Store::read(&path).unwrap();
        assert_eq!((store.points.len(), store.torn()), (2, None));
        assert_eq!(store.add(&path, vec![point("r2"), point("r3")]).unwrap(), 1);
        assert_eq!(store.add(&path, vec![point("r4")]).unwrap(), 1);
        let text = std::fs::read(&path).unwrap();
        assert!(text.starts_with(&whole));
        assert_eq!(Store::read(&path).unwrap().points.len(), 4);
        std::fs::write(&path, "{}").unwrap();
        assert!(Store::read(&path).is_err(), "whole, and no record");
    }

    /// Both counted: a revision was measured twice, with one result, and its machine blamed.
    #[test]
    fn a_line_that_both_sides_of_a_merge_added_counts_once_and_a_blank_one_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history.jsonl");
        Store::default().add(&path, vec![point("r1"), point("r2")]).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let second = text.lines().nth(1).unwrap();
        std::fs::write(&path, format!("{text}\n{second}\r\n{second}\n \n")).unwrap();
        let mut store = Store::read(&path).unwrap();
        assert_eq!(store.points.len(), 2);
        assert_eq!(store.add(&path, vec![point("r2"), point("r3")]).unwrap(), 1);
        assert_eq!(Store::read(&path).unwrap().points.len(), 3);
    }

    /// The first line was "no record"; a pipe was waited for without end.
    #[test]
    fn a_mark_of_byte_order_is_no_part_of_a_record_and_a_pipe_no_store() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history.jsonl");
        Store::default().add(&path, vec![point("r1"), point("r2")]).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("\u{feff}{text}")).unwrap();
        let mut store = Store::read(&path).unwrap();
        assert_eq!(store.points.len(), 2);
        assert_eq!(store.add(&path, vec![point("r1"), point("r3")]).unwrap(), 1);
        let pipe = dir.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let error = Store::read(&pipe).unwrap_err();
        assert!(format!("{error:?}").contains("NotRegular"), "{error:?}");
    }

    #[test]
    fn a_merge_that_was_left_open_is_said_with_its_remedy() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history.jsonl");
        Store::default().add(&path, vec![point("r1"), point("r2")]).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let (one, other) = text.split_once('\n').unwrap();
        let open = format!("<<<<<<< HEAD\n{one}\n=======\n{other}>>>>>>> night\n");
        for (from, line) in [(0, 1), (13, 2)] {
            std::fs::write(&path, &open[from..]).unwrap();
            let error = Store::read(&path).unwrap_err().to_string();
            assert!(
                error.contains(&format!("line {line}:")) && error.contains("merge=union"),
                "{error}"
            );
        }
    }

    /// What was read as cut short was being written: as many bytes were cut off the whole line.
    #[test]
    fn what_another_has_written_to_its_end_since_is_not_cut() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history.jsonl");
        Store::default().add(&path, vec![point("r1"), point("r2")]).unwrap();
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 9]).unwrap();
        let mut early = Store::read(&path).unwrap();
        assert!(early.torn().is_some());
        std::fs::write(&path, &whole).unwrap();
        early.add(&path, vec![point("r3")]).unwrap();
        assert!(std::fs::read(&path).unwrap().starts_with(&whole));
        let revisions = Store::read(&path).unwrap().points.into_iter().map(|own| own.revision);
        assert_eq!(revisions.collect::<Vec<_>>(), ["r1", "r2", "r3"]);
        assert!(!dir.path().join("history.jsonl.torn").exists());
    }

    #[test]
    fn a_torn_line_is_kept_beside_and_a_broken_one_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history.jsonl");
        Store::default().add(&path, vec![point("r1"), point("r2")]).unwrap();
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 9]).unwrap();
        let mut torn = Store::read(&path).unwrap();
        assert_eq!(torn.points.len(), 1);
        assert!(torn.torn().is_some_and(|line| line.starts_with("{\"record\":\"point\"")));
        torn.add(&path, vec![point("r2")]).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), whole);
        assert_eq!(torn.torn(), None);
        let beside = std::fs::read(dir.path().join("history.jsonl.torn")).unwrap();
        let start = whole.iter().position(|&byte| byte == b'\n').unwrap() + 1;
        assert_eq!(beside, [&whole[start..whole.len() - 9], b"\n"].concat());
        let first = &whole[..start];
        std::fs::write(&path, [first, b"{}\n"].concat()).unwrap();
        let error = Store::read(&path).unwrap_err().to_string();
        assert!(error.contains("line 2") && error.contains("remove the line"), "{error}");
        // Nobody is told to remove a file that is another's.
        std::fs::write(&path, "root:x:0:0\n").unwrap();
        let error = Store::read(&path).unwrap_err().to_string();
        assert!(error.contains("is no store of") && !error.contains("remove"), "{error}");
    }
}
