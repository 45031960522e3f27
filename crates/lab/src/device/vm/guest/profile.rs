//! Samples of the kernel by itself, and the names of its functions.

use std::collections::BTreeMap;
use std::fs;

use fwdlab_port::profile::Profiler;

use super::Result;

/// What stands for the tester's own code, of which there are no names.
const TESTER: &str = "tester";

/// A profile while it is taken.
pub(super) struct Profile {
    profiler: Profiler,
    symbols: Symbols,
}

impl Profile {
    /// Samples the only processor every `period_ns` from now on.
    pub(super) fn start(period_ns: u64) -> Result<Self> {
        let symbols = Symbols::read()?;
        let profiler = Profiler::start(0, period_ns).map_err(words)?;
        Ok(Self { profiler, symbols })
    }

    /// Ends sampling and counts samples by stack; returns how many samples did not fit.
    pub(super) fn finish(self, stacks: &mut BTreeMap<String, u64>) -> Result<u64> {
        let samples = self.profiler.stop().map_err(words)?;
        for chain in &samples.chains {
            *stacks.entry(self.symbols.stack(chain)).or_default() += 1;
        }
        Ok(samples.lost)
    }
}

fn words(error: std::io::Error) -> String {
    format!("cannot sample the kernel: {error}; it needs CONFIG_PERF_EVENTS")
}

/// Functions of the kernel and its modules by their first address.
struct Symbols {
    functions: BTreeMap<u64, String>,
}

impl Symbols {
    fn read() -> Result<Self> {
        let text = fs::read_to_string("/proc/kallsyms");
        text.map(|text| Self::parse(&text)).map_err(|e| format!("cannot read kallsyms: {e}"))
    }

    /// Lines `ADDRESS TYPE NAME [MODULE]`; types `t` and `w` in either case are code.
    fn parse(text: &str) -> Self {
        let function = |line: &str| {
            let mut words = line.split_whitespace();
            let address = u64::from_str_radix(words.next()?, 16).ok()?;
            let is_code = matches!(words.next()?, "t" | "T" | "w" | "W");
            Some((address, words.next()?.to_owned())).filter(|_| is_code)
        };
        Self { functions: text.lines().filter_map(function).collect() }
    }

    fn name(&self, address: u64) -> &str {
        let below = self.functions.range(..=address).next_back();
        below.map_or("unknown", |(_, name)| name)
    }

    /// A chain, innermost first, as one line, outermost first. A chain without a function of the
    /// kernel was noted in the tester's own code.
    fn stack(&self, chain: &[u64]) -> String {
        const KERNEL: u64 = 1 << 63;
        let kernel = chain.iter().rev().filter(|&&address| address >= KERNEL);
        let names: Vec<&str> =
            std::iter::once(TESTER).chain(kernel.map(|&address| self.name(address))).collect();
        names.join(";")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_inside_a_function_get_its_name() {
        let symbols = Symbols::parse(
            "ffffffff81000000 T ip_forward\nffffffff81000100 d not_code\n\
             ffffffff81000200 t veth_xmit\t[veth]\n",
        );
        let chain = [0xffff_ffff_8100_0210, 0xffff_ffff_8100_01ff, 0x40_0000];
        assert_eq!(symbols.stack(&chain), "tester;ip_forward;veth_xmit");
        assert_eq!(symbols.stack(&[0x40_0000]), "tester");
    }
}
