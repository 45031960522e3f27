use super::*;

/// The circles of a crate with these files.
fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
    let dir = std::env::temp_dir().join(format!("circles-{}-{}", std::process::id(), files.len()));
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
        ("lib.rs", "mod a;\nmod b;\npub use a::*;\n#[cfg(test)]\nmod tests { use super::a::A; }\n"),
        ("a.rs", "use crate::b::B;\npub struct A(B);\n"),
        ("b/mod.rs", "mod inner;\npub use inner::B;\n"),
        ("b/inner.rs", "use std::fmt;\npub struct B;\n#[cfg(test)]\nmod tests { use crate::A; }\n"),
        ("unused.rs", ""),
    ]);
    assert_eq!(found, [""; 0]);
}
