//! What this machine can do, what each ability enables, and how to get what is missing.
//!
//! A check that can be tried is tried: a file that says what the kernel was built with proves
//! less than a namespace that was made.

mod machine;
#[cfg(target_os = "linux")]
mod network;
mod tools;
#[cfg(target_os = "linux")]
mod virtual_machine;

use std::path::Path;

use serde::Serialize;

/// Devices that a finding can be needed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Needed {
    /// No device does without.
    Always,
    /// The linux device does not do without.
    Linux,
    /// The vm device does not do without.
    Vm,
    /// Everything works without; something works better with it.
    Never,
}

/// One thing that the lab can use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Its name.
    pub what: &'static str,
    /// Whether it is there.
    pub present: bool,
    /// What was found, or why not.
    pub detail: String,
    /// What it makes possible.
    pub enables: &'static str,
    /// How to get it.
    pub remedy: &'static str,
    /// Who does not do without it.
    pub needed: Needed,
}

/// Looks at everything. With `program`, fwdlab's own file, a guest is booted to try hardware
/// virtualisation.
pub fn examine(program: Option<&Path>) -> Vec<Finding> {
    #[cfg(not(target_os = "linux"))]
    let _ = program;
    let mut findings = machine::findings();
    #[cfg(target_os = "linux")]
    {
        findings.extend(network::findings());
        findings.extend(virtual_machine::findings(program));
    }
    findings.extend(tools::findings());
    findings
}

/// Whether a device can be measured with what was found; `device` is its name in experiment
/// files, and every device needs what is always needed.
pub fn suffices(findings: &[Finding], device: &str) -> bool {
    let counts = |needed: Needed| match needed {
        Needed::Always => true,
        Needed::Linux => matches!(device, "linux" | "builtin-veth"),
        Needed::Vm => device == "vm",
        Needed::Never => false,
    };
    findings.iter().all(|finding| finding.present || !counts(finding.needed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_needs_what_is_needed_for_it_and_always() {
        let finding = |needed, present| Finding {
            what: "x",
            present,
            detail: String::new(),
            enables: "y",
            remedy: "z",
            needed,
        };
        let findings = [finding(Needed::Always, true), finding(Needed::Linux, false)];
        assert!(suffices(&findings, "builtin"));
        assert!(!suffices(&findings, "linux"));
        assert!(!suffices(&[finding(Needed::Always, false)], "builtin"));
        assert!(suffices(&[finding(Needed::Never, false)], "linux"));
    }

    #[test]
    fn every_finding_says_what_it_enables_and_how_to_get_it() {
        for finding in examine(None) {
            assert!(!finding.enables.is_empty() && !finding.remedy.is_empty(), "{}", finding.what);
            assert!(!finding.detail.is_empty(), "{}", finding.what);
        }
    }
}
