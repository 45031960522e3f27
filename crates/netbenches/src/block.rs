//! ministat blocks in a page: legends, plot, rows, comparisons.
//!
//! A block is found by its header line (`N Min Max Median Avg Stddev`), so it
//! may stand in a fence, be indented, or have been edited by hand.

/// A ministat block of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MinistatBlock {
    /// First line of the block in the page, from 1.
    pub first_line: usize,
    /// Last line of the block.
    pub last_line: usize,
    /// The sets, by their symbols.
    pub sets: Vec<Set>,
    /// Line of the header `N Min Max ...`.
    pub header_line: usize,
}

/// One set of a block: its legend, its row and its comparison with the first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Set {
    /// `x + * % # @ O`.
    pub symbol: char,
    /// What stands behind the symbol above the plot; empty without a legend.
    pub legend: String,
    /// Line of the legend; that of the row without one.
    pub legend_line: usize,
    /// The figures; `None` for a legend without a row.
    pub row: Option<Row>,
    /// The comparison with the first set; `None` for the first set, and where
    /// the page leaves it out.
    pub comparison: Option<Comparison>,
}

/// The figures of a set as printed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Line in the page.
    pub line: usize,
    /// Number of values.
    pub n: u32,
    /// Min, max, median, average, standard deviation as printed.
    pub texts: [String; 5],
    /// The same as numbers.
    pub values: [f64; 5],
}

impl Row {
    /// The median.
    pub fn median(&self) -> f64 {
        self.values[2]
    }

    /// The average.
    pub fn mean(&self) -> f64 {
        self.values[3]
    }

    /// The standard deviation.
    pub fn sd(&self) -> f64 {
        self.values[4]
    }

    /// The row without its symbol, for an index: `5 694169 700644 ...`.
    pub fn key(&self) -> String {
        format!("{} {}", self.n, self.texts.join(" "))
    }
}

/// A comparison as printed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// Line of `Difference at ...` or `No difference proven at ...`.
    pub line: usize,
    /// Confidence in per cent.
    pub confidence: f64,
    /// True for `Difference at`.
    pub is_proven: bool,
    /// `[difference, +/-]`.
    pub difference: Option<[f64; 2]>,
    /// `[per cent, +/-]`.
    pub percent: Option<[f64; 2]>,
    /// `pooled s`.
    pub pooled: Option<f64>,
}

const SYMBOLS: &str = "x+*%#@O";
/// Blank lines that hand editing may have put between the parts of a block.
const MOST_BLANKS: usize = 2;

impl MinistatBlock {
    /// Finds the blocks among the lines of a page.
    pub fn find(lines: &[String]) -> Vec<Self> {
        let mut blocks: Vec<Self> = Vec::new();
        for (index, line) in lines.iter().enumerate() {
            if is_header(line) {
                let floor = blocks.last().map_or(0, |b| b.last_line);
                blocks.extend(Self::around(lines, index, floor));
            }
        }
        blocks
    }

    /// The block around the header at `header`, not reaching above line `floor`.
    fn around(lines: &[String], header: usize, floor: usize) -> Option<Self> {
        let mut block = Self { header_line: header + 1, ..Self::default() };
        block.first_line = block.take_legends(lines, header, floor) + 1;
        block.last_line = block.take_rows(lines, header + 1);
        block.sets.retain(|set| set.row.is_some() || !set.legend.is_empty());
        block.sets.iter().any(|set| set.row.is_some()).then_some(block)
    }

    /// Reads plot and legends upwards; returns the index of the first line.
    fn take_legends(&mut self, lines: &[String], header: usize, floor: usize) -> usize {
        let mut first = header;
        let mut blanks = 0;
        let mut legends = Vec::new();
        for index in (floor..header).rev() {
            let line = lines[index].trim();
            if line.is_empty() && blanks < MOST_BLANKS && legends.is_empty() {
                blanks += 1;
                continue;
            }
            if legends.is_empty() && is_plot(line) {
                blanks = 0;
            } else if let Some((symbol, legend)) = legend(line) {
                legends.push(Set {
                    symbol,
                    legend: legend.to_owned(),
                    legend_line: index + 1,
                    ..Set::default()
                });
            } else {
                break;
            }
            first = index;
        }
        legends.reverse();
        self.sets = legends;
        first
    }

    /// Reads rows and comparisons downwards; returns the number of the last line.
    fn take_rows(&mut self, lines: &[String], start: usize) -> usize {
        let mut last = start;
        let mut blanks = 0;
        let mut current = None;
        for (index, line) in lines.iter().enumerate().skip(start) {
            let line = line.trim();
            if line.is_empty() {
                blanks += 1;
                if blanks > MOST_BLANKS {
                    break;
                }
                continue;
            }
            if let Some((symbol, row)) = row(line, index + 1) {
                current = Some(self.place_row(symbol, row));
            } else if let Some(set) = current.and_then(|i: usize| self.sets.get_mut(i)) {
                if !take_comparison(set, line, index + 1) {
                    break;
                }
            } else {
                break;
            }
            blanks = 0;
            last = index + 1;
        }
        last
    }

    fn place_row(&mut self, symbol: char, row: Row) -> usize {
        let free = self.sets.iter().position(|s| s.symbol == symbol && s.row.is_none());
        let index = free.unwrap_or_else(|| {
            self.sets.push(Set { symbol, legend_line: row.line, ..Set::default() });
            self.sets.len() - 1
        });
        self.sets[index].row = Some(row);
        index
    }

