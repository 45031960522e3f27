//! Sentences made from facts, so that each is true or false by how it was made: whom it speaks of, what it says, and
//! the words for both are drawn independently.

use std::collections::BTreeSet;

use fwdlab_netbenches::name::NamedFamily::{self, Inet, Inet6};

use super::{Cell, Change, Facts, Judged, Part, read};

/// A generator of numbers, from a seed that a failure prints.
struct Dice(u64);

impl Dice {
    fn next(&mut self, below: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % below
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.next(list.len())]
    }
}

const MACHINES: [[&str; 4]; 2] = [
    ["the Xeon", "machine A", "box A", "the Supermicro"],
    ["the APU2", "machine B", "box B", "the PC Engines"],
];
const FAMILIES: [[&str; 3]; 2] = [["IPv4", "v4", "inet4"], ["IPv6", "v6", "inet6"]];

/// Two machines, two families, stock and patched.
fn facts(dice: &mut Dice) -> Facts {
    const CHANGES: [f64; 9] = [-34.0, -11.5, -7.2, -2.4, 0.0, 2.1, 8.8, 17.4, 24.5];
    let part = |names: &[&str], letter: &str, line: f64, cores: u32| Part {
        models: BTreeSet::new(),
        names: names.iter().map(|name| (*name).to_owned()).collect(),
        letter: Some(letter.to_owned()),
        line_rates: vec![line],
        cores: Some(cores),
        loads: vec![line],
    };
    let mut facts = Facts {
        parts: vec![
            part(&["xeon", "supermicro", "chelsio"], "A", 14_880_952.0, 8),
            part(&["apu2d4", "engines", "pc"], "B", 1_488_095.0, 4),
        ],
        ..Facts::default()
    };
    for part in 0..2 {
        for (block, family) in [Inet, Inet6].into_iter().enumerate() {
            let scale = if part == 0 { 1e6 } else { 1e5 };
            let base = scale * (3.0 + dice.next(60) as f64 / 10.0);
            let percent = CHANGES[dice.next(CHANGES.len())];
            let first = facts.cells.len();
            for (role, mean) in [base, base * (1.0 + percent / 100.0)].into_iter().enumerate() {
                facts.cells.push(cell(part, family, 2 * part + block, role, mean));
            }
            let of = |at: usize| facts.cells[at].mean();
            let real = (of(first + 1) / of(first) - 1.0) * 100.0;
            facts.changes.push(Change {
                base: first,
                variant: first + 1,
                percent: real,
                median_percent: real,
                half: 0.5,
                is_proven: real.abs() > 0.5,
            });
        }
    }
    facts
}

fn cell(part: usize, family: NamedFamily, block: usize, role: usize, mean: f64) -> Cell {
    let mean = mean.round();
    let names = if role == 1 { BTreeSet::from(["d28114".to_owned()]) } else { BTreeSet::new() };
    Cell {
        part,
        family: Some(family),
        block,
        role,
        names,
        topics: BTreeSet::new(),
        shared: BTreeSet::new(),
        legend: format!("{part} {family:?} {role}"),
        runs: 5,
        values: [0.996 * mean, 1.004 * mean, mean, mean, 0.003 * mean],
        all: Vec::new(),
    }
}

/// A sentence and whether it is true; `None` where the facts leave that open.
type Made = (String, Option<bool>);

/// Whom a sentence speaks of, said before or after.
struct Subject {
    part: usize,
    family: usize,
}

impl Subject {
    fn change<'a>(&self, facts: &'a Facts) -> &'a Change {
        &facts.changes[2 * self.part + self.family]
    }

    fn of(dice: &mut Dice) -> Self {
        Self { part: dice.next(2), family: dice.next(2) }
    }

    fn machine(&self, dice: &mut Dice) -> &'static str {
        dice.of(&MACHINES[self.part])
    }

    fn family(&self, dice: &mut Dice) -> &'static str {
        dice.of(&FAMILIES[self.family])
    }
}

const RISES: [&str; 12] = [
    "improves",
    "gains",
    "gets faster",
    "goes up",
    "benefits",
    "is faster with the patch",
    "speeds up",
    "profits",
    "went up",
    "has become quicker",
    "wins",
    "increased",
];
const FALLS: [&str; 12] = [
    "suffers",
    "loses",
    "gets slower",
    "goes down",
    "regresses",
    "is slower with the patch",
    "slows down",
    "drops",
    "went down",
    "has become slower",
    "takes a hit",
    "decreased",
];
const STAYS: [&str; 8] = [
    "is unchanged",
    "shows no difference",
    "is not affected",
    "stays the same",
    "is unaffected by the patch",
    "sees no change",
    "is within the noise",
    "does not move",
];

