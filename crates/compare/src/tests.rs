use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use fwdlab_stats::multiple::Kind;
use fwdlab_stats::validity::Finding;
use fwdlab_stats::{Confidence, Direction, Method};

fn directory() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn write(directory: &tempfile::TempDir, name: &str, text: &str) -> PathBuf {
    let path = directory.path().join(name);
    fs::write(&path, text).unwrap();
    path
}

fn options(sources: &[&Path]) -> Options {
    Options {
        sources: sources.iter().map(|path| path.to_path_buf()).collect(),
        ..Options::default()
    }
}

fn compared(options: &Options) -> Compared {
    compare(options, &mut std::io::empty()).unwrap()
}

fn text(compared: &Compared, format: Format) -> String {
    String::from_utf8(render(compared, format).unwrap()).unwrap()
}

const BASE: &str = "694169\n696261\n696703\n697081\n700644\n";
const FASTER: &str = "813395\n816670\n818114.5\n820180.5\n825061\n";

#[test]
fn two_pps_files_are_compared_without_blocks() {
    let dir = directory();
    let (a, b) = (write(&dir, "base.inet4.pps", BASE), write(&dir, "new.inet4.pps", FASTER));
    let result = compared(&options(&[&a, &b]));
    let judgement = &result.groups[0].judgements[0];
    assert_eq!(judgement.verdict.word(), "faster");
    assert!(judgement.findings.contains(&Finding::NotBlocked));
    let text = text(&result, Format::Text);
    assert!(text.contains("wall ns"), "{text}");
    assert!(
        text.contains("+17.4")
            && text.contains("=> new.inet4 is faster than base.inet4 by 213.0 ns per frame"),
        "{text}"
    );
    assert!(text.lines().all(|line| line.chars().count() <= 72), "{text}");
}

/// "Equivalent" was said of a file and its copy, and "slower by a factor of more than 1000" of Mpps beside pps.
#[test]
fn a_copy_and_figures_of_another_unit_are_doubted() {
    let dir = directory();
    let base = write(&dir, "base.pps", BASE);
    let told = |name: &str, text: &str| {
        let other = write(&dir, name, text);
        let all = compared(&options(&[&base, &other]));
        let found = &all.groups[0].judgements[0].findings;
        let is_it = |own: &&Finding| {
            matches!(own, Finding::SameFigures { .. } | Finding::UnitsApart { .. })
        };
        found.iter().filter(is_it).map(ToString::to_string).collect::<Vec<_>>()
    };
    let [copy] = &told("copy.pps", BASE)[..] else { panic!("one doubt") };
    assert!(copy.starts_with("same figures: those of copy are those of base"), "{copy}");
    let scaled = |by: f64| -> String {
        BASE.lines().map(|own| format!("{}\n", own.parse::<f64>().unwrap() * by)).collect()
    };
    for (by, factor) in [(1.2e-3, "1000 "), (0.9e-6, "1000000 "), (1.3e3, "1000 ")] {
        let [units] = &told("units.pps", &scaled(by))[..] else { panic!("one doubt") };
        assert!(units.contains(&format!("about {factor}times apart")), "{units}");
    }
    for by in [1.2, 0.3, 8.0, 0.01, 100.0] {
        assert_eq!(told("other.pps", &scaled(by)), [""; 0], "{by}");
    }
}

#[test]
fn a_change_from_next_to_nothing_has_no_more_digits_than_anybody_reads() {
    let dir = directory();
    let a = write(&dir, "a", "0.0001\n0.0001\n0.00012\n0.0001\n0.00011\n");
    let b = write(&dir, "b", "4\n4.1\n4.2\n3.9\n4.05\n");
    let text = text(&compared(&options(&[&a, &b])), Format::Text);
    assert!(text.contains("  above x1000 [above x1000, above x1000]\n"), "{text}");
    assert!(text.contains("by a factor of more than 1000 in "), "{text}");
}

#[test]
fn values_that_are_all_0_have_no_coefficient_of_variation() {
    let dir = directory();
    let (a, b) = (write(&dir, "a", "0\n0\n0\n0\n"), write(&dir, "b", "0\n0\n0\n0\n"));
    for format in [Format::Text, Format::Markdown] {
        let text = text(&compared(&options(&[&a, &b])), format);
        assert!(!text.contains("NaN") && text.contains("invalid"), "{text}");
    }
}

#[test]
fn the_baseline_can_be_chosen_and_must_exist() {
    let dir = directory();
    let (a, b) = (write(&dir, "a.pps", BASE), write(&dir, "b.pps", FASTER));
    let chosen = Options { baseline: Some("b".to_owned()), ..options(&[&a, &b]) };
    assert_eq!(compared(&chosen).groups[0].judgements[0].verdict.word(), "slower");
    let unknown = Options { baseline: Some("c".to_owned()), ..options(&[&a, &b]) };
    let error = compare(&unknown, &mut std::io::empty()).unwrap_err();
    assert_eq!(error.to_string(), "no baseline `c`; there are: a, b");
}

#[test]
fn results_at_line_rate_are_invalid() {
    let dir = directory();
    let a = write(&dir, "a.pps", "1488010\n1488030\n1487900\n1488000\n");
    let b = write(&dir, "b.pps", "1488095\n1488090\n1488080\n1488088\n");
    let result = compared(&options(&[&a, &b]));
    let judgement = &result.groups[0].judgements[0];
    assert_eq!(judgement.verdict.word(), "invalid");
    assert!(judgement.sentence.contains("saturated"), "{}", judgement.sentence);
}

#[test]
fn csv_with_blocks_is_compared_by_blocks() {
    let dir = directory();
    let mut csv = String::from("variant,block,rate [frames/s]\n");
    for block in 1..=8 {
        csv += &format!("old,{block},{}\nnew,{block},{}\n", 1000 + block * 50, 1020 + block * 51);
    }
    let path = write(&dir, "runs.csv", &csv);
    let result = compared(&options(&[&path]));
    let judgement = &result.groups[0].judgements[0];
    assert_eq!(judgement.comparison.as_ref().unwrap().method, Method::SignedRank);
    assert_eq!((judgement.baseline.as_str(), judgement.variant.as_str()), ("old", "new"));
    assert_eq!(result.groups[0].unit, "frames/s");
}

