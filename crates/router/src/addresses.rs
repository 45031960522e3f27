//! Which addresses are the router's own.

use fwdlab_wire::ipv6;

use crate::plane::Plane;

impl Plane {
    /// Whether this is an address of any port.
    pub(crate) fn is_ours_inet(&self, address: u32) -> bool {
        self.configs.iter().any(|config| config.inet.iter().any(|at| at.address == address))
    }

    /// Whether this is an address of any port.
    pub(crate) fn is_ours_inet6(&self, address: u128) -> bool {
        self.configs.iter().any(|config| config.inet6.iter().any(|at| at.address == address))
    }

    /// The address of ours in the network that has this subnet-router anycast address; `None` for
    /// addresses of any other kind.
    pub(crate) fn unicast_for(&self, anycast: u128) -> Option<u128> {
        let mut all = self.configs.iter().flat_map(|config| &config.inet6);
        let own = all.find(|at| at.anycast() == Some(anycast))?.address;
        (!self.is_ours_inet6(anycast)).then_some(own)
    }

    /// Whether an IPv6 destination stays on the link: link-local, or a group that we listen to.
    pub(crate) fn is_local_link(&self, input: u8, destination: u128) -> bool {
        let is_our_group = ipv6::is_multicast(destination)
            && (destination == ipv6::ALL_NODES
                || destination == ipv6::ALL_ROUTERS
                || self.own_inet6(input).any(|own| ipv6::to_solicited_node(own) == destination)
                || self.anycasts(input).any(|own| ipv6::to_solicited_node(own) == destination));
        is_our_group || destination == self.config(input).link_local()
    }

    /// Whether this is an address of port `input`.
    pub(crate) fn is_own_inet6(&self, input: u8, address: u128) -> bool {
        self.own_inet6(input).any(|own| own == address)
    }

    /// Whether this is the subnet-router anycast address of a network of port `input` (RFC 4291,
    /// section 2.6.1), which links between two routers do not have (RFC 6164).
    pub(crate) fn is_anycast(&self, input: u8, address: u128) -> bool {
        self.anycasts(input).any(|own| own == address) && !self.is_own_inet6(input, address)
    }

    fn anycasts(&self, port: u8) -> impl Iterator<Item = u128> + '_ {
        self.config(port).inet6.iter().filter_map(|at| at.anycast())
    }

    fn own_inet6(&self, port: u8) -> impl Iterator<Item = u128> + '_ {
        let config = self.config(port);
        config.inet6.iter().map(|at| at.address).chain([config.link_local()])
    }

    /// Our address on `port` to speak to `target` from: of the same network, or link-local.
    pub(crate) fn own_inet6_toward(&self, port: u8, target: u128) -> u128 {
        let config = self.config(port);
        let same = config.inet6.iter().find(|at| at.network.contains(target));
        same.map_or(config.link_local(), |at| at.address)
    }
}
