//! Whether a journal's records say what a campaign can say: names that are file names, numbers that
//! can be calculated with, as many trials as somebody could have waited for. A journal may come from
//! a stranger, and its names become parts of file names and pages.

use std::collections::BTreeMap;

use fwdlab_guard::words::{is_hidden, one_line};
use jiff::Timestamp;

use crate::{Campaign, Checks, Interval, Resumed, Trial};

/// Longest name of a variant or a traffic.
const MOST_NAME: usize = 64;

/// Longest name of published runs, made of file names.
const MOST_PUBLISHED_NAME: usize = 200;

/// Longest name of a file that an experiment names.
const MOST_PATH: usize = 4_096;

/// Longest title.
pub const MOST_TITLE: usize = 500;

/// Longest other text of a record: an id, a reason, a time.
const MOST_TEXT: usize = 64 << 10;

/// Most variants, and most traffics.
pub const MOST_NAMES: usize = 1_000;

/// Most trials.
const MOST_TRIALS: usize = 1_000_000;

/// Most frames of a trial: a million such can be added. A day at 100 M a second has fewer.
const MOST_FRAMES: u64 = 10_000_000_000_000;

/// Rates, loads and times that are not 0 lie between these.
const NUMBERS: std::ops::RangeInclusive<f64> = 1e-9..=1e18;

/// What is wrong with a record, and what is wanted.
pub(crate) struct Insane {
    pub what: String,
    pub wanted: &'static str,
}

/// Whether a text can be the name of a variant or a traffic.
pub fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    is_file_name(name, MOST_NAME) && name.chars().all(is_plain)
}

/// Whether a text can be the name of a variant or a traffic of published runs, made of file names.
pub fn is_published_name(name: &str) -> bool {
    is_file_name(name, MOST_PUBLISHED_NAME)
}

/// Whether a text can be the title of a campaign.
pub fn is_title(title: &str) -> bool {
    let is_odd = |c: char| is_hidden(c) || c == '\n' || c == '\t';
    title.len() <= MOST_TITLE && !title.contains(is_odd)
}

/// Whether a text can be a file's name, shown and unseen.
fn is_file_name(name: &str, most: usize) -> bool {
    let is_odd = |c: char| is_hidden(c) || matches!(c, '/' | '\\' | '\n' | '\t');
    !name.is_empty() && name.len() <= most && !name.starts_with('.') && !name.contains(is_odd)
}

/// What is wrong with a campaign.
pub(crate) fn campaign(campaign: &Campaign) -> Result<(), Insane> {
    title(&campaign.title)?;
    // Published results do not say when.
    if campaign.is_blocked() || !campaign.started.is_empty() {
        time("started", &campaign.started)?;
    }
    inputs(&campaign.inputs)?;
    let names = campaign.variants.iter().chain(&campaign.traffics);
    for name in names.chain([&campaign.baseline, &campaign.device]) {
        let is_good = match campaign.is_blocked() {
            true => is_name(name),
            false => is_published_name(name),
        };
        wanted(is_good, || format!("{} is no name", shown(name)), NAME)?;
    }
    for (what, count) in
        [("variants", campaign.variants.len()), ("traffics", campaign.traffics.len())]
    {
        wanted(count <= MOST_NAMES, || format!("it has {count} {what}"), "at most 1,000")?;
    }
    let trials = campaign.trials.len();
    wanted(trials <= MOST_TRIALS, || format!("it plans {trials} trials"), "at most 1,000,000")?;
    if let Some(own) = &campaign.calibration {
        let is_good = (0.0..=0.5).contains(&own.share)
            && (0.0..=1e6).contains(&own.slow_ns)
            && own.truths.len() <= MOST_NAMES;
        wanted(
            is_good,
            || "what it runs to prove itself is out of range".to_owned(),
            "a share up to 0.5, a slowdown up to 1 ms, at most 1,000 truths",
        )?;
    }
    texts(&campaign.unproven)?;
    let margin = campaign.margin;
    wanted(
        margin > 0.0 && margin <= 0.5,
        || format!("the margin is {margin:e}"),
        "a margin above 0 and up to 0.5",
    )
}

const PLANNED: &str = "trials of variants and traffics that the journal's first line names";

const NAME: &str = "1 to 64 letters, digits, '.', '_' or '-', with no '.' in front";

/// What is wrong with a time of a record.
pub(crate) fn time(field: &'static str, text: &str) -> Result<(), Insane> {
    wanted(is_time(text), || format!("{field} is {}, which is no time", shown(text)), TIME)
}

const TIME: &str = "a time as RFC 3339 has it, such as \"2026-11-21T13:00:00Z\"";

/// Whether it is a time of RFC 3339, which has no names of zones and always says the zone.
fn is_time(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_digit() || b"-:.+TZ".contains(&byte);
    if text.len() > MOST_NAME || !text.bytes().all(is_plain) {
        return false;
    }
    // Instants end a day before the year 9999 does, so that every zone can show them. A time of its last hours
    // is one as well: that of the same day a year before is.
    let earlier = text.strip_prefix("9999-12-3").map(|rest| format!("9998-12-3{rest}"));
    earlier.as_deref().unwrap_or(text).parse::<Timestamp>().is_ok()
}

