use super::*;
use crate::equilibrium::Amount;

fn log(text: &[u8]) -> PktgenLog {
    PktgenLog::read(text).unwrap()
}

#[test]
fn reads_both_formats() {
    let old = log(b"CMD: pkt-gen -f rx -i igb3\n211.5 main_thread [1446] 829860 pps (830625 pkts in 1000922 usec)\n");
    let new = log(b"CMD on 10.0.0.1: pkt-gen -f rx\n178.871579 main_thread [2683] 14798247 pps (15736619 pkts 7103158722 bps in 1063411 usec) 51.92 avg_batch 0 min_space\nTerminated\n");
    assert_eq!(
        old.readings,
        [Reading {
            line: 2,
            end_us: 211_500_000,
            pps: 829_860,
            packets: 830_625,
            length_us: 1_000_922
        }]
    );
    assert_eq!(
        new.readings,
        [Reading {
            line: 2,
            end_us: 178_871_579,
            pps: 14_798_247,
            packets: 15_736_619,
            length_us: 1_063_411
        }]
    );
    assert_eq!((old.build, new.build), (Some(1446), Some(2683)));
    assert!(new.is_terminated && new.is_usable() && old.is_usable());
    assert_eq!(new.lines, 3);
}

#[test]
fn reads_the_closing_lines() {
    let sender = log(b"CMD: pkt-gen -f tx\n1.0 main_thread [9] 5 pps (5 pkts in 1 usec)\nSent 300000000 packets 18600000000 bytes 132496285 events 62 bytes each in 206.39 seconds.\nSpeed: 14.85 Mpps Bandwidth: 7.13 Gbps (raw 7.2)\n");
    assert_eq!((sender.total, sender.speed_pps), (Some(300_000_000), Some(14.85e6)));
    let tuned =
        log(b"Estimated Equilibrium Ethernet throughput= 55 Mb/s (maximum value seen: 56 Mb/s)\n");
    let search = tuned.equilibrium.unwrap();
    assert_eq!((search.found, search.most), (Amount::Bits(55e6), Some(Amount::Bits(56e6))));
    assert!(tuned.is_usable());
}

#[test]
fn names_what_is_wrong_with_a_failed_run() {
    let failure = |text: &[u8]| log(text).failure().cloned();
    assert_eq!(failure(b""), Some(Problem::Empty));
    assert_eq!(failure(b"\x00\xff\xfe garbage\n"), Some(Problem::NotPktgen));
    assert_eq!(failure(b"CMD: pkt-gen -f rx\n1.0 main [2] ready\n"), Some(Problem::NoReadings));
    assert_eq!(
        failure(b"CMD: pkt-gen\nwaiting for initial packets, poll returns 0 0\n1.0 main_thread [2] 0 pps (0 pkts in 1000 usec)\n"),
        Some(Problem::NothingSeen)
    );
    assert_eq!(
        failure(
            b"1.0 main_thread [2] 7 pps (7 pkts in 1000 usec)\nouch, thread 0 exited with error\n"
        ),
        Some(Problem::ThreadError(None))
    );
    assert_eq!(
        failure(b"1.0 main_thread [2] 7 pps (7 pkts in 1000 usec)\nSpeed: -0 pps\n"),
        Some(Problem::NegativeSpeed)
    );
    assert_eq!(
        failure(b"1.0 main_thread [2] 99999999999999999999999 pps (7 pkts in 1000 usec)\n"),
        Some(Problem::NumberTooLarge(1))
    );
}

#[test]
fn a_reading_cut_by_a_full_disk_is_noted_and_the_rest_is_kept() {
    let cut = log(
        b"1.0 main_thread [2] 7 pps (7 pkts in 1000 usec)\n2.0 main_thread [2] 8 pps (8 pkts 3",
    );
    assert_eq!(cut.readings.len(), 1);
    assert_eq!(cut.problems, [Problem::BrokenReading(2)]);
    assert!(cut.is_usable());
}

#[test]
fn a_line_without_an_end_does_not_fill_memory() {
    let endless = std::io::repeat(b'9').take(50_000_000);
    let read = PktgenLog::read(endless).unwrap();
    assert_eq!((read.lines, read.readings.len()), (1, 0));
}
