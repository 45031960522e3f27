//! Arguments of `fwdlab-bench forward`.

use std::path::PathBuf;

use anyhow::Result;
use clap::ValueEnum;

use super::table::Routes;
use crate::Format;

/// The real table of the checkout that this project is developed in.
pub(super) const REAL_TABLE: &str = "../shared/data/bgp-table.txt.gz";

/// What to run.
#[derive(clap::Args)]
pub struct Arguments {
    /// A list of prefixes (may be gzipped) to use as the full table [default: the one beside the
    /// checkout, if there is one]
    #[arg(long, value_name = "FILE")]
    pub(super) routes: Option<PathBuf>,
    /// Text tables, or one JSON object a line
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub(super) format: Format,
    /// Put the tables into this Markdown file: measured parts replace their sections, others stay
    #[arg(long, value_name = "FILE")]
    pub(super) write: Option<PathBuf>,
    /// Rounds of each case
    #[arg(long, default_value_t = 7)]
    pub(super) rounds: usize,
    /// Only cases whose names contain all of these
    #[arg(long, value_delimiter = ',')]
    pub(super) only: Vec<String>,
    /// Only these parts
    #[arg(long, value_delimiter = ',', value_enum)]
    pub(super) parts: Vec<Part>,
    /// Only the router
    #[arg(long)]
    pub(super) alone: bool,
}

/// A section of the document.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Part {
    /// Run to completion on one core
    OneCore,
    /// The tester on one core, the forwarder on the other, rings between
    TwoCores,
    /// One worker, and one on each core
    Workers,
    /// What the parts of forwarding cost by themselves
    Stages,
    /// Generator and receiver beside the router, and pacing
    Tester,
}

impl Part {
    pub(super) const ALL: [Self; 5] =
        [Self::OneCore, Self::TwoCores, Self::Workers, Self::Stages, Self::Tester];
}

impl Arguments {
    pub(super) fn wants(&self, case: &str) -> bool {
        self.only.iter().all(|part| case.contains(part.as_str()))
    }

    /// The full table, if there is one.
    pub(super) fn full(&self) -> Result<Option<Routes>> {
        let beside = Some(PathBuf::from(REAL_TABLE)).filter(|path| path.exists());
        self.routes.clone().or(beside).as_deref().map(Routes::read).transpose()
    }
}
