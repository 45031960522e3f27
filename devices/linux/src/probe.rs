//! Tries, in namespaces that are removed at once, what the linux device needs.

use std::io;

use fwdlab_port::Pool;
use fwdlab_port::bpf::{LiveFrames, Map};
use fwdlab_port::xdp::XdpPort;
use fwdlab_wire::MacAddr;

use fwdlab_topology::{Cable, CableEnd, NetNamespace, Testbed, Topology, TopologyError};
use fwdlab_xdp::tester::{self, Outlet, Written};
use fwdlab_xdp::{Shared, word};

/// Name of the interfaces.
const PROBE: &str = "probe";

/// A cable between two namespaces.
fn cable(a: &str, b: &str) -> Cable {
    let end = |role: &str, number| CableEnd {
        namespace: role.to_owned(),
        interface: PROBE.to_owned(),
        mac: MacAddr([2, 0, 0, 0, 0, number]),
        mtu: None,
        addresses: Vec::new(),
    };
    Cable::new([end(a, 1), end(b, 2)])
}

/// Makes two namespaces with a veth pair between them.
///
/// # Errors
/// What is missing.
pub fn try_namespaces() -> Result<(), TopologyError> {
    let mut wanted = Topology::default();
    wanted.namespace("doctor-a");
    wanted.namespace("doctor-b");
    wanted.cables.push(cable("doctor-a", "doctor-b"));
    Testbed::new()?.change_to(&wanted)
}

/// Runs a program on live frames, all of which it drops.
///
/// # Errors
/// What is missing.
pub fn try_live_frames() -> Result<(), TopologyError> {
    /// Number of the loopback interface of every namespace.
    const LOOPBACK: u32 = 1;
    let run = || {
        let shared = Shared::new()?;
        shared.set(word::STOP, 1);
        let headers = Map::array("fwdlab_probe", 1, 8)?;
        let written = Written { headers: &headers, entries: 1, length: 42, has_stamp: false };
        let program = tester::load(&shared, written, None, Outlet::Out)?;
        let frame = [0; 60];
        program.run_live(&LiveFrames { frame: &frame, interface: LOOPBACK, repeat: 1, batch: 1 })
    };
    let namespace = NetNamespace::create("doctor")?;
    namespace
        .run(run)
        .and_then(|result: io::Result<()>| result)
        .map_err(TopologyError::kernel("run an XDP program on live frames"))
}

/// Opens an AF_XDP socket.
///
/// # Errors
/// What is missing.
pub fn try_af_xdp() -> Result<(), TopologyError> {
    let mut wanted = Topology::default();
    wanted.namespace("doctor-a");
    wanted.namespace("doctor-b");
    wanted.cables.push(cable("doctor-a", "doctor-b"));
    let mut testbed = Testbed::new()?;
    testbed.change_to(&wanted)?;
    let open = || {
        let pool = Pool::with_frames(1).map_err(io::Error::other)?;
        XdpPort::open(PROBE, pool).map_err(io::Error::other).map(drop)
    };
    testbed
        .namespace("doctor-a")?
        .run(open)
        .and_then(|result: io::Result<()>| result)
        .map_err(TopologyError::kernel("open an AF_XDP socket"))
}
