//! Groups of series to judgements.

use std::collections::HashMap;

use fwdlab_stats::lost::{self, Lost, Side};
use fwdlab_stats::multiple::Kind;
use fwdlab_stats::paired::Block;
use fwdlab_stats::validity::{self, Finding};
use fwdlab_stats::{Comparison, Error, model, shared};

use crate::group::Arranged;
use crate::{Group, Judgement, MARGIN, Options};
use fwdlab_claims::runs::{self, Judged, SaidBy, Series, Terms};

/// Judges every series of each group against the first. A list of benchmarks shares a false discovery
/// rate, the variants of any other group without blocks share their level by Holm's correction.
pub(crate) fn judge(groups: Vec<Arranged>, options: &Options) -> Vec<Group> {
    let terms = Terms { margin: options.margin.unwrap_or(MARGIN), confidence: options.confidence };
    let questions = groups.iter().filter(|group| is_blocked(group)).count();
    let is_listed = |group: &Arranged| group.iter().all(|own| own.is_benchmark);
    let listed: Vec<[&Series; 2]> =
        groups.iter().filter(|group| is_listed(group)).flat_map(pairs).collect();
    let mut listed = runs::without_blocks(&listed, Kind::FalseDiscovery, terms).into_iter();
    let judged: Vec<Vec<Judged>> = groups
        .iter()
        .map(|group| match blocked(group, questions, terms) {
            Some(judged) => judged,
            None if is_listed(group) => listed.by_ref().take(group.len() - 1).collect(),
            None => {
                let pairs: Vec<[&Series; 2]> = pairs(group).collect();
                runs::without_blocks(&pairs, Kind::Holm, terms)
            }
        })
        .collect();
    groups.into_iter().zip(judged).map(|(group, own)| shown(group, own, terms.margin)).collect()
}

/// The first series beside each of the others.
fn pairs(group: &Arranged) -> impl Iterator<Item = [&Series; 2]> {
    group[1..].iter().map(|own| [&group[0], own])
}

fn shown(group: Arranged, judged: Vec<Judged>, margin: f64) -> Group {
    let first = &group[0];
    let judgement = |(series, own): (&Series, Judged)| Judgement {
        variant: series.name.clone(),
        baseline: first.name.clone(),
        comparison: own.comparison,
        rank: own.rank,
        findings: own.findings.into_iter().chain(doubts(first, series)).collect(),
        verdict: own.verdict,
        word: own.word,
        saved: own.saved,
        campaigns: None,
        sentence: own.sentence,
    };
    let judgements = group[1..].iter().zip(judged).map(judgement).collect();
    Group::of(first.group.clone(), margin, group, judgements)
}

/// What the figures of files show themselves: a file beside its copy, or beside one in another unit.
fn doubts(baseline: &Series, variant: &Series) -> impl Iterator<Item = Finding> {
    let names = [baseline.name.as_str(), variant.name.as_str()];
    let figures = [&baseline.values[..], &variant.values[..]];
    let is_unsaid = baseline.said_by == SaidBy::Nobody;
    let unsaid = is_unsaid.then(|| Finding::DirectionUnsaid { metric: baseline.metric.clone() });
    let same = validity::same_figures(names, figures).into_iter();
    same.chain(validity::units_apart(figures)).chain(unsaid)
}

fn is_blocked(group: &Arranged) -> bool {
    let source = &group[0].source;
    group.iter().all(|own| own.blocks.is_some() && own.source == *source)
}

