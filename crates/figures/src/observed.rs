//! What the measures observed that have a figure of their own, as tables of text (RFC 2544, sections 26.3 to
//! 26.6, RFC 9004, RFC 6413, sessions, streams, soak).

use std::fmt::Write as _;

use fwdlab_results::units;
use fwdlab_results::{
    BackToBack, Benchmark, Convergence, Loss, LossCurve, Measure, Metric, Recovery, Reset,
    RouteEvent, SearchTrial, Sessions, Soak, Streams, Tick, Trial,
};
use fwdlab_stats::median;

/// Losses of soaks that are listed, of all cells together; the journal has all.
const MOST_LOSSES: usize = 20;

/// The median; nothing without a value.
pub fn middle(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.into_iter().collect();
    (!values.is_empty()).then(|| median(&values))
}

/// A figure with so many digits and its unit, or that there is none.
pub fn shown(value: Option<f64>, digits: usize, unit: &str) -> String {
    value.map_or_else(none, |value| format!("{value:.digits$}{unit}"))
}

/// What stands in the place of a figure that there is not.
pub fn none() -> String {
    "-".to_owned()
}

/// The trials of one variant with one traffic that have a figure of their own.
pub struct Cell<'a> {
    /// Name of the traffic.
    pub traffic: &'a str,
    /// Name of the variant.
    pub variant: &'a str,
    /// What was measured.
    pub measure: Measure,
    /// Each with what it observed.
    pub trials: Vec<(&'a Trial, &'a Benchmark)>,
}

impl Cell<'_> {
    /// Median of a figure over the trials; of those that have it.
    fn middle(&self, figure: impl Fn(&Benchmark) -> Option<f64>) -> Option<f64> {
        middle(self.trials.iter().filter_map(|(_, own)| figure(own)))
    }

    fn begin(&self) -> String {
        format!("{:<64} {:<64}", self.traffic, self.variant)
    }
}

/// All figures.
pub fn figures(cells: &[Cell<'_>], tick: Tick) -> String {
    let mut out = format!(
        "{:<64} {:<64} {:<36} {:>5} {:>32} {:>32} {:>32}\n",
        "traffic", "variant", "figure", "n", "median", "least", "most"
    );
    for cell in cells {
        let metric = Metric::Own(cell.measure);
        let found: Vec<f64> =
            cell.trials.iter().filter_map(|(trial, _)| metric.of(trial)).collect();
        if found.is_empty() {
            continue;
        }
        let show = |value: f64| units::figure(value, metric.unit_in(tick));
        let _ = writeln!(
            out,
            "{} {:<36} {:>5} {:>32} {:>32} {:>32}",
            cell.begin(),
            metric.title(),
            found.len(),
            show(median(&found)),
            show(found.iter().copied().fold(f64::INFINITY, f64::min)),
            show(found.iter().copied().fold(0.0, f64::max)),
        );
    }
    squeezed(&out)
}

/// Lines of one table, its columns wide enough for any name, without the blanks that all of them have but
/// two between columns: a page has room for a hundred or so characters.
fn squeezed(table: &str) -> String {
    let lines: Vec<Vec<char>> = table.lines().map(|line| line.chars().collect()).collect();
    let width = lines.iter().map(Vec::len).max().unwrap_or(0);
    let is_blank = |at: usize| lines.iter().all(|line| line.get(at).is_none_or(|c| *c == ' '));
    let is_kept = |at: usize| at < 2 || !(is_blank(at) && is_blank(at - 1) && is_blank(at - 2));
    let kept: Vec<usize> = (0..width).filter(|at| is_kept(*at)).collect();
    let mut out = String::new();
    for line in &lines {
        out.extend(kept.iter().filter_map(|at| line.get(*at)));
        out.push('\n');
    }
    out
}

/// A column: its head, its width, and what stands in it.
type Column<'c> = (&'c str, usize, &'c dyn Fn(&Cell<'_>) -> String);

