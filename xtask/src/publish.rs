//! What a registry refuses of our own crates, asked of their manifests before anybody uploads one: a crate that
//! was uploaded keeps its number for good. And whether what would be uploaded compiles without the checkout.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// What is wrong with those crates of `cargo metadata` that are ours and that may be published.
pub fn faults(metadata: &Value) -> Vec<String> {
    let (public, private) = own(metadata);
    let name = |package: &&Value| package["name"].as_str().unwrap_or_default().to_owned();
    let private: Vec<String> = private.iter().map(name).collect();
    public.iter().flat_map(|package| of_one(package, &private)).collect()
}

/// Our own crates: those that may be published, and the others.
fn own(metadata: &Value) -> (Vec<&Value>, Vec<&Value>) {
    let all = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    let own = all.iter().filter(|package| package["source"].is_null());
    own.partition(|package| !package["publish"].as_array().is_some_and(Vec::is_empty))
}

/// Makes the package of each crate, unpacks it, and compiles it from what the others' packages hold: a file that
/// lies in the checkout alone is missed there, and so is a feature that another crate of the workspace asks for.
/// Returns what is wrong.
pub fn packed(root: &Path, metadata: &Value) -> Result<Vec<String>> {
    let (public, private) = own(metadata);
    let text = |package: &Value, key: &str| package[key].as_str().unwrap_or_default().to_owned();
    let mut pack = crate::workspace::cargo();
    pack.args(["package", "--workspace", "--no-verify", "--allow-dirty", "--quiet"]);
    private.iter().for_each(|package| {
        pack.args(["--exclude", &text(package, "name")]);
    });
    done(&mut pack)?;
    let place = root.join("target/unpacked");
    if place.exists() {
        fs::remove_dir_all(&place).context("cannot empty target/unpacked")?;
    }
    fs::create_dir_all(&place)?;
    let mut crates = Vec::new();
    for package in public {
        let name = text(package, "name");
        let folder = format!("{name}-{}", text(package, "version"));
        let file = root.join(format!("target/package/{folder}.crate"));
        done(Command::new("tar").arg("xzf").arg(file).arg("-C").arg(&place))?;
        crates.push((name, folder));
    }
    fs::copy(root.join("Cargo.lock"), place.join("Cargo.lock"))?;
    let own: toml::Table = fs::read_to_string(root.join("Cargo.toml"))?.parse()?;
    fs::write(place.join("Cargo.toml"), manifest(&crates, own.get("profile"))?)?;
    let mut faults = Vec::new();
    // Each alone: together they would share what any of them asks of others.
    let alone = crates.iter().map(|(name, _)| (name.as_str(), None));
    for (name, features) in alone.chain([("fwdlab", Some("full"))]) {
        let mut check = crate::workspace::cargo();
        check.args(["check", "--quiet", "-p", name]).current_dir(&place);
        check.args(features.iter().flat_map(|features| ["--features", features]));
        // Others' crates are compiled already, by lints and tests.
        check.env("CARGO_TARGET_DIR", root.join("target"));
        let output = check.output().with_context(|| format!("cannot start {check:?}"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            faults.push(format!("what would be uploaded of {name} does not compile:\n{said}"));
        }
    }
    Ok(faults)
}

fn done(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot start {command:?}"))?;
    if !status.success() {
        bail!("{command:?}: {status}");
    }
    Ok(())
}

/// A workspace of unpacked crates (name, folder), each of which needs those beside it and not a registry's, with the
/// profiles of this one.
fn manifest(crates: &[(String, String)], profile: Option<&toml::Value>) -> Result<String> {
    let mut all = toml::Table::new();
    let members: Vec<&String> = crates.iter().map(|(_, folder)| folder).collect();
    let mut workspace = toml::Table::from_iter([("resolver".to_owned(), "3".into())]);
    workspace.insert("members".into(), toml::Value::try_from(members)?);
    all.insert("workspace".into(), toml::Value::Table(workspace));
    let place = |(name, folder): &(String, String)| {
        (
            name.clone(),
            toml::Value::Table(toml::Table::from_iter([(
                "path".to_owned(),
                folder.as_str().into(),
            )])),
        )
    };
    let patch: toml::Table = crates.iter().map(place).collect();
    let patch = toml::Table::from_iter([("crates-io".to_owned(), toml::Value::Table(patch))]);
    all.insert("patch".into(), toml::Value::Table(patch));
    if let Some(profile) = profile {
        all.insert("profile".into(), profile.clone());
    }
    toml::to_string(&all).context("a manifest")
}

fn of_one(package: &Value, private: &[String]) -> Vec<String> {
    let name = package["name"].as_str().unwrap_or_default();
    let mut faults = Vec::new();
    for key in ["description", "license", "rust_version"] {
        if package[key].as_str().unwrap_or_default().trim().is_empty() {
            faults.push(format!("{name}: its Cargo.toml has no {key}"));
        }
    }
    let manifest = Path::new(package["manifest_path"].as_str().unwrap_or_default());
    if !manifest.with_file_name("LICENSE").exists() {
        faults.push(format!("{name}: no LICENSE beside its Cargo.toml: ln -s ../../LICENSE there"));
    }
    let keywords = package["keywords"].as_array().map_or(&[][..], Vec::as_slice);
    let is_long = |word: &Value| word.as_str().unwrap_or_default().len() > 20;
    if keywords.len() > 5 || keywords.iter().any(is_long) {
        faults.push(format!("{name}: a registry takes five keywords of 20 characters each"));
    }
    let dependencies = package["dependencies"].as_array().map_or(&[][..], Vec::as_slice);
    // Those of tests without a version are left out of what is uploaded.
    let needed = dependencies.iter().filter(|own| own["kind"] != "dev" && own["path"].is_string());
    for dependency in needed {
        let other = dependency["name"].as_str().unwrap_or_default();
        if dependency["req"] == "*" {
            faults.push(format!("{name}: {other} has a path and no version"));
        }
        if private.iter().any(|own| own == other) {
            faults.push(format!("{name}: it needs {other}, which says `publish = false`"));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn unpacked_crates_need_each_other() {
        let crates = ["a", "b"].map(|name| (name.to_owned(), format!("{name}-0.1.0")));
        let own: toml::Table = "[profile.dev]\ndebug = false".parse().unwrap();
        let text = manifest(&crates, own.get("profile")).unwrap();
        let wanted = "[workspace]\nresolver = \"3\"\nmembers = [\"a-0.1.0\", \"b-0.1.0\"]\n\
                      [patch.crates-io]\na = { path = \"a-0.1.0\" }\nb = { path = \"b-0.1.0\" }\n\
                      [profile.dev]\ndebug = false\n";
        assert_eq!(text.parse::<toml::Table>().unwrap(), wanted.parse().unwrap());
    }

    #[test]
    fn what_a_registry_would_refuse_is_named() {
        let dir = tempfile::tempdir().expect("a directory");
        std::fs::write(dir.path().join("LICENSE"), "").expect("a file");
        let package = |name: &str, dependencies: Value| {
            json!({"name": name, "source": null, "description": "d", "license": "MIT", "rust_version": "1.90",
                   "manifest_path": dir.path().join("Cargo.toml"), "keywords": ["fib"], "publish": null,
                   "dependencies": dependencies})
        };
        let found = |packages: &[Value]| faults(&json!({ "packages": packages }));
        let path = |name: &str, req: &str, kind: Value| json!({"name": name, "path": "/p", "req": req, "kind": kind});
        let good = package(
            "good",
            json!([path("other", "^1", Value::Null), path("t", "*", json!("dev"))]),
        );
        assert_eq!(found(std::slice::from_ref(&good)), [""; 0]);
        let mut bare = package("bare", json!([path("private", "*", Value::Null)]));
        bare["description"] = json!(" ");
        bare["license"] = Value::Null;
        bare["manifest_path"] = json!("/nowhere/Cargo.toml");
        bare["keywords"] = json!(["a keyword of more than twenty"]);
        let mut private = package("private", json!([]));
        private["publish"] = json!([]);
        private["description"] = Value::Null;
        let mut foreign = bare.clone();
        foreign["source"] = json!("registry+https://known");
        let said = found(&[good, bare, private, foreign]);
        for (fault, part) in said.iter().zip([
            "no description",
            "no license",
            "no LICENSE",
            "five keywords",
            "no version",
            "publish = false",
        ]) {
            assert!(fault.starts_with("bare: ") && fault.contains(part), "{said:?}");
        }
        assert_eq!(said.len(), 6, "{said:?}");
    }
}
