//! Whom a sentence names: parts of the page, families, and sets of a block.

use std::collections::BTreeSet;

use fwdlab_netbenches::name::{NamedFamily, family_word};
use fwdlab_sentence::subject::folded;
use fwdlab_sentence::vocabulary::is_machine;

use crate::facts::{ABSENT, Cell, Facts, Part};
use crate::token::{Token, listed};

/// What is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Whom {
    Part(usize),
    Family(NamedFamily),
    /// Places of sets in their blocks.
    Roles(BTreeSet<usize>),
    /// Blocks of one thing of several.
    Blocks(BTreeSet<usize>),
    /// "Both machines", "each box".
    EachPart,
    /// "Leaving pf aside": all but these parts, or this family.
    NotPart(usize),
    NotFamily(NamedFamily),
    /// Some parts, by what they are: firewalls.
    Parts(BTreeSet<usize>),
    /// "Both families".
    EachFamily,
    /// "The other machine".
    OtherPart,
    /// "The other family".
    OtherFamily,
}

/// A name in a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mention {
    pub(crate) at: usize,
    pub(crate) whom: Whom,
}

impl Part {
    /// Whether a word, as it is written, is a name of it.
    fn is_called(&self, word: &str) -> bool {
        self.names.iter().any(|name| {
            let [short, long] =
                if name.len() < word.len() { [name.as_str(), word] } else { [word, name.as_str()] };
            let is_model = short.contains(|c: char| c.is_ascii_digit()) || short.len() > 3;
            // "APU2" of an APU2D4
            short == long || short.len() > 2 && is_model && long.starts_with(short)
        })
    }
}

/// All that a sentence names, in order.
pub(crate) fn mentions(facts: &Facts, tokens: &[Token]) -> Vec<Mention> {
    let mut found = Vec::new();
    for at in 0..tokens.len() {
        let mut say = |whom: Whom| found.push(Mention { at, whom });
        if let Some(family) = family(tokens, at) {
            say(Whom::Family(family));
            continue;
        }
        if let [part] = parts_at(facts, tokens, at).as_slice() {
            say(Whom::Part(*part));
            continue;
        }
        if facts.has_other && tokens[at].is_in("here there") {
            let is_other = tokens[at].is("there") && at > 0 && tokens[at - 1].is("over");
            if is_other || tokens[at].is("here") {
                say(Whom::Part(usize::from(is_other)));
            }
        } else if let Some(whom) = filtered(facts, tokens, at) {
            say(whom);
        } else if let Some(whom) = group(facts, tokens, at).or_else(|| blocks(facts, tokens, at)) {
            say(whom);
        } else if let Some(roles) = roles(facts, tokens, at) {
            say(Whom::Roles(roles));
        }
    }
    for mention in &mut found {
        if is_left_out(tokens, mention.at) {
            match mention.whom {
                Whom::Part(part) => mention.whom = Whom::NotPart(part),
                Whom::Family(family) => mention.whom = Whom::NotFamily(family),
                _ => {}
            }
        }
    }
    found.dedup_by(|b, a| {
        if a.whom == b.whom && b.at - a.at <= 2 {
            return true;
        }
        // "ipfw in stateless mode" is one set
        let (Whom::Roles(first), Whom::Roles(second)) = (&a.whom, &b.whom) else { return false };
        let both: BTreeSet<usize> = first & second;
        let is_joined = b.at - a.at <= 4
            && !tokens[a.at..b.at]
                .iter()
                .any(|t| t.is_in("and or than to vs versus") || t.is_mark(&[',', '/', ':', '→']));
        let is_it = is_joined && !both.is_empty();
        if is_it {
            a.whom = Whom::Roles(both);
        }
        is_it
    });
    for mention in &mut found {
        if let Whom::Roles(roles) = &mut mention.whom {
            alone(facts, &tokens[mention.at], roles);
        }
    }
    found
}

