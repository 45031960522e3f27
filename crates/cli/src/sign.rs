//! `fwdlab sign` and `fwdlab verify`: the owner of an OpenSSH key vouches for a results directory.
//!
//! What is signed is a text of three lines: the hash of the journal's last line, which stands for all
//! lines before it, and the hash of the experiment. OpenSSH's own ssh-keygen signs and verifies it
//! (`ssh-keygen -Y`, format SSHSIG), so that a signature can be checked without fwdlab.

use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};

use anyhow::Context as _;
use fwdlab_guard::words::pasted;
use fwdlab_guard::{MIB, input};
use fwdlab_report as report;
use fwdlab_results::journal::{Chain, write_whole};
use fwdlab_results::{Results, SIGNATURE_FILE};
use fwdlab_verify::verify;

use crate::{devices, output};

/// What an SSHSIG signature says it is for.
const NAMESPACE: &str = "fwdlab";

/// Longest file of a signature, in bytes.
const MOST_SIGNATURE: u64 = 64 << 10;

/// Arguments of `fwdlab sign`.
#[derive(clap::Args)]
pub struct SignArgs {
    /// Results directory of a finished campaign
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// OpenSSH key to sign with; the public one where ssh-agent holds the private
    #[arg(short, long, value_name = "FILE")]
    key: PathBuf,
}

/// Arguments of `fwdlab verify`.
#[derive(clap::Args)]
pub struct VerifyArgs {
    /// Results directory
    #[arg(value_name = "DIR")]
    dir: PathBuf,

    /// Whose keys are whose, as in ALLOWED SIGNERS of ssh-keygen(1); without it any key will do, and
    /// its fingerprint is printed
    #[arg(short, long, value_name = "FILE")]
    signers: Option<PathBuf>,
}

/// Runs `fwdlab sign`.
///
/// # Errors
/// When the results are not finished, do not agree with themselves, are signed already, or
/// ssh-keygen or the key is missing.
pub fn execute_sign(arguments: &SignArgs) -> anyhow::Result<ExitCode> {
    let SignArgs { dir, key } = arguments;
    let results = Results::read(dir)?.knowing(&devices::known());
    let place = dir.join(SIGNATURE_FILE);
    anyhow::ensure!(
        results.finished.is_some(),
        "{} is unfinished; run the experiment to its end before it is signed",
        dir.display()
    );
    anyhow::ensure!(
        !place.exists(),
        "{} is there already; move it away to sign anew",
        place.display()
    );
    let text = signed_text(&results)?.map_err(anyhow::Error::msg)?;
    if let Some(fault) = verify(&results)?.faults.first() {
        anyhow::bail!("this is not signed: {fault}");
    }
    anyhow::ensure!(
        key.is_file(),
        "there is no key {}; make one with `ssh-keygen -t ed25519 -f {}`",
        key.display(),
        pasted(key)
    );
    let made = ssh_keygen(&["-Y", "sign", "-n", NAMESPACE, "-f", &path(key)?], &text)?;
    anyhow::ensure!(
        made.status.success() || !said(&made.stderr).contains("UNPROTECTED PRIVATE KEY"),
        "others may read the key {}, and ssh-keygen does not use such keys; `chmod 600 {}`",
        key.display(),
        pasted(key)
    );
    anyhow::ensure!(
        made.status.success(),
        "ssh-keygen could not sign with {}: {}; name a private key, such as `ssh-keygen -t ed25519 -f FILE` makes",
        key.display(),
        said(&made.stderr)
    );
    write_whole(&place, &made.stdout)?;
    fwdlab_guard::say!("signature: {}", place.display());
    Ok(ExitCode::SUCCESS)
}

