//! What a verification may find.

use std::fmt;
use std::path::PathBuf;

use fwdlab_results::Trial;

/// Something in a journal that does not follow from the rest of it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Fault {
    /// A line does not carry the hash of the line before it.
    Chain {
        /// Number of the line, from 1.
        line: usize,
    },
    /// No line carries a hash, and yet a version wrote the journal that puts one into each.
    Stripped {
        /// A key that only such versions write.
        key: &'static str,
    },
    /// The record of the end does not carry the hash of itself.
    Seal {
        /// Number of the line, from 1.
        line: usize,
    },
    /// The campaign has no end: nobody can tell whether trials were cut off.
    Unfinished {
        /// Trials recorded.
        recorded: usize,
        /// Trials planned.
        planned: usize,
    },
    /// The campaign ended where its rule did not end it.
    Stop {
        /// The block after which it ended.
        ended: u32,
        /// The block after which the rule ends it; none of those recorded where there is none.
        rule: Option<u32>,
    },
    /// A campaign of a fixed number of blocks ended for another reason than that.
    Reason {
        /// As recorded.
        reason: String,
    },
    /// The record of what the campaign ran on is gone or was changed.
    Environment {
        /// Whether it is there.
        is_there: bool,
    },
    /// Nothing says on what the campaign ran, and yet a version wrote the journal that says so.
    NoEnvironmentHash,
    /// Published results have no file that only a campaign of our own has.
    NotPublished {
        /// Its name.
        file: &'static str,
    },
    /// The experiment file is gone.
    NoExperiment,
    /// The experiment file is not the one that ran.
    ExperimentHash {
        /// SHA-256 as the campaign recorded it.
        recorded: String,
        /// SHA-256 of what stands there.
        computed: String,
    },
    /// A file that the experiment names is not the one that it ran with.
    Input {
        /// Where it lies.
        file: PathBuf,
        /// SHA-256 as the campaign recorded it.
        recorded: String,
        /// SHA-256 of what stands there.
        computed: String,
    },
    /// The copy of a file that the experiment names cannot be read.
    InputGone {
        /// Where it belongs.
        file: PathBuf,
        /// What the system said.
        why: String,
    },
    /// The campaign's record says something else than a file beside it.
    Campaign {
        /// Which key.
        field: &'static str,
        /// As recorded.
        recorded: String,
        /// As the file has it.
        wanted: String,
    },
    /// The list of planned trials is not the one that the seed gives.
    Drawn {
        /// Place in the running order, from 1.
        place: usize,
        /// The id that is recorded there, if any.
        recorded: Option<String>,
        /// The id that the seed gives, if any.
        drawn: Option<String>,
    },
    /// A trial does not stand where the plan has it.
    Place {
        /// Id of the trial.
        trial: String,
        /// Its place among the recorded trials, from 1.
        place: usize,
        /// The id that the plan has there, if any.
        planned: Option<String>,
    },
    /// A finished campaign lacks trials.
    Incomplete {
        /// Trials recorded.
        recorded: usize,
        /// Trials that the end of the campaign claims.
        wanted: usize,
        /// The first that is missing.
        first: Option<String>,
    },
    /// What a trial records is not what its plan or its raw counts give.
    Trial {
        /// Id of the trial.
        trial: String,
        /// Which key.
        field: &'static str,
        /// As recorded.
        recorded: String,
        /// As computed again.
        computed: String,
    },
    /// A trial says what no machine can have measured.
    Impossible {
        /// Id of the trial.
        trial: String,
        /// Why not.
        why: String,
    },
    /// A doubt that the trial's counts give is not recorded.
    Warning {
        /// Id of the trial.
        trial: String,
        /// The doubt.
        text: String,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nothing = "nothing".to_owned();
        match self {
            Self::Chain { line: 1 } => write!(
                f,
                "trials.jsonl:1: its hash is not that of experiment.toml: one of the two was changed"
            ),
            Self::Chain { line } => write!(
                f,
                "trials.jsonl:{line}: its hash is not that of the line before: one of the two was \
                 changed, or a line between them is gone"
            ),
            Self::Stripped { key } => write!(
                f,
                "trials.jsonl:1: has {key}, and every version that writes it puts the hash of the line \
                 before into each line: the hashes were taken out"
            ),
            Self::Seal { line } => write!(
                f,
                "trials.jsonl:{line}: its seal is not the hash of the line: the end of the campaign was \
                 changed"
            ),
            Self::Unfinished { recorded, planned } => write!(
                f,
                "trials.jsonl: {recorded} of {planned} trials and no end of the campaign: whether others \
                 were cut off cannot be told; run the experiment again to go on to its end"
            ),
            Self::Stop { ended, rule: Some(rule) } => write!(
                f,
                "trials.jsonl: the campaign ended after block {ended}, its rule and its trials end it \
                 after block {rule}"
            ),
            Self::Stop { ended, rule: None } => write!(
                f,
                "trials.jsonl: the campaign ended after block {ended}, where its rule and its trials ask \
                 for more"
            ),
            Self::Reason { reason } => write!(
                f,
                "trials.jsonl: the campaign ended for {reason:?}, and its number of blocks was fixed: only \
                 \"all blocks run\" ends it"
            ),
            Self::Environment { is_there: true } => write!(
                f,
                "environment.json: its SHA-256 is not the one that the journal recorded: it was changed"
            ),
            Self::Environment { is_there: false } => {
                write!(f, "environment.json: missing; put the file back as the campaign wrote it")
            }
            Self::NoEnvironmentHash => write!(
                f,
                "trials.jsonl:1: has order_version, and every version that writes it records the hash of \
                 environment.json (environment_sha256): it was taken out"
            ),
            Self::NotPublished { file } => write!(
                f,
                "trials.jsonl:1: says that the runs were published in no known order, and {file} stands \
                 beside it as of a campaign"
            ),
            Self::NoExperiment => {
                write!(f, "experiment.toml: missing; put the file back that the campaign ran")
            }
            Self::ExperimentHash { recorded, computed } => write!(
                f,
                "experiment.toml: SHA-256 {computed}, the journal recorded {recorded}: it is not \
                 the file that ran"
            ),
            Self::Input { file, recorded, computed } => write!(
                f,
                "{}: SHA-256 {computed}, the campaign ran with {recorded}: put the file back",
                file.display()
            ),
            Self::InputGone { file, why } => write!(
                f,
                "{}: cannot be read ({why}), and the campaign ran with it: put the file back",
                file.display()
            ),
            Self::Campaign { field, recorded, wanted } => write!(
                f,
                "trials.jsonl:1: records {field} {recorded}, the file beside it says {wanted}"
            ),
            Self::Drawn { place, recorded, drawn } => write!(
                f,
                "trials.jsonl:1: the plan has {} at place {place}, its seed gives {}",
                recorded.as_ref().unwrap_or(&nothing),
                drawn.as_ref().unwrap_or(&nothing)
            ),
            Self::Place { trial, place, planned } => write!(
                f,
                "trials.jsonl: trial {trial} is recorded at place {place}, where {} was planned",
                planned.as_ref().unwrap_or(&nothing)
            ),
            Self::Incomplete { recorded, wanted, first } => write!(
                f,
                "trials.jsonl: the campaign is finished with {recorded} trials, its end needs \
                 {wanted}; {} is the first that is missing",
                first.as_ref().unwrap_or(&nothing)
            ),
            Self::Trial { trial, field, recorded, computed } => write!(
                f,
                "trials.jsonl: trial {trial} records {field} {recorded}, its plan and its raw \
                 counts give {computed}"
            ),
            Self::Impossible { trial, why } => {
                write!(f, "trials.jsonl: trial {trial} cannot have been measured: {why}")
            }
            Self::Warning { trial, text } => {
                write!(f, "trials.jsonl: trial {trial} lacks the warning {text:?}")
            }
        }
    }
}

