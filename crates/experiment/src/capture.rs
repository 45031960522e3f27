//! `capture` in `[[traffic]]`: frames that were recorded, with addresses of the experiment.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fwdlab_guard::input;
use fwdlab_traffic::{Capture, CaptureError, Endpoints, FrameSizes, Recording, TrafficError};

use super::fields::{Found, Section};
use super::model::{CaptureOf, Experiment, Traffic};
use super::problem::{Complaint, Complaints};
use super::{Error, Load, Result, inputs};

/// Reads the key, if the traffic has it, and refuses what a capture says itself.
pub(super) fn read(
    section: &mut Section<'_>,
    complaints: &mut Complaints<'_>,
) -> Option<CaptureOf> {
    let found = section.text("capture", "\"mix.pcapng\"", complaints)?;
    for key in ["frame", "order", "flows"] {
        let Some(Found { field, at, .. }) = section.value(key) else { continue };
        let complaint = Complaint::new(
            "lengths, flows and their order are those of the capture",
            format!("no {key} beside capture"),
            format!("remove {key}, or capture"),
        );
        complaints.add(&at, &field, complaint);
    }
    Some(CaptureOf { file: PathBuf::from(found.value), recording: None })
}

impl Experiment {
    /// Reads the captures that traffics replay; frames may have so many bytes, FCS included.
    ///
    /// # Errors
    /// A file cannot be read, or holds nothing that the device could be sent.
    pub(super) fn load_captures(&mut self, longest_frame_bytes: u16) -> Result<()> {
        // A file that several traffics replay is read once.
        let mut known: Vec<(PathBuf, Arc<Capture>)> = Vec::new();
        for traffic in &mut self.traffics {
            let Some(wanted) = &traffic.capture else { continue };
            let (path, name) = (self.path.clone(), traffic.name.clone());
            let file = inputs::place(&self.path, &wanted.file);
            let wrong = |source: CaptureError| Error::Capture {
                path: path.clone(),
                traffic: name.clone(),
                file: file.clone(),
                source: Box::new(source),
            };
            let capture = match known.iter().find(|(known, _)| *known == file) {
                Some((_, capture)) => Arc::clone(capture),
                None => {
                    let opened = open(&file).map_err(|source| {
                        let (path, traffic) = (path.clone(), name.clone());
                        Error::CaptureFile { path, traffic, file: file.clone(), source }
                    })?;
                    let opened = std::io::BufReader::with_capacity(1 << 16, opened);
                    let capture = Arc::new(Capture::read(opened).map_err(wrong)?);
                    known.push((file.clone(), Arc::clone(&capture)));
                    capture
                }
            };
            let recording = attach(traffic, &capture, longest_frame_bytes).map_err(wrong)?;
            traffic.capture = Some(CaptureOf {
                file: wanted_file(traffic),
                recording: Some(Arc::new(recording)),
            });
        }
        Ok(())
    }
}

fn open(file: &Path) -> std::io::Result<std::fs::File> {
    let opened = input::found(file, inputs::MOST_CAPTURE_BYTES)?;
    match opened.metadata()?.is_dir() {
        true => Err(std::io::ErrorKind::IsADirectory.into()),
        false => Ok(opened),
    }
}

fn wanted_file(traffic: &Traffic) -> PathBuf {
    traffic.capture.as_ref().map(|capture| capture.file.clone()).unwrap_or_default()
}

