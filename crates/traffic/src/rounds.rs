//! What is sent to a device that tracks sessions, from one emptying of its table to the next: which
//! frames in which order, and which of them are counted.

use crate::flow_frame::FrameOf;
use crate::flows::FlowSet;
use crate::segments::Segments;

/// Sessions that begin before frames of the other way are sent, where sessions come and go.
const TICKS: usize = 1024;

/// Which frames of sessions are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// The first of each.
    First,
    /// Those of sessions that have been opened.
    Later,
    /// The first of those for which the table, which has been filled, has no room.
    Beyond,
    /// All, while sessions come and go.
    All,
}

/// How the sessions of a round live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lives {
    /// Which of their frames are counted.
    pub taken: Taken,
    /// They are of TCP: each frame of one is another.
    pub is_tcp: bool,
    /// Frames from beginning to end, of both ways together.
    pub lifetime: u32,
    /// How many are alive at once, where they come and go.
    pub concurrent: u64,
}

/// One round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// The frames in the order of sending, each way; sent again from the first when all were. Flows are
    /// numbered destination * sources + source, those of the way back too.
    pub turns: Vec<Vec<FrameOf>>,
    /// One after the other.
    pub parts: Vec<Part>,
}

/// Frames that belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Whether the measure is taken of them.
    pub is_counted: bool,
    /// One after the other.
    pub runs: Vec<Run>,
}

/// Frames of one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// 0 to the destinations, 1 back.
    pub way: usize,
    /// How many.
    pub frames: u32,
}

/// The flows as the frames of a way have them, and which of these they are: those of the way back are
/// turned round, and so are the flows' numbers.
pub fn of_way(flows: &FlowSet, turn: &[FrameOf], way: usize) -> (FlowSet, Vec<FrameOf>) {
    if way == 0 {
        return (*flows, turn.to_vec());
    }
    let (sources, destinations) = (flows.source().count(), flows.destination().count());
    let turned = |flow: u64| (flow % sources * destinations + flow / sources) as u32;
    let own = |&FrameOf { flow, number }: &FrameOf| FrameOf { flow: turned(flow.into()), number };
    (flows.turned(), turn.iter().map(own).collect())
}

/// A tenth more sessions than there is room for: what a full table does is more than its first moments.
pub const fn least_to_fill(room: u64) -> u64 {
    room.saturating_add(room / 10).saturating_add(1)
}

impl Round {
    /// The round of sessions that live so. `order` are all of them; the table has room for `room`.
    ///
    /// # Errors
    /// How many sessions it takes at least, where there are too few.
    pub fn new(own: Lives, order: &[u32], ways: usize, room: u64) -> Result<Self, u64> {
        let all = order.len() as u32;
        let of = |way, frames| Run { way, frames };
        let part = |is_counted, runs| Part { is_counted, runs };
        // What opens a session, and all frames up to the last; at least one is counted of each.
        let Lives { taken, is_tcp, .. } = own;
        let opening = if is_tcp { Segments::OPENING } else { ways };
        let each = |frames: std::ops::Range<usize>| frames.map(|k| of(k % ways, all)).collect();
        let last = (own.lifetime as usize).max(opening + 1);
        let (frames, parts) = match taken {
            Taken::First => (1, vec![part(true, vec![of(0, all)])]),
            Taken::Later => {
                (last, vec![part(false, each(0..opening)), part(true, each(opening..last))])
            }
            Taken::Beyond => return Self::beyond(order, (opening, is_tcp), ways, room),
            Taken::All => return Ok(Self::passing(own, order, ways)),
        };
        // Datagrams of a session are alike; each segment is another.
        let frames = if is_tcp { frames } else { 1 };
        let turn = |way: usize| {
            let own = (0..frames.max(ways)).filter(|number| number % ways == way);
            own.flat_map(|number| order.iter().map(move |&flow| FrameOf { flow, number })).collect()
        };
        Ok(Self { turns: (0..ways).map(turn).collect(), parts })
    }

    /// Sessions that fill a table, each opened, and the first frames of those for which it has no room.
    fn beyond(
        order: &[u32],
        (opening, is_tcp): (usize, bool),
        ways: usize,
        room: u64,
    ) -> Result<Self, u64> {
        let least = least_to_fill(room);
        let is_enough = room > 0 && order.len() as u64 >= least;
        let fits = usize::try_from(room).ok().filter(|_| is_enough);
        let (inside, beyond) = order.split_at(fits.ok_or(least)?);
        let mut turns: Vec<Vec<FrameOf>> = vec![Vec::new(); ways];
        let mut send = |number: usize, flows: &[u32]| {
            // Datagrams of a way are alike.
            let own = if is_tcp { number } else { number % ways };
            turns[number % ways].extend(flows.iter().map(|&flow| FrameOf { flow, number: own }));
            Run { way: number % ways, frames: flows.len() as u32 }
        };
        let opened = (0..opening).map(|number| send(number, inside)).collect();
        let counted = vec![send(0, beyond)];
        let part = |is_counted, runs| Part { is_counted, runs };
        Ok(Self { turns, parts: vec![part(false, opened), part(true, counted)] })
    }

