//! Whole pages with their data, written without sight of the rules, as their authors might have: what is claimed stands
//! where it belongs, in tables, lists and sentences over two lines, and each claim is known to be right or wrong.
//!
//! A file holds the page, the medians (a series a line), and the claims: `W` (wrong) or `R` (right) with the first and
//! the last line of each; of a right half of a sentence whose other half is wrong a finding is of the latter. `K` is what its author took over and did not know to be wrong: it counts nowhere.

use super::*;

/// What is said of a page's claims.
#[derive(Default, Debug)]
struct Score {
    wrong: usize,
    /// Wrong ones that any finding names, called wrong or to be checked.
    found: usize,
    /// Wrong ones that are called wrong: the goal of 90 % is of these.
    called: usize,
    right: usize,
    /// Right ones that are called wrong.
    blamed: usize,
    /// Right ones that are to be checked.
    asked: usize,
    /// Findings called wrong, and those of them that are not.
    said: usize,
    falsely: usize,
}

/// A claim: its kind and its lines.
type Claim = (char, std::ops::RangeInclusive<usize>);

fn claims(text: &str) -> Vec<Claim> {
    let one = |line: &str| {
        let (kind, lines) = line.split_once(' ').unwrap();
        let (first, last) = lines.split_once('-').unwrap();
        (kind.chars().next().unwrap(), first.parse().unwrap()..=last.parse().unwrap())
    };
    text.lines().map(one).collect()
}

/// What is found of the page beside its medians, and beside logs of 2,000 flows where it has them.
fn findings(page: &str, data: &str, is_logged: bool) -> Vec<AuditFinding> {
    let dir = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
    fs::create_dir(dir.path().join("RAW")).unwrap();
    put("README.md", page);
    for line in data.lines() {
        let (name, values) = line.split_once(' ').unwrap();
        put(&format!("{name}.pps"), &values.replace(' ', "\n"));
        for (run, rate) in values.split(' ').enumerate().filter(|_| is_logged) {
            let log = format!("RAW/bench.{name}.{}", run + 1);
            put(&format!("{log}.receiver"), &receiver(rate.parse().unwrap()));
            put(&format!("{log}.sender"), &sender(20, 7, 14_880_950.0));
        }
    }
    let all = audit(&[dir.path().to_owned()]).unwrap().findings;
    let is_of_page =
        |f: &AuditFinding| f.severity != Severity::Info && f.file.ends_with("README.md");
    all.into_iter().filter(is_of_page).collect()
}

fn score(file: &str, is_logged: bool) -> Score {
    let (page, rest) = file.split_once("=== Data ===\n").unwrap();
    let (data, rest) = rest.split_once("=== Claims ===\n").unwrap();
    let claims = claims(rest);
    let own = findings(page, data, is_logged);
    let mut score = Score::default();
    let lines: Vec<&str> = page.lines().collect();
    for (kind, place) in &claims {
        let is_of_a_wrong_one = |line: usize| {
            let mut wrong = claims.iter().filter(|(kind, _)| *kind == 'W');
            *kind == 'R' && wrong.any(|(_, place)| place.contains(&line))
        };
        let is_of_it = |f: &&AuditFinding| place.contains(&f.line) && !is_of_a_wrong_one(f.line);
        let of_it: Vec<&AuditFinding> = own.iter().filter(is_of_it).collect();
        let is_wrong = of_it.iter().any(|f| f.severity == Severity::Wrong);
        let shown = lines[place.start() - 1..*place.end()].join(" ");
        let rules: Vec<&str> = of_it.iter().map(|f| f.rule.id()).collect();
        match kind {
            'W' => {
                score.wrong += 1;
                score.found += usize::from(!of_it.is_empty());
                score.called += usize::from(is_wrong);
                let word = if of_it.is_empty() { "missed" } else { "  found" };
                println!("{word} {is_wrong} {rules:?} {}: {shown}", place.start());
            }
            'R' => {
                score.right += 1;
                score.blamed += usize::from(is_wrong);
                score.asked += usize::from(!is_wrong && !of_it.is_empty());
                for finding in of_it {
                    println!(
                        "blamed {:?} {} {}: {shown} {}",
                        finding.severity,
                        finding.rule.id(),
                        place.start(),
                        finding.data
                    );
                }
            }
            _ => {}
        }
    }
    for finding in own.iter().filter(|f| f.severity == Severity::Wrong) {
        let is_true =
            claims.iter().any(|(kind, place)| *kind != 'R' && place.contains(&finding.line));
        score.said += 1;
        score.falsely += usize::from(!is_true);
        if !is_true {
            let rule = finding.rule.id();
            println!("false: {rule} {} {} {}", finding.line, finding.claim, finding.data);
        }
    }
    println!("{score:?}");
    score
}

