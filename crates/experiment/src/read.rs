//! Reads an experiment file into an [`Experiment`].

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fwdlab_guard::input;
use toml::de::DeTable;

use super::Variant;
use super::fields::{Found, Section, integer_of, nearest, quoted, shown, without_quotes};
use super::problem::{Complaint, Complaints};
use super::schema::{Anything, DeviceTables, Schema};
use super::syntax;
use super::{
    Allowance, Blocks, ChurnSource, Experiment, Problems, Result, RouteSource, Routes, Traffic,
    able, check, churn, convergence, dealt, inputs, measures, mesh, pairs, parts, quantity, reach,
    sessions, streams,
};
use fwdlab_results::{Error as ResultsError, Measure};

/// Longest experiment file.
const MOST_BYTES: u64 = 4 * fwdlab_guard::MIB;
const DEFAULT_BLOCKS: u32 = 8;
const DEFAULT_CAP: u32 = 40;
/// A process costs some 50 ms, and one block of each of many says more than many of one.
const DEFAULT_PER_PROCESS: u32 = 1;
/// Fewer blocks cannot decide anything (the stop looks from the third on).
const LEAST_CAP: u32 = 3;
const MOST_BLOCKS: u32 = 1_000;
const DEFAULT_MARGIN: f64 = 0.01;
const DEFAULT_DURATION: Duration = Duration::from_secs(1);
const DEFAULT_WARMUP: Duration = Duration::from_millis(100);

impl Experiment {
    /// Reads and validates the experiment file at `path`, for one of these devices, and the routes
    /// file that it names. The first device is the one of files that name none.
    ///
    /// # Errors
    /// When a file cannot be read or is wrong, as [`Experiment::parse`], or
    /// when a destination has no route.
    pub fn read(path: &Path, devices: &[&dyn Schema]) -> Result<Self> {
        let text = input::named_text(path, MOST_BYTES).map_err(ResultsError::io("read", path))?;
        Self::of_text(path, &text, devices)
    }

    /// As [`Experiment::read`], of a text that stands at `path` or could.
    ///
    /// # Errors
    /// As [`Experiment::read`].
    pub fn of_text(path: &Path, text: &str, devices: &[&dyn Schema]) -> Result<Self> {
        let mut experiment = Self::parse(path, text, devices)?;
        let device = devices.iter().find(|device| device.name() == experiment.device);
        let longest = device.map_or(u16::MAX, |it| it.abilities().longest_frame_bytes);
        let mut read = || {
            device.map_or(Ok(()), |device| experiment.note_inputs(*device))?;
            experiment.load_captures(longest)?;
            experiment.load_routes()
        };
        match read() {
            Ok(()) => Ok(experiment),
            Err(error) => Err(experiment.located(error)),
        }
    }

    /// Validates the text of the experiment file at `path`. Reads no other
    /// file.
    ///
    /// # Errors
    /// When anything is wrong; the error holds every problem found.
    pub fn parse(path: &Path, text: &str, devices: &[&dyn Schema]) -> Result<Self, Problems> {
        Self::parse_for((path, text), devices, false)
    }

    /// Reads the whole file of an experiment that has run, whatever device it names.
    ///
    /// # Errors
    /// As [`Experiment::parse`].
    pub fn recorded(path: &Path, text: &str) -> Result<Self, Problems> {
        Self::parse_for((path, text), &[&Anything], true)
    }

    fn parse_for(
        (path, text): (&Path, &str),
        devices: &[&dyn Schema],
        is_recorded: bool,
    ) -> Result<Self, Problems> {
        let mut complaints = Complaints::new(text);
        let (tree, syntax) = DeTable::parse_recoverable(text);
        for error in &syntax {
            let at = error.span().unwrap_or(0..0);
            let message = error.message().replace('\n', ", ");
            let key = text.get(at.clone()).filter(|_| message == "duplicate key");
            let complaint = match key {
                Some(key) => syntax::second_time(text, &at, key),
                None => syntax::no_toml(text, &at, message),
            };
            complaints.add(&at, key.unwrap_or_default(), complaint);
        }
        // A tree mended by guesses would only add false complaints.
        let experiment = if complaints.is_empty() {
            let mut top = Section::new("", 0..0, tree.get_ref());
            if is_recorded {
                top.know_all();
            }
            read_experiment(top, (path, text), devices, &mut complaints)
        } else {
            None
        };
        match (experiment, complaints.into_problems(path)) {
            (Some(experiment), None) => Ok(experiment),
            (_, Some(problems)) => Err(problems),
            (None, None) => Err(Problems::unexplained(path)),
        }
    }

