//! Reads the tables of an experiment file: variants, traffics, routes.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::PathBuf;

use fwdlab_traffic::size::MAX;
use fwdlab_traffic::{FrameSizes, Order, TrafficError};
use toml::de::DeValue;

use super::addresses::MOST_FLOWS;
use super::fields::{Found, Section, integer_of, shown, wrong_kind};
use super::problem::{Complaint, Complaints};
use super::schema::{Schema, TrafficPlace};
use super::{
    Direction, Endpoint, Load, Route, RouteSource, Routes, Traffic, Variant, capture, kind, load,
    mesh, sessions, streams,
};
use fwdlab_results::units::plural;
use fwdlab_results::{Family, Measure};
use fwdlab_routes::{NotAPrefix, Prefix};

/// Most synthetic routes of one family.
pub const MOST_GENERATED: u64 = 4_000_000;

/// Routes while their egress ports are not settled.
pub(super) struct DraftRoutes {
    /// Each with the port that the file names, if any.
    pub fixed: Vec<Found<(Route, Option<u16>)>>,
    pub source: Option<RouteSource>,
}

/// The routes without their places.
pub(super) fn bare_routes(draft: DraftRoutes) -> Routes {
    let fixed = draft.fixed.into_iter().map(|found| found.value.0).collect();
    Routes { fixed, source: draft.source }
}

/// Reads the name and the settings of every variant; what else its table holds is the device's.
pub(super) fn read_variants<'a>(
    top: &mut Section<'a>,
    device: &dyn Schema,
    complaints: &mut Complaints<'_>,
) -> (Vec<Found<Variant>>, Vec<Section<'a>>) {
    let mut variants: Vec<Found<Variant>> = Vec::new();
    let mut sections = Vec::new();
    let (mut spelt, is_recorded) = (BTreeMap::new(), top.takes_all());
    for mut section in top.tables("variant", complaints) {
        let taken = variants.iter().map(|v| v.value.name.as_str());
        let name = read_name(&mut section, taken, complaints);
        let set = read_settings(&mut section, device, (&mut spelt, is_recorded), complaints);
        if let Some(Found { field, at, value: name }) = name {
            let own = toml::Table::new();
            variants.push(Found { field, at, value: Variant { name, set, own } });
        }
        sections.push(section);
    }
    (variants, sections)
}

/// Reads the name of a variant or a traffic. Names become parts of trial ids
/// and of file names.
fn read_name<'n>(
    section: &mut Section<'_>,
    mut taken: impl Iterator<Item = &'n str>,
    complaints: &mut Complaints<'_>,
) -> Option<Found<String>> {
    let found = section.required_text("name", "\"a-short-name\"", complaints)?;
    let name = found.value;
    let result = if !fwdlab_results::is_name(name) {
        Err(Complaint::new(
            format!("{name:?} is no name"),
            "1 to 64 letters, digits, '.', '_' or '-', with no '.' in front",
            "choose a plain word; names become parts of file names",
        ))
    } else if taken.any(|other| other == name) {
        Err(Complaint::new(
            format!("the name {name:?} is used twice"),
            "a name of its own for each",
            "rename one of the two",
        ))
    } else {
        Ok(name.to_owned())
    };
    let value = complaints.keep(&found.at, &found.field, result)?;
    Some(Found { field: found.field, at: found.at, value })
}

/// A sysctl by its dots: with a slash first, dots and slashes stand for each other (sysctl(8)).
fn dots(word: &str) -> String {
    let swapped = |c: char| match c {
        '/' => '.',
        '.' => '/',
        other => other,
    };
    match word.find(['.', '/']) {
        Some(at) if word[at..].starts_with('/') => word.chars().map(swapped).collect(),
        _ => word.to_owned(),
    }
}