/// Three firewalls and two families on one machine: at first sight 10 of 13 were found, and 2 of 16 right ones called
/// wrong. What heads a column, and who runs are of, was learned by it.
#[test]
fn eighteenth_page() {
    let own = score(include_str!("unseen/eighteenth.txt"), false);
    assert!(own.found >= 11 && own.blamed == 0 && own.asked == 0 && own.falsely == 0, "{own:?}");
}

/// A patch with three configurations, its table without bars at the ends of its rows: at first sight 9 of 12 were found,
/// and none of 17 called wrong.
#[test]
fn nineteenth_page() {
    let own = score(include_str!("unseen/nineteenth.txt"), true);
    assert!(own.found >= 11 && own.blamed == 0 && own.asked <= 6 && own.falsely == 0, "{own:?}");
}

/// Four questions on one page, queues, hyper-threading, LRO and powerd: at first sight 5 of 12 were found, and 4 of 20
/// called wrong. Sets of different blocks and single ends of runs were held against each other for it.
#[test]
fn twentieth_page() {
    let own = score(include_str!("unseen/twentieth.txt"), false);
    assert!(own.found >= 11 && own.blamed <= 1 && own.asked <= 2 && own.falsely <= 1, "{own:?}");
}

/// A regression, its patch and two firewalls, a stranger's as the next two: at first sight 6 of 7 were found, and 1 of 11
/// called wrong. Its line rate of 1.448 Mpps is no claim of its author's, who took it over, and is wrong.
#[test]
fn twentyfirst_page() {
    let own = score(include_str!("unseen/twentyfirst.txt"), false);
    assert!(own.found >= 7 && own.blamed == 0 && own.asked <= 1 && own.falsely == 0, "{own:?}");
}

/// Queues with two families, and three cards: at first sight 6 of 8 were found, and none of 12 called wrong. Settings that
/// are named in words (8 queues of `q8`), spreads and gaps over settings were learned by it.
#[test]
fn twentysecond_page() {
    let own = score(include_str!("unseen/twentysecond.txt"), false);
    assert!(own.found >= 8 && own.blamed == 0 && own.asked == 0 && own.falsely == 0, "{own:?}");
}

/// Firewalls, the sizes of a table and the other family, each under an underlined heading: at first sight 7 of 8 were
/// found, and 4 of 12 called wrong. Which section a sentence is of, and sets named by a size, were learned by it.
#[test]
fn twentythird_page() {
    let own = score(include_str!("unseen/twentythird.txt"), false);
    assert!(own.found >= 8 && own.blamed == 0 && own.asked == 0 && own.falsely == 0, "{own:?}");
}

/// A page of anybody's in this form: `FWDLAB_BLIND_WHOLE=FILE cargo test -p fwdlab-audit --lib a_whole_page -- --ignored
/// --nocapture`.
#[test]
#[ignore = "needs FWDLAB_BLIND_WHOLE=FILE"]
fn a_whole_page_of_a_stranger() {
    let Ok(path) = std::env::var("FWDLAB_BLIND_WHOLE") else {
        println!("SKIPPED: no FWDLAB_BLIND_WHOLE=FILE");
        return;
    };
    let own = score(&fs::read_to_string(path).unwrap(), false);
    assert!(10 * own.called >= 9 * own.wrong, "{own:?}");
    assert!(20 * own.falsely <= own.said, "{own:?}");
}