    /// What is wrong with texts at `key` of the traffics, for who knows more than the file says.
    pub fn complaints_about(
        &self,
        key: &'static str,
        complaint: impl Fn(&str) -> Option<Complaint>,
    ) -> Option<Problems> {
        let mut complaints = Complaints::new(&self.text);
        let (tree, _) = DeTable::parse_recoverable(&self.text);
        let mut top = Section::new("", 0..0, tree.get_ref());
        for mut traffic in top.tables("traffic", &mut Complaints::new(&self.text)) {
            let Some(Found { field, at, value }) = traffic.value(key) else { continue };
            if let Some(complaint) = value.as_str().and_then(&complaint) {
                complaints.add(&at, &field, complaint);
            }
        }
        complaints.into_problems(&self.path)
    }

    /// What is wrong with whole traffics, for who knows more than the file says: each complaint with the key
    /// that it points at, or else at the destinations.
    pub fn complaints_about_traffics(
        &self,
        complaint: impl Fn(&Traffic) -> Option<(&'static str, Complaint)>,
    ) -> Option<Problems> {
        let mut complaints = Complaints::new(&self.text);
        let (tree, _) = DeTable::parse_recoverable(&self.text);
        let mut top = Section::new("", 0..0, tree.get_ref());
        for (traffic, place) in parts::read_traffics(&mut top, &mut Complaints::new(&self.text)) {
            let Some((key, complaint)) = complaint(&traffic) else { continue };
            let (at, field) = place.key_or_ends(key);
            complaints.add(at, field, complaint);
        }
        complaints.into_problems(&self.path)
    }

    /// Name for results: the file's name without its ending.
    pub fn stem(&self) -> &str {
        self.path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("experiment")
    }

    /// The file of routes, if there is one; a relative path starts at the
    /// experiment file's directory.
    pub fn routes_file(&self) -> Option<PathBuf> {
        match &self.routes.source {
            Some(RouteSource::File(file)) => Some(inputs::place(&self.path, file)),
            _ => None,
        }
    }

    /// The file of BGP updates, if there is one, likewise.
    pub fn updates_file(&self) -> Option<PathBuf> {
        match &self.churn.as_ref()?.source {
            ChurnSource::File(file) => Some(inputs::place(&self.path, file)),
            _ => None,
        }
    }
}

/// What the file of an experiment that has run says, whatever its device: it was checked then.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// The seed of the running order, if the file gives one.
    pub seed: Option<u64>,
    /// The variants.
    pub variants: Vec<Variant>,
    /// The order of the flows of traffics, by name, where the file says one.
    pub orders: Vec<[String; 2]>,
    /// The routes.
    pub routes: Routes,
    /// Validity checks whose failure only warns.
    pub allow: Vec<Allowance>,
}

impl Recorded {
    /// Reads what is there.
    ///
    /// # Errors
    /// What is wrong with the text, when it is no TOML.
    pub fn read(text: &str) -> Result<Self, String> {
        let tree = DeTable::parse(text).map_err(|error| error.message().to_owned())?;
        let mut complaints = Complaints::new(text);
        let mut top = Section::new("", 0..0, tree.get_ref());
        let seed = top.integer("seed", 0..=i64::MAX as u64, &mut complaints);
        let allow = read_allow(&mut top, &mut complaints);
        let (variants, _) = parts::read_variants(&mut top, &Anything, &mut complaints);
        let routes = parts::read_routes(&mut top, &mut complaints);
        let own = OwnKeys::of(text, &Anything).variants;
        let plain: toml::Table = text.parse().unwrap_or_default();
        let traffics = plain.get("traffic").and_then(toml::Value::as_array);
        let order = |one: &toml::Value| {
            let of = |key: &str| Some(one.get(key)?.as_str()?.to_owned());
            Some([of("name").unwrap_or_default(), of("order")?])
        };
        Ok(Self {
            seed: seed.map(|found| found.value),
            variants: variants
                .into_iter()
                .zip(own.into_iter().chain(std::iter::repeat_with(toml::Table::new)))
                .map(|(found, own)| Variant { own, ..found.value })
                .collect(),
            orders: traffics.into_iter().flatten().filter_map(order).collect(),
            routes: parts::bare_routes(routes),
            allow,
        })
    }
}

