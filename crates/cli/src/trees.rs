//! Trees of results directories, as `fwdlab import` makes them of an archive.

mod overview;

use std::path::{Path, PathBuf};

use fwdlab_compare::{self as compare, CompareError, Compared, Format, Options};
use fwdlab_results::{ENVIRONMENT_FILE, JOURNAL_FILE, SIGNATURE_FILE, TORN_FILE};
use serde_json::{Value, json};

pub use overview::{Line, Overview};

/// A results directory in a tree.
pub struct Place {
    /// The directory.
    pub dir: PathBuf,
    /// Its path below the root, or the root's name where it is the root itself.
    pub name: PathBuf,
}

/// Results directories at or below `root`, in the order of their paths.
pub fn below(root: &Path) -> Vec<Place> {
    let mut places = Vec::new();
    collect(root, root, &mut places);
    places
}

fn collect(root: &Path, dir: &Path, places: &mut Vec<Place>) {
    if dir.join(JOURNAL_FILE).is_file() {
        let relative = dir.strip_prefix(root).unwrap_or(dir);
        let name = || PathBuf::from(root.file_name().unwrap_or_default());
        let name = if relative.as_os_str().is_empty() { name() } else { relative.to_owned() };
        places.push(Place { dir: dir.to_owned(), name });
        return;
    }
    for own in directories(dir) {
        collect(root, &own, places);
    }
}

/// Directories at or below `root` with files of results and without their journal.
pub fn lost(root: &Path) -> Vec<PathBuf> {
    if root.join(JOURNAL_FILE).is_file() {
        return Vec::new();
    }
    let left = ["claims.json", ENVIRONMENT_FILE, SIGNATURE_FILE, TORN_FILE];
    let mut found = Vec::new();
    if left.iter().any(|name| root.join(name).is_file()) {
        found.push(root.to_owned());
    }
    found.extend(directories(root).iter().flat_map(|dir| lost(dir)));
    found
}

/// The directories in `dir`, in the order of their names.
fn directories(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
    let is_directory =
        |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let mut dirs: Vec<PathBuf> =
        entries.flatten().filter(is_directory).map(|entry| entry.path()).collect();
    dirs.sort();
    dirs
}

/// The results directories of `roots`, when one of these is no results directory itself but has some
/// below it.
///
/// # Errors
/// When one of several has none: what was to be there, nobody would miss.
pub fn of(roots: &[PathBuf]) -> anyhow::Result<Option<Vec<Place>>> {
    let is_tree = |root: &PathBuf| root.is_dir() && !root.join(JOURNAL_FILE).is_file();
    if !roots.iter().all(|root| root.is_dir()) || !roots.iter().any(is_tree) {
        return Ok(None);
    }
    let each: Vec<Vec<Place>> = roots.iter().map(|root| below(root)).collect();
    if each.iter().all(Vec::is_empty) {
        return Ok(None);
    }
    if let Some((empty, _)) = roots.iter().zip(&each).find(|(_, places)| places.is_empty()) {
        anyhow::bail!(
            "{} holds no results: neither it nor a directory below it has a {JOURNAL_FILE}; look whether \
             the path is right, or leave it out",
            empty.display()
        );
    }
    Ok(Some(each.into_iter().flatten().collect()))
}

/// Each results directory of a tree by itself.
pub struct Trees {
    each: Vec<(PathBuf, Result<Compared, CompareError>)>,
    dirs: Vec<PathBuf>,
}

impl Trees {
    /// Compares the variants of each.
    pub fn compare(places: &[Place], options: &Options) -> Self {
        let own = |place: &Place| {
            let options = Options { sources: vec![place.dir.clone()], ..options.clone() };
            (place.name.clone(), compare::compare(&options, &mut std::io::empty()))
        };
        let dirs = places.iter().map(|place| place.dir.clone()).collect();
        Self { each: places.iter().map(own).collect(), dirs }
    }

    /// What could be compared, each with its directory.
    pub fn compared(&self) -> impl Iterator<Item = (&Path, &Compared)> {
        let dirs = self.dirs.iter().map(PathBuf::as_path);
        dirs.zip(&self.each).filter_map(|(dir, (_, own))| Some((dir, own.as_ref().ok()?)))
    }

    /// Whether a directory with something to compare could not be.
    pub fn has_unread(&self) -> bool {
        let is_alone = |error: &CompareError| matches!(error, CompareError::Alone { .. });
        self.each.iter().any(|(_, own)| own.as_ref().is_err_and(|error| !is_alone(error)))
    }

    /// In a form; `None` for those that show one directory at a time.
    ///
    /// # Errors
    /// When rows cannot be encoded.
    pub fn render(&self, format: Format) -> anyhow::Result<Option<String>> {
        Ok(Some(match format {
            Format::Text | Format::Brief => self.overview().text(),
            Format::Markdown => self.overview().markdown(),
            Format::Json => crate::output::json(&self.json())?,
            Format::Csv => self.csv()?,
            Format::Benchstat | Format::Ministat => return Ok(None),
        }))
    }

    /// A line for each directory.
    pub fn overview(&self) -> Overview {
        Overview::of(self.each.iter().map(|(name, own)| Line::of(name, own.as_ref())).collect())
    }

    fn json(&self) -> Value {
        let of = |(name, own): &(PathBuf, Result<Compared, CompareError>)| match own {
            Ok(compared) => json!({ "directory": name, "compared": compared }),
            Err(error) => json!({ "directory": name, "error": error.to_string() }),
        };
        Value::Array(self.each.iter().map(of).collect())
    }

    fn csv(&self) -> anyhow::Result<String> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let mut has_head = false;
        for (name, own) in &self.each {
            let Ok(compared) = own else { continue };
            let bytes = compare::render(compared, Format::Csv)?;
            let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(&bytes[..]);
            for (row, record) in reader.records().enumerate() {
                let first = if row == 0 { "directory".into() } else { name.to_string_lossy() };
                if row > 0 || !has_head {
                    let record = record?;
                    writer.write_record(std::iter::once(first.as_ref()).chain(&record))?;
                }
            }
            has_head = true;
        }
        Ok(String::from_utf8(writer.into_inner()?)?)
    }
}
