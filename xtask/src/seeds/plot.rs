//! A forest plot in letters: estimates with their intervals, one a line.

use std::fmt::Write as _;

/// Columns of the axis.
const WIDTH: usize = 61;

/// One line.
pub(super) struct Line {
    pub(super) name: String,
    /// Estimate, low and high end, per cent.
    pub(super) percent: [f64; 3],
    /// Stands for the estimate.
    pub(super) mark: char,
}

/// Draws the lines over one axis from `low` to `high` per cent; what lies beyond ends in an arrow.
pub(super) fn forest(lines: &[Line], (low, high): (f64, f64)) -> String {
    let column = |value: f64| {
        let share = ((value - low) / (high - low)).clamp(0.0, 1.0);
        (share * (WIDTH - 1) as f64).round() as usize
    };
    let wide = lines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for line in lines {
        let [estimate, from, to] = line.percent;
        let mut row = vec![' '; WIDTH];
        row[column(0.0)] = '|';
        let (start, end) = (column(from), column(to));
        row[start..=end].fill('-');
        if from < low {
            row[0] = '<';
        }
        if to > high {
            row[WIDTH - 1] = '>';
        }
        row[column(estimate)] = line.mark;
        let row: String = row.into_iter().collect();
        let _ =
            writeln!(text, "{:<wide$}  {row}  {estimate:+.1} % [{from:+.1}, {to:+.1}]", line.name);
    }
    let axis = format!("{low:<+12.0}{:^w$}{high:>+12.0}", "per cent", w = WIDTH - 24);
    let _ = writeln!(text, "{:<wide$}  {axis}", "");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_lies_where_its_numbers_are() {
        let line = |percent| Line { name: "x".to_owned(), percent, mark: 'o' };
        let text = forest(&[line([10.0, 0.0, 20.0]), line([0.0, -90.0, 90.0])], (-30.0, 30.0));
        let rows: Vec<&str> = text.lines().collect();
        let plot: String = rows[0].chars().skip(3).take(WIDTH).collect();
        assert_eq!(plot.find('o'), Some(40), "10 of -30 to 30");
        assert_eq!((plot.find('-'), plot.rfind('-')), (Some(30), Some(50)));
        assert!(rows[0].ends_with("+10.0 % [+0.0, +20.0]"), "{}", rows[0]);
        let plot: String = rows[1].chars().skip(3).take(WIDTH).collect();
        assert!(plot.starts_with('<') && plot.ends_with('>'), "{plot}");
        assert!(rows[2].contains("-30") && rows[2].contains("+30"));
    }
}
