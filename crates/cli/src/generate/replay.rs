//! `fwdlab gen --pcap FILE`: the frames of a capture, as they are, again and again.

use std::io::BufReader;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use fwdlab_guard::input;
use fwdlab_port::Clock;
use fwdlab_stats::plural;
use fwdlab_traffic::{Replay, ReplayPlan, ReplayResult};
use fwdlab_wire::ethernet::FCS_LEN;
use serde_json::json;

use super::{Back, GenArgs, pool_for, time};
use crate::{interrupt, output};

/// How long frames may take to come back after the last was sent, in ns.
const DRAIN_NS: u64 = 100_000_000;

/// Longest capture, in bytes.
const MOST_CAPTURE: u64 = 1 << 40;

/// Replays the capture and prints what was sent and came back.
///
/// # Errors
/// A file that is no capture of Ethernet frames or has none that fit, an interface that cannot be
/// opened.
pub(super) fn execute(arguments: &GenArgs, path: &Path) -> anyhow::Result<ExitCode> {
    let duration = time(arguments.seconds)?;
    let shown = path.display();
    let file = input::named(path, MOST_CAPTURE).with_context(|| format!("cannot read {shown}"))?;
    let replay = Replay::read(BufReader::new(file)).with_context(|| format!("{shown}"))?;
    crate::route::warn_of_cut_frames(path, replay.cut_frames());
    let pool = pool_for(arguments)?;
    let too_long = replay.longer_than(pool.config().capacity);
    if too_long == replay.frames() {
        bail!("{shown}: none of its frames can be sent, all are too long; choose another capture");
    }
    if too_long > 0 {
        fwdlab_guard::say!("{shown}: too long and left out: {}", plural(too_long, "frame"));
    }
    let mut out = arguments.socket.open(&arguments.interface, pool.clone())?;
    let mut back = Back::open(arguments, &pool, out.mac())?;
    let plan = ReplayPlan {
        frames_per_second: arguments.load.frames_per_second(replay.mean_len() + FCS_LEN as f64),
        duration_ns: duration.as_nanos() as u64,
        drain_ns: if back.is_deaf() { 0 } else { DRAIN_NS },
    };
    let stop = interrupt::stop_on_interrupt()?;
    let mut result = replay.run(&plan, &pool, (&mut *out, &mut back), Clock::new(), &stop);
    let refused = out.counters().tx_dropped;
    result.sent = result.sent.saturating_sub(refused);
    if refused > 0 {
        fwdlab_guard::say!(
            "warning: {} refused {}: is it up, and are they whole? An Ethernet header has 14 bytes",
            arguments.interface,
            plural(refused, "frame")
        );
    }
    output::print(&text(&result, refused, arguments.json, back.is_deaf()))?;
    Ok(ExitCode::SUCCESS)
}

fn text(result: &ReplayResult, refused: u64, is_json: bool, is_deaf: bool) -> String {
    let ReplayResult { sent, received, returned, duration_ns, .. } = *result;
    let seconds = duration_ns as f64 / 1e9;
    if is_json {
        let mut object = json!({
            "sent": sent, "refused": refused, "seconds": seconds, "returned": returned,
        });
        if !is_deaf {
            object["received"] = received.into();
        }
        return format!("{object}\n");
    }
    let rate = sent as f64 / seconds.max(1e-9);
    let back = match is_deaf {
        true => format!("received {returned} where they were sent"),
        false => format!("received {received}, and {returned} where they were sent"),
    };
    format!("sent {} in {seconds:.3} s: {rate:.0} frames/s; {back}\n", plural(sent, "frame"))
}
