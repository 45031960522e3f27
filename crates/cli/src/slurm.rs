//! `fwdlab slurm`: the batch script that runs an experiment on whichever testbed Slurm has free.
//!
//! The scheduler is Slurm. Each testbed is a generic resource of the node from which it is reached, and
//! a job takes the testbed file of its node's name.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};

use crate::changes::Changes;
use crate::experiments::Named;
use crate::{devices, experiments, output};

/// Arguments of `fwdlab slurm`.
#[derive(clap::Args)]
pub struct Args {
    /// Experiment file
    experiment: PathBuf,
    /// Directory of testbed files, each with the name of the node from which its machines are reached
    #[arg(long, value_name = "DIR")]
    testbeds: PathBuf,
    /// Where the results go, a directory for each node
    #[arg(short, long, value_name = "DIR", default_value = "results",
          value_parser = crate::own::directory())]
    output: PathBuf,
}

/// Prints the script, once the experiment and every testbed file are known to be right.
///
/// # Errors
/// When one of the files is wrong, or there is no testbed.
pub fn execute(arguments: &Args) -> anyhow::Result<ExitCode> {
    if experiments::is_stdin(&arguments.experiment) {
        bail!(
            "the jobs of Slurm read the experiment again, which standard input cannot give them: name a file"
        );
    }
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
            if !name.chars().all(is_of_a_name) {
                bail!(
                    "{}: {name:?} is no name of a node; call the file as Slurm calls its node",
                    path.display()
                );
            }
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
    let whole = |path: &Path| quoted(&std::path::absolute(path)?);
    let program = quoted(&std::env::current_exe().context("cannot find this program")?)?;
    let (experiment, testbeds) = (whole(&arguments.experiment)?, whole(&arguments.testbeds)?);
    let results = whole(&arguments.output.join(stem))?;
    // What stands beside a word that sbatch reads ends it.
    let job: String = stem.chars().map(|c| if is_of_a_name(c) { c } else { '_' }).collect();
    Ok(format!(
        "#!/bin/sh
# {job} on a pool of testbeds: {list}.
#   sbatch THIS                                        on the first that is free
#   for n in {list}; do sbatch --nodelist=$n THIS; done   on each of them
# fwdlab merge {results}-* -o DIR puts the results side by side.
#SBATCH --job-name=fwdlab-{job}
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

/// What names of hosts, and of jobs, are made of.
fn is_of_a_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || "._-".contains(c)
}

/// A path as a shell reads it. It stands in comments too, which end with their line.
fn quoted(path: &Path) -> anyhow::Result<String> {
    let text = path.to_str().filter(|text| !text.chars().any(char::is_control));
    let text = text.with_context(|| {
        format!(
            "{}: a path with control characters, or not in UTF-8, cannot stand in a script; name another",
            path.display()
        )
    })?;
    Ok(format!("'{}'", text.replace('\'', "'\\''")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A line end in the name of an experiment, or of a testbed file, began a line of the script.
    #[test]
    fn no_name_adds_a_line_to_the_script() {
        let arguments = |experiment: &str| Args {
            experiment: experiment.into(),
            testbeds: "beds".into(),
            output: "results".into(),
        };
        let made = script("a b'c", &arguments("a b'c.toml"), &["n1".to_owned()]).unwrap();
        assert!(made.contains("#SBATCH --job-name=fwdlab-a_b_c\n"), "{made}");
        assert!(made.contains("a b'\\''c.toml'"), "{made}");
        let refused = script("a\nid", &arguments("a\nid.toml"), &["n1".to_owned()]).unwrap_err();
        assert!(refused.to_string().contains("name another"), "{refused}");
        assert!(is_of_a_name('7') && !is_of_a_name('\n') && !is_of_a_name('$'));
    }
}
