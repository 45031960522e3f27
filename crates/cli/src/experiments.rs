//! Experiment files, and those that are part of this program.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use fwdlab_experiment::fields::nearest;
use fwdlab_experiment::{Experiment, Head};
use fwdlab_results::{EXPERIMENT_FILE, JOURNAL_FILE};

use crate::changes::Changes;
use crate::{devices, features, meant, output};

/// The experiments of `examples/`, by name.
const EXAMPLES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/examples.rs"));

/// The files beside examples that they name.
const FILES: &[(&str, &[u8])] = &[("capture.pcap", include_bytes!("../examples/capture.pcap"))];

/// The names of the experiments that are part of this program.
pub fn names() -> impl Iterator<Item = &'static str> {
    EXAMPLES.iter().map(|(name, _)| *name)
}

/// The names of the files beside them.
pub fn files() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// The example that runs when nothing is named.
pub const USUAL: &str = "modular-fib";

/// Which experiment is meant.
#[derive(Clone, Debug)]
pub enum Named<'a> {
    /// That of a file.
    File(&'a Path),
    /// One that is part of this program.
    Example(&'a str),
    /// Text that this program has made, with a name for it.
    Made(&'a str, String),
}

/// Whether this is standard input, which an experiment may come from.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The name of an experiment from standard input, and of its results. Relative paths in it start at the working
/// directory.
pub const STDIN: &str = "stdin";

/// A table of so many bytes takes a second or more to be read.
const LONG_TABLE: u64 = 4 * fwdlab_guard::MIB;

impl Named<'_> {
    /// Says that a long table of routes is read, before it is.
    pub fn announce(&self) {
        let Self::File(path) = self else { return };
        if is_stdin(path) {
            fwdlab_guard::say!(
                "reading the experiment from standard input; paths in it start at the working directory"
            );
        }
        // What comes through a pipe comes once.
        if !path.is_file() {
            return;
        }
        let text = fwdlab_guard::input::named_text(path, fwdlab_guard::MIB).unwrap_or_default();
        let Some(named) = Head::of(&text).routes else { return };
        let file = fwdlab_experiment::inputs::place(path, &named);
        let bytes = file.metadata().map_or(0, |about| about.len());
        if bytes >= LONG_TABLE {
            fwdlab_guard::say!("reading {} ({} MiB)", file.display(), bytes / fwdlab_guard::MIB);
        }
    }

    /// Reads it.
    ///
    /// # Errors
    /// When it cannot be read or is wrong, or a change cannot be made in it.
    pub fn read(&self, changes: &Changes) -> anyhow::Result<Experiment> {
        let devices = devices::schemas();
        let (path, text) = match self {
            Self::File(path) if is_stdin(path) => {
                let text =
                    from_stdin().context("cannot read the experiment from standard input")?;
                (PathBuf::from(STDIN), text)
            }
            Self::File(path) if changes.is_empty() => {
                return Experiment::read(path, &devices)
                    .map_err(|error| explained(error, path, ""));
            }
            Self::File(path) => {
                let text = fwdlab_guard::input::named_text(path, fwdlab_guard::MIB);
                let text = text.with_context(|| format!("cannot read {}", path.display()))?;
                (path.to_path_buf(), text)
            }
            Self::Example(name) => {
                let text = text_of(name)?.to_owned();
                (PathBuf::from(format!("{}.toml", name.trim_end_matches(".toml"))), text)
            }
            Self::Made(name, text) => (PathBuf::from(format!("{name}.toml")), text.clone()),
        };
        if changes.is_empty() {
            let read = Experiment::of_text(&path, &text, &devices);
            return read.map_err(|error| explained(error, &path, &text));
        }
        // What the file alone is told, for mistakes that are its own: with its own lines.
        let alone = || {
            let own = Experiment::of_text(&path, &text, &devices).err();
            own.map(|error| explained(error, &path, &text))
        };
        let changed = changes.of(&text, &path).map_err(|error| alone().unwrap_or(error))?;
        let read = Experiment::of_text(&path, &changed, &devices);
        read.map_err(|error| {
            let error = explained(error, &path, &changed);
            match alone() {
                Some(own) if is_of_other_lines(&own, &error) => own,
                Some(_) => {
                    anyhow::anyhow!("{error}\n(lines are counted with what the command line sets)")
                }
                None => anyhow::anyhow!(
                    "{error}\n(the file alone is right: it is what the command line sets; lines are counted with it)"
                ),
            }
        })
    }
}

/// Reads the experiment of a file, or the one that runs when none is named.
///
/// # Errors
/// When it cannot be read or is wrong.
pub fn read(path: Option<&Path>) -> anyhow::Result<Experiment> {
    let named = path.map_or(Named::Example(USUAL), Named::File);
    named.announce();
    named.read(&Changes::default())
}

/// Whether two errors say the same but for numbers of lines.
fn is_of_other_lines(one: &anyhow::Error, other: &anyhow::Error) -> bool {
    let words = |error: &anyhow::Error| {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default();
        first.chars().filter(|c| !c.is_ascii_digit()).collect::<String>()
    };
    words(one) == words(other)
}

/// The text of an experiment from standard input.
fn from_stdin() -> std::io::Result<String> {
    let bytes = fwdlab_guard::input::limited(std::io::stdin().lock(), fwdlab_guard::MIB)?;
    fwdlab_guard::input::utf8(bytes)
}

/// Says so when the experiment, of this text if it is known, names a device that this build left out.
fn explained(error: fwdlab_experiment::Error, path: &Path, text: &str) -> anyhow::Error {
    let read = fwdlab_guard::input::named_text(path, fwdlab_guard::MIB);
    let read = read.unwrap_or_default();
    let example = || EXAMPLES.iter().find(|(name, _)| path == Path::new(&format!("{name}.toml")));
    let named = Head::of(if text.is_empty() { &read } else { text }).device;
    let left_out =
        features::left_out().find(|f| f.device.is_some() && f.device == named.as_deref());
    match left_out {
        Some(feature) => anyhow::anyhow!(
            "{}: device = {:?} was left out of this build of fwdlab; {}",
            path.display(),
            feature.name,
            features::REMEDY
        ),
        None => match (&error, example()) {
            (fwdlab_experiment::Error::CaptureFile { file, .. }, Some(_)) => anyhow::anyhow!(
                "{error}; for the example: fwdlab examples {0} > {0}",
                file.display()
            ),
            (fwdlab_experiment::Error::File(_), _) if !path.exists() => {
                let name = path.file_stem().unwrap_or_default().to_string_lossy();
                let is_one = names().any(|known| known == name);
                if let Some(meant) = path.to_str().and_then(meant::of_experiment) {
                    return anyhow::anyhow!("there is no file {meant}");
                }
                let more = is_one.then(|| format!(", or fwdlab run --example {name}"));
                anyhow::anyhow!("{error}{}", more.unwrap_or_default())
            }
            (fwdlab_experiment::Error::File(_), _) if path.join(EXPERIMENT_FILE).is_file() => {
                let file = path.join(EXPERIMENT_FILE);
                let (path, file) = (path.display(), file.display());
                anyhow::anyhow!("{path} holds results; their experiment is {file}: name that")
            }
            (fwdlab_experiment::Error::Experiment(_), _) => {
                match beside(path).filter(|_| path != Path::new(STDIN)) {
                    Some(own) => anyhow::anyhow!(
                        "{} is no experiment but lies beside the journal of one, whose file is {}: name that",
                        path.display(),
                        own.display()
                    ),
                    None => error.into(),
                }
            }
            _ => error.into(),
        },
    }
}

/// The experiment of the results that a file of another name lies in, such as their journal or page: each line of it
/// would be told to be no TOML.
fn beside(path: &Path) -> Option<PathBuf> {
    let dir = path.parent()?;
    let own = dir.join(EXPERIMENT_FILE);
    let is_toml = path.extension().is_some_and(|ending| ending == "toml");
    (!is_toml && dir.join(JOURNAL_FILE).is_file() && own.is_file()).then_some(own)
}

/// The text of an example.
fn text_of(name: &str) -> anyhow::Result<&'static str> {
    let name = name.strip_suffix(".toml").unwrap_or(name);
    let found = EXAMPLES.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text).with_context(|| {
        if files().any(|file| file == name) {
            let reads = "no experiment, but a file that one names";
            return format!("{name} is {reads}; `fwdlab examples {name} > {name}` writes it");
        }
        if let Some(meant) = meant::of_experiment(name) {
            return format!("there is no example {meant}");
        }
        let near = nearest(name, names().chain(files()));
        let near = near.map_or_else(String::new, |near| format!("did you mean {near:?}? "));
        format!("there is no example {name:?}; {near}`fwdlab examples` lists them")
    })
}

