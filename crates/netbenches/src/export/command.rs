//! The first lines of logs: the commands that an import kept, or what fwdlab's own tester did, said in
//! pkt-gen's words.

use std::collections::BTreeSet;

use crate::command::OWN;
use fwdlab_results::{Family, Trial};

/// A log that is written.
#[derive(Debug, PartialEq, Eq)]
pub struct Head {
    /// How the file's name ends: `receiver`, `sender`, `sender_2`.
    pub ending: String,
    /// Its first line; `None` where the log that was imported had none.
    pub command: Option<String>,
    /// The number in brackets after `main_thread`.
    pub build: u32,
}

/// The receiver's log, and those of the senders in the order of their names.
pub fn heads(trial: &Trial, is_imported: bool) -> (Head, Vec<Head>) {
    if is_imported {
        let endings = sender_endings(trial);
        return (
            kept(trial, "receiver"),
            endings.iter().map(|ending| kept(trial, ending)).collect(),
        );
    }
    let id = word(&trial.id);
    let length = trial.frame_bytes.saturating_sub(4); // without FCS, as pkt-gen counts it
    let family = match trial.family {
        Family::Inet => "-4",
        Family::Inet6 => "-6",
        Family::Dual => "-4 -6",
    };
    let flows = trial.flows_planned.map_or(String::new(), |flows| format!(" --flows {flows}"));
    let asked = trial.offered_pps_asked.filter(|pps| *pps > 0.0 && pps.is_finite());
    let rate = asked.map_or(String::new(), |pps| format!(" -R {pps}"));
    let own = |ending: &str, rest: &str| Head {
        ending: ending.to_owned(),
        command: Some(format!("CMD: {OWN} {id} {rest}")),
        build: 1,
    };
    let receiver = own("receiver", &format!("-f rx -l {length}"));
    let sender = own("sender", &format!("-f tx -l {length} {family}{flows}{rate}"));
    (receiver, vec![sender])
}

/// The senders' logs that an import read: it leaves what they say in the proof.
fn sender_endings(trial: &Trial) -> Vec<String> {
    let named = trial.measured.proof.keys().filter_map(|key| {
        let (ending, what) = key.rsplit_once('.')?;
        let which = ending.strip_prefix("sender")?;
        let is_plain = which.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_suffix = which.is_empty() || which.starts_with('_');
        let is_of_log = matches!(what, "command" | "host" | "pkt-gen");
        (is_plain && is_suffix && is_of_log).then(|| ending.to_owned())
    });
    named.collect::<BTreeSet<String>>().into_iter().collect()
}

fn kept(trial: &Trial, ending: &str) -> Head {
    let said = |what: &str| trial.measured.proof.get(&format!("{ending}.{what}"));
    let host = said("host").map_or(String::new(), |host| format!(" on {}", on_one_line(host)));
    let command = said("command").map(|text| format!("CMD{host}: {}", on_one_line(text)));
    let build = said("pkt-gen").and_then(|text| text.rsplit(' ').next()?.parse().ok());
    Head { ending: ending.to_owned(), command, build: build.unwrap_or(1) }
}

/// A text as one word of a shell.
fn word(text: &str) -> String {
    let is_hard = |c: char| c.is_whitespace() || c.is_control() || "\"'\\#".contains(c);
    text.replace(is_hard, "_")
}

/// A text without the ends of lines and what terminals act on.
pub fn on_one_line(text: &str) -> String {
    text.replace(|c: char| c.is_control(), " ")
}
