//! The paths that stand in Rust code: those of its `use` items, and those written out.

use std::collections::BTreeSet;

use proc_macro2::{Delimiter, TokenTree};
use syn::buffer::{Cursor, TokenBuffer};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};

/// A path as it stands, one word for each part.
pub type Words = Vec<String>;

/// What items use.
#[derive(Default)]
pub struct Paths {
    /// Of `use` items inside functions, each with the name that it brings.
    pub uses: Vec<(Words, Option<String>)>,
    /// Written out, also inside macros and attributes.
    pub written: Vec<Words>,
    /// Files whose text stands here as if it were written here.
    pub included: Vec<String>,
    /// Names of variables, in each scope that the visit is in.
    bound: Vec<BTreeSet<String>>,
}

impl Paths {
    /// Takes in what an item uses.
    pub fn of(&mut self, item: &syn::Item) {
        self.visit_item(item);
    }

    /// What a pattern binds is a variable, whatever else has its name, as long as it is in scope.
    fn write(&mut self, path: Words) {
        let is_variable = match &path[..] {
            [word] => self.bound.iter().any(|scope| scope.contains(word)),
            _ => false,
        };
        if !is_variable {
            self.written.push(path);
        }
    }

    fn scoped(&mut self, visit: impl FnOnce(&mut Self)) {
        self.bound.push(BTreeSet::new());
        visit(self);
        self.bound.pop();
    }
}

/// Keys of attributes whose text is the name of a function or type; a text of several words in a row
/// (`a::b`) is one whatever its key.
const NAMES_IN_TEXT: [&str; 8] = [
    "with",
    "default",
    "serialize_with",
    "deserialize_with",
    "skip_serializing_if",
    "from",
    "into",
    "try_from",
];

