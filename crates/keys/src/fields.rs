//! Reads the keys of a TOML table, keeping the place of each for messages and
//! noticing keys that nobody asked for.

use std::ops::Range;

use fwdlab_results::MOST_NAMES;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::elsewhere;
use super::problem::{Complaint, Complaints};

/// A value as it stands in the file.
pub type Value<'a> = DeValue<'a>;

/// A value with its place in the file.
pub struct Found<T> {
    /// The key with the tables around it.
    pub field: String,
    /// Bytes of the value.
    pub at: Range<usize>,
    /// The value.
    pub value: T,
}

/// A table of the file while its keys are being read.
pub struct Section<'a> {
    name: String,
    /// Where to point when a key is missing.
    pub at: Range<usize>,
    table: &'a DeTable<'a>,
    known: Vec<&'static str>,
    takes_all: bool,
}

impl<'a> Section<'a> {
    /// The table `name`, which stands at the bytes `at`.
    pub fn new(name: impl Into<String>, at: Range<usize>, table: &'a DeTable<'a>) -> Self {
        Self { name: name.into(), at, table, known: Vec::new(), takes_all: false }
    }

    /// The full name of `key`.
    pub fn field(&self, key: &str) -> String {
        if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) }
    }

    fn know(&mut self, key: &'static str) {
        if !self.known.contains(&key) {
            self.known.push(key);
        }
    }

    /// True when an unknown key was probably meant to be `key`; the complaint
    /// about that one says so.
    pub fn is_misspelt(&self, key: &str) -> bool {
        self.table.keys().any(|other| {
            let other: &str = other.get_ref().as_ref();
            !self.known.contains(&other) && nearest(other, [key].into_iter()).is_some()
        })
    }

    /// The value of `key`, if it is there.
    pub fn value(&mut self, key: &'static str) -> Option<Found<&'a DeValue<'a>>> {
        self.know(key);
        let value = self.table.get(key)?;
        Some(Found { field: self.field(key), at: value.span(), value: value.get_ref() })
    }

    /// The name and the bytes of `key`, if it is there.
    pub fn place(&mut self, key: &'static str) -> Option<(String, Range<usize>)> {
        self.value(key).map(|found| (found.field, found.at))
    }

    /// The text of `key`; a complaint when it is not text.
    pub fn text(
        &mut self,
        key: &'static str,
        example: &str,
        complaints: &mut Complaints<'_>,
    ) -> Option<Found<&'a str>> {
        let found = self.value(key)?;
        found.into_text(example, complaints)
    }

    /// The text of `key`; a complaint when it is absent or not text.
    pub fn required_text(
        &mut self,
        key: &'static str,
        example: &str,
        complaints: &mut Complaints<'_>,
    ) -> Option<Found<&'a str>> {
        if !self.table.contains_key(key) {
            self.know(key);
            if self.is_misspelt(key) {
                return None;
            }
            let complaint = Complaint::new(
                "the key is missing",
                format!("text such as {example}"),
                format!("add {key} = {example}"),
            );
            complaints.add(&self.at, &self.field(key), complaint);
            return None;
        }
        self.text(key, example, complaints)
    }

    /// The whole number of `key`, which must lie in `range`.
    pub fn integer(
        &mut self,
        key: &'static str,
        range: std::ops::RangeInclusive<u64>,
        complaints: &mut Complaints<'_>,
    ) -> Option<Found<u64>> {
        let found = self.value(key)?;
        let number = integer_of(found.value).filter(|n| range.contains(n));
        let result = number.ok_or_else(|| {
            Complaint::new(
                format!("{} does not fit", shown(found.value)),
                format!("a whole number from {} to {}", range.start(), range.end()),
                match (quoted(found.value), integer_of(found.value)) {
                    (Some(meant), _) if range.contains(&meant) => without_quotes(key, meant),
                    _ if whole_part(found.value).is_some_and(|meant| range.contains(&meant)) => {
                        format!("write {key} = {}", whole_part(found.value).unwrap_or_default())
                    }
                    (_, Some(number)) if number > *range.end() => {
                        format!("write {key} = {} or less", range.end())
                    }
                    _ => format!("write {key} = {} or more", range.start()),
                },
            )
        });
        let value = complaints.keep(&found.at, &found.field, result)?;
        Some(Found { field: found.field, at: found.at, value })
    }

    /// The list of `key`; a complaint when it is something else.
    pub fn list(
        &mut self,
        key: &'static str,
        example: &str,
        complaints: &mut Complaints<'_>,
    ) -> Vec<Found<&'a DeValue<'a>>> {
        let Some(found) = self.value(key) else { return Vec::new() };
        let Some(array) = found.value.as_array() else {
            // One text alone is meant as its only element.
            let alone = found.value.as_str().filter(|_| example.starts_with("[\""));
            let alone = alone.map(|text| format!("[{text:?}]"));
            let example = alone.as_deref().unwrap_or(example);
            complaints.add(&found.at, &found.field, wrong_kind(found.value, "a list", example));
            return Vec::new();
        };
        let element = |(index, value): (usize, &'a Spanned<DeValue<'a>>)| Found {
            field: format!("{}[{}]", found.field, index + 1),
            at: value.span(),
            value: value.get_ref(),
        };
        array.iter().enumerate().map(element).collect()
    }

    /// The tables `[[key]]`; a complaint for each element that is no table, and one where there are more
    /// than a journal holds, of which only so many are read.
    pub fn tables(
        &mut self,
        key: &'static str,
        complaints: &mut Complaints<'_>,
    ) -> Vec<Section<'a>> {
        let header = format!("[[{key}]]");
        let mut elements = self.list(key, &header, complaints);
        if let Some(first) = elements.get(MOST_NAMES) {
            let complaint = Complaint::new(
                format!(
                    "this is one more than {MOST_NAMES}: there are {} {header}",
                    elements.len()
                ),
                format!("at most {MOST_NAMES} of them"),
                "make several experiments of it",
            );
            complaints.add(&first.at, &first.field, complaint);
            elements.truncate(MOST_NAMES);
        }
        let mut sections = Vec::with_capacity(elements.len());
        for Found { field, at, value } in elements {
            match value.as_table() {
                Some(table) => sections.push(Section::new(field, at, table)),
                None => complaints.add(&at, &field, wrong_kind(value, "a table", &header)),
            }
        }
        sections
    }

    /// The table `[key]`.
    pub fn table(
        &mut self,
        key: &'static str,
        complaints: &mut Complaints<'_>,
    ) -> Option<Section<'a>> {
        let found = self.value(key)?;
        match found.value.as_table() {
            Some(table) => Some(Section::new(found.field, found.at, table)),
            None => {
                let example = match self.name.is_empty() {
                    true => format!("[{key}]"),
                    false => format!("{key} = {{ \"WORD\" = \"VALUE\" }}"),
                };
                let complaint = wrong_kind(found.value, "a table", &example);
                complaints.add(&found.at, &found.field, complaint);
                None
            }
        }
    }

    /// All entries, for a table whose keys are free.
    pub fn entries(
        &self,
    ) -> impl Iterator<Item = (&'a str, Range<usize>, Found<&'a DeValue<'a>>)> + '_ {
        self.table.iter().map(|(key, value)| {
            let name: &'a str = key.get_ref().as_ref();
            let field = self.field(&format!("\"{name}\""));
            (name, key.span(), Found { field, at: value.span(), value: value.get_ref() })
        })
    }

    /// Takes every key as asked for.
    pub fn know_all(&mut self) {
        self.takes_all = true;
    }

    /// Whether every key counts as asked for.
    pub fn takes_all(&self) -> bool {
        self.takes_all
    }

    /// The same table, of which nothing has been read.
    pub fn anew(&self) -> Self {
        Self::new(self.name.clone(), self.at.clone(), self.table)
    }

    /// Whether nothing stands in it.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// The name of the first of the tables `[[key]]`, of which nothing has been read.
    pub fn first_name(&self, key: &str) -> Option<&'a str> {
        let first = self.table.get(key)?.get_ref().as_array()?.iter().next()?;
        first.get_ref().as_table()?.get("name")?.get_ref().as_str()
    }

    /// Whether a table stands there.
    pub fn is_table(&self, key: &str) -> bool {
        self.table.get(key).is_some_and(|value| value.get_ref().is_table())
    }

    /// Whether this key was asked for.
    pub fn knows(&self, key: &str) -> bool {
        self.known.contains(&key)
    }

    /// Complains about every key that was not asked for.
    pub fn finish(self, complaints: &mut Complaints<'_>) {
        self.finish_beside(|_| None, complaints);
    }

    /// The same; `others` says what to do with a key that belongs to the device, or to another one.
    pub fn finish_beside(
        self,
        others: impl Fn(&str) -> Option<String>,
        complaints: &mut Complaints<'_>,
    ) {
        let table = self.name.split('[').next().unwrap_or_default();
        for key in self.table.keys() {
            let name: &str = key.get_ref().as_ref();
            if self.takes_all || self.known.contains(&name) {
                continue;
            }
            let known = || self.known.iter().copied();
            // Who writes a key of another table means that one, whatever is spelled like it here.
            let remedy = elsewhere::home(table, name)
                .filter(|_| complaints.page() == super::problem::EXPERIMENTS)
                .map(|home| format!("it belongs {home}: move it there"))
                .or_else(|| others(name))
                .or_else(|| {
                    let near =
                        elsewhere::called(table, name, known()).or_else(|| nearest(name, known()));
                    near.map(|near| format!("did you mean {near}?"))
                })
                .unwrap_or_else(|| format!("remove it; {} lists every key", complaints.page()));
            let wanted = format!("one of {}", self.known.join(", "));
            let complaint = Complaint::new("this key is unknown", wanted, remedy);
            complaints.add(&key.span(), &self.field(name), complaint);
        }
    }
}

