//! Which rows and columns of a page a sentence is of: a table or a block of its section, the one above it before the
//! one below.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use fwdlab_evidence::surroundings::{SourcedSet, Surroundings};
use fwdlab_netbenches::page::{Item, ItemKind};

use fwdlab_grid::CellVerdict;
use fwdlab_grid::agrees;
use fwdlab_grid::drawn;
use fwdlab_grid::judge;
use fwdlab_grid::listed;
use fwdlab_grid::{Grid, Measure, Name};
use fwdlab_grid::{Number, Unit, tokens};
use fwdlab_grid::{Sentence, Ungrounded, ungrounded};
use fwdlab_grid::{Shown, across, joined, judge_across, with_tables_named};

/// Grids on either side of a sentence in which what it says may be found.
const NEAR: usize = 3;

/// Blocks of a page up to which they are held against each other by their headings.
const MOST_BLOCKS: usize = 24;

/// Tables of a page up to which those are looked for that a sentence names, wherever they stand.
const MOST_TABLES: usize = 24;

/// Lines below a grid in which a sentence is of it before it is of any other.
const BESIDE: usize = 8;

/// The tables and blocks of a page, from above to below.
pub(crate) struct Grids {
    all: Vec<Grid>,
    /// The number of a caption: "Table 2".
    captions: Vec<Option<String>>,
    /// What stands above each.
    about: Vec<String>,
    /// The blocks as rows, called by their headings.
    across: Option<Grid>,
    /// The words by which each is told from the others.
    heads: Vec<BTreeSet<String>>,
    /// The values beside the page, a series a row.
    series: Option<Grid>,
    /// Numbers of what was done: in lists above all tables and blocks, in headings and captions.
    stated: Vec<Number>,
}

/// What a grid says of a clause.
#[derive(Debug)]
pub(crate) struct Said {
    /// Where the clause begins in its item.
    pub(crate) at: usize,
    pub(crate) verdict: CellVerdict,
    pub(crate) source: Source,
}

/// What says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A table or a list.
    Table,
    /// A block of two sets: what is named there is no third one.
    Pair,
    /// A block of more.
    Sets,
}

impl Said {
    /// The same without blame.
    pub(crate) fn doubted(self) -> Self {
        Self { verdict: self.verdict.doubted(), ..self }
    }
}

impl Grids {
    pub(crate) fn of(around: &Surroundings<'_>) -> Self {
        let items = &around.page.items;
        let rows: Vec<&Item> = items.iter().filter(|item| item.kind == ItemKind::Row).collect();
        let mut all: Vec<(Grid, String)> = Vec::new();
        let drawn = drawn(around.page);
        let drawn: Vec<Vec<&Item>> = drawn.iter().map(|own| own.iter().collect()).collect();
        let written = rows.chunk_by(|a, b| a.line + 1 == b.line);
        for table in written.chain(drawn.iter().map(Vec::as_slice)) {
            let above =
                around.page.item_before(table[0].line).map_or("", |item| item.text.as_str());
            all.extend(Grid::of_table(table, above).map(|grid| (grid, above.to_owned())));
        }
        for (block, sets) in around.page.blocks.iter().zip(&around.sets) {
            if sets.len() > 1 {
                let lines = (block.first_line, block.last_line);
                let above = around.page.item_before(lines.0).map_or("", |item| item.text.as_str());
                all.push((Grid::of_block(lines, &rows_of(sets), above), String::new()));
            }
        }
        all.extend(listed(around.page).into_iter().map(|grid| (grid, String::new())));
        all.sort_by_key(|(grid, _)| grid.lines);
        let (all, about): (Vec<Grid>, Vec<String>) = all.into_iter().unzip();
        let blocks: Vec<(&str, &Grid)> = all
            .iter()
            .filter(|own| own.is_block)
            .map(|own| {
                let heading = around.page.heading_above(own.lines.0);
                (heading.map_or("", |heading| heading.text.trim_start_matches(['#', ' '])), own)
            })
            .collect();
        let across = across(&blocks).filter(|_| blocks.len() <= MOST_BLOCKS);
        let captions = about.iter().map(|own| caption_of(own)).collect();
        let (series, stated) = (series_of(around), stated(around, &all, &about));
        let heads = heads(around, &all);
        Self { captions, all, about, across, heads, series, stated }
    }

