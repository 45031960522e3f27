//! How rows and columns are named in a clause: by their whole names, by words that not all of them have, by a number
//! with what it counts, by what a column measures.

use std::collections::BTreeSet;

use fwdlab_sentence::subject::folded;

use crate::model::{Grid, Measure, Name, is_of, is_same_number};
use crate::token::{Token, Unit, unit_of};

/// A row or a column whose whole name stands in a clause, with its tokens.
pub(crate) struct Phrase {
    pub(crate) row: Option<usize>,
    pub(crate) column: Option<usize>,
    pub(crate) tokens: Vec<usize>,
}

/// Names of several words, or that are no plain words, as they are written: "Vendor A", "1 M", "in-house".
pub(crate) fn phrases(grid: &Grid, tokens: &[Token]) -> Vec<Phrase> {
    let said: Vec<&str> = tokens.iter().map(|own| own.text.as_str()).collect();
    let find = |name: &str| -> Vec<Vec<usize>> {
        let lower = name.split(['(', '[']).next().unwrap_or("").to_lowercase();
        let own: Vec<&str> =
            lower.split_whitespace().map(|own| own.trim_matches([',', ':'])).collect();
        let is_name = own.len() > 1 || own.len() == 1 && own[0].contains('-');
        if !is_name || own.len() > said.len() {
            return Vec::new();
        }
        let starts =
            (0..=said.len() - own.len()).filter(|at| said[*at..*at + own.len()] == own[..]);
        starts.map(|at| (at..at + own.len()).collect()).collect()
    };
    let mut found = Vec::new();
    for (index, row) in grid.rows.iter().enumerate() {
        found.extend(find(&row.text).into_iter().map(|tokens| Phrase {
            row: Some(index),
            column: None,
            tokens,
        }));
    }
    for (index, column) in grid.columns.iter().enumerate() {
        found.extend(find(&column.name.text).into_iter().map(|tokens| Phrase {
            row: None,
            column: Some(index),
            tokens,
        }));
    }
    // "firewall" is not meant where "firewall + QoS" stands
    let longest: Vec<Vec<usize>> = found.iter().map(|own| own.tokens.clone()).collect();
    found.retain(|own| {
        !longest.iter().any(|other| {
            other.len() > own.tokens.len() && own.tokens.iter().all(|at| other.contains(at))
        })
    });
    found
}

/// The words of a row that a clause has and that not every row has: a number only with what it is a number of.
pub(crate) fn said_of<'a>(
    grid: &Grid,
    row: &'a BTreeSet<String>,
    tokens: &[Token],
) -> BTreeSet<&'a str> {
    const EMPTY: &str = "the a an of in on with without and or only for to at by is no not all each packet frame \
        byte second per run test case value result as it both line rate time";
    let is_digits = |word: &str| word.chars().all(|c| c.is_ascii_digit() || c == '.');
    let is_said = |word: &&String| {
        if tokens.iter().any(|own| own.parts.contains(word)) {
            return true;
        }
        let is_it = |own: &Token| {
            own.root == **word
                || own.text == **word
                || is_same_number(own, word)
                // "SR-IOV" of `sriov`
                || !own.parts.is_empty() && own.text.replace('-', "") == **word
        };
        let mut at = tokens.iter().enumerate().filter(|(_, own)| is_it(own));
        if is_digits(word) || word.starts_with(|c: char| c.is_ascii_digit()) {
            return at.any(|(at, own)| {
                let is_named = !is_digits(word) || counts_rows(grid, row, tokens, at);
                let is_own = |unit: Unit| {
                    unit == Unit::Plain || unit == Unit::Percent && grid.head.contains("%")
                };
                own.number.is_none_or(|own| is_own(own.unit) && is_named)
            });
        }
        at.next().is_some() || is_in_parts(word, tokens)
    };
    let telling = |word: &&String| {
        !grid.shared.contains(*word) && !EMPTY.split(' ').any(|own| own == word.as_str())
    };
    row.iter().filter(telling).filter(is_said).map(String::as_str).collect()
}

/// "8 queues" and "debian 13" of rows that are called `q8` and `debian13`.
fn is_in_parts(word: &str, tokens: &[Token]) -> bool {
    part_of(word, tokens).is_some()
}

/// The place of the number of such a name.
fn part_of(word: &str, tokens: &[Token]) -> Option<usize> {
    let digits = word.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let letters = &word[..word.len() - digits.len()];
    if letters.is_empty() || digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let is_digits = |own: &Token| own.root == digits || own.text == digits;
    (0..tokens.len()).find(|at| {
        let own = &tokens[*at];
        let is_it = |a: &str| a == digits || a == "single" && digits == "1";
        let is_joined =
            own.text.split_once('-').is_some_and(|(a, b)| is_it(a) && b.starts_with(letters));
        let is_before = *at > 0 && tokens[at - 1].text == letters;
        let next = tokens.get(at + 1).filter(|_| !own.is_last);
        let is_behind = next.is_some_and(|next| next.text.starts_with(letters));
        is_joined || is_digits(own) && (is_before || is_behind)
    })
}

