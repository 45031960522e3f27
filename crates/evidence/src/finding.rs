//! What an audit finds, and the table of rules.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

/// How sure a finding is and how much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The data contradicts the page.
    Wrong,
    /// A person should look: the data does not support the page, or two
    /// readings are possible.
    Check,
    /// Worth knowing; nothing is claimed that is false.
    Info,
}

impl Severity {
    /// `wrong`, `check` or `info`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wrong => "wrong",
            Self::Check => "check",
            Self::Info => "info",
        }
    }
}

macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $name:ident = $id:literal, $summary:literal;)+) => {
        /// The rules of the audit. docs/audit.md tells each with an example.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $($(#[doc = $doc])+ $name,)+
        }

        impl Rule {
            /// Every rule, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// The name of the rule in every output.
            pub const fn id(self) -> &'static str {
                match self { $(Self::$name => $id,)+ }
            }

            /// What the rule checks, in one sentence.
            pub const fn summary(self) -> &'static str {
                match self { $(Self::$name => $summary,)+ }
            }
        }
    };
}

rules! {
    /// Rows of a block against the `.pps` values.
    BlockRows = "block-rows", "a ministat row does not follow from the values in its .pps file";
    /// Rows whose values are nowhere in the tree.
    BlockSource = "block-source", "the values behind a ministat row are not in this directory";
    /// The comparison lines against the rows above them.
    BlockArithmetic = "block-arithmetic", "a ministat comparison does not follow from the rows above it";
    /// The whole block, byte for byte.
    BlockText = "block-text", "a ministat block differs from ministat's output for the same values";
    /// Points that the drawing of ministat drops.
    BlockPoints = "block-points", "the plot of a ministat block shows fewer points than the set has";
    /// Number of runs.
    RunCount = "run-count", "runs are missing from a comparison without a word";
    /// Labels of sets against the data they name.
    BlockLabel = "block-label", "a set is labelled with another name than its data has";
    /// One label, two values.
    LabelTwoValues = "label-two-values", "one label stands for two different sets of values on one page";
    /// Against which set differences are shown.
    OldBaseline = "old-baseline", "a difference is shown against another revision although its own baseline is on the page";
    /// Direction of a claim.
    ClaimSign = "claim-sign", "a sentence says faster or slower and its block says the opposite";
    /// Size of a claim.
    ClaimSize = "claim-size", "a number in a sentence does not follow from its block";
    /// A change that no rate can make.
    ClaimImpossible = "claim-impossible", "a sentence lets a rate drop by more than 100 %";
    /// Files of our own results directories against their journals.
    OwnJournal = "own-journal", "a file of an fwdlab results directory does not say what its journal gives";
    /// Notes in our own results directories.
    OwnNotes = "own-notes", "a number in the notes of an fwdlab results directory is none of its report";
    /// All readings of a sentence.
    ClaimReading = "claim-reading", "a sentence read as a whole is so in none of its readings";
    /// What no other rule binds.
    ClaimGrounds = "claim-grounds", "a number or an order in a sentence is none that the data of its page gives";
    /// Rounding of a claim.
    ClaimRounding = "claim-rounding", "a number in a sentence is cut instead of rounded";
    /// A claim of a difference that is not proven.
    ClaimUnproven = "claim-unproven", "a sentence claims a difference where its block proves none";
    /// A claim of no difference.
    ClaimNoImpact = "claim-no-impact", "a sentence says that nothing changes, which its block does not show";
    /// A claim about all tests.
    ClaimAll = "claim-all", "a sentence about all tests does not hold for all blocks of the page";
    /// A rate in a sentence.
    ClaimRate = "claim-rate", "a rate in a sentence is not among the figures";
    /// Means beside medians.
    MedianPercent = "median-percent", "a percentage comes from medians beside a comparison of means, or the reverse";
    /// The rate of a line.
    LineRate = "line-rate", "a line rate is mistyped or belongs to another frame length";
    /// The offered load.
    LoadClaim = "load-claim", "the load in the text is not the load that the senders logged";
    /// The number of flows.
    FlowClaim = "flow-claim", "the number of flows in the text is not that of the logged commands";
    /// The frame length.
    FrameClaim = "frame-claim", "the frame length in the text is not that of the logged commands";
    /// Traffic of compared sets.
    TrafficDiffers = "traffic-differs", "compared sets were measured with different traffic";
    /// Generators of compared sets.
    GeneratorDiffers = "generator-differs", "compared sets were measured with different builds or options of the generator";
    /// Device faster than the test.
    Saturation = "saturation", "a figure is the line rate or the offered load, so differences cannot be seen";
    /// Generator slower than asked.
    GeneratorLimit = "generator-limit", "the generator, not the device, set the figure";
    /// Medians against logs.
    MedianReproduced = "median-reproduced", "a published median does not follow from its log";
    /// Runs that failed.
    FailedRun = "failed-run", "a run failed or saw nothing";
    /// Series that vanish.
    SeriesMissing = "series-missing", "a measured series is missing from the medians or the graph";
    /// Graph data against medians.
    GraphData = "graph-data", "a row of graph data does not follow from its .pps file";
    /// Graph data drawn under another name.
    GraphLabel = "graph-label", "a graph draws another series than its label says";
    /// Files that a graph script wants.
    GraphSource = "graph-source", "a graph script draws from a file that is not there";
    /// Captions of links.
    CaptionFile = "caption-file", "a caption names another revision or family than the linked file";
    /// Targets of links.
    LinkTarget = "link-target", "a relative link leads nowhere";
    /// Titles.
    TitleCopied = "title-copied", "the title belongs to another page";
    /// Revisions in text, path and kernel.
    RevisionDiffers = "revision-differs", "text, path and logged kernel name different versions";
    /// Proof that the variant ran.
    SameKernel = "same-kernel", "two images of a comparison logged the same kernel build";
    /// Headings above blocks.
    HeadingFamily = "heading-family", "a heading names another address family than the block below it";
    /// Pages that belong to another directory.
    PageCopied = "page-copied", "the page is that of another directory, whose data it shows";
    /// Pages that cannot be read in full.
    PageUnreadable = "page-unreadable", "a page or a table in it cannot be read in full";
}

