//! What an experiment varies in three steps or more, found from what it set and sent.

use std::collections::BTreeMap;

use fwdlab_claims::claim::Claims;
use fwdlab_claims::setting::TrafficSetting;
use fwdlab_figures::{Chart, Curve, Curves, Panel, Series, Spot, TrafficSeries};

/// From so many values on a curve says more than bars.
const LEAST: usize = 3;

/// The curves of a chart; `None` where nothing is varied so often.
pub fn curves(claims: &Claims, chart: &Chart) -> Option<Curves> {
    let (axis, panels) = over_traffics(claims, chart).or_else(|| over_variants(claims, chart))?;
    Some(Curves {
        title: claims.title.clone(),
        metric: chart.metric,
        tick: chart.tick,
        axis,
        panels,
    })
}

/// A property of traffics by which they may differ.
type Property = (&'static str, fn(&TrafficSetting) -> Option<f64>);

/// Traffics that differ by one property only.
fn over_traffics(claims: &Claims, chart: &Chart) -> Option<(String, Vec<Panel>)> {
    const PROPERTIES: [Property; 2] = [
        ("frame length in bytes", |traffic| Some(f64::from(traffic.frame_bytes))),
        ("flows", |traffic| Some(traffic.flows? as f64)),
    ];
    PROPERTIES.into_iter().enumerate().find_map(|(k, (axis, of))| {
        let (_, rest) = PROPERTIES[1 - k];
        let mut alike: BTreeMap<String, Vec<&TrafficSetting>> = BTreeMap::new();
        for traffic in &claims.setting.traffics {
            let key = format!("{}, {:?}, {}", traffic.family.title(), rest(traffic), traffic.load);
            alike.entry(key).or_default().push(traffic);
        }
        let panels = alike.into_values().filter_map(|traffics| {
            let mut values: Vec<(f64, &str)> = Vec::new();
            for traffic in &traffics {
                values.extend(of(traffic).map(|value| (value, traffic.name.as_str())));
            }
            let label = traffics.first()?.family.title().to_owned();
            is_axis(values.iter().map(|(value, _)| *value))
                .then(|| Panel { label, curves: by_variant(chart, &values) })
        });
        let panels: Vec<Panel> = panels.filter(|panel| !panel.curves.is_empty()).collect();
        (!panels.is_empty()).then(|| (axis.to_owned(), panels))
    })
}

/// A curve for each variant through traffics with these values.
fn by_variant(chart: &Chart, values: &[(f64, &str)]) -> Vec<Curve> {
    let curve = |(variant, colour): (&str, usize)| {
        let spots = values.iter().filter_map(|(value, traffic)| {
            let one = chart.traffics.iter().find(|one| one.traffic == *traffic)?;
            spot(*value, traffic, one.series.iter().find(|one| one.variant == variant)?)
        });
        finished(variant, colour, spots.collect())
    };
    chart.variants().into_iter().filter_map(curve).collect()
}

/// Variants that differ by one control word only, whose values are numbers: a curve for each traffic.
fn over_variants(claims: &Claims, chart: &Chart) -> Option<(String, Vec<Panel>)> {
    let variants = &claims.setting.variants;
    let (first, others) = variants.split_first()?;
    let differs = |word: &&String| others.iter().any(|v| v.set.get(*word) != first.set.get(*word));
    let mut words = first.set.keys().filter(differs);
    let (Some(word), None) = (words.next(), words.next()) else { return None };
    if others.iter().any(|variant| variant.set.len() != first.set.len()) {
        return None;
    }
    let values: Option<Vec<(f64, &str)>> = variants
        .iter()
        .map(|variant| Some((variant.set.get(word)?.parse().ok()?, variant.name.as_str())))
        .collect();
    let values = values?;
    if !is_axis(values.iter().map(|(value, _)| *value)) {
        return None;
    }
    let curve = |(k, one): (usize, &TrafficSeries)| {
        let spots = values.iter().filter_map(|(value, variant)| {
            let series = one.series.iter().find(|one| one.variant == *variant)?;
            spot(*value, &one.traffic, series)
        });
        finished(&one.traffic, k % 7, spots.collect())
    };
    let curves: Vec<Curve> = chart.traffics.iter().enumerate().filter_map(curve).collect();
    let panel = Panel { label: String::new(), curves };
    (!panel.curves.is_empty()).then(|| (word.clone(), vec![panel]))
}

fn spot(at: f64, traffic: &str, series: &Series) -> Option<Spot> {
    let (traffic, variant) = (traffic.to_owned(), series.variant.clone());
    Some(Spot { at, traffic, variant, summary: series.summary? })
}

fn finished(name: &str, colour: usize, mut spots: Vec<Spot>) -> Option<Curve> {
    spots.sort_by(|a, b| a.at.total_cmp(&b.at));
    (spots.len() >= 2).then(|| Curve { name: name.to_owned(), colour, spots })
}

/// Whether some values make an axis: three that differ, all of them with a logarithm.
fn is_axis(values: impl Iterator<Item = f64>) -> bool {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values.len() >= LEAST && values.iter().all(|value| value.is_finite() && *value > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_values_with_a_logarithm_make_an_axis() {
        assert!(is_axis([64.0, 512.0, 1518.0].into_iter()));
        assert!(!is_axis([64.0, 512.0, 64.0].into_iter()));
        assert!(!is_axis([0.0, 1.0, 2.0].into_iter()));
        assert!(!is_axis([1.0, 2.0, f64::NAN].into_iter()));
    }
}
