//! How a campaign ended, and on what it ran.

use crate::Verified;
use crate::fault::{Fault, Unchecked};
use crate::plan::ALL_RUN;
use fwdlab_claims::ClaimsError;
use fwdlab_claims::decided::{Look, UntilDecided};
use fwdlab_results::environment;
use fwdlab_results::journal::{Chain, Seal};
use fwdlab_results::{Results, Trial};

/// Whether the end is there, as it was written, and where the rule of the campaign has it; whether
/// what it ran on is what it said at the beginning.
pub(crate) fn verify(results: &Results, verified: &mut Verified) -> Result<(), ClaimsError> {
    let recorded = &results.campaign.environment_sha256;
    let found = environment::sha256(&results.dir)?;
    match (recorded, &found) {
        (None, _) if results.campaign.order_version > 1 => {
            verified.faults.push(Fault::NoEnvironmentHash);
        }
        (None, _) => verified.unchecked.push(Unchecked::Environment),
        (Some(recorded), Some(found)) if recorded == found => {}
        (Some(_), found) => {
            verified.faults.push(Fault::Environment { is_there: found.is_some() });
        }
    }
    // Without a chain nothing says that there was a seal.
    let is_sealed = recorded.is_some() && Chain::read(&results.dir)? != Chain::Absent;
    for (line, seal) in Seal::read(&results.dir)? {
        if seal == Seal::Broken || (is_sealed && seal == Seal::Absent) {
            verified.faults.push(Fault::Seal { line });
        }
    }
    let Some(end) = &results.finished else {
        verified.faults.push(Fault::Unfinished {
            recorded: results.every().count(),
            planned: results.campaign.trials.len(),
        });
        return Ok(());
    };
    match stop(results, &end.stopped) {
        Some(Fault::Stop { ended, rule })
            if recorded.is_none() || rule.is_none() && is_of_earlier(results, ended) =>
        {
            verified.unchecked.push(Unchecked::Stop);
        }
        found => verified.faults.extend(found),
    }
    Ok(())
}

/// Whether the campaign, which today's rule would have gone on with, ended where an earlier version may have
/// ended it, which asked less, or nothing, of rare runs and of trials that FAILED. Its verdict asks for them, whoever ended it: nothing is won by ending
/// too early.
fn is_of_earlier(results: &Results, ended: u32) -> bool {
    let rule = UntilDecided::of(&results.campaign);
    rule.is_some_and(|rule| rule.stopped_earlier(until(&in_order(results), ended)))
}

fn in_order(results: &Results) -> Vec<Trial> {
    let mut trials: Vec<Trial> = results.every().cloned().collect();
    trials.sort_by_key(|trial| trial.order);
    trials
}

/// The trials of the first blocks.
fn until(trials: &[Trial], block: u32) -> &[Trial] {
    &trials[..trials.partition_point(|trial| trial.block <= block)]
}

/// Whether a campaign that was to end when it was decided did so there.
fn stop(results: &Results, stopped: &str) -> Option<Fault> {
    let Some(rule) = UntilDecided::of(&results.campaign) else {
        let reason = stopped.to_owned();
        return (stopped != ALL_RUN).then_some(Fault::Reason { reason });
    };
    let trials = in_order(results);
    let ended = trials.last()?.block;
    let is_settled = |block: &u32| matches!(rule.look(until(&trials, *block)), Look::Settled(_));
    // Trials that ran again changed what the earlier blocks say after the end was decided.
    let is_again = results.resumed.iter().any(|resumed| !resumed.again.is_empty());
    let first = if is_again { ended } else { 1 };
    let found = (first..=ended).find(is_settled);
    let is_good = match found {
        Some(block) => block == ended,
        None => stopped == ALL_RUN && ended == results.campaign.blocks,
    };
    (!is_good).then_some(Fault::Stop { ended, rule: found })
}