impl<'a> Found<&'a DeValue<'a>> {
    /// The text of this value; a complaint when it is something else.
    pub fn into_text(
        self,
        example: &str,
        complaints: &mut Complaints<'_>,
    ) -> Option<Found<&'a str>> {
        let result = self.value.as_str().ok_or_else(|| wrong_kind(self.value, "text", example));
        let value = complaints.keep(&self.at, &self.field, result)?;
        Some(Found { field: self.field, at: self.at, value })
    }
}

/// Reads again what a device has checked before and the experiment has kept of its own tables.
pub fn reread<T>(
    table: &toml::Table,
    read: impl FnOnce(&mut Section<'_>, &mut Complaints<'_>) -> T,
) -> T {
    let text = toml::to_string(table).unwrap_or_default();
    let (tree, _) = DeTable::parse_recoverable(&text);
    let mut section = Section::new("", 0..0, tree.get_ref());
    read(&mut section, &mut Complaints::new(&text))
}

/// The known word nearest to `name`, if it is near enough to be meant: at most
/// a third of its letters differ, or it is the last part of it (`fwdlab.xdp` for `xdp`).
pub fn nearest<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    // Who writes "NDR" means "ndr".
    let name = name.to_lowercase();
    let last = name.rsplit('.').next().unwrap_or_default();
    let distance = |word: &str| match word.to_lowercase() {
        word if word == last => 0,
        word => strsim::damerau_levenshtein(&name, &word),
    };
    known
        .map(|word| (distance(word), word))
        .filter(|(distance, word)| *distance <= (word.len() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, word)| word)
}

