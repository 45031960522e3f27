//! The methods that a file gives to types, and those that its methods call on themselves.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::visit::{self, Visit};

use crate::paths::{Words, absolute, is_test};

/// Methods, each with the path of its type from the root.
#[derive(Default)]
pub struct Methods {
    /// Those of `impl` blocks without a trait.
    pub given: Vec<(Words, String)>,
    /// `self.method()` and `Self::method()`.
    pub called: Vec<(Words, String)>,
}

/// Takes in an `impl` block of module `own`.
pub fn of_impl(item: &syn::ItemImpl, own: &[String], methods: &mut Methods) {
    let syn::Type::Path(path) = &*item.self_ty else { return };
    let mut target: Words = path.path.segments.iter().map(|part| part.ident.to_string()).collect();
    absolute(&mut target, own);
    for inner in &item.items {
        let syn::ImplItem::Fn(function) = inner else { continue };
        if is_test(&function.attrs) {
            continue;
        }
        if item.trait_.is_none() {
            methods.given.push((target.clone(), function.sig.ident.to_string()));
        }
        let mut calls = Calls::default();
        calls.visit_block(&function.block);
        methods.called.extend(calls.0.into_iter().map(|name| (target.clone(), name)));
    }
}

/// Names of the methods that code calls on its own type.
#[derive(Default)]
struct Calls(Vec<String>);

impl Visit<'_> for Calls {
    fn visit_expr_method_call(&mut self, call: &syn::ExprMethodCall) {
        if let syn::Expr::Path(receiver) = &*call.receiver
            && receiver.path.is_ident("self")
        {
            self.0.push(call.method.to_string());
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_path(&mut self, path: &syn::Path) {
        let words: Vec<String> = path.segments.iter().map(|part| part.ident.to_string()).collect();
        if let [own, name] = &words[..]
            && own == "Self"
        {
            self.0.push(name.clone());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, found: &syn::Macro) {
        of_tokens(found.tokens.clone(), &mut self.0);
    }

    // What an item inside a function calls its own is another type.
    fn visit_item(&mut self, _: &syn::Item) {}
}

/// `self.method(` inside a macro.
fn of_tokens(tokens: TokenStream, found: &mut Vec<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for window in tokens.windows(4) {
        if let [TokenTree::Ident(own), TokenTree::Punct(dot), TokenTree::Ident(name), last] = window
            && own == "self"
            && dot.as_char() == '.'
            && matches!(last, TokenTree::Group(all) if all.delimiter() == Delimiter::Parenthesis)
        {
            found.push(name.to_string());
        }
    }
    for token in tokens {
        if let TokenTree::Group(inside) = token {
            of_tokens(inside.stream(), found);
        }
    }
}
