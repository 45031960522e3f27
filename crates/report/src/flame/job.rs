//! A flame graph to be drawn.

use fwdlab_profiles::{Changes, Profile};

/// A flame graph to be drawn: of a profile, or of what changed in it since the baseline's.
pub(crate) struct Job<'a> {
    pub(crate) profile: &'a Profile,
    pub(crate) changes: Option<&'a Changes>,
}

impl Job<'_> {
    pub(crate) fn title(&self) -> String {
        let Profile { variant, traffic, .. } = self.profile;
        self.changes.map_or_else(|| format!("{variant}, {traffic}"), Changes::heading)
    }

    pub(super) fn file(&self) -> String {
        let Profile { variant, traffic, .. } = self.profile;
        match self.changes {
            Some(changes) => format!("flame-{variant}-against-{}.{traffic}.svg", changes.baseline),
            None => format!("flame-{variant}.{traffic}.svg"),
        }
    }

    pub(crate) fn note(&self) -> String {
        self.changes.map_or_else(|| self.profile.note.clone(), Changes::legend)
    }
}
