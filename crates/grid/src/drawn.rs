//! Tables drawn with white space, as in code fences: columns are told apart by two blanks or more, or by bars.

use std::collections::BTreeSet;

use fwdlab_netbenches::page::{Item, ItemKind, Page};

/// The tables of a page that are no Markdown, as rows of it: the heads, a rule, and the rows below.
///
/// A table is lines that follow each other, with as many cells each, all but the first of which begin with a digit or
/// are empty signs, below a line with heads of them; what heads the first column may be left out. Heads that are sizes
/// ("10  1k  900k") look like values: the first of the lines is one of heads where nothing else above them is.
pub fn drawn(page: &Page) -> Vec<Vec<Item>> {
    let is_taken = taken(page);
    let lines: Vec<(usize, Vec<&str>)> = (1..=page.lines.len())
        .map(|line| (line, page.lines[line - 1].as_str()))
        .filter(|(_, text)| !is_rule(text))
        .map(|(line, text)| (line, if is_taken(line) { Vec::new() } else { cells_of(text) }))
        .collect();
    let mut found = Vec::new();
    let mut at = 1;
    while at < lines.len() {
        let count =
            lines[at..].iter().take_while(|(_, own)| is_row(own, lines[at].1.len())).count();
        let above = head_of(&lines[at - 1].1, lines[at].1.len()).map(|head| (at - 1, head));
        let sizes = || are_sizes(&lines[at].1).then(|| (at, lines[at].1.clone()));
        if let Some((first, head)) = above.or_else(sizes)
            && first + 2 < at + count
        {
            let mut rows = vec![(lines[first].0, head.clone())];
            rows.push((lines[first].0, vec!["---"; head.len()]));
            rows.extend(lines[first + 1..at + count].iter().cloned());
            found.push(rows.into_iter().map(|(line, own)| row_of(line, &own)).collect());
        }
        at += count.max(1);
    }
    found
}

/// Which lines are of blocks, or rows of Markdown tables.
pub(crate) fn taken(page: &Page) -> impl Fn(usize) -> bool {
    let is_row = |own: &&Item| own.kind == ItemKind::Row;
    let rows: BTreeSet<usize> = page.items.iter().filter(is_row).map(|own| own.line).collect();
    move |line| {
        let next = page.blocks.partition_point(|own| own.last_line < line);
        page.blocks.get(next).is_some_and(|own| own.first_line <= line) || rows.contains(&line)
    }
}

/// `----- | -----`, `=====  =====`.
fn is_rule(text: &str) -> bool {
    let text = text.trim();
    text.len() > 3 && text.chars().all(|c| matches!(c, '-' | '=' | '+' | '|' | ' ' | '\t'))
}

fn cells_of(text: &str) -> Vec<&str> {
    let text = text.trim();
    let is_barred = text.contains('|');
    let parts: Vec<&str> = match is_barred {
        true => text.trim_matches('|').split('|').collect(),
        false => text.split("  ").flat_map(|own| own.split('\t')).collect(),
    };
    let parts = parts.into_iter().map(str::trim);
    parts.filter(|own| is_barred || !own.is_empty()).collect()
}

/// Whether cells are a row of so many: a name, and values.
fn is_row(cells: &[&str], count: usize) -> bool {
    let is_value = |own: &&str| {
        let bare = own.trim_start_matches(['+', '-', '−', '~', '<', '>', '(']);
        bare.starts_with(|c: char| c.is_ascii_digit()) || matches!(*own, "-" | "n/a" | "–" | "—")
    };
    cells.len() == count && count > 1 && cells[1..].iter().all(is_value)
}

/// The heads of so many columns, if a line is of such.
fn head_of<'a>(cells: &[&'a str], count: usize) -> Option<Vec<&'a str>> {
    let is_name = |own: &&str| own.contains(|c: char| c.is_alphabetic());
    if !cells.iter().any(is_name) {
        return None;
    }
    match cells.len() {
        own if own == count => Some(cells.to_vec()),
        own if own + 1 == count => Some([&[""], cells].concat()),
        _ => None,
    }
}

/// A name, and two or more whole numbers of which each is larger than the one before.
fn are_sizes(cells: &[&str]) -> bool {
    let size = |own: &&str| -> Option<u64> {
        let end = own.find(|c: char| !c.is_ascii_digit()).unwrap_or(own.len());
        let (number, unit) = own.split_at(end);
        let factor = match unit {
            "" => 1,
            "k" | "K" => 1_000,
            "M" => 1_000_000,
            _ => return None,
        };
        number.parse::<u64>().ok()?.checked_mul(factor)
    };
    let is_name = cells.first().is_some_and(|own| own.starts_with(char::is_alphabetic));
    let sizes: Option<Vec<u64>> = cells.iter().skip(1).map(size).collect();
    is_name && sizes.is_some_and(|own| own.len() > 1 && own.is_sorted_by(|a, b| a < b))
}

pub(crate) fn row_of(line: usize, cells: &[&str]) -> Item {
    Item::row(line, format!("| {} |", cells.join(" | ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<Vec<String>> {
        let page = Page::parse(text.as_bytes());
        drawn(&page).into_iter().map(|own| own.into_iter().map(|row| row.text).collect()).collect()
    }

    #[test]
    fn columns_are_told_by_blanks_or_bars() {
        let text = "Rates:\n\n```\nrules   stock     patched kernel\n-----------------\n1       3.12      3.41\n1k      2.86      n/a\n```\nDone.\n\n    \
                    a | b\n    --+--\n    1 | 2\n    3 | 4\n";
        let wanted = [
            vec![
                "| rules | stock | patched kernel |",
                "| --- | --- | --- |",
                "| 1 | 3.12 | 3.41 |",
                "| 1k | 2.86 | n/a |",
            ],
            vec!["| a | b |", "| --- | --- |", "| 1 | 2 |", "| 3 | 4 |"],
        ];
        assert_eq!(shown(text), wanted);
    }

    #[test]
    fn what_heads_the_names_of_rows_may_be_left_out() {
        let text = "```\n      min   max\nold   0.2   1.9\nnew   0.1   0.8\n```\n";
        assert_eq!(shown(text)[0][0], "|  | min | max |");
    }

    /// Such a table was read as a sentence.
    #[test]
    fn heads_may_be_sizes() {
        let text = "Mpps by routes:\n\n    algorithm    10    1k  900k\n    radix      4.91  4.12  1.87\n    bsearch    5.31  5.08     -\n";
        let wanted = [
            "| algorithm | 10 | 1k | 900k |",
            "| --- | --- | --- | --- |",
            "| radix | 4.91 | 4.12 | 1.87 |",
            "| bsearch | 5.31 | 5.08 | - |",
        ];
        assert_eq!(shown(text), [wanted]);
        for values in
            ["radix  10  8  12\nold  10  9  8\nnew  1  2  3\n", "eth0  10\neth1  20\neth2  30\n"]
        {
            assert!(shown(&format!("```\n{values}```\n")).is_empty(), "{values}");
        }
    }

    #[test]
    fn neither_text_nor_one_row_nor_markdown_is_a_drawn_table() {
        for text in [
            "It took  2  3 days.\n",
            "```\na  b\n1  2\n```\n",
            "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n",
            "```\n1  2\n3  4\n```\n",
            "```\neth0  up  10\neth1  down  10\n```\n",
        ] {
            assert!(shown(text).is_empty(), "{text}");
        }
    }
}
