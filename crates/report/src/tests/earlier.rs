//! Campaigns that ended when they were decided, by the rule of an earlier version.

use super::{directory, example};
use fwdlab_results::{Results, environment};
use fwdlab_verify::{Fault, Unchecked, verify};

/// What `report --check` says of the end.
#[derive(Debug, PartialEq)]
enum End {
    Checked,
    NotChecked,
    Wrong,
}

fn end(results: &Results) -> End {
    let found = verify(results).unwrap();
    let is_wrong = found.faults.iter().any(|fault| matches!(fault, Fault::Stop { .. }));
    let is_unchecked = found.unchecked.iter().any(|own| matches!(own, Unchecked::Stop));
    match (is_wrong, is_unchecked) {
        (false, false) => End::Checked,
        (false, true) => End::NotChecked,
        (true, _) => End::Wrong,
    }
}

/// Two names of one device in `blocks` blocks, of which the run named was slow, until decided.
fn campaign(blocks: u32, slow: Option<&str>) -> (tempfile::TempDir, Results) {
    let mut variants = example::TWO;
    variants[1].rates = variants[0].rates;
    let (dir, mut results) = directory(example::results(&variants, blocks));
    results.campaign.until_decided = true;
    results.campaign.blocks = 40;
    results.campaign.environment_sha256 = environment::sha256(dir.path()).unwrap();
    let slow_run = results.trials.iter_mut().find(|trial| Some(trial.id.as_str()) == slow);
    if let Some(trial) = slow_run {
        trial.rate_pps = trial.rate_pps.map(|rate| 0.63 * rate);
    }
    (dir, results)
}

/// A run of one side that was slow keeps a campaign open today; earlier versions looked at ratios alone.
#[test]
fn a_campaign_that_an_earlier_version_ended_is_not_checked() {
    let ends = |slow: Option<&str>| -> Vec<End> {
        (4..=40).map(|blocks| end(&campaign(blocks, slow).1)).collect()
    };
    let (quiet, slow) = (ends(None), ends(Some("b03-inet-modular")));
    let first = quiet.iter().position(|own| *own == End::Checked).expect("equal in 40 blocks");
    assert!(quiet[..first].iter().all(|own| *own == End::Wrong), "{quiet:?}");
    let earlier = slow.iter().position(|own| *own == End::NotChecked);
    let earlier = earlier.expect("an end by ratios alone");
    assert!(slow[..earlier].iter().all(|own| *own == End::Wrong), "{slow:?}");
    assert!(!slow[earlier..36].contains(&End::Checked), "{slow:?}");
    let (_dir, results) = campaign(4 + earlier as u32, Some("b03-inet-modular"));
    let said: Vec<String> =
        crate::unchecked(&results).unwrap().iter().map(ToString::to_string).collect();
    let wanted = "an earlier version decided after which block the campaign ended";
    assert!(said.iter().any(|own| own == wanted), "{said:?}");
}
