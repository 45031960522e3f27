//! Percentages, factors and fractions of a clause: what two cells are to each other, or a cell that is a percentage.

use crate::bound::bound_of;
use crate::level::{CHANGES, MOST, agrees, is_rough};
use crate::model::{Grid, Measure, Place};
use crate::piece::Piece;
use crate::token::{Number, Unit};
use crate::verdict::CellVerdict;

/// A ratio that is claimed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ratio {
    /// In per cent, or so many times.
    pub(crate) number: Number,
    pub(crate) at: usize,
    pub(crate) is_rough: bool,
}

/// Fractions and multiples in words.
const WORDS: [(&str, f64, Unit); 17] = [
    ("half", 50.0, Unit::Percent),
    ("halves", 50.0, Unit::Percent),
    ("halved", 50.0, Unit::Percent),
    ("third", 100.0 / 3.0, Unit::Percent),
    ("thirds", 100.0 / 3.0, Unit::Percent),
    ("quarter", 25.0, Unit::Percent),
    ("quarters", 25.0, Unit::Percent),
    ("fifths", 20.0, Unit::Percent),
    ("fifth", 20.0, Unit::Percent),
    ("sixth", 100.0 / 6.0, Unit::Percent),
    ("tenth", 10.0, Unit::Percent),
    ("twice", 2.0, Unit::Times),
    ("double", 2.0, Unit::Times),
    ("doubles", 2.0, Unit::Times),
    ("doubled", 2.0, Unit::Times),
    ("triples", 3.0, Unit::Times),
    ("tripled", 3.0, Unit::Times),
];

pub(crate) fn ratios(piece: &Piece) -> Vec<Ratio> {
    let of_numbers =
        piece.claimed.iter().filter(|own| matches!(own.number.unit, Unit::Percent | Unit::Times));
    // "four times as fast" of 4.02
    let is_in_words = |at: usize| !piece.tokens[at].text.contains(|c: char| c.is_ascii_digit());
    let mut found: Vec<Ratio> = of_numbers
        .map(|own| Ratio {
            number: own.number,
            at: own.at,
            is_rough: is_rough(piece, own.at) || is_in_words(own.at),
        })
        .collect();
    for (at, token) in piece.tokens.iter().enumerate() {
        let Some((_, value, unit)) = WORDS.iter().find(|(word, ..)| token.text == *word) else {
            continue;
        };
        let before = at.checked_sub(1).map_or("", |at| piece.tokens[at].text.as_str());
        let is_and_a_half =
            *unit == Unit::Percent && before == "a" && at > 1 && piece.tokens[at - 2].is("and");
        let times = match before {
            // "four and a half times"
            _ if is_and_a_half => continue,
            "two" | "2" => 2.0,
            "three" | "3" => 3.0,
            "four" | "4" => 4.0,
            "the" | "first" | "second" => continue,
            _ => 1.0,
        };
        let number = Number { value: value * times, half: 0.04 * value * times, unit: *unit };
        found.push(Ratio { number, at, is_rough: true });
    }
    for (at, token) in piece.tokens.iter().enumerate() {
        let is_divided =
            piece.tokens[..at].iter().any(|own| own.is("divides divided multiplies multiplied"));
        let of = if at > 2 && piece.tokens[at - 1].is("almost about nearly roughly over") {
            at - 1
        } else {
            at
        };
        let is_factor = at >= 2
            && (piece.tokens[of - 2].is("factor") && piece.tokens[of - 1].is("of")
                || is_divided && piece.tokens[at - 1].is("by"));
        if let Some(number) = token.number.filter(|own| is_factor && own.unit == Unit::Plain) {
            let number = Number { unit: Unit::Times, ..number };
            found.push(Ratio { number, at, is_rough: is_rough(piece, at) });
        }
    }
    found
}

/// Every percentage, factor and fraction of a clause.
pub(crate) fn check(grid: &Grid, piece: &Piece) -> Vec<CellVerdict> {
    ratios(piece).iter().map(|own| of_ratio(grid, piece, own)).collect()
}

