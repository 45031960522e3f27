//! Title, revisions and kernels: does the page speak of these results?

use std::collections::{BTreeMap, BTreeSet};

use fwdlab_evidence::finding::{AuditFindings, Rule, Severity, Text};
use fwdlab_evidence::surroundings::Surroundings;
use fwdlab_netbenches::page::ItemKind;
use fwdlab_sentence::label::Label;

/// Title, revisions and kernels of the page.
pub fn check(around: &Surroundings<'_>, findings: &mut AuditFindings) {
    check_title(around, findings);
    check_revisions(around, findings);
    check_kernels(around, findings);
}

/// What the data and the path say the page is about.
struct Evidence {
    majors: BTreeSet<u32>,
    label: Label,
    /// Where the majors were read.
    said: String,
}

impl Evidence {
    fn of(around: &Surroundings<'_>) -> Self {
        let directory = last_part(&around.data.relative);
        let mut evidence =
            Self { majors: majors(directory), label: Label::of(directory), said: String::new() };
        let mut said: BTreeSet<String> = BTreeSet::new();
        if !evidence.majors.is_empty() {
            said.insert(format!("the directory is {directory}"));
        }
        for configuration in around.data.configurations.values() {
            if let Some(uname) = configuration.info.uname() {
                let logged = majors(uname);
                if !logged.is_empty() {
                    said.insert(format!("the kernel is FreeBSD {}", join(&logged)));
                }
                evidence.majors.extend(logged);
            }
        }
        for item in around.page.items.iter().filter(|i| i.kind == ItemKind::Bullet) {
            let written = majors(&item.text);
            if !written.is_empty() {
                said.insert(format!(
                    "line {} says '{}'",
                    item.line,
                    item.text.trim_start_matches(['-', '*', ' '])
                ));
            }
            evidence.majors.extend(written);
        }
        for set in around.sets.iter().flatten() {
            evidence.take(&set.label);
        }
        for prefix in around.data.configurations.keys().chain(around.data.series.keys()) {
            evidence.take(&Label::of(prefix));
        }
        evidence.said = said.into_iter().collect::<Vec<_>>().join(", ");
        evidence
    }

    fn take(&mut self, label: &Label) {
        self.label.words.extend(label.words.iter().cloned());
        self.label.revisions.extend(label.revisions.iter().cloned());
        self.label.bare.extend(label.bare.iter().cloned());
        self.label.patches.extend(label.patches.iter().cloned());
    }
}

fn join<T: ToString>(items: &BTreeSet<T>) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(" and ")
}

fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn check_title(around: &Surroundings<'_>, findings: &mut AuditFindings) {
    let Some(title) = around.page.title().filter(|t| t.line <= 5) else { return };
    if around.page.block_before(title.line).is_some() || title.text.len() > 300 {
        return;
    }
    let evidence = Evidence::of(around);
    let label = Label::of(&title.text);
    let mut reasons = Vec::new();
    let named = majors(&title.text);
    if !named.is_empty() && !evidence.majors.is_empty() && named.is_disjoint(&evidence.majors) {
        reasons.push(format!("it names FreeBSD {}, but {}", join(&named), evidence.said));
    }
    if !label.patches.is_empty()
        && !evidence.label.patches.is_empty()
        && label.patches.is_disjoint(&evidence.label.patches)
    {
        reasons.push(format!(
            "it names {}, the results {}",
            join(&label.patches),
            join(&evidence.label.patches)
        ));
    }
    if label.contradicts_revision(&evidence.label) {
        reasons.push(format!(
            "it names {}, the results {}",
            join(&label.revisions),
            join(&evidence.label.revisions)
        ));
    }
    let is_certain = !reasons.is_empty();
    let is_firewalled = names_firewall(&evidence.label) || speaks_of_firewalls(around);
    if names_firewall(&label) && !is_firewalled && !around.sets.is_empty() {
        reasons.push("it names firewalls, no set of the page does".to_owned());
    }
    if reasons.is_empty() || (!is_certain && evidence.label.patches.is_empty()) {
        return;
    }
    if let Some(twin) = twin(around, &title.text) {
        reasons.push(format!("{twin} has the same title"));
    }
    findings.add(
        Rule::TitleCopied,
        if is_certain { Severity::Wrong } else { Severity::Check },
        title.line,
        Text::new(
            format!("'{}'", title.text),
            reasons.join("; "),
            "write a title for these results",
        ),
    );
}

