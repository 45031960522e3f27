//! The ministat blocks of five published reports (FreeBSD D27401 and D11476 on four machines) come
//! out byte for byte from the medians published beside them.

#![allow(clippy::unwrap_used, reason = "a test")]

use fwdlab_stats::ministat::{Dataset, Options, render};
use serde_json::Value;

/// One published block with its data.
struct Published {
    document: String,
    line: u64,
    datasets: Vec<Dataset>,
    block: String,
}

fn published() -> Vec<Published> {
    let blocks: Vec<Value> =
        serde_json::from_str(include_str!("fixtures/published-blocks.json")).unwrap();
    blocks
        .iter()
        .map(|block| {
            let datasets = block["sets"].as_array().unwrap().iter().map(|set| {
                let values =
                    set["values"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
                Dataset::new(set["legend"].as_str().unwrap(), values).unwrap()
            });
            let lines: Vec<&str> =
                block["block"].as_array().unwrap().iter().map(|l| l.as_str().unwrap()).collect();
            Published {
                document: block["document"].as_str().unwrap().to_owned(),
                line: block["line"].as_u64().unwrap(),
                datasets: datasets.collect(),
                block: lines.join("\n") + "\n",
            }
        })
        .collect()
}

fn rendered(published: &Published) -> String {
    let options = Options { has_separate_bars: true, ..Options::default() };
    String::from_utf8(render(&published.datasets, &options)).unwrap()
}

#[test]
fn twelve_published_blocks_come_out_byte_for_byte() {
    let blocks = published();
    let exact: Vec<&Published> = blocks.iter().filter(|b| b.document != "004").collect();
    assert_eq!(exact.len(), 12);
    for block in exact {
        assert_eq!(rendered(block), block.block, "document {} line {}", block.document, block.line);
    }
}

/// The fifth report was edited by hand: its blocks have other white space.
#[test]
fn the_two_edited_blocks_come_out_but_for_white_space() {
    let blocks = published();
    let edited: Vec<&Published> = blocks.iter().filter(|b| b.document == "004").collect();
    assert_eq!(edited.len(), 2);
    let squeeze = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    for block in edited {
        assert_eq!(squeeze(&rendered(block)), squeeze(&block.block), "line {}", block.line);
    }
}
