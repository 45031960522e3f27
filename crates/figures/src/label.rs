//! Labels in the room that they have: how wide they are, and how they go on in a next line.

use crate::canvas::{Anchor, CHARACTER, Canvas, Point, at};
use crate::text_table::wrap;

/// From one line of a label to the next.
pub const LINE: f64 = 15.0;
/// From one line of a heading to the next.
const HEAD_LINE: f64 = 20.0;
/// Width of a character of a heading, on average, in px.
const HEAD_CHARACTER: f64 = 11.0;
/// Of a label in bold letters.
const BOLD_CHARACTER: f64 = 8.0;
/// Lines of a title, at most.
const MOST_LINES: usize = 3;

/// How wide a figure in bold letters of 12 px is.
pub fn bold(text: &str) -> f64 {
    /// Of DejaVu Sans Bold, in thousandths of its size.
    const fn thousandths(c: char) -> u32 {
        match c {
            ' ' | 'i' | 'l' | 'j' => 348,
            '.' | ',' => 380,
            '-' | 'f' | 't' | 'r' => 493,
            's' | 'c' | 'z' => 595,
            '+' | '=' | '<' | '>' => 838,
            '%' | 'm' | 'M' | 'w' | 'W' => 1042,
            _ => 700,
        }
    }
    12e-3 * text.chars().map(|c| f64::from(thousandths(c))).sum::<f64>()
}

/// Where a field begins whose axis has labels as long as this one, and its name beside them, in px.
pub fn left(longest: &str) -> f64 {
    const LEAST: f64 = 74.0;
    /// Of a digit in small letters.
    const DIGIT: f64 = 7.0;
    LEAST.max(38.0 + DIGIT * longest.chars().count() as f64)
}

/// A text in lines of so many characters. Words that are too long for one are broken.
pub fn lines(text: &str, columns: usize) -> Vec<String> {
    wrap(&broken(text, columns), columns, "", "").lines().map(str::to_owned).collect()
}

/// The heading of a figure.
pub struct Heading(Vec<String>);

impl Heading {
    /// Of a figure of this width.
    pub fn of(text: &str, width: f64) -> Self {
        Self(headed(text, ((width - 32.0) / HEAD_CHARACTER) as usize))
    }

    /// How much farther down all stands because it has several lines.
    pub fn below(&self) -> f64 {
        HEAD_LINE * self.0.len().saturating_sub(1) as f64
    }

    /// Draws it from the upper left.
    pub fn draw(&self, canvas: &mut Canvas) {
        for (k, line) in self.0.iter().enumerate() {
            canvas.text("title", Anchor::Start, at(16.0, 28.0 + HEAD_LINE * k as f64), line);
        }
    }
}

/// The label of a panel, of letters in bold, that begins there in a figure of this width.
pub fn paneled(label: &str, from: f64, width: f64) -> Vec<String> {
    headed(label, bold_columns(width - from - 8.0))
}

/// Draws lines of which the last stands there.
pub fn draw_above(canvas: &mut Canvas, class: &str, last: Point, lines: &[String]) {
    for (k, line) in lines.iter().rev().enumerate() {
        canvas.text(class, Anchor::Start, at(last.x, last.y - LINE * k as f64), line);
    }
}

/// Characters of 12 px that so much room has, on average.
pub fn columns(room: f64) -> usize {
    (room / CHARACTER).max(0.0) as usize
}

/// The same in bold letters.
pub fn bold_columns(room: f64) -> usize {
    (room / BOLD_CHARACTER).max(0.0) as usize
}

/// A title of small letters in lines.
pub fn titled(title: &str, width: f64) -> Vec<String> {
    headed(title, ((width - 32.0) / 6.6) as usize)
}

/// A text in lines of so many characters; what the last has no room for is cut.
fn headed(title: &str, columns: usize) -> Vec<String> {
    let mut all = lines(title, columns);
    if all.len() > MOST_LINES {
        let rest = all.split_off(MOST_LINES - 1).join(" ");
        let begin = rest.chars().take(columns.saturating_sub(3));
        all.push(begin.chain("...".chars()).collect());
    }
    all
}

/// How much farther down all stands because a label has several lines.
pub fn below(lines: &[String]) -> f64 {
    LINE * lines.len().saturating_sub(1) as f64
}

/// Words that are too long for a line, broken behind a mark where there is one: `Atom_C2558_4Cores/Intel_i350`.
fn broken(text: &str, columns: usize) -> String {
    let columns = columns.max(1);
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let mut rest: Vec<char> = word.chars().collect();
        while rest.len() > columns {
            let mark = rest[..columns].iter().rposition(|c| matches!(c, '/' | '_' | '-' | '.'));
            let tail = rest.split_off(mark.map_or(columns, |mark| mark + 1));
            words.push(std::mem::replace(&mut rest, tail).into_iter().collect());
        }
        words.push(rest.into_iter().collect());
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_broken_behind_a_mark() {
        let name = "Atom_C2558_4Cores/Intel_i350 (fbsd12-head)";
        assert_eq!(lines(name, 12), ["Atom_C2558_", "4Cores/", "Intel_i350", "(fbsd12-", "head)"]);
        assert_eq!(lines("inet: IPv4", 6), ["inet:", "IPv4"]);
        assert_eq!(lines("inseparable", 4), ["inse", "para", "ble"]);
    }

    /// "Every trial in the order of the run" and "Device cost per frame over frame length in bytes" lost their
    /// ends on a phone.
    #[test]
    fn headings_stay_within_a_narrow_figure() {
        for text in ["Every trial in the order of the run", "Device cost per frame over the flows"]
        {
            for width in [360.0, 800.0] {
                let heading = Heading::of(text, width);
                let longest = heading.0.iter().map(|line| bold(line) * 17.0 / 12.0);
                assert!(longest.fold(0.0, f64::max) < width - 16.0, "{text} in {width}");
                assert_eq!(heading.0.join(" "), text);
                assert_eq!(heading.below() > 0.0, width < 400.0);
            }
        }
    }

    #[test]
    fn a_title_has_three_lines_at_most() {
        assert_eq!(headed("one two", 9), ["one two"]);
        let long = headed(&"word ".repeat(99), 9);
        assert_eq!(long, ["word word", "word word", "word w..."]);
        assert_eq!((below(&long), below(&long[..1])), (2.0 * LINE, 0.0));
    }

    /// "1400000" stood upon the name of its axis.
    #[test]
    fn long_labels_move_their_field() {
        assert_eq!([left("0.5"), left("14000"), left("1400000")], [74.0, 74.0, 87.0]);
    }

    /// Digits are wider than most letters: "12345.6" ran into the next figure.
    #[test]
    fn a_figure_is_as_wide_as_its_digits() {
        assert!((bold("12345") - 42.0).abs() < 1e-9);
        assert!(bold("+18.8 %") > 55.0 && bold("?") < 9.0);
    }
}