/// Those doubts that are due and that the trial does not carry.
pub(crate) fn lacks(trial: &Trial, due: Vec<String>) -> Vec<Fault> {
    let gone = due.into_iter().filter(|text| !trial.measured.warnings.contains(text));
    gone.map(|text| Fault::Warning { trial: trial.id.clone(), text }).collect()
}

/// Something that could not be looked at; not a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unchecked {
    /// The journal has no chain of hashes.
    Chain,
    /// The journal says nothing of `environment.json`, nor of its own end.
    Environment,
    /// An earlier version ended the campaign, by its rule.
    Stop,
    /// Runs that were published: how they were measured is not recorded.
    Published,
    /// What was sampled, printed or published beside the journal is in no chain.
    Beside {
        /// The directory.
        name: &'static str,
    },
    /// The recorded SHA-256 covers a file of routes or packets that is not at hand.
    File {
        /// Where it was looked for.
        file: PathBuf,
    },
    /// No PNG is there, as of a build without them.
    Pictures,
    /// Derived files that another build has drawn, and this one cannot.
    Derived {
        /// Their names in the directory.
        files: Vec<String>,
    },
}

impl fmt::Display for Unchecked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chain => write!(
                f,
                "the journal has no chain of hashes (an earlier version began it): counts and \
                 settings read back that were changed in it afterwards cannot be told"
            ),
            Self::Environment => write!(
                f,
                "the journal has no hash of environment.json and of its own last line (an earlier version \
                 wrote it): what was changed in these cannot be told"
            ),
            Self::Stop => {
                write!(f, "an earlier version decided after which block the campaign ended")
            }
            Self::Published => write!(
                f,
                "published runs: only rates and totals follow from counts; nothing says what was measured \
                 in which order"
            ),
            Self::Beside { name } => write!(
                f,
                "the files in {name} are in no chain of hashes: what was changed in them cannot be told"
            ),
            Self::File { file } => write!(
                f,
                "the experiment's SHA-256 covers a file that it names, and there is none at {}: put \
                 it there to have it checked",
                file.display()
            ),
            Self::Pictures => write!(
                f,
                "PNG pictures: none is here; a build without them made the report, or they were taken away"
            ),
            Self::Derived { files } => write!(
                f,
                "{}: left out of this build; one with `--features full` draws and checks them",
                files.join(", ")
            ),
        }
    }
}
