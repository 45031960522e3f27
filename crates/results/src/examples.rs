//! Records for tests.

use std::collections::BTreeMap;

use crate::{
    Busy, Campaign, Checks, Family, Grouping, Interval, LimitedBy, Measured, Results, SCHEMA,
    Status, Steady, Trial, TrialOrder,
};

/// A campaign of two variants, one traffic and two blocks.
pub fn campaign() -> Campaign {
    Campaign {
        schema: SCHEMA,
        experiment_sha256: "00".repeat(32),
        inputs: Default::default(),
        title: "sample".to_owned(),
        device: "sample".to_owned(),
        about: None,
        testbed: None,
        order: TrialOrder::Blocks,
        grouping: Grouping::Traffic,
        seed: 7,
        order_version: 1,
        blocks: 2,
        until_decided: false,
        blocks_per_process: None,
        calibration: None,
        unproven: None,
        measure: crate::Measure::Rate,
        margin: 0.01,
        baseline: "radix".to_owned(),
        variants: vec!["radix".to_owned(), "modular".to_owned()],
        traffics: vec!["inet".to_owned()],
        trials: ["b01-inet-radix", "b01-inet-modular", "b02-inet-modular", "b02-inet-radix"]
            .map(str::to_owned)
            .to_vec(),
        started: "2026-11-21T13:00:00Z".to_owned(),
        environment_sha256: None,
    }
}

/// The planned trial at `place` (from 0) of [`campaign`].
pub fn trial(place: usize) -> Trial {
    let id = campaign().trials[place].clone();
    Trial {
        block: place as u32 / 2 + 1,
        order: place as u32 + 1,
        variant: id[9..].to_owned(),
        id,
        traffic: "inet".to_owned(),
        family: Family::Inet,
        measure: crate::Measure::Rate,
        status: Status::Ok,
        reason: None,
        started: Some("2026-11-21T13:00:01Z".to_owned()),
        frame_bytes: 64,
        flows_planned: Some(2_000),
        load: "max".to_owned(),
        offered_pps_asked: None,
        interval_ms: 100.0,
        limited_by: LimitedBy::Device,
        failure: None,
        steady: Some(Steady {
            first: 0,
            count: 1,
            trimmed_head: 0,
            trimmed_tail: 0,
            skipped: Vec::new(),
            why: "all intervals agree".to_owned(),
        }),
        rate_pps: Some(3_989_202.16),
        measured: measured(),
    }
}

/// The campaign with its trials, in no directory and without an end.
pub fn results() -> Results {
    let campaign = campaign();
    Results {
        sequence: campaign.trials.clone(),
        trials: (0..campaign.trials.len()).map(trial).collect(),
        campaign,
        dir: std::path::PathBuf::new(),
        known: Vec::new(),
        repeated: Vec::new(),
        resumed: Vec::new(),
        finished: None,
        is_torn: false,
        changed: None,
    }
}

/// What was counted in each of these trials.
pub fn measured() -> Measured {
    let busy = Some(Busy { ns: 40_000_000, frames: 400_000 });
    Measured {
        intervals: vec![Interval {
            ms: 100.02,
            tx: Some(400_000),
            rx: 399_000,
            busy,
            ..Interval::default()
        }],
        sent: Some(400_000),
        received: 399_000,
        flows_seen: Some(2_000),
        drops: Some(BTreeMap::from([("no-route".to_owned(), 1_000)])),
        device_received: Some(400_000),
        device_sent: Some(399_000),
        checks: Some(Checks { checked: 6_000, ..Checks::default() }),
        busy,
        idle_share: Some(0.03),
        ..Measured::default()
    }
}
