//! `fwdlab doctor`: what this machine can do, what that enables, and how to get what is missing.

use fwdlab_campaign::doctor;
use std::path::PathBuf;
use std::process::ExitCode;

use fwdlab_device::DoctorFinding;

use crate::{devices, features, ministat, output};

/// Arguments of `fwdlab doctor`.
#[derive(clap::Args)]
pub struct Args {
    /// Say only what concerns this device, and end with exit code 1 when it cannot be measured here
    /// [default: everything, and whether builtin can be]
    #[arg(long, value_name = "DEVICE",
          value_parser = clap::builder::PossibleValuesParser::new(names()))]
    device: Option<String>,
    /// Look at the machines of this testbed file instead
    #[arg(long, value_name = "FILE")]
    testbed: Option<PathBuf>,
    /// How to print the findings
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Format {
    /// One line for each finding
    Text,
    /// The same as JSON
    Json,
}

/// Runs the checks and prints them; exit code 1 when the device cannot be measured here.
///
/// # Errors
/// Only when stdout cannot be written.
pub fn execute(arguments: &Args) -> anyhow::Result<ExitCode> {
    if let Some(file) = &arguments.testbed {
        let (text, is_well) = devices::examine_testbed(file)?;
        output::print(&text)?;
        return Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let mut seen = examine()?;
    let device = arguments.device.as_deref().unwrap_or(devices::all()[0].name());
    if arguments.device.is_some() {
        seen.retain(|seen| seen.by.is_empty() || seen.by.contains(&device));
    }
    let lacks =
        |seen: &&Seen| seen.finding.is_needed && !seen.finding.present && seen.by.contains(&device);
    let lacking: Vec<&str> = seen.iter().filter(lacks).map(|seen| seen.finding.what).collect();
    let needs_testbed = devices::named(device).is_some_and(|kind| kind.takes_testbed());
    let text = match arguments.format {
        Format::Text => {
            let width = seen.iter().map(|seen| seen.finding.what.len()).max().unwrap_or(0);
            let lines: String = seen.iter().map(|seen| line(&seen.finding, width)).collect();
            let is_optional = |seen: &&Seen| {
                !seen.finding.is_needed && !seen.finding.present && seen.by.contains(&device)
            };
            let without = seen.iter().filter(is_optional).map(|seen| seen.finding.what);
            let end = match lacking.is_empty() && needs_testbed {
                true => of_testbed(device),
                false => conclusion(device, &lacking, &without.collect::<Vec<_>>()),
            };
            lines + &end
        }
        Format::Json => output::json(&seen)?,
    };
    output::print(&text)?;
    Ok(if lacking.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What of a device on other machines can be said here, and how to look at them.
fn of_testbed(device: &str) -> String {
    format!(
        "\ndevice = {device:?} is measured on machines that a testbed file names: `fwdlab doctor --testbed FILE` \
         looks at them (docs/{device}.md)\n"
    )
}

/// What the exit code says.
fn conclusion(device: &str, lacking: &[&str], without: &[&str]) -> String {
    match lacking {
        [] if without.is_empty() => format!("\ndevice = {device:?} can be measured here\n"),
        [] => format!(
            "\ndevice = {device:?} can be measured here, but for what needs these: {}\n",
            without.join(", ")
        ),
        some => {
            format!("\ndevice = {device:?} cannot be measured here: no {}\n", some.join(", no "))
        }
    }
}

/// A finding and the devices that it concerns.
#[derive(serde::Serialize)]
struct Seen {
    #[serde(flatten)]
    finding: DoctorFinding,
    /// Names of devices; empty for what concerns all.
    by: Vec<&'static str>,
}

/// What the machine has for all devices and for each; what several ask for is said once.
fn examine() -> anyhow::Result<Vec<Seen>> {
    let place = devices::place()?;
    let mut seen: Vec<Seen> = Vec::new();
    for finding in doctor::examine(&place).into_iter().chain([ministat::finding()]) {
        seen.push(Seen { finding, by: Vec::new() });
    }
    for feature in features::left_out() {
        let finding = DoctorFinding {
            what: feature.name,
            present: false,
            detail: "left out of this build".to_owned(),
            enables: feature.enables,
            remedy: features::REMEDY,
            is_needed: feature.device.is_some(),
        };
        seen.push(Seen { finding, by: feature.device.into_iter().collect() });
    }
    for kind in devices::all() {
        for finding in kind.examine(&place) {
            match seen.iter_mut().find(|other| other.finding.what == finding.what) {
                Some(other) => other.by.push(kind.name()),
                None => seen.push(Seen { finding, by: vec![kind.name()] }),
            }
        }
    }
    Ok(seen)
}

fn line(finding: &DoctorFinding, width: usize) -> String {
    let DoctorFinding { what, present, detail, enables, remedy, .. } = finding;
    let answer = if *present { "yes" } else { "no" };
    let said = match present {
        true => format!("{detail}: {enables}"),
        false => format!("{detail}; needed for {enables}; {remedy}"),
    };
    output::row(&format!("{answer:<4} {what:<width$} "), &said)
}

fn names() -> Vec<&'static str> {
    let left_out = features::left_out().filter_map(|feature| feature.device);
    devices::all().iter().map(|kind| kind.name()).chain(left_out).collect()
}
