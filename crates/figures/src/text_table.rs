//! Tables of text: Markdown that reads well unrendered, and plain columns for
//! terminals.

use std::fmt::Write as _;

use crate::escape;

/// Which side of a column its cells keep to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Names.
    Left,
    /// Numbers.
    Right,
}

/// A table under construction.
#[derive(Debug, Clone)]
pub struct TextTable {
    head: Vec<(String, Side)>,
    rows: Vec<Vec<String>>,
}

impl TextTable {
    /// A table with these columns.
    pub fn new<H: Into<String>>(columns: impl IntoIterator<Item = (H, Side)>) -> Self {
        let head = columns.into_iter().map(|(name, side)| (flat(name.into()), side)).collect();
        Self { head, rows: Vec::new() }
    }

    /// Adds a row; missing cells stay empty.
    pub fn row(&mut self, mut cells: Vec<String>) {
        cells.resize(self.head.len(), String::new());
        self.rows.push(cells.into_iter().map(flat).collect());
    }

    /// Rows that are so, and the others.
    pub fn parted(self, is_so: impl Fn(&[String]) -> bool) -> (Self, Self) {
        let (rows, others) = self.rows.into_iter().partition(|row| is_so(row));
        (Self { head: self.head.clone(), rows }, Self { head: self.head, rows: others })
    }

    /// With its columns as rows, below a head of this name and the cells of its first column.
    pub fn turned(self, name: &str) -> Self {
        let head = self.rows.iter().filter_map(|row| row.first().cloned());
        let mut turned =
            Self::new(std::iter::once(name.to_owned()).chain(head).map(|name| (name, Side::Left)));
        for (column, (name, _)) in self.head.into_iter().enumerate().skip(1) {
            let cells = self.rows.iter().filter_map(|row| row.get(column).cloned());
            turned.row(std::iter::once(name).chain(cells).collect());
        }
        turned
    }

    /// What stands above its columns.
    pub fn heads(&self) -> impl Iterator<Item = &str> {
        self.head.iter().map(|(name, _)| name.as_str())
    }

    /// How many columns it has.
    pub fn columns(&self) -> usize {
        self.head.len()
    }

    /// Whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many rows it has.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The table as aligned Markdown, `|` inside cells escaped.
    pub fn markdown(&self) -> String {
        let escaped = Self {
            head: self.head.iter().map(|(h, s)| (h.replace('|', "\\|"), *s)).collect(),
            rows: self
                .rows
                .iter()
                .map(|row| row.iter().map(|c| c.replace('|', "\\|")).collect())
                .collect(),
        };
        escaped.markdown_rows()
    }

    fn markdown_rows(&self) -> String {
        let widths = self.widths();
        let mut out = String::new();
        let names: Vec<String> = self.head.iter().map(|(name, _)| name.clone()).collect();
        let _ = writeln!(out, "| {} |", self.aligned(&names, &widths).join(" | "));
        for ((_, side), width) in self.head.iter().zip(&widths) {
            let dashes = "-".repeat(width + 1);
            let _ = match side {
                Side::Left => write!(out, "|{dashes}-"),
                Side::Right => write!(out, "|{dashes}:"),
            };
        }
        out.push_str("|\n");
        for row in &self.rows {
            let _ = writeln!(out, "| {} |", self.aligned(row, &widths).join(" | "));
        }
        out
    }

    /// The table as plain columns, two spaces apart.
    pub fn plain(&self) -> String {
        let widths = self.widths();
        let names: Vec<String> = self.head.iter().map(|(name, _)| name.clone()).collect();
        let mut out = String::new();
        for row in std::iter::once(&names).chain(&self.rows) {
            let line = self.aligned(row, &widths).join("  ");
            let _ = writeln!(out, "{}", line.trim_end());
        }
        out
    }

    /// [`plain`](Self::plain) where that fits so many columns of a terminal; else the rows one below the
    /// other, each headed by its first cell, a line for each other one that says something.
    pub fn plain_in(&self, columns: usize) -> String {
        let plain = self.plain();
        if plain.lines().all(|line| line.chars().count() <= columns) {
            return plain;
        }
        let mut out = String::new();
        for row in &self.rows {
            let _ = writeln!(out, "{}", row.first().map_or("", String::as_str));
            let cells = self.head.iter().zip(row).skip(1).filter(|(_, cell)| !cell.is_empty());
            for ((name, _), cell) in cells {
                let _ = writeln!(out, "  {name}: {cell}");
            }
        }
        out
    }