/// What to do with a key of a variant that another device takes, or that is a control word of its own one.
fn of_device(
    key: &str,
    variant: &Section<'_>,
    (device, devices): (&dyn Schema, &[&dyn Schema]),
) -> Option<String> {
    let takes = |device: &&&dyn Schema| {
        let variants = vec![variant.anew()];
        let mut tables = DeviceTables { own: None, variants, traffics: &[] };
        device.check(&mut tables, &mut Complaints::new(""));
        tables.variants.iter().any(|variant| variant.knows(key))
    };
    let several: Vec<&str> = devices.iter().filter(takes).map(|device| device.name()).collect();
    if !several.is_empty() {
        let several = several.join("\" or \"");
        return Some(format!(
            "it belongs to device = \"{several}\": say so at the top, or remove it"
        ));
    }
    if variant.is_table(key) {
        return Some(format!(
            "words with dots stand in quotes: set = {{ \"{key}. ...\" = VALUE }}"
        ));
    }
    device.check_word(key).is_ok().then(|| format!("write it as set = {{ \"{key}\" = VALUE }}"))
}

/// Reads every key first, so that all problems are found, and only then gives
/// up for those that are missing.
fn read_experiment(
    mut top: Section<'_>,
    (path, text): (&Path, &str),
    devices: &[&dyn Schema],
    complaints: &mut Complaints<'_>,
) -> Option<Experiment> {
    // What has run stays readable, also where it would be refused today.
    let is_recorded = top.takes_all();
    if top.is_empty() {
        let remedy = "`fwdlab init FILE` writes an experiment to begin with";
        let complaint = Complaint::new("the file holds no key", "an experiment", remedy);
        complaints.add(&top.at.clone(), "", complaint);
        return None;
    }
    let title = read_title(&mut top, complaints);
    let named = read_device(&mut top, devices, complaints);
    let first = top.first_name("variant").unwrap_or("the name of a variant");
    let baseline = top.required_text("baseline", &format!("{first:?}"), complaints);
    let margin = read_margin(&mut top, complaints);
    let blocks = read_blocks(&mut top, complaints);
    let calibrate = read_calibrate(&mut top, complaints);
    let per_process_key = top.place("blocks_per_process");
    let per_process = top.integer("blocks_per_process", 0..=u64::from(MOST_BLOCKS), complaints);
    let seed = top.integer("seed", 0..=i64::MAX as u64, complaints).map(|found| found.value);
    let times = Times::read(&mut top, complaints);
    let allow = read_allow(&mut top, complaints);
    let measures = measures::read(&mut top, complaints);
    let asked: &[Measure] = measures.as_ref().map_or(&[], |found| &found.value);
    let benchmarks = measures::read_benchmarks(&mut top, asked, complaints);
    let latency = read_switch(&mut top, "latency", LATENCY, complaints);
    let profile = read_switch(&mut top, "profile", PROFILE, complaints);
    // Of a device that is not known, the usual one's words are asked for.
    let device = named.or_else(|| devices.first().copied())?;
    let own = read_own_table(&mut top, device, devices, complaints);
    let (variants, sections) = parts::read_variants(&mut top, device, complaints);
    let placed = parts::read_traffics(&mut top, complaints);
    let churn = churn::read(&mut top, complaints);
    let [measure_key, latency_key, profile_key, churn_key] =
        ["measure", "latency", "profile", "churn"].map(|key| top.place(key));
    let placed = churn::join(placed, churn.as_ref().map(|found| &found.value));
    let placed = measures::join(placed, asked);
    check::joined_names(&placed, complaints);
    let mut tables = DeviceTables { own, variants: sections, traffics: &placed };
    device.check(&mut tables, complaints);
    if let Some(own) = tables.own {
        own.finish(complaints);
    }
    for section in tables.variants {
        let unread = section.anew();
        let others = |key: &str| of_device(key, &unread, (device, devices));
        section.finish_beside(others, complaints);
    }
    let mut routes = parts::read_routes(&mut top, complaints);
    let end = text.trim_end().len();
    top.finish(complaints);

    check::baseline(baseline.as_ref(), &variants, complaints);
    let traffics: Vec<_> = placed.iter().map(|(traffic, _)| traffic.clone()).collect();
    check::resolve_ports(&mut routes, &traffics);
    // Before its routes, which cannot help.
    if !is_recorded {
        dealt::check(&placed, complaints);
    }
    if complaints.is_empty() {
        let allows_no_route = allow.contains(&Allowance::NoRoute);
        reach::reachable(&placed, &routes, allows_no_route, complaints);
        let length = |gateway| device.network_length(gateway);
        check::gateways(&routes, &length, complaints);
        reach::beyond_gateways(&placed, &routes, &length, complaints);
    }
    convergence::check(&placed, &routes, complaints);
    check::churn(churn.as_ref(), asked, &routes, complaints);
    check::load_of_measure(&placed, complaints);
    sessions::measures(&placed, churn.is_some(), complaints);
    if !is_recorded {
        sessions::as_written(&placed, complaints);
        mesh::check_routes(&placed, &routes.fixed, complaints);
    }
    streams::measures(&placed, churn.is_some(), complaints);
    check::both_ways(&placed, churn.is_some(), complaints);
    mesh::check(&placed, churn.is_some(), complaints);
    pairs::check(&placed, times.duration, named, complaints);
    let wanted = able::Wanted {
        measure: measure_key,
        latency: latency_key.filter(|_| latency == Some(true)),
        profile: profile_key.filter(|_| profile == Some(true)),
        blocks_per_process: per_process_key
            .filter(|_| per_process.as_ref().is_some_and(|found| found.value > 0)),
        churn: churn_key,
        placed: &placed,
        words: variants.iter().flat_map(|own| own.value.set.keys().map(String::as_str)).collect(),
    };
    able::abilities(named, devices, &wanted, complaints);
    check::distinct_ids(&variants, &traffics, complaints);
    check::counts(&variants, &traffics, end..end, complaints);
    let sha256 = fwdlab_guard::digest::of(text.as_bytes());
    let mut own = OwnKeys::of(text, device);
    Some(Experiment {
        path: path.to_owned(),
        text: text.to_owned(),
        sha256,
        inputs: BTreeMap::new(),
        title: title?.value.to_owned(),
        device: named?.name().to_owned(),
        own: std::mem::take(&mut own.table),
        baseline: baseline?.value.to_owned(),
        margin: margin?,
        blocks: blocks?,
        calibrate: calibrate?,
        blocks_per_process: per_process.map_or(DEFAULT_PER_PROCESS, |found| found.value as u32),
        seed,
        duration: times.duration?,
        warmup: times.warmup?,
        interval: times.interval?,
        variants: variants
            .into_iter()
            .zip(own.variants)
            .map(|(found, own)| Variant { own, ..found.value })
            .collect(),
        traffics,
        routes: parts::bare_routes(routes),
        churn: churn.map(|found| found.value),
        allow,
        measure: match &measures?.value[..] {
            [only] => *only,
            _ => Measure::Rate,
        },
        benchmarks,
        latency: latency?,
        profile: profile?,
    })
}

