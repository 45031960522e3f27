//! Two tables of a page as one ("half of what table 1 has"), and its blocks as the rows of one, which are called by their
//! headings.

use std::collections::BTreeSet;

use crate::judge::{judge, of_piece};
use crate::model::{Column, Grid, Measure, Name};
use crate::order::{direction, is_more};
use crate::piece::pieces;
use crate::token::{Token, Unit, tokens};
use crate::verdict::CellVerdict;

/// A table with what stands above it, and its number on the page.
pub struct Shown<'a> {
    pub grid: &'a Grid,
    pub about: &'a str,
    pub number: &'a str,
}

/// Words that hold one thing against another.
const AGAINST: &str = "than compared against relative unlike where whereas vs versus behind ahead above below over exceeds beats";

/// What a sentence below the one table says of both: where it names both by their numbers or by words that only one of
/// them stands under, or holds the other one against its own.
pub fn joined(own: &Shown<'_>, other: &Shown<'_>, sentence: &str) -> Vec<(usize, CellVerdict)> {
    let said = tokens(sentence);
    let has = |word: &str| said.iter().any(|token| token.text == word || token.root == word);
    let (mut a, mut b) = (tags(own, other, &said), tags(other, own, &said));
    let is_numbered = has(&named(own)) && has(&named(other));
    let mut text = sentence.to_owned();
    let mut shift = 0;
    if is_numbered || has(&named(other)) && said.iter().any(|token| token.is(AGAINST)) {
        (a, b) = ([named(own)].into(), [named(other)].into());
        if !has(&named(own)) {
            text = format!("{} {text}", named(own));
            shift = named(own).len() + 1;
        }
    }
    if a.is_empty() || b.is_empty() {
        return Vec::new();
    }
    let Some(grid) = both(own.grid, other.grid, (&a, &b)) else { return Vec::new() };
    let text = without_commas(&text);
    let mut found = judge(&grid, "", &text);
    if found.is_empty() {
        let width = own.grid.columns.len();
        found.extend(of_whole(&grid, width, (&a, &b), &text).map(|own| (0, own)));
    }
    let at = |at: usize| at.saturating_sub(shift);
    let told = |own: CellVerdict| if is_numbered { own } else { own.doubted() };
    found.into_iter().map(|(own, verdict)| (at(own), told(verdict))).collect()
}

/// "table2", as a sentence is to name it.
fn named(own: &Shown<'_>) -> String {
    format!("table{}", own.number)
}

/// The words of a sentence that stand above one table, and neither above the other nor in either.
fn tags(own: &Shown<'_>, other: &Shown<'_>, said: &[Token]) -> BTreeSet<String> {
    const EMPTY: &str = "the a an of in on at to with and for or is are it as by per more less table than only all each every";
    let words = |shown: &Shown<'_>| Name::of(shown.about).words;
    let is_within = |word: &String, grid: &Grid| {
        let columns = grid.columns.iter().map(|column| &column.name);
        grid.head.contains(word)
            || grid.rows.iter().chain(columns).any(|name| name.words.contains(word))
    };
    let is_tag = |word: &String| {
        !EMPTY.split(' ').any(|own| own == word.as_str())
            && said.iter().any(|token| token.root == *word && token.number.is_none())
            && !is_within(word, own.grid)
            && !is_within(word, other.grid)
    };
    let others = words(other);
    words(own).into_iter().filter(|word| !others.contains(word)).filter(is_tag).collect()
}

/// The rows that two tables share, with the columns of both.
fn both(a: &Grid, b: &Grid, tags: (&BTreeSet<String>, &BTreeSet<String>)) -> Option<Grid> {
    let is_same = |row: &Name, other: &Name| row.words == other.words;
    let place = |row: &Name| b.rows.iter().position(|other| is_same(row, other));
    let rows: Vec<(usize, usize)> =
        a.rows.iter().enumerate().filter_map(|(at, row)| Some((at, place(row)?))).collect();
    if rows.len() < 2 || a.is_block || b.is_block {
        return None;
    }
    let column = |own: &Column, tags: &BTreeSet<String>| {
        let mut own = own.clone();
        let tag: Vec<&str> = tags.iter().map(String::as_str).collect();
        own.name.text = format!("{} of {}", own.name.text, tag.join(" "));
        own.name.words.extend(tags.iter().cloned());
        own
    };
    let first = a.columns.iter().map(|own| column(own, tags.0));
    let second = b.columns.iter().map(|own| column(own, tags.1));
    Some(Grid {
        rows: rows.iter().map(|(row, _)| a.rows[*row].clone()).collect(),
        columns: first.chain(second).collect(),
        values: rows
            .iter()
            .map(|(one, two)| [&a.values[*one][..], &b.values[*two]].concat())
            .collect(),
        ..a.clone()
    })
}

/// A text without the commas that part its clauses: what two tables have is often said in two.
fn without_commas(text: &str) -> String {
    text.replace(", ", "  ")
}

