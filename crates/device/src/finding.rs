//! What a machine can do or cannot, as `fwdlab doctor` says it.

use serde::Serialize;

/// One thing that a device uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DoctorFinding {
    /// Its name.
    pub what: &'static str,
    /// Whether it is there.
    pub present: bool,
    /// What was seen.
    pub detail: String,
    /// What it makes possible.
    pub enables: &'static str,
    /// How to get it.
    pub remedy: &'static str,
    /// Whether the device does nothing without it.
    pub is_needed: bool,
}

impl DoctorFinding {
    /// Whether a program of other people is installed, without which something cannot be done.
    pub fn program(name: &'static str, enables: &'static str, remedy: &'static str) -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        // Administrators' programs are often not on the path of others.
        let places = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
        let found = places.map(|dir| dir.join(name)).find(|file| file.is_file());
        Self {
            what: name,
            present: found.is_some(),
            detail: found.map_or("not found".to_owned(), |file| file.display().to_string()),
            enables,
            remedy,
            is_needed: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_where_it_lies() {
        let shell = DoctorFinding::program("sh", "scripts", "install a shell");
        assert!(shell.present && shell.detail.ends_with("/sh"), "{shell:?}");
        let none = DoctorFinding::program("no such program", "nothing", "none");
        assert!(!none.present && none.detail == "not found" && !none.is_needed, "{none:?}");
    }
}
