//! The glossary has one meaning a word, and the code keeps to it.
//!
//! A word has one row. A public type whose name is a word of the glossary, alone or in the plural, is
//! what the word means; where types of several crates are, the glossary names each (`crate::Type`). And
//! what is called by a word that has a type is of such a type: `finding: &Finding`, not
//! `finding: &Complaint`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result};
use syn::visit::{self, Visit};

use crate::paths::is_test;

const GLOSSARY: &str = "docs/glossary.md";

/// What breaks the rule below `root`.
pub fn faults(root: &Path, rooms: &[&str]) -> Result<Vec<String>> {
    let glossary = std::fs::read_to_string(root.join(GLOSSARY))
        .with_context(|| format!("cannot read {GLOSSARY}"))?;
    let mut code = Code::default();
    for room in rooms {
        for entry in std::fs::read_dir(root.join(room))? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            for file in crate::sources::without_tests(&path.join("src"))? {
                let text = std::fs::read_to_string(&file)
                    .with_context(|| format!("cannot read {}", file.display()))?;
                let tree = syn::parse_file(&text)
                    .with_context(|| format!("cannot parse {}", file.display()))?;
                let shown = file.strip_prefix(root).unwrap_or(&file).display().to_string();
                code.file = (name.clone(), shown);
                code.visit_file(&tree);
            }
        }
    }
    let mut faults = twice(&glossary);
    faults.extend(code.other_types(&glossary));
    faults.extend(code.other_names(&glossary));
    Ok(faults)
}

/// The words of the glossary, each as often as it has a row.
fn words(glossary: &str) -> impl Iterator<Item = &str> {
    let rows = glossary.lines().filter_map(|line| line.strip_prefix("| "));
    rows.filter_map(|row| row.split(" |").next())
        .filter(|words| *words != "word")
        .flat_map(|words| words.split(", "))
}

/// Words that have several rows.
fn twice(glossary: &str) -> Vec<String> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    words(glossary).for_each(|word| *seen.entry(word).or_insert(0) += 1);
    let several = seen.into_iter().filter(|(_, rows)| *rows > 1);
    several
        .map(|(word, _)| format!("{GLOSSARY} explains {word:?} twice: one meaning a word, one row"))
        .collect()
}

/// Types and names of the code.
#[derive(Default)]
struct Code {
    /// Crate and path of the file that is read.
    file: (String, String),
    /// Public types: name to crates.
    public: BTreeMap<String, BTreeSet<String>>,
    /// Names of all types.
    types: BTreeSet<String>,
    /// Fields and parameters: where, their name, the names in their type.
    called: Vec<(String, String, Vec<String>)>,
}

impl Code {
    /// Public types of several crates that share a word, as far as the glossary does not name them.
    fn other_types(&self, glossary: &str) -> Vec<String> {
        let mut faults = Vec::new();
        for word in words(glossary) {
            let singular = camel(word);
            for name in [format!("{singular}s"), singular.clone()] {
                for own in self.public.get(&name).into_iter().flatten() {
                    let others = [&name, &singular, &format!("{singular}s")]
                        .into_iter()
                        .filter_map(|name| self.public.get(name))
                        .flatten()
                        .any(|other| other != own);
                    if others && !glossary.contains(&format!("`{own}::{name}`")) {
                        faults.push(format!(
                            "{own} has a type {name}, and so has another crate: call it otherwise, or \
                             name `{own}::{name}` in {GLOSSARY} where {word:?} is explained"
                        ));
                    }
                }
            }
        }
        faults
    }

    /// What is called by a word that has a type, and is of another type of the project.
    fn other_names(&self, glossary: &str) -> Vec<String> {
        let mut faults = Vec::new();
        for (word, camel) in words(glossary).map(|word| (word, camel(word))) {
            if !TYPED.contains(&word) {
                continue;
            }
            let snake = word.to_lowercase().replace([' ', '-'], "_");
            let plural = format!("{snake}s");
            for (place, name, types) in &self.called {
                let is_word = *name == snake || *name == plural;
                let is_other = types.iter().any(|name| self.types.contains(name))
                    && !types.iter().any(|name| name.contains(&camel));
                if is_word && is_other {
                    faults.push(format!(
                        "{place} calls {} {name:?}, which {GLOSSARY} says is something else",
                        types.join(" ")
                    ));
                }
            }
        }
        faults
    }

    fn take(
        &mut self,
        name: &syn::Ident,
        visibility: &syn::Visibility,
        attributes: &[syn::Attribute],
    ) {
        self.types.insert(name.to_string());
        if matches!(visibility, syn::Visibility::Public(_)) && !is_test(attributes) {
            self.public.entry(name.to_string()).or_default().insert(self.file.0.clone());
        }
    }

    fn call(&mut self, name: &syn::Ident, ty: &syn::Type) {
        let mut names = TypeNames::default();
        names.visit_type(ty);
        let line = name.span().start().line;
        self.called.push((format!("{}:{line}", self.file.1), name.to_string(), names.0));
    }
}

/// Words that are the name of a type, so that what is called so is of it. Others have many forms: a
/// trial is a plan, a request, a record.
const TYPED: [&str; 5] = ["context", "finding", "outcome", "plan", "sample"];

