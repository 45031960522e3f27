//! Where in its file a message about an experiment points: the line of the key that it speaks of.

use std::cmp::Reverse;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::{Error, Experiment, inputs};

impl Experiment {
    /// Says that a variant cannot be set up, in front of the reason: the file, and the line of the key
    /// that the reason names, of the variant or else of the device's table; else that of the variant.
    pub fn blame(&self, variant: &str, reason: &str) -> String {
        let (line, key) = self.key_of(variant, reason);
        let key = key.filter(|key| !reason.contains(key.as_str()));
        let key = key.map_or_else(String::new, |key| format!("{key}: "));
        format!(
            "{}:{line}: variant {variant:?} cannot be set up, and nothing was measured: {key}{reason}",
            self.path.display()
        )
    }

    /// Says that a traffic cannot be sent, in front of the reason: the file, and the line of this key of the traffic's.
    pub fn blame_traffic(&self, traffic: &str, key: &str, reason: &str) -> String {
        let (tree, _) = DeTable::parse_recoverable(&self.text);
        let tables = tree.get_ref().get("traffic").and_then(|list| list.get_ref().as_array());
        let tables = tables.into_iter().flat_map(|list| list.iter());
        let named = tables.filter_map(|one| {
            let table = one.get_ref().as_table()?;
            let name = table.get("name")?.get_ref().as_str()?;
            // Of several measures each is a traffic of its own.
            traffic.starts_with(name).then_some((name.len(), table))
        });
        let table = named.max_by_key(|(length, _)| *length).map(|(_, table)| table);
        let place = table.and_then(|table| {
            let found = table.get_key_value(key).or_else(|| table.get_key_value("name"))?;
            Some(found.0.span().start)
        });
        let line = place.map_or(1, |at| self.text[..at].matches('\n').count() + 1);
        format!(
            "{}:{line}: traffic {traffic:?} cannot be sent, and nothing was measured: {key}: {reason}",
            self.path.display()
        )
    }

    /// An error about a file that the experiment names, with the line and the key that name it.
    pub(crate) fn located(&self, error: Error) -> Error {
        if !matches!(error, Error::File(_) | Error::Routes(fwdlab_routes::RoutesError::Io { .. })) {
            return error;
        }
        let message = error.to_string();
        // A short name may be part of any word: the path of the file is not.
        let is_named = |file: &str| {
            let place = inputs::place(&self.path, Path::new(file)).display().to_string();
            message.contains(&place) || (file.len() > 2 && message.contains(file))
        };
        let (tree, _) = DeTable::parse_recoverable(&self.text);
        let named = texts_of(tree.get_ref(), "").into_iter().filter(|own| is_named(own.text));
        // The longest: a name may be part of another.
        match named.min_by_key(|own| (Reverse(own.text.len()), own.at)) {
            Some(Text { at, key, .. }) => {
                let (path, line) = (self.path.clone(), self.text[..at].matches('\n').count() + 1);
                Error::Named { path, line, key, source: Box::new(error) }
            }
            None => error,
        }
    }