/// Three pages of another stranger: at first sight 9 of 20 were found, 8 of 31 right ones were called wrong, and 8 of 13
/// findings called wrong were false. "All" and "the two" of the block above, orders and ranges, and a column of
/// standard deviations were learned by them; what is found is as it was.
#[test]
fn three_pages_of_other_habits() {
    let [a, b, c] = [
        include_str!("unseen/twentyfourth.txt"),
        include_str!("unseen/twentyfifth.txt"),
        include_str!("unseen/twentysixth.txt"),
    ]
    .map(|page| score(page, false));
    assert!(a.found >= 2 && a.blamed <= 2 && a.falsely <= 2, "{a:?}");
    assert!(b.found >= 4 && b.blamed <= 1 && b.falsely <= 1, "{b:?}");
    assert!(c.found >= 3 && c.blamed == 0 && c.falsely == 0, "{c:?}");
}

/// A patch over three versions, five sets a block, and an upgrade of a router, in words of many verbs: at first sight 16 of
/// 25 were found, 10 called wrong, 4 of 22 right ones as well, and 5 of 15 findings false. Counts, numbers in words, what
/// cannot be told apart, versions of a patch, and tables with their changes were learned by them.
#[test]
fn two_pages_of_patches_and_upgrades() {
    let own = scored(&[
        include_str!("unseen/apu-versions.txt"),
        include_str!("unseen/router-upgrade.txt"),
    ]);
    assert!(own.called >= 16 && own.found >= 23, "{own:?}");
    assert!(own.blamed == 0 && own.falsely == 0 && own.asked <= 10, "{own:?}");
}

/// A mail about two machines, with the real blocks of both, and queues of a card, written before any rule was read: at
/// first sight, with what the two pages above taught, 20 of 27 were found, 10 called wrong (7 without it), 1 of 24 right
/// ones as well, and 1 of 11 findings false. What is of one machine by where it stands, and what is "apart", was learned by
/// them.
#[test]
fn two_pages_of_machines_and_queues() {
    let own = scored(&[
        include_str!("unseen/two-machines-mail.txt"),
        include_str!("unseen/ice-queues.txt"),
    ]);
    assert!(own.called >= 13 && own.found >= 20, "{own:?}");
    assert!(own.blamed == 0 && own.falsely == 0 && own.asked <= 7, "{own:?}");
}

/// What is said of several pages together.
fn scored(pages: &[&str]) -> Score {
    let mut all = Score::default();
    for own in pages.iter().map(|page| score(page, false)) {
        all.wrong += own.wrong;
        all.found += own.found;
        all.called += own.called;
        all.right += own.right;
        all.blamed += own.blamed;
        all.asked += own.asked;
        all.said += own.said;
        all.falsely += own.falsely;
    }
    println!("together: {all:?}");
    all
}

/// A patch to a driver, a cover letter, a note of a laboratory with tables only, and a diary: at first sight 14 of 36
/// were found, 1 of 34 right ones was called wrong, 1 of 8 findings called wrong was false, and the diary was not read to
/// its end. That rows and columns are told by their names was learned by them.
#[test]
fn four_pages_of_four_authors() {
    let own = scored(&[
        include_str!("unseen/vlan.txt"),
        include_str!("unseen/pagepool.txt"),
        include_str!("unseen/appliance.txt"),
        include_str!("unseen/nftables.txt"),
    ]);
    assert!(own.found >= 35 && own.blamed == 0 && own.asked <= 7 && own.falsely == 0, "{own:?}");
}