fn of_ratio(grid: &Grid, piece: &Piece, own: &Ratio) -> CellVerdict {
    const OTHERS: &str = "interval confidence cpu utilization idle cycles time spread variation stddev deviation \
        scatter noise error margin variance";
    let is_of_packets = piece.has("loss lost") && piece.has("packet packets frame frames");
    let is_of_load = piece.has("load") && !grid.head.contains("load");
    // "it grows five times as much as the other": of two changes
    let behind = piece.tokens[own.at + 1..].iter();
    let is_of_changes = own.number.unit == Unit::Times
        && piece.tokens[..own.at].iter().any(|own| {
            own.is("grow grows grew rises rose falls fell loses lost drops dropped gains gained")
        })
        && behind.clone().take(2).any(|own| own.is("much many"));
    // "twice as much of it": of what another sentence names
    let is_of_it =
        behind.clone().collect::<Vec<_>>().windows(2).any(|two| two[0].is("of") && two[1].is("it"));
    // "measured five times"
    let is_of_runs = own.number.unit == Unit::Times
        && piece.tokens[own.at.saturating_sub(2)..own.at]
            .iter()
            .any(|own| own.is("measured tested repeated run ran runs benched done made sent"));
    if is_of_changes
        || is_of_it
        || is_of_runs
        || own.number.unit == Unit::Percent && (piece.has(OTHERS) || is_of_packets || is_of_load)
    {
        return CellVerdict::Open;
    }
    if let Some(verdict) = of_percent_column(grid, piece, own) {
        return verdict;
    }
    let says = piece.has(CHANGES)
        || piece.has("of as to reaches attains achieves costs costing factor halves halved doubles doubled triples tripled")
        || own.number.unit == Unit::Times
        || piece.tokens[own.at].text.starts_with(['+', '-', '−']);
    let (mut pairs, is_certain) = pairs(grid, piece);
    pairs.retain(|(one, other)| grid.at(*one).is_some() && grid.at(*other).is_some());
    if !says || pairs.is_empty() {
        return CellVerdict::Open;
    }
    let bound = bound_of(piece, own.at);
    let is_it = |(one, other): &(Place, Place)| {
        let (Some(a), Some(b)) = (grid.at(*one), grid.at(*other)) else { return false };
        is_ratio(piece, own, a, b, bound)
    };
    if is_certain
        && bound.is_none()
        && pairs.iter().any(is_it)
        && is_of_other_base(grid, piece, own, &pairs)
    {
        return CellVerdict::Doubtful(format!(
            "{} of the lower value, not of the higher",
            piece.tokens[own.at].text
        ));
    }
    if pairs.iter().any(is_it) {
        // a ratio of the only two sets is theirs, whichever way it is put
        let is_only = own.number.unit == Unit::Times
            && grid.is_block
            && grid.rows.len() == 2
            && !piece.has(CHANGES)
            && bound.is_none();
        return if is_certain || is_only { CellVerdict::Holds } else { CellVerdict::Open };
    }
    // what it is of may be another column than that of the clause before
    if piece.has_taken_columns && !piece.rows.is_empty() {
        let open = Piece { columns: Vec::new(), ..piece.clone() };
        if self::pairs(grid, &open).0.iter().any(is_it) {
            return CellVerdict::Open;
        }
    }
    // of other rows than those that the words seem to name
    let shown = pairs.first().map_or(String::new(), |(one, other)| {
        let ratio = grid.at(*one).zip(grid.at(*other)).map_or(0.0, |(a, b)| b.value / a.value);
        let said = |ratio: f64| format!("{ratio:.2} times ({:+.1} %)", 100.0 * (ratio - 1.0));
        format!(
            "{}; {}: the second is {} the first, the first {} the second",
            grid.shown(*one),
            grid.shown(*other),
            said(ratio),
            said(1.0 / ratio)
        )
    });
    if is_certain { CellVerdict::Wrong(shown) } else { CellVerdict::Doubtful(shown) }
}

