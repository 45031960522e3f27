//! Ports and neighbours as the command line has them.

use std::net::IpAddr;
use std::str::FromStr;

use anyhow::{Context, bail};
use fwdlab_router::PortConfig;
use fwdlab_wire::MacAddr;

/// A port as the command line has it: words with commas between.
#[derive(Debug, Clone)]
pub struct PortSpec {
    pub(super) config: PortConfig,
    pub(super) interface: Option<String>,
}

impl PortSpec {
    /// The network interface that it is, if it names one.
    pub(super) fn interface(&self) -> Option<&str> {
        self.interface.as_deref()
    }

    /// Whether it is a VLAN on another port.
    pub(super) fn is_vlan(&self) -> bool {
        self.config.vlan.is_some()
    }
}

/// Whether a word can be the name of a network interface: a letter, then at most 14 characters
/// that are not used otherwise here.
pub(super) fn is_interface_name(word: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '@');
    word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.len() < 16
        && word.chars().all(is_plain)
}

impl FromStr for PortSpec {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let mut config = PortConfig::new(MacAddr::ZERO);
        let mut interface = None;
        for word in text.split(',') {
            config = if let Ok(mac) = word.parse() {
                PortConfig { mac, ..config }
            } else if let Some(mtu) = word.strip_prefix("mtu=") {
                config.mtu(mtu.parse().with_context(|| format!("`{word}`: bytes after mtu="))?)
            } else if let Some(vlan) = word.strip_prefix("vlan=") {
                let (identifier, parent) = vlan_of(vlan)
                    .with_context(|| format!("`{word}`: write vlan=7@0 for VLAN 7 on port 0"))?;
                config.vlan(parent, identifier)
            } else if let Ok(address) = word.parse() {
                config.address(address)
            } else if let Ok(address) = word.parse() {
                config.address6(address)
            } else if interface.is_none() && is_interface_name(word) {
                interface = Some(word.to_owned());
                config
            } else {
                bail!(
                    "`{word}` is neither a MAC address, nor an IP address with its length \
                     (198.18.0.1/24), nor mtu=N, nor vlan=ID@PORT, nor an interface"
                );
            };
        }
        if let (Some(_), Some(name)) = (config.vlan, &interface) {
            bail!("`{text}`: a VLAN goes through its port's interface, leave out {name}");
        }
        Ok(Self { config, interface })
    }
}

/// Identifier and port of a VLAN, from `7@0`.
pub(super) fn vlan_of(text: &str) -> Option<(u16, u16)> {
    let (identifier, parent) = text.split_once('@')?;
    Some((identifier.parse().ok()?, parent.parse().ok()?))
}

/// A neighbour as the command line has it: ADDRESS=MAC, or ADDRESS%PORT=MAC.
#[derive(Debug, Clone)]
pub struct NeighbourSpec {
    pub(super) address: IpAddr,
    pub(super) mac: MacAddr,
    /// The interface or number of its port.
    pub(super) on: Option<String>,
}

impl FromStr for NeighbourSpec {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> anyhow::Result<Self> {
        let parse = || {
            let (address, mac) = text.split_once('=')?;
            let (address, on) = match address.split_once('%') {
                Some((address, on)) => (address, Some(on.to_owned())),
                None => (address, None),
            };
            Some(Self { address: address.parse().ok()?, mac: mac.parse().ok()?, on })
        };
        parse().with_context(|| {
            format!("`{text}` is no neighbour: write 198.19.0.203=02:00:00:00:00:fe")
        })
    }
}