impl Visit<'_> for Paths {
    fn visit_path(&mut self, path: &syn::Path) {
        if path.leading_colon.is_none() {
            self.write(path.segments.iter().map(|s| s.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_pat_ident(&mut self, pattern: &syn::PatIdent) {
        let name = pattern.ident.to_string();
        // A constant is compared with, not bound.
        if name.starts_with(char::is_uppercase) {
            self.write(vec![name]);
        } else if let Some(scope) = self.bound.last_mut() {
            scope.insert(name);
        }
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_local(&mut self, local: &syn::Local) {
        // The value does not see what it is bound to.
        if let Some(init) = &local.init {
            visit::visit_local_init(self, init);
        }
        self.visit_pat(&local.pat);
    }

    fn visit_item_fn(&mut self, function: &syn::ItemFn) {
        self.scoped(|own| visit::visit_item_fn(own, function));
    }

    fn visit_trait_item_fn(&mut self, function: &syn::TraitItemFn) {
        self.scoped(|own| visit::visit_trait_item_fn(own, function));
    }

    fn visit_block(&mut self, block: &syn::Block) {
        self.scoped(|own| visit::visit_block(own, block));
    }

    fn visit_arm(&mut self, arm: &syn::Arm) {
        self.scoped(|own| visit::visit_arm(own, arm));
    }

    fn visit_expr_closure(&mut self, closure: &syn::ExprClosure) {
        self.scoped(|own| visit::visit_expr_closure(own, closure));
    }

    fn visit_expr_if(&mut self, branch: &syn::ExprIf) {
        self.scoped(|own| visit::visit_expr_if(own, branch));
    }

    fn visit_expr_while(&mut self, turn: &syn::ExprWhile) {
        self.scoped(|own| visit::visit_expr_while(own, turn));
    }

    fn visit_expr_for_loop(&mut self, turn: &syn::ExprForLoop) {
        self.visit_expr(&turn.expr);
        self.scoped(|own| {
            own.visit_pat(&turn.pat);
            own.visit_block(&turn.body);
        });
    }

    fn visit_item_use(&mut self, item: &syn::ItemUse) {
        self.uses.extend(leaves(&item.tree));
    }

    fn visit_macro(&mut self, found: &syn::Macro) {
        if found.path.is_ident("include") {
            self.included
                .extend(syn::parse2(found.tokens.clone()).map(|file: syn::LitStr| file.value()));
        }
        self.visit_path(&found.path);
        let mut written = Vec::new();
        of_tokens(TokenBuffer::new2(found.tokens.clone()).begin(), &mut written);
        written.into_iter().for_each(|path| self.write(path));
    }

    fn visit_item(&mut self, item: &syn::Item) {
        if !is_test(attributes(item)) {
            // A function in a function sees none of its variables.
            let outer = std::mem::take(&mut self.bound);
            visit::visit_item(self, item);
            self.bound = outer;
        }
    }

    fn visit_impl_item_fn(&mut self, function: &syn::ImplItemFn) {
        if !is_test(&function.attrs) {
            self.scoped(|own| visit::visit_impl_item_fn(own, function));
        }
    }

    // `pub(super)` uses nothing.
    fn visit_visibility(&mut self, _: &syn::Visibility) {}

    /// `#[serde(with = "path")]`, `#[arg(value_parser = path)]`, `#[error("...", path(.0))]`.
    fn visit_attribute(&mut self, attribute: &syn::Attribute) {
        let syn::Meta::List(list) = &attribute.meta else { return };
        if ["cfg", "derive", "allow", "expect"].iter().any(|name| list.path.is_ident(name)) {
            return;
        }
        of_tokens(TokenBuffer::new2(list.tokens.clone()).begin(), &mut self.written);
        let mut key = String::new();
        for token in list.tokens.clone() {
            match token {
                TokenTree::Ident(word) => key = word.to_string(),
                TokenTree::Literal(text) if !key.is_empty() => {
                    let text = text.to_string();
                    let path = syn::parse_str::<syn::Path>(text.trim_matches('"'));
                    let path = path
                        .ok()
                        .filter(|path| path.segments.len() > 1 || NAMES_IN_TEXT.contains(&&*key));
                    self.written.extend(path.map(|path| {
                        path.segments.iter().map(|part| part.ident.to_string()).collect()
                    }));
                }
                _ => {}
            }
        }
    }
}

/// Paths in what stands inside a macro, which has no grammar of its own: all of several words, and
/// single words that begin with a capital or are called.
fn of_tokens(mut cursor: Cursor<'_>, found: &mut Vec<Words>) {
    let mut path = Words::new();
    let mut colons = 2;
    let mut is_method = false;
    let end = |path: &mut Words, is_called: bool, found: &mut Vec<Words>| {
        let path = std::mem::take(path);
        let is_a_name = path.first().is_some_and(|word| word.starts_with(char::is_uppercase));
        if path.len() > 1 || is_a_name || (is_called && !path.is_empty()) {
            found.push(path);
        }
    };
    while !cursor.eof() {
        if let Some((word, rest)) = cursor.ident() {
            if colons != 2 {
                end(&mut path, false, found);
            }
            path.push(word.to_string());
            (colons, cursor) = (0, rest);
        } else if let Some((mark, rest)) = cursor.punct() {
            if mark.as_char() == ':' && !path.is_empty() {
                colons += 1;
            } else {
                end(&mut path, false, found);
                is_method = mark.as_char() == '.';
                colons = 2;
            }
            cursor = rest;
        } else if let Some((inside, delimiter, _, rest)) = cursor.any_group() {
            let is_called = delimiter == Delimiter::Parenthesis && !is_method;
            end(&mut path, is_called, found);
            of_tokens(inside, found);
            (colons, is_method, cursor) = (2, false, rest);
        } else if let Some((_, rest)) = cursor.token_tree() {
            end(&mut path, false, found);
            (colons, is_method, cursor) = (2, false, rest);
        }
    }
    end(&mut path, false, found);
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

/// Whether something with these attributes is there in tests only: `test`, `cfg(test)`, and
/// `cfg(all(...))` with `test` among what must all hold.
pub fn is_test(attributes: &[syn::Attribute]) -> bool {
    fn asks_for_test(condition: &syn::Meta) -> bool {
        match condition {
            syn::Meta::Path(path) => path.is_ident("test"),
            syn::Meta::List(list) if list.path.is_ident("all") => {
                let all = Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated;
                list.parse_args_with(all).is_ok_and(|all| all.iter().any(asks_for_test))
            }
            _ => false,
        }
    }
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::List(list) if list.path.is_ident("cfg") => {
            list.parse_args::<syn::Meta>().is_ok_and(|condition| asks_for_test(&condition))
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
