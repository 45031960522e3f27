//! No files that need each other in a circle.
//!
//! A file needs another when a `use` of it names something that the other defines; a `pub use` of a
//! file that only passes names on is looked through to where they are defined. `mod` lines, what a
//! module takes from the modules below it, and paths inside functions draw no arrow, and neither do
//! tests.

use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::visit::Visit;

/// One module of a crate, in a file of its own or inline in another.
#[derive(Default)]
struct Module {
    /// Index of its file.
    file: usize,
    /// Names that it defines itself.
    defines: BTreeSet<String>,
    /// Names that it passes on: the name to the path that it stands for.
    passes_on: BTreeMap<String, Vec<String>>,
    /// Modules of which it passes everything on.
    globs: Vec<Vec<String>>,
    /// Every path of its `use` items that is not public.
    uses: Vec<Vec<String>>,
}

/// A crate: its modules by their paths from the root, and its files.
#[derive(Default)]
struct Crate {
    modules: BTreeMap<Vec<String>, Module>,
    files: Vec<PathBuf>,
}

/// Circles of files in every crate below these directories, each as one line.
pub fn find(root: &Path, directories: &[&str]) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    for directory in directories {
        for entry in std::fs::read_dir(root.join(directory))? {
            let source = entry?.path().join("src");
            for face in ["lib.rs", "main.rs"].map(|face| source.join(face)) {
                if face.exists() {
                    faults.extend(of_crate(&face, root)?);
                }
            }
        }
    }
    for source in ["bench/src/main.rs", "xtask/src/main.rs"] {
        if root.join(source).exists() {
            faults.extend(of_crate(&root.join(source), root)?);
        }
    }
    Ok(faults)
}

fn of_crate(face: &Path, root: &Path) -> Result<Vec<String>> {
    let mut found = Crate::default();
    let directory = face.parent().context("a face lies in a directory")?;
    found.read(face, &[], directory)?;
    let arrows = found.arrows();
    let name = |file: usize| {
        let path = &found.files[file];
        path.strip_prefix(root).unwrap_or(path).display().to_string()
    };
    let circles = circles(&arrows, found.files.len());
    Ok(circles
        .into_iter()
        .map(|files| {
            let names: Vec<String> = files.into_iter().map(name).collect();
            format!("files that need each other: {}", names.join(", "))
        })
        .collect())
}

impl Crate {
    /// Reads the module `path` from `file`, whose submodules lie in `directory`.
    fn read(&mut self, file: &Path, path: &[String], directory: &Path) -> Result<()> {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read {}", file.display()))?;
        let tree =
            syn::parse_file(&text).with_context(|| format!("cannot parse {}", file.display()))?;
        self.files.push(file.to_owned());
        let number = self.files.len() - 1;
        self.module(&tree.items, path, (number, directory))
    }

    fn module(
        &mut self,
        items: &[syn::Item],
        path: &[String],
        (file, directory): (usize, &Path),
    ) -> Result<()> {
        let mut module = Module { file, ..Module::default() };
        for item in items.iter().filter(|item| !is_test(item)) {
            match item {
                syn::Item::Use(item) => {
                    let is_public = !matches!(item.vis, syn::Visibility::Inherited);
                    for (mut target, name) in leaves(&item.tree) {
                        absolute(&mut target, path);
                        match (is_public, name.as_deref()) {
                            (true, None) => module.globs.push(target),
                            (true, Some(name)) => {
                                module.passes_on.insert(name.to_owned(), target);
                            }
                            (false, _) => module.uses.push(target),
                        }
                    }
                }
                syn::Item::Mod(item) => {
                    let name = item.ident.to_string();
                    module.defines.insert(name.clone());
                    let inner: Vec<String> = path.iter().cloned().chain([name.clone()]).collect();
                    let below = directory.join(&name);
                    match &item.content {
                        Some((_, items)) => self.module(items, &inner, (file, &below))?,
                        None => {
                            let flat = directory.join(format!("{name}.rs"));
                            let nested = below.join("mod.rs");
                            let own = if flat.exists() { flat } else { nested };
                            self.read(&own, &inner, &below)?;
                        }
                    }
                }
                other => module.defines.extend(defined(other)),
            }
        }
        self.modules.insert(path.to_vec(), module);
        Ok(())
    }

