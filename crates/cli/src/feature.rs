//! A part of the program that a build may leave out, because it takes long to compile.

/// Such a part.
#[derive(Clone, Copy, Debug)]
pub struct Feature {
    /// Its name for cargo.
    pub name: &'static str,
    /// What it does.
    pub enables: &'static str,
    /// The device of an experiment that it is, if it is one.
    pub device: Option<&'static str>,
    /// Whether this build has it.
    pub is_there: bool,
}

impl Feature {
    /// A part that is no device.
    pub const fn part(name: &'static str, enables: &'static str, is_there: bool) -> Self {
        Self { name, enables, device: None, is_there }
    }
}
