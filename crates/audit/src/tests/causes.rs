//! One finding a cause, the known causes of false findings, and work that grows as the archive does.

use super::*;

fn is_blamed(tree: &Tree, rule: Rule) -> bool {
    tree.findings().iter().any(|f| f.rule == rule)
}

#[test]
fn a_rate_search_without_a_receiver_has_not_failed() {
    let search = "CMD on h: pkt-gen -f tx -i a -s 1.1.1.1 -d 2.2.2.1\n\
                  Estimated Equilibrium Ethernet throughput= 55 Mb/s (maximum value seen: 60 Mb/s)\n";
    let tree = page("Results\n").with("RAW/bench.r368606.ipsec.1.sender", search);
    assert!(!is_blamed(&tree, Rule::FailedRun), "{:#?}", tree.findings());
    let silent = "CMD on h: pkt-gen -f tx -i a -s 1.1.1.1 -d 2.2.2.1\n";
    let tree = page("Results\n").with("RAW/bench.r368606.ipsec.1.sender", silent);
    assert!(is_blamed(&tree, Rule::FailedRun));
}

#[test]
fn a_command_without_a_length_says_nothing_of_frames() {
    let unnamed = sender(20, 7, 1.488e6).replace(" -l 60", "");
    let text = "Results\n  - frame size of 128 bytes\n";
    let tree = logged(5e5, 6e5, [unnamed.clone(), unnamed]).with("README.md", text);
    assert!(!is_blamed(&tree, Rule::FrameClaim), "{:#?}", tree.findings());
    let tree = logged(5e5, 6e5, same_senders(1.488e6)).with("README.md", text);
    assert!(is_blamed(&tree, Rule::FrameClaim));
}

#[test]
fn medians_by_either_rule_and_under_another_name_are_found() {
    // two parts of one file, made before and after ministat's median changed
    let uneven = |low: f64, high: f64| {
        let mut text = format!("CMD on h: pkt-gen -f rx -i b\n{}", "100.0 main [1] x\n".repeat(14));
        for second in 0..20 {
            let rate = if second % 2 == 0 { low } else { high };
            text.push_str(&format!(
                "{}.0 main_thread [7] {rate} pps ({rate} pkts in 1000000 usec)\n",
                100 + second
            ));
        }
        text + &"Terminated\n".repeat(10)
    };
    let tree = |values: &[f64]| {
        Tree::new()
            .run("r368606.inet4", 1, &uneven(500_000.0, 500_020.0), &sender(20, 7, 1.488e6))
            .run("r368606.inet4", 2, &uneven(600_000.0, 600_020.0), &sender(20, 7, 1.488e6))
            .series("r368606.inet4", values)
            .with("README.md", "Results\n")
    };
    assert!(!is_blamed(&tree(&[500_010.0, 600_020.0]), Rule::MedianReproduced));
    assert!(is_blamed(&tree(&[500_010.0, 600_005.0]), Rule::MedianReproduced));
    // the same medians as another file
    let renamed = logged(5e5, 6e5, same_senders(1.488e6));
    let old = renamed.0.path().join(DIR).join("r368606D27401.inet4.pps");
    fs::rename(&old, old.with_file_name("patched.pps")).unwrap();
    assert!(!is_blamed(&renamed, Rule::SeriesMissing), "{:#?}", renamed.findings());
}

#[test]
fn one_label_under_two_headings_is_two_labels() {
    let one = block(&[("r368606 base", &OLD4), ("r368606 with D27401 x", &NEW4)]);
    let two = block(&[("r368606 base", &OLD6), ("r368606 with D27401 x", &NEW6)]);
    let text = |a: &str, b: &str| format!("Results\n\n{a}\n\n{one}\n{b}\n\n{two}");
    assert!(!is_blamed(&page(&text("## IPv4", "## IPv6")), Rule::LabelTwoValues));
    assert!(is_blamed(&page(&text("## Both", "")), Rule::LabelTwoValues));
}

