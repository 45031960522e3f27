//! The queue of `sys/spsc.rs` under loom: every interleaving of a producer and a consumer.
//!
//! loom replaces the atomics; the file under test is compiled here a second time, unchanged.
//! Only with `RUSTFLAGS="--cfg loom"`.
#![cfg(loom)]
#![allow(unsafe_code, dead_code)]

#[path = "loom_ring/sync.rs"]
mod sync;

#[path = "../src/sys/spsc.rs"]
mod spsc;

use std::mem::MaybeUninit;

/// An element that notices when its places are read before they are published: loom tracks the
/// cell, and a read that is not ordered after the write fails the model.
type Element = loom::sync::Arc<loom::cell::UnsafeCell<u32>>;

fn element(value: u32) -> Element {
    let cell = loom::sync::Arc::new(loom::cell::UnsafeCell::new(0));
    // SAFETY: nobody else has the cell yet.
    cell.with_mut(|place| unsafe { *place = value });
    cell
}

fn push(producer: &mut spsc::Producer<Element>, values: &[u32]) -> usize {
    let mut elements: Vec<_> =
        values.iter().map(|&value| MaybeUninit::new(element(value))).collect();
    // SAFETY: all elements are initialised; those that moved are not dropped below.
    let count = unsafe { producer.push(elements.as_ptr(), elements.len()) };
    for rest in &mut elements[count..] {
        // SAFETY: not moved, so still initialised and ours.
        unsafe { rest.assume_init_drop() };
    }
    count
}

fn pop(consumer: &mut spsc::Consumer<Element>, most: usize) -> Vec<u32> {
    let mut places: Vec<MaybeUninit<Element>> = (0..most).map(|_| MaybeUninit::uninit()).collect();
    // SAFETY: there is room for `most` elements.
    let count = unsafe { consumer.pop(places.as_mut_ptr(), most) };
    places.truncate(count);
    let read = |place: MaybeUninit<Element>| {
        // SAFETY: the first `count` places were initialised by `pop`.
        let element = unsafe { place.assume_init() };
        // SAFETY: loom checks that this read is ordered after the write.
        element.with(|value| unsafe { *value })
    };
    places.into_iter().map(read).collect()
}

#[test]
fn delivers_all_elements_in_order_in_every_interleaving() {
    loom::model(|| {
        let (mut producer, mut consumer) = spsc::channel(2);
        let sender = loom::thread::spawn(move || {
            let mut sent = push(&mut producer, &[1, 2]);
            sent += push(&mut producer, &[3][..usize::from(sent == 2)]);
            sent
        });
        let mut received = pop(&mut consumer, 2);
        received.extend(pop(&mut consumer, 2));
        let sent = sender.join().expect("the producer ends");
        received.extend(pop(&mut consumer, 2));
        received.extend(pop(&mut consumer, 2));
        assert_eq!(received, (1..=sent as u32).collect::<Vec<_>>());
    });
}

#[test]
fn reuses_places_only_after_the_consumer_has_left_them() {
    loom::model(|| {
        let (mut producer, mut consumer) = spsc::channel(1);
        assert_eq!(push(&mut producer, &[1, 2]), 1);
        let receiver = loom::thread::spawn(move || {
            let first = pop(&mut consumer, 1);
            (first, consumer)
        });
        let second = push(&mut producer, &[2]);
        let (first, mut consumer) = receiver.join().expect("the consumer ends");
        assert_eq!(first, [1]);
        assert_eq!(pop(&mut consumer, 2), [2][..second]);
    });
}

#[test]
fn drops_what_was_never_received() {
    loom::model(|| {
        let (mut producer, consumer) = spsc::channel(2);
        let sender = loom::thread::spawn(move || push(&mut producer, &[1, 2]));
        drop(consumer);
        assert_eq!(sender.join().expect("the producer ends"), 2);
        // loom fails the model when an `Arc` is leaked.
    });
}
