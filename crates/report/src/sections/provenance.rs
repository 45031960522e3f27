//! Where it all comes from: machine, system, traffic, routes, files.

use crate::block::{Block, Item};
use crate::source::Source;
use fwdlab_results::environment::commit_of;
use fwdlab_results::kept_input;

/// What was measured and on what.
pub fn blocks<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    vec![Block::List(source.claims.setting.lines().into_iter().map(Item::from).collect())]
}

/// The same beside what says which commit each variant is of.
pub fn beside_commits<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let setting = &source.claims.setting;
    let said: Vec<String> = setting.variants.iter().map(|own| commit_of(&own.name)).collect();
    vec![Block::List(setting.lines_but(&said).into_iter().map(Item::from).collect())]
}

/// Which file asked for it.
pub fn experiment<'a>(source: &Source<'a>) -> Vec<Block<'a>> {
    let sum = &source.claims.setting.experiment_sha256;
    if sum.is_empty() {
        return Vec::new();
    }
    let mut items = vec![Item::from(format!("experiment.toml: SHA-256 {sum}"))];
    items.extend(source.results.campaign.inputs.iter().map(|(named, sum)| {
        Item::from(format!("{named} ({}): SHA-256 {sum}", kept_input(named).display()))
    }));
    vec![Block::List(items)]
}

/// Where the figures are.
pub fn files<'a>(_: &Source<'a>) -> Vec<Block<'a>> {
    let text = "every single trial with its raw intervals: trials.jsonl; statements as data: \
                claims.json";
    vec![Block::List(vec![Item::from(text.to_owned())])]
}
