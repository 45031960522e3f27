//! The plot: stacked points over the range of all sets, bars below.
//!
//! Every published version loses points: the height printed is that of the last set, and when a
//! later set is taller than the one before it, the rows between are wiped. A point of set i in row
//! r is therefore seen exactly when no set from i on is lower than r, which is how it is computed
//! here (the original's output is kept; our own plots never lose a point).

use super::dataset::Vitals;
use super::{Dataset, Options, SYMBOLS};

/// Draws frame, points and bars; or says that there is nothing to draw.
pub(super) fn draw(datasets: &[Dataset], vitals: &[Vitals], options: &Options, out: &mut Vec<u8>) {
    let scale = Scale::over(vitals, options.width);
    if scale.is_flat() {
        out.extend_from_slice(b"[no plot, span is zero width]\n");
        return;
    }
    draw_frame(options.width, out);
    draw_points(datasets, &scale, out);
    draw_bars(vitals, &scale, options.has_separate_bars, out);
    draw_frame(options.width, out);
}

/// Values to columns.
struct Scale {
    width: usize,
    min: f64,
    max: f64,
}

impl Scale {
    /// The range of {min, max, mean - sd, mean + sd} over all sets.
    fn over(vitals: &[Vitals], width: usize) -> Self {
        let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
        for own in vitals {
            for value in [own.min, own.max, own.mean - own.sd(), own.mean + own.sd()] {
                if value < min {
                    min = value;
                }
                if value > max {
                    max = value;
                }
            }
        }
        Self { width, min, max }
    }

    fn is_flat(&self) -> bool {
        self.max - self.min == 0.0
    }

    /// Distance between two columns.
    fn step(&self) -> f64 {
        (self.max - self.min) / (self.width as f64 - 1.0)
    }

    /// The column of a value: truncated towards zero, as C converts to int. Rounding can push a
    /// mean beyond either end, and the root of a negative one-pass variance is nowhere.
    fn column(&self, value: f64) -> Option<usize> {
        let column = self.position(value) as i64;
        usize::try_from(column).ok().filter(|column| *column < self.cells() && !value.is_nan())
    }

    fn position(&self, value: f64) -> f64 {
        let step = self.step();
        let origin = self.min - 0.5 * step;
        (value - origin) / step
    }

    /// Cells of a row; one at least, so that a plot of width 0 has somewhere to write.
    fn cells(&self) -> usize {
        self.width.max(1)
    }
}

fn draw_frame(width: usize, out: &mut Vec<u8>) {
    out.push(b'+');
    out.resize(out.len() + width, b'-');
    out.extend_from_slice(b"+\n");
}

fn draw_row(cells: &[u8], width: usize, out: &mut Vec<u8>) {
    out.push(b'|');
    out.extend_from_slice(&cells[..width]);
    out.extend_from_slice(b"|\n");
}

fn draw_points(datasets: &[Dataset], scale: &Scale, out: &mut Vec<u8>) {
    let mut stacks: Vec<Vec<usize>> =
        datasets.iter().map(|set| stack(set.sorted(), scale)).collect();
    // rows of set i are seen up to the lowest height from set i on
    let mut seen = usize::MAX;
    for stack in stacks.iter_mut().rev() {
        seen = seen.min(stack.iter().copied().max().unwrap_or(0));
        for height in stack.iter_mut() {
            *height = seen.min(*height);
        }
    }
    let height = stacks.last().and_then(|stack| stack.iter().copied().max()).unwrap_or(0);
    let mut cells = vec![b' '; scale.cells()];
    for row in (0..height).rev() {
        for (column, cell) in cells.iter_mut().enumerate() {
            let sets = stacks.iter().enumerate().filter(|(_, stack)| stack[column] > row);
            let number = sets.fold(0, |number, (i, _)| number | (i + 1));
            *cell = SYMBOLS[number];
        }
        draw_row(&cells, scale.width, out);
    }
}

/// How many values of one set fall into each column. Values ascend, so that each column is one run.
fn stack(sorted: &[f64], scale: &Scale) -> Vec<usize> {
    let mut stack = vec![0; scale.cells()];
    let last = stack.len() - 1;
    let place = |value: f64| (scale.position(value) as usize).min(last);
    let mut rest = sorted;
    while let Some(first) = rest.first() {
        let column = place(*first);
        let run = rest.partition_point(|value| place(*value) <= column);
        stack[column] += run;
        rest = &rest[run..];
    }
    stack
}

fn draw_bars(vitals: &[Vitals], scale: &Scale, has_separate_bars: bool, out: &mut Vec<u8>) {
    let mut cells = vec![b' '; scale.cells()];
    for own in vitals {
        if has_separate_bars {
            cells.fill(b' ');
        }
        draw_bar(own, scale, &mut cells);
        if has_separate_bars {
            draw_row(&cells, scale.width, out);
        }
    }
    if !has_separate_bars {
        draw_row(&cells, scale.width, out);
    }
}

/// `|` at both ends of mean +- sd, `_` between where nothing is yet, then `M`, then `A` on top.
fn draw_bar(own: &Vitals, scale: &Scale, cells: &mut [u8]) {
    let ends = (scale.column(own.mean - own.sd()), scale.column(own.mean + own.sd()));
    if let (Some(low), Some(high)) = ends {
        cells[high] = b'|';
        cells[low] = b'|';
        for cell in cells.iter_mut().take(high).skip(low + 1) {
            if *cell == b' ' {
                *cell = b'_';
            }
        }
    }
    for (value, symbol) in [(own.median, b'M'), (own.mean, b'A')] {
        if let Some(column) = scale.column(value) {
            cells[column] = symbol;
        }
    }
}
