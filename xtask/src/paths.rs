//! The paths that stand in Rust code: those of its `use` items, and those written out.

use std::collections::BTreeSet;

use syn::buffer::{Cursor, TokenBuffer};
use syn::visit::{self, Visit};

/// A path as it stands, one word for each part.
pub type Words = Vec<String>;

/// What items use.
#[derive(Default)]
pub struct Paths {
    /// Of `use` items inside functions, each with the name that it brings.
    pub uses: Vec<(Words, Option<String>)>,
    /// Written out, also inside macros.
    pub written: Vec<Words>,
    /// Names of variables.
    bound: BTreeSet<String>,
}

impl Paths {
    /// Takes in what an item uses.
    pub fn of(&mut self, item: &syn::Item) {
        let mut own = Self::default();
        own.visit_item(item);
        // What a pattern binds is a variable, whatever else has its name.
        own.written.retain(|path| !matches!(&path[..], [word] if own.bound.contains(word)));
        self.uses.append(&mut own.uses);
        self.written.append(&mut own.written);
    }
}

impl Visit<'_> for Paths {
    fn visit_path(&mut self, path: &syn::Path) {
        if path.leading_colon.is_none() {
            self.written.push(path.segments.iter().map(|s| s.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_pat_ident(&mut self, pattern: &syn::PatIdent) {
        self.bound.insert(pattern.ident.to_string());
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_item_use(&mut self, item: &syn::ItemUse) {
        self.uses.extend(leaves(&item.tree));
    }

    fn visit_macro(&mut self, found: &syn::Macro) {
        self.visit_path(&found.path);
        of_tokens(TokenBuffer::new2(found.tokens.clone()).begin(), &mut self.written);
    }

    fn visit_item(&mut self, item: &syn::Item) {
        if !is_test(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &syn::ImplItemFn) {
        if !is_test(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    // `pub(super)` and `#[error]` use nothing.
    fn visit_visibility(&mut self, _: &syn::Visibility) {}
    fn visit_attribute(&mut self, _: &syn::Attribute) {}
}

/// Paths in what stands inside a macro, which has no grammar of its own: all of several words, and
/// single words that begin with a capital, which are no variables.
fn of_tokens(mut cursor: Cursor<'_>, found: &mut Vec<Words>) {
    let mut path = Words::new();
    let mut colons = 2;
    let end = |path: &mut Words, found: &mut Vec<Words>| {
        let path = std::mem::take(path);
        let is_a_name = path.first().is_some_and(|word| word.starts_with(char::is_uppercase));
        if path.len() > 1 || is_a_name {
            found.push(path);
        }
    };
    while !cursor.eof() {
        if let Some((word, rest)) = cursor.ident() {
            if colons != 2 {
                end(&mut path, found);
            }
            path.push(word.to_string());
            (colons, cursor) = (0, rest);
        } else if let Some((mark, rest)) = cursor.punct() {
            if mark.as_char() == ':' && !path.is_empty() {
                colons += 1;
            } else {
                end(&mut path, found);
                colons = 2;
            }
            cursor = rest;
        } else if let Some((inside, _, _, rest)) = cursor.any_group() {
            end(&mut path, found);
            of_tokens(inside, found);
            (colons, cursor) = (2, rest);
        } else if let Some((_, rest)) = cursor.token_tree() {
            end(&mut path, found);
            (colons, cursor) = (2, rest);
        }
    }
    end(&mut path, found);
}

/// The paths of a `use`, each with the name that it brings; no name for everything (`*`).
pub fn leaves(tree: &syn::UseTree) -> Vec<(Words, Option<String>)> {
    match tree {
        syn::UseTree::Path(path) => leaves(&path.tree)
            .into_iter()
            .map(|(mut rest, name)| {
                let own = path.ident.to_string();
                // `use a::{self}` brings `a`.
                let name = if rest.is_empty() && name.as_deref() == Some("self") {
                    Some(own.clone())
                } else {
                    name
                };
                rest.insert(0, own);
                (rest, name)
            })
            .collect(),
        syn::UseTree::Name(name) if name.ident == "self" => vec![(Vec::new(), Some("self".into()))],
        syn::UseTree::Name(name) => {
            vec![(vec![name.ident.to_string()], Some(name.ident.to_string()))]
        }
        syn::UseTree::Rename(rename) if rename.ident == "self" => {
            vec![(Vec::new(), Some(rename.rename.to_string()))]
        }
        syn::UseTree::Rename(rename) => {
            vec![(vec![rename.ident.to_string()], Some(rename.rename.to_string()))]
        }
        syn::UseTree::Glob(_) => vec![(Vec::new(), None)],
        syn::UseTree::Group(group) => group.items.iter().flat_map(leaves).collect(),
    }
}

/// Makes a path of module `own` one from the root.
pub fn absolute(target: &mut Words, own: &[String]) {
    match target.first().map(String::as_str) {
        Some("crate") => {
            target.remove(0);
        }
        Some("self" | "super") => {
            let own_word = usize::from(target[0] == "self");
            let ups = target[own_word..].iter().take_while(|word| *word == "super").count();
            let kept = own.len().saturating_sub(ups);
            target.splice(0..own_word + ups, own[..kept].iter().cloned());
        }
        // A module or a name of the module itself, else another crate: nothing is found there.
        _ => {
            target.splice(0..0, own.iter().cloned());
        }
    }
}

/// Whether something with these attributes is there in tests only.
pub fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::List(list) if list.path.is_ident("cfg") => {
            let text = list.tokens.to_string();
            text == "test" || text.starts_with("all (test") || text.starts_with("all(test")
        }
        _ => false,
    })
}

/// The attributes of an item.
pub fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}
