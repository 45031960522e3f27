//! Where cables and the receiver lie in the kernel's memory.
//!
//! Behind each frame a thread of epair's wakes whoever sleeps on its task (`taskqueue_run_locked`). Nobody does,
//! but the kernel looks through one of its lists of sleepers for them, by a hash of the task's address. Whoever
//! sleeps in that list costs each frame some 8 instructions, which are neither the device's nor in every boot, every
//! kernel and every size of memory. Threads of the kernel's own sleep there for ever: so more cables are made than
//! are needed, and those taken over which a frame costs least. Threads of netmap's sleep as long as
//! the receiver is open: so it is opened in several places, and stays in one where a frame costs least.

use crate::frames::Frames;
use crate::sys::{self, Arguments, ERRORS, MOST_OTHERS, Name, OUTPUT};
use crate::tester::{BATCH, PATIENCE, Tester};
use crate::text::{Done, Problem, Text, number};

/// Places that are tried at least and at most.
const FEWEST: usize = 3;
const MOST: usize = 8;

/// Batches in a look at a place: as many frames as there usually are flows.
const LOOK: usize = 63;

/// After each move so long nothing is looked at, in ms.
const SETTLING_MS: u64 = 30;

/// As long before the first look at a cable, and before each further one.
const FIRST_SETTLING_MS: u64 = 100;
const SHORT_SETTLING_MS: u64 = 10;

/// What two looks at equal places may differ by, as a share: 2 instructions of a frame's 8,000.
const ALIKE: u64 = 4000;

/// Moves the receiver, if the command's last two words are interfaces over which nothing goes, and says on
/// stderr what a frame cost in each place.
pub fn choose(tester: &mut Tester, arguments: &Arguments, khz: u64) -> Done {
    let idle: [&[u8]; MOST_OTHERS] = core::array::from_fn(|at| arguments.get(9 + at));
    if idle.iter().any(|name| name.is_empty()) || tester.has_lost() {
        return Ok(());
    }
    let mut said = Text::with_room(4096).map_err(Problem::with("no memory"))?;
    let mut least = u64::MAX;
    for place in 0..MOST {
        if place > 0 {
            tester.move_receiver(arguments.get(3), &idle[..place % (MOST_OTHERS + 1)])?;
            tester.settle(SETTLING_MS * khz)?;
        }
        let batch = look(tester)?;
        said.number(batch / BATCH as u64).put(b" ");
        least = least.min(batch);
        if place + 1 >= FEWEST && batch <= least + least / ALIKE {
            break;
        }
    }
    said.put(b"ticks a frame\n");
    ERRORS.write_all(said.bytes()).map_err(Problem::with("cannot write"))
}

/// `cables FRAMES KHZ NAME...`: prints for each epair what a frame costs over it, the dearer of both ways.
pub fn cables(arguments: &Arguments) -> Done {
    let frames = Frames::read(arguments.get(2), true)?;
    let khz = number(arguments.get(3)).ok_or(Problem::new("a number is none"))?;
    let mut said = Text::with_room(4096).map_err(Problem::with("no memory"))?;
    let mut settling = FIRST_SETTLING_MS;
    for at in 4.. {
        let name = arguments.get(at);
        if name.is_empty() {
            break;
        }
        let ends = [b"a", b"b"].map(|end| Name::of(&[name, end]));
        let [a, b] = ends.each_ref().map(|end| &end.bytes[..end.length]);
        let mut dearer = 0;
        for (send, receive) in [(b, a), (a, b)] {
            let mut tester = Tester::between(send, receive, frames)?;
            tester.settle(settling * khz)?;
            settling = SHORT_SETTLING_MS;
            dearer = look(&mut tester)?.max(dearer);
            tester.close();
        }
        said.number(dearer / BATCH as u64).put(b" ").put(name).put(b"\n");
    }
    OUTPUT.write_all(said.bytes()).map_err(Problem::with("cannot write"))
}

/// What a batch costs in this place, in ticks: the median of some.
fn look(tester: &mut Tester) -> Result<u64, Problem> {
    let mut batches = [0; LOOK];
    for batch in &mut batches {
        let start = sys::ticks();
        tester.send_batch(PATIENCE)?;
        *batch = sys::ticks() - start;
    }
    batches.sort_unstable();
    Ok(batches[LOOK / 2])
}
