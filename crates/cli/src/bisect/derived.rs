//! The experiment of one comparison. It stands beside the original, since paths in it are relative to
//! where that stands, and goes when the comparison has ended, or with the next bisection when this one
//! was killed. So does what says in which repository that one had commits checked out; that is kept with
//! the user's state: git runs what a repository's settings name, and a stranger may have put anything
//! beside an experiment.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::repository::{Repository, bring_back};
use crate::state;

/// What its name holds before the number of the process.
const MARK: &str = ".bisect-";
/// And behind it.
const EXPERIMENT: &str = ".toml";
const POINTER: &str = ".git";
/// Longest path.
const MOST_BYTES: u64 = 64 * 1024;

/// A file that is removed when this is dropped.
pub struct Derived {
    path: PathBuf,
}

impl Derived {
    /// Writes it beside `experiment`.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(experiment: &Path, text: &str) -> anyhow::Result<Self> {
        let name = experiment.file_name().unwrap_or_default().to_string_lossy();
        let name = format!(".{name}{MARK}{}{EXPERIMENT}", std::process::id());
        Self::at(experiment.with_file_name(name), text)
    }

    /// Says in the user's state in which repository commits are checked out; nothing where there is no such place.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn pointer(repository: &Repository) -> anyhow::Result<Option<Self>> {
        let Some(dir) = state::place() else { return Ok(None) };
        std::fs::create_dir_all(&dir)
            .with_context(|| format!("cannot create {}", dir.display()))?;
        let path = dir.join(format!(".repository{MARK}{}{POINTER}", std::process::id()));
        Self::at(path, &repository.place()?.to_string_lossy()).map(Some)
    }

    fn at(path: PathBuf, text: &str) -> anyhow::Result<Self> {
        fwdlab_guard::write_whole(&path, text.as_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self { path })
    }

    /// Where it stands.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Derived {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_file(&self.path) {
            fwdlab_guard::say!("cannot remove {}: {error}", self.path.display());
        }
    }
}

/// An experiment file and what is in it.
#[derive(Clone, Copy)]
pub struct Told<'a> {
    /// The file.
    pub path: &'a Path,
    /// Its text.
    pub text: &'a str,
}

/// What was said of a derived experiment as it is of the original: its name, and the line where the same stands there. A
/// line that the original has not is of what a state makes of it.
pub fn of_original(said: &str, derived: Told<'_>, original: Told<'_>) -> String {
    let name = |own: &Path| own.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (hidden, plain) = (name(derived.path), name(original.path));
    let mut parts = said.split(hidden.as_str());
    let mut text = parts.next().unwrap_or_default().to_owned();
    for rest in parts {
        text.push_str(&plain);
        let (place, rest) = split_place(rest);
        let Some([line, column]) = place else {
            text.push_str(rest);
            continue;
        };
        match moved(line, column, derived.text, original.text) {
            Some([own, column]) => {
                text.push_str(&format!(":{own}:{column}"));
                text.push_str(&with_line(rest, line, own));
            }
            None => {
                text.push_str(", of what a state makes of it");
                text.push_str(&with_line(rest, line, ""));
            }
        }
    }
    text
}

/// `:4:12: rest` as the line, the column and the rest.
fn split_place(text: &str) -> (Option<[usize; 2]>, &str) {
    let number = |text: &str| -> Option<(usize, usize)> {
        let digits = text.strip_prefix(':')?;
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        Some((digits[..end].parse().ok()?, end + 1))
    };
    let Some((line, end)) = number(text) else { return (None, text) };
    let Some((column, more)) = number(&text[end..]) else { return (None, text) };
    (Some([line, column]), &text[end + more..])
}

/// Line and column in the original of what stands in a line of the derived one, both from 1.
fn moved(line: usize, column: usize, derived: &str, original: &str) -> Option<[usize; 2]> {
    let wanted = derived.lines().nth(line.checked_sub(1)?)?;
    let at = |text: &str| text.len() - text.trim_start().len();
    let is_it = |(_, own): &(usize, &str)| own.trim() == wanted.trim();
    let mut found = original.lines().enumerate().filter(is_it);
    let (own, text) = found.next()?;
    // one of several equal lines may be any of them
    let is_only = found.next().is_none() && !wanted.trim().is_empty();
    is_only.then(|| [own + 1, (column + at(text)).saturating_sub(at(wanted)).max(1)])
}

/// The lines that are quoted below a message, with another number before the one that is of the file.
fn with_line(rest: &str, old: usize, new: impl std::fmt::Display) -> String {
    let (old, new) = (old.to_string(), new.to_string());
    let width = old.len().max(new.len());
    let quoted = |line: &str| match line.split_once(" | ").or_else(|| line.split_once(" |")) {
        Some((head, _)) if head == old => {
            format!("{new:width$}{}", &line[head.len()..])
        }
        Some((head, _)) if head.trim().is_empty() && head.len() == old.len() => {
            format!("{:width$}{}", "", &line[head.len()..])
        }
        _ => line.to_owned(),
    };
    rest.split('\n').map(quoted).collect::<Vec<_>>().join("\n")
}

