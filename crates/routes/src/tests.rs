use std::io::Write;
use std::net::IpAddr;
use std::path::Path;

use proptest::prelude::*;

use super::*;
use std::collections::HashSet;

fn read_text(text: &str) -> Result<RouteTable> {
    read_bytes(Path::new("routes"), text.as_bytes())
}

/// The routes as `prefix gateway` texts.
fn routes(text: &str) -> Vec<String> {
    shown(&read_text(text).unwrap())
}

fn shown(table: &RouteTable) -> Vec<String> {
    let gateway = |gateway: Option<IpAddr>| gateway.map_or("-".to_owned(), |g| g.to_string());
    table.routes.iter().map(|r| format!("{} {}", r.prefix, gateway(r.gateway))).collect()
}

fn refusing(table: &RouteTable) -> Vec<String> {
    table.refusing.iter().map(|r| format!("{} {:?}", r.prefix, r.refusal)).collect()
}

/// Gateway, interface and weight of each way of a route.
fn ways(table: &RouteTable, route: usize) -> Vec<String> {
    let name = |way: &RouteHop| way.interface.map_or("-", |interface| table.interface(interface));
    let ways = table.ways(&table.routes[route]);
    ways.iter().map(|way| format!("{:?} {} {}", way.gateway, name(way), way.weight)).collect()
}

fn message(text: &str) -> String {
    read_text(text).unwrap_err().to_string()
}

#[test]
fn a_plain_list_may_name_gateways_and_hold_comments() {
    let text = "# a view\n198.51.100.0/24\n\n203.0.113.0/24 192.0.2.1\n2001:db8::/32 via 2001:db8::1 # x\n192.0.2.7\n";
    assert_eq!(
        routes(text),
        [
            "198.51.100.0/24 -",
            "203.0.113.0/24 192.0.2.1",
            "2001:db8::/32 2001:db8::1",
            "192.0.2.7/32 -"
        ]
    );
}

#[test]
fn a_wrong_line_is_named_with_its_number() {
    assert_eq!(
        message("198.51.100.0/24\n198.51.100.1/24\n"),
        "routes:2: \"198.51.100.1/24\" has host bits set (198.51.100.0/24 has not); \
         wanted a prefix such as 192.0.2.0/24 or 2001:db8::/32; mend the line, or put # in front of it"
    );
    assert!(message("198.51.100.0/24\nhello\n").starts_with("routes:2: \"hello\" is no prefix"));
    assert!(message("198.51.100.0/33\n").starts_with("routes:1: \"198.51.100.0/33\" is longer"));
    assert!(message("198.51.100.0/24 soon\n").starts_with("routes:1: \"soon\" is no gateway"));
}

/// What helps a file was said of an order, and of BIRD's and netstat's output it did not help.
#[test]
fn a_remedy_is_one_that_helps() {
    let of_order = |text: &str| crate::read_order(text).map(|_| ()).unwrap_err().to_string();
    assert_eq!(
        of_order("hello"),
        "\"hello\" is no prefix; wanted a prefix such as 192.0.2.0/24 or 2001:db8::/32"
    );
    for order in
        ["", "10.0.0.0/8 soon", "10.0.0.0/8 via 10.0.0.1 x", "local 10.0.0.0/8", "blackhole"]
    {
        let said = of_order(order);
        assert!(said.contains("; wanted ") && !said.contains(['#', '\n']), "{said}");
        assert!(!said.contains("line") && !said.contains("file"), "{said}");
    }
    for first in ["", "Table master4:\n", "Routing tables\n\nInternet:\n"] {
        let text = |line: &str| format!("{first}{line}\n");
        assert!(message(&text("hello")).contains("hello"), "{first}");
        let commented = message(&text("# hello"));
        assert!(commented.contains("the file holds no route"), "{first}: {commented}");
    }
}

