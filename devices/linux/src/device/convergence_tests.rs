//! Convergence of the running kernel. Skipped without root.

use std::path::Path;

use fwdlab_experiment::{Experiment, Schema};
use fwdlab_results::Benchmark;

use super::tests::trials_of;
use crate::LINUX;

fn experiment(variants: &str) -> String {
    format!(
        "title = \"t\"\ndevice = \"linux\"\nbaseline = \"a\"\nduration = \"100ms\"\n\
         warmup = \"0ms\"\ninterval = \"20ms\"\nmeasure = \"convergence\"\n{variants}\
         [[traffic]]\nname = \"inet\"\nsource = \"198.18.10.1:7\"\n\
         destination = \"198.19.10.1-198.19.10.40:7\"\nload = \"20kpps\"\n\
         [[traffic]]\nname = \"inet6\"\nsource = \"[2001:2:0:10::1]:7\"\n\
         destination = \"[2001:2:0:8010::1]-[2001:2:0:8010::28]:7\"\nload = \"20kpps\"\n\
         [routes]\nstatic = [\"198.18.0.0/16 via 198.18.0.203\", \
         \"198.19.0.0/16 via 198.19.0.203\", \"2001:2::/49 via 2001:2::203\", \
         \"2001:2:0:8000::/49 via 2001:2:0:8000::203\"]\n"
    )
}

#[test]
fn frames_change_to_the_new_path_prefix_by_prefix_and_the_routes_go_away() {
    let two = "[[variant]]\nname = \"a\"\nset = { routes = 100 }\n[[variant]]\nname = \"b\"\n\
               set = { tester = \"af_packet\", routes = 0 }\n";
    let test = "frames_change_to_the_new_path";
    let Some(list) = trials_of("linux", &experiment(two), Path::new("t.toml"), test) else {
        return;
    };
    for (name, measured) in &list {
        let Some(Benchmark::Convergence(own)) = &measured.benchmark else { panic!("{name}") };
        assert!(own.events.len() >= 2, "{name}");
        // The sockets once had no frames to receive the first 256 into: those were lost, and each later one came
        // when 256 more had been sent.
        assert!(own.events[0].lost() < 200, "{name}: {:?}", own.events[0]);
        for event in &own.events {
            assert_eq!((event.prefixes.len(), event.unconverged()), (40, 0), "{name}: {event:?}");
            assert!(event.given_ns > 0 && event.full_ns() <= event.waited_ns, "{name}");
            // The last route is given after the first: frames by it come no earlier than it could be.
            assert!(event.full_ns() >= event.prefixes[0].new_ns.unwrap_or(0), "{name}");
        }
        // Nothing is left of them: the trial's own frames find the experiment's routes alone.
        let kept = if name.starts_with('a') { "102 IPv4 and 102" } else { "2 IPv4 and 2" };
        let routes = format!("{kept} IPv6 routes");
        assert_eq!(measured.proof["routes in the kernel"], routes, "{name}");
        assert_eq!(measured.sent, Some(measured.received), "{name}: {measured:?}");
    }
}

#[test]
fn what_forwards_past_the_kernels_routes_is_refused_beside_convergence() {
    let devices: [&dyn Schema; 1] = [&LINUX];
    for word in ["xdp = \"forward\"", "router = \"fwdlab\""] {
        let two =
            format!("[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\nset = {{ {word} }}\n");
        let said = Experiment::parse(Path::new("t.toml"), &experiment(&two), &devices);
        let said = said.expect_err(word).to_string();
        assert!(said.contains("t.toml:12") && said.contains("convergence"), "{word}: {said}");
    }
}
