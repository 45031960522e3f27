//! trafgen of netsniff-ng: it sends a list of frames again and again, one of each flow.

use std::fs;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fwdlab_traffic::{Carried, FlowSet, FrameOf, flow_frame, header_len};
use fwdlab_wire::ethernet::FCS_LEN;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use super::making::{Making, frames, macs};
use crate::order::TrafficOrder;
use crate::pktgen_file::flows;
use crate::{Result, words};

/// The most frames in its list.
pub const MOST_FLOWS: u32 = 16_384;

/// The highest rate that it keeps: it waits between frames by sleeping. (What it calls a rate is a burst at
/// the begin of each second.)
pub const MOST_PPS: f64 = 10_000.0;

/// Frames that it takes without being asked for large ones.
const USUAL_BYTES: usize = 2_048;

/// How long it may take to end.
const END: Duration = Duration::from_secs(5);

/// It ends when told to, or when the one that started it is gone: `read` waits for the end of its input.
const GUARD: &str = "PATH=$PATH:/usr/sbin:/sbin; exec 3<&0; \"$@\" </dev/null 2>&1 3<&- & p=$!; \
    { read x; kill -KILL 0; } <&3 >/dev/null 2>&1 & g=$!; exec 3<&-; wait $p; r=$?; kill $g; exit $r";

/// trafgen, ready for one order.
pub(super) struct Program {
    list: PathBuf,
    arguments: Vec<String>,
    running: Option<Running>,
}

struct Running {
    child: Child,
    said: Option<JoinHandle<String>>,
}

impl Program {
    pub(super) fn prepare(order: &TrafficOrder) -> Result<Self> {
        let own = std::env::current_exe().map_err(words)?;
        let list = own.with_file_name(format!("trafgen-{}.cfg", std::process::id()));
        let length = usize::from(order.traffic.frame_bytes) - FCS_LEN;
        let text = list_of(&flows(&order.traffic)?, length, macs(order)?.map(|mac| mac.0))?;
        fs::write(&list, text)
            .map_err(|error| format!("cannot write {}: {error}", list.display()))?;
        let arguments = arguments(order, &list, length);
        Ok(Self { list, arguments, running: None })
    }
}

fn arguments(order: &TrafficOrder, list: &Path, length: usize) -> Vec<String> {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let mut all = words("trafgen --cpus 1 --no-sock-mem --in");
    all.push(list.display().to_string());
    all.extend(["--out".to_owned(), order.out.clone()]);
    if length > USUAL_BYTES {
        all.push("--jumbo-support".to_owned());
    }
    if let (Some(pps), Some(frames)) = (order.traffic.pps, frames(order)) {
        all.extend(words(&format!("--gap {:.0}ns --num {frames}", 1e9 / pps)));
    }
    all
}

/// The frames of all flows, the source varying fastest, in trafgen's words.
fn list_of(flows: &FlowSet, length: usize, [from, to]: [[u8; 6]; 2]) -> Result<String> {
    if flows.count() > MOST_FLOWS {
        let count = flows.count();
        return Err(format!("trafgen is given at most {MOST_FLOWS} flows, not {count}"));
    }
    let marked = Carried::Datagram { has_mark: true };
    let has_mark = length >= header_len(flows, marked);
    let carried = Carried::Datagram { has_mark };
    let mut text = String::new();
    for flow in 0..flows.count() {
        let frame = flow_frame(flows, FrameOf { flow, number: 0 }, length, (0, carried));
        let mut frame =
            frame.ok_or_else(|| format!("frames of {length} bytes have no room for headers"))?;
        frame[..6].copy_from_slice(&to);
        frame[6..12].copy_from_slice(&from);
        let (head, rest) = frame.split_at(header_len(flows, carried).min(length));
        let bytes: Vec<String> = head.iter().map(|byte| format!("{byte:#04x}")).collect();
        text.push_str(&format!("{{ {}", bytes.join(",")));
        if !rest.is_empty() {
            text.push_str(&format!(", fill(0x00, {})", rest.len()));
        }
        text.push_str(" }\n");
    }
    Ok(text)
}

impl Making for Program {
    fn start(&mut self) -> Result<()> {
        let mut command = Command::new("sh");
        command.args(["-c", GUARD, "trafgen"]).args(&self.arguments).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| format!("cannot start sh: {error}"))?;
        let said = child.stdout.take().map(|mut output| {
            std::thread::spawn(move || {
                let mut text = Vec::new();
                let _ = output.read_to_end(&mut text);
                String::from_utf8_lossy(&text).replace('\r', "\n")
            })
        });
        self.running = Some(Running { child, said });
        Ok(())
    }

    fn is_over(&mut self) -> bool {
        let said = self.running.as_ref().and_then(|running| running.said.as_ref());
        said.is_none_or(JoinHandle::is_finished)
    }

    fn end(&mut self) -> Result<u64> {
        let Some(mut running) = self.running.take() else { return Ok(0) };
        let group = Pid::from_raw(running.child.id() as i32);
        let said = running.said.take().ok_or_else(|| "trafgen has no output".to_owned())?;
        let was_told = !said.is_finished();
        if was_told {
            let _ = killpg(group, Signal::SIGTERM);
        }
        let start = Instant::now();
        while !said.is_finished() && start.elapsed() < END {
            std::thread::sleep(Duration::from_millis(1));
        }
        let told = was_told.then(|| said.is_finished());
        let _ = killpg(group, Signal::SIGKILL);
        let status = running.child.wait().ok().and_then(|status| status.code());
        let text = said.join().map_err(|_| "trafgen's reader panicked".to_owned())?;
        sent(&text).ok_or_else(|| silence(told, status, &text))
    }

    fn name(&self) -> &'static str {
        "trafgen"
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Some(mut running) = self.running.take() {
            let _ = killpg(Pid::from_raw(running.child.id() as i32), Signal::SIGKILL);
            let _ = running.child.wait();
        }
        let _ = fs::remove_file(&self.list);
    }
}

