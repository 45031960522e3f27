//! The logged command of a pkt-gen run, as far as it says what was sent.

use std::net::IpAddr;

use super::name::NamedFamily;
use super::words::Words;

/// First word of the commands of fwdlab's own tester, as its exports write them: pkt-gen's options, and
/// `--flows N` for the number of flows.
pub const OWN: &str = "fwdlab";

/// Options of pkt-gen that take no value.
const FLAGS: &str = "46ABINPUWXZhrvz";

/// A pkt-gen command line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Command {
    /// The command as logged.
    pub text: String,
    /// The machine that ran it; `None` when the log does not say.
    pub host: Option<String>,
    /// Interface (`-i`).
    pub interface: Option<String>,
    /// True for `-f tx`.
    pub is_sender: bool,
    /// Source addresses and ports (`-s`).
    pub source: Option<Range>,
    /// Destination addresses and ports (`-d`).
    pub destination: Option<Range>,
    /// Frame length without FCS in bytes (`-l`, 60 unless given).
    pub frame_len: u32,
    /// Whether the command names a length.
    pub has_frame_len: bool,
    /// Packets to send (`-n`, 0 without end).
    pub count: u64,
    /// Asked rate in packets/s (`-R`); `None` as fast as it can.
    pub rate_pps: Option<f64>,
    /// Sending threads (`-p`).
    pub threads: u32,
    is_inet4: bool,
    is_inet6: bool,
    named_flows: Option<u64>,
}

/// Bytes of the FCS, which pkt-gen's `-l` leaves out.
const FCS_LEN: u32 = 4;
/// Smallest Ethernet frame without FCS.
const SMALLEST_FRAME: u32 = 60;

impl Command {
    /// Length of its frames on the wire, FCS and padding to the smallest frame and all.
    pub fn frame_with_fcs(&self) -> u32 {
        self.frame_len.max(SMALLEST_FRAME) + FCS_LEN
    }

    /// Reads the first line of a log, `CMD on HOST: pkt-gen ...` or
    /// `CMD: pkt-gen ...`; `None` when it is no such line.
    pub fn parse(line: &str) -> Option<Self> {
        let rest = line.strip_prefix("CMD")?;
        let (host, text) = match rest.strip_prefix(" on ") {
            Some(rest) => {
                let (host, text) = rest.split_once(": ")?;
                (Some(host.trim().to_owned()), text)
            }
            None => (None, rest.strip_prefix(':')?),
        };
        let mut command = Self {
            text: text.trim().to_owned(),
            host,
            frame_len: 60,
            threads: 1,
            ..Self::default()
        };
        let mut words = Words::new(text).peekable();
        while let Some(word) = words.next() {
            if word == "--flows" {
                command.named_flows = words.next().and_then(|flows| flows.parse().ok());
                continue;
            }
            let mut option = word.chars();
            let Some(letter) = (option.next() == Some('-')).then(|| option.next()).flatten() else {
                continue;
            };
            let attached = option.as_str();
            if FLAGS.contains(letter) {
                command.is_inet4 |= letter == '4';
                command.is_inet6 |= letter == '6';
                continue;
            }
            let value = if attached.is_empty() {
                words.next_if(|next| !next.starts_with('-')).unwrap_or_default()
            } else {
                attached.to_owned()
            };
            command.take(letter, &value);
        }
        Some(command)
    }

    fn take(&mut self, letter: char, value: &str) {
        match letter {
            'f' => self.is_sender = value == "tx",
            'i' => self.interface = Some(value.trim_start_matches("netmap:").to_owned()),
            's' => self.source = Range::parse(value),
            'd' => self.destination = Range::parse(value),
            'l' => {
                self.has_frame_len = value.parse::<u32>().is_ok();
                self.frame_len = value.parse().unwrap_or(60);
            }
            'n' => self.count = value.parse().unwrap_or(0),
            'R' => self.rate_pps = rate_pps(value),
            'p' => self.threads = value.parse().unwrap_or(1),
            _ => {}
        }
    }

    /// True for a command of fwdlab's own tester.
    pub fn is_own(&self) -> bool {
        self.text.strip_prefix(OWN).is_some_and(|rest| rest.starts_with(' '))
    }

    /// True where fwdlab's own tester sent packets of both families.
    pub fn is_dual(&self) -> bool {
        self.is_own() && self.is_inet4 && self.is_inet6
    }

    /// Flows in the command: what it names, or addresses and ports of the source range times
    /// those of the destination range. `None` without either.
    pub fn flows(&self) -> Option<u64> {
        if self.named_flows.is_some() {
            return self.named_flows;
        }
        let (source, destination) = (self.source.as_ref()?, self.destination.as_ref()?);
        Some(source.count().saturating_mul(destination.count()))
    }

    /// Family of the packets.
    pub fn family(&self) -> NamedFamily {
        let is_inet6 = |r: &Option<Range>| r.as_ref().is_some_and(|r| r.first.is_ipv6());
        if self.is_inet6 || is_inet6(&self.source) || is_inet6(&self.destination) {
            NamedFamily::Inet6
        } else {
            NamedFamily::Inet
        }
    }
}

