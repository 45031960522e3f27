//! The sections of the document.

/// A section of the document that can be simulated alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Section {
    /// Every way to a verdict under every noise
    Trust,
    /// What one campaign says, and what several say
    Between,
    /// One change on several machines
    Machines,
    /// A first trial that costs more
    Cold,
    /// Rare slow runs
    Rare,
    /// One wild value
    Wild,
    /// Blocks that lost a trial
    Lost,
}
