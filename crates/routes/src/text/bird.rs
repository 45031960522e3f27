//! The output of BIRD's `show route`, versions 1 and 2.
//!
//! ```text
//! BIRD 2.0.12 ready.
//! Table master4:
//! 198.51.100.0/24      unicast [bgp1 2026-01-01] * (100) [AS64500i]
//!         via 192.0.2.1 on eth0
//!                      unicast [bgp2 2026-01-01] (100) [AS64501i]
//!         via 192.0.2.2 on eth0
//! 203.0.113.0/24     via 192.0.2.1 on eth0 [bgp1 2016-01-01] * (100) [AS64500i]
//! ```

use super::{Fault, prefix, required_gateway};
use crate::Gathering;

/// True for a line that only BIRD writes.
pub(super) fn is_typical(line: &str) -> bool {
    if line.starts_with("BIRD ") || (line.starts_with("Table ") && line.ends_with(':')) {
        return true;
    }
    let mut words = line.split_whitespace();
    words.next().is_some_and(|first| prefix(first).is_ok())
        && line.contains('[')
        && matches!(words.next(), Some("unicast" | "via" | "dev" | "blackhole" | "unreachable"))
}

pub(super) fn line(line: &str, into: &mut Gathering) -> Result<(), Fault> {
    let is_indented = line.starts_with([' ', '\t']);
    let mut words = line.split_whitespace();
    let Some(first) = words.next() else { return Ok(()) };
    if first == "via" && is_indented {
        into.continue_with(required_gateway(words.next())?);
        return Ok(());
    }
    let is_heading = line.starts_with("BIRD ") || line.starts_with("Table ") || first == "Access";
    if is_heading || (is_indented && first != "via") {
        // Headings, attributes, and further paths to the same prefix.
        return Ok(());
    }
    let prefix = prefix(first)?;
    match words.next() {
        Some("via") => into.add(prefix, Some(required_gateway(words.next())?)),
        Some("unreachable" | "blackhole" | "prohibited" | "prohibit") => {
            into.leave_out();
            Ok(())
        }
        _ => into.add(prefix, None),
    }
}
