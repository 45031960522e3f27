//! The store: text that git can hold. One JSON object a line, only ever added to.
//!
//! It holds points and acknowledgements. Points can be read from the results again at any time: a
//! store that is lost loses only what was acknowledged.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read as _, Write};
use std::path::Path;

use fwdlab_netbenches::revision::Revision;
use serde::{Deserialize, Serialize};

use crate::point::Point;
use crate::{Error, Result};

/// Longest line that is read.
const MAX_LINE: u64 = 4 * 1024 * 1024;

/// An alert that somebody knows of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acknowledged {
    /// The alert's id when it was acknowledged.
    pub id: String,
    /// Why.
    pub reason: String,
    /// The series that had moved.
    pub series: Vec<String>,
    /// The revision before the change.
    pub last_before: String,
    /// The first one after it.
    pub first_changed: String,
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
    /// Bytes that a kill left behind the last whole line.
    torn: u64,
}

impl Store {
    /// Reads a store; one that does not exist is empty. A last line without an end was cut short by
    /// a kill and is left out.
    ///
    /// # Errors
    /// When the file cannot be read, or a line is no record; the error names it.
    pub fn read(path: &Path) -> Result<Self> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(Error::io("read", path)(error)),
        };
        let mut store = Self::default();
        let mut input = BufReader::new(file);
        for number in 1.. {
            let mut line = Vec::new();
            let read = input.by_ref().take(MAX_LINE).read_until(b'\n', &mut line);
            if read.map_err(Error::io("read", path))? == 0 {
                break;
            }
            if line.last() != Some(&b'\n') && (line.len() as u64) < MAX_LINE {
                store.torn = line.len() as u64;
                break;
            }
            let broken =
                |what: String| Error::StoreLine { path: path.to_owned(), line: number, what };
            match serde_json::from_slice(&line).map_err(|error| broken(error.to_string()))? {
                Record::Point(point) => store.points.push(*point),
                Record::Ack(ack) => store.acknowledged.push(ack),
            }
        }
        Ok(store)
    }

    /// Adds the points that are not in it yet, to the file as well; returns how many. A source that
    /// was measured anew is a new point.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add(&mut self, path: &Path, points: Vec<Point>) -> Result<usize> {
        let mut known: HashMap<String, usize> = HashMap::new();
        for (index, point) in self.points.iter().enumerate() {
            known.insert(encode(&Record::Point(Box::new(point.clone())))?, index);
        }
        let mut lines = Vec::new();
        for point in points {
            let line = encode(&Record::Point(Box::new(point.clone())))?;
            // numbers that were written and read again may differ in their last digit
            let again = serde_json::from_str::<Record>(&line).ok();
            let again = again.map(|record| encode(&record)).transpose()?;
            match known.entry(again.unwrap_or_else(|| line.clone())) {
                Entry::Occupied(own) => self.points[*own.get()].place = point.place,
                Entry::Vacant(new) => {
                    new.insert(self.points.len());
                    lines.push(line);
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

    fn append(&mut self, path: &Path, lines: &[String]) -> Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let mut options = OpenOptions::new();
        let mut file =
            options.create(true).append(true).open(path).map_err(Error::io("open", path))?;
        let write = Error::io("write", path);
        let mut put = || -> io::Result<()> {
            if self.torn > 0 {
                let length = file.metadata()?.len();
                file.set_len(length.saturating_sub(self.torn))?;
                self.torn = 0;
            }
            file.write_all((lines.join("\n") + "\n").as_bytes())?;
            file.sync_all()
        };
        put().map_err(write)
    }
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

    #[test]
    fn a_torn_line_is_cut_off_and_a_broken_one_named() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("history.jsonl");
        Store::default().add(&path, vec![point("r1"), point("r2")]).unwrap();
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 9]).unwrap();
        let mut torn = Store::read(&path).unwrap();
        assert_eq!(torn.points.len(), 1);
        torn.add(&path, vec![point("r2")]).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), whole);
        std::fs::write(&path, "{}\n").unwrap();
        let error = Store::read(&path).unwrap_err().to_string();
        assert!(error.contains("line 1") && error.contains("remove"), "{error}");
    }
}