#[test]
fn kernels_without_a_date_are_not_called_the_same() {
    let with = |uname: &str| {
        page("Results\n")
            .with("RAW/bench.r368606.inet4.info", &format!("IMAGE=a\nUNAME=\"{uname}\""))
            .with("RAW/bench.r368606D27401.inet4.info", &format!("IMAGE=b\nUNAME=\"{uname}\""))
    };
    assert!(!is_blamed(&with("FreeBSD x 13.0 #0 r368606M"), Rule::SameKernel));
    assert!(is_blamed(&with("FreeBSD x 13.0 #0 r368606M: Tue Jul  4 10:11:12"), Rule::SameKernel));
}

#[test]
fn a_number_without_a_letter_is_a_revision_of_any_count() {
    let is_blamed = |text: &str| {
        let tree = Tree::new().series("n268154.inet4", &OLD4);
        let tree = tree.with("README.md", &format!("Results\n  - {text}\n"));
        tree.of(Rule::RevisionDiffers).iter().any(|f| f.line == 2)
    };
    assert!(!is_blamed("FreeBSD MAIN 268154"));
    assert!(is_blamed("FreeBSD MAIN 268155"));
    assert!(is_blamed("FreeBSD MAIN c268154"));
}

#[test]
fn a_figure_of_an_earlier_page_is_looked_for_there() {
    let tree = |text: &str| page(&format!("Results\n\n{}\n=> {text}\n", block4()));
    let earlier = |tree: Tree| {
        let path = tree.0.path().join("machine/results/older/r300000.inet4.pps");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "512345\n512400\n512300\n").unwrap();
        tree
    };
    let text = "in the previous benches it was 512.3 Kpps";
    assert!(!is_blamed(&earlier(tree(text)), Rule::ClaimRate));
    assert!(is_blamed(&tree(text), Rule::ClaimRate));
    assert!(is_blamed(&earlier(tree("it is 512.3 Kpps")), Rule::ClaimRate));
}

#[test]
fn what_is_forwarded_is_not_the_load() {
    let with = |text: &str| {
        let tree = logged(5e5, 6e5, same_senders(1_488_000.0));
        is_blamed(&tree.with("README.md", &format!("Results\n  - {text}\n")), Rule::LoadClaim)
    };
    assert!(!with("under full load the machine forwards 0.6 Mpps"));
    assert!(!with("receives 500 Kpps whatever the load"));
    assert!(with("load of 0.6 Mpps, of which most is forwarded"));
}

#[test]
fn last_digits_of_another_build_are_no_edit() {
    let with = |pooled: &str| {
        let text = format!("Results\n\n{}", block4());
        assert!(text.contains("pooled s = 3485.5)"), "{text}");
        page(&text.replace("3485.5)", pooled)).one(Rule::BlockText).severity
    };
    assert_eq!(with("3485.51)"), Severity::Info);
    assert_eq!(with("3585.5)"), Severity::Check);
}

#[test]
fn a_copied_page_is_one_finding() {
    let text = format!(
        "Impact of D27401\n\n{}\n{}\n=> 17.5% better\n![a](a.svg)\n![b](b.svg)\n",
        block4(),
        block6()
    );
    let tree = page(&text).with("a.svg", "").with("b.svg", "");
    let copy = tree.0.path().join("machine/results/another");
    fs::create_dir_all(&copy).unwrap();
    fs::write(copy.join("README.md"), &text).unwrap();
    let foreign = |tree: &Tree| -> Vec<AuditFinding> {
        tree.findings().into_iter().filter(|f| f.file.contains("another")).collect()
    };
    fs::write(copy.join("r400000.inet4.pps"), "100\n101\n102\n").unwrap();
    let found = foreign(&tree);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!((found[0].rule, found[0].severity), (Rule::PageCopied, Severity::Wrong));
    // a page that only quotes the other's figures is audited as any
    fs::write(copy.join("README.md"), format!("{text}\nMore.\n")).unwrap();
    let found = foreign(&tree);
    assert!(found.len() > 1 && found.iter().all(|f| f.rule != Rule::PageCopied), "{found:#?}");
}

#[test]
fn many_findings_of_one_cause_are_one() {
    let links: String = (0..20).map(|n| format!("- [flame {n}](gone-{n}.svg)\n")).collect();
    let tree = page(&format!("Results\n\n{links}")).with("one.svg", "");
    let found = tree.one(Rule::LinkTarget);
    assert!(found.severity == Severity::Wrong && found.data.contains("19 more"), "{found:?}");
    // two are two
    let tree = page("Results\n\n[a](gone-a.svg) and\n[b](gone-b.svg)\n").with("one.svg", "");
    assert_eq!(tree.of(Rule::LinkTarget).len(), 2);
}