/// A whole number of the file.
pub fn integer_of(value: &DeValue<'_>) -> Option<u64> {
    let number = value.as_integer()?;
    u64::from_str_radix(number.as_str(), number.radix()).ok()
}

/// The whole part of a number with a point.
fn whole_part(value: &DeValue<'_>) -> Option<u64> {
    let text = value.as_float()?.as_str().split(['.', 'e', 'E']).next()?;
    text.replace('_', "").parse().ok()
}

/// The whole number that stands in quotes.
pub fn quoted(value: &DeValue<'_>) -> Option<u64> {
    value.as_str()?.trim().parse().ok()
}

/// What helps where it does.
pub fn without_quotes(key: &str, meant: u64) -> String {
    format!("write it without quotes: {key} = {meant}")
}

/// A value as it can be repeated in a message.
pub fn shown(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("{text:?}"),
        DeValue::Integer(number) => number.as_str().to_owned(),
        DeValue::Float(number) => number.as_str().to_owned(),
        DeValue::Boolean(truth) => truth.to_string(),
        DeValue::Datetime(time) => time.to_string(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// The complaint about a value that is no `wanted`.
pub fn wrong_kind(value: &DeValue<'_>, wanted: &str, example: &str) -> Complaint {
    Complaint::new(
        format!("{} is of the wrong kind", shown(value)),
        wanted,
        format!("write it as {example}"),
    )
}