/// The title, which stands above pages: one line, and all of it can be seen.
fn read_title<'a>(
    top: &mut Section<'a>,
    complaints: &mut Complaints<'_>,
) -> Option<Found<&'a str>> {
    let found = top.required_text("title", "\"What is compared\"", complaints)?;
    let is_title = fwdlab_results::is_title(found.value) && !found.value.trim().is_empty();
    let result = match is_title {
        true => Ok(()),
        false => Err(Complaint::new(
            "the title is empty or too long, or has a line end or characters that cannot be seen",
            "one line of at most 500 bytes",
            "write title = \"What is compared\"",
        )),
    };
    complaints.keep(&found.at, &found.field, result).map(|()| found)
}

/// The device that the file names, or the usual one; nothing for a wrong name.
fn read_device<'d>(
    top: &mut Section<'_>,
    devices: &[&'d dyn Schema],
    complaints: &mut Complaints<'_>,
) -> Option<&'d dyn Schema> {
    let usual = devices.first().copied();
    let Some(found) = top.value("device") else { return usual };
    let example = format!("{:?}", usual.map_or("", |device| device.name()));
    let found = found.into_text(&example, complaints)?;
    let names = || devices.iter().map(|device| device.name());
    if top.takes_all() {
        return usual; // the device of a recorded experiment may be any
    }
    let known = devices.iter().copied().find(|device| device.name() == found.value);
    let result = known.ok_or_else(|| {
        let word = found.value.to_lowercase();
        let meant = devices.iter().find_map(|device| device.asked_for_by(&word));
        Complaint::new(
            format!("there is no device {:?}", found.value),
            format!("one of {}", names().collect::<Vec<_>>().join(", ")),
            match (meant, nearest(&word, names())) {
                (Some(meant), _) => meant.to_owned(),
                (None, Some(near)) => format!("did you mean \"{near}\"?"),
                (None, None) => format!("write device = {example}"),
            },
        )
    });
    complaints.keep(&found.at, &found.field, result)
}

