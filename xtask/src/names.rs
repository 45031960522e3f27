//! No file names a device but those of devices, and the one list.
//!
//! The names are those of the directories in `devices/`. What counts is code without its tests: words
//! of identifiers (`VmTester`, `is_vm`, `fwdlab_vm`), and what stands in strings, be it the name alone
//! or with others in one word (`"vm-guest"`), or in a sentence that says that it is a device's
//! (`device = "vm"`, `the vm device`). The name of an experiment in `examples/` names no device.

use crate::paths::{attributes, is_test};
use anyhow::{Context, Result};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Where devices stand.
const DEVICES: &str = "devices";
/// What may name them: the list.
const LIST: &str = "crates/cli/src/devices.rs";
/// What may not.
const SOURCES: [&str; 2] = ["crates", "xtask/src"];

/// Each place that names a device, as one line.
pub fn faults(root: &Path) -> Result<Vec<String>> {
    let names = Names::read(root)?;
    let mut faults = Vec::new();
    for file in
        SOURCES.iter().map(|source| files(&root.join(source))).collect::<Result<Vec<_>>>()?.concat()
    {
        let shown = file.strip_prefix(root).unwrap_or(&file);
        if shown == Path::new(LIST) {
            continue;
        }
        let text = std::fs::read_to_string(&file)
            .with_context(|| format!("cannot read {}", file.display()))?;
        let tree =
            syn::parse_file(&text).with_context(|| format!("cannot parse {}", file.display()))?;
        faults.extend(names.of(&tree).into_iter().map(|(line, what)| {
            format!("{}:{line} names a device ({what}): only {LIST} does", shown.display())
        }));
    }
    Ok(faults)
}

