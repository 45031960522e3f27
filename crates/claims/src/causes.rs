//! Why verdicts are invalid: a cause that several of them share is said once, with those it holds for.

use fwdlab_stats::Verdict;
use fwdlab_stats::validity::Severity;

use crate::claim::{Claims, VerdictClaim};

/// So many verdicts of the same causes each have their own card, with their figures.
const MOST_APART: usize = 2;

/// A doubt and what to do about it.
pub struct Doubt {
    /// Whether the verdict is invalid for it.
    pub is_cause: bool,
    /// What is doubtful.
    pub text: String,
    /// What helps.
    pub remedy: String,
}

impl Doubt {
    /// Both in one line.
    pub fn whole(&self) -> String {
        format!("{}: {}: {}", self.word(), self.text, self.remedy)
    }

    /// What it is.
    pub fn word(&self) -> &'static str {
        if self.is_cause { "cause" } else { "warning" }
    }
}

/// Verdicts that are invalid for the same causes, in one.
pub struct Invalid<'a> {
    /// How many there are.
    pub sentence: String,
    /// Which.
    pub named: Vec<Named<'a>>,
    /// Their doubts, the causes first.
    pub doubts: Vec<SharedDoubt>,
}

/// Variants with one traffic.
pub struct Named<'a> {
    /// What they are about: `IPv4`, or `IPv4 (inet-64)` where there are several.
    pub subject: String,
    /// Name of the traffic.
    pub traffic: &'a str,
    /// Their names.
    pub variants: Vec<&'a str>,
}

impl Named<'_> {
    /// `IPv4: modular, lockless`.
    pub fn whole(&self) -> String {
        format!("{}: {}", self.subject, self.variants.join(", "))
    }
}

/// Doubts of one kind about several verdicts.
pub struct SharedDoubt {
    /// Whether the verdicts are invalid for it.
    pub is_cause: bool,
    /// What helps.
    pub remedy: String,
    /// What is doubtful, and of whom it is said.
    pub texts: Vec<(String, Vec<String>)>,
    /// Whether there is one text, said of all.
    pub is_of_all: bool,
}

impl SharedDoubt {
    /// In lines: what is said of all with what helps, else what all texts begin with and what helps, then each of them
    /// with whom it is said of.
    pub fn lines(&self) -> Vec<String> {
        let word = if self.is_cause { "cause" } else { "warning" };
        if let [(text, _)] = &self.texts[..]
            && self.is_of_all
        {
            return vec![format!("{word}: {text}: {}", self.remedy)];
        }
        let each = self.texts.iter().map(|(text, names)| format!("{text} ({})", names.join(", ")));
        std::iter::once(format!("{word}: {}: {}", self.head(), self.remedy)).chain(each).collect()
    }

    /// What all texts begin with, up to a colon; else the first of them.
    fn head(&self) -> &str {
        let heads =
            |text: &'_ str| text.split_once(": ").map_or(text.len(), |(head, _)| head.len());
        let Some((first, _)) = self.texts.first() else { return "" };
        let head = &first[..heads(first)];
        let is_shared = self.texts.iter().all(|(text, _)| text.starts_with(head));
        if is_shared { head } else { first }
    }
}

/// What is doubtful about a verdict, and what helps.
pub fn doubts(verdict: &VerdictClaim) -> Vec<Doubt> {
    let is_invalid = is_invalid(verdict);
    let doubt = |finding| -> Doubt {
        let finding: &fwdlab_stats::validity::Finding = finding;
        Doubt {
            is_cause: is_invalid && finding.severity() == Severity::Invalid,
            text: verdict.doubt(finding),
            remedy: finding.remedy().to_owned(),
        }
    };
    verdict.findings.iter().map(doubt).collect()
}

/// Whether nothing can be said of it.
pub fn is_invalid(verdict: &VerdictClaim) -> bool {
    matches!(verdict.verdict, Verdict::Invalid { .. })
}

/// Verdicts in their order: each alone, or those that are invalid for the same causes at the place of the first.
pub fn grouped<'a>(verdicts: impl Iterator<Item = &'a VerdictClaim>) -> Vec<Vec<&'a VerdictClaim>> {
    let mut groups: Vec<(Vec<String>, Vec<&VerdictClaim>)> = Vec::new();
    for verdict in verdicts {
        let causes = causes(verdict);
        match groups.iter_mut().find(|(own, _)| !own.is_empty() && *own == causes) {
            Some((_, group)) => group.push(verdict),
            None => groups.push((causes, vec![verdict])),
        }
    }
    let apart = |(_, group): (Vec<String>, Vec<&'a VerdictClaim>)| match group.len() {
        0..=MOST_APART => group.into_iter().map(|own| vec![own]).collect(),
        _ => vec![group],
    };
    groups.into_iter().flat_map(apart).collect()
}

/// What helps against the causes for which a verdict is invalid: one for each kind of them, whatever its figures.
fn causes(verdict: &VerdictClaim) -> Vec<String> {
    doubts(verdict).into_iter().filter(|doubt| doubt.is_cause).map(|doubt| doubt.remedy).collect()
}

/// Verdicts of the same causes in one.
pub fn together<'a>(group: &[&'a VerdictClaim], claims: &Claims) -> Invalid<'a> {
    let mut named: Vec<Named<'a>> = Vec::new();
    for verdict in group {
        match named.iter_mut().find(|own| own.traffic == verdict.traffic) {
            Some(own) => own.variants.push(&verdict.variant),
            None => named.push(Named {
                subject: claims.subject(verdict.family, &verdict.traffic),
                traffic: &verdict.traffic,
                variants: vec![&verdict.variant],
            }),
        }
    }
    let baseline = group.first().map_or("", |own| own.baseline.as_str());
    let sentence = format!("invalid: {} comparisons with {baseline} cannot be made", group.len());
    Invalid { sentence, named, doubts: shared(group) }
}

/// The doubts of some verdicts by what helps, each text once with those that it is said of.
fn shared(group: &[&VerdictClaim]) -> Vec<SharedDoubt> {
    let mut all: Vec<SharedDoubt> = Vec::new();
    let has_traffics = group.iter().any(|own| own.traffic != group[0].traffic);
    for verdict in group {
        let name = match has_traffics {
            true => format!("{} with {}", verdict.variant, verdict.traffic),
            false => verdict.variant.clone(),
        };
        for Doubt { is_cause, text, remedy } in doubts(verdict) {
            let at = all.iter().position(|own| own.is_cause == is_cause && own.remedy == remedy);
            let at = at.unwrap_or_else(|| {
                all.push(SharedDoubt { is_cause, remedy, texts: Vec::new(), is_of_all: false });
                all.len() - 1
            });
            match all[at].texts.iter_mut().find(|(own, _)| *own == text) {
                Some((_, names)) => names.push(name.clone()),
                None => all[at].texts.push((text, vec![name.clone()])),
            }
        }
    }
    all.sort_by_key(|own| !own.is_cause);
    for own in &mut all {
        own.is_of_all = matches!(&own.texts[..], [(_, names)] if names.len() == group.len());
    }
    all
}