/// What is wrong with the files that an experiment named.
fn inputs(inputs: &BTreeMap<String, String>) -> Result<(), Insane> {
    wanted(
        inputs.len() <= MOST_NAMES,
        || format!("it names {} files", inputs.len()),
        "at most 1,000",
    )?;
    inputs.iter().try_for_each(|(name, sum)| {
        let is_sum = sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit());
        let is_good = name.len() <= MOST_PATH && is_sum;
        wanted(is_good, || format!("{} with {}", shown(name), shown(sum)), INPUT)
    })
}

const INPUT: &str = "a file's name of at most 4,096 bytes with its SHA-256";

/// What is wrong with a title: in pages it must not look like anything else.
fn title(title: &str) -> Result<(), Insane> {
    wanted(
        is_title(title),
        || format!("the title is {}", shown(title)),
        "one line of at most 500 bytes that can be seen",
    )
}

/// What is wrong with a trial of a campaign.
pub(crate) fn trial(trial: &Trial, campaign: &Campaign) -> Result<(), Insane> {
    let Trial { variant, traffic, .. } = trial;
    // One whose answer is known is of no variant.
    let is_planned = trial.is_known() || campaign.variants.contains(variant);
    wanted(is_planned, || format!("{} is no variant of the campaign", shown(variant)), PLANNED)?;
    let is_planned = campaign.traffics.contains(traffic);
    wanted(is_planned, || format!("{} is no traffic of the campaign", shown(traffic)), PLANNED)?;
    texts([&trial.id, &trial.variant, &trial.traffic, &trial.load])?;
    texts(trial.reason.iter().chain(&trial.measured.warnings))?;
    trial.started.iter().try_for_each(|started| time("started", started))?;
    trial.failure.iter().try_for_each(|failure| time("failure.at", &failure.at))?;
    frames(trial)?;
    let single = [trial.rate_pps, trial.offered_pps_asked, Some(trial.interval_ms)];
    for number in single.into_iter().flatten() {
        plausible(number)?;
    }
    for Interval { ms, beat_ns, slow_share, .. } in &trial.measured.intervals {
        for number in [Some(*ms), *beat_ns, *slow_share].into_iter().flatten() {
            plausible(number)?;
        }
    }
    if let Some(search) = &trial.measured.search {
        [search.mrr_pps, search.lower_pps, search.upper_pps].into_iter().try_for_each(plausible)?;
    }
    Ok(())
}

/// What is wrong with a trial's numbers of frames: those of all trials can be added.
fn frames(trial: &Trial) -> Result<(), Insane> {
    let measured = &trial.measured;
    let checks = measured.checks.unwrap_or_default();
    let Checks { checked, lost, duplicated, reordered, misrouted, astray, returned, .. } = checks;
    let Checks { bad_ttl, bad_checksum, bad_mac, bad_payload, .. } = checks;
    let found = [checked, lost, duplicated, reordered, misrouted, astray, returned];
    let bad = [bad_ttl, bad_checksum, bad_mac, bad_payload];
    let known =
        [measured.sent, measured.flows_seen, measured.device_received, measured.device_sent];
    let dropped = measured.drops.iter().flatten().map(|(_, count)| *count);
    let counts = known.into_iter().flatten().chain(found).chain(bad).chain(dropped);
    let intervals =
        measured.intervals.iter().flat_map(|interval| [interval.tx.unwrap_or(0), interval.rx]);
    let counts = counts.chain(intervals);
    let most = counts.chain([measured.received]).max().unwrap_or(0);
    wanted(most <= MOST_FRAMES, || format!("{most} is no number of frames"), "at most 10^13")
}

/// What is wrong with the record of a run that went on.
pub(crate) fn resumed(resumed: &Resumed) -> Result<(), Insane> {
    time("at", &resumed.at)?;
    texts(resumed.differences.iter().chain(&resumed.again))
}

/// What is wrong with texts that nothing else is known of.
fn texts<'a>(texts: impl IntoIterator<Item = &'a String>) -> Result<(), Insane> {
    texts.into_iter().try_for_each(|text| {
        let is_good = text.len() <= MOST_TEXT;
        wanted(is_good, || format!("{} has {} bytes", shown(text), text.len()), "at most 64 KiB")
    })
}

fn plausible(number: f64) -> Result<(), Insane> {
    let is_good = number == 0.0 || NUMBERS.contains(&number);
    wanted(is_good, || format!("{number:e} is no rate and no time"), "0, or from 1e-9 to 1e18")
}

fn wanted(
    is_good: bool,
    what: impl FnOnce() -> String,
    wanted: &'static str,
) -> Result<(), Insane> {
    if is_good { Ok(()) } else { Err(Insane { what: what(), wanted }) }
}

/// A text of any length as it can stand in a message.
fn shown(text: &str) -> String {
    const MOST: usize = 60;
    let start: String = text.chars().take(MOST).collect();
    let more = if start.len() < text.len() { "..." } else { "" };
    format!("\"{}{more}\"", one_line(&start))
}