/// "r357013" is that revision alone, where another set is the same with a patch.
fn alone(facts: &Facts, own: &Token, roles: &mut BTreeSet<usize>) {
    if roles.len() < 2 {
        return;
    }
    let word = folded(&own.text);
    let is_alone = |cell: &&Cell| roles.contains(&cell.role) && cell.names.iter().eq([&word]);
    let alone: BTreeSet<usize> = facts.cells.iter().filter(is_alone).map(|c| c.role).collect();
    if alone.len() == 1 {
        *roles = alone;
    }
}

/// "Except pf", "leaving pf aside", "apart from IPv6".
fn is_left_out(tokens: &[Token], at: usize) -> bool {
    let text = |k: isize| {
        at.checked_add_signed(k).and_then(|at| tokens.get(at)).map_or("", |t| t.text.as_str())
    };
    let is_before = (1..=3).any(|k| match text(-k) {
        "except" | "excluding" | "excepting" | "save" | "barring" | "besides" => true,
        "from" => matches!(text(-k - 1), "apart" | "aside"),
        "than" => text(-k - 1) == "other",
        "for" => matches!(text(-k - 1), "except" | "save" | "but"),
        "of" => text(-k - 1) == "exception",
        _ => false,
    });
    is_before || (1..=2).any(|k| matches!(text(k), "aside" | "excepted" | "excluded"))
}

fn family(tokens: &[Token], at: usize) -> Option<NamedFamily> {
    let own = &tokens[at];
    let is_legacy = own.is("legacy") && tokens.get(at + 1).is_some_and(|next| next.is("ip"));
    let first = own.text.split(['-', '_']).next().unwrap_or_default();
    family_word(first).or(is_legacy.then_some(NamedFamily::Inet))
}

/// The parts of the page that a word means. What does not depend on the part is asked once: a page may have many.
fn parts_at(facts: &Facts, tokens: &[Token], at: usize) -> Vec<usize> {
    let all = 0..facts.parts.len();
    if all.len() < 2 {
        return Vec::new();
    }
    if facts.is_of_topics {
        if is_generic(tokens, at) {
            return Vec::new();
        }
        let word = folded(&tokens[at].text);
        return all.filter(|part| facts.parts[*part].names.contains(&word)).collect();
    }
    let cores = cores_at(tokens, at)
        .filter(|cores| facts.parts.iter().filter(|part| part.cores == Some(*cores)).count() == 1);
    let ranked = ranked(facts, tokens, at);
    let is_it = |part: &usize| {
        let own = &facts.parts[*part];
        is_part(own, tokens, at) || cores.is_some() && own.cores == cores || ranked.contains(part)
    };
    all.filter(is_it).collect()
}

/// "Quad core", "8-core".
fn cores_at(tokens: &[Token], at: usize) -> Option<u32> {
    let text = |k: usize| tokens.get(at + k).map_or("", |t| t.text.as_str());
    let next = if text(1) == "-" { text(2) } else { text(1) };
    if next != "core" && next != "cores" {
        return None;
    }
    match text(0) {
        "quad" => Some(4),
        "dual" => Some(2),
        word => crate::amount::number_word(word).map(|n| n as u32).or(word.parse().ok()),
    }
}

/// Whether a word is the name or the letter of a part.
fn is_part(own: &Part, tokens: &[Token], at: usize) -> bool {
    let token = &tokens[at];
    if token.is_word() && own.is_called(&token.text) {
        return true;
    }
    let text = |k: isize| {
        at.checked_add_signed(k).and_then(|at| tokens.get(at)).map_or("", |t| t.text.as_str())
    };
    own.letter.as_ref().is_some_and(|letter| {
        let before = text(-1);
        let is_behind_noun = is_machine(before) && token.text.eq_ignore_ascii_case(letter);
        let is_alone = token.raw == *letter
            && (letter != "A"
                || matches!(
                    text(1),
                    "/" | ":"
                        | ","
                        | "."
                        | ""
                        | "|"
                        | "and"
                        | "or"
                        | ")"
                        | "is"
                        | "has"
                        | "only"
                        | "="
                )
                || text(1) == "'s"
                || family_word(text(1)).is_some()
                || matches!(
                    before,
                    "on" | "of"
                        | "for"
                        | "from"
                        | "in"
                        | "than"
                        | "and"
                        | "or"
                        | "but"
                        | "to"
                        | "at"
                        | "/"
                ));
        is_behind_noun || is_alone && token.is_word()
    })
}

