//! Sysctls of the device: set, read back, and put back to what they were when a variant does not set
//! them. What they were is kept on the host, so that it outlives the controller.

use std::collections::{BTreeMap, BTreeSet};

use crate::host::Connected;
use crate::ssh::quoted;
use crate::testbed::System;
use crate::{RemoteError, Result};
use fwdlab_results::FailureKind;

/// Sets what is wanted and restores the rest; returns what the device answers for each word, and for
/// those of `others` that it has.
///
/// # Errors
/// When the connection breaks, or the device refuses a value.
pub fn set_all(
    host: &mut Connected,
    set: &BTreeMap<String, String>,
    others: &BTreeSet<&str>,
    is_stopped: &dyn Fn() -> bool,
) -> Result<BTreeMap<String, String>> {
    let system = host.host.os;
    let originals = originals(host);
    let kept = host.ask(&format!("cat {originals} 2>/dev/null || :"), is_stopped)?;
    let kept: BTreeMap<&str, &str> = kept.lines().filter_map(|l| l.split_once('=')).collect();
    let mut script = String::new();
    for (word, before) in kept.iter().filter(|(word, _)| !set.contains_key(**word)) {
        script.push_str(&format!("{} || exit 9\n", write(system, word, before)));
    }
    for word in set.keys().filter(|word| !kept.contains_key(word.as_str())) {
        let name = quoted(word);
        let read = read(system, word);
        script.push_str(&format!(
            "v=$({read}) || exit 8\nprintf '%s=%s\\n' {name} \"$v\" >> {originals} || exit 9\n"
        ));
    }
    for (word, value) in set {
        script.push_str(&format!("{} || exit 9\n", write(system, word, value)));
    }
    for word in set.keys() {
        script.push_str(&format!("{} || exit 9\n", read(system, word)));
    }
    for word in others {
        // A line each, which begins with what was found of it.
        let read = read(system, word);
        script.push_str(&format!(
            "v=$({read} 2>/dev/null) && printf 'is %s\\n' \"$(printf %s \"$v\" | tr '\\n' ' ')\" || echo absent\n"
        ));
    }
    let said = host.run(&script, is_stopped)?;
    if said.status != 0 {
        let words = said.errors.lines().find(|line| !line.trim().is_empty()).unwrap_or("no reason");
        return Err(RemoteError::Variant {
            role: host.role(),
            what: format!("a sysctl is refused: {words}"),
            remedy: "look for it there with `sysctl -a`".to_owned(),
        });
    }
    let answers: Vec<&str> = said.output.lines().map(str::trim).collect();
    if answers.len() != set.len() + others.len() {
        let what = "a sysctl has an answer of more than one line";
        let remedy = "use apply and expect for it";
        return Err(RemoteError::failed(FailureKind::ProofMismatch, host.role(), what, remedy));
    }
    let (own, beside) = answers.split_at(set.len());
    let own = set.keys().map(String::as_str).zip(own.iter().copied());
    let beside = others.iter().zip(beside);
    let beside = beside.filter_map(|(word, said)| Some((*word, said.strip_prefix("is")?)));
    // Values of several words are separated by tabs there, by spaces here.
    let one = |value: &str| value.split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(own.chain(beside).map(|(word, answer)| (word.to_owned(), one(answer))).collect())
}

/// Puts every sysctl back to what it was.
///
/// # Errors
/// When the connection breaks, or the device refuses a value.
pub fn put_back(host: &mut Connected, is_stopped: &dyn Fn() -> bool) -> Result<()> {
    set_all(host, &BTreeMap::new(), &BTreeSet::new(), is_stopped)?;
    forget(host, is_stopped)
}

/// After a boot, what the device has is its own: nothing of before is to be put back over it.
///
/// # Errors
/// When the connection breaks.
pub fn forget(host: &mut Connected, is_stopped: &dyn Fn() -> bool) -> Result<()> {
    let originals = originals(host);
    host.ask(&format!("rm -f {originals}"), is_stopped).map(|_| ())
}

/// Where it is kept what sysctls were.
fn originals(host: &Connected) -> String {
    format!("{}/sysctls", host.host.directory)
}

/// The file of a sysctl of Linux; a word with slashes is written as there.
fn file(word: &str) -> String {
    let path = if word.contains('/') { word.to_owned() } else { word.replace('.', "/") };
    quoted(&format!("/proc/sys/{path}"))
}

fn read(system: System, word: &str) -> String {
    match system {
        System::Linux => format!("cat {}", file(word)),
        System::Freebsd | System::Bsdrp => format!("sysctl -n {}", quoted(word)),
    }
}

fn write(system: System, word: &str, value: &str) -> String {
    match system {
        System::Linux => format!("printf '%s\\n' {} > {}", quoted(value), file(word)),
        System::Freebsd | System::Bsdrp => {
            format!("sysctl {} >/dev/null", quoted(&format!("{word}={value}")))
        }
    }
}
