//! The kernel's generator on a host: it sends from its own thread, which ends when whoever started it is told
//! to stop or is killed.

use std::fs;
use std::process::{Command, Stdio};
use std::thread::JoinHandle;

use super::making::{Making, frames, macs};
use crate::Result;
use crate::order::TrafficOrder;
use crate::pktgen_file::{FILES, command, flows, result, sendable, settings};

/// Its thread that sends.
const THREAD: &str = "kpktgend_0";

/// pktgen, set up for one order.
pub(super) struct Kernel {
    port: String,
    sending: Option<JoinHandle<Result<()>>>,
}

impl Kernel {
    pub(super) fn prepare(order: &TrafficOrder) -> Result<Self> {
        sendable(&flows(&order.traffic)?, order.traffic.frame_bytes)
            .map_err(|(found, wanted)| format!("pktgen cannot send this: {found}; {wanted}"))?;
        load()?;
        // What others have left there would be sent as well.
        let threads =
            fs::read_dir(FILES).map_err(|error| format!("cannot read {FILES}: {error}"))?;
        for file in threads.flatten() {
            let name = file.file_name().to_string_lossy().into_owned();
            if name.starts_with("kpktgend_") {
                command(&name, "rem_device_all")?;
            }
        }
        let port = order.out.clone();
        command(THREAD, &format!("add_device {port}"))?;
        let own = settings(&order.traffic, macs(order)?)?;
        let count = format!("count {}", frames(order).unwrap_or(0));
        own.iter().chain([&count]).try_for_each(|setting| command(&port, setting))?;
        Ok(Self { port, sending: None })
    }
}

/// Loads the module where it is not there.
fn load() -> Result<()> {
    if fs::exists(FILES).unwrap_or(false) {
        return Ok(());
    }
    for program in ["modprobe", "/sbin/modprobe"] {
        let mut modprobe = Command::new(program);
        modprobe.arg("pktgen").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if modprobe.status().is_ok_and(|status| status.success()) {
            break;
        }
    }
    match fs::exists(FILES).unwrap_or(false) {
        true => Ok(()),
        false => Err("this kernel has no pktgen (CONFIG_NET_PKTGEN): modprobe pktgen".to_owned()),
    }
}

impl Making for Kernel {
    fn start(&mut self) -> Result<()> {
        // Returns when the last frame has gone.
        self.sending = Some(std::thread::spawn(|| command("pgctrl", "start")));
        Ok(())
    }

    fn is_over(&mut self) -> bool {
        self.sending.as_ref().is_none_or(JoinHandle::is_finished)
    }

    fn end(&mut self) -> Result<u64> {
        if !self.is_over() {
            command("pgctrl", "stop")?;
        }
        if let Some(sending) = self.sending.take() {
            sending.join().map_err(|_| "pktgen's thread panicked".to_owned())??;
        }
        let path = format!("{FILES}/{}", self.port);
        let report =
            fs::read_to_string(&path).map_err(|error| format!("cannot read {path}: {error}"))?;
        let (_, sent) =
            result(&report).ok_or_else(|| format!("pktgen has no result: {report:?}"))?;
        Ok(sent)
    }

    fn name(&self) -> &'static str {
        "pktgen"
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        if self.sending.is_some() {
            let _ = command("pgctrl", "stop");
        }
        let _ = command(THREAD, "rem_device_all");
    }
}
