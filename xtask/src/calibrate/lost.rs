//! Blocks that lost a trial, and runs without blocks of which some FAILED: at random, or because of what they
//! would have shown.

use std::fmt::Write;

use fwdlab_stats::lost::{self, Lost, Side};
use fwdlab_stats::sequential::{self, Decision, Rule};
use fwdlab_stats::unpaired::{self, Pair};
use fwdlab_stats::{Comparison, Confidence, Direction, paired};

use super::Claim;
use super::methods::{MARGIN, Said, said};
use super::noise::{Noise, Random};
use super::parallel::{SEED, Size, in_parallel};

const DIRECTION: Direction = Direction::HigherIsBetter;

/// Shares of the blocks that are lost.
const SHARES: [f64; 3] = [0.05, 0.1, 0.2];
/// The variant's gain: none, the margin (slower, which a loss of slow runs hides), and one to be found.
const EFFECTS: [f64; 3] = [0.0, -MARGIN, 0.02];
const NOISES: [Noise; 2] = [Noise::Normal, Noise::Stray];

/// A way to a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// So many blocks.
    Blocks(usize),
    /// At most 40 blocks.
    UntilDecided,
    /// So many runs of each, without blocks.
    Runs(usize),
    /// So many blocks, as if those that lost a trial had never been: what happened before they counted.
    LeftOut(usize),
}

const WAYS: [Way; 6] = [
    Way::Blocks(8),
    Way::Blocks(20),
    Way::Blocks(40),
    Way::UntilDecided,
    Way::Runs(20),
    Way::LeftOut(40),
];

impl Way {
    fn name(self) -> String {
        match self {
            Self::Blocks(count) => format!("{count} blocks"),
            Self::UntilDecided => "until decided".to_owned(),
            Self::Runs(count) => format!("`compare`, {count} + {count} runs"),
            Self::LeftOut(count) => format!("{count} blocks, lost ones left out"),
        }
    }

    /// Whether anything is promised of it.
    fn is_held(self) -> bool {
        !matches!(self, Self::LeftOut(_))
    }

    /// How many of so many campaigns: the looks of a sequence take their time.
    fn of(self, campaigns: u64) -> u64 {
        if self == Self::UntilDecided { campaigns / 4 } else { campaigns }
    }

    fn most(self) -> usize {
        match self {
            Self::Blocks(count) | Self::Runs(count) | Self::LeftOut(count) => count,
            Self::UntilDecided => Rule::default().most_blocks,
        }
    }

    /// The comparison, and how many blocks were looked at.
    fn compare(self, rows: &[Drawn]) -> Option<(Comparison, usize)> {
        let compared = match self {
            Self::Blocks(_) => {
                let (blocks, lost) = kept(rows);
                let own = paired::compare(&blocks, DIRECTION).ok()?;
                lost::beside(own, &blocks, &lost, DIRECTION).ok()
            }
            Self::Runs(_) => {
                let [baseline, variant] = [0, 1].map(|side| side_of(rows, side));
                let failed = [&baseline, &variant].map(|kept| rows.len() - kept.len());
                let (baseline, variant) = (&baseline[..], &variant[..]);
                let pair = Pair { baseline, variant, direction: DIRECTION, failed };
                unpaired::compare_pair(&pair, Confidence::USUAL).ok().map(|own| own.comparison)
            }
            Self::LeftOut(_) => paired::compare(&kept(rows).0, DIRECTION).ok(),
            Self::UntilDecided => {
                let rule = Rule { margin: MARGIN, ..Rule::default() };
                let is_settled = |count: &usize| {
                    let (blocks, lost) = kept(&rows[..*count]);
                    let state = sequential::look_beside(&blocks, &lost, DIRECTION, &rule);
                    state.is_ok_and(|state| state.decision != Decision::Continue)
                };
                // what was lost settles nothing earlier than whole blocks do
                let least = first_settled(rows, &rule)?;
                let count = (least..rows.len()).find(is_settled).unwrap_or(rows.len());
                let (blocks, lost) = kept(&rows[..count]);
                let own = sequential::compare_beside(&blocks, &lost, DIRECTION, &rule).ok()?;
                return Some((own, count));
            }
        };
        Some((compared?, rows.len()))
    }
}

/// How many of the blocks run until whole ones are settled.
fn first_settled(rows: &[Drawn], rule: &Rule) -> Option<usize> {
    let whole = sequential::first_decision_at(&kept(rows).0, DIRECTION, rule).ok()?.blocks;
    let is_whole = |row: &Drawn| row.failed == [false; 2];
    let mut places = rows.iter().enumerate().filter(|(_, row)| is_whole(row));
    places.nth(whole.saturating_sub(1)).map(|(at, _)| at + 1)
}

