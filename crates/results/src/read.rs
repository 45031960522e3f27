//! Reads a results directory.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use fwdlab_guard::{input, words::one_line};

use super::sane::{self, Insane};
use super::{About, Campaign, Finished, Metric, Record, Resumed, SCHEMA, Trial};
use crate::files::{JOURNAL_FILE, JournalText, journal_bytes};
use crate::journal::chain;
use crate::{Error, Result};

/// A results directory read back.
#[derive(Clone, Debug, PartialEq)]
pub struct Results {
    /// The directory.
    pub dir: PathBuf,
    /// What was planned.
    pub campaign: Campaign,
    /// The trials recorded so far, in the order in which they ran.
    pub trials: Vec<Trial>,
    /// Trials whose answer is known, by which the lab proves itself, in the order in which they ran.
    pub known: Vec<Trial>,
    /// Ids of both, in the order of the journal.
    pub sequence: Vec<String>,
    /// Trials that do not count because they were run again, each with its
    /// reason.
    pub repeated: Vec<Trial>,
    /// The runs that went on with it where that matters: something had changed, or trials ran again.
    pub resumed: Vec<Resumed>,
    /// The end of the campaign; `None` while it is unfinished.
    pub finished: Option<Finished>,
    /// True when the last line was cut short by a kill or a full disk. Its
    /// trial counts as not run.
    pub is_torn: bool,
    /// Number of the first line that is not as it was written, by the chain of hashes and the seals
    /// of the ends; `None` where all are, or the journal has no hashes.
    pub changed: Option<usize>,
}

impl Results {
    /// What is to be said of a journal that is not as it was written, with the remedy; `None` where
    /// it is.
    pub fn tampered(&self) -> Option<String> {
        let (path, line) = (self.dir.join(JOURNAL_FILE), self.changed?);
        Some(format!(
            "{}: line {line}, or what it follows from, is not as it was written, and nobody knows what was \
             measured; take the directory again from where it was measured, or measure again",
            path.display()
        ))
    }

