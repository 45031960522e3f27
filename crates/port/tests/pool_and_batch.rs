//! Frames leave the pool, travel and come home; none is lost, none is doubled.

use std::collections::HashSet;

use fwdlab_port::{Batch, Pool, PoolConfig, Port, PortError, ring};

fn addresses(batch: &Batch) -> Vec<usize> {
    batch.iter().map(|frame| frame.head::<64>().as_ptr() as usize).collect()
}

#[test]
fn gives_each_slot_once_and_takes_it_back() {
    let pool = Pool::with_frames(300).unwrap();
    let (mut one, mut two) = (Batch::new(), Batch::new());
    assert_eq!(pool.take_batch(&mut one, 256), 256);
    assert_eq!(pool.take_batch(&mut two, 256), 44, "only what is left");
    assert!(pool.take().is_none());
    let all: HashSet<_> = addresses(&one).into_iter().chain(addresses(&two)).collect();
    assert_eq!(all.len(), 300, "no slot twice");
    one.clear();
    assert_eq!(pool.available(), 256);
    pool.put(&mut two);
    assert_eq!(pool.available(), 300);
}

#[test]
fn starts_frames_on_cache_lines_at_the_stride_asked_for() {
    for (capacity, headroom, spread, stride) in
        [(2048, 64, true, 2112), (1984, 64, false, 2048), (64, 0, true, 64), (9234, 64, true, 9408)]
    {
        let pool = Pool::new(PoolConfig { frames: 4, capacity, headroom, spread }).unwrap();
        let mut batch = Batch::new();
        pool.take_batch(&mut batch, 4);
        let starts = addresses(&batch);
        assert!(starts.iter().all(|start| start % 64 == 0));
        assert_eq!(starts[1] - starts[0], stride);
        batch[0].set_len(capacity);
        assert_eq!(batch[0].len(), batch[0].capacity());
    }
}

#[test]
fn hands_out_the_same_memory_in_the_same_order_after_restore() {
    let pool = Pool::with_frames(100).unwrap();
    let mut batch = Batch::new();
    pool.take_batch(&mut batch, 100);
    let first = addresses(&batch);
    while let Some(frame) = batch.swap_remove(batch.len() / 3) {
        drop(frame);
    }
    assert!(pool.restore());
    pool.take_batch(&mut batch, 100);
    assert_eq!(addresses(&batch), first);
    assert!(!pool.restore(), "frames are out");
}

#[test]
fn keeps_the_memory_until_the_last_frame_is_home() {
    let pool = Pool::with_frames(2).unwrap();
    let mut frame = pool.take().unwrap();
    drop(pool);
    frame.set_len(2000);
    frame.fill(0xa5);
    assert!(frame.iter().all(|&byte| byte == 0xa5));
    drop(frame);
}

#[test]
fn sends_frames_of_another_pool_home_to_theirs() {
    let (one, two) = (Pool::with_frames(4).unwrap(), Pool::with_frames(4).unwrap());
    let mut batch = Batch::new();
    one.take_batch(&mut batch, 4);
    two.take_batch(&mut batch, 4);
    one.put(&mut batch);
    assert_eq!((one.available(), two.available()), (4, 4));
}

#[test]
fn moves_the_front_of_a_frame_within_its_slot() {
    let pool = Pool::with_frames(1).unwrap();
    let mut frame = pool.take().unwrap();
    frame.set_len(60);
    frame[0] = 7;
    assert!(frame.push_front(4));
    assert_eq!((frame.len(), frame.headroom(), frame[4]), (64, 60, 7));
    assert!(!frame.push_front(61), "more than the headroom");
    assert!(frame.pull_front(18));
    assert_eq!((frame.len(), frame.headroom(), frame.capacity()), (46, 78, 2034));
    assert!(!frame.pull_front(47), "more than the frame");
    drop(frame);
    let frame = pool.take().unwrap();
    assert_eq!((frame.len(), frame.headroom()), (0, 64), "a fresh frame starts anew");
}

#[test]
#[should_panic(expected = "does not fit its slot")]
fn refuses_a_length_beyond_the_slot() {
    let pool = Pool::with_frames(1).unwrap();
    pool.take().unwrap().set_len(2049);
}

#[test]
fn names_the_field_of_a_bad_shape() {
    let wrong = PoolConfig { capacity: 70_000, ..PoolConfig::default() };
    let error = Pool::new(wrong).unwrap_err();
    assert!(matches!(error, PortError::PoolConfig { field: "capacity", got: 70_000, .. }));
    assert_eq!(error.to_string(), "frame pool: capacity is 70000, must be 64 to 65000 bytes");
}

