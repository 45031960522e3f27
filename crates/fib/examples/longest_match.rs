//! Longest match: a table of a few routes, looked up with addresses of the standard library.
//!
//! `cargo run -p fwdlab-fib --example longest_match -- 198.19.1.2 8.8.8.8`

use std::error::Error;
use std::net::Ipv4Addr;

use fwdlab_fib::{Fib, Inet, Nexthop};

fn main() -> Result<(), Box<dyn Error>> {
    let mut fib = Fib::<Inet>::new(0)?;
    let router = Ipv4Addr::new(198, 18, 0, 1);
    fib.add("0.0.0.0/0".parse()?, Nexthop::through(router, 0))?;
    fib.add("198.18.0.0/16".parse()?, Nexthop::connected(0))?;
    fib.add("198.19.0.0/16".parse()?, Nexthop::connected(1))?;
    fib.add("198.19.1.0/24".parse()?, Nexthop::through(Ipv4Addr::new(198, 19, 0, 9), 1))?;

    let mut asked: Vec<Ipv4Addr> =
        std::env::args().skip(1).map(|text| text.parse()).collect::<Result<_, _>>()?;
    if asked.is_empty() {
        asked = vec![[198, 19, 1, 2].into(), [198, 19, 2, 3].into(), [8, 8, 8, 8].into()];
    }
    let mut reader = fib.reader();
    for ip in asked {
        let id = reader.lookup_ip(ip);
        // Numbers are dense from 1, so that a router can index an array with them.
        let Some(nexthop) = fib.nexthop(id) else {
            println!("{ip} has no route");
            continue;
        };
        match nexthop.gateway_ip() {
            Some(gateway) => println!("{ip} goes to {gateway} through port {}", nexthop.port),
            None => println!("{ip} is on the network of port {}", nexthop.port),
        }
    }
    println!("served by {}", fib.algorithm_name());
    Ok(())
}
