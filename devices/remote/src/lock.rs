//! One controller at a time: a directory on the tester, made by the one call that only one can win.
//!
//! Beside the owner it keeps the process of the owner's shell there. A controller that was killed takes
//! its shell with it: its own successor takes the lock over, everybody else is told.

use std::hash::{BuildHasher, RandomState};

use fwdlab_results::FailureKind;

use crate::host::Connected;
use crate::ssh::quoted;
use crate::{RemoteError, Result};

/// A held lock.
#[derive(Clone, Debug)]
pub struct Lock {
    token: String,
    owner: String,
}

/// What stands in a lock.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holder {
    /// Who, in words for people; nothing where the lock does not say it.
    pub owner: Option<String>,
    /// Since when, by the tester's clock; nothing where the lock does not say it.
    pub since: Option<String>,
    /// Whether its shell is still there.
    pub is_alive: bool,
}

/// What is done with it on the tester.
const FUNCTIONS: &str = include_str!("lock.sh");

impl Holder {
    /// What [`looking`] said.
    fn told(said: &str) -> Option<Self> {
        let mut lines = said.lines();
        let known = |line: &str| (line != "?").then(|| line.to_owned());
        let [owner, since] = [lines.next()?, lines.next().unwrap_or("?")].map(known);
        Some(Self { owner, since, is_alive: lines.next() == Some("yes") })
    }

    /// Who it is, and since when, in words.
    pub(crate) fn who(&self) -> String {
        let owner = self.owner.as_deref().unwrap_or("somebody without a name");
        let since = self.since.as_deref().map(|since| format!(" since {since}"));
        owner.to_owned() + since.as_deref().unwrap_or(", without a date")
    }

    /// Why a testbed is not free, without a name: those who read it are not those who may know it.
    fn in_the_way(&self) -> String {
        match (self.is_alive, &self.since) {
            (true, Some(since)) => format!("somebody else works on this testbed since {since}"),
            (true, None) => "somebody else works on this testbed".to_owned(),
            (false, Some(since)) => format!("somebody else left this testbed locked on {since}"),
            (false, None) => "a lock without a date is on this testbed: it was cut short".into(),
        }
    }
}

impl Lock {
    /// A lock of this owner, not yet held.
    pub fn new(owner: &str) -> Self {
        let token = format!("{:016x}", RandomState::new().hash_one(std::process::id()));
        Self { token, owner: owner.replace(['\n', '\t'], " ") }
    }

    /// Who we are: account and name of this machine. It stands on the tester, never in results.
    pub fn our_name() -> String {
        let user = std::env::var("USER").unwrap_or_else(|_| "somebody".to_owned());
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        format!("{user}@{}", host.trim())
    }

    /// Takes the lock, or goes on holding it over a new connection.
    ///
    /// # Errors
    /// When somebody else has it.
    pub fn hold(&self, tester: &mut Connected, is_stopped: &dyn Fn() -> bool) -> Result<()> {
        let script = taking(&directory(tester), &self.token, &self.owner);
        let said = tester.ask(&script, is_stopped)?;
        let (answer, why) = said.trim().split_once(' ').unwrap_or((said.trim(), ""));
        let (what, remedy) = match answer {
            "held" => return Ok(()),
            "unwritable" => {
                let remedy = format!("make room or a way for files in {}", tester.host.directory);
                (format!("the testbed cannot be locked: {why}"), remedy)
            }
            _ => {
                let holder = Self::look(tester, is_stopped)?.unwrap_or_default();
                let remedy = "`fwdlab unlock --testbed FILE` says who, and frees it";
                (holder.in_the_way(), remedy.to_owned())
            }
        };
        Err(RemoteError::failed(FailureKind::Locked, tester.role(), what, remedy))
    }

    /// Frees the lock, if it is ours.
    ///
    /// # Errors
    /// When the connection breaks.
    pub fn release(&self, tester: &mut Connected) -> Result<()> {
        let (dir, token) = (directory(tester), &self.token);
        let script = format!(
            "if [ \"$(cat {dir}/token 2>/dev/null)\" = {token} ]; then rm -rf {dir}; fi; :"
        );
        tester.ask(&script, &|| false).map(|_| ())
    }

    /// Who holds the lock of a tester; nothing when it is free.
    ///
    /// # Errors
    /// When the connection breaks.
    pub fn look(tester: &mut Connected, is_stopped: &dyn Fn() -> bool) -> Result<Option<Holder>> {
        let said = tester.ask(&looking(&directory(tester)), is_stopped)?;
        Ok(Holder::told(&said))
    }

    /// Frees a lock, whoever holds it.
    ///
    /// # Errors
    /// When the connection breaks.
    pub fn break_open(tester: &mut Connected) -> Result<()> {
        let dir = directory(tester);
        tester.ask(&format!("rm -rf {dir}"), &|| false).map(|_| ())
    }
}

fn directory(tester: &Connected) -> String {
    format!("{}/lock", tester.host.directory)
}

/// Takes the lock in `dir`, or takes it over; says `held`, `taken`, or `unwritable` and why.
fn taking(dir: &str, token: &str, owner: &str) -> String {
    format!("{FUNCTIONS}hold {dir} {token} {}", quoted(owner))
}