    /// Which files need which, by their numbers.
    fn arrows(&self) -> BTreeSet<(usize, usize)> {
        let mut arrows = BTreeSet::new();
        for (path, module) in &self.modules {
            let homes = module.uses.iter().filter_map(|target| self.home_of(target, 0));
            // What lies below a module is its own: how it spreads over files is no arrow.
            let others = homes.filter(|home| !home.starts_with(path));
            let files = others.map(|home| (module.file, self.modules[home].file));
            arrows.extend(files.filter(|(from, to)| from != to));
        }
        arrows
    }

    /// The module that defines what a path from the root names; nothing for foreign ones.
    fn home_of(&self, target: &[String], depth: usize) -> Option<&[String]> {
        const DEEPEST: usize = 16;
        if depth > DEEPEST {
            return None;
        }
        // The module itself, or its longest prefix that is a module.
        let at = (0..=target.len()).rev().find(|n| self.modules.contains_key(&target[..*n]))?;
        let (home, module) = self.modules.get_key_value(&target[..at])?;
        let Some(name) = target.get(at) else { return Some(home) };
        if module.defines.contains(name) {
            return Some(home);
        }
        if let Some(passed) = module.passes_on.get(name) {
            let rest = target[at + 1..].iter().cloned();
            let passed: Vec<String> = passed.iter().cloned().chain(rest).collect();
            return self.home_of(&passed, depth + 1);
        }
        module.globs.iter().find_map(|glob| {
            let inner: Vec<String> = glob.iter().cloned().chain([name.clone()]).collect();
            self.home_of(&inner, depth + 1)
        })
    }
}

/// The paths of a `use`, each with the name that it brings; no name for everything (`*`).
fn leaves(tree: &syn::UseTree) -> Vec<(Vec<String>, Option<String>)> {
    match tree {
        syn::UseTree::Path(path) => leaves(&path.tree)
            .into_iter()
            .map(|(mut rest, name)| {
                rest.insert(0, path.ident.to_string());
                (rest, name)
            })
            .collect(),
        syn::UseTree::Name(name) if name.ident == "self" => vec![(Vec::new(), Some("self".into()))],
        syn::UseTree::Name(name) => {
            vec![(vec![name.ident.to_string()], Some(name.ident.to_string()))]
        }
        syn::UseTree::Rename(rename) => {
            vec![(vec![rename.ident.to_string()], Some(rename.rename.to_string()))]
        }
        syn::UseTree::Glob(_) => vec![(Vec::new(), None)],
        syn::UseTree::Group(group) => group.items.iter().flat_map(leaves).collect(),
    }
}

/// Makes a path of module `own` one from the root.
fn absolute(target: &mut Vec<String>, own: &[String]) {
    match target.first().map(String::as_str) {
        Some("crate") => {
            target.remove(0);
        }
        Some("self") => {
            target.splice(0..1, own.iter().cloned());
        }
        Some("super") => {
            let ups = target.iter().take_while(|word| *word == "super").count();
            target.splice(0..ups, own[..own.len().saturating_sub(ups)].iter().cloned());
        }
        // A module or a name of the module itself, else another crate: nothing is found there.
        _ => {
            target.splice(0..0, own.iter().cloned());
        }
    }
}

