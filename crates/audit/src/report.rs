//! Runs an audit and holds its outcome.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use rayon::prelude::*;
use serde::Serialize;

use super::rules;
use super::rules::block_text::Fidelity;
use fwdlab_evidence::finding::{AuditFinding, AuditFindings, Rule, Severity, Text};
use fwdlab_evidence::site::Site;
use fwdlab_evidence::surroundings::Surroundings;
use fwdlab_guard::words::in_json;
use fwdlab_netbenches::archive::Archive;
use fwdlab_netbenches::page::{MAX_PAGE_BYTES, Page};
use fwdlab_netbenches::runs::read_bounded;
use fwdlab_results::{Error, Result};

/// The outcome of an audit.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// What was looked at.
    pub counts: Counts,
    /// Findings by file and line.
    pub findings: Vec<AuditFinding>,
    /// Paths that were left out, with the reason.
    pub skipped: Vec<String>,
    /// What it took.
    #[serde(skip)]
    pub work: Work,
}

/// What an audit took; both grow as the archive does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Files that were read.
    pub files: usize,
    /// Sources of rows and paths that pages were held against, and blocks that clauses were.
    pub comparisons: u64,
}

/// What an audit looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Pages.
    pub pages: usize,
    /// ministat blocks.
    pub blocks: usize,
    /// Blocks whose rows all follow from values at hand.
    pub blocks_reproduced: usize,
    /// Blocks that equal ministat's output byte for byte.
    pub blocks_exact: usize,
    /// Blocks that differ from it in white space only.
    pub blocks_spaced: usize,
    /// Blocks of which some row has no values at hand.
    pub blocks_without_data: usize,
    /// Directories with logs or medians.
    pub directories: usize,
    /// Runs that were logged.
    pub runs: usize,
}

impl Report {
    /// Adds what another audit looked at and found.
    pub fn add(&mut self, other: Self) {
        self.counts.add(&other.counts);
        self.findings.extend(other.findings);
        self.skipped.extend(other.skipped);
        self.work.files += other.work.files;
        self.work.comparisons += other.work.comparisons;
    }

    /// True when something is wrong.
    pub fn has_wrong(&self) -> bool {
        self.findings.iter().any(|f| f.severity == Severity::Wrong)
    }

    /// The report as JSON.
    ///
    /// # Errors
    /// When serde cannot encode it.
    pub fn to_json(&self) -> Result<String> {
        let encode = |source| Error::Encode { what: "the audit report", source };
        Ok(in_json(&serde_json::to_string_pretty(self).map_err(encode)?).into_owned())
    }

    /// Findings by rule and severity.
    pub fn by_rule(&self) -> BTreeMap<(Rule, Severity), usize> {
        let mut counts = BTreeMap::new();
        for finding in &self.findings {
            *counts.entry((finding.rule, finding.severity)).or_insert(0) += 1;
        }
        counts
    }
}

/// Audits trees, directories or single pages.
///
/// # Errors
/// When a path of `paths` cannot be read; what lies below is
/// [`Report::skipped`] instead.
pub fn audit(paths: &[PathBuf]) -> Result<Report> {
    let mut report = Report::default();
    for path in paths {
        audit_path(path, &mut report)?;
    }
    report.findings.sort_by(|a, b| {
        (&a.file, a.line, a.severity, a.rule).cmp(&(&b.file, b.line, b.severity, b.rule))
    });
    report.findings.dedup();
    Ok(report)
}

/// Audits the bytes of one page without any data beside it, as from standard
/// input; its file is called `-`.
pub fn audit_page(bytes: &[u8]) -> Report {
    let mut site = Site::default();
    site.dirs.push(fwdlab_netbenches::data::DirData::default());
    let page = ReadPage { path: PathBuf::from("-"), dir: 0, page: Page::parse(bytes) };
    let (counts, findings) = page.audit(&site);
    Report { counts, findings, ..Report::default() }
}

/// The findings of [`audit_page`].
pub fn check_page(bytes: &[u8]) -> Vec<AuditFinding> {
    audit_page(bytes).findings
}

fn audit_path(path: &Path, report: &mut Report) -> Result<()> {
    let target = Target::of(path)?;
    let archive = Archive::scan(&target.root)?;
    // Who names one page asks about it, and not about the tree that it stands in.
    let asked =
        archive.skipped.iter().filter(|s| target.page.as_ref().is_none_or(|p| *p == s.path));
    report.skipped.extend(asked.map(|s| format!("{}: {}", s.path.display(), s.why)));
    let mut site = Site::read(archive);
    if let Some(page) = &target.page {
        target.add_page(&mut site, page);
    }
    let pages: Vec<ReadPage> =
        site.pages.par_iter().map(|(path, dir)| ReadPage::read(path, *dir)).collect();
    for page in &pages {
        if let (Some(title), Some(dir)) = (page.page.title(), site.dirs.get(page.dir)) {
            site.titles.entry(title.text.clone()).or_default().push(dir.relative.clone());
        }
        if let Some(print) = page.page.print() {
            site.copies.entry(print).or_default().push(page.dir);
        }
    }
    let wanted = |page: &&ReadPage| target.takes(&page.path, &site.dirs[page.dir].relative);
    let audited: Vec<(Counts, Vec<AuditFinding>)> =
        pages.par_iter().filter(wanted).map(|page| page.audit(&site)).collect();
    for (counts, findings) in audited {
        report.counts.add(&counts);
        report.findings.extend(findings);
    }
    report.work.files += pages.len() + site.dirs.iter().map(|dir| dir.files).sum::<usize>();
    report.work.comparisons += site.compared.load(Ordering::Relaxed);
    for dir in site.dirs.iter().filter(|d| target.takes_dir(&d.relative)) {
        let place = |name: &str| target.root.join(&dir.relative).join(name).display().to_string();
        let prefix =
            if dir.relative.is_empty() { String::new() } else { format!("{}/", dir.relative) };
        let exists = |name: &str| site.paths.contains(&format!("{prefix}{name}"));
        report.findings.extend(rules::medians::check_dir(dir, place));
        report.findings.extend(rules::graphs::check_dir(dir, place, exists));
        report.counts.directories +=
            usize::from(!dir.series.is_empty() || !dir.configurations.is_empty());
        report.counts.runs += dir.configurations.values().map(|g| g.runs.len()).sum::<usize>();
    }
    Ok(())
}

