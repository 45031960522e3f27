//! What a device says about its own part of an experiment file.
//!
//! The reader of experiment files knows no device. It is given the schemas of those that there are,
//! asks the one that the file names what its variants may set and what it can do, and hands it the
//! tables that are the device's own.

use std::net::IpAddr;
use std::ops::Range;
use std::path::PathBuf;

use fwdlab_results::Measure;

use super::fields::Section;
use super::model::Traffic;
use super::problem::{Complaint, Complaints};

/// Most ports of a device: each has a socket and a cable of its own.
pub const MOST_PORTS: u16 = 8;

/// What a device and its tester can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// Finds the highest rate that meets a goal (`measure = "ndr"` and the like).
    pub searches_rates: bool,
    /// Measures that have a figure of their own, of [`Measure::is_benchmark`].
    pub benchmarks: &'static [Measure],
    /// Measures how long frames take.
    pub measures_latency: bool,
    /// Of frames at a rate that was searched for alone.
    pub needs_search_for_latency: bool,
    /// Takes the switch where no measure has a load whose frames could be timed. No device does; files of
    /// campaigns that have run may have it.
    pub ignores_latency: bool,
    /// Takes a mesh some of whose pairs of ports have no frame in a trial. No device does; files of campaigns that
    /// have run may have it.
    pub leaves_pairs_out: bool,
    /// Sends IPv4 and IPv6 in one traffic.
    pub mixes_families: bool,
    /// Sends frames of several lengths in one traffic.
    pub mixes_lengths: bool,
    /// Sends the frames of a capture.
    pub replays_captures: bool,
    /// Changes routes while frames flow.
    pub changes_routes: bool,
    /// Sends frames both ways at once.
    pub sends_both_ways: bool,
    /// Finds the loads of measures with frames of a kind that go one way between two ports alone, and are none of a
    /// capture.
    pub overloads_one_way: bool,
    /// The most ports that it can have.
    pub most_ports: u16,
    /// Sends sessions, which begin and end, and says what the device's table of them holds.
    pub opens_sessions: bool,
    /// Carries streams of real stacks, which answer each other.
    pub carries_streams: bool,
    /// Takes profiles, of the device and not of whatever runs here.
    pub takes_profiles: bool,
    /// What is measured lives in the memory of this program, so that a fresh process is another draw of
    /// where it lies.
    pub lives_in_process: bool,
    /// The longest frame that it sends, FCS included, in bytes.
    pub longest_frame_bytes: u16,
}

impl Abilities {
    /// Everything that can be asked for.
    pub const ALL: Self = Self {
        searches_rates: true,
        benchmarks: &Measure::ALL,
        measures_latency: true,
        needs_search_for_latency: false,
        ignores_latency: true,
        leaves_pairs_out: true,
        mixes_families: true,
        mixes_lengths: true,
        replays_captures: true,
        changes_routes: true,
        sends_both_ways: true,
        overloads_one_way: false,
        most_ports: MOST_PORTS,
        opens_sessions: true,
        carries_streams: true,
        takes_profiles: true,
        lives_in_process: true,
        longest_frame_bytes: u16::MAX,
    };

    /// Rates of frames of one family and one length, of at most 1518 bytes: what every device can.
    pub const BASIC: Self = Self {
        searches_rates: false,
        benchmarks: &[],
        measures_latency: false,
        needs_search_for_latency: false,
        ignores_latency: false,
        leaves_pairs_out: false,
        mixes_families: false,
        mixes_lengths: false,
        replays_captures: false,
        changes_routes: false,
        sends_both_ways: false,
        overloads_one_way: false,
        most_ports: 2,
        opens_sessions: false,
        carries_streams: false,
        takes_profiles: false,
        lives_in_process: false,
        longest_frame_bytes: 1_518,
    };
}

/// A device as far as the experiment file knows it.
pub trait Schema: Sync {
    /// Its name in `device = "NAME"`.
    fn name(&self) -> &'static str;

