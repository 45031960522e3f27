//! A validated experiment.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use fwdlab_traffic::{FrameSizes, Load, Order, Recording};

use fwdlab_keys::elsewhere;
use fwdlab_results::{Family, Measure};
use fwdlab_routes::Prefix;

use super::{Endpoint, groups};

/// A validated experiment. Everything that a name refers to exists, ranges run
/// forwards, and every destination has a route.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// The file, for messages and to name the results directory.
    pub path: PathBuf,
    /// The file's text as it was read.
    pub text: String,
    /// SHA-256 of the text, in lower-case hexadecimal.
    pub sha256: String,
    /// SHA-256 of each file that it names and that is there, by its name in the file.
    pub inputs: BTreeMap<String, String>,
    /// Title of the report.
    pub title: String,
    /// Name of the device under test.
    pub device: String,
    /// The table that is the device's own; empty when the file has none.
    pub own: toml::Table,
    /// Name of the variant that the others are compared with.
    pub baseline: String,
    /// The margin as a ratio: 0.01 is 1 %.
    pub margin: f64,
    /// How many blocks run.
    pub blocks: Blocks,
    /// So many blocks run in each process, with its memory laid out anew; 0 for all in one.
    pub blocks_per_process: u32,
    /// Share of the trials whose answer the lab knows, by which it proves itself; 0 for none.
    pub calibrate: f64,
    /// The seed of the running order; `None` draws one when the campaign
    /// starts.
    pub seed: Option<u64>,
    /// Length of the counted part of a trial.
    pub duration: Duration,
    /// Length of the traffic before the counted part, a run of its own.
    pub warmup: Duration,
    /// Length of a counting interval.
    pub interval: Duration,
    /// The variants, at least two, in the order of the file.
    pub variants: Vec<Variant>,
    /// The traffics, at least one, in the order of the file.
    pub traffics: Vec<Traffic>,
    /// The device's routes.
    pub routes: Routes,
    /// Routes that change while frames flow.
    pub churn: Option<Churn>,
    /// Validity checks whose failure only warns.
    pub allow: Vec<Allowance>,
    /// What the figure of a trial is; the rate where each traffic has its own of several.
    pub measure: Measure,
    /// How the measures are taken that leave a choice.
    pub benchmarks: Benchmarks,
    /// Whether the latency of every frame is measured.
    pub latency: bool,
    /// Whether profiles are taken after the measured trials.
    pub profile: bool,
}

impl Experiment {
    /// The same experiment with trials that take as long as its warm-ups, and have none themselves.
    #[must_use]
    pub fn of_warm_up(&self) -> Self {
        Self {
            duration: self.warmup,
            warmup: Duration::ZERO,
            interval: self.interval.min(self.warmup),
            ..self.clone()
        }
    }

    /// The words that other variants set and this one does not, each once. A device reads them back
    /// too, where it can: what a variant leaves alone is as much a part of what ran as what it sets.
    pub fn words_of_others<'a>(&'a self, variant: &Variant) -> BTreeSet<&'a str> {
        let set = self.variants.iter().flat_map(|other| other.set.keys());
        set.map(String::as_str).filter(|word| !variant.set.contains_key(*word)).collect()
    }

    /// The measure of a traffic where it is not that of all.
    pub fn own_measure(&self, traffic: &Traffic) -> Measure {
        if traffic.measure == self.measure { Measure::Rate } else { traffic.measure }
    }
}

/// How measures are taken that leave a choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Benchmarks {
    /// Loads of a loss curve as shares of the maximum receive rate, the smallest first.
    pub loads: Vec<f64>,
    /// Load of an overload, as a share of the throughput.
    pub overload: f64,
    /// Load after it, as a share of the throughput.
    pub relief: f64,
    /// Load of a soak, as a share of the non-drop rate.
    pub soak_load: f64,
    /// How long a soak takes.
    pub soak: Duration,
}

/// How many blocks a campaign runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// So many.
    Fixed(u32),
    /// Until every comparison is decided, at most `cap`.
    UntilDecided {
        /// The most blocks that run.
        cap: u32,
    },
}

impl Blocks {
    /// The number of blocks that are planned: all, or the cap.
    pub const fn planned(self) -> u32 {
        match self {
            Self::Fixed(blocks) | Self::UntilDecided { cap: blocks } => blocks,
        }
    }

    /// True when the campaign stops as soon as it is decided.
    pub const fn is_until_decided(self) -> bool {
        matches!(self, Self::UntilDecided { .. })
    }
}

