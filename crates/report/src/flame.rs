//! Flame graphs of the profiles, alone and against the baseline.

#[cfg_attr(not(feature = "flame"), path = "flame/left_out.rs")]
mod graph;
mod job;

use super::ReportError;
use super::build::Build;
use fwdlab_profiles::{Changes, Profiles};
pub(crate) use job::Job;

/// Most bytes that all flame graphs take inside the page.
const PAGE_BUDGET: usize = 1_200_000;
/// Frames narrower than this many per cent are left out of files.
const FINE: f64 = 0.02;

/// Everything that the report shows of the profiles.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Flames {
    /// The flame graphs.
    pub graphs: Vec<FlameGraph>,
    /// Profiles that are not shown, with why.
    pub refusals: Vec<String>,
}

/// One flame graph.
#[derive(Debug, Clone, PartialEq)]
pub struct FlameGraph {
    /// Name of the variant.
    pub variant: String,
    /// Name of the traffic.
    pub traffic: String,
    /// Whether it shows what changed since the baseline.
    pub is_difference: bool,
    /// `radix, inet`; of a difference, what its colours mean, too.
    pub title: String,
    /// How the profile was taken.
    pub note: String,
    /// Name of its file in the results directory.
    pub file: String,
    /// The graph with every frame.
    pub svg: String,
    /// The graph for the page, without the narrowest frames.
    pub small_svg: String,
    /// Height in px.
    pub height: usize,
}

/// How a report begins to say that it has no flame graphs because of the build that made it.
pub const LEFT_OUT: &str = "flame graphs were left out of this build";

/// Names of the files that the flame graphs of all profiles go to.
pub fn files(profiles: &Profiles, changes: &[Changes]) -> Vec<String> {
    jobs(profiles, changes).iter().map(Job::file).collect()
}

/// Each profile, and each against its baseline's.
fn jobs<'a>(profiles: &'a Profiles, changes: &'a [Changes]) -> Vec<Job<'a>> {
    let alone = profiles.usable.iter().map(|profile| Job { profile, changes: None });
    let pairs = changes.iter().filter_map(|changes| {
        let profile = profiles.find(&changes.variant, &changes.traffic)?;
        Some(Job { profile, changes: Some(changes) })
    });
    alone.chain(pairs).collect()
}

/// Draws the flame graphs of all profiles, in a build that draws them.
///
/// # Errors
/// [`ReportError::Figure`] when a graph cannot be drawn.
pub fn flames(
    profiles: &Profiles,
    changes: &[Changes],
    build: Build,
) -> Result<Flames, ReportError> {
    let mut refusals = profiles.refusals.clone();
    let mut jobs = jobs(profiles, changes);
    if !build.draws_flames && !jobs.is_empty() {
        refusals.push(format!("{LEFT_OUT} (feature `flame`)"));
        jobs.clear();
    }
    Ok(Flames { graphs: draw(&jobs)?, refusals })
}

/// Draws every graph in full for its file, and for the page without frames
/// that are too narrow to read, coarser until all fit.
fn draw(jobs: &[Job<'_>]) -> Result<Vec<FlameGraph>, ReportError> {
    let full: Vec<String> = jobs.iter().map(|j| graph::svg(j, FINE)).collect::<Result<_, _>>()?;
    let mut narrowest = 0.1;
    let mut small = full.clone();
    while small.iter().map(String::len).sum::<usize>() > PAGE_BUDGET && narrowest < 10.0 {
        small = jobs.iter().map(|j| graph::svg(j, narrowest)).collect::<Result<_, _>>()?;
        narrowest *= 2.0;
    }
    Ok(jobs
        .iter()
        .zip(full.into_iter().zip(small))
        .map(|(job, (svg, small_svg))| FlameGraph {
            variant: job.profile.variant.clone(),
            traffic: job.profile.traffic.clone(),
            is_difference: job.changes.is_some(),
            title: job.title(),
            note: job.note(),
            file: job.file(),
            height: height(&small_svg),
            svg,
            small_svg,
        })
        .collect())
}

/// The height that an SVG document states, in px.
fn height(svg: &str) -> usize {
    let start = svg.find(" height=\"").map(|at| at + 9);
    let digits =
        start.map(|at| svg[at..].chars().take_while(char::is_ascii_digit).collect::<String>());
    digits.and_then(|d| d.parse().ok()).unwrap_or(400)
}