/// Copies of one archive below a root: twice the directories, twice the work.
#[test]
fn work_grows_as_the_archive_does() {
    let links: String = (0..20).map(|n| format!("- [flame {n}](gone-{n}.svg)\n")).collect();
    let text = format!("Results\n\n{}\n=> 27.5% better\n\n{links}", block4());
    let work = |copies: usize| {
        let root = tempfile::tempdir().unwrap();
        for copy in 0..copies {
            let tree = logged(5e5, 6e5, same_senders(1.488e6))
                .series("r368606x.inet4", &OLD4)
                .series("r368606D27401x.inet4", &NEW4)
                .with("README.md", &text)
                .with("one.svg", "");
            fs::rename(tree.0.path().join("machine"), root.path().join(format!("m{copy}")))
                .unwrap();
        }
        let report = audit(&[root.path().to_owned()]).unwrap();
        assert_eq!(report.counts.pages, copies);
        (report.work, report.findings.len())
    };
    let (one, found) = work(1);
    assert!(one.files > 10 && one.comparisons > 10 && found > 1, "{one:?}");
    for copies in [2, 4, 8] {
        let (many, more) = work(copies);
        assert_eq!(many.files, copies * one.files);
        assert_eq!(many.comparisons, copies as u64 * one.comparisons);
        assert_eq!(more, copies * found);
    }
}

/// A page of which the same stands again and again: twice the text, twice the work, from where its sentences are held
/// against the blocks around them. Before, they were held against all.
#[test]
fn work_grows_as_a_page_does() {
    let text = format!(
        "IPv4 with r368606D27401 on the box:\n\n{}\n=> 17% better\n\nInet is faster.\nIt gains 17%, and \
         loses nothing.\n\n",
        block4()
    );
    let text = format!("{text}IPv6:\n{}\nIPv6 loses 7% with the patch.\n\n", block6());
    let work = |times: usize| {
        let tree = page(&text.repeat(times));
        audit(&[tree.0.path().to_owned()]).unwrap().work
    };
    let one = work(1).comparisons;
    assert!(one > 5, "{one:?}");
    let mut before = work(32).comparisons;
    // a sentence sees sixteen blocks, or itself alone
    assert!(before <= 32 * 16 * one, "{before} {one}");
    for times in [64, 128] {
        let many = work(times).comparisons;
        assert!(10 * many <= 22 * before, "{times}: {many} after {before}");
        before = many;
    }
}

/// What is called wrong of a sentence below blocks of glued names, of which each is one family's.
fn called_wrong(above: &str, blocks: &[&[(&str, &[f64])]], sentence: &str) -> bool {
    let mut tree = Tree::new();
    let mut text = format!("Results\n\n{above}\n");
    for sets in blocks {
        for (name, values) in *sets {
            tree = tree.series(name.strip_suffix(".pps").unwrap(), values);
        }
        text.push_str(&format!("\n{}\n", block(sets)));
    }
    let found = tree.with("README.md", &format!("{text}{sentence}\n")).findings();
    found.iter().any(|f| f.rule.id().starts_with("claim-") && f.severity == Severity::Wrong)
}

const HALF4: [f64; 5] = [350_322.0, 348_130.5, 347_084.5, 348_351.5, 348_540.5];

#[test]
fn what_names_a_set_of_another_block_is_not_wrong_by_this_one() {
    let old: &[(&str, &[f64])] = &[("main13.pps", &HALF4), ("main14.pps", &OLD4)];
    let new: &[(&str, &[f64])] = &[("m13-q32.pps", &BASE6), ("m14-q32.pps", &LIKE6)];
    let is_wrong = |text: &str| called_wrong("Two branches", &[old, new], text);
    assert!(!is_wrong("Compared with 8 queues, main/14 gains 8.7%."));
    assert!(is_wrong("m14-q32 gains 8.7%."));
}

