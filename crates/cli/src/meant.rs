//! What somebody meant who named a command or an option that there is not.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue};
use fwdlab_experiment::fields::nearest;

use crate::devices;

/// Keys at the head of an experiment that have no option of their own.
const KEYS: [(&str, &str); 10] = [
    ("allow", "saturation"),
    ("baseline", "radix"),
    ("cap", "100"),
    ("interval", "50ms"),
    ("latency", "true"),
    ("margin", "2%"),
    ("measure", "ndr"),
    ("profile", "true"),
    ("title", "mine"),
    ("warmup", "100ms"),
];

/// What is sent, set and routed has a table of the experiment's file.
const TABLES: [(&[&str], &str); 3] = [
    (&["traffic", "frame", "load", "source", "destination", "flows", "rate"], "[[traffic]]"),
    (&["variant", "sysctl", "rules", "nftables"], "[[variant]]"),
    (&["route", "routes"], "[routes]"),
];

/// The error with what was meant, where that is known.
pub fn with_what_was_meant(mut error: clap::Error, program: &clap::Command) -> clap::Error {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.clone()),
        _ => None,
    };
    if let Some(word) = text(ContextKind::InvalidSubcommand) {
        return with_the_nearest(error, &word, program);
    }
    let Some(option) = text(ContextKind::InvalidArg) else { return error };
    let usage = error.get(ContextKind::Usage).map(ToString::to_string).unwrap_or_default();
    let tip = match text(ContextKind::InvalidValue) {
        None if error.kind() == clap::error::ErrorKind::UnknownArgument => {
            of_option(&option, &usage)
        }
        Some(value) if option.starts_with("--device") => of_device(&value),
        _ => None,
    };
    if let Some(tip) = tip {
        // What is alike by its letters is not what was meant.
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    error
}

/// Names the nearest command; clap finds none for two letters that changed places in a short word.
fn with_the_nearest(mut error: clap::Error, word: &str, program: &clap::Command) -> clap::Error {
    if error.get(ContextKind::SuggestedSubcommand).is_none() {
        let shown = program.get_subcommands().filter(|command| !command.is_hide_set());
        if let Some(near) = nearest(word, shown.map(clap::Command::get_name)) {
            let near = ContextValue::Strings(vec![near.to_owned()]);
            error.insert(ContextKind::SuggestedSubcommand, near);
        }
    }
    error
}

/// Where what an option asks for is said, of commands that take an experiment.
fn of_option(option: &str, usage: &str) -> Option<String> {
    let is_of_experiments = usage.contains("EXPERIMENT]") || usage.contains("<EXPERIMENT");
    let name = option.trim_start_matches('-').split('=').next().filter(|_| is_of_experiments)?;
    match name {
        "device" => return Some(in_the_file(devices::STARTS[1].device)),
        "kernel" | "kernels" => {
            return Some(format!(
                "`fwdlab run --kernel before=PATH --kernel after=PATH` compares kernels; `fwdlab init --device {} \
                 --compare BEFORE,AFTER` writes such an experiment",
                devices::OF_KERNELS
            ));
        }
        _ => {}
    }
    if let Some((key, value)) = KEYS.iter().find(|(key, _)| *key == name) {
        return Some(format!("{key} is a key of the experiment: --set {key}={value}"));
    }
    let (_, table) = TABLES.iter().find(|(names, _)| names.contains(&name))?;
    Some(format!(
        "it stands in {table} of the experiment's file; `fwdlab init` writes one to begin with"
    ))
}

/// How an experiment comes to another device.
fn in_the_file(device: &str) -> String {
    let begin = match devices::STARTS.iter().any(|start| start.device == device) {
        true => format!("`fwdlab init --device {device}` writes an experiment with it"),
        false => format!("it stands in an experiment's file, as device = {device:?}"),
    };
    format!(
        "the experiment names its device: {begin}, `fwdlab examples` lists some for each, and \
         `fwdlab run --example NAME` runs one"
    )
}

/// What to do with a device that `init` has no questions for.
fn of_device(device: &str) -> Option<String> {
    if let Some(meant) = devices::all().iter().find_map(|kind| kind.asked_for_by(device)) {
        return Some(format!("in an experiment's file, {meant}"));
    }
    let takes_testbed = devices::named(device).is_some_and(|kind| kind.takes_testbed());
    takes_testbed.then(|| {
        format!(
            "begin with an example: `fwdlab examples {device}-linux > {device}.toml`; its machines are named by a \
             testbed file (docs/{device}.md)"
        )
    })
}

/// What to write instead of a device's name where an experiment is wanted; nothing for other words.
pub fn of_experiment(word: &str) -> Option<String> {
    devices::named(word).map(|_| format!("{word:?}, which is a device; {}", in_the_file(word)))
}