/// A row for each cell.
fn table(cells: &[&Cell<'_>], columns: &[Column<'_>]) -> String {
    let row = |begin: String, text: &dyn Fn(&Column<'_>) -> String| {
        let cells = columns.iter().map(|own| format!(" {:>width$}", text(own), width = own.1 + 6));
        begin + &cells.collect::<String>() + "\n"
    };
    let head = row(format!("{:<64} {:<64}", "traffic", "variant"), &|own| own.0.to_owned());
    squeezed(&cells.iter().fold(head, |out, cell| out + &row(cell.begin(), &|own| own.2(cell))))
}

/// What a measure observed, by a clock that counts in this, with what its columns mean.
pub fn observed(measure: Measure, cells: &[&Cell<'_>], tick: Tick) -> (&'static str, String) {
    match measure {
        Measure::LossCurve => (CURVE, curve(cells)),
        Measure::BackToBack => (BURSTS, bursts(cells)),
        Measure::Recovery => (RECOVERY, recovery(cells)),
        Measure::Reset => (RESET, reset(cells)),
        Measure::Insertion | Measure::Lookup | Measure::FullTable => {
            (SESSIONS, sessions(cells, tick))
        }
        Measure::Convergence => (CONVERGENCE, convergence(cells)),
        Measure::Goodput | Measure::ByteCost => (STREAMS, streams(cells)),
        _ => (SOAK, soak(cells)),
    }
}

const CURVE: &str = "Loss against offered load: the share of the frames that were due and did not \
    come back, at each load, in per cent of the maximum receive rate of the same trial; on the way \
    down from the highest load, and up again. Medians over the trials.";

fn curve(cells: &[&Cell<'_>]) -> String {
    let mut out = format!(
        "{:<64} {:<64} {:>8} {:>12} {:>12}\n",
        "traffic", "variant", "load", "lost, down", "lost, up"
    );
    let of = |own: &Benchmark, pick: fn(&LossCurve) -> &Vec<SearchTrial>, at: usize| match own {
        Benchmark::LossCurve(own) => {
            pick(own).get(at).map(|one| (one.load_pps / own.mrr_pps, one.loss_ratio()))
        }
        _ => None,
    };
    for cell in cells {
        let loads = cell.trials.iter().map(|(_, own)| match own {
            Benchmark::LossCurve(own) => own.up.len(),
            _ => 0,
        });
        let loads = loads.max().unwrap_or(0);
        for at in 0..loads {
            let down = |own: &Benchmark| Some(of(own, |own| &own.down, loads - 1 - at)?.1);
            let up = |own: &Benchmark| of(own, |own| &own.up, at);
            let (Some(load), Some(down), Some(up)) = (
                cell.middle(|own| Some(up(own)?.0)),
                cell.middle(down),
                cell.middle(|own| Some(up(own)?.1)),
            ) else {
                continue;
            };
            let _ = writeln!(
                out,
                "{} {:>7.0}% {:>11.3}% {:>11.3}%",
                cell.begin(),
                load * 100.0,
                down * 100.0,
                up * 100.0
            );
        }
    }
    squeezed(&out)
}

const BURSTS: &str = "Bursts: frames of the longest burst without loss; frames that the device \
    holds back, which is the burst less what the device forwards while it arrives (RFC 9004); \
    the time in which it forwards these; searches without any loss, of all.";

fn bursts(cells: &[&Cell<'_>]) -> String {
    let of = |own: &Benchmark, figure: fn(&BackToBack) -> Option<f64>| match own {
        Benchmark::BackToBack(own) => figure(own),
        _ => None,
    };
    let frames = |cell: &Cell<'_>, figure: fn(&BackToBack) -> Option<f64>| {
        shown(cell.middle(|own| of(own, figure)), 0, "")
    };
    let sum = |cell: &Cell<'_>, count: fn(&BackToBack) -> Option<f64>| -> f64 {
        cell.trials.iter().filter_map(|(_, own)| of(own, count)).sum()
    };
    let time = |cell: &Cell<'_>| {
        let time = cell.middle(|own| of(own, BackToBack::buffer_s));
        time.map_or_else(none, |s| units::figure(s, "s"))
    };
    let without = |cell: &Cell<'_>| {
        let unbounded = sum(cell, |own| Some(own.unbounded() as f64));
        format!("{unbounded} of {}", sum(cell, |own| Some(own.found.len() as f64)))
    };
    table(
        cells,
        &[
            ("burst", 10, &|cell| frames(cell, BackToBack::frames)),
            ("buffer", 10, &|cell| frames(cell, BackToBack::buffer_frames)),
            ("buffer time", 12, &time),
            ("without loss", 12, &without),
        ],
    )
}

