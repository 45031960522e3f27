//! fwdlab's own results directories: what stands beside a journal must follow from it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use fwdlab_audit::{AuditFinding, MAX_PAGE_BYTES, Report, Rule, Severity, audit_page};
use fwdlab_guard::input;
use fwdlab_report::{self as report, Difference};
use fwdlab_results::{JOURNAL_FILE, Results};

use crate::{causes, devices};

/// Deepest nesting that is followed.
const MAX_DEPTH: usize = 48;

/// Notes beside a journal, in their writer's own words.
const NOTES: &str = "notes.md";

/// Replaces what the rules for published pages say of our own directories below `paths` by what their
/// journals say.
pub(super) fn audit(paths: &[PathBuf], all: &mut Report) {
    let mut dirs = BTreeSet::new();
    for path in paths {
        let path = if path.is_file() { path.parent().unwrap_or(Path::new("")) } else { path };
        find(path, 0, &mut dirs);
    }
    for dir in dirs {
        all.findings.retain(|finding| Path::new(&finding.file).parent() != Some(&dir));
        match examine(&dir) {
            Ok(found) => all.findings.extend(found),
            Err(error) => {
                all.skipped.push(format!("{}: {}", dir.display(), causes::in_words(&error)))
            }
        }
    }
}

fn find(dir: &Path, depth: usize, found: &mut BTreeSet<PathBuf>) {
    if dir.join(JOURNAL_FILE).is_file() {
        found.insert(dir.to_owned());
    }
    let Ok(entries) = fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
        if depth < MAX_DEPTH && !is_hidden && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            find(&entry.path(), depth + 1, found);
        }
    }
}

fn examine(dir: &Path) -> anyhow::Result<Vec<AuditFinding>> {
    let results = Results::read(dir)?.knowing(&devices::known());
    let mut found: Vec<AuditFinding> =
        report::check(&results)?.iter().map(|own| difference(dir, own)).collect();
    let claims = report::claims(&results)?;
    found.extend(report::notes_doubts(dir, &claims)?.iter().map(|doubt| noted(dir, doubt)));
    let notes = input::bytes(&dir.join(NOTES), MAX_PAGE_BYTES as u64).unwrap_or_default();
    found.extend(audit_page(&notes).findings.into_iter().filter_map(|finding| {
        let file = dir.join(NOTES).display().to_string();
        (finding.rule == Rule::ClaimImpossible).then_some(AuditFinding { file, ..finding })
    }));
    Ok(found)
}

fn difference(dir: &Path, own: &Difference) -> AuditFinding {
    let (file, line) = match own {
        Difference::Line { file, line, .. } => (file.as_str(), *line),
        Difference::Missing { file }
        | Difference::Bytes { file }
        | Difference::Unknown { file } => (file.as_str(), 1),
        _ => (JOURNAL_FILE, 1),
    };
    AuditFinding {
        file: dir.join(file).display().to_string(),
        line,
        severity: Severity::Wrong,
        rule: Rule::OwnJournal,
        claim: own.to_string(),
        data: "the journal says otherwise".to_owned(),
        suggestion: "`fwdlab report DIR` makes the report anew; `fwdlab report --check DIR` says \
                     what else was changed"
            .to_owned(),
    }
}

/// From `notes.md:LINE: TEXT`.
fn noted(dir: &Path, doubt: &str) -> AuditFinding {
    let mut parts = doubt.splitn(3, ':');
    let line = parts.nth(1).and_then(|line| line.parse().ok()).unwrap_or(1);
    AuditFinding {
        file: dir.join(NOTES).display().to_string(),
        line,
        severity: Severity::Wrong,
        rule: Rule::OwnNotes,
        claim: parts.next().unwrap_or(doubt).trim().to_owned(),
        data: "claims.json beside it has every figure that may be quoted".to_owned(),
        suggestion: "quote a figure of the report, or take the number out".to_owned(),
    }
}
