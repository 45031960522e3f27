//! The audit of published pages: every number, label and sentence against the
//! data beside it.
//!
//! [`audit`] reads the trees that it is given, applies the [`Rule`]s to each
//! page and returns a [`Report`]. A finding is "wrong" only where the data
//! contradicts the page; what two people could read differently is "check".
//! docs/audit.md lists the rules.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod report;
mod rules;
mod sarif;

pub use fwdlab_evidence::finding::{AuditFinding, Rule, Severity};
pub use fwdlab_netbenches::page::{MAX_PAGE_BYTES, Page};
pub use report::{Counts, Report, Work, audit, audit_page, check_page};
pub use sarif::sarif;

#[cfg(test)]
mod tests;