    /// What to write where `device` has a word that names no device and asks for this one.
    fn asked_for_by(&self, _word: &str) -> Option<&'static str> {
        None
    }

    /// What it can do.
    fn abilities(&self) -> Abilities;

    /// Why it cannot take a measure, in words after "cannot measure it:"; nothing where there is no more to
    /// say than that it cannot.
    fn why_not(&self, _measure: Measure) -> Option<&'static str> {
        None
    }

    /// The table `[NAME]` of the file that is its own, if it has one.
    fn table(&self) -> Option<&'static str> {
        None
    }

    /// Checks a control word of `set`.
    ///
    /// # Errors
    /// When the device has no such word.
    fn check_word(&self, word: &str) -> Result<(), Complaint>;

    /// Checks the value of a known control word.
    ///
    /// # Errors
    /// When the word cannot take it.
    fn check_value(&self, word: &str, value: &str) -> Result<(), Complaint>;

    /// The file that a valid value of a control word names, if it does.
    fn names_file(&self, _word: &str, _value: &str) -> Option<PathBuf> {
        None
    }

    /// The length of the network that a port has around each gateway behind it; nothing where the experiment does not
    /// give the ports their addresses.
    fn network_length(&self, _gateway: IpAddr) -> Option<u8> {
        None
    }

    /// Checks what is the device's own in the file, and what it must know of the rest. Every key
    /// that it has must be asked for: the others are complained about.
    fn check(&self, _file: &mut DeviceTables<'_, '_>, _complaints: &mut Complaints<'_>) {}
}

/// Where a traffic stands, for messages.
#[derive(Clone, Debug)]
pub struct TrafficPlace {
    /// The key of the destinations.
    pub field: String,
    /// Its bytes in the file.
    pub destination: Range<usize>,
    /// Source and destination of each family: the key, with its place in a list, and its bytes.
    pub(crate) ends: Vec<[(String, Range<usize>); 2]>,
    /// The other keys that it has, and their bytes.
    pub(crate) others: Vec<(String, Range<usize>)>,
}

impl TrafficPlace {
    /// The bytes of `key` and its name with the tables around it, where the file has it.
    pub fn key(&self, key: &str) -> Option<(&Range<usize>, &str)> {
        let is_it = |field: &str| field.rsplit_once('.').is_some_and(|(_, own)| own == key);
        let (field, at) = self.others.iter().find(|(field, _)| is_it(field))?;
        Some((at, field))
    }

    /// The same, or that of the destinations, which every traffic has.
    pub fn key_or_ends(&self, key: &str) -> (&Range<usize>, &str) {
        self.key(key).unwrap_or((&self.destination, &self.field))
    }
}

/// Any device: takes every control word and every key. It stands for the device of an experiment that
/// has run, whose file was checked then, and for devices in tests.
#[derive(Clone, Copy, Debug)]
pub struct Anything;

impl Schema for Anything {
    fn name(&self) -> &'static str {
        "anything"
    }

    fn abilities(&self) -> Abilities {
        Abilities::ALL
    }

    fn check_word(&self, _: &str) -> Result<(), Complaint> {
        Ok(())
    }

    fn check_value(&self, _: &str, _: &str) -> Result<(), Complaint> {
        Ok(())
    }

    fn check(&self, file: &mut DeviceTables<'_, '_>, _: &mut Complaints<'_>) {
        file.variants.iter_mut().for_each(Section::know_all);
    }
}

/// The parts of an experiment file that a device may read.
pub struct DeviceTables<'f, 't> {
    /// The device's own table, if the file has it.
    pub own: Option<Section<'f>>,
    /// The variants, in their order; `name` and `set` have been read.
    pub variants: Vec<Section<'f>>,
    /// The traffics that could be read, each with its place in the file.
    pub traffics: &'t [(Traffic, TrafficPlace)],
}
