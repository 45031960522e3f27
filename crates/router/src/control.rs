//! Control words: settings by name, as `sysctl` has them, each readable back as proof that it
//! was applied.

use fwdlab_fib::control::Word;

use crate::error::RouterError;
use crate::knobs::WORDS;
use crate::router::Router;

/// Names of the words that can be set, without a router at hand: for plans that are validated before
/// anything is made.
pub fn settable_words() -> Vec<&'static str> {
    let is_settable = |word: &&Word| !matches!(word, Word::InetAlgoList | Word::Inet6AlgoList);
    let fib_words = Word::ALL.iter().filter(is_settable).map(|word| word.name());
    fib_words.chain(WORDS.iter().map(|word| word.name)).collect()
}

/// Checks a value without setting it. An algorithm by name may still fail to serve a table.
///
/// # Errors
/// What [`Router::set`] would say.
pub fn check_word(name: &str, value: &str) -> Result<(), RouterError> {
    if let Some(word) = WORDS.iter().find(|word| word.name == name) {
        return word.number(value).map(drop);
    }
    match Word::parse(name) {
        Ok(word) => Ok(word.check(value)?),
        Err(_) => {
            Err(RouterError::UnknownWord { name: name.into(), known: settable_words().join(", ") })
        }
    }
}

impl Router {
    /// All control words.
    ///
    /// - `net.route.algo.*`: the lookup framework's, see [`fwdlab_fib::control`]; algorithms are
    ///   those of FIB 0, and read as the name of the one that serves now.
    /// - `fwdlab.device.extra_ns_per_frame`: each worker burns this many nanoseconds for each
    ///   frame on top of its work, measured with the clock (0 to 1000000, fractions allowed,
    ///   default 0, off). For experiments that must find a known slowdown.
    /// - `fwdlab.device.fast_path`: 0 sends every frame through the general path (default 1).
    /// - `fwdlab.device.batch_lookups`: 0 looks up the routes of the fast path one at a time, a call
    ///   for each packet, as FreeBSD does; 1 those of a batch in one call (default 1).
    /// - `fwdlab.device.route_cache`: 0 looks up every IPv6 destination; 1 keeps answers for those that
    ///   come again, where the algorithm is chosen by the framework (default 1).
    /// - `fwdlab.device.host`: 1 leaves packets to the router's addresses to a host that has the same
    ///   addresses on the same interfaces; the router learns its neighbours from them and answers
    ///   none (default 0).
    /// - `fwdlab.device.slow_path_pps`: packets to the router itself that a worker takes per
    ///   second (default 10000).
    /// - `net.inet.ip.redirect`, `net.inet6.ip6.redirect`: 1 sends redirects to hosts that could
    ///   reach the next hop themselves (default 0).
    /// - `net.inet.icmp.icmplim`, `net.inet6.icmp6.errppslimit`: ICMP errors that a worker sends
    ///   per second (defaults 200 and 100).
    pub fn control_words(&self) -> Vec<&'static str> {
        let fib_words = Word::ALL.iter().map(|word| word.name());
        fib_words.chain(WORDS.iter().map(|word| word.name)).collect()
    }

    /// Sets a control word.
    ///
    /// # Errors
    /// An unknown or read-only word, or a value that it does not take; nothing has changed then.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), RouterError> {
        if let Some(word) = WORDS.iter().find(|word| word.name == name) {
            word.of(&self.knobs).set(word.number(value)?);
            return Ok(());
        }
        if Word::parse(name).is_err() {
            return Err(self.unknown(name));
        }
        Ok(self.fibs.set_word(0, name, value)?)
    }

    /// Reads a control word back from where it acts.
    ///
    /// # Errors
    /// An unknown word.
    pub fn get(&self, name: &str) -> Result<String, RouterError> {
        if let Some(word) = WORDS.iter().find(|word| word.name == name) {
            return Ok(word.of(&self.knobs).value().to_string());
        }
        if Word::parse(name).is_err() {
            return Err(self.unknown(name));
        }
        Ok(self.fibs.word(0, name)?)
    }

    /// Whether the value of a control word is the router's own choice, which may change with its routes.
    pub fn is_automatic(&self, name: &str) -> bool {
        self.fibs.is_automatic(0, name).unwrap_or(false)
    }

    fn unknown(&self, name: &str) -> RouterError {
        RouterError::UnknownWord { name: name.into(), known: self.control_words().join(", ") }
    }
}

impl crate::knobs::Word {
    /// The value of a text.
    fn number(&self, text: &str) -> Result<f64, RouterError> {
        self.parse(text).ok_or_else(|| RouterError::BadValue {
            name: self.name.into(),
            value: text.to_owned(),
            wanted: self.wanted,
        })
    }
}
