//! What sends and counts: fwdlab's own agent, pkt-gen, or any command.

mod agent;
mod align;
mod command;
mod pktgen;
mod process;

use std::time::Duration;

use fwdlab_device::Request;
use fwdlab_experiment::problem::Complaint;
use fwdlab_experiment::{Experiment, Traffic};
use fwdlab_results::{Checks, Interval};
use fwdlab_traffic::Order;

pub use agent::Agents;
pub use command::JsonLines;
pub use pktgen::Netmap;

use crate::Result;
use crate::host::Connected;
use crate::testbed::{self, GeneratorKind, Testbed};

/// One traffic to send.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// Machines and ports.
    pub testbed: &'a Testbed,
    /// What to send.
    pub traffic: &'a Traffic,
    /// Frames per second, if not as many as possible.
    pub pps: Option<f64>,
    /// How long.
    pub duration: Duration,
    /// Length of an interval.
    pub interval: Duration,
}

impl<'a> Task<'a> {
    /// The counted part of a trial.
    pub fn of(testbed: &'a Testbed, request: &Request<'a>) -> Self {
        let Request { experiment, traffic, .. } = *request;
        Self {
            testbed,
            traffic,
            pps: traffic.load.frames_per_second(f64::from(traffic.frame_bytes)),
            duration: experiment.duration,
            interval: experiment.interval,
        }
    }

    /// The same traffic as long as a warm-up.
    #[must_use]
    pub fn of_warm_up(self, warmup: Duration) -> Self {
        Self { duration: warmup, interval: self.interval.min(warmup), ..self }
    }
}

/// What was counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Intervals by the receiver's clock.
    pub intervals: Vec<Interval>,
    /// Frames sent.
    pub sent: Option<u64>,
    /// Frames received.
    pub received: u64,
    /// Distinct flows received.
    pub flows_seen: Option<u64>,
    /// What was found in the frames.
    pub checks: Option<Checks>,
    /// Doubts.
    pub warnings: Vec<String>,
}

/// The hosts of the tester: the one that sends, and the one that receives where it is another.
#[derive(Debug)]
pub struct Hosts {
    /// Sends.
    pub tester: Connected,
    /// Receives.
    pub receiver: Option<Connected>,
}

impl Hosts {
    /// The host that receives.
    pub fn receiver(&mut self) -> &mut Connected {
        self.receiver.as_mut().unwrap_or(&mut self.tester)
    }

    /// All of them.
    pub fn all(&mut self) -> impl Iterator<Item = &mut Connected> {
        [&mut self.tester].into_iter().chain(&mut self.receiver)
    }
}

/// Whether the testbed's tester sends the flows of each traffic in the order that the experiment asks for.
///
/// # Errors
/// When it does not; the error names each line.
pub fn check_order(experiment: &Experiment, testbed: &Testbed) -> Result<()> {
    let testbed::Generator { kind, send, .. } = &testbed.generator;
    let takes_order = send.iter().any(|word| word.contains(command::ORDER));
    let (is_able, remedy) = match kind {
        GeneratorKind::Fwdlab => (true, ""),
        GeneratorKind::PktGen => (false, "remove order, or write kind = \"fwdlab\" in [tester]"),
        GeneratorKind::Command => {
            (takes_order, "remove order, or give it to the command as {order} in send of [tester]")
        }
    };
    let complaint = |order: &str| {
        let what =
            format!("the tester {:?} of testbed {:?} takes no order", kind.name(), testbed.name);
        let is_usual = order == Order::Sequential.to_string() && *kind == GeneratorKind::PktGen;
        (!is_able && !is_usual).then(|| Complaint::new(what, "no order beside it", remedy))
    };
    experiment.complaints_about("order", complaint).map_or(Ok(()), |problems| Err(problems.into()))
}

/// A tester on its hosts.
pub trait Generator {
    /// Sends one traffic and counts. The receiver is ready before the first frame leaves.
    ///
    /// # Errors
    /// When a program ends before its time, or says what nobody understands.
    fn run(
        &mut self,
        hosts: &mut Hosts,
        task: &Task<'_>,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Counts>;

    /// Whether a few frames can be sent before each trial to see that they come through.
    fn can_probe(&self) -> bool {
        false
    }

    /// The most frames per second that it sends without a device, if it can say.
    ///
    /// # Errors
    /// Those of [`run`](Self::run).
    fn limit(&mut self, _: &mut Hosts, _: &Task<'_>, _: &dyn Fn() -> bool) -> Result<Option<f64>> {
        Ok(None)
    }

    /// The shortest run of which it can say anything.
    fn shortest(&self) -> Duration {
        Duration::ZERO
    }

    /// What it is, for the record.
    fn facts(&self) -> Vec<(String, String)> {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn testbed(tester: &str) -> Testbed {
        let host = |name: &str, first: u8| {
            format!(
                "[hosts.{name}]\nssh = \"{name}\"\nos = \"linux\"\nports = [\
                 {{ name = \"a\", mac = \"02:00:00:00:00:0{first}\" }}, \
                 {{ name = \"b\", mac = \"02:00:00:00:00:0{}\" }}]\n",
                first + 1
            )
        };
        let text = format!("name = \"bed\"\n{}{}{tester}", host("dut", 1), host("tester", 3));
        Testbed::parse(Path::new("bed.toml"), &text).expect("a valid testbed")
    }

    fn experiment(order: &str) -> Experiment {
        let text = format!(
            "title = \"t\"\ndevice = \"remote\"\nbaseline = \"a\"\nwarmup = \"300ms\"\n\
             [[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n[[traffic]]\nname = \"t\"\n{order}\n\
             source = \"198.18.0.1:7\"\ndestination = \"198.19.0.1:7\"\n\
             [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.203\"]\n"
        );
        Experiment::parse(Path::new("x.toml"), &text, &[&crate::Remote]).expect("an experiment")
    }

    #[test]
    fn an_order_that_a_tester_does_not_take_is_refused_at_its_line() {
        let check = |order: &str, tester: &str| {
            let checked = check_order(&experiment(order), &testbed(tester));
            checked.map_or_else(|problems| problems.to_string(), |()| "taken".to_owned())
        };
        let command = |words: &str| format!("[tester]\nkind = \"command\"\nsend = [{words}]\n");
        let pktgen = "[tester]\nkind = \"pkt-gen\"\n";
        let random = "order = \"random\"";
        assert_eq!(check(random, ""), "taken");
        assert_eq!(check("", pktgen), "taken");
        assert_eq!(check("", &command("\"./send\"")), "taken");
        assert_eq!(check(random, &command("\"./send\", \"-o{order}\"")), "taken");
        for tester in [pktgen.to_owned(), command("\"./send\"")] {
            let said = check(random, &tester);
            assert!(said.starts_with("x.toml:11:9: traffic[1].order: the tester "), "{said}");
            assert!(
                said.contains("takes no order") && said.contains("; remove order, or"),
                "{said}"
            );
        }
    }

    #[test]
    fn the_warm_up_is_no_part_of_what_a_tester_is_asked_to_count() {
        let (experiment, testbed) = (experiment(""), testbed(""));
        let (variant, traffic) = (&experiment.variants[0], &experiment.traffics[0]);
        let task = Task::of(&testbed, &Request { experiment: &experiment, variant, traffic });
        assert_eq!(task.duration, Duration::from_secs(1));
        let warm = task.of_warm_up(experiment.warmup);
        assert_eq!((warm.duration.as_millis(), warm.interval.as_millis()), (300, 100));
    }
}
