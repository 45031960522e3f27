//! The things that a word can say of a rate.

/// What a word says of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sense {
    /// It becomes higher.
    Rise,
    /// It becomes lower.
    Fall,
    /// What was done is good for it.
    Good,
    /// What was done is bad for it.
    Bad,
    /// It stays as it was, or two are the same.
    Alike,
    /// What was done costs nothing.
    Free,
    /// What was done is of no use.
    Useless,
    /// What was done does no harm.
    Harmless,
}
