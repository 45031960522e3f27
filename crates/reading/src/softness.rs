//! How exactly a number is meant: about, more than, just under.

use crate::token::Token;

/// How a number is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Soft {
    /// As it is written.
    Exact,
    /// About.
    About,
    /// At least, more than.
    Above,
    /// At most, less than.
    Below,
    /// Nearly, just under.
    Nearly,
    /// Just over.
    Beyond,
}

/// Words that may stand between a bound and its number.
const LIGHT: &str = "a an the some full good whole by";
const TURNS: [(&str, Soft); 58] = [
    ("more than", Soft::Above),
    ("better than", Soft::Above),
    ("greater than", Soft::Above),
    ("higher than", Soft::Above),
    ("larger than", Soft::Above),
    ("bigger than", Soft::Above),
    ("faster than", Soft::Above),
    ("no less than", Soft::Above),
    ("not less than", Soft::Above),
    ("less than", Soft::Below),
    ("fewer than", Soft::Below),
    ("lower than", Soft::Below),
    ("smaller than", Soft::Below),
    ("slower than", Soft::Below),
    ("no more than", Soft::Below),
    ("not more than", Soft::Below),
    ("at least", Soft::Above),
    ("at most", Soft::Below),
    ("at the most", Soft::Below),
    ("up to", Soft::Below),
    ("north of", Soft::Above),
    ("in excess of", Soft::Above),
    ("upwards of", Soft::Above),
    ("south of", Soft::Below),
    ("a bit more than", Soft::Beyond),
    ("a little more than", Soft::Beyond),
    ("slightly more than", Soft::Beyond),
    ("a bit over", Soft::Beyond),
    ("a little over", Soft::Beyond),
    ("slightly over", Soft::Beyond),
    ("just over", Soft::Beyond),
    ("just above", Soft::Beyond),
    ("barely over", Soft::Beyond),
    ("barely above", Soft::Beyond),
    ("slightly above", Soft::Beyond),
    ("a little above", Soft::Beyond),
    ("just under", Soft::Nearly),
    ("just below", Soft::Nearly),
    ("slightly under", Soft::Nearly),
    ("slightly below", Soft::Nearly),
    ("slightly less than", Soft::Nearly),
    ("a bit less than", Soft::Nearly),
    ("a little less than", Soft::Nearly),
    ("a bit under", Soft::Nearly),
    ("a little under", Soft::Nearly),
    ("close to", Soft::About),
    ("near to", Soft::About),
    ("not even", Soft::Below),
    ("not quite", Soft::Nearly),
    ("well over", Soft::Above),
    ("well above", Soft::Above),
    ("far above", Soft::Above),
    ("well under", Soft::Below),
    ("well below", Soft::Below),
    ("far below", Soft::Below),
    ("shy of", Soft::Nearly),
    ("short of", Soft::Below),
    ("or so", Soft::About),
];
const WORDS: [(&str, Soft); 37] = [
    ("about", Soft::About),
    ("around", Soft::About),
    ("roughly", Soft::About),
    ("approximately", Soft::About),
    ("approx", Soft::About),
    ("circa", Soft::About),
    ("ca", Soft::About),
    ("~", Soft::About),
    ("≈", Soft::About),
    ("some", Soft::About),
    ("near", Soft::About),
    ("maybe", Soft::About),
    ("nearly", Soft::Nearly),
    ("almost", Soft::Nearly),
    ("practically", Soft::Nearly),
    ("virtually", Soft::Nearly),
    ("over", Soft::Above),
    ("above", Soft::Above),
    ("beyond", Soft::Above),
    ("past", Soft::Above),
    ("exceeds", Soft::Above),
    ("exceed", Soft::Above),
    ("exceeded", Soft::Above),
    ("tops", Soft::Above),
    (">", Soft::Above),
    ("≥", Soft::Above),
    ("breaks", Soft::Above),
    ("broke", Soft::Above),
    ("under", Soft::Below),
    ("below", Soft::Below),
    ("beneath", Soft::Below),
    ("<", Soft::Below),
    ("≤", Soft::Below),
    ("within", Soft::Below),
    ("barely", Soft::About),
    ("scarcely", Soft::About),
    ("easily", Soft::Above),
];

/// How the number of an amount is meant, by the words around it.
pub(crate) fn softness(tokens: &[Token], first: usize, last: usize) -> Soft {
    let mut end = first;
    // "a" of "a third" belongs to the number
    while end > 0 && tokens[end - 1].is_in(LIGHT) && !tokens[end - 1].is("some") && end + 2 > first
    {
        end -= 1;
    }
    let before = |count: usize, end: usize| -> Option<String> {
        let from = end.checked_sub(count)?;
        Some(tokens[from..end].iter().map(|t| t.text.as_str()).collect::<Vec<_>>().join(" "))
    };
    for place in [first, end] {
        for count in [4, 3, 2] {
            let found =
                before(count, place).and_then(|text| TURNS.iter().find(|(turn, _)| *turn == text));
            if let Some((_, soft)) = found {
                return *soft;
            }
        }
        if let Some(one) = before(1, place)
            && let Some((_, soft)) = WORDS.iter().find(|(word, _)| *word == one)
        {
            return *soft;
        }
    }
    let behind = |k: usize| tokens.get(last + k).map_or("", |token| token.text.as_str());
    match (behind(0), behind(1)) {
        ("or", "so") | ("roughly" | "approximately" | "ish", _) => Soft::About,
        ("or" | "and", "more") => Soft::Above,
        ("or", "less") => Soft::Below,
        _ => Soft::Exact,
    }
}
