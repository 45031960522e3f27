//! `fwdlab completions` and `fwdlab man`: what shells and manuals know of this program, made from its
//! own arguments.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use fwdlab_guard::Folder;

use crate::output;

/// What `fwdlab licences` prints: our own licence, then those of all parts (`cargo xtask supply --write`).
pub const LICENCES: &str = include_str!("../licences.txt");

/// Arguments of `fwdlab completions`.
#[derive(clap::Args)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

/// Arguments of `fwdlab man`.
#[derive(clap::Args)]
pub struct ManArgs {
    /// Write the pages of all commands into this directory, instead of printing the first
    dir: Option<PathBuf>,
}

/// Prints completions for a shell.
///
/// # Errors
/// When stdout cannot be written.
pub fn completions(
    arguments: &CompletionsArgs,
    mut command: clap::Command,
) -> anyhow::Result<ExitCode> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "fwdlab", &mut text);
    output::print_raw(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the manual page, or writes those of all commands.
///
/// # Errors
/// When a file or stdout cannot be written.
pub fn man(arguments: &ManArgs, mut command: clap::Command) -> anyhow::Result<ExitCode> {
    command.build();
    let Some(dir) = &arguments.dir else {
        output::print_raw(&page(&command)?)?;
        return Ok(ExitCode::SUCCESS);
    };
    let failed = || format!("cannot write manual pages to {}", dir.display());
    std::fs::create_dir_all(dir).with_context(failed)?;
    let folder = Folder::open(dir).with_context(failed)?;
    let mut count = 0;
    let shown = command.get_subcommands().filter(|sub| !sub.is_hide_set());
    for command in std::iter::once(&command).chain(shown) {
        let name = command.get_display_name().unwrap_or(command.get_name());
        folder.put(format!("{name}.1").as_ref(), &page(command)?).with_context(failed)?;
        count += 1;
    }
    fwdlab_guard::say!("{count} pages written to {}", dir.display());
    Ok(ExitCode::SUCCESS)
}

fn page(command: &clap::Command) -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    let page = clap_mangen::Man::new(command.clone()).source("fwdlab").manual("fwdlab");
    page.render(&mut text).context("cannot make a manual page")?;
    Ok(text)
}
