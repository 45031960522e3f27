//! What a published page is held against: the trees with their values, each set of a block with
//! where its values come from, two sets compared anew, and findings about a page. What makes a
//! finding is for the rules to say (`prose` for sentences, `audit` for the rest).

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod figures;
pub mod finding;
pub mod pair;
pub mod site;
pub mod surroundings;