#[test]
fn a_block_has_one_value_of_each_variant_and_a_whole_number() {
    let dir = directory();
    let fault = |rows: &str| {
        let path = write(&dir, "runs.csv", &format!("variant,block,rate [frames/s]\n{rows}"));
        compare(&options(&[&path]), &mut std::io::empty()).unwrap_err().to_string()
    };
    let twice = fault("old,1,10\nnew,1,11\nold,1,12\n");
    assert!(twice.contains("line 4") && twice.contains("block 1"), "{twice}");
    for number in ["0.5", "-1", "1763874801000"] {
        let error = fault(&format!("old,{number},10\nnew,{number},11\n"));
        assert!(error.contains(number) && error.contains("number of a block"), "{error}");
    }
}

#[test]
fn traffics_and_groups_are_told_apart_whatever_their_names() {
    let dir = directory();
    let csv = "variant,traffic,group,v\na,1,12,5\nb,1,12,6\na,11,2,5\nb,11,2,6\n";
    let path = write(&dir, "groups.csv", csv);
    assert_eq!(compared(&options(&[&path])).groups.len(), 2);
}

#[test]
fn a_name_that_says_a_cost_is_better_low() {
    let dir = directory();
    for head in [
        "ns/frame",
        "trial_cost_ns",
        "latency_us",
        "p99 latency",
        "cycles",
        "time",
        "seconds",
        "cost",
        "loss (%)",
        "drops",
        "duration_s",
        "ns per frame",
        "instructions",
        "instructions per frame",
        "CPU time (%)",
        "drops (1/s)",
    ] {
        let rows: String = (0..6)
            .map(|n| format!("a,{}\nb,{}\n", 50.0 + f64::from(n), 60.0 + f64::from(n)))
            .collect();
        let path = write(&dir, "costs.csv", &format!("variant,{head}\n{rows}"));
        let result = compared(&options(&[&path]));
        let word = result.groups[0].judgements[0].verdict.word();
        assert!(["slower", "worse"].contains(&word), "{head}: {word}");
    }
}

/// "Slower by 10 %" was said of a column of seconds that fell, and of lines of bare numbers.
#[test]
fn which_way_is_better_is_not_guessed_without_a_word() {
    let dir = directory();
    let is_unsaid = |options: &Options| {
        let result = compared(options);
        let own = &result.groups[0].judgements[0];
        let is_it = |found: &Finding| matches!(found, Finding::DirectionUnsaid { .. });
        (own.word, own.findings.iter().any(is_it))
    };
    let rows =
        |of: f64| (0..6).map(|n| format!("{}\n", of + f64::from(n) / 10.0)).collect::<String>();
    let (a, b) = (write(&dir, "a.txt", &rows(50.0)), write(&dir, "b.txt", &rows(60.0)));
    assert_eq!(is_unsaid(&options(&[&a, &b])), ("faster", true));
    let asked = Options { is_lower_better: true, ..options(&[&a, &b]) };
    assert_eq!(is_unsaid(&asked), ("slower", false));
    for (head, word, unsaid) in [
        ("v", "faster", true),
        ("drop rate", "better", true),
        ("instructions per cycle", "faster", false),
        ("packets per us", "faster", false),
        ("throughput", "faster", false),
        ("goodput (Mbps)", "faster", false),
        ("forwarding rate", "faster", false),
        ("partial drop rate", "better", false),
    ] {
        let row = |n: i32| {
            format!("x,{}\ny,{}\n", 50.0 + f64::from(n) / 10.0, 60.0 + f64::from(n) / 10.0)
        };
        let csv = format!("variant,{head}\n{}", (0..6).map(row).collect::<String>());
        let path = write(&dir, "heads.csv", &csv);
        let (own, is_it) = is_unsaid(&options(&[&path]));
        assert_eq!((own, is_it), (word, unsaid), "{head}");
    }
}

#[test]
fn figures_of_two_units_or_columns_in_one_file_are_not_mixed() {
    let dir = directory();
    let fault = |name: &str, text: &str| {
        let (a, b) = (write(&dir, "base.pps", BASE), write(&dir, name, text));
        compare(&options(&[&a, &b]), &mut std::io::empty()).unwrap_err().to_string()
    };
    let kilo = fault("b.pps", "999.1 kpps\n999.2 kpps\n");
    assert!(kilo.contains("b.pps line 1") && kilo.contains("frames/s"), "{kilo}");
    let mixed = fault("b.txt", "999 kpps\n1.01 Mpps\n");
    assert!(mixed.contains("b.txt line 2") && mixed.contains("one unit"), "{mixed}");
    let numbered = fault("b.pps", "1 1000\n2 1001\n3 1002\n");
    assert!(numbered.contains("--column one of: 1, 2"), "{numbered}");
    let unlike = fault("b.txt", "1000\n1001\n");
    assert!(
        unlike.contains("figures without a unit") && unlike.contains("in frames/s"),
        "{unlike}"
    );
    assert!(!unlike.contains("second file"), "{unlike}");
    let (a, b) = (
        write(&dir, "a.txt", "50 us\n51 us\n52 us\n"),
        write(&dir, "b.txt", "60 us\n61 us\n62 us\n"),
    );
    assert_eq!(compared(&options(&[&a, &b])).groups[0].direction, Direction::LowerIsBetter);
    let second = Options { column: Some("2".to_owned()), ..options(&[&a, &b]) };
    assert!(compare(&second, &mut std::io::empty()).is_err());
}