const RECOVERY: &str = "Recovery: throughput, load of the overload and after it; frames lost in \
    the overload and afterwards; how long loss went on (0: nothing was lost afterwards). Medians \
    over the trials.";

fn recovery(cells: &[&Cell<'_>]) -> String {
    let middle = |cell: &Cell<'_>, figure: fn(&Recovery) -> f64| {
        let of = |own: &Benchmark| match own {
            Benchmark::Recovery(own) => Some(figure(own)),
            _ => None,
        };
        cell.middle(of).unwrap_or(0.0)
    };
    let lost = |frames: f64| format!("{frames:.0}");
    let ended = |cell: &Cell<'_>| middle(cell, |own| own.ended_ns as f64 / 1e9);
    table(
        cells,
        &[
            ("throughput", 12, &|cell| units::rate(middle(cell, |own| own.throughput_pps))),
            ("overload", 12, &|cell| units::rate(middle(cell, |own| own.overload_pps))),
            ("then", 12, &|cell| units::rate(middle(cell, |own| own.relief_pps))),
            ("lost in", 10, &|cell| lost(middle(cell, |own| own.lost_in_overload as f64))),
            ("after", 10, &|cell| lost(middle(cell, |own| own.lost_afterwards as f64))),
            ("ended", 10, &|cell| units::figure(ended(cell), "s")),
        ],
    )
}

const RESET: &str = "Reset: the load; from the last frame before to the first frame after; the \
    part of it in which the device was made anew; frames that fell due in it; frames lost, which do not come \
    back or wait too long for room: those due in a short gap wait, and are sent late. Medians over the trials.";

fn reset(cells: &[&Cell<'_>]) -> String {
    let middle = |cell: &Cell<'_>, figure: fn(&Reset) -> f64| {
        let of = |own: &Benchmark| match own {
            Benchmark::Reset(own) => Some(figure(own)),
            _ => None,
        };
        cell.middle(of).unwrap_or(0.0)
    };
    let time = |ns: f64| units::figure(ns / 1e9, "s");
    table(
        cells,
        &[
            ("load", 12, &|cell| units::rate(middle(cell, |own| own.load_pps))),
            ("gap", 12, &|cell| time(middle(cell, |own| own.gap_ns as f64))),
            ("made anew", 12, &|cell| time(middle(cell, |own| own.start_ns as f64))),
            ("due in it", 10, &|cell| format!("{:.0}", middle(cell, Reset::due))),
            ("lost", 10, &|cell| format!("{:.0}", middle(cell, |own| own.lost as f64))),
        ],
    )
}

const SESSIONS: &str = "Sessions: frames counted a second (or in 10^9 instructions, where the device's clock \
    counts those; with insertion each is a new session) and what \
    each cost the device; entries of the device's table when the counted part began and ended, and for how \
    many it has room; sessions refused for want of room and thrown out for others, in a round; entries left \
    when the table had been emptied. Medians over the rounds and trials; of what was left the most.";