    /// The line of the file on which a message about a variant should point, and the key that stands
    /// there: the key in whose list stands a word of the message, else the one that it names, of the variant or else
    /// of the device's table; else that whose value it names; else the line of the variant, 1 when there is none.
    pub(crate) fn key_of(&self, variant: &str, message: &str) -> (usize, Option<String>) {
        /// A shorter value says nothing about where it stands.
        const SHORTEST_VALUE: usize = 3;
        let (tree, _) = DeTable::parse_recoverable(&self.text);
        let tree = tree.get_ref();
        let line = |at: usize| self.text[..at.min(self.text.len())].matches('\n').count() + 1;
        let tables = tree.get("variant").and_then(|list| list.get_ref().as_array());
        let is_it = |table: &&DeTable<'_>| {
            table.get("name").is_some_and(|name| name.get_ref().as_str() == Some(variant))
        };
        let mut found = tables.into_iter().flat_map(|list| list.iter());
        let Some(table) = found.find_map(|one| one.get_ref().as_table().filter(is_it)) else {
            return (1, None);
        };
        let set = table.get("set").and_then(|set| set.get_ref().as_table());
        let own = tree.get(self.device.as_str()).and_then(|own| own.get_ref().as_table());
        // Of several that are named the first, a remedy may name others; of those the longest, as one may be
        // part of another.
        let first = |tables: [Option<&DeTable<'_>>; 2], is_by_value: bool| {
            let entries = tables.into_iter().flatten().flat_map(|table| table.iter());
            let named = entries.filter_map(|(key, value)| {
                let word = key.get_ref().as_ref();
                let said = if is_by_value { value.get_ref().as_str()? } else { word };
                let place = message.find(said).filter(|_| !matches!(word, "name" | "set"))?;
                let is_long = !is_by_value || said.len() >= SHORTEST_VALUE;
                is_long.then_some((Reverse(place), said.len(), key))
            });
            let (_, _, key) = named.max_by_key(|(place, length, _)| (*place, *length))?;
            Some((line(key.span().start), Some(key.get_ref().to_string())))
        };
        // One of a list, such as a module, is named by itself, and its key may be no word of the message.
        let listed = [Some(table), own].into_iter().flatten().find_map(|table| {
            let is_named = |text: &str| text.len() >= SHORTEST_VALUE && has_word(message, text);
            let (key, _) = table.iter().find(|(_, value)| {
                let list = value.get_ref().as_array();
                let mut texts = list.into_iter().flat_map(|list| list.iter());
                texts.any(|one| one.get_ref().as_str().is_some_and(is_named))
            })?;
            Some((line(key.span().start), Some(key.get_ref().to_string())))
        });
        let named = listed.or_else(|| first([set, Some(table)], false));
        let named = named.or_else(|| first([own, None], false));
        let named = named.or_else(|| first([set, Some(table)], true));
        let of_variant = || Some((line(table.get("name")?.span().start), None));
        named.or_else(of_variant).unwrap_or((1, None))
    }
}

/// Whether a text stands in a message as a word of its own.
fn has_word(message: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    message.match_indices(word).any(|(at, _)| {
        let (before, after) = (&message[..at], &message[at + word.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

/// A text in the file that may be the name of another one.
struct Text<'a> {
    at: usize,
    /// With its table, which a key that several tables have needs.
    key: String,
    text: &'a str,
}

/// All of them in a table, which has this name.
fn texts_of<'a>(table: &'a DeTable<'_>, name: &str) -> Vec<Text<'a>> {
    let mut all = Vec::new();
    for (word, value) in table {
        let word = word.get_ref().as_ref();
        match value.get_ref() {
            _ if ["title", "name", "device", "baseline"].contains(&word) => {}
            DeValue::String(text) => {
                let key =
                    if name.is_empty() { word.to_owned() } else { format!("[{name}] {word}") };
                all.push(Text { at: value.span().start, key, text: text.as_ref() });
            }
            DeValue::Table(inner) if name.is_empty() => all.extend(texts_of(inner, word)),
            // Of several tables of a name, and of those in them, the line says which it is.
            DeValue::Table(inner) => all.extend(texts_of(inner, "")),
            DeValue::Array(list) => {
                let tables = list.iter().filter_map(|one| one.get_ref().as_table());
                all.extend(tables.flat_map(|inner| texts_of_one(inner)));
            }
            _ => {}
        }
    }
    all
}

/// The same of one of several tables of a name.
fn texts_of_one<'a>(table: &'a DeTable<'_>) -> Vec<Text<'a>> {
    let mut all = texts_of(table, "");
    for own in &mut all {
        // `set` is no table of the file's own.
        if let Some((_, word)) = own.key.split_once("] ") {
            own.key = word.to_owned();
        }
    }
    all
}
