//! The families, as addresses of either are told apart.

use std::net::IpAddr;

use fwdlab_fib::{Family, Inet, Inet6};

/// A family whose addresses and routes can be picked out of those of both.
pub trait Picked: Family {
    /// The address, if it is of this family.
    fn of_ip(address: IpAddr) -> Option<Self::Addr>;
    /// The same address again.
    fn ip(address: Self::Addr) -> IpAddr;
}

impl Picked for Inet {
    fn of_ip(address: IpAddr) -> Option<u32> {
        match address {
            IpAddr::V4(address) => Some(address.to_bits()),
            IpAddr::V6(_) => None,
        }
    }

    fn ip(address: u32) -> IpAddr {
        IpAddr::V4(address.into())
    }
}

impl Picked for Inet6 {
    fn of_ip(address: IpAddr) -> Option<u128> {
        match address {
            IpAddr::V6(address) => Some(address.to_bits()),
            IpAddr::V4(_) => None,
        }
    }

    fn ip(address: u128) -> IpAddr {
        IpAddr::V6(address.into())
    }
}