/// `spelt` holds each setting that stood in a variant before as it was spelt there.
fn read_settings(
    section: &mut Section<'_>,
    device: &dyn Schema,
    (spelt, is_recorded): (&mut BTreeMap<String, String>, bool),
    complaints: &mut Complaints<'_>,
) -> BTreeMap<String, String> {
    let mut set = BTreeMap::new();
    let Some(words) = section.table("set", complaints) else { return set };
    for (word, key_at, Found { field, at, value }) in words.entries() {
        if let Some((dotted, value)) = dotted(word, value) {
            let complaint = Complaint::new(
                "a word with dots stands here without quotes, and TOML makes tables of it",
                "the word in quotes",
                format!("write \"{dotted}\" = {value}"),
            );
            complaints.add(&key_at, &words.field(&dotted), complaint);
            continue;
        }
        if complaints.keep(&key_at, &field, device.check_word(word)).is_none() {
            continue;
        }
        let before = spelt.entry(dots(word)).or_insert_with(|| word.to_owned());
        if *before != word && !is_recorded {
            let complaint = Complaint::new(
                format!("{word} is {before} in another spelling, and counts as another setting"),
                "one spelling of a setting in all variants",
                format!("write \"{before}\""),
            );
            complaints.add(&key_at, &field, complaint);
        }
        let text = match value {
            DeValue::String(text) => text.to_string(),
            DeValue::Integer(_) | DeValue::Float(_) | DeValue::Boolean(_) => shown(value),
            _ => {
                let example = format!("\"{word}\" = \"value\"");
                complaints.add(&at, &field, wrong_kind(value, "text or a number", &example));
                continue;
            }
        };
        if complaints.keep(&at, &field, device.check_value(word, &text)).is_some() {
            set.insert(word.to_owned(), text);
        }
    }
    set
}

/// The word that somebody wrote without quotes, and its value: tables within tables of one key each.
fn dotted(word: &str, value: &DeValue<'_>) -> Option<(String, String)> {
    let mut dotted = word.to_owned();
    let mut inner = value;
    while let Some(table) = inner.as_table() {
        let (key, value) = table.iter().next()?;
        dotted = format!("{dotted}.{}", key.get_ref());
        inner = value.get_ref();
    }
    (dotted.len() > word.len()).then(|| (dotted, shown(inner)))
}

pub(super) fn read_traffics(
    top: &mut Section<'_>,
    complaints: &mut Complaints<'_>,
) -> Vec<(Traffic, TrafficPlace)> {
    let mut traffics: Vec<(Traffic, TrafficPlace)> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for mut section in top.tables("traffic", complaints) {
        let name = read_name(&mut section, names.iter().map(String::as_str), complaints);
        names.extend(name.as_ref().map(|found| found.value.clone()));
        let traffic = read_traffic(&mut section, name, complaints);
        section.finish(complaints);
        traffics.extend(traffic);
    }
    traffics
}

fn read_traffic(
    section: &mut Section<'_>,
    name: Option<Found<String>>,
    complaints: &mut Complaints<'_>,
) -> Option<(Traffic, TrafficPlace)> {
    let capture = capture::read(section, complaints);
    let sources = read_ends(section, "source", capture.is_some(), complaints);
    let destinations = read_ends(section, "destination", capture.is_some(), complaints);
    let frame = section.value("frame");
    let load = section.value("load");
    let order = section.value("order");
    let flows = section.value("flows");
    let direction = section.value("direction");
    let ports = mesh::read(section, complaints);
    let kind = kind::read(section, complaints);
    let others = [
        "name",
        "capture",
        "source",
        "frame",
        "kind",
        "load",
        "order",
        "direction",
        "ports",
        "lifetime",
        "concurrent",
        "protocol",
    ];
    let others = others.into_iter().filter_map(|key| section.place(key)).collect();
    let (sources, destinations) = (sources?, destinations?);
    let pairs = paired(&sources, &destinations);
    let pairs = complaints.keep(&destinations.at, &destinations.field, pairs)?;
    let (source, destination) = pairs[0];
    let inet6 = pairs.get(1).copied();
    let family = if inet6.is_some() { Family::Dual } else { source.family() };
    // What a capture says itself has been refused beside it.
    let own = |found| if capture.is_some() { None } else { found };
    let (sizes, frame_bytes) = match (own(frame), &kind.streams) {
        (None, Some(_)) => {
            (FrameSizes::fixed(streams::USUAL_FRAME_BYTES.into()), streams::USUAL_FRAME_BYTES)
        }
        (frame, _) => read_frame(frame, family, complaints)?,
    };
    let load = read_load(load, (frame_bytes, capture.is_some()), complaints)?;
    let order = read_order(own(order), complaints)?;
    let direction = read_direction(direction, complaints)?;
    let ports = mesh::settled(ports, direction, complaints);
    let of_end = |own: &Found<Endpoint>| (own.field.clone(), own.at.clone());
    let ends = sources.value.iter().zip(&destinations.value);
    let ends = ends.map(|(source, destination)| [of_end(source), of_end(destination)]).collect();
    let place =
        TrafficPlace { field: destinations.field, destination: destinations.at, ends, others };
    let name = name?.value;
    let mut traffic = Traffic {
        name,
        family,
        source,
        destination,
        inet6,
        frame_bytes,
        sizes,
        load,
        order,
        direction,
        ports,
        measure: Measure::Rate,
        capture,
        changes_per_s: None,
        sessions: None,
        streams: None,
    };
    if let Some(lived) = kind.sessions {
        traffic.sessions = Some(sessions::settled(lived, (&traffic, &place), complaints)?);
    }
    if let Some(found) = kind.streams {
        traffic.streams = Some(streams::settled(found, (&traffic, &place), complaints)?);
    }
    if traffic.capture.is_none() {
        check_flows(&traffic, flows, &place, complaints);
    }
    Some((traffic, place))
}

