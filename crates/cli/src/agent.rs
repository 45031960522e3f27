//! Commands that fwdlab runs itself, here and on other systems.

use std::ffi::OsString;
use std::process::ExitCode;

/// Arguments of `fwdlab launch`.
#[derive(clap::Args)]
pub struct LaunchArgs {
    /// Process with which the program is to end
    parent: i32,
    /// The program
    program: OsString,
    /// Its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Works off the orders that come by standard input, until that ends.
pub fn serve() -> ExitCode {
    match fwdlab_agent::serve(std::io::stdin(), std::io::stdout()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            fwdlab_guard::say!("error: {why}");
            ExitCode::from(2)
        }
    }
}

/// Runs as the init process of a virtual machine and ends the machine; in any other process, says
/// that it is none.
pub fn guest() -> ExitCode {
    fwdlab_agent::run_guest();
    ExitCode::FAILURE
}

/// Becomes the program.
///
/// # Errors
/// When it cannot be started.
pub fn launch(arguments: &LaunchArgs) -> anyhow::Result<ExitCode> {
    use anyhow::Context;

    let LaunchArgs { parent, program, arguments } = arguments;
    let error = fwdlab_agent::launch(*parent, program, arguments);
    Err(error).with_context(|| format!("cannot start {}", program.display()))
}
