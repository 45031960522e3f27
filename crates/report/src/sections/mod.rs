//! The sections of a report: what stands in it, in which order, in which renderings.
//!
//! A section is a file here, with a function from the claims to blocks, and a line in [`SECTIONS`].
//! A section without blocks is left out, with its heading.

mod again;
mod benchmarks;
mod checks;
mod churn;
mod drops;
mod energy;
mod failures;
mod figures;
mod flames;
mod functions;
mod journal;
mod latency;
mod ministat;
mod notes;
mod order;
mod progress;
mod provenance;
mod queues;
mod read_back;
mod settings;
mod sides;
mod tables;
mod title;
mod variants;
mod verdicts;
mod warnings;
mod ways;

use super::block::{Block, Heading, Part, append};
use super::source::Source;

/// All sections, in the order in which they stand. A section whose place has no heading goes on
/// under the heading before it.
#[rustfmt::skip]
pub const SECTIONS: &[Section] = &[
    Section::new("title", title::blocks, &[README, PAGE, TERMINAL, COMMIT, GITHUB]),
    Section::new("progress", progress::blocks, &[README, PAGE]),
    Section::new("progress-in-brief", progress::in_brief, &[TERMINAL]),
    Section::new("verdicts-by-traffic", verdicts::by_traffic, &[README]),
    Section::new("verdicts", verdicts::blocks, &[PAGE.spoken("Verdicts"), TERMINAL, COMMIT, GITHUB]),
    Section::new("checks", checks::blocks, &[README.under("Checks"), PAGE.under("Is it valid?"), GITHUB]),
    Section::new("warnings", warnings::blocks, &[README, PAGE, GITHUB]),
    Section::new("failures", failures::blocks, &[PAGE, GITHUB]),
    Section::new("forest", figures::forest, &[README, PAGE.under("How much?")]),
    Section::new("figures", tables::blocks, &[README.under("All figures"), PAGE.under("Figures"), TERMINAL, GITHUB]),
    Section::new("legend", tables::legend, &[README, PAGE]),
    Section::new("drops", drops::blocks, &[README, PAGE]),
    Section::new("rates", figures::rates, &[README, PAGE]),
    Section::new("cost-that-decides", figures::costs_that_decide, &[README]),
    Section::new("cost", figures::costs, &[PAGE]),
    Section::new("curve", figures::curves, &[README, PAGE]),
    Section::new("ways", ways::blocks, &[README.under("Both ways"), PAGE.under("Both ways"), TERMINAL]),
    Section::new("queues", queues::blocks, &[README.under("Queues"), PAGE.under("Queues"), TERMINAL]),
    Section::new("energy", energy::blocks, &[README.under("Energy"), PAGE.under("Energy"), TERMINAL]),
    Section::new("latency", latency::blocks, &[README.under("Latency"), PAGE.below("Latency")]),
    Section::new("churn", churn::blocks, &[README.under("Changes of routes"), PAGE.under("Changes of routes"), TERMINAL]),
    Section::new("benchmarks", benchmarks::blocks, &[README.under("Benchmarks"), PAGE.under("Benchmarks"), TERMINAL]),
    Section::new("run-order", figures::run_order, &[README, PAGE.under("Over the run")]),
    Section::new("distribution", figures::distribution, &[PAGE]),
    Section::new("functions", functions::blocks, &[README.under("Where the change is"), PAGE.under("Where the change is"), GITHUB]),
    Section::new("functions-in-brief", functions::in_brief, &[TERMINAL, COMMIT]),
    Section::new("flames", flames::blocks, &[README.under("Flame graphs"), PAGE.under("Flame graphs")]),
    Section::new("notes", notes::blocks, &[README.under("Notes"), PAGE.under("Notes")]),
    // On a terminal the end is what is seen first.
    Section::new("checks-not-met", checks::not_met, &[TERMINAL, COMMIT]),
    Section::new("failures-last", failures::blocks, &[TERMINAL]),
    Section::new("warnings-last", warnings::blocks, &[TERMINAL]),
    Section::new("sides", sides::blocks, &[COMMIT]),
    Section::new("provenance", provenance::blocks, &[README.under("Provenance"), PAGE.under("Provenance")]),
    Section::new("provenance-of-commit", provenance::beside_commits, &[COMMIT]),
    Section::new("variants", variants::blocks, &[README]),
    Section::new("experiment", provenance::experiment, &[README, PAGE]),
    Section::new("order", order::blocks, &[COMMIT]),
    Section::new("read-back", read_back::blocks, &[README]),
    Section::new("topology", figures::topology, &[PAGE]),
    Section::new("settings", settings::blocks, &[PAGE]),
    Section::new("files", provenance::files, &[README]),
    Section::new("again", again::blocks, &[README, PAGE]),
    Section::new("ministat", ministat::blocks, &[README.under("ministat"), PAGE.under("ministat"), GITHUB.under("ministat")]),
    Section::new("journal", journal::blocks, &[README]),
];

