//! What `fwdlab ctl` orders, done on the router. Each order is done as a whole or not at all.

use std::net::IpAddr;

use anyhow::{Context, bail};
use fwdlab_fib::{Family, Fib, Inet, Inet6, NexthopKind, Prefix, Target};
use fwdlab_router::{Routed, Router};
use fwdlab_routes::{self as routes, RouteTable};
use serde_json::{Value, json};

use super::config;
use super::show::{self, Shown};
use super::spec::NeighbourSpec;
use super::ways::{Ports, of_family};
use crate::control::{Answer, Order};
use crate::family::Picked;

/// What orders need to know beside the router.
pub(super) struct Operator<'a> {
    /// By port number.
    pub(super) names: Vec<Option<String>>,
    pub(super) via: &'a [IpAddr],
}

/// What is done with a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Add,
    Change,
    Replace,
    Delete,
}

impl Verb {
    fn of(word: &str) -> anyhow::Result<Self> {
        Ok(match word {
            "add" => Self::Add,
            "change" => Self::Change,
            "replace" => Self::Replace,
            "del" | "delete" => Self::Delete,
            _ => bail!("`route {word}`: write route add, change, replace or del"),
        })
    }
}

impl Operator<'_> {
    /// Does what an order says. `kernel` is what there is to show of the kernel's routes.
    pub(super) fn carry_out(
        &self,
        router: &mut Router,
        order: &Order,
        kernel: Option<&dyn Fn() -> Shown>,
    ) -> Answer {
        let words: Vec<&str> = order.words.iter().map(String::as_str).collect();
        match self.done(router, &words, kernel) {
            Ok(shown) if order.json => Answer::Done(format!("{}\n", shown.json)),
            Ok(shown) => Answer::Done(shown.text),
            Err(error) => Answer::Refused(format!("{error:#}")),
        }
    }

    fn done(
        &self,
        router: &mut Router,
        words: &[&str],
        kernel: Option<&dyn Fn() -> Shown>,
    ) -> anyhow::Result<Shown> {
        match words {
            ["route", verb, rest @ ..] => self.route(router, Verb::of(verb)?, &rest.join(" ")),
            ["neigh", "add" | "change" | "replace" | "set", address, mac] => {
                let neighbour: NeighbourSpec = format!("{address}={mac}").parse()?;
                let port = self.ports(router).port_of(&neighbour)?;
                config::add_neighbour(router, port, &neighbour)?;
                Ok(said(
                    format!("neighbour {address} is {mac} on port {port}"),
                    json!({ "port": port }),
                ))
            }
            ["neigh", "del" | "delete", address] => self.forget(router, address),
            ["set", word, value] => {
                router.set(word, value)?;
                let now = router.get(word)?;
                Ok(said(format!("{word}: {now}"), json!({ *word: now })))
            }
            ["get", word] => {
                let now = router.get(word)?;
                Ok(said(format!("{word}: {now}"), json!({ *word: now })))
            }
            ["flush"] => {
                router.flush();
                Ok(said("all changes are visible".to_owned(), json!({})))
            }
            ["show", "kernel"] => match kernel {
                Some(kernel) => Ok(kernel()),
                None => {
                    bail!("the router has its routes from elsewhere: start it with --kernel-routes")
                }
            },
            ["show", what @ ..] => self.show(router, what),
            _ => bail!("`{}` is no order; `fwdlab ctl --help` lists them", words.join(" ")),
        }
    }

    fn ports<'r>(&'r self, router: &'r Router) -> Ports<'r> {
        Ports { configs: router.ports(), names: &self.names, via: self.via }
    }

    fn route(&self, router: &mut Router, verb: Verb, text: &str) -> anyhow::Result<Shown> {
        let table = routes::read_order(text)?;
        let prefix = table.routes.first().map(|route| route.prefix);
        let prefix = prefix.or_else(|| table.refusing.first().map(|route| route.prefix));
        let prefix = prefix.context("invariant: an order has one route")?;
        match prefix.is_ipv4() {
            true => self.route_of::<Inet>(router, verb, (prefix, &table)),
            false => self.route_of::<Inet6>(router, verb, (prefix, &table)),
        }
    }

    fn route_of<F: Routed + Picked>(
        &self,
        router: &mut Router,
        verb: Verb,
        (prefix, table): (routes::Prefix, &RouteTable),
    ) -> anyhow::Result<Shown> {
        let own = of_family::<F>(prefix).context("invariant: a prefix of this family")?;
        let is_there = !router.fib::<F>(0)?.rib().exact(own).is_none();
        if is_of_a_port(router.fib::<F>(0)?, own) || self.ports(router).is_connected(prefix) {
            bail!("{prefix} belongs to the address of a port");
        }
        let done = if verb == Verb::Delete {
            self.check_named(router, own, table)?;
            router.delete_route(own)?;
            "deleted"
        } else {
            let mut targets = self
                .ports(router)
                .targets::<F>(table)
                .map_err(|astray| anyhow::anyhow!("{astray}"))?;
            let (_, target) = targets.pop().context("invariant: an order has one route")?;
            match verb {
                Verb::Replace if !is_there => router.add_route(own, target)?,
                Verb::Add => router.add_route(own, target)?,
                _ => router.change_route(own, target)?,
            }
            if verb == Verb::Add || !is_there { "added" } else { "changed" }
        };
        let is_visible = router.fib::<F>(0)?.is_synced();
        let when = if is_visible { "" } else { ", not visible before the next sync" };
        Ok(said(
            format!("{done} {prefix}{when}"),
            json!({ "done": done, "prefix": prefix.to_string(), "visible": is_visible }),
        ))
    }

    /// Refuses an order about a route that names another target than it has.
    fn check_named<F: Routed + Picked>(
        &self,
        router: &Router,
        own: Prefix<F>,
        table: &RouteTable,
    ) -> anyhow::Result<()> {
        let names_none = table.routes.first().is_some_and(|route| {
            table.ways(route).iter().all(|way| way.gateway.is_none() && way.interface.is_none())
        });
        let fib = router.fib::<F>(0)?;
        let Some(now) = fib.nexthop(fib.rib().exact(own)).filter(|_| !names_none) else {
            return Ok(());
        };
        let now = *now;
        let mut targets =
            self.ports(router).targets::<F>(table).map_err(|astray| anyhow::anyhow!("{astray}"))?;
        match targets.pop() {
            Some((_, Target::Nexthop(named))) if named != now => {
                bail!(
                    "the route {own} has another target than the order names; `show routes` lists it"
                )
            }
            _ => Ok(()),
        }
    }

    fn forget(&self, router: &mut Router, text: &str) -> anyhow::Result<Shown> {
        // With any MAC address it is a neighbour, of which place and address count.
        let neighbour: NeighbourSpec = format!("{text}=02:00:00:00:00:00").parse()?;
        let port = self.ports(router).port_of(&neighbour)?;
        let was_known = match neighbour.address {
            IpAddr::V4(address) => router.forget_neighbour::<Inet>(port, address.to_bits())?,
            IpAddr::V6(address) => router.forget_neighbour::<Inet6>(port, address.to_bits())?,
        };
        if !was_known {
            bail!("no neighbour {text} on port {port}");
        }
        Ok(said(format!("forgot {text} on port {port}"), json!({ "port": port })))
    }

    fn show(&self, router: &Router, what: &[&str]) -> anyhow::Result<Shown> {
        Ok(match what {
            ["fib"] => show::tables(router)?,
            ["routes"] => show::routes(router, None)?,
            ["routes", prefix] => {
                let table = routes::read_order(prefix)?;
                let within = table.routes.first().map(|route| route.prefix);
                show::routes(router, Some(within.context("name a prefix")?))?
            }
            ["route", address] => {
                let address = address.parse();
                show::route(
                    router,
                    address.with_context(|| format!("`{}`: name an address", what[1]))?,
                )?
            }
            ["neighbours" | "neighbors" | "neigh"] => show::neighbours(router),
            ["drops"] => show::drops(router),
            ["counters"] => show::all(router),
            ["words"] => show::words(router)?,
            _ => bail!(
                "`show {}`: show fib, routes, route ADDRESS, neighbours, drops, counters, words or \
                 kernel",
                what.join(" ")
            ),
        })
    }
}

/// Whether a route came with the address of a port.
pub(super) fn is_of_a_port<F: Family>(fib: &Fib<F>, prefix: Prefix<F>) -> bool {
    let nexthop = fib.nexthop(fib.rib().exact(prefix));
    nexthop.is_some_and(|nexthop| match nexthop.kind {
        NexthopKind::Local => true,
        // The router's own routes for broadcast addresses are black holes with a gateway.
        NexthopKind::Blackhole => nexthop.gateway.is_some(),
        _ => false,
    })
}

fn said(text: String, json: Value) -> Shown {
    Shown { text: format!("{text}\n"), json }
}
