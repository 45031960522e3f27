use std::fs;

use super::examples::{campaign, trial};
use super::*;

fn line(record: &Record) -> String {
    serde_json::to_string(record).unwrap() + "\n"
}

fn directory(journal: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(JOURNAL_FILE), journal).unwrap();
    dir
}

fn message(journal: &str) -> String {
    let dir = directory(journal);
    let text = Results::read(dir.path()).unwrap_err().to_string();
    text.replace(&dir.path().display().to_string(), "DIR")
}

fn campaign_line() -> String {
    line(&Record::Campaign(Box::new(campaign())))
}

fn trial_line(place: usize) -> String {
    line(&Record::Trial(Box::new(trial(place))))
}

#[test]
fn reads_back_what_was_written() {
    let end = Finished {
        at: "2026-11-21T13:01:00Z".to_owned(),
        stopped: "all blocks run".to_owned(),
        earlier_truths: String::new(),
    };
    let dir = directory(
        &[campaign_line(), trial_line(0), trial_line(1), line(&Record::Finished(end.clone()))]
            .concat(),
    );
    let read = Results::read(dir.path()).unwrap();
    assert_eq!(read.campaign, campaign());
    assert_eq!(read.trials, [trial(0), trial(1)]);
    assert_eq!(read.finished, Some(end));
    assert!(!read.is_torn);
    assert_eq!(read.missing(), ["b02-inet-modular", "b02-inet-radix"]);
}

#[test]
fn a_trial_line_is_flat_and_its_words_are_in_lower_case() {
    let value: serde_json::Value = serde_json::from_str(&trial_line(0)).unwrap();
    assert_eq!(value["record"], "trial");
    assert_eq!(value["status"], "ok");
    assert_eq!(value["reason"], serde_json::Value::Null);
    assert_eq!(value["limited_by"], "device");
    assert_eq!(value["family"], "inet");
    assert_eq!(value["steady"]["trimmed_head"], 0);
    assert_eq!(value["intervals"][0]["ms"], 100.02);
}

#[test]
fn unknown_fields_are_read_in_silence() {
    let newer = campaign_line().replace("\"title\"", "\"mood\":\"good\",\"title\"");
    assert!(Results::read(directory(&newer).path()).is_ok());
}

#[test]
fn zeros_of_old_imports_are_read_as_not_counted() {
    let mut trial = serde_json::to_value(Record::Trial(Box::new(trial(0)))).unwrap();
    trial["sent"] = 0.into();
    trial["flows_planned"] = 0.into();
    trial["started"] = "1970-01-01T00:00:00Z".into();
    trial["drops"] = serde_json::json!({});
    for interval in trial["intervals"].as_array_mut().unwrap() {
        interval["tx"] = 0.into();
    }
    let read = |device: &str| {
        let mut campaign = campaign();
        campaign.device = device.to_owned();
        let journal = line(&Record::Campaign(Box::new(campaign))) + &trial.to_string() + "\n";
        Results::read(directory(&journal).path()).unwrap().trials.remove(0)
    };
    let old = read(IMPORTED);
    assert_eq!((old.flows_planned, &old.started), (None, &None));
    assert_eq!((old.measured.sent, old.measured.dropped()), (None, None));
    assert!(old.measured.intervals.iter().all(|interval| interval.tx.is_none()));
    assert_eq!(old.offered_pps(), None);
    // Whoever counts may count 0.
    let own = read("builtin");
    assert_eq!((own.flows_planned, own.measured.dropped()), (Some(0), Some(0)));
    assert!(own.measured.intervals.iter().all(|interval| interval.tx == Some(0)));
}

#[test]
fn an_unknown_record_kind_names_its_line() {
    let odd = [campaign_line(), "{\"record\":\"coffee\"}\n".to_owned(), trial_line(0)].concat();
    let text = message(&odd);
    assert!(text.starts_with("DIR/trials.jsonl:2: unknown variant `coffee`"), "{text}");
}