/// Whether two values are to each other what is claimed.
fn is_ratio(piece: &Piece, own: &Ratio, a: Number, b: Number, bound: Option<bool>) -> bool {
    if a.value <= 0.0 || b.value <= 0.0 {
        return false;
    }
    let next = piece.tokens.get(own.at + 1);
    let is_share = own.number.unit == Unit::Percent && next.is_some_and(|own| own.is("of"));
    let is_change = own.number.unit == Unit::Percent && piece.has(CHANGES) && !is_share;
    let slack = a.half / a.value + b.half / b.value;
    let ratios = [a.value / b.value, b.value / a.value];
    ratios.iter().any(|ratio| {
        let (share, change) = (100.0 * ratio, 100.0 * (ratio - 1.0));
        let candidates = match own.number.unit {
            Unit::Percent if is_share => vec![share, change],
            Unit::Percent if is_change => vec![change, if own.is_rough { share } else { change }],
            Unit::Percent => vec![share, change],
            _ => vec![*ratio, ratio - 1.0],
        };
        candidates.iter().any(|value| match bound {
            Some(true) => value.abs() >= own.number.value.abs() - own.number.half,
            Some(false) => value.abs() <= own.number.value.abs() + own.number.half,
            None => {
                let scale = if own.number.unit == Unit::Percent { 100.0 } else { 1.0 };
                agrees(own.number, *value, slack * ratio * scale, own.is_rough)
            }
        })
    })
}

/// "Drops by 41 %" from 410 to 290: what the lower of two is below the higher, in per cent of the lower.
fn is_of_other_base(grid: &Grid, piece: &Piece, own: &Ratio, pairs: &[(Place, Place)]) -> bool {
    const DOWN: &str = "drops drop dropped loses lose lost falls fell decreases decreased slower less lower reduces reduced";
    const UP: &str = "more faster higher gain gains gained increase increases grows grew better";
    if own.number.unit != Unit::Percent || !piece.has(DOWN) || piece.has(UP) || own.is_rough {
        return false;
    }
    let next = piece.tokens.get(own.at + 1);
    let is_it = |(a, b): &(Place, Place)| {
        let (Some(a), Some(b)) = (grid.at(*a), grid.at(*b)) else { return false };
        let ratio = a.value.min(b.value) / a.value.max(b.value);
        let slack = 100.0 * (a.half / a.value + b.half / b.value);
        let lower = agrees(own.number, 100.0 * (1.0 - ratio), slack, false);
        let share =
            next.is_some_and(|own| own.is("of")) && agrees(own.number, 100.0 * ratio, slack, false);
        a.unit != Unit::Seconds && !lower && !share
    };
    pairs.iter().all(is_it)
}

/// "88.8 % of line rate" below a column of percentages.
fn of_percent_column(grid: &Grid, piece: &Piece, own: &Ratio) -> Option<CellVerdict> {
    if own.number.unit != Unit::Percent {
        return None;
    }
    let is_said = |name: &std::collections::BTreeSet<String>| {
        name.iter().all(|word| {
            word == "%" || piece.tokens.iter().any(|own| own.root == *word || own.text == *word)
        })
    };
    let rows = piece.own_rows();
    let columns: Vec<usize> =
        (0..grid.columns.len()).filter(|at| grid.columns[*at].unit == Unit::Percent).collect();
    let value = |row: usize, column: usize| grid.at((row, column));
    let is_it = |row: usize, column: usize| {
        value(row, column).is_some_and(|cell| match bound_of(piece, own.at) {
            Some(true) => cell.value.abs() >= own.number.value - own.number.half,
            Some(false) => cell.value.abs() <= own.number.value + own.number.half,
            None => agrees(own.number, cell.value, cell.half, own.is_rough),
        })
    };
    let named: Vec<usize> =
        columns.iter().copied().filter(|at| is_said(&grid.columns[*at].name.words)).collect();
    // "drops remain below 1 % in all configurations"
    let is_of_all = rows.is_empty() && piece.has("all every any each always never no none");
    let rows = if is_of_all { (0..grid.rows.len()).collect() } else { rows };
    if bound_of(piece, own.at).is_some()
        && rows.len() > 1
        && let [column] = if is_of_all { named.as_slice() } else { columns.as_slice() }
        && !piece.has_taken_rows
    {
        let odd = rows.iter().find(|row| value(**row, *column).is_some() && !is_it(**row, *column));
        return Some(
            odd.map_or(CellVerdict::Holds, |row| CellVerdict::Wrong(grid.shown((*row, *column)))),
        );
    }
    if rows.iter().any(|row| columns.iter().any(|column| is_it(*row, *column))) {
        return Some(CellVerdict::Holds);
    }
    let ([row], [column]) = (rows.as_slice(), named.as_slice()) else { return None };
    value(*row, *column)?;
    let data = grid.shown((*row, *column));
    Some(if piece.has_taken_rows { CellVerdict::Doubtful(data) } else { CellVerdict::Wrong(data) })
}