impl Visit<'_> for Code {
    fn visit_item(&mut self, item: &syn::Item) {
        match item {
            item if is_test(crate::paths::attributes(item)) => return,
            syn::Item::Enum(item) => self.take(&item.ident, &item.vis, &item.attrs),
            syn::Item::Struct(item) => self.take(&item.ident, &item.vis, &item.attrs),
            syn::Item::Trait(item) => self.take(&item.ident, &item.vis, &item.attrs),
            syn::Item::Type(item) => self.take(&item.ident, &item.vis, &item.attrs),
            syn::Item::Union(item) => self.take(&item.ident, &item.vis, &item.attrs),
            _ => {}
        }
        visit::visit_item(self, item);
    }

    fn visit_field(&mut self, field: &syn::Field) {
        if let Some(name) = &field.ident {
            self.call(name, &field.ty);
        }
    }

    fn visit_pat_type(&mut self, pattern: &syn::PatType) {
        if let syn::Pat::Ident(name) = &*pattern.pat {
            self.call(&name.ident, &pattern.ty);
        }
        visit::visit_pat_type(self, pattern);
    }
}

/// The names that stand in a type.
#[derive(Default)]
struct TypeNames(Vec<String>);

impl Visit<'_> for TypeNames {
    fn visit_path(&mut self, path: &syn::Path) {
        self.0.extend(path.segments.last().map(|last| last.ident.to_string()));
        visit::visit_path(self, path);
    }
}

/// `loss curve` as a type is called: `LossCurve`.
fn camel(word: &str) -> String {
    let capital = |part: &str| {
        let mut letters = part.chars();
        let first = letters.next().map(|letter| letter.to_ascii_uppercase());
        first
            .into_iter()
            .chain(letters.map(|letter| letter.to_ascii_lowercase()))
            .collect::<String>()
    };
    word.split([' ', '-']).map(capital).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUP: &str = "| word | meaning |\n|---|---|\n| group | series that are compared |\n\
                         | finding | what makes a verdict doubtful |\n| loss curve, curve | losses |\n";

    /// The faults of a project with this glossary and these files.
    fn of(glossary: &str, files: &[(&str, &str)]) -> Vec<String> {
        let root = tempfile::tempdir().expect("a directory");
        for (path, text) in files.iter().chain(&[(GLOSSARY, glossary)]) {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a directory")).expect("made");
            std::fs::write(path, text).expect("written");
        }
        faults(root.path(), &["crates"]).expect("readable")
    }

    #[test]
    fn a_word_with_two_rows_is_found() {
        let text = "| word | meaning |\n|---|---|\n| run | one |\n\n| word | meaning |\n\
                    | trial, run | two |\n| block | three |\n";
        let found = of(text, &[("crates/a/src/lib.rs", "")]);
        assert!(found.len() == 1 && found[0].contains("\"run\" twice"), "{found:?}");
    }

    #[test]
    fn a_word_that_is_a_type_of_two_crates_is_found_unless_the_glossary_names_both() {
        let own = ("crates/compare/src/lib.rs", "pub struct Group;\nstruct LossCurve;\n");
        for text in
            ["pub struct Group;\n", "pub enum Groups {}\n", "mod a { pub type Group = u8; }\n"]
        {
            let found = of(GROUP, &[own, ("crates/figures/src/lib.rs", text)]);
            assert_eq!(found.len(), 2, "{text}: {found:?}");
            assert!(found.iter().any(|fault| fault.starts_with("figures has a type")), "{found:?}");
        }
        for text in
            ["pub struct TrafficSeries;\n", "struct Group;\n", "#[cfg(test)]\npub struct Group;\n"]
        {
            assert_eq!(of(GROUP, &[own, ("crates/figures/src/lib.rs", text)]), [""; 0], "{text}");
        }
        let named = GROUP.replace("compared |", "compared (`compare::Group`, `figures::Group`) |");
        assert_eq!(
            of(&named, &[own, ("crates/figures/src/lib.rs", "pub struct Group;\n")]),
            [""; 0]
        );
    }

    #[test]
    fn what_is_called_by_a_word_is_of_its_type() {
        let types = "pub struct Finding;\npub struct Complaints;\n";
        for text in [
            "fn f(findings: &mut Complaints) {}\n",
            "struct S { finding: Complaints }\n",
            "fn f() { let findings: Vec<Complaints> = Vec::new(); }\n",
            "impl S { fn f(&self, finding: Option<&Complaints>) {} }\n",
        ] {
            let found = of(GROUP, &[("crates/a/src/lib.rs", &format!("{types}{text}"))]);
            assert!(found.len() == 1 && found[0].contains("Complaints"), "{text}: {found:?}");
        }
        for text in [
            "fn f(findings: &mut Vec<Finding>) {}\n",
            "fn f(complaints: &mut Complaints, findings: u8) {}\n",
            "#[cfg(test)]\nmod tests { fn f(findings: Complaints) {} }\n",
        ] {
            let found = of(GROUP, &[("crates/a/src/lib.rs", &format!("{types}{text}"))]);
            assert_eq!(found, [""; 0], "{text}");
        }
    }
}
