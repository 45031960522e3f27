//! The frames of a trial as a file for the guest: one turn of the traffic's flows in the planned
//! order, or many draws of a skewed one, as they are sent and as a router has to hand them on.

use std::collections::HashMap;
use std::sync::Arc;

use fwdlab_agent::task::Task;
use fwdlab_port::Pool;
use fwdlab_traffic::{
    DEVICE_MACS, FlowSet, FrameSizes, Order, Recording, Sender, Stream, TESTER_MACS, TrafficPlan,
};
use fwdlab_wire::checksum;

use crate::VmError;

/// Most flows: their frames have to fit into the guest's memory twice.
pub(super) const MOST_FLOWS: u32 = 1 << 20;

/// Draws of a skewed order for each flow, and at least and at most so many in all.
const DRAWS_PER_FLOW: u32 = 16;
const LEAST_DRAWS: u32 = 1 << 14;
const MOST_DRAWS: u32 = 1 << 18;

/// Frames that are written at once.
const BATCH: usize = 256;

/// Offsets in a frame.
const ETHERNET: usize = 14;
const ADDRESSES_OF_IPV4: usize = ETHERNET + 12;
const ADDRESSES_OF_IPV6: usize = ETHERNET + 8;

/// The file that `pass` of the guest's program reads.
pub(super) fn file(task: &Task, recording: Option<&Recording>) -> Result<Vec<u8>, VmError> {
    let sent = match recording {
        Some(recording) => replayed(recording)?,
        None => turn(task)?,
    };
    let mut flows = HashMap::new();
    let mut numbers = Vec::new();
    for (at, frame) in sent.iter().enumerate() {
        let key = match recording {
            Some(recording) => recording.flow_of(at).to_le_bytes().to_vec(),
            None => ends(frame).to_vec(),
        };
        let next = flows.len() as u32;
        numbers.push(*flows.entry(key).or_insert(next));
    }
    let mut file = Vec::new();
    for number in [sent.len(), flows.len()] {
        file.extend((number as u32).to_le_bytes());
    }
    let mut end = 0;
    for (at, (number, frame)) in numbers.into_iter().zip(&sent).enumerate() {
        end += frame.len();
        let least = recording.map_or(frame.len(), |recording| recording.least_of(at));
        for word in [number, end as u32, least as u32] {
            file.extend(word.to_le_bytes());
        }
    }
    sent.iter().for_each(|frame| file.extend(frame));
    sent.iter().for_each(|frame| file.extend(forwarded(frame)));
    Ok(file)
}

/// The frames that are sent in turns, as the tester of every device writes them: one of each flow, or those that a
/// skewed order draws.
fn turn(task: &Task) -> Result<Vec<Vec<u8>>, VmError> {
    let refused = |why: String| VmError::Traffic { why };
    let traffic = &task.traffic;
    let flows = FlowSet::parse(&traffic.source, &traffic.destination);
    let flows = flows.map_err(|error| refused(error.to_string()))?;
    let count = flows.count();
    if count > MOST_FLOWS {
        return Err(refused(format!("{count} flows; a FreeBSD guest sends at most {MOST_FLOWS}")));
    }
    let mut stream = Stream::new(flows);
    let order = traffic.order.parse();
    stream.order =
        order.map_err(|error: fwdlab_traffic::TrafficError| refused(error.to_string()))?;
    stream.sizes = FrameSizes::fixed(usize::from(traffic.frame_bytes));
    let frames = match stream.order {
        Order::Sequential | Order::Random => count,
        Order::Zipf { .. } | Order::Elephants { .. } => {
            count.saturating_mul(DRAWS_PER_FLOW).clamp(LEAST_DRAWS, MOST_DRAWS).max(count)
        }
    };
    written(TrafficPlan::new(vec![stream]), frames as usize)
}

/// The frames of a capture.
fn replayed(recording: &Recording) -> Result<Vec<Vec<u8>>, VmError> {
    let count = recording.frames();
    if count > MOST_FLOWS as usize {
        let why = format!(
            "the capture has {count} frames; a FreeBSD guest sends at most {MOST_FLOWS}; take its \
             beginning with tcpdump -r IN -w OUT -c {MOST_FLOWS}"
        );
        return Err(VmError::Traffic { why });
    }
    written(TrafficPlan::replaying(Arc::new(recording.clone())), count)
}

/// The first frames of a plan.
fn written(mut plan: TrafficPlan, count: usize) -> Result<Vec<Vec<u8>>, VmError> {
    let refused = |why: String| VmError::Traffic { why };
    plan.source_mac = TESTER_MACS[0];
    plan.device_mac = DEVICE_MACS[0];
    let pool = Pool::with_frames(BATCH).map_err(|error| refused(error.to_string()))?;
    let mut frames: Vec<_> = std::iter::from_fn(|| pool.take()).take(BATCH).collect();
    let sender = Sender::new(&plan, pool.config().headroom);
    let mut sender = sender.map_err(|error| refused(error.to_string()))?;
    let mut all = Vec::with_capacity(count);
    while all.len() < count {
        for frame in &mut frames {
            sender.adopt(frame);
        }
        sender.write(&mut frames, 0);
        let rest = count - all.len();
        all.extend(frames.iter().take(rest).map(|frame| frame.to_vec()));
    }
    Ok(all)
}

fn is_ipv4(frame: &[u8]) -> bool {
    frame[12..14] == [8, 0]
}

/// Addresses and ports.
fn ends(frame: &[u8]) -> &[u8] {
    if is_ipv4(frame) {
        &frame[ADDRESSES_OF_IPV4..ADDRESSES_OF_IPV4 + 12]
    } else {
        &frame[ADDRESSES_OF_IPV6..ADDRESSES_OF_IPV6 + 36]
    }
}

/// The frame as it leaves a router towards the destinations.
fn forwarded(frame: &[u8]) -> Vec<u8> {
    let mut frame = frame.to_vec();
    frame[..6].copy_from_slice(&TESTER_MACS[1].0);
    frame[6..12].copy_from_slice(&DEVICE_MACS[1].0);
    if is_ipv4(&frame) {
        frame[22] -= 1;
        let old = u16::from_be_bytes([frame[24], frame[25]]);
        frame[24..26].copy_from_slice(&checksum::update_u16(old, 0x0100, 0).to_be_bytes());
    } else {
        frame[21] -= 1;
    }
    frame
}
