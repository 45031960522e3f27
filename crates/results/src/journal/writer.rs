//! The journal's writer and the writer of whole files.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use fwdlab_guard::{Folder, digest, input, patiently};

use super::chain::{self, Chain};
use super::utc_stamp;
use crate::files::{ENVIRONMENT_FILE, JournalText, journal_bytes};
use crate::{
    Campaign, EXPERIMENT_FILE, Finished, JOURNAL_FILE, Record, Results, Resumed, TORN_FILE, Trial,
};
use crate::{Error, Result};

/// The open journal of a running campaign; holds the directory's lock until it
/// is dropped.
#[derive(Debug)]
pub struct Journal {
    dir: PathBuf,
    path: PathBuf,
    file: File,
    /// Bytes of whole records in the file.
    length: u64,
    /// What the next record carries: the SHA-256 of the line before it. `None` in a journal that was
    /// begun without a chain.
    after: Option<String>,
    planned: HashSet<String>,
    recorded: HashSet<String>,
    earlier_truths: String,
}

impl Journal {
    /// Starts the results of a campaign in `dir`, made if need be, and records
    /// `campaign` in it together with the experiment file as it was read, and the bytes of the
    /// environment with their hash.
    ///
    /// # Errors
    /// When `dir` already holds results or is in use, or cannot be written.
    pub fn create(
        dir: &Path,
        campaign: &Campaign,
        experiment: &str,
        environment: Option<&[u8]>,
    ) -> Result<Self> {
        let is_new = !dir.exists();
        fs::create_dir_all(dir).map_err(Error::io("create", dir))?;
        let (mut journal, bytes) = Self::open(dir, true)?;
        let text = JournalText::split(&bytes);
        if !text.lines.is_empty() {
            let state = Results::from_journal(dir, &journal.path, &text).ok().flatten().map_or(
                "unreadable",
                |r| {
                    if r.finished.is_some() { "finished" } else { "unfinished" }
                },
            );
            return Err(Error::Occupied { dir: dir.to_owned(), state });
        }
        journal.set_torn_aside(&text)?;
        journal.planned = campaign.trials.iter().cloned().collect();
        journal.after = Some(digest::of(experiment.as_bytes()));
        journal
            .begin(campaign, experiment, environment)
            .inspect_err(|_| journal.undo_create(is_new))?;
        Ok(journal)
    }

    /// Opens the results in `dir` to go on with them. A torn last line is
    /// moved to [`TORN_FILE`]; its trial counts as not run.
    ///
    /// # Errors
    /// When there are none, they are finished, in use, or damaged: a line that is no record, or one
    /// that does not carry the hash of the line before.
    pub fn resume(dir: &Path) -> Result<(Self, Results)> {
        let (journal, results) = Self::reopen(dir)?;
        if results.finished.is_some() {
            return Err(Error::Occupied { dir: dir.to_owned(), state: "finished" });
        }
        Ok((journal, results))
    }

    /// As [`Journal::resume`], for results that may be finished: trials of them are to run again.
    ///
    /// # Errors
    /// As [`Journal::resume`].
    pub fn reopen(dir: &Path) -> Result<(Self, Results)> {
        if !dir.join(JOURNAL_FILE).exists() {
            return Err(Error::NoResults { dir: dir.to_owned(), wanted: "no trials.jsonl" });
        }
        let (mut journal, bytes) = Self::open(dir, false)?;
        let text = JournalText::split(&bytes);
        let results =
            Results::from_journal(dir, &journal.path, &text)?.ok_or_else(|| Error::NoResults {
                dir: dir.to_owned(),
                wanted: "its trials.jsonl lacks the campaign record",
            })?;
        journal.after = match Chain::of(&text, dir)? {
            Chain::Absent => None,
            Chain::Whole { last } => Some(last),
            Chain::Broken { line, .. } => return Err(Error::broken_chain(&journal.path, line)),
        };
        journal.set_torn_aside(&text)?;
        journal.planned = results.campaign.trials.iter().cloned().collect();
        journal.recorded = results.every().map(|t| t.id.clone()).collect();
        Ok((journal, results))
    }

