//! The rules, by what they look at.

pub mod block_text;
pub mod blocks;
pub mod captions;
pub mod claims;
pub mod graphs;
pub mod load;
pub mod medians;
pub mod titles;
pub mod traffic;

use super::context::Surroundings;
use super::finding::{AuditFindings, Rule, Severity, Text};

/// Applies every rule that looks at a page.
pub fn apply(context: &Surroundings<'_>, findings: &mut AuditFindings) {
    page(context, findings);
    blocks::check(context, findings);
    block_text::check(context, findings);
    traffic::check(context, findings);
    claims::check(context, findings);
    load::check(context, findings);
    captions::check(context, findings);
    titles::check(context, findings);
    medians::check_counts(context, findings);
}

fn page(context: &Surroundings<'_>, findings: &mut AuditFindings) {
    if context.page.is_cut {
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
    for line in &context.page.late_fences {
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
