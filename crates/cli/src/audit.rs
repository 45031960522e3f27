//! `fwdlab audit`: published pages against the data beside them.

mod own;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use fwdlab_audit::{
    AuditFinding, MAX_PAGE_BYTES, Report, Rule, Severity, audit, audit_page, sarif,
};

use fwdlab_guard::words::{one_line, visible};
use fwdlab_guard::{input, remedy};
use fwdlab_stats::plural;

use crate::output;

/// Arguments of `fwdlab audit`.
#[derive(Parser)]
#[command(after_help = "Exit status: 0 nothing is wrong, 1 something is wrong, 2 an error.\n\
                        Rules and examples: docs/audit.md")]
pub struct Args {
    /// Trees, result directories or single pages (README.md); `-` is a page on standard input
    #[arg(required_unless_present = "list_rules")]
    paths: Vec<PathBuf>,

    /// How findings are written to stdout
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,

    /// Only findings of this rule (repeat for more)
    #[arg(long = "rule", value_name = "ID", value_parser = rule_by_id)]
    rules: Vec<Rule>,

    /// Leave out findings below this severity
    #[arg(long, value_enum, default_value_t = Least::Info)]
    least: Least,

    /// List the rules and exit
    #[arg(long)]
    list_rules: bool,
}

/// Formats of the findings.
#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// Grouped by file, for people
    Text,
    /// One object with counts and findings
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
}

/// So many paths that were left out are named on a terminal.
const MOST_SKIPPED: usize = 20;

/// Severities from the gravest down.
#[derive(Clone, Copy, ValueEnum)]
enum Least {
    /// Only what the data contradicts
    Wrong,
    /// Also what a person should look at
    Check,
    /// Everything
    Info,
}

impl Least {
    fn takes(self, severity: Severity) -> bool {
        match self {
            Self::Wrong => severity == Severity::Wrong,
            Self::Check => severity != Severity::Info,
            Self::Info => true,
        }
    }
}

fn rule_by_id(id: &str) -> Result<Rule, String> {
    let found = Rule::ALL.iter().find(|rule| rule.id() == id);
    found.copied().ok_or_else(|| "no such rule; see `fwdlab audit --list-rules`".to_owned())
}