/// Rust files below a directory, but those of tests and benchmarks.
pub fn files(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(path) = pending.pop() {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        if matches!(&*stem, "tests" | "benches" | "target") || stem.ends_with("_tests") {
            continue;
        }
        if path.is_dir() {
            for entry in std::fs::read_dir(&path)? {
                pending.push(entry?.path());
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// What devices are called, and what is called like them and is none.
struct Names {
    devices: BTreeSet<String>,
    examples: BTreeSet<String>,
}

impl Names {
    fn read(root: &Path) -> Result<Self> {
        let stems = |directory: &str| -> Result<BTreeSet<String>> {
            let path = root.join(directory);
            if !path.exists() {
                return Ok(BTreeSet::new());
            }
            let mut stems = BTreeSet::new();
            for entry in std::fs::read_dir(path)? {
                let path = entry?.path();
                stems.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
            }
            Ok(stems)
        };
        Ok(Self { devices: stems(DEVICES)?, examples: stems("examples")? })
    }

    /// Where a file names one, and how.
    fn of(&self, file: &syn::File) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        self.in_items(&file.items, &mut found);
        found
    }

    fn in_items(&self, items: &[syn::Item], found: &mut Vec<(usize, String)>) {
        for item in items.iter().filter(|item| !is_test(attributes(item))) {
            match item {
                syn::Item::Mod(syn::ItemMod { content: Some((_, items)), .. }) => {
                    self.in_items(items, found);
                }
                item => self.in_tokens(item.to_token_stream(), found),
            }
        }
    }

    fn in_tokens(&self, tokens: TokenStream, found: &mut Vec<(usize, String)>) {
        // `target_os = "linux"` is the system's name, `doc = "..."` a comment.
        let mut key = String::new();
        let mut is_value = false;
        for token in tokens {
            let was = std::mem::take(&mut is_value);
            let what = match &token {
                TokenTree::Group(group) => {
                    self.in_tokens(group.stream(), found);
                    continue;
                }
                TokenTree::Punct(mark) => {
                    is_value = mark.as_char() == '=';
                    continue;
                }
                TokenTree::Ident(ident) => {
                    key = ident.to_string();
                    self.is_in_identifier(&key)
                }
                TokenTree::Literal(_) if was && matches!(&*key, "target_os" | "doc") => false,
                TokenTree::Literal(literal) => self.is_in_text(&literal.to_string()),
            };
            if what {
                found.push((token.span().start().line, token.to_string()));
            }
        }
    }

    /// Whether one of the words that make an identifier is a device's name.
    fn is_in_identifier(&self, identifier: &str) -> bool {
        let mut words = vec![String::new()];
        let mut was_lower = false;
        for letter in identifier.chars() {
            if letter == '_' || (letter.is_uppercase() && was_lower) {
                words.push(String::new());
            }
            was_lower = letter.is_lowercase();
            if let Some(word) = words.last_mut().filter(|_| letter != '_') {
                word.extend(letter.to_lowercase());
            }
        }
        words.iter().any(|word| self.devices.contains(word))
    }

    /// Whether a literal says a device's name.
    fn is_in_text(&self, literal: &str) -> bool {
        let Some((_, text)) = literal.split_once('"') else { return false };
        let text = text.trim_end_matches('#').trim_end_matches('"').replace("\\\"", "\"");
        // A compiler's name of a platform is none either.
        if self.examples.contains(&text) || text.contains("-unknown-linux-") {
            return false;
        }
        let is_one_word = !text.contains(char::is_whitespace);
        let mut parts = text.split(|letter: char| !letter.is_ascii_alphanumeric());
        if is_one_word && parts.any(|part| self.devices.contains(part)) {
            return true;
        }
        self.devices.iter().any(|name| {
            [
                format!("device = \"{name}\""),
                format!("device {name}"),
                format!("{name} device"),
                format!("`{name}`"),
                format!("[{name}]"),
            ]
            .iter()
            .any(|said| text.contains(said))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The faults of a project of two devices with one more file.
    fn with(file: &str, text: &str) -> Vec<String> {
        let root = tempfile::tempdir().expect("a directory");
        for device in ["vm", "linux"] {
            std::fs::create_dir_all(root.path().join(DEVICES).join(device)).expect("made");
        }
        for (path, text) in [
            (LIST, "use fwdlab_vm::Vm;\npub const OF_KERNELS: &str = \"vm\";\n"),
            ("devices/vm/src/lib.rs", "pub struct Vm;\npub const NAME: &str = \"vm\";\n"),
            ("examples/linux-a-a.toml", "device = \"linux\"\n"),
            ("xtask/src/main.rs", "fn main() {}\n"),
            (file, text),
        ] {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a directory")).expect("made");
            std::fs::write(path, text).expect("written");
        }
        faults(root.path()).expect("readable")
    }

    #[test]
    fn a_planted_name_is_found_wherever_it_stands() {
        for text in [
            "pub const NAME: &str = \"vm\";\n",
            "fn f(name: &str) -> bool { name == \"linux\" }\n",
            "fn f(name: &str) -> bool { matches!(name, \"linux\") }\n",
            "pub enum VmTester { Fwdlab }\n",
            "mod inner { const FOR_VM: u8 = 1; }\n",
            "fn f() { println!(\"{}\", is_vm()); }\n",
            "use fwdlab_linux::LINUX;\n",
            "const COMMAND: &str = \"vm-guest\";\n",
            "#[cfg(feature = \"vm\")]\nfn f() {}\n",
            "fn f() { if cfg!(feature = \"vm\") { g() } }\n",
            "const HINT: &str = \"set device = \\\"vm\\\" in the file\";\n",
            "const HINT: &str = \"the vm device boots kernels\";\n",
            "const HINT: &str = r#\"write `linux` there\"#;\n",
        ] {
            for file in ["crates/report/src/lib.rs", "crates/cli/src/run.rs", "xtask/src/more.rs"] {
                let found = with(file, text);
                assert_eq!(
                    found.len(),
                    if text.contains("LINUX") { 2 } else { 1 },
                    "{text} {found:?}"
                );
                assert!(found[0].starts_with(&format!("{file}:")), "{found:?}");
            }
        }
    }

    #[test]
    fn systems_tests_examples_and_words_within_words_are_no_names() {
        for text in [
            "#[cfg(target_os = \"linux\")]\nfn f() {}\n",
            "fn f() -> bool { cfg!(target_os = \"linux\") }\n",
            "/// What the vm device says.\nfn f() {}\n",
            "#[cfg(test)]\nmod tests { const NAME: &str = \"vm\"; }\n",
            "const EXAMPLE: &str = \"linux-a-a\";\n",
            "const PLATFORM: &str = \"x86_64-unknown-linux-gnu\";\n",
            "const LINE: &str = \"vmovdqu {line}, [{keys}]\";\n",
            "const WHERE: &str = \"on Linux only; use --pcap-in\";\n",
            "fn f(advms: u8) -> u8 { advms }\n",
        ] {
            assert_eq!(with("crates/report/src/lib.rs", text), [""; 0], "{text}");
        }
        let told = "const NAME: &str = \"vm\";\n";
        for file in ["crates/cli/tests/run.rs", "crates/cli/src/tests.rs", "devices/vm/src/kind.rs"]
        {
            assert_eq!(with(file, told), [""; 0], "{file}");
        }
    }
}
