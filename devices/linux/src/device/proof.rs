//! What the kernel answers when it is asked for the settings of a variant.

use std::collections::BTreeMap;

use fwdlab_device::Request;
use fwdlab_topology::{Topology, port_name};

use super::namespaces::Namespaces;
use super::running::Running;
use crate::LinuxError;
use crate::embedded::Embedded;
use crate::settings::{LinuxSettings, is_sysctl};
use crate::setup::DEVICE;

impl Namespaces {
    /// What the kernel, and what runs in it, answer when asked for each setting of the variant, and for
    /// what only other variants set. Nothing is taken from the request: what cannot be asked has no
    /// proof.
    pub(super) fn proof(
        &mut self,
        request: &Request<'_>,
        settings: &LinuxSettings,
        wanted: &Topology,
        running: Option<&Running<'_>>,
    ) -> Result<BTreeMap<String, String>, LinuxError> {
        let variant = request.variant;
        let others = request.experiment.words_of_others(variant);
        let mut proof = BTreeMap::new();
        for name in settings.sysctls.keys() {
            proof.insert(name.clone(), self.testbed.sysctl(DEVICE, name)?);
        }
        for name in others.iter().filter(|word| is_sysctl(word)) {
            // One that can only be written says nothing.
            let read = self.testbed.sysctl(DEVICE, name).ok();
            proof.extend(read.map(|value| ((*name).to_owned(), value)));
        }
        let is_asked = |word: &str| variant.set.contains_key(word) || others.contains(word);
        let embedded = running.and_then(|running| running.embedded);
        let device = &wanted.namespaces[DEVICE];
        if is_asked("nftables") {
            let listed = self.testbed.rules(DEVICE)?;
            let is_there = listed.is_empty() == device.rules.is_none();
            let value = variant.set.get("nftables").filter(|_| is_there).cloned();
            let none = listed.is_empty().then(|| "none".to_owned());
            let found = value.or(none).unwrap_or_else(|| listed.clone());
            proof.insert("nftables".to_owned(), found);
            proof.insert("nftables ruleset".to_owned(), listed);
        }
        if is_asked("routes") {
            let (inet, inet6) = self.testbed.count_routes(DEVICE)?;
            let is_there = inet + inet6 == device.routes.len();
            let counted = format!("{inet} IPv4 and {inet6} IPv6 routes");
            let value = variant.set.get("routes").filter(|_| is_there).cloned();
            proof.insert("routes".to_owned(), value.unwrap_or_else(|| counted.clone()));
            proof.insert("routes in the kernel".to_owned(), counted);
        }
        if is_asked("xdp") {
            let id = self.testbed.xdp_program(DEVICE, &port_name(0))?;
            let work = match (id, running.and_then(|running| running.input)) {
                (Some(_), Some(guard)) => guard.work.as_str(),
                // the sockets of fwdlab's router have one of their own there
                (Some(_), None) if embedded.is_none() => "an unknown program",
                _ => "none",
            };
            proof.insert("xdp".to_owned(), work.to_owned());
        }
        proof.extend(self.tuning.proof(&self.testbed, variant, &others)?);
        if is_asked("router") {
            proof.insert("router".to_owned(), self.forwarder(embedded)?.to_owned());
        }
        if let (true, Some(running)) = (is_asked("tester"), running) {
            proof.insert("tester".to_owned(), running.tester.kind().name().to_owned());
        }
        if let Some(embedded) = embedded {
            if is_asked("ports") {
                proof.insert("ports".to_owned(), embedded.sockets.name().to_owned());
            }
            proof.extend(embedded.words.clone());
        }
        Ok(proof)
    }

    /// Who forwards, in the words of the control word `router`.
    fn forwarder(&mut self, embedded: Option<&Embedded>) -> Result<&'static str, LinuxError> {
        let mut kernel = false;
        for switch in ["net.ipv4.ip_forward", "net.ipv6.conf.all.forwarding"] {
            kernel |= self.testbed.sysctl(DEVICE, switch)? == "1";
        }
        Ok(match (embedded.is_some_and(Embedded::is_running), kernel) {
            (true, false) => "fwdlab",
            (false, true) => "kernel",
            (true, true) => "fwdlab and kernel",
            (false, false) => "nothing",
        })
    }
}