    /// The results directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Says how the lab's own truths came out in earlier campaigns of this machine, for the record of
    /// the end.
    pub fn remember(&mut self, earlier_truths: String) {
        self.earlier_truths = earlier_truths;
    }

    /// Whether the journal still lies where it was opened and ends where it was left: what is
    /// measured into a directory that was moved away, deleted or changed would be lost.
    ///
    /// # Errors
    /// [`Error::Moved`], [`Error::Deleted`] or [`Error::Changed`].
    pub fn check(&self) -> Result<()> {
        let ours = self.file.metadata().map_err(Error::io("look at", &self.path))?;
        let place = |about: fs::Metadata| (about.dev(), about.ino());
        if fs::symlink_metadata(&self.path).ok().map(place) != Some((ours.dev(), ours.ino())) {
            let path = self.path.clone();
            // No name leads to it any more.
            let is_deleted = ours.nlink() == 0;
            return Err(if is_deleted { Error::Deleted { path } } else { Error::Moved { path } });
        }
        if ours.len() != self.length {
            let (is, was) = (ours.len(), self.length);
            return Err(Error::Changed { path: self.path.clone(), is, was });
        }
        Ok(())
    }

    /// Records one trial and waits until it is on the disk.
    ///
    /// # Errors
    /// When the trial is not planned or already recorded, or the disk refuses;
    /// the journal then ends with the record before.
    pub fn append(&mut self, trial: &Trial) -> Result<()> {
        let refuse = |why| Err(Error::TrialRefused { id: trial.id.clone(), why });
        if !self.planned.contains(&trial.id) {
            return refuse("is not in the plan of this campaign");
        }
        if self.recorded.contains(&trial.id) {
            return refuse("is already recorded");
        }
        self.write_line(&Record::Trial(Box::new(trial.clone())))?;
        self.recorded.insert(trial.id.clone());
        Ok(())
    }

