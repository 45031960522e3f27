//! All figures as tables, one per traffic.

use crate::block::{Block, Scope, Table};
use crate::source::Source;
use crate::table;

/// The tables.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let table = |(traffic, cells): (&str, Vec<_>)| {
        let text = table::cells(&cells, source.claims);
        let table = Block::Table(Table { text, variant_column: Some(0) });
        Block::Scoped(Scope::traffic(traffic), vec![table])
    };
    source.cells().into_iter().map(table).collect()
}

/// What their columns mean.
pub fn legend<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    vec![Block::Paragraph(table::legend(source.claims))]
}