/// "The small box", "the faster machine", "the slower of the two": by the rates of their bases.
fn ranked(facts: &Facts, tokens: &[Token], at: usize) -> Vec<usize> {
    const BIG: &str =
        "big bigger biggest large larger largest faster fastest fast powerful stronger quicker";
    const SMALL: &str = "small smaller smallest little slower slowest slow tiny weaker weak weakest smallish low- \
    end";
    let own = &tokens[at];
    let text = |k: usize| tokens.get(at + k).map_or("", |t| t.text.as_str());
    let is_noun = |word: &str| is_machine(word) || word == "system";
    let is_of_machines = is_noun(text(1))
        || is_noun(text(2)) && !tokens[at + 1].is_in("of on")
        || text(1) == "of" && text(2) == "the" && is_noun(text(4));
    if !is_of_machines || !own.is_in(BIG) && !own.is_in(SMALL) {
        return Vec::new();
    }
    let mut rates = vec![0.0; facts.parts.len()];
    for cell in facts.cells.iter().filter(|cell| cell.role == 0) {
        if let Some(rate) = rates.get_mut(cell.part) {
            *rate = cell.mean().max(*rate);
        }
    }
    let most = rates.iter().copied().fold(0.0, f64::max);
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let end = if own.is_in(BIG) { most } else { least };
    (0..rates.len()).filter(|part| rates[*part] == end).collect()
}

/// "With pf": the blocks that a word names where a page has blocks of several things.
fn blocks(facts: &Facts, tokens: &[Token], at: usize) -> Option<Whom> {
    let word = folded(&tokens[at].text);
    let own = facts.words().blocks.get(&word)?;
    (own.len() < facts.blocks()).then(|| Whom::Blocks(own.clone()))
}

fn is_family_noun(word: &str) -> bool {
    word.starts_with("famil") || word.starts_with("protocol") || word == "stacks"
}

/// The parts that are firewalls, or those that are none.
fn firewalled(facts: &Facts, is_one: bool) -> BTreeSet<usize> {
    const FIREWALLS: &str = "ipfw pf ipf nftable iptable nft";
    let has =
        |part: &usize| FIREWALLS.split(' ').any(|name| facts.parts[*part].names.contains(name));
    let own: BTreeSet<usize> = (0..facts.parts.len()).filter(has).collect();
    match is_one {
        _ if own.is_empty() || own.len() == facts.parts.len() => BTreeSet::new(),
        true => own,
        false => (0..facts.parts.len()).filter(|part| !own.contains(part)).collect(),
    }
}

/// "Without a firewall", "plain forwarding", "nothing filtering", "firewalled": parts by whether they are one.
fn filtered(facts: &Facts, tokens: &[Token], at: usize) -> Option<Whom> {
    if !facts.is_of_topics {
        return None;
    }
    let text = |k: usize| tokens.get(at + k).map_or("", |t| t.text.as_str());
    let is_firewall = |word: &str| word.starts_with("firewall") || word.starts_with("filter");
    let near = (1..=2).any(|k| is_firewall(text(k)));
    let is_one = match text(0) {
        "without" | "no" | "nothing" if near => false,
        "plain" | "bare" | "unfiltered" | "firewall-less" => false,
        "with" | "behind" | "a" | "the"
            if is_firewall(text(1))
                && !tokens.get(at.wrapping_sub(1)).is_some_and(|t| t.is("without")) =>
        {
            true
        }
        "firewalled" | "filtered" => true,
        _ => return None,
    };
    let own = firewalled(facts, is_one);
    (!own.is_empty()).then_some(Whom::Parts(own))
}

