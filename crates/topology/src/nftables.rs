//! Rule sets, by nft(8): its language is what people write rules in, and only it can read it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::error::TopologyError;

/// The control word by which variants name a rule set: rules, or the name of a file with rules.
pub const NFTABLES: &str = "nftables";

/// Rules, or the file that holds them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleSet {
    /// The rules themselves.
    Inline(String),
    /// A file; a relative path starts at the experiment file.
    File(PathBuf),
}

impl RuleSet {
    /// What a value of [`NFTABLES`] names: it is rules when it is empty or has a brace or a line
    /// end, else a file.
    pub fn named(value: &str) -> Self {
        match value.contains(['{', '\n']) || value.is_empty() {
            true => Self::Inline(value.to_owned()),
            false => Self::File(PathBuf::from(value)),
        }
    }

    /// The text of the rules; relative files lie in `beside`.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn text(&self, beside: &Path) -> Result<String, TopologyError> {
        match self {
            Self::Inline(text) => Ok(text.clone()),
            Self::File(file) => {
                let path = beside.join(file);
                let doing = format!("read the rule set {}", path.display());
                std::fs::read_to_string(&path).map_err(TopologyError::kernel(doing))
            }
        }
    }
}

/// Whether nft(8) is there.
pub fn is_available() -> bool {
    nft(&["--version"], "").is_ok()
}

/// Puts `rules` in the place of all rules of the calling thread's namespace.
pub(super) fn replace(namespace: &str, rules: &str) -> Result<(), TopologyError> {
    let text = format!("flush ruleset\n{rules}\n");
    run(&["-f", "-"], &text, namespace).map(drop)
}

/// Removes all rules of the calling thread's namespace.
pub(super) fn clear(namespace: &str) -> Result<(), TopologyError> {
    run(&["flush", "ruleset"], "", namespace).map(drop)
}

/// All rules of the calling thread's namespace as nft prints them, without counters that move.
pub(super) fn list(namespace: &str) -> Result<String, TopologyError> {
    run(&["--stateless", "list", "ruleset"], "", namespace)
}

fn run(arguments: &[&str], input: &str, namespace: &str) -> Result<String, TopologyError> {
    match nft(arguments, input).map_err(|source| TopologyError::NftMissing { source })? {
        Ok(output) => Ok(output),
        Err(message) => Err(TopologyError::Rules { namespace: namespace.to_owned(), message }),
    }
}

/// Runs nft in the calling thread's namespace; what it printed, or what it complained about.
fn nft(arguments: &[&str], input: &str) -> std::io::Result<Result<String, String>> {
    let mut child = Command::new("nft")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // nft that ends early says why on stderr.
        let _ = stdin.write_all(input.as_bytes());
    }
    let output = child.wait_with_output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    Ok(match output.status.success() {
        true => Ok(text(&output.stdout)),
        false => Err(text(&output.stderr).replace('\n', " | ")),
    })
}
