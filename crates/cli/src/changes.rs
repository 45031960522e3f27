//! Changes of an experiment from the command line: they are made in its text, so that the file that
//! results keep is the one that ran.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use anyhow::bail;
use fwdlab_experiment::fields::nearest;
use fwdlab_experiment::quantity;
use toml_edit::{DocumentMut, Item, Table, Value, value};

use crate::devices;

const HEADING: &str = "Changes of the experiment";

/// Arguments of commands that run experiments.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Changes {
    /// Run so many blocks, or "until-decided"
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = HEADING)]
    pub blocks: Option<String>,
    /// Measure each trial for so long, such as 2s or 500ms
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, help_heading = HEADING)]
    pub duration: Option<String>,
    /// Draw the order of the trials from this number
    #[arg(long, value_name = "NUMBER", value_parser = seed, allow_hyphen_values = true, help_heading = HEADING)]
    pub seed: Option<i64>,
    /// Set a key of the experiment (margin=2%, allow=["saturation"]), or a control word of a variant
    /// (modular:net.route.algo.inet.algo=dxr); may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = setting, help_heading = HEADING)]
    pub set: Vec<String>,
}

/// A text as TOML has it, which escapes other characters than Rust does: paths may hold marks that stand on
/// letters.
pub fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// As TOML has whole numbers.
fn seed(text: &str) -> Result<i64, String> {
    let number = text.parse().ok().filter(|number| *number >= 0);
    number.ok_or_else(|| format!("wanted a whole number from 0 to {}, as --seed 1", i64::MAX))
}

fn setting(text: &str) -> Result<String, String> {
    let key = text.split_once('=').map(|(key, _)| key.trim());
    match key {
        None => Err("wanted KEY=VALUE, or VARIANT:WORD=VALUE".to_owned()),
        Some("") => Err("there is no key before the =; wanted KEY=VALUE, as margin=2%".to_owned()),
        Some(_) => Ok(text.to_owned()),
    }
}

impl Changes {
    /// Whether nothing is changed.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_none()
            && self.duration.is_none()
            && self.seed.is_none()
            && self.set.is_empty()
    }

    /// The text of an experiment with the changes in it.
    ///
    /// # Errors
    /// When the text is no TOML, or has no such variant.
    pub fn of(&self, text: &str, path: &Path) -> anyhow::Result<String> {
        let mut file: DocumentMut = text.parse().map_err(|_| {
            anyhow::anyhow!("{}: it is no TOML, so nothing can be set in it", path.display())
        })?;
        if let Some(blocks) = &self.blocks {
            put(file.as_table_mut(), "blocks", number_or_text(blocks));
            if blocks != "until-decided" {
                file.remove("cap");
            }
        }
        if let Some(duration) = &self.duration {
            put(file.as_table_mut(), "duration", duration.as_str().into());
            shorten_interval(&mut file, duration);
        }
        if let Some(seed) = self.seed {
            put(file.as_table_mut(), "seed", seed.into());
        }
        let mut given = self.options();
        for set in &self.set {
            let Some((key, new)) = set.split_once('=') else {
                bail!("--set {set}: wanted KEY=VALUE, or VARIANT:WORD=VALUE");
            };
            let (key, new) = (key.trim(), new.trim());
            if !given.insert(key) {
                bail!("--set {set}: {key} is given twice; leave one of them out");
            }
            match key.split_once(':') {
                Some((variant, word)) => set_word(&mut file, (variant, word.trim()), new)?,
                None => {
                    if let Some(why) = of_a_variant(&file, key, new) {
                        bail!("--set {set}: {why}");
                    }
                    put(file.as_table_mut(), key, written(new));
                }
            }
        }
        Ok(file.to_string())
    }

    /// The keys that have an option of their own, which is given.
    fn options(&self) -> BTreeSet<&str> {
        let own = [
            ("blocks", self.blocks.is_some()),
            ("duration", self.duration.is_some()),
            ("seed", self.seed.is_some()),
        ];
        own.into_iter().filter_map(|(key, is_given)| is_given.then_some(key)).collect()
    }
}

