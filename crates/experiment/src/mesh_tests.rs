//! A device with many ports, and experiments for it.

use std::path::Path;

use crate::problem::Complaint;
use crate::{Abilities, Experiment, Problems, Schema};

/// A device with many ports.
struct Many;

impl Schema for Many {
    fn name(&self) -> &'static str {
        "many"
    }

    fn abilities(&self) -> Abilities {
        Abilities { leaves_pairs_out: false, ..Abilities::ALL }
    }

    fn check_word(&self, _: &str) -> Result<(), Complaint> {
        Ok(())
    }

    fn check_value(&self, _: &str, _: &str) -> Result<(), Complaint> {
        Ok(())
    }
}

/// A mesh of 8 sources and 8 destinations, in trials of 100 ms.
pub(crate) fn mesh(traffic: &str) -> Result<Experiment, Problems> {
    let text = format!(
        "title = \"t\"\ndevice = \"many\"\nbaseline = \"a\"\nduration = \"100ms\"\n\
         [[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
         [[traffic]]\nname = \"t\"\nsource = \"198.18.10.0-198.18.10.7:7\"\n\
         destination = \"198.19.10.0-198.19.10.7:7\"\n{traffic}\n\
         [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.203\", \"198.18.0.0/16 via 198.18.0.203\"]\n"
    );
    Experiment::parse(Path::new("x.toml"), &text, &[&Many])
}