/// Another page with the same title.
fn twin(around: &Surroundings<'_>, title: &str) -> Option<String> {
    let pages = around.site.titles.get(title)?;
    pages.iter().find(|dir| **dir != around.data.relative).cloned()
}

fn names_firewall(label: &Label) -> bool {
    const FIREWALLS: [&str; 6] = ["firewall", "firewalls", "ipfw", "pf", "ipf", "ipfilter"];
    FIREWALLS.iter().any(|w| label.words.contains(*w))
}

/// Whether the page shows graphs of firewalls, or speaks of them below its title and settings.
fn speaks_of_firewalls(around: &Surroundings<'_>) -> bool {
    let page = around.page;
    let captions = page.links.iter().flat_map(|link| [&link.caption, &link.target]);
    let title = page.title().map_or("", |title| title.text.as_str());
    let prose = page
        .items
        .iter()
        .filter(|item| item.kind != ItemKind::Bullet)
        .map(|item| &item.text)
        .chain(captions)
        .filter(|text| text.trim_start_matches(['#', ' ']) != title.trim_start_matches(['#', ' ']));
    prose.map(|text| Label::of(text)).any(|label| names_firewall(&label))
}

/// Major versions of FreeBSD in a text: `FreeBSD 13-head`, `fbsd12.1`,
/// `FreeBSD host 13.0-CURRENT`.
fn majors(text: &str) -> BTreeSet<u32> {
    let words: Vec<String> = text
        .split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '"' | '\''))
        .filter(|w| !w.is_empty())
        .map(str::to_lowercase)
        .collect();
    let mut found = BTreeSet::new();
    let major = |word: &str| {
        let digits = word.bytes().take_while(u8::is_ascii_digit).count();
        let rest = &word[digits..];
        let is_version =
            rest.is_empty() || rest.starts_with(['.', '-', ',']) || rest.starts_with("vs");
        word[..digits].parse::<u32>().ok().filter(|v| is_version && (4..=30).contains(v))
    };
    for (index, word) in words.iter().enumerate() {
        if word == "freebsd" {
            found.extend(words.get(index + 1).and_then(|w| major(w)));
            let third = words.get(index + 2).filter(|w| {
                w.contains("-current")
                    || w.contains("-stable")
                    || w.contains("-release")
                    || w.contains("-beta")
            });
            found.extend(third.and_then(|w| major(w)));
        }
        for (at, _) in word.match_indices("fbsd") {
            let rest = word[at + 4..].trim_start_matches(['.', '-']);
            found.extend(major(rest));
            for (vs, _) in rest.match_indices("vs") {
                found.extend(major(rest[vs + 2..].trim_start_matches(['.', '-'])));
            }
        }
        if (word == "vs" || word == "versus" || word == "and") && !found.is_empty() {
            found.extend(
                words.get(index + 1).filter(|w| w.contains(['.', '-'])).and_then(|w| major(w)),
            );
        }
    }
    found
}