    /// What of a sentence nothing on the page, and nothing beside it, gives.
    pub(crate) fn ungrounded(
        &self,
        around: &Surroundings<'_>,
        item: &Item,
        (from, to): (usize, usize),
    ) -> Option<Ungrounded> {
        self.ungrounded_in(around, item, (from, to), from..to)
    }

    /// The same of what begins in a part of the sentence.
    pub(crate) fn ungrounded_in(
        &self,
        around: &Surroundings<'_>,
        item: &Item,
        (from, to): (usize, usize),
        part: Range<usize>,
    ) -> Option<Ungrounded> {
        let is_told = item.kind != ItemKind::Row && !item.is_announcement();
        if !is_told || self.all.iter().any(|grid| is_within(grid, item)) {
            return None;
        }
        let text = &item.text[from..to];
        let own = self.around(around, item, text);
        let none = BTreeSet::new();
        let series = self.series.iter().filter(|_| own.is_empty());
        let grids: Vec<&Grid> = own.iter().map(|at| &self.all[*at]).chain(series).collect();
        let heads: Vec<&BTreeSet<String>> =
            own.iter().map(|at| &self.heads[*at]).chain([&none]).take(grids.len()).collect();
        let before = last_of(&item.text[..from]);
        let stated = &self.stated;
        let sentence = Sentence { grids: &grids, heads: &heads, stated, before, text };
        let part = part.start.saturating_sub(from)..part.end.saturating_sub(from);
        let found = ungrounded(&sentence, &part)?;
        Some(Ungrounded { at: from + found.at, ..found })
    }

    /// What rows and columns say of a sentence, called wrong only where nothing else that a clause may mean gives it
    /// either: one way to bind it alone is too little to blame by.
    pub(crate) fn agreed(
        &self,
        around: &Surroundings<'_>,
        item: &Item,
        (from, to): (usize, usize),
        cells: Vec<Said>,
    ) -> Vec<Said> {
        let starts: Vec<usize> = cells.iter().map(|own| own.at).collect();
        let agreed = |own: Said| {
            let end = starts.iter().copied().filter(|at| *at > own.at).min().unwrap_or(to);
            let part = own.at..end;
            let is_given = || self.ungrounded_in(around, item, (from, to), part.clone()).is_none();
            let is_wrong = matches!(own.verdict, CellVerdict::Wrong(_));
            // what has no number no figure can give: there the rows alone say it
            let has_number =
                tokens(&item.text[part.clone()]).iter().any(|own| own.number.is_some());
            let is_wrong = is_wrong && has_number;
            match is_wrong && (has_both_ends(&item.text[part.clone()]) || is_given()) {
                true => own.doubted(),
                false => own,
            }
        };
        cells.into_iter().map(agreed).collect()
    }

    /// All that a sentence may be of: the tables and blocks of its section and those that it names; where there are
    /// none, all of the page.
    fn around(&self, around: &Surroundings<'_>, item: &Item, text: &str) -> Vec<usize> {
        let heading = |line: usize| around.page.heading_above(line).map(|heading| heading.line);
        let own = heading(item.line);
        let place = self.all.partition_point(|grid| grid.lines.1 < item.line);
        let is_near = |at: usize| at + NEAR >= place && at <= place + NEAR;
        let is_of_section = |at: &usize| is_near(*at) && heading(self.all[*at].lines.0) == own;
        let mut found: Vec<usize> = (0..self.all.len()).filter(is_of_section).collect();
        if found.is_empty() {
            found = (0..self.all.len()).filter(|at| has_name(&self.all[*at], text)).collect();
        }
        let said = tokens(text).into_iter().flat_map(|own| own.parts.into_iter().chain([own.root]));
        let said: BTreeSet<String> = said.collect();
        let is_headed = |at: &usize| !self.heads[*at].is_disjoint(&said) && !found.contains(at);
        let headed: Vec<usize> = (0..self.all.len()).filter(is_headed).take(MOST_HEADED).collect();
        found.splice(0..0, headed);
        if found.is_empty() {
            found = (0..self.all.len()).collect();
        }
        if let Some(first) = self.beside(around, item, text) {
            found.retain(|at| *at != first);
            found.insert(0, first);
        }
        found.truncate(MOST_TABLES);
        found
    }

