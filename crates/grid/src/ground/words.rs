//! Words of orders, by what they say of a value.

use crate::token::{Token, Unit};

/// What a word says of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    More,
    Less,
    /// More of what is wanted, less of what is not.
    Better,
    Worse,
    /// Its values scatter less, or more.
    Steadier,
    Noisier,
}

/// A comparison: from its word to what it is held against.
pub(crate) struct Comparison {
    pub(crate) way: Way,
    /// The last of its words: "than"; `None` where nothing is compared.
    pub(crate) to: Option<usize>,
    /// What stands behind it comes first: "is beaten by".
    pub(crate) is_back: bool,
    pub(crate) is_denied: bool,
}

/// Comparatives, which want a "than".
const THAN: [(&str, Way); 6] = [
    ("steadier stabler calmer", Way::Steadier),
    ("noisier jumpier", Way::Noisier),
    ("more higher larger greater bigger longer louder heavier hotter", Way::More),
    ("less lower smaller fewer shorter quieter lighter cooler", Way::Less),
    ("faster better quicker stronger sooner", Way::Better),
    ("slower worse weaker later", Way::Worse),
];

/// Words that compare by themselves.
const VERBS: [(&str, Way); 4] = [
    ("exceeds exceed exceeded above", Way::More),
    ("below under", Way::Less),
    (
        "beats beat outperforms outperform outperformed overtakes overtake overtook outruns outran ahead outdoes tops leads",
        Way::Better,
    ),
    ("behind trails lags trailing lagging", Way::Worse),
];

/// A number with a unit, and none by which something is called.
fn is_size(token: &Token) -> bool {
    token.number.is_some_and(|own| own.unit != Unit::Plain)
}

/// Verbs of what moves, and comparatives without what they are held against.
const MOVES: [(&str, Way); 4] = [
    (
        "improves improved improve gains gained profits profited benefits benefited benefit speeds faster better quicker win wins",
        Way::Better,
    ),
    (
        "loses lost lose suffers suffered slows slowed degrades degraded regresses regressed slower worse",
        Way::Worse,
    ),
    ("rises rose rise grows grew grow increases increased increase higher", Way::More),
    (
        "drops dropped drop falls fell fall decreases decreased decrease shrinks shrank lower",
        Way::Less,
    ),
];

/// The way in which something moves, by the word at a place.
pub(crate) fn moves(tokens: &[Token], at: usize) -> Option<Way> {
    MOVES.iter().find(|(words, _)| tokens[at].is(words)).map(|own| own.1)
}

/// The comparison that begins at a word.
pub(crate) fn comparative(tokens: &[Token], at: usize) -> Option<Comparison> {
    const NEGATIONS: &str =
        "not no never neither nor nothing nobody none nowhere hardly barely cannot without";
    // "half as much", "four times more": a size
    const HARMS: &str = "damage harm loss losses penalty cost costs expensive costly trouble jitter overhead susceptible sensitive \
        than consistent stable noisy variable often";
    let token = &tokens[at];
    let find =
        |list: &[(&str, Way)]| list.iter().find(|(words, _)| token.is(words)).map(|own| own.1);
    let before = &tokens[at.saturating_sub(4)..at];
    let is_denied = before.iter().any(|own| own.is(NEGATIONS) || own.text.ends_with("n't"));
    let scatter = scatter(tokens, at).map(|(way, is_more)| if is_more { way } else { way.back() });
    if let Some(way) = scatter.or_else(|| find(&THAN)) {
        let than = (at + 1..tokens.len().min(at + 9)).find(|k| tokens[*k].is("than"))?;
        let between = &tokens[at + 1..than];
        let is_number =
            tokens.get(than + 1).is_some_and(|own| is_size(own) || own.is("half twice"));
        let is_harm =
            scatter.is_none() && token.is("more less") && between.iter().any(|own| own.is(HARMS));
        let is_expected = tokens
            .get(than + 1)
            .is_some_and(|own| own.is("expected before that this i we usual ever"));
        // "it gains more with it than without": of two changes
        const CHANGES: &str = "brings bring brought gains gain gained loses lose lost costs cost wins win profits profit hurts matters saves";
        let is_of_changes = token.is("more less") && before.iter().any(|own| own.is(CHANGES));
        let to = (!is_number && !is_harm && !is_expected && !is_of_changes).then_some(than);
        return Some(Comparison { way, to, is_back: false, is_denied });
    }
    let way = find(&VERBS)?;
    let next = tokens.get(at + 1);
    let is_number = next.is_some_and(is_size);
    let is_back = next.is_some_and(|own| own.is("by"));
    Some(Comparison { way, to: (!is_number).then_some(at), is_back, is_denied })
}

