//! Gives an experiment the routes that come from elsewhere.

use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};

use crate::reach::{self, Learned};
use crate::{Experiment, Result, Route, RouteSource, Traffic, inputs};
use fwdlab_guard::digest::Sum;
use fwdlab_results::Error as ResultsError;
use fwdlab_results::Family;
use fwdlab_routes::Prefix;
use fwdlab_routes::{LearnedRoute, RouteTable, generate, read_found};

/// Distinct gateways that learned routes are mapped to. They must fit into one
/// network of the device beside its own address.
const MOST_GATEWAYS: u32 = 200;

/// Gateways over which routes are spread that name none.
const SPREAD: u32 = 16;

/// The port on the side of the destinations.
const DESTINATIONS: u16 = 1;

impl Experiment {
    /// Reads the routes that the experiment takes from a file or has
    /// generated, adds them to [`Routes::fixed`](crate::Routes),
    /// and checks that they lead to every address that frames go to, by the port behind which it lies. Routes of a family
    /// without traffic are left out, and so is a learned route to the prefix of
    /// a static one.
    ///
    /// A routes file becomes part of `sha256`: with other routes it is another
    /// experiment.
    ///
    /// # Errors
    /// When the file cannot be read or is wrong, or an address has no route or one that leads astray.
    pub(crate) fn load_routes(&mut self) -> Result<()> {
        let files = self.other_files();
        if !files.is_empty() {
            self.sha256 = digest(&self.text, &files)?;
        }
        let learned = match (&self.routes.source, self.routes_file()) {
            (Some(_), Some(file)) => of_file(&file)?,
            (Some(RouteSource::Generate(count)), None) => generated(self, *count),
            (None | Some(RouteSource::File(_)), _) => {
                self.route_to_ports();
                return Ok(());
            }
        };
        attach(self, &learned.table);
        self.route_to_ports();
        reach::check(self, &learned)
    }
}

impl Experiment {
    /// The SHA-256 under which a campaign of this experiment is recorded: that of its text, followed
    /// by its files of routes, updates and captures if it names some. `None` when one is not at hand.
    ///
    /// # Errors
    /// When a file is there and cannot be read.
    pub fn recorded_sha256(&self) -> Result<Option<String>> {
        let files = self.other_files();
        if files.is_empty() {
            return Ok(Some(self.sha256.clone()));
        }
        match files.iter().all(|file| file.is_file()) {
            true => digest(&self.text, &files).map(Some),
            false => Ok(None),
        }
    }

    /// The files that the experiment names.
    fn other_files(&self) -> Vec<PathBuf> {
        self.common_files().into_iter().map(|file| inputs::place(&self.path, file)).collect()
    }

    /// The first of the files that it names which is not there.
    pub fn missing_file(&self) -> Option<PathBuf> {
        self.other_files().into_iter().find(|file| !file.is_file())
    }
}

/// The experiment's routes with those of a file beside them, as `file` in `[routes]` would give.
///
/// # Errors
/// When the file cannot be read or is wrong, or an address of a traffic is led astray.
pub fn with_file(experiment: &Experiment, file: &Path) -> Result<Vec<Route>> {
    with(experiment, &of_file(file)?)
}

/// The experiment's routes with so many generated ones beside them for each family in use.
///
/// # Errors
/// When an address of a traffic is led astray.
pub fn with_generated(experiment: &Experiment, count: u32) -> Result<Vec<Route>> {
    with(experiment, &generated(experiment, count))
}

fn with(experiment: &Experiment, learned: &Learned) -> Result<Vec<Route>> {
    let mut changed = experiment.clone();
    attach(&mut changed, &learned.table);
    reach::check(&changed, learned)?;
    Ok(changed.routes.fixed)
}

fn of_file(file: &Path) -> Result<Learned> {
    Ok(Learned { table: read_found(file)?, from: file.display().to_string(), is_file: true })
}

