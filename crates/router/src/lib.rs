//! The embedded device: an IPv4 and IPv6 router over any [`Port`](fwdlab_port::Port)s.
//!
//! A [`Router`] is the control side: ports with MAC address, addresses and MTU, routes,
//! neighbours, control words. A [`Worker`] is one thread's share of the data plane: [`Worker::poll`]
//! inhales a batch of frames from each port, processes it in stages, exhales it. No lock,
//! allocation or system call happens for a forwarded frame, and the control side may change
//! everything meanwhile.
//!
//! Every frame is checked as RFC 1812 (IPv4) and RFC 8200 (IPv6) ask; every frame in is a frame
//! out, a frame for the router itself, or one counted [`DropReason`].
//!
//! What is not done: source routes are refused (RFC 7126); the options record route and timestamp
//! pass without an entry of this router, which RFC 1812, sections 5.2.4.3 and 5.2.4.4, wants.
//!
//! Two memory ports, two routes and neighbours of each family, one frame:
//! ```
//! use fwdlab_fib::{Inet, Inet6, Nexthop};
//! use fwdlab_port::{Batch, Pool, Port, ring};
//! use fwdlab_router::{PortConfig, Router};
//! use fwdlab_wire::lab::DEVICE_MACS;
//! use fwdlab_wire::{MacAddr, ethernet, ipv4};
//!
//! let pool = Pool::with_frames(64)?;
//! let (mut sender, inside) = ring::pair(256);
//! let (mut receiver, outside) = ring::pair(256);
//! let tester = MacAddr::numbered(0xfe);
//!
//! let mut router = Router::new()?;
//! let inside_number = router.add_port(
//!     PortConfig::new(DEVICE_MACS[0])
//!         .address("198.18.0.1/24".parse()?)
//!         .address6("2001:2::1/64".parse()?),
//! )?;
//! let outside_number = router.add_port(
//!     PortConfig::new(DEVICE_MACS[1])
//!         .address("198.19.0.1/24".parse()?)
//!         .address6("2001:2:0:8000::1/64".parse()?),
//! )?;
//! // Gateways: the tester's addresses on both links.
//! let (near, far) = (0xc612_00cb, 0xc613_00cb); // 198.18.0.203, 198.19.0.203
//! router.add_route::<Inet>("198.18.0.0/16".parse()?, Nexthop::via(near, inside_number))?;
//! router.add_route::<Inet>("198.19.0.0/16".parse()?, Nexthop::via(far, outside_number))?;
//! router.add_neighbour::<Inet>(inside_number, near, tester)?;
//! router.add_neighbour::<Inet>(outside_number, far, tester)?;
//! let far6 = "2001:2:0:8000::cb".parse::<std::net::Ipv6Addr>()?.into();
//! router.add_route::<Inet6>("2001:2:0:8000::/49".parse()?, Nexthop::via(far6, outside_number))?;
//! router.add_neighbour::<Inet6>(outside_number, far6, tester)?;
//!
//! let ports = [(inside_number, inside), (outside_number, outside)];
//! let mut worker = router.worker(ports)?.with_pool(pool.clone());
//! let counters = worker.counters(); // readable from any thread
//!
//! let mut batch = Batch::new();
//! pool.take_batch(&mut batch, 1);
//! batch[0].set_len(60);
//! let mut frame = ethernet::Frame::parse(&mut batch[0][..])?;
//! frame.set_destination(DEVICE_MACS[0]);
//! frame.set_ether_type(ethernet::TYPE_IPV4);
//! let mut packet = ipv4::Packet::prepare(frame.payload_mut(), 46)?;
//! packet.set_ttl(64);
//! packet.set_source(0xc612_0a01);
//! packet.set_destination(0xc613_0a01);
//! packet.fill_checksum();
//!
//! sender.send(&mut batch);
//! assert_eq!(worker.poll(), 1);
//! assert_eq!(receiver.receive(&mut batch), 1);
//! let out = ipv4::Packet::parse(&batch[0][14..])?;
//! assert!(out.ttl() == 63 && out.has_valid_checksum());
//! let now = counters.snapshot();
//! assert_eq!((now.received, now.sent, now.dropped()), (1, 1, 0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod addresses;
mod adjacency;
mod answer;
mod checks;
mod control;
mod counter;
mod counters;
mod decide;
mod drops;
mod error;
mod extensions;
mod facts;
mod fast;
mod fast_family;
mod fate;
mod flow;
mod fragment;
mod gather;
mod general;
mod hold;
mod icmp_error;
mod interface;
mod keeper;
mod knobs;
mod likeness;
mod limits;
mod local;
mod neighbours;
mod own;
mod plane;
mod reassembly;
mod redirect;
mod release;
mod resolve;
mod router;
mod rows;
mod stages;
mod tables;
mod tagging;
mod tally;
mod waiting;
mod whole;
mod worker;

pub use control::{check_word, settable_words};
pub use counters::{Counters, NexthopCount, Snapshot};
pub use drops::DropReason;
pub use error::RouterError;
pub use interface::{InterfaceAddress, MAX_MTU, MIN_MTU, ParseAddressError, PortConfig, Vlan};
pub use keeper::{Keeper, Kept};
pub use knobs::EXTRA_NS_PER_FRAME;
pub use neighbours::NeighbourState;
pub use router::Router;
pub use tables::Routed;
pub use worker::{AnyPcapPort, Overflow, Worker};
