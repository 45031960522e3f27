//! Words of change, of sameness and of denial, as people write them of rates.

/// Beginnings of words of a rate that becomes higher.
pub(super) const UP: [&str; 26] = [
    "grew",
    "grow",
    "improv",
    "imprev",
    "imporv",
    "faster",
    "gain",
    "benefit",
    "increas",
    "better",
    "speed-up",
    "speedup",
    "boost",
    "higher",
    "quicker",
    "accelerat",
    "outperform",
    "rais",
    "surpass",
    "outrun",
    "bonus",
    "advantage",
    "enhanc",
    "uplift",
    "progress",
    "miracle",
];

/// Whole words of a change.
pub(super) const UP_WORDS: [&str; 16] = [
    "beat",
    "beats",
    "beating",
    "win",
    "wins",
    "won",
    "ahead",
    "beneficial",
    "helpful",
    "helps",
    "helped",
    "profits",
    "profited",
    "win-win",
    "useful",
    "adds",
];
/// The same of one that becomes lower.
pub(super) const DOWN_WORDS: [&str; 11] = [
    "beaten", "behind", "lags", "halves", "halved", "kills", "killed", "ruins", "ruined", "costly",
    "handicap",
];

/// Beginnings of words of a rate that becomes lower.
pub(super) const DOWN: [&str; 29] = [
    "suffer",
    "slow",
    "reduc",
    "decreas",
    "drop",
    "degrad",
    "regress",
    "lower",
    "worse",
    "loss",
    "lose",
    "lost",
    "declin",
    "penalt",
    "overhead",
    "deteriorat",
    "cost",
    "diminish",
    "shrink",
    "hurt",
    "harm",
    "disast",
    "catastroph",
    "damag",
    "worsen",
    "drawback",
    "downgrad",
    "setback",
    "price",
];

/// Words of sameness.
pub(super) const SAME: [&str; 14] = [
    "same",
    "identical",
    "equal",
    "equals",
    "equivalent",
    "similar",
    "unchanged",
    "neutral",
    "negligible",
    "identically",
    "equally",
    "indistinguishable",
    "unaffected",
    "unimpacted",
];

/// Words of change without a direction, which only a negation makes a claim.
pub(super) const NEUTRAL: [&str; 18] = [
    "impact",
    "difference",
    "change",
    "effect",
    "influence",
    "differences",
    "changes",
    "impacts",
    "variation",
    "effects",
    "differ",
    "differs",
    "consequence",
    "consequences",
    "repercussion",
    "incidence",
    "importance",
    "matter",
];

/// The same as passives and verbs: of a rate only where the clause speaks of one.
pub(super) const NEUTRAL_VERBS: [&str; 13] = [
    "impacted",
    "affected",
    "affect",
    "affects",
    "influenced",
    "altered",
    "changed",
    "move",
    "moved",
    "vary",
    "varied",
    "concerned",
    "touched",
];

/// Words that deny a change by themselves, of a rate or of a family.
pub(super) const UNTOUCHED: [&str; 3] = ["untouched", "unharmed", "undiminished"];

/// Words that deny what follows them.
pub(super) const NEGATIONS: [&str; 23] = [
    "no", "not", "without", "never", "neither", "nor", "isn't", "doesn't", "don't", "didn't",
    "wasn't", "aren't", "cannot", "can't", "zero", "non", "none", "hasn't", "haven't", "weren't",
    "won't", "hardly", "barely",
];

/// Verbs that with "nothing" deny a change.
pub(super) const BRINGS: [&str; 16] = [
    "brings", "bring", "brought", "gains", "gain", "gained", "adds", "wins", "changes", "costs",
    "cost", "takes", "loses", "lost", "lose", "removes",
];
