//! Long series of a public archive (github.com/ocochard/netbenches; each file names its path there), whose steps are known.

use fwdlab_stats::change::{Change, Settings, changes};

/// Revisions and medians, in frames/s.
struct Series {
    revisions: Vec<u32>,
    medians: Vec<f64>,
    /// What the runs of a point say of its error, as the half of what is between minimum and maximum of five.
    noise: f64,
}

impl Series {
    fn of(text: &str) -> Self {
        let rows = text.lines().filter(|line| !line.starts_with('#'));
        let rows: Vec<Vec<f64>> = rows
            .map(|line| {
                line.split_whitespace().map(|word| word.parse().expect("a number")).collect()
            })
            .collect();
        let mut errors: Vec<f64> = rows
            .iter()
            .map(|row| 1.253 * (row[3] - row[2]) / row[1] / 2.326 / 5f64.sqrt())
            .collect();
        errors.sort_by(f64::total_cmp);
        Self {
            revisions: rows.iter().map(|row| row[0] as u32).collect(),
            medians: rows.iter().map(|row| row[1]).collect(),
            noise: errors[errors.len() / 2],
        }
    }

    fn changes(&self, from: usize, to: usize) -> Vec<Change> {
        changes(&self.medians[from..to], self.noise, &Settings::default())
    }

    /// The first revision of each new level, with the change in per cent.
    fn told(&self, from: usize, to: usize) -> Vec<(u32, f64)> {
        let found = self.changes(from, to);
        let percent = |own: &Change| (own.ratio * 1_000.0).round() / 10.0;
        found.iter().map(|own| (self.revisions[from + own.at], percent(own))).collect()
    }
}

const GX_2016: &str = include_str!("fixtures/archive/gx412t-forwarding-2016.data");
const FORWARDING_2016: &str = include_str!("fixtures/archive/c2558-forwarding-2016.data");
const IPFW_2016: &str = include_str!("fixtures/archive/c2558-ipfw-2016.data");
const PF_2016: &str = include_str!("fixtures/archive/c2558-pf-2016.data");
const FORWARDING_2017: &str = include_str!("fixtures/archive/c2558-forwarding-2017.data");

/// The table of docs/history.md.
#[test]
fn the_steps_of_the_archive_are_found() {
    let all: [(&str, &[(u32, f64)]); 5] = [
        (GX_2016, &[(304_096, -7.0), (309_257, 19.1)]),
        (FORWARDING_2016, &[(296_435, 4.4), (303_643, -11.7), (309_257, 26.5)]),
        (IPFW_2016, &[(303_643, -4.8), (309_257, 13.3)]),
        (PF_2016, &[(303_643, -3.8), (309_257, 9.2)]),
        (FORWARDING_2017, &[(312_205, -9.6), (315_217, -5.1), (323_980, 9.9), (327_017, -42.1)]),
    ];
    for (text, expected) in all {
        let own = Series::of(text);
        let told = own.told(0, own.medians.len());
        assert_eq!(told, expected, "{}", text.lines().next().unwrap_or_default());
        assert!(own.changes(0, own.medians.len()).iter().all(|own| own.p < 1e-4));
    }
}

/// However many older points there are: an alert that was raised stays.
#[test]
fn older_points_take_no_large_step_away() {
    let mut lost = Vec::new();
    for (text, place, end) in [
        (FORWARDING_2017, 323_980, 56),
        (FORWARDING_2017, 323_980, 62),
        (FORWARDING_2017, 327_017, 62),
        (GX_2016, 309_257, 55),
        (FORWARDING_2016, 303_643, 49),
        (FORWARDING_2016, 309_257, 54),
        (IPFW_2016, 309_257, 54),
        (PF_2016, 309_257, 54),
    ] {
        let own = Series::of(text);
        for start in 0..=25 {
            let told = own.told(start, end);
            if told.iter().all(|own| own.0 != place) {
                lost.push(format!("{place} from {start} to {end}: {told:?}"));
            }
        }
    }
    assert!(lost.is_empty(), "{lost:#?}");
}
