//! The ports of the test network: the right ones, and switched on.

use fwdlab_results::FailureKind;

use crate::host::Connected;
use crate::testbed::{System, TestPort};
use crate::{RemoteError, Result};

/// Switches the test ports of a host with Linux on, and keeps them from sending anything of their own.
pub(super) fn ports_up(host: &mut Connected, is_stopped: &dyn Fn() -> bool) -> Result<()> {
    if host.host.os != System::Linux {
        return Ok(());
    }
    let ports = host.host.ports.clone();
    for TestPort { name, mac } in ports.into_iter().filter(|port| !port.is_datagram()) {
        let command = format!(
            "echo 1 > /proc/sys/net/ipv6/conf/{name}/disable_ipv6; ip link set dev {name} up; \
             cat /sys/class/net/{name}/address"
        );
        let found = host.run(&command, is_stopped)?.output;
        check_mac(host.role(), &name, found.trim(), &mac.to_string())?;
    }
    Ok(())
}

/// Whether a port is the one that the testbed file means.
pub(super) fn check_mac(role: &'static str, port: &str, found: &str, wanted: &str) -> Result<()> {
    if found == wanted {
        return Ok(());
    }
    let what = match found {
        "" => format!("there is no port {port}"),
        found => format!("{port} has the address {found}, not {wanted}"),
    };
    let remedy = "correct ports in the testbed file; `fwdlab doctor --testbed FILE` shows them";
    Err(RemoteError::failed(FailureKind::Misconfigured, role, what, remedy))
}
