//! Against the published directories beside the checkout, where they are.

use std::path::PathBuf;

use super::archive::Archive;
use super::pipeline::{MedianRule, Published};
use super::runs::read_configurations;
use super::series::Series;

/// The published directories; `None` (and a line on stderr) when they are not
/// at hand.
pub(crate) fn published(test: &str) -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/netbenches");
    let found = root.is_dir().then_some(root);
    if found.is_none() {
        eprintln!("SKIPPED {test}: no published directories at ../shared/data/netbenches");
    }
    found
}

#[test]
fn every_published_median_is_reproduced() {
    let Some(root) = published("every_published_median_is_reproduced") else { return };
    let archive = Archive::scan(&root).unwrap();
    let mut checked = 0;
    for dir in &archive.dirs {
        let configurations = read_configurations(dir);
        for (prefix, path) in &dir.pps {
            let text = std::fs::read(path).unwrap();
            let wanted = Series::parse(&text).values;
            let runs = configurations[prefix].runs.values();
            let found: Vec<f64> = runs
                .filter_map(|run| {
                    Published::of(run.good_receiver()?).printed(MedianRule::MeanOfTwo)
                })
                .map(|text| text.parse().unwrap())
                .collect();
            assert_eq!(found, wanted, "{}", path.display());
            checked += wanted.len();
        }
    }
    assert!(checked >= 150, "only {checked} values");
}
