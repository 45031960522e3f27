//! Crates depend strictly downwards, files of a crate need each other in no circle, no crate grows
//! too long, and unsafe code stays in the few files that the design allows.

use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The level of each crate of the design; a crate may only depend on lower levels.
const LEVELS: &[(&str, u8)] = &[
    ("fwdlab-guard", 0),
    ("fwdlab-wire", 0),
    ("fwdlab-fib", 0),
    ("fwdlab-stats", 0),
    ("fwdlab-kernel", 1),
    ("fwdlab-port", 1),
    ("fwdlab-results", 1),
    ("fwdlab-routes", 1),
    ("fwdlab-conformance", 1),
    ("fwdlab-keys", 2),
    ("fwdlab-lookups", 2),
    ("fwdlab-router", 2),
    ("fwdlab-traffic", 2),
    ("fwdlab-topology", 2),
    ("fwdlab-netbenches", 2),
    ("fwdlab-figures", 2),
    ("fwdlab-counters", 2),
    ("fwdlab-xdp", 3),
    ("fwdlab-experiment", 3),
    ("fwdlab-history", 3),
    ("fwdlab-sentence", 3),
    ("fwdlab-claims", 4),
    ("fwdlab-device", 4),
    ("fwdlab-agent", 4),
    ("fwdlab-procedures", 4),
    ("fwdlab-evidence", 4),
    ("fwdlab-reading", 4),
    ("fwdlab-compare", 5),
    ("fwdlab-profiles", 5),
    ("fwdlab-verify", 5),
    ("fwdlab-grid", 4),
    ("fwdlab-plain", 5),
    ("fwdlab-prose", 6),
    ("fwdlab-audit", 7),
    ("fwdlab-report", 6),
    ("fwdlab-campaign", 7),
    (COMMAND, 8),
];

/// The command, which alone knows devices.
const COMMAND: &str = "fwdlab";
/// The level of every device. They are strangers to each other; whoever builds on another says so in its
/// manifest (`[package.metadata.fwdlab] builds-on`).
const DEVICE: u8 = 5;

/// Packages that measure or build the project; nothing of the design may depend on them.
const OUTSIDE: [&str; 3] = ["xtask", "fwdlab-bench", "fwdlab-cost"];

/// Crates that hold fenced unsafe code; the root of every other says `#![forbid(unsafe_code)]`.
const UNSAFE: [&str; 2] = ["port", "fib"];

/// The directories of crates.
const ROOMS: [&str; 2] = ["crates", "devices"];

/// The directories of all code.
pub const SOURCES: [&str; 5] = ["crates", "devices", "bench", "fuzz", "xtask"];

/// Where unsafe code may stand, as path prefixes from the root: system calls and frame memory, with
/// their model check; SIMD, prefetch and huge pages; the swap of a lookup structure under readers; the fence that
/// readers do not pay for; the lock of the baseline. Devices fence theirs in their manifest (`[package.metadata.fwdlab] unsafe`).
const FENCES: [&str; 6] = [
    "crates/port/src/sys",
    "crates/port/tests/loom_ring.rs",
    "crates/fib/src/simd",
    "crates/fib/src/publish.rs",
    "crates/fib/src/barrier.rs",
    "crates/fib/src/rmlock.rs",
];

/// Checks the workspace below `root`; prints what is wrong and returns whether all is well.
pub fn check(root: &Path) -> Result<bool> {
    let metadata = metadata()?;
    let mut faults = direction_faults(&metadata);
    faults.extend(roots_without_forbid(root)?);
    faults.extend(manifests_without_lints(&metadata)?);
    faults.extend(crate::circles::find(root, &SOURCES)?);
    faults.extend(unsafe_outside_fences(root, &fences(&metadata, root))?);
    faults.extend(crate::names::faults(root)?);
    faults.extend(crate::sizes::faults(root, &ROOMS)?);
    faults.extend(crate::words::faults(root, &ROOMS)?);
    for fault in &faults {
        println!("layers: {fault}");
    }
    if faults.is_empty() {
        for (name, lines) in crate::sizes::of_crates(root, &ROOMS)? {
            println!("{lines:6} lines without tests: {name}");
        }
        println!(
            "layers: {} crates, all dependencies run downwards, no circle of files, no device named \
             outside the list",
            packages(&metadata).len() - OUTSIDE.len()
        );
    }
    Ok(faults.is_empty())
}

fn metadata() -> Result<Value> {
    let output = crate::workspace::cargo()
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .output()
        .context("cargo metadata")?;
    serde_json::from_slice(&output.stdout).context("cargo metadata printed no JSON")
}

/// Roots that could hold unsafe code.
fn roots_without_forbid(root: &Path) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for room in ROOMS {
        for entry in std::fs::read_dir(root.join(room))? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if UNSAFE.contains(&name.as_str()) {
                continue;
            }
            let faces = ["lib.rs", "main.rs"].map(|file| path.join("src").join(file));
            let text = faces.iter().find_map(|face| std::fs::read_to_string(face).ok());
            if !forbids_unsafe_code(&text.unwrap_or_default()) {
                faults.push(format!("{room}/{name}: its root must say #![forbid(unsafe_code)]"));
            }
        }
    }
    Ok(faults)
}

