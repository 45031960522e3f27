//! What a number is of: the words behind it.

use super::figure::Unit;
use crate::token::Token;

/// The unit behind a number, what it multiplies it by, and where it ends.
pub(super) fn unit(tokens: &[Token], at: usize, value: f64) -> Option<(Unit, f64, usize)> {
    let text = |k: usize| tokens.get(at + k).map_or("", |token| token.text.as_str());
    // 10-Gigabit, 64-byte
    let skip = usize::from(text(0) == "-" && tokens.get(at + 1).is_some_and(Token::is_word));
    let own = |k: usize| text(skip + k);
    let end = |k: usize| at + skip + k;
    let slash = |k: usize| own(k) == "/" && matches!(own(k + 1), "s" | "sec" | "second");
    Some(match own(0) {
        "%" | "percent" | "pct" => {
            let is_points = matches!(own(1), "points" | "point");
            (Unit::Percent, 1.0, end(1 + usize::from(is_points)))
        }
        "per" if own(1) == "cent" => (Unit::Percent, 1.0, end(2)),
        "percentage" | "pp" => (Unit::Percent, 1.0, end(if own(1) == "points" { 2 } else { 1 })),
        "kpps" => (Unit::Rate, 1e3, end(1)),
        "mpps" => (Unit::Rate, 1e6, end(1)),
        "gpps" => (Unit::Rate, 1e9, end(1)),
        "pps" => (Unit::Rate, 1.0, end(1)),
        "kp" | "kpkt" if slash(1) => (Unit::Rate, 1e3, end(3)),
        "mp" | "mpkt" if slash(1) => (Unit::Rate, 1e6, end(3)),
        "k" | "m" => {
            let scale = if own(0) == "k" { 1e3 } else { 1e6 };
            match own(1) {
                "pps" => (Unit::Rate, scale, end(2)),
                noun if is_noun_of_settings(noun) => (Unit::Count(noun.to_owned()), scale, end(1)),
                _ => (Unit::Rate, scale, end(1)),
            }
        }
        "ns" | "nanosecond" | "nanoseconds" | "nsec" => (Unit::Time, 1e-9, end(1)),
        "us" | "µs" | "microsecond" | "microseconds" | "usec" => (Unit::Time, 1e-6, end(1)),
        "ms" | "millisecond" | "milliseconds" | "msec" => (Unit::Time, 1e-3, end(1)),
        "×" => match tokens.get(at + skip + 1) {
            Some(next) if next.is_number() => (Unit::Count("x".to_owned()), 1.0, end(1)),
            _ => (Unit::Factor, 1.0, end(1)),
        },
        "times" if is_of_runs(tokens, at + skip) => (Unit::Count("runs".to_owned()), 1.0, end(1)),
        "times" | "fold" => (Unit::Factor, 1.0, end(1)),
        "gbit" | "gbps" | "gb" if slash(1) || own(0) == "gbps" => (Unit::Bits, 1e9, end(1)),
        "mbit" | "mbps" | "mb" if slash(1) || own(0) == "mbps" => (Unit::Bits, 1e6, end(1)),
        _ => match counted(tokens, at + skip, value) {
            Some(end) => (Unit::Rate, 1.0, end),
            None => (Unit::Count(noun(tokens, at + skip)), 1.0, end(0)),
        },
    })
}

/// "72,000 packets forwarded each second", "5 million IPv4 packets": packets a second, and where that ends.
fn counted(tokens: &[Token], at: usize, value: f64) -> Option<usize> {
    let near = |from: usize, to: usize| tokens.get(from..to.min(tokens.len())).unwrap_or_default();
    let is_packet = |token: &Token| token.is_in("packets frames packet frame pkts");
    let stops = |token: &Token| !token.is_word() || token.is_in("of and per");
    let way = near(at, at + 4);
    let packets = way.iter().position(is_packet)?;
    if way[..packets].iter().any(stops) {
        return None;
    }
    let behind = near(at + packets + 1, at + packets + 6);
    let each = behind.iter().zip(behind.iter().skip(1)).position(|(own, next)| {
        (own.is_in("per each every a") || own.is_mark(&['/']))
            && (next.text.starts_with("sec") || next.is("s"))
    });
    match each {
        Some(each) => Some(at + packets + 3 + each),
        None if value >= 20_000.0 => Some(at + packets + 1),
        None => None,
    }
}

/// The word that says what is counted.
fn noun(tokens: &[Token], at: usize) -> String {
    let way = tokens.get(at..(at + 4).min(tokens.len())).unwrap_or_default();
    // "three firewalls with both families" counts firewalls
    const BETWEEN: &str = "with without for on in by at from to than and";
    let is_of_it = |token: &&Token| token.is_word() && !token.is_in(BETWEEN);
    let way: Vec<&Token> = way.iter().take_while(is_of_it).collect();
    let known =
        way.iter().find(|token| is_noun_of_settings(&token.text) || is_counted(&token.text));
    known.or(way.first()).map_or(String::new(), |token| token.text.clone())
}

/// Nouns that what is counted on a page is called by.
pub(super) fn is_counted(word: &str) -> bool {
    let roots = [
        "run",
        "bench",
        "measure",
        "sample",
        "value",
        "iteration",
        "trial",
        "repetition",
        "set",
        "series",
        "machine",
        "box",
        "router",
        "comparison",
        "block",
        "difference",
        "famil",
        "protocol",
        "degree",
        "packet",
        "frame",
        "kernel",
        "variant",
        "datapoint",
        "point",
    ];
    roots.iter().any(|root| word.starts_with(root))
}

/// Nouns of settings, which no figure of a set gives.
pub(super) fn is_noun_of_settings(word: &str) -> bool {
    let roots = [
        "flow",
        "route",
        "core",
        "thread",
        "queue",
        "byte",
        "ghz",
        "mhz",
        "line",
        "file",
        "week",
        "day",
        "hour",
        "minute",
        "second",
        "port",
        "cpu",
        "gigabit",
        "gbit",
        "g",
        "gb",
        "mb",
        "kb",
        "b",
        "year",
        "month",
        "patch",
        "commit",
        "state",
        "rule",
        "bit",
        "address",
        "destination",
        "user",
        "people",
        "euro",
        "dollar",
        "watt",
        "instruction",
        "cycle",
        "descriptor",
        "cable",
        "nic",
        "card",
        "head",
        "stable",
        "release",
        "entr",
        "slot",
        "connection",
        "session",
        "prefix",
        "buffer",
        "mbuf",
    ];
    roots.iter().any(|root| word == *root || root.len() > 2 && word.starts_with(root))
}

/// "Measured three times": runs, and no factor.
fn is_of_runs(tokens: &[Token], at: usize) -> bool {
    const VERBS: &str = "measured ran run repeated rerun tested benchmarked benched booted executed kernels \
    performed";
    let next = tokens.get(at + 1);
    let is_compared = next.is_some_and(|token| {
        token.is_in("as faster slower more less higher lower the that what larger bigger")
    });
    let from = at.saturating_sub(4);
    !is_compared && tokens[from..at].iter().any(|token| token.is_in(VERBS))
        || next.is_some_and(|token| token.is_in("each apiece per"))
}

/// By how much a word of a rate multiplies what stands before it.
pub(super) fn unit_scale(word: &str) -> Option<f64> {
    Some(match word {
        "kpps" | "k" | "thousand" => 1e3,
        "mpps" | "m" | "million" => 1e6,
        "gpps" => 1e9,
        "pps" => 1.0,
        _ => return None,
    })
}
