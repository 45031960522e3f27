//! The commits of a git repository as a chain of states.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};
use fwdlab_campaign::bisect::BisectError;
use fwdlab_guard::words::pasted;

/// Longest note that is read.
const MOST_BYTES: u64 = fwdlab_guard::MIB;

/// A repository whose working tree is taken from commit to commit, and goes back at the end; where the bisection is
/// killed, with the next one that looks at it.
pub struct Repository {
    path: PathBuf,
    /// What was checked out before: a branch, or a commit.
    before: String,
    /// Where the next bisection reads what was.
    note: Note,
}

impl Repository {
    /// Opens it. What a bisection that was killed left checked out goes back first.
    ///
    /// # Errors
    /// When it is none, holds changes that a checkout could lose, or another bisection uses it.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let Some(mut note) = Note::open(path)? else {
            bail!("another bisection uses {}; wait for its end", path.display());
        };
        let left = note.left(path)?;
        if !is_clean(path)? {
            let back = left.map_or_else(String::new, |before| {
                format!("; a bisection that was killed left it there: {}", back(path, &before))
            });
            bail!(
                "{} holds changes that are not committed; commit or stash them, since every state is \
                 checked out there{back}",
                path.display()
            );
        }
        if let Some(before) = left {
            go_back(path, &before)?;
        }
        let branch = git(path, &["rev-parse", "--abbrev-ref", "HEAD"])?;
        let before = if branch == "HEAD" { git(path, &["rev-parse", "HEAD"])? } else { branch };
        note.begin(&before)?;
        Ok(Self { path: path.to_owned(), before, note })
    }

    /// Where it is, from the root.
    ///
    /// # Errors
    /// When the system does not say.
    pub fn place(&self) -> anyhow::Result<PathBuf> {
        self.path.canonicalize().with_context(|| format!("cannot find {}", self.path.display()))
    }

    /// The commits from `good` to `bad`, both included, along first parents.
    ///
    /// # Errors
    /// When git does not know one, or `bad` does not come after `good`.
    pub fn chain(&self, good: &str, bad: &str) -> anyhow::Result<Vec<String>> {
        let first = git(&self.path, &["rev-parse", "--verify", &format!("{good}^{{commit}}")])?;
        let range = format!("{first}..{bad}");
        let list = ["rev-list", "--reverse", "--first-parent", "--ancestry-path", &range];
        let listed = git(&self.path, &list)?;
        if listed.is_empty() {
            return Err(BisectError::Order { good: good.to_owned(), bad: bad.to_owned() }.into());
        }
        Ok(std::iter::once(first).chain(listed.lines().map(str::to_owned)).collect())
    }

    /// A commit as people know it: its abbreviation and its subject.
    pub fn name(&self, commit: &str) -> String {
        let named = git(&self.path, &["log", "-1", "--format=%h (%s)", commit]);
        named.unwrap_or_else(|_| commit.to_owned())
    }

    /// Checks a commit out.
    ///
    /// # Errors
    /// When git does not.
    pub fn check_out(&self, commit: &str) -> anyhow::Result<()> {
        self.note.add(commit)?;
        git(&self.path, &["checkout", "--quiet", "--detach", commit]).map(drop)
    }
}

impl Drop for Repository {
    fn drop(&mut self) {
        match git(&self.path, &["checkout", "--quiet", &self.before]) {
            Ok(_) => self.note.end(),
            Err(error) => fwdlab_guard::say!(
                "{} stays at another commit: {error}; {}",
                self.path.display(),
                back(&self.path, &self.before)
            ),
        }
    }
}