/// The table that is the device's own; those of other devices are complained about.
fn read_own_table<'a>(
    top: &mut Section<'a>,
    device: &dyn Schema,
    devices: &[&dyn Schema],
    complaints: &mut Complaints<'_>,
) -> Option<Section<'a>> {
    let own = device.table();
    let others = devices.iter().filter_map(|other| other.table().map(|table| (other, table)));
    for (other, table) in others.filter(|(_, table)| Some(*table) != own) {
        if let Some(found) = top.value(table) {
            let complaint = Complaint::new(
                format!("the device is {}", device.name()),
                format!("a table [{table}] only with device = {:?}", other.name()),
                format!("remove the table, or write device = {:?}", other.name()),
            );
            complaints.add(&found.at, table, complaint);
        }
    }
    top.table(own?, complaints)
}

/// What stands in the file for the device alone.
struct OwnKeys {
    table: toml::Table,
    /// For each variant.
    variants: Vec<toml::Table>,
}

impl OwnKeys {
    fn of(text: &str, device: &dyn Schema) -> Self {
        let mut tree: toml::Table = text.parse().unwrap_or_default();
        let table = device.table().and_then(|name| tree.remove(name));
        let table = table.and_then(|value| value.try_into().ok()).unwrap_or_default();
        let variants = tree.remove("variant").and_then(|value| value.try_into().ok());
        let mut variants: Vec<toml::Table> = variants.unwrap_or_default();
        for variant in &mut variants {
            variant.remove("name");
            variant.remove("set");
        }
        Self { table, variants }
    }
}

/// What the switches of an experiment do when they are on, for messages.
const LATENCY: &str = "true, to measure the latency of every frame, or false";
const PROFILE: &str = "true, to take profiles after the measured trials, or false";

fn read_switch(
    top: &mut Section<'_>,
    key: &'static str,
    wanted: &'static str,
    complaints: &mut Complaints<'_>,
) -> Option<bool> {
    let Some(found) = top.value(key) else { return Some(false) };
    let result = found.value.as_bool().ok_or_else(|| {
        Complaint::new(
            format!("{} is neither true nor false", shown(found.value)),
            wanted,
            format!("write {key} = true"),
        )
    });
    complaints.keep(&found.at, &found.field, result)
}

/// Share of trials that prove the lab itself, unless the file says otherwise.
const DEFAULT_CALIBRATE: f64 = 0.2;
/// More than half would be no experiment any more.
const MOST_CALIBRATE: f64 = 50.0;

fn read_calibrate(top: &mut Section<'_>, complaints: &mut Complaints<'_>) -> Option<f64> {
    let Some(found) = top.value("calibrate") else { return Some(DEFAULT_CALIBRATE) };
    let is_share = |percent: f64| (0.0..=MOST_CALIBRATE).contains(&percent);
    let example = quantity::share_meant(&shown(found.value), "\"20%\"", is_share);
    let found = found.into_text(&example, complaints)?;
    let number = found.value.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let share = number.filter(|percent| is_share(*percent));
    let result = share.map(|percent| percent / 100.0).ok_or_else(|| {
        Complaint::new(
            format!("{:?} is no share of the trials", found.value),
            format!("a percentage from \"0%\" to \"{MOST_CALIBRATE}%\""),
            "write calibrate = \"20%\", or \"0%\" to let the lab prove nothing",
        )
    });
    complaints.keep(&found.at, &found.field, result)
}

fn read_margin(top: &mut Section<'_>, complaints: &mut Complaints<'_>) -> Option<f64> {
    let Some(found) = top.value("margin") else { return Some(DEFAULT_MARGIN) };
    let example = quantity::margin_meant(&shown(found.value));
    let found = found.into_text(&example, complaints)?;
    complaints.keep(&found.at, &found.field, quantity::margin(found.value))
}