/// An error about an experiment, without lines of a file where there is none to look into: it is part of
/// this program, or made by it.
pub fn placed(error: impl Into<anyhow::Error>, experiment: &Experiment) -> anyhow::Error {
    let error = error.into();
    if experiment.path.is_file() {
        return error;
    }
    let file = format!("{}:", experiment.path.display());
    let without = |line: &str| {
        let rest = line.strip_prefix(&file).and_then(|rest| rest.split_once(": "));
        rest.map_or(line.to_owned(), |(_, rest)| rest.to_owned())
    };
    let text = format!("{error:#}");
    anyhow::anyhow!(text.lines().map(without).collect::<Vec<_>>().join("\n"))
}

/// Arguments of `fwdlab examples`.
#[derive(clap::Args)]
pub struct Args {
    /// Print this example, or a file that one names, to begin one's own with
    name: Option<String>,
}

/// Lists the examples, or prints one.
///
/// # Errors
/// When there is no such example, or stdout cannot be written.
pub fn execute(arguments: &Args) -> anyhow::Result<ExitCode> {
    let file = arguments.name.as_ref();
    if let Some((_, bytes)) = FILES.iter().find(|(known, _)| file.is_some_and(|it| it == known)) {
        output::print_raw(bytes)?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = match &arguments.name {
        Some(name) => text_of(name)?.to_owned(),
        None => list(),
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// One line for each example.
fn list() -> String {
    let width = names().map(str::len).max().unwrap_or(0);
    let mut out = String::new();
    for (name, text) in EXAMPLES {
        let head = Head::of(text);
        let device = head.device.as_deref().unwrap_or(devices::STARTS[0].device);
        let title = head.title.unwrap_or_default();
        out.push_str(&output::row(&format!("{name:width$}  {device:12}  "), &title));
    }
    for device in features::left_out().filter_map(|feature| feature.device) {
        let _ = write!(out, "\ndevice {device:?} was left out of this build; {}", features::REMEDY);
    }
    out.push_str("\nfwdlab run --example NAME runs one, fwdlab examples NAME prints it\n");
    for name in files() {
        let _ = writeln!(out, "beside them: fwdlab examples {name} > {name}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_example_of_the_project_is_part_of_the_program() {
        let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
        let entries = std::fs::read_dir(dir).unwrap();
        let mut files: Vec<String> = entries
            .filter_map(|entry| entry.unwrap().file_name().into_string().ok())
            .filter_map(|name| name.strip_suffix(".toml").map(str::to_owned))
            .collect();
        files.sort();
        let mut known: Vec<String> = EXAMPLES.iter().map(|(name, _)| (*name).to_owned()).collect();
        known.sort();
        assert_eq!(known, files);
    }
}
