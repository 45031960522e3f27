//! A report that cannot be bent: no single edit of a results directory passes `report --check`.

mod lab;

use std::fs;
use std::path::{Path, PathBuf};

use lab::{EXPERIMENT, Lab, text};

/// Every file below `dir`, by its path in it.
fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).expect("a directory") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found.sort();
    found
}

/// A copy of the finished campaign as it was, edited, and what `report --check` says of it.
struct Replay<'a> {
    lab: &'a Lab,
    kept: &'a [(PathBuf, Vec<u8>)],
    edits: usize,
}

impl Replay<'_> {
    fn restore(&self) {
        let out = self.lab.path("out");
        fs::remove_dir_all(&out).expect("a directory to remove");
        for (path, bytes) in self.kept {
            fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            fs::write(path, bytes).expect("a file");
        }
    }

    /// The edit must be refused, with words.
    fn edit(&mut self, what: &str, edit: impl FnOnce(&Path)) {
        self.restore();
        edit(&self.lab.path("out"));
        let output = self.lab.fwdlab(&["report", "--check", "out"]);
        let said = format!("{}{}", text(&output.stdout), text(&output.stderr));
        assert!(matches!(output.status.code(), Some(1 | 2)), "{what} passed: {said}");
        assert!(!said.trim().is_empty(), "{what}: refused without a word");
        self.edits += 1;
    }

    /// Edits the text of a file.
    fn change(&mut self, file: &str, what: &str, change: impl FnOnce(&str) -> String) {
        self.edit(&format!("{file}: {what}"), |out| {
            let path = out.join(file);
            let text = fs::read_to_string(&path).expect("a text");
            let changed = change(&text);
            assert_ne!(text, changed, "{file}: {what} changes nothing");
            fs::write(&path, changed).expect("a writable file");
        });
    }

    /// Replaces the first `from`.
    fn replace(&mut self, file: &str, from: &str, to: &str) {
        let what = format!("{from} -> {to}");
        self.change(file, &what, |text| text.replacen(from, to, 1));
    }
}

/// The lines of a journal, changed.
fn lines(text: &str, change: impl FnOnce(&mut Vec<String>)) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    change(&mut lines);
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The first trial that counts, and one more.
fn trials(lines: &[String]) -> (usize, usize) {
    let mut of = (0..lines.len()).filter(|at| lines[*at].contains("\"record\":\"trial\""));
    (of.next().expect("a trial"), of.next().expect("another"))
}

fn journal(replay: &mut Replay<'_>) {
    const JOURNAL: &str = "trials.jsonl";
    for (from, to) in [
        ("\"margin\":0.01", "\"margin\":0.05"),
        ("\"baseline\":\"radix\"", "\"baseline\":\"modular\""),
        ("\"blocks\":3", "\"blocks\":2"),
        ("\"title\":\"radix against", "\"title\":\"Radix against"),
        ("\"seed\":", "\"seed\":1"),
        ("\"device\":\"builtin\"", "\"device\":\"linux\""),
        ("\"rx\":", "\"rx\":1"),
        ("\"busy_ns\":", "\"busy_ns\":1"),
        ("\"flows_seen\":2000", "\"flows_seen\":1999"),
        ("\"variant\":\"radix\"", "\"variant\":\"modular\""),
        ("\"core_share\":", "\"core_share\":0.9,\"x\":"),
        ("\"seal\":\"", "\"seal\":\"0"),
        ("\"stopped\":\"all blocks run", "\"stopped\":\"All blocks run"),
        ("\"started\":\"20", "\"started\":\"19"),
    ] {
        replay.replace(JOURNAL, from, to);
    }
    replay.change(JOURNAL, "labels swapped in all trials", |text| {
        text.replace("\"variant\":\"radix\"", "\"variant\":\"x\"")
            .replace("\"variant\":\"modular\"", "\"variant\":\"radix\"")
            .replace("\"variant\":\"x\"", "\"variant\":\"modular\"")
    });
    replay.change(JOURNAL, "a trial left out", |text| {
        lines(text, |all| {
            all.remove(trials(all).0);
        })
    });
    replay.change(JOURNAL, "a trial twice", |text| {
        lines(text, |all| {
            let (one, other) = trials(all);
            all.insert(other, all[one].clone());
        })
    });
    replay.change(JOURNAL, "two trials changed places", |text| {
        lines(text, |all| {
            let (one, other) = trials(all);
            all.swap(one, other);
        })
    });
    replay.change(JOURNAL, "the end cut off", |text| {
        lines(text, |all| {
            all.pop();
        })
    });
    replay.change(JOURNAL, "half a line at the end", |text| text[..text.len() - 40].to_owned());
    replay.change(JOURNAL, "a blank in a line", |text| text.replacen("\":", "\": ", 1));
    replay.change(JOURNAL, "one hash taken out", |text| {
        lines(text, |all| {
            let line = &mut all[2];
            let at = line.find(",\"after\":\"").expect("a hash");
            line.replace_range(at..line.len() - 1, "");
        })
    });
}

#[test]
fn no_single_edit_of_a_results_directory_passes() {
    let lab = Lab::new(EXPERIMENT);
    lab.measured(&["run", "-q", "short.toml", "-o", "out"]);
    let out = lab.path("out");
    let check = || lab.fwdlab(&["report", "--check", "out"]);
    assert_eq!(check().status.code(), Some(0), "{}", text(&check().stdout));
    let read = |path: PathBuf| (path.clone(), fs::read(path).expect("a file"));
    let kept: Vec<(PathBuf, Vec<u8>)> = files(&out).into_iter().map(read).collect();
    let mut replay = Replay { lab: &lab, kept: &kept, edits: 0 };
    journal(&mut replay);
    replay.replace("experiment.toml", "blocks = 3", "blocks = 4");
    replay.replace("experiment.toml", "radix4", "auto");
    replay.change("experiment.toml", "a comment", |text| format!("{text}# by hand\n"));
    replay.replace("environment.json", "\"processor\": \"", "\"processor\": \"Fast ");
    replay.replace("environment.json", "\"commit\": \"", "\"commit\": \"v9 ");
    replay.replace("README.md", "3 blocks", "9 blocks");
    replay.replace("claims.json", "\"verdict\": \"", "\"verdict\": \"very ");
    replay.change("README.md", "a sentence", |text| format!("{text}\nIt is faster by 50 %.\n"));
    // And whatever stands there: gone, or with one byte more.
    for (path, _) in &kept {
        let name = path.strip_prefix(&out).expect("a file of the directory").to_owned();
        replay.edit(&format!("{} gone", name.display()), |out| {
            fs::remove_file(out.join(&name)).expect("a file to remove");
        });
        replay.edit(&format!("{} with one byte more", name.display()), |out| {
            let mut bytes = fs::read(out.join(&name)).expect("a file");
            bytes.insert(bytes.len() / 2, b'7');
            fs::write(out.join(&name), bytes).expect("a writable file");
        });
    }
    assert!(replay.edits >= 26, "{}", replay.edits);
    replay.restore();
    assert_eq!(check().status.code(), Some(0), "as it was");
}
