//! `fwdlab slurm`: the batch script that runs an experiment on whichever testbed Slurm has free.
//!
//! The scheduler is Slurm. Each testbed is a generic resource of the node from which it is reached, and
//! a job takes the testbed file of its node's name.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};

use crate::changes::Changes;
use crate::experiments::Named;
use crate::{devices, output};

/// Arguments of `fwdlab slurm`.
#[derive(clap::Args)]
pub struct Args {
    /// Experiment file
    experiment: PathBuf,
    /// Directory of testbed files, each with the name of the node from which its machines are reached
    #[arg(long, value_name = "DIR")]
    testbeds: PathBuf,
    /// Where the results go, a directory for each node
    #[arg(short, long, value_name = "DIR", default_value = "results")]
    output: PathBuf,
}

/// Prints the script, once the experiment and every testbed file are known to be right.
///
/// # Errors
/// When one of the files is wrong, or there is no testbed.
pub fn execute(arguments: &Args) -> anyhow::Result<ExitCode> {
    let experiment = Named::File(&arguments.experiment).read(&Changes::default())?;
    let kind = devices::named(&experiment.device);
    if !kind.is_some_and(|kind| kind.takes_testbed()) {
        bail!(
            "{}: device = {:?} needs no testbed: run it on any node with `fwdlab run`",
            arguments.experiment.display(),
            experiment.device
        );
    }
    let nodes = nodes(&arguments.testbeds)?;
    let text = script(experiment.stem(), arguments, &nodes)?;
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// The nodes that have a testbed file, which is read as strictly as for a run.
fn nodes(dir: &Path) -> anyhow::Result<Vec<String>> {
    let mut nodes = Vec::new();
    let entries =
        std::fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            devices::check_testbed(&path)?;
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            nodes.push(name);
        }
    }
    nodes.sort();
    if nodes.is_empty() {
        bail!("{} holds no testbed file; add NODE.toml for each node of the pool", dir.display());
    }
    Ok(nodes)
}

fn script(stem: &str, arguments: &Args, nodes: &[String]) -> anyhow::Result<String> {
    // A job starts in a directory of its own choice.
    let whole = |path: &Path| std::path::absolute(path).map(|path| quoted(&path));
    let program = quoted(&std::env::current_exe().context("cannot find this program")?);
    let (experiment, testbeds) = (whole(&arguments.experiment)?, whole(&arguments.testbeds)?);
    let results = whole(&arguments.output.join(stem))?;
    Ok(format!(
        "#!/bin/sh
# {stem} on a pool of testbeds: {list}.
#   sbatch THIS                                        on the first that is free
#   for n in {list}; do sbatch --nodelist=$n THIS; done   on each of them
# fwdlab merge {results}-* -o DIR puts the results side by side.
#SBATCH --job-name=fwdlab-{stem}
#SBATCH --nodes=1
#SBATCH --gres=testbed:1
#SBATCH --exclusive
#SBATCH --requeue
#SBATCH --open-mode=append
testbed={testbeds}/$SLURMD_NODENAME.toml
if [ ! -e \"$testbed\" ]; then
    echo \"$testbed is not there: the node has no testbed\" >&2
    exit 2
fi
results={results}-$SLURMD_NODENAME
# Where Slurm gave up a node whose job ran on to its end, nothing is left to do.
if [ \"${{SLURM_RESTART_COUNT:-0}}\" -gt 0 ] && grep -q '\"record\":\"finished\"' \"$results/trials.jsonl\" 2>/dev/null; then
    echo \"$results is finished\"
    exit 0
fi
# A job that was requeued on the same node goes on, on another one it begins results of its own.
exec {program} run --quiet {experiment} --testbed \"$testbed\" -o \"$results\"
",
        list = nodes.join(" "),
    ))
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}
