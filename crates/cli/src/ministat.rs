//! `fwdlab ministat`: ministat(1), byte for byte. Only forwards; the command is in the stats crate.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write};
use std::process::ExitCode;

use fwdlab_device::DoctorFinding;
use fwdlab_guard::words;
use fwdlab_stats::ministat::{self, Streams};

/// The arguments are ministat's own; see `fwdlab ministat --help`.
#[derive(clap::Args)]
#[command(disable_help_flag = true)]
pub struct Args {
    /// Options and files as in ministat(1)
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    _arguments: Vec<OsString>,
}

/// The original, to which it is held.
pub fn finding() -> DoctorFinding {
    DoctorFinding::program(
        "ministat",
        "the differential tests of `fwdlab ministat`",
        "apt-get install ministat",
    )
}

/// What is written to a terminal, with what it would act on written out. Names of files are printed, and
/// they may be a stranger's.
struct Visible<W>(W);

impl<W: Write> Write for Visible<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.0.write_all(words::visible(&text).as_bytes()).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Runs it on the arguments as typed: clap would take a `--` out of them.
pub fn execute() -> ExitCode {
    let arguments: Vec<OsString> =
        std::env::args_os().skip(1).skip_while(|argument| argument != "ministat").skip(1).collect();
    // Programs get ministat's bytes.
    let mut out: Box<dyn Write> = match io::stdout().is_terminal() {
        true => Box::new(Visible(io::stdout().lock())),
        false => Box::new(io::stdout().lock()),
    };
    let streams = Streams {
        stdin: &mut io::stdin().lock(),
        out: &mut *out,
        err: &mut Visible(io::stderr().lock()),
        terminal_columns: terminal_size::terminal_size_of(io::stdout())
            .map(|(width, _)| usize::from(width.0)),
    };
    ExitCode::from(ministat::cli(&arguments, streams))
}
