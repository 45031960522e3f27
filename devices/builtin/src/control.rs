//! The control words that a variant may set on the built-in device: those of its router.

use fwdlab_experiment::fields::nearest;
use fwdlab_experiment::problem::Complaint;
use fwdlab_fib::control::{ControlError, Word};
use fwdlab_fib::{Fib, Inet, Inet6};
use fwdlab_router::{RouterError, check_word, settable_words};

/// The built-in device holds so many frames that wait for it, a power of two from 64 to 4096: a
/// buffer of known size.
pub const BUFFER_FRAMES: &str = "fwdlab.device.buffer_frames";

/// What a word takes that turns something on or off.
const SWITCH: &str = "0 or 1";

/// Frames that wait in front of the device unless a variant says otherwise.
pub(crate) const USUAL_BUFFER: usize = 4096;

/// Checks the value of [`BUFFER_FRAMES`].
///
/// # Errors
/// When it is no power of two in range.
pub(crate) fn check_buffer(value: &str) -> Result<usize, Complaint> {
    let frames = value.parse::<usize>().ok();
    let fits = |frames: &usize| frames.is_power_of_two() && (64..=USUAL_BUFFER).contains(frames);
    frames.filter(fits).ok_or_else(|| {
        Complaint::new(
            format!("{value:?} does not fit this control word"),
            format!("a power of two from 64 to {USUAL_BUFFER}"),
            "write for instance 1024",
        )
    })
}

/// Whether the router has this word and can set it.
pub fn is_settable(word: &str) -> bool {
    settable_words().contains(&word)
}

/// Whether a word stands where the router's own stand, as a misspelt one does: the same beginning,
/// up to the second dot. No sysctl of Linux does.
pub fn is_of_router(word: &str) -> bool {
    let own = beginning(word);
    own.is_some() && settable_words().into_iter().any(|word| beginning(word) == own)
}

/// The first two parts of a word that has more.
fn beginning(word: &str) -> Option<&str> {
    word.match_indices('.').nth(1).map(|(end, _)| &word[..end])
}

/// Whether a word looks like a sysctl of Linux.
fn is_sysctl(word: &str) -> bool {
    let word = word.replace('/', ".");
    ["net.ipv4.", "net.ipv6.", "net.core.", "net.netfilter.", "net.bridge.", "kernel."]
        .iter()
        .any(|start| word.starts_with(start))
}

/// Checks the name of a control word of the router, for the device of this name.
///
/// # Errors
/// When the router has no such word.
pub fn check_name(word: &str, device: &str) -> Result<(), Complaint> {
    check_among(word, &settable_words(), device)
}

/// The same for the built-in device, which has one more.
pub(crate) fn check_own_name(word: &str, device: &str) -> Result<(), Complaint> {
    let known: Vec<&str> = settable_words().into_iter().chain([BUFFER_FRAMES]).collect();
    check_among(word, &known, device)
}

fn check_among(word: &str, known: &[&'static str], device: &str) -> Result<(), Complaint> {
    if known.contains(&word) {
        return Ok(());
    }
    // "route_cache" without what stands before it
    let ends = |known: &&&str| known.rsplit('.').next() == Some(word);
    let mut ending = known.iter().filter(ends);
    let whole = ending.next().copied().filter(|_| ending.next().is_none());
    let remedy = match whole.or_else(|| nearest(word, known.iter().copied())) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None if is_sysctl(word) => {
            "write device = \"linux\" to set sysctls of the kernel".to_owned()
        }
        None if matches!(word, "nftables" | "xdp") => {
            "write device = \"linux\": rules and programs are the kernel's".to_owned()
        }
        None => "remove it".to_owned(),
    };
    Err(Complaint::new(
        format!("the {device} device has no such control word"),
        format!("one of {}", known.join(", ")),
        remedy,
    ))
}

/// Checks the value of a known control word.
///
/// # Errors
/// When the word cannot take it.
pub fn check_value(word: &str, value: &str) -> Result<(), Complaint> {
    match Word::parse(word) {
        Ok(Word::InetAlgo) => return check_algorithm(value, "IPv4", &algorithms::<Inet>()),
        Ok(Word::Inet6Algo) => return check_algorithm(value, "IPv6", &algorithms::<Inet6>()),
        _ => {}
    }
    check_word(word, value).map_err(|error| {
        let wanted = match error {
            RouterError::BadValue { wanted, .. } => wanted.to_owned(),
            RouterError::Control(ControlError::Number { least, most, .. }) => {
                format!("a number from {least} to {most}")
            }
            other => other.to_string(),
        };
        let what = format!("{value:?} does not fit this control word");
        let remedy = match wanted.as_str() {
            SWITCH => "write 0 or 1",
            _ => "write a number in that range",
        };
        Complaint::new(what, wanted, remedy)
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_that_the_router_can_set_is_known_with_its_limits() {
        for word in settable_words() {
            assert!(check_name(word, "builtin").is_ok(), "{word}");
            assert!(check_value(word, "no such value").is_err(), "{word}");
        }
        // Named by the seeds, and unknown here as long as the words were copied.
        assert!(check_value("net.inet.ip.redirect", "1").is_ok());
        assert!(check_value("net.inet.ip.redirect", "2").is_err());
        let complaint = check_name("net.inet.ip.redirekt", "builtin").expect_err("misspelt");
        assert!(complaint.remedy.contains("net.inet.ip.redirect"), "{}", complaint.remedy);
        let complaint = check_name("route_cache", "builtin").expect_err("half of it");
        assert!(complaint.remedy.contains("fwdlab.device.route_cache"), "{}", complaint.remedy);
        let complaint = check_name("algo", "builtin").expect_err("of which family");
        assert_eq!(complaint.remedy, "remove it");
        assert!(check_name("net.route.algo.inet.algo_list", "builtin").is_err(), "read only");
        let complaint = check_value("fwdlab.device.route_cache", "2").expect_err("a switch");
        assert_eq!(complaint.remedy, "write 0 or 1");
    }

    /// `buffer_frames` was taken and not among "one of".
    #[test]
    fn what_is_wanted_is_what_is_taken() {
        let own = |word: &str| check_own_name(word, "builtin");
        let complaint = own("no such word").expect_err("it is none");
        let listed: Vec<&str> =
            complaint.wanted.strip_prefix("one of ").expect("a list").split(", ").collect();
        for word in &listed {
            assert!(own(word).is_ok(), "{word}");
        }
        for word in settable_words().into_iter().chain([BUFFER_FRAMES]) {
            assert!(own(word).is_ok() && listed.contains(&word), "{word}: {listed:?}");
        }
        let complaint = own("fwdlab.device.buffer_frame").expect_err("misspelt");
        assert_eq!(complaint.remedy, format!("did you mean \"{BUFFER_FRAMES}\"?"));
    }

    #[test]
    fn a_misspelt_word_of_the_router_is_no_sysctl_of_linux() {
        for word in settable_words() {
            assert!(is_settable(word) && is_of_router(word), "{word}");
        }
        for word in ["net.inet.ip.redirekt", "fwdlab.device.fastpath", "net.route.algo.inet"] {
            assert!(is_of_router(word) && !is_settable(word), "{word}");
        }
        for word in ["net.ipv4.ip_forward", "net.core.netdev_budget", "net/ipv4", "xdp", ""] {
            assert!(!is_of_router(word), "{word}");
        }
    }
}
