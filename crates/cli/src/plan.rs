//! `fwdlab plan`: validates an experiment and says how many blocks it needs, and how long.

use crate::changes::Changes;
use crate::experiments::Named;
use crate::{devices, experiments, interrupt, output, preflight, run};
use anyhow::bail;
use fwdlab_campaign::plan::{Earlier, Needs, Place, USUAL_POWER, Wanted, own_truths, unproven};
use fwdlab_compare::Options;
use fwdlab_experiment::{Blocks, Experiment};
use fwdlab_figures::text_table::{Side, TextTable};
use fwdlab_results::Error;
use fwdlab_results::Results;
use fwdlab_results::units::plural;
use fwdlab_stats::plan::Forecast;
use fwdlab_stats::{Verdict, plain_percent};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// Arguments of `fwdlab plan`.
#[derive(clap::Args)]
pub struct Args {
    /// Experiment file; without it the modular FIB experiment
    #[arg(conflicts_with = "example")]
    experiment: Option<PathBuf>,

    /// Plan an example of this program (`fwdlab examples` lists them)
    #[arg(long, value_name = "NAME")]
    example: Option<String>,

    /// Earlier results of the experiment, whose spread is taken [default: results/NAME]
    #[arg(long, value_name = "DIR", conflicts_with = "pilot")]
    from: Option<PathBuf>,

    /// Run a pilot of so many blocks first and take its spread; its results go under results/pilot
    #[arg(long, value_name = "BLOCKS", value_parser = clap::value_parser!(u32).range(2..=1000))]
    pilot: Option<u32>,

    #[command(flatten)]
    testbed: devices::Testbed,

    /// The difference to be found, in percent [default: the experiment's margin]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    difference: Option<f64>,

    /// The chance of finding it, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = USUAL_POWER * 100.0, value_parser = percent)]
    power: f64,

    /// What to print
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// What `fwdlab plan` prints.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// A table
    Text,
    /// All figures as data
    Json,
}

/// Runs the command.
///
/// # Errors
/// When the experiment is wrong, or the named results cannot be read.
pub fn execute(arguments: &Args) -> anyhow::Result<ExitCode> {
    let experiment = match &arguments.example {
        Some(example) => Named::Example(example).read(&Changes::default())?,
        None => experiments::read(arguments.experiment.as_deref())?,
    };
    let wanted = wanted(arguments, &experiment)?;
    preflight::say_idle(&experiment);
    let earlier = match arguments.pilot {
        Some(blocks) => match pilot(&experiment, blocks, &arguments.testbed)? {
            Some(results) => Some(results),
            None => return Ok(ExitCode::from(130)),
        },
        None => earlier(arguments.from.as_deref(), &experiment)?,
    };
    let earlier = earlier.map(|results| Earlier::of(results, &experiment));
    let kind = devices::named(&experiment.device);
    let slow_word = kind.and_then(|kind| kind.slow_word());
    let truths = own_truths(&experiment, experiment.calibrate, slow_word);
    if let Some(why) = unproven(&experiment, experiment.calibrate, slow_word) {
        fwdlab_guard::say!("the lab's own truths (calibrate): {why}");
    }
    let needs = Needs::of(&experiment, earlier.as_ref(), wanted, truths);
    let needs = match kind {
        Some(kind) => {
            needs.on_device(kind.preflight_boots(&experiment), kind.trial_seconds(&experiment))
        }
        None => needs,
    };
    let spread = kind.and_then(|kind| kind.repeatability(&experiment));
    let needs = match &spread {
        Some(spread) => needs.with_repeatability(&experiment, spread),
        None => needs,
    };
    match &earlier {
        Some(own) if needs.is_measured() => {
            fwdlab_guard::say!("spread taken from {}", own.results.dir.display());
            other_experiment(own);
            doubts(&own.results);
        }
        own => {
            let (of, what) = match &spread {
                Some(spread) => (spread.source, "these kernels"),
                None => ("published runs", "this machine"),
            };
            let lacking = own.as_ref().map_or_else(
                || "no earlier results with two blocks".to_owned(),
                |own| format!("nothing in {} is of two blocks of it", own.results.dir.display()),
            );
            let unknown = match needs.unknown.is_empty() {
                true => String::new(),
                false => format!(
                    " of forwarding rates, and says nothing of {}",
                    in_words(&needs.unknown)
                ),
            };
            fwdlab_guard::say!(
                "{lacking}: the spread is that of {of}{unknown}; --pilot 3 runs three blocks first, to plan for {what}"
            );
            own.iter().for_each(other_experiment);
        }
    }
    let text = match arguments.format {
        Format::Text => text(&needs),
        Format::Json => output::json(&needs)?,
    };
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// `1%` or `1`.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    number.parse().map_err(|_| format!("`{text}` is no percentage; write for instance 1%"))
}

