//! For programs: everything in base units.

use std::fmt::Write;

use fwdlab_guard::words::in_json;
use fwdlab_stats::multiple::{Correction, Kind};
use fwdlab_stats::{Comparison, Method};

use crate::Compared;

/// Pretty JSON of all that was compared.
pub(crate) fn json(compared: &Compared) -> String {
    // every value is a number, a text or one of our own enums, none of which can fail
    let text = serde_json::to_string_pretty(compared).unwrap_or_default();
    in_json(&text).into_owned() + "\n"
}

/// One line per judgement.
pub(crate) fn csv(compared: &Compared) -> String {
    let mut text = String::from(
        "group,metric,unit,baseline,variant,n_baseline,n_variant,median_baseline,median_variant,\
         ratio,ratio_low,ratio_high,p,method,estimand,confidence,correction,margin,verdict,findings\n",
    );
    for group in &compared.groups {
        for (judgement, variant) in group.judgements.iter().zip(&group.series[1..]) {
            let baseline = &group.series[0];
            let names =
                [&group.name, &group.metric, &group.unit, &judgement.baseline, &judgement.variant];
            for name in names {
                let _ = write!(text, "{},", quoted(name));
            }
            let _ = write!(text, "{},{},", baseline.values.len(), variant.values.len());
            for series in [baseline, variant] {
                if let Some(median) = super::text::median(series) {
                    let _ = write!(text, "{median}");
                }
                text.push(',');
            }
            match &judgement.comparison {
                Some(c) => {
                    let (low, high) = (c.interval95.low.ratio(), c.interval95.high.ratio());
                    let method = serde_json::to_value(c.method).unwrap_or_default();
                    let method = method.as_str().unwrap_or_default();
                    let _ = write!(text, "{},{low},{high},{},{method},", c.estimate.ratio(), c.p);
                    let correction = correction(c, group.judgements.len());
                    let _ = write!(
                        text,
                        "{},{},{},",
                        c.estimand.describe(),
                        c.level().share(),
                        quoted(&correction)
                    );
                }
                None => text.push_str(",,,,,,,,"),
            }
            let findings: Vec<String> =
                judgement.findings.iter().map(ToString::to_string).collect();
            let findings = quoted(&findings.join("; "));
            let _ = writeln!(text, "{},{},{findings}", group.margin, judgement.word);
        }
    }
    text
}

/// What corrects p among several: methods over blocks name it, and share it among all variants.
fn correction(comparison: &Comparison, variants: usize) -> String {
    let holm = Correction { kind: Kind::Holm, among: variants };
    match comparison.method {
        Method::HolmPaired | Method::HolmSignedRank => holm.describe(),
        Method::Dunnett => format!("Dunnett's correction for {variants} comparisons"),
        _ => comparison.correction.map(|own| own.describe()).unwrap_or_default(),
    }
}

/// A CSV cell, in quotes where it must be (RFC 4180).
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}