/// Sources with their destinations: one pair of one family, or a pair of IPv4 and one of IPv6.
fn paired(
    sources: &Found<Vec<Found<Endpoint>>>,
    destinations: &Found<Vec<Found<Endpoint>>>,
) -> Result<Vec<(Endpoint, Endpoint)>, Complaint> {
    let both = sources.value.iter().zip(&destinations.value);
    let pairs: Vec<_> = both.map(|(from, to)| (from.value, to.value)).collect();
    let families = |ends: &[Found<Endpoint>]| {
        let titles: Vec<_> = ends.iter().map(|end| end.value.family().title()).collect();
        titles.join(" and ")
    };
    let of_one_family = pairs.iter().all(|(from, to)| from.family() == to.family());
    let in_order = match pairs[..] {
        [_] => true,
        [(inet, _), (inet6, _)] => (inet.family(), inet6.family()) == (Family::Inet, Family::Inet6),
        _ => false,
    };
    if of_one_family && in_order && sources.value.len() == destinations.value.len() {
        return Ok(pairs);
    }
    Err(Complaint::new(
        format!(
            "the destination is {}, the source {}",
            families(&destinations.value),
            families(&sources.value)
        ),
        "source and destination of one family, or lists of two: IPv4, then IPv6",
        "use one [[traffic]] for each family, or give both keys an IPv4 and an IPv6 range",
    ))
}

/// Reads a range of addresses, or a list of them.
fn read_ends(
    section: &mut Section<'_>,
    key: &'static str,
    is_captured: bool,
    complaints: &mut Complaints<'_>,
) -> Option<Found<Vec<Found<Endpoint>>>> {
    const EXAMPLE: &str = "\"198.18.10.1-198.18.10.20:2000\"";
    let parse = if is_captured { Endpoint::parse_addresses } else { Endpoint::parse };
    let is_list = section.value(key).is_some_and(|found| found.value.as_array().is_some());
    if !is_list {
        let Found { field, at, value } = section.required_text(key, EXAMPLE, complaints)?;
        let value = complaints.keep(&at, &field, parse(value))?;
        let only = Found { field: field.clone(), at: at.clone(), value };
        return Some(Found { field, at, value: vec![only] });
    }
    let found = section.value(key)?;
    let mut ends = Vec::new();
    for element in section.list(key, EXAMPLE, complaints) {
        let Found { field, at, value } = element.into_text(EXAMPLE, complaints)?;
        let value = complaints.keep(&at, &field, parse(value))?;
        ends.push(Found { field, at, value });
    }
    Some(Found { field: found.field, at: found.at, value: ends })
}

/// Reads a length, `"min"`, or a mix, and returns it with its mean.
fn read_frame(
    found: Option<Found<&DeValue<'_>>>,
    family: Family,
    complaints: &mut Complaints<'_>,
) -> Option<(FrameSizes, u16)> {
    let least = family.smallest_udp_frame_bytes();
    let smallest = match family {
        // Each family its own.
        Family::Dual => (FrameSizes::min(), least - 1),
        _ => (FrameSizes::fixed(least.into()), least),
    };
    let Some(Found { field, at, value }) = found else { return Some(smallest) };
    let sizes = match (value.as_str(), integer_of(value)) {
        (Some("min"), _) => return Some(smallest),
        (Some(text), _) => text.parse().map_err(|error: TrafficError| match error {
            TrafficError::FrameSize { text } => format!("{text:?} is no frame length and no mix"),
            error => error.to_string(),
        }),
        // 0 is how a mix holds its smallest frames.
        (None, Some(bytes @ 1..)) => Ok(FrameSizes::fixed(bytes as usize)),
        (None, _) => Err(format!("{} is no frame length", shown(value))),
    };
    let of_family = match family {
        Family::Inet => fwdlab_traffic::Family::Inet,
        // What suits IPv6 suits both.
        Family::Inet6 | Family::Dual => fwdlab_traffic::Family::Inet6,
    };
    let checked = sizes.and_then(|sizes| match sizes.mean_len(of_family) {
        Ok(mean) => Ok((sizes, mean.round() as u16)),
        Err(error) => Err(error.to_string()),
    });
    let result = checked.map_err(|what| {
        Complaint::new(
            what,
            format!(
                "\"min\", bytes from {least} to {MAX}, FCS included, \"imix\", or a mix such as \
                 \"64:7,594:4,1518:1\""
            ),
            match value.as_str() {
                Some(text) if text.contains([':', ',']) => {
                    "each part of a mix is LENGTH:COUNT, such as 594:4".to_owned()
                }
                None if value.is_array() => {
                    "write a mix such as \"64:1,1518:1\", or a [[traffic]] for each length"
                        .to_owned()
                }
                text => match text
                    .and_then(|text| super::fields::nearest(text, ["min", "imix"].into_iter()))
                {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None if integer_of(value).is_some_and(|bytes| bytes > MAX as u64) => {
                        format!("write frame = {MAX}, the longest")
                    }
                    None => format!("write frame = \"min\" for {least} bytes"),
                },
            },
        )
    });
    complaints.keep(&at, &field, result)
}

