//! What somebody does who bends a results directory.

// each file of tests bends in its own way
#![allow(dead_code)]

use std::fs;
use std::path::Path;

use fwdlab_claims::order;
use fwdlab_guard::digest;
use fwdlab_results::{Campaign, Results};
use serde_json::{Value, json};

/// A journal as lines of JSON.
pub struct Lines(pub Vec<Value>);

impl Lines {
    pub fn read(dir: &Path) -> Self {
        let text = fs::read_to_string(dir.join("trials.jsonl")).unwrap();
        Self(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    }

    pub fn write(&self, dir: &Path) {
        let lines: Vec<String> = self.0.iter().map(|line| line.to_string() + "\n").collect();
        fs::write(dir.join("trials.jsonl"), lines.concat()).unwrap();
    }

    pub fn campaign(&mut self) -> &mut Value {
        &mut self.0[0]
    }

    /// The record of the end.
    pub fn end(&mut self) -> &mut Value {
        self.0.last_mut().unwrap()
    }

    /// Takes a key out of every record.
    pub fn without(&mut self, key: &str) {
        for line in &mut self.0 {
            line.as_object_mut().unwrap().remove(key);
        }
    }

    /// Writes the journal with every hash of the chain anew, from that of the experiment file on, and with the
    /// seal, which must be the last key.
    pub fn write_rechained(mut self, dir: &Path, experiment: &str) {
        let mut before = digest::of(experiment.as_bytes());
        self.without("seal");
        for line in &mut self.0 {
            line["after"] = json!(before);
            before = digest::of(line.to_string().as_bytes());
        }
        self.write(dir);
        let path = dir.join("trials.jsonl");
        let whole = fs::read_to_string(&path).unwrap();
        let open = whole.strip_suffix("}\n").unwrap();
        fs::write(path, format!("{open},\"seal\":\"{before}\"}}\n")).unwrap();
    }

    /// The journal as an earlier version would have written it, which drew the order of each block for
    /// itself.
    pub fn in_the_first_order(&mut self) {
        self.without("order_version");
        let campaign: Campaign = serde_json::from_value(self.campaign().clone()).unwrap();
        let ids = order::ids(&campaign);
        self.campaign()["trials"] = json!(ids);
        let last = self.0.len() - 1;
        let trials = &mut self.0[1..last];
        let times: Vec<Value> = trials.iter().map(|trial| trial["started"].clone()).collect();
        let place = |trial: &Value| ids.iter().position(|id| trial["id"] == *id).unwrap();
        trials.sort_by_key(place);
        for (trial, time) in trials.iter_mut().zip(times) {
            trial["order"] = json!(place(trial) + 1);
            trial["started"] = time;
        }
    }

    /// Places of the lines of trials that count.
    pub fn places(&self) -> Vec<usize> {
        (0..self.0.len()).filter(|at| self.0[*at]["record"] == "trial").collect()
    }

    /// The first trial for which this holds.
    pub fn trial(&mut self, wanted: impl Fn(&Value) -> bool) -> &mut Value {
        let at = self.places().into_iter().find(|at| wanted(&self.0[*at])).unwrap();
        &mut self.0[at]
    }

    /// A trial that is in order.
    pub fn sound(&mut self) -> &mut Value {
        self.trial(|trial| {
            trial["status"] == "ok" && trial["warnings"] == json!([]) && trial["block"] == 2
        })
    }

    pub fn as_text(&mut self, change: impl Fn(String) -> String) {
        for line in &mut self.0 {
            *line = serde_json::from_str(&change(line.to_string())).unwrap();
        }
    }
}

pub fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// What the check says of a directory; an error is no pass.
pub fn complaints(dir: &Path) -> Vec<String> {
    let found = Results::read(dir)
        .map_err(|error| error.to_string())
        .and_then(|results| fwdlab_report::check(&results).map_err(|error| error.to_string()));
    found.map_or_else(|error| vec![error], |found| found.iter().map(|d| d.to_string()).collect())
}

/// Makes the report anew, as the forger would, if that is still possible.
pub fn made_anew(dir: &Path) {
    if let Ok(results) = Results::read(dir) {
        let _ = fwdlab_report::write(dir, &results);
    }
}
