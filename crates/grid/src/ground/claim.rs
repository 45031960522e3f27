//! The numbers that a sentence claims, each with what the words around it leave of what it may be.

use std::collections::BTreeMap;

use crate::bound::bound_of;
use crate::ground::scope::Scope;
use crate::level::{CHANGES, is_rough};
use crate::model::{Grid, is_of};
use crate::piece::Piece;
use crate::ratio;
use crate::token::{Number, Unit, time_of, unit_of};

/// A number as a sentence claims it.
#[derive(Clone, Copy)]
pub(crate) struct Claim {
    pub(crate) number: Number,
    pub(crate) is_rough: bool,
    /// It bounds from below (`true`) or from above.
    pub(crate) bound: Option<bool>,
    /// "A third": a part of something, and hardly what is more than it.
    pub(crate) is_part: bool,
    pub(crate) cue: Cue,
    /// "Between 150 and 200 kpps": what is in there.
    pub(crate) range: Option<(f64, f64)>,
}

/// What the words around a number leave of what it may be.
#[derive(Clone, Copy)]
pub(crate) struct Cue {
    /// Something moves, or is apart.
    pub(crate) is_change: bool,
    /// ... by how much of the lower (`true`) or of the higher value, where that is said.
    pub(crate) is_up: Option<bool>,
    /// "60 % of".
    pub(crate) is_share: bool,
    /// All of several.
    pub(crate) is_universal: bool,
    /// It moves by this much, so that no value is meant: "adds 1.2 W", "45 kpps more".
    pub(crate) is_step: bool,
}

impl Cue {
    fn of(piece: &Piece, at: usize) -> Self {
        const UP: &str = "faster higher gain gains gained win wins won improves improved improvement better increase \
            increases increased grow grows grew rise rises rose adds added extra longer quicker larger greater";
        const DOWN: &str = "slower lower lose loses lost loss drop drops dropped cost costs decrease decreases decreased \
            fell falls fall reduces reduced reduction shrinks shorter saves saved penalty behind fewer smaller";
        const ALL: &str = "all every each always any whatever whichever everywhere never none nothing nowhere neither";
        let is_bound = |at: usize| piece.tokens.get(at + 1).is_some_and(|own| own.is("than"));
        let is_word = |words: &str| {
            (0..piece.tokens.len()).any(|at| piece.tokens[at].is(words) && !is_bound(at))
        };
        let own = piece.tokens[at].text.as_str();
        let next = piece.tokens.get(at + 1);
        let is_more =
            (0..piece.tokens.len()).any(|k| piece.tokens[k].is("more") && k != at.wrapping_sub(2));
        let is_less =
            (0..piece.tokens.len()).any(|k| piece.tokens[k].is("less") && k != at.wrapping_sub(2));
        let (up, down) = (
            is_word(UP) || own.starts_with('+') || is_more,
            is_word(DOWN) || own.starts_with(['-', '\u{2212}']) || is_less,
        );
        Self {
            is_change: up || down || piece.has(CHANGES),
            is_up: (up != down).then_some(up),
            is_share: next.is_some_and(|own| own.is("of as")),
            is_universal: piece.has(ALL)
                || piece.tokens.windows(2).any(|two| two[0].is("no") && two[1].number.is_none()),
            is_step: is_step(piece, at),
        }
    }
}

/// The numbers with a unit that no grid takes for a name, by where they stand.
pub(crate) fn claims(scope: &Scope<'_>) -> BTreeMap<usize, Claim> {
    let mut found: BTreeMap<usize, (Claim, usize)> = BTreeMap::new();
    for seen in &scope.seen {
        for piece in &seen.pieces {
            for (at, own) in claims_of(seen.grid, piece) {
                found.entry(at).or_insert((own, 0)).1 += 1;
            }
        }
    }
    let is_of_all = |count: usize| count == scope.seen.len();
    found.into_iter().filter(|(_, own)| is_of_all(own.1)).map(|(at, own)| (at, own.0)).collect()
}

/// "Half", "two thirds".
fn is_part(piece: &Piece, at: usize) -> bool {
    piece.tokens[at].is("half third thirds quarter quarters fifth fifths sixth tenth")
}

