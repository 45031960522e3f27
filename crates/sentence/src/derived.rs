//! Changes in a table that its own two columns of figures do not give.

/// A change that does not follow from the row that it stands in.
#[derive(Clone, Debug, PartialEq)]
pub struct WrongChange {
    /// Which row.
    pub row: usize,
    /// The two figures, as they are written.
    pub figures: [String; 2],
    /// What they give, in per cent.
    pub percent: f64,
}

/// A number as it is written.
#[derive(Clone, Copy, Debug)]
struct Written {
    value: f64,
    /// Half of its last digit.
    half: f64,
    is_signed: bool,
}

/// A row of which all three are numbers.
struct Row {
    at: usize,
    figures: [Written; 2],
    change: Written,
}

/// The changes of column `change` that nothing makes of the two columns of figures beside it. Where no other row agrees
/// the column may be of something else; a sign is wrong where those that agree all have the other one.
pub fn wrong_changes(names: &[&str], rows: &[Vec<&str>], change: usize) -> Vec<WrongChange> {
    let is_number =
        |row: &&Vec<&str>, at: usize| row.get(at).is_some_and(|cell| number(cell).is_some());
    let is_figures = |at: &usize| *at != change && rows.iter().all(|row| is_number(&row, *at));
    let columns: Vec<usize> = (1..names.len()).filter(is_figures).collect();
    let [before, after] = columns.as_slice() else { return Vec::new() };
    if unit(names[*before]) != unit(names[*after]) {
        return Vec::new();
    }
    let read = |(at, row): (usize, &Vec<&str>)| {
        let figures = [number(row[*before])?, number(row[*after])?];
        let change = number(row.get(change)?.strip_suffix('%')?)?;
        figures.iter().all(|own| own.value > 0.0).then_some(Row { at, figures, change })
    };
    let read: Vec<Row> = rows.iter().enumerate().filter_map(read).collect();
    let agreeing: Vec<&Row> = read.iter().filter(|row| has_size(row)).collect();
    let is_forward = |row: &Row| Some(row.is_up()? == (row.change.value > 0.0));
    let signs =
        agreeing.iter().filter(|row| row.change.is_signed).filter_map(|row| is_forward(row));
    let (forward, turned): (Vec<bool>, Vec<bool>) = signs.partition(|is_forward| *is_forward);
    let is_wrong = |row: &&Row| {
        let is_against = row.change.is_signed && is_forward(row) == Some(false);
        // of all signs but this one
        let is_turned = is_against && !forward.is_empty() && turned.len() < 2;
        !agreeing.is_empty() && (!has_size(row) || is_turned)
    };
    let wrong = read.iter().filter(is_wrong).map(|row| WrongChange {
        row: row.at,
        figures: [before, after].map(|at| rows[row.at][*at].to_owned()),
        percent: row.percent(),
    });
    wrong.collect()
}

impl Row {
    /// The change from the first to the second.
    fn percent(&self) -> f64 {
        100.0 * (self.figures[1].value / self.figures[0].value - 1.0)
    }

    /// Whether it rises; nothing where rounding hides it.
    fn is_up(&self) -> Option<bool> {
        let [a, b] = self.figures;
        let is_clear = (a.value - b.value).abs() > a.half + b.half;
        is_clear.then_some(b.value > a.value)
    }
}

/// Whether the change is as large as the figures are apart, of either of them, as all three are rounded.
fn has_size(row: &Row) -> bool {
    let [a, b] = row.figures;
    let ratio = |a: f64, b: f64| 100.0 * (b / a - 1.0);
    let ends = [
        [ratio(a.value + a.half, b.value - b.half), ratio(a.value - a.half, b.value + b.half)],
        [ratio(b.value + b.half, a.value - a.half), ratio(b.value - b.half, a.value + a.half)],
    ];
    let own = row.change.value.abs();
    let step = 2.0 * row.change.half;
    ends.into_iter().any(|[low, high]| {
        // both ends of what is near nothing may be of either sign
        let (least, most) = (low.abs().min(high.abs()), low.abs().max(high.abs()));
        let least = if low * high < 0.0 { 0.0 } else { least };
        (least - step..=most + step).contains(&own)
    })
}

/// The unit of a heading: what stands in parentheses.
fn unit(name: &str) -> &str {
    name.split_once('(').map_or("", |(_, rest)| rest.trim_end_matches(')'))
}

/// A bare number.
fn number(cell: &str) -> Option<Written> {
    let cell = cell.trim().replace('−', "-");
    let is_signed = cell.starts_with(['+', '-']);
    let bare = cell.replace(',', "");
    let is_bare = bare.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'+' | b'-'));
    let value = bare.parse().ok().filter(|_| is_bare)?;
    let decimals = bare.split_once('.').map_or(0, |(_, rest)| rest.len());
    let half = 0.5 * 0.1_f64.powi(i32::try_from(decimals).ok()?);
    Some(Written { value, half, is_signed })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 4] = ["filter", "13.2 (Mpps)", "14.0 (Mpps)", "change"];

    fn wrong(rows: &[[&str; 4]]) -> Vec<usize> {
        let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.to_vec()).collect();
        wrong_changes(&NAMES, &rows, 3).iter().map(|own| own.row).collect()
    }

    #[test]
    fn a_change_is_of_the_two_figures_of_its_row() {
        let none = ["none", "1.842", "1.796", "-2.5 %"];
        let ipfw = ["ipfw", "1.204", "1.316", "+9.3 %"];
        assert!(wrong(&[none, ipfw]).is_empty());
        assert_eq!(wrong(&[none, ["ipfw", "1.204", "1.316", "+3.9 %"]]), [1]);
        assert_eq!(wrong(&[["none", "1.842", "1.796", "+2.5 %"], ipfw, ipfw]), [0]);
        // of the higher figure
        assert!(wrong(&[none, ["ipfw", "1.204", "1.316", "+8.5 %"]]).is_empty());
        // what is near nothing may be of either sign
        assert!(wrong(&[none, ["pf", "1.20", "1.20", "+0.1 %"]]).is_empty());
    }

    #[test]
    fn a_column_that_no_row_agrees_with_is_of_something_else() {
        let none = ["none", "1.842", "1.796", "31 %"];
        assert!(wrong(&[none, ["ipfw", "1.204", "1.316", "44 %"]]).is_empty());
        // the new release first
        let turned = ["none", "1.842", "1.796", "+2.5 %"];
        assert!(wrong(&[turned, ["ipfw", "1.204", "1.316", "-9.3 %"]]).is_empty());
        assert!(wrong(&[turned, ["ipfw", "1.204", "", "-9.3 %"]]).is_empty());
        let rows =
            [vec!["none", "1.842", "1796", "-2.5 %"], vec!["ipfw", "1.204", "1316", "+9.3 %"]];
        assert!(wrong_changes(&["", "Mpps", "Kpps (k)", "change"], &rows, 3).is_empty());
    }
}