/// A shorter trial has shorter intervals; those that suit it stay. Times that are none are named when
/// the experiment is read.
fn shorten_interval(file: &mut DocumentMut, duration: &str) {
    let time = |text: &str| quantity::duration(text, Duration::ZERO).ok();
    let written = file.get("interval").and_then(Item::as_str).and_then(time);
    if let (Some(interval), Some(duration)) = (written, time(duration))
        && interval > quantity::interval(duration)
    {
        let shorter = format!("{}ms", quantity::interval(duration).as_millis());
        put(file.as_table_mut(), "interval", shorter.into());
    }
}

/// Puts a value in the place of the one that stands there, with what is written around it.
fn put(table: &mut Table, key: &str, mut new: Value) {
    if let Some(old) = table.get(key).and_then(Item::as_value) {
        *new.decor_mut() = old.decor().clone();
    }
    table.insert(key, value(new));
}

/// What is said of a key that no option reaches.
const IN_THE_FILE: &str = "--set reaches the keys at the top of the file, and control words as VARIANT:WORD=VALUE; change \
                           the others in the file";

/// What to say of a key that is a control word, which only a variant can set, or of a table; nothing of others.
fn of_a_variant(file: &DocumentMut, key: &str, new: &str) -> Option<String> {
    let (table, _) = key.split_once('.')?;
    if file.contains_key(table) {
        return Some(format!("{key} stands in a table; {IN_THE_FILE}"));
    }
    let device = match file.get("device") {
        None => devices::all().first().copied()?,
        Some(name) => devices::named(name.as_str()?)?,
    };
    device.check_word(key).ok()?;
    let takes = device.check_value(key, new).err();
    let takes =
        takes.map_or_else(String::new, |own| format!("; {}, wanted {}", own.what, own.wanted));
    let variants = file.get("variant").and_then(Item::as_array_of_tables);
    let names = variants.into_iter().flatten().filter_map(|own| own.get("name")?.as_str());
    let names: Vec<&str> = names.collect();
    Some(format!(
        "{key} is a control word, which a variant sets: write --set VARIANT:{key}=VALUE, with one of {}{takes}",
        names.join(", ")
    ))
}

/// Sets a control word of a variant.
fn set_word(file: &mut DocumentMut, (name, word): (&str, &str), new: &str) -> anyhow::Result<()> {
    let is_it = |table: &Table| table.get("name").and_then(Item::as_str) == Some(name);
    let traffics = file.get("traffic").and_then(Item::as_array_of_tables);
    let is_traffic = traffics.into_iter().flatten().any(is_it);
    let variants = file.get_mut("variant").and_then(Item::as_array_of_tables_mut);
    let Some(variants) = variants else { bail!("--set {name}:{word}: there is no variant") };
    let names: Vec<String> =
        variants.iter().filter_map(|table| Some(table.get("name")?.as_str()?.to_owned())).collect();
    let Some(variant) = variants.iter_mut().find(|table| is_it(table)) else {
        if is_traffic {
            bail!("--set {name}:{word}: {name:?} is a traffic; {IN_THE_FILE}");
        }
        let near = nearest(name, names.iter().map(String::as_str));
        let near = near.map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
        bail!(
            "--set {name}:{word}: there is no variant {name:?}; wanted one of {}{near}",
            names.join(", ")
        );
    };
    if !variant.contains_key("set") {
        variant.insert("set", value(toml_edit::InlineTable::new()));
    }
    let Some(set) = variant.get_mut("set").and_then(Item::as_table_like_mut) else {
        bail!("--set {name}:{word}: \"set\" of the variant is no table");
    };
    set.insert(word, value(new));
    Ok(())
}

/// A list, a table or text in quotes, as a file has them; else what [`number_or_text`] makes of it.
fn written(text: &str) -> Value {
    let is_written = text.starts_with(['[', '{', '"', '\'']);
    let own = text.parse::<Value>().ok().filter(|_| is_written);
    own.unwrap_or_else(|| number_or_text(text))
}