/// The cells that are held against each other, and whether the words leave no others.
fn pairs(grid: &Grid, piece: &Piece) -> (Vec<(Place, Place)>, bool) {
    let rows = piece.own_rows();
    let named = piece.own_columns();
    let is_rate = |column: &usize| {
        let own = &grid.columns[*column];
        !matches!(own.unit, Unit::Percent | Unit::Times)
            && (named.contains(column) || own.measure != Measure::Spread)
            && !(grid.is_block && own.name.words.contains("n"))
    };
    let columns: Vec<usize> = (0..grid.columns.len()).filter(is_rate).collect();
    let own: Vec<usize> = columns.iter().copied().filter(|own| named.contains(own)).collect();
    let used = if own.is_empty() { &columns } else { &own };
    let is_same_unit = |a: usize, b: usize| grid.columns[a].unit == grid.columns[b].unit;
    let mut found = Vec::new();
    if own.len() == 2 && is_same_unit(own[0], own[1]) && rows.len() <= 1 {
        let all: Vec<usize> =
            if rows.is_empty() { (0..grid.rows.len()).collect() } else { rows.clone() };
        found.extend(all.iter().map(|row| ((*row, own[0]), (*row, own[1]))));
        // and each against the others of its column
        let others = all
            .iter()
            .flat_map(|row| (0..grid.rows.len().min(MOST)).map(move |other| (*row, other)));
        let is_certain = rows.len() == 1 && !piece.has_taken_columns && !piece.has_taken_rows;
        if !is_certain {
            found.extend(
                others
                    .flat_map(|(row, other)| own.iter().map(move |at| ((row, *at), (other, *at)))),
            );
        }
        return (found, is_certain);
    }
    if rows.len() > MOST {
        return (found, false);
    }
    if rows.len() >= 2 {
        for (at, one) in rows.iter().enumerate() {
            let others = rows[at + 1..].iter();
            found.extend(
                others.flat_map(|other| used.iter().map(move |own| ((*one, *own), (*other, *own)))),
            );
        }
        let is_of_one = used.len() == 1
            || grid.is_block
            || used
                .iter()
                .all(|at| grid.columns[*at].unit != Unit::Plain && is_same_unit(*at, used[0]));
        return (found, rows.len() == 2 && !piece.is_group && !piece.has_taken_rows && is_of_one);
    }
    if rows.is_empty() && grid.rows.len() == 2 && (grid.is_block || own.len() == 1) {
        let used = if grid.is_block { &columns } else { used };
        found.extend(used.iter().map(|own| ((0, *own), (1, *own))));
        return (found, false);
    }
    if let [row] = rows.as_slice() {
        let others = (0..grid.rows.len().min(MOST)).filter(|other| other != row);
        found.extend(
            others.flat_map(|other| used.iter().map(move |own| ((other, *own), (*row, *own)))),
        );
        for a in &columns {
            found.extend(
                columns
                    .iter()
                    .filter(|b| *b > a && is_same_unit(*a, **b))
                    .map(|b| ((*row, *a), (*row, *b))),
            );
        }
        let is_certain = !piece.has_taken_rows
            && !piece.has_taken_columns
            && own.len() == 1
            && piece.has(CHANGES);
        return (found, is_certain && !grid.is_block);
    }
    (found, false)
}
