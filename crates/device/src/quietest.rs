//! The processor on which tester and device run.

use std::fs;
use std::time::Duration;

use fwdlab_port::affinity;

use crate::pulse;

/// Processors that are watched before one is chosen, and for how long.
const CANDIDATES: usize = 4;
const WATCHED: Duration = Duration::from_millis(100);

/// A processor with more interrupts is better when it was slow for less of the time, by this share.
const CLEARLY: f64 = 0.1;

/// The processor, of those that are allowed, to which interrupts of the machine's own devices have
/// gone least, unless others make it clearly slower than one of the next.
pub fn quietest() -> Option<usize> {
    let interrupts = fs::read_to_string("/proc/interrupts").unwrap_or_default();
    let counts = device_interrupts(&interrupts);
    let mut cores = affinity::allowed_cores();
    cores.reverse();
    cores.sort_by_key(|core| counts.get(*core).copied().unwrap_or(0));
    cores.truncate(CANDIDATES);
    if cores.len() < 2 {
        return cores.pop();
    }
    let shares = pulse::slow_shares(&cores, WATCHED);
    best(&shares).map(|place| cores[place])
}

/// The place of the best of candidates in the order of their interrupts, by their slow time.
fn best(slow_shares: &[Option<f64>]) -> Option<usize> {
    let known = slow_shares.iter().map(|share| share.unwrap_or(1.0)).enumerate();
    known.reduce(|best, next| if next.1 + CLEARLY < best.1 { next } else { best }).map(|(at, _)| at)
}

/// Interrupts of devices by processor. Their lines of /proc/interrupts begin with a number; those of
/// the processors' own interrupts begin with a name.
fn device_interrupts(text: &str) -> Vec<u64> {
    let mut lines = text.lines();
    let columns = lines.next().unwrap_or_default().split_whitespace().count();
    let mut counts = vec![0; columns];
    for line in lines {
        let Some((label, numbers)) = line.split_once(':') else { continue };
        if label.trim().parse::<u32>().is_err() {
            continue;
        }
        for (count, number) in counts.iter_mut().zip(numbers.split_whitespace()) {
            *count += number.parse::<u64>().unwrap_or(0);
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_that_others_slow_down_gives_way() {
        assert_eq!(best(&[Some(0.05), Some(0.0)]), Some(0));
        assert_eq!(best(&[Some(0.6), Some(0.1), Some(0.05)]), Some(1));
        assert_eq!(best(&[None, Some(0.4)]), Some(1));
        assert_eq!(best(&[]), None);
    }

    #[test]
    fn only_interrupts_of_devices_count() {
        let text = "           CPU0       CPU1\n 24:   1    0  IO-APIC 5-edge ACPI:Ged\n\
                    \x20\x2036:   2    70  PCI-MSIX 1-edge virtio1\nLOC: 900 5 Local timer\n";
        assert_eq!(device_interrupts(text), [3, 70]);
        assert_eq!(device_interrupts(""), [0; 0]);
    }
}