/// Sizes of a table, two cards with queues, latency in tables, an upgrade, read first after that: 20 of 34 were found, 6
/// of 35 called wrong, and 5 of 19 findings false, all five of older rules. What a sentence says of before and after,
/// settings in words, and figures that it explains itself were learned by them.
#[test]
fn four_pages_of_other_matters() {
    let own = scored(&[
        include_str!("unseen/fib-sizes.txt"),
        include_str!("unseen/rss-cards.txt"),
        include_str!("unseen/latency.txt"),
        include_str!("unseen/upgrade.txt"),
    ]);
    assert!(own.found >= 30 && own.blamed == 0 && own.asked <= 13 && own.falsely == 0, "{own:?}");
}

/// Ciphers, a list of conclusions, three appliances in tables, a regression, read first after that: 18 of 27 were found,
/// 5 of 32 called wrong, and 4 of 19 findings false. Names of several words and what columns are held against each other
/// were learned by them.
#[test]
fn four_pages_with_names_of_several_words() {
    let own = scored(&[
        include_str!("unseen/ipsec.txt"),
        include_str!("unseen/rxbudget.txt"),
        include_str!("unseen/flow-scale.txt"),
        include_str!("unseen/regression.txt"),
    ]);
    assert!(own.found >= 26 && own.blamed == 0 && own.asked <= 7 && own.falsely == 0, "{own:?}");
}

/// Offloads, images of routers, packet filters, small boxes, read first after that: 21 of 27 were found, 2 of 26 called
/// wrong, and 2 of 21 findings false. That several rows may share what a sentence calls them was learned by them.
#[test]
fn four_pages_read_last() {
    let own = scored(&[
        include_str!("unseen/offloads.txt"),
        include_str!("unseen/images.txt"),
        include_str!("unseen/filters.txt"),
        include_str!("unseen/small-boxes.txt"),
    ]);
    assert!(own.found >= 24 && own.blamed == 0 && own.asked <= 2 && own.falsely == 0, "{own:?}");
}

/// A cover letter with tables drawn with white space, a laboratory's gateway, a chapter of a thesis, a diary of rules, a
/// stranger's as the next four: at first sight 9 of 34 were found, 1 of 44 right ones was called wrong, and 1 of 4 findings
/// false. Drawn tables, what is measured before rows, numbers in words and steps were learned by them.
#[test]
fn four_pages_of_a_stranger() {
    let own = scored(&[
        include_str!("unseen/batched.txt"),
        include_str!("unseen/gateway.txt"),
        include_str!("unseen/structures.txt"),
        include_str!("unseen/rule-chains.txt"),
    ]);
    assert!(own.found >= 27 && own.blamed == 0 && own.asked <= 4 && own.falsely == 0, "{own:?}");
}

/// A committer's blocks, a nightly summary, notes of a provider, slides, read after these: 10 of 36 were found, 3 of 45
/// called wrong, and 8 of 17 findings false, five of them of figures in a list. Only what was falsely said was mended.
#[test]
fn four_more_of_the_stranger() {
    let own = scored(&[
        include_str!("unseen/committer.txt"),
        include_str!("unseen/nightly.txt"),
        include_str!("unseen/field-notes.txt"),
        include_str!("unseen/slides.txt"),
    ]);
    assert!(own.found >= 22 && own.blamed == 0 && own.asked <= 2 && own.falsely == 0, "{own:?}");
}

/// Lists in place of tables, rows named by their place, what a sentence takes from the one before, two tables at once,
/// what is said of all rows, a table of 96: pages of ours, written before their rules. Of their 40 wrong claims 7 were
/// found without these, and 3 of 44 right ones were called wrong.
#[test]
fn six_pages_of_what_names_its_cells_otherwise() {
    let own = scored(&[
        include_str!("unseen/lists.txt"),
        include_str!("unseen/places.txt"),
        include_str!("unseen/references.txt"),
        include_str!("unseen/two-tables.txt"),
        include_str!("unseen/every.txt"),
        include_str!("unseen/long-table.txt"),
    ]);
    assert!(own.found >= 39 && own.called >= 22, "{own:?}");
    assert!(own.blamed == 0 && own.asked <= 4 && own.falsely == 0, "{own:?}");
}