    /// Sessions that come and go. In each tick one begins, and `concurrent` ticks later it ends; its
    /// frames in between are spread evenly, to the destinations and back in turns.
    fn passing(own: Lives, order: &[u32], ways: usize) -> Self {
        let (frames, alive) = (own.lifetime as usize, own.concurrent as usize);
        // What answers a segment goes out in a run behind it.
        let between = (alive - 1) / (frames - 1).max(1);
        let ticks_at_once = if own.is_tcp { between.clamp(1, TICKS) } else { TICKS };
        let mut turns: Vec<Vec<FrameOf>> = vec![Vec::new(); ways];
        let mut runs = Vec::new();
        let ticks: Vec<usize> = (0..order.len() + alive).collect();
        for ticks in ticks.chunks(ticks_at_once) {
            let before: Vec<usize> = turns.iter().map(Vec::len).collect();
            for tick in ticks {
                for number in 0..frames {
                    let ago = number * (alive - 1) / (frames - 1).max(1);
                    let session = tick.checked_sub(ago).and_then(|born| order.get(born));
                    turns[number % ways].extend(session.map(|&flow| FrameOf { flow, number }));
                }
            }
            let sent = |(way, turn): (usize, &Vec<FrameOf>)| Run {
                way,
                frames: (turn.len() - before[way]) as u32,
            };
            runs.extend(turns.iter().enumerate().map(sent).filter(|run| run.frames > 0));
        }
        Self { turns, parts: vec![Part { is_counted: true, runs }] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: Lives = Lives { taken: Taken::All, is_tcp: false, lifetime: 4, concurrent: 7 };

    fn udp(taken: Taken) -> Lives {
        Lives { taken, ..OWN }
    }

    /// The sessions of each counted frame in the order of sending, and of those before them.
    fn sent(round: &Round) -> [Vec<(usize, u32)>; 2] {
        let mut next = vec![0; round.turns.len()];
        let mut sent = [Vec::new(), Vec::new()];
        for part in &round.parts {
            for run in &part.runs {
                for _ in 0..run.frames {
                    let turn = &round.turns[run.way];
                    sent[usize::from(part.is_counted)].push((run.way, turn[next[run.way]].flow));
                    next[run.way] = (next[run.way] + 1) % turn.len();
                }
            }
        }
        sent
    }

    #[test]
    fn insertion_sees_each_session_once_and_lookup_only_known_ones() {
        let order = [3, 1, 4, 0, 2];
        let round = |taken, ways| Round::new(udp(taken), &order, ways, 9).expect("a round");
        let [before, counted] = sent(&round(Taken::First, 1));
        assert!(before.is_empty());
        assert_eq!(counted, order.map(|session| (0, session)));
        for ways in [1, 2] {
            let [before, counted] = sent(&round(Taken::Later, ways));
            assert_eq!((before.len(), counted.len()), (5 * ways, 5 * (4 - ways)));
            assert!((0..5).all(|session| before.contains(&(ways - 1, session))));
            // As many frames each way, but for one.
            let back = counted.iter().filter(|(way, _)| *way == 1).count();
            assert_eq!(back, 5 * (ways - 1));
        }
    }

    #[test]
    fn the_flows_of_the_way_back_are_those_ahead_turned_round() {
        let flows = FlowSet::parse("198.18.10.1-198.18.10.3:7", "198.19.10.1-198.19.10.2:53-54");
        let flows = flows.expect("flows");
        let turn: Vec<FrameOf> =
            (0..flows.count()).map(|flow| FrameOf { flow, number: 1 }).collect();
        let (turned, back) = of_way(&flows, &turn, 1);
        let plain = (0, crate::Carried::Datagram { has_mark: false });
        let frame =
            |flows: &FlowSet, own| crate::flow_frame(flows, own, 60, plain).expect("a frame");
        for (&there, &here) in turn.iter().zip(&back) {
            let (there, here) = (frame(&flows, there), frame(&turned, here));
            assert_eq!((&there[26..30], &there[34..36]), (&here[30..34], &here[36..38]));
            assert_eq!((&there[30..34], &there[36..38]), (&here[26..30], &here[34..36]));
        }
        assert_eq!(of_way(&flows, &turn, 0).1, turn);
    }

    #[test]
    fn a_table_is_filled_before_more_sessions_come() {
        let order: Vec<u32> = (0..23).collect();
        let [before, counted] =
            sent(&Round::new(udp(Taken::Beyond), &order, 1, 20).expect("a round"));
        assert_eq!((before.len(), counted.len()), (20, 3));
        assert!(counted.iter().all(|frame| !before.contains(frame)));
        // Both ways each that fills it is answered; those beyond are new.
        let round = Round::new(udp(Taken::Beyond), &order, 2, 20).expect("a round");
        let [before, counted] = sent(&round);
        assert_eq!((before.len(), counted.len()), (40, 3));
        assert!(
            (0..20).all(|session| before.contains(&(0, session)) && before.contains(&(1, session)))
        );
        assert_eq!(counted, [20, 21, 22].map(|session| (0, session)));
        assert_eq!(Round::new(udp(Taken::Beyond), &order, 1, 21), Err(24));
        assert!(Round::new(udp(Taken::Beyond), &order, 1, 1 << 40).is_err());
    }

    #[test]
    fn sessions_that_come_and_go_live_for_their_frames_so_many_at_once() {
        let order: Vec<u32> = (0..3_000).collect();
        for ways in [1, 2] {
            let round = Round::new(OWN, &order, ways, 9).expect("a round");
            let [_, all] = sent(&round);
            assert_eq!(all.len(), 3_000 * 4);
            for session in [0, 1, 1_500, 2_999] {
                let own: Vec<_> = all.iter().filter(|frame| frame.1 == session).collect();
                assert_eq!(own.len(), 4, "{session}");
                assert_eq!(own.iter().filter(|frame| frame.0 == 1).count(), 4 * (ways - 1) / 2);
            }
            if ways == 1 {
                // In the middle seven are alive: they have begun, and not ended.
                let now = all.iter().position(|frame| frame.1 == 1_500).expect("it begins");
                let (past, rest) = all.split_at(now + 1);
                let is_in = |list: &[(usize, u32)], session| list.contains(&(0, session));
                let alive = (0..3_000).filter(|s| is_in(past, *s) && is_in(rest, *s)).count();
                assert_eq!(alive, 7);
            }
        }
        let one = Lives { lifetime: 2, concurrent: 1, ..OWN };
        let round = Round::new(one, &[0, 1], 1, 9).expect("a round");
        assert_eq!(sent(&round)[1], [(0, 0), (0, 0), (0, 1), (0, 1)]);
    }

    /// Which segment of each session comes when, counted or not.
    fn segments(round: &Round) -> Vec<(u32, usize, usize)> {
        let mut next = vec![0; round.turns.len()];
        let mut all = Vec::new();
        for run in round.parts.iter().flat_map(|part| &part.runs) {
            for _ in 0..run.frames {
                let FrameOf { flow, number } = round.turns[run.way][next[run.way]];
                all.push((flow, number, run.way));
                next[run.way] += 1;
            }
        }
        all
    }

    #[test]
    fn segments_go_out_behind_those_that_they_answer() {
        let tcp = |taken| Lives { taken, is_tcp: true, lifetime: 7, concurrent: 112 };
        let order: Vec<u32> = (0..300).rev().collect();
        for (taken, frames) in [(Taken::First, 1), (Taken::Later, 7), (Taken::All, 7)] {
            let round = Round::new(tcp(taken), &order, 2, 9).expect("a round");
            let all = segments(&round);
            assert_eq!(all.len(), 300 * frames, "{taken:?}");
            for session in [0, 1, 150, 299] {
                let own: Vec<_> = all.iter().filter(|sent| sent.0 == session).collect();
                let numbers: Vec<_> = own.iter().map(|sent| sent.1).collect();
                assert_eq!(numbers, (0..frames).collect::<Vec<_>>(), "{taken:?} {session}");
                assert!(own.iter().all(|sent| sent.1 % 2 == sent.2));
            }
        }
        let round = Round::new(tcp(Taken::Beyond), &order, 2, 200).expect("a round");
        let numbers = |session: u32| {
            let own = segments(&round).into_iter().filter(move |sent| sent.0 == session);
            own.map(|(_, number, way)| (number, way)).collect::<Vec<_>>()
        };
        assert_eq!(numbers(order[199]), [(0, 0), (1, 1), (2, 0)]);
        assert_eq!(numbers(order[200]), [(0, 0)]);
        let round = Round::new(tcp(Taken::Later), &order, 2, 9).expect("a round");
        assert_eq!(sent(&round).map(|part| part.len()), [900, 1_200], "opened by three segments");
    }
}