impl Serialize for Rule {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct AuditFinding {
    /// The file, as the audit was asked for it.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// How sure and how grave.
    pub severity: Severity,
    /// The rule.
    pub rule: Rule,
    /// What the page claims.
    pub claim: String,
    /// What the data says.
    pub data: String,
    /// What to write instead, or to do.
    pub suggestion: String,
}

/// Collects the findings about one file.
#[derive(Debug, Default)]
pub struct AuditFindings {
    file: String,
    found: Vec<AuditFinding>,
    known: BTreeSet<(usize, Rule, String)>,
}

impl AuditFindings {
    /// Findings about `file`.
    pub fn about(file: &str) -> Self {
        Self { file: file.to_owned(), ..Self::default() }
    }

    /// Adds a finding; a second one of the same rule on the same line with the
    /// same claim is dropped.
    pub fn add(&mut self, rule: Rule, severity: Severity, line: usize, text: Text) {
        let finding = AuditFinding {
            file: self.file.clone(),
            line,
            severity,
            rule,
            claim: clean(&text.claim),
            data: clean(&text.data),
            suggestion: clean(&text.suggestion),
        };
        if self.known.insert((line, rule, finding.claim.clone())) {
            self.found.push(finding);
        }
    }

    /// No findings about the same file.
    pub fn none(&self) -> Self {
        Self::about(&self.file)
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Whether one of them calls something wrong.
    pub fn is_any_wrong(&self) -> bool {
        self.found.iter().any(|found| found.severity == Severity::Wrong)
    }

    /// Those of other rules than one.
    #[must_use]
    pub fn without(mut self, rule: Rule) -> Self {
        self.found.retain(|finding| finding.rule != rule);
        self
    }

    /// The same, none of which calls anything wrong.
    #[must_use]
    pub fn doubted(mut self) -> Self {
        for finding in self.found.iter_mut().filter(|f| f.severity == Severity::Wrong) {
            finding.severity = Severity::Check;
        }
        self
    }

    /// The same, of which those that are in doubt call nothing wrong.
    #[must_use]
    pub fn doubted_where(mut self, is_in_doubt: impl Fn(&AuditFinding) -> bool) -> Self {
        let is_wrong = |f: &&mut AuditFinding| f.severity == Severity::Wrong;
        for finding in self.found.iter_mut().filter(is_wrong).filter(|f| is_in_doubt(f)) {
            finding.severity = Severity::Check;
        }
        self
    }

    /// Adds those of another, as [`Self::add`] does.
    pub fn extend(&mut self, other: Self) {
        for finding in other.found {
            if self.known.insert((finding.line, finding.rule, finding.claim.clone())) {
                self.found.push(finding);
            }
        }
    }

    /// Whether a rule has spoken of a line.
    pub fn has(&self, rule: Rule, line: usize) -> bool {
        self.found.iter().any(|f| f.rule == rule && f.line == line)
    }

    /// The findings by line, one for each cause.
    pub fn into_sorted(mut self) -> Vec<AuditFinding> {
        self.found.sort_by_key(|f| (f.line, f.severity, f.rule));
        by_cause(self.found)
    }
}

/// So many findings of one file that say the same are one.
const MANY: usize = 3;

/// Findings of one rule with the same data but for its numbers have one cause: where there are
/// [`MANY`], the first is kept and names the lines of the others. Sentences stand for themselves.
fn by_cause(found: Vec<AuditFinding>) -> Vec<AuditFinding> {
    let cause = |f: &AuditFinding| {
        let is_sentence = f.rule.id().starts_with("claim-") || f.rule == Rule::MedianPercent;
        // what differs between captions is the file; the reason stands last
        let data = match f.rule {
            Rule::CaptionFile => f.data.rsplit(": ").next().unwrap_or_default(),
            _ => f.data.as_str(),
        };
        let data: String = data.chars().filter(|c| !c.is_ascii_digit()).collect();
        (!is_sentence).then_some((f.rule, f.severity, data))
    };
    let mut lines: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for finding in &found {
        if let Some(cause) = cause(finding) {
            lines.entry(cause).or_default().push(finding.line);
        }
    }
    let mut kept = Vec::new();
    for mut finding in found {
        match cause(&finding).and_then(|cause| lines.get_mut(&cause)) {
            Some(lines) if lines.len() >= MANY => {
                let others = std::mem::take(lines).split_off(1);
                finding.data.push_str(&format!("; {} more like it", others.len()));
                let shown: Vec<String> = others
                    .iter()
                    .filter(|l| **l != finding.line)
                    .map(ToString::to_string)
                    .collect();
                if !shown.is_empty() {
                    let lines = shown.iter().take(8).cloned().collect::<Vec<_>>().join(", ");
                    let more = if shown.len() > 8 { ", ..." } else { "" };
                    finding.data.push_str(&format!(": lines {lines}{more}"));
                }
                kept.push(finding);
            }
            Some(lines) if lines.is_empty() => {}
            _ => kept.push(finding),
        }
    }
    kept
}

/// The three texts of a finding.
#[derive(Clone, Debug, Default)]
pub struct Text {
    /// What the page claims.
    pub claim: String,
    /// What the data says.
    pub data: String,
    /// What to write instead, or to do.
    pub suggestion: String,
}

impl Text {
    /// The three texts.
    pub fn new(
        claim: impl Into<String>,
        data: impl Into<String>,
        suggestion: impl Into<String>,
    ) -> Self {
        Self { claim: claim.into(), data: data.into(), suggestion: suggestion.into() }
    }
}

/// Text of strangers made safe to print: no control characters (they could
/// drive a terminal), not longer than a screen's paragraph.
pub fn clean(text: &str) -> String {
    const MOST: usize = 400;
    let safe = |c: char| if c.is_control() || is_direction_mark(c) { ' ' } else { c };
    let mut short: String = text.chars().take(MOST).map(safe).collect();
    if text.chars().nth(MOST).is_some() {
        short.push('…');
    }
    short.trim().to_owned()
}

/// Characters that turn the direction of the text around them.
fn is_direction_mark(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_names_are_unique() {
        let mut ids: Vec<&str> = Rule::ALL.iter().map(|r| r.id()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), Rule::ALL.len());
    }

    #[test]
    fn text_of_strangers_cannot_drive_a_terminal() {
        assert_eq!(clean("a\u{1b}[31mred\u{202e}x"), "a [31mred x");
        assert!(clean(&"x".repeat(1000)).chars().count() <= 401);
    }
}
