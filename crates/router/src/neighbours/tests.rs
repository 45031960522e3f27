use super::*;
use fwdlab_fib::Inet;

const MAC: MacAddr = MacAddr([2, 0, 0, 0, 0, 9]);
const OTHER: MacAddr = MacAddr([2, 0, 0, 0, 0, 8]);

fn neighbours() -> Neighbours<Inet> {
    Neighbours::new(AdjacencyTable::new())
}

fn state(neighbours: &Neighbours<Inet>, address: u32) -> NeighbourState {
    let row = neighbours.list().into_iter().find(|row| row.1 == address);
    row.map_or(NeighbourState::Unknown, |row| row.3)
}

fn tick(neighbours: &mut Neighbours<Inet>, second: u64) -> Vec<Query<u32>> {
    let mut queries = Vec::new();
    neighbours.tick(second * SECOND, &mut queries);
    queries
}

#[test]
fn a_nexthop_resolves_when_its_neighbour_does() {
    let table = AdjacencyTable::new();
    let reader = table.reader();
    let neighbours = SharedNeighbours::<Inet>::new(table);
    neighbours.lock().follow(1, 7, NexthopId(3));
    assert_eq!(reader.of(NexthopId(3)).kind(), Kind::Unresolved);
    neighbours.lock().set_static(1, 7, MAC);
    assert_eq!(reader.of(NexthopId(3)), Adjacency::new(Kind::Forward, 1, MAC));
    assert_eq!(neighbours.lock().mac(1, 7), Some(MAC));
    assert_eq!(neighbours.lock().mac(0, 7), None);
    assert_eq!(neighbours.generation(), 1);
}

#[test]
fn a_later_nexthop_finds_a_known_neighbour() {
    let table = AdjacencyTable::new();
    let reader = table.reader();
    let neighbours = SharedNeighbours::<Inet>::new(table);
    neighbours.lock().set_static(1, 7, MAC);
    neighbours.lock().follow(1, 7, NexthopId(3));
    assert!(reader.of(NexthopId(3)).is_forward());
}

#[test]
fn rfc4861_section_7_3_2_a_neighbour_goes_through_all_states() {
    let mut table = neighbours();
    let query = table.resolve(0, 7, 0);
    assert_eq!(query, Some(Query { port: 0, target: 7, mac: None }));
    assert_eq!(table.resolve(0, 7, 1), None, "one query at a time");
    table.heard((0, 7), Heard::Answer(MAC), SECOND / 2);
    assert_eq!(state(&table, 7), NeighbourState::Reachable);
    assert_eq!(tick(&mut table, 30), []);
    assert_eq!(tick(&mut table, 31), []);
    assert_eq!(state(&table, 7), NeighbourState::Stale);
    assert_eq!(table.mac(0, 7), Some(MAC), "a stale address is used");
    assert_eq!(tick(&mut table, 36), [Query { port: 0, target: 7, mac: Some(MAC) }]);
    assert_eq!(state(&table, 7), NeighbourState::Probe);
    table.heard((0, 7), Heard::Answer(MAC), 36 * SECOND);
    assert_eq!(state(&table, 7), NeighbourState::Reachable);
}

#[test]
fn a_silent_neighbour_is_asked_three_times_and_forgotten() {
    let table = AdjacencyTable::new();
    let reader = table.reader();
    let mut neighbours = Neighbours::<Inet>::new(table);
    neighbours.follow(2, 7, NexthopId(1));
    let first = neighbours.resolve(2, 7, 0).into_iter().count();
    let later: usize = (1..10).map(|second| tick(&mut neighbours, second).len()).sum();
    assert_eq!(first + later, 3);
    assert_eq!(state(&neighbours, 7), NeighbourState::Unknown);
    assert_eq!(reader.of(NexthopId(1)).kind(), Kind::Unresolved);
    assert!(neighbours.resolve(2, 7, 20 * SECOND).is_some(), "a later packet asks again");
}

#[test]
fn a_static_neighbour_neither_ages_nor_learns() {
    let mut table = neighbours();
    table.set_static(0, 7, MAC);
    table.heard((0, 7), Heard::Answer(OTHER), 0);
    assert_eq!(tick(&mut table, 1000), []);
    assert_eq!((table.mac(0, 7), state(&table, 7)), (Some(MAC), NeighbourState::Static));
}

#[test]
fn rfc4861_section_7_2_5_an_answer_that_nobody_asked_for_is_ignored() {
    let mut table = neighbours();
    table.heard((0, 7), Heard::Answer(MAC), 0);
    assert_eq!(table.mac(0, 7), None);
    table.heard((0, 7), Heard::Asked(MAC), 0);
    assert_eq!((table.mac(0, 7), state(&table, 7)), (Some(MAC), NeighbourState::Stale));
}

#[test]
fn learns_no_more_than_the_limit() {
    let mut table = neighbours();
    for address in 0..MAX_LEARNED as u32 + 10 {
        table.heard((0, address), Heard::Asked(MAC), 0);
    }
    assert_eq!(table.list().len(), MAX_LEARNED);
    assert_eq!(table.resolve(0, u32::MAX, 0), None);
}
