//! Compares the numbers and directions in running text with the claims.
//!
//! A number with a unit (`%`, pps, frames/s, ns) must be a figure of the
//! report, rounded as it is written, and of the variants, traffic and family that its
//! clause names; a word of direction beside it must have the sign of that figure;
//! "no difference" is refuted by a verdict that says otherwise. Numbers without a
//! unit are not judged.

use std::collections::BTreeSet;

use fwdlab_claims::claim::{Claims, Spread, VerdictClaim};
use fwdlab_claims::setting::{LINKS, line_rate};
use fwdlab_netbenches::name::{NamedFamily, family_word};
use fwdlab_results::{Family, Metric, units};
use fwdlab_sentence::clause::{Clause, clauses};
use fwdlab_sentence::figure::{Figure, Kind, figures};
use fwdlab_sentence::subject::Named;
use fwdlab_stats::{Direction, Effect, signed_percent};

/// A figure of the report.
#[derive(Debug, Clone)]
struct Known<'a> {
    kind: Kind,
    value: f64,
    name: String,
    /// Whether its sign is a direction: an effect, or an end of its interval.
    is_effect: bool,
    /// What it is a figure of; `None` for those of the whole report.
    about: Option<About<'a>>,
}

/// What a figure is of.
#[derive(Debug, Clone, Copy)]
struct About<'a> {
    variant: &'a str,
    /// What it was compared with.
    beside: Option<&'a str>,
    /// Whether variant and baseline changed places: only sentences that name them mean that.
    is_turned: bool,
    traffic: &'a str,
    family: Family,
}

/// What a clause names.
struct Meant<'a> {
    variants: Named<'a>,
    traffics: Named<'a>,
    families: BTreeSet<NamedFamily>,
}

impl<'a> Meant<'a> {
    fn of(clause: &Clause, claims: &'a Claims) -> Self {
        let variants = claims.setting.variants.iter().map(|own| own.name.as_str());
        // a traffic that is called as its family names that
        let traffics = claims.setting.traffics.iter().map(|own| own.name.as_str());
        let traffics = traffics.filter(|name| family_word(name).is_none());
        Self {
            variants: Named::of(&clause.text, variants),
            traffics: Named::of(&clause.text, traffics),
            families: clause.families.clone(),
        }
    }

    /// Whether a figure may be what the clause speaks of.
    fn fits(&self, known: &Known<'_>) -> bool {
        let Some(about) = known.about else { return true };
        let family = match about.family {
            Family::Inet => Some(NamedFamily::Inet),
            Family::Inet6 => Some(NamedFamily::Inet6),
            Family::Dual => None,
        };
        let is_one_of = |name: &&str| *name == about.variant || Some(*name) == about.beside;
        let all = &self.variants.all;
        let is_subject = self.variants.subject().is_none_or(|name| name == about.variant);
        let is_beside = self.variants.beside.is_none_or(|name| Some(name) == about.beside);
        let has_order = !known.is_effect || is_subject && is_beside;
        let is_named = !about.is_turned || !all.is_empty();
        let is_pair =
            all.iter().all(is_one_of) || about.beside.is_none() && all.contains(&about.variant);
        is_named
            && is_pair
            && (has_order || all.len() > 2)
            && (self.traffics.all.is_empty() || self.traffics.all.contains(&about.traffic))
            && (self.families.is_empty() || family.is_none_or(|own| self.families.contains(&own)))
    }

    /// `modular, IPv6`.
    fn words(&self) -> String {
        let names =
            self.variants.all.iter().chain(&self.traffics.all).map(|name| (*name).to_owned());
        let family = |own: &NamedFamily| own.name().to_owned();
        names.chain(self.families.iter().map(family)).collect::<Vec<_>>().join(", ")
    }
}

const UP: [&str; 6] = ["faster", "improv", "gain", "increase", "better", "speed-up"];
const DOWN: [&str; 7] = ["slower", "reduc", "loss", "decrease", "worse", "regress", "slowdown"];
const SAME: [&str; 5] =
    ["no difference", "no impact", "no change", "no effect", "same performance"];

