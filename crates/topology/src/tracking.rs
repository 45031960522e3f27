//! What the kernel's connection tracking (nf_conntrack) holds in the network namespace of the calling
//! thread: how many entries, what it threw out and refused; and how it is emptied.

use std::collections::BTreeMap;
use std::fs;
use std::io;

use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_NETFILTER};

use super::sysctl;

/// What the kernel says of its table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tracked {
    /// Entries now.
    pub entries: u64,
    /// Packets of new connections that were dropped because there was no room, since the namespace was made.
    pub refused: u64,
    /// Entries thrown out to make room, likewise.
    pub evicted: u64,
}

impl Tracked {
    /// Reads it.
    ///
    /// # Errors
    /// When the kernel tracks no connections.
    pub fn read() -> io::Result<Self> {
        let entries = number("net.netfilter.nf_conntrack_count")?;
        // Of kernels without the file nobody knows.
        let text = fs::read_to_string("/proc/thread-self/net/stat/nf_conntrack");
        let sum = |name| text.as_deref().map_or(0, |text| sum(text, name));
        Ok(Self { entries, refused: sum("drop"), evicted: sum("early_drop") })
    }
}

/// Whether a sysctl says how many entries there is room for, in either spelling.
pub fn is_room(sysctl: &str) -> bool {
    const ROOM: [&str; 2] = ["net.netfilter.nf_conntrack_max", "net.nf_conntrack_max"];
    ROOM.contains(&sysctl.replace('/', ".").as_str())
}

/// How many entries there is room for.
///
/// # Errors
/// When the kernel tracks no connections.
pub fn room() -> io::Result<u64> {
    number("net.netfilter.nf_conntrack_max")
}

/// How many sessions of TCP the table holds in each state, such as "2000 ESTABLISHED", the states in the
/// order of their names; "unknown" on kernels without the file.
pub fn states() -> String {
    match fs::read_to_string("/proc/thread-self/net/nf_conntrack") {
        Ok(text) => states_of(&text),
        Err(_) => "unknown".to_owned(),
    }
}

/// A line of TCP has family, its number, "tcp", its number, seconds left, and the state.
fn states_of(text: &str) -> String {
    let mut states = BTreeMap::<&str, u64>::new();
    for line in text.lines() {
        let mut words = line.split_whitespace().skip(2);
        if words.next() == Some("tcp")
            && let Some(state) = words.nth(2)
        {
            *states.entry(state).or_default() += 1;
        }
    }
    let shown: Vec<String> =
        states.iter().map(|(state, count)| format!("{count} {state}")).collect();
    if shown.is_empty() { "none".to_owned() } else { shown.join(", ") }
}

fn number(name: &str) -> io::Result<u64> {
    let text = sysctl::read(name)?;
    text.parse().map_err(|_| io::Error::other(format!("{name} holds {text:?}")))
}

/// The sum of a column, which has a hexadecimal number for each processor below its name.
fn sum(text: &str, name: &str) -> u64 {
    let mut lines = text.lines();
    let place = lines.next().and_then(|head| head.split_whitespace().position(|own| own == name));
    let Some(place) = place else { return 0 };
    let number = |line: &str| u64::from_str_radix(line.split_whitespace().nth(place)?, 16).ok();
    lines.filter_map(number).sum()
}

/// Removes every entry.
///
/// The message is that of `conntrack -F` (linux/netfilter/nfnetlink_conntrack.h): IPCTNL_MSG_CT_DELETE without
/// an entry, for every family.
///
/// # Errors
/// When the kernel refuses.
pub fn flush() -> io::Result<()> {
    const SUBSYSTEM: u16 = 1;
    const DELETE: u16 = 2;
    const REQUEST_ACK: u16 = 0x5;
    let mut message = Vec::with_capacity(20);
    message.extend(20_u32.to_ne_bytes());
    message.extend((SUBSYSTEM << 8 | DELETE).to_ne_bytes());
    message.extend(REQUEST_ACK.to_ne_bytes());
    // Sequence number, port; family unspecified, version 0, resource 0.
    message.extend([0; 12]);
    let mut socket = Socket::new(NETLINK_NETFILTER)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    socket.send(&message, 0)?;
    let (answer, _) = socket.recv_from_full()?;
    // An error message: 16 bytes of header, then the code, 0 for done.
    let code = answer.get(16..20).and_then(|bytes| bytes.try_into().ok()).map(i32::from_ne_bytes);
    match code {
        Some(0) => Ok(()),
        Some(code) => Err(io::Error::from_raw_os_error(-code)),
        None => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "a short answer")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_of_tcp_are_counted_by_state() {
        let text = "ipv4     2 tcp      6 431999 ESTABLISHED src=198.18.10.1 dst=198.19.10.1 sport=1\n\
                    ipv4     2 tcp      6 119 TIME_WAIT src=198.18.10.2 dst=198.19.10.1 sport=1\n\
                    ipv4     2 udp      17 29 src=198.18.10.2 dst=198.19.10.1 sport=1\n\
                    ipv6     10 tcp      6 431999 ESTABLISHED src=2001:2:: dst=2001:2::1 sport=1\n";
        assert_eq!(states_of(text), "2 ESTABLISHED, 1 TIME_WAIT");
        assert_eq!(
            (states_of(""), states_of("ipv4 2 tcp")),
            ("none".to_owned(), "none".to_owned())
        );
    }

    #[test]
    fn columns_are_found_by_name_and_summed_over_processors() {
        let text = "entries  found drop early_drop\n00000009  00000001 0000000a 00000000\n\
                    00000009  00000000 00000006 00000002\n";
        assert_eq!((sum(text, "drop"), sum(text, "early_drop"), sum(text, "insert")), (16, 2, 0));
        assert_eq!(sum("", "drop"), 0);
    }
}
