//! ministat's view: the block that published reports show.

use fwdlab_stats::Verdict;
use fwdlab_stats::ministat::{self, Dataset, Options};

use super::text::wrapped;
use crate::{CompareError, Compared, Group, Judgement};

/// One block per group, a blank line between them.
pub(crate) fn ministat(compared: &Compared) -> Result<Vec<u8>, CompareError> {
    let blocks: Result<Vec<Vec<u8>>, CompareError> = compared.groups.iter().map(block).collect();
    Ok(blocks?.join(&b'\n'))
}

/// What ministat cannot know: that its difference is none.
fn doubts(group: &Group) -> String {
    let is_invalid = |own: &&Judgement| matches!(own.verdict, Verdict::Invalid { .. });
    let mut text = String::new();
    for own in group.judgements.iter().filter(is_invalid) {
        wrapped(
            &format!("=> {}; what stands above decides nothing", own.sentence),
            "   ",
            &mut text,
        );
    }
    text
}

fn block(group: &Group) -> Result<Vec<u8>, CompareError> {
    let group_name = if group.name.is_empty() { &group.metric } else { &group.name };
    let wrong = |why: String| CompareError::NotForMinistat { group: group_name.clone(), why };
    if group.series.len() > ministat::MAX_DATASETS {
        return Err(wrong(format!(
            "it has {} series, ministat shows {}",
            group.series.len(),
            ministat::MAX_DATASETS
        )));
    }
    if let Some(few) = group.series.iter().find(|own| own.values.len() < ministat::MIN_VALUES) {
        let values = fwdlab_stats::plural(few.values.len(), "value");
        return Err(wrong(format!(
            "{} has {values}, ministat needs {}",
            few.name,
            ministat::MIN_VALUES
        )));
    }
    let sets: Result<Vec<Dataset>, _> = group
        .series
        .iter()
        .map(|own| Dataset::new(own.name.as_str(), own.values.clone()))
        .collect();
    let options = Options { has_separate_bars: true, ..Options::default() };
    let mut bytes = ministat::render(&sets.map_err(|error| wrong(error.to_string()))?, &options);
    bytes.extend(doubts(group).into_bytes());
    Ok(bytes)
}
