//! From claims and trials to the data of the figures.

use fwdlab_stats::{Comparison, Direction, signed_percent};

use fwdlab_claims::claim::{Cell, Claims, Spread, VerdictClaim};
use fwdlab_claims::setting::{LINKS, line_rate};
use fwdlab_claims::words;
use fwdlab_figures::{
    Chart, Dot, Estimate, Forest, ForestRow, LineRate, Series, Summary, TrafficSeries,
};
use fwdlab_results::units;
use fwdlab_results::{Family, LimitedBy, Metric, Results, Tick, Trial};

/// The data of the figures.
pub struct Charts {
    /// The figures of trials: the forwarding rate, or that of a measure that has one of its own. Each with
    /// its traffics, as far as there is something to draw of them.
    pub figures: Vec<Chart>,
    /// All of them, where only deviations from medians are drawn.
    pub order: Chart,
    /// What curves are drawn of: the one figure, or the forwarding rates where there are several.
    pub base: Chart,
    /// The device costs.
    pub cost: Chart,
}

impl Charts {
    /// Of a campaign.
    pub fn of(claims: &Claims, results: &Results) -> Self {
        let mut all: Vec<(Metric, Vec<&String>)> = Vec::new();
        for traffic in &results.campaign.traffics {
            let metric = figure_of(results, traffic);
            match all.iter_mut().find(|(own, _)| *own == metric) {
                Some((_, traffics)) => traffics.push(traffic),
                None => all.push((metric, vec![traffic])),
            }
        }
        if all.is_empty() {
            all.push((Metric::Rate, Vec::new()));
        }
        let draw = |(metric, traffics): &(Metric, Vec<&String>)| {
            chart_of(claims, (results, *metric), traffics.iter().copied())
        };
        let figures: Vec<Chart> = all.iter().map(draw).collect();
        let whole = |metric| chart_of(claims, (results, metric), results.campaign.traffics.iter());
        let one = <&[Chart; 1]>::try_from(&figures[..]).ok().map(|[one]| one.clone());
        let base = one.unwrap_or_else(|| whole(Metric::Rate));
        let mut order = figures.first().cloned().unwrap_or_else(|| base.clone());
        order.traffics = figures.iter().flat_map(|one| one.traffics.clone()).collect();
        order.traffics.sort_by_key(|one| {
            results.campaign.traffics.iter().position(|traffic| *traffic == one.traffic)
        });
        let mut figures: Vec<Chart> = figures.into_iter().map(Chart::drawn).collect();
        figures.retain(|one| !one.is_empty());
        Self { figures, order, base, cost: whole(Metric::Cost).drawn() }
    }
}

impl Charts {
    /// The figures of trials with the names of their files, without an extension: `graph`, `graph-reset`.
    pub fn named(&self) -> impl Iterator<Item = (String, &Chart)> + Clone {
        self.figures.iter().enumerate().map(|(place, one)| match place {
            0 => ("graph".to_owned(), one),
            _ => (format!("graph-{}", one.metric.name()), one),
        })
    }
}

/// The figure of a traffic's trials that is drawn.
pub fn figure_of(results: &Results, traffic: &str) -> Metric {
    let own = results.trials.iter().filter(|trial| trial.traffic == traffic && trial.is_ok());
    Metric::own(own).unwrap_or(Metric::Rate)
}

/// The chart of a figure, of some traffics.
fn chart_of<'a>(
    claims: &Claims,
    (results, metric): (&Results, Metric),
    traffics: impl Iterator<Item = &'a String>,
) -> Chart {
    let traffics = traffics.map(|t| traffic_series(t, claims, (results, metric))).collect();
    // Bits per second mean something only where frames cross a link.
    let about = &claims.setting.about;
    let is_timed = metric == Metric::Rate && about.tick.is_nanosecond();
    let smallest = Family::Dual.smallest_udp_frame_bytes();
    // The rate of larger frames is not one that a mix would have.
    let are_smallest = results.trials.iter().all(|trial| trial.frame_bytes <= smallest);
    let has_imix = is_timed && about.link.has_line_rate() && are_smallest;
    let caption = caption(claims, results, (metric, has_imix));
    Chart {
        title: claims.title.clone(),
        metric,
        tick: claims.setting.about.tick,
        measure: results.campaign.measure,
        traffics,
        caption,
        has_imix,
        is_ordered: claims.setting.is_blocked,
    }
}

