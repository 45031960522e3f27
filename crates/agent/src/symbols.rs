//! The names of a kernel's functions, and whose a sample is.
//!
//! Tester and device share the processor, so that samples have to be told apart: what the kernel
//! does on behalf of the Internet protocols is the device's, for the tester has none of them. The
//! way of a frame through a cable is the same for both, and is left to the tester. Linux and
//! FreeBSD name their functions alike here; in a FreeBSD guest, where the tester takes its frames by
//! netmap before they come that far, reception by Ethernet is the device's, too.

use std::collections::BTreeMap;
use std::fs;

/// The root of every stack.
const DEVICE: &str = "device";

/// How functions begin that receive, route, rewrite and send packets of the Internet protocols.
const OF_THE_DEVICE: [&str; 8] =
    ["ip_", "ip6_", "ipv6_", "__ip_", "__ip6_", "ether_input", "ether_nh_input", "ether_demux"];

/// Functions of the kernel and its modules by their first address.
pub struct Symbols {
    functions: BTreeMap<u64, String>,
}

impl Symbols {
    /// Those of a kernel that were found elsewhere.
    pub fn new(functions: BTreeMap<u64, String>) -> Self {
        Self { functions }
    }

    pub(crate) fn read() -> crate::Result<Self> {
        let text = fs::read_to_string("/proc/kallsyms");
        text.map(|text| Self::parse(&text)).map_err(|error| {
            format!("cannot read kallsyms: {error}; a profile takes a kernel with CONFIG_KALLSYMS")
        })
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

    /// The device's part of a chain (which is innermost first) as one line, outermost first;
    /// nothing for a chain without such a part.
    pub fn stack(&self, chain: &[u64]) -> Option<String> {
        const KERNEL: u64 = 1 << 63;
        let kernel = chain.iter().rev().filter(|&&address| address >= KERNEL);
        let names = kernel.map(|&address| self.name(address));
        let is_outside = |name: &&str| !OF_THE_DEVICE.iter().any(|start| name.starts_with(start));
        let own: Vec<&str> = names.skip_while(is_outside).collect();
        (!own.is_empty()).then(|| format!("{DEVICE};{}", own.join(";")))
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
        assert_eq!(symbols.stack(&chain).as_deref(), Some("device;ip_forward;veth_xmit"));
    }

    #[test]
    fn reception_by_ethernet_is_the_devices_and_sending_by_bpf_is_not() {
        let symbols = Symbols::parse(
            "ffffffff80000000 t epair_tx_start_deferred\nffffffff80000100 T ether_input\n\
             ffffffff80000200 t ether_nh_input\nffffffff80000300 T ip_input\n\
             ffffffff80000400 t bpfwrite\nffffffff80000500 T ether_output\n",
        );
        let [epair, input, nh_input, ip, write, output] =
            [0x0_u64, 0x100, 0x200, 0x300, 0x400, 0x500]
                .map(|offset| 0xffff_ffff_8000_0010 + offset);
        let stack = symbols.stack(&[nh_input, input, epair]);
        assert_eq!(stack.as_deref(), Some("device;ether_input;ether_nh_input"));
        let stack = symbols.stack(&[ip, nh_input, input, epair]);
        assert_eq!(stack.as_deref(), Some("device;ether_input;ether_nh_input;ip_input"));
        assert_eq!(symbols.stack(&[output, write]), None);
        assert_eq!(symbols.stack(&[epair]), None);
    }

    #[test]
    fn what_is_not_of_the_internet_protocols_is_the_testers() {
        let symbols = Symbols::parse(
            "ffffffff81000000 T __x64_sys_sendmmsg\nffffffff81000100 t veth_xmit\t[veth]\n\
             ffffffff81000200 T process_backlog\nffffffff81000300 t ip6_forward\n",
        );
        let [call, xmit, backlog, forward] =
            [0x0_u64, 0x100, 0x200, 0x300].map(|offset| 0xffff_ffff_8100_0010 + offset);
        assert_eq!(symbols.stack(&[xmit, call, 0x40_0000]), None);
        assert_eq!(symbols.stack(&[0x40_0000]), None);
        let stack = symbols.stack(&[xmit, forward, backlog, xmit, call]);
        assert_eq!(stack.as_deref(), Some("device;ip6_forward;veth_xmit"));
    }
}