#[test]
fn the_beginning_of_several_names_is_none() {
    let one: &[(&str, &[f64])] = &[
        ("plain4.pps", &NEW4),
        ("npfwsl4.pps", &OLD4),
        ("npfwsf4.pps", &OLD6),
        ("npfsf4.pps", &HALF4),
    ];
    let two: &[(&str, &[f64])] =
        &[("plain6.pps", &OLD6), ("npfwsl6.pps", &BASE6), ("npfwsf6.pps", &NEW6)];
    let is_wrong = |text: &str| called_wrong("Filters", &[one, two], text);
    assert!(!is_wrong("=> npf is the slowest of all of them on inet"));
    assert!(is_wrong("=> npfwsl is faster than plain on inet6"));
}

#[test]
fn a_row_of_a_table_is_no_set_of_a_block() {
    let sets: &[(&str, &[f64])] = &[("base4.pps", &OLD4), ("new4.pps", &NEW4)];
    let table = "| function | parent | this |\n|---|---:|---:|\n| fib_look | 142 | 61 |\n| ip_out | 96 | 98 |\n\n";
    let is_wrong = |text: &str| called_wrong("A cache", &[sets], &format!("{table}{text}"));
    assert!(!is_wrong("The lookup itself, fib_look, is 57% cheaper."));
    assert!(called_wrong("A cache", &[sets], "The lookup is 57% cheaper with new4."));
}

const THREE: &[(&str, &[f64])] =
    &[("stable13.pps", &NEW4), ("stable14.pps", &OLD4), ("stable14-nobatch.pps", &LIKE6)];

#[test]
fn a_share_of_a_loss_is_no_change() {
    let is_wrong = |text: &str| called_wrong("Two branches", &[THREE], text);
    assert!(!is_wrong("In other words, about a quarter of the loss comes from that one change."));
    assert!(is_wrong("stable14 is 3% slower than stable13."));
}

#[test]
fn a_time_is_not_judged_by_packets_a_second() {
    let is_wrong = |text: &str| called_wrong("Two branches", &[THREE], text);
    assert!(!is_wrong("nobatch is never more than 3 ns away from 13."));
    assert!(is_wrong("nobatch is never faster than stable14."));
}

#[test]
fn what_a_set_is_made_of_is_no_outcome() {
    let is_wrong = |text: &str| called_wrong(text, &[THREE], "Raw files are beside it.");
    assert!(!is_wrong("\"nobatch\" is stable/14 with the change backed out and nothing else."));
    assert!(is_wrong("The box is an old one. stable14 is as fast as stable13."));
}

/// "Slower than a single one" was wrong of the two kernels below whose block it stands, "gives us 8.7% more" of a time in
/// microseconds.
#[test]
fn what_is_against_no_set_is_no_change_of_the_sets() {
    let sets: &[(&str, &[f64])] = &[("base.pps", &OLD4), ("lockless.pps", &NEW4)];
    let is_wrong = |text: &str| called_wrong("A bridge", &[sets], text);
    assert!(!is_wrong("Many flows are slower than a single one, by about 6%."));
    assert!(is_wrong("lockless is slower than base."));
    assert!(is_wrong("It is slower than before."));
    assert!(is_wrong("lockless gives us 3% less."));
    let percent = 100.0 * (NEW4.iter().sum::<f64>() / OLD4.iter().sum::<f64>() - 1.0);
    assert!(!is_wrong(&format!("lockless gives us {percent:.1}% more packets.")));
}

/// "IPv6 is slower in both cases, by 8%" was wrong of `list` against `norules`, of which neither is of it.
#[test]
fn what_is_of_one_family_is_no_change_of_the_other() {
    let one: &[(&str, &[f64])] =
        &[("norules.pps", &OLD6), ("list.pps", &HALF4), ("table.pps", &NEW4)];
    let less = HALF4.map(|own| 0.92 * own);
    let two: &[(&str, &[f64])] = &[("list6.pps", &less), ("table6.pps", &NEW6)];
    let is_wrong = |text: &str| called_wrong("Filters", &[one, two], text);
    assert!(!is_wrong(
        "IPv6 is slower in both cases, by 8% with the list and by 6% with the table."
    ));
    assert!(is_wrong("table6 is 8% slower than list6."));
}