    /// The tables, without blocks and lists.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &Grid> {
        self.all.iter().filter(|own| !own.is_block && !own.is_list)
    }

    /// How many tables and blocks there are.
    pub(crate) fn len(&self) -> usize {
        self.all.iter().filter(|own| !own.is_list).count()
    }

    /// What the tables and blocks say of a sentence of an item; on a page of several machines only what stands next
    /// to a block is of it.
    pub(crate) fn judge(
        &self,
        around: &Surroundings<'_>,
        item: &Item,
        ((from, to), is_of_parts): ((usize, usize), bool),
    ) -> Vec<Said> {
        let is_told =
            matches!(item.kind, ItemKind::Paragraph | ItemKind::Bullet | ItemKind::Conclusion);
        let text = &item.text[from..to];
        if self.all.is_empty() || !is_told || self.all.iter().any(|grid| is_within(grid, item)) {
            return Vec::new();
        }
        let beside = self.meant(around, item, text);
        let Some(own) = beside.or_else(|| self.elsewhere(text)) else { return Vec::new() };
        let near = own.saturating_sub(NEAR)..(own + NEAR + 1).min(self.all.len());
        let is_other = |at: &usize| *at != own && (self.all[own].is_list || !self.all[*at].is_list);
        let others: Vec<&Grid> = near.filter(is_other).map(|at| &self.all[at]).collect();
        let names_others = others.iter().any(|other| names_rows(&self.all[own], other, text));
        let elsewhere: Vec<Vec<(usize, CellVerdict)>> =
            others.iter().map(|grid| judge(grid, "", text)).collect();
        let is_next = item.line.saturating_sub(self.all[own].lines.1) <= BESIDE
            && item.line > self.all[own].lines.1;
        if is_of_parts && self.all[own].is_block && !is_next {
            return Vec::new();
        }
        let is_held = |at: usize| {
            !is_next
                && elsewhere.iter().flatten().any(|own| own.0 == at && own.1 == CellVerdict::Holds)
        };
        let is_strange = names_families(&self.all[own], text);
        let source = match self.all[own].is_block {
            false => Source::Table,
            true if self.all[own].rows.len() == 2 => Source::Pair,
            true => Source::Sets,
        };
        let said = |(at, verdict): (usize, CellVerdict)| {
            let verdict = match verdict {
                CellVerdict::Wrong(_) | CellVerdict::Doubtful(_)
                    if is_strange || has_value(&others, text, at) =>
                {
                    CellVerdict::Open
                }
                CellVerdict::Wrong(_) | CellVerdict::Doubtful(_) if is_held(at) => {
                    CellVerdict::Open
                }
                CellVerdict::Wrong(data) if names_others => CellVerdict::Doubtful(data),
                // blocks have rules of their own to ask by
                CellVerdict::Doubtful(_) if names_others || self.all[own].is_block => {
                    CellVerdict::Open
                }
                other => other,
            };
            Said { at: from + at, verdict, source }
        };
        let before = last_of(&item.text[..from]);
        let found: Vec<Said> = judge(&self.all[own], before, text).into_iter().map(said).collect();
        let place = self.beside(around, item, text).unwrap_or(own);
        let is_asked = !is_of_parts || !self.all[place].is_block;
        let of_two = is_asked.then(|| self.of_two(around, place, text)).into_iter().flatten();
        let source = if self.all[place].is_block { Source::Pair } else { Source::Table };
        let of_two: Vec<Said> =
            of_two.map(|(at, verdict)| Said { at: from + at, verdict, source }).collect();
        match (of_two.is_empty(), beside) {
            (false, _) => of_two,
            (true, Some(_)) => found,
            (true, None) => found.into_iter().map(Said::doubted).collect(),
        }
    }

    /// On a page without blocks, the table of another section that has most of the words of a sentence in its names: notes and summaries stand
    /// where no table does.
    fn elsewhere(&self, text: &str) -> Option<usize> {
        // beside blocks, other tables are of hardware and of what was done
        if self.all.len() > MOST_TABLES || self.all.iter().any(|own| own.is_block) {
            return None;
        }
        let said = tokens(text).into_iter().flat_map(|own| own.parts.into_iter().chain([own.root]));
        let said: BTreeSet<String> = said.filter(|word| word.len() > 1).collect();
        let score = |grid: &Grid| {
            let telling = |word: &&String| !grid.shared.contains(*word) && said.contains(*word);
            let rows: BTreeSet<&String> =
                grid.rows.iter().flat_map(|row| &row.words).filter(telling).collect();
            let columns = grid.columns.iter().flat_map(|own| &own.name.words).filter(telling);
            let head = grid.head.iter().filter(telling);
            let all: BTreeSet<&String> = rows.iter().copied().chain(columns).chain(head).collect();
            if rows.is_empty() { 0 } else { all.len() }
        };
        let scores: Vec<usize> =
            self.all.iter().map(|own| if own.is_block { 0 } else { score(own) }).collect();
        let most = scores.iter().copied().max().filter(|most| *most > 1)?;
        let mut best = (0..scores.len()).filter(|at| scores[*at] == most);
        best.next().filter(|_| best.next().is_none())
    }

    /// What a sentence says of two tables, or of two blocks that it names by their headings.
    fn of_two(
        &self,
        around: &Surroundings<'_>,
        own: usize,
        text: &str,
    ) -> Vec<(usize, CellVerdict)> {
        let grid = &self.all[own];
        if grid.is_block {
            let Some(across) = &self.across else { return Vec::new() };
            let heading = around.page.heading_above(grid.lines.0);
            let heading = heading.map(|own| own.text.trim_start_matches(['#', ' ']).trim());
            let row = across.rows.iter().position(|own| Some(own.text.as_str()) == heading);
            return judge_across(across, row, text);
        }
        let tables: Vec<usize> = (0..self.all.len())
            .filter(|at| !self.all[*at].is_block && !self.all[*at].is_list)
            .collect();
        if tables.len() > MOST_TABLES {
            return Vec::new();
        }
        let number = |(place, at): (usize, &usize)| {
            self.captions[*at].clone().unwrap_or_else(|| (place + 1).to_string())
        };
        let numbers: Vec<String> = tables.iter().enumerate().map(number).collect();
        let Some(place) = tables.iter().position(|at| *at == own) else { return Vec::new() };
        let text = with_tables_named(text, &numbers);
        let shown = |place: usize| Shown {
            grid: &self.all[tables[place]],
            about: &self.about[tables[place]],
            number: &numbers[place],
        };
        let near = place.saturating_sub(NEAR)..(place + NEAR + 1).min(tables.len());
        let others = near.filter(|other| *other != place);
        let found = others.map(|other| joined(&shown(place), &shown(other), &text));
        found.into_iter().find(|own| !own.is_empty()).unwrap_or_default()
    }

    /// Whether a sentence is of a table, in whose section there is no block: of what only a table has.
    pub(crate) fn is_of_table(&self, around: &Surroundings<'_>, item: &Item, text: &str) -> bool {
        let heading = |line: usize| around.page.heading_above(line).map(|heading| heading.line);
        let own = heading(item.line);
        let is_beside = |grid: &&Grid| heading(grid.lines.0) == own;
        own.is_some()
            && self
                .meant(around, item, text)
                .is_some_and(|at| !self.all[at].is_block && is_of_units(&self.all[at], text))
            && !self.all.iter().filter(is_beside).any(|grid| grid.is_block)
    }

    /// Whether a sentence below a block has words of rows that only other blocks have.
    pub(crate) fn names_others(&self, item: &Item, text: &str) -> bool {
        let Some(own) = self.above(item) else { return false };
        let near = own.saturating_sub(NEAR)..(own + NEAR + 1).min(self.all.len());
        let mut others = near.filter(|at| *at != own && !self.all[*at].is_list);
        others.any(|at| names_rows(&self.all[own], &self.all[at], text))
    }

    /// Whether a sentence names a row in full that only a table or a list near it has, and no block.
    pub(crate) fn names_table(&self, item: &Item, text: &str) -> bool {
        let end = self.all.partition_point(|grid| grid.lines.1 < item.line);
        let near = &self.all[end.saturating_sub(NEAR)..(end + NEAR).min(self.all.len())];
        let words: Vec<String> = tokens(text).into_iter().map(|own| own.text).collect();
        let said = format!(" {} ", words.join(" "));
        let is_of_block = |row: &Name| {
            let blocks = self.all.iter().filter(|grid| grid.is_block);
            blocks.flat_map(|block| &block.rows).any(|own| row.words.is_subset(&own.words))
        };
        let tables = near.iter().filter(|grid| !grid.is_block);
        tables.flat_map(|table| &table.rows).any(|row| {
            let name = row.text.to_lowercase();
            name.starts_with(char::is_alphabetic)
                && said.contains(&format!(" {name} "))
                && !is_of_block(row)
        })
    }

    /// Whether a percentage below a block is of a family that stands in another one, against that of this one.
    pub(crate) fn is_of_families(&self, item: &Item, text: &str) -> bool {
        let Some(own) = self.above(item).map(|at| &self.all[at]) else { return false };
        let said: BTreeSet<String> = tokens(text).into_iter().map(|own| own.root).collect();
        own.is_block
            && said.contains("inet")
            && said.contains("inet6")
            && text.contains('%')
            && names_families(own, text)
    }

    /// The grid that a sentence is of.
    fn meant(&self, around: &Surroundings<'_>, item: &Item, text: &str) -> Option<usize> {
        if let Some(number) = caption_of(text) {
            return self.captions.iter().position(|own| own.as_ref() == Some(&number));
        }
        self.beside(around, item, text)
    }

    /// The last table or block above an item.
    fn above(&self, item: &Item) -> Option<usize> {
        self.all.iter().rposition(|grid| grid.lines.1 < item.line && !grid.is_list)
    }

    /// The one of its section beside which a sentence stands.
    fn beside(&self, around: &Surroundings<'_>, item: &Item, text: &str) -> Option<usize> {
        let end = self.all.partition_point(|grid| grid.lines.1 < item.line);
        let heading = |line: usize| around.page.heading_above(line).map(|heading| heading.line);
        let own = heading(item.line);
        let is_of_section = |at: &usize| heading(self.all[*at].lines.0) == own;
        // a list is meant where one of its items is named
        let is_meant = |at: &usize| !self.all[*at].is_list || has_name(&self.all[*at], text);
        let above = (0..end).rev().find(is_meant).filter(is_of_section);
        let below = (end..self.all.len()).find(is_meant).filter(is_of_section);
        if item.is_announcement() {
            return below.or(above);
        }
        above.or(below)
    }
}

