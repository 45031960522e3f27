//! Copies of the files that an experiment named, beside its results.

use std::path::PathBuf;

use fwdlab_guard::digest;

/// The directory of the copies.
pub const INPUTS_DIR: &str = "inputs";

/// Longest part of the name that a copy keeps.
const MOST_NAME: usize = 80;

/// Where the copy lies of the file that an experiment calls `named`, from the results directory:
/// `inputs/`, digits that tell equal names of several directories apart, and the file's name.
pub fn kept_input(named: &str) -> PathBuf {
    let sum = digest::of(named.as_bytes());
    let digits = &sum[..8];
    let last = named.rsplit('/').next().unwrap_or_default();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let plain = |c: char| if is_plain(c) { c } else { '_' };
    let name: String = last.chars().map(plain).take(MOST_NAME).collect();
    PathBuf::from(INPUTS_DIR).join(format!("{digits}-{name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_have_plain_names_of_their_own() {
        let [a, b] = ["a/routes.txt", "b/routes.txt"].map(kept_input);
        assert_ne!(a, b);
        assert!([&a, &b].iter().all(|file| file.to_string_lossy().ends_with("-routes.txt")));
        for odd in ["", "..", "a/../..", "x\n\u{1b}[2J", "/", "é"] {
            let kept = kept_input(odd);
            let text = kept.to_str().unwrap();
            assert!(kept.parent() == Some(std::path::Path::new(INPUTS_DIR)), "{text}");
            assert!(text.is_ascii() && !text.contains(char::is_control), "{text}");
        }
        assert!(kept_input(&"x".repeat(5_000)).to_string_lossy().len() < 100);
    }
}
