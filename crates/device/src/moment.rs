//! A moment of traffic before anything is measured: where no frame comes back, also of a longer burst, none would in a
//! trial.

use std::time::Duration;

use fwdlab_experiment::{Experiment, Traffic, Variant};
use fwdlab_results::{Measure, Measured};
use fwdlab_stats::plural;

use crate::Request;

/// How long frames are sent to see whether any comes back.
pub const LENGTH: Duration = Duration::from_millis(20);

/// So many times as long, one after the other, until a frame comes back: a device may keep its first frames (a limit,
/// a queue for addresses that are not known yet) and let all others through.
pub const BURSTS: [u32; 3] = [1, 5, 25];

/// Has `trial` send frames for a moment, again and longer where none of them comes back; where none ever does, says
/// why the variant is not measured. A tester that others kept from sending knows nothing.
///
/// # Errors
/// Those of `trial`.
pub fn a_few<E>(
    request: &Request<'_>,
    mut trial: impl FnMut(&Request<'_>) -> Result<Measured, E>,
) -> Result<Option<String>, E> {
    let mut short = Experiment { warmup: Duration::ZERO, ..request.experiment.clone() };
    let traffic = Traffic { measure: Measure::Rate, ..request.traffic.clone() };
    let mut sent = 0;
    for times in BURSTS {
        (short.duration, short.interval) = (LENGTH * times, LENGTH * times);
        let alone = Request { experiment: &short, variant: request.variant, traffic: &traffic };
        let measured = trial(&alone)?;
        if measured.received > 0 {
            return Ok(None);
        }
        sent += measured.sent.unwrap_or(0);
    }
    Ok((sent > 0).then(|| without_frames(sent, &traffic, request.variant)))
}

/// Why a variant is not measured of whose frames none came back.
pub fn without_frames(sent: u64, traffic: &Traffic, variant: &Variant) -> String {
    format!(
        "none of {} of traffic {:?} came back, also of a longer burst than the first; correct what keeps them: {}",
        plural(sent, "frame"),
        traffic.name,
        suspects(variant)
    )
}

/// What a variant sets, as what may keep every frame.
fn suspects(variant: &Variant) -> String {
    let words: Vec<&str> = variant.set.keys().map(String::as_str).collect();
    match &words[..] {
        [] => "the routes".to_owned(),
        words => format!("{}, or the routes", words.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use fwdlab_experiment::Anything;

    use super::*;

    /// A device that keeps its first frames; how long it was tried, and what is said.
    fn tried(keeps: u64) -> (Vec<Duration>, Option<String>) {
        let text = "title = \"t\"\nbaseline = \"a\"\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
                    [[traffic]]\nname = \"t\"\nsource = \"198.18.0.1:7\"\ndestination = \"198.19.0.1:7\"\n\
                    [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.2\"]\n";
        let experiment = Experiment::parse(Path::new("x.toml"), text, &[&Anything]);
        let experiment = experiment.expect("a good experiment");
        let (variant, traffic) = (&experiment.variants[0], &experiment.traffics[0]);
        let request = Request { experiment: &experiment, variant, traffic };
        let (mut all, mut times) = (0, Vec::new());
        let said = a_few::<()>(&request, |short| {
            let sent = short.experiment.duration.as_micros() as u64 / 100;
            let before = all;
            all += sent;
            times.push(short.experiment.duration);
            let received = sent.saturating_sub(keeps.saturating_sub(before));
            Ok(Measured { sent: Some(sent), received, ..Measured::default() })
        });
        (times, said.expect("it never fails"))
    }

    /// "None of 128 frames came back, and none would in any trial": of the 129th on all did.
    #[test]
    fn a_device_that_keeps_its_first_frames_is_measured() {
        assert_eq!(tried(0), (vec![LENGTH], None));
        assert_eq!(tried(199), (vec![LENGTH], None));
        assert_eq!(tried(200), (vec![LENGTH, 5 * LENGTH], None));
        assert_eq!(tried(1200).0.len(), 3);
        assert_eq!(tried(1200).1, None);
        let said = tried(u64::MAX).1.expect("it keeps all");
        assert!(said.starts_with("none of 6200 frames of traffic \"t\" came back"), "{said}");
    }
}
