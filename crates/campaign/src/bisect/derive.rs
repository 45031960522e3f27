//! The experiment of one comparison, from that of the whole.

use std::collections::BTreeMap;
use std::path::Path;

use toml::{Table, Value};

use super::BisectError;

/// Where a template holds the name of a state.
const HOLE: &str = "{}";

fn read(path: &Path, text: &str) -> Result<Table, BisectError> {
    text.parse().map_err(|error: toml::de::Error| BisectError::Experiment {
        path: path.to_owned(),
        what: error.to_string(),
    })
}

fn tables(file: &Table, key: &str) -> Vec<Table> {
    let list = file.get(key).and_then(Value::as_array);
    list.map_or_else(Vec::new, |list| list.iter().filter_map(Value::as_table).cloned().collect())
}

fn name(variant: &Table) -> &str {
    variant.get("name").and_then(Value::as_str).unwrap_or_default()
}

/// Names of the variants of an experiment file, in its order.
///
/// # Errors
/// When the text is no TOML.
pub fn variants(path: &Path, text: &str) -> Result<Vec<String>, BisectError> {
    names(path, text, "variant")
}

/// Names of the traffics of an experiment file, in its order.
///
/// # Errors
/// When the text is no TOML.
pub fn traffics(path: &Path, text: &str) -> Result<Vec<String>, BisectError> {
    names(path, text, "traffic")
}

fn names(path: &Path, text: &str, key: &str) -> Result<Vec<String>, BisectError> {
    Ok(tables(&read(path, text)?, key).iter().map(|own| name(own).to_owned()).collect())
}

/// The experiment's `margin`, as a ratio: the smallest change that matters. 1 % where it has none, and where what it
/// has is no margin: a run of it will say so.
///
/// # Errors
/// When the text is no TOML.
pub fn margin(path: &Path, text: &str) -> Result<f64, BisectError> {
    let file = read(path, text)?;
    let own = file.get("margin").and_then(Value::as_str);
    let own = own.and_then(|text| fwdlab_experiment::quantity::margin(text).ok());
    Ok(own.unwrap_or(fwdlab_stats::bisect::Terms::default().margin))
}

/// The experiment that compares two states, the good one first, in so many blocks. A state that no
/// variant is named after is made from the variant called `{}`, with its name wherever `{}` stands;
/// what `settings` hold for a state, as TOML, is added to its variant.
///
/// # Errors
/// When a text is no TOML, or there is neither the variant nor a template.
pub fn derive(
    path: &Path,
    text: &str,
    states: [&str; 2],
    blocks: u32,
    settings: &BTreeMap<&str, String>,
) -> Result<String, BisectError> {
    let mut file = read(path, text)?;
    let all = tables(&file, "variant");
    let of = |state: &str| -> Result<Value, BisectError> {
        let mut own = match all.iter().find(|variant| name(variant) == state) {
            Some(found) => found.clone(),
            None => {
                let template = all.iter().find(|variant| name(variant).contains(HOLE));
                let none = || BisectError::NoTemplate { path: path.to_owned() };
                let Value::Table(mut filled) =
                    filled(&Value::Table(template.ok_or_else(none)?.clone()), state)
                else {
                    return Err(none());
                };
                filled.insert("name".to_owned(), Value::String(state.to_owned()));
                filled
            }
        };
        if let Some(text) = settings.get(state) {
            let added = text.parse().map_err(|error: toml::de::Error| BisectError::Settings {
                state: state.to_owned(),
                what: error.to_string(),
            })?;
            add(&mut own, added);
        }
        Ok(Value::Table(own))
    };
    let good = states[0];
    let both = vec![of(states[0])?, of(states[1])?];
    file.insert("variant".to_owned(), Value::Array(both));
    file.insert("baseline".to_owned(), Value::String(good.to_owned()));
    file.insert("blocks".to_owned(), Value::Integer(i64::from(blocks)));
    for key in ["cap", "seed", "profile"] {
        file.remove(key);
    }
    Ok(file.to_string())
}

/// Adds settings to a variant; tables in both are put together.
fn add(variant: &mut Table, settings: Table) {
    for (key, value) in settings {
        match (variant.get_mut(&key), value) {
            (Some(Value::Table(old)), Value::Table(new)) => old.extend(new),
            (_, value) => {
                variant.insert(key, value);
            }
        }
    }
}

fn filled(value: &Value, state: &str) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace(HOLE, state)),
        Value::Array(list) => Value::Array(list.iter().map(|own| filled(own, state)).collect()),
        Value::Table(table) => {
            Value::Table(table.iter().map(|(k, own)| (k.clone(), filled(own, state))).collect())
        }
        other => other.clone(),
    }
}
