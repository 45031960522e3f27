//! Settings of the device's interfaces that are neither sysctls nor netlink: offloads, and on
//! which processors frames are received.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;

use fwdlab_port::offloads::{self, Offload};

use super::setup::{BACK, DEVICE, OUT, RECEIVER, SENDER};
use crate::settings::{ENDS, GRO, GSO, LinuxSettings, Offloads, TSO, TesterKind};
use fwdlab_experiment::Variant;
use fwdlab_results::Measured;
use fwdlab_topology::{Testbed, TopologyError, port_name};

/// What is set now. Interfaces live as long as no variant wants other ones, so that only changes
/// are applied.
#[derive(Debug, Default)]
pub(super) struct Tuning {
    /// Numbers of the interfaces on which it is set: the sender's, the device's, the receiver's.
    links: [u32; 4],
    /// What the device's ports were set to.
    ports: Option<Wanted>,
    /// And the tester's interfaces.
    ends: Option<Wanted>,
    placement: Placement,
}

/// What an interface is set to. Checksums are made and looked at by the interface where streams go through
/// it, as every network card does, and by nobody where the tester makes whole frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wanted {
    offloads: Offloads,
    has_checksums: bool,
}

/// Where frames are received; by default on the processor that sent them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Placement {
    threaded: bool,
    rps: u64,
}

impl Tuning {
    /// Applies what differs.
    ///
    /// # Errors
    /// The kernel refuses.
    pub(super) fn change_to(
        &mut self,
        testbed: &mut Testbed,
        settings: &LinuxSettings,
        has_streams: bool,
    ) -> Result<(), TopologyError> {
        let links = links(testbed)?;
        if self.links != links {
            *self = Self { links, ..Self::default() };
        }
        if settings.tester == Some(TesterKind::Naive) {
            return Ok(());
        }
        let wanted = |offloads| Some(Wanted { offloads, has_checksums: has_streams });
        let ends = wanted(settings.ends);
        if self.ends != ends {
            for (role, interface) in [(SENDER, OUT), (RECEIVER, BACK)] {
                switch_offloads(testbed, role, &[interface.to_owned()], ends)?;
            }
            self.ends = ends;
        }
        let ports = wanted(settings.offloads);
        if self.ports != ports {
            switch_offloads(testbed, DEVICE, &[port_name(0), port_name(1)], ports)?;
            self.ports = ports;
        }
        Ok(())
    }

    /// Sets an interface of the tester as those towards the device are set.
    ///
    /// # Errors
    /// The kernel refuses.
    pub(super) fn set_like_the_ends(
        &self,
        testbed: &Testbed,
        interface: &str,
    ) -> Result<(), TopologyError> {
        let interface = [interface.to_owned()];
        [SENDER, RECEIVER]
            .into_iter()
            .try_for_each(|role| switch_offloads(testbed, role, &interface, self.ends))
    }

    /// Moves the receiving to other processors, or back. Only interfaces that poll can do that: with
    /// a program on them.
    ///
    /// # Errors
    /// The kernel refuses.
    pub(super) fn place(
        &mut self,
        testbed: &Testbed,
        settings: &LinuxSettings,
    ) -> Result<(), TopologyError> {
        let ports = [port_name(0), port_name(1)];
        let wanted = Placement { threaded: settings.threaded, rps: settings.rps };
        if self.placement != wanted {
            let placed = testbed
                .namespace(DEVICE)?
                .run_with_sys(|| ports.iter().try_for_each(|port| wanted.write(port)));
            let doing = "set where the device receives frames (threaded, rps)";
            placed.and_then(|written| written).map_err(TopologyError::kernel(doing))?;
            self.placement = wanted;
        }
        Ok(())
    }

    /// What the kernel answers when asked for the settings of a variant, and for those of `others`.
    ///
    /// # Errors
    /// The kernel does not say what became of a setting of the variant.
    pub(super) fn proof(
        &self,
        testbed: &Testbed,
        variant: &Variant,
        others: &BTreeSet<&str>,
    ) -> Result<BTreeMap<String, String>, TopologyError> {
        let mut proof = BTreeMap::new();
        let failed = || TopologyError::kernel("read the settings of the device's interfaces");
        let device = testbed.namespace(DEVICE)?;
        let is_asked = |word: &str| variant.set.contains_key(word) || others.contains(word);
        // Answers in the words of the question, and in its own: "on" and "true" mean the same.
        let mut answer = |word: &str, is_so: &dyn Fn(&str) -> bool, found: String| {
            if !is_asked(word) {
                return;
            }
            let wanted = variant.set.get(word).filter(|wanted| is_so(wanted)).cloned();
            if wanted.as_ref().is_some_and(|wanted| *wanted != found) {
                proof.insert(Measured::reading_of(word), found.clone());
            }
            proof.insert(word.to_owned(), wanted.unwrap_or(found));
        };
        let is_on = |wanted: &str| matches!(wanted, "on" | "true" | "1");
        let switch = |is_on| if is_on { "on" } else { "off" }.to_owned();
        let is_set = |words: &[&str]| words.iter().any(|word| variant.set.contains_key(*word));
        let all = [Offload::GenericReceive, Offload::GenericSegmentation, Offload::Segmentation];
        let (first, second) = (port_name(0), port_name(1));
        let ports: [(&str, &str); 2] = [(DEVICE, &first), (DEVICE, &second)];
        let ends = [(SENDER, OUT), (RECEIVER, BACK)];
        for (words, interfaces) in [([GRO, GSO, TSO], ports), (ENDS, ends)] {
            for (word, offload) in words.into_iter().zip(all).filter(|(word, _)| is_asked(word)) {
                match state(testbed, &interfaces, offload) {
                    Ok(found) => answer(word, &|wanted| found == Some(is_on(wanted)), named(found)),
                    Err(error) if is_set(&[word]) => return Err(error),
                    Err(_) => {}
                }
            }
        }
        if is_asked("threaded") || is_asked("rps") {
            let found = device.run_with_sys(|| Placement::read(&port_name(0)));
            match found.and_then(|read| read) {
                Ok(Placement { threaded, rps }) => {
                    answer("threaded", &|wanted| is_on(wanted) == threaded, switch(threaded));
                    let mask = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16);
                    answer("rps", &|wanted| mask(wanted) == Ok(rps), format!("{rps:x}"));
                }
                Err(error) if is_set(&["threaded", "rps"]) => return Err(failed()(error)),
                Err(_) => {}
            }
        }
        Ok(proof)
    }
}

