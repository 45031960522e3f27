//! Where a sentence is cut into what may each make a claim of its own.

use crate::amount::{Amount, Unit, amounts};
use crate::cue::cues;
use crate::facts::Facts;
use crate::mention::mentions;
use crate::softness::Soft;
use crate::token::Token;

/// Words behind which another thing is said.
const TURNS: &str = "but while whereas although though however yet because since whilst";

/// The first token of each piece and the one behind its last.
pub(crate) fn cuts(facts: &Facts, all: &[Token]) -> Vec<(usize, usize)> {
    let sentence = Sentence { facts, all };
    let mut cuts = vec![0];
    let mut labels = Vec::new();
    for at in 1..all.len() {
        let from = *cuts.last().unwrap_or(&0);
        match sentence.cut(from, at) {
            Cut::Before => {
                // the cut swallows no token
                cuts.push(at);
                labels.push(at);
            }
            Cut::Behind => cuts.push(at + 1),
            Cut::None => {}
        }
    }
    let mut found: Vec<(usize, usize)> = Vec::new();
    for (number, from) in cuts.iter().enumerate() {
        let to = cuts
            .get(number + 1)
            .map_or(all.len(), |next| if labels.contains(next) { *next } else { next - 1 });
        // the joint itself belongs to what follows it, where it denies
        let from = if *from > 0 && all[from - 1].is_in("nor") { from - 1 } else { *from };
        if from < to {
            found.push((from, to));
        }
    }
    found
}

/// What becomes of a token.
enum Cut {
    None,
    /// It begins a piece.
    Before,
    /// It ends one, and belongs to none.
    Behind,
}

/// A sentence that is being cut.
struct Sentence<'a> {
    facts: &'a Facts,
    all: &'a [Token],
}

impl Sentence<'_> {
    /// Whether it is cut at a token, where the piece began at `from`.
    fn cut(&self, from: usize, at: usize) -> Cut {
        let all = self.all;
        let own = &all[at];
        let is_since = own.is("since")
            && (self.names(at + 1, (at + 4).min(all.len()))
                || all.get(at + 1).is_some_and(Token::is_number));
        let is_label = all.get(at + 1).is_some_and(|next| next.is_mark(&[':']))
            && at + 2 < all.len()
            && self.names(at, at + 1)
            && at > from
            // "faster than pf: 549 against 442" goes on
            && !all[at - 1].is_in("than against versus vs");
        if is_label && self.says(from, at) {
            return Cut::Before;
        }
        if is_since {
            return Cut::None;
        }
        let is_long = own.is_mark(&[':']) && at - from > 5;
        let is_full = is_long
            || own.is_mark(&[';', '!', '?', '—'])
            || own.is_in(TURNS)
                && !(own.is("but") && all[at - 1].is_in("all nothing anything none"));
        let is_dash = own.is_mark(&['-', '–']) && !all[at - 1].is_number();
        if is_full || is_dash && self.says(from, at) {
            return Cut::Behind;
        }
        if !self.is_inline(at) && self.is_joint(from, at) { Cut::Behind } else { Cut::None }
    }

    /// "(7 %)" belongs to what stands before it.
    fn is_inline(&self, at: usize) -> bool {
        let all = self.all;
        all[at].is_mark(&['(']) && {
            let close = (at..all.len()).find(|at| all[*at].is_mark(&[')'])).unwrap_or(all.len());
            close - at <= 7
                && !self.names(at + 1, close)
                && !all[at + 1..close].iter().any(|t| t.is_mark(&['→']) || t.is("to"))
        }
    }

    /// Whether a comma, a bracket or an "and" stands between two claims.
    fn is_joint(&self, from: usize, at: usize) -> bool {
        let all = self.all;
        let own = &all[at];
        let is_joint = own.is_mark(&[',', '(', ':']) || own.is_in("and or nor");
        if !is_joint || at + 1 >= all.len() {
            return false;
        }
        let is_bracketed = |open: &str| all[from..at].iter().any(|t| t.is_in(open));
        let is_pair = own.is_in("and nor or") && is_bracketed("both between neither either");
        let end = self.end(at + 1);
        let is_ellipsis = own.is_in("and nor") || own.is_mark(&[',']);
        let again = is_ellipsis
            && self.names(at + 1, end)
            && all[at + 1..end].iter().any(|t| t.is_in("not neither too likewise"))
            && !all[at + 1..end].iter().any(|t| t.is("or"));
        // "IPv4 and IPv6 gain": one claim of both
        let both = self.says(from, at) && (self.says(at + 1, end) || again);
        let is_list =
            own.is_in("and or") && !self.names(at + 1, end) && !says_by_amount(&all[at + 1..end]);
        both && !is_pair && !is_list
    }

    /// Whether something is claimed between two tokens.
    fn says(&self, from: usize, to: usize) -> bool {
        let own = &self.all[from..to];
        let amounts = amounts(own);
        let is_bound = |a: &Amount| a.step < 1.0 && matches!(a.soft, Soft::Above | Soft::Below);
        let has_result = amounts.iter().any(|a| !matches!(a.unit, Unit::Count(_)) || is_bound(a));
        has_result || !cues(own, &amounts).is_empty()
    }

    /// Whether something is named between two tokens.
    fn names(&self, from: usize, to: usize) -> bool {
        !mentions(self.facts, &self.all[from..to]).is_empty()
    }

    /// Where what begins at a token ends at the latest.
    fn end(&self, from: usize) -> usize {
        let stop = |t: &Token| t.is_mark(&[',', ';', '(', ')']) || t.is_in(TURNS) || t.is("and");
        (from..self.all.len()).find(|at| stop(&self.all[*at])).unwrap_or(self.all.len())
    }
}

fn says_by_amount(own: &[Token]) -> bool {
    amounts(own).iter().any(|a| !matches!(a.unit, Unit::Count(_)))
}