/// "Both machines", "the other family".
fn group(facts: &Facts, tokens: &[Token], at: usize) -> Option<Whom> {
    const EACH: &str = "both each every all neither either two no any";
    let text = |k: usize| tokens.get(at + k).map_or("", |t| t.text.as_str());
    let is_thing = |word: &str| {
        is_machine(word)
            || !facts.is_of_topics
                && (word.starts_with("card")
                    || word.starts_with("nic")
                    || word.starts_with("adapter"))
            || facts.is_of_topics && (word.starts_with("firewall") || word.starts_with("case"))
    };
    let noun = (1..=4).map(text).find(|word| is_thing(word) || is_family_noun(word));
    let is_light = |word: &str| {
        matches!(
            word,
            "of" | "the" | "these" | "two" | "address" | "my" | "ip" | "tested" | "our" | "single"
        )
    };
    let reach = (1..=4).take_while(|k| is_light(text(*k))).count();
    let noun = noun.filter(|noun| text(reach + 1) == *noun)?;
    let is_family = is_family_noun(noun);
    if noun.starts_with("firewall") && tokens[at].is_in(EACH) {
        let is_absent = tokens[at].is_in("no any")
            && (tokens[at].is("no") || at > 0 && tokens[at - 1].is("without"));
        let own: BTreeSet<usize> = firewalled(facts, !is_absent);
        return (!own.is_empty()).then_some(Whom::Parts(own));
    }
    if tokens[at].is_in(EACH) && (facts.parts.len() > 1 || is_family) {
        return Some(if is_family { Whom::EachFamily } else { Whom::EachPart });
    }
    if facts.has_other && !is_family {
        return match tokens[at].text.as_str() {
            "other" | "second" => Some(Whom::Part(1)),
            "this" | "first" => Some(Whom::Part(0)),
            _ => None,
        };
    }
    let is_other = tokens[at].is("other") && facts.parts.len().max(2) == 2;
    (is_other && (is_family || facts.parts.len() == 2)).then_some(if is_family {
        Whom::OtherFamily
    } else {
        Whom::OtherPart
    })
}

/// Words for the first set of a block.
const BASE: &str = "stock unpatched baseline base vanilla unmodified original originally previously formerly \
    plain-old reference unchanged-kernel prior pre beforehand non-patched status-quo \
    initially earlier unaltered initial";
/// Words for the others.
const VARIANT: &str = "patched now new post modified afterwards afterward today nowadays currently patched- \
    kernel finally henceforth newer";
/// What is applied or left away.
const APPLIED: &str = "patch diff change commit review it fix patches changes that this cache option feature \
    setting optimization optimisation knob code revision update rework";

/// The words and numbers of a label, folded, that may tell it from others.
pub fn label_words(legend: &str) -> BTreeSet<String> {
    const LIGHT: &str = "with without the a an and or of on in for to pps packets per second forwarded diff bench \
    is are no from by";
    // of a path the file and what it lies in
    let start = legend.rmatch_indices('/').nth(1).map_or(0, |(at, _)| at + 1);
    let own = if legend.ends_with(".pps") { &legend[start..] } else { legend };
    let all = crate::token::tokens(own);
    let kept = all.iter().filter(|token| {
        !matches!(token.kind, crate::token::Kind::Mark(_))
            && family_word(&token.text).is_none()
            && (token.is_in("on") || !token.is_in(LIGHT))
    });
    let mut words: BTreeSet<String> = kept.map(|token| folded(&token.text)).collect();
    // "hash-32k" is called 32k, and "drop.4c" drop and 4c
    let parts = |word: &str| -> Vec<String> {
        let parts = word.split(|c: char| !c.is_alphanumeric()).map(folded);
        let is_dotted = word.contains('.')
            && word.split('.').next().is_some_and(|own| own.ends_with(char::is_alphabetic));
        let digits = |part: &str| part.strip_suffix(['k', 'm', 'g'])?.parse::<u64>().ok();
        let is_sized = |part: &str| digits(part).is_some();
        let is_kept = |part: &String| {
            is_sized(part) || is_dotted && part.contains(|c: char| !c.is_ascii_digit())
        };
        parts.filter(is_kept).collect()
    };
    let more: Vec<String> = words.iter().flat_map(|word| parts(word)).collect();
    words.extend(more);
    // "kernel without IPSEC" is not called IPSEC
    // nor is "no firewall" a firewall
    for two in all.windows(2).filter(|two| two[0].is_in("without w/o no") && two[1].is_word()) {
        let word = folded(&two[1].text);
        if words.remove(&word) {
            words.insert(format!("{ABSENT}{word}"));
        }
    }
    words
}