/// Removes what bisections left whose processes are gone, beside `experiment` and in the user's state, where the
/// system says which are there, and brings back what they had checked out.
pub fn tidy(experiment: &Path) {
    let dir = experiment.parent().filter(|dir| !dir.as_os_str().is_empty());
    left_in(dir.unwrap_or(Path::new(".")), EXPERIMENT, |_| {});
    if let Some(state) = state::place() {
        left_in(&state, POINTER, take_back);
    }
}

/// Removes what processes left in a directory that are gone, each after a last look.
fn left_in(dir: &Path, end: &str, look: impl Fn(&Path)) {
    let processes = Path::new("/proc");
    if !processes.join("self").exists() {
        return;
    }
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        // One that was killed while it wrote.
        let unfinished = fwdlab_guard::name_when_whole(&name);
        let is_left = process(unfinished.map_or(name.as_os_str(), OsStr::new), end)
            .is_some_and(|number| !processes.join(number.to_string()).exists());
        if is_left && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            if unfinished.is_none() {
                look(&entry.path());
            }
            // another one may have removed it at the same time
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Brings back what was checked out in the repository that a file names.
fn take_back(pointer: &Path) {
    let Ok(repository) = fwdlab_guard::input::text(pointer, MOST_BYTES) else { return };
    if let Err(error) = bring_back(Path::new(&repository)) {
        fwdlab_guard::say!("{error:#}");
    }
}

/// The process that wrote a file of this name.
fn process(name: &OsStr, end: &str) -> Option<u32> {
    let name = name.to_str()?.strip_prefix('.')?.strip_suffix(end)?;
    name.rsplit_once(MARK)?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A mistake was said to be in `.chain.toml.bisect-7.toml`, which is gone by then, in a line that is another there.
    #[test]
    fn a_mistake_is_named_where_the_user_wrote_it() {
        let original =
            "title = \"t\"\n# a\n# b\n# c\n# d\n# e\n# f\n# g\n# h\n  duration = \"fast\"\n";
        let derived = "duration = \"fast\"\n[variant.set]\nx = 1\n";
        let hidden = Path::new("dir/.chain.toml.bisect-7.toml");
        let of = |said: &str| {
            of_original(
                said,
                Told { path: hidden, text: derived },
                Told { path: Path::new("dir/chain.toml"), text: original },
            )
        };
        let said = "error: dir/.chain.toml.bisect-7.toml:1:12: no time\n  |\n1 | duration = \"fast\"\n  |            ^";
        let wanted = "error: dir/chain.toml:10:14: no time\n   |\n10 | duration = \"fast\"\n   |            ^";
        assert_eq!(of(said), wanted);
        let said = "dir/.chain.toml.bisect-7.toml:3:1: unknown\n  |\n3 | x = 1\n  | ^";
        let wanted = "dir/chain.toml, of what a state makes of it: unknown\n  |\n  | x = 1\n  | ^";
        assert_eq!(of(said), wanted);
        assert_eq!(of("x: .chain.toml.bisect-7.toml is"), "x: chain.toml is");
    }

    #[test]
    fn what_a_killed_bisection_left_goes_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let experiment = dir.path().join("chain.toml");
        let own = Derived::write(&experiment, "").unwrap();
        // above every number that Linux gives a process
        let left = dir.path().join(".chain.toml.bisect-4194999.toml");
        // Killed before it was whole.
        let part = dir.path().join("..chain.toml.bisect-4194999.toml.0123456789abcdef.new");
        let others = [".chain.toml.bisect-x.toml", "chain.toml.bisect-4194999.toml", "chain.toml"];
        for name in
            others.iter().map(|name| dir.path().join(name)).chain([left.clone(), part.clone()])
        {
            std::fs::write(name, "").unwrap();
        }
        tidy(&experiment);
        assert!(!left.exists() && !part.exists() && own.path().exists());
        assert!(others.iter().all(|name| dir.path().join(name).exists()));
        let path = own.path().to_owned();
        drop(own);
        assert!(!path.exists());
    }

    /// Its name can be guessed: a link there led what was written elsewhere.
    #[test]
    fn a_link_in_its_place_is_replaced_and_what_it_leads_to_stays() {
        let dir = tempfile::tempdir().unwrap();
        let experiment = dir.path().join("chain.toml");
        let mine = dir.path().join("mine");
        std::fs::write(&mine, "mine").unwrap();
        let guessed = dir.path().join(format!(".chain.toml.bisect-{}.toml", std::process::id()));
        std::os::unix::fs::symlink(&mine, &guessed).unwrap();
        let own = Derived::write(&experiment, "text").unwrap();
        assert_eq!(std::fs::read_to_string(own.path()).unwrap(), "text");
        assert_eq!(std::fs::read_to_string(&mine).unwrap(), "mine");
    }
}