fn is_test(item: &syn::Item) -> bool {
    struct Finder(bool);
    impl<'a> Visit<'a> for Finder {
        fn visit_attribute(&mut self, attribute: &'a syn::Attribute) {
            let syn::Meta::List(list) = &attribute.meta else { return };
            if list.path.is_ident("cfg") {
                let text = list.tokens.to_string();
                self.0 |= text == "test" || text.starts_with("all (test");
            }
        }
        // Only the item's own attributes count.
        fn visit_item_mod(&mut self, item: &'a syn::ItemMod) {
            item.attrs.iter().for_each(|attribute| self.visit_attribute(attribute));
        }
        fn visit_item_use(&mut self, item: &'a syn::ItemUse) {
            item.attrs.iter().for_each(|attribute| self.visit_attribute(attribute));
        }
    }
    let mut finder = Finder(false);
    match item {
        syn::Item::Mod(item) => finder.visit_item_mod(item),
        syn::Item::Use(item) => finder.visit_item_use(item),
        _ => {}
    }
    finder.0
}

fn defined(item: &syn::Item) -> Option<String> {
    let ident = match item {
        syn::Item::Const(item) => &item.ident,
        syn::Item::Enum(item) => &item.ident,
        syn::Item::Fn(item) => &item.sig.ident,
        syn::Item::Macro(item) => item.ident.as_ref()?,
        syn::Item::Static(item) => &item.ident,
        syn::Item::Struct(item) => &item.ident,
        syn::Item::Trait(item) => &item.ident,
        syn::Item::TraitAlias(item) => &item.ident,
        syn::Item::Type(item) => &item.ident,
        syn::Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

/// The strongly connected parts of more than one file (R. Tarjan, 1972), by reachability: the crates
/// are small.
fn circles(arrows: &BTreeSet<(usize, usize)>, files: usize) -> Vec<Vec<usize>> {
    let reach: Vec<BTreeSet<usize>> = (0..files)
        .map(|start| {
            let mut seen = BTreeSet::new();
            let mut pending = vec![start];
            while let Some(file) = pending.pop() {
                let next = arrows.range((file, 0)..=(file, usize::MAX)).map(|(_, to)| *to);
                pending.extend(next.filter(|to| seen.insert(*to)));
            }
            seen
        })
        .collect();
    let mut found: Vec<Vec<usize>> = Vec::new();
    for file in (0..files).filter(|file| reach[*file].contains(file)) {
        let circle: Vec<usize> =
            (0..files).filter(|o| reach[file].contains(o) && reach[*o].contains(&file)).collect();
        if !found.contains(&circle) {
            found.push(circle);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The circles of a crate with these files.
    fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
        let dir =
            std::env::temp_dir().join(format!("circles-{}-{}", std::process::id(), files.len()));
        let source = dir.join("crates/planted/src");
        for (name, text) in files {
            let path = source.join(name);
            std::fs::create_dir_all(path.parent().expect("a directory")).expect("made");
            std::fs::write(path, text).expect("written");
        }
        let found = find(&dir, &["crates"]);
        std::fs::remove_dir_all(&dir).expect("removed");
        found.expect("readable")
    }

    #[test]
    fn a_planted_circle_is_found_through_the_file_that_passes_names_on() {
        let found = circles_of(&[
            ("lib.rs", "mod a;\nmod b;\nmod c;\npub use b::B;\n"),
            ("a.rs", "use crate::B;\npub struct A(B);\n"),
            ("b.rs", "use super::c::C;\npub struct B(C);\n"),
            ("c.rs", "use crate::a::{self, A};\npub struct C(a::A);\n"),
        ]);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(["a.rs", "b.rs", "c.rs"].iter().all(|name| found[0].contains(name)), "{found:?}");
    }

    #[test]
    fn tests_faces_and_foreign_names_make_no_circle() {
        let found = circles_of(&[
            (
                "lib.rs",
                "mod a;\nmod b;\npub use a::*;\n#[cfg(test)]\nmod tests { use super::a::A; }\n",
            ),
            ("a.rs", "use crate::b::B;\npub struct A(B);\n"),
            ("b/mod.rs", "mod inner;\npub use inner::B;\n"),
            (
                "b/inner.rs",
                "use std::fmt;\npub struct B;\n#[cfg(test)]\nmod tests { use crate::A; }\n",
            ),
            ("unused.rs", ""),
        ]);
        assert_eq!(found, [""; 0]);
    }
}
