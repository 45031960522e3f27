//! Proves that a variant is in force: kernel, files, routes, expectations, ports.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use fwdlab_device::Proof;
use fwdlab_results::FailureKind;

use crate::dut::{self, Configuration, Reading};
use crate::host::Connected;
use crate::links::check_mac;
use crate::machines::Machines;
use crate::settings::RemoteVariant;
use crate::ssh::Said;
use crate::testbed::DUT;
use crate::{RemoteError, Result, facts};

/// How long links may take to come up.
const LINKS: Duration = Duration::from_secs(15);

/// Characters that are kept of what a command said that another variant expects something of.
const MOST_SHOWN: usize = 200;

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
        self.prove_testers(&mut proof, is_stopped)?;
        let others = self.expectations_of_others(wanted);
        // Commands may change anything; a boot is another connection.
        let mut all = self.experiment.variants.iter().map(RemoteVariant::of);
        let may_differ = all.any(|variant| !variant.apply.is_empty());
        let dut = self.dut()?;
        proof.extend(facts::changing(dut, may_differ, is_stopped)?);
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
        for run in others {
            let said = dut.run(&run, is_stopped)?;
            proof.insert(run, answer(&said));
        }
        if let (Some(routes), Some(dut)) = (&self.routes, &mut self.dut) {
            proof.insert("routes".to_owned(), routes.prove(dut, is_stopped)?);
        }
        self.last_reading = Some(reading);
        Ok(proof)
    }

    /// What only other variants expect something of: it is asked and shown here, too, and nothing is
    /// demanded of it.
    fn expectations_of_others(&self, wanted: &RemoteVariant) -> Vec<String> {
        let all = self.experiment.variants.iter().flat_map(|other| RemoteVariant::of(other).expect);
        let is_own = |run: &String| wanted.expect.iter().any(|own| own.run == *run);
        let others: BTreeSet<String> = all.map(|expect| expect.run).collect();
        others.into_iter().filter(|run| !is_own(run)).collect()
    }

    /// Ports of the tester's hosts: their addresses, links and speeds.
    fn prove_testers(&mut self, proof: &mut Proof, is_stopped: &dyn Fn() -> bool) -> Result<()> {
        let Some(hosts) = &mut self.hosts else { return Ok(()) };
        for host in hosts.all() {
            let role = host.role();
            let reading = with_links(host, dut::look, is_stopped)?;
            for (number, (port, seen)) in host.host.ports.iter().zip(&reading.ports).enumerate() {
                if !port.is_datagram() {
                    proof.insert(format!("{role} port {number} speed"), seen.speed.clone());
                }
            }
            let found = facts::changing(host, false, is_stopped)?.into_iter();
            proof.extend(found.map(|(name, value)| (format!("{role} {name}"), value)));
        }
        Ok(())
    }

    /// Reads the device when the links of its ports are up.
    fn read_with_links(&mut self, is_stopped: &dyn Fn() -> bool) -> Result<Reading> {
        let reading = with_links(self.dut()?, dut::read, is_stopped)?;
        self.boot = Some(reading.boot.clone());
        Ok(reading)
    }
}

/// What a command said, in one short line.
fn answer(said: &Said) -> String {
    let words: Vec<&str> = said.output.split_whitespace().collect();
    match (words.is_empty(), said.status) {
        (true, status) => format!("nothing (it ended with {status})"),
        (false, _) => words.join(" ").chars().take(MOST_SHOWN).collect(),
    }
}

/// A reading of a host in which all its test ports have a link, and are those of the testbed file.
fn with_links(
    host: &mut Connected,
    read: fn(&mut Connected, &dyn Fn() -> bool) -> Result<Reading>,
    is_stopped: &dyn Fn() -> bool,
) -> Result<Reading> {
    let start = Instant::now();
    loop {
        let reading = read(host, is_stopped)?;
        let ports = host.host.ports.iter().zip(&reading.ports);
        let ports: Vec<_> = ports.filter(|(port, _)| !port.is_datagram()).collect();
        for (port, seen) in &ports {
            check_mac(host.role(), &port.name, &seen.mac, &port.mac.to_string())?;
        }
        let down = ports.iter().filter(|(_, seen)| !seen.has_carrier);
        let down: Vec<&str> = down.map(|(port, _)| port.name.as_str()).collect();
        if down.is_empty() {
            return Ok(reading);
        }
        if is_stopped() {
            return Err(RemoteError::Stopped);
        }
        if start.elapsed() > LINKS {
            return Err(RemoteError::failed(
                FailureKind::LinkLost,
                host.role(),
                format!("there is no link on {}", down.join(" and ")),
                "look at the cables, and whether the other end is switched on",
            ));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}
