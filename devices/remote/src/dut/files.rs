//! The files of a configuration: put onto `/`, read back, and taken off again by a variant that does
//! not have them. What was there before is kept on the host, so that it outlives the controller.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use fwdlab_guard::{digest, input};
use fwdlab_results::FailureKind;
use fwdlab_results::units;

use crate::host::Connected;
use crate::ssh::quoted;
use crate::testbed::System;
use crate::{RemoteError, Result};

/// Longest file of a configuration, in bytes.
const MOST_BYTES: u64 = 1 << 30;

/// The files of a directory, by their paths on the device.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    files: BTreeMap<String, Content>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Content {
    bytes: Vec<u8>,
    sum: String,
    mode: u32,
}

impl Configuration {
    /// Reads a directory in the layout of `/`.
    ///
    /// # Errors
    /// When a file cannot be read, or has a name that is no text.
    pub fn read(directory: &Path) -> Result<Self> {
        let mut configuration = Self::default();
        let mut pending = vec![directory.to_owned()];
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| RemoteError::File { path, source }
        };
        while let Some(path) = pending.pop() {
            for entry in fs::read_dir(&path).map_err(failed(&path))? {
                let path = entry.map_err(failed(&path))?.path();
                let kind = fs::metadata(&path).map_err(failed(&path))?;
                if kind.is_dir() {
                    pending.push(path);
                    continue;
                }
                let inside = path.strip_prefix(directory).unwrap_or(&path);
                let Some(name) = inside.to_str().filter(|name| !name.contains(['\n', '\t'])) else {
                    let source = std::io::Error::other("its name is no plain text");
                    return Err(RemoteError::File { path, source });
                };
                let bytes = input::named_bytes(&path, MOST_BYTES).map_err(failed(&path))?;
                let (sum, mode) = (digest::of(&bytes), kind.permissions().mode() & 0o777);
                let content = Content { bytes, sum, mode };
                configuration.files.insert(format!("/{name}"), content);
            }
        }
        Ok(configuration)
    }
}

/// Puts the files of a configuration onto the device and takes those of earlier ones off; returns
/// whether anything had to be changed.
///
/// # Errors
/// When the connection breaks, or a file cannot be written.
pub fn restore_and_place(
    host: &mut Connected,
    wanted: &Configuration,
    is_stopped: &dyn Fn() -> bool,
) -> Result<()> {
    let directory = memory(host);
    let placed = format!("{directory}/placed");
    let list = host.ask(&format!("cat {placed} 2>/dev/null || :"), is_stopped)?;
    let before: BTreeMap<&str, &str> = list
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(how, path)| (path, how))
        .collect();
    let paths: Vec<String> = wanted.files.keys().cloned().collect();
    let there = host.sums(&paths, is_stopped)?;
    let is_same = before.len() == wanted.files.len()
        && wanted.files.iter().zip(&there).all(|((path, content), sum)| {
            before.contains_key(path.as_str()) && sum.as_deref() == Some(content.sum.as_str())
        });
    if is_same {
        return Ok(());
    }
    let mut script = format!("mkdir -p {directory}/saved || exit 9\n");
    for (path, how) in before.iter().filter(|(path, _)| !wanted.files.contains_key(**path)) {
        let (saved, path) = (saved(&directory, path), quoted(path));
        script.push_str(&match *how {
            "saved" => format!("cp -p {saved} {path}\n"),
            _ => format!("rm -f {path}\n"),
        });
    }
    let mut record = String::new();
    for (path, content) in &wanted.files {
        let uploaded = host.put(&content.bytes, is_stopped)?;
        let (saved, shown) = (saved(&directory, path), quoted(path));
        // What was there before the first of our files came is what is kept.
        match before.get(path.as_str()) {
            Some(how) => record.push_str(&format!("printf '%s\\t%s\\n' {how} {shown}\n")),
            None => {
                script.push_str(&format!(
                    "if [ -e {shown} ]; then cp -p {shown} {saved} || exit 9; fi\n"
                ));
                record.push_str(&format!(
                    "if [ -e {saved} ]; then h=saved; else h=new; fi; \
                     printf '%s\\t%s\\n' $h {shown}\n"
                ));
            }
        }
        let parent = path.rsplit_once('/').map_or("/", |(parent, _)| parent);
        let new = quoted(&format!("{path}.fwdlab-new"));
        record.push_str(&format!(
            "{{ mkdir -p {}/ && cp {uploaded} {new} && chmod {:o} {new} && mv {new} {shown} || \
             exit 9; }} >&2\n",
            quoted(parent),
            content.mode
        ));
    }
    script
        .push_str(&format!("( {record}: ) > {placed}.new && mv {placed}.new {placed} || exit 9\n"));
    if host.host.os == System::Bsdrp {
        script = on_read_only_root(&script);
    }
    let said = host.run(&script, is_stopped)?;
    if said.status != 0 {
        return Err(host.refused("copy of the configuration", said.status, &said.errors));
    }
    left_over(host, &before, wanted, is_stopped)
}