/// A committer's notes, a lab report, a mail, a diary, release notes, two families of firewalls, another stranger's: at first
/// sight 16 of 36 were found, 6 of 42 right ones were called wrong, and 7 of 16 findings false. What is held against sets
/// that a sentence does not name, or cannot be of, is asked about since then.
#[test]
fn six_pages_of_another_stranger() {
    let own = scored(&[
        include_str!("unseen/nexthop-cache.txt"),
        include_str!("unseen/line-rate-boxes.txt"),
        include_str!("unseen/branch-mail.txt"),
        include_str!("unseen/home-diary.txt"),
        include_str!("unseen/release-notes.txt"),
        include_str!("unseen/firewalls-inet6.txt"),
    ]);
    assert!(own.found >= 16 && own.blamed == 0 && own.asked <= 11 && own.falsely == 0, "{own:?}");
}

/// A committer's blocks, a report of a laboratory, a mail, firewalls, a note of a vendor, a diary, written by one of ours
/// without sight of the rules, as the next eight: at first sight 24 of 48 were found, 5 of 48 right ones called wrong, and 6
/// of 17 findings false. What one reader alone contradicts is asked about since then.
#[test]
fn six_pages_of_one_reader_too_few() {
    let own = scored(&[
        include_str!("unseen/prefetch-mbuf.txt"),
        include_str!("unseen/x710-e810.txt"),
        include_str!("unseen/fib-algo-mail.txt"),
        include_str!("unseen/firewalls-14.txt"),
        include_str!("unseen/rx-models.txt"),
        include_str!("unseen/vm-io-diary.txt"),
    ]);
    assert!(own.found >= 24 && own.blamed == 0 && own.asked <= 17 && own.falsely == 0, "{own:?}");
}

/// Two boxes, a cover letter, tunnels, a forum's tunables, read after that: at first sight 16 of 32 were found, 2 of 32
/// called wrong, and 2 of 10 findings false. That two ends in one clause are not told apart, and on which line a claim
/// stands, was learned by them.
#[test]
fn four_pages_after_the_demotion() {
    let own = scored(&[
        include_str!("unseen/two-boxes-upgrade.txt"),
        include_str!("unseen/batched-recycling.txt"),
        include_str!("unseen/tunnels.txt"),
        include_str!("unseen/home-tunables.txt"),
    ]);
    assert!(own.found >= 16 && own.blamed == 0 && own.asked <= 10 && own.falsely == 0, "{own:?}");
}

/// Queues, a mail of a bisection, guests, a small board, read last: at first sight 24 of 32 were found, none of 32 called
/// wrong, and none of 8 findings false.
#[test]
fn four_pages_with_none_called_wrong_falsely() {
    let own = scored(&[
        include_str!("unseen/queues-and-inet6.txt"),
        include_str!("unseen/bisected-mail.txt"),
        include_str!("unseen/guests.txt"),
        include_str!("unseen/nat-board.txt"),
    ]);
    assert!(own.found >= 24 && own.blamed == 0 && own.asked <= 8 && own.falsely == 0, "{own:?}");
}

/// Six pages of blocks: at first sight 30 of 33 were found, 3 of 37 called wrong, and 3 of 22 findings false. "Us" that is no
/// microseconds, what is slower than something that is no set, and the family that is not shown were learned by them.
#[test]
fn six_pages_of_blocks() {
    let own = scored(&[
        include_str!("unseen/bridge-lock.txt"),
        include_str!("unseen/crypto-offload.txt"),
        include_str!("unseen/guest-clusters.txt"),
        include_str!("unseen/llq.txt"),
        include_str!("unseen/netgraph-mail.txt"),
        include_str!("unseen/border-filter.txt"),
    ]);
    assert!(own.found >= 30 && own.blamed == 0 && own.asked <= 13 && own.falsely == 0, "{own:?}");
}