fn wanted(arguments: &Args, experiment: &Experiment) -> anyhow::Result<Wanted> {
    let difference = arguments.difference.map_or(experiment.margin, |percent| percent / 100.0);
    if !(difference > 0.0 && difference < 1.0) {
        bail!("--difference: wanted a percentage above 0 and below 100, such as 1");
    }
    let power = arguments.power / 100.0;
    if !(0.5..=0.999).contains(&power) {
        bail!("--power: wanted a percentage from 50 to 99.9, such as 80");
    }
    Ok(Wanted { difference, margin: experiment.margin, power })
}

/// Runs a few blocks of the experiment to learn how much trials spread; nothing when it was stopped.
fn pilot(
    experiment: &Experiment,
    blocks: u32,
    testbed: &devices::Testbed,
) -> anyhow::Result<Option<Results>> {
    let pilot = Arc::new(Experiment {
        blocks: Blocks::Fixed(blocks),
        calibrate: 0.0,
        ..experiment.clone()
    });
    let stop = interrupt::stop_on_interrupt()?;
    let mut device = devices::open(&pilot, testbed)?;
    let place = Place::Under(Path::new("results").join("pilot"));
    let opened = place.open(&pilot, &run::terms(&pilot, device.as_ref())?)?;
    let dir = opened.journal.dir().to_owned();
    let end = run::measure(&pilot, device.as_mut(), opened, run::How::default(), &stop)?;
    if run::ended_early(&end, &dir).is_some() {
        return Ok(None);
    }
    Ok(Some(Results::read(&dir)?))
}

