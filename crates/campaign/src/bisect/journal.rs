//! `bisect.jsonl`: what a bisection is of, then one measurement a line, synced before the next.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::BisectError;

/// Longest journal of a bisection.
const MOST_BYTES: u64 = 256 * fwdlab_guard::MIB;

/// What a bisection is of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The states, the good end first.
    pub chain: Vec<String>,
    /// Blocks of each comparison.
    pub blocks: u32,
    /// The experiment's text.
    pub experiment: String,
    /// What else was asked for that makes a comparison another one: the traffic, the builds of the lab. Nothing in
    /// journals of earlier versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asked: Vec<String>,
}

/// One comparison of a state with the good end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BisectStep {
    /// Index of the state.
    pub state: usize,
    /// Its name.
    pub name: String,
    /// Its figure over that of the good end, above 1 when it is faster.
    pub ratio: f64,
}

/// A state that cannot be measured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Index of the state.
    pub state: usize,
    /// Its name.
    pub name: String,
    /// Why.
    pub left_out: String,
}

/// A line behind the first.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Step(BisectStep),
    LeftOut(LeftOut),
}

/// A journal, open for the next line.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    header: Header,
    measured: Vec<BisectStep>,
    left_out: Vec<LeftOut>,
}

impl Journal {
    /// Begins a journal in `dir`, or goes on with the one that is there.
    ///
    /// # Errors
    /// When it cannot be used, or is of another bisection.
    pub fn open(dir: &Path, header: Header) -> Result<Self, BisectError> {
        std::fs::create_dir_all(dir).map_err(BisectError::io("create", dir))?;
        let path = dir.join("bisect.jsonl");
        let mut options = OpenOptions::new();
        let file = fwdlab_guard::input::written(options.create(true).append(true), &path);
        let file = file.map_err(BisectError::io("open", &path))?;
        // the process of a bisection that was just killed may still be being taken apart
        if let Err(error) = fwdlab_guard::patiently(|| file.try_lock().map_err(io::Error::from)) {
            return Err(match error.kind() {
                ErrorKind::WouldBlock => BisectError::Busy { path },
                _ => BisectError::io("lock", &path)(error),
            });
        }
        let old = match fwdlab_guard::input::text(&path, MOST_BYTES) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(BisectError::io("read", &path)(error)),
        };
        // a line without an end was cut short by a kill
        let mut whole = old.rfind('\n').map_or(0, |end| end + 1);
        // One that ended before its first comparison, as over a mistake in the experiment that was mended since,
        // holds nothing that another could spoil.
        if old[..whole].lines().count() == 1 && parse::<Header>(&path, 1, &old[..whole])? != header
        {
            whole = 0;
        }
        let mut lines = old[..whole].lines().enumerate();
        let (mut measured, mut left_out) = (Vec::new(), Vec::new());
        let is_new = match lines.next() {
            None => true,
            Some((_, first)) => {
                check(&path, &parse(&path, 1, first)?, &header)?;
                false
            }
        };
        for (index, line) in lines {
            let own: Line = parse(&path, index + 1, line)?;
            let (state, name) = match &own {
                Line::Step(own) => (own.state, &own.name),
                Line::LeftOut(own) => (own.state, &own.name),
            };
            if header.chain.get(state) != Some(name) {
                let what = format!("state {state} of the chain is not '{name}'");
                return Err(BisectError::Line { path, line: index + 1, what });
            }
            match own {
                Line::Step(own) => measured.push(own),
                Line::LeftOut(own) => left_out.push(own),
            }
        }
        file.set_len(whole as u64).map_err(BisectError::io("write", &path))?;
        let mut journal = Self { path, file, header, measured, left_out };
        if is_new {
            let line = encode(&journal.header);
            journal.append(&line)?;
        }
        Ok(journal)
    }

    /// What it is of.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The measurements so far.
    pub fn measured(&self) -> &[BisectStep] {
        &self.measured
    }

    /// The states that are left out.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// Leaves a state out from now on, and says why; one that is left out already stays so.
    ///
    /// # Errors
    /// When it is an end of the chain, or the journal cannot be written.
    pub fn leave_out(&mut self, state: usize, why: &str) -> Result<(), BisectError> {
        let chain = &self.header.chain;
        let name = chain.get(state).cloned().unwrap_or_default();
        if state == 0 || state + 1 >= chain.len() {
            return Err(BisectError::End { name, why: why.to_owned() });
        }
        if self.left_out.iter().any(|own| own.state == state) {
            return Ok(());
        }
        let own = LeftOut { state, name, left_out: why.to_owned() };
        self.append(&encode(&own))?;
        self.left_out.push(own);
        Ok(())
    }

    /// Adds a measurement.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&mut self, measured: &BisectStep) -> Result<(), BisectError> {
        self.append(&encode(measured))?;
        self.measured.push(measured.clone());
        Ok(())
    }

    fn append(&mut self, line: &str) -> Result<(), BisectError> {
        let written = self.file.write_all(format!("{line}\n").as_bytes());
        written.and_then(|()| self.file.sync_all()).map_err(BisectError::io("write", &self.path))
    }
}

fn encode(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("invariant: strings and numbers always encode")
}

fn parse<T: for<'de> Deserialize<'de>>(
    path: &Path,
    line: usize,
    text: &str,
) -> Result<T, BisectError> {
    serde_json::from_str(text).map_err(|error| BisectError::Line {
        path: path.to_owned(),
        line,
        what: error.to_string(),
    })
}

fn check(path: &Path, old: &Header, new: &Header) -> Result<(), BisectError> {
    let difference = if old.chain != new.chain {
        "other states"
    } else if old.blocks != new.blocks {
        "other blocks"
    } else if old.experiment != new.experiment {
        "another experiment"
    } else if old.asked != new.asked {
        "another traffic or lab"
    } else {
        return Ok(());
    };
    Err(BisectError::Other { path: path.to_owned(), difference })
}