/// "The best run of one is 32 kpps below the worst one of the other": which end is of which nothing here tells.
fn has_both_ends(text: &str) -> bool {
    const ENDS: [&[&str]; 2] = [
        &["min", "minimum", "worst", "slowest", "lowest", "smallest", "least"],
        &["max", "maximum", "best", "fastest", "highest", "largest", "most"],
    ];
    let said: Vec<String> = tokens(text).into_iter().map(|own| own.text).collect();
    let has = |end: &[&str]| said.iter().any(|word| end.contains(&word.as_str()));
    ENDS.into_iter().all(has)
}

/// The values beside a page, as a block of all series would show them.
fn series_of(around: &Surroundings<'_>) -> Option<Grid> {
    fn own<'a>((name, values): (&'a String, &Vec<f64>)) -> Option<(&'a str, [f64; 5])> {
        let mut sorted = values.clone();
        sorted.sort_by(f64::total_cmp);
        let count = f64::from(u32::try_from(sorted.len()).ok()?);
        let (least, most) = (*sorted.first()?, *sorted.last()?);
        let mean = sorted.iter().sum::<f64>() / count;
        let square = sorted.iter().map(|own| (own - mean).powi(2)).sum::<f64>();
        let deviation = if count > 1.0 { (square / (count - 1.0)).sqrt() } else { 0.0 };
        Some((name.as_str(), [least, most, sorted[sorted.len() / 2], mean, deviation]))
    }
    let values = around.data.all_values();
    let rows: Vec<(&str, [f64; 5])> = values.iter().take(MOST_SERIES).filter_map(own).collect();
    (rows.len() > 1).then(|| Grid::of_block((0, 0), &rows, ""))
}

