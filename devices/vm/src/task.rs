//! A trial in words that every guest knows.

use std::time::Duration;

use fwdlab_agent::task::{CAPTURE_FILE, Captured, Task, TaskMesh, TaskRoute, TaskTraffic};
use fwdlab_device::Request;
use fwdlab_experiment::{Experiment, Load, Traffic};
use fwdlab_topology::NFTABLES;

use crate::freebsd::Rules;
use crate::sessions;
use crate::settings::VmMachine;

/// Share of a trial's length for which the tester runs over a cable first, and an interval more: the
/// first does not count there.
const CABLE_SHARE: u32 = 2;

/// How long the tester runs over a cable.
pub(super) fn cable_duration(experiment: &Experiment) -> Duration {
    experiment.duration / CABLE_SHARE + experiment.interval
}

fn is_rules(word: &str) -> bool {
    word == NFTABLES || Rules::of(word).is_some()
}

fn owned((word, value): (&String, &String)) -> (String, String) {
    (word.clone(), value.clone())
}

/// What lies behind which of more than two ports.
fn mesh(traffic: &Traffic) -> Option<TaskMesh> {
    let behind = traffic.groups().into_iter().map(|(port, ends)| (port, ends.to_string()));
    (traffic.ports > 2).then(|| TaskMesh { ports: traffic.ports, behind: behind.collect() })
}

/// The trial, for the guest of any variant.
pub(super) fn task(request: &Request<'_>, machine: &VmMachine) -> Task {
    let Request { experiment, variant, traffic } = request;
    let ns = |duration: Duration| duration.as_nanos() as u64;
    let routes = experiment.routes.fixed.iter().map(|route| TaskRoute {
        destination: route.prefix.address(),
        length: route.prefix.length(),
        gateway: route.gateway,
        port: route.port,
    });
    Task {
        modules: Vec::new(),
        sysctl: variant.set.iter().filter(|(word, _)| !is_rules(word)).map(owned).collect(),
        read: experiment.words_of_others(variant).into_iter().map(str::to_owned).collect(),
        rules: None,
        routes: routes.collect(),
        traffic: TaskTraffic {
            source: traffic.source.to_string(),
            destination: traffic.destination.to_string(),
            frame_bytes: traffic.frame_bytes,
            order: match traffic.capture {
                Some(_) => Captured::ORDER.to_owned(),
                None => traffic.order.to_string(),
            },
            pps: traffic.offered_pps(),
            capture: traffic.capture.as_ref().map(|capture| Captured {
                file: format!("/{CAPTURE_FILE}"),
                frames: capture.recording.as_ref().map_or(0, |recording| recording.frames()),
                as_recorded: traffic.load == Load::Recorded,
            }),
        },
        warmup_ns: ns(experiment.warmup),
        duration_ns: ns(experiment.duration),
        cable_ns: ns(cable_duration(experiment)),
        interval_ns: ns(experiment.interval),
        profile_ns: None,
        tester: machine.tester,
        clock: machine.clock,
        is_rehearsal: false,
        from_state: Vec::new(),
        both_ways: traffic.direction.is_both() && traffic.sessions.is_none(),
        mesh: mesh(traffic),
        sessions: traffic.sessions.map(|own| sessions::of_task(traffic, own)),
    }
}