/// Runs `fwdlab verify`: exit code 1 when the signature is not one over this directory, or the
/// directory does not agree with itself.
///
/// # Errors
/// When the results cannot be read, are not signed, or ssh-keygen is missing.
pub fn execute_verify(arguments: &VerifyArgs) -> anyhow::Result<ExitCode> {
    let VerifyArgs { dir, signers } = arguments;
    let results = Results::read(dir)?.knowing(&devices::known());
    let place = dir.join(SIGNATURE_FILE);
    anyhow::ensure!(
        place.symlink_metadata().is_ok(),
        "{} is not signed: there is no {SIGNATURE_FILE}; its owner makes one with `fwdlab sign`",
        dir.display()
    );
    // ssh-keygen would wait for whoever writes into a fifo.
    input::found(&place, MOST_SIGNATURE).with_context(|| {
        format!(
            "{} is no signature; take the directory again from where it was signed",
            place.display()
        )
    })?;
    let (is_good, words) = match (signed_text(&results)?, signers) {
        (Err(why), _) => (false, format!("its signature is not one over this journal: {why}")),
        (Ok(text), None) => by_any_key(&place, &text)?,
        (Ok(text), Some(signers)) => by_one_of(signers, &place, &text)?,
    };
    let differences = report::check(&results)?;
    let mut lines = vec![format!("{}: {words}", dir.display())];
    lines.extend(differences.iter().map(ToString::to_string));
    lines.extend(report::unchecked(&results)?.iter().map(|what| format!("not checked: {what}")));
    if differences.is_empty() {
        lines.push(format!("{}: the report agrees with its journal", dir.display()));
    }
    output::print(&(lines.join("\n") + "\n"))?;
    Ok(if is_good && differences.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What a signature of these results is over, or why there can be none.
fn signed_text(results: &Results) -> anyhow::Result<Result<String, String>> {
    let dir = results.dir.display();
    let experiment = &results.campaign.experiment_sha256;
    Ok(match Chain::read(&results.dir)? {
        Chain::Whole { last } => Ok(format!(
            "fwdlab results 1\njournal SHA-256 {last}\nexperiment SHA-256 {experiment}\n"
        )),
        Chain::Absent => Err(format!(
            "the journal of {dir} has no chain of hashes that a signature could cover; run the \
             experiment anew with this fwdlab"
        )),
        Chain::Broken { line, .. } => Err(format!(
            "{dir}/trials.jsonl:{line}: its hash is not that of what stands before; `fwdlab report \
             --check {}` says more",
            pasted(&results.dir)
        )),
    })
}

fn by_any_key(place: &Path, text: &str) -> anyhow::Result<(bool, String)> {
    let found =
        ssh_keygen(&["-Y", "check-novalidate", "-n", NAMESPACE, "-s", &path(place)?], text)?;
    Ok(match found.status.success() {
        true => (true, format!("{}; nobody said whose key it is (--signers)", said(&found.stdout))),
        false => (false, not_over_this(&found)),
    })
}

fn by_one_of(signers: &Path, place: &Path, text: &str) -> anyhow::Result<(bool, String)> {
    input::named_bytes(signers, MIB).with_context(|| {
        format!("cannot read {}; name a file of ALLOWED SIGNERS (ssh-keygen(1))", signers.display())
    })?;
    let (signers_path, place) = (path(signers)?, path(place)?);
    let found = ssh_keygen(&["-Y", "find-principals", "-s", &place, "-f", &signers_path], text)?;
    let names = said(&found.stdout);
    let Some(name) = names.lines().next().filter(|_| found.status.success()) else {
        let words = format!("the key of its signature is nobody's in {}", signers.display());
        return Ok((false, words));
    };
    // A line may name several, all of whom hold the key.
    let name = name.split(',').next().unwrap_or(name);
    let arguments =
        ["-Y", "verify", "-n", NAMESPACE, "-s", &place, "-f", &signers_path, "-I", name];
    let found = ssh_keygen(&arguments, text)?;
    Ok(match found.status.success() {
        true => (true, said(&found.stdout)),
        false => (false, not_over_this(&found)),
    })
}

fn not_over_this(found: &Output) -> String {
    let why = [said(&found.stdout), said(&found.stderr)].join(" ");
    format!("its signature is not one over this journal and experiment ({})", why.trim())
}

/// Runs ssh-keygen with `text` as its input.
fn ssh_keygen(arguments: &[&str], text: &str) -> anyhow::Result<Output> {
    let pipe = Stdio::piped;
    let started = Command::new("ssh-keygen")
        .args(arguments)
        .stdin(pipe())
        .stdout(pipe())
        .stderr(pipe())
        .spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(error) if error.kind() == ErrorKind::NotFound => anyhow::bail!(
            "there is no ssh-keygen here; install OpenSSH's client (Debian: openssh-client)"
        ),
        Err(error) => return Err(error).context("cannot start ssh-keygen"),
    };
    if let Some(mut input) = child.stdin.take() {
        // One that refuses its arguments reads nothing; its exit code says so.
        let _ = input.write_all(text.as_bytes());
    }
    child.wait_with_output().context("cannot wait for ssh-keygen")
}

fn path(path: &Path) -> anyhow::Result<String> {
    let text = path.to_str();
    text.map(str::to_owned).with_context(|| format!("{} is not UTF-8", path.display()))
}

fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).replace('\r', "").trim().to_owned()
}
