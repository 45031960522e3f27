//! What the head of an experiment file says, of a file that may be wrong in all else.

use std::path::PathBuf;

use toml::de::DeTable;

/// Title, device and file of routes as they are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The title, where there is one.
    pub title: Option<String>,
    /// The device that it names, whether there is such a device or not.
    pub device: Option<String>,
    /// The file of routes that it names.
    pub routes: Option<PathBuf>,
}

impl Head {
    /// Reads them; what is no TOML in the rest of the text does no harm.
    pub fn of(text: &str) -> Self {
        let (tree, _) = DeTable::parse_recoverable(text);
        let word = |key: &str| tree.get_ref().get(key)?.get_ref().as_str().map(str::to_owned);
        let routes = || tree.get_ref().get("routes")?.get_ref().as_table()?.get("file");
        let routes = routes().and_then(|file| file.get_ref().as_str()).map(PathBuf::from);
        Self { title: word("title"), device: word("device"), routes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_whatever_follows_it() {
        let head = Head::of("title = \"t\"\ndevice = \"vm\"\n[[variant\nname = x y");
        let told = Head { title: Some("t".into()), device: Some("vm".into()), routes: None };
        assert_eq!(head, told);
        assert_eq!(Head::of("device = 3\n"), Head::default());
        assert_eq!(Head::of(""), Head::default());
        let head = Head::of("[routes]\nfile = \"full.txt\"\nstatic = 3\n");
        assert_eq!(head.routes, Some("full.txt".into()));
    }
}