/// Why trials FAIL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cause {
    /// No reason: either side's, as it comes.
    Chance,
    /// The slowest runs of either side.
    Slow,
    /// The slowest runs of the variant.
    VariantSlow,
    /// The machine, for both sides, in the slowest blocks.
    Machine,
    /// The variant is 58 % slower in these runs, and each of them FAILS.
    RareState,
}

const CAUSES: [Cause; 5] =
    [Cause::Chance, Cause::Slow, Cause::VariantSlow, Cause::Machine, Cause::RareState];

impl Cause {
    fn name(self) -> &'static str {
        match self {
            Self::Chance => "any",
            Self::Slow => "the slowest of either side",
            Self::VariantSlow => "the slowest of the variant",
            Self::Machine => "both sides in the slowest blocks",
            Self::RareState => "the variant's, each 58 % slower than the others",
        }
    }

    /// Which of the trials FAIL, by side, from their log speeds.
    fn failed(self, speeds: &[[f64; 2]], share: f64, random: &mut Random) -> Vec<[bool; 2]> {
        let mut failed = vec![[false; 2]; speeds.len()];
        let mut fail = |sides: &[usize], share: f64, order: &dyn Fn(usize) -> f64| {
            let mut slowest: Vec<usize> = (0..speeds.len()).collect();
            slowest.sort_by(|a, b| order(*a).total_cmp(&order(*b)));
            // as many as the share says on average
            let count = (share * speeds.len() as f64 + random.unit()) as usize;
            for at in &slowest[..count] {
                sides.iter().for_each(|side| failed[*at][*side] = true);
            }
        };
        match self {
            Self::Slow => {
                fail(&[0], share / 2.0, &|at| speeds[at][0]);
                fail(&[1], share / 2.0, &|at| speeds[at][1]);
            }
            Self::VariantSlow => fail(&[1], share, &|at| speeds[at][1]),
            Self::Machine => fail(&[0, 1], share, &|at| speeds[at][0] + speeds[at][1]),
            Self::Chance | Self::RareState => {
                for own in &mut failed {
                    let is_lost = random.unit() < share;
                    let side = usize::from(self == Self::RareState || random.unit() < 0.5);
                    own[side] = is_lost;
                }
            }
        }
        failed
    }

    /// Whether the variant is as fast as the baseline where nothing else differs.
    fn is_equal(self) -> bool {
        self != Self::RareState
    }
}

/// A block: its figures, and which trials FAILED.
struct Drawn {
    block: paired::Block,
    failed: [bool; 2],
}

/// The whole blocks, and those that lost the trial of one side.
fn kept(rows: &[Drawn]) -> (Vec<paired::Block>, Vec<Lost>) {
    let (mut blocks, mut lost) = (Vec::new(), Vec::new());
    for row in rows {
        let after = blocks.len();
        match row.failed {
            [false, false] => blocks.push(row.block),
            [true, false] => lost.push(Lost { after, side: Side::Baseline }),
            [false, true] => lost.push(Lost { after, side: Side::Variant }),
            [true, true] => {}
        }
    }
    (blocks, lost)
}

/// The figures of the runs of one side that did not fail.
fn side_of(rows: &[Drawn], side: usize) -> Vec<f64> {
    let kept = rows.iter().filter(|row| !row.failed[side]);
    kept.map(|row| [row.block.baseline, row.block.variant][side]).collect()
}

/// One noise, cause and share of blocks lost.
pub struct Row {
    noise: Noise,
    cause: Cause,
    share: f64,
    /// By way; `None` where nothing is promised and only that is looked at.
    cells: [Option<Cell>; WAYS.len()],
}

#[derive(Debug, Clone, Copy)]
struct Cell {
    /// "Faster" or "slower" where nothing differs.
    winners: f64,
    /// "Equivalent" where nothing differs.
    equivalents: f64,
    /// "Equivalent" at the margin.
    at_margin: f64,
    /// A difference found of 2 %; `None` as above.
    found: Option<f64>,
    /// Campaigns that count: of a rare state, those in which it showed.
    campaigns: u64,
}

impl Row {
    /// What it promises.
    pub fn claims(&self) -> Vec<(String, Claim)> {
        let Self { noise, cause, share, .. } = *self;
        let place =
            format!("{} noise, {:.0} % lost, {}", noise.name(), share * 100.0, cause.name());
        let ways = WAYS.into_iter().zip(self.cells).filter(|(way, _)| way.is_held());
        let claims = ways.filter_map(|(way, cell)| Some((way, cell?))).flat_map(|(way, cell)| {
            let campaigns = cell.campaigns;
            let claim = |what: &str, rate: f64| {
                let name = format!("{what}, {}, {place}", way.name());
                (name, Claim { rate, most: 0.05, campaigns })
            };
            let equivalents = if cause.is_equal() {
                cell.at_margin
            } else {
                cell.equivalents.max(cell.at_margin)
            };
            [claim("false winners", cell.winners), claim("false \"equivalent\"", equivalents)]
        });
        claims.collect()
    }
}

