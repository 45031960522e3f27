//! Lists that are tables: "- pf: 1.2 Mpps", "idle = 6.1 W", a term with its definition below. What an item stands
//! under is part of its name.

use fwdlab_netbenches::page::{Item, Page};

use crate::drawn::{row_of, taken};
use crate::model::{Grid, MOST_ROWS, Name};
use crate::token::{Unit, tokens};

/// A figure with what it is called.
#[derive(Debug)]
struct Entry {
    line: usize,
    name: String,
    value: String,
    unit: Unit,
}

/// A line of a list.
struct Line<'a> {
    number: usize,
    indent: usize,
    text: &'a str,
    is_bullet: bool,
    /// Whether items stand under it.
    is_above: bool,
}

/// The lists of figures of a page: two or more lines that follow each other, each a name with one figure. Figures
/// without a unit are a list only where names share a word, as settings share none.
pub fn listed(page: &Page) -> Vec<Grid> {
    let is_taken = taken(page);
    let lines: Vec<Line<'_>> = page.lines.iter().enumerate().map(line_of).collect();
    let mut found = Vec::new();
    let mut run = Run::default();
    for (at, line) in lines.iter().enumerate() {
        if line.text.is_empty() && run.is_of_bullets {
            continue;
        }
        let mut rest = lines[at + 1..].iter();
        let next = rest.find(|own| !line.is_bullet || !own.text.is_empty());
        let is_above = next.is_some_and(|own| own.is_bullet && own.indent > line.indent);
        let line = Line { is_above, ..*line };
        let is_open = !line.text.is_empty() && !is_taken(line.number);
        if !is_open || !run.take(&line) {
            found.extend(run.grid(page));
            run = Run::default();
            if is_open {
                run.take(&line);
            }
        }
    }
    found.extend(run.grid(page));
    found
}

fn line_of((at, text): (usize, &String)) -> Line<'_> {
    let bare = text.trim_start();
    let own = bare.trim_start_matches(['-', '*', '+', '•']);
    let is_bullet = own.len() < bare.len() && own.starts_with(' ');
    Line {
        number: at + 1,
        indent: text.len() - bare.len(),
        text: if is_bullet { own.trim() } else { bare.trim_end() },
        is_bullet,
        is_above: false,
    }
}

/// Lines that may become a list.
#[derive(Default)]
struct Run {
    entries: Vec<Entry>,
    /// The items above that have no figure, each with its indent.
    above: Vec<(usize, String)>,
    /// A line that may be a term.
    term: Option<String>,
    is_of_bullets: bool,
    is_of_terms: bool,
}

impl Run {
    /// Whether a line goes on with what was before.
    fn take(&mut self, line: &Line<'_>) -> bool {
        if let Some(definition) = line.text.strip_prefix(": ") {
            let Some((name, own)) = self.term.take().zip(figure(definition)) else { return false };
            self.is_of_terms = true;
            self.push(line, &name, own);
            return true;
        }
        let is_new = self.entries.is_empty();
        self.above.retain(|(indent, _)| *indent < line.indent);
        if let Some((name, own)) = entry(line.text) {
            if !is_new && (self.is_of_terms || self.is_of_bullets != line.is_bullet) {
                return false;
            }
            self.is_of_bullets = line.is_bullet;
            self.push(line, &name, own);
            return true;
        }
        if line.is_bullet {
            self.is_of_bullets |= line.is_above;
            self.above.extend(line.is_above.then(|| (line.indent, bare(line.text))));
            return line.is_above;
        }
        let is_term = !self.is_of_bullets && (is_new || self.is_of_terms);
        self.term = is_term.then(|| bare(line.text)).filter(|own| own.len() < MOST_NAME);
        self.term.is_some() || line.indent > 0 && self.is_of_bullets
    }

    fn push(&mut self, line: &Line<'_>, name: &str, (value, unit): (String, Unit)) {
        let above = self.above.iter().map(|(_, own)| own.as_str());
        let name = above.chain([name]).collect::<Vec<_>>().join(" ");
        self.entries.push(Entry { line: line.number, name, value, unit });
    }

    /// The table that the list is: a column for each unit.
    fn grid(&self, page: &Page) -> Option<Grid> {
        let [first, .., last] = self.entries.as_slice() else { return None };
        if self.entries.len() > MOST_ROWS {
            return None;
        }
        let mut units: Vec<Unit> = Vec::new();
        for own in &self.entries {
            if !units.contains(&own.unit) {
                units.push(own.unit);
            }
        }
        let is_plain = units.contains(&Unit::Plain);
        if is_plain && (units.len() > 1 || !self.shares_words()) {
            return None;
        }
        let head = vec![""; units.len() + 1];
        let rule = vec!["---"; units.len() + 1];
        let mut rows = vec![row_of(first.line, &head), row_of(first.line, &rule)];
        for own in &self.entries {
            let value = |unit: &Unit| if *unit == own.unit { own.value.as_str() } else { "" };
            let cells: Vec<&str> =
                std::iter::once(own.name.as_str()).chain(units.iter().map(value)).collect();
            rows.push(row_of(own.line, &cells));
        }
        let rows: Vec<&Item> = rows.iter().collect();
        let above = page.item_before(first.line).filter(|_| is_plain);
        let grid = Grid::of_table(&rows, above.map_or("", |item| item.text.as_str()))?;
        Some(Grid { is_list: true, lines: (first.line, last.line), ..grid })
    }

