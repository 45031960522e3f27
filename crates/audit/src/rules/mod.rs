//! The rules, by what they look at.

pub mod block_text;
pub mod blocks;
pub mod captions;
pub mod graphs;
pub mod load;
pub mod medians;
pub mod titles;
pub mod traffic;

use fwdlab_evidence::finding::{AuditFindings, Rule, Severity, Text};
use fwdlab_evidence::surroundings::Surroundings;

/// Applies every rule that looks at a page.
pub fn apply(around: &Surroundings<'_>, findings: &mut AuditFindings) {
    page(around, findings);
    blocks::check(around, findings);
    block_text::check(around, findings);
    traffic::check(around, findings);
    fwdlab_prose::check(around, findings);
    load::check(around, findings);
    captions::check(around, findings);
    titles::check(around, findings);
    medians::check_counts(around, findings);
}

fn page(around: &Surroundings<'_>, findings: &mut AuditFindings) {
    if around.page.is_cut {
        findings.add(
            Rule::PageUnreadable,
            Severity::Check,
            1,
            Text::new(
                "the page",
                "it or one of its lines is longer than any published page; the rest was not audited",
                "split the page",
            ),
        );
    }
    for line in &around.page.late_fences {
        findings.add(
            Rule::BlockText,
            Severity::Check,
            *line,
            Text::new(
                "the end of the block",
                "``` at the end of a line closes nothing: what follows is shown as code",
                "put ``` on a line of its own",
            ),
        );
    }
}