    /// Sets that have a row.
    pub fn measured(&self) -> Vec<&Set> {
        self.sets.iter().filter(|set| set.row.is_some()).collect()
    }
}

fn is_header(line: &str) -> bool {
    line.split_whitespace().eq(["N", "Min", "Max", "Median", "Avg", "Stddev"])
}

fn is_plot(line: &str) -> bool {
    line.starts_with("+--")
        || (line.starts_with('|') && line.ends_with('|') && line.len() > 1)
        || line.starts_with("[no plot")
}

fn legend(line: &str) -> Option<(char, &str)> {
    let mut chars = line.chars();
    let symbol = chars.next().filter(|c| SYMBOLS.contains(*c))?;
    let legend = chars.as_str().strip_prefix(' ')?.trim();
    (!legend.is_empty()).then_some((symbol, legend))
}

fn row(line: &str, number: usize) -> Option<(char, Row)> {
    let symbol = line.chars().next().filter(|c| SYMBOLS.contains(*c))?;
    let mut tokens = line[symbol.len_utf8()..].split_whitespace();
    let n = tokens.next()?.parse().ok()?;
    let texts: Vec<String> = tokens.map(str::to_owned).collect();
    let texts: [String; 5] = texts.try_into().ok()?;
    let mut values = [0.0; 5];
    for (value, text) in values.iter_mut().zip(&texts) {
        *value = text.parse().ok().filter(|v: &f64| v.is_finite())?;
    }
    Some((symbol, Row { line: number, n, texts, values }))
}

/// Reads one line of a comparison; false when it is none.
fn take_comparison(set: &mut Set, line: &str, number: usize) -> bool {
    for (words, is_proven) in [("Difference at ", true), ("No difference proven at ", false)] {
        if let Some(rest) = line.strip_prefix(words) {
            let confidence = rest.split('%').next().and_then(|c| c.trim().parse().ok());
            set.comparison = Some(Comparison {
                line: number,
                confidence: confidence.unwrap_or(95.0),
                is_proven,
                ..Comparison::default()
            });
            return true;
        }
    }
    let Some(comparison) = &mut set.comparison else { return false };
    if let Some(rest) = line.strip_prefix("(Student's t, pooled s = ") {
        comparison.pooled = rest.trim_end_matches(')').trim().parse().ok();
        return true;
    }
    let Some((value, error)) = line.split_once("+/-") else { return false };
    let number = |text: &str| text.trim().trim_end_matches('%').trim().parse::<f64>().ok();
    let pair = number(value).zip(number(error)).map(|(v, e)| [v, e]);
    if line.contains('%') {
        comparison.percent = pair;
    } else {
        comparison.difference = pair;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) const BLOCK: &str = "\
x a.pps
+ b.pps
+----------+
|x  +      |
||A|       |
+----------+
    N           Min           Max        Median           Avg        Stddev
x   5        694169        700644        696703      696971.6     2341.4822
+   5        813395        825061      818114.5      818684.2     4337.6171
Difference at 95.0% confidence
\t121713 +/- 5083.41
\t17.4631% +/- 0.759963%
\t(Student's t, pooled s = 3485.5)";

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn reads_legends_rows_and_comparison() {
        let page = lines(&format!("text\n```\n{BLOCK}\n```\n=> 17.5%\n"));
        let blocks = MinistatBlock::find(&page);
        assert_eq!(blocks.len(), 1);
        let block = &blocks[0];
        assert_eq!((block.first_line, block.last_line, block.header_line), (3, 15, 9));
        assert_eq!(block.sets[1].legend, "b.pps");
        let row = block.sets[1].row.as_ref().unwrap();
        assert_eq!(row.key(), "5 813395 825061 818114.5 818684.2 4337.6171");
        let comparison = block.sets[1].comparison.as_ref().unwrap();
        assert!(comparison.is_proven);
        assert_eq!(comparison.percent, Some([17.4631, 0.759_963]));
        assert_eq!(comparison.difference, Some([121_713.0, 5083.41]));
        assert_eq!(comparison.pooled, Some(3485.5));
    }

    #[test]
    fn hand_edited_blank_lines_and_indents_do_not_hide_a_block() {
        let edited: String =
            BLOCK.replace("+ b.pps", "+ b.pps\n").lines().map(|l| format!("    {l}\n")).collect();
        let blocks = MinistatBlock::find(&lines(&edited));
        assert_eq!(blocks.len(), 1);
        assert_eq!(blocks[0].sets.len(), 2);
        assert_eq!(blocks[0].sets[0].legend, "a.pps");
    }

    #[test]
    fn a_page_without_blocks_or_with_half_a_block_is_no_error() {
        assert!(MinistatBlock::find(&lines("N Min Max Median Avg Stddev\n")).is_empty());
        assert!(MinistatBlock::find(&lines("x a\n+--+\n")).is_empty());
        let half = MinistatBlock::find(&lines(
            "N Min Max Median Avg Stddev\nx 5 1 2 3 4 nan\nx 5 1 2 3 4 5\n",
        ));
        assert!(half.is_empty());
    }

    #[test]
    fn two_blocks_without_a_gap_stay_apart() {
        let blocks = MinistatBlock::find(&lines(&format!("{BLOCK}\n{BLOCK}\n")));
        assert_eq!(blocks.len(), 2);
        assert_eq!(blocks[1].first_line, 14);
    }
}