fn sessions(cells: &[&Cell<'_>], tick: Tick) -> String {
    fn of(own: &Benchmark) -> Option<&Sessions> {
        match own {
            Benchmark::Insertion(own) | Benchmark::Lookup(own) | Benchmark::FullTable(own) => {
                Some(own)
            }
            _ => None,
        }
    }
    let middle = |cell: &Cell<'_>, figure: fn(&Sessions) -> Option<f64>, digits: usize| {
        shown(cell.middle(|own| of(own).and_then(figure)), digits, "")
    };
    let rate = |cell: &Cell<'_>| {
        let rate = cell.middle(|own| of(own).and_then(Sessions::forwarded_per_s));
        rate.map_or_else(none, units::rate)
    };
    let left = |cell: &Cell<'_>| {
        let own = cell.trials.iter().filter_map(|(_, own)| of(own));
        let left = own.flat_map(|own| own.rounds.iter().map(|round| round.emptied));
        left.max().unwrap_or(0).to_string()
    };
    let each = if tick.is_nanosecond() { "ns each" } else { "instructions" };
    table(
        cells,
        &[
            ("a second", 12, &rate),
            (each, 9, &|cell| middle(cell, Sessions::cost_ns, 1)),
            ("began", 8, &|cell| middle(cell, |own| own.middle(|r| Some(r.before as f64)), 0)),
            ("ended", 8, &|cell| middle(cell, |own| own.middle(|r| Some(r.after as f64)), 0)),
            ("room", 8, &|cell| middle(cell, |own| Some(own.room as f64), 0)),
            ("refused", 8, &|cell| middle(cell, |own| own.middle(|r| Some(r.refused as f64)), 0)),
            ("out", 8, &|cell| middle(cell, |own| own.middle(|r| Some(r.evicted as f64)), 0)),
            ("emptied", 8, &left),
        ],
    )
}

const STREAMS: &str = "Streams: how many, and payload that arrived a second in which ends and device had their processor, and by \
    the clock; ns that a byte cost the \
    processor through the device, both ends included, past it, and the difference, which is the device's; \
    segments sent again, in per cent of all, and segments in each packet that the device's IP took; Jain's index of \
    fairness (1: all streams carried the same). Medians over the trials; of segments sent again the sum.";

fn streams(cells: &[&Cell<'_>]) -> String {
    fn of(own: &Benchmark) -> Option<&Streams> {
        match own {
            Benchmark::Goodput(own) | Benchmark::ByteCost(own) => Some(own),
            _ => None,
        }
    }
    let middle = |cell: &Cell<'_>, figure: fn(&Streams) -> Option<f64>| {
        cell.middle(|own| of(own).and_then(figure))
    };
    let goodput = |cell: &Cell<'_>| {
        let bits = middle(cell, Streams::goodput_bits_per_s);
        bits.map_or_else(none, |bits| units::figure(bits, "bit/s"))
    };
    let clock = |cell: &Cell<'_>| {
        let bits = middle(cell, Streams::clock_bits_per_s);
        bits.map_or_else(none, |bits| units::figure(bits, "bit/s"))
    };
    let packets = |own: &Streams| {
        let sent: u64 = own.streams.iter().map(|stream| stream.sent).sum::<Option<u64>>()?;
        let packets = own.device_packets.filter(|packets| *packets > 0)?;
        Some(sent as f64 / packets as f64)
    };
    let again = |cell: &Cell<'_>| {
        let all = cell.trials.iter().filter_map(|(_, own)| of(own));
        let again: u64 = all.flat_map(|own| own.streams.iter().map(|stream| stream.again)).sum();
        again.to_string()
    };
    let percent = |own: &Streams| own.again_share().map(|share| share * 100.0);
    table(
        cells,
        &[
            ("streams", 7, &|cell| {
                shown(middle(cell, |own| Some(own.streams.len() as f64)), 0, "")
            }),
            ("goodput", 14, &goodput),
            ("by the clock", 14, &clock),
            ("through", 8, &|cell| shown(middle(cell, Streams::through_ns_per_byte), 3, "")),
            ("past", 8, &|cell| shown(middle(cell, Streams::past_ns_per_byte), 3, "")),
            ("device", 8, &|cell| shown(middle(cell, Streams::device_ns_per_byte), 3, "")),
            ("again", 8, &again),
            ("of all", 9, &|cell| shown(middle(cell, percent), 3, " %")),
            ("seg/pkt", 8, &|cell| shown(middle(cell, packets), 1, "")),
            ("fairness", 8, &|cell| shown(middle(cell, Streams::fairness), 4, "")),
        ],
    )
}