fn traffic_series(
    traffic: &str,
    claims: &Claims,
    (results, metric): (&Results, Metric),
) -> TrafficSeries {
    let cells: Vec<&Cell> = claims.cells.iter().filter(|c| c.traffic == traffic).collect();
    let frame_bytes = cells.iter().find_map(|c| c.frame_bytes);
    let family = cells.first().map_or("", |c| c.family.title());
    let label = match frame_bytes {
        Some(bytes) => format!("{traffic}: {family}, {bytes}-byte frames"),
        None => format!("{traffic}: {family}"),
    };
    let mut others = 1;
    let series = cells
        .iter()
        .map(|cell| {
            let colour = if cell.is_baseline {
                0
            } else {
                others += 1;
                1 + (others - 2) % 6
            };
            series(cell, colour, claims, (results, metric))
        })
        .collect();
    let best = cells.iter().filter_map(|c| c.rate).map(|r| r.maximum).fold(0.0, f64::max);
    // Memory rings have no line rate: it means something only where a link, or a load, has one.
    let about = &claims.setting.about;
    let is_linked = about.link.has_line_rate() && about.tick.is_nanosecond()
        || claims.setting.traffics.iter().any(|t| t.name == traffic && t.load_pps.is_some());
    let is_linked = is_linked && !matches!(metric, Metric::Own(_));
    let line_rate = frame_bytes.filter(|_| is_linked).and_then(|b| near_line_rate(best, b));
    TrafficSeries { traffic: traffic.to_owned(), label, series, line_rate }
}

/// The line rate that the best trial comes near to: within 15 % of it.
fn near_line_rate(best: f64, frame_bytes: u16) -> Option<LineRate> {
    LINKS
        .iter()
        .map(|&gigabits| (gigabits, line_rate(gigabits, frame_bytes)))
        .find(|(_, pps)| (0.85..=1.15).contains(&(best / pps)))
        .map(|(gigabits, pps)| LineRate { pps, label: format!("{gigabits} Gb/s line rate") })
}

fn series(
    cell: &Cell,
    colour: usize,
    claims: &Claims,
    (results, metric): (&Results, Metric),
) -> Series {
    let mut trials: Vec<&Trial> =
        results.trials_of(&cell.variant, &cell.traffic).into_iter().filter(|t| t.is_ok()).collect();
    trials.sort_by_key(|t| t.order);
    let tick = claims.setting.about.tick;
    let dots = trials.into_iter().filter_map(|t| dot(t, (metric, tick))).collect();
    let summary = spread(cell, metric).map(|r| Summary {
        minimum: r.minimum,
        median: r.median,
        maximum: r.maximum,
    });
    Series {
        variant: cell.variant.clone(),
        colour,
        dots,
        summary,
        effect: effect(cell, claims, metric),
    }
}

const fn spread(cell: &Cell, metric: Metric) -> Option<Spread> {
    match metric {
        Metric::Rate => cell.rate,
        Metric::Cost => cell.cost,
        Metric::Own(_) => cell.own,
    }
}

/// The effect that stands above a bar; none when it is the other figure that
/// decides.
fn effect(cell: &Cell, claims: &Claims, metric: Metric) -> Option<String> {
    let is_same = |v: &&VerdictClaim| v.variant == cell.variant && v.traffic == cell.traffic;
    let verdict = claims.verdicts.iter().find(is_same)?;
    if verdict.metric != metric.name() {
        return None;
    }
    match verdict.word() {
        word @ ("faster" | "slower" | "better" | "worse") => {
            if verdict.apart.is_some() {
                let [change, _] = verdict.change()?;
                return Some(format!("{change} {word}"));
            }
            let ratio = verdict.comparison()?.estimate.ratio();
            // Bars and number go one way: faster is a lower cost.
            let is_lower_better = metric.direction() == Direction::LowerIsBetter;
            let change = if is_lower_better { 1.0 / ratio } else { ratio };
            let percent = signed_percent((change - 1.0) * 100.0);
            // Nobody is "-33 % faster".
            Some(if is_lower_better {
                format!("{percent} ({word})")
            } else {
                format!("{percent} {word}")
            })
        }
        word => Some(word.to_owned()),
    }
}

fn dot(trial: &Trial, (metric, tick): (Metric, Tick)) -> Option<Dot> {
    let value = metric.of(trial)?;
    let rate = trial.rate_pps.map_or_else(String::new, units::rate);
    let cost = trial.cost_ns().map(|c| format!(", {} {}", units::ns(c), tick.each()));
    let cost = cost.unwrap_or_default();
    let limit = match trial.limited_by {
        LimitedBy::Device => "",
        LimitedBy::Generator => ", limited by the tester",
        LimitedBy::Load => ", limited by the load",
        LimitedBy::Core => ", tester and device shared the core",
    };
    let own = match metric {
        Metric::Own(_) => format!("{}, ", units::figure(value, metric.unit_in(tick))),
        _ => String::new(),
    };
    let hover = format!(
        "{}: {own}{rate}{cost}{limit}; block {}, run {}",
        trial.id, trial.block, trial.order
    );
    Some(Dot { trial: trial.id.clone(), block: trial.block, order: trial.order, value, hover })
}

