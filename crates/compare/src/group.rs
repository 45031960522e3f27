//! Series to groups: the same metric and name, the baseline first.

use std::borrow::Cow;

use crate::{CompareError, LeftOut, Options};
use fwdlab_claims::runs::Series;
use fwdlab_guard::words::one_line;

/// Series that can be compared, the baseline first.
pub(crate) type Arranged = Vec<Series>;

/// Arranges all series; groups keep the order in which they first appear. What has no other beside it is
/// left out.
pub(crate) fn arrange(
    series: Vec<Series>,
    options: &Options,
) -> Result<(Vec<Arranged>, Vec<LeftOut>), CompareError> {
    let series = of_metric(series, options)?;
    check_baseline(&series, options)?;
    let mut groups: Vec<Arranged> = Vec::new();
    for own in series {
        match groups.iter_mut().find(|group| group[0].is_comparable(&own)) {
            Some(group) => group.push(own),
            None => groups.push(vec![own]),
        }
    }
    for group in &mut groups {
        name_apart(group);
        group.iter_mut().for_each(on_one_line);
        if let Some(baseline) = &options.baseline
            && let Some(at) = group.iter().position(|own| own.is_called(baseline))
        {
            group[..=at].rotate_right(1);
        }
    }
    let (groups, alone): (Vec<Arranged>, Vec<Arranged>) =
        groups.into_iter().partition(|group| group.len() > 1);
    if groups.is_empty() {
        if let [only] = &alone[..] {
            return Err(CompareError::Alone { found: format!("only {}", only[0].describe()) });
        }
        let each: Vec<String> = alone.iter().map(|group| kind(&group[0])).collect();
        return Err(CompareError::Unlike { found: each.join(", ") });
    }
    // The first source is of before the change; what is there alone, nobody knows the after of.
    let before = options.sources.first().filter(|_| options.sources.len() > 1);
    let before = before.map(|path| path.to_string_lossy());
    let left_out = |group: Arranged| LeftOut {
        what: group[0].describe(),
        is_lost: before.as_ref().is_some_and(|before| *before == group[0].source),
        only_in: group[0].source.clone(),
    };
    Ok((groups, alone.into_iter().map(left_out).collect()))
}

/// A series with what tells it from others: `a` in a.pps: forwarding rate in frames/s.
fn kind(own: &Series) -> String {
    let metric = if own.metric.is_empty() { "figures" } else { &own.metric };
    let unit = match own.unit.as_str() {
        "" => " without a unit".to_owned(),
        unit if unit == own.metric => String::new(),
        unit => format!(" in {unit}"),
    };
    format!("{}: {metric}{unit}", own.describe())
}

/// Leaves the series of the wanted metric; without a wish all are kept.
fn of_metric(mut series: Vec<Series>, options: &Options) -> Result<Vec<Series>, CompareError> {
    let Some(wanted) = &options.metric else { return Ok(series) };
    let mut known: Vec<String> = series
        .iter()
        .flat_map(|own| [own.metric.clone(), own.unit.clone()])
        .filter(|name| !name.is_empty())
        .collect();
    known.sort();
    known.dedup();
    series.retain(|own| {
        own.metric == *wanted || own.unit == *wanted || own.metric.ends_with(&format!(" {wanted}"))
    });
    if series.is_empty() {
        return Err(CompareError::Unknown { what: "metric", name: wanted.clone(), known });
    }
    Ok(series)
}

fn check_baseline(series: &[Series], options: &Options) -> Result<(), CompareError> {
    let Some(name) = &options.baseline else { return Ok(()) };
    if series.iter().any(|own| own.is_called(name)) {
        return Ok(());
    }
    let mut known: Vec<String> = series.iter().map(|own| own.name.clone()).collect();
    known.dedup();
    Err(CompareError::Unknown { what: "baseline", name: name.clone(), known })
}

/// A line end in the name of a file or variant would begin a line of the report that is nobody's.
fn on_one_line(series: &mut Series) {
    for name in [&mut series.name, &mut series.group, &mut series.metric] {
        if let Cow::Owned(shown) = one_line(name) {
            *name = shown;
        }
    }
}

/// Gives series of the same name the name of their source too.
fn name_apart(group: &mut Arranged) {
    let names: Vec<String> = group.iter().map(|own| own.name.clone()).collect();
    for (i, own) in group.iter_mut().enumerate() {
        if names.iter().enumerate().any(|(k, name)| k != i && *name == own.name) {
            own.name = format!("{}:{}", own.source, own.name);
        }
    }
}
