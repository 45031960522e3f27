//! `cargo xtask seeds`: sets the published figures of D27401 beside what fwdlab and FreeBSD in a guest
//! say, and writes docs/seeds.md from docs/seeds.toml and from where the program's own figures stand.

mod elsewhere;
mod family;
mod numbers;
mod page;
mod plot;
mod ratio;
mod said;

use std::path::Path;

use anyhow::{Context, Result};

const NUMBERS: &str = "docs/seeds.toml";
const PAGE: &str = "docs/seeds.md";

/// What to do.
#[derive(clap::Args)]
pub struct Args {
    /// Only say whether the page is what the numbers make
    #[arg(long)]
    check: bool,
}

/// Writes the page, or holds it against the numbers.
///
/// # Errors
/// Numbers that cannot be read, or make no figure.
pub fn run(root: &Path, args: &Args) -> Result<bool> {
    let text = made(root)?;
    let path = root.join(PAGE);
    if args.check {
        let is_same = std::fs::read_to_string(&path).is_ok_and(|old| old == text);
        if !is_same {
            println!("{PAGE} is not what the figures make: run `cargo xtask seeds`");
        }
        return Ok(is_same);
    }
    std::fs::write(&path, text).with_context(|| format!("cannot write {PAGE}"))?;
    println!("{PAGE} is written");
    Ok(true)
}

/// The page as it should be.
fn made(root: &Path) -> Result<String> {
    let text = std::fs::read_to_string(root.join(NUMBERS))
        .with_context(|| format!("cannot read {NUMBERS}"))?;
    let own = elsewhere::Elsewhere::read(root)?;
    let numbers = numbers::read(&text, own).with_context(|| format!("{NUMBERS} is wrong"))?;
    page::write(&numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_what_the_numbers_make() {
        let root = crate::root();
        let page = std::fs::read_to_string(root.join(PAGE)).unwrap();
        assert!(page == made(&root).unwrap(), "run `cargo xtask seeds`");
    }
}
