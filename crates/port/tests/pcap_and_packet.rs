//! Ports over capture files and network interfaces.

// a test says on stderr what it skips
#![allow(clippy::print_stderr)]
#![allow(clippy::unwrap_used)] // Tests; the lint's own exception covers only `#[test]` functions.

use fwdlab_port::pcap::{CutFrames, PcapPort, PcapReader, PcapWriter};
use fwdlab_port::{Batch, Pool, Port, PortError};

/// A capture with microseconds in big-endian order, as a SPARC would write it.
fn big_endian_capture(link_type: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0002_0004, 0, 0, 65_535, link_type, 3, 7, 4, 60] {
        bytes.extend(word.to_be_bytes());
    }
    bytes.extend([1, 2, 3, 4]);
    bytes
}

#[test]
fn reads_what_it_wrote() {
    let packets: Vec<(Vec<u8>, u64)> =
        (0..100_u64).map(|i| (vec![i as u8; 14 + i as usize * 15], i * 1_234_567_891)).collect();
    let mut writer = PcapWriter::new(Vec::new()).unwrap();
    for (bytes, time) in &packets {
        writer.write(bytes, *time).unwrap();
    }
    let file = writer.into_inner().unwrap();
    let mut reader = PcapReader::new(&file[..]).unwrap();
    let mut bytes = Vec::new();
    for (expected, time) in &packets {
        assert_eq!(reader.next_packet(&mut bytes).unwrap(), Some(*time));
        assert_eq!(&bytes, expected);
    }
    assert_eq!(reader.next_packet(&mut bytes).unwrap(), None);
}

#[test]
fn reads_the_other_byte_order_and_microseconds() {
    let file = big_endian_capture(1);
    let mut reader = PcapReader::new(&file[..]).unwrap();
    let mut bytes = Vec::new();
    assert_eq!(reader.next_packet(&mut bytes).unwrap(), Some(3_000_007_000));
    assert_eq!(bytes, [1, 2, 3, 4]);
}

/// A block of pcapng in either byte order.
fn block(is_big_endian: bool, kind: u32, body: &[u8]) -> Vec<u8> {
    let word = |number: u32| match is_big_endian {
        true => number.to_be_bytes(),
        false => number.to_le_bytes(),
    };
    let mut bytes = word(kind).to_vec();
    let padded = body.len().next_multiple_of(4);
    bytes.extend(word(padded as u32 + 12));
    bytes.extend(body);
    bytes.resize(8 + padded, 0);
    bytes.extend(word(padded as u32 + 12));
    bytes
}

/// A section with two interfaces, of which the first counts microseconds and the second 2^-10 s from
/// the year 1970 and 5 s on; one packet from each, an obsolete one, a simple one, one that was cut,
/// and blocks that nobody knows.
fn blocks(is_big_endian: bool) -> Vec<u8> {
    let word = |number: u32| match is_big_endian {
        true => number.to_be_bytes(),
        false => number.to_le_bytes(),
    };
    let half = |number: u16| match is_big_endian {
        true => number.to_be_bytes(),
        false => number.to_le_bytes(),
    };
    let offset = if is_big_endian { 5_i64.to_be_bytes() } else { 5_i64.to_le_bytes() };
    let words = |numbers: &[u32]| numbers.iter().flat_map(|&number| word(number)).collect();
    let section: Vec<u8> = [&word(0x1a2b_3c4d)[..], &half(1), &half(0), &[0xff; 8]].concat();
    let first: Vec<u8> = [&half(1)[..], &half(0), &word(0)].concat();
    let second: Vec<u8> = [
        &half(1)[..],
        &half(0),
        &word(64),
        &half(9),
        &half(1),
        &[0x8a, 0, 0, 0],
        &half(14),
        &half(8),
        &offset,
        &half(0),
        &half(0),
    ]
    .concat();
    let packet = |numbers: &[u32], bytes: &[u8]| {
        let mut body: Vec<u8> = words(numbers);
        body.extend(bytes);
        body
    };
    let obsolete: Vec<u8> = [&half(0)[..], &half(7), &words(&[0, 9, 2, 2])[..], &[8, 9]].concat();
    let make = |kind, body: &[u8]| block(is_big_endian, kind, body);
    [
        make(0x0a0d_0d0a, &section),
        make(1, &first),
        make(1, &second),
        make(0x0bad_f00d, &[1, 2, 3]),
        make(6, &packet(&[0, 1, 7, 3, 3], &[1, 2, 3])),
        make(6, &packet(&[1, 0, 512, 4, 90], &[1, 2, 3, 4])),
        make(2, &obsolete),
        make(3, &packet(&[5], &[5, 4, 3, 2, 1])),
    ]
    .concat()
}

#[test]
fn reads_pcapng_in_both_byte_orders_and_several_sections() {
    let file = [blocks(true), blocks(false)].concat();
    let mut reader = PcapReader::new(&file[..]).unwrap();
    let mut bytes = Vec::new();
    for section in 0..2 {
        // 2^32 + 7 microseconds; 512/1024 s after 5 s.
        for (time_ns, wanted) in [
            (4_294_967_303_000, &[1, 2, 3][..]),
            (5_500_000_000, &[1, 2, 3, 4]),
            (9_000, &[8, 9]),
            (0, &[5, 4, 3, 2, 1]),
        ] {
            let got = reader.next_packet(&mut bytes).unwrap();
            assert_eq!((got, &bytes[..]), (Some(time_ns), wanted), "section {section}");
        }
    }
    assert_eq!(reader.next_packet(&mut bytes).unwrap(), None);
    assert_eq!(reader.cut_frames(), CutFrames { frames: 2, first: 2 });
}