fn caption(claims: &Claims, results: &Results, (metric, has_imix): (Metric, bool)) -> String {
    let mut counts: Vec<usize> = claims.cells.iter().map(|c| c.kept.len()).collect();
    counts.sort_unstable();
    counts.dedup();
    let n = match counts.as_slice() {
        [] => "0".to_owned(),
        [n] => n.to_string(),
        [low, .., high] => format!("{low} to {high}"),
    };
    let failed: usize = claims.cells.iter().map(|c| c.failed.len()).sum();
    let failed = if failed > 0 {
        format!(" {} FAILED and not drawn.", units::plural(failed, "trial"))
    } else {
        String::new()
    };
    let kept = || results.trials.iter().filter(|t| t.is_ok());
    let bounded = kept().filter(|t| t.limited_by.hides_device()).count();
    let limits = if bounded > 0 && metric == Metric::Rate {
        format!(
            "\nThe tester or the load, not the device, bounded {bounded} of {}: see the device cost.",
            units::plural(kept().count(), "trial")
        )
    } else {
        String::new()
    };
    let imix = if has_imix {
        "\nRight: Ethernet throughput if the same rate held for simple IMIX, 7:4:1 IP packets of 40, 576 \
         and 1500 bytes (354.3-byte frames on average)."
    } else {
        ""
    };
    let order =
        if !claims.setting.is_blocked { "by their numbers" } else { "in the order of the run" };
    format!(
        "Bar: median. Whisker: minimum to maximum. Marks: single trials {order}, \
         n = {n} per bar.{failed}{limits}{imix}"
    )
}

/// The data of the forest plot; `None` where no comparison could be made.
pub fn forest(claims: &Claims, chart: &Chart) -> Option<Forest> {
    claims.verdicts.iter().find_map(VerdictClaim::comparison)?;
    let colours = chart.variants();
    let rows: Vec<ForestRow> = claims.verdicts.iter().map(|v| forest_row(v, &colours)).collect();
    let margin = claims.verdicts.first().map_or(0.0, |v| v.margin);
    let has = |metric| claims.verdicts.iter().any(|v| v.metric == metric);
    let is_one = rows.iter().all(|row| row.other.is_none());
    let is_own = claims.verdicts.iter().any(|v| !matches!(v.metric, "rate" | "cost"));
    let caption = if is_own || (is_one && has("cost")) {
        "Mark: the quoted estimate of the figure that decides, named with its interval."
    } else if is_one {
        "Mark: the quoted estimate of the forwarding rate."
    } else if has("cost") {
        "Mark: the quoted estimate of the figure that decides (rate, or device cost per frame); \
         thin line: the other one."
    } else {
        "Mark: the quoted estimate of the forwarding rate; thin line: the same by device cost \
         per frame."
    };
    let is_time = claims
        .verdicts
        .iter()
        .any(|v| Metric::named(v.metric).is_some_and(fwdlab_claims::apart::is_time));
    let times = if is_time { " Times are drawn as speeds: half the time is +100 %." } else { "" };
    Some(Forest {
        title: claims
            .verdicts
            .first()
            .map_or_else(String::new, |v| format!("Change against {}", v.baseline)),
        margin_percent: margin * 100.0,
        words: words::shared(claims.verdicts.iter().map(VerdictClaim::words)),
        rows,
        level: words::levels(claims.verdicts.iter().filter_map(VerdictClaim::comparison)),
        caption: format!("{caption}{times}"),
    })
}

fn forest_row(verdict: &VerdictClaim, colours: &[(&str, usize)]) -> ForestRow {
    let colour = colours.iter().find(|(name, _)| *name == verdict.variant).map_or(1, |c| c.1);
    let estimate = |c: &Comparison| Estimate {
        estimate: c.estimate.percent(),
        low: c.interval95.low.percent(),
        high: c.interval95.high.percent(),
    };
    let other = match verdict.metric {
        "rate" => &verdict.cost,
        "cost" => &verdict.rate,
        // Of another thing, the rate says nothing about it.
        _ => &None,
    };
    let deciding = verdict.comparison().map(estimate);
    let word = verdict.word();
    let [change, interval] = verdict.change().unwrap_or_default();
    let text = match word {
        "faster" | "slower" | "better" | "worse" => format!("{word} {change}"),
        _ => word.to_owned(),
    };
    let figure = match verdict.metric {
        "cost" => "device cost",
        own => own,
    };
    ForestRow {
        traffic: verdict.traffic.clone(),
        variant: verdict.variant.clone(),
        colour,
        deciding,
        other: other.as_ref().map(estimate),
        text,
        detail: format!("{figure} {interval}"),
    }
}