/// Maps a capture onto a traffic's addresses, and takes over what it says of lengths.
fn attach(
    traffic: &mut Traffic,
    capture: &Capture,
    longest_frame_bytes: u16,
) -> Result<Recording, CaptureError> {
    let ends = |(source, destination): (super::Endpoint, super::Endpoint)| {
        Ok((source.to_string().parse()?, destination.to_string().parse()?))
    };
    let ends: Result<Vec<(Endpoints, Endpoints)>, TrafficError> =
        traffic.ends().map(ends).collect();
    let recording = capture.mapped(&ends?)?;
    if traffic.load == Load::Recorded && recording.recorded_pps().is_none() {
        return Err(CaptureError::Timeless);
    }
    if recording.longest() > usize::from(longest_frame_bytes) {
        let (len, most) = (recording.longest(), usize::from(longest_frame_bytes));
        return Err(CaptureError::TooLong { packet: recording.longest_packet(), len, most });
    }
    traffic.sizes = FrameSizes::fixed(recording.longest());
    traffic.frame_bytes = recording.mean_len().round() as u16;
    Ok(recording)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use fwdlab_traffic::Load;
    use nix::sys::stat::Mode;

    use crate::{Abilities, Anything, Experiment, Schema, problem::Complaint};

    const SHIPPED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/capture.pcap");

    fn text(keys: &str) -> String {
        format!(
            "title = \"t\"\nbaseline = \"a\"\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
             [[traffic]]\nname = \"mix\"\n{keys}\n\
             [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.203\"]\n"
        )
    }

    const ENDS: &str =
        "source = \"198.18.0.1-198.18.0.9\"\ndestination = \"198.19.0.1-198.19.0.9\"";

    fn refused(keys: &str) -> String {
        let path = Path::new("lab/x.toml");
        Experiment::parse(path, &text(keys), &[&Anything]).unwrap_err().to_string()
    }

    /// An experiment beside a capture that `make` puts there.
    fn beside(keys: &str, make: impl FnOnce(&Path)) -> crate::Result<Experiment> {
        let dir = tempfile::tempdir().unwrap();
        make(&dir.path().join("mix.pcap"));
        let path = dir.path().join("x.toml");
        let text = text(&format!("capture = \"mix.pcap\"\n{ENDS}\n{keys}"));
        std::fs::write(&path, &text).unwrap();
        Experiment::read(&path, &[&Anything])
    }

    #[test]
    fn lengths_and_flows_are_those_of_the_capture() {
        let copy = |to: &Path| {
            std::fs::copy(SHIPPED, to).unwrap();
        };
        let experiment = beside("load = \"recorded\"", copy).unwrap();
        let traffic = &experiment.traffics[0];
        assert_eq!(traffic.load, Load::Recorded);
        let recording = traffic.capture.as_ref().unwrap().recording.as_ref().unwrap();
        assert_eq!(traffic.flows(), u64::from(recording.flows()));
        assert_eq!(f64::from(traffic.frame_bytes), recording.mean_len().round());
        assert_eq!(traffic.offered_pps(), recording.recorded_pps());
        let fact = traffic.capture.as_ref().unwrap().fact().unwrap();
        assert!(
            fact.contains("of the other family") && fact.contains("1 that are not IP"),
            "{fact}"
        );
        // With another capture it is another experiment.
        let other = beside("load = \"recorded\"", |to| {
            let mut bytes = std::fs::read(SHIPPED).unwrap();
            bytes[100] ^= 1;
            std::fs::write(to, bytes).unwrap();
        });
        assert_ne!(experiment.sha256, other.unwrap().sha256);
        let again = Experiment::recorded(&experiment.path, &experiment.text).unwrap();
        assert!(!again.traffics[0].is_known() && again.missing_file().is_some());
    }

    #[test]
    fn what_a_capture_says_itself_is_not_said_twice() {
        let with = |keys: &str| refused(&format!("capture = \"mix.pcap\"\n{keys}"));
        for key in ["frame = 512", "order = \"random\"", "flows = 7"] {
            let problems = with(&format!("{ENDS}\n{key}"));
            assert!(problems.contains("are those of the capture"), "{key}: {problems}");
        }
        let ports = with("source = \"198.18.0.1:7\"\ndestination = \"198.19.0.1\"");
        assert!(
            ports.contains("names a port") && ports.contains("write \"198.18.0.1\""),
            "{ports}"
        );
        let ends = "source = \"198.18.0.1:7\"\ndestination = \"198.19.0.1:7\"";
        let load = refused(&format!("{ends}\nload = \"recorded\""));
        assert!(load.contains("nothing was recorded"), "{load}");
    }

    #[test]
    fn a_file_that_is_none_is_refused_with_its_name_and_what_to_do() {
        fn write(bytes: &'static [u8]) -> impl FnOnce(&Path) {
            move |to| std::fs::write(to, bytes).unwrap()
        }
        let cut = |to: &Path| {
            let bytes = std::fs::read(SHIPPED).unwrap();
            std::fs::write(to, &bytes[..1000]).unwrap();
        };
        let link = |to: &Path| std::os::unix::fs::symlink(SHIPPED, to).unwrap();
        let fifo = |to: &Path| nix::unistd::mkfifo(to, Mode::S_IRWXU).unwrap();
        for (error, words) in [
            (beside("", |_| {}), "cannot open"),
            (beside("", link), "cannot open"),
            (beside("", fifo), "cannot open"),
            (beside("", |to| std::fs::create_dir(to).unwrap()), "cannot open"),
            (beside("", write(b"")), "it ends within its header"),
            (beside("", write(b"title = \"no capture\"")), "magic number"),
            (beside("", cut), "it was cut"),
        ] {
            let error = error.unwrap_err().to_string();
            let is_named = error.contains("mix.pcap") && error.contains("traffic mix, capture");
            assert!(is_named && error.contains(words), "{words}: {error}");
            let has_remedy = ["; name a pcap", "editcap", "write it anew"];
            assert!(has_remedy.iter().any(|remedy| error.contains(remedy)), "{error}");
        }
    }

    /// A device that sends small frames, and no captures unless `replays`.
    struct Plain {
        replays: bool,
    }

    impl Schema for Plain {
        fn name(&self) -> &'static str {
            "plain"
        }
        fn abilities(&self) -> Abilities {
            Abilities {
                replays_captures: self.replays,
                longest_frame_bytes: 600,
                ..Abilities::BASIC
            }
        }
        fn check_word(&self, _: &str) -> Result<(), Complaint> {
            Ok(())
        }
        fn check_value(&self, _: &str, _: &str) -> Result<(), Complaint> {
            Ok(())
        }
    }

    #[test]
    fn a_device_that_cannot_replay_it_says_so() {
        let text = text(&format!("capture = \"capture.pcap\"\n{ENDS}"));
        let path = Path::new(SHIPPED).with_file_name("x.toml");
        let read = |replays| {
            let error = Experiment::of_text(&path, &text, &[&Plain { replays }]).unwrap_err();
            error.to_string()
        };
        assert!(
            read(false).contains("the device \"plain\" cannot replay a capture"),
            "{}",
            read(false)
        );
        assert!(read(true).contains("at most 600 can be sent"), "{}", read(true));
    }
}