/// The place at which a row is named by such parts.
pub(crate) fn place_in_parts(said: &BTreeSet<&str>, tokens: &[Token]) -> Option<usize> {
    said.iter().find_map(|word| part_of(word, tokens))
}

/// Whether a number without a unit is one of rows: "64 byte frames" below "Frame size (bytes)", "64 and 128 bytes".
fn counts_rows(grid: &Grid, row: &BTreeSet<String>, tokens: &[Token], at: usize) -> bool {
    for token in &tokens[at + 1..(at + 7).min(tokens.len())] {
        let parts = || token.text.split('-').map(folded);
        if parts().any(|own| grid.head.contains(&own) || row.contains(&own)) {
            return true;
        }
        let goes_on =
            token.number.is_some_and(|own| matches!(own.unit, Unit::Plain | Unit::Percent))
                || token.is("and or to , up a")
                || grid.columns.iter().any(|own| own.name.words.contains(&token.root));
        if !goes_on {
            break;
        }
    }
    let before = || tokens[..at].iter().rev();
    let is_bare = tokens[at].text.len() > 1
        && before().next().is_some_and(|own| own.is("at with for from to and"))
        && tokens[at].number.is_some_and(|own| own.unit == Unit::Plain && own.value >= 10.0)
        && (tokens[at].is_last
            || tokens.get(at + 1).is_none_or(|own| own.is("is it we and to the than")));
    is_bare || before().take(2).any(|own| grid.head.contains(&own.root) || row.contains(&own.root))
}

/// Whether a token is said of a column: by its name, or by what it measures.
pub(crate) fn is_column(grid: &Grid, tokens: &[Token], at: usize, index: usize) -> bool {
    const EMPTY: &str =
        "the a an of in on at by rate throughput line frame packet per second % time size";
    let (column, token) = (&grid.columns[index], &tokens[at]);
    let is_shared = |word: &str| {
        grid.columns.len() > 1 && grid.columns.iter().all(|own| own.name.words.contains(word))
    };
    let is_plain = token.number.is_none();
    let is_compound = !token.parts.is_empty()
        && token.parts.iter().all(|part| column.name.words.contains(part) && !is_shared(part));
    if is_plain && is_compound {
        return true;
    }
    const PRICES: [&str; 6] = ["price", "cost", "eur", "usd", "euro", "dollar"];
    if PRICES.iter().any(|word| column.name.words.contains(*word))
        && token.is("expensive cheap cheaper cheapest dearer dearest priced costlier")
    {
        return true;
    }
    // "100,000 prefixes" of a column that is called so
    if grid.columns.len() > 1 && !grid.is_block {
        let has = |name: &Name| name.words.iter().any(|word| is_same_number(token, word));
        if has(&column.name) && !grid.rows.iter().any(has) {
            return true;
        }
    }
    if is_plain && is_of(token, &column.name) {
        let own = grid.columns.iter().filter(|own| own.name.words.contains(&token.root));
        let is_sole = own.count() == 1 && token.is("rate throughput") && grid.columns.len() > 1;
        return !is_shared(&token.root)
            && (is_sole || !EMPTY.split(' ').any(|own| own == token.root))
            && unit_of(&token.text).is_none();
    }
    if token.number.is_some() && is_of_number(token, &column.name) {
        return true;
    }
    const RUNS: &str = "run runs bench sample trial iteration";
    let of_runs = |at: usize| {
        let mut behind = tokens[at + 1..].iter();
        let is_of = tokens.get(at + 1).is_some_and(|own| own.is("of one stock patched"));
        behind.clone().take(3).any(|own| own.is(RUNS))
            || behind.next().is_some() && is_of && tokens.iter().any(|own| own.is(RUNS))
    };
    let rate = column.unit != Unit::Seconds;
    match column.measure {
        Measure::Least => {
            token.is("min minimum minima")
                || (token.is(if rate { "slowest worst" } else { "fastest best" }) && of_runs(at))
        }
        Measure::Most => {
            token.is("max maximum maxima peak peaks peaked")
                || (token.is(if rate { "fastest best" } else { "slowest worst" }) && of_runs(at))
        }
        Measure::Middle => {
            let is_median = column.name.words.contains("median");
            if is_median {
                token.is("median medians")
            } else {
                token.is("avg average averages mean means averaged")
            }
        }
        Measure::Spread => {
            token.is("deviations stddevs stddev stdev deviation sd sigma std variance")
        }
        Measure::Open => false,
    }
}

/// "99.9 %" of a column that is called so.
fn is_of_number(token: &Token, name: &Name) -> bool {
    let digits = token.text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let is_percent = token.number.is_some_and(|own| own.unit == Unit::Percent);
    let is_centile = name.words.contains(&format!("p{digits}"));
    is_percent && is_centile
        || is_percent
            && digits.contains('.')
            && name.words.iter().any(|own| own.trim_end_matches('%') == digits)
}
