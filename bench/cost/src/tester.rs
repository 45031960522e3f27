//! The tester's two halves: frames are written, and checked as if a cable had brought them back.

use fwdlab_port::{Batch, Pool};
use fwdlab_traffic::{FlowSet, Receiver, Sender, Stream, TrafficPlan};

use crate::case::{AnyError, Case, Loop};

/// Source and destination ranges of a family: 2000 flows, whose lines are kept, or a million.
type Ranges = (&'static str, &'static str);

const FAMILIES: [(&str, Ranges); 4] = [
    ("inet", ("198.18.10.1-198.18.10.20:2000", "198.19.10.1-198.19.10.100:2000")),
    (
        "inet6",
        ("[2001:2:0:10::1]-[2001:2:0:10::14]:2000", "[2001:2:0:8010::1]-[2001:2:0:8010::64]:2000"),
    ),
    ("inet, 1M flows", ("198.18.10.1-198.18.10.20:2000", "198.19.0.1-198.19.195.80:2000")),
    (
        "inet6, 1M flows",
        (
            "[2001:2:0:10::1]-[2001:2:0:10::14]:2000",
            "[2001:2:0:8010::1]-[2001:2:0:8010::c350]:2000",
        ),
    ),
];

/// The loops of both families.
pub(crate) fn cases() -> impl Iterator<Item = Case> {
    FAMILIES.into_iter().map(|(name, ranges)| Case {
        name: format!("tester {name}"),
        make: Box::new(move || testing(ranges)),
    })
}

/// Writes a batch and checks it.
fn testing((source, destination): Ranges) -> Result<Loop, AnyError> {
    let mut plan = TrafficPlan::new(vec![Stream::new(FlowSet::parse(source, destination)?)]);
    plan.arrival_mac = plan.device_mac;
    plan.hops = 0;
    let pool = Pool::with_frames(Batch::CAPACITY)?;
    let mut sender = Sender::new(&plan, pool.config().headroom)?;
    let mut receiver = Receiver::new(&plan, &sender)?;
    let mut batch = Batch::new();
    pool.take_batch(&mut batch, Batch::CAPACITY);
    batch.iter_mut().for_each(|frame| sender.adopt(frame));
    Ok(Box::new(move |frames| {
        let mut done = 0;
        while done < frames {
            sender.write(&mut batch, 0);
            receiver.check(&batch, 0, |_| {});
            done += batch.len();
        }
        assert!(receiver.checks().is_clean(), "{:?}", receiver.checks());
        done
    }))
}