#[test]
fn a_difference_that_may_be_chance_among_two_traffics_is_not_decided() {
    const NOISE: [f64; 8] = [-0.09, -0.05, -0.025, -0.01, 0.01, 0.025, 0.05, 0.075];
    let dir = directory();
    let rows = |traffic: &str| -> String {
        let row = |(block, noise): (usize, &f64)| {
            let block = block + 1;
            let faster = 1e6 * (0.055 + noise).exp();
            format!("{traffic},old,{block},1000000\n{traffic},new,{block},{faster}\n")
        };
        NOISE.iter().enumerate().map(row).collect()
    };
    let head = "traffic,variant,block,rate [frames/s]\n";
    let one = write(&dir, "one.csv", &format!("{head}{}", rows("inet")));
    let two = write(&dir, "two.csv", &format!("{head}{}{}", rows("inet"), rows("inet6")));
    let alone = compared(&options(&[&one]));
    let alone = &alone.groups[0].judgements[0];
    let p = alone.comparison.as_ref().unwrap().p;
    assert!(p > 0.025 && p < 0.05, "{p}");
    assert_eq!(alone.verdict.word(), "faster");
    let both = compared(&options(&[&two]));
    let words: Vec<&str> =
        both.groups.iter().map(|group| group.judgements[0].verdict.word()).collect();
    assert_eq!(words, ["inconclusive", "inconclusive"]);
}

#[test]
fn csv_without_variants_has_a_series_per_column() {
    let dir = directory();
    let path = write(&dir, "wide.csv", "old,new\n10,20\n11,21\n10.5,20.5\n");
    assert_eq!(compared(&options(&[&path])).groups[0].series.len(), 2);
    let wrong = Options { column: Some("older".to_owned()), ..options(&[&path]) };
    let error = compare(&wrong, &mut std::io::empty()).unwrap_err();
    assert_eq!(error.to_string(), "no column `older`; there are: old, new");
}

/// Eight rounds that drift by 40 %, the new one 2 % above the old one in each.
fn drifting(head: &str) -> String {
    let row = |block: u32| {
        let base = 1000.0 + 50.0 * f64::from(block);
        format!("{block},{base},{:.2}\n", base * (1.02 + 0.0001 * f64::from(block % 3)))
    };
    format!("{head}\n") + &(1..=8).map(row).collect::<String>()
}

/// The block numbers were a variant of their own, and the two others compared without blocks.
#[test]
fn a_wide_table_with_blocks_is_compared_by_blocks() {
    let dir = directory();
    for head in ["block,old,new", "Round,old [frames/s],new [frames/s]"] {
        let path = write(&dir, "wide.csv", &drifting(head));
        let result = compared(&options(&[&path]));
        let names: Vec<&str> =
            result.groups[0].series.iter().map(|own| own.name.as_str()).collect();
        assert_eq!(names, ["old", "new"], "{head}");
        let judgement = &result.groups[0].judgements[0];
        assert_eq!(judgement.verdict.word(), "faster", "{head}: {}", judgement.sentence);
        assert!(!judgement.findings.contains(&Finding::NotBlocked));
        let text = text(&result, Format::Text);
        assert!(text.contains("signed ranks of log ratios within blocks"), "{text}");
    }
    let records = r#"[{"block": 1, "old": 10, "new": 11}, {"block": 2, "old": 12, "new": 13.1}]"#;
    let path = write(&dir, "wide.json", records);
    let result = compared(&options(&[&path]));
    assert_eq!(result.groups[0].series[0].blocks, Some(vec![1, 2]));
    // A column that is asked for is one of figures.
    let asked = Options { column: Some("block".to_owned()), ..options(&[&path, &path]) };
    assert_eq!(compared(&asked).groups[0].series[0].values, [1.0, 2.0]);
}

