//! What the logs of a rate search say that it found.

use crate::equilibrium::Step;
use crate::pktgen::PktgenLog;
use crate::runs::Run;
use fwdlab_results::RateSearch;

/// What a rate search found, and the highest rate received on the way, in a trial's proof.
pub const FOUND: &str = "netbenches.equilibrium";
/// See [`FOUND`].
pub const MOST: &str = "netbenches.equilibrium-max";

/// The loads that it tried, each with what came back: see [`Step::text`].
pub const STEPS: &str = "netbenches.equilibrium-steps";

/// What a run that searched for its rate found; the reason where that is no rate.
pub fn searched(run: &Run) -> Option<Result<Searched, String>> {
    let receiver = run.receiver.iter().filter_map(|log| log.as_ref().ok());
    let logs: Vec<&PktgenLog> = run.sender_logs().chain(receiver).collect();
    let (search, steps) =
        logs.iter().find_map(|log| Some((log.equilibrium?, log.steps.as_slice())))?;
    let named = logs.iter().filter_map(|log| log.command.as_ref()).find(|c| c.has_frame_len);
    let of_command = named.map(|c| c.frame_with_fcs());
    let frame_bytes = search.frame_bytes.or(of_command);
    let pps = search.found.pps(frame_bytes);
    let Some(found) = pps.filter(|pps| *pps > 0.0) else {
        let why = match pps {
            None => "no log names the frame length, so that this is no rate in frames/s",
            Some(_) => "it found no rate above 0",
        };
        return Some(Err(format!("a rate search that ended at {}: {why}", search.found)));
    };
    let most = search.most.and_then(|most| most.pps(frame_bytes)).unwrap_or(found).max(found);
    let upper = refused(steps, found, frame_bytes).unwrap_or(most);
    let of = RateSearch { mrr_pps: most, lower_pps: found, upper_pps: upper, trials: Vec::new() };
    let most_said = search.most.unwrap_or(search.found).to_string();
    let (said, steps) = (search.found.to_string(), Step::text(steps));
    Some(Ok(Searched { of, frame_bytes, said, most_said, steps }))
}

/// The smallest load above what was found that did not come back whole, within the search's tolerance.
fn refused(steps: &[Step], found: f64, frame_bytes: Option<u32>) -> Option<f64> {
    const TOLERANCE: f64 = 0.01;
    let tried = steps.iter().filter_map(|step| {
        let offered = step.offered.pps(frame_bytes)?;
        let back = step.forwarded?.pps(frame_bytes)?;
        (offered > found && back < (1.0 - TOLERANCE) * offered).then_some(offered)
    });
    tried.min_by(f64::total_cmp)
}

/// A rate that was searched for.
pub struct Searched {
    /// The search.
    pub of: RateSearch,
    /// The length that it is of, FCS and all; `None` where no log names it.
    pub frame_bytes: Option<u32>,
    /// As the log says it.
    pub said: String,
    /// The highest rate received on the way, as the log says it.
    pub most_said: String,
    /// The loads that it tried; empty where the log names none.
    pub steps: String,
}