/// "Adds 1.2 W", "45 kpps more", "81 kpps ahead".
fn is_step(piece: &Piece, at: usize) -> bool {
    const BEFORE: &str = "adds add added gains gained gain loses lose lost wins win won saves saved another extra by away";
    const BEHIND: &str = "more less faster slower higher lower longer shorter sooner later extra ahead behind above below apart away";
    let before = &piece.tokens[at.saturating_sub(2)..at];
    let next = piece.tokens.get(at + 1).filter(|_| !piece.tokens[at].is_last);
    let is_to = before.iter().any(|own| own.is("to from at"));
    !is_to && (before.iter().any(|own| own.is(BEFORE)) || next.is_some_and(|own| own.is(BEHIND)))
}

/// The numbers of "between 150 and 200 kpps".
fn range_of(piece: &Piece, at: usize) -> Option<(f64, f64)> {
    let between = piece.tokens[..at].iter().rposition(|own| own.is("between"))?;
    let own = &piece.tokens[between + 1..];
    let (one, other) = match own {
        [a, and, b, ..] if and.is("and") => (a.number?, b.number?),
        _ => return None,
    };
    if at > between + 3 {
        return None;
    }
    // the unit stands behind the second
    let scale = if one.unit == Unit::Plain && other.value > 10.0 * one.value {
        10f64.powf((other.value / one.value).log10().div_euclid(3.0) * 3.0)
    } else {
        1.0
    };
    let first = scale * one.value;
    Some((first.min(other.value) - other.half, first.max(other.value) + other.half))
}

/// "20 times" of 23.8: a factor without its last digit.
fn rounded(number: Number) -> Number {
    let is_of_tens = number.value >= 10.0 && number.value % 10.0 == 0.0;
    let half = if number.unit == Unit::Times && is_of_tens { 5.0 } else { number.half };
    Number { half, ..number }
}

fn claims_of(grid: &Grid, piece: &Piece) -> Vec<(usize, Claim)> {
    let ratios = ratio::ratios(piece);
    let of_ratios = ratios.iter().map(|own| (own.at, own.number, own.is_rough));
    let is_level = |unit: Unit| !matches!(unit, Unit::Percent | Unit::Times | Unit::Plain);
    let of_levels = piece
        .claimed
        .iter()
        .filter(|own| is_level(own.number.unit))
        .map(|own| (own.at, own.number, is_rough(piece, own.at)));
    let all = of_ratios.chain(of_levels).chain(halves(piece)).chain(counts(grid, piece));
    let all = all.filter(|(at, number, _)| is_claim(piece, *at, *number, grid));
    all.map(|(at, number, is_rough)| {
        let bound = bound_of(piece, at);
        (
            piece.tokens[at].at,
            Claim {
                number: rounded(number),
                is_rough,
                bound,
                is_part: is_part(piece, at),
                cue: Cue::of(piece, at),
                range: range_of(piece, at),
            },
        )
    })
    .collect()
}

/// "Half a minute", "half a microsecond".
fn halves(piece: &Piece) -> Vec<(usize, Number, bool)> {
    let tokens = &piece.tokens;
    let of = |at: usize| {
        let [half, a, unit] = tokens.get(at..at + 3)? else { return None };
        let (unit, scale) = unit_of(&unit.text).or_else(|| time_of(&unit.text))?;
        let value = 0.5 * scale;
        let is_it = half.is("half") && a.is("a an") && !matches!(unit, Unit::Times | Unit::Percent);
        is_it.then_some((at, Number { value, half: 0.1 * value, unit }, true))
    };
    (0..tokens.len()).filter_map(of).collect()
}

/// "13 dB", "171 cycles" of a column that is called so.
fn counts(grid: &Grid, piece: &Piece) -> Vec<(usize, Number, bool)> {
    const SETTINGS: &str = "at with of for on between from to and per the after every";
    const LEAST: f64 = 10.0;
    let of = |at: usize| {
        let own = &piece.tokens[at];
        let number = own.number.filter(|own| own.unit == Unit::Plain && own.value >= LEAST)?;
        let next = piece.tokens.get(at + 1).filter(|_| !own.is_last)?;
        let before = at.checked_sub(1).map(|at| &piece.tokens[at]);
        let is_setting = before.is_some_and(|own| own.is(SETTINGS)) || next.number.is_some();
        let is_named = piece.rows.iter().chain(&piece.columns).any(|own| own.1 == at);
        let is_own = |at: &usize| {
            grid.columns[*at].unit == Unit::Plain && is_of(next, &grid.columns[*at].name)
        };
        let has = (0..grid.columns.len()).any(|at| is_own(&at));
        (has && !is_setting && !is_named).then(|| (at, number, is_rough(piece, at)))
    };
    let claimed = |at: &usize| {
        !piece.claimed.iter().any(|own| own.at == *at && own.number.unit != Unit::Plain)
    };
    (0..piece.tokens.len()).filter(claimed).filter_map(of).collect()
}

