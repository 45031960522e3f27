//! What an experiment varies in three steps or more, found from what it set and sent.

use fwdlab_claims::claim::Claims;
use fwdlab_claims::setting::TrafficSetting;
use fwdlab_figures::{Chart, Curve, Curves, Panel, Series, Spot, TrafficSeries};
use fwdlab_results::units;

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
struct Property {
    /// What its axis is called.
    axis: &'static str,
    of: fn(&TrafficSetting) -> Option<f64>,
    /// A value of it in the label of a panel, where another property is the axis.
    label: fn(f64) -> String,
}

const PROPERTIES: [Property; 2] = [
    Property {
        axis: "frame length in bytes",
        of: |traffic| Some(f64::from(traffic.frame_bytes)),
        label: |bytes| format!("{bytes} bytes"),
    },
    Property {
        axis: "flows",
        of: |traffic| Some(traffic.flows? as f64),
        label: |flows| units::plural(flows as u64, "flow"),
    },
];

/// Traffics that have all in common but the property of the axis.
struct Alike<'a> {
    /// The value of the other property.
    rest: Option<f64>,
    traffics: Vec<&'a TrafficSetting>,
}

impl<'a> Alike<'a> {
    /// Groups of an experiment's traffics: its families in their order, then by value, then by load.
    fn groups(traffics: &'a [TrafficSetting], rest: &Property) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for traffic in traffics {
            let own = (rest.of)(traffic);
            let is_like = |g: &&mut Self| {
                let first = g.traffics[0];
                (first.family, g.rest, &first.load) == (traffic.family, own, &traffic.load)
            };
            match groups.iter_mut().find(is_like) {
                Some(group) => group.traffics.push(traffic),
                None => groups.push(Self { rest: own, traffics: vec![traffic] }),
            }
        }
        let place = |g: &Self| traffics.iter().position(|t| t.family == g.traffics[0].family);
        let number = |value: Option<f64>| value.unwrap_or(f64::INFINITY);
        groups.sort_by(|a, b| {
            let by_rest = number(a.rest).total_cmp(&number(b.rest));
            let [one, two] = [a, b].map(|g| number(g.traffics[0].load_pps));
            place(a).cmp(&place(b)).then(by_rest).then(one.total_cmp(&two))
        });
        groups
    }

    /// What tells this panel from the others: `IPv4, 2000 flows`.
    fn label(&self, among: &[Self], rest: &Property) -> String {
        let first = self.traffics[0];
        let mut label = first.family.title().to_owned();
        if let (Some(own), true) = (self.rest, among.iter().any(|g| g.rest != self.rest)) {
            label += &format!(", {}", (rest.label)(own));
        }
        if among.iter().any(|g| g.traffics[0].load != first.load) {
            label += &format!(", load {}", first.load);
        }
        label
    }
}

/// Traffics that differ by one property only.
fn over_traffics(claims: &Claims, chart: &Chart) -> Option<(String, Vec<Panel>)> {
    PROPERTIES.iter().enumerate().find_map(|(k, property)| {
        let rest = &PROPERTIES[1 - k];
        let mut groups = Alike::groups(&claims.setting.traffics, rest);
        groups.retain(|g| is_axis(g.traffics.iter().filter_map(|own| (property.of)(own))));
        let panels = groups.iter().map(|group| {
            let value = |own: &&'_ TrafficSetting| Some(((property.of)(own)?, own.name.clone()));
            let values: Vec<(f64, String)> = group.traffics.iter().filter_map(value).collect();
            Panel { label: group.label(&groups, rest), curves: by_variant(chart, &values) }
        });
        let panels: Vec<Panel> = panels.filter(|panel| !panel.curves.is_empty()).collect();
        (!panels.is_empty()).then(|| (property.axis.to_owned(), panels))
    })
}

/// A curve for each variant through traffics with these values.
fn by_variant(chart: &Chart, values: &[(f64, String)]) -> Vec<Curve> {
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

/// Whether some values make an axis: three that differ, all of them with a logarithm but for a 0, which
/// stands beside it.
fn is_axis(values: impl Iterator<Item = f64>) -> bool {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    values.len() >= LEAST && values.iter().all(|value| value.is_finite() && *value >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fwdlab_results::Family;

    #[test]
    fn three_values_with_a_logarithm_make_an_axis() {
        assert!(is_axis([64.0, 512.0, 1518.0].into_iter()));
        assert!(!is_axis([64.0, 512.0, 64.0].into_iter()));
        assert!(is_axis([0.0, 1000.0, 900_000.0].into_iter()));
        assert!(!is_axis([-1.0, 1.0, 2.0].into_iter()));
        assert!(!is_axis([1.0, 2.0, f64::NAN].into_iter()));
    }

    fn traffic(
        name: &str,
        (bytes, flows): (u16, u64),
        load: (&str, Option<f64>),
    ) -> TrafficSetting {
        TrafficSetting {
            order: None,
            is_both_ways: false,
            name: name.to_owned(),
            family: if name.starts_with('6') { Family::Inet6 } else { Family::Inet },
            frame_bytes: bytes,
            flows: Some(flows),
            load: load.0.to_owned(),
            load_pps: load.1,
            gigabit_line_rate_pps: 1.0,
        }
    }

    fn labels(traffics: &[TrafficSetting]) -> Vec<String> {
        let groups = Alike::groups(traffics, &PROPERTIES[1]);
        groups.iter().map(|g| g.label(&groups, &PROPERTIES[1])).collect()
    }

    /// Two panels of one family were both "IPv4", and 1000 flows came before 200.
    #[test]
    fn panels_are_told_apart_and_stand_in_the_order_of_their_numbers() {
        let max = ("max", None);
        let mut all = Vec::new();
        for (family, flows) in [("6", 1000), ("6", 200), ("4", 1000), ("4", 20), ("4", 200)] {
            all.extend([64, 512, 1518].map(|bytes| traffic(family, (bytes, flows), max)));
        }
        let wanted = ["IPv6, 200 flows", "IPv6, 1000 flows", "IPv4, 20 flows", "IPv4, 200 flows"];
        assert_eq!(labels(&all)[..4], wanted);
        assert_eq!(labels(&all[..3]), ["IPv6"]);

        let loads = [("max", None), ("500kpps", Some(5e5)), ("2Mpps", Some(2e6))];
        let by_load = loads.map(|load| traffic("4", (64, 1), load));
        assert_eq!(labels(&by_load), ["IPv4, load 500kpps", "IPv4, load 2Mpps", "IPv4, load max"]);
    }
}