const CONVERGENCE: &str = "Convergence: changes of all routes, and prefixes of each; how long the device took \
    to take the changes; from then on, the first frame by the new path, of half and of 99 % of all prefixes; \
    until all prefixes had it; the last frame by the old path, of 99 %; frames lost, frames that came only after a second \
    without any, and prefixes left over, of all changes together. RFC 6413.";

fn convergence(cells: &[&Cell<'_>]) -> String {
    fn of(own: &Benchmark) -> Option<&Convergence> {
        match own {
            Benchmark::Convergence(own) => Some(own),
            _ => None,
        }
    }
    let time = |cell: &Cell<'_>, figure: &dyn Fn(&Convergence) -> Option<f64>| {
        let ns = cell.middle(|own| of(own).and_then(figure));
        ns.map_or_else(none, |ns| units::figure(ns / 1e9, "s"))
    };
    let sum = |cell: &Cell<'_>, count: &dyn Fn(&Convergence) -> u64| -> String {
        cell.trials.iter().filter_map(|(_, own)| of(own)).map(count).sum::<u64>().to_string()
    };
    let new = |own: &Convergence, share| Some(own.quantile_ns(|one| one.new_ns, share)? as f64);
    let old = |own: &Convergence| Some(own.quantile_ns(|one| one.old_ns, 0.99)? as f64);
    let each =
        |own: &Convergence, count: fn(&RouteEvent) -> u64| own.events.iter().map(count).sum();
    let prefixes = |own: &Convergence| Some(own.events.first()?.prefixes.len() as f64);
    table(
        cells,
        &[
            ("changes", 7, &|cell| sum(cell, &|own| own.events.len() as u64)),
            ("prefixes", 8, &|cell| shown(cell.middle(|own| of(own).and_then(prefixes)), 0, "")),
            ("taken", 10, &|cell| time(cell, &|own| own.middle(|e| e.given_ns as f64))),
            ("new 50 %", 10, &|cell| time(cell, &|own| new(own, 0.5))),
            ("new 99 %", 10, &|cell| time(cell, &|own| new(own, 0.99))),
            ("all", 10, &|cell| time(cell, &|own| own.full_s().map(|s| s * 1e9))),
            ("old 99 %", 10, &|cell| time(cell, &old)),
            ("lost", 7, &|cell| sum(cell, &|own| each(own, RouteEvent::lost))),
            ("late", 7, &|cell| sum(cell, &|own| each(own, |e| e.late))),
            ("left", 5, &|cell| sum(cell, &|own| each(own, |e| e.unconverged() as u64))),
        ],
    )
}

const SOAK: &str = "Soak: the non-drop rate and the load, medians over the trials; how long all \
    trials took together, frames that were due, frames lost, and how often frames were lost; then \
    the first losses, in time since the soak of their trial began.";

/// The trials of a cell that were soaks.
fn soaks<'a>(cell: &Cell<'a>) -> Vec<(&'a Trial, &'a Soak)> {
    let own = |(trial, own): &(&'a Trial, &'a Benchmark)| match own {
        Benchmark::Soak(own) => Some((*trial, own)),
        _ => None,
    };
    cell.trials.iter().filter_map(own).collect()
}

