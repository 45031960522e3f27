//! Directories and files of strangers: what they must not be able to do.

mod lab;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use lab::{EXPERIMENT, Lab, text};
use serde_json::{Value, json};

const SECRET: &str = "root:secret-of-somebody";

/// A finished campaign, made once for all tests of this file.
fn finished() -> &'static Path {
    static MADE: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
    MADE.get_or_init(|| {
        let lab = Lab::new(&EXPERIMENT.replace("blocks = 3", "blocks = 2"));
        lab.measured(&["run", "short.toml", "-o", "out"]);
        lab.dir.keep()
    })
}

/// A laboratory with a copy of the data of a finished campaign in `out`, no report beside it.
fn copied() -> Lab {
    let lab = Lab::new(EXPERIMENT);
    fs::create_dir(lab.path("out")).expect("a directory");
    for name in ["trials.jsonl", "experiment.toml", "environment.json"] {
        fs::copy(finished().join("out").join(name), lab.path("out").join(name)).expect("a copy");
    }
    lab
}

/// Changes the records of a journal; without its chain of hashes, as an old one.
fn change(lab: &Lab, alter: impl Fn(usize, &mut Value)) {
    let path = lab.path("out/trials.jsonl");
    let journal = fs::read_to_string(&path).expect("a journal");
    let mut trials = 0;
    let changed = journal.lines().map(|line| {
        let mut record: Value = serde_json::from_str(line).expect("a record");
        record.as_object_mut().expect("an object").remove("after");
        // Trials that ran again do not count: the first that does is number 1.
        trials += usize::from(record["record"] == "trial");
        let number = match record["record"].as_str() {
            Some("campaign") => 0,
            Some("trial") => trials,
            _ => usize::MAX,
        };
        alter(number, &mut record);
        format!("{record}\n")
    });
    let changed: String = changed.collect();
    fs::write(&path, changed).expect("a writable journal");
}

/// Runs a command that must be refused, soon and in words; returns these.
fn refused(lab: &Lab, arguments: &[&str]) -> String {
    let output = lab.fwdlab(arguments);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{}{stderr}", text(&output.stdout));
    assert!(stderr.starts_with("error: "), "{stderr}");
    assert!(stderr.len() < 2_200, "{} bytes: {stderr:.300}", stderr.len());
    assert!(!stderr.contains('\u{1b}') && !stderr.contains(SECRET), "{stderr}");
    stderr
}

fn fifo(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.is_ok_and(|status| status.success()), "mkfifo");
}

