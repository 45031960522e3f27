use super::*;

/// The circles of a crate with these files.
fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
    let dir = tempfile::tempdir().expect("a directory");
    let source = dir.path().join("crates/planted/src");
    for (name, text) in files {
        let path = source.join(name);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("made");
        std::fs::write(path, text).expect("written");
    }
    find(dir.path(), &["crates"]).expect("readable")
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
fn a_planted_circle_is_found_wherever_code_lies() {
    let back = "use super::NAME;\npub const LENGTH: usize = NAME.len();\n";
    for (face, manifest) in [
        ("crates/x/src/lib.rs", "crates/x/Cargo.toml"),
        ("devices/x/guest/main.rs", "devices/x/Cargo.toml"),
        ("bench/src/main.rs", "bench/Cargo.toml"),
        ("bench/cost/src/main.rs", "bench/cost/Cargo.toml"),
        ("xtask/src/main.rs", "xtask/Cargo.toml"),
        ("crates/x/src/bin/tool.rs", "crates/x/Cargo.toml"),
        ("crates/x/tests/run.rs", "crates/x/Cargo.toml"),
        ("crates/x/tests/long/main.rs", "crates/x/Cargo.toml"),
        ("crates/x/examples/one.rs", "crates/x/Cargo.toml"),
        ("crates/x/build.rs", "crates/x/Cargo.toml"),
        ("fuzz/fuzz_targets/one.rs", "fuzz/Cargo.toml"),
    ] {
        let root = tempfile::tempdir().expect("a directory");
        let beside = Path::new(face).with_file_name("planted");
        for (path, text) in [
            (
                Path::new(face),
                "mod planted;\npub const NAME: &str = \"\";\nfn f() { planted::LENGTH; }\n",
            ),
            (&beside.join("mod.rs"), back),
            (Path::new(manifest), ""),
        ] {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a directory")).expect("made");
            std::fs::write(path, text).expect("written");
        }
        let found = find(root.path(), &crate::layers::SOURCES).expect("readable");
        assert!(found.len() == 1 && found[0].contains(face), "{face}: {found:?}");
    }
}

#[test]
fn tests_faces_and_foreign_names_make_no_circle() {
    let found = circles_of(&[
        ("lib.rs", "mod a;\nmod b;\npub use a::*;\n#[cfg(test)]\nmod tests { use super::a::A; }\n"),
        ("a.rs", "use crate::b::B;\npub struct A(B);\n"),
        ("b/mod.rs", "mod inner;\npub use inner::B;\n"),
        ("b/inner.rs", "use std::fmt;\npub struct B;\n#[cfg(test)]\nmod tests { use crate::A; }\n"),
        ("unused.rs", ""),
    ]);
    assert_eq!(found, [""; 0]);
}

/// The circles of two files that `lib.rs` declares.
fn of_two(a: &str, b: &str) -> Vec<String> {
    circles_of(&[("lib.rs", "mod a;\nmod b;\n"), ("a.rs", a), ("b.rs", b)])
}

#[test]
fn a_circle_is_found_whatever_way_a_file_names_the_other() {
    const BACK: &str =
        "use super::a::A;\npub struct B(A);\npub fn new() {}\npub const NAME: u8 = 1;\n";
    for a in [
        "use crate::b::B;\npub struct A(B);\n",
        "pub struct A(crate::b::B);\n",
        "pub struct A(Vec<super::b::B>);\n",
        "use super::b;\npub struct A(b::B);\n",
        "pub(crate) use crate::b::B;\npub struct A(B);\n",
        "pub use crate::b::*;\npub struct A(B);\n",
        "pub struct A;\nfn new() { use crate::b::B as Other; Other::new(); }\n",
        "pub struct A;\nimpl A { fn new() -> Self { crate::b::new() } }\n",
        "pub struct A;\nfn new() { println!(\"{}\", crate::b::B::new()); }\n",
        "pub struct A;\nmod inner { fn new() { super::super::b::new(); } }\n",
        "pub(crate) use crate::b::new;\npub struct A;\nfn old() { new(); }\n",
        // A variable of the same name hides it only where it is in scope.
        "pub(crate) use crate::b::new;\npub struct A;\nimpl A {\nfn a(new: u8) {}\nfn b() { new(); }\n}\n",
        "pub(crate) use crate::b::new;\npub struct A;\nfn old() { { let new = 1; } new(); }\n",
        "pub(crate) use crate::b::new;\npub struct A;\nfn old() { let new = new(); }\n",
        "pub(crate) use crate::b::new;\npub struct A;\nfn old() { println!(\"{}\", new()); }\n",
        "pub(crate) use crate::b::NAME;\npub struct A;\nfn old(x: u8) { match x { NAME => 1, _ => 2 }; }\n",
        // Attributes.
        "pub struct A;\nstruct S { #[serde(with = \"crate::b\")] a: u8 }\n",
        "pub struct A;\nstruct S { #[serde(default, skip_serializing_if = \"super::b::new\")] a: u8 }\n",
        "pub struct A;\nstruct S { #[arg(value_parser = crate::b::new)] a: u8 }\n",
        // No test.
        "pub struct A;\n#[cfg(all(testbed, unix))]\nfn old() { crate::b::new(); }\n",
        "pub struct A;\n#[cfg(any(test, unix))]\nfn old() { crate::b::new(); }\n",
        "pub struct A;\n#[cfg(not(test))]\nfn old() { crate::b::new(); }\n",
    ] {
        let found = of_two(a, BACK);
        assert_eq!(found.len(), 1, "{a}: {found:?}");
    }
}

