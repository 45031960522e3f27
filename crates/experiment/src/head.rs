//! What the head of an experiment file says, of a file that may be wrong in all else.

use toml::de::DeTable;

/// Title and device as they are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// The title, where there is one.
    pub title: Option<String>,
    /// The device that it names, whether there is such a device or not.
    pub device: Option<String>,
}

impl Head {
    /// Reads them; what is no TOML in the rest of the text does no harm.
    pub fn of(text: &str) -> Self {
        let (tree, _) = DeTable::parse_recoverable(text);
        let word = |key: &str| tree.get_ref().get(key)?.get_ref().as_str().map(str::to_owned);
        Self { title: word("title"), device: word("device") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_read_whatever_follows_it() {
        let head = Head::of("title = \"t\"\ndevice = \"vm\"\n[[variant\nname = x y");
        let told = Head { title: Some("t".to_owned()), device: Some("vm".to_owned()) };
        assert_eq!(head, told);
        assert_eq!(Head::of("device = 3\n"), Head::default());
        assert_eq!(Head::of(""), Head::default());
    }
}