/// Every page of this form.
const PLACED: [&str; 65] = [
    include_str!("unseen/eighteenth.txt"),
    include_str!("unseen/nineteenth.txt"),
    include_str!("unseen/twentieth.txt"),
    include_str!("unseen/twentyfirst.txt"),
    include_str!("unseen/twentysecond.txt"),
    include_str!("unseen/twentythird.txt"),
    include_str!("unseen/twentyfourth.txt"),
    include_str!("unseen/twentyfifth.txt"),
    include_str!("unseen/twentysixth.txt"),
    include_str!("unseen/vlan.txt"),
    include_str!("unseen/pagepool.txt"),
    include_str!("unseen/appliance.txt"),
    include_str!("unseen/nftables.txt"),
    include_str!("unseen/fib-sizes.txt"),
    include_str!("unseen/rss-cards.txt"),
    include_str!("unseen/latency.txt"),
    include_str!("unseen/upgrade.txt"),
    include_str!("unseen/ipsec.txt"),
    include_str!("unseen/rxbudget.txt"),
    include_str!("unseen/flow-scale.txt"),
    include_str!("unseen/regression.txt"),
    include_str!("unseen/offloads.txt"),
    include_str!("unseen/images.txt"),
    include_str!("unseen/filters.txt"),
    include_str!("unseen/small-boxes.txt"),
    include_str!("unseen/batched.txt"),
    include_str!("unseen/gateway.txt"),
    include_str!("unseen/structures.txt"),
    include_str!("unseen/rule-chains.txt"),
    include_str!("unseen/committer.txt"),
    include_str!("unseen/nightly.txt"),
    include_str!("unseen/field-notes.txt"),
    include_str!("unseen/slides.txt"),
    include_str!("unseen/lists.txt"),
    include_str!("unseen/places.txt"),
    include_str!("unseen/references.txt"),
    include_str!("unseen/two-tables.txt"),
    include_str!("unseen/every.txt"),
    include_str!("unseen/long-table.txt"),
    include_str!("unseen/nexthop-cache.txt"),
    include_str!("unseen/line-rate-boxes.txt"),
    include_str!("unseen/branch-mail.txt"),
    include_str!("unseen/home-diary.txt"),
    include_str!("unseen/release-notes.txt"),
    include_str!("unseen/firewalls-inet6.txt"),
    include_str!("unseen/prefetch-mbuf.txt"),
    include_str!("unseen/x710-e810.txt"),
    include_str!("unseen/fib-algo-mail.txt"),
    include_str!("unseen/firewalls-14.txt"),
    include_str!("unseen/rx-models.txt"),
    include_str!("unseen/vm-io-diary.txt"),
    include_str!("unseen/two-boxes-upgrade.txt"),
    include_str!("unseen/batched-recycling.txt"),
    include_str!("unseen/tunnels.txt"),
    include_str!("unseen/home-tunables.txt"),
    include_str!("unseen/queues-and-inet6.txt"),
    include_str!("unseen/bisected-mail.txt"),
    include_str!("unseen/guests.txt"),
    include_str!("unseen/nat-board.txt"),
    include_str!("unseen/bridge-lock.txt"),
    include_str!("unseen/crypto-offload.txt"),
    include_str!("unseen/guest-clusters.txt"),
    include_str!("unseen/llq.txt"),
    include_str!("unseen/netgraph-mail.txt"),
    include_str!("unseen/border-filter.txt"),
];