/// A rate option: a number with a factor (`K`, `M`, `G`), perhaps with `pps`.
fn rate_pps(value: &str) -> Option<f64> {
    let value = value.trim_end_matches("pps");
    let number = value.trim_end_matches(['k', 'K', 'm', 'M', 'g', 'G']);
    let factor = match value.as_bytes().get(number.len()) {
        None => 1.0,
        Some(b'k' | b'K') => 1e3,
        Some(b'm' | b'M') => 1e6,
        Some(_) => 1e9,
    };
    let rate: f64 = number.parse().ok()?;
    // Beyond what a record of results holds it is no rate that anybody asked for.
    let rate = rate * factor;
    (1e-9..=1e18).contains(&rate).then_some(rate)
}

/// A range of addresses, and of ports when both ends name one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Range {
    /// First address.
    pub first: IpAddr,
    /// Last address, of the same family.
    pub last: IpAddr,
    /// First and last port; `None` when the range names none.
    pub ports: Option<(u16, u16)>,
}

impl Range {
    /// Reads `A`, `A-B`, `A:p-B`, `A:p-B:q`, IPv6 addresses in brackets when a
    /// port follows. `None` when an end is not an address or the families differ.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim_matches(['"', '\'']);
        let (first, last) = match text.split_once('-') {
            Some((first, last)) => (first, Some(last)),
            None => (text, None),
        };
        let (first, first_port) = end_of_range(first)?;
        let (last, last_port) = match last {
            Some(last) => end_of_range(last)?,
            None => (first, first_port),
        };
        if first.is_ipv6() != last.is_ipv6() {
            return None;
        }
        let ports = first_port.map(|port| (port, last_port.unwrap_or(port)));
        Some(Self { first, last, ports })
    }

    /// Addresses in the range.
    pub fn addresses(&self) -> u64 {
        let span = match (self.first, self.last) {
            (IpAddr::V4(a), IpAddr::V4(b)) => u128::from(u32::from(a).abs_diff(u32::from(b))),
            (IpAddr::V6(a), IpAddr::V6(b)) => u128::from(a).abs_diff(u128::from(b)),
            _ => 0,
        };
        u64::try_from(span).unwrap_or(u64::MAX).saturating_add(1)
    }

    /// Pairs of address and port in the range.
    pub fn count(&self) -> u64 {
        let ports = self.ports.map_or(1, |(a, b)| u64::from(a.abs_diff(b)) + 1);
        self.addresses().saturating_mul(ports)
    }
}

fn end_of_range(text: &str) -> Option<(IpAddr, Option<u16>)> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix('[') {
        let (address, rest) = rest.split_once(']')?;
        return Some((address.parse().ok()?, rest.strip_prefix(':').and_then(|p| p.parse().ok())));
    }
    if let Ok(address) = text.parse() {
        return Some((address, None));
    }
    let (address, port) = text.rsplit_once(':')?;
    Some((address.parse().ok()?, port.parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_published_commands() {
        let c = Command::parse("CMD on 192.168.1.2: pkt-gen -N -f tx -w 2 -i vcxl0 -n 1000000000 -l 60 -4 -p 2 -S 00:07:43:2f:fe:b2 -s 198.18.10.1:2001-198.18.10.71 -D 00:07:43:2e:e4:70 -d 198.19.10.1:2001-198.19.10.70").unwrap();
        assert_eq!(c.host.as_deref(), Some("192.168.1.2"));
        assert_eq!((c.flows(), c.family(), c.frame_len), (Some(4970), NamedFamily::Inet, 60));
        assert_eq!((c.count, c.threads, c.rate_pps, c.is_sender), (1_000_000_000, 2, None, true));
        assert_eq!(c.interface.as_deref(), Some("vcxl0"));
        let c = Command::parse("CMD: pkt-gen -f tx -N -i igb2 -n 80000000 -l 62 -6 -d \"[2001:2:0:8010::1]-[2001:2:0:8010::64]\" -s \"[2001:2:0:10::1]-[2001:2:0:10::14]\" -R 500K -U").unwrap();
        assert_eq!((c.flows(), c.family(), c.frame_len), (Some(2000), NamedFamily::Inet6, 62));
        assert_eq!((c.rate_pps, c.host.as_deref()), (Some(500_000.0), None));
        let c = Command::parse("CMD: pkt-gen -N -f rx -i igb3 -w 4").unwrap();
        assert_eq!((c.flows(), c.is_sender), (None, false));
    }

    #[test]
    fn counts_ports_when_both_ends_name_one() {
        let count = |text| Range::parse(text).map(|r| r.count());
        assert_eq!(count("1.1.1.1:2000-1.1.1.20:2100"), Some(20 * 101));
        assert_eq!(count("1.1.1.1:2000-1.1.1.20"), Some(20));
        assert_eq!(count("1.1.1.1"), Some(1));
        assert_eq!(count("[::1]:5-[::2]:6"), Some(4));
        assert_eq!(count("0.0.0.0-255.255.255.255"), Some(1 << 32));
        assert_eq!(count("::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), Some(u64::MAX));
    }

    #[test]
    fn hostile_commands_are_no_error() {
        for line in
            ["CMD", "CMD on", "CMD: -", "CMD: pkt-gen -s", "CMD: x -l 99999999999 -s a-b -R nan -R"]
        {
            let _ = Command::parse(line);
        }
        assert_eq!(Range::parse("1.1.1.1-::1"), None);
        assert_eq!(rate_pps("14Mpps"), Some(14e6));
        assert_eq!(rate_pps("inf"), None);
    }
}
