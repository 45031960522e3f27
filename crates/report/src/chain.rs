//! The last line of a report: the hash that stands for the whole journal.

use std::collections::BTreeMap;

use fwdlab_claims::setting::Setting;

/// Ends `README.md` among the `files` with the hash of the journal's last line, where the journal is
/// a chain: whoever wrote it down once can tell whether any line of it was changed since.
pub(super) fn close(files: &mut BTreeMap<String, Vec<u8>>, setting: &Setting) {
    if let (Some(hash), Some(text)) = (&setting.journal_sha256, files.get_mut("README.md")) {
        text.extend_from_slice(format!("\nJournal: SHA-256 of its last line {hash}\n").as_bytes());
    }
}