/// A whole number, a truth, or text.
fn number_or_text(text: &str) -> Value {
    match (text.parse::<i64>(), text.parse::<bool>()) {
        (Ok(number), _) => number.into(),
        (_, Ok(truth)) => truth.into(),
        _ => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "title = \"t\"\nblocks = \"until-decided\" # or so\ncap = 30\n\
                        [[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\nset = { x = \"1\" }\n\
                        [[traffic]]\nname = \"inet\"\n";

    fn changed(changes: &Changes) -> anyhow::Result<String> {
        changes.of(FILE, Path::new("x.toml"))
    }

    #[test]
    fn keys_and_words_change_where_they_stand() {
        let set = ["margin=2%", "b:x=2", "a:net.y=3"].map(str::to_owned).to_vec();
        let changes =
            Changes { blocks: Some("4".into()), duration: Some("2s".into()), seed: Some(7), set };
        let text = changed(&changes).unwrap();
        assert!(text.contains("blocks = 4 # or so\n"), "{text}");
        assert!(!text.contains("cap"), "{text}");
        assert!(text.contains("seed = 7\n") && text.contains("margin = \"2%\"\n"), "{text}");
        let tree: toml::Table = text.parse().unwrap();
        let word =
            |n: usize, word: &str| tree["variant"][n]["set"][word].as_str().unwrap().to_owned();
        assert_eq!((word(0, "net.y"), word(1, "x")), ("3".to_owned(), "2".to_owned()));
    }

    #[test]
    fn a_shorter_trial_has_shorter_intervals() {
        let of = |duration: &str, file: &str| {
            let changes = Changes { duration: Some(duration.into()), ..Changes::default() };
            let tree: toml::Table = changes.of(file, Path::new("x.toml")).unwrap().parse().unwrap();
            tree.get("interval").map(|interval| interval.as_str().unwrap().to_owned())
        };
        let file = "duration = \"200ms\"\ninterval = \"25ms\"\n";
        assert_eq!(of("100ms", file).as_deref(), Some("12ms"));
        assert_eq!(of("2s", file).as_deref(), Some("25ms"));
        assert_eq!(of("soon", file).as_deref(), Some("25ms"));
        assert_eq!(of("100ms", "title = \"t\"\n"), None);
    }

    #[test]
    fn what_cannot_be_set_is_named() {
        for (set, words) in [
            ("margin", "KEY=VALUE"),
            ("c:x=1", "wanted one of a, b"),
            ("inet:load=1Gbps", "is a traffic; --set reaches"),
            ("traffic.load=1Gbps", "traffic.load stands in a table; --set reaches"),
            ("A:x=1", "did you mean \"a\"?"),
            ("blocks=2", "blocks is given twice"),
        ] {
            let set = vec![set.to_owned()];
            let error = changed(&Changes { set, blocks: Some("1".into()), ..Changes::default() });
            let error = error.unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
        // "this key is unknown; remove it" was said of a word, whatever its value
        let word = "fwdlab.device.route_cache";
        for (value, takes) in [("2", true), ("0", false)] {
            let set = vec![format!("{word}={value}")];
            let error = changed(&Changes { set, ..Changes::default() }).unwrap_err().to_string();
            let wanted = format!("write --set VARIANT:{word}=VALUE, with one of a, b");
            assert!(error.contains(&wanted), "{error}");
            assert_eq!(error.ends_with("wanted 0 or 1"), takes, "{error}");
        }
        let set = ["margin=1%", "margin=2%"].map(str::to_owned).to_vec();
        let error = changed(&Changes { set, ..Changes::default() }).unwrap_err().to_string();
        assert!(error.contains("margin is given twice"), "{error}");
        assert!(setting("=1").is_err_and(|why| why.contains("no key")));
        assert!(seed("9223372036854775808").is_err() && seed("-1").is_err() && seed("0") == Ok(0));
    }

    #[test]
    fn lists_and_quoted_text_are_taken_as_a_file_has_them() {
        let set = ["allow=[\"saturation\"]", "title=\"a b\"", "margin=[2%"].map(str::to_owned);
        let text = changed(&Changes { set: set.to_vec(), ..Changes::default() }).unwrap();
        let tree: toml::Table = text.parse().unwrap();
        assert_eq!(tree["allow"].as_array().unwrap()[0].as_str(), Some("saturation"));
        assert_eq!(tree["title"].as_str(), Some("a b"));
        assert_eq!(tree["margin"].as_str(), Some("[2%"));
    }
}
