//! Finds the results directories of an archive and which file is what.
//!
//! Directories behind symbolic links are not entered (loops, ways out of the
//! archive), only regular files are opened, and every path that is left out is
//! named.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::name::{LogKind, LogName};
use fwdlab_results::{Error, Result};

/// Deepest nesting that is followed.
const MAX_DEPTH: usize = 48;

/// The logs of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFiles {
    /// The receiver's log.
    pub receiver: Option<PathBuf>,
    /// The senders' logs by their suffix (empty, `_2`, `_gen2`).
    pub senders: BTreeMap<String, PathBuf>,
}

/// The runs of one configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// Runs by their number.
    pub runs: BTreeMap<u32, RunFiles>,
    /// The `.info` file.
    pub info: Option<PathBuf>,
}

/// One directory of results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultsDir {
    /// The directory.
    pub path: PathBuf,
    /// Its place below the root, with `/` between the parts; empty for the root.
    pub relative: String,
    /// Page or pages in it.
    pub readmes: Vec<PathBuf>,
    /// Configurations of logs by prefix.
    pub configurations: BTreeMap<String, Configuration>,
    /// `.pps` files by prefix.
    pub pps: BTreeMap<String, PathBuf>,
    /// `.equilibrium` and `.equilibrium.max` files: what each rate search found, a line each.
    pub equilibria: Vec<PathBuf>,
    /// gnuplot data files.
    pub graph_data: Vec<PathBuf>,
    /// gnuplot scripts.
    pub graph_scripts: Vec<PathBuf>,
    /// Call graphs, folded or not.
    pub call_graphs: Vec<PathBuf>,
}

impl ResultsDir {
    /// True when the directory holds logs, medians, or the data of a graph.
    fn has_data(&self) -> bool {
        !self.configurations.is_empty() || !self.pps.is_empty() || !self.graph_data.is_empty()
    }

    /// Number of logs, senders included.
    pub fn logs(&self) -> usize {
        let runs = self.configurations.values().flat_map(|g| g.runs.values());
        runs.map(|r| r.senders.len() + usize::from(r.receiver.is_some())).sum()
    }
}

/// A path that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The path.
    pub path: PathBuf,
    /// Why.
    pub why: String,
}

/// An archive: directories of results below a root.
#[derive(Clone, Debug, Default)]
pub struct Archive {
    /// The root as given.
    pub root: PathBuf,
    /// Directories with a page, logs, medians or the data of a graph, by path.
    pub dirs: Vec<ResultsDir>,
    /// Every regular file and every directory below the root, for links;
    /// relative, with `/` between the parts.
    pub paths: BTreeSet<String>,
    /// What was left out.
    pub skipped: Vec<Skipped>,
}

impl Archive {
    /// Walks the tree below `root`.
    ///
    /// # Errors
    /// When `root` itself cannot be read; anything below that cannot be read is
    /// [`Skipped`].
    pub fn scan(root: &Path) -> Result<Self> {
        if root.metadata().is_ok_and(|about| !about.is_dir()) {
            return Err(Error::NoTree { path: root.to_owned() });
        }
        fs::read_dir(root).map_err(Error::io("read the directory", root))?;
        let mut archive = Self { root: root.to_owned(), ..Self::default() };
        let mut dirs = BTreeMap::new();
        archive.enter(root, String::new(), 0, &mut dirs);
        archive.dirs = dirs
            .into_values()
            .filter(|dir: &ResultsDir| dir.has_data() || !dir.readmes.is_empty())
            .collect();
        Ok(archive)
    }

