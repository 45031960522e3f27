//! The figures: files beside the README, drawings in the page.

use crate::block::{Block, Figure};
use crate::source::Source;

/// The effects with their intervals.
pub fn forest<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let Some(svg) = &source.extras.drawings.forest else { return Vec::new() };
    figure("Effects with their intervals", Some("forest.svg"), svg)
}

/// The forwarding rates, or the figures that measures have of their own.
pub fn rates<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let all = &source.extras.drawings.rates;
    if all.is_empty() {
        return vec![Block::Paragraph("No chart is drawn: no trial was kept.".to_owned())];
    }
    all.iter().flat_map(|own| figure(own.title, Some(&own.file), &own.svg)).collect()
}

/// The device costs, when a trial has one.
pub fn costs<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let Some(svg) = &source.extras.drawings.costs else { return Vec::new() };
    figure("Device cost per frame", Some("cost.svg"), svg)
}

/// The device costs where a verdict rests on them.
pub fn costs_that_decide<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let decides = source.claims.verdicts.iter().any(|verdict| verdict.metric == "cost");
    if decides { costs(source) } else { Vec::new() }
}

/// Curves over what is varied in three steps or more.
pub fn curves<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let Some(svg) = &source.extras.drawings.curves else { return Vec::new() };
    figure("Curves over what was varied", Some("curve.svg"), svg)
}

/// Every trial in the order of the run.
pub fn run_order<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let Some(svg) = &source.extras.drawings.run_order else { return Vec::new() };
    figure("Every trial in the order of the run", Some("run-order.svg"), svg)
}

/// How the rates are spread, and how figures are asked.
pub fn distribution<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let hint = "Point at a mark, or focus a figure and use the arrow keys: the trial is named, and \
                marked in every figure.";
    let svg = &source.extras.drawings.distribution;
    if svg.is_empty() {
        return Vec::new();
    }
    let mut blocks = figure("Distribution of the rates", None, svg);
    blocks.push(Block::Paragraph(hint.to_owned()));
    blocks
}

/// What sends frames through what.
pub fn topology<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    figure("Topology", None, &source.extras.drawings.topology)
}

fn figure<'a>(title: &'static str, file: Option<&'a str>, svg: &'a str) -> Vec<Block<'a>> {
    vec![Block::Figure(Figure { title, file, svg })]
}
