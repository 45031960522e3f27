//! The page and the script of a graph, in the layout of published directories.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use fwdlab_results::{Results, Trial};
use fwdlab_stats::ministat::{self, Dataset, Options};

/// A script that draws `gnuplot.data`: a box for each row, with minimum and maximum.
pub fn script(results: &Results) -> String {
    format!(
        "set terminal png size 1200,675\n\
         set output 'graph.png'\n\
         set title \"{}\"\n\
         set ylabel \"frames per second\"\n\
         set yrange [0:*]\n\
         set ytics format '%.1s%c'\n\
         set style fill solid 0.6\n\
         set boxwidth 0.6\n\
         set xtics rotate by -30\n\
         set bmargin 8\n\
         set key off\n\
         plot 'gnuplot.data' using 0:2:xtic(1) with boxes, \\\n     \
         '' using 0:2:3:4 with yerrorbars lc rgb '#000000'\n",
        results.campaign.title.replace(['"', '\\', '\n'], " ")
    )
}

/// A page: what was measured, the graph, and ministat's block for each traffic.
pub fn page(results: &Results, medians: &BTreeMap<(String, String), Vec<f64>>) -> String {
    let campaign = &results.campaign;
    let mut text = format!("{}\n", campaign.title.trim());
    for line in facts(results) {
        let _ = writeln!(text, "  - {line}");
    }
    let _ = writeln!(text, "\n![{}](graph.png)", campaign.title.trim());
    for traffic in &campaign.traffics {
        let of = |variant: &String| {
            let values = medians.get(&(variant.clone(), traffic.clone()))?;
            Some((variant.clone(), values.clone()))
        };
        let first = std::iter::once(&campaign.baseline);
        let others = campaign.variants.iter().filter(|name| **name != campaign.baseline);
        let sets: Vec<(String, Vec<f64>)> = first.chain(others).filter_map(of).collect();
        let Some((base, rest)) = sets.split_first() else { continue };
        let _ = writeln!(text, "\n{traffic}:");
        for chunk in rest.chunks(ministat::MAX_DATASETS - 1) {
            if let Some(block) = block(traffic, base, chunk) {
                let _ = writeln!(text, "```\n{}\n```", block.trim_end());
            }
        }
        if rest.is_empty() || block(traffic, base, rest.get(..1).unwrap_or_default()).is_none() {
            for (name, values) in &sets {
                let shown: Vec<String> = values.iter().map(|v| format!("{v:.0}")).collect();
                let _ = writeln!(text, "  - {name}: {}", shown.join(", "));
            }
        }
    }
    text
}

/// One of ministat's blocks; `None` where a set is too small for it.
fn block(
    traffic: &str,
    base: &(String, Vec<f64>),
    others: &[(String, Vec<f64>)],
) -> Option<String> {
    let set = |(name, values): &(String, Vec<f64>)| {
        Dataset::new(format!("{name}, {traffic}, packets-per-second"), values.clone()).ok()
    };
    let sets: Vec<Dataset> = std::iter::once(base).chain(others).map(set).collect::<Option<_>>()?;
    let options = Options { has_separate_bars: true, ..Options::default() };
    (sets.len() > 1)
        .then(|| String::from_utf8_lossy(&ministat::render(&sets, &options)).into_owned())
}

/// The lines about the set-up: what all trials say alike.
fn facts(results: &Results) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(about) = &results.campaign.about {
        lines.push(about.line.clone());
    }
    let alike = |of: &dyn Fn(&Trial) -> String| {
        let mut values: Vec<String> = results.trials.iter().map(of).collect();
        values.sort();
        values.dedup();
        (values.len() == 1).then(|| values.remove(0)).filter(|value| !value.is_empty())
    };
    lines.extend(alike(&|t| match t.flows_planned {
        None => String::new(),
        Some(flows) => format!("{flows} flows of {}-byte frames, FCS included", t.frame_bytes),
    }));
    lines.extend(alike(&|t| match t.load.as_str() {
        "max" => String::new(),
        load => format!("Traffic load at {load}"),
    }));
    lines
}
