//! Captures, pcap and pcapng: packet by packet, and as a port that forwards what it reads.
#![no_main]

use fwdlab_port::pcap::{PcapPort, PcapReader};
use fwdlab_port::{Batch, Pool, Port};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(mut reader) = PcapReader::new(bytes) else { return };
    let (mut packet, mut count) = (Vec::new(), 0_usize);
    while let Ok(Some(_)) = reader.next_packet(&mut packet) {
        assert!(packet.len() <= bytes.len(), "a packet is part of the file");
        count += 1;
    }
    let pool = Pool::with_frames(64).expect("memory for 64 frames");
    let mut port = PcapPort::new(pool, Some(bytes), Some(Vec::new())).expect("it was read before");
    let (mut batch, mut received) = (Batch::new(), 0);
    while !port.is_at_end() {
        received += port.receive(&mut batch);
        port.send(&mut batch);
    }
    assert!(received <= count, "no frame comes twice");
});
