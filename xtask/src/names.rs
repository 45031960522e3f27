//! No file names a device but those of devices, and the one list.
//!
//! The names are those of the directories in `devices/`. What counts is code without its tests: words
//! of identifiers (`VmTester`, `is_vm`, `VMTester`, `fwdlab_vm`), and what stands in strings, also in
//! those of bytes and those put together by `concat!`, be it the name alone or with others in one word
//! (`"vm-guest"`), or in a sentence that says that it is a device's (`device = "vm"`, `the vm device`).
//! The name of an experiment in `examples/` names no device.
//!
//! A device is called by a word that the code has for nothing else. Where that is not to be had, its
//! manifest lists what contains its name and means something else:
//! `[package.metadata.fwdlab] also-means = ["dpdk_lpm", "DpdkLpm"]`. Whoever names a new device after
//! such a word is told each place, and adds that line or takes another name.

use crate::paths::{attributes, is_test};
use crate::sources::without_tests;
use anyhow::{Context, Result};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::BTreeSet;
use std::path::Path;

/// Where devices stand.
const DEVICES: &str = "devices";
/// What may name them: the list.
const LIST: &str = "crates/cli/src/devices.rs";
/// What may not.
const SOURCES: [&str; 4] = ["crates", "xtask/src", "bench", "fuzz"];

/// Each place that names a device, as one line.
pub fn faults(root: &Path) -> Result<Vec<String>> {
    let names = Names::read(root)?;
    let mut faults = Vec::new();
    let sources = SOURCES.iter().map(|source| root.join(source)).filter(|source| source.exists());
    for file in sources.map(|source| without_tests(&source)).collect::<Result<Vec<_>>>()?.concat() {
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

/// What devices are called, and what is called like them and is none.
struct Names {
    devices: BTreeSet<String>,
    examples: BTreeSet<String>,
    /// What contains a device's name and means something else.
    others: Vec<String>,
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
        let devices = stems(DEVICES)?;
        let mut others = vec!["-unknown-linux-".to_owned()];
        for device in &devices {
            let manifest = root.join(DEVICES).join(device).join("Cargo.toml");
            let text = std::fs::read_to_string(&manifest).unwrap_or_default();
            let manifest: toml::Table =
                text.parse().with_context(|| format!("cannot parse {}", manifest.display()))?;
            let listed = ["metadata", "fwdlab", "also-means"]
                .iter()
                .try_fold(manifest.get("package"), |table, key| Some(table?.get(key)))
                .flatten()
                .and_then(toml::Value::as_array);
            others
                .extend(listed.into_iter().flatten().filter_map(|own| Some(own.as_str()?.into())));
        }
        Ok(Self { devices, examples: stems("examples")?, others })
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
                TokenTree::Group(group) if key == "concat" => {
                    key.clear();
                    let whole = group.stream().into_iter().filter_map(|part| match part {
                        TokenTree::Literal(text) => inside(&text.to_string()),
                        _ => None,
                    });
                    let whole: String = whole.collect();
                    if self.is_in_text(&whole) {
                        found.push((group.span_open().start().line, format!("{whole:?}")));
                    }
                    continue;
                }
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
                TokenTree::Literal(literal) => {
                    inside(&literal.to_string()).is_some_and(|text| self.is_in_text(&text))
                }
            };
            if what {
                found.push((token.span().start().line, token.to_string()));
            }
        }
    }

    /// Whether one of the words that make an identifier is a device's name.
    fn is_in_identifier(&self, identifier: &str) -> bool {
        let letters: Vec<char> = self.without_others(identifier).chars().collect();
        let mut words = vec![String::new()];
        for (at, letter) in letters.iter().enumerate() {
            // A capital begins a word behind a small letter, and before one: `is|Vm`, `VM|Tester`.
            let is_lower = |at: Option<usize>| {
                at.and_then(|at| letters.get(at)).is_some_and(|letter| letter.is_lowercase())
            };
            let is_first =
                letter.is_uppercase() && (is_lower(at.checked_sub(1)) || is_lower(Some(at + 1)));
            if *letter == '_' || is_first {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut().filter(|_| *letter != '_') {
                word.extend(letter.to_lowercase());
            }
        }
        words.iter().any(|word| self.devices.contains(word))
    }

    /// Whether a text says a device's name.
    fn is_in_text(&self, text: &str) -> bool {
        // An example that is called as a device is excuses nothing.
        if self.examples.contains(text) && !self.devices.contains(text) {
            return false;
        }
        let text = self.without_others(text);
        let is_one_word = !text.contains(char::is_whitespace);
        let mut parts = text.split(|letter: char| !letter.is_ascii_alphanumeric());
        if is_one_word && parts.any(|part| self.devices.contains(part)) {
            return true;
        }
        // However it is spaced: `device="vm"`, `device = 'vm'`.
        let text = text.replace(" =", "=").replace("= ", "=").replace('\'', "\"");
        self.devices.iter().any(|name| {
            let mut capital = name.clone();
            capital.get_mut(..1).into_iter().for_each(str::make_ascii_uppercase);
            [
                format!("device=\"{name}\""),
                format!("device {name}"),
                format!("{name} device"),
                format!("{capital} device"),
                format!("{} device", name.to_uppercase()),
                format!("`{name}`"),
                format!("[{name}]"),
            ]
            .iter()
            .any(|said| text.contains(said))
        })
    }

    /// A text but for what means something else.
    fn without_others(&self, text: &str) -> String {
        self.others.iter().fold(text.to_owned(), |text, other| text.replace(other, "_"))
    }
}

