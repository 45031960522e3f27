//! `fwdlab man`: manual pages, made from the program's own arguments.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use fwdlab_guard::Folder;

use crate::output;

/// What `fwdlab licences` prints: our own licence, then those of all parts (`cargo xtask supply --write`).
pub const LICENCES: &str = include_str!("../licences.txt");

/// Arguments of `fwdlab man`.
#[derive(clap::Args)]
pub struct ManArgs {
    /// Write the pages of all commands into this directory, instead of printing the first
    dir: Option<PathBuf>,
}

/// Prints the manual page, or writes those of all commands.
///
/// # Errors
/// When a file or stdout cannot be written.
pub fn man(arguments: &ManArgs, command: clap::Command) -> anyhow::Result<ExitCode> {
    // `help` has a copy of every command below it
    let mut command = command.disable_help_subcommand(true);
    command.build();
    let Some(dir) = &arguments.dir else {
        output::print_raw(&page(&command)?)?;
        return Ok(ExitCode::SUCCESS);
    };
    let failed = || format!("cannot write manual pages to {}", dir.display());
    std::fs::create_dir_all(dir).with_context(failed)?;
    let folder = Folder::open(dir).with_context(failed)?;
    let commands = with_those_below(&command);
    for command in &commands {
        let name = command.get_display_name().unwrap_or(command.get_name());
        folder.put(format!("{name}.1").as_ref(), &page(command)?).with_context(failed)?;
    }
    fwdlab_guard::say!("{} pages written to {}", commands.len(), dir.display());
    Ok(ExitCode::SUCCESS)
}

/// A command and all that are shown below it: each page names the pages of those.
fn with_those_below(command: &clap::Command) -> Vec<&clap::Command> {
    let mut found = vec![command];
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        found.extend(with_those_below(sub));
    }
    found
}

fn page(command: &clap::Command) -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    let page = clap_mangen::Man::new(command.clone()).source("fwdlab").manual("fwdlab");
    page.render(&mut text).context("cannot make a manual page")?;
    Ok(text)
}