/// "On the Xeon IPv6 loses", "IPv6 loses on the Xeon", "the Xeon's IPv6 loses".
fn placed(dice: &mut Dice, subject: &Subject, verb: &str) -> String {
    let (machine, family) = (subject.machine(dice), subject.family(dice));
    match dice.next(4) {
        0 => format!("On {machine} {family} {verb}."),
        1 => format!("{family} {verb} on {machine}."),
        2 => format!("For {family}, {machine} {verb}."),
        _ => format!("{machine}'s {family} rate {verb}."),
    }
}

fn direction(dice: &mut Dice, facts: &Facts) -> Made {
    let subject = Subject::of(dice);
    let change = subject.change(facts);
    let (verb, is_so) = match dice.next(3) {
        0 => (dice.of(&RISES), Some(change.percent > 1.0).filter(|_| change.is_proven)),
        1 => (dice.of(&FALLS), Some(change.percent < -1.0).filter(|_| change.is_proven)),
        _ => (dice.of(&STAYS), Some(!change.is_proven)),
    };
    (placed(dice, &subject, verb), is_so)
}

fn denied(dice: &mut Dice, facts: &Facts) -> Made {
    let subject = Subject::of(dice);
    let change = subject.change(facts);
    let (verb, is_so) = match dice.next(2) {
        0 => (
            dice.of(&[
                "does not improve",
                "isn't any faster",
                "does not gain anything",
                "sees no gain",
                "never gets faster",
            ]),
            !(change.is_proven && change.percent > 0.0),
        ),
        _ => (
            dice.of(&[
                "does not suffer",
                "isn't any slower",
                "doesn't lose anything",
                "sees no regression",
                "shows no slowdown",
            ]),
            !(change.is_proven && change.percent < 0.0),
        ),
    };
    (placed(dice, &subject, verb), Some(is_so))
}

fn sized(dice: &mut Dice, facts: &Facts) -> Made {
    let subject = Subject::of(dice);
    let change = subject.change(facts);
    if !change.is_proven {
        return (String::new(), None);
    }
    let is_so = dice.next(2) == 0;
    let factor = if is_so { 1.0 } else { [0.4, 0.6, 1.6, 2.2][dice.next(4)] };
    let percent = change.percent.abs() * factor;
    let base = facts.cells[change.base].mean();
    let kpps = change.percent.abs() / 100.0 * base * factor / 1e3;
    let is_up = change.percent > 0.0;
    let amount = match dice.next(3) {
        0 => format!("{percent:.1} %"),
        1 => format!("about {percent:.0} percent"),
        _ => format!("{kpps:.0} kpps"),
    };
    let verb = match is_up {
        true => dice.of(&[
            "gains X",
            "improves by X",
            "is up by X",
            "gets X more",
            "goes up X",
            "is X faster with the patch",
        ]),
        false => dice.of(&[
            "loses X",
            "drops by X",
            "is down by X",
            "gets X less",
            "goes down X",
            "is X slower with the patch",
        ]),
    };
    let verb = verb.replace('X', &amount);
    let verb = if amount.ends_with("kpps") {
        verb.replace("faster", "higher").replace("slower", "lower")
    } else {
        verb
    };
    (placed(dice, &subject, &verb), Some(is_so))
}

fn level(dice: &mut Dice, facts: &Facts) -> Made {
    let subject = Subject::of(dice);
    let change = subject.change(facts);
    let role = dice.next(2);
    let mean = facts.cells[if role == 0 { change.base } else { change.variant }].mean();
    let is_so = dice.next(2) == 0;
    let value = if is_so { mean } else { mean * [0.55, 0.8, 1.3, 1.7][dice.next(4)] };
    let amount = if dice.next(2) == 0 {
        format!("{:.0} kpps", value / 1e3)
    } else {
        format!("{:.3} Mpps", value / 1e6)
    };
    let (machine, family) = (subject.machine(dice), subject.family(dice));
    let state = if role == 0 {
        dice.of(&["Without the patch", "Before", "Unpatched", "Stock"])
    } else {
        dice.of(&["With the patch", "Patched", "Now", "After the change"])
    };
    let text = match dice.next(3) {
        0 => format!("{state}, {machine} forwards {amount} of {family}."),
        1 => format!("{state}, {family} on {machine} is at {amount}."),
        _ => format!("{state}, {machine} reads {amount} for {family}."),
    };
    (text, Some(is_so))
}