/// So many generated routes for each family in use.
fn generated(experiment: &Experiment, count: u32) -> Learned {
    let used = families(experiment);
    let table = generate::table(generate::Wanted {
        routes: count,
        nexthops: SPREAD,
        ipv4: used.contains(&Family::Inet),
        ipv6: used.contains(&Family::Inet6),
    });
    Learned { table, from: format!("the {count} generated routes"), is_file: false }
}

fn families(experiment: &Experiment) -> HashSet<Family> {
    experiment.traffics.iter().flat_map(Traffic::ends).map(|ends| ends.0.family()).collect()
}

/// Adds the routes of `table` to the experiment's.
fn attach(experiment: &mut Experiment, table: &RouteTable) {
    let used = families(experiment);
    let fixed = &mut experiment.routes.fixed;
    let named: HashSet<Prefix> = fixed.iter().map(|route| route.prefix).collect();
    let mut inet = Gateways::beside(fixed, Family::Inet);
    let mut inet6 = Gateways::beside(fixed, Family::Inet6);
    for route in &table.routes {
        let family = Family::of(route.prefix.address());
        if !used.contains(&family) || named.contains(&route.prefix) {
            continue;
        }
        let gateway = match family {
            Family::Inet => inet.gateway(route),
            Family::Inet6 | Family::Dual => inet6.gateway(route),
        };
        fixed.push(Route { prefix: route.prefix, gateway, port: DESTINATIONS });
    }
}

/// Maps the gateways of a table to ones beside the destinations: routes that
/// share a gateway still share one, as far as [`MOST_GATEWAYS`] go.
struct Gateways {
    /// The network's address; gateway k is this + 1 + k.
    network: IpAddr,
    numbers: HashMap<IpAddr, u32>,
}

impl Gateways {
    /// Gateways in the network of the first static route towards the
    /// destinations, or else in the last one of the benchmarking range.
    fn beside(fixed: &[Route], family: Family) -> Self {
        let first = fixed
            .iter()
            .find(|route| {
                Family::of(route.prefix.address()) == family && route.port == DESTINATIONS
            })
            .map(|route| route.gateway);
        let (fallback, length): (IpAddr, u8) = match family {
            Family::Inet => (Ipv4Addr::new(198, 19, 255, 0).into(), 24),
            Family::Inet6 | Family::Dual => {
                (Ipv6Addr::new(0x2001, 2, 0, 0xffff, 0, 0, 0, 0).into(), 64)
            }
        };
        let network = Prefix::covering(first.unwrap_or(fallback), length).address();
        Self { network, numbers: HashMap::new() }
    }

    fn gateway(&mut self, route: &LearnedRoute) -> IpAddr {
        let next = self.numbers.len() as u32;
        let number = match route.gateway {
            Some(gateway) => *self.numbers.entry(gateway).or_insert(next) % MOST_GATEWAYS,
            None => spread(&route.prefix),
        };
        match self.network {
            IpAddr::V4(network) => Ipv4Addr::from_bits(network.to_bits() + 1 + number).into(),
            IpAddr::V6(network) => {
                Ipv6Addr::from_bits(network.to_bits() + 1 + u128::from(number)).into()
            }
        }
    }
}

/// A number below [`SPREAD`] that depends on all bits of a prefix.
fn spread(prefix: &Prefix) -> u32 {
    // Fibonacci hashing: the high bits of a product with 2^64 / golden ratio.
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let (low, _) = prefix.bounds();
    let mixed = ((low >> 64) as u64 ^ low as u64).wrapping_add(u64::from(prefix.length()));
    (mixed.wrapping_mul(GOLDEN) >> 60) as u32 % SPREAD
}

/// SHA-256 of an experiment's text followed by its files.
fn digest(text: &str, files: &[PathBuf]) -> Result<String> {
    let mut sum = Sum::default();
    sum.add(text.as_bytes());
    for file in files {
        let source =
            fwdlab_guard::input::found(file, u64::MAX).map_err(ResultsError::io("open", file))?;
        sum.add_all(source).map_err(ResultsError::io("read", file))?;
    }
    Ok(sum.digits())
}
