//! What machines say of themselves when something broke.

use crate::host::Connected;
use crate::ssh::quoted;

/// Lines that are kept of a kernel's log.
const LINES: usize = 30;

/// Words of a kernel in trouble.
const TROUBLE: &str =
    "BUG|Oops|panic|WARNING|watchdog|hung|NETDEV|out of memory|Out of memory|link state";

/// The last words of a host's kernel about its test ports or trouble of its own, with the host's role before
/// each; nothing where it does not say. Other lines may name people and addresses.
pub fn of_kernel(host: &mut Connected, is_stopped: &dyn Fn() -> bool) -> Vec<String> {
    let ports = host.host.ports.iter().map(|port| port.name.replace('.', "[.]"));
    let words = std::iter::once(TROUBLE.to_owned()).chain(ports).collect::<Vec<_>>().join("|");
    let command = format!(
        "dmesg 2>/dev/null | grep -E {} | grep -v audit | tail -n {LINES}",
        quoted(&format!("({words})"))
    );
    let said = host.run(&command, is_stopped).unwrap_or_default();
    let role = host.role();
    said.output.lines().map(|line| format!("{role}: {}", line.trim())).collect()
}