#[test]
fn a_repeated_trial_names_its_line() {
    let text = message(&[campaign_line(), trial_line(0), trial_line(0)].concat());
    assert!(
        text.starts_with("DIR/trials.jsonl:3: trial b01-inet-radix is recorded twice"),
        "{text}"
    );
}

#[test]
fn records_in_the_wrong_place_are_refused() {
    assert!(message(&trial_line(0)).contains("the first record is no campaign"));
    let twice = [campaign_line(), campaign_line()].concat();
    assert!(message(&twice).contains("a second campaign begins here"));
}

#[test]
fn a_newer_schema_is_refused() {
    let newer = campaign_line().replace("\"schema\":1", "\"schema\":2");
    assert!(message(&newer).contains("schema 2 is newer than this fwdlab"));
}

#[test]
fn a_line_cut_short_counts_as_not_run() {
    for cut in 1..trial_line(1).len() {
        let cut_line = &trial_line(1)[..cut];
        let dir = directory(&[&campaign_line(), &trial_line(0), cut_line].concat());
        let read = Results::read(dir.path()).unwrap();
        assert!(read.is_torn, "cut at {cut}");
        assert_eq!(read.trials.len(), 1);
    }
}

#[test]
fn a_fifo_is_no_place_to_run_into() {
    let dir = tempfile::tempdir().unwrap();
    let fifo = dir.path().join("fifo");
    nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let text = Results::read(&fifo).unwrap_err().to_string();
    assert!(text.contains("wanted a results directory") && !text.contains("start one"), "{text}");
}

#[test]
fn a_damaged_line_has_one_number() {
    let dir = directory(&[&campaign_line(), "{\"rec\n", &trial_line(0)].concat());
    let text = Results::read(dir.path()).unwrap_err().to_string();
    assert!(text.contains("trials.jsonl:2: ") && text.contains(" at byte 5;"), "{text}");
}

#[test]
fn an_empty_directory_holds_no_results() {
    let dir = tempfile::tempdir().unwrap();
    let text = Results::read(dir.path()).unwrap_err().to_string();
    assert!(text.contains("holds no results: no trials.jsonl"), "{text}");
}

#[test]
fn figures_come_by_block_and_leave_failed_trials_out() {
    let mut failed = trial(2);
    failed.status = Status::Failed;
    let dir = directory(
        &[
            campaign_line(),
            trial_line(1),
            trial_line(0),
            line(&Record::Trial(Box::new(failed))),
            trial_line(3),
        ]
        .concat(),
    );
    let read = Results::read(dir.path()).unwrap();
    assert_eq!(read.figures(Metric::Cost, "radix", "inet"), [(1, 100.0), (2, 100.0)]);
    assert_eq!(read.figures(Metric::Rate, "modular", "inet"), [(1, 3_989_202.16)]);
}

#[test]
fn the_rate_of_a_way_is_that_of_the_steady_intervals_of_its_trial() {
    let mut trial = trial(0);
    let interval = |rx| Interval { ms: 1.0, rx, ..Interval::default() };
    trial.measured.intervals = [5, 2000, 2000, 9000, 2000, 3].map(interval).to_vec();
    trial.steady = Some(Steady {
        first: 1,
        count: 4,
        trimmed_head: 1,
        trimmed_tail: 1,
        skipped: vec![3],
        why: String::new(),
    });
    let way = |rx: &[u64]| Way { rx: rx.to_vec(), sent: 1000, ..Way::default() };
    assert_eq!(trial.way_pps(&way(&[5, 700, 701, 9, 702, 3])), Some(701_000.0));
    // A journal of a stranger may hold fewer, or a window beyond the end.
    assert_eq!(trial.way_pps(&way(&[5, 700])), Some(700_000.0));
    assert_eq!(trial.way_pps(&way(&[])), None);
    trial.steady.as_mut().unwrap().first = usize::MAX;
    assert_eq!(trial.way_pps(&way(&[5, 700])), None);
    trial.steady = None;
    assert_eq!(trial.way_pps(&way(&[5, 700])), None);
    let lossy = Way { checks: Checks { lost: 10, ..Checks::default() }, ..way(&[]) };
    assert_eq!(lossy.loss_ratio(), 0.01);
    assert_eq!(Way::default().loss_ratio(), 0.0);
}