fn read_load(
    found: Option<Found<&DeValue<'_>>>,
    (frame_bytes, is_captured): (u16, bool),
    complaints: &mut Complaints<'_>,
) -> Option<Load> {
    let Some(found) = found else { return Some(Load::Max) };
    let bare = integer_of(found.value).map(|number| format!("{number}pps"));
    let meant = bare.filter(|text| load::read(text).is_ok()).map(|text| format!("{text:?}"));
    let example = meant.as_deref().unwrap_or("\"max\" or \"500kpps\"");
    let Found { field, at, value } = found.into_text(example, complaints)?;
    let load = complaints.keep(&at, &field, load::read(value))?;
    complaints.keep(&at, &field, load::check(load, frame_bytes, is_captured))?;
    Some(load)
}

fn read_order(
    found: Option<Found<&DeValue<'_>>>,
    complaints: &mut Complaints<'_>,
) -> Option<Order> {
    let Some(found) = found else { return Some(Order::Sequential) };
    let Found { field, at, value } = found.into_text("\"random\"", complaints)?;
    let result = value.parse().map_err(|_| {
        Complaint::new(
            format!("{value:?} is no order of flows"),
            "\"sequential\", \"random\", \"zipf(EXPONENT)\" with an exponent from 0 to 4, or \
             \"elephants(FLOWS, SHARE%)\" with a share above 0 % and below 100 %",
            match value.trim() {
                "zipf" => "write order = \"zipf(1.0)\": it has an exponent",
                _ => "write order = \"random\" to have every flow once in a random order",
            },
        )
    });
    complaints.keep(&at, &field, result)
}

fn read_direction(
    found: Option<Found<&DeValue<'_>>>,
    complaints: &mut Complaints<'_>,
) -> Option<Direction> {
    let Some(found) = found else { return Some(Direction::One) };
    let Found { field, at, value } = found.into_text("\"both\"", complaints)?;
    let known = Direction::ALL.into_iter().find(|direction| direction.name() == value);
    let result = known.ok_or_else(|| {
        Complaint::new(
            format!("there is no direction {value:?}"),
            "\"one\", from the sources to the destinations, \"both\", and back at the same time, or \"mesh\", from \
             each port to all others",
            "write direction = \"both\" for both ways at once",
        )
    });
    complaints.keep(&at, &field, result)
}

/// Checks the number of flows: `flows`, when given, must be what the ranges
/// make, because published results announced 2000 flows and sent 200.
fn check_flows(
    traffic: &Traffic,
    asked: Option<Found<&DeValue<'_>>>,
    place: &TrafficPlace,
    complaints: &mut Complaints<'_>,
) {
    let product = |sources: &str, destinations: &str| {
        let of_family = |(source, destination): (Endpoint, Endpoint)| {
            format!("{}{sources} x {}{destinations}", source.count(), destination.count())
        };
        traffic.ends().map(of_family).collect::<Vec<_>>().join(" + ")
    };
    let made = traffic.flows_ahead();
    if made > MOST_FLOWS {
        let complaint = Complaint::new(
            format!("{} are too many flows", product(" sources", " destinations")),
            format!("at most {MOST_FLOWS} flows"),
            "make the ranges smaller",
        );
        complaints.add(&place.destination, &place.field, complaint);
    }
    let Some(Found { field, at, value }) = asked else { return };
    let what = match integer_of(value) {
        Some(0) => "zero flows send nothing".to_owned(),
        Some(n) if n == made => return,
        Some(n) => {
            let product = product("", "");
            let announced = plural(n, "flow");
            format!("{announced} announced, but the ranges make {product} = {made}")
        }
        None => format!("{} is no number of flows", shown(value)),
    };
    let complaint = Complaint::new(
        what,
        format!("{made}, the number of sources times the number of destinations"),
        format!("write flows = {made}, or change the ranges"),
    );
    complaints.add(&at, &field, complaint);
}

