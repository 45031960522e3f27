//! The serial port by which the guest speaks to the host.

use std::cell::RefCell;
use std::fs::File;
use std::io::Write;

use nix::sys::termios::{SetArg, cfmakeraw, tcdrain, tcgetattr, tcsetattr};

use super::Result;
use crate::channel::Message;

/// The second serial port; the first is the kernel's console.
const PORT: &str = "/dev/ttyS1";

/// The open port.
pub(super) struct Voice {
    port: RefCell<File>,
}

impl Voice {
    pub(super) fn open() -> Result<Self> {
        let failed = |error: std::io::Error| format!("cannot open {PORT}: {error}");
        let port = File::options().write(true).open(PORT).map_err(failed)?;
        let mut settings = tcgetattr(&port).map_err(|errno| failed(errno.into()))?;
        cfmakeraw(&mut settings);
        tcsetattr(&port, SetArg::TCSANOW, &settings).map_err(|errno| failed(errno.into()))?;
        Ok(Self { port: RefCell::new(port) })
    }

    /// Sends a message and waits until it has left, so that no interrupt of the port falls into
    /// what comes next.
    pub(super) fn say(&self, message: &Message) -> Result<()> {
        let line = message.line().map_err(|error| format!("cannot encode a message: {error}"))?;
        let mut port = self.port.borrow_mut();
        port.write_all(line.as_bytes()).map_err(|error| format!("cannot write {PORT}: {error}"))?;
        tcdrain(&*port).map_err(|errno| format!("cannot write {PORT}: {errno}"))
    }

    /// Says what the guest begins with, in the past tense: the host reports it as "while it ...".
    pub(super) fn stage(&self, name: &str) -> Result<()> {
        self.say(&Message::Stage(name.to_owned()))
    }
}
