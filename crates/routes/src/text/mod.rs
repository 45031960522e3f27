//! The text forms of a routing table, one line at a time.

mod address;
mod bird;
mod list;
mod netstat;

use address::{gateway, prefix, required_gateway};

use super::fault::{Fault, shown};
use super::gathering::Gathering;

/// Who wrote a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// A prefix a line, and perhaps where it leads; so writes `ip route` of iproute2, too.
    List,
    /// `netstat -rn` of FreeBSD or Linux.
    Netstat,
    /// `show route` of BIRD 1 or 2.
    Bird,
}

impl Form {
    /// The form of a line that only one of the programs writes.
    fn of_line(line: &str) -> Option<Self> {
        if netstat::is_heading(line) {
            Some(Self::Netstat)
        } else if bird::is_typical(line) {
            Some(Self::Bird)
        } else if list::is_typical(line) {
            Some(Self::List)
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
    pub(super) fn new() -> Self {
        Self { form: Form::List, netstat: netstat::Columns::default() }
    }

    /// Reads one line, without the white space at its end. Each line that only one of the programs
    /// writes says the form from there on: the first lines of a file need not tell it, and several
    /// outputs may stand in one file, one after another.
    pub(super) fn line(&mut self, line: &str, into: &mut Gathering) -> Result<(), Fault> {
        // no program writes such a line: a person put it out of the way
        if line.trim_start().starts_with('#') {
            return Ok(());
        }
        if let Some(form) = Form::of_line(line) {
            self.form = form;
        }
        match self.form {
            Form::List => list::line(line, into),
            Form::Netstat => self.netstat.line(line, into),
            Form::Bird => bird::line(line, into),
        }
    }
}

/// Reads one route of a list.
pub(super) fn order(text: &str, into: &mut Gathering) -> Result<(), Fault> {
    list::line(text, into)
}