    /// The table as HTML; each row carries the text of column `named` as its
    /// variant, so that the page can hide it.
    pub fn html(&self, named: usize) -> String {
        /// A cell with more characters is not squeezed to a word a line.
        const LONG: usize = 40;
        let class = |side: Side| if side == Side::Left { " class=\"left\"" } else { "" };
        let of_cell = |side: Side, text: &str| {
            let is_long = side == Side::Left && text.chars().count() > LONG;
            if is_long { " class=\"left long\"" } else { class(side) }
        };
        let mut out = String::from("<table>\n<tr>");
        for (name, side) in &self.head {
            let _ = write!(out, "<th{} scope=\"col\">{}</th>", class(*side), escape(name));
        }
        out.push_str("</tr>\n");
        for row in &self.rows {
            let _ = match row.get(named) {
                Some(name) => write!(out, "<tr data-variant=\"{}\">", escape(name)),
                None => write!(out, "<tr>"),
            };
            for (cell, (_, side)) in row.iter().zip(&self.head) {
                let _ = write!(out, "<td{}>{}</td>", of_cell(*side, cell), escape(cell));
            }
            out.push_str("</tr>\n");
        }
        out + "</table>\n"
    }

    fn widths(&self) -> Vec<usize> {
        let width = |text: &str| text.chars().count();
        (0..self.head.len())
            .map(|k| {
                let cells = self.rows.iter().map(|row| width(&row[k]));
                cells.fold(width(&self.head[k].0), usize::max)
            })
            .collect()
    }

    fn aligned(&self, row: &[String], widths: &[usize]) -> Vec<String> {
        let sides = self.head.iter().map(|(_, side)| *side);
        row.iter()
            .zip(sides.zip(widths))
            .map(|(cell, (side, &width))| match side {
                Side::Left => format!("{cell:<width$}"),
                Side::Right => format!("{cell:>width$}"),
            })
            .collect()
    }
}

/// Breaks `text` into lines of at most `width` columns; the first is
/// prefixed by `first`, the others by `next`. A word longer than a line keeps
/// its length; a per cent sign stays with its number.
pub fn wrap(text: &str, width: usize, first: &str, next: &str) -> String {
    let mut out = String::new();
    let mut line = first.to_owned();
    let mut is_empty = true;
    for word in words(text) {
        let used = line.chars().count() + usize::from(!is_empty) + word.chars().count();
        if used > width && !is_empty {
            out.push_str(line.trim_end());
            out.push('\n');
            line = next.to_owned();
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(&word);
        is_empty = false;
    }
    out.push_str(line.trim_end());
    out.push('\n');
    out
}

/// The words of a text, with a per cent sign joined to the number before it.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match words.last_mut() {
            Some(number) if word.starts_with('%') => {
                number.push(' ');
                number.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// A cell on one line: a line end would begin a line of the page's own.
fn flat(text: String) -> String {
    if text.contains('\n') { text.replace('\n', " ") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turned_table_has_its_columns_as_rows() {
        let mut table = TextTable::new(["setting", "a", "b", "c"].map(|name| (name, Side::Left)));
        table.row(["x", "1", "2", "3"].map(str::to_owned).to_vec());
        let turned = table.turned("variant");
        assert_eq!(turned.plain(), "variant  x\na        1\nb        2\nc        3\n");
        assert_eq!((turned.columns(), turned.len()), (2, 3));
    }

    #[test]
    fn markdown_table_is_aligned_as_plain_text() {
        let mut table = TextTable::new([("name", Side::Left), ("n", Side::Right)]);
        table.row(vec!["a|b".into(), "5".into()]);
        table.row(vec!["longer".into(), "10".into()]);
        let wanted = "| name   |  n |\n|--------|---:|\n| a\\|b   |  5 |\n| longer | 10 |\n";
        assert_eq!(table.markdown(), wanted);
    }

    #[test]
    fn wraps_at_the_asked_width_and_indents_the_rest() {
        assert_eq!(wrap("one two three", 9, "=> ", "   "), "=> one\n   two\n   three\n");
    }

    #[test]
    fn per_cent_sign_stays_with_its_number() {
        assert_eq!(wrap("about 17.5 %] more", 10, "", ""), "about\n17.5 %]\nmore\n");
    }

    #[test]
    fn word_longer_than_the_line_stands_alone() {
        assert_eq!(wrap("a extraordinary b", 6, "", ""), "a\nextraordinary\nb\n");
    }

    #[test]
    fn a_table_that_is_too_wide_is_a_list() {
        let mut table =
            TextTable::new([("name", Side::Left), ("n", Side::Right), ("why", Side::Left)]);
        table.row(vec!["radix".into(), "7".into(), String::new()]);
        assert_eq!(table.plain_in(13), table.plain());
        assert_eq!(table.plain_in(12), "radix\n  n: 7\n");
    }
}