/// The results to learn from: those named, or those at the default place if there are any.
fn earlier(named: Option<&Path>, experiment: &Experiment) -> anyhow::Result<Option<Results>> {
    if let Some(dir) = named {
        return Ok(Some(Results::read(dir)?));
    }
    match Results::read(&Path::new("results").join(experiment.stem())) {
        Ok(results) => Ok(Some(results)),
        Err(Error::NoResults { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Says what of the results is of another experiment, and what is not taken from them.
fn other_experiment(earlier: &Earlier) {
    const MOST: usize = 6;
    let Earlier { results, differences, is_of_other_device } = earlier;
    if differences.is_empty() {
        return;
    }
    let mut parts: Vec<&str> = differences.iter().take(MOST).map(String::as_str).collect();
    let more = format!("{} more", differences.len().saturating_sub(MOST));
    if differences.len() > MOST {
        parts.push(&more);
    }
    let taken = match is_of_other_device {
        true => "nothing is taken from it",
        false => {
            "its times are not taken, its spread where variant and traffic have the same names"
        }
    };
    fwdlab_guard::say!(
        "warning: {} is of another experiment ({}): {taken}",
        results.dir.display(),
        fwdlab_guard::words::one_line(&parts.join("; "))
    );
}

/// Says when nothing can be concluded from the results that the spread is taken from.
fn doubts(results: &Results) {
    let options = Options { sources: vec![results.dir.clone()], ..Options::default() };
    // Results of one variant have a spread and nothing to compare.
    let Ok(compared) = fwdlab_compare::compare(&options, &mut std::io::empty()) else { return };
    let all = compared.groups.iter().flat_map(|group| &group.judgements);
    let invalid = all.filter(|own| matches!(own.verdict, Verdict::Invalid { .. }));
    for own in invalid {
        fwdlab_guard::say!(
            "warning: nothing can be concluded there, so that this spread may be of something else: {}",
            own.sentence
        );
    }
}

/// The needs as a table for people, with times.
fn text(needs: &Needs) -> String {
    let Wanted { difference, margin, power } = needs.wanted;
    let mut out = String::new();
    let least = if needs.is_time_measured { "about" } else { "at least" };
    let _ = writeln!(
        out,
        "planned: {}{}{} of {}{}{}{}, {least} {}{}",
        boots(needs),
        if needs.is_until_decided { "until decided, at most " } else { "" },
        plural(needs.planned_blocks, "block"),
        plural(needs.trials_per_block, "trial"),
        truths(needs),
        each(needs),
        profiles(needs),
        duration(needs.planned_seconds()),
        if needs.is_until_decided { " if all of them run" } else { "" },
    );
    if needs.rows.is_empty() {
        let of = in_words(&needs.unknown);
        let _ = writeln!(out, "blocks needed: not known of {of} before a pilot");
        return out;
    }
    let _ = writeln!(
        out,
        "blocks needed, with a chance of {:.0} % (in brackets: if the spread was seen too small):\n",
        power * 100.0
    );
    let mut table = TextTable::new([
        ("comparison".to_owned(), Side::Left),
        ("metric".to_owned(), Side::Left),
        ("sd %".to_owned(), Side::Right),
        (format!("difference of {}", plain_percent(difference * 100.0)), Side::Right),
        ("time".to_owned(), Side::Right),
        (format!("equivalence within {}", plain_percent(margin * 100.0)), Side::Right),
        ("time".to_owned(), Side::Right),
    ]);
    for row in &needs.rows {
        table.row(vec![
            row.of.clone(),
            row.metric.clone(),
            spread(row.sd_of_difference),
            needed(&row.difference, row.pilot_blocks),
            time(needs.block_seconds, row.difference.blocks),
            needed(&row.equivalence, row.pilot_blocks),
            time(needs.block_seconds, row.equivalence.blocks),
        ]);
    }
    out + &output::known_width().map_or_else(|| table.plain(), |columns| table.plain_in(columns))
}

/// `reset`, `reset and soak`, `recovery, reset and soak`.
fn in_words(names: &[&str]) -> String {
    match names {
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        _ => names.concat(),
    }
}

/// What comes before the first block.
fn boots(needs: &Needs) -> String {
    match needs.preflight_boots {
        0 => String::new(),
        1 => "1 boot that tries the variants, then ".to_owned(),
        boots => format!("{boots} boots that try the variants, then "),
    }
}

/// What each trial has beside its traffic.
fn each(needs: &Needs) -> String {
    match needs.beside_traffic.as_str() {
        "" => String::new(),
        what => format!(", each {what}"),
    }
}

/// What the campaign runs to prove itself.
fn truths(needs: &Needs) -> String {
    let all = needs.own_truths_per_block * f64::from(needs.planned_blocks);
    if all < 0.5 { String::new() } else { format!(" and {all:.0} of the lab's own truths") }
}

/// What is taken after the last block.
fn profiles(needs: &Needs) -> String {
    match needs.profiles {
        0 => String::new(),
        count => format!(", then {}", plural(count, "profile")),
    }
}

fn needed(forecast: &Forecast, pilot_blocks: usize) -> String {
    if pilot_blocks == 0 || forecast.blocks == u64::MAX {
        return count(forecast.blocks);
    }
    format!("{} ({})", forecast.blocks, count(forecast.blocks_if_unlucky))
}

/// A number of blocks, or that none suffices.
fn count(blocks: u64) -> String {
    if blocks == u64::MAX { "out of reach".to_owned() } else { blocks.to_string() }
}

fn time(block_seconds: f64, blocks: u64) -> String {
    if blocks == u64::MAX { "-".to_owned() } else { duration(block_seconds * blocks as f64) }
}

/// `480 ms`, `4.5 s`, `45 s`, `12 min`, `3.5 h`.
pub fn duration(seconds: f64) -> String {
    let whole = Duration::from_secs_f64(seconds.clamp(0.0, 1e12));
    match whole.as_secs() {
        0 => format!("{:.0} ms", (seconds * 1e3).max(1.0)),
        1..10 => format!("{seconds:.1} s"),
        10..120 => format!("{seconds:.0} s"),
        120..7_200 => format!("{:.0} min", seconds / 60.0),
        _ => format!("{:.1} h", seconds / 3_600.0),
    }
}

/// A spread in per cent of two decimals, or of as many as say something.
fn spread(ratio: f64) -> String {
    let percent = ratio * 100.0;
    match plain_percent(percent) {
        small if percent < 0.005 => small.trim_end_matches(" %").to_owned(),
        _ => format!("{percent:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_number_of_blocks_decides_is_out_of_reach() {
        let forecast = |blocks, blocks_if_unlucky| Forecast { blocks, blocks_if_unlucky };
        assert_eq!(needed(&forecast(u64::MAX, u64::MAX), 4), "out of reach");
        assert_eq!(needed(&forecast(12, u64::MAX), 4), "12 (out of reach)");
        assert_eq!(needed(&forecast(12, 20), 0), "12");
        assert_eq!((time(2.0, u64::MAX), time(2.0, 30)), ("-".to_owned(), "60 s".to_owned()));
    }

    /// "Invalid float literal" was said of `--difference 1%`.
    #[test]
    fn a_percentage_may_be_written_as_one() {
        assert_eq!([percent("1%"), percent("0.5 %"), percent("1")], [Ok(1.0), Ok(0.5), Ok(1.0)]);
        assert!(percent("much").is_err_and(|said| said.contains("write for instance 1%")));
    }

    /// "At least 0 s".
    #[test]
    fn little_is_not_rounded_to_nothing() {
        assert_eq!([0.01, 0.000_02, 0.0].map(spread), ["1.00", "0.002", "0"]);
        assert_eq!(duration(0.0001), "1 ms");
        assert_eq!([0.2, 1.31, 9.6, 45.2].map(duration), ["200 ms", "1.3 s", "9.6 s", "45 s"]);
    }
}