/// Tables and blocks that a sentence names by their headings.
const MOST_HEADED: usize = 8;

/// The words of headings, of what stands above, and of all rows, that not every table or block has.
fn heads(around: &Surroundings<'_>, grids: &[Grid]) -> Vec<BTreeSet<String>> {
    const EMPTY: [&str; 24] = [
        "the", "a", "an", "of", "in", "on", "with", "without", "and", "or", "for", "to", "at",
        "by", "is", "no", "not", "mpps", "kpps", "pps", "packet", "rate", "result", "pps file",
    ];
    let words = |grid: &Grid| -> BTreeSet<String> {
        let line = grid.lines.0;
        let heading = around.page.heading_above(line).map_or("", |item| item.text.as_str());
        let above = around.page.item_before(line).map_or("", |item| item.text.as_str());
        let is_short = |text: &&str| text.split_whitespace().count() <= MOST_WORDS;
        let texts = [heading, above].into_iter().filter(is_short).flat_map(tokens);
        let plain = texts
            .filter(|own| own.number.is_none())
            .flat_map(|own| own.parts.into_iter().chain([own.root]));
        let all = plain.chain(grid.shared.iter().cloned());
        all.filter(|own| own.len() > 1 && !EMPTY.contains(&own.as_str())).collect()
    };
    let all: Vec<BTreeSet<String>> = grids.iter().map(words).collect();
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    for word in all.iter().flatten() {
        *counts.entry(word).or_default() += 1;
    }
    let is_telling = |word: &&String| 2 * counts.get(word).copied().unwrap_or(0) <= grids.len();
    all.iter().map(|own| own.iter().filter(is_telling).cloned().collect()).collect()
}