/// Sentences on what does not agree, each with `file:line`.
pub fn check(text: &str, file: &str, claims: &Claims) -> Vec<String> {
    let known = known(claims);
    let mut doubts = Vec::new();
    for paragraph in paragraphs(text) {
        let place = |at: usize| format!("{file}:{}", paragraph.line_of(at));
        for clause in clauses(&paragraph.text) {
            let meant = Meant::of(&clause, claims);
            for found in figures(&clause.text) {
                let doubt = doubt(&clause.text, &found, &known, &meant);
                doubts
                    .extend(doubt.map(|d| format!("{}: {d}", place(clause.offset + found.start))));
            }
            let place = place(clause.offset);
            doubts.extend(factor_doubt(&clause.text, claims).map(|d| format!("{place}: {d}")));
            let lower = clause.text.to_lowercase();
            if let Some(words) = SAME.iter().find(|w| lower.contains(**w))
                && let Some(verdict) =
                    claims.verdicts.iter().find(|v| is_meant(&lower, v) && is_different(v))
            {
                doubts.push(format!("{place}: \"{words}\", but {}", verdict.sentence));
            }
        }
    }
    doubts
}

/// Lines that belong together.
#[derive(Default)]
struct Paragraph {
    text: String,
    /// Where each line begins in the text, and its number.
    lines: Vec<(usize, usize)>,
}

impl Paragraph {
    fn line_of(&self, at: usize) -> usize {
        self.lines.iter().rev().find(|(start, _)| *start <= at).map_or(1, |(_, line)| *line)
    }
}

/// Sentences go on over the ends of lines, but not into the next item or row of a table.
fn paragraphs(text: &str) -> Vec<Paragraph> {
    let mut all: Vec<Paragraph> = vec![Paragraph::default()];
    for (line, number) in text.lines().zip(1..) {
        let begins = line.trim_start().starts_with(['|', '#', '-', '*', '>']);
        if line.trim().is_empty() || begins {
            all.push(Paragraph::default());
        }
        let Some(last) = all.last_mut() else { continue };
        if !last.text.is_empty() {
            last.text.push(' ');
        }
        last.lines.push((last.text.len(), number));
        last.text.push_str(line);
    }
    all
}

/// A factor counts as that of a verdict when it lies as near as this, as a ratio.
const NEAR: f64 = 1.15;

/// "Twice as fast", "ten times", "a factor of 3": one verdict must give that ratio, or its inverse.
fn factor_doubt(line: &str, claims: &Claims) -> Option<String> {
    let (factor, written) = fwdlab_sentence::clause::factor(line)?;
    let lower = line.to_lowercase();
    let is_of_speed = UP.iter().chain(&DOWN).any(|word| lower.contains(word))
        || ["fast", "slow", "rate", "forward", "speed"].iter().any(|word| lower.contains(word));
    let ratios = || {
        let meant = claims.verdicts.iter().filter(|v| is_meant(&lower, v));
        meant.flat_map(|v| [&v.rate, &v.cost]).flatten().map(|c| c.estimate.ratio())
    };
    let distance = |ratio: f64| (ratio.ln().abs() - factor.ln().abs()).abs();
    let is_near = ratios().any(|ratio| distance(ratio) <= NEAR.ln());
    let nearest = ratios().min_by(|a, b| distance(*a).total_cmp(&distance(*b)))?;
    (is_of_speed && !is_near).then(|| {
        format!("\"{written}\" is no ratio of this report; the nearest is x{:.2}", nearest)
    })
}

/// Whether a line that names families or traffics names this verdict's.
fn is_meant(lower: &str, verdict: &VerdictClaim) -> bool {
    let names6 = lower.contains("inet6") || lower.contains("ipv6");
    let names4 = lower.contains("inet4")
        || lower.contains("ipv4")
        || lower.replace("inet6", "").contains("inet");
    match (names4, names6) {
        (true, false) => verdict.family == fwdlab_results::Family::Inet,
        (false, true) => verdict.family == fwdlab_results::Family::Inet6,
        _ => true,
    }
}

fn is_different(verdict: &VerdictClaim) -> bool {
    matches!(verdict.verdict.word(), "faster" | "slower")
}

