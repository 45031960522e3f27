//! Flame graphs of the profiles, alone and against the baseline, and what the
//! change of a function's share can explain of the measured effect.

#[cfg_attr(not(feature = "flame"), path = "flame/left_out.rs")]
mod graph;
mod job;

use super::ReportError;
use super::build::Build;
use super::profile::{Profile, Profiles};
use fwdlab_claims::claim::{Cell, Claims, VerdictClaim};
use fwdlab_figures::text_table::{Side, TextTable};
use fwdlab_results::units;
pub(crate) use job::Job;

/// Most bytes that all flame graphs take inside the page.
const PAGE_BUDGET: usize = 1_200_000;
/// Frames narrower than this many per cent are left out of files.
const FINE: f64 = 0.02;
/// Rows of a table of changed functions.
const ROWS: usize = 12;
/// Changes below this share are not worth a line.
const LEAST_CHANGE: f64 = 0.002;

/// Everything that the report shows of the profiles.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Flames {
    /// The flame graphs.
    pub graphs: Vec<FlameGraph>,
    /// The functions whose share changed, per variant and traffic.
    pub changes: Vec<Changes>,
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
    /// `radix, inet`, `modular against radix, inet`.
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

/// The functions whose share of the samples changed most.
#[derive(Debug, Clone, PartialEq)]
pub struct Changes {
    /// Name of the variant.
    pub variant: String,
    /// Name of the baseline.
    pub baseline: String,
    /// Name of the traffic.
    pub traffic: String,
    /// The functions, the largest change of share first.
    pub rows: Vec<Change>,
    /// Device costs over which the shares are spread; `None` when unknown.
    pub costs: Costs,
    /// What the shares can and cannot say.
    pub note: String,
}

/// One function in two profiles.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Its name.
    pub function: String,
    /// Its share in the baseline, 0 to 1.
    pub before: f64,
    /// Its share in the variant.
    pub after: f64,
    /// What the change passes by chance in one of 20 pairs of such profiles: ns/frame where the
    /// device costs are known, else a share.
    pub noise: f64,
}

/// Median device costs of baseline and variant, in ns/frame.
type Costs = Option<(f64, f64)>;

impl Change {
    /// Amdahl's bound: the speed-up if the function cost nothing, as a
    /// ratio; `None` when it is all there is, or not there.
    pub fn bound(&self) -> Option<f64> {
        (self.before > 0.0 && self.before < 1.0).then(|| 1.0 / (1.0 - self.before))
    }
}

impl Changes {
    /// `modular against radix, inet: functions whose share changed most`.
    pub fn title(&self) -> String {
        format!(
            "{} against {}, {}: functions whose share changed most",
            self.variant, self.baseline, self.traffic
        )
    }

    /// The functions as a table: shares, what they make of the device cost,
    /// and Amdahl's bound.
    pub fn table(&self) -> TextTable {
        let names = [&self.baseline, &self.variant];
        let mut head = vec![("function".to_owned(), Side::Left)];
        head.extend(names.map(|n| (format!("share {n}"), Side::Right)));
        if self.costs.is_some() {
            head.extend(names.map(|n| (format!("ns/frame {n}"), Side::Right)));
            head.push(("change".to_owned(), Side::Right));
        }
        head.push(("noise".to_owned(), Side::Right));
        head.push(("bound if free".to_owned(), Side::Right));
        let columns = head.len();
        let mut table = TextTable::new(head);
        if self.rows.is_empty() {
            let mut cells = vec!["-".to_owned(); columns];
            cells[0] = "none beyond the noise".to_owned();
            table.row(cells);
        }
        for row in &self.rows {
            let mut cells =
                vec![row.function.clone(), units::share(row.before), units::share(row.after)];
            if let Some((old, new)) = self.costs {
                let (old, new) = (row.before * old, row.after * new);
                cells.extend([units::ns(old), units::ns(new), format!("{:+.1} ns", new - old)]);
            }
            cells.push(match self.costs {
                Some(_) => format!("±{:.1} ns", row.noise),
                None => format!("±{}", units::share(row.noise)),
            });
            cells.push(row.bound().map_or_else(
                || "-".to_owned(),
                |bound| units::signed_percent((bound - 1.0) * 100.0),
            ));
            table.row(cells);
        }
        table
    }
}

/// How a report begins to say that it has no flame graphs because of the build that made it.
pub const LEFT_OUT: &str = "flame graphs were left out of this build";

/// Names of the files that the flame graphs of all profiles go to.
pub fn files(claims: &Claims, profiles: &Profiles) -> Vec<String> {
    jobs(claims, profiles).iter().map(Job::file).collect()
}