/// Path, text, image names and kernels must share a revision.
fn check_revisions(around: &Surroundings<'_>, findings: &mut AuditFindings) {
    let path = Label::of(last_part(&around.data.relative));
    let mut data = Label::default();
    let mut kernels = Label::default();
    for prefix in around.data.configurations.keys().chain(around.data.series.keys()) {
        let label = Label::of(prefix);
        data.revisions.extend(label.revisions);
        data.bare.extend(label.bare);
    }
    for (prefix, configuration) in &around.data.configurations {
        let Some(uname) = configuration.info.uname() else { continue };
        let kernel = Label::of(uname);
        kernels.revisions.extend(kernel.revisions.iter().cloned());
        let image = Label::of(configuration.info.image().unwrap_or(prefix));
        if image.contradicts_revision(&kernel) {
            add(
                findings,
                1,
                format!("image {} in {prefix}.info", join(&image.revisions)),
                format!("the kernel logged {}", join(&kernel.revisions)),
                "boot the named image, or rename it",
            );
        }
    }
    if path.contradicts_revision(&data) {
        add(
            findings,
            1,
            format!("directory {}", last_part(&around.data.relative)),
            format!("its data is of {}", join(&data.revisions)),
            "rename the directory",
        );
    }
    data.revisions.extend(kernels.revisions);
    data.revisions.extend(path.revisions);
    data.bare.extend(path.bare);
    for item in around.page.items.iter().filter(|i| i.kind == ItemKind::Bullet) {
        let is_system = item.text.to_lowercase().contains("freebsd");
        let named = Label::of(&item.text);
        if is_system && named.contradicts_revision(&data) {
            add(
                findings,
                item.line,
                format!("'{}'", item.text),
                format!("the data is of {}", join(&data.revisions)),
                "name the revision of the results",
            );
        }
    }
}

fn add(findings: &mut AuditFindings, line: usize, claim: String, data: String, suggestion: &str) {
    findings.add(Rule::RevisionDiffers, Severity::Check, line, Text::new(claim, data, suggestion));
}

/// Whether a kernel says when it was built: two that do not may be of different builds.
fn is_dated(uname: &str) -> bool {
    let is_time = |word: &str| {
        let parts: Vec<&str> = word.split(':').collect();
        parts.len() == 3
            && parts.iter().all(|p| p.len() == 2 && p.bytes().all(|b| b.is_ascii_digit()))
    };
    uname.split_whitespace().any(is_time)
}

/// Two images that are said to differ must not have logged one kernel build.
fn check_kernels(around: &Surroundings<'_>, findings: &mut AuditFindings) {
    let configurations = around
        .data
        .configurations
        .iter()
        .filter_map(|(prefix, g)| Some((prefix, g.info.uname().filter(|u| is_dated(u))?, g)));
    // of one build, one family and one configuration
    let mut builds: BTreeMap<_, Vec<(&String, Label)>> = BTreeMap::new();
    for (prefix, uname, configuration) in configurations {
        let place = (uname, around.data.family(prefix), configuration.info.configuration());
        builds.entry(place).or_default().push((prefix, Label::of(prefix)));
    }
    for ((uname, ..), named) in builds {
        let Some(((first, label), rest)) = named.split_first() else { continue };
        let differs = |(_, l): &&(&String, Label)| {
            l.patches != label.patches || l.revisions != label.revisions
        };
        let others: Vec<&str> = rest.iter().filter(differs).map(|(p, _)| p.as_str()).collect();
        if others.is_empty() {
            continue;
        }
        findings.add(
            Rule::SameKernel,
            Severity::Check,
            1,
            Text::new(
                format!("{first} and {} are different kernels", others.join(", ")),
                format!("all logged the same build: {uname}"),
                "check that the patched kernel was booted",
            ),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_major_versions_of_a_text() {
        let found = |text: &str| majors(text).into_iter().collect::<Vec<_>>();
        assert_eq!(found("firewalls on BSDRP 1.90 (FreeBSD 11.2-BETA3) forwarding"), [11]);
        assert_eq!(found("- FreeBSD 13-head r368606"), [13]);
        assert_eq!(found("FreeBSD SM1 13.0-CURRENT FreeBSD 13.0-CURRENT #0"), [13]);
        assert_eq!(found("fbsd12-head-vs-11-stable.r318516"), [11, 12]);
        assert_eq!(found("fbsd11.0vs11.1"), [11]);
        assert_eq!(found("- FreeBSD 11.0 vs 12.1-BETA1"), [11, 12]);
        assert_eq!(found("fbsd.2016"), Vec::<u32>::new());
    }
}
