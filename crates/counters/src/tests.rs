//! Answers of hosts, and what changed between two of them.

use std::collections::BTreeMap;

use super::*;

fn ports() -> Vec<&'static str> {
    vec!["igb1", "igb2"]
}

#[test]
fn answers_of_linux_are_read() {
    let said = "boot 11-22\nkernel 6.1.0\nigb1.address 02:00:00:00:00:01\nigb1.carrier 1\n\
        igb1.speed 1000\nigb1.carrier_changes 3\nigb1.statistics/rx_packets 100\n\
        igb1.statistics/rx_dropped 2\nigb1.statistics/rx_missed_errors 5\nigb1.pause 4\n\
        igb1.pause 3\nigb1.queue rx_queue_0_packets: 60\nigb1.queue rx_queue_1_packets: 40\n\
        igb1.queue rx_queue_1_xdp_packets: 1\nigb2.carrier \nigb2.statistics/tx_packets 90\n\
        net Ip: Forwarding InHdrErrors\nnet Ip: 1 7\nnet Ip6InNoRoutes \t 9\n";
    let reading = proc::answers(said, &ports());
    assert_eq!((reading.boot.as_str(), reading.kernel.as_str()), ("11-22", "6.1.0"));
    let first = &reading.ports[0];
    assert_eq!((first.received, first.missed, first.pauses), (Some(105), Some(7), Some(7)));
    assert_eq!(first.queues, Queues::from([(0, 60), (1, 40)]));
    assert!(first.has_carrier && !reading.ports[1].has_carrier);
    assert_eq!(reading.ports[1].sent, Some(90));
    assert_eq!(reading.drops["Ip.InHdrErrors"], 7);
    assert_eq!(reading.drops["Ip6InNoRoutes"], 9);
}

#[test]
fn answers_of_freebsd_are_read() {
    let said = "boot { sec = 1700000000, usec = 1 } Sat Nov 18\nkernel 14.1-RELEASE\n\
        igb1.if igb1: flags=8863<UP> metric 0 mtu 1500  ether 02:00:00:00:00:01  \
        media: Ethernet autoselect (1000baseT <full-duplex>)  status: active\n\
        igb1.net igb1 1500 <Link#2> 02:00:00:00:00:01 100 3 4 6400 90 1 5760 0 2\n";
    let reading = netstat::answers(said, &ports()[..1]);
    let port = &reading.ports[0];
    assert_eq!(port.mac, "02:00:00:00:00:01");
    assert_eq!((port.speed.as_str(), port.has_carrier), ("1000baseT", true));
    let counted = [port.received, port.missed, port.sent, port.refused];
    assert_eq!(counted, [107, 7, 90, 3].map(Some));
}

#[test]
fn of_a_port_that_counts_late_what_ip_forwarded_is_what_it_sent() {
    let said = "vtnet1.net vtnet1 1500 <Link#2> 02:00:00:00:00:01 100 0 0 6400 1 0 60 0 0\n\
        vtnet2.net vtnet2 1500 <Link#3> 02:00:00:00:00:01 0 0 0 0 40 0 2400 0 2\n\
        forwarded.ip 90 packets forwarded (90 packets fast forwarded)\n";
    let mut both = ports();
    (both[0], both[1]) = ("vtnet1", "vtnet2");
    assert!(
        netstat::script(&both).contains("netstat -sp $p")
            && !netstat::script(&ports()).contains("-sp")
    );
    let sent = |said: &str| netstat::answers(said, &both).ports[1].sent;
    assert_eq!(sent(said), Some(90));
    assert_eq!(sent(&format!("{said}forwarded.ip6 7 packets forwarded\n")), Some(97));
    let (mute, _) = said.split_once("forwarded.").expect("counted");
    assert_eq!(sent(mute), Some(40), "what the port says");
    assert_eq!(netstat::answers(said, &both).ports[0].sent, Some(1));
}