fn doubt(line: &str, found: &Figure, known: &[Known<'_>], meant: &Meant<'_>) -> Option<String> {
    let written = line[found.start..found.end].trim();
    let same_kind = || known.iter().filter(|k| k.kind == found.kind);
    let distance = |k: &Known<'_>| match (found.is_signed, k.is_effect) {
        (false, true) => (k.value.abs() - found.value.abs()).abs(),
        _ => (k.value - found.value).abs(),
    };
    let any: Vec<&Known<'_>> =
        same_kind().filter(|k| distance(k) <= found.half_digit * 1.0001).collect();
    let matching: Vec<&Known<'_>> = any.iter().copied().filter(|k| meant.fits(k)).collect();
    if matching.is_empty() {
        let nearest = same_kind().filter(|k| meant.fits(k));
        let nearest = nearest.min_by(|a, b| distance(a).total_cmp(&distance(b)));
        let nearest = nearest
            .map_or_else(String::new, |k| format!("; the nearest is {}, {}", show(k), k.name));
        let is_other = any.iter().find(|own| own.about.is_some_and(|about| !about.is_turned));
        return Some(match is_other {
            Some(other) => {
                format!("{written} is no figure of {}, but {}{nearest}", meant.words(), other.name)
            }
            None => format!("{written} is no figure of this report{nearest}"),
        });
    }
    let direction = direction(line, found)?;
    let contradicted = matching.iter().all(|k| k.is_effect && k.value * direction < 0.0);
    contradicted.then(|| {
        let word = if direction > 0.0 { "faster" } else { "slower" };
        format!("{written} is said to be {word}, but {} is {}", matching[0].name, show(matching[0]))
    })
}

/// +1 or -1 when a word of direction stands within 40 bytes of an unsigned
/// number, the nearest one deciding.
fn direction(line: &str, found: &Figure) -> Option<f64> {
    if found.is_signed || found.kind != Kind::Percent {
        return None;
    }
    let lower = line.to_lowercase();
    if lower.len() != line.len() {
        return None;
    }
    let nearest = |words: &[&str]| {
        words
            .iter()
            .flat_map(|w| lower.match_indices(w).map(|(at, _)| at))
            .map(|at| if at >= found.end { at - found.end } else { found.start.saturating_sub(at) })
            .min()
    };
    match (nearest(&UP), nearest(&DOWN)) {
        (Some(up), down) if up <= 40 && down.is_none_or(|d| up < d) => Some(1.0),
        (_, Some(down)) if down <= 40 => Some(-1.0),
        _ => None,
    }
}

fn show(known: &Known<'_>) -> String {
    match known.kind {
        Kind::Percent if known.is_effect => signed_percent(known.value),
        Kind::Percent => units::share(known.value / 100.0),
        Kind::Rate => units::rate(known.value),
        Kind::Nanoseconds => format!("{} ns", units::ns(known.value)),
    }
}

/// The figures that a reader may quote.
#[derive(Default)]
struct Figures<'a>(Vec<Known<'a>>);

/// Every figure that a reader may quote.
fn known(claims: &Claims) -> Vec<Known<'_>> {
    let mut known = Figures::default();
    claims.verdicts.iter().for_each(|verdict| known.of_verdict(verdict));
    for c in &claims.cells {
        let (variant, traffic) = (c.variant.as_str(), c.traffic.as_str());
        let of = claims.setting.traffics.iter().find(|own| own.name == c.traffic);
        let about = of.map(|of| About {
            variant,
            beside: None,
            is_turned: false,
            traffic,
            family: of.family,
        });
        let name = format!("{variant} with {traffic}");
        let spreads = [(Kind::Rate, &c.rate, "rate"), (Kind::Nanoseconds, &c.cost, "device cost")];
        for (kind, spread, what) in spreads {
            let Some(Spread { median, minimum, maximum, interval, cv, .. }) = spread else {
                continue;
            };
            for value in
                [*median, *minimum, *maximum].into_iter().chain(interval.iter().flatten().copied())
            {
                known.add(kind, value, format!("{what} of {name}"), about);
            }
            known.add(Kind::Percent, cv * 100.0, format!("CV of the {what} of {name}"), about);
        }
        if let Some(share) = c.idle_share {
            known.add(Kind::Percent, share * 100.0, format!("idle share of {name}"), about);
        }
    }
    for t in &claims.setting.traffics {
        for gigabits in LINKS {
            let name = format!("line rate of {gigabits} Gb/s at {} bytes", t.frame_bytes);
            known.add(Kind::Rate, line_rate(gigabits, t.frame_bytes), name, None);
        }
        if let Some(pps) = t.load_pps {
            known.add(Kind::Rate, pps, format!("load of {}", t.name), None);
        }
    }
    let levels = claims.verdicts.iter().filter_map(|v| Some(v.comparison()?.level().percent()));
    for confidence in levels.chain([90.0, 95.0]) {
        known.add(Kind::Percent, confidence, "confidence".to_owned(), None);
    }
    known.0
}

