//! Plays captures through a router: all ports on one timeline, one worker.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write, stdin, stdout};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use fwdlab_port::pcap::{CutFrames, PcapPort, SharedOutput, Timeline};
use fwdlab_port::{Pool, PoolConfig};
use fwdlab_router::{AnyPcapPort, Router, Worker};
use fwdlab_stats::plural;

use super::Args;

type Input = Box<dyn Read + Send>;
type Output = Box<dyn Write + Send>;

/// Longest frame that is played, bytes without FCS: a jumbo frame with tags.
const LONGEST_FRAME: usize = 9_600;
/// Captures and the worker between them.
pub(super) struct Replay {
    worker: Option<Worker<AnyPcapPort>>,
    timeline: Timeline,
    inputs: Vec<PathBuf>,
}

impl Replay {
    /// Opens the captures, and gives the router a worker between them.
    pub(super) fn open(arguments: &Args, router: &mut Router) -> anyhow::Result<Self> {
        // VLANs go through the captures of their ports.
        let own = || (0..).zip(router.ports()).filter(|(_, config)| config.vlan.is_none());
        for (what, count) in
            [("--pcap-in", arguments.pcap_in.len()), ("--pcap-out", arguments.pcap_out.len())]
        {
            let most = own().count();
            if count > most {
                let (times, ports) = (plural(count, "time"), plural(most, "port"));
                bail!("{times} {what}, but the router has {ports}: add --port");
            }
        }
        check_outputs(arguments)?;
        let pool = Pool::new(PoolConfig { capacity: LONGEST_FRAME, ..PoolConfig::default() })?;
        let timeline = Timeline::default();
        let outputs = arguments
            .pcap_out
            .iter()
            .map(|path| create(path))
            .collect::<anyhow::Result<Vec<_>>>()?;
        let mut captures = Vec::new();
        for (place, (number, config)) in own().enumerate() {
            let input = arguments.pcap_in.get(place);
            let source = input.map(|path| open(path)).transpose()?;
            let name = || input.map_or_else(String::new, |path| path.display().to_string());
            let port = PcapPort::new(pool.clone(), source, None).with_context(name)?;
            let port = port.with_timeline(&timeline).with_mac(config.mac).with_mtu(config.mtu);
            let output = outputs.get(if outputs.len() == 1 { 0 } else { place });
            captures.push((
                number,
                match output {
                    Some(output) => port.with_output(output.clone()),
                    None => port,
                },
            ));
        }
        let worker = Some(router.worker(captures)?.with_pool(pool));
        Ok(Self { worker, timeline, inputs: arguments.pcap_in.clone() })
    }

    /// Plays the captures to their end; returns how many frames are left inside the router,
    /// which is none, unless it is broken.
    pub(super) fn run(&mut self) -> usize {
        self.worker.as_mut().map_or(0, |worker| worker.play(&self.timeline))
    }

    /// Ends the captures.
    ///
    /// # Errors
    /// A capture could not be read or written to its end.
    pub(super) fn finish(mut self) -> anyhow::Result<()> {
        let Some(worker) = self.worker.take() else { return Ok(()) };
        for (place, (number, port)) in worker.into_ports().into_iter().enumerate() {
            let input = self.inputs.get(place);
            if let Some(path) = input {
                warn_of_cut_frames(path, port.cut_frames());
            }
            port.finish().with_context(|| match input {
                Some(path) => format!("port {number} ({})", path.display()),
                None => format!("port {number}"),
            })?;
        }
        Ok(())
    }
}

/// Whether captured frames go to stdout, so that nothing else may.
pub(super) fn writes_to_stdout(arguments: &Args) -> bool {
    arguments.pcap_out.iter().any(|path| path.as_os_str() == "-")
}

/// Says that a capture holds only the beginnings of frames: routers drop such packets.
pub(crate) fn warn_of_cut_frames(path: &Path, cut: CutFrames) {
    if cut.frames > 0 {
        fwdlab_guard::say!(
            "warning: {}: captured without their ends: {}, the first is packet {}; capture whole frames: \
             tcpdump -s 0",
            path.display(),
            plural(cut.frames, "frame"),
            cut.first
        );
    }
}

/// Refuses to write a capture over one that is read, or twice into one file.
fn check_outputs(arguments: &Args) -> anyhow::Result<()> {
    let inputs: Vec<_> = arguments.pcap_in.iter().filter_map(|path| identity(path)).collect();
    let mut names = BTreeSet::new();
    for path in arguments.pcap_out.iter().filter(|path| path.as_os_str() != "-") {
        let shown = path.display();
        let own = identity(path);
        if own.as_ref().is_some_and(|own| inputs.contains(own)) {
            bail!("--pcap-out {shown} is also read with --pcap-in: name another file");
        }
        // What is there already and no regular file (/dev/null) takes any number of captures.
        let name = own.or_else(|| (!path.exists()).then(|| shown.to_string()));
        if name.is_some_and(|name| !names.insert(name)) {
            bail!("--pcap-out {shown} twice: name one file for each port, or one for all");
        }
    }
    Ok(())
}

/// What tells a regular file from all others, whatever its name; `None` where there is none.
#[cfg(unix)]
fn identity(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    Some(format!("{}:{}", found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> Option<String> {
    path.is_file().then(|| Some(path.canonicalize().ok()?.display().to_string()))?
}

fn open(path: &Path) -> anyhow::Result<Input> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(stdin()));
    }
    let file = File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
    Ok(Box::new(BufReader::new(file)))
}

fn create(path: &Path) -> anyhow::Result<SharedOutput<Output>> {
    let name = || format!("cannot create {}", path.display());
    let output: Output = if path.as_os_str() == "-" {
        Box::new(BufWriter::new(stdout()))
    } else {
        Box::new(BufWriter::new(File::create(path).with_context(name)?))
    };
    SharedOutput::new(output).with_context(name)
}
