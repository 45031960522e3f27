//! Proves that a variant is in force: kernel, files, routes, expectations, ports.

use std::time::{Duration, Instant};

use fwdlab_device::Proof;
use fwdlab_results::FailureKind;

use crate::dut::{Configuration, Reading};
use crate::links::check_mac;
use crate::machines::Machines;
use crate::settings::RemoteVariant;
use crate::testbed::DUT;
use crate::{RemoteError, Result};

/// How long links may take to come up.
const LINKS: Duration = Duration::from_secs(15);

/// A device that has just booted lets us in before it has started everything: so long it may still
/// answer otherwise than expected.
const STARTING: Duration = Duration::from_secs(30);

impl Machines {
    /// What the device answers when asked for everything that the variant wants. `has_booted`: just now.
    pub(super) fn prove(
        &mut self,
        wanted: &RemoteVariant,
        configuration: &Configuration,
        has_booted: bool,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Proof> {
        let mismatch = |what: String, remedy: &str| {
            RemoteError::failed(FailureKind::ProofMismatch, DUT, what, remedy)
        };
        let reading = self.read_with_links(is_stopped)?;
        let mut proof = Proof::new();
        if let Some(kernel) = &wanted.kernel
            && !reading.kernel.contains(kernel)
        {
            let what = format!("it runs the kernel {}, not {kernel}", reading.kernel);
            return Err(mismatch(what, "look whether the right kernel was installed"));
        }
        proof.insert("kernel".to_owned(), reading.kernel.clone());
        for (number, port) in reading.ports.iter().enumerate() {
            proof.insert(format!("port {number} speed"), port.speed.clone());
        }
        let dut = self.dut()?;
        proof.insert("configuration".to_owned(), configuration.prove(dut, is_stopped)?);
        let (start, patience) =
            (Instant::now(), if has_booted { STARTING } else { Duration::ZERO });
        for expect in &wanted.expect {
            let found = loop {
                let found = dut.ask(&expect.run, is_stopped);
                let is_it = found.as_ref().is_ok_and(|found| found.trim() == expect.is);
                let is_lost = found.as_ref().is_err_and(|error| error.kind().is_some());
                if is_it || is_lost || is_stopped() || start.elapsed() >= patience {
                    break found?;
                }
                std::thread::sleep(Duration::from_millis(200));
            };
            let found = found.trim();
            if found != expect.is {
                let what = format!("{:?} says {found:?}, not {:?}", expect.run, expect.is);
                return Err(mismatch(what, "look at what the variant sets"));
            }
            proof.insert(expect.run.clone(), found.to_owned());
        }
        if let (Some(routes), Some(dut)) = (&self.routes, &mut self.dut) {
            proof.insert("routes".to_owned(), routes.prove(dut, is_stopped)?);
        }
        Ok(proof)
    }

    /// Reads the device when the links of its ports are up.
    fn read_with_links(&mut self, is_stopped: &dyn Fn() -> bool) -> Result<Reading> {
        let start = Instant::now();
        loop {
            let reading = self.read(is_stopped)?;
            for (port, seen) in self.testbed.dut.ports.iter().zip(&reading.ports) {
                check_mac(DUT, &port.name, &seen.mac, &port.mac.to_string())?;
            }
            let names = self.testbed.dut.ports.iter().zip(&reading.ports);
            let down = names.filter(|(_, seen)| !seen.has_carrier).map(|(port, _)| &port.name);
            let down: Vec<&str> = down.map(String::as_str).collect();
            if down.is_empty() {
                return Ok(reading);
            }
            if is_stopped() {
                return Err(RemoteError::Stopped);
            }
            if start.elapsed() > LINKS {
                return Err(RemoteError::failed(
                    FailureKind::LinkLost,
                    DUT,
                    format!("there is no link on {}", down.join(" and ")),
                    "look at the cables, and whether the other end is switched on",
                ));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}
