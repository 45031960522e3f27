//! From results to comparisons, verdicts and claims: what may be said, as data.
//!
//! [`claim`] states what a campaign shows, each statement with the trials on which it rests, and
//! resolves it again from them. Nothing here draws or prints a report.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod alike;
pub mod apart;
pub mod blocks;
pub mod causes;
pub mod claim;
pub mod comparable;
pub mod decided;
mod error;
pub mod judge;
pub mod known;
mod ledger;
pub mod order;
pub mod runs;
pub mod saved;
pub mod setting;
pub mod settle;
mod unlike;
mod unresolved;
pub mod words;

use fwdlab_results::Results;

pub use claim::Claims;
pub use error::ClaimsError;
pub use unresolved::Unresolved;

/// What the results say, each statement resolved again from its trials.
///
/// # Errors
/// When a file beside the journal is damaged, or a claim does not resolve.
pub fn claims(results: &Results) -> Result<Claims, ClaimsError> {
    let claims = claim::build(results, setting::Setting::read(results)?);
    let wrong = claim::resolve(&claims, results);
    if wrong.is_empty() { Ok(claims) } else { Err(ClaimsError::Contradiction(wrong)) }
}