#[test]
fn a_module_and_a_file_below_it_make_a_circle_where_each_uses_the_other() {
    const CHILD: &str = "use super::A;\npub struct C(A);\npub fn make(a: A) -> C { C(a) }\n";
    let of_nested =
        |parent: &str| circles_of(&[("lib.rs", "mod a;\n"), ("a.rs", parent), ("a/c.rs", CHILD)]);
    for parent in [
        "mod c;\npub struct A;\nfn new() { c::make(A); }\n",
        "mod c;\nuse c::C;\npub struct A;\nfn new() -> Option<C> { None }\n",
        "mod c;\npub use c::C;\npub struct A;\nfn new() -> Option<C> { None }\n",
        "mod c;\npub struct A;\nfn new() { self::c::make(A); }\n",
    ] {
        let found = of_nested(parent);
        assert_eq!(found.len(), 1, "{parent}: {found:?}");
        assert!(found[0].contains("a.rs") && found[0].contains("c.rs"), "{found:?}");
    }
    for parent in [
        "mod c;\npub use c::C;\npub struct A;\n",
        "mod c;\npub use c::{C, make};\npub struct A;\nfn new(make: A) -> A { make }\n",
        "pub mod c;\npub struct A;\nfn new(c: A) -> A { c }\n",
    ] {
        assert_eq!(of_nested(parent), [""; 0], "{parent}");
    }
    // The type in a file of its own: both use that.
    let cured = circles_of(&[
        ("lib.rs", "mod a;\n"),
        ("a.rs", "mod b;\nmod c;\npub use b::A;\nfn new() { c::make(A); }\n"),
        ("a/b.rs", "pub struct A;\n"),
        ("a/c.rs", CHILD),
    ]);
    assert_eq!(cured, [""; 0]);
}

#[test]
fn a_circle_is_found_through_methods_that_stand_in_another_file() {
    const GIVES: &str = "use super::a::A;\nimpl A {\npub fn new() {}\npub fn next(&self) {}\n}\n";
    for call in [
        "self.next();",
        "Self::new();",
        "println!(\"{}\", (self.next(), 1));",
        "f(|| self.next());",
    ] {
        for head in ["impl A", "impl<T> A<T>", "impl Clone for A", "impl crate::a::A"] {
            let a = format!("pub struct A;\n{head} {{\nfn old(&self) {{ {call} }}\n}}\n");
            let found = of_two(&a, GIVES);
            assert!(
                found.len() == 1 && found[0].contains("of crates/planted/src/b.rs"),
                "{a}: {found:?}"
            );
        }
    }
    for own in [
        // Of its own file, another type's, a field's, a test's.
        "pub struct A;\nimpl A {\nfn near(&self) {}\nfn old(&self) { self.near(); }\n}\n",
        "pub struct A;\nstruct C;\nimpl C {\nfn old(&self) { self.next(); }\n}\n",
        "pub struct A { of: B }\nimpl A {\nfn old(&self) { self.of.next(); }\n}\n",
        "pub struct A;\nimpl A {\n#[cfg(test)]\nfn old(&self) { self.next(); }\n}\n",
    ] {
        assert_eq!(of_two(own, GIVES), [""; 0], "{own}");
    }
}

#[test]
fn a_circle_says_what_each_file_needs() {
    let found = of_two("pub struct A(crate::b::B);\n", "pub struct B(crate::a::A);\n");
    assert!(found[0].contains("a.rs needs b::B of"), "{found:?}");
    assert!(found[0].contains("b.rs needs a::A of"), "{found:?}");
}

#[test]
fn what_hides_who_needs_whom_is_refused() {
    for (a, said) in [
        ("include!(\"b.rs\");\n", "include!"),
        ("fn f() { include!(\"../b.rs\") }\n", "include!"),
        ("#[macro_use]\nmod inner { macro_rules! m { () => {} } }\n", "macro_use"),
        ("macro_rules! m { ($a:ident) => { $crate::$a::new() } }\n", "$crate::$name"),
        ("#[path = \"../more/c.rs\"]\nmod c;\n", "leaves src"),
        ("#[path = \"../../other/src/lib.rs\"]\nmod c;\n", "leaves src"),
        ("extern crate self as other;\npub use other::b::B;\n", "extern crate self"),
    ] {
        let found = of_two(a, "pub struct B;\n");
        assert!(found.len() == 1 && found[0].contains(said), "{a}: {found:?}");
        assert!(found[0].starts_with("crates/planted/src/a.rs: "), "{found:?}");
    }
    // What a build script made is no file of the project.
    let made = "const A: &[u8] = include!(concat!(env!(\"OUT_DIR\"), \"/a.rs\"));\n";
    assert_eq!(of_two(made, ""), [""; 0]);
}

#[test]
fn variables_and_tests_need_no_file() {
    const BACK: &str = "use super::a::A;\npub struct B(A);\npub fn new() {}\n";
    for a in [
        "pub(crate) use crate::b::new;\npub struct A;\nfn old(new: u8) -> u8 { new }\n",
        "pub(crate) use crate::b::new;\npub struct A;\nfn old() { let new = 1; f(|| new); }\n",
        "pub(crate) use crate::b::new;\npub struct A;\nfn old() { for new in 0..1 { f(new); } }\n",
        "pub(crate) use crate::b::new;\npub struct A;\nfn old() { if let Some(new) = x { f(new); } }\n",
        "pub(crate) use crate::b::new;\npub struct A;\nfn old() { println!(\"{}\", x.new()); }\n",
        "pub struct A;\n#[cfg(all(unix, test))]\nfn old() { crate::b::new(); }\n",
        "pub struct A;\n#[cfg(all(test))]\nfn old() { crate::b::new(); }\n",
    ] {
        assert_eq!(of_two(a, BACK), [""; 0], "{a}");
    }
}