    /// Reads the journal in `dir`, changing nothing.
    ///
    /// # Errors
    /// When `dir` holds no journal, or a line of it is not a record, repeats
    /// a trial, or stands in the wrong place; the error names the line.
    pub fn read(dir: &Path) -> Result<Self> {
        let path = dir.join(JOURNAL_FILE);
        let bytes = match input::found(&path, crate::MOST_JOURNAL_BYTES) {
            Ok(file) => journal_bytes(&path, file)?,
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                if dir.exists() && !dir.is_dir() {
                    let above = dir.parent().filter(|above| !above.as_os_str().is_empty());
                    let above = above.unwrap_or(Path::new("."));
                    let above = above.join(JOURNAL_FILE).is_file().then(|| above.to_owned());
                    return Err(Error::NoDirectory { path: dir.to_owned(), dir: above });
                }
                return Err(Error::NoResults { dir: dir.to_owned(), wanted: "no trials.jsonl" });
            }
            Err(error) => return Err(Error::io("read", &path)(error)),
        };
        let text = JournalText::split(&bytes);
        let results = Self::from_journal(dir, &path, &text)?.ok_or_else(|| Error::NoResults {
            dir: dir.to_owned(),
            wanted: "its trials.jsonl lacks the campaign record",
        })?;
        let changed = chain::changed(&text, dir, &results.campaign)?;
        Ok(Self { changed, ..results })
    }

    /// Builds the results from the whole lines of a journal; `None` when there
    /// is not even a campaign.
    pub(crate) fn from_journal(
        dir: &Path,
        path: &Path,
        text: &JournalText<'_>,
    ) -> Result<Option<Self>> {
        let mut results: Option<Self> = None;
        let mut seen = HashSet::new();
        for (index, line) in text.lines.iter().enumerate() {
            let place = Place { path, line: index + 1 };
            let record = place.record(line)?;
            match (&mut results, record) {
                (None, Record::Campaign(mut campaign)) => {
                    place.check_schema(&campaign)?;
                    campaign.modernise();
                    place.check_campaign(&campaign)?;
                    results = Some(Self {
                        dir: dir.to_owned(),
                        campaign: *campaign,
                        trials: Vec::new(),
                        known: Vec::new(),
                        sequence: Vec::new(),
                        repeated: Vec::new(),
                        resumed: Vec::new(),
                        finished: None,
                        is_torn: text.torn.is_some(),
                        changed: None,
                    });
                }
                (None, _) => return Err(place.misplaced("the first record is no campaign")),
                (Some(_), Record::Campaign(_)) => {
                    return Err(place.misplaced("a second campaign begins here"));
                }
                (Some(r), Record::Resumed(resumed)) => {
                    place.check_resumed(&resumed)?;
                    for id in &resumed.again {
                        if !r.set_failed_aside(id) {
                            let what = format!("trial {id} is to run again and has not FAILED");
                            return Err(place.misplaced(&what));
                        }
                        seen.remove(id);
                    }
                    r.finished = None;
                    r.resumed.push(resumed);
                }
                (Some(r), _) if r.finished.is_some() => {
                    return Err(place.misplaced("a record follows the end of the campaign"));
                }
                (Some(r), Record::Trial(trial)) => {
                    place.check_trial(&trial, &r.campaign)?;
                    if !seen.insert(trial.id.clone()) {
                        return Err(
                            place.misplaced(&format!("trial {} is recorded twice", trial.id))
                        );
                    }
                    let trial = r.campaign.modern(*trial);
                    r.put(trial);
                }
                (Some(r), Record::Repeated(trial)) => {
                    place.check_trial(&trial, &r.campaign)?;
                    r.repeated.push(r.campaign.modern(*trial));
                }
                (Some(r), Record::Finished(end)) => {
                    // Of published runs nobody knows when they ended.
                    if !end.at.is_empty() {
                        sane::time("at", &end.at).map_err(|insane| place.insane(insane))?;
                    }
                    r.finished = Some(end);
                }
            }
        }
        Ok(results)
    }

    /// Takes a FAILED trial out of those that count, because it runs again; false when there is none.
    fn set_failed_aside(&mut self, id: &str) -> bool {
        let is_it = |trial: &Trial| trial.id == id && !trial.is_ok();
        let Some(at) = self.trials.iter().position(is_it) else { return false };
        let mut trial = self.trials.remove(at);
        let why = trial.reason.unwrap_or_default();
        trial.reason = Some(format!("FAILED, and run again because somebody asked for it: {why}"));
        self.repeated.push(trial);
        true
    }

    /// Puts a trial in its place: the end, unless it ran again.
    fn put(&mut self, trial: Trial) {
        let is_again = self.resumed.iter().any(|resumed| resumed.again.contains(&trial.id));
        let is_after = |other: &Trial| is_again && other.order > trial.order;
        let later = |id: &String| self.every().any(|other| other.id == *id && is_after(other));
        let at = if is_again { self.sequence.iter().position(later) } else { None };
        let at = at.unwrap_or(self.sequence.len());
        self.sequence.insert(at, trial.id.clone());
        let own = if trial.is_known() { &mut self.known } else { &mut self.trials };
        let at = match is_again {
            true => own.partition_point(|before| before.order < trial.order),
            false => own.len(),
        };
        own.insert(at, trial);
    }

    /// Ids of the trials that FAILED.
    pub fn failed(&self) -> Vec<String> {
        let failed = self.trials.iter().filter(|trial| !trial.is_ok());
        failed.map(|trial| trial.id.clone()).collect()
    }

    /// Fills in what the device is, where the journal only names it: `known` are the devices by
    /// name.
    pub fn knowing(mut self, known: &[(&str, About)]) -> Self {
        let campaign = &mut self.campaign;
        if campaign.about.is_none() {
            let found = known.iter().find(|(name, _)| *name == campaign.device);
            campaign.about = found.map(|(_, about)| about.clone());
        }
        self
    }

    /// Every trial that counts, those with a known answer last.
    pub fn every(&self) -> impl Iterator<Item = &Trial> {
        self.trials.iter().chain(&self.known)
    }

    /// Ids of the planned trials that are not recorded, in running order.
    pub fn missing(&self) -> Vec<&str> {
        let done: HashSet<&str> = self.every().map(|t| t.id.as_str()).collect();
        self.campaign.trials.iter().map(String::as_str).filter(|id| !done.contains(id)).collect()
    }

    /// Blocks that every comparison should hold: those planned, or those run when
    /// the campaign was to stop as soon as it was decided.
    pub fn planned_blocks(&self) -> usize {
        if self.campaign.until_decided && self.finished.is_some() {
            let last = self.trials.iter().map(|t| t.block).max();
            return last.unwrap_or(0) as usize;
        }
        self.campaign.blocks as usize
    }

    /// Trials of one variant with one traffic, by block.
    pub fn trials_of(&self, variant: &str, traffic: &str) -> Vec<&Trial> {
        let mut found: Vec<&Trial> =
            self.trials.iter().filter(|t| t.variant == variant && t.traffic == traffic).collect();
        found.sort_by_key(|t| t.block);
        found
    }

    /// Figures of one variant with one traffic as (block, value), by block;
    /// failed trials have none.
    pub fn figures(&self, metric: Metric, variant: &str, traffic: &str) -> Vec<(u32, f64)> {
        self.trials_of(variant, traffic)
            .into_iter()
            .filter_map(|trial| Some((trial.block, metric.of(trial)?)))
            .collect()
    }
}