fn roles(facts: &Facts, tokens: &[Token], at: usize) -> Option<BTreeSet<usize>> {
    let own = &tokens[at];
    if !own.is_word() && !own.is_number() {
        return None;
    }
    let text = |k: isize| {
        at.checked_add_signed(k).and_then(|at| tokens.get(at)).map_or("", |t| t.text.as_str())
    };
    let widest = facts.widest();
    let is_absent = |k: isize| {
        matches!(text(k - 1), "without" | "w/o")
            || matches!(text(k - 2), "without") && matches!(text(k - 1), "the" | "this" | "any")
    };
    let is_shared = |word: &str| facts.words().shared.contains(&folded(word));
    if let Some(named) = firewalls(facts, tokens, at) {
        return Some(named);
    }
    if let Some(state) = state_of(tokens, at, &is_shared)
        && let Some(named) = named_roles(facts, state)
    {
        return Some(named);
    }
    if let Some(named) = numbered_roles(facts, tokens, at, &is_shared) {
        return Some(named);
    }
    if let Some(named) = named_roles(facts, &format!("{ABSENT}{}", folded(&own.text)))
        .filter(|_| own.is_word() && is_absent(0))
    {
        return Some(named);
    }
    if let Some(named) = named_roles(facts, &own.text).filter(|_| own.is_word()) {
        if is_generic(tokens, at) {
            return None;
        }
        if own.is_in("on off in one") {
            let is_state =
                matches!(text(-1), "is" | "turned" | "switched" | "set" | "=" | "it" | "with")
                    || is_shared(text(-1));
            return is_state.then_some(named);
        }
        return if is_absent(0) && widest == 2 {
            Some((0..widest).filter(|role| !named.contains(role)).collect())
        } else {
            Some(named)
        };
    }
    let is_told = |_: &BTreeSet<usize>| !facts.is_of_settings() || own.is_in("default used");
    applied(tokens, at, widest).filter(is_told)
}

/// "Every firewall", "both packet filters": the sets of a block that are some; "without any firewall": those that are
/// none.
fn firewalls(facts: &Facts, tokens: &[Token], at: usize) -> Option<BTreeSet<usize>> {
    const FIREWALLS: [&str; 5] = ["ipfw", "pf", "ipf", "nftable", "iptable"];
    const EACH: &str = "every each all both any either neither no two";
    let back = |k: usize| at.checked_sub(k).and_then(|at| tokens.get(at));
    let own = &tokens[at].text;
    let is_one = own.starts_with("firewall")
        || own.starts_with("filter") && back(1).is_some_and(|token| token.is("packet"));
    let is_each = || (1..=4).filter_map(back).any(|token| token.is_in(EACH));
    if !is_one || !is_each() {
        return None;
    }
    let is_absent = (1..=4).filter_map(back).any(|token| token.is("without"))
        || back(1).is_some_and(|token| token.is("no"))
            && back(2).is_some_and(|token| token.is("with"));
    let roles = &facts.words().roles;
    let own: BTreeSet<usize> =
        FIREWALLS.iter().filter_map(|name| roles.get(*name)).flatten().copied().collect();
    let rest = || (0..facts.widest()).filter(|role| !own.contains(role)).collect();
    (!own.is_empty() && own.len() < facts.widest())
        .then(|| if is_absent { rest() } else { own.clone() })
}

