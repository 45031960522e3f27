//! Control words: settings by name, as `sysctl` has them, each readable back as proof that it
//! was applied.

use fwdlab_fib::{Choice, Inet, Inet6};

use crate::error::RouterError;
use crate::knobs::WORDS;
use crate::router::Router;
use crate::tables::{Routed, Tables};

/// What every lookup-algorithm word begins with.
const ALGO: &str = "net.route.algo.";
const ALGO_WORDS: [&str; 4] = [
    "net.route.algo.inet.algo",
    "net.route.algo.inet6.algo",
    "net.route.algo.inet.algo_list",
    "net.route.algo.inet6.algo_list",
];

impl Router {
    /// All control words.
    ///
    /// - `net.route.algo.inet.algo`, `net.route.algo.inet6.algo`: the lookup algorithm of FIB 0:
    ///   a name of the list, or `auto`. Reads as the name of the algorithm that serves now.
    /// - `net.route.algo.inet.algo_list`, `net.route.algo.inet6.algo_list`: names, comma
    ///   separated; read-only.
    /// - `fwdlab.device.extra_ns_per_frame`: each worker burns this many nanoseconds for each
    ///   frame on top of its work, measured with the clock (0 to 1000000, fractions allowed,
    ///   default 0, off). For experiments that must find a known slowdown.
    /// - `fwdlab.device.fast_path`: 0 sends every frame through the general path (default 1).
    /// - `fwdlab.device.slow_path_pps`: packets to the router itself that a worker takes per
    ///   second (default 10000).
    /// - `net.inet.icmp.icmplim`, `net.inet6.icmp6.errppslimit`: ICMP errors that a worker sends
    ///   per second (defaults 200 and 100).
    pub fn control_words(&self) -> Vec<&'static str> {
        ALGO_WORDS.into_iter().chain(WORDS.iter().map(|word| word.name)).collect()
    }

    /// Sets a control word.
    ///
    /// # Errors
    /// An unknown or read-only word, or a value that it does not take; nothing has changed then.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), RouterError> {
        if let Some(word) = WORDS.iter().find(|word| word.name == name) {
            let (wanted, value) = (word.wanted, value.to_owned());
            let number = word.parse(&value);
            let wrong = RouterError::BadValue { name: name.into(), value, wanted };
            word.of(&self.knobs).set(number.ok_or(wrong)?);
            return Ok(());
        }
        match algo_word(name) {
            Some(("inet", "algo")) => set_algorithm(Inet::tables_mut(&mut self.fibs[0]), value),
            Some(("inet6", "algo")) => set_algorithm(Inet6::tables_mut(&mut self.fibs[0]), value),
            Some(("inet" | "inet6", "algo_list")) => {
                Err(RouterError::ReadOnly { name: name.into() })
            }
            _ => Err(RouterError::UnknownWord { name: name.into() }),
        }
    }

    /// Reads a control word back from where it acts.
    ///
    /// # Errors
    /// An unknown word.
    pub fn get(&self, name: &str) -> Result<String, RouterError> {
        if let Some(word) = WORDS.iter().find(|word| word.name == name) {
            return Ok(word.of(&self.knobs).value().to_string());
        }
        let unknown = || RouterError::UnknownWord { name: name.into() };
        match algo_word(name).ok_or_else(unknown)? {
            ("inet", word) => read(Inet::tables(&self.fibs[0]), word),
            ("inet6", word) => read(Inet6::tables(&self.fibs[0]), word),
            _ => None,
        }
        .ok_or_else(unknown)
    }
}

/// `net.route.algo.inet6.algo` -> `("inet6", "algo")`.
fn algo_word(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix(ALGO)?.split_once('.')
}

fn set_algorithm<F: Routed>(tables: &mut Tables<F>, value: &str) -> Result<(), RouterError> {
    let choice = if value == "auto" { Choice::Auto } else { Choice::Fixed(value.to_owned()) };
    Ok(tables.fib.set_algorithm(choice)?)
}

fn read<F: Routed>(tables: &Tables<F>, word: &str) -> Option<String> {
    match word {
        "algo" => Some(tables.fib.algorithm_name().to_owned()),
        "algo_list" => Some(tables.fib.algorithms().collect::<Vec<_>>().join(", ")),
        _ => None,
    }
}