/// Whether a crate's root does, in more than a comment.
fn forbids_unsafe_code(text: &str) -> bool {
    let Ok(tree) = syn::parse_file(text) else { return false };
    let is_it = |attribute: &syn::Attribute| {
        let lint = attribute.parse_args::<syn::Path>();
        attribute.path().is_ident("forbid") && lint.is_ok_and(|lint| lint.is_ident("unsafe_code"))
    };
    tree.attrs.iter().any(is_it)
}

/// Members that do not take the lints of the workspace, which ban unsafe code.
fn manifests_without_lints(metadata: &Value) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for package in packages(metadata) {
        let Some(path) = package["manifest_path"].as_str() else { continue };
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
        if !takes_lints(&text) {
            let name = package["name"].as_str().unwrap_or_default();
            faults.push(format!("{name}: its manifest must say [lints] workspace = true"));
        }
    }
    Ok(faults)
}

fn takes_lints(manifest: &str) -> bool {
    let table: toml::Table = manifest.parse().unwrap_or_default();
    let lints = table.get("lints").and_then(toml::Value::as_table);
    lints.is_some_and(|lints| lints.get("workspace") == Some(&toml::Value::Boolean(true)))
}

/// Every dependency (of any kind) that does not run strictly downwards.
fn direction_faults(metadata: &Value) -> Vec<String> {
    let packages = packages(metadata);
    let devices = packages.iter().filter(|package| is_device(package));
    let devices: Vec<&str> = devices.filter_map(|package| package["name"].as_str()).collect();
    let mut levels: BTreeMap<&str, u8> = LEVELS.iter().copied().collect();
    levels.extend(devices.iter().map(|name| (*name, DEVICE)));
    let mut faults = Vec::new();
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        if OUTSIDE.contains(&name) {
            continue;
        }
        let Some(level) = levels.get(name) else {
            faults.push(format!("{name} has no level: name it in xtask/src/layers.rs"));
            continue;
        };
        let dependencies = package["dependencies"].as_array().map_or(&[][..], Vec::as_slice);
        for dependency in dependencies.iter().filter_map(|d| d["name"].as_str()) {
            if dependency == name {
                // The crate itself, with the features that its tests need.
                continue;
            }
            let may_see = if devices.contains(&dependency) {
                name == COMMAND || words(package, "builds-on").any(|other| other == dependency)
            } else {
                levels.get(dependency).is_none_or(|below| below < level)
            };
            if !may_see || OUTSIDE.contains(&dependency) {
                faults.push(format!("{name} (level {level}) must not depend on {dependency}"));
            }
        }
    }
    for (name, _) in LEVELS {
        if !packages.iter().any(|package| package["name"] == *name) {
            faults.push(format!("{name} is missing from the workspace"));
        }
    }
    faults
}

fn packages(metadata: &Value) -> &[Value] {
    metadata["packages"].as_array().map_or(&[][..], Vec::as_slice)
}

/// Whether a package stands where devices do.
fn is_device(package: &Value) -> bool {
    directory(package).and_then(Path::parent).is_some_and(|room| room.ends_with("devices"))
}

/// Where a package lies.
fn directory(package: &Value) -> Option<&Path> {
    Path::new(package["manifest_path"].as_str()?).parent()
}

/// What a device's manifest lists for these checks.
fn words<'a>(package: &'a Value, key: &str) -> impl Iterator<Item = &'a str> {
    let listed = &package["metadata"]["fwdlab"][key];
    let listed = is_device(package).then(|| listed.as_array()).flatten();
    listed.into_iter().flatten().filter_map(Value::as_str)
}

/// Every fence, from the root.
fn fences(metadata: &Value, root: &Path) -> Vec<PathBuf> {
    let of_devices = packages(metadata).iter().flat_map(|package| {
        words(package, "unsafe").filter_map(|fence| Some(directory(package)?.join(fence)))
    });
    let of_devices = of_devices.filter_map(|fence| Some(fence.strip_prefix(root).ok()?.to_owned()));
    FENCES.iter().map(PathBuf::from).chain(of_devices).collect()
}

/// Files outside the fences that allow unsafe code.
fn unsafe_outside_fences(root: &Path, fences: &[PathBuf]) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    let mut pending: Vec<PathBuf> = ROOMS.iter().map(|room| root.join(room)).collect();
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            for entry in std::fs::read_dir(&path)? {
                pending.push(entry?.path());
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let relative = path.strip_prefix(root).unwrap_or(&path);
            let is_fenced = fences.iter().any(|fence| relative.starts_with(fence));
            if !is_fenced && lets_unsafe_code_in(&std::fs::read_to_string(&path)?) {
                faults.push(format!(
                    "{}: unsafe code is allowed outside the fences",
                    relative.display()
                ));
            }
        }
    }
    faults.sort();
    Ok(faults)
}

