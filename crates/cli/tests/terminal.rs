//! What only shows on a terminal: questions, a bar of progress, and Ctrl-C by its key. `expect` is the
//! person in front of it.

// a test says on stderr what it skips
#![allow(clippy::print_stderr)]

mod lab;

use std::fs;
use std::process::{Command, Stdio};

use lab::{EXPERIMENT, Lab, ids, text};

/// Answers a terminal of so many columns by a script of expect; what was shown there, or `None` without
/// that program.
fn shown(lab: &Lab, columns: u32, script: &str) -> Option<String> {
    let quiet = Command::new("expect").arg("-v").stdout(Stdio::null()).status();
    if quiet.is_err() {
        eprintln!("SKIPPED: what a terminal shows: there is no expect(1)");
        return None;
    }
    let program = env!("CARGO_BIN_EXE_fwdlab");
    let start = format!(
        "set timeout 120\nset stty_init \"columns {columns} rows 24\"\n\
         proc start {{args}} {{\n global spawn_id spawn_out\n eval spawn {program} $args\n \
         expect_after timeout {{ send_user \"nothing came\"; exit 3 }}\n}}\n{script}\n"
    );
    fs::write(lab.path("person.exp"), start).expect("a directory of ours");
    let mut expect = Command::new("expect");
    expect.arg("person.exp").current_dir(lab.path(".")).env("TERM", "xterm");
    let output = expect.output().expect("expect starts");
    let told = format!("{}{}", text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{told}");
    Some(told)
}

#[test]
fn init_asks_again_after_a_wrong_answer_and_writes_what_was_answered() {
    let lab = Lab::new(EXPERIMENT);
    let answers = r#"
        start init asked.toml
        expect "What forwards*\\] "; send "bultin\r"
        expect "is no answer to*What forwards*\\] "; send "builtin\r"
        expect "What is compared*\\] "; send "radix4\r"
        expect "wanted something such as*What is compared*\\] "; send "no.such=1,2\r"
        expect "has no such control word*What is compared*\\] "; send "\r"
        expect "Which traffic*\\] "; send "ipv4\r"
        expect "is no answer to*Which traffic*\\] "; send "inet\r"
        expect "asked.toml is written"
        expect eof
        exit [lindex [wait] 3]
    "#;
    let Some(told) = shown(&lab, 100, answers) else { return };
    let written = fs::read_to_string(lab.path("asked.toml")).expect("a file");
    assert!(!written.contains("inet6\""), "{written}");
    assert_eq!(told.matches("is no answer to").count(), 2, "{told}");
    let plan = lab.fwdlab(&["plan", "asked.toml"]);
    assert_eq!(plan.status.code(), Some(0), "{}", text(&plan.stderr));

    // Nobody answers three questions about a file that cannot be written.
    let again = r#"
        start init asked.toml
        expect "is there already"
        expect eof
        exit [expr [lindex [wait] 3] != 2]
    "#;
    let told = shown(&lab, 100, again).expect("expect was there");
    assert!(!told.contains("What forwards"), "{told}");
}

/// `fwdlab init > log` waited for answers to questions that stood in the log, and at the end of the input the error
/// stood behind the question.
#[test]
fn init_asks_where_it_is_seen_and_ends_with_the_input() {
    let lab = Lab::new(EXPERIMENT);
    let program = env!("CARGO_BIN_EXE_fwdlab");
    let answers = format!(
        r#"
        spawn sh -c "exec {program} init asked.toml > log"
        expect timeout {{exit 4}} "What forwards*\\] "; send "\r"
        expect timeout {{exit 5}} "What is compared*\\] "; send "\r"
        expect timeout {{exit 6}} "Which traffic*\\] "; send "\r"
        expect eof
        if {{[lindex [wait] 3] != 0}} {{exit 7}}
        start init other.toml
        expect "What forwards*\\] "; send "\004"
        expect -re {{^[^\n]*\r\n[^\n]*no answer to}}
        expect eof
        exit [expr [lindex [wait] 3] != 2]
    "#
    );
    let Some(_) = shown(&lab, 80, &answers) else { return };
    let log = fs::read_to_string(lab.path("log")).expect("a log");
    assert!(log.starts_with("asked.toml is written\n") && !log.contains('?'), "{log}");
    assert!(!lab.path("other.toml").exists());
}

#[test]
fn ctrl_c_by_its_key_keeps_what_was_measured_and_says_how_to_go_on() {
    let lab = Lab::new(&EXPERIMENT.replace("blocks = 3", "blocks = 200"));
    let keys = r#"
        start run short.toml -o out
        expect -re {[1-9]/[0-9]+ trials}
        send "\003"
        expect "run the same command again to go on in out"
        expect eof
        exit [expr [lindex [wait] 3] != 130]
    "#;
    let Some(_) = shown(&lab, 80, keys) else { return };
    assert!(!ids(&lab.path("out")).is_empty());
}

/// The bar's line, as wide as what is said in it, went on in the next row, where it stayed; and the time that is left
/// was cut.
#[test]
fn the_bar_stays_in_its_line_on_a_narrow_terminal_and_says_what_is_left() {
    let long = "a-variant-with-a-name-that-is-rather-long";
    let lab = Lab::new(&EXPERIMENT.replace("modular", long).replace("blocks = 3", "blocks = 2"));
    for columns in [80, 60, 40] {
        let watch = format!(
            "start run short.toml -o out{columns}\nexpect eof\nexit [expr [lindex [wait] 3] > 1]\n"
        );
        let Some(told) = shown(&lab, columns, &watch) else { return };
        let bars: Vec<String> =
            told.split(['\r', '\n']).map(plain).filter(|line| is_bar(line)).collect();
        assert!(!bars.is_empty(), "{told:?}");
        for bar in &bars {
            let width = bar.chars().count();
            assert!(width <= columns as usize, "{width} of {columns} columns: {bar:?}");
        }
        let has_time = |bar: &String| bar.contains(" s left  ");
        assert!(bars.iter().any(has_time), "{columns} columns: {bars:?}");
    }
}

/// Of a window that was made narrow meanwhile the bar kept its length, and the time that is left was cut.
#[test]
fn the_bar_follows_a_window_that_is_made_narrow() {
    let lab = Lab::new(&EXPERIMENT.replace("blocks = 3", "blocks = 200"));
    let narrow = r#"
        start run short.toml -o out
        expect -re {[1-9]/[0-9]+ trials}
        exec stty columns 40 < $spawn_out(slave,name)
        expect -re {[\r\n\x1bK][0-9]+/[0-9]+ trials  [0-9]+ s left}
        send "\003"
        expect eof
        exit [expr [lindex [wait] 3] != 130]
    "#;
    shown(&lab, 80, narrow);
}

/// Rows of findings went on at the left edge, between the names of others.
#[test]
fn lists_keep_to_a_narrow_terminal() {
    let lab = Lab::new(EXPERIMENT);
    for (command, row) in [("examples", "modular-fib "), ("doctor --device builtin", "2 cores")] {
        let script = format!("start {command}\nexpect eof\nexit [expr [lindex [wait] 3] > 1]\n");
        for columns in [100, 40] {
            let Some(told) = shown(&lab, columns, &script) else { return };
            let lines: Vec<String> = told.lines().skip(1).map(plain).collect();
            assert!(lines.iter().any(|line| line.contains(row)), "{told}");
            // What ends a list is told as it is everywhere.
            let of_list: Vec<&String> =
                lines.iter().take_while(|line| !line.trim_end().is_empty()).collect();
            assert!(of_list.len() > 5, "{told}");
            for line in of_list {
                let count = line.trim_end().chars().count();
                assert!(count <= columns as usize, "{count} of {columns}: {line:?}");
            }
        }
    }
}

/// The names of files are printed, and they may be a stranger's.
#[test]
fn ministat_shows_the_control_characters_of_names_and_keeps_its_bytes_for_programs() {
    let lab = Lab::new(EXPERIMENT);
    let name = "a\u{1b}]0;owned\u{7}";
    fs::write(lab.path(name), "1\n2\n4\n").expect("a file");
    let piped = lab.fwdlab(&["ministat", name]);
    assert!(text(&piped.stdout).contains(&format!("x {name}\n")), "{}", text(&piped.stdout));
    let missing = lab.fwdlab(&["ministat", "b\u{1b}[2J"]);
    assert_eq!(
        text(&missing.stderr),
        "ministat: Cannot open b\\u{1b}[2J: No such file or directory\n"
    );
    let script = "start ministat {*}[glob a*]\nexpect eof\nexit [lindex [wait] 3]\n";
    let Some(told) = shown(&lab, 80, script) else { return };
    // expect itself says what it starts
    let told: Vec<&str> = told.lines().skip(1).collect();
    assert!(told.iter().any(|line| line.contains("x a\\u{1b}]0;owned\\u{7}")), "{told:?}");
    assert!(!told.iter().any(|line| line.contains('\u{1b}')), "{told:?}");
}

/// Shells put the names of files into arguments, and they may be a stranger's.
#[test]
fn a_wrong_argument_is_quoted_without_its_control_characters() {
    let lab = Lab::new(EXPERIMENT);
    fs::write(lab.path("zz\u{1b}[31mX\u{1b}]0;owned\u{7}"), "").expect("a file");
    for command in ["doctor", "report --format", ""] {
        let script = format!(
            "start {command} {{*}}[glob zz*]\nexpect eof\nexit [expr [lindex [wait] 3] != 2]\n"
        );
        let Some(told) = shown(&lab, 80, &script) else { return };
        let told: Vec<&str> = told.lines().skip(1).collect();
        assert!(told.iter().any(|line| line.contains("error: ")), "{told:?}");
        assert!(!told.iter().any(|line| line.contains(['\u{1b}', '\u{7}'])), "{told:?}");
    }
}

fn is_bar(line: &str) -> bool {
    line.contains("/4 trials")
}

/// A line without what moves the cursor or colours.
fn plain(line: &str) -> String {
    let mut plain = String::new();
    let mut rest = line.chars();
    while let Some(sign) = rest.next() {
        if sign == '\u{1b}' {
            rest.by_ref().find(char::is_ascii_alphabetic);
        } else {
            plain.push(sign);
        }
    }
    plain
}
