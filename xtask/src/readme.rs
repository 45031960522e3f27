//! The README keeps its promises: its commands run, and what it links to exists.

use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;

/// The command that runs all this; it is not run from within itself.
const TEST_COMMAND: &str = "cargo xtask test";

/// Runs the README's commands in `root` and looks for what it links to; returns what is wrong.
pub fn faults(root: &Path) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(root.join("README.md")).context("cannot read README.md")?;
    let mut faults = Vec::new();
    for target in links(&text).filter(|target| !target.contains("://") && !target.starts_with('#'))
    {
        let file = target.split('#').next().unwrap_or_default();
        if !root.join(file).exists() {
            faults.push(format!("README.md links to {target}, which does not exist"));
        }
    }
    let commands = commands(&text);
    if !commands.iter().any(|command| command == TEST_COMMAND) {
        faults.push(format!("README.md does not name the test command, {TEST_COMMAND}"));
    }
    for command in commands.iter().filter(|command| *command != TEST_COMMAND) {
        println!("$ {command}");
        let status = Command::new("sh").args(["-ec", command]).current_dir(root).status()?;
        if !status.success() {
            faults.push(format!("README.md: `{command}` ended with {status}"));
        }
    }
    Ok(faults)
}

/// The lines of all code blocks marked `sh`.
fn commands(text: &str) -> Vec<String> {
    let mut is_inside = false;
    let mut commands = Vec::new();
    for line in text.lines() {
        match line.trim() {
            "```sh" => is_inside = true,
            "```" => is_inside = false,
            line if is_inside && !line.is_empty() && !line.starts_with('#') => {
                // A comment behind a command is for people.
                let command = line.split(" #").next().unwrap_or(line);
                commands.push(command.trim().to_owned());
            }
            _ => {}
        }
    }
    commands
}

/// The targets of all Markdown links and pictures.
fn links(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| rest.split(')').next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_the_lines_of_shell_blocks() {
        let text = "a\n```sh\n# why\ncargo run  # what\n\ncargo xtask test\n```\n```\nno\n```\n";
        assert_eq!(commands(text), ["cargo run", "cargo xtask test"]);
    }

    #[test]
    fn links_are_found() {
        let found: Vec<&str> = links("[a](b.md) and ![c](d/e.png)").collect();
        assert_eq!(found, ["b.md", "d/e.png"]);
    }
}
