//! `fwdlab init`: writes an experiment to begin with, from three answers.

use std::fs::OpenOptions;
use std::io::{BufRead as _, ErrorKind, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use fwdlab_experiment::Problem;
use fwdlab_guard::words::pasted;

use crate::changes::{Changes, quoted};
use crate::devices::{self, Compares, STARTS, Start};
use crate::experiments::Named;
use crate::{features, own};

/// Arguments of `fwdlab init`.
#[derive(clap::Args)]
pub struct Args {
    /// The file to write
    #[arg(default_value = "experiment.toml")]
    file: PathBuf,
    /// What forwards [asked for on a terminal; else the first]
    #[arg(long, value_parser = starts())]
    device: Option<&'static Start>,
    /// What is compared: WORD=BEFORE,AFTER, a control word or sysctl with two values; where kernels
    /// are booted two of them, BEFORE,AFTER [asked for on a terminal]
    #[arg(long, value_name = "CHANGE")]
    compare: Option<String>,
    /// Which traffic
    #[arg(long, value_enum)]
    traffic: Option<Traffic>,
}

/// Understands the name of a device to begin with.
fn starts() -> impl TypedValueParser<Value = &'static Start> {
    let about = |start: &Start| match devices::named(start.device) {
        Some(_) => start.about.to_owned(),
        None => format!("{}; left out of this build: {}", start.about, features::REMEDY),
    };
    let values = STARTS.iter().map(|start| PossibleValue::new(start.device).help(about(start)));
    PossibleValuesParser::new(values).try_map(|name| named(&name))
}

fn named(name: &str) -> anyhow::Result<&'static Start> {
    let found = STARTS.iter().find(|start| start.device == name);
    found.with_context(|| format!("{name:?} is no answer to: {}", which_device()))
}

/// The devices to begin with as a list in words: `one, two or three`.
fn list() -> String {
    let [most @ .., last] = STARTS.each_ref().map(|start| start.device);
    format!("{} or {last}", most.join(", "))
}

const WHICH_TRAFFIC: &str = "Which traffic: inet, inet6 or both?";

