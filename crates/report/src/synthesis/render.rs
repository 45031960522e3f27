//! The files of a synthesis: a table and bars per traffic.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::machines::{self, Change};
use super::{Column, Synthesis, on_machines};
use crate::ReportError;
use crate::block::{self, Block, Item};
use crate::drawings;
use crate::html::{self, Page};
use crate::table;
use crate::write::put;
use fwdlab_figures::text_table::{Side, TextTable, wrap};
use fwdlab_figures::{self, Chart, Dot, Room, Series, Summary, TrafficSeries};
use fwdlab_results::Metric;
use fwdlab_results::units;

const LEGEND: &str = "Median forwarding rate, then the verdict against the baseline of the same \
                      machine with its 95% interval; * marks verdicts on the device cost. Machines \
                      are not compared with each other by a test.";

/// Writes the synthesis into `dir`: `README.md`, `index.html`,
/// `gnuplot.data` and, per traffic, `TRAFFIC.svg` and `TRAFFIC.png`.
///
/// # Errors
/// When a figure cannot be drawn or a file not be written.
pub fn write(synthesis: &Synthesis, dir: &Path) -> Result<Vec<PathBuf>, ReportError> {
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut sections = String::new();
    for traffic in synthesis.traffics() {
        let chart = chart(synthesis, traffic);
        let title = format!("{}: {traffic}", synthesis.title);
        let svg = fwdlab_figures::bars(&chart)
            .into_document(&title, &fwdlab_figures::sheet(&fwdlab_figures::LIGHT));
        let png = fwdlab_figures::png(&svg, "a synthesis graph")?;
        files.extend(png.map(|png| (format!("{traffic}.png"), png)));
        files.insert(format!("{traffic}.svg"), svg.into_bytes());
        let svg = drawings::bars(&chart, &title, &format!("figure-{traffic}")).concat();
        let blocks = html::blocks(&[
            Block::table(table(synthesis, traffic)),
            Block::Figure(block::Figure { title: "Forwarding rates", file: None, svg: &svg }),
        ]);
        let heading = fwdlab_figures::escape(traffic);
        let _ = writeln!(sections, "<section><h2>{heading}</h2>\n{blocks}</section>");
    }
    let (changes, alone) = machines::changes(synthesis);
    for (k, change) in changes.iter().enumerate() {
        let title = change.title();
        let svg = change
            .plot(Room::Page)
            .into_document(&title, &fwdlab_figures::sheet(&fwdlab_figures::LIGHT));
        files.insert(plot_file(change), svg.into_bytes());
        let draw = |room| change.plot(room);
        let svg = drawings::twice(draw, &title, &format!("machines-{k}")).concat();
        let blocks = html::blocks(&[
            Block::table(change.table()),
            Block::Figure(block::Figure {
                title: "One change on all machines",
                file: None,
                svg: &svg,
            }),
            Block::Line(change.sentence()),
        ]);
        let heading = fwdlab_figures::escape(&title);
        let _ = writeln!(sections, "<section><h2>{heading}</h2>\n{blocks}</section>");
    }
    files.insert("README.md".to_owned(), readme(synthesis, [&changes, &alone]).into_bytes());
    files.insert("gnuplot.data".to_owned(), gnuplot(synthesis).into_bytes());
    files.insert("index.html".to_owned(), page(synthesis, &sections).into_bytes());
    put(dir, &files)
}

/// Where the forest plot of a change goes.
fn plot_file(change: &Change<'_>) -> String {
    let name = format!("forest-{}-{}.svg", change.variant, change.traffic);
    name.chars()
        .map(|c| if c.is_ascii_alphanumeric() || "-._".contains(c) { c } else { '_' })
        .collect()
}

fn page(synthesis: &Synthesis, sections: &str) -> String {
    let warnings = synthesis.warnings.iter().map(|text| format!("warning: {text}"));
    let header = html::blocks(&[
        Block::Title(synthesis.title.clone()),
        Block::List(synthesis.columns.iter().map(source).map(Item::from).collect()),
        Block::Warnings(warnings.collect()),
    ]);
    let legend = html::blocks(&[Block::Paragraph(LEGEND.to_owned())]);
    let main = format!("{sections}{legend}");
    let (title, header, main) = (&synthesis.title, &header, &main);
    Page { title, header, controls: None, main, footer: None }.html()
}

/// A hardware, its directory's name, and how much of it counts.
fn source(column: &Column) -> String {
    let p = &column.claims.progress;
    let name = super::dir_name(&column.results.dir);
    let kept = format!(
        "{}: {name}, {} of {} kept",
        column.label,
        p.kept,
        units::plural(p.planned, "trial")
    );
    match p.started.as_str() {
        "" => kernels_built(column).map_or(kept.clone(), |built| format!("{kept}, {built}")),
        started => format!("{kept}, started {started}"),
    }
}

/// When the kernels of published runs were built, whose start nobody knows.
fn kernels_built(column: &Column) -> Option<String> {
    let built = column.results.trials.iter().filter_map(|trial| {
        let at = trial.measured.proof.get(fwdlab_netbenches::built::KERNEL_BUILT)?;
        at.split('T').next()
    });
    let days: std::collections::BTreeSet<&str> = built.collect();
    match (days.first()?, days.last()?) {
        (first, last) if first == last => Some(format!("kernel built {first}")),
        (first, last) => Some(format!("kernels built {first} to {last}")),
    }
}

