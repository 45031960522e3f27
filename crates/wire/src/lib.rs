//! Packet headers as bytes: Ethernet, VLAN, ARP, IPv4, IPv6, ICMP, neighbour discovery, UDP
//! and the Internet checksum.
//!
//! Each header is a *view* over anything that is `AsRef<[u8]>` (to read) or also
//! `AsMut<[u8]>` (to write). `parse` checks once that the buffer is long enough and that the
//! length fields agree with it; after that an accessor cannot panic. A header's diagram in its
//! RFC appears in the module as named offsets (`pub const TTL: usize = 8;`), so that faster
//! code elsewhere can use the same names on raw bytes.
//!
//! Addresses are integers in host order (`u32`, `u128`), the form that route lookup takes;
//! [`std::net::Ipv4Addr`] and [`std::net::Ipv6Addr`] convert from them with `from`.
//!
//! This crate knows bytes only: no ports, no files, no clock.
//!
//! ```
//! use fwdlab_wire::{MacAddr, checksum, ethernet, ipv4};
//!
//! let mut bytes = [0u8; 60];
//! let mut frame = ethernet::Frame::parse(&mut bytes[..])?;
//! frame.set_destination(MacAddr::numbered(1));
//! frame.set_ether_type(ethernet::TYPE_IPV4);
//! let mut packet = ipv4::Packet::prepare(frame.payload_mut(), 46)?;
//! packet.set_ttl(64);
//! packet.fill_checksum();
//! assert_eq!(checksum::finish(checksum::sum(packet.header())), 0);
//! # Ok::<(), fwdlab_wire::Error>(())
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod arp;
pub mod checksum;
mod error;
pub mod ethernet;
mod field;
mod icmp;
pub mod icmpv4;
pub mod icmpv6;
pub mod ipv4;
pub mod ipv6;
pub mod lab;
mod mac;
pub mod ndisc;
pub mod tcp;
pub mod udp;
pub mod vlan;

pub use error::Error;
pub use field::Field;
pub use mac::{MacAddr, ParseMacError};

/// The examples of the README, run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