impl<'a> Figures<'a> {
    fn add(&mut self, kind: Kind, value: f64, name: String, about: Option<About<'a>>) {
        self.0.push(Known { kind, value, name, is_effect: false, about });
    }

    /// An effect, in either direction: 5 % faster is 4.76 % slower the other way round.
    fn add_effect(&mut self, effect: Effect, which: &str, own: About<'a>) {
        let Some(beside) = own.beside else { return };
        let turned = About { variant: beside, beside: Some(own.variant), is_turned: true, ..own };
        for (ratio, about) in [(effect.ratio(), own), (1.0 / effect.ratio(), turned)] {
            let About { variant, traffic, .. } = about;
            let name = format!(
                "{which} of {variant} against {} with {traffic}",
                about.beside.unwrap_or("")
            );
            let value = (ratio - 1.0) * 100.0;
            self.0.push(Known {
                kind: Kind::Percent,
                value,
                name,
                is_effect: true,
                about: Some(about),
            });
        }
    }

    fn of_verdict(&mut self, v: &'a VerdictClaim) {
        let (variant, beside, traffic) =
            (v.variant.as_str(), v.baseline.as_str(), v.traffic.as_str());
        let own =
            About { variant, beside: Some(beside), is_turned: false, traffic, family: v.family };
        let name = format!("{variant} against {beside} with {traffic}");
        for (what, comparison) in [("rate", &v.rate), ("cost", &v.cost), ("its own figure", &v.own)]
        {
            let Some(c) = comparison else { continue };
            for (which, effect) in [
                ("effect", c.estimate),
                ("mean effect", c.mean),
                ("median effect", c.median),
                ("lower end", c.interval95.low),
                ("upper end", c.interval95.high),
                ("lower end (90 %)", c.interval90.low),
                ("upper end (90 %)", c.interval90.high),
            ] {
                self.add_effect(effect, &format!("{which} by {what}"), own);
            }
            let costs = c.rare.iter().flat_map(|rare| [rare.slower, rare.faster, rare.typical]);
            for cost in costs.flatten() {
                for effect in [cost.estimate, cost.low, cost.high] {
                    self.add_effect(effect, &format!("cost of rare runs by {what}"), own);
                }
            }
            let sides = c.rare.iter().flat_map(|rare| [rare.baseline, rare.variant]);
            for size in sides.flat_map(|side| [side.slower.size, side.faster.size]).flatten() {
                let size = size.percent().abs();
                self.add(Kind::Percent, size, format!("rare runs of {name}"), Some(own));
            }
        }
        if let Some(c) = &v.cost {
            let time = (1.0 / c.estimate.ratio() - 1.0) * 100.0;
            let what = format!("change of the time per frame of {name}");
            self.add(Kind::Percent, time, what, Some(own));
        }
        let is_less = |own: Metric| own.direction() == Direction::LowerIsBetter;
        if let (Some(c), Some(metric @ Metric::Own(_))) = (&v.own, Metric::named(v.metric))
            && is_less(metric)
        {
            // 64 ms instead of 13 is 384 % longer.
            for end in [c.estimate, c.interval95.low, c.interval95.high] {
                let more = (1.0 / end.ratio() - 1.0) * 100.0;
                let what = format!("change of the {} of {name}", metric.title());
                self.add(Kind::Percent, more.abs(), what, Some(own));
            }
        }
        if let Some(saved) = &v.saved {
            let [low, high] = saved.interval_ns.map(f64::abs);
            for ns in [saved.ns.abs(), low, high, saved.baseline_ns] {
                let what = format!("time per frame saved by {name}");
                self.add(Kind::Nanoseconds, ns, what, Some(own));
            }
            for device in &saved.on_devices {
                let on = format!("a device of {} ns per frame", device.ns_per_frame);
                self.add(Kind::Nanoseconds, device.ns_per_frame, on.clone(), None);
                if let Some(ratio) = device.ratio {
                    self.add_effect(ratio, &format!("effect on {on}"), own);
                }
            }
        }
        self.add(Kind::Percent, v.margin * 100.0, "the margin".to_owned(), None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_word_of_direction_decides() {
        let line =
            "an improvement of 17.5% on IPv4, and a long way off a reduction of 7.2% on IPv6";
        let found = figures(line);
        assert_eq!(direction(line, &found[0]), Some(1.0));
        assert_eq!(direction(line, &found[1]), Some(-1.0));
    }
}
