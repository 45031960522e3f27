//! Sentences held as a whole against all that a page shows, beside what the rules say of their clauses. What both
//! contradict is wrong, what one of them bears out is at most to be looked at.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use fwdlab_evidence::finding::{AuditFindings, Rule, Severity, Text};
use fwdlab_evidence::surroundings::{Spoken, Surroundings};
use fwdlab_netbenches::name::family_word;
use fwdlab_netbenches::page::{Item, ItemKind};
use fwdlab_plain::{Near, PlainVerdict};
use fwdlab_reading::{Facts, Judged, names, read};
use fwdlab_sentence::clause::{Clause, Stance, quotes_earlier, words};
use fwdlab_sentence::doubt::Doubt;
use fwdlab_sentence::subject::is_of_others;

use crate::foreign::is_foreign;
use crate::grids::{Grids, Said, Source};
use crate::held::{compares, is_against_another, is_of_none, line_of, of_another_machine};
use crate::kinds::{Kind, kinds, spoken_of};
use crate::known::facts;
use fwdlab_grid::CellVerdict;
use fwdlab_grid::{explains_itself, tokens};

/// A page as its sentences are held against it.
pub(crate) struct Known {
    kinds: Vec<Kind>,
    /// All that the page shows, where that is of several kinds.
    whole: Option<Facts>,
    /// What the tables of a page without blocks show.
    tables: Facts,
}

impl Known {
    pub(crate) fn of(around: &Surroundings<'_>, grids: &Grids) -> Self {
        let kinds = kinds(around);
        let whole = (kinds.len() > 1).then(|| facts(around));
        let has_blocks = kinds.iter().any(|kind| !kind.facts.cells.is_empty());
        let tables = if has_blocks { Facts::default() } else { grids.facts() };
        Self { kinds, whole, tables }
    }

    /// Whether it has several things, so that one reader alone is too little to blame by.
    fn is_of_several(&self) -> bool {
        self.kinds.len() > 1 || self.kinds.iter().any(|kind| kind.facts.parts.len() > 1)
    }

