//! Links of the written files: each relative one must lead somewhere.

use std::collections::BTreeMap;
use std::path::Path;

use super::ReportError;

/// Checks the relative links of every Markdown and HTML file among `files`
/// against `files` and what lies in `dir`.
///
/// # Errors
/// [`ReportError::DeadLink`] with the first that leads nowhere.
pub fn check(files: &BTreeMap<String, Vec<u8>>, dir: &Path) -> Result<(), ReportError> {
    for (file, bytes) in files {
        let Ok(text) = std::str::from_utf8(bytes) else { continue };
        let targets = match Path::new(file).extension().and_then(|e| e.to_str()) {
            Some("md") => between(text, "](", ")"),
            Some("html") => {
                let mut targets = between(text, " href=\"", "\"");
                targets.extend(between(text, " src=\"", "\""));
                targets
            }
            _ => continue,
        };
        let is_there = |t: &str| files.contains_key(t) || dir.join(t).exists();
        if let Some(target) = targets.into_iter().find(|t| is_relative(t) && !is_there(t)) {
            return Err(ReportError::DeadLink { file: file.clone(), target: target.to_owned() });
        }
    }
    Ok(())
}

fn is_relative(target: &str) -> bool {
    !target.is_empty() && !target.starts_with('#') && !target.contains(':')
}

/// Every text between `open` and the next `close`.
fn between<'a>(text: &'a str, open: &str, close: &str) -> Vec<&'a str> {
    text.split(open).skip(1).filter_map(|rest| rest.split_once(close).map(|(t, _)| t)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_to_a_missing_picture_is_an_error() {
        let text = "![a](graph.png) [b](https://example.org/x) [c](#top)";
        let mut files = BTreeMap::from([("README.md".to_owned(), text.as_bytes().to_vec())]);
        let nowhere = Path::new("/nonexistent");
        let error = check(&files, nowhere).unwrap_err();
        assert!(matches!(error, ReportError::DeadLink { target, .. } if target == "graph.png"));
        files.insert("graph.png".to_owned(), vec![0xff, 0xfe]);
        check(&files, nowhere).unwrap();
    }
}