fn chart(synthesis: &Synthesis, traffic: &str) -> Chart {
    let variants = synthesis.variants();
    let traffics = synthesis
        .columns
        .iter()
        .map(|column| TrafficSeries {
            traffic: traffic.to_owned(),
            label: column.label.clone(),
            series: variants
                .iter()
                .enumerate()
                .filter_map(|(colour, variant)| series(column, traffic, variant, colour % 7))
                .collect(),
            line_rate: None,
        })
        .collect();
    Chart {
        title: format!("{}: {traffic}", synthesis.title),
        metric: Metric::Rate,
        tick: fwdlab_results::Tick::default(),
        measure: fwdlab_results::Measure::Rate,
        traffics,
        caption: "Bar: median. Whisker: minimum to maximum. Marks: single trials in the order of \
                  the run."
            .to_owned(),
        is_ordered: synthesis.columns.iter().all(|c| c.claims.setting.is_blocked),
        has_imix: synthesis.columns.iter().all(|c| c.claims.setting.about.link.has_line_rate()),
    }
}

fn series(column: &Column, traffic: &str, variant: &str, colour: usize) -> Option<Series> {
    let cell = column.cell(traffic, variant)?;
    let mut trials = column.results.trials_of(variant, traffic);
    trials.retain(|t| t.is_ok());
    trials.sort_by_key(|t| t.order);
    let dots = trials.into_iter().filter_map(|t| {
        let value = t.rate_pps?;
        Some(Dot {
            trial: format!("{}/{}", super::dir_name(&column.results.dir), t.id),
            block: t.block,
            order: t.order,
            value,
            hover: format!("{}, {}: {}", column.label, t.id, units::rate(value)),
        })
    });
    let effect = column.verdict(traffic, variant).map(|v| match (v.verdict.word(), v.change()) {
        ("faster" | "slower", Some([change, _])) => change,
        (word, _) => word.to_owned(),
    });
    Some(Series {
        variant: variant.to_owned(),
        colour,
        dots: dots.collect(),
        summary: cell.rate.map(|r| Summary {
            minimum: r.minimum,
            median: r.median,
            maximum: r.maximum,
        }),
        effect,
    })
}

/// Hardware by variant: the median, and the verdict against the baseline.
fn table(synthesis: &Synthesis, traffic: &str) -> TextTable {
    let variants = synthesis.variants();
    let rates = synthesis.columns.iter().flat_map(|c| &c.claims.cells);
    let best = rates.filter_map(|c| c.rate).map(|r| r.median).fold(0.0, f64::max);
    let unit = units::RateUnit::of(best);
    let mut head = vec![(format!("{traffic}, median {}", unit.name()), Side::Left)];
    head.extend(variants.iter().map(|v| ((*v).to_owned(), Side::Right)));
    let mut table = TextTable::new(head);
    for column in &synthesis.columns {
        let cells = variants.iter().map(|variant| {
            let Some(cell) = column.cell(traffic, variant) else { return "-".to_owned() };
            let median = cell.rate.map_or_else(|| "FAILED".to_owned(), |r| unit.show(r.median));
            let verdict = column.verdict(traffic, variant).map_or_else(String::new, |v| {
                let interval = v.change().map_or_else(String::new, |[_, own]| format!(" {own}"));
                let mark = table::mark(v.metric);
                format!(" {}{interval}{mark}", v.word())
            });
            format!("{median}{verdict}")
        });
        table.row(std::iter::once(column.label.clone()).chain(cells).collect());
    }
    table
}

fn readme(synthesis: &Synthesis, [changes, alone]: [&[Change<'_>]; 2]) -> String {
    let all = on_machines(&synthesis.columns);
    let title = &synthesis.title;
    let more = if *title == all { String::new() } else { format!(": {all}") };
    let mut out = format!("# {title}{more}\n\n");
    for column in &synthesis.columns {
        out.push_str(&wrap(&source(column), 100, "  - ", "    "));
    }
    out.push('\n');
    for warning in &synthesis.warnings {
        out.push_str(&wrap(warning, 100, "warning: ", "  "));
        out.push('\n');
    }
    for traffic in synthesis.traffics() {
        let _ = writeln!(out, "![{traffic}: forwarding rates]({traffic}.svg)\n");
        let _ = writeln!(out, "{}", table(synthesis, traffic).markdown());
    }
    out.push_str(&machines::markdown(changes, plot_file));
    out.push_str(&machines::without_summary(alone));
    out.push('\n');
    out.push_str(&LEGEND.replace("; * marks", ";\n* marks"));
    out.push_str("\n\nMade by `fwdlab report`.\n");
    out
}

/// `#index median minimum maximum` with the machine in the index.
fn gnuplot(synthesis: &Synthesis) -> String {
    let mut out = String::from("#index median minimum maximum\n");
    for column in &synthesis.columns {
        for cell in &column.claims.cells {
            let index = format!("{}.{}.{}", column.label, cell.variant, cell.traffic);
            let index: String =
                index.chars().map(|c| if c.is_whitespace() { '_' } else { c }).collect();
            let _ = match cell.rate {
                Some(r) => writeln!(
                    out,
                    "{index} {} {} {}",
                    units::plain_rate(r.median),
                    units::plain_rate(r.minimum),
                    units::plain_rate(r.maximum)
                ),
                None => writeln!(out, "#{index}: no trial kept of {} planned", cell.planned),
            };
        }
    }
    out
}