    /// Whether a word stands in the names of two entries.
    fn shares_words(&self) -> bool {
        let names: Vec<Name> = self.entries.iter().map(|own| Name::of(&own.name)).collect();
        let is_shared = |at: usize, word: &String| {
            word.len() > 1 && names[at + 1..].iter().any(|own| own.words.contains(word))
        };
        names.iter().enumerate().any(|(at, own)| own.words.iter().any(|word| is_shared(at, word)))
    }
}

/// Characters up to which a line is a name.
const MOST_NAME: usize = 60;

fn bare(name: &str) -> String {
    let kept = |c: &char| !matches!(c, '*' | '`' | '_' | '|' | '"');
    name.trim().trim_end_matches(':').chars().filter(kept).collect()
}

/// "pf, 10 rules: 1.2 Mpps (baseline)".
fn entry(text: &str) -> Option<(String, (String, Unit))> {
    let joint = [": ", " = ", " — ", " – ", " -- ", " -> ", ":\t"];
    let (at, own) = joint.iter().filter_map(|own| Some((text.rfind(own)?, own))).min()?;
    let name = bare(&text[..at]);
    let is_name = name.len() < MOST_NAME && name.contains(char::is_alphanumeric);
    is_name.then_some(())?;
    Some((name, figure(&text[at + own.len()..])?))
}

/// The one figure of a text that has nothing else, but what stands in brackets or behind a comma.
fn figure(text: &str) -> Option<(String, Unit)> {
    let end = [" (", ", ", "; ", " ["].iter().filter_map(|own| text.find(own)).min();
    let own = text[..end.unwrap_or(text.len())].trim();
    let kept: String = own.chars().filter(|c| !matches!(c, '*' | '`' | '|')).collect();
    let [token] = tokens(&kept).try_into().ok()?;
    let number = token.number.filter(|_| kept.contains(|c: char| c.is_ascii_digit()))?;
    let is_scaled = number.unit != Unit::Plain || number.value >= 100.0;
    is_scaled.then_some((kept.trim_end_matches('.').to_owned(), number.unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<Vec<(String, f64)>> {
        let all = listed(&Page::parse(text.as_bytes()));
        let value = |grid: &Grid, row: usize| {
            let mut own = (0..grid.columns.len()).filter_map(|column| grid.at((row, column)));
            own.next().map_or(0.0, |own| own.value)
        };
        let rows = |grid: &Grid| {
            let row = |at: usize| (grid.rows[at].text.clone(), value(grid, at));
            (0..grid.rows.len()).map(row).collect()
        };
        all.iter().map(rows).collect()
    }

    #[test]
    fn names_with_a_figure_each_are_a_table() {
        let text = "Rates:\n\n- **pf**, 10 rules: 1.2 Mpps (baseline)\n- none: 1,480 kpps\n\nidle = 6 W\nbusy = 9.5 W\n\np50\n: 14 us\np99\n: 61 us\n";
        let wanted = [
            vec![("pf, 10 rules".to_owned(), 1.2e6), ("none".to_owned(), 1.48e6)],
            vec![("idle".to_owned(), 6.0), ("busy".to_owned(), 9.5)],
            vec![("p50".to_owned(), 14e-6), ("p99".to_owned(), 61e-6)],
        ];
        let rounded = |all: Vec<Vec<(String, f64)>>| -> Vec<Vec<(String, f64)>> {
            let own = |(name, value): (String, f64)| (name, (value * 1e9).round() / 1e9);
            all.into_iter().map(|list| list.into_iter().map(own).collect()).collect()
        };
        assert_eq!(rounded(shown(text)), wanted);
    }

    #[test]
    fn an_item_is_called_by_what_it_stands_under_too() {
        let text = "* IPv4\n  * one flow: 2 Mpps\n    (or so)\n  * two flows: 3 Mpps\n* IPv6:\n  * one flow: 1 Mpps\n";
        let own = shown(text).concat();
        let names: Vec<&str> = own.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["IPv4 one flow", "IPv4 two flows", "IPv6 one flow"]);
    }

    #[test]
    fn claims_settings_and_single_figures_are_no_table() {
        for text in [
            "* IPv4: 5.7% slower than before\n* IPv6: 3% faster\n",
            "- FreeBSD: 13\n- flows: 2000\n- frames: 500\n",
            "- rate: 5 Mpps\n\ntext\n",
            "| a | b |\n|---|---|\n| x: 1 Mpps | y: 2 Mpps |\n",
        ] {
            assert!(shown(text).is_empty(), "{text} {:?}", shown(text));
        }
    }
}