#[test]
fn what_a_port_does_not_say_is_absent_and_not_0() {
    let said = "igb1.carrier 1\nigb1.statistics/rx_packets 100\n\
        igb1.statistics/rx_missed_errors \nigb1.statistics/tx_packets many\nigb1.pause 4\n\
        igb1.pause ?\nigb2.statistics/tx_packets 9\nnet Ip: InHdrErrors InDiscards\n\
        net Ip: - 7\n";
    let reading = proc::answers(said, &ports());
    let first = &reading.ports[0];
    let counted = [first.received, first.missed, first.sent, first.refused, first.pauses];
    assert_eq!(counted, [None; 5]);
    assert_eq!(reading.ports[1].sent, Some(9));
    assert_eq!(reading.drops, BTreeMap::from([("Ip.InDiscards".to_owned(), 7)]));
    let said = "igb1.net igb1 1500 <Link#2> 02:00:00:00:00:01 100 3 - 6400 90 1 5760\n";
    let port = &netstat::answers(said, &ports()[..1]).ports[0];
    let counted = [port.received, port.missed, port.sent, port.refused];
    assert_eq!(counted, [None, None, Some(90), None]);
}

#[test]
fn changes_of_absent_counters_are_absent() {
    let reading = |received, sent, missed, drops: &[(&str, u64)]| {
        let port = PortReading { has_carrier: true, ..PortReading::default() };
        Reading {
            ports: vec![
                PortReading { received, missed, ..port.clone() },
                PortReading { sent, refused: Some(0), ..port },
            ],
            drops: drops.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect(),
            ..Reading::default()
        }
    };
    let of = |before, after| change(&before, &after).expect("a change");
    let ip = [("Ip.InDiscards", 9)];
    let found = of(reading(None, Some(1), None, &ip), reading(Some(100), Some(91), Some(5), &ip));
    assert_eq!((found.received, found.sent, found.drops), (None, Some(90), None));
    assert_eq!(found.pauses, None, "no port counts them");
    // What was not counted before says nothing, and what is unknown is not "elsewhere".
    let found = of(reading(None, Some(1), Some(0), &[]), reading(None, Some(91), Some(5), &ip));
    let drops = BTreeMap::from([("no room at the first port".to_owned(), 5)]);
    assert_eq!(found.drops, Some(drops));
}

#[test]
fn a_counter_that_went_backwards_is_absent_with_a_word_why() {
    let reading = |received, sent, discards| {
        let port = PortReading {
            has_carrier: true,
            missed: Some(0),
            refused: Some(0),
            ..PortReading::default()
        };
        Reading {
            ports: vec![
                PortReading { received: Some(received), ..port.clone() },
                PortReading { sent: Some(sent), ..port },
            ],
            drops: [("Ip.InDiscards".to_owned(), discards)].into(),
            ..Reading::default()
        }
    };
    let found = change(&reading(500, 10, 3), &reading(20, 90, 4)).expect("a change");
    assert_eq!((found.received, found.sent), (None, Some(80)));
    let drops = found.drops.expect("counted");
    assert_eq!(drops, BTreeMap::from([("Ip.InDiscards".to_owned(), 1)]), "none elsewhere");
    let [why] = &found.warnings[..] else { panic!("{:?}", found.warnings) };
    assert!(why.contains("received of the first port went back from 500 to 20"), "{why}");
    let found = change(&reading(0, 0, 9), &reading(50, 40, 1)).expect("a change");
    assert_eq!((found.received, found.drops), (Some(50), None), "drops that nobody knows");
    assert!(found.warnings[0].contains("Ip.InDiscards"), "{:?}", found.warnings);
}

#[test]
fn a_boot_or_a_lost_link_in_the_trial_is_noticed_and_losses_have_a_reason() {
    let reading = |boot: &str, received, sent, changes| Reading {
        boot: boot.to_owned(),
        ports: vec![
            PortReading {
                has_carrier: true,
                received: Some(received),
                missed: Some(0),
                carrier_changes: Some(changes),
                ..PortReading::default()
            },
            PortReading {
                has_carrier: true,
                sent: Some(sent),
                refused: Some(0),
                ..PortReading::default()
            },
        ],
        ..Reading::default()
    };
    let before = reading("a", 10, 10, 1);
    let found = change(&before, &reading("a", 110, 100, 1)).expect("a change");
    assert_eq!((found.received, found.sent), (Some(100), Some(90)));
    assert_eq!(found.drops.expect("counted")["elsewhere"], 10);
    let kind = |after: &Reading| change(&before, after).expect_err("broken");
    assert_eq!(kind(&reading("b", 110, 110, 1)), Broken::Booted);
    assert_eq!(kind(&reading("a", 110, 110, 3)), Broken::LostLink);
}
