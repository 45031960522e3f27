//! The text forms of a routing table, one line at a time.

mod bird;
mod ip_route;
mod netstat;
mod plain;

use std::net::IpAddr;

use super::Gathering;
use super::fault::{Fault, shown};
use crate::{NotAPrefix, Prefix};

/// Who wrote a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A prefix a line, and perhaps its gateway.
    Plain,
    /// `ip route` or `ip -6 route` of iproute2.
    IpRoute,
    /// `netstat -rn` of FreeBSD or Linux.
    Netstat,
    /// `show route` of BIRD 1 or 2.
    Bird,
}

impl Form {
    /// Finds the form from the first part of a text: the first line that only
    /// one of the programs writes decides.
    pub(super) fn of(head: &str) -> Self {
        head.lines().find_map(Self::of_line).unwrap_or(Self::Plain)
    }

    fn of_line(line: &str) -> Option<Self> {
        if netstat::is_heading(line) {
            Some(Self::Netstat)
        } else if bird::is_typical(line) {
            Some(Self::Bird)
        } else if ip_route::is_typical(line) {
            Some(Self::IpRoute)
        } else {
            None
        }
    }
}

/// Reads the lines of one text.
#[derive(Debug)]
pub(super) struct Reader {
    form: Form,
    netstat: netstat::Columns,
}

impl Reader {
    pub(super) fn new(form: Form) -> Self {
        Self { form, netstat: netstat::Columns::default() }
    }

    /// Reads one line, without the white space at its end.
    pub(super) fn line(&mut self, line: &str, into: &mut Gathering) -> Result<(), Fault> {
        match self.form {
            Form::Plain => plain::line(line, into),
            Form::IpRoute => ip_route::line(line, into),
            Form::Netstat => self.netstat.line(line, into),
            Form::Bird => bird::line(line, into),
        }
    }
}

/// Reads a prefix, or an address as the prefix of itself alone.
fn prefix(text: &str) -> Result<Prefix, Fault> {
    let result = match text.parse::<IpAddr>() {
        Ok(address) => Prefix::new(address, if address.is_ipv4() { 32 } else { 128 }),
        Err(_) => text.parse::<Prefix>(),
    };
    result.map_err(|why| Fault {
        what: match why {
            NotAPrefix::Form => format!("{} is no prefix", shown(text)),
            NotAPrefix::Length { most } => format!("{} is longer than /{most}", shown(text)),
            NotAPrefix::HostBits(meant) => {
                format!("{} has host bits set ({meant} has not)", shown(text))
            }
        },
        wanted: "a prefix such as 192.0.2.0/24 or 2001:db8::/32",
        remedy: "mend the line, or put # in front of it",
    })
}

/// Reads the address of a gateway; a zone such as `%em0` is dropped.
fn gateway(text: &str) -> Option<IpAddr> {
    text.split('%').next()?.parse().ok()
}

/// Reads the gateway that must stand at this place.
fn required_gateway(text: Option<&str>) -> Result<IpAddr, Fault> {
    text.and_then(gateway).ok_or_else(|| Fault {
        what: match text {
            Some(text) => format!("{} is no gateway", shown(text)),
            None => "the gateway is missing".to_owned(),
        },
        wanted: "an address after the word via",
        remedy: "mend the line, or remove it",
    })
}