impl Way {
    /// Whether it is said of how values scatter.
    pub(crate) fn is_of_spread(self) -> bool {
        matches!(self, Self::Steadier | Self::Noisier)
    }

    /// The other way.
    pub(crate) fn back(self) -> Self {
        match self {
            Self::More => Self::Less,
            Self::Less => Self::More,
            Self::Better => Self::Worse,
            Self::Worse => Self::Better,
            Self::Steadier => Self::Noisier,
            Self::Noisier => Self::Steadier,
        }
    }
}

/// "More stable", "less noisy", "scattered more", "most reproducible": what scatters, and whether it is more so.
fn scatter(tokens: &[Token], at: usize) -> Option<(Way, bool)> {
    const STEADY: &str = "stable steady constant reproducible consistent repeatable predictable";
    const NOISY: &str = "noisy unstable scattered scatter scatters variable dispersed spread";
    let is_more = tokens[at].is("more most");
    if !is_more && !tokens[at].is("less least") {
        return None;
    }
    let beside =
        [at.checked_sub(1), Some(at + 1)].into_iter().flatten().filter_map(|at| tokens.get(at));
    let way = beside.clone().find_map(|own| {
        (own.is(STEADY)).then_some(Way::Steadier).or_else(|| own.is(NOISY).then_some(Way::Noisier))
    })?;
    Some((way, is_more))
}

/// The superlative that a word is, and the rank that stands before it.
pub(crate) fn superlative(tokens: &[Token], at: usize) -> Option<(Way, usize)> {
    const WORDS: [(&str, Way); 6] = [
        ("steadiest stablest calmest", Way::Steadier),
        ("noisiest jumpiest", Way::Noisier),
        (
            "highest largest biggest greatest longest most heaviest hottest deepest widest tallest",
            Way::More,
        ),
        ("lowest smallest least fewest shortest lightest narrowest", Way::Less),
        ("fastest best quickest cheapest", Way::Better),
        ("slowest worst", Way::Worse),
    ];
    let token = &tokens[at];
    if let Some((way, is_more)) = scatter(tokens, at).filter(|_| token.is("most least")) {
        return Some((if is_more { way } else { way.back() }, 1));
    }
    let (first, rank_within) = match token.text.split_once('-') {
        Some(("second", rest)) => (rest, 2),
        Some(("third", rest)) => (rest, 3),
        _ => (token.text.as_str(), 1),
    };
    let way = WORDS
        .iter()
        .find(|(words, _)| words.split(' ').any(|own| own == first))
        .map(|own| own.1)?;
    // "the most stable", "at least", "the best run of", "most of"
    let before = at.checked_sub(1).map(|own| &tokens[own]);
    if before.is_some_and(|own| own.is("at than")) {
        return None;
    }
    let next = tokens.get(at + 1).filter(|_| !token.is_last);
    const RUNS: &str = "run runs bench benches sample trial trials value values one";
    if next.is_some_and(|own| own.is(RUNS))
        || token.is("most least") && next.is_some_and(|own| !own.is("with in on at by for"))
    {
        return None;
    }
    let rank = match before {
        Some(own) if own.is("second") => 2,
        Some(own) if own.is("third") => 3,
        _ => rank_within,
    };
    Some((way, rank))
}