/// Where the numbers of some lines are that have a unit, or are in words; each with what stands in its place instead.
fn falsified(text: &str) -> Vec<(std::ops::Range<usize>, String)> {
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let is_start = bytes[at].is_ascii_digit()
            && (at == 0
                || !bytes[at - 1].is_ascii_alphanumeric()
                    && !matches!(bytes[at - 1], b'.' | b'_' | b'/'));
        if !is_start {
            at += 1;
            continue;
        }
        let end = (at..bytes.len())
            .find(|k| !bytes[*k].is_ascii_digit() && !matches!(bytes[*k], b'.' | b','))
            .unwrap_or(bytes.len());
        let own = text[at..end].trim_end_matches(['.', ',']);
        let rest = &text[at + own.len()..];
        let rest = rest.strip_prefix([' ', '\u{a0}']).unwrap_or(rest);
        const UNITS: [&str; 16] = [
            "%", "percent", "per cent", "times", "x ", "kpps", "Kpps", "Mpps", "Gbit/s", "Mbit/s",
            "us", "µs", "ns", "W", "pps", "s ",
        ];
        if UNITS.iter().any(|unit| rest.starts_with(unit)) {
            let plain = own.replace(',', "");
            let decimals = plain.split_once('.').map_or(0, |(_, own)| own.len());
            if let Ok(value) = plain.parse::<f64>() {
                // each its own factor between 1.2 and 1.8, or one over that
                let factor = 1.2 + 0.06 * (at % 11) as f64;
                let factor = if (at / 11) % 2 == 0 { factor } else { 1.0 / factor };
                let other = format!("{:.decimals$}", value * factor);
                if other != plain {
                    found.push((at..at + own.len(), other));
                }
            }
        }
        at = end.max(at + 1);
    }
    for (word, other) in [
        ("faster than", "slower than"),
        ("slower than", "faster than"),
        ("more than", "less than"),
        ("less than", "more than"),
        ("highest", "lowest"),
        ("lowest", "highest"),
        ("fastest", "slowest"),
        ("slowest", "fastest"),
        ("higher than", "lower than"),
        ("lower than", "higher than"),
        ("best", "worst"),
        ("twice", "three times"),
        ("half", "a fifth"),
        ("third", "seventh"),
    ] {
        let is_whole = |at: &usize| !text[..*at].ends_with(char::is_alphabetic);
        let places = text.match_indices(word).map(|(at, _)| at).filter(is_whole);
        found.extend(places.map(|at| (at..at + word.len(), other.to_owned())));
    }
    found
}

/// How many numbers and orders of right sentences are missed when they are made wrong: what no rule can have learned.
#[test]
#[ignore = "a measurement, minutes long"]
fn right_sentences_made_wrong() {
    let (mut all, mut found, mut by_grounds) = (0, 0, 0);
    for file in PLACED {
        let (page, rest) = file.split_once("=== Data ===\n").unwrap();
        let (data, rest) = rest.split_once("=== Claims ===\n").unwrap();
        let lines: Vec<&str> = page.lines().collect();
        let own = findings(page, data, false);
        for (kind, place) in claims(rest) {
            let first = lines[place.start() - 1];
            let is_told = own.iter().any(|f| place.contains(&f.line));
            if kind != 'R' || first.trim_start().starts_with('|') || is_told {
                continue;
            }
            let start: usize = lines[..place.start() - 1].iter().map(|line| line.len() + 1).sum();
            let end: usize = lines[..*place.end()].iter().map(|line| line.len() + 1).sum();
            let text = &page[start..(end - 1).min(page.len())];
            for (range, other) in falsified(text) {
                let mut changed = page.to_owned();
                changed.replace_range(start + range.start..start + range.end, &other);
                let now = findings(&changed, data, false);
                let new: Vec<&AuditFinding> = now
                    .iter()
                    .filter(|f| {
                        place.contains(&f.line)
                            && !own.iter().any(|o| o.line == f.line && o.rule == f.rule)
                    })
                    .collect();
                all += 1;
                found += usize::from(!new.is_empty());
                let is_of = |rule: Rule| new.iter().any(|f| f.rule == rule);
                by_grounds += usize::from(is_of(Rule::ClaimGrounds));
                let word = if new.is_empty() { "unseen" } else { "seen  " };
                println!("{word} {} -> {other}: {}", &text[range], text.replace('\n', " "));
            }
        }
    }
    println!("{found} of {all} seen, {by_grounds} by what grounds them");
    assert!(10 * found >= 6 * all, "{found} of {all}");
}