/// "30 % of the machines", "half of the flows": of what is neither named nor measured here.
fn is_of_another(grid: &Grid, piece: &Piece, at: usize) -> bool {
    const SKIPPED: &str = "the a an its their all these those this that his our my of single original plain whole full";
    const MEASURES: &str = "packet packets rate rates throughput forwarding performance speed latency frame frames pps traffic \
        bandwidth it what them which one ones time cost loss gain power energy memory capacity value figure";
    let rest = &piece.tokens[at + 1..];
    if !rest.first().is_some_and(|own| own.is("of")) {
        return false;
    }
    let Some(next) = rest[1..].iter().position(|own| !own.is(SKIPPED)).map(|k| at + 2 + k) else {
        return false;
    };
    let token = &piece.tokens[next];
    let is_named =
        piece.rows.iter().chain(&piece.columns).any(|own| own.1 >= next && own.1 <= next + 1);
    let is_shown = grid.head.contains(&token.root)
        || grid.shared.contains(&token.root)
        || grid.rows.iter().any(|row| is_of(token, row))
        || grid.columns.iter().any(|own| is_of(token, &own.name));
    let behind = piece.tokens[next..].iter().take(4).any(|own| own.is(MEASURES));
    !is_named && !is_shown && !behind && token.number.is_none()
}

/// What stands beside numbers that are settings, shares of a level of confidence, or nothing measured.
fn is_claim(piece: &Piece, at: usize, number: Number, grid: &Grid) -> bool {
    const SETTINGS: &str = "confidence load percentile percentiles quantile duty offered interval";
    const LINES: &str = "line link links port ports nic nics uplink uplinks card cards wire ethernet dac interface \
        interfaces switch supply timeout window trial trials run runs ram";
    let behind = &piece.tokens[at + 1..(at + 3).min(piece.tokens.len())];
    let before = &piece.tokens[at.saturating_sub(2)..at];
    const OTHERS: &str = "offered offering sends sent send generator generates limit target wanted theoretical \
        datasheet advertised spec nominal expected should would could maximal capacity feared hoped promised";
    if matches!(number.unit, Unit::Percent | Unit::Times) && is_of_another(grid, piece, at) {
        return false;
    }
    // "18 % of the cycles" of what is not measured here
    const SHARES: &str =
        "cpu cpus utilization idle cycles samples interrupt interrupts misses busy";
    let has_shares = grid.columns.iter().any(|own| own.unit == Unit::Percent);
    if number.unit == Unit::Percent && !has_shares && piece.has(SHARES) {
        return false;
    }
    if piece.has(OTHERS) {
        return false;
    }
    let is_setting = behind.iter().chain(before).any(|own| own.is(SETTINGS));
    let is_of_line = matches!(number.unit, Unit::Bits | Unit::Seconds | Unit::Watts)
        && behind.iter().take(1).any(|own| own.is(LINES));
    // "a hundred times", "0 %", "a second time"
    let is_word = number.unit == Unit::Percent && matches!(number.value, 0.0 | 100.0);
    let is_ratio = matches!(number.unit, Unit::Percent | Unit::Times);
    // "half a million", "half as much again", "per Gbit/s"
    let is_half =
        is_ratio && piece.tokens[at].is("half") && behind.iter().any(|own| own.is("a an as"))
            || before.iter().any(|own| own.is("half")) && !piece.tokens[at].is("half");
    let is_per = piece.tokens.windows(2).any(|two| {
        let is_time = two[1].is("packet packets frame frames second of") && !is_ratio;
        two[0].is("per each") && !is_time
    });
    // "a hundred times more routes": of what rows are called by
    let is_of_head = number.unit == Unit::Times
        && behind.iter().any(|own| own.is("more many"))
        && piece.tokens[at + 1..].iter().take(4).any(|own| grid.head.contains(&own.root));
    let is_of_runs = number.unit == Unit::Times
        && before.iter().any(|own| own.is("measured tested repeated run ran benched done sent"));
    !is_setting
        && !is_of_line
        && !is_word
        && !is_of_head
        && !is_of_runs
        && !is_half
        && !is_per
        && number.value != 0.0
}
