//! The modules of a crate, what each defines and passes on, and which file needs which.

use crate::methods::{Methods, of_impl};
use crate::paths::{Paths, Words, absolute, attributes, is_test, leaves};
use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// One module of a crate, in a file of its own or inline in another.
#[derive(Default)]
struct Module {
    /// Index of its file.
    file: usize,
    /// Names that it defines itself.
    defines: BTreeSet<String>,
    /// Names that its `use` items bring: the name to the path that it stands for.
    brought: BTreeMap<String, Words>,
    /// Modules of which everything is brought.
    globs: Vec<Words>,
    /// Every path that its code uses.
    uses: Vec<Words>,
    /// Methods that it gives to types, and those that it calls.
    methods: Methods,
}

/// A crate: its modules by their paths from the root, and its files.
#[derive(Default)]
pub struct Crate {
    modules: BTreeMap<Words, Module>,
    files: Vec<PathBuf>,
    /// What stands in the code and hides which file needs which.
    hidden: Vec<String>,
}

impl Crate {
    /// Reads the crate whose root is the file `face`.
    pub fn read(face: &Path) -> Result<Self> {
        let mut found = Self::default();
        let directory = face.parent().context("a face lies in a directory")?;
        found.file_of(face, &[], directory)?;
        Ok(found)
    }

    /// Number of files.
    pub fn files(&self) -> usize {
        self.files.len()
    }

    /// What stands in the code and hides which file needs which.
    pub fn hidden(&self) -> &[String] {
        &self.hidden
    }

    /// The path of a file.
    pub fn file(&self, number: usize) -> &Path {
        &self.files[number]
    }

    /// Reads the module `path` from `file`, whose submodules lie in `directory`.
    fn file_of(&mut self, file: &Path, path: &[String], directory: &Path) -> Result<()> {
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
        let mut paths = Paths::default();
        for item in items.iter().filter(|item| !is_test(attributes(item))) {
            match item {
                syn::Item::Use(item) => {
                    let is_private = matches!(item.vis, syn::Visibility::Inherited);
                    for (target, name) in leaves(&item.tree) {
                        module.bring(target, name, (path, is_private));
                    }
                }
                syn::Item::Mod(item) => {
                    let name = item.ident.to_string();
                    module.defines.insert(name.clone());
                    if item.attrs.iter().any(|attribute| attribute.path().is_ident("macro_use")) {
                        self.hide(file, "`#[macro_use]` brings macros that no `use` names");
                    }
                    let inner: Words = path.iter().cloned().chain([name.clone()]).collect();
                    let below = directory.join(&name);
                    match &item.content {
                        Some((_, items)) => self.module(items, &inner, (file, &below))?,
                        None => {
                            let flat = directory.join(format!("{name}.rs"));
                            let nested = below.join("mod.rs");
                            let own = if flat.exists() { flat } else { nested };
                            match named_path(&item.attrs) {
                                // Beside the file that names it, and what is below it beside that.
                                Some(named) => {
                                    if self.leaves_source(file, &named) {
                                        let how = format!("`#[path = \"{named}\"]` leaves src");
                                        self.hide(file, &how);
                                        continue;
                                    }
                                    let own = self.files[file].with_file_name("").join(named);
                                    let below = own.with_file_name("");
                                    self.file_of(&own, &inner, &below)?;
                                }
                                None => self.file_of(&own, &inner, &below)?,
                            }
                        }
                    }
                }
                syn::Item::ExternCrate(item) if item.ident == "self" => {
                    self.hide(file, "`extern crate self` gives the crate a second name");
                }
                other => {
                    if let syn::Item::Macro(item) = other {
                        let tokens = item.mac.tokens.to_string().replace(char::is_whitespace, "");
                        if tokens.contains("crate::$") {
                            self.hide(
                                file,
                                "`$crate::$name` names a module only where it is called",
                            );
                        }
                    }
                    if let syn::Item::Impl(item) = other {
                        of_impl(item, path, &mut module.methods);
                    }
                    module.defines.extend(defined(other));
                    paths.of(other);
                }
            }
        }
        for included in paths.included {
            self.hide(file, &format!("`include!(\"{included}\")` puts another file into this one"));
        }
        for (target, name) in paths.uses {
            module.bring(target, name, (path, true));
        }
        module.uses.extend(paths.written.into_iter().map(|mut target| {
            absolute(&mut target, path);
            target
        }));
        self.modules.insert(path.to_vec(), module);
        Ok(())
    }

