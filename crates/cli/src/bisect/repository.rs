//! The commits of a git repository as a chain of states.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, bail};
use fwdlab_campaign::bisect::BisectError;

/// A repository whose working tree is taken from commit to commit, and goes back at the end.
pub struct Repository {
    path: PathBuf,
    /// What was checked out before: a branch, or a commit.
    before: String,
}

impl Repository {
    /// Opens it.
    ///
    /// # Errors
    /// When it is none, or holds changes that a checkout could lose.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let branch = git(path, &["rev-parse", "--abbrev-ref", "HEAD"])?;
        let before = if branch == "HEAD" { git(path, &["rev-parse", "HEAD"])? } else { branch };
        if !git(path, &["status", "--porcelain", "--untracked-files=no"])?.is_empty() {
            bail!(
                "{} holds changes that are not committed; commit or stash them, since every state is \
                 checked out there",
                path.display()
            );
        }
        Ok(Self { path: path.to_owned(), before })
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
        git(&self.path, &["checkout", "--quiet", "--detach", commit]).map(drop)
    }
}

impl Drop for Repository {
    fn drop(&mut self) {
        if let Err(error) = git(&self.path, &["checkout", "--quiet", &self.before]) {
            fwdlab_guard::say!("{} stays at another commit: {error}", self.path.display());
        }
    }
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