    fn enter(
        &mut self,
        path: &Path,
        relative: String,
        depth: usize,
        dirs: &mut BTreeMap<String, ResultsDir>,
    ) {
        for entry in self.list(path) {
            let name = entry.file_name().to_string_lossy().into_owned();
            let place =
                if relative.is_empty() { name.clone() } else { format!("{relative}/{name}") };
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_file() => {
                    if let Some(why) = take_file(dirs, &relative, &path, &name, &self.root) {
                        self.skip(&path, why);
                    }
                    self.paths.insert(place);
                }
                Ok(kind) if kind.is_dir() && name == ".git" => {}
                Ok(kind) if kind.is_dir() && name.starts_with('.') => {
                    self.skip(&path, "a hidden directory".to_owned());
                }
                Ok(kind) if kind.is_dir() && depth >= MAX_DEPTH => {
                    self.skip(&path, format!("more than {MAX_DEPTH} directories deep"));
                }
                Ok(kind) if kind.is_dir() => {
                    self.paths.insert(place.clone());
                    self.enter(&path, place, depth + 1, dirs);
                }
                Ok(kind) if kind.is_symlink() => self.take_link(path, place),
                Ok(_) => self.skip(&path, "not a regular file".to_owned()),
                Err(error) => self.skip(&path, error.to_string()),
            }
        }
    }

    /// The entries of a directory in the order of their names; what cannot be
    /// read is skipped by name.
    fn list(&mut self, path: &Path) -> Vec<fs::DirEntry> {
        let mut entries = Vec::new();
        match fs::read_dir(path) {
            Ok(listed) => {
                for entry in listed {
                    match entry {
                        Ok(entry) => entries.push(entry),
                        Err(error) => self.skip(path, error.to_string()),
                    }
                }
            }
            Err(error) => self.skip(path, error.to_string()),
        }
        entries.sort_by_key(fs::DirEntry::file_name);
        entries
    }

    /// A symbolic link counts as a target of links in pages when it leads
    /// somewhere, and is never read.
    fn take_link(&mut self, path: PathBuf, place: String) {
        if path.exists() {
            self.paths.insert(place);
        }
        self.skip(&path, "a symbolic link".to_owned());
    }

    fn skip(&mut self, path: &Path, why: String) {
        self.skipped.push(Skipped { path: path.to_owned(), why });
    }
}

/// The results directory that a directory's files belong to: `RAW/` belongs to
/// its parent.
fn owner(relative: &str) -> &str {
    let (parent, last) = relative.rsplit_once('/').unwrap_or(("", relative));
    if last.eq_ignore_ascii_case("raw") { parent } else { relative }
}

/// Files a file where it belongs; says why when it looks like a log that has no
/// place of its own.
fn take_file(
    dirs: &mut BTreeMap<String, ResultsDir>,
    relative: &str,
    path: &Path,
    name: &str,
    root: &Path,
) -> Option<String> {
    let Some(part) = Part::of(name) else {
        let is_alike = name.split(['.', '_']).any(|part| matches!(part, "receiver" | "sender"));
        return is_alike.then(|| "looks like a log, but not named bench.….RUN.receiver".to_owned());
    };
    let owner = owner(relative);
    let dir = dirs.entry(owner.to_owned()).or_insert_with(|| ResultsDir {
        path: root.join(owner),
        relative: owner.to_owned(),
        ..ResultsDir::default()
    });
    let path = path.to_owned();
    match part {
        Part::Log(log) => {
            let configuration = dir.configurations.entry(log.prefix).or_default();
            let run = configuration.runs.entry(log.iteration).or_default();
            let first = match &log.kind {
                LogKind::Receiver => run.receiver.clone(),
                LogKind::Sender(which) => run.senders.get(which).cloned(),
            };
            if let Some(first) = first {
                return Some(format!("a second log of the run of {}", first.display()));
            }
            match log.kind {
                LogKind::Receiver => run.receiver = Some(path),
                LogKind::Sender(which) => {
                    run.senders.insert(which, path);
                }
            }
        }
        Part::Info(prefix) => dir.configurations.entry(prefix).or_default().info = Some(path),
        Part::Pps(prefix) => {
            dir.pps.insert(prefix, path);
        }
        Part::Equilibrium => dir.equilibria.push(path),
        Part::Readme => dir.readmes.push(path),
        Part::GraphData => dir.graph_data.push(path),
        Part::GraphScript => dir.graph_scripts.push(path),
        Part::CallGraph => dir.call_graphs.push(path),
    }
    None
}

/// What a file is, by its name.
enum Part {
    Log(LogName),
    Info(String),
    Pps(String),
    Equilibrium,
    Readme,
    GraphData,
    GraphScript,
    CallGraph,
}

impl Part {
    fn of(name: &str) -> Option<Self> {
        if let Some(log) = LogName::parse(name) {
            return Some(Self::Log(log));
        }
        if is_readme(name) {
            return Some(Self::Readme);
        }
        if let Some(prefix) = name.strip_prefix("pps.") {
            return Some(Self::Pps(prefix.to_owned())); // the oldest reports
        }
        if name.ends_with(".equilibrium") || name.ends_with(".equilibrium.max") {
            return Some(Self::Equilibrium);
        }
        let (stem, extension) = name.rsplit_once('.')?;
        match extension {
            "info" => Some(Self::Info(stem.strip_prefix("bench.")?.to_owned())),
            "pps" => Some(Self::Pps(stem.to_owned())),
            "data" => Some(Self::GraphData),
            "plt" => Some(Self::GraphScript),
            _ if is_call_graph(name) => Some(Self::CallGraph),
            _ => None,
        }
    }
}