/// Runs the command.
pub fn execute(arguments: &Args) -> anyhow::Result<ExitCode> {
    if arguments.list_rules {
        let width = Rule::ALL.iter().map(|rule| rule.id().len()).max().unwrap_or(0);
        let lines = Rule::ALL.iter().map(|r| format!("{:width$}  {}\n", r.id(), r.summary()));
        output::print(&lines.collect::<String>())?;
        return Ok(ExitCode::SUCCESS);
    }
    let is_stdin = |path: &&PathBuf| path.as_os_str() == "-";
    let paths: Vec<PathBuf> =
        arguments.paths.iter().filter(|path| !is_stdin(path)).cloned().collect();
    paths.iter().try_for_each(|path| readable(path))?;
    let mut report = audit(&paths)?;
    own::audit(&paths, &mut report);
    let counts = &report.counts;
    let is_empty = counts.pages == 0 || is_no_page(&paths, &report);
    if !paths.is_empty() && is_empty && counts.directories == 0 {
        anyhow::bail!(
            "there is nothing to audit in {}: wanted a published page (README.md, page.txt), or a \
             directory of published runs",
            paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
        );
    }
    if arguments.paths.iter().any(|path| is_stdin(&path)) {
        let mut page = Vec::new();
        std::io::stdin().lock().take(MAX_PAGE_BYTES as u64 + 1).read_to_end(&mut page)?;
        report.add(audit_page(&page));
    }
    let is_read = is_read(&paths, &report);
    report.findings.retain(|finding| {
        arguments.least.takes(finding.severity)
            && (arguments.rules.is_empty() || arguments.rules.contains(&finding.rule))
    });
    for skipped in report.skipped.iter().take(MOST_SKIPPED) {
        fwdlab_guard::say!("left out: {skipped}");
    }
    if let Some(more @ 1..) = report.skipped.len().checked_sub(MOST_SKIPPED) {
        fwdlab_guard::say!("left out: {more} more; --format json names them all");
    }
    match arguments.format {
        Format::Text => output::print_raw(text(&report, output::is_coloured()).as_bytes())?,
        Format::Json => output::print(&format!("{}\n", report.to_json()?))?,
        Format::Sarif => output::print(&format!("{}\n", sarif(&report)?))?,
    }
    // What is wrong is so, however much was not read.
    if !report.has_wrong() && !is_read {
        anyhow::bail!(
            "a page that was named was not audited to its end ({})",
            Rule::PageUnreadable.id()
        );
    }
    Ok(if report.has_wrong() { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// Whether what was named can be read: in a tree it is left out with a reason, but here nothing would be left.
fn readable(path: &Path) -> anyhow::Result<()> {
    // What is not there has an error of its own.
    let is_there = path.exists() && !path.is_dir();
    if is_there && (path.starts_with("/dev/fd") || path == Path::new("/dev/stdin")) {
        anyhow::bail!(
            "cannot audit {}: it is no regular file; `-` takes a page from standard input",
            path.display()
        );
    }
    if is_there && let Err(error) = input::named(path, MAX_PAGE_BYTES as u64) {
        let remedy = remedy(&error).unwrap_or("check who may read it");
        anyhow::bail!("cannot audit {}: {error}; {remedy}", path.display());
    }
    Ok(())
}

/// Whether no page that was named, or taken from standard input, was left before its end.
fn is_read(paths: &[PathBuf], report: &Report) -> bool {
    let is_named = |file: &str| file == "-" || paths.iter().any(|path| path.ends_with(file));
    let mut unread = report.findings.iter().filter(|found| found.rule == Rule::PageUnreadable);
    !unread.any(|found| is_named(found.file.trim_start_matches("./")))
}

/// Whether all that was named are files that are no pages, by their names and by what is in them.
fn is_no_page(paths: &[PathBuf], report: &Report) -> bool {
    let is_named_so = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let ends = [".md", ".markdown", ".txt", ".html"];
        !path.is_file() || name.starts_with("readme") || ends.iter().any(|end| name.ends_with(end))
    };
    report.counts.blocks == 0 && report.findings.is_empty() && !paths.iter().any(is_named_so)
}

/// The report for people: findings grouped by file, counts at the end.
fn text(report: &Report, colour: bool) -> String {
    let mut files: BTreeMap<&str, Vec<&AuditFinding>> = BTreeMap::new();
    for finding in &report.findings {
        files.entry(&finding.file).or_default().push(finding);
    }
    let mut text = String::new();
    for (file, findings) in &files {
        let _ = writeln!(text, "{}", one_line(file));
        for finding in findings {
            write_finding(&mut text, finding, colour);
        }
        text.push('\n');
    }
    write_counts(&mut text, report);
    text
}

fn write_finding(text: &mut String, finding: &AuditFinding, colour: bool) {
    let severity = painted(finding.severity, colour);
    let (file, line) = (one_line(&finding.file), finding.line);
    let _ = writeln!(text, "  {file}:{line}: {severity} [{}]", finding.rule.id());
    for (name, content) in
        [("claim", &finding.claim), ("data", &finding.data), ("to do", &finding.suggestion)]
    {
        if !content.is_empty() {
            // What a journal or a page says begins no line of its own and gives a terminal no orders.
            let content = visible(content).replace('\n', "\n             ");
            let _ = writeln!(text, "      {name:5}  {content}");
        }
    }
}

fn painted(severity: Severity, colour: bool) -> String {
    let name = severity.name();
    if !colour {
        return name.to_owned();
    }
    let code = match severity {
        Severity::Wrong => "1;31",
        Severity::Check => "33",
        Severity::Info => "36",
    };
    format!("\u{1b}[{code}m{name}\u{1b}[0m")
}

fn write_counts(text: &mut String, report: &Report) {
    let counts = &report.counts;
    let directories = match counts.directories {
        1 => "1 directory".to_owned(),
        several => format!("{several} directories"),
    };
    let _ = writeln!(
        text,
        "{}; {}: {} byte for byte, {} but for white space, {} with values at hand, {} without; {} with data, {}",
        plural(counts.pages, "page"),
        plural(counts.blocks, "ministat block"),
        counts.blocks_exact,
        counts.blocks_spaced,
        counts.blocks_reproduced,
        counts.blocks_without_data,
        directories,
        plural(counts.runs, "run")
    );
    let by_rule = report.by_rule();
    let of = |severity| -> usize {
        by_rule.iter().filter(|((_, s), _)| *s == severity).map(|(_, count)| count).sum()
    };
    let _ = writeln!(
        text,
        "{} wrong, {} to check, {}",
        of(Severity::Wrong),
        of(Severity::Check),
        plural(of(Severity::Info), "note")
    );
    for ((rule, severity), count) in by_rule {
        let _ = writeln!(text, "  {count:4}  {:5}  {}", severity.name(), rule.id());
    }
}
