//! `compare` on published results: its ministat view shows the published verdict, its own view
//! names what is wrong with it.

// a test says on stderr what it skips
#![allow(clippy::print_stderr)]
#![allow(clippy::unwrap_used, reason = "a test")]

use std::path::{Path, PathBuf};

use fwdlab_compare::{Compared, Format, Options};

/// Directory, baseline, variant, family, published difference in per cent (none proven: `None`),
/// our verdict.
type Case =
    (&'static str, &'static str, &'static str, &'static str, Option<&'static str>, &'static str);

const APU2: &str = "AMD_GX-412TC_4Cores/Intel_i210AT/firewalls/results/fbsd13-r368606.D27401v4";
const C2758: &str = "Atom_C2758_8Cores/Chelsio_T540-CR/firewalls/results/fbsd13-r368287.D27401v4";
const C2558: &str = "Atom_C2558_4Cores/Intel_i350/firewalls/results/fbsd12-head.r320657.D11476";
const XEON: &str = "Xeon_E5-2650_8Cores/Chelsio_T540-CR/firewalls/results/fbsd13-r368606.D27401v3";

const CASES: [Case; 8] = [
    (APU2, "r368606", "r368606D27401v4", "inet4", Some("17.4631"), "faster"),
    (APU2, "r368606", "r368606D27401v4", "inet6", Some("-7.24172"), "slower"),
    (XEON, "r368606", "r368606D27401v3", "inet4", Some("-0.00265499"), "invalid"),
    (XEON, "r368606", "r368606D27401v3", "inet6", Some("-0.00153393"), "invalid"),
    (C2758, "r368606", "r368606D27401v4", "inet4", Some("14.6091"), "faster"),
    (C2758, "r368606", "r368606D27401v4", "inet6", Some("8.22036"), "invalid"),
    (C2558, "320657", "320657D11476", "inet4", Some("-1.41658"), "slower"),
    (C2558, "320657", "320657D11476", "inet6", None, "inconclusive"),
];

fn archive() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/netbenches");
    path.is_dir().then_some(path)
}

fn compared(archive: &Path, case: &Case) -> Compared {
    let (directory, baseline, variant, family, _, _) = case;
    let path = |name: &str| archive.join(directory).join(format!("{name}.{family}.pps"));
    let options = Options { sources: vec![path(baseline), path(variant)], ..Options::default() };
    fwdlab_compare::compare(&options, &mut std::io::empty()).unwrap()
}

#[test]
fn published_ministat_verdicts_are_reproduced_and_what_is_wrong_is_named() {
    let Some(archive) = archive() else {
        eprintln!(
            "SKIPPED published_ministat_verdicts_are_reproduced_and_what_is_wrong_is_named: no archive of results beside the checkout"
        );
        return;
    };
    for case in &CASES {
        let result = compared(&archive, case);
        let view =
            String::from_utf8(fwdlab_compare::render(&result, Format::Ministat).unwrap()).unwrap();
        match case.4 {
            Some(difference) => {
                assert!(view.contains(&format!("\n\t{difference}% +/- ")), "{case:?}\n{view}")
            }
            None => assert!(
                view.contains("No difference proven at 95.0% confidence"),
                "{case:?}\n{view}"
            ),
        }
        let judgement = &result.groups[0].judgements[0];
        assert_eq!(judgement.verdict.word(), case.5, "{case:?}\n{}", judgement.sentence);
    }
}

/// A year of images: the largest differences and the newest in few lines, and where the rest is.
#[test]
fn many_variants_are_shown_in_few_lines() {
    let dir = tempfile::tempdir().unwrap();
    let file = |image: u32| {
        let level = match image {
            40 => 900_000.0,
            50 => 1_200_000.0,
            other => 1_000_000.0 + f64::from(other),
        };
        let lines: String =
            (0..5).map(|run| format!("{}\n", level + 100.0 * f64::from(run))).collect();
        let path = dir.path().join(format!("r{:06}.pps", 300_000 + image));
        std::fs::write(&path, lines).unwrap();
        path
    };
    let options = Options { sources: (0..80).map(file).collect(), ..Options::default() };
    let result = fwdlab_compare::compare(&options, &mut std::io::empty()).unwrap();
    let view = |form| String::from_utf8(fwdlab_compare::render(&result, form).unwrap()).unwrap();
    assert!(view(Format::Text).lines().count() > 300);
    let brief = view(Format::Brief);
    assert!(brief.lines().count() < 40, "{brief}");
    for shown in ["r300000", "r300040", "r300050", "r300079", "59 variants left out", "--all"] {
        assert!(brief.contains(shown), "{shown}: {brief}");
    }
    assert!(brief.contains("fwdlab history "), "{brief}");
    let few = Options { sources: options.sources[..3].to_vec(), ..options.clone() };
    let few = fwdlab_compare::compare(&few, &mut std::io::empty()).unwrap();
    let view = |form| fwdlab_compare::render(&few, form).unwrap();
    assert_eq!(view(Format::Brief), view(Format::Text));
}
