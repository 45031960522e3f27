//! What holding a claim against the facts can give.

use crate::facts::{Change, Facts};
use crate::quantity::Quantity;

/// Whether a claim is true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Truth {
    Holds,
    /// Every reading of it is contradicted, by what is said.
    Fails(String),
    /// It is not contradicted, and not borne out either.
    Doubtful(String),
    /// It may mean what holds and what does not.
    Open,
}

/// Whether something is so of one change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Is {
    So,
    NotSo,
    /// It points that way, and nothing proves it.
    Unproven,
    Open,
}

impl From<bool> for Is {
    fn from(is_so: bool) -> Self {
        if is_so { Self::So } else { Self::NotSo }
    }
}

/// What is so of several, for a claim about so many of them; `is_named` where each of them is named.
pub(crate) fn judge(
    quantity: Quantity,
    is_named: bool,
    all: &[Is],
    data: impl Fn() -> String,
) -> Truth {
    if all.is_empty() {
        return Truth::Open;
    }
    let count = |what: Is| all.iter().filter(|own| **own == what).count();
    let (so, not, unproven) = (count(Is::So), count(Is::NotSo), count(Is::Unproven));
    let is_open = count(Is::Open) > 0;
    let truth = |is_so: bool| if is_so { Truth::Holds } else { Truth::Fails(data()) };
    match quantity {
        Quantity::All if not > 0 => Truth::Fails(data()),
        Quantity::All if unproven > 0 => Truth::Fails(data()),
        Quantity::None if so > 0 => Truth::Fails(data()),
        Quantity::None if !is_open => Truth::Holds,
        Quantity::Some | Quantity::NotAll if is_open => Truth::Open,
        Quantity::Some => truth(so > 0),
        Quantity::NotAll => truth(so < all.len()),
        Quantity::Of(..) if is_open => Truth::Open,
        Quantity::Of(k, n) => truth(so == k && n.is_none_or(|n| n == all.len())),
        _ if so == all.len() => Truth::Holds,
        _ if not == all.len() => Truth::Fails(data()),
        _ if unproven == all.len() => Truth::Doubtful(data()),
        _ if is_named && not > 0 => Truth::Fails(data()),
        _ if is_named && unproven > 0 => Truth::Doubtful(data()),
        _ if so == 0 && !is_open => Truth::Doubtful(data()),
        _ => Truth::Open,
    }
}

/// What the changes are, for people.
pub(crate) fn shown(facts: &Facts, changes: &[&Change]) -> String {
    let one = |change: &&Change| {
        let (base, variant) = (&facts.cells[change.base], &facts.cells[change.variant]);
        let proof = if change.is_proven { "" } else { ", not proven" };
        format!(
            "'{}' against '{}': {:+.2} % ± {:.2}{proof}",
            variant.legend, base.legend, change.percent, change.half
        )
    };
    let all: Vec<String> = changes.iter().take(4).map(one).collect();
    all.join("; ")
}