/// The judgements over blocks, when all series of the group come from one source with blocks; each of
/// so many questions has its share of the level.
fn blocked(group: &Arranged, questions: usize, terms: Terms) -> Option<Vec<Judged>> {
    if !is_blocked(group) {
        return None;
    }
    // one model for all keeps the chance of any false difference at the level
    let whole = whole_blocks(group);
    let rows: Vec<Vec<f64>> = whole.iter().map(|(_, row)| row.clone()).collect();
    let direction = group[0].direction;
    let at = |level| -> Result<Vec<Comparison>, Error> {
        let all = model::compare_at(&rows, direction, level)?.into_iter().zip(1..);
        all.map(|(own, at)| {
            let blocks: Vec<Block> = rows.iter().map(|row| Block::new(row[0], row[at])).collect();
            lost::beside(own, &blocks, &lost_of([&group[0], &group[at]], &whole), direction)
        })
        .collect()
    };
    let compared = shared::compare(questions, terms.confidence, at);
    let apart = apart(group, &whole);
    let of = |index: usize| match (&apart, &compared) {
        (Some(apart), _) => Err(apart.clone()),
        (None, Ok(all)) => Ok((all[index].clone(), None)),
        (None, Err(error)) => Err(runs::not_computable(error.clone())),
    };
    let one = |(index, pair): (usize, [&Series; 2])| {
        let mut own = runs::finish(pair, of(index), terms);
        own.findings.extend(incomplete(group, pair).filter(|_| apart.is_none()));
        own
    };
    Some(pairs(group).enumerate().map(one).collect())
}

/// Whether all have figures, and no block has one of each.
fn apart(group: &Arranged, whole: &[(u32, Vec<f64>)]) -> Option<Finding> {
    let blocks = |own: &Series| -> Option<String> {
        let all = own.blocks.as_deref()?;
        let (least, most) = (all.iter().min()?, all.iter().max()?);
        let is_every = (most - least) as usize + 1 == all.len();
        let count = if is_every { String::new() } else { format!("{} of ", all.len()) };
        Some(match least == most {
            true => format!("{} has {least}", own.name),
            false => format!("{} has {count}{least} to {most}", own.name),
        })
    };
    let each: Option<Vec<String>> = group.iter().map(blocks).collect();
    each.filter(|_| whole.is_empty()).map(|blocks| Finding::BlocksApart { blocks })
}

/// Blocks in which a series has no row: the others' values of them do not count. A figure of the pair that
/// FAILED is said already.
fn incomplete(group: &Arranged, pair: [&Series; 2]) -> Option<Finding> {
    let mut all: Vec<u32> =
        group.iter().flat_map(|own| own.blocks.iter().flatten()).copied().collect();
    all.sort_unstable();
    all.dedup();
    let values: Vec<HashMap<u32, f64>> = group.iter().map(Series::by_block).collect();
    let is_said = |own: &Series, block: u32| {
        pair.iter().any(|side| std::ptr::eq(*side, own)) && own.failed_blocks.contains(&block)
    };
    let lacking = |block: &u32| -> Option<String> {
        let own = group
            .iter()
            .zip(&values)
            .filter(|(own, values)| !values.contains_key(block) && !is_said(own, *block));
        let names: Vec<&str> = own.map(|(own, _)| own.name.as_str()).collect();
        (!names.is_empty()).then(|| format!("block {block} ({})", names.join(", ")))
    };
    let found: Vec<String> = all.iter().filter_map(lacking).collect();
    (!found.is_empty()).then_some(Finding::BlocksIncomplete { blocks: all.len(), lacking: found })
}

/// The blocks that every series has, in their order, with their values in the order of the series.
fn whole_blocks(group: &Arranged) -> Vec<(u32, Vec<f64>)> {
    let blocks = group[0].blocks.as_deref().unwrap_or_default();
    let values: Vec<HashMap<u32, f64>> = group.iter().map(Series::by_block).collect();
    let row = |block: &u32| {
        let row: Option<Vec<f64>> = values.iter().map(|own| own.get(block).copied()).collect();
        Some((*block, row?))
    };
    blocks.iter().filter_map(row).collect()
}

/// The blocks of which one of two series has a value and the other has none.
fn lost_of([baseline, variant]: [&Series; 2], whole: &[(u32, Vec<f64>)]) -> Vec<Lost> {
    let alone = |own: &Series, other: &Series, side: Side| -> Vec<Lost> {
        let other = other.by_block();
        let blocks = own.blocks.iter().flatten().filter(|block| !other.contains_key(*block));
        let after = |block: &u32| whole.iter().filter(|(own, _)| own < block).count();
        blocks.map(|block| Lost { after: after(block), side }).collect()
    };
    let mut all = alone(baseline, variant, Side::Variant);
    all.extend(alone(variant, baseline, Side::Baseline));
    all
}
