//! Sizes of this machine's caches, which say whether a fast but large structure pays.

use std::sync::OnceLock;

/// Sizes of the data caches that a core can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheSizes {
    /// Second level, of one core; 0 when unknown.
    pub l2_bytes: usize,
    /// Last level, possibly shared by many cores; 0 when unknown.
    pub last_bytes: usize,
}

impl CacheSizes {
    /// The caches of the first CPU, from Linux's sysfs; unknown elsewhere. Read once.
    pub fn of_this_machine() -> Self {
        static SIZES: OnceLock<CacheSizes> = OnceLock::new();
        *SIZES.get_or_init(Self::read)
    }

    fn read() -> Self {
        let mut sizes = Self::default();
        let mut last_level = 0;
        for index in 0..8 {
            let directory = format!("/sys/devices/system/cpu/cpu0/cache/index{index}");
            let read = |file: &str| std::fs::read_to_string(format!("{directory}/{file}"));
            let (Ok(level), Ok(size), Ok(kind)) = (read("level"), read("size"), read("type"))
            else {
                continue;
            };
            let (Ok(level), Some(bytes)) = (level.trim().parse::<u32>(), parse_size(&size)) else {
                continue;
            };
            if kind.trim() == "Instruction" {
                continue;
            }
            if level == 2 {
                sizes.l2_bytes = bytes;
            }
            if level >= last_level {
                last_level = level;
                sizes.last_bytes = bytes;
            }
        }
        sizes
    }
}

/// Reads sysfs's `2048K`.
fn parse_size(text: &str) -> Option<usize> {
    let text = text.trim();
    let (number, unit) = match text.strip_suffix(['K', 'M']) {
        Some(number) if text.ends_with('K') => (number, 1 << 10),
        Some(number) => (number, 1 << 20),
        None => (text, 1),
    };
    number.parse::<usize>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_sizes_with_and_without_unit() {
        assert_eq!(parse_size("2048K\n"), Some(2 << 20));
        assert_eq!(parse_size("32M"), Some(32 << 20));
        assert_eq!(parse_size("512"), Some(512));
        assert_eq!(parse_size("lots"), None);
    }
}
