//! Everything that an audit was given, indexed: which file holds which values.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::figures::{Printer, row_key};
use fwdlab_netbenches::archive::Archive;
use fwdlab_netbenches::block::Set;
use fwdlab_netbenches::data::DirData;
use fwdlab_sentence::label::Label;

/// Sources outside a page's own directory that are looked at for one row: of many copies the first
/// ones will do.
const MOST_SOURCES: usize = 64;

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
    /// Every value of every directory, in order.
    values: Vec<f64>,
    /// Other pages by their titles.
    pub titles: HashMap<String, Vec<String>>,
    /// Directories of the pages with one text, by what [`Page::print`] gives.
    pub copies: HashMap<String, Vec<usize>>,
    /// What was held against what so far: rows against their sources, pages against paths, clauses against blocks.
    pub compared: AtomicU64,
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
    /// By which rule the logs give the values: 0 the current one, 1 the older.
    pub rule: usize,
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
            for (rule, all) in data.both_values().iter().enumerate() {
                for (prefix, values) in all {
                    self.values.extend(values);
                    for printer in Printer::ALL {
                        let Some(key) = row_key(values, printer) else { continue };
                        let sources = rows.entry(key).or_default();
                        let mut own = sources.iter().rev().take_while(|s| s.dir == dir);
                        if !own.any(|s| s.prefix == *prefix) {
                            sources.push(Source { dir, prefix: prefix.clone(), printer, rule });
                        }
                    }
                }
            }
        }
        self.rows = rows;
        self.values.sort_by(f64::total_cmp);
    }

    /// Whether a value anywhere in the trees is within `slack` of `wanted`.
    pub fn has_figure_near(&self, wanted: f64, slack: f64) -> bool {
        let first = self.values.partition_point(|v| *v < wanted - slack);
        self.values.get(first).is_some_and(|v| *v <= wanted + slack)
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
        let all = self.rows.get(&row.key())?;
        // sources stand in the order of their directories
        let first = all.partition_point(|s| s.dir < own);
        let here = &all[first..first + all[first..].partition_point(|s| s.dir == own)];
        let looked_at = if here.is_empty() { &all[..all.len().min(MOST_SOURCES)] } else { here };
        self.compared.fetch_add(looked_at.len() as u64, Ordering::Relaxed);
        looked_at.iter().min_by_key(rank).cloned()
    }

    /// The paths below a directory.
    pub fn paths_below<'a>(&'a self, directory: &str) -> impl Iterator<Item = &'a String> {
        let start = if directory.is_empty() { String::new() } else { format!("{directory}/") };
        let below = self.paths.range(start.clone()..).take_while(move |p| p.starts_with(&start));
        below.inspect(|_| {
            self.compared.fetch_add(1, Ordering::Relaxed);
        })
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