    /// Holds the sentences of an item against the page, with what the rules say of its clauses.
    pub(crate) fn check(
        &self,
        (around, grids): (&Surroundings<'_>, &Grids),
        item: &Item,
        mut clauses: Vec<(&Clause, AuditFindings)>,
        findings: &mut AuditFindings,
    ) {
        for (from, to) in sentences(&item.text) {
            let text = &item.text[from..to];
            let own = |clause: &Clause| clause.offset >= from && clause.offset < to;
            let mut said = findings.none();
            let mut rest = Vec::new();
            let (mut first, mut count) = (None, 0);
            for (clause, found) in clauses {
                if own(clause) {
                    count += 1;
                    first.get_or_insert(clause);
                    said.extend(found);
                } else {
                    rest.push((clause, found));
                }
            }
            clauses = rest;
            let is_of_table = grids.is_of_table(around, item, text);
            let reading = match first {
                Some(_) if is_of_table => Judged::Open,
                Some(clause) if self.is_own(around, item, clause, text) => {
                    self.read(around, item, text)
                }
                _ => Judged::Open,
            };
            let doubt = Doubt::of(text, &item.text[to..]);
            let is_change = |own: &Clause| {
                matches!(own.stance, Stance::Change(..) | Stance::NoChange(_) | Stance::NotThat(..))
            };
            let is_plain = count == 1 && first.is_some_and(is_change) && is_of_one_number(text);
            let tell = |severity: Severity, data: String| {
                // one reader alone is too little to blame by, but for a change of which a sentence says nothing else
                let ungrounded = match severity {
                    Severity::Wrong => grids.ungrounded(around, item, (from, to)),
                    _ => None,
                };
                let is_sure = ungrounded.is_some() || is_plain;
                let severity = match doubt {
                    None if is_sure => severity,
                    _ => Severity::Check,
                };
                let line = match (&ungrounded, first) {
                    (Some(own), _) => item.line_at(own.at),
                    (None, Some(clause)) => line_of(item, clause),
                    (None, None) => item.line,
                };
                let text = Text::new(text.trim(), data, "write what the blocks say");
                let mut own = findings.none();
                own.add(Rule::ClaimReading, severity, line, text);
                own
            };
            let is_borne_out = reading == Judged::Holds;
            let is_silent = doubt == Some(Doubt::Silent) && around.page.blocks.len() == grids.len();
            // one finding a sentence: the rules name the cause better, where they see one
            let said = match reading {
                Judged::Fails(data) if !said.is_any_wrong() => tell(Severity::Wrong, data),
                Judged::Doubtful(data) if said.is_empty() => tell(Severity::Check, data),
                Judged::Holds => said.doubted(),
                // where a page has several things, one reader alone is too little to blame by
                Judged::Open if self.is_of_several() => said.doubted(),
                Judged::Doubtful(_) if self.kinds.len() > 1 => said.doubted(),
                _ => said,
            };
            let cells = self.cells((around, grids), item, (from, to));
            let is_held =
                !cells.is_empty() && cells.iter().all(|own| own.verdict == CellVerdict::Holds);
            // what it is held against is of another block
            let is_apart = compares(text) && grids.names_others(item, text)
                || grids.is_of_families(item, text);
            let is_doubted = is_held || is_apart || is_of_table || explains_itself(text);
            let said = if is_doubted { said.doubted() } else { said };
            // a rate that a table bears out no block has to
            let is_of_cells = cells.iter().all(|own| own.source == Source::Table);
            let said = match is_held && is_of_cells {
                true => said.without(Rule::ClaimRate),
                false => said,
            };
            // what the blocks bear out is at most asked about
            let is_of_one = !self.is_of_several();
            let is_close =
                |own: &Said| own.source == Source::Table || own.source == Source::Pair && is_of_one;
            let cells = match is_borne_out {
                true => cells.into_iter().filter(is_close).map(Said::doubted).collect(),
                false => grids.agreed(around, item, (from, to), cells),
            };
            let said = match said.is_any_wrong() || is_silent {
                true => said,
                false => with_cells(said, (item, text), cells),
            };
            // what is of a model that the page has not, nothing here can give
            let is_of_no_model = first.is_some_and(|clause| is_of_none(around, item, clause));
            let is_judged = is_borne_out || doubt.is_some() || is_of_no_model;
            let said = match said.is_empty() && !is_judged {
                true => grounds(said, (around, grids), item, (from, to)),
                false => said,
            };
            let is_asked = first.is_some_and(|own| self.is_own(around, item, own, text));
            let is_asked =
                is_asked || !self.tables.cells.is_empty() && item.kind != ItemKind::Heading;
            let said = match self.plainly(around, item, text).filter(|_| is_asked) {
                Some(plain) => with_plain(said, (item, first), (text, doubt), plain),
                None => said,
            };
            let has_exceptions = has_exceptions(text);
            // what it names is not what it is held against
            findings.extend(
                said.doubted_where(|own| has_exceptions || is_foreign((around, grids), item, own)),
            );
        }
        for (_, found) in clauses {
            findings.extend(found);
        }
    }

    /// What rows and columns say of a sentence. Where it names a machine, blocks are not told apart by where it stands.
    fn cells(
        &self,
        (around, grids): (&Surroundings<'_>, &Grids),
        item: &Item,
        (from, to): (usize, usize),
    ) -> Vec<Said> {
        let mut several =
            self.kinds.iter().map(|kind| &kind.facts).filter(|own| own.parts.len() > 1).peekable();
        let is_of_parts = several.peek().is_some();
        let names_part = several.any(|facts| names(facts, &item.text[from..to]).0);
        match names_part && around.page.blocks.len() == grids.len() {
            true => Vec::new(),
            false => grids.judge(around, item, ((from, to), is_of_parts)),
        }
    }

    /// What a sentence says each word of which is understood.
    fn plainly(&self, around: &Surroundings<'_>, item: &Item, text: &str) -> Option<PlainVerdict> {
        let facts = self.whole.as_ref().or_else(|| Some(&self.kinds.first()?.facts))?;
        let facts = if facts.cells.is_empty() { &self.tables } else { facts };
        let last = around.page.blocks.last().map_or(0, |block| block.last_line);
        let is_last = item.line > last && item.kind != ItemKind::Conclusion;
        let spoken = around.block_of(item, &BTreeSet::new());
        let above = around.page.block_before(item.line).filter(|_| !item.is_announcement());
        let mut blocks: Vec<usize> = spoken.map(|own| own.block).into_iter().chain(above).collect();
        blocks.dedup();
        let is_sure = is_last || spoken.is_some_and(|own| own.is_sure);
        Some(fwdlab_plain::read(facts, &Near { blocks, is_last, is_sure }, text))
    }

    /// A sentence is of the kinds of comparison whose words it has; of several it is that of the block that it stands
    /// by first.
    fn read(&self, around: &Surroundings<'_>, item: &Item, text: &str) -> Judged {
        match self.judged(around, item, text) {
            // "4.7 times as fast as this": nothing here says as what
            Judged::Fails(_) | Judged::Doubtful(_)
                if is_against_another(text) || is_of_order_or_range(text) =>
            {
                Judged::Open
            }
            judged => judged,
        }
    }

    fn judged(&self, around: &Surroundings<'_>, item: &Item, text: &str) -> Judged {
        if let [one] = self.kinds.as_slice() {
            return of_kind(&one.facts, around, item, text);
        }
        let meant = spoken_of(&self.kinds, text);
        if let [one] = meant.as_slice() {
            let judged = of_kind(&one.facts, around, item, text);
            return match judged {
                // "it is behind redirect": what stands above is held against what is named
                Judged::Fails(_) | Judged::Doubtful(_)
                    if compares(text) && !is_by(around, item, one) =>
                {
                    Judged::Open
                }
                judged => judged,
            };
        }
        let block = around.block_of(item, &BTreeSet::new()).map(|spoken| spoken.block);
        let is_near = |kind: &&&Kind| block.is_some_and(|block| kind.blocks.contains(&block));
        let near = meant.iter().find(is_near).map(|kind| of_kind(&kind.facts, around, item, text));
        let all: Vec<Judged> =
            meant.iter().map(|kind| of_kind(&kind.facts, around, item, text)).collect();
        let fails = all.iter().find(|own| matches!(own, Judged::Fails(_)));
        let is_held = all.contains(&Judged::Holds);
        match (near, fails) {
            (Some(Judged::Holds), _) | (None, None) if is_held => Judged::Holds,
            (near, Some(own)) if all.iter().all(|own| matches!(own, Judged::Fails(_))) => {
                // what stands nearest says it best
                near.unwrap_or_else(|| own.clone())
            }
            (near, Some(Judged::Fails(data))) if !is_held && near != Some(Judged::Open) => {
                Judged::Doubtful(data.clone())
            }
            (Some(Judged::Doubtful(data)), _) if !is_held => Judged::Doubtful(data),
            _ => Judged::Open,
        }
    }

    /// Whether a sentence speaks of this page, and states something.
    fn is_own(&self, around: &Surroundings<'_>, item: &Item, clause: &Clause, text: &str) -> bool {
        self.kinds.iter().any(|kind| !kind.facts.changes.is_empty())
            && item.kind != ItemKind::Heading
            && !is_setup(around, item)
            && !is_datum(around, item)
            && !is_of_energy(text)
            && Doubt::of(text, "") != Some(Doubt::Silent)
            && !is_of_others(text)
            // "before" is a state of the page's sets as often as another page
            && !quotes_earlier(&text.replace("before", ""))
            && !of_another_machine(around, item, clause)
            && !is_of_none(around, item, clause)
            && !names_stranger(around, item, text)
    }
}

/// What the rules ask of a sentence, with what the rows and columns contradict that it names: they say more exactly
/// what there is to ask.
fn with_cells(said: AuditFindings, (item, text): (&Item, &str), cells: Vec<Said>) -> AuditFindings {
    let is_wrong = cells.iter().any(|own| matches!(own.verdict, CellVerdict::Wrong(_)));
    let mut said = if is_wrong { said.none() } else { said };
    let is_open = said.is_empty();
    for own in cells {
        let line = item.line_at(own.at);
        let (severity, data) = match own.verdict {
            CellVerdict::Wrong(data) => (Severity::Wrong, data),
            CellVerdict::Doubtful(data) if is_open => (Severity::Check, data),
            _ => continue,
        };
        let text = Text::new(text.trim(), data, "write what the cells say");
        said.add(Rule::ClaimReading, severity, line, text);
    }
    said
}

/// What the rules say of a sentence, with what is known where each of its words is understood.
fn with_plain(
    said: AuditFindings,
    (item, first): (&Item, Option<&Clause>),
    (text, doubt): (&str, Option<Doubt>),
    plain: PlainVerdict,
) -> AuditFindings {
    let (severity, data) = match plain {
        PlainVerdict::Holds => return said.doubted(),
        PlainVerdict::Open if fwdlab_plain::is_of_spread(text) => return said.doubted(),
        PlainVerdict::Open => return said,
        PlainVerdict::Fails(data) => (Severity::Wrong, data),
        PlainVerdict::Asked(data) => (Severity::Check, data),
        // what is so in one of its readings is not wrong
        PlainVerdict::Doubtful(data) if said.is_empty() => (Severity::Check, data),
        PlainVerdict::Doubtful(_) => return said.doubted(),
    };
    if said.is_any_wrong() || severity == Severity::Check && !said.is_empty() {
        return said;
    }
    let severity = if doubt.is_some() { Severity::Check } else { severity };
    let line = first.map_or(item.line, |clause| line_of(item, clause));
    let mut own = said.none();
    own.add(
        Rule::ClaimReading,
        severity,
        line,
        Text::new(text.trim(), data, "write what the blocks say"),
    );
    own
}

/// What no rule binds, held against all that the page's data gives.
fn grounds(
    mut said: AuditFindings,
    (around, grids): (&Surroundings<'_>, &Grids),
    item: &Item,
    (from, to): (usize, usize),
) -> AuditFindings {
    if let Some(own) = grids.ungrounded(around, item, (from, to)) {
        let claim = item.text[from..to].trim();
        let text = Text::new(claim, own.data, "write what the data says, or where it is from");
        said.add(Rule::ClaimGrounds, Severity::Check, item.line_at(own.at), text);
    }
    said
}

/// Whether an item stands below a block of a kind, or by none.
fn is_by(around: &Surroundings<'_>, item: &Item, kind: &Kind) -> bool {
    let block = around.block_of(item, &BTreeSet::new());
    block.is_none_or(|spoken| kind.blocks.contains(&spoken.block))
}

/// A sentence beside a block that names none is of that block first, and below those of a machine of that
/// machine; else of all.
fn of_kind(facts: &Facts, around: &Surroundings<'_>, item: &Item, text: &str) -> Judged {
    around.site.compared.fetch_add(facts.cells.len() as u64, Ordering::Relaxed);
    let whole = read(facts, text);
    let last = around.page.blocks.last().map_or(0, |block| block.last_line);
    let is_after = item.line > last && item.kind != ItemKind::Conclusion;
    let (names_part, names_family) = names(facts, text);
    if facts.is_of_topics && !names_part && names_family {
        // "IPv4" may be that of forwarding alone, as it may be that of each
        let plain = facts.plain();
        return match (plain.map(|own| read(&own, text)), whole) {
            (Some(Judged::Holds), _) | (_, Judged::Holds) => Judged::Holds,
            (Some(Judged::Fails(data)), Judged::Fails(_) | Judged::Open | Judged::Doubtful(_)) => {
                Judged::Fails(data)
            }
            (_, Judged::Fails(_)) => Judged::Open,
            (_, whole) => whole,
        };
    }
    let spoken = around.block_of(item, &BTreeSet::new()).filter(|_| !is_after);
    let of_block = |spoken: &Spoken| facts.only(|cell| cell.block == spoken.block);
    let Some(spoken) = spoken.filter(|_| !names_part) else {
        // "all of them" may be all of the block above
        return match (whole, spoken.map(|spoken| read(&of_block(&spoken), text))) {
            (Judged::Fails(data), Some(Judged::Holds)) => Judged::Doubtful(data),
            (whole, _) => whole,
        };
    };
    let Some(part) = facts.cells.iter().find(|c| c.block == spoken.block).map(|c| c.part) else {
        return whole;
    };
    let near = match names_family {
        true => facts.only(|cell| cell.part == part),
        false => of_block(&spoken),
    };
    match (read(&near, text), whole) {
        (Judged::Fails(data), Judged::Fails(_)) => Judged::Fails(data),
        (Judged::Fails(data), _)
            if spoken.is_sure && (item.kind == ItemKind::Conclusion || item.is_announcement()) =>
        {
            Judged::Fails(data)
        }
        (Judged::Fails(data), whole) => match whole {
            Judged::Holds => Judged::Open,
            _ => Judged::Doubtful(data),
        },
        (near, _) => near,
    }
}

/// "Same ranking as with IPv4", "from min to max", "between the fastest run of one and the slowest of the other": an order
/// or a range, no change; "The same with pf loaded.": what was run next; "with that and nothing else": what it is.
fn is_of_order_or_range(text: &str) -> bool {
    const ORDERS: [&str; 5] = ["ranking", "order", "picture", "pattern", "trend"];
    const ENDS: [[&str; 3]; 2] = [["min", "slowest", "worst"], ["max", "fastest", "best"]];
    let said: Vec<String> = words(text).into_iter().map(|(_, word)| word).collect();
    let has = |words: &[&str]| said.iter().any(|word| words.contains(&word.as_str()));
    let is_order = said.windows(2).any(|two| two[0] == "same" && ORDERS.contains(&two[1].as_str()));
    // what names a spread is read as one
    let is_range = ENDS.iter().all(|end| has(end)) && has(&["between", "to"]) && !has(&["spread"]);
    let is_next = said.len() > 2
        && [said[0].as_str(), said[1].as_str()] == ["the", "same"]
        && matches!(said[2].as_str(), "with" | "without")
        && !said.iter().any(|word| family_word(word).is_some());
    is_order || is_range || is_next || said.ends_with(&["nothing".to_owned(), "else".to_owned()])
}

/// Whether a sentence has one number, or none: what has more says more than one thing, or counts.
fn is_of_one_number(text: &str) -> bool {
    tokens(text).iter().filter(|own| own.number.is_some()).count() < 2
}

/// "All except the smallest", "apart from that": not all of what is named.
fn has_exceptions(text: &str) -> bool {
    const TWO: [[&str; 2]; 5] =
        [["all", "but"], ["apart", "from"], ["aside", "from"], ["other", "than"], ["save", "for"]];
    let said: Vec<String> = words(text).into_iter().map(|(_, word)| word).collect();
    let is_one = |word: &String| matches!(word.as_str(), "except" | "excepting" | "besides");
    said.iter().any(is_one) || said.windows(2).any(|two| TWO.iter().any(|own| two == own))
}

/// A line of the list above the first block that says what was measured on: "FreeBSD 12-stable", "harvest.mask=351".
fn is_setup(around: &Surroundings<'_>, item: &Item) -> bool {
    const HARDWARE: [&str; 11] = [
        "freebsd",
        "core",
        "gigabit",
        "port",
        "flow",
        "ghz",
        "mhz",
        "harvest",
        "route",
        "gb/s",
        "processor",
    ];
    let first = around.page.blocks.first().map_or(usize::MAX, |block| block.first_line);
    if item.kind != ItemKind::Bullet || item.line > first || item.text.contains('%') {
        return false;
    }
    let above = around.page.items_above(first);
    let own = above.partition_point(|other| other.line < item.line);
    let is_listed = |other: &&Item| other.kind == ItemKind::Bullet;
    let before = above[..own].iter().rev().take_while(is_listed);
    let list = before.chain(above[own..].iter().take_while(is_listed));
    list.map(|other| other.text.to_lowercase())
        .any(|text| HARDWARE.iter().any(|w| text.contains(w)))
}

/// What is said of energy is of no rate.
fn is_of_energy(text: &str) -> bool {
    words(text)
        .iter()
        .any(|(_, word)| matches!(word.as_str(), "energy" | "watt" | "watts" | "joule" | "joules"))
}

/// "- pinned: 1.41 Mpps" of a list of such, whose words no set has: a figure of its own.
fn is_datum(around: &Surroundings<'_>, item: &Item) -> bool {
    let Some((label, value)) = item.text.split_once(": ") else { return false };
    let is_value = value.starts_with(|c: char| c.is_ascii_digit()) && words(value).len() < 3;
    let said = words(label);
    const MEASURES: [&str; 5] = ["median", "mean", "average", "minimum", "maximum"];
    let is_measure = said.iter().any(|(_, word)| MEASURES.contains(&word.as_str()));
    let is_shown = |legend: &str| {
        let own = words(legend);
        said.iter().any(|(_, word)| own.iter().any(|(_, other)| word == other))
    };
    item.kind == ItemKind::Bullet
        && is_value
        && !is_measure
        && !around.sets.iter().flatten().any(|set| is_shown(&set.set.legend))
}

/// "Compared to the Xeon": a name that stands nowhere else on the page.
fn names_stranger(around: &Surroundings<'_>, item: &Item, text: &str) -> bool {
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).collect();
    words.windows(2).any(|two| {
        let is_article =
            matches!(two[0], "the" | "The" | "a" | "an" | "my" | "our" | "your" | "another");
        let mut letters = two[1].chars();
        let is_name = letters.next().is_some_and(char::is_uppercase)
            && letters.clone().next().is_some_and(char::is_lowercase)
            && two[1].len() > 3;
        is_article && is_name && !around.page.has_beside(item, two[1])
    })
}

/// Where the sentences of a text begin and end.
fn sentences(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut from = 0;
    let bytes = text.as_bytes();
    // "2. Hyper-threading: +3%" is one sentence with its number
    let number = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    for at in number + 1..bytes.len() {
        let is_end = matches!(bytes[at], b'.' | b'!' | b'?')
            && bytes.get(at + 1).is_some_and(u8::is_ascii_whitespace)
            && !text[from..at].ends_with("vs")
            && !text[from..at].ends_with("approx");
        if is_end {
            found.push((from, at + 1));
            from = at + 1;
        }
    }
    if !text[from..].trim().is_empty() {
        found.push((from, text.len()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "The same with pf loaded and one stateful rule." was wrong of a block in which pf costs.
    #[test]
    fn what_is_run_next_is_no_outcome() {
        for text in [
            "The same with pf loaded and one stateful rule.",
            "the same without rules:",
            "as main with that and nothing else.",
        ] {
            assert!(is_of_order_or_range(text), "{text}");
        }
        for text in [
            "The same with inet6.",
            "The same rate with pf.",
            "It is the same with pf.",
            "Nothing else changed.",
        ] {
            assert!(!is_of_order_or_range(text), "{text}");
        }
    }

    /// "All models except the smallest exceed 1 Gbit/s" was wrong of the smallest.
    #[test]
    fn what_is_left_out_is_not_spoken_of() {
        for text in [
            "All models except the smallest exceed 1 Gbit/s.",
            "Apart from pf they all lose less than 10 %.",
            "All but one gain.",
        ] {
            assert!(has_exceptions(text), "{text}");
        }
        for text in ["All of them gain, but little.", "It is other hardware than before."] {
            assert!(!has_exceptions(text), "{text}");
        }
    }
}
