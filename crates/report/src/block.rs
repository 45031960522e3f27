//! What a report is made of before it is rendered: blocks, each one thing that it says or shows.
//!
//! Sections make them of the claims; `markdown`, `html` and `terminal` render them, each in its own
//! manner, and know no section.

use fwdlab_claims::causes::{Doubt, Invalid};
use fwdlab_claims::claim::Badge;

use super::flame::FlameGraph;
use fwdlab_figures::text_table::TextTable;

/// One thing that a report says or shows. Texts hold `code` between backticks.
pub enum Block<'a> {
    /// The title of the report.
    Title(String),
    /// What stands below the title: what ran.
    Lead(String),
    /// A line above what follows it, without its colon.
    Label(String),
    /// Running text.
    Paragraph(String),
    /// Running text that keeps its line.
    Line(String),
    /// Text laid out by whoever made it; ends with a line feed.
    Preformatted(String),
    /// The user's own Markdown.
    Verbatim(&'a str),
    /// Doubts about the user's own words.
    Remarks(Vec<String>),
    /// Facts.
    List(Vec<Item>),
    /// What holds and what does not.
    Badges(Vec<&'a Badge>),
    /// Doubts about trials and the campaign.
    Warnings(Vec<String>),
    /// Trials that failed.
    Failures(Vec<String>),
    /// A command to be copied, and what it does: `run it again`.
    Command(&'static str, String),
    /// Rows and columns.
    Table(Table),
    /// A drawing.
    Figure(Figure<'a>),
    /// Flame graphs, each in a file of its own.
    Flames(&'a [FlameGraph]),
    /// A variant against the baseline.
    Verdict(Box<Statement<'a>>),
    /// Verdicts that are invalid for the same causes.
    Invalid(Box<Invalid<'a>>),
    /// Blocks that can be folded away. They say themselves what they are: where nothing folds, the
    /// summary is left out.
    Details(Details<'a>),
    /// Blocks that are about one traffic or variant, and hidden with it.
    Scoped(Scope, Vec<Block<'a>>),
}

/// An item of a list.
pub struct Item {
    /// What it says.
    pub text: String,
    /// Items below it.
    pub below: Vec<String>,
}

impl From<String> for Item {
    fn from(text: String) -> Self {
        Self { text, below: Vec::new() }
    }
}

/// A table whose rows may each be about one variant.
pub struct Table {
    /// The cells.
    pub text: TextTable,
    /// The column that names a variant, by which rows are hidden.
    pub variant_column: Option<usize>,
}

/// A drawing that has been checked against the results.
pub struct Figure<'a> {
    /// What it shows.
    pub title: &'static str,
    /// The picture in the results directory, where there is one.
    pub file: Option<&'a str>,
    /// The drawing as an element of a page.
    pub svg: &'a str,
}

/// A verdict with what it rests on.
pub struct Statement<'a> {
    /// What it is about: `IPv4`, or `IPv4 (inet-64)` where there are several.
    pub subject: String,
    /// The family alone: `IPv4`.
    pub family: &'static str,
    /// Name of the traffic.
    pub traffic: &'a str,
    /// Name of the variant.
    pub variant: &'a str,
    /// `faster`, `slower`, `equivalent`, `inconclusive`, `invalid`.
    pub word: &'static str,
    /// The verdict in words.
    pub sentence: &'a str,
    /// What it compares, in figures.
    pub basis: Option<String>,
    /// What a proven difference would be on devices of other speeds.
    pub elsewhere: Option<String>,
    /// Why other methods may say something else.
    pub note: Option<&'static str>,
    /// Its doubts, the gravest first.
    pub doubts: Vec<Doubt>,
}

/// What can be folded away.
pub struct Details<'a> {
    /// What is inside.
    pub summary: String,
    /// What it is about.
    pub scope: Scope,
    /// Whether it is open at first.
    pub is_open: bool,
    /// What is inside.
    pub blocks: Vec<Block<'a>>,
}

/// The traffic and the variant that something is about.
#[derive(Default)]
pub struct Scope {
    /// Name of the variant; `None` when it is about all.
    pub variant: Option<String>,
    /// Name of the traffic; `None` when it is about all.
    pub traffic: Option<String>,
}

impl Scope {
    /// About one traffic, whatever the variant.
    pub fn traffic(name: &str) -> Self {
        Self { variant: None, traffic: Some(name.to_owned()) }
    }
}

/// Blocks under one heading.
pub struct Part<'a> {
    /// A name that no other part has.
    pub name: &'static str,
    /// What stands above it.
    pub heading: Heading,
    /// What it holds.
    pub blocks: Vec<Block<'a>>,
}

/// How a part is headed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heading {
    /// Nothing heads it: it goes on with the part before it.
    None,
    /// A heading of its own.
    Shown(&'static str),
    /// One below the heading of the part before it.
    Lower(&'static str),
    /// One that is not shown, but read out.
    Spoken(&'static str),
}

/// Which blocks stand close together in running text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The title and what is below it.
    Head,
    /// Verdicts.
    Verdict,
    /// Items of lists.
    Items,
    /// Trials that failed.
    Failures,
    /// Everything else stands alone.
    Alone,
}

impl<'a> Block<'a> {
    /// What it is among its neighbours.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Title(_) | Self::Lead(_) => Kind::Head,
            Self::Verdict(_) | Self::Invalid(_) => Kind::Verdict,
            Self::List(_)
            | Self::Badges(_)
            | Self::Warnings(_)
            | Self::Command(..)
            | Self::Flames(_) => Kind::Items,
            Self::Failures(_) => Kind::Failures,
            _ => Kind::Alone,
        }
    }

    /// A table of which no row can be hidden.
    pub fn table(text: TextTable) -> Self {
        Self::Table(Table { text, variant_column: None })
    }

    /// Adds this block to `all`; what is folded or scoped stands for itself.
    fn unfold<'b>(&'b self, all: &mut Vec<&'b Block<'a>>) {
        match self {
            Self::Details(Details { blocks, .. }) | Self::Scoped(_, blocks) => {
                blocks.iter().for_each(|block| block.unfold(all));
            }
            block => all.push(block),
        }
    }
}

/// All blocks in a row, for renderings in which nothing is folded or hidden.
pub fn unfolded<'a, 'b>(blocks: &'b [Block<'a>]) -> Vec<&'b Block<'a>> {
    let mut all = Vec::new();
    blocks.iter().for_each(|block| block.unfold(&mut all));
    all
}

/// Adds blocks to others; a list goes on with the list before it.
pub fn append<'a>(blocks: &mut Vec<Block<'a>>, more: Vec<Block<'a>>) {
    for block in more {
        match (blocks.last_mut(), block) {
            (Some(Block::List(items)), Block::List(more)) => items.extend(more),
            (_, block) => blocks.push(block),
        }
    }
}
