//! Comparisons as Markdown tables.

use std::fmt::Write as _;

use crate::{Figure, Ratio, Stream, UpdateFigure};

impl Figure {
    /// One line of JSON.
    pub fn to_json(&self) -> String {
        // Names are plain ASCII without quotes, so that Rust's form of a string is JSON's.
        format!(
            "{{\"family\":{:?},\"table\":{:?},\"stream\":{:?},\"mode\":{:?},\"origin\":{:?},\
             \"name\":{:?},\"nexthop_bits\":{},\"mlps\":{:.3},\"bytes\":{},\"build_s\":{:.6},\
             \"beats_ns\":{:?}{}}}",
            self.family,
            self.table,
            self.stream,
            self.mode.to_string(),
            self.origin.name(),
            self.name,
            self.nexthop_bits,
            self.mlps,
            self.bytes,
            self.build_s,
            self.beats_ns,
            self.ratio.map_or_else(String::new, |ratio| format!(
                ",\"best_peer\":{:?},\"ratio\":{:.4},\"ratio_low\":{:.4},\"ratio_high\":{:.4},\
                 \"rounds_counted\":{},\"rounds\":{}",
                self.best_peer, ratio.median, ratio.low, ratio.high, ratio.counted, ratio.rounds,
            )),
        )
    }
}

impl UpdateFigure {
    /// One line of JSON.
    pub fn to_json(&self) -> String {
        format!(
            "{{\"family\":{:?},\"table\":{:?},\"mode\":\"updates\",\"origin\":\"fwdlab\",\"name\":{:?},\
             \"change_median_us\":{:.3},\"change_p999_us\":{:.3},\"changes_per_s\":{:.0},\"batched_per_s\":{:.0},\
             \"reader_share\":{:.4},\"load_s\":{:.6},\"build_s\":{:.6}}}",
            self.family,
            self.table,
            self.name,
            self.median_us,
            self.p999_us,
            self.changes_per_s,
            self.batched_per_s,
            self.reader_share,
            self.load_s,
            self.build_s,
        )
    }
}

/// The figures of one family, mode and table: a heading, and a row for each contender.
pub fn lookup_section(figures: &[Figure]) -> String {
    let Some(first) = figures.first() else { return String::new() };
    let mut out = format!("## {}, {}, table {}\n\n", first.family, first.mode, first.table);
    let columns = Stream::ALL.map(Stream::name).join(" | ");
    let _ = writeln!(out, "| contender | {columns} | nexthop bits | MB | build s |");
    let _ = writeln!(out, "|---|---|---|---|---|---|---|---|");
    for contender in figures.iter().filter(|figure| figure.stream == first.stream) {
        let _ = writeln!(out, "{}", row(contender, figures));
    }
    let ratios: Vec<Ratio> = figures.iter().filter_map(|figure| figure.ratio).collect();
    if let Some(share) = Ratio::share(&ratios) {
        let _ = writeln!(out, "\n{share}");
    }
    out
}

fn row(first: &Figure, section: &[Figure]) -> String {
    let mut line = format!("| {}{} |", first.name, if first.auto { " *" } else { "" });
    for stream in Stream::ALL {
        let cell = section
            .iter()
            .find(|f| f.name == first.name && f.stream == stream.name())
            .map_or_else(String::new, |f| match f.ratio {
                Some(to) => format!("{} ({to})", rate(f.mlps)),
                None => rate(f.mlps),
            });
        let _ = write!(line, " {cell} |");
    }
    let bytes = match first.bytes {
        0 => "-".into(),
        bytes => format!("{:.2}", bytes as f64 / 1e6),
    };
    let _ = write!(line, " {} | {bytes} | {:.3} |", first.nexthop_bits, first.build_s);
    line
}

/// M lookups/s with two digits at least.
fn rate(mlps: f64) -> String {
    if mlps < 99.95 { format!("{mlps:.1}") } else { format!("{mlps:.0}") }
}

/// What changes cost on one table: a heading, and a row for each algorithm.
pub fn update_section(figures: &[UpdateFigure]) -> String {
    let Some(first) = figures.first() else { return String::new() };
    let mut out = format!("## {}, updates, table {}\n\n", first.family, first.table);
    out.push_str(
        "| algorithm | change visible, us: median | 99.9 % | of the default route, us | changes/s | \
         256 in a call | reader's share under 1,000 changes/s | load s | rebuild s |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for f in figures {
        let _ = writeln!(
            out,
            "| {}{} | {:.1} | {:.0} | {:.1} | {:.0} | {:.0} | {:.3} | {:.3} | {:.3} |",
            f.name,
            if f.auto { " *" } else { "" },
            f.median_us,
            f.p999_us,
            f.default_us,
            f.changes_per_s,
            f.batched_per_s,
            f.reader_share,
            f.load_s,
            f.build_s,
        );
    }
    out
}
