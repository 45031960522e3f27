//! The command: options, files, errors and exit codes as in the original.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use super::getopt::{self, Item};
use super::number::{parse_float, parse_long};
use super::read::{Columns, Fault};
use super::{Confidence, Dataset, MAX_DATASETS, Options, SYMBOLS, Version, render};

/// Widest plot that is drawn; wider ones only fill memory.
const MAX_WIDTH: i32 = 1_000_000;

/// Longest input of one data set: some 30 million numbers.
const MOST_BYTES: u64 = 256 << 20;

const USAGE_2015: &str = "Usage: ministat [-C column] [-c confidence] [-d delimiter(s)] [-Ans] \
[-w width] [file [file ...]]
\tconfidence = {80%, 90%, 95%, 98%, 99%, 99.5%}
\t-A : print statistics only. suppress the graph.
\t-C : column number to extract (starts and defaults to 1)
\t-d : delimiter(s) string, default to \" \\t\"
\t-n : print summary statistics only, no graph/test
\t-s : print avg/median/stddev bars on separate lines
\t-w : width of graph/test output (default 74 or terminal width)
";

const USAGE: &str =
    "Usage: ministat [-C column] [-c confidence] [-d delimiter(s)] [-Anqs] [-w width] [file ...]
\tconfidence = {80%, 90%, 95%, 98%, 99%, 99.5%}
\t-A : no plot
\t-C : column to read, from 1 (default 1)
\t-d : characters that separate columns (default space and tab)
\t-n : table only, neither plot nor test
\t-q : no legends, no header line
\t-s : one bar line per data set
\t-w : width of the plot (default 74 or that of the terminal)
\t--compat 2015 : arithmetic and messages of version 20150715
\t--compat 2016 : arithmetic of the versions between that one and today's
";

/// What the command reads from and writes to.
pub struct Streams<'a> {
    /// Standard input.
    pub stdin: &'a mut dyn Read,
    /// Standard output.
    pub out: &'a mut dyn Write,
    /// Standard error.
    pub err: &'a mut dyn Write,
    /// Columns of the terminal that `out` is, if it is one.
    pub terminal_columns: Option<usize>,
}

/// Why the command ends without a result.
struct Failure {
    text: String,
    code: u8,
}

impl Failure {
    fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), code: 2 }
    }

    fn usage(first_line: &str, version: Version) -> Self {
        let usage = if version != Version::Compat2015 { USAGE } else { USAGE_2015 };
        Self::new(format!("{first_line}\n{usage}"))
    }
}

/// Runs the command with `args` (without the program's name) and returns its exit code: 0, or 2
/// (with `--compat 2015` also 1, for a file that cannot be opened).
///
/// Beyond the original's options it knows `--compat 2015` and `2016` (also `--compat=2015`) and `--help`.
pub fn cli(args: &[OsString], streams: Streams<'_>) -> u8 {
    let Streams { stdin, out, err, terminal_columns } = streams;
    let args: Vec<Vec<u8>> = args.iter().map(|arg| arg.as_bytes().to_vec()).collect();
    match run(args, stdin, terminal_columns) {
        // a closed pipe is the reader's choice, not an error
        Ok(output) => match out.write_all(&output).and_then(|()| out.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                let _ = writeln!(err, "ministat: cannot write: {}", reason(&error));
                2
            }
            _ => 0,
        },
        Err(failure) => {
            let _ = err.write_all(failure.text.as_bytes());
            failure.code
        }
    }
}

fn run(
    args: Vec<Vec<u8>>,
    stdin: &mut dyn Read,
    terminal_columns: Option<usize>,
) -> Result<Vec<u8>, Failure> {
    let (args, version) = take_version(args)?;
    if args.iter().take_while(|arg| *arg != b"--").any(|arg| arg == b"--help") {
        return Ok(USAGE.as_bytes().to_vec());
    }
    let spec: &[u8] = if version != Version::Compat2015 { b"AC:c:d:snqw:" } else { b"AC:c:d:snw:" };
    let parsed = getopt::parse(&args, spec, version);
    let mut options = Options { version, ..Options::default() };
    if let Some(columns) = terminal_columns {
        options.width = columns.saturating_sub(2).max(2);
    }
    let mut has_confidence = false;
    for item in parsed.items {
        apply(item, &mut options, &mut has_confidence)?;
    }
    if options.width == 1 && options.has_plot && !options.is_vitals_only {
        return Err(Failure::new(
            "ministat: no plot fits into a width of 1; use -w 2 or more, or -A for none\n",
        ));
    }
    if parsed.operands.len() > MAX_DATASETS {
        return Err(Failure::usage("Too many datasets.", version));
    }
    let datasets = read_all(&parsed.operands, stdin, &options)?;
    debug_assert!(datasets.len() < SYMBOLS.len());
    Ok(render(&datasets, &options))
}

/// Takes `--compat VERSION` out of the arguments before getopt sees them.
fn take_version(args: Vec<Vec<u8>>) -> Result<(Vec<Vec<u8>>, Version), Failure> {
    let mut version = Version::V3;
    let mut kept = Vec::with_capacity(args.len());
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        let wanted = match arg.as_slice() {
            b"--" => {
                kept.push(arg);
                kept.extend(args);
                break;
            }
            b"--compat" => args.next().unwrap_or_default(),
            _ => match arg.strip_prefix(b"--compat=") {
                Some(wanted) => wanted.to_vec(),
                None => {
                    kept.push(arg);
                    continue;
                }
            },
        };
        version = match wanted.as_slice() {
            b"2015" => Version::Compat2015,
            b"2016" => Version::Compat2016,
            _ => {
                let wanted = String::from_utf8_lossy(&wanted).into_owned();
                return Err(Failure::new(format!(
                    "ministat: --compat {wanted}: the versions to choose are 2015 and 2016\n"
                )));
            }
        };
    }
    Ok((kept, version))
}

