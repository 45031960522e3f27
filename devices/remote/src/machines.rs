//! A testbed in the hands of one campaign: its machines, and the connections to them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fwdlab_device::Facts;
use fwdlab_experiment::Experiment;
use fwdlab_results::FailureKind;

use crate::dut::{self, Reading, Routes};
use crate::host::{CONNECT, Connected};
use crate::lock::Lock;
use crate::reach::Reach;
use crate::secrets::Secrets;
use crate::settings::{Reboot, reboots};
use crate::testbed::{DUT, GeneratorKind, Testbed};
use crate::tester::{Agents, Generator, Hosts, JsonLines, Netmap};
use crate::{RemoteError, Result, facts, links};

/// A testbed, connected where it was needed so far.
pub struct Machines {
    pub(super) experiment: Arc<Experiment>,
    pub(super) testbed: Testbed,
    pub(super) program: PathBuf,
    pub(super) reboots: Vec<Reboot>,
    pub(super) routes: Option<Routes>,
    pub(super) lock: Lock,
    pub(super) secrets: Secrets,
    pub(super) facts: Facts,
    // The agents end before the connections that they go over, and these before their sockets.
    pub(super) generator: Option<Box<dyn Generator>>,
    pub(super) hosts: Option<Hosts>,
    pub(super) dut: Option<Connected>,
    pub(super) reach: Reach,
    /// When the traffic of the trial at hand had stopped: from then on the device may be silent.
    pub(super) quiet_since: Option<Instant>,
    /// Whether frames of the warm-up before the trial at hand came through.
    pub(super) has_come_through: bool,
    /// Whether frames before the trial at hand did not come back: they may still be in the device.
    pub(super) may_hold_frames: bool,
    /// The device as it was read last, for whom it need not be newer.
    pub(super) last_reading: Option<Reading>,
    /// The device's boot as it was seen last.
    pub(super) boot: Option<String>,
    /// The variant for which it was booted.
    pub(super) booted_for: Option<String>,
    /// What the tester sends without a device, of each traffic of which that was measured: a port
    /// carries fewer long frames than short ones.
    pub(super) limits_pps: BTreeMap<String, Option<f64>>,
}

impl Machines {
    /// Gets ready for an experiment. Hosts that cannot be reached now are tried again by the first
    /// trial, which then says so in the journal.
    ///
    /// # Errors
    /// When this machine lacks something.
    pub fn open(experiment: &Arc<Experiment>, testbed: Testbed, program: &Path) -> Result<Self> {
        let reach = Reach::new(&testbed, program)?;
        let routes = testbed.dut.is_networked_by_us.then(|| Routes::of(experiment, &testbed));
        let mut machines = Self {
            experiment: experiment.clone(),
            program: program.to_owned(),
            reboots: reboots(experiment),
            routes,
            lock: Lock::new(&Lock::our_name()),
            secrets: reach.secrets(),
            facts: Facts::default(),
            generator: None,
            hosts: None,
            dut: None,
            reach,
            quiet_since: None,
            has_come_through: false,
            may_hold_frames: false,
            last_reading: None,
            boot: None,
            booted_for: None,
            limits_pps: BTreeMap::new(),
            testbed,
        };
        machines.facts.device.insert("testbed".to_owned(), machines.testbed.name.clone());
        if let Some(bps) = machines.testbed.generator.line_bps {
            let line = format!("{} Mbit/s", bps / 1e6);
            machines.facts.tester.insert("line rate".to_owned(), line);
        }
        // What is wrong is said by the first trial.
        if machines.connect(&|| false).is_ok() {
            let _ = machines.ask_facts();
        }
        Ok(machines)
    }

    /// Connects to what is not connected; the lock is taken before anything is changed.
    pub(super) fn connect(&mut self, is_stopped: &dyn Fn() -> bool) -> Result<()> {
        if self.hosts.is_none() {
            let connect = |host| self.reach.connect(&self.testbed, host, CONNECT, is_stopped);
            let mut tester = connect(&self.testbed.tester)?;
            self.lock.hold(&mut tester, is_stopped)?;
            let receiver = self.testbed.receiver.as_ref().map(connect).transpose()?;
            let mut hosts = Hosts { tester, receiver };
            if self.testbed.generator.kind.has_agent() {
                for host in hosts.all() {
                    links::ports_up(host, is_stopped)?;
                }
            }
            self.hosts = Some(hosts);
        }
        if self.dut.is_none() {
            self.dut = Some(self.reach_dut(CONNECT, is_stopped)?);
        }
        if let (None, Some(hosts)) = (&self.generator, &mut self.hosts) {
            let generator: Box<dyn Generator> = match self.testbed.generator.kind {
                GeneratorKind::Fwdlab | GeneratorKind::Pktgen | GeneratorKind::Trafgen => {
                    Box::new(Agents::start(hosts, &self.program, is_stopped)?)
                }
                GeneratorKind::PktGen => Box::<Netmap>::default(),
                GeneratorKind::Command => Box::<JsonLines>::default(),
            };
            self.generator = Some(generator);
        }
        Ok(())
    }

    fn ask_facts(&mut self) -> Result<()> {
        if let Some(dut) = &mut self.dut {
            let found = facts::ask(dut, &|| false)?;
            self.facts.device.extend(self.scrubbed(found));
        }
        if let Some(hosts) = &mut self.hosts {
            let mut found = facts::ask(&mut hosts.tester, &|| false)?;
            if let Some(receiver) = &mut hosts.receiver {
                let more = facts::ask(receiver, &|| false)?.into_iter();
                found.extend(more.map(|(name, value)| (format!("receiver: {name}"), value)));
            }
            found.extend(self.generator.iter().flat_map(|generator| generator.facts()));
            let kind = self.testbed.generator.kind;
            if let Some(maker) = kind.maker() {
                found.insert("tester".to_owned(), facts::of_maker(&mut hosts.tester, maker)?);
            }
            self.facts.tester.extend(self.scrubbed(found));
        }
        Ok(())
    }

    fn scrubbed(&self, found: BTreeMap<String, String>) -> BTreeMap<String, String> {
        found.into_iter().map(|(name, value)| (name, self.secrets.scrub(&value))).collect()
    }

    pub(super) fn dut(&mut self) -> Result<&mut Connected> {
        self.dut.as_mut().ok_or_else(|| {
            let remedy = "look whether it is up and sshd runs";
            RemoteError::failed(FailureKind::TransportLost, DUT, "it is not connected", remedy)
        })
    }

    /// A connection to the device, which may take `patience`.
    pub(super) fn reach_dut(
        &self,
        patience: Duration,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Connected> {
        self.reach.connect(&self.testbed, &self.testbed.dut, patience, is_stopped)
    }

    pub(super) fn read(&mut self, is_stopped: &dyn Fn() -> bool) -> Result<Reading> {
        self.read_within(self.testbed.limits.command, is_stopped)
    }

    /// Reads the device, which must answer within `patience`.
    pub(super) fn read_within(
        &mut self,
        patience: Duration,
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Reading> {
        let reading = self.dut()?.within(patience, |dut| dut::read(dut, is_stopped))?;
        self.boot = Some(reading.boot.clone());
        Ok(reading)
    }
}