fn which_device() -> String {
    format!("What forwards: {}?", list())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Traffic {
    /// IPv4
    Inet,
    /// IPv6
    Inet6,
    /// One traffic of each
    Both,
}

/// Writes the file and says what to do next.
///
/// # Errors
/// When an answer makes no experiment, or the file is there already.
pub fn execute(arguments: &Args) -> anyhow::Result<ExitCode> {
    // before anybody answers questions
    check_place(&arguments.file)?;
    let device = match arguments.device {
        Some(device) => device,
        None => asked(&which_device(), STARTS[0].device, named)?,
    };
    let stem = arguments.file.file_stem().and_then(|stem| stem.to_str()).unwrap_or("experiment");
    let is_there = devices::named(device.device).is_some();
    let made = |compare: &str, traffic| {
        let text = experiment(device, compare, traffic)?;
        if is_there {
            understood(compare, stem, &text)?;
        }
        anyhow::Ok(text)
    };
    let compare = match &arguments.compare {
        Some(compare) => {
            made(compare, Traffic::Both).map_err(|error| anyhow::anyhow!("--compare {error:#}"))?;
            compare.clone()
        }
        None => {
            let question = match device.compares {
                Compares::Kernels => "Which two kernels, BEFORE,AFTER?",
                Compares::Words => "What is compared, WORD=BEFORE,AFTER?",
            };
            asked(question, device.usual, |answer| {
                made(answer, Traffic::Both).map(|_| answer.to_owned())
            })?
        }
    };
    let traffic = match arguments.traffic {
        Some(traffic) => traffic,
        None => asked(WHICH_TRAFFIC, "both", |answer| {
            let found = <Traffic as clap::ValueEnum>::from_str(answer, true);
            found.map_err(|_| anyhow::anyhow!("{answer:?} is no answer to: {WHICH_TRAFFIC}"))
        })?,
    };
    let text = made(&compare, traffic)?;
    let shown = arguments.file.display();
    let made = OpenOptions::new().write(true).create_new(true).open(&arguments.file);
    let mut file = match made {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!("{}", taken(&arguments.file))
        }
        made => made.map_err(|error| no_room(&arguments.file, &error))?,
    };
    file.write_all(text.as_bytes()).map_err(|error| {
        // the beginning of an experiment would be in the way of the next one
        let _ = std::fs::remove_file(&arguments.file);
        no_room(&arguments.file, &error)
    })?;
    let pasted = pasted(&arguments.file);
    crate::output::print(&format!(
        "{shown} is written\n\
         how long it takes:  fwdlab plan {pasted}\n\
         to run it:          fwdlab run {pasted}\n"
    ))?;
    if device.compares == Compares::Kernels {
        say_what_lacks(&compare, &arguments.file);
    }
    if !is_there {
        let name = device.device;
        fwdlab_guard::say!(
            "warning: device = {name:?} was left out of this build, which cannot run it; {}",
            features::REMEDY
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether the file can be written.
fn check_place(file: &Path) -> anyhow::Result<()> {
    if file.as_os_str() == "-" {
        bail!("- is no file's name here; name one, as experiment.toml (cat it then)");
    }
    // a link that leads nowhere, too
    if file.symlink_metadata().is_ok() {
        bail!("{}", taken(file));
    }
    own::need_place(file)?;
    let may = fwdlab_guard::check_writable(file.parent().unwrap_or(Path::new("")));
    may.map_err(|error| no_room(file, &error))
}

fn no_room(file: &Path, error: &std::io::Error) -> anyhow::Error {
    anyhow::anyhow!("cannot write {}: {error}; name a file where you may write", file.display())
}

/// Names kernels that are not there, beside the file that names them.
fn say_what_lacks(compare: &str, file: &Path) {
    let beside = file.parent().unwrap_or(Path::new(""));
    for kernel in compare.split(',').map(str::trim) {
        // One without a directory may be a release that is installed.
        if kernel.contains('/') && !beside.join(kernel).exists() {
            fwdlab_guard::say!(
                "warning: there is no {}: put the kernel there, or write another path into {} (a build tree, \
                 a bzImage, a .deb, or a release that is installed here; docs/my-patch.md)",
                beside.join(kernel).display(),
                file.display()
            );
        }
    }
}

/// Whether the text is an experiment. Nobody has the file with the lines of its problems yet.
fn understood(compare: &str, stem: &str, text: &str) -> anyhow::Result<()> {
    let Err(error) = Named::Made(stem, text.to_owned()).read(&Changes::default()) else {
        return Ok(());
    };
    match error.downcast_ref::<fwdlab_experiment::Error>() {
        Some(fwdlab_experiment::Error::Experiment(problems)) => {
            let said =
                |own: &Problem| format!("{}; wanted {}; {}", own.what, own.wanted, own.remedy);
            let mut said: Vec<String> = problems.list.iter().map(said).collect();
            // What is wrong with a word is so in both variants.
            said.dedup();
            bail!("{compare}: {}", said.join("\n"))
        }
        // Kernels that are not there yet.
        _ => bail!("{compare}: {error:#}"),
    }
}

fn taken(file: &Path) -> String {
    format!("{} is there already; name another file, or move it away", file.display())
}

/// What the answer to a question stands for; the usual one where nobody can be asked. A wrong answer is
/// no end: the question comes again.
fn asked<T>(
    question: &str,
    usual: &str,
    understood: impl Fn(&str) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    // Where nobody sees the question, nobody waits for its answer.
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return understood(usual);
    }
    loop {
        let _ = write!(std::io::stderr().lock(), "{question} [{usual}] ");
        let mut line = String::new();
        let read =
            std::io::stdin().lock().read_line(&mut line).context("cannot read the answer")?;
        if read == 0 {
            // The cursor stands behind the question.
            fwdlab_guard::say!("");
            bail!(
                "no answer to: {question}; `fwdlab init --help` lists what answers it beforehand"
            );
        }
        let answer = line.trim();
        match understood(if answer.is_empty() { usual } else { answer }) {
            Ok(found) => return Ok(found),
            Err(error) => fwdlab_guard::say!("{error:#}"),
        }
    }
}

/// The experiment's text.
fn experiment(device: &Start, compare: &str, traffic: Traffic) -> anyhow::Result<String> {
    let (word, values) = match (compare.rsplit_once('='), device.compares) {
        (Some((word, values)), Compares::Words) => (word.trim(), values),
        (None, Compares::Kernels) => ("", compare),
        _ => bail!("{compare}: wanted something such as {}", device.usual),
    };
    let Some((before, after)) = values.split_once(',') else {
        bail!("{compare}: wanted two values with a comma between, as {}", device.usual);
    };
    let (before, after) = (before.trim(), after.trim());
    if after.contains(',') && device.compares == Compares::Words {
        bail!(
            "{compare}: these are more than two values; wanted two, as {}; add a [[variant]] to the \
             file for each further one",
            device.usual
        );
    }
    if before == after {
        bail!("{compare}: both values are {before:?}: nothing would differ; name two that do");
    }
    let setting = |value: &str| match device.compares {
        Compares::Kernels => format!("kernel = {}", quoted(value)),
        Compares::Words => format!("set = {{ {} = {} }}", quoted(word), quoted(value)),
    };
    let what = if word.is_empty() { String::new() } else { format!("{word}: ") };
    let title = quoted(&format!("{what}{after} against {before}"));
    // Instructions of kernels are counted, and repeat themselves.
    let margin = if device.compares == Compares::Kernels { "\"0.2%\"" } else { "\"1%\"" };
    let mut text = format!(
        "# Written by `fwdlab init`. docs/experiment-file.md describes every key.\n\n\
         title = {title}\n\
         device = {:?}             # {}\n\
         baseline = \"before\"\n\
         margin = {:<20} # differences up to this do not matter\n\
         blocks = \"until-decided\"     # or a number; `fwdlab plan` says how many are needed\n\
         cap = 40                     # at most so many blocks\n\
         duration = \"1s\"              # of the counted part of a trial\n\n\
         # What is compared. Every block runs each variant once, in random order.\n\
         [[variant]]\nname = \"before\"\n{}\n\n\
         [[variant]]\nname = \"after\"\n{}\n",
        device.device,
        list(),
        margin,
        setting(before),
        setting(after),
    );
    // 20 sources and 100 destinations: 2,000 flows.
    if traffic != Traffic::Inet6 {
        text.push_str(
            "\n[[traffic]]\nname = \"inet\"\n\
             source = \"198.18.10.1-198.18.10.20:2000\"\n\
             destination = \"198.19.10.1-198.19.10.100:2000\"\n\
             frame = \"min\"                # the smallest UDP frame; or a length, or \"imix\"\n\
             load = \"max\"                 # as fast as the tester can; or \"500kpps\", \"1Gbps\"\n",
        );
    }
    if traffic != Traffic::Inet {
        text.push_str(
            "\n[[traffic]]\nname = \"inet6\"\n\
             source = \"[2001:2:0:10::1]-[2001:2:0:10::14]:2000\"\n\
             destination = \"[2001:2:0:8010::1]-[2001:2:0:8010::64]:2000\"\n\
             frame = \"min\"\nload = \"max\"\n",
        );
    }
    text.push_str(
        "\n# Routes of the device; a gateway near the destinations leads there.\n[routes]\nstatic = [\n",
    );
    if traffic != Traffic::Inet6 {
        text.push_str(
            "    \"198.18.0.0/16 via 198.18.0.203\",\n    \"198.19.0.0/16 via 198.19.0.203\",\n",
        );
    }
    if traffic != Traffic::Inet {
        text.push_str(
            "    \"2001:2::/49 via 2001:2::203\",\n    \"2001:2:0:8000::/49 via 2001:2:0:8000::203\",\n",
        );
    }
    text.push_str("]\n");
    Ok(text)
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn every_set_of_answers_makes_an_experiment_that_is_understood() {
        let there = |start: &&Start| devices::named(start.device).is_some();
        for start in STARTS.iter().filter(there) {
            for traffic in Traffic::value_variants() {
                let text = experiment(start, start.usual, *traffic).unwrap();
                assert!(text.contains("# builtin, linux or vm"), "{text}");
                if start.compares == Compares::Words {
                    Named::Made("x", text).read(&Changes::default()).unwrap();
                }
            }
        }
        let text = experiment(named("vm").unwrap(), "a.deb,b.deb", Traffic::Both).unwrap();
        assert!(text.contains("kernel = \"b.deb\""), "{text}");
    }

    #[test]
    fn half_an_answer_is_refused_with_what_is_wanted() {
        let of = |compare: &str| {
            let made = experiment(named("linux").unwrap(), compare, Traffic::Inet);
            made.unwrap_err().to_string()
        };
        for compare in ["net.ipv4.ip_forward=1", "a,b", "net.ipv4.conf.all.rp_filter=0,1,2"] {
            let error = of(compare);
            assert!(error.contains("rp_filter=0,1"), "{error}");
        }
        assert!(of("net.x=0,0").contains("nothing would differ"), "{}", of("net.x=0,0"));
    }

    #[test]
    fn what_is_wrong_with_an_answer_is_said_of_the_answer() {
        let compare = "net.route.algo.inet.algo=radix4,bogus";
        let text = experiment(&STARTS[0], compare, Traffic::Inet).unwrap();
        let error = understood(compare, "x", &text).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{compare}: ")), "{error}");
        assert!(error.contains("bogus") && !error.contains("x.toml"), "{error}");
        for (file, words) in [("-", "name one"), ("none/of/it.toml", "mkdir -p none/of")] {
            let error = check_place(Path::new(file)).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }
}
