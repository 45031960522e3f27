//! The processor on which tester and device run.

use std::fs;

use fwdlab_port::affinity;

/// The processor to which interrupts of the machine's own devices have gone least, of those that
/// are allowed; the last of equals.
pub(super) fn quietest() -> Option<usize> {
    let interrupts = fs::read_to_string("/proc/interrupts").unwrap_or_default();
    let counts = device_interrupts(&interrupts);
    let count = |core: &usize| counts.get(*core).copied().unwrap_or(0);
    affinity::allowed_cores().into_iter().rev().min_by_key(count)
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
    fn only_interrupts_of_devices_count() {
        let text = "           CPU0       CPU1\n 24:   1    0  IO-APIC 5-edge ACPI:Ged\n\
                    \x20\x2036:   2    70  PCI-MSIX 1-edge virtio1\nLOC: 900 5 Local timer\n";
        assert_eq!(device_interrupts(text), [3, 70]);
        assert_eq!(device_interrupts(""), [0; 0]);
    }
}
