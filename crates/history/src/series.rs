//! Points in their order.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use fwdlab_netbenches::revision::Revision;

use crate::point::{Key, Point};

/// Characters of a day: `2026-11-01`.
const DAY: usize = 10;

/// A series: the points of one key, oldest first.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// What it is of.
    pub key: Key,
    /// Its points.
    pub points: Vec<Point>,
}

/// Gathers points into series, each in its order: by revision where all revisions have one, else by
/// date, else by name. Points without a figure are left out.
pub fn gather(points: impl IntoIterator<Item = Point>) -> Vec<Series> {
    let mut by_key: BTreeMap<Key, Vec<Point>> = BTreeMap::new();
    for point in points.into_iter().filter(Point::is_sound) {
        by_key.entry(point.series.clone()).or_default().push(point);
    }
    let series = by_key.into_iter().map(|(key, mut points)| {
        sort(&mut points);
        Series { key, points }
    });
    series.collect()
}

/// Puts points into their order, as [`gather`] does.
pub(crate) fn sort(points: &mut Vec<Point>) {
    let revisions: Vec<Option<Revision>> = points.iter().map(Point::read_revision).collect();
    let by_revision = have_order(&revisions);
    let by_date = have_days(points);
    let mut keyed: Vec<(Option<Revision>, Point)> =
        revisions.into_iter().zip(std::mem::take(points)).collect();
    keyed.sort_by(|(a, one), (b, other)| {
        let number = match (a, b) {
            (Some(a), Some(b)) if by_revision => a.order(b).unwrap_or(Ordering::Equal),
            _ => Ordering::Equal,
        };
        let date = if by_date || by_revision { one.date.cmp(&other.date) } else { Ordering::Equal };
        number
            .then(date)
            .then_with(|| one.revision.cmp(&other.revision))
            .then_with(|| one.source.cmp(&other.source))
    });
    points.extend(keyed.into_iter().map(|(_, point)| point));
}

/// Whether revisions have an order, each with the next.
fn have_order(revisions: &[Option<Revision>]) -> bool {
    revisions.windows(2).all(|pair| match pair {
        [Some(a), Some(b)] => a.order(b).is_some(),
        _ => false,
    })
}

fn have_days(points: &[Point]) -> bool {
    points.iter().all(|point| point.date.is_some())
}

impl Series {
    /// Whether its points have an order, by their revisions or their days: by names alone none is before another.
    pub fn is_ordered(&self) -> bool {
        let revisions: Vec<_> = self.points.iter().map(Point::read_revision).collect();
        have_order(&revisions) || have_days(&self.points)
    }

    /// The medians of its points.
    pub fn medians(&self) -> Vec<f64> {
        self.points.iter().map(Point::median).collect()
    }

    /// Whether it is of one revision, measured again and again.
    pub fn is_one_revision(&self) -> bool {
        self.points.len() > 1
            && self.points.windows(2).all(|two| two[0].revision == two[1].revision)
    }