/// Where it is kept which files are ours and what was there before: where it lasts as long as they do. All of
/// BSDRP but its configuration is gone after a boot.
fn memory(host: &Connected) -> String {
    match host.host.os {
        System::Bsdrp => "/etc/fwdlab".to_owned(),
        System::Linux | System::Freebsd => host.host.directory.clone(),
    }
}

/// What changes files, on a root that is mounted for reading and a configuration that is lost with the next
/// boot unless it is saved. However the change ends, nobody can write there afterwards.
fn on_read_only_root(change: &str) -> String {
    format!(
        "mount -uw / || exit 9\n( {change}\n:\n); r=$?\nmount -ur / || exit 9\n\
         [ $r = 0 ] || exit $r\nconfig save\n"
    )
}

/// Fails when a file of an earlier configuration is still there.
fn left_over(
    host: &mut Connected,
    before: &BTreeMap<&str, &str>,
    wanted: &Configuration,
    is_stopped: &dyn Fn() -> bool,
) -> Result<()> {
    let directory = memory(host);
    let gone: Vec<(&str, &str)> = before
        .iter()
        .filter(|(path, _)| !wanted.files.contains_key(**path))
        .map(|(path, how)| (*path, *how))
        .collect();
    let paths: Vec<String> = gone.iter().map(|(path, _)| (*path).to_owned()).collect();
    let originals: Vec<String> =
        gone.iter().map(|(path, _)| bare_saved(&directory, path)).collect();
    let found = host.sums(&paths, is_stopped)?;
    let saved = host.sums(&originals, is_stopped)?;
    for (((path, how), found), saved) in gone.iter().zip(found).zip(saved) {
        let expected = if *how == "saved" { saved } else { None };
        if found != expected {
            return Err(RemoteError::failed(
                FailureKind::ProofMismatch,
                host.role(),
                format!("{path} of an earlier variant is still there"),
                "take it away by hand, or use reboot = \"trial\"",
            ));
        }
    }
    if gone.iter().all(|(_, how)| *how != "saved") {
        return Ok(());
    }
    // Only now is it forgotten what they were.
    let list: Vec<String> = originals.iter().map(|path| quoted(path)).collect();
    let forget = format!("rm -f {}", list.join(" "));
    let forget = if host.host.os == System::Bsdrp { on_read_only_root(&forget) } else { forget };
    host.ask(&forget, is_stopped).map(|_| ())
}

impl Configuration {
    /// Reads every file back.
    ///
    /// # Errors
    /// When one is not what it should be, or the connection breaks.
    pub fn prove(&self, host: &mut Connected, is_stopped: &dyn Fn() -> bool) -> Result<String> {
        let paths: Vec<String> = self.files.keys().cloned().collect();
        let found = host.sums(&paths, is_stopped)?;
        for ((path, content), found) in self.files.iter().zip(found) {
            if found.as_deref() != Some(content.sum.as_str()) {
                let what = match found {
                    None => format!("{path} is not there"),
                    Some(_) => format!("{path} is not the one that was put there"),
                };
                let remedy = "look whether its configuration is saved across a reboot";
                let kind = FailureKind::ProofMismatch;
                return Err(RemoteError::failed(kind, host.role(), what, remedy));
            }
        }
        let all: String = self.files.values().map(|content| content.sum.as_str()).collect();
        Ok(match self.files.len() {
            0 => "none".to_owned(),
            count => format!(
                "{}, SHA-256 {}",
                units::plural(count, "file"),
                &digest::of(all.as_bytes())[..16]
            ),
        })
    }
}

fn bare_saved(directory: &str, path: &str) -> String {
    format!("{directory}/saved/{}", &digest::of(path.as_bytes())[..32])
}

fn saved(directory: &str, path: &str) -> String {
    quoted(&bare_saved(directory, path))
}