/// A hole of gigabytes was hashed to its end before its first line was read.
#[test]
fn the_beginning_of_a_file_tells_that_it_is_no_table() {
    let dir = std::env::temp_dir().join(format!("fwdlab-beginning-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let told = |name: &str, text: &[u8], length: u64| {
        let path = dir.join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::File::options().append(true).open(&path).unwrap().set_len(length).unwrap();
        check_beginning(&path).map_err(|error| error.to_string())
    };
    let hole = told("hole", b"", 4 << 30).unwrap_err();
    assert!(hole.contains("hole:1: the line is longer than"), "{hole}");
    let line = "10.0.0.0/8 192.0.2.1\n";
    let whole = line.repeat(10_000);
    let late = told("late", format!("{line}{line}x\n{whole}").as_bytes(), 100_000).unwrap_err();
    assert!(late.contains("late:3:"), "{late}");
    // A line that the end of what was looked at cuts in two is none.
    assert_eq!(told("table", whole.as_bytes(), whole.len() as u64), Ok(()));
    let packed = [&[0x1f, 0x8b][..], &[0; 100_000]].concat();
    assert_eq!(told("packed", &packed, packed.len() as u64), Ok(()));
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn a_file_without_routes_is_refused() {
    for text in ["", "\n\n", "# nothing\n", "224.0.0.0/4\n"] {
        assert!(message(text).contains("the file holds no route"), "{text:?}");
    }
}

#[test]
fn the_first_of_several_paths_counts() {
    let table = read_text("198.51.100.0/24 192.0.2.1\n198.51.100.0/24 192.0.2.2\n").unwrap();
    assert_eq!(table.repeated, 1);
    assert_eq!(shown(&table), ["198.51.100.0/24 192.0.2.1"]);
}

#[test]
fn prefixes_that_are_not_forwarded_are_left_out_and_counted() {
    let text = "127.0.0.0/8\n224.0.0.0/4\n169.254.0.0/16\n0.0.0.0/8\nff00::/8\nfe80::/10\n::1\n\
                0.0.0.0/0\n128.0.0.0/1\n::/0\n2000::/3\n";
    let table = read_text(text).unwrap();
    assert_eq!(table.left_out, 7);
    assert_eq!(shown(&table), ["0.0.0.0/0 -", "128.0.0.0/1 -", "::/0 -", "2000::/3 -"]);
}

#[test]
fn reads_ip_route() {
    let text = "default via 192.0.2.1 dev eth0 proto dhcp metric 100\n\
                192.0.2.0/24 dev eth0 proto kernel scope link src 192.0.2.9\n\
                198.51.100.0/24 proto bird metric 32\n\
                \tnexthop via 192.0.2.2 dev eth0 weight 1\n\
                \tnexthop via 192.0.2.3 dev eth0 weight 1\n\
                203.0.113.0/24 nhid 12 via 192.0.2.4 dev eth0\n\
                203.0.113.128/25 via inet6 fe80::1 dev eth0\n\
                unreachable 10.0.0.0/8 dev lo metric 1024\n\
                10.1.1.1 dev eth0 scope link\n\
                broadcast 192.0.2.255 dev eth0 table local\n";
    let table = read_text(text).unwrap();
    assert_eq!(
        shown(&table),
        [
            "0.0.0.0/0 192.0.2.1",
            "192.0.2.0/24 -",
            "198.51.100.0/24 192.0.2.2",
            "203.0.113.0/24 192.0.2.4",
            "203.0.113.128/25 fe80::1",
            "10.1.1.1/32 -"
        ]
    );
    assert_eq!(table.left_out, 1);
    assert_eq!(refusing(&table), ["10.0.0.0/8 Unreachable"]);
    assert_eq!(
        ways(&table, 2),
        ["Some(192.0.2.2) eth0 1", "Some(192.0.2.3) eth0 1"],
        "nexthop lines are a group"
    );
    assert_eq!(ways(&table, 5), ["None eth0 1"]);
}

#[test]
fn reads_ip_6_route() {
    let text = "2001:db8::/64 dev eth0 proto kernel metric 256 pref medium\n\
                2001:db8:1::/48 via fe80::1 dev eth0 metric 1024 pref medium\n\
                fe80::/64 dev eth0 proto kernel metric 256 pref medium\n\
                multicast ff00::/8 dev eth0 table local proto kernel metric 256 pref medium\n\
                default dev tun0 metric 1024 pref medium\n";
    let table = read_text(text).unwrap();
    assert_eq!(shown(&table), ["2001:db8::/64 -", "2001:db8:1::/48 fe80::1", "::/0 -"]);
    assert_eq!(table.left_out, 2);
}

#[test]
fn reads_netstat_of_freebsd() {
    let text = "Routing tables\n\nInternet:\n\
                Destination        Gateway            Flags     Netif Expire\n\
                default            192.0.2.1          UGS        em0\n\
                10/8               192.0.2.7          UG1        em0\n\
                127.0.0.1          link#2             UH         lo0\n\
                192.0.2.0/24       link#1             U          em0\n\
                192.0.2.9          link#1             UHS        lo0\n\
                198.51.100.0/24    192.0.2.1          UGRS       em0\n\n\
                Internet6:\n\
                Destination                       Gateway                       Flags     Netif Expire\n\
                default                           fe80::1%em0                   UGS       em0\n\
                ::1                               link#2                        UHS       lo0\n\
                2001:db8::/32                     2001:db8::1                   UGS       em0\n\
                fe80::%em0/64                     link#1                        U         em0\n";
    let table = read_text(text).unwrap();
    assert_eq!(
        shown(&table),
        [
            "0.0.0.0/0 192.0.2.1",
            "10.0.0.0/8 192.0.2.7",
            "192.0.2.0/24 -",
            "192.0.2.9/32 -",
            "::/0 fe80::1",
            "2001:db8::/32 2001:db8::1"
        ]
    );
    assert_eq!(table.left_out, 3);
    assert_eq!(refusing(&table), ["198.51.100.0/24 Unreachable"]);
    assert_eq!(ways(&table, 4), ["Some(fe80::1) em0 1"]);
}

#[test]
fn reads_netstat_of_linux() {
    let text = "Kernel IP routing table\n\
                Destination     Gateway         Genmask         Flags   MSS Window  irtt Iface\n\
                0.0.0.0         192.0.2.1       0.0.0.0         UG        0 0          0 eth0\n\
                10.0.0.0        192.0.2.7       255.0.0.0       UG        0 0          0 eth0\n\
                192.0.2.0       0.0.0.0         255.255.255.0   U         0 0          0 eth0\n\
                198.51.100.0    -               255.255.255.0   !         - -          - -\n";
    let table = read_text(text).unwrap();
    assert_eq!(shown(&table), ["0.0.0.0/0 192.0.2.1", "10.0.0.0/8 192.0.2.7", "192.0.2.0/24 -"]);
    assert_eq!(refusing(&table), ["198.51.100.0/24 Unreachable"]);
    let hole = text.replace("255.0.0.0", "255.0.255.0");
    assert!(message(&hole).starts_with("routes:4: \"255.0.255.0\" has a hole"));
}

#[test]
fn reads_bird_2() {
    let text = "BIRD 2.0.12 ready.\nTable master4:\n\
                198.51.100.0/24      unicast [bgp1 2026-01-01] * (100) [AS64500i]\n\
                \tvia 192.0.2.1 on eth0\n\
                \u{20}                    unicast [bgp2 2026-01-01] (100) [AS64501i]\n\
                \tvia 192.0.2.2 on eth0\n\
                192.0.2.0/24         unicast [direct1 2026-01-01] * (240)\n\
                \tdev eth0\n\
                10.0.0.0/8           unreachable [static1 2026-01-01] * (200)\n\nTable master6:\n\
                2001:db8::/32        unicast [bgp3 2026-01-01] * (100) [AS64500i]\n\
                \tvia fe80::1 on eth0\n";
    let table = read_text(text).unwrap();
    assert_eq!(
        shown(&table),
        ["198.51.100.0/24 192.0.2.1", "192.0.2.0/24 -", "2001:db8::/32 fe80::1"]
    );
    assert_eq!(refusing(&table), ["10.0.0.0/8 Unreachable"]);
    assert_eq!(ways(&table, 0).len(), 1, "the path of another protocol is no way of this one");
    assert_eq!(ways(&table, 2), ["Some(fe80::1) eth0 1"]);
}

#[test]
fn reads_bird_1() {
    let text = "203.0.113.0/24     via 192.0.2.1 on eth0 [bgp1 2016-01-01] * (100) [AS64500i]\n\
                \u{20}                  via 192.0.2.2 on eth0 [bgp2 2016-01-01] (100) [AS64500i]\n\
                198.51.100.0/24    dev eth1 [direct1 2016-01-01] * (240)\n";
    assert_eq!(routes(text), ["203.0.113.0/24 192.0.2.1", "198.51.100.0/24 -"]);
}

#[test]
fn several_ways_of_a_route_are_a_group_with_weights() {
    for text in [
        "10.0.0.0/8 nexthop via 192.0.2.1 dev a weight 2 nexthop via 192.0.2.2 dev b\n",
        "10.0.0.0/8 proto static metric 20\n\tnexthop via 192.0.2.1 dev a weight 2\n\tnexthop via 192.0.2.2 dev b weight 1\n",
        "Table master4:\n10.0.0.0/8  unicast [s 2026-01-01] * (200)\n\tvia 192.0.2.1 on a weight 2\n\tvia 192.0.2.2 on b weight 1\n",
        "10.0.0.0/8  multipath [s 2016-01-01] * (200)\n\tvia 192.0.2.1 on a weight 2\n\tvia 192.0.2.2 on b\n",
    ] {
        let table = read_text(text).unwrap();
        assert_eq!(shown(&table), ["10.0.0.0/8 192.0.2.1"], "{text}");
        let wanted = ["Some(192.0.2.1) a 2", "Some(192.0.2.2) b 1"];
        assert_eq!(ways(&table, 0), wanted, "{text}");
    }
    // Ways of a route that is not taken belong to no other.
    let table = read_text("10.0.0.0/8 192.0.2.1\n224.0.0.0/4\n nexthop via 192.0.2.9\n").unwrap();
    assert_eq!(ways(&table, 0), ["Some(192.0.2.1) - 1"]);
}

#[test]
fn a_default_route_gets_its_family_from_its_ways() {
    let text = "default proto static metric 20\n\tnexthop via fe80::1 dev a weight 1\n\tnexthop via fe80::2 dev b weight 1\n\
                default proto static\n\tnexthop via inet6 fe80::3 dev a weight 1\n";
    let table = read_text(text).unwrap();
    assert_eq!(shown(&table), ["::/0 fe80::1", "0.0.0.0/0 fe80::3"]);
    assert_eq!(ways(&table, 0).len(), 2);
    let table = read_text("blackhole default metric 1 pref medium\ndefault dev a\n").unwrap();
    assert_eq!(
        (refusing(&table), shown(&table)),
        (vec!["::/0 Blackhole".to_owned()], vec!["0.0.0.0/0 -".to_owned()])
    );
}

#[test]
fn lists_have_routes_that_refuse_and_gateways_with_an_interface() {
    let text = "blackhole 10.0.0.0/8\nunreachable 2001:db8::/32 dev lo metric 1024\nprohibit 10.1.0.0/16\n\
                2001:db8:1::/48 via fe80::1%1\n2001:db8:2::/48 fe80::1 dev a\n";
    let table = read_text(text).unwrap();
    let wanted = ["10.0.0.0/8 Blackhole", "2001:db8::/32 Unreachable", "10.1.0.0/16 Prohibit"];
    assert_eq!(refusing(&table), wanted);
    assert_eq!(ways(&table, 0), ["Some(fe80::1) 1 1"]);
    assert_eq!(ways(&table, 1), ["Some(fe80::1) a 1"]);
    assert_eq!((table.refusing[2].line, table.routes[1].line), (3, 5));
    assert!(message("blackhole\n").starts_with("routes:1: no prefix after blackhole"));
    assert!(message("10/8\n").starts_with("routes:1: \"10/8\" is no prefix"));
    assert!(
        message("10.0.0.0/8 via 192.0.2.1 dev\n").starts_with("routes:1: the interface is missing")
    );
    assert!(message("10.0.0.0/8 via 192.0.2.1 weight 0\n").contains("a number above 0 is missing"));
}

#[test]
fn the_form_is_found_over_the_whole_file() {
    // More than any buffer of lines that every form could have, before the one that tells it.
    let mut text: String =
        (0..20_000).map(|i| format!("10.{}.{}.0/24\n", i / 256, i % 256)).collect();
    text.push_str(
        "default via 192.0.2.1 dev eth0\nInternet:\nDestination Gateway Flags Netif Expire\n",
    );
    text.push_str("11/8 192.0.2.7 UGS em0\n");
    text.push_str(
        "BIRD 2.0.12 ready.\n12.0.0.0/8  unicast [b 2026-01-01] * (100)\n\tvia 192.0.2.3 on eth0\n",
    );
    text.push_str("13.0.0.0/8 via 192.0.2.4 dev eth0 proto static\n");
    let table = read_text(&text).unwrap();
    assert_eq!(
        shown(&table)[20_000..],
        [
            "0.0.0.0/0 192.0.2.1",
            "11.0.0.0/8 192.0.2.7",
            "12.0.0.0/8 192.0.2.3",
            "13.0.0.0/8 192.0.2.4"
        ]
    );
}

/// `/etc/shadow`, a password, a key in hexadecimal digits: whoever names such a file sees none of it.
#[test]
fn what_may_be_a_secret_is_not_quoted() {
    for secret in ["root:$6$x:19000::", "hunter2", "deadbeefdeadbeefdeadbeefdeadbeef00000000"] {
        let said = message(&format!("{secret}\n"));
        assert!(said.starts_with("routes:1: what stands there is no prefix"), "{said}");
    }
}

/// Lines of a list behind netstat's, and what no program has written.
#[test]
fn no_line_is_thrown_away_in_silence() {
    let head = "Internet:\nDestination Gateway Flags Netif Expire\n10.0.0.0/8 192.0.2.8 UGS em1\n";
    let table = read_text(&format!(
        "{head}10.6.0.0/16 via 192.0.2.9\nblackhole 10.7.0.0/16\n10.8.0.0/16\n"
    ));
    let table = table.unwrap();
    let wanted = ["10.0.0.0/8 192.0.2.8", "10.6.0.0/16 192.0.2.9", "10.8.0.0/16 -"];
    assert_eq!((shown(&table), table.left_out), (wanted.map(str::to_owned).to_vec(), 0));
    assert_eq!(refusing(&table), ["10.7.0.0/16 Blackhole"]);
    let said = message(&format!("{head}10.8.0.0/16 gibberish here\n"));
    assert!(said.starts_with("routes:4: what stands there has no flags"), "{said}");
    for (line, wanted) in [
        ("10.0.0.0/8 via 192.0.2.1 garbage", "\"garbage\" is no word of a route"),
        ("10.0.0.0/8 192.0.2.1 192.0.2.2", "\"192.0.2.2\" is no word of a route"),
        ("10.0.0.0/8 via 192.0.2.1 via 192.0.2.2", "two gateways of one way"),
        ("10.0.0.0/8 192.0.2.1 via 192.0.2.2", "two gateways of one way"),
    ] {
        let said = message(&format!("{line}\n"));
        assert!(said.starts_with(&format!("routes:1: {wanted}")), "{line}: {said}");
    }
    // What iproute2 writes beside the way is taken as it is.
    let text = "10.0.0.0/8 encap mpls 16/17 via 192.0.2.1 dev a proto 196 metric 20 mtu lock 1400 onlink\n\
                10.1.0.0/16 nhid 5 via 192.0.2.2 dev a proto static rt_offload \n\
                10.2.0.0/16 via 192.0.2.3 dev a  cache <local> expires 5sec\n";
    assert_eq!(
        routes(text),
        ["10.0.0.0/8 192.0.2.1", "10.1.0.0/16 192.0.2.2", "10.2.0.0/16 192.0.2.3"]
    );
}

#[test]
fn a_line_without_an_end_does_not_fill_memory() {
    let text = format!("198.51.100.0/24\n{}", "1".repeat(1 << 20));
    assert!(message(&text).starts_with("routes:2: the line is longer than 16384 bytes"));
}

#[test]
fn gzip_is_unpacked_and_its_damage_reported() {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    for third in 0..=255 {
        writeln!(packer, "198.51.{third}.0/24").unwrap();
    }
    let packed = packer.finish().unwrap();
    let table = read_bytes(Path::new("r.gz"), &packed).unwrap();
    assert_eq!(table.routes.len(), 256);
    let cut = read_bytes(Path::new("r.gz"), &packed[..packed.len() / 2]).unwrap_err();
    assert!(cut.to_string().contains("r.gz"), "{cut}");
}

/// An MRT record.
fn mrt(kind: u16, subtype: u16, body: &[u8]) -> Vec<u8> {
    let mut record = vec![0x69, 0x55, 0xb9, 0x00];
    record.extend(kind.to_be_bytes());
    record.extend(subtype.to_be_bytes());
    record.extend((body.len() as u32).to_be_bytes());
    record.extend(body);
    record
}

/// A RIB record with one entry of these attributes.
fn rib(subtype: u16, prefix: &[u8], attributes: &[u8]) -> Vec<u8> {
    let mut body = vec![0, 0, 0, 1];
    body.extend(prefix);
    body.extend([0, 1, 0, 7, 0x69, 0x55, 0xb9, 0x00]);
    if subtype >= 8 {
        body.extend([0, 0, 0, 9]);
    }
    body.extend((attributes.len() as u16).to_be_bytes());
    body.extend(attributes);
    mrt(13, subtype, &body)
}

const ORIGIN: [u8; 4] = [0x40, 1, 1, 0];
const NEXT_HOP: [u8; 7] = [0x40, 3, 4, 192, 0, 2, 1];

fn dump() -> Vec<u8> {
    let v6 = [&[16][..], &[0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]].concat();
    let short = [&[0x80, 14, 17][..], &v6].concat();
    let long = [&[0x90, 14, 0, 21][..], &[0, 2, 1], &v6, &[0]].concat();
    [
        mrt(13, 1, &[192, 0, 2, 9, 0, 0, 0, 0]),
        rib(2, &[24, 198, 51, 100], &[&ORIGIN[..], &NEXT_HOP].concat()),
        rib(2, &[17, 203, 0, 113], &NEXT_HOP), // host bits set, irrelevant in NLRI
        rib(4, &[32, 0x20, 1, 0x0d, 0xb8], &short),
        rib(4, &[33, 0x20, 1, 0x0d, 0xb8, 0x80], &long),
        rib(8, &[8, 10], &NEXT_HOP),
        rib(2, &[0], &ORIGIN),
        mrt(13, 3, &[]),
    ]
    .concat()
}

#[test]
fn reads_mrt_dumps() {
    let table = read_bytes(Path::new("rib"), &dump()).unwrap();
    assert_eq!(
        shown(&table),
        [
            "198.51.100.0/24 192.0.2.1",
            "203.0.0.0/17 192.0.2.1",
            "2001:db8::/32 2001:db8::1",
            "2001:db8:8000::/33 2001:db8::1",
            "10.0.0.0/8 192.0.2.1",
            "0.0.0.0/0 -"
        ]
    );
    assert_eq!(table.left_out, 1);
}

#[test]
fn a_dump_that_is_cut_short_names_its_record() {
    let dump = dump();
    let whole: Vec<usize> =
        (0..dump.len()).filter(|&cut| read_bytes(Path::new("rib"), &dump[..cut]).is_ok()).collect();
    // only at the ends of records 2 to 7; after record 1 there is no route yet
    assert_eq!(whole.len(), 6);
    let text = read_bytes(Path::new("rib"), &dump[..dump.len() - 14]).unwrap_err().to_string();
    assert!(text.starts_with("rib:7: MRT record: the file ends within a record"), "{text}");
}

#[test]
fn updates_are_not_taken_for_a_table() {
    let text = read_bytes(Path::new("updates"), &mrt(16, 4, &[0; 30])).unwrap_err().to_string();
    assert!(text.contains("MRT type 16 is no routing table"), "{text}");
}

#[test]
fn hostile_lengths_do_not_fill_memory() {
    let mut record = mrt(13, 2, &[]);
    record[8..12].copy_from_slice(&u32::MAX.to_be_bytes());
    let text = read_bytes(Path::new("rib"), &record).unwrap_err().to_string();
    assert!(text.contains("is too long"), "{text}");
    let text = read_bytes(Path::new("rib"), &rib(2, &[33, 1, 2, 3, 4, 5], &[])).unwrap_err();
    assert!(text.to_string().contains("the prefix length 33 is above 32"));
}

proptest! {
    #[test]
    fn no_damage_to_a_dump_makes_the_reader_panic(
        places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut bytes = dump();
        for (place, value) in places {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        let _ = read_bytes(Path::new("rib"), &bytes);
    }

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = read_bytes(Path::new("x"), &bytes);
        let _ = read_bytes(Path::new("x"), &[&[0x1f, 0x8b][..], &bytes].concat());
        let _ = read_bytes(Path::new("x"), &[&[0, 0, 0, 0, 0, 13, 0, 2, 0][..], &bytes].concat());
    }

    #[test]
    fn no_words_make_the_reader_panic(
        start in "(BIRD 2 ready.|Internet:|default dev a|Kernel IP routing table|Destination Gateway Genmask|)",
        lines in prop::collection::vec(
            "((default|blackhole|dev|weight|10/8|198.51.100.0/24|2001:db8::/32|fe80::%a/64|via|nexthop|U|UG|link#1|\t|/|\\[|255.0.0.0| ){0,8})", 0..8),
    ) {
        let _ = read_text(&format!("{start}\n{}", lines.join("\n")));
    }

    #[test]
    fn a_plain_list_comes_back(addresses in prop::collection::vec((any::<u32>(), 1u8..=32), 1..50)) {
        let prefixes: Vec<Prefix> = addresses
            .into_iter()
            .map(|(a, length)| Prefix::covering(IpAddr::V4(a.into()), length))
            .filter(Prefix::is_forwarded)
            .collect();
        prop_assume!(!prefixes.is_empty());
        let text: String = prefixes.iter().map(|p| format!("{p}\n")).collect();
        let table = read_text(&text).unwrap();
        let distinct: HashSet<Prefix> = prefixes.iter().copied().collect();
        prop_assert_eq!(table.routes.len(), distinct.len());
        prop_assert!(table.routes.iter().all(|r| distinct.contains(&r.prefix)));
        prop_assert_eq!(table.repeated, prefixes.len() - distinct.len());
    }
}

#[test]
fn a_real_table_is_read_in_full() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/bgp-table.txt.gz");
    if !file.exists() {
        eprintln!(
            "SKIPPED a_real_table_is_read_in_full: ../shared/data/bgp-table.txt.gz is absent"
        );
        return;
    }
    let table = read(&file).unwrap();
    assert_eq!((table.repeated, table.left_out), (0, 0));
    assert_eq!(table.counts(), (901_899, 160_147));
}