/// One way to set the device up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Variant {
    /// Its name: letters, digits, `.`, `_` and `-`.
    pub name: String,
    /// Control words and their values.
    pub set: BTreeMap<String, String>,
    /// Keys beside these that are the device's own.
    pub own: toml::Table,
}

/// One traffic.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// Its name: letters, digits, `.`, `_` and `-`.
    pub name: String,
    /// The family of both ends, or [`Family::Dual`].
    pub family: Family,
    /// Source addresses and port.
    pub source: Endpoint,
    /// Destination addresses and port.
    pub destination: Endpoint,
    /// The IPv6 source and destination of a traffic of both families, whose other ends are IPv4.
    pub inet6: Option<(Endpoint, Endpoint)>,
    /// Length of the frames, FCS included; of a mix, the rounded mean.
    pub frame_bytes: u16,
    /// The lengths with their weights.
    pub sizes: FrameSizes,
    /// Offered load.
    pub load: Load,
    /// In which order flows follow each other.
    pub order: Order,
    /// Which way frames go.
    pub direction: Direction,
    /// How many ports the device has for it, an even number: half of them towards the sources.
    pub ports: u16,
    /// What its figure is.
    pub measure: Measure,
    /// The capture whose frames are replayed; then lengths and flows are its own.
    pub capture: Option<CaptureOf>,
    /// Changes of routes a second meanwhile, where the experiment has rates of them.
    pub changes_per_s: Option<u32>,
    /// Its flows are sessions, which begin and end.
    pub sessions: Option<SessionsOf>,
    /// Its flows are streams of real stacks.
    pub streams: Option<StreamsOf>,
}

/// How the streams of a traffic are sent: each flow is one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamsOf {
    /// How the senders avoid congestion, in the kernel's words; without it, the kernel's own way.
    pub congestion: Option<String>,
}

/// What sessions are made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SessionProtocol {
    /// Datagrams: whoever sends the first has begun a session, and it ends by its silence.
    #[default]
    Udp,
    /// Segments: three open a session and three close it.
    Tcp,
}

/// How the sessions of a traffic live: each flow is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionsOf {
    /// What they are sessions of.
    pub protocol: SessionProtocol,
    /// Frames from its beginning to its end, of both ways together.
    pub lifetime: u32,
    /// How many are alive at once, where sessions come and go.
    pub concurrent: u64,
}

impl Traffic {
    /// Number of flows: every source with every destination of its family, and the other way round
    /// where frames go both ways; or those of the capture.
    pub fn flows(&self) -> u64 {
        let only_opened = matches!(self.measure, Measure::Insertion | Measure::FullTable);
        let ways = if only_opened { 1 } else { self.direction.ways() };
        match self.direction {
            Direction::Mesh => {
                let of = |(source, destination): (Endpoint, Endpoint)| {
                    source.count().saturating_mul(destination.count())
                };
                self.meshed().into_iter().map(of).fold(0, u64::saturating_add)
            }
            _ => self.flows_ahead().saturating_mul(ways),
        }
    }

    /// Number of flows to the destinations.
    pub fn flows_ahead(&self) -> u64 {
        if let Some(capture) = &self.capture {
            return capture.recording.as_ref().map_or(0, |recording| recording.flows().into());
        }
        let flows = |(source, destination): (Endpoint, Endpoint)| {
            source.count().saturating_mul(destination.count())
        };
        self.ends().map(flows).fold(0, u64::saturating_add)
    }

    /// The load of all ways together in frames/s; `None` for load max, and for a capture that has not
    /// been read.
    pub fn offered_pps(&self) -> Option<f64> {
        let of_one = match &self.capture {
            None => self.load.frames_per_second(f64::from(self.frame_bytes)),
            Some(capture) => self.load.frames_per_second_of(capture.recording.as_ref()?),
        };
        // The frames of a session go there and back in turns.
        let ways = match self.direction {
            _ if self.sessions.is_some() => 1,
            // The load of a mesh is that of each port.
            Direction::Mesh => u64::from(self.ports),
            direction => direction.ways(),
        };
        of_one.map(|pps| pps * ways as f64)
    }

    /// Whether lengths and flows are known: those of a capture are while it is at hand.
    pub fn is_known(&self) -> bool {
        self.capture.as_ref().is_none_or(|capture| capture.recording.is_some())
    }

    /// Which addresses lie behind which port, port by port.
    pub fn groups(&self) -> Vec<(u16, Endpoint)> {
        groups::groups(self.ports, self.ends())
    }

    /// Sources and destinations of a full mesh: those behind each port to those behind each other one.
    pub fn meshed(&self) -> Vec<(Endpoint, Endpoint)> {
        groups::meshed(&self.groups())
    }

