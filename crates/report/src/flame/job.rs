//! A flame graph to be drawn.

use fwdlab_profiles::Profile;

/// A flame graph to be drawn: of a profile, or of what changed since another.
pub(crate) struct Job<'a> {
    pub(crate) profile: &'a Profile,
    pub(crate) before: Option<&'a Profile>,
}

impl Job<'_> {
    pub(crate) fn title(&self) -> String {
        let Profile { variant, traffic, .. } = self.profile;
        match self.before {
            Some(before) => format!("{variant} against {}, {traffic}", before.variant),
            None => format!("{variant}, {traffic}"),
        }
    }

    pub(super) fn file(&self) -> String {
        let Profile { variant, traffic, .. } = self.profile;
        match self.before {
            Some(before) => format!("flame-{variant}-against-{}.{traffic}.svg", before.variant),
            None => format!("flame-{variant}.{traffic}.svg"),
        }
    }

    pub(crate) fn note(&self) -> String {
        match self.before {
            Some(_) => "Width: share in the variant; red has grown against the baseline, blue has \
                        shrunk."
                .to_owned(),
            None => self.profile.note.clone(),
        }
    }
}
