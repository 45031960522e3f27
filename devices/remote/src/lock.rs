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
    /// Who, in words for people.
    pub owner: String,
    /// Since when, by the tester's clock.
    pub since: String,
    /// Whether its shell is still there.
    pub is_alive: bool,
}

/// Says which boot of its host this is, whatever its system.
const BOOT: &str =
    "{ cat /proc/sys/kernel/random/boot_id || sysctl -n kern.boottime; } 2>/dev/null";

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
        let dir = directory(tester);
        let (token, owner) = (&self.token, quoted(&self.owner));
        let write = format!(
            "printf '%s\\n' {owner} > {dir}/owner; echo {token} > {dir}/token; echo $$ > {dir}/pid; \
             {BOOT} > {dir}/boot; date -u > {dir}/since"
        );
        // Taking over is renaming, which only one of two successors can.
        let script = format!(
            "if mkdir {dir} 2>/dev/null; then {write}; echo held; exit; fi\n\
             if [ \"$(cat {dir}/token 2>/dev/null)\" = {token} ]; then {write}; echo held; exit; fi\n\
             {ALIVE}\n\
             if [ $alive = no ] && [ \"$(cat {dir}/owner 2>/dev/null)\" = {owner} ] && \
             mv {dir} {dir}.{token} 2>/dev/null; then rm -rf {dir}.{token}; \
             if mkdir {dir} 2>/dev/null; then {write}; echo held; exit; fi; fi\n\
             echo taken",
            ALIVE = alive(&dir)
        );
        if tester.ask(&script, is_stopped)?.trim() == "held" {
            return Ok(());
        }
        let holder = Self::look(tester, is_stopped)?.unwrap_or_default();
        let what = match holder.is_alive {
            true => format!("somebody else works on this testbed since {}", holder.since),
            false => format!("somebody else left this testbed locked on {}", holder.since),
        };
        let remedy = "`fwdlab unlock --testbed FILE` says who, and frees it";
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
        let dir = directory(tester);
        let script = format!(
            "[ -d {dir} ] || exit 0; {}; cat {dir}/owner 2>/dev/null || echo unknown; \
             cat {dir}/since 2>/dev/null || echo unknown; echo $alive",
            alive(&dir)
        );
        let said = tester.ask(&script, is_stopped)?;
        let mut lines = said.lines().map(str::to_owned);
        Ok(lines.next().map(|owner| Holder {
            owner,
            since: lines.next().unwrap_or_default(),
            is_alive: lines.next().as_deref() == Some("yes"),
        }))
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

/// Sets `alive` to yes or no: whether the holder's shell still runs in the same boot.
fn alive(dir: &str) -> String {
    format!(
        "alive=no; b=$({BOOT}); \
         if [ \"$b\" = \"$(cat {dir}/boot 2>/dev/null)\" ] && \
         kill -0 \"$(cat {dir}/pid 2>/dev/null)\" 2>/dev/null; then alive=yes; fi"
    )
}