/// "20 planned, 0 kept (FAILED: block 1, ...)" stood there, and nothing had FAILED.
#[test]
fn blocks_without_a_common_number_cannot_be_paired_and_did_not_fail() {
    let dir = directory();
    let row = |block: u32, variant: &str| format!("{block},{variant},{}\n", 100 + block % 7);
    let said = |old: &mut dyn Iterator<Item = u32>, new: &mut dyn Iterator<Item = u32>| {
        let rows: String = old.map(|block| row(block, "old")).collect();
        let rows = rows + &new.map(|block| row(block, "new")).collect::<String>();
        let path = write(&dir, "apart.csv", &format!("block,variant,rate\n{rows}"));
        let result = compared(&options(&[&path]));
        let own = &result.groups[0].judgements[0];
        assert_eq!(own.verdict.word(), "invalid");
        assert_eq!(own.findings.len(), 1, "{:?}", own.findings);
        text(&result, Format::Text).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let text = said(&mut (1..=10), &mut (11..=20));
    assert!(
        text.contains("no block has figures of all variants: old has 1 to 10, new has 11 to 20"),
        "{text}"
    );
    assert!(
        text.contains("remedy: give what ran beside each other the same number of block, or leave"),
        "{text}"
    );
    assert!(!text.contains("FAILED") && !text.contains("planned"), "{text}");
    let text = said(&mut (1..20).step_by(2), &mut [40].into_iter());
    assert!(text.contains("old has 10 of 1 to 19, new has 40"), "{text}");
}

/// A cell without a figure was told as "line 4" and again as "block 3".
#[test]
fn a_cell_without_a_figure_is_told_once() {
    let dir = directory();
    let rows = (1..=9).map(|block| match block {
        3 => "3,,101,102\n".to_owned(),
        6 => "6,100,101,\n".to_owned(),
        _ => format!("{block},{},{},{}\n", 100 + block % 4, 101 + block % 4, 102 + block % 4),
    });
    let path = write(&dir, "t.csv", &format!("block,a,b,c\n{}", rows.collect::<String>()));
    let result = compared(&options(&[&path]));
    let said = |at: usize| -> Vec<String> {
        let findings = &result.groups[0].judgements[at].findings;
        let all = findings.iter().map(ToString::to_string);
        all.filter(|own| own.contains("block 3") || own.contains("block 6")).collect()
    };
    let (third, sixth) = (
        "9 planned, 8 kept (FAILED: block 3 in line 4)",
        "9 planned, 8 kept (FAILED: block 6 in line 7)",
    );
    let other = "1 of 9 blocks without a figure of each variant, which count for none: block 6 (c)";
    assert_eq!(said(0), [third, other]);
    assert_eq!(said(1), [third, sixth]);
}

/// A median of 1e307 had 308 digits, one of 1e-317 was 0.000000.
#[test]
fn medians_of_hundreds_of_digits_are_powers_of_ten() {
    let dir = directory();
    for (scale, shown) in [("e307", "1.02000e307"), ("e-312", "1.02000e-312"), ("", "1.020")] {
        let rows: String =
            (0..9).map(|i| format!("1.0{0}{scale},1.1{0}{scale}\n", i % 5)).collect();
        let path = write(&dir, "t.csv", &format!("old [frames/s],new [frames/s]\n{rows}"));
        let result = compared(&options(&[&path]));
        for format in [Format::Text, Format::Markdown, Format::Benchstat] {
            let text = text(&result, format);
            assert!(text.contains(shown), "{scale}: {text}");
            let longest = text.split_whitespace().map(str::len).max();
            assert!(longest < Some(40), "{scale}: {text}");
        }
    }
}

#[test]
fn a_block_of_a_wide_table_without_a_figure_counts_as_failed() {
    let dir = directory();
    let path = write(&dir, "wide.csv", &drifting("block,old,new").replace("1200,1224.12", "1200,"));
    let result = compared(&options(&[&path]));
    assert_eq!(result.groups[0].series[1].failed, ["block 4 in line 5"]);
    let comparison = result.groups[0].judgements[0].comparison.as_ref().unwrap();
    assert_eq!(comparison.n.baseline, 7, "{comparison:?}");
    let path = write(&dir, "twice.csv", "block,old,new\n1,10,11\n1,12,13\n");
    let error = compare(&options(&[&path]), &mut std::io::empty()).unwrap_err().to_string();
    assert!(error.contains("line 3") && error.contains("block 1"), "{error}");
}

/// Spreadsheets put a mark of byte order in front of a table, so that "block" was another name: its numbers were
/// compared with the figures.
#[test]
fn a_table_as_spreadsheets_write_it_is_the_same_table() {
    let dir = directory();
    let plain = drifting("block,old,new");
    let sentence = |name: &str, text: &str| {
        let result = compared(&options(&[&write(&dir, name, text)]));
        assert_eq!(result.groups[0].judgements.len(), 1, "{name}");
        result.groups[0].judgements[0].sentence.clone()
    };
    let wanted = sentence("plain.csv", &plain);
    assert!(wanted.contains("faster"), "{wanted}");
    for (name, text) in [
        ("mark.csv", format!("\u{feff}{plain}")),
        ("lines.csv", format!("\u{feff}{}", plain.replace('\n', "\r\n"))),
        ("returns.csv", plain.replace('\n', "\r")),
        ("semicolons.csv", plain.replace(',', ";")),
        ("semicolons", plain.replace(',', ";")),
        ("tabs.tsv", plain.replace(',', "\t")),
        ("tabs", plain.replace(',', "\t")),
        ("rounds.csv", plain.replace("block,", "round,block,").replace('\n', "\n1,")),
    ] {
        let text = text.trim_end_matches("\n1,");
        assert_eq!(sentence(name, text), wanted, "{name}");
    }
    let path = dir.path().join("wide.csv");
    let utf16: Vec<u8> =
        format!("\u{feff}{plain}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    fs::write(&path, utf16).unwrap();
    let error = compare(&options(&[&path]), &mut std::io::empty()).unwrap_err().to_string();
    assert!(error.contains("UTF-16") && error.contains("iconv"), "{error}");
}

/// A column with one cell that is no number was left out: another variant was the baseline, or another column the
/// figure.
#[test]
fn a_cell_that_is_no_number_leaves_out_no_variant() {
    let dir = directory();
    let fault = |text: &str| {
        let path = write(&dir, "cells.csv", text);
        compare(&options(&[&path]), &mut std::io::empty()).unwrap_err().to_string()
    };
    for (rows, line) in [
        ("old,new,other\n10,20,30\n11,n/a,31\n12,22,32\n", "line 3: \"n/a\""),
        ("block,old,new,other\n1,10,20,30\n2,-,21,31\n3,12,22,32\n", "line 3: \"-\""),
        ("variant,rate,heat\na,10,40\na,11,40\nb,12,41\nb,n/a,41\n", "line 5: \"n/a\""),
    ] {
        let error = fault(rows);
        assert!(error.contains(line) && error.contains("leave the cell empty"), "{error}");
    }
    for rows in [
        "old,new,other\n10,\"1,020\",30\n11,\"1,021\",31\n",
        "block;old;new\n1;10,5;11,5\n2;10,6;11,7\n",
        "old;new\n1\u{202f}000;1 020\n",
    ] {
        let error = fault(rows);
        assert!(error.contains("line 2:") && error.contains("marks of thousands"), "{error}");
    }
    // What is no column of figures is no variant, nor a fault.
    let path = write(
        &dir,
        "text.csv",
        "day,host,old,new\n2026-11-01,10.0.0.1,10,20\n2026-11-02,10.0.0.1,11,21\n",
    );
    assert_eq!(compared(&options(&[&path])).groups[0].series.len(), 2);
    let error = fault("old,old\n10,20\n11,21\n");
    assert!(error.contains("two columns `old`"), "{error}");
    for (block, shown) in [("mon", "\"mon\""), ("", "\"\"")] {
        let error = fault(&format!("block,old,new\n1,10,20\n{block},11,21\n"));
        assert!(
            error.contains(shown)
                && error.contains("line 3")
                && error.contains("number the blocks"),
            "{error}"
        );
    }
}

/// Runs of one number need not have been beside each other.
#[test]
fn numbers_of_runs_are_neither_a_variant_nor_blocks() {
    let dir = directory();
    let path = write(&dir, "wide.csv", &drifting("run,old,new"));
    let result = compared(&options(&[&path]));
    let judgement = &result.groups[0].judgements[0];
    assert_eq!((judgement.baseline.as_str(), judgement.variant.as_str()), ("old", "new"));
    assert_eq!(result.groups[0].judgements.len(), 1);
    assert!(judgement.findings.contains(&Finding::NotBlocked));
    let long = write(&dir, "long.csv", "variant,run,v\na,1,5\na,2,5.1\nb,1,6\nb,2,6.1\n");
    assert_eq!(compared(&options(&[&long])).groups[0].series[0].values, [5.0, 5.1]);
}

#[test]
fn json_of_three_shapes_is_read() {
    let dir = directory();
    let object = write(&dir, "o.json", r#"{"old": [10, 11, 10.5], "new": [20, 21, 20.5]}"#);
    assert_eq!(compared(&options(&[&object])).groups[0].series.len(), 2);
    let records = write(
        &dir,
        "r.json",
        r#"[{"variant":"a","v":1.0},{"variant":"a","v":1.1},{"variant":"b","v":2.0},{"variant":"b","v":2.1}]"#,
    );
    assert_eq!(compared(&options(&[&records])).groups[0].judgements[0].variant, "b");
    let array = write(&dir, "plain.json", "[1, 1.1, 1.2]");
    let result = compared(&options(&[&array, &object, &records]));
    assert_eq!(result.groups[0].series.len(), 3, "the records have a metric of their own");
    let broken = write(&dir, "b.json", "{\"a\": 3}");
    let error = compare(&options(&[&broken]), &mut std::io::empty()).unwrap_err().to_string();
    assert!(error.contains("member `a` is no array of numbers"), "{error}");
}

#[test]
fn go_benchmarks_are_grouped_by_name_and_unit() {
    let dir = directory();
    let lines = |ns: [f64; 4]| -> String {
        let line = |ns: &f64| format!("BenchmarkLookup/radix-8 \t 1000 \t {ns} ns/op \t 0 B/op\n");
        format!("goos: linux\npkg: x\n{}PASS\n", ns.iter().map(line).collect::<String>())
    };
    let old = write(&dir, "old.txt", &lines([100.0, 101.0, 99.0, 100.5]));
    let new = write(&dir, "new.txt", &lines([80.0, 81.0, 79.5, 80.2]));
    let result = compared(&options(&[&old, &new]));
    assert_eq!(result.groups.len(), 1, "allocations of 0 are no group");
    assert_eq!(result.groups[0].name, "Lookup/radix");
    assert_eq!(result.groups[0].judgements[0].verdict.word(), "faster", "fewer ns/op is faster");
    let columns = text(&result, Format::Benchstat);
    assert!(columns.lines().nth(1).unwrap().contains("ns/op"), "{columns}");
    assert!(columns.contains("n=4)"), "{columns}");
}

#[test]
fn bytes_and_latencies_are_better_and_times_are_faster() {
    let dir = directory();
    let go = |bytes: u32| -> String {
        let line = |i: u32| format!("BenchmarkX-8 \t 1000 \t {} B/op\n", bytes + i);
        (0..6).map(line).collect()
    };
    let table = |head: &str, value: u32| -> String {
        let line = |i: u32| format!("{}\n", value + i % 5);
        format!("{head}\n{}", (0..8).map(line).collect::<String>())
    };
    let word = |[old, new]: [String; 2], kind: &str| {
        let paths =
            [write(&dir, &format!("old.{kind}"), &old), write(&dir, &format!("new.{kind}"), &new)];
        let result = compared(&options(&[&paths[0], &paths[1]]));
        let own = &result.groups[0].judgements[0];
        let said = own.sentence.split(" than ").next().unwrap_or_default().to_owned();
        assert_eq!(said, format!("new is {}", own.word), "{}", own.sentence);
        for format in [Format::Csv, Format::Markdown] {
            let text = text(&result, format);
            assert_eq!(text.contains("faster"), own.word == "faster", "{text}");
        }
        own.word
    };
    assert_eq!(word([go(900), go(800)], "txt"), "better");
    let tables = |head: &str| [table(head, 900), table(head, 800)];
    assert_eq!(word(tables("latency [us]"), "csv"), "better");
    assert_eq!(word(tables("reset time [s]"), "csv"), "better");
    assert_eq!(word(tables("time [s]"), "csv"), "faster");
    assert_eq!(word(tables("cost [ns/frame]"), "csv"), "faster");
}

/// What takes every pair of values would need hundreds of gigabytes, or hours, for these.
#[test]
fn files_of_many_values_are_compared_in_linear_room() {
    let dir = directory();
    let file = |level: u32| -> String {
        (0..150_000_u32).map(|i| format!("{}\n", level + (i.wrapping_mul(48_271) >> 16))).collect()
    };
    let (a, b) = (write(&dir, "a.pps", &file(1_000_000)), write(&dir, "b.pps", &file(1_020_000)));
    let own = &compared(&options(&[&a, &b])).groups[0].judgements[0];
    assert_eq!(own.word, "faster", "{}", own.sentence);
}

#[test]
fn standard_input_is_a_source() {
    let dir = directory();
    let a = write(&dir, "a.txt", BASE);
    let result = compare(&options(&[&a, Path::new("-")]), &mut FASTER.as_bytes()).unwrap();
    assert_eq!(result.groups[0].judgements[0].variant, "stdin");
}

#[test]
fn broken_lines_are_named() {
    let dir = directory();
    let a = write(&dir, "a.txt", "1\n2\nx3\n");
    let error = compare(&options(&[&a]), &mut std::io::empty()).unwrap_err().to_string();
    assert!(
        error.contains("a.txt line 3: \"x3\" where a number is wanted; mark the line with #"),
        "{error}"
    );
    let empty = write(&dir, "e.txt", "# nothing\n");
    let error = compare(&options(&[&empty]), &mut std::io::empty()).unwrap_err().to_string();
    assert!(error.contains("no values found"), "{error}");
    let one = write(&dir, "one.txt", BASE);
    let error = compare(&options(&[&one]), &mut std::io::empty()).unwrap_err().to_string();
    assert!(error.starts_with("nothing to compare: only `one`"), "{error}");
}

#[test]
fn every_form_names_the_verdict() {
    let dir = directory();
    let (a, b) = (write(&dir, "a.pps", BASE), write(&dir, "b.pps", FASTER));
    let result = compared(&options(&[&a, &b]));
    assert!(text(&result, Format::Markdown).contains("| faster |"));
    assert!(text(&result, Format::Csv).lines().nth(1).unwrap().contains(",faster,"));
    let json: serde_json::Value = serde_json::from_str(&text(&result, Format::Json)).unwrap();
    assert_eq!(json["groups"][0]["judgements"][0]["verdict"]["verdict"], "faster");
    assert_eq!(json["groups"][0]["series"][0]["values"][0], 694_169.0);
    assert!(
        text(&result, Format::Ministat)
            .contains("Difference at 95.0% confidence\n\t121713 +/- 5083.41\n")
    );
}

#[test]
fn missing_values_are_counted_not_forgotten() {
    let dir = directory();
    let path = write(&dir, "runs.csv", "variant,rate\na,10\na,11\na,\nb,10\nb,11\nb,10.5\n");
    let result = compared(&options(&[&path]));
    let text = text(&result, Format::Text);
    assert!(text.contains("2 of 3") && text.contains("3 planned, 2 kept"), "{text}");
}

/// A table with and without blocks, in which a figure of either variant is missing: a warning alone used to
/// say so.
#[test]
fn nothing_is_equivalent_to_what_has_no_figure_in_a_table() {
    let dir = directory();
    let judged = |is_blocked: bool, lacking: &[&str]| {
        let mut table =
            String::from(if is_blocked { "variant,block,rate\n" } else { "variant,rate\n" });
        for (at, name) in (0..40).flat_map(|at| [(at, "a"), (at, "b")]) {
            let figure = 1e6 * (1.0 + 1e-4 * ((at * 7 + name.len() + at % 3) % 40) as f64);
            let cell =
                if at == 9 && lacking.contains(&name) { String::new() } else { figure.to_string() };
            let block = if is_blocked { format!("{at},") } else { String::new() };
            table += &format!("{name},{block}{cell}\n");
        }
        let path = write(&dir, "runs.csv", &table);
        compared(&options(&[&path])).groups[0].judgements[0].clone()
    };
    for is_blocked in [true, false] {
        assert_eq!(judged(is_blocked, &[]).verdict.word(), "equivalent");
        for (name, why) in [
            ("a", "but 1 of 40 trials of a FAILED, and may have been slow"),
            ("b", "but 1 of 40 trials of b FAILED, and may have been slow"),
        ] {
            let own = judged(is_blocked, &[name]);
            assert_eq!(own.verdict.word(), "inconclusive", "{}", own.sentence);
            assert!(own.sentence.contains(why), "{}", own.sentence);
        }
    }
    // A block that lost both sides says nothing; without blocks nobody knows which belong together.
    assert_eq!(judged(true, &["a", "b"]).verdict.word(), "equivalent");
    assert_eq!(judged(false, &["a", "b"]).verdict.word(), "inconclusive");
}

fn go(times: &[(usize, f64)], runs: usize) -> String {
    let line = |(name, ns): &(usize, f64), run: usize| {
        // runs of one benchmark scatter by half a per cent, in an order of their own
        let noise = 1.0 + 0.005 * (((run * 7 + name * 5) % runs) as f64 / runs as f64 - 0.5);
        format!("BenchmarkB{name} 1000 {:.4} ns/op\n", ns * noise)
    };
    (0..runs).flat_map(|run| times.iter().map(move |own| line(own, run))).collect()
}

#[test]
fn many_benchmarks_share_a_false_discovery_rate_that_is_named() {
    let dir = directory();
    let old: Vec<(usize, f64)> = (0..20).map(|i| (i, 100.0)).collect();
    let new: Vec<(usize, f64)> = (0..20).map(|i| (i, if i == 3 { 80.0 } else { 100.0 })).collect();
    let old = write(&dir, "old.txt", &go(&old, 10));
    let new = write(&dir, "new.txt", &go(&new, 10));
    let result = compared(&options(&[&old, &new]));
    for group in &result.groups {
        let own = &group.judgements[0];
        let correction = own.comparison.as_ref().unwrap().correction.unwrap();
        assert_eq!((correction.kind, correction.among), (Kind::FalseDiscovery, 20));
        let is_faster = own.verdict.word() == "faster";
        assert_eq!(is_faster, group.name == "B3", "{}", own.sentence);
        assert!(own.notes()[0].contains("false discovery rate over 20 comparisons"));
    }
    let text = text(&result, Format::Benchstat);
    let line = text.lines().find(|line| line.trim_start().starts_with("B3 ")).unwrap();
    assert!(line.contains("-20.0") && !line.contains("+25."), "fewer ns/op are negative: {line}");
}

#[test]
fn several_files_share_their_level_by_holm() {
    let dir = directory();
    let rows = |shift: f64| -> String {
        (0..8)
            .map(|i| format!("{}\n", 1e6 * (1.0 + 0.01 * shift + 1e-3 * f64::from(i * 5 % 8))))
            .collect()
    };
    let names = ["a", "b", "c"].map(|name| format!("{name}.txt"));
    let files: Vec<PathBuf> = names
        .iter()
        .zip([0.0, 0.0, 5.0])
        .map(|(name, shift)| write(&dir, name, &rows(shift)))
        .collect();
    let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let result = compared(&options(&files));
    let own = &result.groups[0].judgements;
    let notes = own[1].notes();
    assert!(notes[0].contains("Holm's correction for 2 comparisons"), "{notes:?}");
    assert_eq!(own[1].verdict.word(), "faster");
    assert_ne!(own[0].verdict.word(), "faster");
}

#[test]
fn more_confidence_is_asked_for_named_and_out_of_reach_of_few_runs() {
    let dir = directory();
    let (a, b) = (write(&dir, "a.pps", BASE), write(&dir, "b.pps", FASTER));
    let confidence = Confidence::new(0.999).unwrap();
    let result = compared(&Options { confidence, ..options(&[&a, &b]) });
    let own = &result.groups[0].judgements[0];
    assert_eq!(own.verdict.word(), "inconclusive", "5 + 5 runs cannot reach 99.9 %");
    let is_named = |f: &Finding| f.to_string().contains("7 of each can");
    assert!(own.findings.iter().any(is_named), "{:?}", own.findings);
    assert!(own.notes()[0].ends_with("interval at 99.9 %"), "{:?}", own.notes());
}

#[test]
fn zero_spread_and_three_runs_name_no_winner() {
    let dir = directory();
    for runs in 2..=3 {
        let a = write(&dir, "a.txt", &"5\n".repeat(runs));
        let b = write(&dir, "b.txt", &"6\n".repeat(runs));
        let own = &compared(&options(&[&a, &b])).groups[0].judgements[0];
        assert_eq!(own.verdict.word(), "inconclusive", "{}", own.sentence);
    }
}

#[test]
fn rare_slow_runs_of_one_file_are_a_warning_and_not_equivalent() {
    let dir = directory();
    let rows = |slow: usize| -> String {
        let state = |i: usize| if i < slow { 0.63 } else { 1.0 };
        (0..40)
            .map(|i| format!("{}\n", 1e6 * state(i) * (1.0 + 1e-5 * (i * 7 % 40) as f64)))
            .collect()
    };
    let judged = |slow| {
        let (a, b) = (write(&dir, "a.txt", &rows(0)), write(&dir, "b.txt", &rows(slow)));
        compared(&options(&[&a, &b])).groups[0].judgements[0].clone()
    };
    assert_eq!(judged(0).verdict.word(), "equivalent");
    let own = judged(4);
    assert_eq!(own.verdict.word(), "inconclusive");
    let is_named = |f: &Finding| f.to_string().contains("4 of 40 runs of b are worse by about 37");
    assert!(own.findings.iter().any(is_named), "{:?}", own.findings);
}

/// `Sort/size-10` and `Sort/size-100` are two benchmarks, with and without a number of processors.
#[test]
fn only_digits_behind_every_go_name_are_processors() {
    let dir = directory();
    let file = |name: &str, suffix: &str, factor: f64| {
        let line = |size: u32, i: u32| {
            let ns = f64::from(size * 100 + i) * factor;
            format!("BenchmarkSort/size-{size}{suffix} \t 1000 \t {ns} ns/op\n")
        };
        let lines = (0..8).flat_map(|i| [line(10, i), line(100, i)]);
        write(&dir, name, &lines.collect::<String>())
    };
    for suffix in ["", "-8"] {
        let (old, new) = (file("old", suffix, 1.0), file("new", suffix, 2.0));
        let all = compared(&options(&[&old, &new]));
        let names: Vec<&str> = all.groups.iter().map(|group| group.name.as_str()).collect();
        assert_eq!(names, ["Sort/size-10", "Sort/size-100"], "{suffix}");
        assert!(all.groups.iter().all(|group| group.judgements[0].verdict.word() == "slower"));
    }
    let wrong = write(&dir, "comma", "BenchmarkX-8 1000 12,5 ns/op\n");
    let error = compare(&options(&[&wrong, &wrong]), &mut std::io::empty()).unwrap_err();
    assert!(error.to_string().contains("line 1: \"12,5\""), "{error}");
}

#[test]
fn allocations_that_begin_are_shown_and_those_that_never_come_are_not() {
    let dir = directory();
    let file = |name: &str, count: u32| {
        let line = |i: u32| format!("BenchmarkX-8 1000 {} ns/op {count} allocs/op\n", 100 + i % 3);
        write(&dir, name, &(0..8).map(line).collect::<String>())
    };
    let (none, none_too, five) = (file("none", 0), file("too", 0), file("five", 5));
    assert_eq!(compared(&options(&[&none, &none_too])).groups.len(), 1);
    let all = compared(&options(&[&none, &five]));
    let own = all.groups.iter().find(|group| group.unit == "allocs/op").unwrap();
    assert_eq!(own.judgements[0].verdict.word(), "invalid");
    let text = text(&all, Format::Text);
    assert!(text.contains("baseline: value number 1 is 0"), "{text}");
}

#[test]
fn decimal_commas_are_refused_with_line_and_remedy() {
    let dir = directory();
    for (file, line) in [
        ("123,45\n124,10\n", 1),
        ("# run\n1,5;2,5\n1,6;2,6\n", 2),
        ("variant,rate\nA,1,5\nB,1,6\n", 2),
        ("1,5 2,5\n1,6 2,6\n", 1),
    ] {
        let path = write(&dir, "commas.csv", file);
        let error = compare(&options(&[&path, &path]), &mut std::io::empty()).unwrap_err();
        let said = error.to_string();
        assert!(
            said.contains(&format!("line {line}:"))
                && said.contains("decimal point")
                && !said.contains("makes two is wanted"),
            "{said}"
        );
    }
    let path = write(&dir, "whole.csv", "1,1000\n2,1010\n3,1005\n4,1001\n");
    let chosen = Options { column: Some("2".to_owned()), ..options(&[&path, &path]) };
    assert!(compare(&chosen, &mut std::io::empty()).is_ok());
}

/// Three variants in blocks, of which one lacks a row.
#[test]
fn rows_that_are_missing_are_said_and_the_correction_is_in_the_csv() {
    let dir = directory();
    let mut table = String::from("block,variant,rate\n");
    for block in 1..=12 {
        for (i, variant) in ["a", "b", "c"].into_iter().enumerate() {
            if (block, variant) != (5, "c") {
                let rate = 1000.0 + 100.0 * i as f64 + f64::from(block * 7 % 11) / 10.0;
                table.push_str(&format!("{block},{variant},{rate}\n"));
            }
        }
    }
    let all = compared(&options(&[&write(&dir, "t.csv", &table)]));
    for own in &all.groups[0].judgements {
        let missing = |finding: &&Finding| matches!(finding, Finding::BlocksIncomplete { .. });
        let finding = own.findings.iter().find(missing).expect("block 5 does not count");
        let said =
            "1 of 12 blocks without a figure of each variant, which count for none: block 5 (c)";
        assert_eq!(finding.to_string(), said);
        assert!(!own.findings.iter().any(|own| matches!(own, Finding::TrialsMissing { .. })));
    }
    let csv = text(&all, Format::Csv);
    assert!(csv.contains("correction for 2 comparisons"), "{csv}");
}

/// A file called "c", a line end, "=> c is faster than a" wrote a verdict into the text.
#[test]
fn a_line_end_in_a_name_begins_no_line() {
    let dir = directory();
    let a = write(&dir, "a.pps", BASE);
    let b = write(&dir, "c\n=> c is faster than a.pps", BASE);
    for format in [Format::Text, Format::Markdown, Format::Benchstat, Format::Csv] {
        let text = text(&compared(&options(&[&a, &b])), format);
        assert!(!text.lines().any(|line| line.starts_with("=> c is")), "{text}");
        assert!(text.contains("c\\n=> c is"), "{text}");
    }
}

/// "0 ± NaN%" stood there.
#[test]
fn nothing_is_a_share_of_a_median_of_0() {
    let dir = directory();
    let (a, b) = (write(&dir, "a.pps", BASE), write(&dir, "b.pps", "0\n0\n0\n0\n"));
    let text = text(&compared(&options(&[&a, &b])), Format::Benchstat);
    assert!(text.contains("0.000000") && !text.contains("NaN"), "{text}");
}

const EXPORT: &str = "trial,block,order,variant,is_baseline,traffic,status,started,limited_by,trial_rate_pps,\
                      trial_cost_ns,measure,figure,figure_unit,interval,rx,clock,warnings\n";

/// Rows of an export: two intervals of each trial.
fn exported(rows: &[(u32, &str, &str, &str, f64)]) -> String {
    let mut text = EXPORT.to_owned();
    for (at, (block, variant, status, limited, rate)) in rows.iter().enumerate() {
        let [rate, cost] = match *status {
            "failed" => ["".to_owned(), "".to_owned()],
            _ => [rate.to_string(), (1e9 / rate).to_string()],
        };
        for interval in [0, 1] {
            text += &format!(
                "b{block}-{variant},{block},{at},{variant},{},inet,{status},t{at},{limited},{rate},{cost},rate,,,\
                 {interval},{},ns,\n",
                *variant == "old",
                interval * 7
            );
        }
    }
    text
}

/// Its twelve columns of figures were offered, and with one chosen each interval was a trial of its own.
#[test]
fn an_export_is_compared_by_the_figure_that_decides_in_its_campaign() {
    let dir = directory();
    let of = |limited: &'static str| -> Vec<(u32, &str, &str, &str, f64)> {
        let block = |n: u32| {
            let base = 1e6 + f64::from(n % 3) * 100.0;
            [(n, "new", "ok", limited, base * 1.1), (n, "old", "ok", limited, base)]
        };
        (1..=8).flat_map(block).collect()
    };
    let mut rows = of("device");
    rows.insert(0, (1, "new", "repeated", "device", 5e6));
    rows[4].2 = "failed";
    let path = write(&dir, "x.csv", &exported(&rows));
    let result = compared(&options(&[&path]));
    let group = &result.groups[0];
    assert_eq!((group.metric.as_str(), group.unit.as_str()), ("forwarding rate", "frames/s"));
    assert_eq!(result.groups.len(), 1);
    let names: Vec<&str> = group.series.iter().map(|own| own.name.as_str()).collect();
    assert_eq!(names, ["old", "new"], "the baseline stands first");
    assert_eq!(
        (group.series[0].values.len(), &group.series[0].failed),
        (7, &vec!["b2-old".into()])
    );
    assert_eq!(group.series[1].values.len(), 8, "the repeated trial does not count");
    let judgement = &group.judgements[0];
    assert_eq!(judgement.verdict.word(), "faster", "{}", judgement.sentence);
    assert!(!judgement.findings.contains(&Finding::NotBlocked));
    let said = text(&result, Format::Text);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("x.csv is an export of 16 trials, 1 FAILED, 1 repeated"), "{said}");
    assert!(said.contains("no checks of the set-up"), "{said}");

    // the tester bounded the rates: the cost decides, unless another figure is asked for
    let path = write(&dir, "y.csv", &exported(&of("generator")));
    let result = compared(&options(&[&path]));
    assert_eq!(result.groups[0].unit, "ns/frame");
    assert_eq!(result.groups[0].judgements[0].verdict.word(), "faster");
    let column = Options { column: Some("trial_rate_pps".into()), ..options(&[&path]) };
    assert_eq!(compared(&column).groups[0].series[0].values.len(), 8);

    // the same, an object a line
    let all = exported(&of("generator"));
    let head: Vec<&str> = EXPORT.trim_end().split(',').collect();
    let line = |row: &str| {
        let cells = head.iter().zip(row.split(',')).map(|(name, cell)| match cell.parse::<f64>() {
            Ok(number) => format!("\"{name}\":{number}"),
            Err(_) if cell.is_empty() => format!("\"{name}\":null"),
            Err(_) if ["true", "false"].contains(&cell) => format!("\"{name}\":{cell}"),
            Err(_) => format!("\"{name}\":\"{cell}\""),
        });
        format!("{{{}}}\n", cells.collect::<Vec<_>>().join(","))
    };
    let lines: String = all.lines().skip(1).map(line).collect();
    let path = write(&dir, "y.jsonl", &lines);
    let same = compared(&options(&[&path]));
    assert_eq!(same.groups[0].judgements[0].sentence, result.groups[0].judgements[0].sentence);
    let path = write(&dir, "cut.jsonl", &lines[..lines.len() - 9]);
    let error = compare(&options(&[&path]), &mut std::io::empty()).unwrap_err().to_string();
    assert!(error.contains("line 32: "), "{error}");

    // two campaigns in one file are not one
    let twice = all.clone() + &all.replace(",t", ",later").split_off(EXPORT.len());
    let path = write(&dir, "twice.csv", &twice);
    let error = compare(&options(&[&path]), &mut std::io::empty()).unwrap_err().to_string();
    assert!(error.contains("another campaign") && error.contains("a file of its own"), "{error}");
}