/// That it did not say how many frames it sent: how it ended, and what to do. `told`: whether it ended in time,
/// where it was told to; `status`: of a shell.
fn silence(told: Option<bool>, status: Option<i32>, text: &str) -> String {
    const SIGNALLED: i32 = 128;
    let (how, remedy) = match (told, status) {
        (Some(false), _) => (
            format!("did not end within {} s when it was told to", END.as_secs()),
            "look what else that machine does",
        ),
        (Some(true), _) => {
            ("ended when it was told to".to_owned(), "run it there by hand, and end it by ^C")
        }
        (None, Some(status)) if status > SIGNALLED => (
            format!("was ended by signal {}", status - SIGNALLED),
            "look with dmesg there whether its memory ran out, and who else ends processes",
        ),
        (None, Some(0)) => {
            ("ended".to_owned(), "run it there by hand: other versions may say less")
        }
        (None, Some(status)) => (format!("ended with status {status}"), "run it there by hand"),
        (None, None) => ("is gone".to_owned(), "look who else ends processes there"),
    };
    let last = text.lines().rev().map(str::trim).find(|line| !line.is_empty());
    format!(
        "trafgen {how} and did not say how many frames it sent (its last words: {:?}); {remedy}",
        last.unwrap_or("none")
    )
}

/// Frames, from `1001 packets outgoing`.
fn sent(text: &str) -> Option<u64> {
    let line = text.lines().rev().find_map(|line| line.strip_suffix(" packets outgoing"))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::tests::order;

    #[test]
    fn what_it_sent_is_read_from_its_last_words() {
        let text = "     2 packets to schedule\n   120 bytes in total\nRunning! Hang up with ^C!\n\n\n\n\
                    \n        1001 packets outgoing\n\n       60060 bytes outgoing\n";
        assert_eq!(sent(text), Some(1001));
        assert_eq!(sent("No networking device or pcap file: a\n"), None);
    }

    #[test]
    fn one_that_says_nothing_is_told_by_how_it_ended_and_with_what_to_do() {
        let running = "   120 bytes in total\nRunning! Hang up with ^C!\n\n";
        for (told, status, words) in [
            (None, Some(137), "was ended by signal 9 and did not say how many frames it sent"),
            (None, Some(1), "ended with status 1 and did not say"),
            (None, Some(0), "trafgen ended and did not say"),
            (Some(true), None, "ended when it was told to and did not say"),
            (Some(false), None, "did not end within 5 s when it was told to"),
        ] {
            let said = silence(told, status, running);
            assert!(said.contains(words) && said.contains("Running! Hang up"), "{said}");
            assert!(said.rsplit_once("; ").is_some_and(|(_, remedy)| remedy.len() > 10), "{said}");
        }
        assert!(silence(None, Some(1), "\n").contains("its last words: \"none\""));
    }

    #[test]
    fn each_flow_is_one_frame_of_the_list_with_its_addresses_and_checksums() {
        let flows = FlowSet::parse("198.18.0.1-198.18.0.2:7", "198.19.0.1-198.19.0.3:9");
        let list = list_of(&flows.expect("flows"), 60, [[2; 6], [4; 6]]).expect("a list");
        let lines: Vec<&str> = list.lines().collect();
        assert_eq!(lines.len(), 6);
        assert!(lines[0].starts_with("{ 0x04,0x04,0x04,0x04,0x04,0x04,0x02,0x02,"), "{list}");
        assert!(lines[0].ends_with(", fill(0x00, 14) }"), "{list}");
        assert!(lines[1].contains("0xc6,0x12,0x00,0x02,0xc6,0x13,0x00,0x01,"), "{list}");
        assert!(lines[2].contains("0xc6,0x12,0x00,0x01,0xc6,0x13,0x00,0x02,"), "{list}");
    }

    #[test]
    fn a_rate_is_a_number_of_frames_with_a_gap_and_the_highest_load_has_neither() {
        let list = Path::new("list");
        let given = arguments(&order("port"), list, 60).join(" ");
        let wanted = "trafgen --cpus 1 --no-sock-mem --in list --out port --gap 1000000ns --num 10";
        assert_eq!(given, wanted);
        let mut most = order("port");
        most.traffic.pps = None;
        let given = arguments(&most, list, 9_000).join(" ");
        assert!(given.ends_with("--out port --jumbo-support"), "{given}");
    }
}
