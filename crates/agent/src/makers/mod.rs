//! Frames that another program of this host makes. It says itself how many it has sent; when they left and
//! how many came back is what the interfaces count, which look into no frame.

mod making;
mod meter;
mod pktgen;
pub mod trafgen;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::Result;
use crate::order::{Answer, Maker, Report, Role, TrafficOrder};
use making::Making;
use meter::{Meter, Side};

/// How long a program may take until its first frame leaves.
const START: Duration = Duration::from_secs(10);
/// How often interfaces are read.
const STEP: Duration = Duration::from_millis(1);
/// Silence after which nothing more comes.
const PATIENCE: Duration = Duration::from_millis(20);
/// How long it may take until nothing comes any more.
const DRAIN: Duration = Duration::from_secs(2);
/// A program's count and the interface's may be so many frames apart: others send there, too.
const STRAYS: u64 = 16;

/// Carries out one order; tells `say` when it can begin.
///
/// # Errors
/// A program that is not there, that refuses the order, or that sends nothing.
pub(crate) fn run(
    order: &TrafficOrder,
    maker: Maker,
    stop: &AtomicBool,
    say: &mut dyn FnMut(&Answer) -> Result<()>,
) -> Result<Report> {
    if order.role == Role::Receiver {
        let mut meter = Meter::begin(order, Side::Received)?;
        say(&Answer::Ready)?;
        while !stop.load(Ordering::Relaxed) {
            meter.look()?;
            std::thread::sleep(STEP);
        }
        drain(&mut meter)?;
        return Ok(meter.report());
    }
    let mut making: Box<dyn Making> = match maker {
        Maker::Pktgen => Box::new(pktgen::Kernel::prepare(order)?),
        Maker::Trafgen => Box::new(trafgen::Program::prepare(order)?),
    };
    say(&Answer::Ready)?;
    let mut meter = Meter::begin(order, Side::Sent)?;
    making.start()?;
    let done = send(order, making.as_mut(), &mut meter, stop);
    // Whatever went wrong, it sends no longer; why it did is said by itself.
    let sent = making.end()?;
    done?;
    drain(&mut meter)?;
    let mut report = meter.report();
    let counted = report.sent;
    if sent.abs_diff(counted) > STRAYS {
        let (name, out) = (making.name(), &order.out);
        report
            .warnings
            .push(format!("{name} says that it sent {sent} frames; {out} sent {counted}"));
    }
    report.sent = sent;
    Ok(report)
}

/// Lets it send until it has sent all, or its time is up.
fn send(
    order: &TrafficOrder,
    making: &mut dyn Making,
    meter: &mut Meter,
    stop: &AtomicBool,
) -> Result<()> {
    let start = Instant::now();
    let duration = Duration::from_nanos(order.duration_ns);
    while !stop.load(Ordering::Relaxed) {
        // Before it, so that what left last is counted.
        let is_over = making.is_over();
        meter.look()?;
        match meter.running() {
            Some(since) if is_over || since >= duration => break,
            None if is_over => break,
            None if start.elapsed() > START => {
                return Err(format!("{} sends nothing on {}", making.name(), order.out));
            }
            _ => std::thread::sleep(STEP),
        }
    }
    Ok(())
}

/// Counts until nothing comes any more.
fn drain(meter: &mut Meter) -> Result<()> {
    meter.close();
    let start = Instant::now();
    let mut quiet = Instant::now();
    while quiet.elapsed() < PATIENCE && start.elapsed() < DRAIN {
        std::thread::sleep(STEP);
        if meter.look()? {
            quiet = Instant::now();
        }
    }
    Ok(())
}
