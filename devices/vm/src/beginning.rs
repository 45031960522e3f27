//! Whether a guest boots, or goes on from a state that was kept of one.

use std::fs::File;

use crate::memory::path_of;

/// How a guest begins.
#[derive(Clone, Copy)]
pub(super) enum Beginning<'a> {
    /// It boots, and runs to its end.
    Boot,
    /// It boots, and stops itself once it is set up.
    BootToKeep,
    /// It goes on from a state, to do what has this number.
    State { file: &'a File, number: u8 },
}

impl Beginning<'_> {
    /// What QEMU is told.
    pub(super) fn arguments(self) -> Vec<String> {
        let (number, state) = match self {
            Self::Boot => return Vec::new(),
            Self::BootToKeep => (1, None),
            Self::State { file, number } => (number, Some(path_of(file))),
        };
        let device = format!("pvpanic,ioport=0x505,events={number}");
        let mut all = ["-device", &device, "-action", "panic=pause"].map(str::to_owned).to_vec();
        let from = state.map(|path| ["-incoming".to_owned(), format!("exec:cat {path}")]);
        all.extend(from.into_iter().flatten());
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::in_memory;

    #[test]
    fn a_copy_is_told_its_number_and_a_boot_of_its_own_nothing() {
        let file = in_memory("state").expect("memory");
        assert!(Beginning::Boot.arguments().is_empty());
        let kept = Beginning::BootToKeep.arguments().join(" ");
        assert_eq!(kept, "-device pvpanic,ioport=0x505,events=1 -action panic=pause");
        let copy = Beginning::State { file: &file, number: 7 }.arguments().join(" ");
        assert!(copy.contains("events=7 ") && copy.contains("-incoming exec:cat /proc/"), "{copy}");
    }
}