/// "With the patch", "before": the sets of a page of two by what was done.
fn applied(tokens: &[Token], at: usize, widest: usize) -> Option<BTreeSet<usize>> {
    let own = &tokens[at];
    let text = |k: isize| {
        at.checked_add_signed(k).and_then(|at| tokens.get(at)).map_or("", |t| t.text.as_str())
    };
    let base = || Some(BTreeSet::from([0]));
    let variants = || (widest == 2).then(|| BTreeSet::from([1]));
    let light = |word: &str| {
        matches!(
            word,
            "the"
                | "this"
                | "that"
                | "a"
                | "any"
                | "its"
                | "these"
                | "your"
                | "his"
                | "nexthop"
                | "diff"
        )
    };
    let next = (1..=3).map(text).find(|word| !light(word)).unwrap_or("");
    let is_end = |word: &str| {
        matches!(word, "" | "." | "," | ")" | ";" | ":" | "!" | "?" | "and" | "but" | "|")
    };
    let is_patch = |word: &str| {
        listed(APPLIED, word)
            || word.starts_with('d')
                && word.len() > 4
                && word[1..].bytes().all(|b| b.is_ascii_digit())
    };
    match own.text.as_str() {
        "without" if text(-1) != "or" && text(-1) != "and" => {
            (is_patch(next) || is_end(text(1))).then(base).flatten()
        }
        "with" if !matches!(text(1), "or" | "and") => {
            let is_it = is_patch(next) && next != "that" || is_end(text(1)) && text(1) != ":";
            is_it.then(variants).flatten()
        }
        "before" => {
            let is_it =
                is_patch(next) || is_end(text(1)) || matches!(text(-1), "than" | "as" | "did");
            is_it.then(base).flatten()
        }
        "after" => {
            let is_it = is_patch(next) || is_end(text(1)) || next.starts_with("apply");
            is_it.then(variants).flatten()
        }
        "applied" | "applying" | "once" => {
            let is_it = text(1) != "to" && (own.text != "once" || is_patch(next));
            is_it.then(variants).flatten()
        }
        "old" | "older" => {
            let is_it = matches!(
                text(1),
                "kernel" | "code" | "one" | "way" | "version" | "value" | "stack" | "path"
            );
            is_it.then(base).flatten()
        }
        "used" if text(1) == "to" => base(),
        "plain" if text(1) != "old" && text(1) != "forwarding" => base(),
        word if listed(BASE, word) => base(),
        word if listed(VARIANT, word) => variants(),
        _ => None,
    }
}

/// "The forwarding rate" names no set called forwarding.
fn is_generic(tokens: &[Token], at: usize) -> bool {
    let own = &tokens[at];
    let before = at.checked_sub(1).map_or("", |at| tokens[at].text.as_str());
    let next = tokens.get(at + 1).map_or("", |token| token.text.as_str());
    own.is_in("forwarding fastforwarding routing in no on off default")
        && !matches!(
            before,
            "plain" | "simple" | "pure" | "than" | "to" | "against" | "no" | "just" | "for"
        )
        && !is_end_of(next)
}

fn is_end_of(word: &str) -> bool {
    matches!(
        word,
        "" | "." | "," | ":" | ";" | ")" | "|" | "and" | "is" | "alone" | "only" | "without"
    )
}

