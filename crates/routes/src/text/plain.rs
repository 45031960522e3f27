//! Plain lists: `PREFIX`, `PREFIX GATEWAY` or `PREFIX via GATEWAY` a line;
//! empty lines and lines that begin with `#` do not count.

use super::{Fault, gateway, prefix, shown};
use crate::Gathering;

pub(super) fn line(line: &str, into: &mut Gathering) -> Result<(), Fault> {
    let content = line.split('#').next().unwrap_or_default();
    let mut words = content.split_whitespace();
    let Some(first) = words.next() else { return Ok(()) };
    let prefix = prefix(first)?;
    let gateway = match words.find(|word| *word != "via") {
        None => None,
        Some(word) => Some(gateway(word).ok_or_else(|| Fault {
            what: format!("{} is no gateway", shown(word)),
            wanted: "PREFIX, or PREFIX GATEWAY",
            remedy: "remove what follows the prefix, or put # in front of it",
        })?),
    };
    into.add(prefix, gateway)
}