/// Brings back what a bisection that was killed left checked out in a repository, or says how; what somebody works on
/// there since, or another bisection, stays as it is.
pub fn bring_back(path: &Path) -> anyhow::Result<()> {
    let Some(mut note) = Note::open(path)? else { return Ok(()) };
    let Some(before) = note.left(path)? else { return Ok(()) };
    if is_clean(path)? {
        go_back(path, &before)?;
        note.end();
    } else {
        fwdlab_guard::say!(
            "{} was left at another commit by a bisection that was killed, and holds changes that are not committed; \
             once these are stashed, {}",
            path.display(),
            back(path, &before)
        );
    }
    Ok(())
}

/// What is in the repository's own directory while a bisection uses it: what was checked out before, then each commit
/// that the bisection checked out, a line each. Whoever uses it has it locked.
struct Note {
    path: PathBuf,
    file: File,
}

impl Note {
    /// `None` while another bisection uses the repository.
    fn open(repository: &Path) -> anyhow::Result<Option<Self>> {
        let place = git(repository, &["rev-parse", "--git-path", "fwdlab-bisect"])?;
        let path = repository.join(place);
        let mut options = OpenOptions::new();
        let file = options.create(true).read(true).append(true).open(&path);
        let file = file.with_context(|| format!("cannot open {}", path.display()))?;
        // the process of a bisection that was just killed may still be being taken apart
        match fwdlab_guard::patiently(|| file.try_lock().map_err(io::Error::from)) {
            Ok(()) => Ok(Some(Self { path, file })),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot lock {}", path.display())),
        }
    }

    /// What was checked out before a bisection that did not come to its end, where what it left is there still.
    fn left(&mut self, repository: &Path) -> anyhow::Result<Option<String>> {
        let mut text = String::new();
        let read = (&self.file).take(MOST_BYTES).read_to_string(&mut text);
        read.with_context(|| format!("cannot read {}", self.path.display()))?;
        let mut lines = text.lines();
        let Some(before) = lines.next() else { return Ok(None) };
        let is_detached = git(repository, &["rev-parse", "--abbrev-ref", "HEAD"])? == "HEAD";
        let head = git(repository, &["rev-parse", "HEAD"])?;
        let is_there = is_detached && lines.any(|commit| commit == head);
        Ok(is_there.then(|| before.to_owned()))
    }

    /// Writes what was checked out before.
    fn begin(&mut self, before: &str) -> anyhow::Result<()> {
        let begun = self.file.set_len(0);
        begun.with_context(|| format!("cannot write {}", self.path.display()))?;
        self.add(before)
    }

    /// Adds a line before what it says is done.
    fn add(&self, line: &str) -> anyhow::Result<()> {
        let written = (&self.file).write_all(format!("{line}\n").as_bytes());
        let written = written.and_then(|()| self.file.sync_all());
        written.with_context(|| format!("cannot write {}", self.path.display()))
    }

    /// Nothing is left to bring back.
    fn end(&self) {
        if let Err(error) = self.file.set_len(0) {
            fwdlab_guard::say!("cannot write {}: {error}", self.path.display());
        }
    }
}

/// The command that brings back what was checked out.
fn back(repository: &Path, before: &str) -> String {
    format!("`git -C {} checkout {before}` brings back what was checked out", pasted(repository))
}

fn go_back(repository: &Path, before: &str) -> anyhow::Result<()> {
    let gone = git(repository, &["checkout", "--quiet", before]);
    gone.with_context(|| {
        format!(
            "a bisection that was killed left {} at another commit; {}",
            repository.display(),
            back(repository, before)
        )
    })?;
    fwdlab_guard::say!(
        "{} is at {before} again: a bisection that was killed had left it at another commit",
        repository.display()
    );
    Ok(())
}

fn is_clean(repository: &Path) -> anyhow::Result<bool> {
    Ok(git(repository, &["status", "--porcelain", "--untracked-files=no"])?.is_empty())
}

fn git(repository: &Path, arguments: &[&str]) -> anyhow::Result<String> {
    let mut command = Command::new("git");
    let output = command.arg("-C").arg(repository).args(arguments).output();
    let output = output.context("cannot start git")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("git {}: {}", arguments.join(" "), said.trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