/// Four GiB of nothing took as much memory, and seconds; so did holes behind a first line.
#[test]
fn a_huge_file_that_is_no_journal_is_refused_by_its_first_bytes() {
    const HUGE: u64 = 4 << 30;
    let refused = |start: &str| {
        let dir = directory(start);
        let file = fs::OpenOptions::new().write(true).open(dir.path().join(JOURNAL_FILE)).unwrap();
        file.set_len(HUGE).unwrap();
        let error = Results::read(dir.path()).unwrap_err().to_string();
        // What is read of it is a piece or two.
        let file = fs::File::open(dir.path().join(JOURNAL_FILE)).unwrap();
        let mut counted = Counted { file, bytes: 0 };
        files::journal_bytes(dir.path(), &mut counted).unwrap_err();
        assert!(counted.bytes <= 4 << 20, "{} bytes were read", counted.bytes);
        error.split_once(JOURNAL_FILE).unwrap().1.to_owned()
    };
    let wanted = "; wanted a journal, each line of which begins with '{'; restore the file from where it was \
                  copied, or choose another directory";
    assert_eq!(refused(""), format!(":1: NUL bytes begin here{wanted}"));
    assert_eq!(refused("\u{7f}ELF"), format!(":1: it begins with \"\\x7f\"{wanted}"));
    let good = format!("{}{}", campaign_line(), trial_line(0));
    assert_eq!(refused(&good), format!(":3: NUL bytes begin here{wanted}"));
}

/// A file, and how much of it was read.
struct Counted {
    file: fs::File,
    bytes: usize,
}

impl std::io::Read for Counted {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read(into)?;
        self.bytes += read;
        Ok(read)
    }
}

/// Any text went for a time, and where it is compared it was none.
#[test]
fn a_time_that_is_none_is_named_with_its_line_and_field() {
    let with = |line: &str, key: &str, value: &str| {
        let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
        record[key] = value.into();
        format!("{record}\n")
    };
    let wanted = "wanted a time as RFC 3339 has it, such as \"2026-11-21T13:00:00Z\"; restore the file from \
                  where it was copied";
    for text in [
        "yesterday",
        "",
        "2026-13-21T13:00:00Z",
        "2026-11-21",
        "2026-11-21T13:00:00",
        "2026-11-21T13:00:00Z[UTC]",
    ] {
        let told = |line: usize, journal: String| {
            let told = message(&journal);
            let words = format!(":{line}: started is \"{text}\", which is no time; {wanted}");
            assert!(told.ends_with(&words), "{told}");
        };
        told(1, with(&campaign_line(), "started", text));
        told(2, format!("{}{}", campaign_line(), with(&trial_line(0), "started", text)));
        let end = Finished {
            at: text.to_owned(),
            stopped: "all blocks run".to_owned(),
            earlier_truths: String::new(),
        };
        let end = line(&Record::Finished(end));
        let journal = format!("{}{end}", campaign_line());
        if text.is_empty() {
            // Of published runs nobody knows when they ended.
            Results::read(directory(&journal).path()).unwrap();
            continue;
        }
        let told = message(&journal);
        assert!(
            told.contains(&format!(":2: at is \"{text}\", which is no time; {wanted}")),
            "{told}"
        );
    }
    // As others write it.
    let last = ["9999-12-30T23:00:00Z", "9999-12-31T23:59:59Z"];
    for text in ["2026-11-21T13:00:00Z", "2026-11-21T13:00:00.25+01:00"].into_iter().chain(last) {
        let dir = directory(&with(&campaign_line(), "started", text));
        assert_eq!(Results::read(dir.path()).unwrap().campaign.started, text);
    }
}