fn apply(item: Item, options: &mut Options, has_confidence: &mut bool) -> Result<(), Failure> {
    let version = options.version;
    let usage = |first_line: &str| Failure::usage(first_line, version);
    match item {
        Item::Unknown(message) => return Err(usage(&format!("{message}\nUnknown option"))),
        Item::Option(b'A', _) => options.has_plot = false,
        Item::Option(b'n', _) => options.is_vitals_only = true,
        Item::Option(b's', _) => options.has_separate_bars = true,
        Item::Option(b'q', _) => options.is_quiet = true,
        Item::Option(b'C', text) => {
            // the original keeps an int of the long that strtol returns
            let column = parse_long(&text).ok_or_else(|| usage("Invalid column number."))? as i32;
            options.column = usize::try_from(column)
                .ok()
                .filter(|column| *column > 0)
                .ok_or_else(|| usage("Column number should be positive."))?;
        }
        Item::Option(b'c', text) => {
            let percent = if text.is_empty() { Some(0.0) } else { parse_float(&text) };
            let percent = percent.ok_or_else(|| usage("Not a floating point number"))?;
            match Confidence::from_percent(percent) {
                Some(confidence) => options.confidence = confidence,
                // version 20150715 keeps the level of an earlier -c without a word
                None if version == Version::Compat2015 && *has_confidence => {}
                None => return Err(usage("No support for confidence level")),
            }
            *has_confidence = true;
        }
        Item::Option(b'd', text) if text.is_empty() => {
            return Err(usage("Can't use empty delimiter string"));
        }
        Item::Option(b'd', text) => options.delimiters = text,
        Item::Option(_, text) => {
            let width =
                parse_long(&text).ok_or_else(|| usage("Invalid width, not a number."))? as i32;
            if width > MAX_WIDTH {
                return Err(Failure::new(format!(
                    "ministat: a width of {width} is too much; use at most {MAX_WIDTH}\n"
                )));
            }
            options.width =
                usize::try_from(width).map_err(|_| usage("Unable to move beyond left margin."))?;
        }
    }
    Ok(())
}

/// Reads all files, each on a thread of its own; the first one in order that fails decides.
fn read_all(
    operands: &[Vec<u8>],
    stdin: &mut dyn Read,
    options: &Options,
) -> Result<Vec<Dataset>, Failure> {
    let columns = Columns::new(options.column, &options.delimiters);
    if operands.is_empty() {
        return Ok(vec![read_stdin(b"<stdin>", stdin, &columns)?]);
    }
    let dash: &[u8] = if options.version != Version::Compat2015 { b"-" } else { b"<stdin>" };
    std::thread::scope(|scope| {
        let jobs: Vec<_> = operands
            .iter()
            .map(|path| {
                let columns = &columns;
                (path != b"-")
                    .then(|| scope.spawn(move || read_file(path, columns, options.version)))
            })
            .collect();
        jobs.into_iter()
            .map(|job| match job {
                None => read_stdin(dash, stdin, &columns),
                Some(job) => job.join().unwrap_or_else(|_| {
                    Err(Failure::new("ministat: a reading thread ended early\n"))
                }),
            })
            .collect()
    })
}

fn read_stdin(legend: &[u8], stdin: &mut dyn Read, columns: &Columns) -> Result<Dataset, Failure> {
    let mut data = Vec::new();
    let name = String::from_utf8_lossy(legend);
    stdin.take(MOST_BYTES + 1).read_to_end(&mut data).map_err(|error| {
        Failure::new(format!("ministat: Cannot read {name}: {}\n", reason(&error)))
    })?;
    bounded(legend, &data)?;
    dataset(legend, &data, columns)
}

fn read_file(path: &[u8], columns: &Columns, version: Version) -> Result<Dataset, Failure> {
    let name = String::from_utf8_lossy(path);
    let file = File::open(OsString::from_vec(path.to_vec())).map_err(|error| Failure {
        text: format!("ministat: Cannot open {name}: {}\n", reason(&error)),
        code: if version != Version::Compat2015 { 2 } else { 1 },
    })?;
    let mut data = Vec::new();
    match file.take(MOST_BYTES + 1).read_to_end(&mut data) {
        // the original opens a directory and finds no line in it
        Err(error) if error.kind() != io::ErrorKind::IsADirectory => {
            Err(Failure::new(format!("ministat: Cannot read {name}: {}\n", reason(&error))))
        }
        _ => bounded(path, &data).and_then(|()| dataset(path, &data, columns)),
    }
}

/// Refuses what may have no end, as a device.
fn bounded(legend: &[u8], data: &[u8]) -> Result<(), Failure> {
    if data.len() as u64 <= MOST_BYTES {
        return Ok(());
    }
    let name = String::from_utf8_lossy(legend);
    let text = format!("ministat: {name} has more than {} MiB\n", MOST_BYTES >> 20);
    Err(Failure::new(text))
}

fn dataset(legend: &[u8], data: &[u8], columns: &Columns) -> Result<Dataset, Failure> {
    let name = String::from_utf8_lossy(legend);
    let values = columns.values(data).map_err(|fault| match fault {
        Fault::Invalid(line) => Failure::new(format!("ministat: Invalid data on line {line} in {name}\n")),
        Fault::NotFinite(line) => Failure::new(format!(
            "ministat: infinite value or not a number on line {line} in {name}; remove it or mark it with #\n"
        )),
    })?;
    Dataset::new(legend, values).map_err(|error| Failure::new(format!("{error}\n")))
}

/// The system's words for an error, without Rust's "(os error N)".
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}