/// A line of a journal, for messages.
struct Place<'a> {
    path: &'a Path,
    line: usize,
}

impl Place<'_> {
    fn record(&self, line: &[u8]) -> Result<Record> {
        serde_json::from_slice(line).map_err(|error| {
            self.error(
                // It quotes words of the journal, and a line of these could be taken for ours. Its own line is
                // always the first: the journal's is in the place.
                one_line(&error.to_string()).replace(" at line 1 column ", " at byte "),
                "a record of kind campaign, trial, repeated, resumed or finished",
                match self.line {
                    1 => "use the fwdlab that wrote it: this line is the campaign, without it all is lost",
                    _ => "use the fwdlab that wrote it, or remove the line to have its trial run again",
                },
            )
        })
    }

    fn check_schema(&self, campaign: &Campaign) -> Result<()> {
        if campaign.schema <= SCHEMA {
            return Ok(());
        }
        Err(self.error(
            format!("schema {} is newer than this fwdlab", campaign.schema),
            "schema 1",
            "use a newer fwdlab",
        ))
    }

    fn check_campaign(&self, campaign: &Campaign) -> Result<()> {
        sane::campaign(campaign).map_err(|insane| self.insane(insane))
    }

    fn check_trial(&self, trial: &Trial, campaign: &Campaign) -> Result<()> {
        sane::trial(trial, campaign).map_err(|insane| self.insane(insane))
    }

    fn check_resumed(&self, resumed: &Resumed) -> Result<()> {
        sane::resumed(resumed).map_err(|insane| self.insane(insane))
    }

    fn insane(&self, Insane { what, wanted }: Insane) -> Error {
        self.error(what, wanted, "restore the file from where it was copied")
    }

    fn misplaced(&self, what: &str) -> Error {
        self.error(
            what.to_owned(),
            "one campaign, then each trial once, then finished",
            "remove the line, or restore the file from where it was copied",
        )
    }

    fn error(&self, what: String, wanted: &'static str, remedy: &'static str) -> Error {
        Error::JournalLine { path: self.path.to_owned(), line: self.line, what, wanted, remedy }
    }
}
