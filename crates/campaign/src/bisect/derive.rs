//! The experiment of one comparison, from that of the whole.

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

fn tables(file: &Table) -> Vec<Table> {
    let list = file.get("variant").and_then(Value::as_array);
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
    Ok(tables(&read(path, text)?).iter().map(|variant| name(variant).to_owned()).collect())
}

/// The experiment that compares `probe` with `good` in so many blocks. A state that no variant is
/// named after is made from the variant called `{}`, with its name wherever `{}` stands.
///
/// # Errors
/// When the text is no TOML, or there is neither the variant nor a template.
pub fn derive(
    path: &Path,
    text: &str,
    good: &str,
    probe: &str,
    blocks: u32,
) -> Result<String, BisectError> {
    let mut file = read(path, text)?;
    let all = tables(&file);
    let of = |state: &str| -> Result<Value, BisectError> {
        if let Some(found) = all.iter().find(|variant| name(variant) == state) {
            return Ok(Value::Table(found.clone()));
        }
        let template = all.iter().find(|variant| name(variant).contains(HOLE));
        let template = template.ok_or_else(|| BisectError::NoTemplate { path: path.to_owned() })?;
        let mut filled = filled(&Value::Table(template.clone()), state);
        if let Some(table) = filled.as_table_mut() {
            table.insert("name".to_owned(), Value::String(state.to_owned()));
        }
        Ok(filled)
    };
    let both = vec![of(good)?, of(probe)?];
    file.insert("variant".to_owned(), Value::Array(both));
    file.insert("baseline".to_owned(), Value::String(good.to_owned()));
    file.insert("blocks".to_owned(), Value::Integer(i64::from(blocks)));
    for key in ["cap", "seed", "profile"] {
        file.remove(key);
    }
    Ok(file.to_string())
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
