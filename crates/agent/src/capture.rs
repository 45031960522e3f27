//! What a traffic of an order or a task is as the tester's plan: flows, or the frames of a capture, which
//! the agent reads and maps as the controller did.

use std::sync::Arc;

use fwdlab_traffic::{
    Capture, Endpoints, FlowSet, FrameSizes, Load, Recording, Stream, TrafficPlan,
};

use crate::task::{Captured, TaskTraffic};
use crate::{Result, words};

/// The capture that was sent last, ready to be sent again.
#[derive(Default)]
pub(crate) struct Captures {
    last: Option<(TaskTraffic, Arc<Recording>)>,
}

impl Captures {
    /// The plan of a traffic, with what is sent and at which rate.
    pub(crate) fn plan(&mut self, traffic: &TaskTraffic) -> Result<TrafficPlan> {
        let Some(captured) = &traffic.capture else {
            let flows = FlowSet::parse(&traffic.source, &traffic.destination).map_err(words)?;
            let mut stream = Stream::new(flows);
            stream.order = traffic.order.parse().map_err(words)?;
            stream.sizes = FrameSizes::fixed(usize::from(traffic.frame_bytes));
            let load = traffic.pps.map_or(Load::Max, Load::Pps);
            return Ok(TrafficPlan { load, ..TrafficPlan::new(vec![stream]) });
        };
        let recording = self.recording(traffic, captured)?;
        let load = match captured.as_recorded {
            true => Load::Recorded,
            false => traffic.pps.map_or(Load::Max, Load::Pps),
        };
        Ok(TrafficPlan { load, ..TrafficPlan::replaying(recording) })
    }

    fn recording(&mut self, traffic: &TaskTraffic, captured: &Captured) -> Result<Arc<Recording>> {
        let is_it = |last: &TaskTraffic| {
            let file = last.capture.as_ref().map(|capture| &capture.file);
            file == Some(&captured.file)
                && (&last.source, &last.destination) == (&traffic.source, &traffic.destination)
        };
        if let Some((_, recording)) = self.last.as_ref().filter(|(last, _)| is_it(last)) {
            return Ok(Arc::clone(recording));
        }
        let end = |text: &str| text.parse::<Endpoints>().map_err(words);
        let ends = (end(&traffic.source)?, end(&traffic.destination)?);
        let unread = |why: &dyn std::fmt::Display| format!("cannot read the capture: {why}");
        let file = std::fs::File::open(&captured.file).map_err(|error| unread(&error))?;
        let capture = Capture::read(std::io::BufReader::new(file));
        let recording = capture.and_then(|capture| capture.mapped(&[ends]));
        let recording = Arc::new(recording.map_err(|error| unread(&error))?);
        if recording.frames() != captured.frames {
            let (found, wanted) = (recording.frames(), captured.frames);
            return Err(format!("the capture gives {found} frames here instead of {wanted}"));
        }
        self.last = Some((traffic.clone(), Arc::clone(&recording)));
        Ok(recording)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHIPPED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/capture.pcap");

    fn traffic(file: &str, frames: usize) -> TaskTraffic {
        TaskTraffic {
            source: "198.18.10.1-198.18.10.40".to_owned(),
            destination: "198.19.10.1-198.19.10.40".to_owned(),
            frame_bytes: 500,
            order: Captured::ORDER.to_owned(),
            pps: Some(1000.0),
            capture: Some(Captured { file: file.to_owned(), frames, as_recorded: false }),
        }
    }

    fn frames() -> usize {
        let capture = Capture::read(std::fs::File::open(SHIPPED).expect("shipped"));
        let ends = ["198.18.10.1-198.18.10.40", "198.19.10.1-198.19.10.40"];
        let [source, destination] = ends.map(|end| end.parse().expect("an end"));
        capture.and_then(|capture| capture.mapped(&[(source, destination)])).expect("it").frames()
    }

    #[test]
    fn a_capture_is_read_once_and_again_where_something_else_was_asked_for() {
        let (mut captures, frames) = (Captures::default(), frames());
        let mut plan = |traffic: &TaskTraffic| {
            let plan = captures.plan(traffic).expect("a plan");
            (plan.load, plan.recording.expect("a recording"))
        };
        let asked = traffic(SHIPPED, frames);
        let (load, first) = plan(&asked);
        assert_eq!((load, first.frames()), (Load::Pps(1000.0), frames));
        let faster = TaskTraffic { pps: None, ..asked.clone() };
        let (load, again) = plan(&faster);
        assert!(load == Load::Max && Arc::ptr_eq(&first, &again));
        let elsewhere = TaskTraffic { source: "198.18.20.1-198.18.20.40".to_owned(), ..asked };
        let (_, other) = plan(&elsewhere);
        assert!(!Arc::ptr_eq(&first, &other));
    }

    #[test]
    fn another_file_than_the_controllers_is_refused_and_so_is_a_missing_one() {
        let said = |traffic: &TaskTraffic| Captures::default().plan(traffic).map(drop);
        let other = said(&traffic(SHIPPED, 7)).expect_err("refused");
        assert!(other.contains("instead of 7"), "{other}");
        let missing = said(&traffic("/no/such/capture", 7)).expect_err("refused");
        assert!(missing.contains("cannot read the capture"), "{missing}");
        // An agent that knows no captures finds no such order of flows.
        assert!(Captured::ORDER.parse::<fwdlab_traffic::Order>().is_err());
    }
}