fn read_blocks(top: &mut Section<'_>, complaints: &mut Complaints<'_>) -> Option<Blocks> {
    let blocks = match top.value("blocks") {
        None => Some(Blocks::Fixed(DEFAULT_BLOCKS)),
        Some(found) => {
            let result = match (found.value.as_str(), integer_of(found.value)) {
                (Some("until-decided"), _) => Ok(Blocks::UntilDecided { cap: DEFAULT_CAP }),
                (_, Some(n)) if (1..=u64::from(MOST_BLOCKS)).contains(&n) => {
                    Ok(Blocks::Fixed(n as u32))
                }
                _ => Err(Complaint::new(
                    format!("{} is no number of blocks", shown(found.value)),
                    format!("a whole number from 1 to {MOST_BLOCKS}, or \"until-decided\""),
                    match quoted(found.value) {
                        Some(meant @ 1..) => without_quotes("blocks", meant),
                        _ => format!("write blocks = {DEFAULT_BLOCKS}"),
                    },
                )),
            };
            complaints.keep(&found.at, &found.field, result)
        }
    };
    let range = u64::from(LEAST_CAP)..=u64::from(MOST_BLOCKS);
    let at = top.value("cap").map(|found| (found.at, found.field));
    let cap = top.integer("cap", range, complaints).map(|found| found.value as u32);
    // What is written `block` is said to be unknown, and a cap beside it is none without a meaning.
    let is_known = !top.is_misspelt("blocks");
    match (blocks, cap.filter(|_| is_known), at) {
        (Some(Blocks::UntilDecided { .. }), Some(cap), _) => Some(Blocks::UntilDecided { cap }),
        (Some(Blocks::Fixed(n)), Some(_), Some((at, field))) => {
            let complaint = Complaint::new(
                format!("a cap has no meaning with {n} blocks"),
                "a cap only beside blocks = \"until-decided\"",
                "remove cap, or write blocks = \"until-decided\"",
            );
            complaints.add(&at, &field, complaint);
            None
        }
        (blocks, _, _) => blocks,
    }
}

fn read_allow(top: &mut Section<'_>, complaints: &mut Complaints<'_>) -> Vec<Allowance> {
    let mut allowed = Vec::new();
    for found in top.list("allow", "[\"saturation\"]", complaints) {
        let Some(Found { field, at, value }) = found.into_text("\"saturation\"", complaints) else {
            continue;
        };
        let names = || Allowance::ALL.iter().map(|allowance| allowance.name());
        let result = Allowance::ALL.into_iter().find(|a| a.name() == value).ok_or_else(|| {
            Complaint::new(
                format!("there is no check {value:?} to allow"),
                format!("one of {}", names().collect::<Vec<_>>().join(", ")),
                match nearest(value, names()) {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None => "remove it".to_owned(),
                },
            )
        });
        allowed.extend(complaints.keep(&at, &field, result));
    }
    allowed
}

/// The times of a trial.
struct Times {
    duration: Option<Duration>,
    warmup: Option<Duration>,
    interval: Option<Duration>,
}

impl Times {
    fn read(top: &mut Section<'_>, complaints: &mut Complaints<'_>) -> Self {
        let mut time = |key, default, least| match top.value(key) {
            None => Some((default, 0..0)),
            Some(found) => {
                let example = quantity::time_meant(&shown(found.value), least);
                let found = found.into_text(&example, complaints)?;
                let result = quantity::duration(found.value, least);
                let value = complaints.keep(&found.at, &found.field, result)?;
                Some((value, found.at))
            }
        };
        let duration = time("duration", DEFAULT_DURATION, Duration::from_millis(100));
        let warmup = time("warmup", DEFAULT_WARMUP, Duration::ZERO);
        let whole = duration.as_ref().map_or(DEFAULT_DURATION, |(duration, _)| *duration);
        let interval = time("interval", quantity::interval(whole), Duration::from_millis(10));
        if let (Some((duration, _)), Some((interval, at))) = (&duration, &interval) {
            Self::check_interval(*duration, *interval, at, complaints);
        }
        let bare = |time: Option<(Duration, Range<usize>)>| time.map(|(value, _)| value);
        Self { duration: bare(duration), warmup: bare(warmup), interval: bare(interval) }
    }

    /// A median needs a few intervals to stand on.
    fn check_interval(
        duration: Duration,
        interval: Duration,
        at: &Range<usize>,
        complaints: &mut Complaints<'_>,
    ) {
        if interval * quantity::FEWEST_INTERVALS > duration {
            let most = duration / quantity::FEWEST_INTERVALS;
            let complaint = Complaint::new(
                format!(
                    "a trial of {duration:?} holds fewer than {} intervals of {interval:?}",
                    quantity::FEWEST_INTERVALS
                ),
                format!("an interval of at most {most:?}"),
                format!("write interval = \"{}ms\", or a longer duration", most.as_millis()),
            );
            complaints.add(at, "interval", complaint);
        }
    }
}