#[test]
fn a_cut_or_broken_pcapng_is_an_error_and_never_a_panic() {
    let file = blocks(false);
    let read = |file: &[u8]| -> Result<u64, PortError> {
        let (mut reader, mut bytes, mut packets) = (PcapReader::new(file)?, Vec::new(), 0);
        while reader.next_packet(&mut bytes)?.is_some() {
            packets += 1;
        }
        Ok(packets)
    };
    let whole = (0..=file.len()).filter(|&cut| read(&file[..cut]).is_ok()).count();
    assert_eq!(whole, 8, "only at the ends of blocks");
    assert!(matches!(read(&file[..file.len() - 1]), Err(PortError::CaptureCut { packet: 4 })));
    for place in 0..file.len() {
        for value in [0, 1, 0x7f, 0xff] {
            let mut broken = file.clone();
            broken[place] = value;
            let _ = read(&broken);
        }
    }
}

#[test]
fn refuses_other_files() {
    let error = PcapReader::new(&[7; 24][..]).unwrap_err();
    assert!(matches!(error, PortError::CaptureFormat { field: "magic number", .. }));
    let error = PcapReader::new(&big_endian_capture(101)[..]).unwrap_err();
    assert!(matches!(error, PortError::CaptureFormat { field: "link type", got: 101 }));
    assert!(matches!(PcapReader::new(&[][..]), Err(PortError::CaptureCut { packet: 0 })));
}

#[test]
fn reports_a_truncated_file_with_the_packet_and_keeps_the_ones_before() {
    let mut writer = PcapWriter::new(Vec::new()).unwrap();
    writer.write(&[1; 60], 0).unwrap();
    writer.write(&[2; 60], 0).unwrap();
    let file = writer.into_inner().unwrap();
    for cut in [1, 59, 60, 70, 75] {
        let pool = Pool::with_frames(8).unwrap();
        let cut_file = &file[..file.len() - cut];
        let mut port = PcapPort::new(pool, Some(cut_file), None::<Vec<u8>>).unwrap();
        let mut batch = Batch::new();
        assert_eq!(port.receive(&mut batch), 1, "cut {cut}");
        let error = port.finish().unwrap_err();
        assert!(matches!(error, PortError::CaptureCut { packet: 2 }), "{error}");
    }
}

#[test]
fn waits_for_frames_when_the_pool_is_empty() {
    let mut writer = PcapWriter::new(Vec::new()).unwrap();
    for number in 0..10 {
        writer.write(&[number; 60], 0).unwrap();
    }
    let file = writer.into_inner().unwrap();
    let pool = Pool::with_frames(4).unwrap();
    let mut port = PcapPort::new(pool, Some(&file[..]), Some(Vec::new())).unwrap();
    let mut batch = Batch::new();
    let mut counts = Vec::new();
    while !port.is_at_end() {
        counts.push(port.receive(&mut batch));
        port.send(&mut batch);
    }
    assert_eq!(counts, [4, 4, 2]);
    assert_eq!(port.counters().tx_frames, 10);
    assert_eq!(port.finish().unwrap().unwrap().len(), file.len());
}

#[cfg(target_os = "linux")]
#[test]
fn names_an_interface_that_does_not_exist() {
    let pool = Pool::with_frames(8).unwrap();
    let error = fwdlab_port::packet::PacketPort::open("nosuch0", pool).unwrap_err();
    assert!(error.to_string().starts_with("cannot open interface nosuch0: "), "{error}");
}

/// Frames sent on the loopback interface come back; a frame with an unknown EtherType harms nobody.
#[cfg(target_os = "linux")]
#[test]
fn receives_on_an_interface_what_was_sent_on_it() {
    let pool = Pool::with_frames(512).unwrap();
    let open = || fwdlab_port::packet::PacketPort::open("lo", pool.clone());
    let (mut near, mut far) = match (open(), open()) {
        (Ok(near), Ok(far)) => (near, far),
        (Err(error), _) | (_, Err(error)) => {
            eprintln!("SKIPPED receives_on_an_interface_what_was_sent_on_it: {error}");
            return;
        }
    };
    let mut batch = Batch::new();
    pool.take_batch(&mut batch, 100);
    for (number, frame) in batch.iter_mut().enumerate() {
        frame.set_len(60 + number);
        frame.fill(0);
        frame[12..16].copy_from_slice(&[0x88, 0xb5, b'f', number as u8]);
    }
    while !batch.is_empty() {
        near.send(&mut batch);
    }
    let mut seen = Vec::new();
    for _ in 0..100_000 {
        far.receive(&mut batch);
        let ours = batch.iter().filter(|frame| frame[12..15] == [0x88, 0xb5, b'f']);
        seen.extend(ours.map(|frame| (frame[15], frame.len())));
        pool.put(&mut batch);
        if seen.len() >= 100 {
            break;
        }
    }
    let expected: Vec<_> = (0..100_u8).map(|number| (number, 60 + usize::from(number))).collect();
    assert_eq!(seen, expected);
}
