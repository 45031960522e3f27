//! Traffic from a capture: what is read, what it becomes, and what the checks find.
#![allow(clippy::unwrap_used)] // Tests; the lint's own exception covers only `#[test]` functions.

mod made;

use std::path::Path;
use std::sync::Arc;

use fwdlab_port::{Batch, Pool};
use fwdlab_traffic::{
    Capture, CaptureError, Endpoints, Load, Receiver, Recording, Sender, TrafficError, TrafficPlan,
};
use fwdlab_wire::checksum;
use made::{Made, host4, mix, shipped};

fn ends(source: &str, destination: &str) -> (Endpoints, Endpoints) {
    (source.parse().unwrap(), destination.parse().unwrap())
}

fn both() -> [(Endpoints, Endpoints); 2] {
    [
        ends("198.18.10.1-198.18.10.40", "198.19.10.1-198.19.10.40"),
        ends("[2001:2:0:10::1]-[2001:2:0:10::28]", "[2001:2:0:8010::1]-[2001:2:0:8010::28]"),
    ]
}

fn recording() -> Arc<Recording> {
    Arc::new(Capture::read(&shipped()[..]).unwrap().mapped(&both()).unwrap())
}

/// A plan and so many frames of it.
fn written(recording: &Arc<Recording>, count: usize) -> (TrafficPlan, Sender, Pool, Vec<Batch>) {
    let plan = TrafficPlan { latency: true, ..TrafficPlan::replaying(Arc::clone(recording)) };
    let mut sender = Sender::new(&plan, 64).unwrap();
    let pool = Pool::with_frames(4096).unwrap();
    let mut batches = Vec::new();
    let mut left = count;
    while left > 0 {
        let mut batch = Batch::new();
        left -= pool.take_batch(&mut batch, left.min(Batch::CAPACITY));
        batch.iter_mut().for_each(|frame| sender.adopt(frame));
        sender.write(&mut batch, 1000);
        batches.push(batch);
    }
    (plan, sender, pool, batches)
}

/// What a router does to a frame.
fn forward(frame: &mut [u8], plan: &TrafficPlan) {
    frame[0..6].copy_from_slice(&plan.arrival_mac.0);
    if frame[12..14] == [0x86, 0xdd] {
        frame[21] -= 1;
        return;
    }
    frame[22] -= 1;
    frame[24..26].fill(0);
    let header = 14 + usize::from(frame[14] & 15) * 4;
    let sum = checksum::finish(checksum::sum(&frame[14..header]));
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
}

#[test]
fn the_shipped_capture_is_what_this_makes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/capture.pcap");
    let made = shipped();
    assert!(made.len() < 50_000, "{} bytes", made.len());
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    assert!(std::fs::read(&path).unwrap() == made, "BLESS=1 writes it anew");
}

#[test]
fn lengths_are_those_of_the_wire_and_addresses_those_of_the_experiment() {
    let made = mix();
    let recording = recording();
    let left_out = recording.left_out();
    assert_eq!((left_out.not_ip, left_out.malformed, left_out.other_family), (1, 0, 0));
    assert_eq!(recording.frames(), made.frames.len() - 1);
    // FCS on, VLAN tag off.
    let bytes: usize = made.frames.iter().map(|(_, frame)| frame.len() + 4).sum();
    let mean = (bytes - 4 - 64) as f64 / recording.frames() as f64;
    assert!((recording.mean_len() - mean).abs() < 1e-9, "{} {mean}", recording.mean_len());
    let (_, _, _, batches) = written(&recording, recording.frames());
    for frame in batches.iter().flat_map(|batch| batch.iter()) {
        match frame[12..14] {
            [8, 0] => {
                assert_eq!(frame[26..29], [198, 18, 10]);
                assert_eq!(frame[30..33], [198, 19, 10]);
            }
            _ => {
                assert_eq!(frame[22..30], [0x20, 1, 0, 2, 0, 0, 0, 0x10]);
                assert_eq!(frame[38..46], [0x20, 1, 0, 2, 0, 0, 0x80, 0x10]);
            }
        }
    }
}

