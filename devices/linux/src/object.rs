//! XDP programs out of object files, as clang and other BPF compilers write them: loaded by aya,
//! with their maps, global variables and relocations (CO-RE included).

use std::os::fd::AsFd;
use std::path::Path;

use aya::maps::{Array, DevMap, Map};
use aya::programs::{Program, ProgramError, Xdp};
use aya::{Ebpf, EbpfLoader};
use fwdlab_port::bpf::Table;

use fwdlab_guard::Scratch;

use super::setup::{DEVICE, PINS};
use crate::LinuxError;
use fwdlab_topology::{Testbed, TopologyError, port_name};

/// Longest object file.
const MOST_BYTES: u64 = 64 * fwdlab_guard::MIB;

/// A map of this name gets the numbers of the device's two interfaces, for programs that redirect.
const PORTS: &str = "ports";

/// A loaded program with its maps, which live as long as this does.
#[derive(Debug)]
pub(super) struct Object {
    /// The program is the table's first.
    pub(super) table: Table,
    /// Its name.
    pub(super) name: String,
    _loaded: Ebpf,
    _pins: Option<Scratch>,
}

impl Object {
    /// Loads the only XDP program of an object file.
    ///
    /// # Errors
    /// The file cannot be read, is no object with one XDP program, or the kernel refuses it.
    pub(super) fn load(testbed: &mut Testbed, path: &Path) -> Result<Self, LinuxError> {
        let refused = |why: String| LinuxError::Setup {
            what: format!(
                "cannot load {}: {why}; `bpftool prog load` tries the same outside fwdlab",
                path.display()
            ),
        };
        let bytes =
            fwdlab_guard::input::bytes(path, MOST_BYTES).map_err(|why| LinuxError::Setup {
                what: format!("cannot read {}: {why}; check the path", path.display()),
            })?;
        let ports = [0, 1].map(|port| testbed.interface_index(DEVICE, &port_name(port)));
        let [input, output] = ports;
        let ports = [input?, output?];
        // Maps of interfaces find them in the namespace in which they are filled.
        let loaded = testbed.namespace(DEVICE)?.run(|| load(&bytes, ports));
        loaded.map_err(TopologyError::kernel("enter the device's namespace"))?.map_err(refused)
    }
}

fn load(bytes: &[u8], ports: [u32; 2]) -> Result<Object, String> {
    // Maps that ask for a name get one in a directory of this trial, so that they neither meet
    // those of somebody else nor outlive it.
    let pins = Scratch::under(Path::new(PINS)).ok();
    let mut loader = EbpfLoader::new();
    if let Some(pins) = &pins {
        loader.default_map_pin_directory(pins.path());
    }
    let mut loaded = loader.load(bytes).map_err(|error| chain(&error))?;
    if let Some(map) = loaded.map_mut(PORTS) {
        fill(map, ports).map_err(|why| format!("map {PORTS:?}: {why}"))?;
    }
    let mut programs: Vec<(&str, &mut Xdp)> = loaded
        .programs_mut()
        .filter_map(|(name, program)| match program {
            Program::Xdp(xdp) => Some((name, xdp)),
            _ => None,
        })
        .collect();
    let (name, program) = match &mut programs[..] {
        [(name, program)] => (name.to_owned(), program),
        [] => return Err("it has no XDP program, which stands in a section \"xdp\"".to_owned()),
        others => {
            let names: Vec<&str> = others.iter().map(|(name, _)| *name).collect();
            return Err(format!(
                "it has {} XDP programs ({}), and one is wanted",
                names.len(),
                names.join(", ")
            ));
        }
    };
    program.load().map_err(|error| verdict(&error))?;
    let failed = |error: std::io::Error| format!("program {name}: {error}");
    let table = Table::programs("fwdlab_object", 1).map_err(failed)?;
    let descriptor = program.fd().map_err(|error| chain(&error))?;
    table.set(0, descriptor.as_fd()).map_err(failed)?;
    Ok(Object { table, name, _loaded: loaded, _pins: pins })
}

/// Puts the interfaces' numbers into a map of devices or of numbers.
fn fill(map: &mut Map, ports: [u32; 2]) -> Result<(), String> {
    let mut numbered = (0..).zip(ports);
    match map {
        Map::DevMap(_) => {
            let mut devices = DevMap::try_from(map).map_err(|error| chain(&error))?;
            numbered
                .try_for_each(|(at, port)| devices.set(at, port, None, 0))
                .map_err(|error| chain(&error))
        }
        _ => {
            let mut numbers = Array::<_, u32>::try_from(map).map_err(|error| chain(&error))?;
            numbered
                .try_for_each(|(at, port)| numbers.set(at, port, 0))
                .map_err(|error| chain(&error))
        }
    }
}

/// What the kernel's verifier said at last, or the error itself.
fn verdict(error: &ProgramError) -> String {
    let ProgramError::LoadError { verifier_log, io_error } = error else { return chain(error) };
    let log = verifier_log.to_string();
    let lines: Vec<&str> = log.lines().filter(|line| !line.starts_with("processed")).collect();
    format!("{io_error}: {}", lines[lines.len().saturating_sub(4)..].join(" | "))
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