    /// Records a trial that does not count because it is run again; its reason
    /// says why.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn append_repeated(&mut self, trial: &Trial) -> Result<()> {
        self.write_line(&Record::Repeated(Box::new(trial.clone())))
    }

    /// Records that this run goes on with the campaign, in what it differs from the runs before, and
    /// which FAILED trials it runs again.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn append_resumed(&mut self, resumed: &Resumed) -> Result<()> {
        self.write_line(&Record::Resumed(resumed.clone()))?;
        resumed.again.iter().for_each(|id| {
            self.recorded.remove(id);
        });
        Ok(())
    }

    /// Records the end of the campaign and why it ended, and gives the
    /// directory free.
    ///
    /// # Errors
    /// When the disk refuses; the campaign then stays unfinished.
    pub fn finish(mut self, stopped: &str) -> Result<()> {
        let end = Finished {
            at: utc_stamp(SystemTime::now()),
            stopped: stopped.to_owned(),
            earlier_truths: std::mem::take(&mut self.earlier_truths),
        };
        self.write_line(&Record::Finished(end))
    }

    /// Writes the files beside the journal and the first record.
    fn begin(
        &mut self,
        campaign: &Campaign,
        experiment: &str,
        environment: Option<&[u8]>,
    ) -> Result<()> {
        write_whole(&self.dir.join(EXPERIMENT_FILE), experiment.as_bytes())?;
        let mut campaign = campaign.clone();
        if let Some(environment) = environment {
            write_whole(&self.dir.join(ENVIRONMENT_FILE), environment)?;
            campaign.environment_sha256 = Some(digest::of(environment));
        }
        self.write_line(&Record::Campaign(Box::new(campaign)))?;
        sync_dir(&self.dir)
    }

    /// Takes back what a failed [`Journal::create`] made, as far as the system
    /// lets it.
    #[cold]
    fn undo_create(&self, with_dir: bool) {
        let _ = fs::remove_file(self.dir.join(EXPERIMENT_FILE));
        let _ = fs::remove_file(self.dir.join(ENVIRONMENT_FILE));
        let _ = fs::remove_file(&self.path);
        if with_dir {
            let _ = fs::remove_dir(&self.dir);
        }
    }

    /// Opens and locks the journal and reads what it holds.
    fn open(dir: &Path, create: bool) -> Result<(Self, Vec<u8>)> {
        let path = dir.join(JOURNAL_FILE);
        let file = locked(dir, create)?;
        // What an earlier run left that was killed; whoever may not remove it will hear of it soon.
        let _ = Folder::open(dir).and_then(|folder| folder.tidy_all());
        let bytes = journal_bytes(&path, &file)?;
        let length = JournalText::split(&bytes).whole_bytes();
        let journal = Self {
            dir: dir.to_owned(),
            path,
            file,
            length,
            after: None,
            planned: HashSet::new(),
            recorded: HashSet::new(),
            earlier_truths: String::new(),
        };
        Ok((journal, bytes))
    }

    /// Moves a torn last line out of the journal, keeping its bytes.
    fn set_torn_aside(&mut self, text: &JournalText<'_>) -> Result<()> {
        let Some(torn) = text.torn else { return Ok(()) };
        let aside = self.dir.join(TORN_FILE);
        let write = || -> std::io::Result<()> {
            let mut file = input::written(OpenOptions::new().append(true).create(true), &aside)?;
            file.write_all(torn)?;
            if !torn.ends_with(b"\n") {
                file.write_all(b"\n")?;
            }
            file.sync_all()
        };
        write().map_err(Error::io("write", &aside))?;
        sync_dir(&self.dir)?;
        self.cut_back().map_err(Error::io("truncate", &self.path))
    }

    /// Writes one record with its line end and syncs it.
    fn write_line(&mut self, record: &Record) -> Result<()> {
        let mut line = serde_json::to_vec(record)
            .map_err(|source| Error::Encode { what: "a journal record", source })?;
        let mut next = None;
        if let Some(after) = &self.after {
            chain::put_after(&mut line, after);
            if matches!(record, Record::Finished(_)) {
                chain::put_seal(&mut line);
            }
            next = Some(digest::of(&line));
        }
        line.push(b'\n');
        self.check()?;
        let written = patiently(|| {
            self.file
                .seek(SeekFrom::Start(self.length))
                .and_then(|_| self.file.write_all(&line))
                .and_then(|()| self.file.sync_data())
        });
        if let Err(error) = written {
            // Leave no half record behind; if even this fails, the next start
            // finds a torn line and sets it aside.
            let _ = self.cut_back();
            return Err(Error::io("write", &self.path)(error));
        }
        self.length += line.len() as u64;
        self.after = next;
        Ok(())
    }

    fn cut_back(&mut self) -> std::io::Result<()> {
        self.file.set_len(self.length)?;
        self.file.sync_all()
    }
}

/// The journal of a directory, which no other run has open.
pub(super) fn locked(dir: &Path, create: bool) -> Result<File> {
    let path = dir.join(JOURNAL_FILE);
    let mut options = OpenOptions::new();
    let file = input::written(options.write(true).create(create).truncate(false), &path)
        .map_err(Error::io("open", &path))?;
    // the process of a run that was just killed may still be being taken apart
    if let Err(error) = patiently(|| file.try_lock().map_err(io::Error::from)) {
        return Err(match error.kind() {
            io::ErrorKind::WouldBlock => Error::Busy { dir: dir.to_owned() },
            _ => Error::io("lock", &path)(error),
        });
    }
    Ok(file)
}

/// Writes a whole file so that readers, and a crash, see either the old one or the new one.
///
/// # Errors
/// When the system refuses; nothing is left behind then.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    fwdlab_guard::write_whole(path, bytes).map_err(Error::io("write", path))
}

/// Syncs a directory, so that names made or changed in it last.
fn sync_dir(dir: &Path) -> Result<()> {
    File::open(dir).and_then(|d| d.sync_all()).map_err(Error::io("sync", dir))
}
