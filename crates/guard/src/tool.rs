//! Programs of others, which fwdlab starts as whoever runs it.

use std::ffi::OsStr;
use std::process::Command;

/// A program that is found by PATH and sees nothing else of the caller's environment: no library
/// loaded before its own, no configuration of somebody's, no language but the one whose words fwdlab
/// reads.
pub fn tool(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_clear().env("LC_ALL", "C");
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_tool_sees_only_where_programs_are() {
        let output = super::tool("env").output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let mut names: Vec<&str> =
            text.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
        names.sort_unstable();
        assert_eq!(names, ["LC_ALL", "PATH"]);
    }
}
