//! Everything that an audit was given, indexed: which file holds which values.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;

use rayon::prelude::*;

use super::block::Set;
use super::data::DirData;
use super::figures::{Printer, row_key};
use super::label::Label;
use fwdlab_netbenches::archive::Archive;

/// The trees of an audit.
#[derive(Debug, Default)]
pub struct Site {
    /// Data by directory.
    pub dirs: Vec<DirData>,
    /// Pages with the index of their directory.
    pub pages: Vec<(PathBuf, usize)>,
    /// Every file and directory, relative to the root.
    pub paths: BTreeSet<String>,
    /// Extensions of the files, in lower case.
    extensions: BTreeSet<String>,
    /// Rows of ministat by their text.
    rows: HashMap<String, Vec<Source>>,
    /// Other pages by their titles.
    pub titles: HashMap<String, Vec<String>>,
}

/// Where the values of a set come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Index of the directory in [`Site::dirs`].
    pub dir: usize,
    /// Prefix of the `.pps` file or of the logs.
    pub prefix: String,
    /// Which ministat prints the row so.
    pub printer: Printer,
}

impl Site {
    /// Reads the data of all directories of `archive`, in parallel.
    pub fn read(archive: Archive) -> Self {
        let mut site =
            Self { dirs: archive.dirs.par_iter().map(DirData::read).collect(), ..Self::default() };
        for (index, dir) in archive.dirs.iter().enumerate() {
            site.pages.extend(dir.readmes.iter().map(|path| (path.clone(), index)));
        }
        site.extensions = archive.paths.iter().filter_map(|p| extension(p)).collect();
        site.paths = archive.paths;
        site.index_rows();
        site
    }

    fn index_rows(&mut self) {
        let mut rows: HashMap<String, Vec<Source>> = HashMap::new();
        for (dir, data) in self.dirs.iter().enumerate() {
            for (prefix, values) in data.all_values() {
                for printer in Printer::ALL {
                    let Some(key) = row_key(&values, printer) else { continue };
                    let sources = rows.entry(key).or_default();
                    let is_same = |s: &Source| s.dir == dir && s.prefix == prefix;
                    if !sources.iter().any(is_same) {
                        sources.push(Source { dir, prefix: prefix.clone(), printer });
                    }
                }
            }
        }
        self.rows = rows;
    }

    /// Whether any file of the tree has this extension: a copy without pictures
    /// cannot tell whether a link to one is broken.
    pub fn has_extension_of(&self, path: &str) -> bool {
        extension(path).is_some_and(|e| self.extensions.contains(&e))
    }

    /// Where the values of `set` come from: in the page's own directory if
    /// possible, and where the label agrees best.
    pub fn source_of(&self, set: &Set, own: usize) -> Option<Source> {
        let row = set.row.as_ref()?;
        let label = Label::of(&set.legend);
        let rank = |source: &&Source| {
            let name = Label::of(&source.prefix);
            let disagrees = u8::from(label.contradicts_family(&name))
                + u8::from(label.contradicts_revision(&name))
                + u8::from(label.contradicts_patch(&name));
            (source.dir != own, disagrees, !self.is_same_machine(source.dir, own))
        };
        self.rows.get(&row.key())?.iter().min_by_key(rank).cloned()
    }

    /// Whether two directories lie below the same first directory.
    pub fn is_same_machine(&self, a: usize, b: usize) -> bool {
        let machine = |index: usize| {
            self.dirs.get(index).map(|d| d.relative.split('/').next().unwrap_or("").to_owned())
        };
        machine(a) == machine(b)
    }

    /// Data of a source.
    pub fn dir(&self, source: &Source) -> Option<&DirData> {
        self.dirs.get(source.dir)
    }
}

fn extension(path: &str) -> Option<String> {
    let name = path.rsplit('/').next()?;
    name.rsplit_once('.').map(|(_, e)| e.to_ascii_lowercase())
}

impl DirData {
    /// Values by prefix: the `.pps` files, and the medians of the logs for
    /// prefixes that have no such file.
    pub fn all_values(&self) -> BTreeMap<String, Vec<f64>> {
        let mut all: BTreeMap<String, Vec<f64>> =
            self.series.iter().map(|(prefix, s)| (prefix.clone(), s.values.clone())).collect();
        for (prefix, group) in &self.groups {
            if all.contains_key(prefix) {
                continue;
            }
            let values: Vec<f64> = group
                .runs
                .values()
                .filter_map(|run| run.printed.as_ref()?.first()?.parse().ok())
                .collect();
            if !values.is_empty() {
                all.insert(prefix.clone(), values);
            }
        }
        all
    }
}
