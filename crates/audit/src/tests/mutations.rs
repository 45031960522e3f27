//! Pages, medians and graph data that were changed at random or on purpose.

use super::*;

/// Whether a finding says that rows do not follow from the data.
fn is_about_rows(finding: &AuditFinding) -> bool {
    matches!(finding.rule, Rule::BlockRows | Rule::BlockSource | Rule::RunCount)
}

/// Every digit that is changed in a `.pps` file must be noticed: the page's row
/// no longer follows from it.
#[test]
fn every_changed_median_is_found() {
    let text = format!("Results\n\n{}\n{}", block4(), block6());
    let all = [
        ("r368606.inet4", OLD4),
        ("r368606D27401.inet4", NEW4),
        ("r368606.inet6", OLD6),
        ("r368606D27401.inet6", NEW6),
    ];
    for (prefix, values) in all {
        for index in 0..values.len() {
            let mut changed = values;
            changed[index] += 1000.0;
            let found = page(&text).series(prefix, &changed).findings();
            assert!(
                found.iter().any(|f| f.rule == Rule::BlockRows),
                "{prefix} {index}: {found:#?}"
            );
        }
    }
}

#[test]
fn a_missing_and_an_added_median_are_found() {
    let text = format!("Results\n\n{}", block4());
    let short = page(&text).series("r368606.inet4", &OLD4[..4]);
    let long = page(&text).series("r368606.inet4", &[&OLD4[..], &[697_000.0]].concat());
    for tree in [short, long] {
        let found = tree.findings();
        assert!(found.iter().any(is_about_rows), "{found:#?}");
    }
}

/// Every figure of a graph's data, and its label.
#[test]
fn every_changed_figure_of_a_graph_is_found() {
    let right = "r368606.inet4 696703 694169 700644\n";
    let is_found =
        |f: &AuditFinding| matches!(f.rule, Rule::GraphData | Rule::GraphLabel) && f.line == 1;
    assert!(!page("Results\n").with("gnuplot.data", right).findings().iter().any(is_found));
    for (is, mutated) in
        [("696703", "696708"), ("694169", "594169"), ("700644", "700655"), ("inet4", "inet6")]
    {
        let tree = page("Results\n").with("gnuplot.data", &right.replace(is, mutated));
        let found = tree.findings();
        assert!(found.iter().any(is_found), "{mutated}: {found:#?}");
    }
}

#[test]
fn garbage_in_medians_and_graph_data_is_no_value() {
    let garbage = "nan\ninf\n-inf\n1e999\n99999999999999999999999999\n\u{0}\n--5\n0x10\n";
    let tree = page(&format!("Results\n\n{}", block4()))
        .with("r368606.inet4.pps", garbage)
        .with("gnuplot.data", garbage)
        .with("other.data", "a b c d\n\"open 1 2 3\n");
    let _ = tree.findings();
}

#[test]
fn mutated_pages_never_panic() {
    let text = format!(
        "Impact of D27401\n  - 2000 flows, 1.448Mpps (line-rate)\n\nIPv4:\n{}\n=> 17.5% faster, twice, no impact\n[a: r1](b%20c.svg)\n",
        block4()
    );
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    for _ in 0..400 {
        let mut bytes = text.clone().into_bytes();
        for _ in 0..6 {
            if bytes.len() < 2 {
                break;
            }
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let at = (state >> 8) as usize % bytes.len();
            match state % 4 {
                0 => bytes[at] = (state >> 40) as u8,
                1 => drop(bytes.remove(at)),
                2 => bytes.truncate(at.max(1)),
                _ => {
                    let piece = bytes[at..(at + 20).min(bytes.len())].to_vec();
                    bytes.splice(at..at, piece);
                }
            }
        }
        let _ = check_page(&bytes);
    }
    let _ = check_page(b"");
}
