//! `fwdlab completions`: what a shell needs to complete commands, from the program's own arguments.
//!
//! clap_complete makes the scripts. What it leaves out is added here: the names of examples and rules, which
//! the program understands in its own ways; what fish is to offer where no option stands; paths after
//! `NAME=` in zsh; files in the place of options, and values after `=`, in bash. What it shows too much of, the hidden commands, is taken away.

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command};
use clap_complete::Shell;
use fwdlab_audit::Rule;

use crate::{experiments, output, stamp};

/// Arguments of `fwdlab completions`.
#[derive(clap::Args)]
pub struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints completions for a shell.
///
/// # Errors
/// When stdout cannot be written.
pub fn execute(arguments: &Args, command: &Command) -> anyhow::Result<ExitCode> {
    output::print(&script(arguments.shell, command))?;
    Ok(ExitCode::SUCCESS)
}

/// The script for a shell.
fn script(shell: Shell, command: &Command) -> String {
    let mut shown = shown(command);
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut shown, "fwdlab", &mut bytes);
    let mut text = String::from_utf8_lossy(&bytes).into_owned();
    match shell {
        Shell::Bash => {
            text = text.replacen("_fwdlab() {", "_fwdlab_words() {", 1);
            text.push_str(&files_of_bash(&shown));
        }
        Shell::Fish => text.push_str(&words_of_fish(&shown)),
        Shell::Zsh => {
            let path_after_name = ":NAME=PATH:{compset -P \"*=\"; _files}'";
            text = text.replace(":NAME=PATH:_default'", path_after_name);
            // With two colons what follows the first path is of it, and options are none.
            text = text.replace("\n'*::", "\n'*:");
        }
        _ => {}
    }
    text
}

/// The commands without those that only fwdlab itself starts, their words filled in.
fn shown(command: &Command) -> Command {
    let of_people = command.get_subcommands().filter(|sub| !sub.is_hide_set());
    Command::new("fwdlab")
        .version(stamp::VERSION)
        .args(command.get_arguments().cloned())
        .subcommands(of_people.cloned().map(filled))
}

/// A command with the words that its arguments may be, where clap has not been told them.
fn filled(command: Command) -> Command {
    let name = command.get_name().to_owned();
    command.mut_args(|argument| {
        let words: Vec<&str> = match (name.as_str(), argument.get_id().as_str()) {
            (_, "example") => experiments::names().collect(),
            ("examples", "name") => experiments::names().chain(experiments::files()).collect(),
            ("audit", "rules") => Rule::ALL.iter().map(|rule| rule.id()).collect(),
            _ => Vec::new(),
        };
        if words.is_empty() {
            return argument;
        }
        argument.value_parser(PossibleValuesParser::new(words))
    })
}

/// clap_complete's script for bash offers all options for an empty word, and readline its files only where
/// nothing else is offered; and it does not know that bash takes `--option=value` for three words.
fn files_of_bash(command: &Command) -> String {
    let is_of_words = |argument: &Arg| !argument.get_possible_values().is_empty();
    let takes_files = |sub: &&Command| {
        let mut places = sub.get_positionals().peekable();
        places.peek().is_some() && !places.any(is_of_words)
    };
    let of_files: Vec<&str> =
        command.get_subcommands().filter(takes_files).map(Command::get_name).collect();
    BASH.replace("OF_FILES", &of_files.join("|"))
}

const BASH: &str = r#"
_fwdlab() {
    local cur=$2 prev=$3 word kept=()
    if [[ $cur == = ]]; then
        cur='' prev=${COMP_WORDS[COMP_CWORD-1]}
    elif [[ $prev == = && $COMP_CWORD -gt 2 ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    _fwdlab_words "$1" "$cur" "$prev"
    case $cur,${COMP_WORDS[1]} in
        -*) ;;
        *,OF_FILES)
            [[ $COMP_CWORD -gt 1 ]] || return 0
            for word in "${COMPREPLY[@]}"; do [[ $word == -* ]] || kept+=("$word"); done
            COMPREPLY=("${kept[@]}")
            ;;
    esac
}
"#;

/// What stands in no option: clap_complete's script for fish has none of it, and after `help` alone it offers
/// files.
fn words_of_fish(command: &Command) -> String {
    let mut out = String::new();
    let mut say = |place: &str, words: &[&str]| {
        let (place, words) = (format!("__fish_fwdlab_using_subcommand {place}"), words.join(" "));
        let _ = writeln!(out, "complete -c fwdlab -n \"{place}\" -f -a \"{words}\"");
    };
    let names = command.get_subcommands().map(Command::get_name);
    say("help", &names.filter(|name| *name != "help").collect::<Vec<_>>());
    for sub in command.get_subcommands() {
        for values in sub.get_positionals().map(Arg::get_possible_values) {
            let words: Vec<&str> = values.iter().map(|value| value.get_name()).collect();
            if !words.is_empty() {
                say(sub.get_name(), &words);
            }
        }
    }
    out
}