fn moved(dice: &mut Dice, facts: &Facts) -> Made {
    let subject = Subject::of(dice);
    let change = subject.change(facts);
    let (a, b) = (facts.cells[change.base].mean() / 1e3, facts.cells[change.variant].mean() / 1e3);
    if change.percent.abs() < 2.0 {
        return (String::new(), None);
    }
    let is_so = dice.next(2) == 0;
    let (a, b) = if is_so {
        (a, b)
    } else if dice.next(2) == 0 {
        (b, a)
    } else {
        (a, b * 1.4)
    };
    let verb = match dice.next(4) {
        0 => format!("goes from {a:.0} to {b:.0} kpps"),
        1 => format!("moves from {a:.0} kpps to {b:.0} kpps"),
        2 => format!("now has {b:.0} kpps instead of {a:.0} kpps"),
        _ => format!("went {a:.0} kpps -> {b:.0} kpps"),
    };
    (placed(dice, &subject, &verb), Some(is_so))
}

fn families(dice: &mut Dice, facts: &Facts) -> Made {
    let part = dice.next(2);
    let role = dice.next(2);
    let first = dice.next(2);
    let of = |family: usize| {
        let change = &facts.changes[2 * part + family];
        facts.cells[if role == 0 { change.base } else { change.variant }].mean()
    };
    let ratio = of(first) / of(1 - first);
    let machine = dice.of(&MACHINES[part]);
    let (a, b) = (dice.of(&FAMILIES[first]), dice.of(&FAMILIES[1 - first]));
    let is_above = dice.next(2) == 0;
    let verb = if is_above {
        dice.of(&["is faster than", "outruns", "beats", "is ahead of", "has a higher rate than"])
    } else {
        dice.of(&["is slower than", "trails", "is behind", "has a lower rate than"])
    };
    let state = if role == 0 {
        dice.of(&["without the patch", "on the stock kernel"])
    } else {
        dice.of(&["with the patch", "on the patched kernel"])
    };
    let is_so = (ratio > 1.0) == is_above;
    (
        format!("On {machine}, {a} {verb} {b} {state}."),
        Some(is_so).filter(|_| (ratio - 1.0).abs() > 0.01),
    )
}

fn quantified(dice: &mut Dice, facts: &Facts) -> Made {
    let of = |part: usize, family: usize| &facts.changes[2 * part + family];
    let is_up = dice.next(2) == 0;
    let so = |change: &Change| change.is_proven && (change.percent > 0.0) == is_up;
    let verb = if is_up {
        dice.of(&["improves", "gains", "gets faster"])
    } else {
        dice.of(&["loses", "suffers", "gets slower"])
    };
    let plural = match verb {
        "improves" => "improve",
        "gains" => "gain",
        "loses" => "lose",
        "suffers" => "suffer",
        "gets faster" => "get faster",
        _ => "get slower",
    };
    let (part, family) = (dice.next(2), dice.next(2));
    let (machine, name) = (dice.of(&MACHINES[part]), dice.of(&FAMILIES[family]));
    let both = [so(of(0, family)), so(of(1, family))];
    let two = [so(of(part, 0)), so(of(part, 1))];
    match dice.next(6) {
        0 => (format!("{name} {verb} on both machines."), Some(both[0] && both[1])),
        1 => (format!("{name} {verb} on neither machine."), Some(!both[0] && !both[1])),
        2 => (format!("On {machine}, both families {plural}."), Some(two[0] && two[1])),
        3 => (format!("Only {machine} {verb} in {name}."), Some(both[part] && !both[1 - part])),
        4 => (format!("On {machine}, neither v4 nor v6 {verb}."), Some(!two[0] && !two[1])),
        _ => (
            format!("On {machine} {name} {verb}, but {} does not.", FAMILIES[1 - family][0]),
            Some(two[family] && !two[1 - family]),
        ),
    }
}