/// All of them.
pub fn simulate(size: Size) -> Vec<Row> {
    let shares = CAUSES.into_iter().flat_map(|cause| SHARES.map(|share| (cause, share)));
    let all = NOISES.into_iter().flat_map(|noise| shares.clone().map(move |own| (noise, own)));
    // What the largest and the smallest share do not show, the middle one does not either.
    let is_wanted = |share: f64| size.is_whole || share != SHARES[1];
    all.enumerate()
        .filter(|(_, (_, (_, share)))| is_wanted(*share))
        .map(|(place, (noise, (cause, share)))| row(place as u64, noise, (cause, share), size))
        .collect()
}

fn row(place: u64, noise: Noise, (cause, share): (Cause, f64), size: Size) -> Row {
    let said_of = |way: Way, column: u64, effect: f64| {
        let seed = SEED ^ (place << 40) ^ (column << 20) ^ effect.to_bits().rotate_left(9) ^ 0x1057;
        let [winners, equivalents, counted] = in_parallel(way.of(size.trust), |campaign| {
            let random = &mut Random::of(seed, campaign);
            let rows = drawn(noise, (cause, share, effect), way.most(), random);
            let compared = way.compare(&rows);
            let looked_at = compared.as_ref().map_or(rows.len(), |(_, count)| *count);
            let said = compared.map_or(Said::Nothing, |(own, _)| said(&own));
            let has_shown = rows[..looked_at].iter().any(|row| row.failed != [false; 2]);
            let counts = cause.is_equal() || has_shown;
            let is = |word: Said| f64::from(counts && said == word);
            [is(Said::Difference), is(Said::Equivalent), f64::from(counts)]
        });
        [winners / counted.max(1.0), equivalents / counted.max(1.0), counted]
    };
    let cell = |(column, way): (u64, Way)| {
        let [winners, equivalents, counted] = said_of(way, column, EFFECTS[0]);
        let [_, at_margin, _] = said_of(way, column, EFFECTS[1]);
        let found = size.is_whole.then(|| said_of(way, column, EFFECTS[2])[0]);
        Cell { winners, equivalents, at_margin, found, campaigns: counted as u64 }
    };
    let cell =
        |(column, way): (u64, Way)| (way.is_held() || size.is_whole).then(|| cell((column, way)));
    let mut columns = (0..).zip(WAYS).map(cell);
    let cells = WAYS.map(|_| columns.next().expect("invariant: a cell for each way"));
    Row { noise, cause, share, cells }
}

fn drawn(
    noise: Noise,
    (cause, share, effect): (Cause, f64, f64),
    blocks: usize,
    random: &mut Random,
) -> Vec<Drawn> {
    let stream = noise.stream(random, 2 * blocks);
    let speeds: Vec<[f64; 2]> =
        stream.chunks(2).map(|own| [own[0], own[1] + effect.ln_1p()]).collect();
    let failed = cause.failed(&speeds, share, random);
    let block = |(speeds, failed): (&[f64; 2], [bool; 2])| {
        let [b, v] = speeds.map(|own| 1e6 * own.exp());
        Drawn { block: paired::Block::new(b, v), failed }
    };
    speeds.iter().zip(failed).map(block).collect()
}

/// The table.
pub fn write(rows: &[Row], text: &mut String) {
    text.push_str(
        "\n## Blocks that lost a trial\n\n\
         So many of the blocks lose a trial that FAILED: any, the slowest (those that ran into their time limit,\n\
         say), or all that a rare state of the variant would have shown. A cell: **false winners** where nothing\n\
         differs, **false \"equivalent\"** where the variant is 1 % slower, then what is right: \"equivalent\" where\n\
         nothing differs, and a gain of 2 % found. Where a rare state FAILS every \"equivalent\" is false; the campaigns\n\
         count in which it showed. At most 5 % are promised. Runs without blocks lose as many, of either side. The last column leaves lost blocks out, as if nothing had been there;\n\
         campaigns until decided are a quarter as many.\n\n\
         | noise; lost; which |",
    );
    for way in WAYS {
        let _ = write!(text, " {} |", way.name());
    }
    let _ = write!(text, "\n|---|{}\n", "---:|".repeat(WAYS.len()));
    for row in rows {
        let share = row.share * 100.0;
        let _ = write!(text, "| {}; {share:.0} %; {} |", row.noise.name(), row.cause.name());
        for cell in row.cells {
            let Some(cell) = cell else {
                text.push_str(" - |");
                continue;
            };
            let own = [cell.winners, cell.at_margin, cell.equivalents];
            let [winners, at_margin, equivalents] = own.map(|own| own * 100.0);
            let found = cell.found.map_or("-".to_owned(), |own| format!("{:.0}", own * 100.0));
            let _ = write!(text, " {winners:.1}, {at_margin:.1}; {equivalents:.0}, {found} |");
        }
        text.push('\n');
    }
}