#[test]
fn every_checksum_is_right_whatever_stands_in_the_mark() {
    let recording = recording();
    // Three rounds, so that numbers grow.
    let (_, _, _, batches) = written(&recording, 3 * recording.frames());
    let (mut whole, mut fragments) = (0, 0);
    for frame in batches.iter().flat_map(|batch| batch.iter()) {
        let is_inet6 = frame[12..14] == [0x86, 0xdd];
        let (start, len, protocol, addresses) = match is_inet6 {
            true => (
                54,
                40 + usize::from(u16::from_be_bytes([frame[18], frame[19]])),
                frame[20],
                22..54,
            ),
            false => {
                assert_eq!(checksum::finish(checksum::sum(&frame[14..34])), 0);
                (34, usize::from(u16::from_be_bytes([frame[16], frame[17]])), frame[23], 26..34)
            }
        };
        let segment = &frame[start..14 + len];
        if !is_inet6 && u16::from_be_bytes([frame[20], frame[21]]) & 0x3fff != 0 {
            fragments += 1;
            continue;
        }
        if protocol == 47 || (protocol == 17 && segment[6..8] == [0, 0]) {
            continue;
        }
        let pseudo = match protocol {
            1 => 0,
            _ => checksum::sum(&frame[addresses]) + u64::from(protocol) + segment.len() as u64,
        };
        assert_eq!(checksum::finish(checksum::sum(segment) + pseudo), 0, "protocol {protocol}");
        whole += 1;
    }
    assert!(whole > 500 && fragments == 6, "{whole} {fragments}");
}

#[test]
fn the_checksum_of_a_datagram_in_fragments_still_covers_all_of_them() {
    let made = mix();
    // Whole frames, not cut ones: the payload of both fragments counts.
    let capture = Capture::read(&made.pcap(65_535)[..]).unwrap();
    let recording = Arc::new(capture.mapped(&both()).unwrap());
    let (_, _, _, batches) = written(&recording, recording.frames());
    let fragments: Vec<_> = batches
        .iter()
        .flat_map(|batch| batch.iter())
        .filter(|frame| frame[12..14] == [8, 0] && (frame[20] & 0x3f, frame[21]) != (0, 0))
        .collect();
    let [first, second] = fragments[..] else { panic!("{} fragments", fragments.len()) };
    let part = |frame: &[u8]| {
        let len = usize::from(u16::from_be_bytes([frame[16], frame[17]]));
        frame[34..14 + len].to_vec()
    };
    let datagram = [part(first), part(second)].concat();
    let pseudo = checksum::sum(&first[26..34]) + 17 + datagram.len() as u64;
    assert_eq!(checksum::finish(checksum::sum(&datagram) + pseudo), 0);
}

#[test]
fn all_that_comes_back_as_it_should_is_clean_and_counted() {
    let recording = recording();
    let count = 5 * recording.frames();
    let (plan, sender, _pool, mut batches) = written(&recording, count);
    let mut receiver = Receiver::new(&plan, &sender).unwrap();
    for batch in &mut batches {
        batch.iter_mut().for_each(|frame| forward(frame, &plan));
        receiver.check(batch, 2000, |_| panic!("frames are written anew"));
    }
    let checks = receiver.checks();
    assert!(checks.is_clean() && checks.foreign == 0, "{checks:?}");
    assert_eq!(receiver.received(), count as u64);
    assert_eq!(receiver.flows_seen().sum::<u32>(), recording.flows());
    assert!(checks.read_whole >= (count / 256) as u64);
    assert!(recording.marked() > recording.frames() / 2 && recording.marked() < recording.frames());
    assert!(recording.stamped() > 0 && recording.stamped() <= recording.marked());
}

#[test]
fn padding_that_a_device_takes_off_is_no_fault() {
    let recording = recording();
    let (plan, sender, _pool, mut batches) = written(&recording, 2 * recording.frames());
    let mut receiver = Receiver::new(&plan, &sender).unwrap();
    let mut trimmed = 0;
    for batch in &mut batches {
        for frame in batch.iter_mut() {
            forward(frame, &plan);
            let len = 14 + usize::from(u16::from_be_bytes([frame[16], frame[17]]));
            if frame[12..14] == [8, 0] && len < frame.len() {
                frame.set_len(len);
                trimmed += 1;
            }
        }
        receiver.check(batch, 2000, |_| {});
    }
    let checks = receiver.checks();
    assert!(trimmed > 20 && checks.is_clean() && checks.foreign == 0, "{trimmed} {checks:?}");
}