/// Whether an offload is on at all of these interfaces, or off at all; nothing where they differ.
fn state(
    testbed: &Testbed,
    interfaces: &[(&str, &str)],
    offload: Offload,
) -> Result<Option<bool>, TopologyError> {
    let mut found = Vec::new();
    for (role, interface) in interfaces {
        let read = testbed.namespace(role)?.run(|| offloads::read(interface, offload));
        let failed = TopologyError::kernel(format!("read the offloads of {interface}"));
        found.push(read.and_then(|read| read).map_err(failed)?);
    }
    let first = found.first().copied();
    Ok(first.filter(|first| found.iter().all(|other| other == first)))
}

fn named(found: Option<bool>) -> String {
    match found {
        Some(true) => "on",
        Some(false) => "off",
        None => "on at one interface and off at the other",
    }
    .to_owned()
}

/// Numbers of the interfaces at all four ends; new ones mean that nothing is set on them.
fn links(testbed: &mut Testbed) -> Result<[u32; 4], TopologyError> {
    Ok([
        testbed.interface_index(SENDER, OUT)?,
        testbed.interface_index(DEVICE, &port_name(0))?,
        testbed.interface_index(DEVICE, &port_name(1))?,
        testbed.interface_index(RECEIVER, BACK)?,
    ])
}

impl Placement {
    /// Writes what differs. An interface that does not poll (the one without a program) has no
    /// threads.
    fn write(self, port: &str) -> io::Result<()> {
        let [threaded, rps] = Self::files(port);
        if Self::read(port)?.threaded != self.threaded {
            let written = fs::write(threaded, if self.threaded { "1" } else { "0" });
            let is_needed = port == port_name(0);
            written.or_else(|error| if is_needed { Err(error) } else { Ok(()) })?;
        }
        fs::write(rps, format!("{:x}", self.rps))
    }

    fn read(port: &str) -> io::Result<Self> {
        let [threaded, rps] = Self::files(port).map(fs::read_to_string);
        // A mask of many processors is written in groups of 32: 00000000,00000002.
        let digits = rps?.trim().replace(',', "");
        let rps = u64::from_str_radix(&digits, 16)
            .map_err(|_| io::Error::other(format!("rps_cpus holds {digits:?}")))?;
        Ok(Self { threaded: threaded?.trim() != "0", rps })
    }

    fn files(port: &str) -> [String; 2] {
        ["threaded", "queues/rx-0/rps_cpus"].map(|file| format!("/sys/class/net/{port}/{file}"))
    }
}

/// Switches the offloads of interfaces on that are wanted, and all others off.
fn switch_offloads(
    testbed: &Testbed,
    role: &str,
    interfaces: &[String],
    wanted: Option<Wanted>,
) -> Result<(), TopologyError> {
    let Some(Wanted { offloads: Offloads { gro, gso, tso }, has_checksums }) = wanted else {
        return Ok(());
    };
    let work = || {
        for interface in interfaces {
            for offload in Offload::ALL {
                let on = match offload {
                    Offload::GenericReceive => gro,
                    Offload::GenericSegmentation => gso,
                    Offload::Segmentation => tso,
                    // The kernel leaves no packet uncut whose checksums are not made behind it.
                    Offload::SendChecksum => has_checksums || tso,
                    Offload::ReceiveChecksum => has_checksums,
                };
                // What an interface cannot do is off.
                if offloads::read(interface, offload).is_ok_and(|is_on| is_on != on) {
                    offloads::write(interface, offload, on)?;
                }
            }
        }
        Ok(())
    };
    let switched = testbed.namespace(role)?.run(work);
    let doing = format!("switch the offloads of {}", interfaces.join(" and "));
    switched.and_then(|result| result).map_err(TopologyError::kernel(doing))
}