pub(super) fn read_routes(top: &mut Section<'_>, complaints: &mut Complaints<'_>) -> DraftRoutes {
    let mut routes = DraftRoutes { fixed: Vec::new(), source: None };
    let Some(mut section) = top.table("routes", complaints) else {
        return routes;
    };
    const EXAMPLE: &str = "\"198.19.0.0/16 via 198.19.0.203\"";
    for found in section.list("static", EXAMPLE, complaints) {
        let Some(Found { field, at, value }) = found.into_text(EXAMPLE, complaints) else {
            continue;
        };
        let Some(value) = complaints.keep(&at, &field, parse_route(value)) else { continue };
        let prefix = value.0.prefix;
        if routes.fixed.iter().any(|other| other.value.0.prefix == prefix) {
            let complaint = Complaint::new(
                format!("there are two routes to {prefix}"),
                "one route for each prefix",
                "remove one of the two",
            );
            complaints.add(&at, &field, complaint);
        }
        routes.fixed.push(Found { field, at, value });
    }
    let file = section.text("file", "\"full-view.txt\"", complaints);
    let generate = section.integer("generate", 1..=MOST_GENERATED, complaints);
    routes.source = match (file, generate) {
        (Some(_), Some(generate)) => {
            let complaint = Complaint::new(
                "routes come from a file and are generated as well",
                "either file or generate",
                "remove one of the two",
            );
            complaints.add(&generate.at, &generate.field, complaint);
            None
        }
        (Some(file), None) => Some(RouteSource::File(PathBuf::from(file.value))),
        (None, Some(count)) => Some(RouteSource::Generate(count.value as u32)),
        (None, None) => None,
    };
    section.finish(complaints);
    routes
}

/// Reads `PREFIX via GATEWAY`, with ` port 0` or ` port 1` after it if need
/// be.
pub(super) fn parse_route(text: &str) -> Result<(Route, Option<u16>), Complaint> {
    let form = || {
        Complaint::new(
            format!("{text:?} is no route"),
            "PREFIX via GATEWAY, optionally followed by port 0 or port 1",
            "write for instance \"198.19.0.0/16 via 198.19.0.203\"",
        )
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    let (prefix, gateway, port) = match words[..] {
        [prefix, "via", gateway] => (prefix, gateway, None),
        [prefix, "via", gateway, "port", "0"] => (prefix, gateway, Some(0)),
        [prefix, "via", gateway, "port", "1"] => (prefix, gateway, Some(1)),
        _ => return Err(form()),
    };
    let prefix: Prefix = prefix.parse().map_err(|why| prefix_complaint(prefix, why))?;
    let gateway: IpAddr = gateway.parse().map_err(|_| form())?;
    if Family::of(gateway) != Family::of(prefix.address()) {
        return Err(Complaint::new(
            format!("the route mixes families: {prefix} via {gateway}"),
            format!("an {} gateway", Family::of(prefix.address()).title()),
            "change the gateway or the prefix",
        ));
    }
    if !is_host(gateway) {
        return Err(Complaint::new(
            format!("{gateway} is the address of no other host"),
            "the address of a router beside the device",
            "name a unicast address, such as 198.19.0.203 or 2001:2:0:8000::203",
        ));
    }
    Ok((Route { prefix, gateway, port: port.unwrap_or(1) }, port))
}

/// Whether an address may be that of another host: no kernel takes a gateway that is many, all, none, or itself.
fn is_host(address: IpAddr) -> bool {
    let is_broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
    !(address.is_multicast() || address.is_loopback() || address.is_unspecified() || is_broadcast)
}

pub(super) fn prefix_complaint(text: &str, why: NotAPrefix) -> Complaint {
    let wanted = "a prefix such as 198.19.0.0/16 or 2001:2:0:1::/64";
    match why {
        NotAPrefix::Form => {
            Complaint::new(format!("{text:?} is no prefix"), wanted, "write address/length")
        }
        NotAPrefix::Length { most } => Complaint::new(
            format!("the prefix length of {text:?} is too large"),
            format!("a length from 0 to {most}"),
            "make it smaller",
        ),
        NotAPrefix::HostBits(meant) => {
            Complaint::new(format!("{text:?} has host bits set"), wanted, format!("write {meant}"))
        }
    }
}
