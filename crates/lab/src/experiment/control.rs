//! The control words that a variant may set: those of the built-in device, and by name of the
//! device those of others.

use fwdlab_fib::{Fib, Inet, Inet6};

use super::fields::nearest;
use super::problem::Complaint;
use super::{DeviceKind, linux, vm};

/// The built-in device burns so many extra nanoseconds per frame, 0 to
/// 1,000,000, fractions allowed: a slowdown of known size for calibration.
pub const EXTRA_NS_PER_FRAME: &str = "fwdlab.device.extra_ns_per_frame";

/// What a control word takes.
#[derive(Clone, Copy)]
enum Takes {
    InetAlgorithm,
    Inet6Algorithm,
    /// A whole number from 0 to this.
    Whole(u32),
    /// A number from 0 to this.
    Number(u32),
}

const WORDS: [(&str, Takes); 6] = [
    ("net.route.algo.inet.algo", Takes::InetAlgorithm),
    ("net.route.algo.inet6.algo", Takes::Inet6Algorithm),
    ("net.route.algo.bucket_time_ms", Takes::Whole(60_000)),
    ("net.route.algo.bucket_change_threshold_rate", Takes::Whole(1_000_000_000)),
    ("net.route.algo.fib_max_sync_delay_ms", Takes::Whole(600_000)),
    (EXTRA_NS_PER_FRAME, Takes::Number(1_000_000)),
];

/// Checks the name of a control word.
pub(super) fn check_word(device: DeviceKind, word: &str) -> Result<(), Complaint> {
    match device {
        DeviceKind::Linux | DeviceKind::BuiltinVeth => return linux::check_word(word),
        DeviceKind::Vm => return vm::check_word(word),
        DeviceKind::Builtin => {}
    }
    if WORDS.iter().any(|(known, _)| *known == word) {
        return Ok(());
    }
    let remedy = match nearest(word, WORDS.iter().map(|(known, _)| *known)) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => "remove it".to_owned(),
    };
    let known: Vec<&str> = WORDS.iter().map(|(known, _)| *known).collect();
    Err(Complaint::new(
        "the builtin device has no such control word",
        format!("one of {}", known.join(", ")),
        remedy,
    ))
}

/// Checks the value of a known control word.
pub(super) fn check_value(device: DeviceKind, word: &str, value: &str) -> Result<(), Complaint> {
    match device {
        DeviceKind::Linux | DeviceKind::BuiltinVeth => return linux::check_value(word, value),
        DeviceKind::Vm => return Ok(()),
        DeviceKind::Builtin => {}
    }
    let Some((_, takes)) = WORDS.iter().find(|(known, _)| *known == word) else { return Ok(()) };
    match *takes {
        Takes::InetAlgorithm => check_algorithm(value, "IPv4", &algorithms::<Inet>()),
        Takes::Inet6Algorithm => check_algorithm(value, "IPv6", &algorithms::<Inet6>()),
        Takes::Whole(most) => check_number(value, most, value.parse::<u32>().ok().map(f64::from)),
        Takes::Number(most) => check_number(value, most, value.parse::<f64>().ok()),
    }
}

fn check_number(text: &str, most: u32, number: Option<f64>) -> Result<(), Complaint> {
    match number {
        Some(number) if (0.0..=f64::from(most)).contains(&number) => Ok(()),
        _ => Err(Complaint::new(
            format!("{text:?} does not fit this control word"),
            format!("a number from 0 to {most}"),
            "write a number in that range",
        )),
    }
}

fn check_algorithm(name: &str, family: &str, known: &[&'static str]) -> Result<(), Complaint> {
    if name == "auto" || known.contains(&name) {
        return Ok(());
    }
    let words = || known.iter().copied().chain(["auto"]);
    let remedy = match nearest(name, words()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => "write \"auto\" to let the table's size decide".to_owned(),
    };
    Err(Complaint::new(
        format!("there is no {family} lookup algorithm {name:?}"),
        format!("one of {}", words().collect::<Vec<_>>().join(", ")),
        remedy,
    ))
}

/// Names of a family's lookup algorithms.
fn algorithms<F: fwdlab_fib::Family>() -> Vec<&'static str> {
    Fib::<F>::new(0).map(|fib| fib.algorithms().collect()).unwrap_or_default()
}