/// "Every figure of table 2 is above that of table 1", "IPv6 stays behind IPv4 whatever the size".
fn of_whole(
    grid: &Grid,
    width: usize,
    (a, b): (&BTreeSet<String>, &BTreeSet<String>),
    text: &str,
) -> Option<CellVerdict> {
    const ALL: &str = "every all each always whatever whichever throughout any everywhere";
    let said = pieces(grid, &tokens(text), &[]);
    let [piece] = said.as_slice() else { return None };
    let at = (0..piece.tokens.len()).find(|at| direction(piece, *at, Unit::Packets).is_some())?;
    let is_of =
        |tags: &BTreeSet<String>, range: &[Token]| range.iter().any(|own| tags.contains(&own.root));
    let (before, behind) = piece.tokens.split_at(at);
    let is_first =
        match (is_of(a, before) && is_of(b, behind), is_of(b, before) && is_of(a, behind)) {
            (true, false) => true,
            (false, true) => false,
            _ => return None,
        };
    if !piece.own_rows().is_empty()
        || !piece.claimed.is_empty()
        || piece.has("not never nowhere but except")
    {
        return None;
    }
    let pairs = (0..width.min(grid.columns.len() - width)).filter(|at| {
        let (one, two) = (&grid.columns[*at], &grid.columns[*at + width]);
        one.unit == two.unit && one.name.words.difference(a).eq(two.name.words.difference(b))
    });
    let cells = pairs.flat_map(|column| (0..grid.rows.len()).map(move |row| (row, column)));
    let mut odd = Vec::new();
    let mut count = 0;
    for (row, column) in cells {
        let Some(is_over) = is_more(grid, (row, column), (row, column + width)) else { continue };
        let more = direction(piece, at, grid.columns[column].unit)?;
        count += 1;
        if (is_over == more) != is_first {
            odd.push((row, column));
        }
    }
    let Some((row, column)) = odd.first().copied() else {
        return (count > 0).then_some(CellVerdict::Holds);
    };
    let data = format!("{}; {}", grid.shown((row, column)), grid.shown((row, column + width)));
    (piece.has(ALL) || odd.len() == count).then_some(CellVerdict::Wrong(data))
}

/// Blocks of two sets each as rows, called by what they stand under: the means of the first and of the second sets.
pub fn across(blocks: &[(&str, &Grid)]) -> Option<Grid> {
    const FIRST: &str = "before unpatched vanilla baseline stock original unmodified";
    const SECOND: &str = "after patched";
    let middle = |grid: &Grid| grid.columns.iter().position(|own| own.name.words.contains("avg"));
    let is_pair = |own: &&(&str, &Grid)| own.1.is_block && own.1.rows.len() == 2;
    let own: Vec<&(&str, &Grid)> = blocks.iter().filter(is_pair).collect();
    let rows: Vec<Name> = own.iter().map(|(heading, _)| Name::of(heading)).collect();
    let is_told = rows.iter().enumerate().all(|(at, one)| {
        !one.words.is_empty() && rows[at + 1..].iter().all(|two| one.words != two.words)
    });
    if own.len() < 2 || own.len() < blocks.len() || !is_told {
        return None;
    }
    let column = |role: usize| {
        let names = own.iter().map(|(_, grid)| grid.rows[role].words.clone());
        let mut words = names.reduce(|a, b| &a & &b).unwrap_or_default();
        let other = own.iter().any(|(_, grid)| !grid.rows[1 - role].words.is_disjoint(&words));
        if other {
            words.clear();
        }
        words.extend(if role == 0 { FIRST } else { SECOND }.split(' ').map(str::to_owned));
        let text = if role == 0 { "first set" } else { "second set" }.to_owned();
        Column { name: Name { text, words }, unit: Unit::Packets, measure: Measure::Open }
    };
    let values = own.iter().map(|(_, grid)| {
        let at = middle(grid)?;
        Some(vec![grid.at((0, at)), grid.at((1, at))])
    });
    let values: Vec<_> = values.collect::<Option<_>>()?;
    let unit = own[0].1.columns.first()?.unit;
    if own.iter().any(|(_, grid)| grid.columns.first().map(|own| own.unit) != Some(unit)) {
        return None;
    }
    let columns = (0..2).map(|role| Column { unit, ..column(role) }).collect();
    let mut grid = Grid { rows, columns, values, is_block: false, ..own[0].1.clone() };
    grid.head.clear();
    grid.shared = crate::model::shared(&grid.rows);
    Some(grid)
}

/// What a sentence says of two blocks that it names by their headings, or of one against that which it stands below.
pub fn judge_across(grid: &Grid, own: Option<usize>, sentence: &str) -> Vec<(usize, CellVerdict)> {
    let mut found = Vec::new();
    for mut piece in pieces(grid, &tokens(sentence), &[]) {
        let rows = piece.own_rows();
        match (rows.as_slice(), own) {
            (_, _) if piece.has_taken_rows || piece.is_group => continue,
            ([_, _], _) => {}
            ([one], Some(own)) if own != *one && piece.has(AGAINST) => {
                piece.rows.insert(0, (own, 0))
            }
            _ => continue,
        }
        let verdict = of_piece(grid, &piece, false).doubted();
        if verdict != CellVerdict::Open
            && let Some(first) = piece.tokens.first()
        {
            found.push((first.at, verdict));
        }
    }
    found
}

/// A sentence in which tables are named by one word each: "table 2" and "the second table" as `table2`.
pub fn with_tables_named(sentence: &str, numbers: &[String]) -> String {
    const ORDERS: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];
    let mut text = sentence.to_owned();
    let mut put = |from: String, number: &str| {
        while let Some(at) = text.to_lowercase().find(&from) {
            let end = at + from.len();
            let is_whole = text.is_char_boundary(at) && text.is_char_boundary(end);
            if !is_whole || text[end..].starts_with(|c: char| c.is_ascii_digit()) {
                break;
            }
            let name = format!("table{number}");
            let width = from.len().max(name.len());
            text.replace_range(at..end, &format!("{name:width$}"));
        }
    };
    for (at, number) in numbers.iter().enumerate() {
        put(format!("table {number}"), number);
        if let Some(order) = ORDERS.get(at) {
            put(format!("{order} table"), number);
        }
    }
    text
}