/// What a literal of text or of bytes says.
fn inside(literal: &str) -> Option<String> {
    match syn::parse_str::<syn::Lit>(literal).ok()? {
        syn::Lit::Str(text) => Some(text.value()),
        syn::Lit::ByteStr(bytes) => Some(String::from_utf8_lossy(&bytes.value()).into_owned()),
        syn::Lit::CStr(text) => Some(text.value().to_string_lossy().into_owned()),
        _ => None,
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
            ("examples/vm.toml", "device = \"vm\"\n"),
            ("xtask/src/main.rs", "fn main() {}\n"),
            ("crates/cli/Cargo.toml", ""),
            ("crates/cli/src/main.rs", "#[cfg(test)]\nmod tests;\n"),
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
            "struct VMTester;\nenum OneVM {}\n",
            "const VM_TESTER: u8 = 1;\n",
            "const HINT: &str = \"set device=\\\"vm\\\" in the file\";\n",
            "const HINT: &str = \"set device= 'vm' in the file\";\n",
            "const HINT: &str = \"the VM device boots kernels\";\n",
            "const HINT: &str = \"Linux device: veth pairs\";\n",
            "const NAME: &str = concat!(\"v\", \"m\");\n",
            "const NAME: &str = concat!(\"the vm\", \" device\");\n",
            "const NAME: &[u8] = b\"vm\";\n",
            "const NAME: &[u8] = br#\"vm-guest\"#;\n",
            "const NAME: &std::ffi::CStr = c\"vm\";\n",
        ] {
            for file in [
                "crates/report/src/lib.rs",
                "crates/cli/src/run.rs",
                "xtask/src/more.rs",
                "bench/src/main.rs",
                "bench/cost/src/main.rs",
                "fuzz/fuzz_targets/elf.rs",
            ] {
                let found = with(file, text);
                assert_eq!(
                    found.len(),
                    if text.contains("LINUX") || text.contains("OneVM") { 2 } else { 1 },
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

    #[test]
    fn a_device_called_by_a_word_of_the_field_says_what_else_it_means() {
        let root = tempfile::tempdir().expect("a directory");
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a directory")).expect("made");
            std::fs::write(path, text).expect("written");
        };
        write("crates/fib/src/lib.rs", "pub struct DpdkLpm;\nconst NAME: &str = \"dpdk_lpm4\";\n");
        write("crates/fib/src/more.rs", "pub struct DpdkPort;\n");
        write("devices/dpdk/Cargo.toml", "[package]\nname = \"fwdlab-dpdk\"\n");
        assert_eq!(faults(root.path()).expect("readable").len(), 3);
        let said = "[package.metadata.fwdlab]\nalso-means = [\"DpdkLpm\", \"dpdk_lpm\"]\n";
        write("devices/dpdk/Cargo.toml", said);
        let found = faults(root.path()).expect("readable");
        assert!(found.len() == 1 && found[0].contains("DpdkPort"), "{found:?}");
    }
}