    /// Whether code takes a module from outside the directory of its crate's code: a test may.
    fn leaves_source(&self, file: usize, named: &str) -> bool {
        let is_code = self.files[file].ancestors().any(|above| above.ends_with("src"));
        is_code && (named.starts_with('/') || named.contains(".."))
    }

    fn hide(&mut self, file: usize, how: &str) {
        self.hidden.push(format!("{}: {how}", self.files[file].display()));
    }

    /// Which files need which, by their numbers, each with a path that says why.
    pub fn arrows(&self) -> BTreeMap<(usize, usize), Words> {
        let mut arrows = BTreeMap::new();
        for (path, module) in &self.modules {
            for target in &module.uses {
                // A single word is no module, but a variable of the same name.
                let is_word = target.len() == path.len() + 1 && target.starts_with(path);
                if is_word && self.modules.contains_key(target) {
                    continue;
                }
                // What no item is named, a macro may have made, or another crate: it is taken from
                // the module all the same.
                let known = self.home_of(target, &mut BTreeSet::new());
                let Some(home) = known.or_else(|| self.module_of(target)) else { continue };
                let to = self.modules[home].file;
                if to != module.file {
                    arrows.entry((module.file, to)).or_insert_with(|| target.clone());
                }
            }
        }
        let files = self.methods();
        for module in self.modules.values() {
            for (target, method) in module.methods.called.iter() {
                let Some(there) = self.method(target, method).and_then(|key| files.get(&key))
                else {
                    continue;
                };
                if there.contains(&module.file) {
                    continue;
                }
                let path = [&target[..], std::slice::from_ref(method)].concat();
                for to in there {
                    arrows.entry((module.file, *to)).or_insert_with(|| path.clone());
                }
            }
        }
        arrows
    }

    /// The files that give a type its methods, one for each unless the machine decides.
    fn methods(&self) -> BTreeMap<(Words, String), BTreeSet<usize>> {
        let mut files = BTreeMap::<_, BTreeSet<usize>>::new();
        for module in self.modules.values() {
            for (target, method) in &module.methods.given {
                if let Some(key) = self.method(target, method) {
                    files.entry(key).or_default().insert(module.file);
                }
            }
        }
        files
    }

    /// A method by where its type is defined.
    fn method(&self, target: &[String], method: &str) -> Option<(Words, String)> {
        let home = self.home_of(target, &mut BTreeSet::new())?;
        let own = [home, &target[target.len().saturating_sub(1)..]].concat();
        Some((own, method.to_owned()))
    }

    /// The module in whose name a path from the root goes on.
    fn module_of(&self, target: &[String]) -> Option<&[String]> {
        let at = (0..=target.len()).rev().find(|n| self.modules.contains_key(&target[..*n]))?;
        self.modules.get_key_value(&target[..at]).map(|(home, _)| &home[..])
    }

    /// The module that defines what a path from the root names; nothing for foreign ones.
    fn home_of<'a>(
        &'a self,
        target: &[String],
        seen: &mut BTreeSet<Words>,
    ) -> Option<&'a [String]> {
        const MOST: usize = 64;
        if seen.len() == MOST || !seen.insert(target.to_vec()) {
            return None;
        }
        let home = self.module_of(target)?;
        let module = &self.modules[home];
        let at = home.len();
        let Some(name) = target.get(at) else { return Some(home) };
        if module.defines.contains(name) {
            return Some(home);
        }
        let rest = &target[at + 1..];
        if let Some(brought) = module.brought.get(name) {
            return self.home_of(&[brought, rest].concat(), seen);
        }
        module
            .globs
            .iter()
            .find_map(|glob| self.home_of(&[glob, std::slice::from_ref(name), rest].concat(), seen))
    }
}

impl Module {
    /// Notes what a `use` in module `own` brings. A private one is there to be used; what others may
    /// see is perhaps only passed on, and counts where code uses it.
    fn bring(
        &mut self,
        mut target: Words,
        name: Option<String>,
        (own, is_private): (&[String], bool),
    ) {
        absolute(&mut target, own);
        match name {
            None => self.globs.push(target.clone()),
            // Not `use anyhow::anyhow`, which would lead back to itself.
            Some(name) if !target.starts_with(&[own, std::slice::from_ref(&name)].concat()) => {
                self.brought.entry(name).or_insert_with(|| target.clone());
            }
            Some(_) => {}
        }
        if is_private {
            self.uses.push(target);
        }
    }
}

/// Where `#[path = "..."]` says that a module's file lies.
pub fn named_path(attributes: &[syn::Attribute]) -> Option<String> {
    attributes.iter().find_map(|attribute| match &attribute.meta {
        syn::Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(path), .. }) => Some(path.value()),
            _ => None,
        },
        _ => None,
    })
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
