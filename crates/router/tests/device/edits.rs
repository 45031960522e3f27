//! Tables that change under traffic.

use fwdlab_fib::{Inet, Nexthop};
use fwdlab_router::DropReason;

use crate::rig::*;

#[test]
fn packets_in_the_middle_of_an_edit_are_without_route_and_go_no_other_way() {
    let mut rig = Rig::new();
    let far = 0xc613_00cb;
    let prefix = |third: u8| format!("10.{third}.0.0/16").parse().unwrap();
    let to = |third: u32| inet_with(|packet| packet.set_destination(0x0a00_0001 | third << 16));
    rig.router.add_neighbour::<Inet>(1, far + 1, FAR).unwrap();
    for third in 1..=3 {
        rig.router.add_route::<Inet>(prefix(third), Nexthop::via(far + 1, 1)).unwrap();
    }
    rig.router.flush();
    rig.forwarded(to(1));
    // All routes of the number go and another route comes, with a packet before the edit ends.
    rig.inject(0, &[to(4)]);
    let before = rig.counters();
    let Rig { router, worker, now_ns, .. } = &mut rig;
    router
        .edit_fib::<Inet>(0, |fib| {
            for third in 1..=3 {
                fib.delete(prefix(third))?;
            }
            fib.flush();
            fib.add(prefix(4), Nexthop::via(0xc612_0042, 0))?;
            fib.flush();
            worker.poll_at(*now_ns);
            Ok(())
        })
        .unwrap();
    let since = rig.counters().since(&before);
    assert_eq!(since.drops(DropReason::NoRoute), 1, "{:?}", since);
    assert!(rig.take(1).is_empty(), "it went to the gateway that had the number before");
    // Afterwards it waits for its own gateway.
    rig.inject(0, &[to(4)]);
    rig.poll();
    assert_eq!(rig.worker.held(), 1);
}

#[test]
fn a_number_that_was_free_before_the_edit_has_no_way_either() {
    let mut rig = Rig::new();
    let far = 0xc613_00cb;
    let prefix = |third: u8| format!("10.{third}.0.0/16").parse().unwrap();
    let to = |third: u32| inet_with(|packet| packet.set_destination(0x0a00_0001 | third << 16));
    rig.router.add_neighbour::<Inet>(1, far + 1, FAR).unwrap();
    rig.router.add_route::<Inet>(prefix(1), Nexthop::via(far + 1, 1)).unwrap();
    rig.forwarded(to(1));
    rig.router.delete_route::<Inet>(prefix(1)).unwrap();
    rig.router.flush();
    rig.dropped_or_refused(to(1));
    rig.inject(0, &[to(2)]);
    let Rig { router, worker, now_ns, .. } = &mut rig;
    router
        .edit_fib::<Inet>(0, |fib| {
            fib.add(prefix(2), Nexthop::via(0xc612_0042, 0))?;
            fib.flush();
            worker.poll_at(*now_ns);
            Ok(())
        })
        .unwrap();
    assert!(rig.take(1).is_empty(), "it went to the gateway that had the number before");
}