#[test]
fn keeps_in_the_batch_what_the_ring_refuses() {
    let pool = Pool::with_frames(16).unwrap();
    let (mut near, mut far) = ring::pair(8);
    let mut batch = Batch::new();
    pool.take_batch(&mut batch, 12);
    for (index, frame) in batch.iter_mut().enumerate() {
        frame.set_mark(index as u16);
        frame.set_len(60);
    }
    assert_eq!(near.room(12), 8);
    assert_eq!(near.send(&mut batch), 8);
    let marks = |batch: &Batch| batch.iter().map(|frame| frame.mark()).collect::<Vec<_>>();
    assert_eq!(marks(&batch), [8, 9, 10, 11]);
    assert_eq!((near.counters().tx_frames, near.counters().tx_refused), (8, 4));
    let mut arrived = Batch::new();
    assert_eq!(far.receive(&mut arrived), 8);
    assert_eq!(marks(&arrived), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(far.counters().rx_bytes, 8 * 60);
    drop((near, far));
}

#[test]
fn returns_frames_left_in_a_ring_to_their_pool() {
    let pool = Pool::with_frames(8).unwrap();
    let (mut near, far) = ring::pair(8);
    let mut batch = Batch::new();
    pool.take_batch(&mut batch, 8);
    near.send(&mut batch);
    drop((near, far));
    assert_eq!(pool.available(), 8);
}

#[test]
fn drops_the_rest_of_a_half_used_drain() {
    let pool = Pool::with_frames(8).unwrap();
    let mut batch = Batch::new();
    pool.take_batch(&mut batch, 8);
    let kept: Vec<_> = batch.drain().take(3).collect();
    assert_eq!((kept.len(), pool.available(), batch.len()), (3, 5, 0));
}

/// Receives until `total` frames have come, returns them, and counts those out of order.
fn echo(mut port: ring::RingPort, total: u64) -> u64 {
    let mut batch = Batch::new();
    let (mut seen, mut wrong) = (0_u64, 0);
    while seen < total {
        if port.receive(&mut batch) == 0 {
            std::thread::yield_now();
        }
        for frame in batch.iter() {
            wrong += u64::from(*frame.head::<8>() != seen.to_be_bytes());
            seen += 1;
        }
        port.send(&mut batch);
        assert!(batch.is_empty(), "the ring holds all frames of the pool");
    }
    wrong
}

#[test]
fn moves_a_million_frames_between_threads_in_order() {
    let pool = Pool::with_frames(64).unwrap();
    let (mut near, far) = ring::pair(64);
    let total = 1_000_000;
    let far = std::thread::spawn(move || echo(far, total));
    let (mut batch, mut out) = (Batch::new(), Batch::new());
    pool.take_batch(&mut batch, 64);
    let mut sent = 0_u64;
    while sent < total && !far.is_finished() {
        if near.receive(&mut batch) == 0 && batch.is_empty() {
            std::thread::yield_now();
        }
        batch.move_front(&mut out, (total - sent).min(64) as usize);
        for frame in out.iter_mut() {
            *frame.head_mut::<8>() = sent.to_be_bytes();
            sent += 1;
        }
        near.send(&mut out);
    }
    assert_eq!(far.join().unwrap(), 0, "frames out of order");
}

#[test]
fn a_ring_counts_what_left_also_while_the_other_end_makes_room() {
    const FRAMES: u64 = 200_000;
    let pool = Pool::with_frames(512).unwrap();
    let (mut one, mut two) = fwdlab_port::ring::pair(64);
    let received = std::thread::scope(|scope| {
        let receiver = scope.spawn(|| {
            let mut batch = Batch::new();
            let mut count = 0;
            while count < FRAMES {
                count += two.receive(&mut batch) as u64;
                batch.drain().for_each(drop);
            }
            two.counters()
        });
        let mut batch = Batch::new();
        let mut sent = 0;
        while sent < FRAMES {
            let wanted = Batch::CAPACITY.min((FRAMES - sent) as usize) - batch.len();
            pool.take_batch(&mut batch, wanted);
            for frame in batch.iter_mut() {
                frame.set_len(60);
            }
            sent += one.send(&mut batch) as u64;
        }
        receiver.join().unwrap()
    });
    assert_eq!((received.rx_frames, received.rx_bytes), (FRAMES, 60 * FRAMES));
    let sent = one.counters();
    assert_eq!((sent.tx_frames, sent.tx_bytes), (received.rx_frames, received.rx_bytes));
}
