//! The ports of the agent on another host, kept open from one order to the next.
//!
//! To close one packet socket takes the kernel 5 to 20 ms (it waits until no processor looks at it any
//! more), and a pair of ports has four: with fresh ones for each order, that was most of what a trial took
//! beside its traffic.

use std::collections::BTreeMap;

use fwdlab_port::datagram::{self, DatagramPort};
use fwdlab_port::packet::PacketPort;
use fwdlab_port::{Batch, Pool, PoolConfig, Port};

use crate::{Result, words};

/// Batches of old frames that are thrown away at most: more than any socket holds.
const MOST_OLD: usize = 1_000;

/// Open ports by name, and the pool that their frames lie in.
#[derive(Default)]
pub(crate) struct Ports {
    pool: Option<Pool>,
    open: BTreeMap<String, Box<dyn Port>>,
}

impl Ports {
    /// A pool of this shape: the one at hand where it has it; else all ports are closed, for they hold
    /// frames of the other.
    pub(crate) fn pool(&mut self, config: PoolConfig) -> Result<Pool> {
        if let Some(pool) = self.pool.as_ref().filter(|pool| pool.config() == config) {
            return Ok(pool.clone());
        }
        self.open.clear();
        let pool = Pool::new(config).map_err(words)?;
        Ok(self.pool.insert(pool).clone())
    }

    /// The pool at hand, or a new one.
    pub(crate) fn usual_pool(&mut self) -> Result<Pool> {
        let config = self.pool.as_ref().map(Pool::config).unwrap_or_default();
        self.pool(config)
    }

    /// What a port of the testbed names, without a frame from before. Whoever is done with it gives it
    /// [back](Self::keep).
    pub(crate) fn take(&mut self, name: &str, pool: &Pool) -> Result<Box<dyn Port>> {
        // One whose interface is gone, and may be there anew, is opened again.
        let kept = self.open.remove(name).and_then(|mut port| port.look().is_ok().then_some(port));
        let Some(mut port) = kept else {
            return Ok(match datagram::is_datagram(name) {
                true => Box::new(DatagramPort::open(name, pool.clone()).map_err(words)?),
                false => Box::new(PacketPort::open(name, pool.clone()).map_err(words)?),
            });
        };
        let mut old = Batch::new();
        for _ in 0..MOST_OLD {
            if port.receive(&mut old) == 0 {
                break;
            }
            pool.put(&mut old);
        }
        Ok(port)
    }

    /// Keeps a port for the next order.
    pub(crate) fn keep(&mut self, name: &str, port: Box<dyn Port>) {
        self.open.insert(name.to_owned(), port);
    }
}

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use super::*;

    const CONFIG: PoolConfig =
        PoolConfig { frames: 256, capacity: 2048, headroom: 64, spread: true };

    /// The name of a port, and its far end.
    fn far_end() -> (String, UdpSocket) {
        let free = || UdpSocket::bind("127.0.0.1:0").expect("a socket");
        let own = free().local_addr().expect("bound");
        let far = free();
        far.connect(own).expect("connected");
        let name = format!("udp:{own}-{}", far.local_addr().expect("bound"));
        (name, far)
    }

    #[test]
    fn a_port_is_opened_once_and_begins_each_time_without_old_frames() {
        let (name, far) = far_end();
        let mut ports = Ports::default();
        let pool = ports.pool(CONFIG).expect("a pool");
        let port = ports.take(&name, &pool).expect("open");
        let again = || DatagramPort::open(&name, pool.clone());
        assert!(again().is_err(), "its address is in use");
        ports.keep(&name, port);
        assert!(again().is_err(), "it stays open");
        for _ in 0..200 {
            far.send(&[1; 60]).expect("sent");
        }
        let mut port = ports.take(&name, &pool).expect("there");
        let mut batch = Batch::new();
        assert_eq!(port.receive(&mut batch), 0, "nothing of what came before");
        far.send(&[2; 60]).expect("sent");
        assert_eq!(port.receive(&mut batch), 1);
        assert_eq!(batch[0][..], [2; 60]);
    }

    #[test]
    fn a_pool_of_another_shape_closes_the_ports_of_the_old_one() {
        let (name, _far) = far_end();
        let mut ports = Ports::default();
        let pool = ports.pool(CONFIG).expect("a pool");
        let port = ports.take(&name, &pool).expect("open");
        ports.keep(&name, port);
        drop(pool);
        let wider = PoolConfig { capacity: 9_234, ..CONFIG };
        let pool = ports.pool(wider).expect("a pool");
        assert_eq!(pool.available(), wider.frames);
        assert!(DatagramPort::open(&name, pool).is_ok(), "its address is free");
    }
}
