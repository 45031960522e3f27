//! Planted changes are found, and nothing else.

use super::*;
use fwdlab_claims::claims;
use fwdlab_results::profile::Stacks;
use fwdlab_results::{Results, Trial, examples};

/// A campaign of eight blocks whose variant is a tenth slower.
fn results() -> Results {
    let trial = |block: u32, place: usize| {
        let mut trial = examples::trial(place);
        (trial.block, trial.id) = (block, format!("b{block:02}-inet-{}", trial.variant));
        trial.rate_pps = Some([1e6, 0.9e6][place] + f64::from(block * 7 % 5));
        trial
    };
    let trials: Vec<Trial> = (1..=8).flat_map(|block| [0, 1].map(|k| trial(block, k))).collect();
    let sequence: Vec<String> = trials.iter().map(|trial| trial.id.clone()).collect();
    let example = examples::results();
    let campaign = fwdlab_results::Campaign {
        blocks: 8,
        trials: sequence.clone(),
        ..example.campaign.clone()
    };
    Results { campaign, sequence, trials, ..example }
}

/// The verdict of a made-up campaign, about instructions.
fn verdict(word: &str) -> VerdictClaim {
    let mut all = claims(&results()).unwrap().verdicts;
    let mut own = all.swap_remove(0);
    own.tick = Tick::Instruction;
    own.margin = 0.02;
    if word == "open" {
        own.verdict = fwdlab_stats::Verdict::Invalid { why: Vec::new() };
    }
    own
}

fn profile(variant: &str, stacks: Stacks) -> Profile {
    let (traffic, note) = ("inet".to_owned(), String::new());
    Profile { variant: variant.to_owned(), traffic, stacks, idle_share: None, note }
}

/// Counts of a Poisson variable, by Knuth's product, from a stream of its own.
struct Chance(u64);

impl Chance {
    fn uniform(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn poisson(&mut self, mean: f64) -> u64 {
        let (limit, mut product, mut count) = ((-mean).exp(), self.uniform(), 0);
        while product > limit {
            product *= self.uniform();
            count += 1;
        }
        count
    }
}

/// A profile of 100 functions that cost 5 to 104 each, and what is added to one of them.
fn stacks(chance: &mut Chance, added: f64) -> Stacks {
    let one = |k: u32| {
        let mean = f64::from(k + 5) + if k == 40 { added } else { 0.0 };
        (format!("device;ip_rcv;f{k:02}"), chance.poisson(mean))
    };
    (0..100).map(one).filter(|(_, n)| *n > 0).collect()
}

/// All functions together: 5 + 6 + ... + 104.
const WHOLE: f64 = 5450.0;

fn pair(seed: u64, added: f64, word: &str) -> Changes {
    let mut chance = Chance(seed);
    let both =
        [profile("old", stacks(&mut chance, 0.0)), profile("new", stacks(&mut chance, added))];
    Changes::of(&verdict(word), [&both[0], &both[1]], Some([WHOLE, WHOLE + added]))
}

#[test]
fn where_nothing_changed_a_function_is_named_in_one_report_of_twenty_at_most() {
    let named = (1..=200).filter(|seed| !pair(*seed, 0.0, "open").rows.is_empty()).count();
    // At 5 % more than 19 of 200 have a chance of 0.4 %; an exact test names fewer.
    assert!(named <= 19, "{named} of 200");
    assert!(pair(1, 0.0, "open").sentence().contains("no function differs beyond chance"));
}

#[test]
fn a_function_that_carries_a_change_below_the_margin_is_named() {
    let changes = pair(7, 60.0, "open");
    assert_eq!(changes.rows[0].name, "f40", "{:?}", changes.rows);
    let sentence = changes.sentence();
    assert!(sentence.contains("below the margin of 2.00 %"), "{sentence}");
    assert!(sentence.contains("one function carries it, `f40`, +"), "{sentence}");
    assert!(sentence.contains("instructions per frame"), "{sentence}");
    let own = &changes.rows[0];
    assert!(own.interval[0] <= 60.0 && own.interval[1] >= 60.0, "{own:?}");
    // The same change is most of a difference that the verdict names.
    let sentence = pair(7, 60.0, "slower").sentence();
    assert!(!sentence.contains("below the margin"), "{sentence}");
}

#[test]
fn the_printed_parts_add_up_to_the_printed_sum() {
    for seed in 1..20 {
        let text = pair(seed, 80.0, "open").table().markdown();
        let column =
            |line: &str, k: usize| line.split('|').nth(k).unwrap().trim().parse::<f64>().ok();
        for k in 2..=4 {
            let mut rows: Vec<f64> = text.lines().filter_map(|line| column(line, k)).collect();
            let sum = rows.pop().unwrap();
            assert!((rows.iter().sum::<f64>() - sum).abs() < 0.05, "column {k} of\n{text}");
        }
        assert!(text.contains("other functions"), "{text}");
    }
}

#[test]
fn without_a_cost_shares_are_compared() {
    let mut chance = Chance(3);
    let both =
        [profile("old", stacks(&mut chance, 0.0)), profile("new", stacks(&mut chance, 90.0))];
    let changes = Changes::of(&verdict("open"), [&both[0], &both[1]], None);
    let text = changes.table().markdown();
    assert!(text.contains("f40") && text.contains("100.00 %"), "{text}");
    // "most of all `f40`, +1.44 % of +0.00 % of the share in all (0.00 %)"
    let sentence = changes.sentence();
    assert!(sentence.ends_with("% of the busy samples."), "{sentence}");
    assert!(sentence.contains("`f40`, +") && !sentence.contains("in all"), "{sentence}");
}

/// Shares were drawn, so that all that had not changed was blue beside one function that had grown.
#[test]
fn a_graph_of_differences_colours_what_the_table_names_and_nothing_else() {
    let changes = pair(7, 60.0, "slower");
    let both = |line: &String| {
        let mut words = line.rsplitn(3, ' ');
        let [new, old] = [0, 1].map(|_| words.next().and_then(|n| n.parse::<f64>().ok()).unwrap());
        (words.next().unwrap().rsplit(';').next().unwrap().to_owned(), old, new)
    };
    let lines: Vec<_> = changes.lines().iter().map(both).collect();
    let named: Vec<&str> = changes.rows.iter().map(|own| own.name.as_str()).collect();
    let coloured: Vec<&str> =
        lines.iter().filter(|(_, old, new)| old != new).map(|(name, ..)| name.as_str()).collect();
    assert_eq!(coloured, named);
    // Thousandths of an instruction: as much as the table has, and the whole is that of the variant.
    let (_, old, new) = lines.iter().find(|(name, ..)| name == "f40").unwrap();
    assert!(((new - old) / 1e3 - changes.rows[0].change()).abs() < 0.2, "{old} {new}");
    let whole: f64 = lines.iter().map(|(_, _, new)| new / 1e3).sum();
    assert!((whole - changes.totals[1]).abs() < 1.0, "{whole} of {:?}", changes.totals);
    let heading = changes.heading();
    assert!(
        heading.ends_with(", inet: red is more instructions per frame, blue less"),
        "{heading}"
    );
    // Where nothing differs, nothing is coloured, and that is said.
    let none = pair(1, 0.0, "open");
    assert!(none.lines().iter().map(both).all(|(_, old, new)| old == new));
    assert!(none.legend().contains("nothing is coloured"), "{}", none.legend());
}
