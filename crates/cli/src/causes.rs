//! Errors in words, with their causes.

use fwdlab_experiment::Problems;

use crate::output;

/// An error with its causes, those left out that its words name already.
pub fn in_words(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(pictured) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// A cause in its words; problems of a file with the lines where they are.
fn pictured(cause: &(dyn std::error::Error + 'static)) -> String {
    let problems = match cause.downcast_ref() {
        Some(fwdlab_experiment::Error::Experiment(problems)) => Some(problems),
        _ => cause.downcast_ref(),
    };
    let pictured = |problems: &Problems| problems.pictured(output::width());
    problems.map_or_else(|| cause.to_string(), pictured)
}
