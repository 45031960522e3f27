//! Arguments of `fwdlab gen` and `fwdlab sink`.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::bail;
use fwdlab_port::SocketKind;
use fwdlab_traffic::{Load, Order};
use fwdlab_wire::MacAddr;

/// Arguments of `fwdlab gen`.
///
/// Example: fwdlab gen --interface veth0 --to 02:00:00:00:00:10 --source 198.18.10.1-198.18.10.20:2000
///   --destination 198.19.10.1-198.19.10.100:2000 --load 100kpps
/// or fwdlab gen --interface veth0 --pcap capture.pcap --load 100kpps
#[derive(clap::Args)]
pub struct GenArgs {
    /// Interface to send on
    #[arg(long, value_name = "NAME")]
    pub(super) interface: String,
    /// Interface on which the device sends the frames back; they are checked there
    #[arg(long, value_name = "NAME")]
    pub(super) back: Option<String>,
    /// Send the frames of this capture, as they are, again and again; they are counted, not checked
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["to", "source", "destination", "frame", "order"]
    )]
    pub(super) pcap: Option<PathBuf>,
    /// MAC address of the device's port
    #[arg(long, value_name = "MAC", required_unless_present = "pcap")]
    pub(super) to: Option<MacAddr>,
    /// Source addresses and UDP ports, as in an experiment file
    #[arg(long, value_name = "RANGE", required_unless_present = "pcap")]
    pub(super) source: Option<String>,
    /// Destination addresses and UDP ports
    #[arg(long, value_name = "RANGE", required_unless_present = "pcap")]
    pub(super) destination: Option<String>,
    /// Length of a frame in bytes, FCS included [default: the smallest]
    #[arg(long, value_name = "BYTES")]
    pub(super) frame: Option<usize>,
    /// Offered load: max, 500kpps, 1Gbps
    #[arg(long, default_value = "max")]
    pub(super) load: Load,
    /// Order of flows: sequential, random, zipf(1.0)
    #[arg(long, default_value = "sequential")]
    pub(super) order: Order,
    /// Kind of sockets: af_packet, or af_xdp, which is faster and hides the interface from the host
    #[arg(long, default_value = "af_packet")]
    pub(super) socket: SocketKind,
    /// For how long
    #[arg(long, default_value_t = 10.0)]
    pub(super) seconds: f64,
    /// Send although the host itself uses the interface: it carries a default route or an address
    #[arg(long)]
    pub(super) force: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Arguments of `fwdlab sink`.
///
/// Example: fwdlab sink --interface veth1 --seconds 10
#[derive(clap::Args)]
pub struct SinkArgs {
    /// Interface to receive on
    #[arg(long, value_name = "NAME")]
    pub(super) interface: String,
    /// Kind of socket: af_packet, or af_xdp, which is faster and hides the interface from the host
    #[arg(long, default_value = "af_packet")]
    pub(super) socket: SocketKind,
    /// For how long [default: until Ctrl-C]
    #[arg(long)]
    pub(super) seconds: Option<f64>,
    /// Print the result as JSON
    #[arg(long)]
    pub(super) json: bool,
}

pub(super) fn time(seconds: f64) -> anyhow::Result<Duration> {
    if !(0.01..=86_400.0).contains(&seconds) {
        bail!("--seconds {seconds}: choose 0.01 to 86400");
    }
    Ok(Duration::from_secs_f64(seconds))
}
