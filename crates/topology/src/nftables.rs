//! Rule sets, by nft(8): its language is what people write rules in, and only it can read it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use fwdlab_guard::{input, words};

use super::error::TopologyError;

/// Longest file of rules.
const MOST_BYTES: u64 = 16 * fwdlab_guard::MIB;

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

    /// The file, where there is one.
    pub fn file(self) -> Option<PathBuf> {
        match self {
            Self::Inline(_) => None,
            Self::File(file) => Some(file),
        }
    }

    /// The text of the rules; `place` says where a file lies.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn text(&self, place: impl Fn(&Path) -> PathBuf) -> Result<String, TopologyError> {
        let text = match self {
            Self::Inline(text) => Ok(text.clone()),
            Self::File(file) => {
                let path = place(file);
                input::text(&path, MOST_BYTES)
                    .map_err(|source| TopologyError::RuleFile { path, source })
            }
        }?;
        if includes(&text) {
            let what = match self {
                Self::Inline(_) => "the nftables rules".to_owned(),
                Self::File(file) => place(file).display().to_string(),
            };
            return Err(TopologyError::Include { what });
        }
        Ok(text)
    }
}

/// Whether rules may make nft read other files, which it quotes when it does not understand them.
/// Where the word stands is not asked: only nft knows what it takes for a comment.
fn includes(rules: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    rules.split(|c| !is_word(c)).any(|word| word == "include")
}

/// The first word of nftables rules that translates addresses or ports.
pub fn translation(rules: &str) -> Option<&'static str> {
    const WORDS: [&str; 4] = ["masquerade", "snat", "dnat", "redirect"];
    let bare = rules.lines().map(|line| line.split('#').next().unwrap_or_default());
    let mut words =
        bare.flat_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
    words.find_map(|word| WORDS.into_iter().find(|known| *known == word))
}

/// Whether nft(8) is there.
pub fn is_available() -> bool {
    nft(&["--version"], "").is_ok()
}

/// Puts `rules` in the place of all rules of the calling thread's namespace.
pub(super) fn replace(namespace: &str, rules: &str) -> Result<(), TopologyError> {
    let text = format!("flush ruleset\n{rules}\n");
    run(&["-f", "-"], &text, namespace).map(drop).map_err(|error| match error {
        TopologyError::Rules { namespace, message } => {
            let message = placed(&message, rules).unwrap_or(message);
            match is_unknown(&message) {
                true => TopologyError::Lacking { namespace, message },
                false => TopologyError::Rules { namespace, message },
            }
        }
        other => other,
    })
}

/// A message with the line, the column and the words of the rules, where nft names those of its input, which has a
/// line before them.
fn placed(message: &str, rules: &str) -> Option<String> {
    let (place, what) = message.split_once(": Error: ")?;
    let (place, columns) = place.rsplit_once(':')?;
    let line: usize = place.rsplit_once(':')?.1.parse().ok()?;
    let (column, end) = columns.split_once('-').unwrap_or((columns, columns));
    let line = line.checked_sub(1)?;
    let words = || -> Option<&str> {
        let (first, last): (usize, usize) = (column.parse().ok()?, end.parse().ok()?);
        rules.lines().nth(line.checked_sub(1)?)?.get(first.checked_sub(1)?..last)
    };
    // What it does not understand is quoted by the message itself.
    let words = words().filter(|_| is_unknown(what));
    let words = words.map_or_else(String::new, |words| format!(" ({})", words::one_line(words)));
    Some(format!("line {line}, column {column}{OF_RULES}{words}: {what}"))
}

/// How a message names the text in which its lines are counted.
const OF_RULES: &str = " of the rules";

/// A message about rules, with the name of the file in which they are: its lines are none of an experiment's.
pub fn in_file(message: &str, file: &Path) -> String {
    match message.split_once(OF_RULES) {
        Some((before, behind)) if before.ends_with(|last: char| last.is_ascii_digit()) => {
            format!("{before} of {}{behind}", file.display())
        }
        _ => message.to_owned(),
    }
}

