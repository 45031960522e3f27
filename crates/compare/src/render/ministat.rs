//! ministat's view: the block that published reports show.

use fwdlab_stats::ministat::{self, Dataset, Options};

use crate::{CompareError, Compared, Group};

/// One block per group, a blank line between them.
pub(crate) fn ministat(compared: &Compared) -> Result<Vec<u8>, CompareError> {
    let blocks: Result<Vec<Vec<u8>>, CompareError> = compared.groups.iter().map(block).collect();
    Ok(blocks?.join(&b'\n'))
}

fn block(group: &Group) -> Result<Vec<u8>, CompareError> {
    let wrong = |found: String| CompareError::Alone { found };
    if group.series.len() > ministat::MAX_DATASETS {
        return Err(wrong(format!(
            "{} series, ministat shows {}",
            group.series.len(),
            ministat::MAX_DATASETS
        )));
    }
    let sets: Result<Vec<Dataset>, _> = group
        .series
        .iter()
        .map(|own| Dataset::new(own.name.as_str(), own.values.clone()))
        .collect();
    let options = Options { has_separate_bars: true, ..Options::default() };
    Ok(ministat::render(&sets.map_err(|error| wrong(error.to_string()))?, &options))
}
