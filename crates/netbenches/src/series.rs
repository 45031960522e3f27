//! Small tables beside the logs: `.pps` files (one median a line) and gnuplot
//! data (`label median minimum maximum`).

use super::number::parse_finite;

/// Bytes read of such a file.
pub const MAX_TABLE_BYTES: usize = 4 * 1024 * 1024;
/// Rows kept of such a file.
pub const MAX_ROWS: usize = 100_000;

/// The values of a `.pps` file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// The values in the order of the file.
    pub values: Vec<f64>,
    /// Lines that are no number, from 1.
    pub bad_lines: Vec<usize>,
}

impl Series {
    /// Reads the bytes of a file: the first column of each line; empty lines
    /// and comments are skipped.
    pub fn parse(bytes: &[u8]) -> Self {
        let mut series = Self::default();
        for (index, line) in table_lines(bytes) {
            let token = line.split(|b| b.is_ascii_whitespace()).find(|t| !t.is_empty());
            match token {
                None => {}
                Some(token) if token.starts_with(b"#") => {}
                Some(token) => match parse_finite(token) {
                    Some(value) => series.values.push(value),
                    None => series.bad_lines.push(index + 1),
                },
            }
        }
        series
    }

    /// The values sorted.
    pub fn sorted(&self) -> Vec<f64> {
        let mut values = self.values.clone();
        values.sort_by(f64::total_cmp);
        values
    }
}

/// One row of gnuplot data.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphRow {
    /// Line of the file, from 1.
    pub line: usize,
    /// The label, quotes removed, `\n` kept as written.
    pub label: String,
    /// The numbers after it: median, minimum, maximum in published files.
    pub values: Vec<f64>,
}

/// Reads gnuplot data: rows of a label (quoted when it holds blanks) and
/// numbers. Lines that are no row are returned as their numbers.
pub fn graph_rows(bytes: &[u8]) -> (Vec<GraphRow>, Vec<usize>) {
    let mut rows = Vec::new();
    let mut bad_lines = Vec::new();
    for (index, line) in table_lines(bytes) {
        let text = String::from_utf8_lossy(line);
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let (label, rest) = match text.strip_prefix('"').and_then(|t| t.split_once('"')) {
            Some(parts) => parts,
            None => text.split_once(char::is_whitespace).unwrap_or((text, "")),
        };
        let values: Option<Vec<f64>> =
            rest.split_whitespace().map(|t| parse_finite(t.as_bytes())).collect();
        match values {
            Some(values) if !values.is_empty() => {
                rows.push(GraphRow { line: index + 1, label: label.to_owned(), values });
            }
            _ => bad_lines.push(index + 1),
        }
    }
    (rows, bad_lines)
}

/// Lines of a table without their ends, with their index; bounded.
fn table_lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    bytes[..bytes.len().min(MAX_TABLE_BYTES)].split(|&b| b == b'\n').take(MAX_ROWS).enumerate()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_one_value_a_line() {
        let series = Series::parse(b"700644\n\n# note\r\n696261.5\r\nnan\n 3 rest\n\xff\n");
        assert_eq!(series.values, [700_644.0, 696_261.5, 3.0]);
        assert_eq!(series.bad_lines, [5, 7]);
    }

    #[test]
    fn reads_quoted_and_plain_labels() {
        let (rows, bad) = graph_rows(
            b"#index median minimum maximum\nr368287 713233.5 709354 714432\n\"r368606+D27401\\n(80677)\" 817063 811681 821825\nno numbers\n\"open 1 2\n",
        );
        assert_eq!(rows[0].values, [713_233.5, 709_354.0, 714_432.0]);
        assert_eq!(rows[1].label, "r368606+D27401\\n(80677)");
        assert_eq!((rows.len(), bad), (3, vec![4]));
    }
}