/// Whether an attribute takes the ban of unsafe code back: `allow`, `expect` or `warn`, alone or in a
/// list. `deny` and `forbid` may stand anywhere.
fn lets_unsafe_code_in(text: &str) -> bool {
    text.match_indices("unsafe_code").any(|(at, _)| {
        let attribute = text[..at].rfind("#[").max(text[..at].rfind("#![")).unwrap_or(at);
        let words = &text[attribute..at];
        !words.contains(']')
            && ["allow", "expect", "warn"].iter().any(|level| words.contains(level))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_way_to_let_unsafe_code_in_is_seen() {
        for text in [
            "#![allow(unsafe_code)]",
            "#[expect(unsafe_code)]",
            "#[expect(\n    dead_code,\n    unsafe_code,\n    reason = \"fast\"\n)]\nfn f() {}",
            "#[allow(dead_code, unsafe_code)]",
            "#[cfg_attr(fast, allow(unsafe_code))]",
            "#![ warn( unsafe_code ) ]",
        ] {
            assert!(lets_unsafe_code_in(text), "{text}");
        }
        for text in [
            "#![forbid(unsafe_code)]",
            "#[deny(unsafe_code)]\nfn allow() {}",
            "#[allow(dead_code)]\n// unsafe_code\n",
            "",
        ] {
            assert!(!lets_unsafe_code_in(text), "{text}");
        }
    }

    #[test]
    fn the_ban_is_an_attribute_and_stands_in_every_manifest() {
        assert!(forbids_unsafe_code("//! Text.\n#![forbid(unsafe_code)]\n"));
        for text in
            ["// #![forbid(unsafe_code)]\n", "#![deny(unsafe_code)]\n", "#![forbid(dead_code)]\n"]
        {
            assert!(!forbids_unsafe_code(text), "{text}");
        }
        assert!(takes_lints("[package]\nname = \"x\"\n[lints]\nworkspace = true\n"));
        for text in ["[lints]\nrust.unsafe_code = \"allow\"\n", "[lints]\nworkspace = false\n", ""]
        {
            assert!(!takes_lints(text), "{text}");
        }
    }

    fn workspace(extra: (&str, &str)) -> Value {
        let packages: Vec<Value> = LEVELS
            .iter()
            .map(|(name, _)| {
                let dependencies =
                    if *name == extra.0 { json!([{ "name": extra.1 }]) } else { json!([]) };
                json!({ "name": name, "dependencies": dependencies })
            })
            .collect();
        json!({ "packages": packages })
    }

    #[test]
    fn a_dependency_downwards_is_accepted() {
        assert_eq!(direction_faults(&workspace(("fwdlab-router", "fwdlab-fib"))), [""; 0]);
    }

    #[test]
    fn a_dependency_upwards_or_sideways_is_refused() {
        assert_eq!(direction_faults(&workspace(("fwdlab-fib", "fwdlab-port"))).len(), 1);
        assert_eq!(direction_faults(&workspace(("fwdlab-router", "fwdlab-traffic"))).len(), 1);
        assert_eq!(direction_faults(&workspace(("fwdlab-wire", "xtask"))).len(), 1);
    }

    #[test]
    fn a_device_is_seen_by_the_command_alone_and_by_who_says_that_it_builds_on_it() {
        let with = |name: &str, dependency: &str, room: &str, builds_on: &str| {
            let mut metadata = workspace((COMMAND, "fwdlab-toy"));
            let packages = metadata["packages"].as_array_mut().unwrap();
            packages.push(json!({
                "name": "fwdlab-toy", "manifest_path": "/project/devices/toy/Cargo.toml",
                "dependencies": [{ "name": "fwdlab-device" }],
            }));
            packages.retain(|package| package["name"] != name);
            packages.push(json!({
                "name": name, "manifest_path": format!("/project/{room}/x/Cargo.toml"),
                "dependencies": [{ "name": dependency }],
                "metadata": { "fwdlab": { "builds-on": [builds_on], "unsafe": ["sys"] } },
            }));
            let fences = fences(&metadata, Path::new("/project"));
            assert_eq!(fences.contains(&PathBuf::from("devices/x/sys")), room == "devices");
            direction_faults(&metadata)
        };
        assert_eq!(with("fwdlab-other", "fwdlab-claims", "devices", ""), [""; 0]);
        assert_eq!(with("fwdlab-other", "fwdlab-toy", "devices", "fwdlab-toy"), [""; 0]);
        assert_eq!(with("fwdlab-other", "fwdlab-toy", "devices", "").len(), 1);
        assert_eq!(with("fwdlab-other", "fwdlab-report", "devices", "fwdlab-report").len(), 1);
        assert_eq!(with("fwdlab-campaign", "fwdlab-toy", "crates", "fwdlab-toy").len(), 1);
    }

    #[test]
    fn a_missing_or_unknown_crate_is_named() {
        let mut metadata = workspace(("", ""));
        metadata["packages"][0]["name"] = json!("fwdlab-misc");
        let faults = direction_faults(&metadata);
        assert!(faults.iter().any(|fault| fault.contains("fwdlab-misc has no level")));
        let missing = format!("{} is missing", LEVELS[0].0);
        assert!(faults.iter().any(|fault| fault.contains(&missing)));
    }
}
