//! What is remembered of campaigns on this machine: how the lab's own truths came out.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use fwdlab_claims::known::Proven;
use fwdlab_results::{Campaign, Results};
use serde::{Deserialize, Serialize};

/// Name of the file, to which a line is appended for each campaign.
const FILE: &str = "truths.jsonl";

/// Truths that are kept in mind: the oldest weigh nothing any more.
const KEPT: usize = 2000;

/// One campaign.
#[derive(Serialize, Deserialize)]
struct Line {
    machine: String,
    /// Start and seed, which no other campaign has.
    campaign: String,
    title: String,
    /// `1` for a truth in its interval, `0` for one outside.
    truths: String,
}

/// Where the user's programs keep their state; nothing when there is no such place.
pub fn place() -> Option<PathBuf> {
    let of = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let state = of("XDG_STATE_HOME").or_else(|| Some(of("HOME")?.join(".local/state")));
    Some(state?.join("fwdlab"))
}

/// The memory of one machine.
pub struct Memory {
    path: PathBuf,
    machine: String,
}

impl Memory {
    /// In `dir`, or where the user's programs keep their state; nothing when there is no such place.
    pub fn open(dir: Option<&Path>) -> Option<Self> {
        let dir = dir.map(Path::to_owned).or_else(place)?;
        Some(Self { path: dir.join(FILE), machine: machine() })
    }

    /// How the truths of earlier campaigns of this machine came out, the latest last.
    pub fn earlier(&self, but: Option<&Campaign>) -> String {
        let own = but.map(name).unwrap_or_default();
        let lines = self.lines();
        let earlier =
            lines.iter().filter(|line| line.machine == self.machine && line.campaign != own);
        let all: String = earlier.map(|line| line.truths.as_str()).collect();
        all[all.len().saturating_sub(KEPT)..].to_owned()
    }

    /// Remembers a campaign, once.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn remember(&self, results: &Results) -> anyhow::Result<()> {
        let Some(proven) = Proven::of(results).filter(|own| !own.truths.is_empty()) else {
            return Ok(());
        };
        let campaign = name(&results.campaign);
        if self.lines().iter().any(|line| line.campaign == campaign) {
            return Ok(());
        }
        let held = proven.truths.iter().map(|own| if own.is_held { '1' } else { '0' });
        let line = Line {
            machine: self.machine.clone(),
            campaign,
            title: results.campaign.title.clone(),
            truths: held.collect(),
        };
        let text = serde_json::to_string(&line)? + "\n";
        let write = || {
            fs::create_dir_all(self.path.parent().unwrap_or(Path::new(".")))?;
            // One write at the end, so that two campaigns do not mix their lines.
            OpenOptions::new()
                .append(true)
                .create(true)
                .open(&self.path)?
                .write_all(text.as_bytes())
        };
        write().with_context(|| {
            format!("cannot remember how the lab's own truths came out in {}", self.path.display())
        })
    }

    /// What is there; a line that is none is left out, as after a crash.
    fn lines(&self) -> Vec<Line> {
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        let is_flags = |line: &Line| line.truths.bytes().all(|flag| matches!(flag, b'0' | b'1'));
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).filter(is_flags).collect()
    }
}

fn name(campaign: &Campaign) -> String {
    format!("{} seed {}", campaign.started, campaign.seed)
}

/// Tells machines apart that share a home directory.
fn machine() -> String {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let host = read("/proc/sys/kernel/hostname");
    let information = read("/proc/cpuinfo");
    let model = information.lines().find(|line| line.starts_with("model name"));
    let model = model.and_then(|line| line.split_once(':')).map_or("", |(_, model)| model.trim());
    format!("{host}, {model}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_campaign_of_this_machine_is_remembered_and_its_own_line_left_out() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let memory = Memory::open(Some(dir.path())).expect("a place");
        let line = |machine: &str, campaign: &str, truths: &str| {
            let line = Line {
                machine: machine.to_owned(),
                campaign: campaign.to_owned(),
                title: String::new(),
                truths: truths.to_owned(),
            };
            serde_json::to_string(&line).expect("encoded") + "\n"
        };
        let own = memory.machine.clone();
        let mut text = line(&own, "a", "11") + &line("another", "b", "00");
        text.push_str("{ torn\n");
        text += &line(&own, "2026-11-21T13:00:00Z seed 7", "01");
        text += &line(&own, "c", "10");
        text += &line(&own, "d", "no flags");
        fs::write(dir.path().join(FILE), text).expect("a writable directory");
        let campaign = fwdlab_results::examples::campaign();
        assert_eq!(memory.earlier(Some(&campaign)), "1110");
        let other = Campaign { seed: 8, ..campaign };
        assert_eq!(memory.earlier(Some(&other)), "110110");
        assert_eq!(memory.earlier(None), "110110");
    }
}