/// Words of what is a heading, and no paragraph.
const MOST_WORDS: usize = 14;

/// Series beside a page up to which sentences are held against them.
const MOST_SERIES: usize = 64;

/// Numbers of what was done.
fn stated(around: &Surroundings<'_>, grids: &[Grid], captions: &[String]) -> Vec<Number> {
    let first = grids.iter().map(|own| own.lines.0).min().unwrap_or(0);
    let is_setup = |item: &&Item| {
        item.kind == ItemKind::Heading || item.kind == ItemKind::Bullet && item.line < first
    };
    let texts = around.page.items.iter().filter(is_setup).map(|item| item.text.as_str());
    let names = grids.iter().flat_map(|own| &own.rows).map(|row| row.text.as_str());
    let all = texts.chain(names).chain(captions.iter().map(String::as_str));
    let numbers = all.flat_map(|text| tokens(text).into_iter().filter_map(|own| own.number));
    numbers.filter(|own| own.unit != Unit::Plain).collect()
}

/// The end of a text, as far as a sentence behind it may refer to.
fn last_of(text: &str) -> &str {
    const MOST: usize = 600;
    let start = text.len().saturating_sub(MOST);
    let start = (start..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[start..]
}

/// Whether an item stands among the lines of a table or a block, or is one of a list.
fn is_within(grid: &Grid, item: &Item) -> bool {
    (grid.lines.0..=grid.lines.1).contains(&item.line)
}

/// Whether a text has a word by which the rows of a list are told apart.
fn has_name(list: &Grid, text: &str) -> bool {
    let said = tokens(text).into_iter().flat_map(|own| own.parts.into_iter().chain([own.root]));
    let said: BTreeSet<String> = said.collect();
    let is_word = |word: &&String| word.len() > 1 && !list.shared.contains(*word);
    list.rows.iter().flat_map(|row| &row.words).filter(is_word).any(|word| said.contains(word))
}

/// "Table 2" of a caption or a sentence.
fn caption_of(text: &str) -> Option<String> {
    let own = tokens(text);
    let at = own.windows(2).position(|two| two[0].is("table") && two[1].number.is_some())?;
    Some(own[at + 1].text.clone())
}

/// Whether a rate of a clause is the mean or the median of a row of another grid: it may be that which is meant.
fn has_value(others: &[&Grid], text: &str, at: usize) -> bool {
    let own = tokens(&text[at..]);
    let end = own.iter().position(|own| own.is_last).map_or(own.len(), |at| at + 1);
    let rates =
        own[..end].iter().filter_map(|own| own.number).filter(|own| own.unit == Unit::Packets);
    let is_of = |grid: &&Grid, number: Number| {
        let columns =
            grid.columns.iter().enumerate().filter(|(_, own)| own.measure == Measure::Middle);
        let mut columns = columns.map(|(column, _)| column);
        columns.any(|column| {
            (0..grid.rows.len())
                .filter_map(|row| grid.at((row, column)))
                .any(|cell| grid.is_block && agrees(number, cell.value, cell.half, false))
        })
    };
    rates.into_iter().any(|number| others.iter().any(|grid| is_of(grid, number)))
}

/// Whether a text names a family that a grid does not, or two where it has none.
fn names_families(own: &Grid, text: &str) -> bool {
    let is_family = |word: &&String| matches!(word.as_str(), "inet" | "inet6");
    let said: BTreeSet<String> =
        tokens(text).into_iter().map(|own| own.root).filter(|own| is_family(&own)).collect();
    let names = own.rows.iter().chain(own.columns.iter().map(|column| &column.name));
    let shown: BTreeSet<&String> = names.flat_map(|name| &name.words).filter(is_family).collect();
    said.iter().any(|family| !shown.is_empty() && !shown.contains(family))
        || said.len() > 1 && shown.is_empty()
}

/// Whether a text has a word by which rows of another grid are told apart, and no row or column of its own.
fn names_rows(own: &Grid, other: &Grid, text: &str) -> bool {
    let shared = |word: &String| other.rows.iter().all(|row| row.words.contains(word));
    let is_own = |word: &String| {
        own.rows.iter().any(|row| row.words.contains(word))
            || own.columns.iter().any(|column| column.name.words.contains(word))
            || own.head.contains(word)
    };
    let said: BTreeSet<String> =
        tokens(text).into_iter().filter(|own| own.number.is_none()).map(|own| own.root).collect();
    const EMPTY: [&str; 8] = ["the", "with", "without", "and", "of", "only", "no", "on"];
    let words = other.rows.iter().flat_map(|row| &row.words);
    let is_family = |word: &String| word.starts_with("inet") || word.starts_with("ipv");
    words
        .filter(|word| !is_family(word))
        .filter(|word| word.len() > 1 && !EMPTY.contains(&word.as_str()))
        .any(|word| said.contains(word) && !shared(word) && !is_own(word))
}

/// Whether a text has a number of what only a table has: with the unit of a column that is none of blocks (a time, a
/// power, bits/s), or of what heads its rows ("one core" below "cores").
fn is_of_units(grid: &Grid, text: &str) -> bool {
    let is_of_blocks =
        |unit: Unit| matches!(unit, Unit::Packets | Unit::Percent | Unit::Times | Unit::Plain);
    let is_own = |unit: Unit| !is_of_blocks(unit) && grid.columns.iter().any(|c| c.unit == unit);
    let said = tokens(text);
    let is_headed = said.windows(2).any(|two| {
        let is_plain = two[0].number.is_some_and(|own| own.unit == Unit::Plain);
        let is_row = || grid.rows.iter().any(|row| row.words.contains(&two[0].root));
        is_plain && !two[0].is_last && grid.head.contains(&two[1].root) && is_row()
    });
    is_headed || said.iter().any(|own| own.number.is_some_and(|number| is_own(number.unit)))
}

/// The sets of a block as rows.
fn rows_of<'a>(sets: &'a [SourcedSet<'_>]) -> Vec<(&'a str, [f64; 5])> {
    sets.iter().map(|set| (set.set.legend.as_str(), set.row.values)).collect()
}
