//! What holding a sentence against sets gives.

/// Whether a sentence is true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlainVerdict {
    /// In one of its readings it is.
    Holds,
    /// In none of its readings; what the sets say.
    Fails(String),
    /// Of some that it may mean, and not of others; or nothing proves it.
    Doubtful(String),
    /// It holds of what stands beside it, and not of all of the page.
    Asked(String),
    /// Nothing was understood, or not all of it.
    Open,
}

impl PlainVerdict {
    /// One of two readings of a sentence, of what stands beside it and of the page.
    pub(crate) fn or(self, page: Self) -> Self {
        match (self, page) {
            (Self::Holds, _) | (_, Self::Holds) => Self::Holds,
            (Self::Open, page) => page,
            (beside, Self::Open) => beside,
            (Self::Fails(data), Self::Fails(_)) => Self::Fails(data),
            (Self::Asked(data), _) | (_, Self::Asked(data)) => Self::Asked(data),
            (Self::Fails(data) | Self::Doubtful(data), _) => Self::Doubtful(data),
        }
    }

    /// What a sentence of several claims is: each of them has to hold.
    pub(crate) fn all(all: Vec<Self>) -> Self {
        let mut worst = Self::Holds;
        for own in &all {
            match (own, &worst) {
                (Self::Fails(_), _) => return own.clone(),
                (Self::Doubtful(_) | Self::Asked(_), Self::Holds | Self::Open)
                | (Self::Open, Self::Holds) => {
                    worst = own.clone();
                }
                _ => {}
            }
        }
        if all.is_empty() { Self::Open } else { worst }
    }

    /// Of several that a claim may be of: it holds of each, of none, or of some.
    pub(crate) fn of_each(
        each: &[bool],
        is_of_all: bool,
        data: impl Fn() -> String,
    ) -> Option<Self> {
        let so = each.iter().filter(|own| **own).count();
        match () {
            () if each.is_empty() => None,
            () if so == each.len() => Some(Self::Holds),
            () if so == 0 || is_of_all => Some(Self::Fails(data())),
            () => Some(Self::Doubtful(data())),
        }
    }
}