/// One section.
#[derive(Clone, Copy)]
pub struct Section {
    /// A name that no other section has.
    pub name: &'static str,
    /// What it says, as blocks.
    pub blocks: for<'a> fn(&Source<'a>) -> Vec<Block<'a>>,
    /// Where it stands.
    pub places: &'static [Place],
}

impl Section {
    /// A section of this name, made by `blocks`, in these places.
    pub const fn new(
        name: &'static str,
        blocks: for<'a> fn(&Source<'a>) -> Vec<Block<'a>>,
        places: &'static [Place],
    ) -> Self {
        Self { name, blocks, places }
    }
}

/// What a report is rendered for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rendering {
    /// `README.md`.
    Readme,
    /// `index.html`.
    Page,
    /// A terminal.
    Terminal,
    /// A commit message.
    Commit,
    /// A step summary of a CI run.
    Github,
}

/// A place in a rendering, and how the section is headed there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Where.
    pub rendering: Rendering,
    /// Its heading there.
    pub heading: Heading,
}

/// In `README.md`.
pub const README: Place = Place::within(Rendering::Readme);
/// In `index.html`.
pub const PAGE: Place = Place::within(Rendering::Page);
/// On a terminal.
pub const TERMINAL: Place = Place::within(Rendering::Terminal);
/// In a commit message.
pub const COMMIT: Place = Place::within(Rendering::Commit);
/// In a step summary, where whatever has a heading is folded away below it.
pub const GITHUB: Place = Place::within(Rendering::Github);

impl Place {
    const fn within(rendering: Rendering) -> Self {
        Self { rendering, heading: Heading::None }
    }

    /// Under a heading.
    pub const fn under(self, heading: &'static str) -> Self {
        Self { heading: Heading::Shown(heading), ..self }
    }

    /// Under a lower heading, within what stands before.
    pub const fn below(self, heading: &'static str) -> Self {
        Self { heading: Heading::Lower(heading), ..self }
    }

    /// Under a heading that is only read out.
    pub const fn spoken(self, heading: &'static str) -> Self {
        Self { heading: Heading::Spoken(heading), ..self }
    }
}

/// What `sections` say in one rendering.
pub fn parts<'a>(sections: &[Section], rendering: Rendering, source: &Source<'a>) -> Vec<Part<'a>> {
    let mut parts: Vec<Part<'a>> = Vec::new();
    for section in sections {
        let place = section.places.iter().find(|place| place.rendering == rendering);
        let Some(Place { heading, .. }) = place.copied() else { continue };
        let mut blocks = (section.blocks)(source);
        if blocks.is_empty() {
            continue;
        }
        if let Heading::Lower(text) = heading {
            blocks.insert(0, Block::Label(text.to_owned()));
        }
        match (heading, parts.last_mut()) {
            (Heading::None | Heading::Lower(_), Some(part)) => append(&mut part.blocks, blocks),
            _ => parts.push(Part { name: section.name, heading, blocks }),
        }
    }
    parts
}