fn proven(dice: &mut Dice, facts: &Facts) -> Made {
    let subject = Subject::of(dice);
    let change = subject.change(facts);
    let (verb, is_so) = match dice.next(2) {
        0 => (
            dice.of(&[
                "shows a significant difference",
                "changes significantly",
                "shows a measurable effect",
            ]),
            change.is_proven,
        ),
        _ => (
            dice.of(&[
                "shows no significant difference",
                "does not change significantly",
                "shows no measurable effect",
                "is a statistical tie",
            ]),
            !change.is_proven,
        ),
    };
    (placed(dice, &subject, verb), Some(is_so))
}

fn shares(dice: &mut Dice, facts: &Facts) -> Made {
    let subject = Subject::of(dice);
    let change = subject.change(facts);
    let is_down = dice.next(2) == 0;
    let (value, words) =
        [(33.3, "a third"), (25.0, "a quarter"), (10.0, "a tenth"), (50.0, "half")][dice.next(4)];
    let verb =
        if is_down { format!("loses {words} of its rate") } else { format!("gets {words} more") };
    let real = if is_down { -change.percent } else { change.percent };
    let is_so = if (real / value - 1.0).abs() < 0.05 {
        Some(true)
    } else if real < 0.7 * value || real > 1.4 * value {
        Some(false)
    } else {
        None
    };
    (placed(dice, &subject, &verb), is_so)
}

fn changes_ranked(dice: &mut Dice, facts: &Facts) -> Made {
    let family = dice.next(2);
    let first = dice.next(2);
    let of = |part: usize| facts.changes[2 * part + family].percent;
    let (a, b) = (of(first), of(1 - first));
    let (one, other, name) =
        (dice.of(&MACHINES[first]), dice.of(&MACHINES[1 - first]), dice.of(&FAMILIES[family]));
    let is_known = (a - b).abs() > 1.5 && a.abs() > 1.0 && b.abs() > 1.0 && (a > 0.0) == (b > 0.0);
    let is_more = dice.next(2) == 0;
    let word = if is_more { "more" } else { "less" };
    let verb = if a > 0.0 { "gains" } else { "loses" };
    let text = format!("In per cent, {one} {verb} {word} than {other} for {name}.");
    (text, Some((a.abs() > b.abs()) == is_more).filter(|_| is_known))
}

const MAKERS: [fn(&mut Dice, &Facts) -> Made; 10] =
    [direction, denied, sized, level, moved, families, quantified, proven, shares, changes_ranked];

/// Sentences of a seed with the facts that they were made from.
fn made(seed: u64) -> (Facts, Vec<(usize, String, bool)>) {
    let mut dice = Dice(seed);
    let facts = facts(&mut dice);
    let mut all = Vec::new();
    for (maker, make) in MAKERS.iter().enumerate() {
        for _ in 0..4 {
            let (text, is_so) = make(&mut dice, &facts);
            let mut letters = text.chars();
            let first = letters.next().map(|c| c.to_uppercase().to_string()).unwrap_or_default();
            all.extend(is_so.map(|is_so| (maker, first + letters.as_str(), is_so)));
        }
    }
    (facts, all)
}

#[test]
fn what_is_true_by_how_it_was_made_is_never_called_false() {
    for seed in 0..200 {
        let (facts, sentences) = made(seed);
        for (_, text, _) in sentences.iter().filter(|(_, _, is_so)| *is_so) {
            let reading = read(&facts, text);
            assert!(!matches!(reading, Judged::Fails(_)), "seed {seed}: {text}: {reading:?}");
        }
    }
}

#[test]
fn what_is_false_by_how_it_was_made_is_found() {
    let (mut found, mut all) = ([0; MAKERS.len()], [0; MAKERS.len()]);
    for seed in 0..200 {
        let (facts, sentences) = made(seed);
        for (maker, text, _) in sentences.iter().filter(|(_, _, is_so)| !*is_so) {
            let reading = read(&facts, text);
            let is_found = matches!(reading, Judged::Fails(_) | Judged::Doubtful(_));
            if !is_found {
                println!("seed {seed}: {text}: {reading:?}");
            }
            all[*maker] += 1;
            found[*maker] += usize::from(is_found);
        }
    }
    let is_low = (0..MAKERS.len()).any(|maker| 100 * found[maker] < 95 * all[maker]);
    assert!(!is_low, "{found:?} of {all:?}");
}