/// Whether the kernel knows nothing of this name: of the rules, or of a part of its own.
fn is_unknown(message: &str) -> bool {
    let ends = ["No such file or directory", "Operation not supported", "Protocol not supported"];
    ends.iter().any(|end| message.trim_end().ends_with(end))
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
    let mut child = fwdlab_guard::tool("nft")
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
        false => Err(said(&text(&output.stderr))),
    })
}

/// The first line of what nft complains about, as it can be shown; the lines after it quote the
/// rules.
fn said(message: &str) -> String {
    const MOST: usize = 300;
    let line = message.lines().next().unwrap_or("it said nothing");
    let line: String = line.chars().take(MOST).collect();
    words::one_line(&line).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_translate_addresses_are_known_by_their_words() {
        let rules = |action| format!("table ip n {{ chain c {{ ip saddr 10.0.0.1 {action}; }}; }}");
        assert_eq!(translation(&rules("masquerade")), Some("masquerade"));
        assert_eq!(translation(&rules("snat to 198.19.0.9")), Some("snat"));
        assert_eq!(translation(&rules("accept")), None);
        assert_eq!(translation("# no snat here\nchain unsnat { }"), None);
    }

    #[test]
    fn a_message_of_nft_names_the_line_of_the_rules() {
        let told = placed("/dev/stdin:3:23-24: Error: syntax error, unexpected '}'", "a\nb");
        let wanted = "line 2, column 23 of the rules: syntax error, unexpected '}'";
        assert_eq!(told.as_deref(), Some(wanted));
        let file = Path::new("fw/rules.nft");
        let named = "line 2, column 23 of fw/rules.nft: syntax error, unexpected '}'";
        assert_eq!(in_file(wanted, file), named);
        assert_eq!(in_file("none of the rules are read", file), "none of the rules are read");
        assert_eq!(placed("it said nothing", ""), None);
        assert_eq!(placed("netlink: Error: cache initialization failed", ""), None);
        let rules = "table inet f {\n flowtable ft { hook ingress priority 0; }\n}";
        let none = "/dev/stdin:3:12-13: Error: Could not process rule: No such file or directory";
        let told = placed(none, rules);
        let wanted = "line 2, column 12 of the rules (ft): Could not process rule: No such file or directory";
        assert_eq!(told.as_deref(), Some(wanted));
        assert!(is_unknown(wanted) && !is_unknown("syntax error, unexpected '}'"));
        // A place that is none of the rules' own.
        assert!(placed("/dev/stdin:9:80-99: Error: No such file or directory", rules).is_some());
    }

    #[test]
    fn rules_that_include_files_are_refused_wherever_the_word_stands() {
        for rules in [
            "include \"/etc/shadow\"\n",
            "table ip t {}\n#\\\ninclude \"x\" {",
            "{;include\t\"x\"}",
        ] {
            let error = RuleSet::Inline(rules.to_owned()).text(Path::to_owned).unwrap_err();
            assert!(error.to_string().contains("include"), "{error}");
        }
        assert!(RuleSet::Inline("table ip included {}".to_owned()).text(Path::to_owned).is_ok());
    }

    #[test]
    fn a_file_of_rules_that_is_a_link_is_not_read() {
        let dir = std::env::temp_dir().join(format!("fwdlab-rules-{}", std::process::id()));
        std::fs::create_dir(&dir).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", dir.join("rules.nft")).unwrap();
        let error = RuleSet::File("rules.nft".into()).text(|file| dir.join(file)).unwrap_err();
        std::fs::remove_dir_all(&dir).unwrap();
        assert!(error.to_string().contains("symbolic link"), "{error}");
    }

    #[test]
    fn one_line_of_a_message_is_passed_on() {
        assert_eq!(
            said("<stdin>:2:1: Error: syntax error\nroot:x:0:0\n^^^"),
            "<stdin>:2:1: Error: syntax error"
        );
    }
}
