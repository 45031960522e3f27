//! Captions and targets of links.

use fwdlab_evidence::finding::{AuditFindings, Rule, Severity, Text};
use fwdlab_evidence::surroundings::Surroundings;
use fwdlab_netbenches::import::published::KEPT;
use fwdlab_netbenches::page::PageLink;
use fwdlab_sentence::label::Label;

/// Every link of the page.
pub fn check(around: &Surroundings<'_>, findings: &mut AuditFindings) {
    let is_kept = is_kept(&around.data.relative, &|path| around.site.paths.contains(path));
    let mut uncheckable: Vec<&PageLink> = Vec::new();
    for link in &around.page.links {
        let Some(target) = local_target(&link.target) else { continue };
        check_caption(around, link, &target, findings);
        let Some(path) = resolve(&around.data.relative, &target) else { continue };
        if path.is_empty() || around.site.paths.contains(path.trim_end_matches('/')) {
            continue;
        }
        if !is_kept && around.site.has_extension_of(&path) {
            report_missing(around, link, &path, findings);
        } else {
            uncheckable.push(link);
        }
    }
    report_uncheckable(&uncheckable, findings);
    report_spaced(around, findings);
}

/// Whether a page is one that an import keeps in its results: what it links stayed where it was, whatever
/// pictures a report has written beside it.
fn is_kept(directory: &str, is_there: &dyn Fn(&str) -> bool) -> bool {
    let (parent, name) = directory.rsplit_once('/').unwrap_or(("", directory));
    let gap = if parent.is_empty() { "" } else { "/" };
    name == KEPT && is_there(&format!("{parent}{gap}import.json"))
}

/// The path of a link within the tree, without anchor; `None` for links that
/// lead elsewhere.
fn local_target(target: &str) -> Option<String> {
    let target = target.split(['#', '?']).next().unwrap_or("");
    let is_elsewhere = target.is_empty()
        || target.contains("://")
        || target.starts_with("//")
        || target.starts_with('/')
        || target.starts_with("mailto:");
    (!is_elsewhere).then(|| percent_decoded(target))
}

fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut index = 0;
    while index < bytes.len() {
        let pair = bytes.get(index + 1..index + 3).and_then(|p| std::str::from_utf8(p).ok());
        match pair.filter(|_| bytes[index] == b'%').and_then(|p| u8::from_str_radix(p, 16).ok()) {
            Some(byte) => {
                decoded.push(byte);
                index += 3;
            }
            None => {
                decoded.push(bytes[index]);
                index += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// The target relative to the root; `None` when it leads out of the tree.
fn resolve(directory: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = directory.split('/').filter(|p| !p.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Whether any file that the page links names this patch: where none does, file
/// names leave the patch out, and say nothing by that.
fn files_name_patch(around: &Surroundings<'_>, caption: &Label) -> bool {
    let files = around.page.links.iter().filter_map(|link| local_target(&link.target));
    files
        .map(|target| Label::of(target.rsplit('/').next().unwrap_or(&target)))
        .any(|file| !file.patches.is_disjoint(&caption.patches))
}

fn check_caption(
    around: &Surroundings<'_>,
    link: &PageLink,
    target: &str,
    findings: &mut AuditFindings,
) {
    let file = target.rsplit('/').next().unwrap_or(target);
    let (caption, name) = (Label::of(&link.caption), Label::of(file));
    let what = if caption.contradicts_revision(&name) {
        "another revision"
    } else if caption.contradicts_family(&name) {
        "another address family"
    } else if caption.contradicts_patch(&name)
        && (!name.patches.is_empty() || files_name_patch(around, &caption))
    {
        "another patch"
    } else {
        return;
    };
    let join = |set: &std::collections::BTreeSet<String>| {
        set.iter().cloned().collect::<Vec<_>>().join(" ")
    };
    findings.add(
        Rule::CaptionFile,
        Severity::Wrong,
        link.line,
        Text::new(
            format!("caption '{}'", link.caption),
            format!("the linked file is {file}: {what}"),
            format!("write {} in the caption, or link the right file", join(&name.revisions)),
        ),
    );
}

fn report_missing(
    around: &Surroundings<'_>,
    link: &PageLink,
    path: &str,
    findings: &mut AuditFindings,
) {
    let name = path.rsplit('/').next().unwrap_or(path);
    let directory = around.data.relative.as_str();
    let here = || around.site.paths_below(directory).filter(|p| parent(p) == directory);
    let last = |p: &str| p.rsplit('/').next().unwrap_or("").to_owned();
    let near = here()
        .find(|p| last(p).eq_ignore_ascii_case(name))
        .or_else(|| here().find(|p| is_alike(&last(p), name)));
    let suggestion = match near {
        Some(near) => format!("link {}", near.rsplit('/').next().unwrap_or(near)),
        None => "add the file or remove the link".to_owned(),
    };
    findings.add(
        Rule::LinkTarget,
        Severity::Wrong,
        link.line,
        Text::new(format!("link to {}", link.target), "there is no such file", suggestion),
    );
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// Names that differ in one part between dots.
fn is_alike(a: &str, b: &str) -> bool {
    let (a, b): (Vec<&str>, Vec<&str>) = (a.split('.').collect(), b.split('.').collect());
    let shared = a.iter().filter(|part| b.contains(part)).count();
    a.len().abs_diff(b.len()) <= 1
        && a.last() == b.last()
        && shared + 1 >= a.len().max(b.len())
        && a.len() > 2
}

fn report_uncheckable(links: &[&PageLink], findings: &mut AuditFindings) {
    let Some(first) = links.first() else { return };
    let names: Vec<&str> = links.iter().take(4).map(|l| l.target.as_str()).collect();
    let more = if links.len() > 4 { ", ..." } else { "" };
    findings.add(
        Rule::LinkTarget,
        Severity::Check,
        first.line,
        Text::new(
            format!("{} links: {}{more}", links.len(), names.join(", ")),
            "the files are not here, nor any file of their kind: a copy without pictures, or broken links",
            "audit the whole tree, or add the files",
        ),
    );
}

/// `[caption] (target)` is shown as it stands, not as a link.
fn report_spaced(around: &Surroundings<'_>, findings: &mut AuditFindings) {
    let links = &around.page.spaced_links;
    let Some(first) = links.first() else { return };
    findings.add(
        Rule::LinkTarget,
        Severity::Check,
        first.line,
        Text::new(
            format!("[{}] ({})", first.caption, first.target),
            match links.len() {
                1 => "a blank after ] makes it plain text".to_owned(),
                n => format!("a blank after ] makes it plain text, as in {} more places", n - 1),
            },
            "remove the blank",
        ),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_resolved_within_the_tree() {
        assert_eq!(resolve("a/b", "../c/./d.svg").as_deref(), Some("a/c/d.svg"));
        assert_eq!(resolve("a", "../../x"), None);
        assert_eq!(local_target("my%20graph.png#top").as_deref(), Some("my graph.png"));
        for elsewhere in ["https://x/y", "#a", "/etc/passwd", "mailto:a@b", "//x"] {
            assert_eq!(local_target(elsewhere), None);
        }
        assert_eq!(percent_decoded("%zz%4"), "%zz%4");
    }

    #[test]
    fn a_page_that_an_import_keeps_has_its_pictures_elsewhere() {
        let there = |path: &str| ["import.json", "a/b/import.json"].contains(&path);
        for (directory, wanted) in
            [("published", true), ("a/b/published", true), ("c/published", false), ("a/b", false)]
        {
            assert_eq!(is_kept(directory, &there), wanted, "{directory}");
        }
    }

    #[test]
    fn near_names_are_proposed() {
        assert!(is_alike("bench.r1.inet4.pmc.svg", "bench.r1.inet4.1.pmc.svg"));
        assert!(!is_alike("graph.png", "other.png"));
    }
}
