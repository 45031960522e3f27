//! What a registry refuses of our own crates, asked of their manifests before anybody uploads one: a crate that
//! was uploaded keeps its number for good.

use std::path::Path;

use serde_json::Value;

/// What is wrong with those crates of `cargo metadata` that are ours and that may be published.
pub fn faults(metadata: &Value) -> Vec<String> {
    let all = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    let own: Vec<&Value> = all.iter().filter(|package| package["source"].is_null()).collect();
    let is_private = |package: &Value| package["publish"].as_array().is_some_and(Vec::is_empty);
    let private: Vec<&str> =
        own.iter().filter(|own| is_private(own)).filter_map(|own| own["name"].as_str()).collect();
    let public = own.iter().filter(|own| !is_private(own));
    public.flat_map(|package| of_one(package, &private)).collect()
}

fn of_one(package: &Value, private: &[&str]) -> Vec<String> {
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
        if private.contains(&other) {
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