    /// Source and destination of each family.
    pub fn ends(&self) -> impl Iterator<Item = (Endpoint, Endpoint)> + use<> {
        std::iter::once((self.source, self.destination)).chain(self.inet6)
    }
}

/// Which way the frames of a traffic go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// From the sources to the destinations.
    #[default]
    One,
    /// And from the destinations to the sources at the same time, each flow turned round, with the
    /// same load.
    Both,
    /// From the addresses behind each port to those behind each other one, on whatever side they are.
    Mesh,
}

impl Direction {
    /// Every direction.
    pub const ALL: [Self; 3] = [Self::One, Self::Both, Self::Mesh];

    /// The name in experiment files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::Both => "both",
            Self::Mesh => "mesh",
        }
    }

    /// How many ways frames go.
    pub const fn ways(self) -> u64 {
        match self {
            Self::One => 1,
            Self::Both | Self::Mesh => 2,
        }
    }

    /// Whether frames go both ways, those of a mesh included.
    pub const fn is_both(self) -> bool {
        matches!(self, Self::Both | Self::Mesh)
    }
}

/// The capture of a traffic.
#[derive(Clone, Debug, PartialEq)]
pub struct CaptureOf {
    /// A relative path starts at the experiment file.
    pub file: PathBuf,
    /// Its frames; `None` while the file has not been read, as of an experiment that has run.
    pub recording: Option<Arc<Recording>>,
}

impl CaptureOf {
    /// What the results say about it, once it has been read.
    pub fn fact(&self) -> Option<String> {
        let recording = self.recording.as_ref()?;
        let left_out = recording.left_out();
        let mut fact = format!(
            "{}: {} frames of {} addresses in {} flows, {:.0} bytes on average, {} with a mark",
            self.file.display(),
            recording.frames(),
            recording.addresses(),
            recording.flows(),
            recording.mean_len(),
            recording.marked(),
        );
        for (count, what) in [
            (left_out.not_ip, "that are not IP"),
            (left_out.malformed, "with a broken IP header"),
            (left_out.other_family, "of the other family"),
        ] {
            if count > 0 {
                fact.push_str(&format!("; without {count} {what}"));
            }
        }
        Some(fact)
    }
}

/// The device's routes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Routes {
    /// Routes written in the experiment file.
    pub fixed: Vec<Route>,
    /// More routes from elsewhere.
    pub source: Option<RouteSource>,
}

/// Where more routes come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RouteSource {
    /// A file of routes; a relative path starts at the experiment file.
    File(PathBuf),
    /// So many synthetic routes for each family in use, drawn from the seed
    /// in the shape of a real table.
    Generate(u32),
}

/// Routes that change while frames flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Churn {
    /// Which.
    pub source: ChurnSource,
    /// Changes a second: every traffic runs with each. Empty where the source says the times.
    pub rates: Vec<u32>,
}

/// Which routes change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChurnSource {
    /// So many of the learned routes go and come back, those of one gateway first: what happens when
    /// a BGP session flaps.
    Flap(u32),
    /// BGP updates recorded in an MRT file, over and over; a relative path starts at the experiment
    /// file.
    File(PathBuf),
    /// These, in order of their times.
    Listed(Vec<ListedChange>),
}

/// A change at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedChange {
    /// From the start of a trial.
    pub at: Duration,
    /// Destinations.
    pub prefix: Prefix,
    /// The next router from then on; `None` withdraws the route.
    pub gateway: Option<IpAddr>,
}

/// One route of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// Destinations.
    pub prefix: Prefix,
    /// The next router.
    pub gateway: IpAddr,
    /// The device's port towards it: 0 on the side of the sources, 1 on the
    /// side of the destinations.
    pub port: u16,
}

/// A validity check whose failure the experiment allows: it warns instead of
/// making a comparison invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Allowance {
    /// The device forwards everything that is offered.
    Saturation,
    /// The tester limits the rate.
    GeneratorLimit,
    /// Variants differ in more than one factor.
    ManyFactors,
    /// Frames are dropped for want of a route.
    NoRoute,
}

impl Allowance {
    /// Every allowance.
    pub const ALL: [Self; 4] =
        [Self::Saturation, Self::GeneratorLimit, Self::ManyFactors, Self::NoRoute];

    /// The name in experiment files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Saturation => "saturation",
            Self::GeneratorLimit => "generator-limit",
            Self::ManyFactors => "many-factors",
            Self::NoRoute => "no-route",
        }
    }

    /// What to write where this is to be allowed.
    pub(super) fn remedy(self) -> String {
        format!("write allow = [\"{}\"] {}", self.name(), elsewhere::TOP)
    }
}