/// Says who holds the lock in `dir`; nothing where nothing has its name.
fn looking(dir: &str) -> String {
    format!("{FUNCTIONS}look {dir}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;
    use std::process::{Command, Stdio};

    /// What a host's shell says to a script.
    fn said(script: &str) -> String {
        let output = Command::new("sh").arg("-c").arg(script).output().expect("a shell");
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text").trim().to_owned()
    }

    /// A directory for a lock, and the lock's path.
    fn place() -> (tempfile::TempDir, String) {
        let dir = tempfile::tempdir().expect("a directory");
        let lock = dir.path().join("lock").to_str().expect("text").to_owned();
        (dir, lock)
    }

    fn holder(lock: &str) -> Option<Holder> {
        Holder::told(&said(&looking(lock)))
    }

    /// A lock that a shell took which still runs; it ends with its input.
    fn held(lock: &str, owner: &str) -> std::process::Child {
        let script = format!("({})\nread line", taking(lock, "11", owner));
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = shell.spawn().expect("a shell");
        let mut answer = [0; 5];
        let out = child.stdout.as_mut().expect("a pipe");
        std::io::Read::read_exact(out, &mut answer).expect("an answer");
        assert_eq!(&answer, b"held\n");
        child
    }

    #[test]
    fn a_lock_is_taken_once_and_taken_over_from_its_dead_owner_alone() {
        let (_dir, lock) = place();
        let mut child = held(&lock, "me@here");
        assert!(
            holder(&lock)
                .is_some_and(|own| own.is_alive && own.owner.as_deref() == Some("me@here"))
        );
        assert_eq!(said(&taking(&lock, "22", "me@here")), "taken");
        child.kill().expect("killed");
        child.wait().expect("ended");
        assert!(holder(&lock).is_some_and(|own| !own.is_alive));
        assert_eq!(said(&taking(&lock, "22", "you@there")), "taken");
        assert_eq!(said(&taking(&lock, "22", "me@here")), "held");
    }

    #[test]
    fn a_process_that_got_the_number_of_the_owners_shell_is_not_taken_for_it() {
        let (_dir, lock) = place();
        let mut child = held(&lock, "me@here");
        fs::write(Path::new(&lock).join("started"), "1\n").expect("written");
        assert!(holder(&lock).is_some_and(|own| !own.is_alive));
        // A lock of an earlier version says nothing of it.
        fs::remove_file(Path::new(&lock).join("started")).expect("removed");
        assert!(holder(&lock).is_some_and(|own| own.is_alive));
        for wrong in ["", "0", "-1", "1 1", "x"] {
            fs::write(Path::new(&lock).join("pid"), wrong).expect("written");
            assert!(holder(&lock).is_some_and(|own| !own.is_alive), "{wrong:?}");
        }
        child.kill().expect("killed");
        child.wait().expect("ended");
    }

    /// It was said to be locked by a run, and not to be locked by the remedy of that run.
    #[test]
    fn whatever_has_the_name_of_a_lock_is_one() {
        let (dir, lock) = place();
        assert_eq!(holder(&lock), None);
        let unknown = Holder { owner: None, since: None, is_alive: false };
        fs::write(&lock, "").expect("written");
        assert_eq!(holder(&lock).as_ref(), Some(&unknown));
        assert_eq!(said(&taking(&lock, "11", "me@here")), "taken");
        fs::remove_file(&lock).expect("removed");
        symlink("nowhere", &lock).expect("a link");
        assert_eq!(holder(&lock).as_ref(), Some(&unknown));
        assert_eq!(said(&taking(&lock, "11", "me@here")), "taken");
        fs::remove_file(&lock).expect("removed");
        // Between two commands of its maker, or cut short: nobody takes it over, and whoever is alive stays so.
        fs::create_dir(&lock).expect("made");
        assert_eq!(holder(&lock).as_ref(), Some(&unknown));
        assert_eq!(said(&taking(&lock, "11", "me@here")), "taken");
        fs::remove_dir(&lock).expect("removed");
        let mut child = held(&lock, "me@here");
        fs::write(dir.path().join("lock/owner"), "me@h").expect("written");
        assert!(
            holder(&lock).is_some_and(|own| own.is_alive && own.owner.as_deref() == Some("me@h"))
        );
        child.kill().expect("killed");
        child.wait().expect("ended");
    }

    /// It was "left locked on unknown", and freed from "unknown since unknown".
    #[test]
    fn a_lock_that_does_not_say_who_or_since_when_is_said_to_be_one() {
        let holder = |owner: &str, since: &str, alive| {
            Holder::told(&format!("{owner}\n{since}\n{alive}")).expect("something lies there")
        };
        let bare = holder("?", "?", "no");
        assert_eq!(bare.who(), "somebody without a name, without a date");
        assert!(
            bare.in_the_way().contains("without a date is on this testbed: it was cut short"),
            "{bare:?}"
        );
        assert_eq!(holder("me@h", "?", "no").who(), "me@h, without a date");
        let dated = holder("?", "Sun Nov 29", "no");
        assert_eq!(dated.who(), "somebody without a name since Sun Nov 29");
        assert_eq!(dated.in_the_way(), "somebody else left this testbed locked on Sun Nov 29");
        let alive = holder("me@h", "?", "yes").in_the_way();
        assert_eq!(alive, "somebody else works on this testbed");
        assert_eq!(holder("me@h", "Sun Nov 29", "yes").who(), "me@h since Sun Nov 29");
        assert_eq!(Holder::told(""), None);
    }

    /// It was held by nobody who could free it: its token was empty.
    #[test]
    fn a_lock_that_cannot_be_written_is_not_held() {
        let (dir, lock) = place();
        let absent = dir.path().join("absent/lock");
        let answer = said(&taking(absent.to_str().expect("text"), "11", "me@here"));
        assert!(answer.starts_with("unwritable ") && answer.contains("No such file"), "{answer}");
        // As on a full disk: no file may grow.
        let answer =
            said(&format!("ulimit -f 0; trap '' XFSZ\n{}", taking(&lock, "11", "me@here")));
        assert!(answer.starts_with("unwritable "), "{answer}");
        assert!(!Path::new(&lock).exists());
    }
}
