//! `fwdlab merge`: the same experiment on several testbeds. Each testbed is a stratum: what is compared
//! was measured on one and the same, each verdict is shown, and raw figures are never pooled.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{bail, ensure};
use fwdlab_figures::text_table::{Side, TextTable};
use fwdlab_report::synthesis::Synthesis;
use fwdlab_results::Results;
use fwdlab_results::units::plural;

use crate::{devices, output};

/// Arguments of `fwdlab merge`.
#[derive(clap::Args)]
pub struct Args {
    /// Results of the same experiment, one directory for each testbed
    #[arg(required = true, num_args = 2.., value_name = "DIR")]
    dirs: Vec<PathBuf>,
    /// Where the page with all testbeds goes
    #[arg(short, long, value_name = "DIR", value_parser = crate::own::directory())]
    output: Option<PathBuf>,
}

/// Prints what each testbed says of each variant, and writes the page.
///
/// # Errors
/// When the results are of different experiments, or two are of the same testbed.
pub fn execute(arguments: &Args) -> anyhow::Result<ExitCode> {
    let mut all = Vec::new();
    for dir in &arguments.dirs {
        all.push(Results::read(dir)?.knowing(&devices::known()));
    }
    check(&all)?;
    let synthesis = Synthesis::of(all, false)?;
    synthesis.warnings.iter().for_each(|warning| fwdlab_guard::say!("warning: {warning}"));
    output::print(&(table(&synthesis) + &fwdlab_report::synthesis::text(&synthesis)))?;
    if let Some(dir) = &arguments.output {
        ensure!(
            !arguments.dirs.contains(dir),
            "{} holds results; choose another place",
            dir.display()
        );
        let files = fwdlab_report::synthesis::write(&synthesis, dir)?;
        fwdlab_guard::say!("{} written to {}", plural(files.len(), "file"), dir.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// Strata must be of one experiment and of different testbeds.
fn check(all: &[Results]) -> anyhow::Result<()> {
    let (mut experiments, mut marks) = (BTreeSet::new(), BTreeSet::new());
    for results in all {
        experiments.insert(results.campaign.experiment_sha256.as_str());
        let Some(mark) = &results.campaign.testbed else {
            bail!(
                "{}: it does not say on which testbed it was measured; `fwdlab report DIR... -o DIR` \
                 puts any results side by side",
                results.dir.display()
            );
        };
        if !marks.insert(mark.fingerprint.as_str()) {
            bail!(
                "{}: the testbed {} is there twice; trials of one testbed belong into one directory",
                results.dir.display(),
                mark.name
            );
        }
    }
    ensure!(
        experiments.len() == 1,
        "the results are of {} different experiments: run the same file on every testbed",
        experiments.len()
    );
    Ok(())
}

/// A row for each traffic, variant and testbed, and what all of them say together.
fn table(synthesis: &Synthesis) -> String {
    let mut text = String::new();
    for traffic in synthesis.traffics() {
        for variant in synthesis.variants() {
            let mut table = TextTable::new([("testbed", Side::Left), ("verdict", Side::Left)]);
            let mut words = Vec::new();
            for column in &synthesis.columns {
                let Some(verdict) = column.verdict(traffic, variant) else { continue };
                table.row(vec![column.label.clone(), verdict.sentence.clone()]);
                words.push(verdict.word());
            }
            if !words.is_empty() {
                text.push_str(&format!("{traffic}, {variant}: {}\n", together(&words)));
                text.push_str(&table.plain());
                text.push('\n');
            }
        }
    }
    text
}

/// How many testbeds say what. Strata are counted, not averaged.
fn together(words: &[&str]) -> String {
    let mut kinds: Vec<&str> = Vec::new();
    for &word in words {
        if !kinds.contains(&word) {
            kinds.push(word);
        }
    }
    let count = |kind: &&str| {
        let count = words.iter().filter(|word| *word == kind).count();
        format!("{kind} on {count} of {} testbeds", words.len())
    };
    kinds.iter().map(count).collect::<Vec<_>>().join(", ")
}