#[test]
fn what_a_device_does_wrong_is_found() {
    let recording = recording();
    /// Takes the frames and the plan, and gives back those that arrive.
    type Device = fn(Vec<Vec<u8>>, &TrafficPlan) -> Vec<Vec<u8>>;
    let cases: [(&str, Device, [u64; 7]); 8] = [
        // lost, duplicated, reordered, wrong TTL, wrong MAC, bad IPv4 checksum, foreign
        (
            "drops one",
            |mut frames, _| {
                frames.remove(3);
                frames
            },
            [1, 0, 0, 0, 0, 0, 0],
        ),
        (
            "doubles a long one",
            |mut frames, _| {
                let at = frames.iter().position(|frame| frame.len() > 200).unwrap();
                let again = frames[at].clone();
                frames.insert(at, again);
                frames
            },
            [0, 1, 0, 0, 0, 0, 0],
        ),
        (
            "swaps two of a flow",
            |mut frames, _| {
                let flow = |frame: &[u8]| {
                    (frame.len() > 1300 && frame[12] == 8).then(|| frame[26..38].to_vec())
                };
                let first = frames.iter().position(|frame| flow(frame).is_some()).unwrap();
                let second = (first + 1..frames.len())
                    .find(|at| flow(&frames[*at]) == flow(&frames[first]))
                    .unwrap();
                frames.swap(first, second);
                frames
            },
            [0, 0, 1, 0, 0, 0, 0],
        ),
        (
            "takes two off the TTL",
            |mut frames, _| {
                let frame = frames.iter_mut().find(|frame| frame[12] == 0x86).unwrap();
                frame[21] -= 1;
                frames
            },
            [0, 0, 0, 1, 0, 0, 0],
        ),
        (
            "sends to another",
            |mut frames, _| {
                frames[0][5] ^= 1;
                frames
            },
            [0, 0, 0, 0, 1, 0, 0],
        ),
        (
            "sums wrongly",
            |mut frames, _| {
                frames[0][24] ^= 1;
                frames
            },
            [0, 0, 0, 0, 0, 1, 0],
        ),
        (
            "sends its own",
            |mut frames, _| {
                frames
                    .push([&[2, 0, 0, 0, 0, 0xb0, 2, 0, 0, 0, 0, 1, 8, 6][..], &[0; 46]].concat());
                frames.push(vec![0; 9]);
                frames
            },
            [0, 0, 0, 0, 0, 0, 2],
        ),
        ("is right", |frames, _| frames, [0; 7]),
    ];
    for (what, device, wanted) in cases {
        let (plan, sender, pool, batches) = written(&recording, recording.frames());
        let mut frames: Vec<Vec<u8>> =
            batches.iter().flat_map(|batch| batch.iter().map(|frame| frame.to_vec())).collect();
        frames.iter_mut().for_each(|frame| forward(frame, &plan));
        let sent = frames.len() as u64;
        let mut receiver = Receiver::new(&plan, &sender).unwrap();
        for bytes in device(frames, &plan) {
            let mut frame = pool.take().unwrap();
            frame.set_len(bytes.len());
            frame.copy_from_slice(&bytes);
            let mut batch = Batch::new();
            assert!(batch.push(frame).is_ok());
            receiver.check(&batch, 2000, |_| {});
            pool.put(&mut batch);
        }
        let checks = receiver.checks();
        let lost = sent + checks.duplicated - receiver.received();
        let found = [
            lost,
            checks.duplicated,
            checks.reordered,
            checks.wrong_ttl,
            checks.wrong_mac,
            checks.bad_checksum,
            checks.foreign,
        ];
        assert_eq!(found, wanted, "a device that {what}: {checks:?}");
    }
}

#[test]
fn a_byte_changed_in_a_payload_is_found_in_time() {
    let mut made = Made::default();
    made.udp((host4(0, 1), host4(2, 1)), (5, 6), 900);
    let recording = Arc::new(Capture::read(&made.pcap(96)[..]).unwrap().mapped(&both()).unwrap());
    for (at, is_found) in [(20, true), (500, true), (927, true), (22 + 12, true), (1000, false)] {
        let (plan, sender, _pool, mut batches) = written(&recording, 512);
        let mut receiver = Receiver::new(&plan, &sender).unwrap();
        for batch in &mut batches {
            for frame in batch.iter_mut() {
                forward(frame, &plan);
                // Ports to begin with; what lies behind the end changes nothing.
                if let Some(byte) = frame.get_mut(14 + at) {
                    *byte ^= 1;
                }
            }
            receiver.check(batch, 2000, |_| {});
        }
        let checks = receiver.checks();
        let found = checks.bad_payload + checks.foreign;
        assert_eq!(found > 0, is_found, "byte {at}: {checks:?}");
    }
}