/// Each profile, and each against its baseline's.
fn jobs<'a>(claims: &Claims, profiles: &'a Profiles) -> Vec<Job<'a>> {
    let alone = profiles.usable.iter().map(|profile| Job { profile, before: None });
    let pairs = claims.verdicts.iter().filter_map(|verdict| {
        let (before, profile) = pair(verdict, profiles)?;
        Some(Job { profile, before: Some(before) })
    });
    alone.chain(pairs).collect()
}

/// The profiles of a verdict's baseline and variant.
fn pair<'a>(verdict: &VerdictClaim, profiles: &'a Profiles) -> Option<(&'a Profile, &'a Profile)> {
    let find = |variant: &str| profiles.find(variant, &verdict.traffic);
    Some((find(&verdict.baseline)?, find(&verdict.variant)?))
}

/// Draws the flame graphs of all profiles, in a build that draws them.
///
/// # Errors
/// [`ReportError::Figure`] when a graph cannot be drawn.
pub fn flames(claims: &Claims, profiles: &Profiles, build: Build) -> Result<Flames, ReportError> {
    let mut changes = Vec::new();
    for verdict in &claims.verdicts {
        if let Some((before, profile)) = pair(verdict, profiles) {
            let times = costs(claims, verdict)
                .map(|(b, v)| (before.time_per_frame(b), profile.time_per_frame(v)));
            changes.push(compare(verdict, times, (before, profile)));
        }
    }
    let mut refusals = profiles.refusals.clone();
    let mut jobs = jobs(claims, profiles);
    if !build.draws_flames && !jobs.is_empty() {
        refusals.push(format!("{LEFT_OUT} (feature `flame`)"));
        jobs.clear();
    }
    Ok(Flames { graphs: draw(&jobs)?, changes, refusals })
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
            is_difference: job.before.is_some(),
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

/// The median device costs of both variants of a verdict.
fn costs(claims: &Claims, verdict: &VerdictClaim) -> Costs {
    let cost = |variant: &str| {
        let is_same = |c: &&Cell| c.variant == variant && c.traffic == verdict.traffic;
        claims.cells.iter().find(is_same)?.cost.map(|c| c.median)
    };
    Some((cost(&verdict.baseline)?, cost(&verdict.variant)?))
}

/// The 95 % bound of the difference of two shares, each counted in so many samples and then
/// multiplied by its scale (normal approximation of two binomial counts).
fn noise(shares: (f64, f64), samples: (u64, u64), scale: (f64, f64)) -> f64 {
    const Z_95: f64 = 1.96;
    let variance = |share: f64, samples: u64, scale: f64| {
        scale * scale * share * (1.0 - share) / samples.max(1) as f64
    };
    let both = variance(shares.0, samples.0, scale.0) + variance(shares.1, samples.1, scale.1);
    Z_95 * both.sqrt()
}

fn compare(verdict: &VerdictClaim, costs: Costs, (before, after): (&Profile, &Profile)) -> Changes {
    let (old, new) = (before.self_shares(), after.self_shares());
    let share = |shares: &std::collections::BTreeMap<&str, f64>, name: &str| {
        shares.get(name).copied().unwrap_or(0.0)
    };
    let samples = (before.busy_samples(), after.busy_samples());
    let scale = costs.unwrap_or((1.0, 1.0));
    let mut names: Vec<&str> = old.keys().chain(new.keys()).copied().collect();
    names.sort_unstable();
    names.dedup();
    let mut rows: Vec<Change> = names
        .into_iter()
        .map(|name| {
            let (before, after) = (share(&old, name), share(&new, name));
            let noise = noise((before, after), samples, scale);
            Change { function: name.to_owned(), before, after, noise }
        })
        .filter(|c| (c.after - c.before).abs() >= LEAST_CHANGE)
        .filter(|c| (c.after * scale.1 - c.before * scale.0).abs() >= c.noise)
        .collect();
    rows.sort_by(|a, b| {
        let size = |c: &Change| (c.after - c.before).abs();
        size(b).total_cmp(&size(a)).then_with(|| a.function.cmp(&b.function))
    });
    rows.truncate(ROWS);
    let measured = verdict.comparison().map_or_else(
        || "nothing was measured".to_owned(),
        |c| {
            let (low, high) = (c.interval95.low.percent(), c.interval95.high.percent());
            format!("the measured effect is within {}", units::percent_interval(low, high))
        },
    );
    Changes {
        variant: verdict.variant.clone(),
        baseline: verdict.baseline.clone(),
        traffic: verdict.traffic.clone(),
        rows,
        costs,
        note: format!(
            "Shares of the busy samples in the function itself; ns/frame: the same share of the \
             device's time per frame (median cost). Noise: what chance alone reaches in one of 20 \
             such pairs; changes below it are not shown. \"Bound if free\": the most that removing the function from {} could give \
             (Amdahl); beside it, {measured}.",
            verdict.baseline
        ),
    }
}
