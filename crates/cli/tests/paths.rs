//! The ways of a new user: write an experiment, change it, run it, gate on it; and what stands in
//! the way before anything is measured.

mod lab;

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Command;

use fwdlab_results::Results;
use lab::{EXPERIMENT, Lab, text};

#[test]
fn init_writes_an_experiment_that_plans_and_never_overwrites() {
    let lab = Lab::new(EXPERIMENT);
    let arguments = ["init", "mine.toml", "--device", "builtin", "--traffic", "inet"];
    let output = lab.fwdlab(&arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("fwdlab run mine.toml"));
    let plan = lab.fwdlab(&["plan", "mine.toml"]);
    assert_eq!(plan.status.code(), Some(0));
    // "At least 110 s" of a campaign that may end after the fifth of its blocks.
    let planned = text(&plan.stdout);
    assert!(planned.starts_with("planned: until decided, at most 40 blocks"), "{planned}");
    assert!(planned.contains(" s if all of them run\n"), "{planned}");
    let before = fs::read(lab.path("mine.toml")).expect("a file");
    let output = lab.fwdlab(&arguments);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("is there already"), "{}", text(&output.stderr));
    assert_eq!(fs::read(lab.path("mine.toml")).expect("a file"), before);
}

/// What was wrong with the word of both variants stood there twice, and names that Rust and TOML escape
/// in different ways made a file that nobody could read.
#[test]
fn init_says_what_is_wrong_once_and_writes_names_as_they_are() {
    let lab = Lab::new(EXPERIMENT);
    let output = lab.fwdlab(&["init", "mine.toml", "--compare", "no.such=1,2"]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert_eq!(said.matches("has no such control word").count(), 1, "{said}");
    let marked = "e\u{301}te\u{301}/linux";
    let kernels = format!("{marked},b\"c");
    let output = lab.fwdlab(&["init", "mine.toml", "--device", "vm", "--compare", &kernels]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let written = fs::read_to_string(lab.path("mine.toml")).expect("a file");
    assert!(written.contains(&format!("kernel = \"{marked}\"")), "{written}");
    written.parse::<toml::Table>().expect("TOML");
}

/// `fwdlab plan my lab/mine.toml` was printed, which plans `my`.
#[test]
fn what_init_says_to_run_runs_when_it_is_pasted() {
    let lab = Lab::new(EXPERIMENT);
    fs::create_dir(lab.path("my $lab")).expect("a directory");
    for name in ["my $lab/it's mine.toml", "-x.toml"] {
        let arguments = ["init", "--device", "builtin", "--traffic", "inet", "--", name];
        let output = lab.fwdlab(&arguments);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let said = text(&output.stdout);
        let is_plan = |line: &&str| line.contains("fwdlab plan ");
        let line = said.lines().find(is_plan).expect("how long it takes");
        let command =
            line[line.find("fwdlab ").expect("a command")..].replacen("fwdlab", "\"$0\"", 1);
        let mut shell = Command::new("sh");
        shell.args(["-c", &command, env!("CARGO_BIN_EXE_fwdlab")]).current_dir(lab.path("."));
        let output = shell.output().expect("a shell");
        assert_eq!(output.status.code(), Some(0), "{command}: {}", text(&output.stderr));
        assert!(text(&output.stdout).starts_with("planned: "), "{}", text(&output.stdout));
    }
    let output = lab.fwdlab(&["init", "no dir/x.toml"]);
    assert!(text(&output.stderr).contains("mkdir -p 'no dir'"), "{}", text(&output.stderr));
    let output = lab.fwdlab(&["init", "/proc/x.toml"]);
    let said = text(&output.stderr);
    assert!(said.ends_with("; name a file where you may write\n"), "{said}");
}

/// "1 routes", and a plan for a difference of "0 %".
#[test]
fn one_is_no_plural_and_little_is_not_nothing() {
    let lab = Lab::new(EXPERIMENT);
    fs::write(lab.path("one.txt"), "198.51.100.0/24 192.0.2.1\n").expect("writable");
    let shown = lab.fwdlab(&["fib", "show", "--routes", "one.txt"]);
    let said = text(&shown.stdout);
    assert!(said.contains("inet.0: 1 route, 1 nexthop\n"), "{said}{}", text(&shown.stderr));
    let plan = lab.fwdlab(&["plan", "short.toml", "--difference", "0.0001"]);
    assert!(text(&plan.stdout).contains("difference of 0.0001 %"), "{}", text(&plan.stdout));
}

/// A soak was planned with the spread of forwarding rates: "4 blocks".
#[test]
fn a_plan_says_of_which_measures_no_spread_is_known() {
    let planned = |measure: &str| {
        let lab = Lab::new(&format!("measure = {measure}\n{EXPERIMENT}"));
        let output = lab.fwdlab(&["plan", "short.toml"]);
        (text(&output.stdout).to_owned(), text(&output.stderr).to_owned())
    };
    let (table, said) = planned("[\"throughput\", \"recovery\", \"soak\"]");
    assert!(table.contains("a quiet machine"), "{table}");
    let wanted =
        "published runs of forwarding rates, and says nothing of recovery and soak; --pilot";
    assert!(said.contains(wanted), "{said}");
    let (table, said) = planned("\"reset\"");
    assert!(table.ends_with("blocks needed: not known of reset before a pilot\n"), "{table}");
    assert!(said.contains("says nothing of reset; --pilot 3"), "{said}");
    let (table, said) = planned("\"rate\"");
    assert!(table.contains("a quiet machine") && !said.contains("nothing of"), "{table}{said}");
}

/// Nothing was said for many seconds.
#[test]
fn a_long_table_of_routes_is_named_while_it_is_read() {
    let lab = Lab::new(&EXPERIMENT.replace("[routes]", "[routes]\nfile = \"long.txt\""));
    let filling = "#".repeat(16_000);
    let line = |number: u32| format!("10.{}.{}.0/24 {filling}\n", number / 256, number % 256);
    fs::write(lab.path("long.txt"), (0..400).map(line).collect::<String>()).expect("writable");
    let output = lab.fwdlab(&["plan", "short.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("reading long.txt (6 MiB)"), "{}", text(&output.stderr));
    fs::write(lab.path("long.txt"), (0..10).map(line).collect::<String>()).expect("writable");
    let output = lab.fwdlab(&["plan", "short.toml"]);
    assert!(!text(&output.stderr).contains("reading"), "{}", text(&output.stderr));
}

/// A build without the vm device names it all the same, and how to get it.
#[test]
fn help_of_init_names_every_device_and_those_left_out_of_this_build() {
    let lab = Lab::new(EXPERIMENT);
    let output = lab.fwdlab(&["init", "--help"]);
    let help = text(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(output.status.code(), Some(0), "{help}");
    for device in ["- builtin:", "- linux:", "- vm:"] {
        assert!(help.contains(device), "{device} in {help}");
    }
    let is_left_out = !cfg!(feature = "vm");
    assert_eq!(help.contains("left out of this build"), is_left_out, "{help}");
    assert_eq!(help.contains("--features full"), is_left_out, "{help}");
}

#[test]
fn examples_are_listed_printed_and_run_with_changes() {
    let lab = Lab::new(EXPERIMENT);
    let list = lab.fwdlab(&["examples"]);
    assert!(text(&list.stdout).contains("modular-fib "), "{}", text(&list.stdout));
    let printed = lab.fwdlab(&["examples", "a-a"]);
    assert!(text(&printed.stdout).contains("[[variant]]"));
    let output = lab.fwdlab(&[
        "run",
        "--example",
        "a-a",
        "--blocks",
        "2",
        "--duration",
        "300ms",
        "--seed",
        "11",
        "--set",
        "margin=3%",
        "-o",
        "out",
        "--format",
        "json",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let claims: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(claims["verdicts"].is_array());
    let results = Results::read(&lab.path("out")).expect("results");
    let campaign = &results.campaign;
    assert_eq!((campaign.blocks, campaign.seed, campaign.margin), (2, 11, 0.03));
    // What ran is what is kept.
    let kept = fs::read_to_string(lab.path("out/experiment.toml")).expect("the experiment");
    assert!(kept.contains("seed = 11"), "{kept}");
    assert_eq!(lab.fwdlab(&["report", "--check", "out"]).status.code(), Some(0));
    let unknown = lab.fwdlab(&["run", "--example", "no-such"]);
    assert!(text(&unknown.stderr).contains("fwdlab examples"), "{}", text(&unknown.stderr));
}

#[test]
fn what_is_not_there_comes_with_what_to_name_instead() {
    let lab = Lab::new(EXPERIMENT);
    let cases: [(&[&str], &str); 5] = [
        (&["run", "--example", "modular_fib"], "did you mean \"modular-fib\"?"),
        (&["examples", "captur.pcap"], "did you mean \"capture.pcap\"?"),
        (&["run", "modular-fib.toml"], "fwdlab run --example modular-fib"),
        (&["compare", "nothere"], "give a results directory"),
        (
            &["run", "--kernel", "before=./no/tree", "--kernel", "after=./no/other"],
            "--kernel before=./no/tree: there is no ./no/tree; name a build tree",
        ),
    ];
    for (arguments, words) in cases {
        let output = lab.fwdlab(arguments);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains(words), "{arguments:?}: {stderr}");
    }
}

#[test]
fn a_gate_ends_with_1_when_its_verdict_is_met() {
    let lab = Lab::new(&EXPERIMENT.replace("blocks = 3", "blocks = 2"));
    let output =
        lab.fwdlab(&["run", "short.toml", "--fail-on", "inconclusive", "--fail-on", "invalid"]);
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "two blocks decide nothing: {stdout}{stderr}");
    assert!(stderr.contains("--fail-on is met in "), "{stderr}");
}

#[test]
fn without_a_terminal_progress_is_lines() {
    let lab = Lab::new(&EXPERIMENT.replace("blocks = 3", "blocks = 1"));
    let output = lab.fwdlab(&["run", "short.toml", "-o", "out"]);
    let stderr = text(&output.stderr);
    assert!(stderr.contains("2 of 2 trials after "), "{stderr}");
    assert!(stderr.contains("one block decides nothing"), "{stderr}");
    let output = lab.fwdlab(&["run", "short.toml", "-q", "-o", "quiet"]);
    assert!(!text(&output.stderr).contains("of 2 trials"), "{}", text(&output.stderr));
}

#[test]
fn the_program_says_what_it_is_and_documents_itself() {
    let lab = Lab::new(EXPERIMENT);
    let version = text(&lab.fwdlab(&["--version"]).stdout);
    assert!(version.contains("profile "), "{version}");
    let help = text(&lab.fwdlab(&["--help"]).stdout);
    let (_, codes) = help.split_once("Exit codes:").expect("the table");
    let number = |word: Option<&str>| word?.parse::<u8>().ok();
    let said: Vec<u8> = codes.lines().filter_map(|l| number(l.split_whitespace().next())).collect();
    let docs = include_str!("../../../docs/ci.md").lines();
    let written: Vec<u8> =
        docs.filter_map(|l| number(l.split('|').nth(1).map(str::trim))).collect();
    assert_eq!(said, written, "--help and docs/ci.md have one table of exit codes");
    assert_eq!(said, [0, 1, 2, 3, 4, 130]);
    for shell in ["bash", "zsh", "fish"] {
        let script = lab.fwdlab(&["completions", shell]);
        assert!(text(&script.stdout).contains("fwdlab"), "{shell}");
    }
    let output = lab.fwdlab(&["man", "pages"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let page = fs::read_to_string(lab.path("pages/fwdlab-run.1")).expect("a page");
    assert!(page.contains("retry"), "{page}");
    // Each page that one of them names is there.
    for (path, text) in lab::contents(&lab.path("pages")) {
        let text = self::text(&text).replace("\\-", "-");
        let pages = text.lines().filter_map(|line| line.strip_suffix("(1)"));
        for named in pages.filter(|name| name.starts_with("fwdlab-") && !name.contains(' ')) {
            assert!(
                lab.path(&format!("pages/{named}.1")).exists(),
                "{named} of {}",
                path.display()
            );
        }
    }
}

/// What is wrong on the command line comes with what to write there instead.
#[test]
fn wrong_arguments_get_the_right_remedy() {
    let lab = Lab::new(EXPERIMENT);
    let device = "the experiment names its device: `fwdlab init --device linux` writes an experiment with it";
    let cases: [(&[&str], &str); 34] = [
        (&["run", "--device", "linux"], device),
        (&["plan", "--device=linux", "short.toml"], "`fwdlab run --example NAME` runs one"),
        (&["run", "linux"], "\"linux\", which is a device; the experiment names its device"),
        (
            &["run", "--example", "linux"],
            "\"linux\", which is a device; the experiment names its device",
        ),
        (&["run", "--example", "capture.pcap"], "no experiment, but a file that one names"),
        (
            &["plan", "--kernel", "before=."],
            "`fwdlab run --kernel before=PATH --kernel after=PATH`",
        ),
        (&["run", "--margin", "1%"], "margin is a key of the experiment: --set margin=2%"),
        (
            &["run", "short.toml", "--frame", "64"],
            "it stands in [[traffic]] of the experiment's file",
        ),
        (&["run", "short.toml", "--routes", "x"], "it stands in [routes] of the experiment's file"),
        (&["init", "--device", "remote"], "begin with an example: `fwdlab examples remote-linux"),
        (&["doctor", "--testbed", "short.toml"], "this is an experiment file"),
        (&["rnu", "short.toml"], "a similar subcommand exists: 'run'"),
        (&["run", "short.toml", "--lbocks", "3"], "a similar argument exists: '--blocks'"),
        (&["run", "short.toml", "--fail-on", "sloer"], "a similar value exists: 'slower'"),
        (&["run", "short.toml", "--blocks", "0"], "write blocks = 8"),
        (&["run", "short.toml", "--blocks", "0"], "it is what the command line sets"),
        (&["run", "short.toml", "--duration", "2"], "write \"2s\""),
        // A file's own mistakes have its own lines, whatever the command line sets.
        (&["run", "twice.toml", "--blocks", "3"], "twice.toml:6"),
        (&["run", "twice.toml", "--blocks", "3"], "blocks"),
        (&["run", "wrong.toml", "--set", "seed=3", "--duration", "1s"], "wrong.toml:12:"),
        (&["run", "short.toml", "--seed", "x"], "wanted a whole number from 0"),
        (&["run", "short.toml", "--seed", "-1"], "wanted a whole number from 0"),
        (&["run", "short.toml", "--blocks", "-3"], "write blocks = 8"),
        (&["compare", "out/trials.jsonl", "out"], "and not a file in it: name out"),
        (&["run", "short.toml", "--set", "blocks"], "wanted KEY=VALUE, or VARIANT:WORD=VALUE"),
        (&["run", "nothere.toml"], "check the path"),
        (&["run", "short.toml", "--exmple", "x"], "a similar argument exists: '--example'"),
        (&["report", "nothere"], "start one with `fwdlab run -o nothere EXPERIMENT`"),
        // each line of it was told to be no TOML
        (&["run", "out/trials.jsonl"], "whose file is out/experiment.toml: name that"),
        (&["run", "out/README.md"], "whose file is out/experiment.toml: name that"),
        (&["compare", "pps"], "name those: pps/NAME.pps"),
        (
            &["run", "short.toml", "--set", "fwdlab.device.route_cache=2"],
            "write --set VARIANT:fwdlab.device.route_cache=VALUE, with one of radix, modular; \"2\" does not fit this \
             control word, wanted 0 or 1",
        ),
        (&["plan", "out"], "their experiment is out/experiment.toml: name that"),
        (
            &["fib", "bench", "--quick", "--only", "no-such", "--routes", "routes.txt"],
            "no algorithm has \"no-such\" in its name",
        ),
    ];
    fs::write(lab.path("routes.txt"), "192.0.2.0/24\n2001:db8::/32\n").expect("a file");
    fs::create_dir(lab.path("out")).expect("a directory");
    let twice = EXPERIMENT.replacen("blocks = 3\n", "blocks = 3\nblocks = 4\n", 1);
    fs::write(lab.path("twice.toml"), twice).expect("a file");
    fs::write(lab.path("wrong.toml"), EXPERIMENT.replacen("radix4", "bsearch5", 1))
        .expect("a file");
    fs::write(lab.path("out/trials.jsonl"), "").expect("a file");
    fs::write(lab.path("out/README.md"), "# a page: of results\n").expect("a file");
    fs::write(lab.path("out/experiment.toml"), EXPERIMENT).expect("a file");
    fs::create_dir(lab.path("pps")).expect("a directory");
    fs::write(lab.path("pps/radix.pps"), "1\n2\n").expect("a file");
    for (arguments, remedy) in cases {
        let output = lab.fwdlab(arguments);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
        assert!(stderr.contains(remedy), "{arguments:?}: {stderr}");
    }
    // What is an option of other commands is no key here.
    let stderr = text(&lab.fwdlab(&["compare", "--margni", "1%", "out"]).stderr);
    assert!(stderr.contains("a similar argument exists: '--margin'"), "{stderr}");
}

/// "can be measured here", and not a word of the machines.
#[test]
fn doctor_of_a_device_on_other_machines_says_how_to_look_at_them() {
    let lab = Lab::new(EXPERIMENT);
    let told = |device| text(&lab.fwdlab(&["doctor", "--device", device]).stdout);
    assert!(told("remote").contains("`fwdlab doctor --testbed FILE` looks at them"));
    assert!(!told("builtin").contains("testbed"));
}

#[test]
fn wrong_words_get_the_right_remedy() {
    let lab = Lab::new(EXPERIMENT);
    let cases = [
        ("device = \"builtin\"", "device = \"Linux\"", "did you mean \"linux\"?"),
        (
            "\"net.route.algo.inet.algo\" = \"auto\"",
            "\"net.ipv4.ip_forward\" = \"1\"",
            "device = \"linux\"",
        ),
        ("blocks = 3", "blocks = 3\nblocks = 4", "blocks: the key stands here a second time"),
        ("frame = \"min\"", "frame = \"IMIX\"", "did you mean \"imix\"?"),
        ("frame = \"min\"", "frame = \"64:7,594\"", "each part of a mix is LENGTH:COUNT"),
        ("blocks = 3", "blocks = 3\nmeasure = \"NDR\"", "did you mean \"ndr\"?"),
        ("blocks = 3", "blocks = 3\nmeasure = \"latency\"", "write latency = true"),
        ("static = [", "fiel = \"x\" #", "did you mean file?"),
        ("static = [", "routes = [", "did you mean static?"),
        ("\"auto\" }", "\"auto\"", "a table in braces ends with }"),
    ];
    for (old, new, words) in cases {
        fs::write(lab.path("wrong.toml"), EXPERIMENT.replace(old, new)).expect("a file");
        let output = lab.fwdlab(&["run", "wrong.toml"]);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(words), "{stderr}");
    }
    fs::create_dir(lab.path("out")).expect("a directory");
    fs::write(lab.path("out/trials.jsonl"), "").expect("a file");
    let stderr = text(&lab.fwdlab(&["report", "out/trials.jsonl"]).stderr);
    assert!(stderr.contains("name out"), "{stderr}");
    let stderr = text(&lab.fwdlab(&["run", "--kernel", "before=/nowhere"]).stderr);
    assert!(stderr.contains("there is no /nowhere; name a build tree"), "{stderr}");
}

/// Makes the trials of these variants in a journal FAILED ones.
fn failed_trials(path: &Path, variants: &[&str]) {
    let journal = fs::read_to_string(path).expect("a journal");
    let failed = journal.lines().map(|line| {
        let mut record: serde_json::Value = serde_json::from_str(line).expect("a record");
        record.as_object_mut().expect("an object").remove("after");
        if record["variant"].as_str().is_some_and(|own| variants.contains(&own)) {
            record["status"] = "failed".into();
            record["reason"] = "it cannot; try it again".into();
            for key in ["steady", "rate_pps"] {
                record[key] = serde_json::Value::Null;
            }
            record["intervals"] = serde_json::json!([]);
            record["proof"] = serde_json::json!({});
            record["environment"]["pinned"] = false.into();
        }
        format!("{record}\n")
    });
    let failed: String = failed.collect();
    fs::write(path, failed).expect("a writable journal");
}

/// "1 of its trials kept where at least 2 are needed", "1 planned, 0 kept": both were of one block.
#[test]
fn one_block_is_too_few_for_a_comparison_and_nothing_else_is_wrong_with_it() {
    let lab = Lab::new(&EXPERIMENT.replace("blocks = 3", "blocks = 1"));
    lab.measured(&["run", "short.toml", "-o", "out"]);
    let shown = lab.fwdlab(&["report", "out", "--format", "json"]);
    let said = text(&shown.stdout);
    assert!(said.contains("one block holds one trial of each, and a comparison takes 2"), "{said}");
    assert!(!said.contains("of its trials kept") && !said.contains("0 kept"), "{said}");
}

/// "One block holds one trial of each" stood where all of them FAILED, and more blocks were the remedy.
#[test]
fn where_all_trials_of_one_block_failed_their_reason_is_the_cause() {
    let lab = Lab::new(&EXPERIMENT.replace("blocks = 3", "blocks = 1"));
    lab.measured(&["run", "short.toml", "-o", "out"]);
    for failed in ["modular", "radix"] {
        failed_trials(&lab.path("out/trials.jsonl"), &[failed]);
        let shown = text(&lab.fwdlab(&["report", "out"]).stdout);
        let said = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(&format!("-{failed} FAILED: it cannot: mend what")), "{shown}");
        assert!(!said.contains("one block") && !said.contains("more blocks"), "{shown}");
    }
}

#[test]
fn a_variant_without_a_kept_trial_is_compared_without_nonsense() {
    let lab = Lab::new(&EXPERIMENT.replace("blocks = 3", "blocks = 2"));
    lab.measured(&["run", "short.toml", "-o", "out"]);
    failed_trials(&lab.path("out/trials.jsonl"), &["modular"]);
    let output = lab.fwdlab(&["report", "out"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let mut shown = vec![text(&output.stdout)];
    for format in ["text", "markdown", "json", "csv", "benchstat", "ministat"] {
        let output = lab.fwdlab(&["compare", "out", "--format", format]);
        shown.push(text(&output.stdout) + &text(&output.stderr));
    }
    for text in shown {
        assert!(!text.contains("NaN") && !text.contains("nan%"), "{text}");
        assert!(!text.contains("factor"), "{text}");
        assert!(!text.contains("not pinned"), "{text}");
    }
}

/// Axes with nothing between them.
#[test]
fn a_report_without_a_kept_trial_has_no_charts_and_says_why() {
    let lab = Lab::new(&EXPERIMENT.replace("blocks = 3", "blocks = 2"));
    lab.measured(&["run", "short.toml", "-o", "out"]);
    for failed in [&["radix", "modular"][..], &["modular"]] {
        let dir = format!("without-{}", failed.join("-"));
        fs::create_dir(lab.path(&dir)).expect("a directory");
        for file in ["trials.jsonl", "experiment.toml", "environment.json"] {
            fs::copy(lab.path(&format!("out/{file}")), lab.path(&format!("{dir}/{file}")))
                .expect("a file");
        }
        failed_trials(&lab.path(&format!("{dir}/trials.jsonl")), failed);
        let output = lab.fwdlab(&["report", &dir]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let is_one_kept = failed.len() == 1;
        for chart in ["graph", "cost", "run-order"] {
            let is_there = lab.path(&format!("{dir}/{chart}.svg")).exists();
            assert_eq!(is_there, is_one_kept, "{chart} of {dir}");
        }
        assert!(!lab.path(&format!("{dir}/forest.svg")).exists(), "nothing is compared");
        for page in ["README.md", "index.html"] {
            let page = fs::read_to_string(lab.path(&format!("{dir}/{page}"))).expect("a page");
            let is_said = page.contains("No chart is drawn: no trial was kept.");
            assert_eq!(is_said, !is_one_kept, "{page}");
            assert!(!page.contains("forest.svg"), "{page}");
        }
    }
}

#[test]
fn a_gate_cannot_tell_of_a_traffic_that_was_measured_before_alone() {
    let second = "[[traffic]]\nname = \"large\"\nsource = \"198.18.10.1:2000\"\n\
                  destination = \"198.19.10.1:2000\"\nframe = 1000\n\n[routes]";
    let both = EXPERIMENT.replace("blocks = 3", "blocks = 2").replace("[routes]", second);
    let lab = Lab::new(&both);
    fs::write(lab.path("one.toml"), EXPERIMENT.replace("blocks = 3", "blocks = 2"))
        .expect("a file");
    lab.measured(&["run", "short.toml", "-o", "before"]);
    lab.measured(&["run", "one.toml", "-o", "after"]);
    let said = "traffic large is in before alone";
    let plain = lab.fwdlab(&["compare", "before", "after"]);
    assert_eq!(plain.status.code(), Some(0), "{}", text(&plain.stderr));
    assert!(text(&plain.stderr).contains(said), "{}", text(&plain.stderr));
    let gate = lab.fwdlab(&["compare", "before", "after", "--fail-on", "slower"]);
    let told = text(&gate.stderr);
    assert!(told.contains(said), "{told}");
    // Whatever the busy machine made of the other traffic, it is not green.
    assert!(matches!(gate.status.code(), Some(1 | 4)), "{told}");
    let gone = lab.fwdlab(&["compare", "after", "before"]);
    assert!(text(&gone.stderr).contains("traffic large is in before alone"));
}

#[test]
fn every_interval_can_be_had_as_csv_and_as_json_lines() {
    let lab = Lab::new(&EXPERIMENT.replace("blocks = 3", "blocks = 1"));
    lab.measured(&["run", "short.toml", "-o", "out"]);
    let results = Results::read(&lab.path("out")).expect("results");
    let all = results.trials.iter().chain(&results.repeated);
    let intervals: usize = all.map(|trial| trial.measured.intervals.len().max(1)).sum();
    let csv = text(&lab.fwdlab(&["export", "out", "--csv"]).stdout);
    assert_eq!(csv.lines().count(), intervals + 1, "{csv}");
    assert!(csv.starts_with("trial,block,order,variant,"), "{csv}");
    let output = lab.fwdlab(&["export", "out", "--jsonl", "-o", "all.jsonl"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let lines = fs::read_to_string(lab.path("all.jsonl")).expect("a file");
    assert_eq!(lines.lines().count(), intervals);
    let first: serde_json::Value =
        serde_json::from_str(lines.lines().next().expect("a line")).expect("JSON");
    let raw = &results.trials[0].measured.intervals[0];
    assert_eq!((first["tx"].as_u64(), first["rx"].as_u64()), (raw.tx, Some(raw.rx)));
    assert_eq!(lab.fwdlab(&["export", "out"]).status.code(), Some(2));
    // its own file again, and nobody else's
    assert_eq!(lab.fwdlab(&["export", "out", "--jsonl", "-o", "all.jsonl"]).status.code(), Some(0));
    for (form, file) in
        [("--csv", "out/trials.jsonl"), ("--jsonl", "out/trials.jsonl"), ("--csv", "all.jsonl")]
    {
        let before = fs::read(lab.path(file)).expect("a file");
        let output = lab.fwdlab(&["export", "out", form, "-o", file]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains("was not written by this command"));
        assert_eq!(fs::read(lab.path(file)).expect("a file"), before);
    }
}

#[test]
fn what_an_experiment_names_travels_with_its_results() {
    let routes =
        "static = [\"198.18.0.0/16 via 198.18.0.203\", \"198.19.0.0/16 via 198.19.0.203\"]";
    let short = EXPERIMENT
        .replace("blocks = 3", "blocks = 2")
        .replace("\"50ms\"", "\"20ms\"")
        .replace("\"300ms\"", "\"100ms\"");
    let lab = Lab::new(&short.replace(routes, "file = \"../far/routes.txt\""));
    let (here, far) = (lab.path("here"), lab.path("far"));
    fs::create_dir_all(&here).expect("a directory");
    fs::create_dir_all(&far).expect("a directory");
    fs::rename(lab.path("short.toml"), here.join("short.toml")).expect("a rename");
    let lines = "198.18.0.0/16 via 198.18.0.203\n198.19.0.0/16 via 198.19.0.203\n";
    fs::write(far.join("routes.txt"), lines).expect("a file");
    let run = |file: &str, out: &str| {
        lab.measured(&["run", file, "-o", out, "-q"]);
    };
    run("here/short.toml", "out");
    let campaign = Results::read(&lab.path("out")).expect("results").campaign;
    let sum = campaign.inputs.get("../far/routes.txt").expect("a recorded file").clone();
    let readme = fs::read_to_string(lab.path("out/README.md")).expect("a report");
    assert!(readme.contains(&sum) && readme.contains("inputs/"), "{readme}");

    // Elsewhere, with all that was beside the experiment gone.
    fs::create_dir_all(lab.path("a/b")).expect("a directory");
    fs::rename(lab.path("out"), lab.path("a/b/moved")).expect("a rename");
    fs::remove_dir_all(&here).expect("a removal");
    fs::remove_dir_all(&far).expect("a removal");
    let check = lab.fwdlab(&["report", "--check", "a/b/moved"]);
    assert_eq!(check.status.code(), Some(0), "{}", text(&check.stdout));
    assert!(!text(&check.stdout).contains("not checked"), "{}", text(&check.stdout));
    run("a/b/moved/experiment.toml", "again");
    let again = Results::read(&lab.path("again")).expect("results").campaign;
    assert_eq!(
        (again.inputs, again.experiment_sha256),
        (campaign.inputs, campaign.experiment_sha256)
    );

    // Another file in its place is found.
    let kept = fs::read_dir(lab.path("a/b/moved/inputs")).expect("a directory").next();
    let kept = kept.expect("a copy").expect("an entry").path();
    fs::write(&kept, format!("# other\n{lines}")).expect("a writable file");
    let check = lab.fwdlab(&["report", "--check", "a/b/moved"]);
    assert_eq!(check.status.code(), Some(1));
    assert!(text(&check.stdout).contains("the campaign ran with"), "{}", text(&check.stdout));
    let refused = |why: &str| {
        let output = lab.fwdlab(&["run", "a/b/moved/experiment.toml", "-o", "third", "-q"]);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stdout));
        assert!(text(&output.stderr).contains(why), "{}", text(&output.stderr));
        assert!(!lab.path("third").exists(), "nothing was begun");
    };
    refused("it is not the file that the journal beside it was measured with");

    // So is a link to a directory that holds what was measured, and a loss.
    fs::write(&kept, lines).expect("a writable file");
    fs::rename(lab.path("a/b/moved/inputs"), lab.path("held")).expect("a rename");
    let check = lab.fwdlab(&["report", "--check", "a/b/moved"]);
    assert_eq!(check.status.code(), Some(1));
    assert!(text(&check.stdout).contains("put the file back"), "{}", text(&check.stdout));
    std::os::unix::fs::symlink(lab.path("held"), lab.path("a/b/moved/inputs")).expect("a link");
    refused("its directory is a link, which is not followed");
    let check = lab.fwdlab(&["report", "--check", "a/b/moved"]);
    assert_eq!(check.status.code(), Some(1), "{}", text(&check.stdout));
}

#[test]
fn a_report_in_a_form_is_printed_and_nothing_is_written() {
    let short = EXPERIMENT
        .replace("blocks = 3", "blocks = 1")
        .replace("\"50ms\"", "\"20ms\"")
        .replace("\"300ms\"", "\"100ms\"");
    let lab = Lab::new(&short);
    lab.measured(&["run", "short.toml", "-o", "out", "-q"]);
    fs::remove_file(lab.path("out/README.md")).expect("a report");
    for format in ["text", "commit", "github", "json"] {
        let output = lab.fwdlab(&["report", "out", "--format", format]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(!output.stdout.is_empty());
        assert!(!lab.path("out/README.md").exists(), "{format} wrote");
    }
    assert_eq!(lab.fwdlab(&["report", "out"]).status.code(), Some(0));
    assert!(lab.path("out/README.md").exists());
}

/// A gate is green only where it could have been red.
#[test]
fn a_report_writes_only_what_changed_and_where_it_may_not_write_it_is_printed() {
    let lab = Lab::new(&EXPERIMENT.replace("blocks = 3", "blocks = 2"));
    lab.measured(&["run", "short.toml", "-o", "out", "-q"]);
    // A file that is put there anew is another file.
    let files = || -> Vec<(std::path::PathBuf, u64)> {
        let entries = fs::read_dir(lab.path("out")).expect("a directory").flatten();
        let mut all: Vec<_> =
            entries.map(|own| (own.path(), own.metadata().expect("a file").ino())).collect();
        all.sort();
        all
    };
    assert_eq!(lab.fwdlab(&["report", "out"]).status.code(), Some(0));
    let before = files();
    assert_eq!(lab.fwdlab(&["report", "out"]).status.code(), Some(0));
    assert_eq!(files(), before, "nothing had changed");
    fs::write(lab.path("out/graph.svg"), "another picture").expect("a writable file");
    assert_eq!(lab.fwdlab(&["report", "out"]).status.code(), Some(0));
    let after = files();
    let differ: Vec<_> = before.iter().zip(&after).filter(|(old, new)| old != new).collect();
    assert!(matches!(differ[..], [(_, (path, _))] if path.ends_with("graph.svg")), "{differ:?}");

    fs::remove_file(lab.path("out/README.md")).expect("a report");
    let before = files();
    // Nobody's permissions bind root, a read-only mount does.
    let script = "mount --bind out out && mount -o remount,ro,bind out || exit 77\n\
                  cd . && exec \"$0\" report out";
    let mut unshare = std::process::Command::new("unshare");
    unshare.args(["-rm", "sh", "-c", script, env!("CARGO_BIN_EXE_fwdlab")]);
    let output = unshare.current_dir(lab.dir.path()).output();
    let Some(output) = output.ok().filter(|output| output.status.code() != Some(77)) else {
        println!("SKIPPED a_report_writes_only_what_changed: no mounts in a namespace of its own");
        return;
    };
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    if stderr.starts_with("unshare: ") {
        println!("SKIPPED a_report_writes_only_what_changed: {stderr}");
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stdout.contains("IPv4: ") && stderr.contains("nothing written: "), "{stdout}{stderr}");
    assert_eq!(files(), before);
}

#[test]
fn a_gate_that_could_not_tell_ends_with_4() {
    let lab = Lab::new(EXPERIMENT);
    let write = |name: &str, centre: f64, values: u32| {
        let values: String =
            (0..values).map(|i| format!("{}\n", centre + f64::from(i * 7 % 11) / 100.0)).collect();
        fs::write(lab.path(name), values).expect("a file");
    };
    write("base.pps", 1000.0, 12);
    write("same.pps", 1000.01, 12);
    write("slower.pps", 900.0, 12);
    write("few.pps", 900.0, 5);
    let gate = |other: &str, more: &[&str]| {
        let arguments = [&["compare", "base.pps", other, "--fail-on", "slower"], more].concat();
        let output = lab.fwdlab(&arguments);
        (output.status.code(), text(&output.stderr))
    };
    assert_eq!(gate("same.pps", &[]).0, Some(0));
    assert_eq!(gate("slower.pps", &[]).0, Some(1));
    write("base.pps", 1000.0, 5);
    let (code, stderr) = gate("few.pps", &[]);
    assert_eq!(code, Some(4), "5 and 5 values cannot reach 99.9 %: {stderr}");
    assert!(stderr.contains("could not tell in 1 of 1") && stderr.contains("99.9 %"), "{stderr}");
    assert_eq!(gate("few.pps", &["--confidence", "95"]).0, Some(1));
    // Invalid comparisons.
    fs::write(lab.path("few.pps"), "0\n0\n0\n").expect("a file");
    let (code, stderr) = gate("few.pps", &[]);
    assert_eq!(code, Some(4), "{stderr}");
    assert_eq!(gate("few.pps", &["--fail-on", "invalid"]).0, Some(1));
}

/// Costs that rose were "faster", and the gate was green.
#[test]
fn a_gate_is_not_green_where_nothing_says_which_way_is_better() {
    let lab = Lab::new(EXPERIMENT);
    for (name, centre) in [("old", 1000.0), ("new", 1100.0)] {
        let values = (0..12).map(|i| format!("{}\n", centre + f64::from(i * 7 % 11) / 100.0));
        let values: String = values.collect();
        fs::write(lab.path(&format!("{name}.txt")), &values).expect("a file");
        fs::write(lab.path(&format!("{name}.pps")), &values).expect("a file");
    }
    let gate = |ending: &str, more: &[&str]| {
        let [old, new] = ["old", "new"].map(|name| format!("{name}.{ending}"));
        let arguments = [&["compare", &old, &new, "--fail-on", "slower"], more].concat();
        let output = lab.fwdlab(&arguments);
        (output.status.code(), text(&output.stderr))
    };
    let (code, said) = gate("txt", &[]);
    assert!(code == Some(4) && said.contains("--lower-is-better"), "{said}");
    assert_eq!(gate("txt", &["--lower-is-better"]).0, Some(1));
    assert_eq!(gate("pps", &[]), (Some(0), String::new()));
    let (code, said) = gate("pps", &["--lower-is-better"]);
    assert!(code == Some(0) && said.contains("--lower-is-better changes nothing"), "{said}");
}

/// A gate that compares something else than it was asked for, or a thing with itself, is never green.
#[test]
fn a_gate_is_not_green_where_a_side_is_missing_or_the_other_one() {
    let lab = Lab::new(&EXPERIMENT.replace("blocks = 3", "blocks = 1"));
    let values: String = (0..12).map(|i| format!("{}\n", 1000 + i * 7 % 11)).collect();
    for name in ["a.txt", "copy.txt"] {
        fs::write(lab.path(name), &values).expect("a file");
    }
    let gate = |sources: [&str; 2]| {
        let output = lab.fwdlab(&[&["compare"], &sources[..], &["--fail-on", "slower"]].concat());
        (output.status.code(), text(&output.stderr))
    };
    for other in ["a.txt", "copy.txt"] {
        let (code, stderr) = gate(["a.txt", other]);
        assert_eq!(code, Some(4), "{other}: {stderr}");
        assert!(stderr.contains("one measurement beside itself"), "{other}: {stderr}");
    }
    lab.measured(&["run", "short.toml", "-o", "out"]);
    fs::create_dir(lab.path("before")).expect("a directory");
    for sources in [["before", "out"], ["out", "before"]] {
        let (code, stderr) = gate(sources);
        assert_eq!(code, Some(2), "{sources:?}: {stderr}");
        assert!(stderr.contains("before holds no results"), "{sources:?}: {stderr}");
    }
    let (code, stderr) = gate(["a.txt", "out"]);
    assert_eq!(code, Some(4), "{stderr}");
    assert!(stderr.contains("could not tell") && stderr.contains("a.txt alone"), "{stderr}");
}

/// "Cannot read -: No such file" was said of standard input, and `-o -` made a directory of that name.
#[test]
fn an_experiment_comes_from_standard_input_and_results_go_into_no_stream() {
    let lab = Lab::new(EXPERIMENT);
    let piped = |arguments: &[&str]| {
        let file = fs::File::open(lab.path("short.toml")).expect("the experiment");
        lab.command(arguments).stdin(file).output().expect("the binary starts")
    };
    let plan = piped(&["plan", "-"]);
    assert_eq!(plan.status.code(), Some(0), "{}", text(&plan.stderr));
    let said = text(&plan.stderr);
    assert!(said.contains("paths in it start at the working directory"), "{said}");
    // a mistake has its line, and a name that is no file's
    let wrong = EXPERIMENT.replace("duration = \"300ms\"", "duration = 300");
    fs::write(lab.path("wrong.toml"), wrong).expect("a file");
    let file = fs::File::open(lab.path("wrong.toml")).expect("the experiment");
    let run = lab.command(&["run", "-"]).stdin(file).output().expect("the binary starts");
    let said = text(&run.stderr);
    assert_eq!(run.status.code(), Some(2));
    assert!(said.contains("stdin:7:12: duration: 300 is of the wrong kind"), "{said}");
    assert!(said.contains("write it as \"300s\" or \"300ms\""), "{said}");

    let run = piped(&["run", "-", "--blocks", "1", "--duration", "100ms"]);
    let said = text(&run.stderr);
    assert!(said.contains("results go to results/stdin"), "{said}");
    assert!(lab.path("results/stdin/README.md").is_file(), "{said}");

    let sources: [&[&str]; 4] = [
        &["run", "short.toml", "-o", "-"],
        &["import", "-o", "-", "short.toml"],
        &["report", "results/stdin", "-o", "-"],
        &["export", "results/stdin", "--netbenches", "-o", "-"],
    ];
    for arguments in sources {
        let output = lab.fwdlab(arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains("directory") && said.contains("name one"), "{arguments:?}: {said}");
    }
    assert!(!lab.path("-").exists());
    for command in ["report", "compare"] {
        let said = text(&lab.fwdlab(&[command, "-"]).stderr);
        assert!(!said.contains("./-"), "{command}: {said}");
    }
    // what is no directory may go into a stream
    let export = lab.fwdlab(&["export", "results/stdin", "--csv", "-o", "-"]);
    assert!(text(&export.stdout).starts_with("trial,block,"), "{}", text(&export.stderr));
}
