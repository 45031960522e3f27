//! What `import.json` says of results that were published elsewhere.

use std::path::Path;

use fwdlab_guard::input;
use serde::Deserialize;

/// Where imported results come from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Imported {
    /// The hardware, as the path of the published directory names it; never empty.
    pub machine: String,
    /// The set of benches.
    #[serde(default)]
    pub bench: String,
}

impl Imported {
    /// Of a results directory; `None` where it was not imported, or no hardware was named.
    pub fn read(dir: &Path) -> Option<Self> {
        let bytes = input::bytes(&dir.join("import.json"), crate::MOST_TEXT_BYTES).ok()?;
        let own: Self = serde_json::from_slice(&bytes).ok()?;
        Some(own).filter(|own| !own.machine.is_empty())
    }
}
