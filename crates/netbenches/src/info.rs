//! `.info` files: `NAME="value"` a line, quoted as a shell reads it.
//!
//! Nothing is ever executed or expanded: `$(...)`, backticks and `$NAME` stay
//! text. Unbalanced quotes end at the end of the file.

use std::collections::BTreeMap;

use super::words::Words;

/// Bytes read of an `.info` file; honest ones hold some 250.
pub const MAX_INFO_BYTES: usize = 64 * 1024;

/// The assignments of an `.info` file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Info {
    values: BTreeMap<String, String>,
    /// What could not be read as an assignment, for warnings.
    pub problems: Vec<String>,
}

impl Info {
    /// Reads the bytes of a file; text that is not UTF-8 is kept with
    /// replacement characters.
    pub fn parse(bytes: &[u8]) -> Self {
        let mut info = Self::default();
        if bytes.len() > MAX_INFO_BYTES {
            info.problems.push(format!("longer than {MAX_INFO_BYTES} bytes, the rest is skipped"));
        }
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_INFO_BYTES)]);
        let mut words = Words::new(&text);
        for word in words.by_ref() {
            info.take(&word);
        }
        if words.is_unbalanced {
            info.problems.push("a quote is not closed".to_owned());
        }
        info
    }

    /// What a file would say of these names.
    pub fn naming(image: Option<&str>, configuration: Option<&str>) -> Self {
        let mut info = Self::default();
        for (name, value) in [("IMAGE", image), ("CFG", configuration)] {
            if let Some(value) = value {
                info.values.insert(name.to_owned(), value.to_owned());
            }
        }
        info
    }

    /// What a file would say of a traffic.
    pub fn naming_traffic(traffic: &str) -> Self {
        Self { values: [("PKTGEN".to_owned(), traffic.to_owned())].into(), problems: Vec::new() }
    }

    /// A file that could not be read, and why.
    pub fn unread(why: String) -> Self {
        Self { problems: vec![why], ..Self::default() }
    }

    fn take(&mut self, word: &str) {
        if word.is_empty() {
            return;
        }
        match word.split_once('=') {
            Some((name, value)) if is_name(name) => {
                self.values.insert(name.to_owned(), value.to_owned());
            }
            _ if self.problems.len() < 8 => {
                let head: String = word.chars().take(40).collect();
                self.problems.push(format!("'{head}' is not an assignment"));
            }
            _ => {}
        }
    }

    /// The value of `name`; `None` when it is absent or empty.
    pub fn value(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Name of the booted image.
    pub fn image(&self) -> Option<&str> {
        self.value("IMAGE")
    }

    /// Name of the configuration set.
    pub fn configuration(&self) -> Option<&str> {
        self.value("CFG")
    }

    /// Name of the traffic.
    pub fn traffic(&self) -> Option<&str> {
        self.value("PKTGEN")
    }

    /// `uname -a` of the device.
    pub fn uname(&self) -> Option<&str> {
        self.value("UNAME")
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 64
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_published_file() {
        let info = Info::parse(
            b"IMAGE=\"320657\"\nCFG=\"\"\nPKTGEN=\"inet4\"\nUNAME=\"FreeBSD n.b.net 12.0-CURRENT #0 r320657M: Tue Jul  4\"",
        );
        assert_eq!(info.image(), Some("320657"));
        assert_eq!(info.configuration(), None);
        assert_eq!(info.traffic(), Some("inet4"));
        assert_eq!(info.uname(), Some("FreeBSD n.b.net 12.0-CURRENT #0 r320657M: Tue Jul  4"));
        assert!(info.problems.is_empty());
    }

    #[test]
    fn never_expands_what_a_shell_would_run() {
        let info = Info::parse(
            b"IMAGE=\"$(rm -rf /)`id`$HOME\"\nCFG='it'\\''s \"quoted\"'\n# x='\nPKTGEN=a\\ b",
        );
        assert_eq!(info.image(), Some("$(rm -rf /)`id`$HOME"));
        assert_eq!(info.configuration(), Some("it's \"quoted\""));
        assert_eq!(info.traffic(), Some("a b"));
    }

    #[test]
    fn says_that_a_quote_is_not_closed() {
        let info = Info::parse(b"IMAGE=\"a\nCFG=b");
        assert_eq!(info.image(), Some("a\nCFG=b"));
        assert_eq!(info.problems, ["a quote is not closed"]);
        let info = Info::parse(b"\xff\xfe=1\nrm -rf\n");
        assert_eq!(info.problems.len(), 3);
    }
}