/// `report` named a command that `run` refused: the campaign was finished.
#[test]
fn what_is_torn_behind_the_end_of_a_campaign_lacks_no_trial() {
    let lab = copied();
    let path = lab.path("out/trials.jsonl");
    let journal = fs::read_to_string(&path).expect("a journal");
    let report = |bytes: &str| {
        fs::write(&path, bytes).expect("a writable journal");
        let output = lab.fwdlab(&["report", "--format", "text", "out"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let said = report(&format!("{journal}{{\"record\":\"tri"));
    assert!(said.contains("no trial of the campaign is in it"), "{said}");
    assert!(!said.contains("run the same command again"), "{said}");
    // Within the campaign it does.
    let said = report(&journal[..journal.trim_end().rfind('\n').expect("lines") - 5]);
    assert!(said.contains("run the same command again"), "{said}");
}

#[test]
fn planted_links_are_replaced_and_what_they_lead_to_stays() {
    let lab = copied();
    fs::write(lab.path("mine"), SECRET).expect("a file");
    for name in ["README.md", "README.md.part", "index.html", "claims.json", ".README.md.1.new"] {
        symlink(lab.path("mine"), lab.path("out").join(name)).expect("a link");
    }
    let output = lab.fwdlab(&["report", "out"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(fs::read_to_string(lab.path("mine")).expect("the file"), SECRET);
    let readme = fs::symlink_metadata(lab.path("out/README.md")).expect("a report");
    assert!(readme.is_file());
}

#[test]
fn notes_that_are_a_link_to_a_secret_are_not_shown() {
    let lab = copied();
    fs::write(lab.path("mine"), SECRET).expect("a file");
    symlink(lab.path("mine"), lab.path("out/notes.md")).expect("a link");
    let stderr = refused(&lab, &["report", "out"]);
    assert!(stderr.contains("notes.md") && stderr.contains("symbolic link"), "{stderr}");
    assert!(stderr.contains("put the file itself there"), "{stderr}");
    assert!(!lab.path("out/README.md").exists());
}

#[test]
fn a_journal_that_is_a_link_is_neither_read_nor_written() {
    let lab = Lab::new(EXPERIMENT);
    fs::create_dir(lab.path("out")).expect("a directory");
    fs::write(lab.path("mine"), "").expect("a file");
    symlink(lab.path("mine"), lab.path("out/trials.jsonl")).expect("a link");
    let stderr = refused(&lab, &["run", "short.toml", "-o", "out"]);
    assert!(stderr.contains("symbolic link"), "{stderr}");
    assert_eq!(fs::read_to_string(lab.path("mine")).expect("the file"), "");
}

#[test]
fn fifos_and_endless_files_are_refused() {
    for name in ["notes.md", "trials.jsonl", "experiment.toml", "environment.json"] {
        let lab = copied();
        let path = lab.path("out").join(name);
        let _ = fs::remove_file(&path);
        fifo(&path);
        let stderr = refused(&lab, &["report", "out"]);
        assert!(stderr.contains(name) && stderr.contains("no regular file"), "{name}: {stderr}");
        let audited = text(&lab.fwdlab(&["audit", "out"]).stdout);
        assert!(audited.matches("no regular file").count() <= 1, "said twice: {audited}");
    }
    let lab = Lab::new(EXPERIMENT);
    fifo(&lab.path("fifo.toml"));
    for arguments in [
        ["run", "fifo.toml"].as_slice(),
        &["run", "/dev/zero"],
        &["compare", "/dev/zero", "fifo.toml"],
        &["fib", "show", "--routes", "/dev/zero"],
        &["history", "--store", "/dev/zero"],
        #[cfg(target_os = "linux")]
        &["doctor", "--testbed", "/dev/zero"],
        #[cfg(target_os = "linux")]
        &["doctor", "--testbed", "fifo.toml"],
    ] {
        let stderr = refused(&lab, arguments);
        assert!(stderr.contains("no regular file"), "{arguments:?}: {stderr}");
    }
    // It reads what ministat(1) reads, and that has an end.
    let output = lab.fwdlab(&["ministat", "/dev/zero"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(text(&output.stderr), "ministat: /dev/zero has more than 256 MiB\n");
}

/// Of nothing but a hole, which takes the processor long to read and the disk nothing to hold.
fn hole(path: &Path) {
    let file = fs::File::create(path).expect("a file");
    file.set_len(4 << 30).expect("a file system with holes");
}

/// 4 GiB were hashed, and then refused for their number.
#[test]
fn what_is_too_long_is_refused_before_it_is_read() {
    let replayed = EXPERIMENT
        .replace("frame = \"min\"\n", "capture = \"long.pcap\"\n")
        .replace(".20:2000", ".20")
        .replace(".100:2000", ".100");
    let lab = Lab::new(&replayed);
    hole(&lab.path("long.pcap"));
    let noted = copied();
    hole(&noted.path("out/notes.md"));
    for (lab, arguments, name) in [
        (&lab, &["plan", "short.toml"][..], "long.pcap"),
        (&noted, &["report", "out"], "notes.md"),
        (&noted, &["report", "--check", "out"], "notes.md"),
    ] {
        // Seconds of the processor, whatever else it does: a build for tests hashes a GiB in a minute.
        let mut command = std::process::Command::new("sh");
        command.args(["-c", "ulimit -t 20; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_fwdlab")]);
        let output = command.args(arguments).current_dir(lab.dir.path()).output().expect("sh");
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains(name) && stderr.contains("it has more than"), "{stderr}");
    }
}

#[test]
fn directories_of_others_are_neither_written_through_links_nor_filled() {
    for name in ["netbenches", "profiles", "inputs", "console"] {
        let lab = copied();
        let elsewhere = lab.path("elsewhere");
        fs::create_dir(&elsewhere).expect("a directory");
        fs::write(elsewhere.join("radix.inet.folded"), format!("{SECRET} 3\n")).expect("a file");
        symlink(&elsewhere, lab.path("out").join(name)).expect("a link");
        let output = lab.fwdlab(&["report", "out"]);
        assert!(matches!(output.status.code(), Some(0 | 2)), "{}", text(&output.stderr));
        assert_eq!(fs::read_dir(&elsewhere).expect("a directory").count(), 1, "{name}");
        for page in ["README.md", "index.html"] {
            let page = fs::read_to_string(lab.path("out").join(page)).unwrap_or_default();
            assert!(!page.contains(SECRET), "{name}");
        }
    }
    // Links that lead to where they stand are as many directories as there are stars.
    let lab = copied();
    assert_eq!(lab.fwdlab(&["report", "out"]).status.code(), Some(0));
    for name in ["a", "b", "c"] {
        symlink(".", lab.path("out").join(name)).expect("a link");
    }
    let output = lab.fwdlab(&["report", "--check", "out"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(
        text(&output.stdout).contains("b: neither data of a campaign"),
        "{}",
        text(&output.stdout)
    );
    // A directory that stands where a file goes is not emptied for it.
    for name in ["README.md", "notes.md"] {
        let lab = copied();
        fs::create_dir_all(lab.path("out").join(name).join("kept")).expect("a directory");
        let stderr = refused(&lab, &["report", "out"]);
        assert!(stderr.contains("move that directory away"), "{name}: {stderr}");
        assert!(lab.path("out").join(name).join("kept").is_dir(), "{name}");
    }
}

#[test]
fn nothing_is_imported_of_what_is_no_log() {
    let lab = Lab::new(EXPERIMENT);
    fs::create_dir(lab.path("published")).expect("a directory");
    fifo(&lab.path("published/a.pps"));
    fs::write(lab.path("mine"), SECRET).expect("a file");
    symlink(lab.path("mine"), lab.path("published/README.md")).expect("a link");
    let output = lab.fwdlab(&["import", "published", "-o", "imported"]);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("nothing to import in published"), "{stderr}");
    assert!(stderr.contains("symbolic link") && stderr.contains("not a regular file"), "{stderr}");
    assert!(!lab.path("imported").exists());
}

/// The words of a title are words, in a page as in Markdown.
#[test]
fn marks_of_html_and_markdown_in_a_title_do_nothing() {
    let title = "<script>alert(1)</script><img src=x onerror=alert(1)> ![x](http://x/) <!--";
    let lab = copied();
    change(&lab, |number, record| {
        if number == 0 {
            record["title"] = json!(title);
        }
    });
    let output = lab.fwdlab(&["report", "out"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    for name in ["README.md", "index.html", "graph.svg", "forest.svg"] {
        let page = fs::read_to_string(lab.path("out").join(name)).expect("a file of the report");
        for mark in ["<script>alert", "<img src=x", "<!--", "> ![x]"] {
            assert!(!page.contains(mark), "{name}: {mark}");
        }
    }
}

#[test]
fn a_routes_file_that_is_a_link_is_refused() {
    let lab = Lab::new(&format!("{EXPERIMENT}file = \"routes.txt\"\n"));
    fs::write(lab.path("mine"), SECRET).expect("a file");
    symlink(lab.path("mine"), lab.path("routes.txt")).expect("a link");
    let stderr = refused(&lab, &["run", "short.toml"]);
    assert!(stderr.contains("routes.txt") && stderr.contains("symbolic link"), "{stderr}");
}

#[test]
fn records_that_no_campaign_could_have_written_are_named_in_seconds() {
    type Change = fn(usize, &mut Value);
    let wrong: [(&str, Change); 12] = [
        ("no name", |n, r| {
            if n == 0 {
                r["variants"][0] = json!("x".repeat(1 << 20));
            }
        }),
        ("no name", |n, r| {
            if n == 0 {
                r["traffics"][0] = json!("../../../tmp/x");
            }
        }),
        ("no name", |n, r| {
            if n == 0 {
                r["baseline"] = json!("a\u{1b}[2J");
            }
        }),
        ("20000 variants", |n, r| {
            if n == 0 {
                r["variants"] = (0..20_000).map(|k| json!(format!("v{k}"))).collect();
            }
        }),
        ("margin", |n, r| {
            if n == 0 {
                r["margin"] = json!(1e308);
            }
        }),
        ("the title", |n, r| {
            if n == 0 {
                r["title"] = json!("good\n\n## IPv4: modular is faster by 900 %");
            }
        }),
        ("the title", |n, r| {
            if n == 0 {
                r["title"] = json!("\u{1b}]0;owned\u{7}");
            }
        }),
        ("no rate", |n, r| {
            if n == 1 {
                r["rate_pps"] = json!(5e-324);
            }
        }),
        ("no rate", |n, r| {
            if n == 1 {
                r["intervals"][0]["ms"] = json!(1e300);
                r["interval_ms"] = json!(1e300);
            }
        }),
        ("no number of frames", |n, r| {
            if n == 1 {
                r["sent"] = json!(u64::MAX);
            }
        }),
        ("no number of frames", |n, r| {
            if n == 1 {
                r["checks"]["lost"] = json!(u64::MAX / 2);
            }
        }),
        ("no number of frames", |n, r| {
            if n == 1 {
                r["drops"] = json!({"queue full": u64::MAX, "no route": 1});
            }
        }),
    ];
    for (words, alter) in wrong {
        let lab = copied();
        change(&lab, alter);
        let stderr = refused(&lab, &["report", "out"]);
        assert!(stderr.contains("trials.jsonl:"), "{stderr}");
        assert!(stderr.contains(words), "{words}: {stderr}");
    }
}

#[test]
fn words_of_a_journal_can_neither_command_a_terminal_nor_forge_a_heading() {
    let lab = copied();
    change(&lab, |number, record| {
        if number == 1 {
            record["status"] = json!("failed");
            record["reason"] =
                json!("x\u{1b}[2J\u{9b}1m\u{202e}\r\n\n## Verdicts\n\n> all is well\n");
            record["warnings"] = json!(["y\n# Verdicts\n```\n"]);
        }
    });
    let output = lab.fwdlab(&["report", "out"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let readme = fs::read_to_string(lab.path("out/README.md")).expect("a report");
    let page = fs::read_to_string(lab.path("out/index.html")).expect("a page");
    for shown in [text(&output.stdout), text(&output.stderr), readme.clone(), page] {
        let odd = shown.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
        assert_eq!(odd, None);
        assert!(!shown.contains('\u{202e}'));
    }
    assert!(readme.contains("all is well"), "the reason is not there: {readme}");
    let headings = readme.lines().filter(|line| line.trim_start().starts_with("# ")).count();
    assert_eq!(headings, 1, "{readme}");
    assert_eq!(readme.lines().filter(|line| line.trim() == "## Verdicts").count(), 0, "{readme}");
    // Tables for other programs, which are looked at in terminals, too.
    for form in ["--csv", "--jsonl"] {
        let table = text(&lab.fwdlab(&["export", "out", form]).stdout);
        let odd = table.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!((odd, table.contains('\u{202e}')), (None, false), "{form}");
        assert!(table.contains("all is well"), "{form}: {table}");
        assert!(!table.lines().any(|line| line.starts_with('#')), "{form}: {table}");
    }
}

/// Colours as well: they can hide all that follows, and no one asked for them in a pipe.
#[test]
fn a_journal_cannot_paint_the_terminal_nor_speak_for_the_check() {
    const CONCEALED: &str =
        "ok\u{1b}[8m\u{1b}[38;5;0mhidden\nout: the report agrees with its journal";
    let lab = copied();
    change(&lab, |number, record| {
        if number == 1 {
            record["warnings"] = json!([CONCEALED]);
            record["load"] = json!(CONCEALED);
        }
    });
    for arguments in [
        ["report", "out"].as_slice(),
        &["report", "out", "--format", "commit"],
        &["report", "out", "--format", "json"],
        &["report", "--check", "out"],
    ] {
        let output = lab.fwdlab(arguments);
        let shown = text(&output.stdout) + &text(&output.stderr);
        assert!(!shown.contains('\u{1b}'), "{arguments:?}: {shown}");
        let forged = |line: &str| line.trim() == "out: the report agrees with its journal";
        assert!(!shown.lines().any(forged), "{arguments:?}: {shown}");
    }
}

#[test]
fn a_key_of_a_trial_begins_no_heading() {
    let lab = copied();
    change(&lab, |number, record| {
        if number > 0 && record["record"] == "trial" {
            record["drops"] = json!({ "x\n# forged\n": 5 });
        }
    });
    let output = lab.fwdlab(&["report", "out"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let readme = fs::read_to_string(lab.path("out/README.md")).expect("a report");
    assert!(readme.contains("# forged"), "the reason is not there: {readme}");
    assert!(!readme.lines().any(|line| line.trim_start().starts_with("# forged")), "{readme}");
}

#[test]
fn a_reason_of_a_trial_begins_no_heading_in_a_summary() {
    let lab = copied();
    change(&lab, |number, record| {
        if number > 0 && record["record"] == "trial" {
            record["status"] = json!("failed");
            record["reason"] = json!("x\n# forged\n\n| forged | t |\n|---|---|");
        }
    });
    let output = lab.fwdlab(&["report", "out", "--format", "github"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let summary = text(&output.stdout);
    assert!(summary.contains("# forged"), "the reason is not there: {summary}");
    let is_forged =
        |line: &str| ["# forged", "| forged"].iter().any(|own| line.trim_start().starts_with(own));
    assert!(!summary.lines().any(is_forged), "{summary}");
}

#[test]
fn an_audit_shows_what_a_journal_says_on_one_line_and_as_text() {
    let lab = copied();
    lab.fwdlab(&["report", "out"]);
    change(&lab, |number, record| {
        if number == 1 {
            record["status"] = json!("failed");
            record["reason"] = json!("\u{1b}]0;owned\u{7} \u{202e}x\nout/README.md:1: forged");
        }
    });
    let output = lab.fwdlab(&["audit", "out"]);
    let shown = text(&output.stdout) + &text(&output.stderr);
    assert!(shown.contains("owned"), "the reason is not there: {shown}");
    assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{shown:?}");
    assert!(!shown.lines().any(|line| line.starts_with("out/README.md:1: forged")), "{shown}");
}

#[test]
fn html_of_strangers_is_text_in_the_readme() {
    const HTML: &str = "w <img src=x onerror=alert(1)> </pre><script>alert(1)</script>";
    let lab = copied();
    change(&lab, |number, record| {
        if number > 0 && record["record"] == "trial" {
            record["drops"] = json!({ HTML: 5 });
            record["warnings"] = json!([HTML]);
        }
    });
    let environment = lab.path("out/environment.json");
    let facts = fs::read_to_string(&environment).expect("an environment");
    let mut facts: Value = serde_json::from_str(&facts).expect("JSON");
    deface(&mut facts, HTML);
    fs::write(&environment, facts.to_string()).expect("a file");
    for format in [["report", "out"].as_slice(), &["report", "out", "--format", "github"]] {
        let output = lab.fwdlab(format);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let readme = match format.len() {
            2 => fs::read_to_string(lab.path("out/README.md")).expect("a report"),
            _ => text(&output.stdout),
        };
        assert!(readme.contains("alert(1)"), "the words are not there: {readme}");
        for tag in ["<img", "<script", "</script", "</pre"] {
            assert!(!readme.contains(tag), "{tag}: {readme}");
        }
    }
}

/// Puts words into every text of some JSON, a few levels down.
fn deface(value: &mut Value, words: &str) {
    match value {
        Value::String(text) => text.push_str(words),
        Value::Array(list) => list.iter_mut().for_each(|own| deface(own, words)),
        Value::Object(members) => members.values_mut().for_each(|own| deface(own, words)),
        _ => {}
    }
}

#[test]
fn a_trial_of_what_the_campaign_does_not_name_is_refused_with_its_line() {
    for key in ["variant", "traffic"] {
        let lab = copied();
        let path = lab.path("out/trials.jsonl");
        let journal = fs::read_to_string(&path).expect("a journal");
        let mut lines: Vec<String> = journal.lines().map(str::to_owned).collect();
        let mut record: Value = serde_json::from_str(&lines[1]).expect("a record");
        record[key] = json!("a/../../b");
        lines[1] = record.to_string();
        fs::write(&path, lines.join("\n") + "\n").expect("a writable journal");
        for command in [
            ["report", "out"].as_slice(),
            &["compare", "out"],
            &["export", "out", "--csv"],
            &["history", "out"],
        ] {
            let stderr = match command[0] {
                // Of many directories it leaves those out that cannot be read, and says why.
                "history" => text(&lab.fwdlab(command).stderr),
                _ => refused(&lab, command),
            };
            let named = format!("\"a/../../b\" is no {key} of the campaign");
            assert!(stderr.contains(&named) && !stderr.contains("bug"), "{command:?}: {stderr}");
            assert!(stderr.contains("trials.jsonl:2: "), "{command:?}: {stderr}");
        }
    }
}

#[test]
fn an_experiment_with_a_title_of_two_lines_is_refused() {
    let title = "title = \"radix against the modular FIB, in short\"";
    let forged = "title = \"\"\"good\n## IPv4: modular is faster\"\"\"";
    let lab = Lab::new(&EXPERIMENT.replace(title, forged));
    let stderr = refused(&lab, &["run", "short.toml"]);
    assert!(stderr.contains("short.toml:2:") && stderr.contains("one line"), "{stderr}");
}

#[test]
fn keys_of_json_reach_the_terminal_written_out() {
    let lab = Lab::new(EXPERIMENT);
    let key = "\\u001b]0;owned\\u0007\\n## forged";
    let json = format!("{{\"a\": [1, 2, 3, 4, 5], \"{key}\": [2, 3, 4, 5, 6]}}");
    fs::write(lab.path("x.json"), json).expect("a file");
    let output = lab.fwdlab(&["compare", "x.json"]);
    let shown = text(&output.stdout) + &text(&output.stderr);
    assert!(shown.contains("owned"), "{shown}");
    assert!(!shown.contains('\u{1b}') && !shown.contains('\u{7}'), "{shown}");
}

/// A directory of a tree without its journal, and single pictures that are gone, do not pass.
#[test]
fn what_was_taken_away_is_named() {
    let lab = copied();
    for name in ["a", "b"] {
        fs::create_dir_all(lab.path("tree").join(name)).expect("a directory");
        for data in ["trials.jsonl", "experiment.toml", "environment.json"] {
            let to = lab.path("tree").join(name).join(data);
            fs::copy(lab.path("out").join(data), to).expect("a copy");
        }
    }
    assert_eq!(lab.fwdlab(&["report", "tree"]).status.code(), Some(0));
    let check = || {
        let output = lab.fwdlab(&["report", "--check", "tree"]);
        (output.status.code(), text(&output.stdout))
    };
    assert_eq!(check().0, Some(0), "{}", check().1);
    let picture = lab.path("tree/a/graph.png");
    if picture.exists() {
        fs::remove_file(&picture).expect("a picture");
        let (code, said) = check();
        assert!(code == Some(1) && said.contains("graph.png: missing"), "{said}");
        assert_eq!(lab.fwdlab(&["report", "tree/a"]).status.code(), Some(0));
    }
    fs::remove_file(lab.path("tree/b/trials.jsonl")).expect("a journal");
    let (code, said) = check();
    assert!(code == Some(1) && said.contains("tree/b: files of results without"), "{said}");
}

#[test]
fn a_plan_from_results_that_show_nothing_says_so() {
    let lab = copied();
    let path = lab.path("out/trials.jsonl");
    let journal = fs::read_to_string(&path).expect("a journal");
    let second = journal.lines().nth(1).expect("a trial");
    let other = format!("{{\"note\":1,{}", &second[1..]);
    fs::write(&path, journal.replacen(second, &other, 1)).expect("a writable journal");
    let output = lab.fwdlab(&["plan", "short.toml", "--from", "out"]);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("nothing can be concluded") && stderr.contains("line 3"), "{stderr}");
}

/// `report` and `compare` refuse such a journal; what exports or follows it must not be silent.
#[test]
fn export_and_history_say_that_a_journal_was_changed() {
    let lab = copied();
    let path = lab.path("out/trials.jsonl");
    let journal = fs::read_to_string(&path).expect("a journal");
    let export = || lab.fwdlab(&["export", "out", "--csv"]);
    let history = || lab.fwdlab(&["history", "out"]);
    assert!(!text(&export().stderr).contains("warning"), "{}", text(&export().stderr));
    // On a busy machine its figures may be no points; the journal is as it was.
    let said = text(&history().stderr);
    assert!(!said.contains("is not as it was written"), "{said}");
    let bent = journal.replacen("\"flows_seen\":2000", "\"flows_seen\":1999", 1);
    assert_ne!(journal, bent);
    fs::write(&path, bent).expect("a writable journal");
    let (exported, followed) = (export(), history());
    assert_eq!(exported.status.code(), Some(0), "it is raw data");
    for said in [text(&exported.stderr), text(&followed.stderr)] {
        assert!(said.contains("out/trials.jsonl: line "), "{said}");
        assert!(said.contains("is not as it was written"), "{said}");
    }
    assert_eq!(followed.status.code(), Some(2), "its only points are left out");
}

/// 3 MB of one name came back to the terminal.
#[test]
fn a_list_of_states_is_not_quoted_whole() {
    let lab = Lab::new(EXPERIMENT);
    let states: Vec<String> = (0..5_000).map(|k| format!("s{k}\u{1b}[2J")).collect();
    fs::write(lab.path("many"), states.join("\n")).expect("a file");
    fs::write(lab.path("long"), "a".repeat(3_000_000)).expect("a file");
    for (list, words) in [("many", "and 4980 more"), ("long", "is no state; write one name a line")]
    {
        let ends = ["--good", "a", "--bad", "b", "--command", "true"];
        let stderr =
            refused(&lab, &[&["bisect", "short.toml", "--list", list][..], &ends].concat());
        assert!(stderr.contains(words), "{stderr}");
    }
}

/// `-o /dev/null` made a file of the device, for root.
#[test]
fn an_export_replaces_no_fifo_and_no_picture() {
    let lab = copied();
    fifo(&lab.path("fifo"));
    fs::write(lab.path("picture.png"), b"\x89PNG\r\n\x1a\n").expect("a file");
    for (place, words) in [
        ("fifo", "no regular file"),
        ("/dev/null", "no regular file"),
        ("picture.png", "was not written"),
    ] {
        let stderr = refused(&lab, &["export", "out", "--csv", "-o", place]);
        assert!(stderr.contains(words), "{stderr}");
    }
    assert!(!fs::symlink_metadata("/dev/null").expect("the device").is_file());
}

/// Adds `tree` with two published points, which no busy machine spoils.
fn publish(lab: &Lab) {
    let dir = lab.path("tree/machine/forwarding/results/year");
    fs::create_dir_all(&dir).expect("a directory");
    for revision in ["300000", "300037"] {
        let runs = "1000000\n1001000\n1002000\n1003000\n1004000\n";
        fs::write(dir.join(format!("{revision}.inet4.pps")), runs).expect("a file");
    }
}

/// 100 kB of a path or a name came back whole.
#[test]
fn long_arguments_are_not_echoed_whole() {
    let lab = copied();
    publish(&lab);
    let long = "x".repeat(100_000);
    let path = format!("{}/", "y".repeat(200)).repeat(500);
    for long in [long.as_str(), &path, &format!("{}=1", "z ".repeat(50_000))] {
        for arguments in [
            &["run", long][..],
            &["run", "short.toml", "--set", long],
            &["run", "short.toml", "--blocks", long],
            &["run", "--example", long],
            &["report", long],
            &["compare", long, long],
            &["history", long],
            &["history", "tree", "--only", long],
            &["export", "out", "--csv", "-o", long],
            &["init", "--compare", long],
            &["fib", "show", long],
            &["fib", "show", "--routes", long],
            &["doctor", "--device", long],
            #[cfg(target_os = "linux")]
            &["ctl", "--socket", long, "flush"],
            &[long],
        ] {
            let stderr = refused(&lab, arguments);
            assert!(stderr.contains('…'), "{:?}: {stderr}", &arguments[..arguments.len() - 1]);
        }
    }
}

#[test]
fn what_cannot_be_read_or_written_comes_with_what_to_name_instead() {
    let lab = copied();
    publish(&lab);
    fifo(&lab.path("fifo"));
    for (arguments, words) in [
        (&["history", "fifo"][..], "name the directory that it lies in"),
        (&["import", "short.toml", "-o", "new"], "name the directory that it lies in"),
        (&["export", "out", "--csv", "-o", "none/x"], "make it (mkdir -p none)"),
        (&["history", "tree", "-o", "short.toml/x"], "name another directory with -o"),
    ] {
        let stderr = refused(&lab, arguments);
        assert!(stderr.contains(words), "{arguments:?}: {stderr}");
    }
}

/// A link among the figures of a page led what was written elsewhere.
#[test]
fn the_pages_of_a_history_are_not_written_through_links() {
    let lab = Lab::new(EXPERIMENT);
    fs::create_dir_all(lab.path("pages/figures")).expect("a directory");
    fs::write(lab.path("mine"), SECRET).expect("a file");
    symlink(lab.path("mine"), lab.path("pages/figures/s0.svg")).expect("a link");
    publish(&lab);
    let output = lab.fwdlab(&["history", "tree", "-o", "pages"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let figure = fs::read_to_string(lab.path("pages/figures/s0.svg")).expect("a figure");
    assert!(figure.starts_with("<svg"), "{figure:.60}");
    assert_eq!(fs::read_to_string(lab.path("mine")).expect("the file"), SECRET);
}