fn soak(cells: &[&Cell<'_>]) -> String {
    let mut out = format!(
        "{:<64} {:<64} {:>12} {:>12} {:>10} {:>14} {:>10} {:>8}\n",
        "traffic", "variant", "NDR", "load", "time", "due", "lost", "losses"
    );
    for cell in cells {
        let soaks = soaks(cell);
        let rate = |figure: fn(&Soak) -> f64| {
            median(&soaks.iter().map(|(_, own)| figure(own)).collect::<Vec<_>>())
        };
        let sum = |count: fn(&Soak) -> u64| soaks.iter().map(|(_, own)| count(own)).sum::<u64>();
        let seconds: f64 = soaks.iter().map(|(_, own)| own.seconds).sum();
        let _ = writeln!(
            out,
            "{} {:>12} {:>12} {:>10} {:>14} {:>10} {:>8}",
            cell.begin(),
            units::rate(rate(|own| own.ndr_pps)),
            units::rate(rate(|own| own.load_pps)),
            units::figure(seconds, "s"),
            sum(|own| own.sent),
            sum(|own| own.lost),
            sum(|own| own.losses.len() as u64),
        );
    }
    squeezed(&out) + &losses(cells)
}

/// The first losses of each cell, and how many more it has.
fn losses(cells: &[&Cell<'_>]) -> String {
    let all: Vec<Vec<(&Trial, &Loss)>> = cells
        .iter()
        .map(|cell| {
            let each = soaks(cell).into_iter();
            each.flat_map(|(trial, own)| own.losses.iter().map(move |loss| (trial, loss))).collect()
        })
        .collect();
    let counts: Vec<usize> = all.iter().map(Vec::len).collect();
    let mut out = String::new();
    for ((cell, own), share) in cells.iter().zip(&all).zip(shares(&counts, MOST_LOSSES)) {
        for (trial, loss) in &own[..share] {
            let lasted = match loss.ns {
                0 => "at once".to_owned(),
                ns => format!("over {}", units::figure(ns as f64 / 1e9, "s")),
            };
            let _ = writeln!(
                out,
                "{}: {} at {}, {lasted}",
                trial.id,
                units::counted(loss.frames, "frame"),
                units::figure(loss.at_ns as f64 / 1e9, "s"),
            );
        }
        if own.len() > share {
            let more = own.len() - share;
            let _ =
                writeln!(out, "{}, {}: {more} more in trials.jsonl", cell.traffic, cell.variant);
        }
    }
    out
}

/// How much of its own each gets of a room that all share: as much as the others, but no more than it has; one
/// at least.
fn shares(counts: &[usize], room: usize) -> Vec<usize> {
    let mut shares: Vec<usize> = counts.iter().map(|count| 1.min(*count)).collect();
    let mut left = room.saturating_sub(shares.iter().sum());
    while left > 0 {
        let before = left;
        for (share, count) in shares.iter_mut().zip(counts) {
            if left > 0 && *share < *count {
                *share += 1;
                left -= 1;
            }
        }
        if left == before {
            break;
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first of them had all of the lines.
    #[test]
    fn cells_share_the_lines_of_their_losses() {
        assert_eq!(shares(&[500, 3, 0, 80], 20), [9, 3, 0, 8]);
        assert_eq!(shares(&[2, 3], 20), [2, 3]);
        assert_eq!(shares(&[7; 30], 20), [1; 30]);
        assert_eq!(shares(&[], 20), [0; 0]);
    }

    /// "lost 0" of 39,700 frames that were due read as if the device had missed none of them.
    #[test]
    fn frames_due_in_the_gap_of_a_reset_stand_beside_those_lost() {
        let trial = fwdlab_results::examples::trial(0);
        let own = Reset { load_pps: 9.683e6, gap_ns: 4_100_000, start_ns: 4_080_000, lost: 0 };
        let own = Benchmark::Reset(own);
        let trials = vec![(&trial, &own)];
        let cell = Cell { traffic: "inet", variant: "a", measure: Measure::Reset, trials };
        let (what, table) = observed(Measure::Reset, &[&cell], Tick::default());
        assert!(what.contains("fell due in it"), "{what}");
        let last: Vec<&str> = table.split_whitespace().rev().take(2).collect();
        assert_eq!(last, ["0", "39700"], "{table}");
    }

    #[test]
    fn blanks_of_all_lines_go_and_those_of_some_stay() {
        let wide =
            "traffic       n     median\ninet          6    12.0 us\nlonger name  10  99 s\n";
        let wanted =
            "traffic       n     median\ninet          6    12.0 us\nlonger name  10  99 s\n";
        assert_eq!(squeezed(wide), wanted, "nothing is too wide");
        let wide = "a          b\nlong       1\n";
        assert_eq!(squeezed(wide), "a     b\nlong  1\n");
        assert_eq!(squeezed(""), "");
    }
}