/// True for call graphs, folded or not.
pub fn is_call_graph(name: &str) -> bool {
    name.ends_with(".pmc.graph") || name.ends_with(".pmc.stack")
}

/// True for `README.md` in any case, with or without an underscore before it.
pub fn is_readme(name: &str) -> bool {
    let name = name.trim_start_matches('_').to_ascii_lowercase();
    matches!(name.as_str(), "readme.md" | "readme.markdown" | "readme" | "readme.txt")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, place: &str) {
        let path = root.join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "").unwrap();
    }

    #[test]
    fn raw_belongs_to_the_directory_above() {
        let root = tempfile::tempdir().unwrap();
        for place in [
            "m/results/a/README.md",
            "m/results/a/r1.inet4.pps",
            "m/results/a/RAW/bench.r1.inet4.1.receiver",
            "m/results/a/RAW/bench.r1.inet4.1.sender",
            "m/results/a/RAW/bench.r1.inet4.1.sender_gen2",
            "m/results/a/RAW/bench.r1.inet4.info",
            "m/results/a/gnuplot.data",
            "m/results/a/bench.r1.inet4.pmc.graph",
            ".git/README.md",
        ] {
            write(root.path(), place);
        }
        let archive = Archive::scan(root.path()).unwrap();
        assert_eq!(archive.dirs.len(), 1);
        let dir = &archive.dirs[0];
        assert_eq!(dir.relative, "m/results/a");
        let configuration = &dir.configurations["r1.inet4"];
        assert!(configuration.info.is_some() && configuration.runs[&1].receiver.is_some());
        assert_eq!(configuration.runs[&1].senders.len(), 2);
        assert_eq!((dir.logs(), dir.pps.len(), dir.graph_data.len()), (3, 1, 1));
        assert_eq!(dir.call_graphs.len(), 1);
        assert!(archive.paths.contains("m/results/a/gnuplot.data"));
    }

    #[cfg(unix)]
    #[test]
    fn links_in_circles_end() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), "a/README.md");
        std::os::unix::fs::symlink("..", root.path().join("a/loop")).unwrap();
        std::os::unix::fs::symlink("/etc", root.path().join("a/out")).unwrap();
        let archive = Archive::scan(root.path()).unwrap();
        assert_eq!(archive.dirs.len(), 1);
        assert_eq!(archive.skipped.len(), 2);
    }

    #[test]
    fn what_looks_like_a_log_and_has_no_place_is_named() {
        let root = tempfile::tempdir().unwrap();
        for place in [
            "a/bench.r1.1.receiver",
            "a/RAW/bench.r1.1.receiver",
            "a/RAW/bench.r1.receiver",
            "a/RAW/bench.r1.99999999999.receiver",
            "a/RAW/bench.r1.2.receiver.gz",
            "a/.hidden/RAW/bench.r1.3.receiver",
            ".git/bench.r1.4.receiver",
        ] {
            write(root.path(), place);
        }
        let archive = Archive::scan(root.path()).unwrap();
        let mut names: Vec<String> = archive
            .skipped
            .iter()
            .map(|s| s.path.strip_prefix(root.path()).unwrap().display().to_string())
            .collect();
        names.sort();
        assert_eq!(
            names,
            [
                "a/.hidden",
                "a/RAW/bench.r1.2.receiver.gz",
                "a/RAW/bench.r1.99999999999.receiver",
                "a/RAW/bench.r1.receiver",
                "a/bench.r1.1.receiver",
            ]
        );
    }

    #[test]
    fn a_missing_root_is_an_error_that_names_it() {
        let error = Archive::scan(Path::new("/nonexistent/x")).unwrap_err().to_string();
        assert!(error.contains("/nonexistent/x"), "{error}");
    }

    /// The remedy was that of a file in the way of what is written.
    #[test]
    fn a_root_that_is_a_file_comes_with_what_to_name_instead() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = Archive::scan(file.path()).unwrap_err().to_string();
        assert!(error.contains("name the directory that it lies in"), "{error}");
    }
}