#[test]
fn what_is_no_traffic_is_refused_with_a_reason() {
    let read = |bytes: &[u8]| Capture::read(bytes).map(|_| ()).unwrap_err();
    let good = shipped();
    let mut only_arp = Made::default();
    only_arp.push(0x0806, &[0; 28], None);
    let mut long = Made::default();
    long.udp((host4(0, 1), host4(2, 1)), (5, 6), 20_000);
    let mut broken = Made::default();
    broken.push(0x0800, &[0x65; 40], None);
    for (what, bytes, words) in [
        ("text", &b"title = \"no capture\"\n"[..], "magic number"),
        ("nothing", &[], "it ends within its header"),
        ("a cut one", &good[..good.len() - 5], "it ends within packet"),
        ("an empty one", &good[..24], "holds no IP packet (frames: 0"),
        ("ARP", &only_arp.pcap(96), "not IP: 1, broken: 0)"),
        ("a long frame", &long.pcap(96), "packet 1 makes a frame of 20046 bytes"),
        ("no IPv4 header", &broken.pcap(96), "not IP: 0, broken: 1)"),
    ] {
        let text = read(bytes).to_string();
        assert!(text.contains(words), "{what}: {text}");
    }
    let inet = &both()[..1];
    let mut other = Made::default();
    other.udp((made::host6(0, 1), made::host6(2, 1)), (5, 6), 20);
    let refused = Capture::read(&other.pcap(96)[..]).unwrap().mapped(inet);
    assert!(matches!(refused, Err(CaptureError::OtherFamily { packets: 1, family: "IPv4" })));
    let inet_only = Capture::read(&good[..]).unwrap().mapped(inet).unwrap();
    assert!(inet_only.left_out().other_family > 10);
}

#[test]
fn plans_that_a_recording_cannot_keep_are_refused() {
    let mut timeless = Made::default();
    timeless.udp((host4(0, 1), host4(2, 1)), (5, 6), 4);
    timeless.udp((host4(0, 1), host4(2, 1)), (5, 6), 4);
    let timeless =
        Arc::new(Capture::read(&timeless.pcap(96)[..]).unwrap().mapped(&both()).unwrap());
    assert_eq!((timeless.frames(), timeless.flows(), timeless.marked()), (2, 1, 0));
    let plan = TrafficPlan::replaying(timeless);
    assert!(plan.check().is_ok());
    let load = TrafficPlan { load: Load::Recorded, ..plan.clone() };
    assert!(matches!(load.check(), Err(TrafficError::Plan { field: "load", .. })));
    let latency = TrafficPlan { latency: true, ..plan };
    assert!(matches!(latency.check(), Err(TrafficError::Plan { field: "latency", .. })));
    let recording = recording();
    let plan =
        TrafficPlan { load: Load::Recorded, ..TrafficPlan::replaying(Arc::clone(&recording)) };
    let rate = plan.frames_per_second().unwrap();
    assert_eq!(rate, recording.recorded_pps());
    assert!(rate.is_some_and(|rate| rate > 1000.0), "{rate:?}");
}

#[test]
fn any_bytes_and_any_changes_of_a_capture_are_read_without_harm() {
    let good = shipped();
    let mut random = 23_u64;
    for round in 0..2000 {
        let mut bytes = good.clone();
        for _ in 0..1 + round % 40 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = (random >> 20) as usize % bytes.len();
            bytes[at] = (random >> 56) as u8;
        }
        let Ok(capture) = Capture::read(&bytes[..]) else { continue };
        let Ok(recording) = capture.mapped(&both()) else { continue };
        let recording = Arc::new(recording);
        let plan = TrafficPlan { latency: true, ..TrafficPlan::replaying(Arc::clone(&recording)) };
        let sender = Sender::new(&plan, 64);
        assert!(sender.is_ok() || recording.longest() > 1518 || recording.stamped() == 0);
    }
}