/// What a path on the command line asks for.
struct Target {
    /// The tree that is read; wider than what is audited, so that pages that
    /// compare with a neighbouring directory find its values.
    root: PathBuf,
    /// The directory below the root that is audited; empty for all.
    within: String,
    /// The one page that is audited.
    page: Option<PathBuf>,
}

impl Target {
    fn of(path: &Path) -> Result<Self> {
        let metadata = std::fs::metadata(path).map_err(Error::io("read", path))?;
        let (directory, page) = if metadata.is_dir() {
            (path.to_owned(), None)
        } else {
            let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
            (parent.unwrap_or(Path::new(".")).to_owned(), Some(path.to_owned()))
        };
        let parent = directory.parent().filter(|p| p.file_name().is_some_and(|n| n == "results"));
        Ok(match (parent, directory.file_name()) {
            (Some(parent), Some(name)) => {
                Self { root: parent.to_owned(), within: name.to_string_lossy().into_owned(), page }
            }
            _ => Self { root: directory, within: String::new(), page },
        })
    }

    fn takes(&self, path: &Path, relative: &str) -> bool {
        self.takes_dir(relative)
            && self.page.as_ref().is_none_or(|p| p.file_name() == path.file_name())
    }

    fn takes_dir(&self, relative: &str) -> bool {
        let is_below = |r: &str| r == self.within || r.starts_with(&format!("{}/", self.within));
        match (&self.page, self.within.is_empty()) {
            (Some(_), _) => relative == self.within,
            (None, true) => true,
            (None, false) => is_below(relative),
        }
    }

    /// A page that is named counts as one whatever its name is.
    fn add_page(&self, site: &mut Site, page: &Path) {
        let path = self.root.join(&self.within).join(page.file_name().unwrap_or_default());
        if site.pages.iter().any(|(p, _)| p == &path) {
            return;
        }
        let index = site.dirs.iter().position(|d| d.relative == self.within).unwrap_or_else(|| {
            let data = fwdlab_netbenches::data::DirData {
                relative: self.within.clone(),
                ..Default::default()
            };
            site.dirs.push(data);
            site.dirs.len() - 1
        });
        site.pages.push((path, index));
    }
}

/// A page that was read, or the reason why not.
struct ReadPage {
    path: PathBuf,
    dir: usize,
    page: Page,
}

impl ReadPage {
    fn read(path: &Path, dir: usize) -> Self {
        let page = match read_bounded(path, MAX_PAGE_BYTES) {
            Ok(bytes) => Page::parse(&bytes),
            Err(_) => Page { is_cut: true, ..Page::default() },
        };
        Self { path: path.to_owned(), dir, page }
    }

    fn audit(&self, site: &Site) -> (Counts, Vec<AuditFinding>) {
        let mut findings = AuditFindings::about(&self.path.display().to_string());
        let mut counts = Counts { pages: 1, blocks: self.page.blocks.len(), ..Counts::default() };
        if let Some(around) = Surroundings::new(site, self.dir, &self.page) {
            match original(&around) {
                Some(place) => report_copy(place, &mut findings),
                None => rules::apply(&around, &mut findings),
            }
            for sets in &around.sets {
                let is_known = sets.iter().all(|s| s.source.is_some());
                counts.blocks_reproduced += usize::from(is_known);
                counts.blocks_without_data += usize::from(!is_known);
            }
            for block in 0..self.page.blocks.len() {
                match rules::block_text::fidelity(&around, block) {
                    Some(Fidelity::Exact(_)) => counts.blocks_exact += 1,
                    Some(Fidelity::Spaced(_)) => counts.blocks_spaced += 1,
                    _ => {}
                }
            }
        }
        (counts, findings.into_sorted())
    }
}

/// Where the page comes from, when its text stands elsewhere too and its figures are of there and
/// none of here, although there are some here.
fn original<'a>(around: &Surroundings<'a>) -> Option<&'a str> {
    let twins = around.site.copies.get(&around.page.print()?)?;
    let sources: Vec<usize> =
        around.sets.iter().flatten().filter_map(|s| Some(s.source.as_ref()?.dir)).collect();
    if around.data.all_values().is_empty() || sources.contains(&around.own) {
        return None;
    }
    let twin = *twins.iter().find(|dir| sources.contains(dir))?;
    around.site.dirs.get(twin).map(|dir| dir.relative.as_str())
}

fn report_copy(place: &str, findings: &mut AuditFindings) {
    let text = Text::new(
        "the page",
        format!("it is word for word that of {place}, and so are its figures; none is of here"),
        "write a page for these results",
    );
    findings.add(Rule::PageCopied, Severity::Wrong, 1, text);
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.pages += other.pages;
        self.blocks += other.blocks;
        self.blocks_reproduced += other.blocks_reproduced;
        self.blocks_exact += other.blocks_exact;
        self.blocks_spaced += other.blocks_spaced;
        self.blocks_without_data += other.blocks_without_data;
        self.directories += other.directories;
        self.runs += other.runs;
    }
}
