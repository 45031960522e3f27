//! What a directory varied: images, configurations, or both.

use std::collections::{BTreeMap, HashSet};

use crate::axes::Axes;
use crate::info::Info;
use crate::runs::ReadConfiguration;
use crate::trial::Place;

/// Which names are variants: those of images, where images and configurations were both varied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placing {
    /// Image and configuration together.
    Whole,
    /// The image; the configuration goes to the traffic.
    Image,
}

impl Placing {
    /// What the names of a directory vary.
    pub fn of(configurations: &BTreeMap<String, ReadConfiguration>) -> Self {
        let axes = configurations
            .iter()
            .map(|(prefix, configuration)| Axes::of(prefix, &configuration.info));
        let (mut images, mut configurations) = (HashSet::new(), HashSet::new());
        for own in axes {
            images.insert(own.image);
            configurations.insert(own.configuration);
        }
        if images.len() > 1 && configurations.len() > 1 && !images.contains("") {
            Self::Image
        } else {
            Self::Whole
        }
    }

    /// Variant and traffic of a prefix.
    pub fn place(self, prefix: &str, info: &Info) -> Place {
        match self {
            Self::Whole => Place::of(prefix, info),
            Self::Image => Place::of_image(prefix, info),
        }
    }
}