    /// The day of a point whose revision has other points here as well: what tells it from them.
    pub(crate) fn day_of<'a>(&self, point: &'a Point) -> Option<&'a str> {
        let of_it = self.points.iter().filter(|own| own.revision == point.revision);
        point.date.as_deref().filter(|_| of_it.count() > 1)
    }

    /// What its points are called, each otherwise than the others: by its revision; where that has several points by
    /// the day as well, or by the time, or else by which of them it is.
    pub(crate) fn labels(&self) -> Vec<String> {
        let revision = |point: &Point| point.revision.clone();
        let mut labels: Vec<String> = self.points.iter().map(revision).collect();
        for length in [DAY, usize::MAX] {
            let own = shared(&labels).into_iter().zip(&self.points);
            for (label, (is_shared, point)) in labels.iter_mut().zip(own) {
                if let Some(date) = point.date.as_deref().filter(|_| is_shared) {
                    let when: String = date.chars().take(length).collect();
                    *label = format!("{} {when}", point.revision);
                }
            }
        }
        let is_shared = shared(&labels);
        let mut counts: HashMap<String, usize> = HashMap::new();
        for (label, _) in labels.iter_mut().zip(is_shared).filter(|(_, is_shared)| *is_shared) {
            let nth = counts.entry(label.clone()).or_default();
            *nth += 1;
            *label = format!("{label} #{nth}");
        }
        labels
    }

    /// Where a point of a revision stands, and of a day where one is given and it has such a point.
    pub(crate) fn place(&self, revision: &str, day: Option<&str>) -> Option<usize> {
        let is_it = |own: &Point| own.revision == revision;
        let of_day = |own: &Point| is_it(own) && own.date.as_deref() == day;
        let of_day = day.and_then(|_| self.points.iter().position(of_day));
        of_day.or_else(|| self.points.iter().position(is_it))
    }

    /// 1 where more is better, else -1.
    pub(crate) fn gain(&self) -> f64 {
        if self.key.is_lower_better() { -1.0 } else { 1.0 }
    }

    /// What the runs of a point say of its error, as a ratio: the median over the points.
    pub fn noise(&self) -> f64 {
        let own: Vec<f64> =
            self.points.iter().filter_map(Point::noise).filter(|n| n.is_finite()).collect();
        if own.is_empty() { 0.0 } else { fwdlab_stats::median(&own) }
    }
}

/// Which of some names stand there more than once.
fn shared(names: &[String]) -> Vec<bool> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    names.iter().for_each(|name| *counts.entry(name).or_default() += 1);
    names.iter().map(|name| counts[name.as_str()] > 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(revision: &str, date: Option<&str>) -> Point {
        Point {
            revision: revision.into(),
            date: date.map(str::to_owned),
            values: vec![1.0],
            ..Point::default()
        }
    }

    fn order(points: Vec<Point>) -> Vec<String> {
        gather(points).remove(0).points.into_iter().map(|p| p.revision).collect()
    }

    #[test]
    fn revisions_go_before_dates_and_dates_before_names() {
        let late = Some("2020-01-01T00:00:00Z");
        let early = Some("2019-01-01T00:00:00Z");
        assert_eq!(
            order(vec![point("n255412", early), point("r99999", late), point("r312205", early)]),
            ["r99999", "r312205", "n255412"]
        );
        assert_eq!(
            order(vec![point("0ec6be0", late), point("9ab12cd", early)]),
            ["9ab12cd", "0ec6be0"]
        );
        assert_eq!(order(vec![point("b", None), point("a", late)]), ["a", "b"]);
    }

    #[test]
    fn points_without_a_figure_are_left_out() {
        let empty = Point { revision: "r312206".into(), ..Point::default() };
        assert_eq!(order(vec![point("r312205", None), empty]), ["r312205"]);
    }

    #[test]
    fn no_two_points_of_a_series_share_a_label() {
        let labels = |points: &[(&str, Option<&str>)]| {
            let points = points.iter().map(|(revision, date)| point(revision, *date)).collect();
            Series { key: Key::default(), points }.labels()
        };
        let [one, noon, two] =
            ["2026-11-01T02:00:00Z", "2026-11-01T12:00:00Z", "2026-11-02T02:00:00Z"].map(Some);
        assert_eq!(labels(&[("r1", one), ("r2", one)]), ["r1", "r2"]);
        assert_eq!(
            labels(&[("r1", one), ("r1", two), ("r2", two)]),
            ["r1 2026-11-01", "r1 2026-11-02", "r2"]
        );
        assert_eq!(
            labels(&[("r1", one), ("r1", noon), ("r1", two)]),
            ["r1 2026-11-01T02:00:00Z", "r1 2026-11-01T12:00:00Z", "r1 2026-11-02"]
        );
        assert_eq!(
            labels(&[("r1", one), ("r1", one), ("r1", None), ("r1", None)]),
            ["r1 2026-11-01T02:00:00Z #1", "r1 2026-11-01T02:00:00Z #2", "r1 #1", "r1 #2"]
        );
    }
}
