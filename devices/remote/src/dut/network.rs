//! Routes and neighbours of a device with Linux, where its testbed file leaves them to us. What is
//! ours carries a routing protocol number of its own and is found by it again.

use std::collections::BTreeSet;
use std::net::IpAddr;

use fwdlab_experiment::Experiment;
use fwdlab_guard::digest;
use fwdlab_results::{FailureKind, Family};

use crate::host::Connected;
use crate::testbed::Testbed;
use crate::{RemoteError, Result};

/// The number by which our routes are known (rtnetlink(7): protocols from 5 on are free).
const PROTOCOL: u8 = 177;

/// The device's part of the network, as commands of ip(8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routes {
    /// For `ip -batch`, IPv4 and IPv6.
    batches: [String; 2],
    counts: [usize; 2],
    /// For `ip -batch`: takes the neighbours away.
    undo: String,
    has_inet6: bool,
    ports: [String; 2],
    mark: String,
}

impl Routes {
    /// What an experiment wants of this device.
    pub fn of(experiment: &Experiment, testbed: &Testbed) -> Self {
        let ports = [testbed.dut.ports[0].name.clone(), testbed.dut.ports[1].name.clone()];
        let macs = [testbed.out().mac, testbed.back().mac];
        let mut batches = [String::new(), String::new()];
        let mut counts = [0; 2];
        let mut gateways: BTreeSet<(IpAddr, usize)> = BTreeSet::new();
        for route in &experiment.routes.fixed {
            let port = usize::from(route.port.min(1));
            gateways.insert((route.gateway, port));
            let family = usize::from(route.gateway.is_ipv6());
            counts[family] += 1;
            batches[family].push_str(&format!(
                "route replace {} via {} dev {} onlink proto {PROTOCOL}\n",
                route.prefix, route.gateway, ports[port]
            ));
        }
        let mut undo = String::new();
        for (gateway, port) in gateways {
            undo.push_str(&format!("neigh del {gateway} dev {}\n", ports[port]));
            let family = usize::from(gateway.is_ipv6());
            batches[family].push_str(&format!(
                "neigh replace {gateway} lladdr {} dev {} nud permanent\n",
                macs[port], ports[port]
            ));
        }
        let has_inet6 = experiment.traffics.iter().any(|traffic| traffic.family != Family::Inet);
        let mark = digest::of(batches.concat().as_bytes());
        Self { batches, counts, undo, has_inet6, ports, mark }
    }

    /// Sets it up, unless it is there already.
    ///
    /// # Errors
    /// When the connection breaks, or the device refuses.
    pub fn set_up(&self, host: &mut Connected, is_stopped: &dyn Fn() -> bool) -> Result<()> {
        let file = format!("{}/routes", host.host.directory);
        let ip = host.ip(is_stopped)?;
        let count = COUNT.replace("IP", &ip);
        let said = host.ask(&format!("cat {file} 2>/dev/null || :; {count}"), is_stopped)?;
        let (mark, counts) = said.split_once('\n').unwrap_or_default();
        if mark == self.mark && numbers(counts) == self.counts {
            return Ok(());
        }
        let [first, second] = &self.ports;
        let forwarding6 = match self.has_inet6 {
            true => "echo 1 > /proc/sys/net/ipv6/conf/all/forwarding || exit 9\n",
            false => "",
        };
        let mut script = format!(
            "{ip} link set dev {first} up && {ip} link set dev {second} up || exit 9\n\
             echo 1 > /proc/sys/net/ipv4/ip_forward || exit 9\n{forwarding6}\
             {ip} route flush proto {PROTOCOL}; {ip} -6 route flush proto {PROTOCOL}\n"
        );
        for (option, batch) in ["-4", "-6"].into_iter().zip(&self.batches) {
            if !batch.is_empty() {
                let path = host.put(batch.as_bytes(), is_stopped)?;
                script.push_str(&format!("{ip} {option} -batch {path} || exit 9\n"));
            }
        }
        script.push_str(&format!("echo {} > {file} || exit 9\n", self.mark));
        let said = host.run(&script, is_stopped)?;
        match said.status {
            0 => Ok(()),
            status => Err(host.refused("set up of routes by ip(8)", status, &said.errors)),
        }
    }

    /// Takes routes and neighbours away again.
    ///
    /// # Errors
    /// When the connection breaks, or the device refuses.
    pub fn take_down(&self, host: &mut Connected, is_stopped: &dyn Fn() -> bool) -> Result<()> {
        let file = format!("{}/routes", host.host.directory);
        if host.run(&format!("[ -e {file} ]"), is_stopped)?.status != 0 {
            return Ok(());
        }
        let ip = host.ip(is_stopped)?;
        let undo = host.put(self.undo.as_bytes(), is_stopped)?;
        // A boot, or somebody, may have taken away a part of them.
        let script = format!(
            "{ip} route flush proto {PROTOCOL}; {ip} -6 route flush proto {PROTOCOL}; \
             {ip} -force -batch {undo} 2>/dev/null; rm -f {file}"
        );
        host.ask(&script, is_stopped).map(|_| ())
    }

    /// Asks for the routes.
    ///
    /// # Errors
    /// When they are not there, or the connection breaks.
    pub fn prove(&self, host: &mut Connected, is_stopped: &dyn Fn() -> bool) -> Result<String> {
        let found = self.count(host, is_stopped)?;
        if found != self.counts {
            return Err(RemoteError::failed(
                FailureKind::ProofMismatch,
                host.role(),
                format!("it has {found:?} of our IPv4 and IPv6 routes, not {:?}", self.counts),
                "look with `ip route show proto 177`",
            ));
        }
        let [inet, inet6] = found;
        Ok(format!("{inet} IPv4 and {inet6} IPv6 routes, SHA-256 {}", &self.mark[..16]))
    }

    fn count(&self, host: &mut Connected, is_stopped: &dyn Fn() -> bool) -> Result<[usize; 2]> {
        let ip = host.ip(is_stopped)?;
        host.ask(&COUNT.replace("IP", &ip), is_stopped).map(|counted| numbers(&counted))
    }
}

/// How many routes of ours there are. Below a hundred, no process is started to count them.
const COUNT: &str = "for f in -4 -6; do IP $f route show proto 177 | { n=0; \
    while [ $n -lt 100 ] && read -r l; do n=$((n + 1)); done; \
    if [ $n -lt 100 ]; then echo $n; else echo $((n + $(wc -l))); fi; }; done";

fn numbers(counted: &str) -> [usize; 2] {
    let mut numbers = counted.lines().map(|line| line.trim().parse().unwrap_or(0));
    [numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)]
}