/// "Disabling it", "turning hyperthreading off", "without redirects": the word by which a label names that state.
fn state_of(tokens: &[Token], at: usize, is_shared: &dyn Fn(&str) -> bool) -> Option<&'static str> {
    let text = |k: usize| tokens.get(at + k).map_or("", |t| t.text.as_str());
    let own = text(0);
    let is_turn = ["turn", "switch"].iter().any(|root| own.starts_with(root));
    let way = (1..=4).map(text).find(|word| matches!(*word, "on" | "off"));
    // asked of few words only: a page may have many sets
    let of_noun =
        || (1..=3).any(|k| is_shared(text(k)) || is_shared(&format!("{}{}", text(k), text(k + 1))));
    let back = |k: usize| at.checked_sub(k).map_or("", |at| tokens[at].text.as_str());
    let is_kept = || {
        (1..=4).any(|k| {
            back(k).starts_with("keep") || back(k).starts_with("leav") || is_shared(back(k))
        })
    };
    match own {
        "off" if is_kept() => Some("disabled"),
        "on" if is_kept()
            && matches!(text(1), "" | "." | "," | "is" | "costs" | "hurts" | "helps") =>
        {
            Some("enabled")
        }
        _ if own.starts_with("disabl") || own.starts_with("deactivat") => Some("disabled"),
        _ if own.starts_with("enabl") || own.starts_with("activat") => Some("enabled"),
        _ if is_turn && way == Some("off") => Some("disabled"),
        _ if is_turn && way == Some("on") => Some("enabled"),
        "without" if of_noun() => Some("disabled"),
        "with" | "using"
            if of_noun()
                && !matches!(text(2), "disabled" | "off")
                && !matches!(text(3), "disabled" | "off") =>
        {
            Some("enabled")
        }
        _ => None,
    }
}

/// "8 queues", "12.1": sets that a number tells apart.
fn numbered_roles(
    facts: &Facts,
    tokens: &[Token],
    at: usize,
    is_shared: &dyn Fn(&str) -> bool,
) -> Option<BTreeSet<usize>> {
    let own = &tokens[at];
    let value = match own.is_number() {
        true => own.text.clone(),
        false if own.is("single") => "1".to_owned(),
        false => format!("{}", crate::amount::number_word(&own.text)?),
    };
    let text = |k: usize| tokens.get(at + k).map_or("", |t| t.text.as_str());
    // "32k entries"
    if listed("k m g", text(1)) && text(2) != "pps" {
        return named_roles(facts, &format!("{value}{}", text(1)));
    }
    let is_unit = listed("% percent kpps mpps pps × times k m ns us runs", text(1));
    let is_decimal = value.contains('.');
    let is_of_noun = (1..=2).any(|k| is_shared(text(k)))
        || at > 0 && tokens[at - 1].is_word() && is_shared(&tokens[at - 1].text)
        || matches!(text(1), "to" | "than" | "" | "." | "and" | "over" | ",")
            && tokens.iter().any(|t| is_shared(&t.text));
    let is_headed = text(1) == "-" || text(1) == "head";
    let own = (!is_unit && (is_decimal || is_of_noun || is_headed))
        .then(|| named_roles(facts, &value))
        .flatten();
    own.or_else(|| {
        // "8 queues", "1 to 8 queues" of a set called q8, or 8q
        let is_between = |word: &&str| !listed("to and or , the rx tx", word) && !is_numeral(word);
        let noun = (1..=4).map(text).find(is_between).filter(|noun| noun.len() > 2 && !is_unit)?;
        let begins = (1..=3).filter_map(|end| noun.get(..end));
        let named = |code: String| named_roles(facts, &code);
        begins.into_iter().find_map(|begin| {
            named(format!("{begin}{value}")).or_else(|| named(format!("{value}{begin}")))
        })
    })
}

fn is_numeral(word: &str) -> bool {
    word.parse::<f64>().is_ok() || crate::amount::number_word(word).is_some()
}

/// The sets that a word of their labels names.
fn named_roles(facts: &Facts, word: &str) -> Option<BTreeSet<usize>> {
    let word = folded(word);
    let is_like = |name: &String| {
        let [short, long] = if name.len() < word.len() { [name, &word] } else { [&word, name] };
        // "stateful" of "statefull"
        short == long
            || short.len() > 4 && long.starts_with(short.as_str()) && long.len() - short.len() < 3
    };
    if word.is_empty() {
        return None;
    }
    let named = facts.words().roles.iter().filter(|(name, _)| is_like(name));
    let roles: BTreeSet<usize> = named.flat_map(|(_, roles)| roles).copied().collect();
    (!roles.is_empty() && roles.len() < facts.widest()).then_some(roles)
}
