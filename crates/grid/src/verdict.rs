//! What holding a clause against rows and columns gives.

/// Whether what is said is so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CellVerdict {
    Holds,
    /// Bound to what it is of, and not so.
    Wrong(String),
    /// Not so of what it seems to be of.
    Doubtful(String),
    Open,
}

impl CellVerdict {
    /// The same without blame.
    pub fn doubted(self) -> Self {
        match self {
            Self::Wrong(data) => Self::Doubtful(data),
            other => other,
        }
    }

    /// What is said of several claims together: the worst of them.
    pub fn of_all(all: Vec<Self>) -> Self {
        let worst = |is: fn(&Self) -> bool| all.iter().find(|own| is(own)).cloned();
        let is_held = !all.is_empty() && all.iter().all(|own| *own == Self::Holds);
        worst(|own| matches!(own, Self::Wrong(_)))
            .or_else(|| worst(|own| matches!(own, Self::Doubtful(_))))
            .unwrap_or(if is_held { Self::Holds } else { Self::Open })
    }
}
