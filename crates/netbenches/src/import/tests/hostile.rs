//! Archives of strangers: nothing panics, nothing is executed, nothing is written outside the
//! output, and no log vanishes without a word.

use super::*;

/// The tree with one receiver's log replaced; the reason why that run failed.
fn reason_of(log: &[u8]) -> String {
    let (root, out) = (tree(), tempfile::tempdir().unwrap());
    fs::write(raw(&root).join("bench.r1.inet4.1.receiver"), log).unwrap();
    let imported = import(root.path(), out.path()).unwrap();
    assert_eq!((imported.trials, imported.failed), (6, 1), "{:?}", imported.reasons);
    imported.reasons.into_keys().next().unwrap()
}

fn raw(root: &tempfile::TempDir) -> PathBuf {
    root.path().join("machine/results/a/RAW")
}

#[test]
fn garbage_is_a_failed_trial_that_says_why() {
    let noise: Vec<u8> =
        (0..100_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    assert!(reason_of(&noise).contains("receiver log"));
    assert!(reason_of(b"").contains("receiver log"));
    assert!(reason_of(&[b'\n'; 5000]).contains("receiver log"));
    let numbers = "1.0 main_thread [9] 99999999999999999999999999 pps \
                   (99999999999999999999999999 pkts in 18446744073709551616 usec)\n";
    let why = reason_of(numbers.repeat(30).as_bytes());
    assert!(!why.is_empty(), "{why}");
}

/// Whatever they are worth, they are one trial and no overflow.
#[test]
fn the_largest_numbers_do_not_overflow() {
    for text in [
        format!("1.0 main_thread [9] {0} pps ({0} pkts in {0} usec)\n", u64::MAX),
        format!("{0}.{0} main_thread [9] {0} pps ({0} pkts {0} bps in 1 usec)\n", u64::MAX),
    ] {
        let (root, out) = (tree(), tempfile::tempdir().unwrap());
        fs::write(raw(&root).join("bench.r1.inet4.1.receiver"), text.repeat(30)).unwrap();
        assert_eq!(import(root.path(), out.path()).unwrap().trials, 6);
    }
}

/// The file is sparse: a gigabyte to read, nothing to store.
#[test]
fn a_line_of_a_gigabyte_is_a_failed_trial() {
    let (root, out) = (tree(), tempfile::tempdir().unwrap());
    let path = raw(&root).join("bench.r1.inet4.1.receiver");
    fs::File::create(path).unwrap().set_len(1 << 30).unwrap();
    let imported = import(root.path(), out.path()).unwrap();
    assert_eq!((imported.trials, imported.failed), (6, 1), "{:?}", imported.reasons);
}

#[test]
fn info_files_are_text_whatever_a_shell_would_make_of_them() {
    let (root, out) = (tree(), tempfile::tempdir().unwrap());
    let mark = root.path().join("executed");
    let hostile = format!(
        "IMAGE=\"$(touch {0})\"\nCFG=`touch {0}`\nPKTGEN='inet4\nUNAME=\"../../..\" ; touch {0}\n\u{ff}",
        mark.display()
    );
    fs::write(raw(&root).join("bench.r1.inet4.info"), hostile).unwrap();
    let imported = import(root.path(), out.path()).unwrap();
    assert_eq!((imported.trials, imported.failed), (6, 0), "{:?}", imported.reasons);
    assert!(!mark.exists());
}

/// Every file below `dir`.
fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|p| if p.is_dir() { files(&p) } else { vec![p] }).collect()
}

#[cfg(unix)]
#[test]
fn names_and_links_of_every_kind_stay_below_the_output() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let root = tree();
    let outside = tempfile::tempdir().unwrap();
    let out = outside.path().join("out");
    let raw = raw(&root);
    let good = log("receiver", 500, 77);
    for name in [
        &b"bench.\xff\xfe.inet4.1.receiver"[..],
        b"bench....inet4.1.receiver",
        b"bench.a\nb.inet4.1.receiver",
        b"bench.\\..\\x.inet4.1.receiver",
    ] {
        fs::write(raw.join(OsStr::from_bytes(name)), format!("{good}{}", name.len())).unwrap();
    }
    for (link, to) in [("loop", "."), ("up", "../../.."), ("etc", "/etc")] {
        std::os::unix::fs::symlink(to, raw.join(link)).unwrap();
    }
    std::os::unix::fs::symlink("/etc/passwd", raw.join("bench.r1.inet4.9.receiver")).unwrap();
    let imported = import(root.path(), &out).unwrap();
    assert_eq!(imported.trials, 7, "{:?}", imported.reasons);
    let odd = imported.skipped.iter().filter(|s| s.contains("that can be seen")).count();
    assert_eq!(odd, 3, "{:?}", imported.skipped);
    fwdlab_results::Results::read(&out.join("machine/results/a")).unwrap();
    let links = imported.skipped.iter().filter(|s| s.contains("a symbolic link")).count();
    assert_eq!(links, 4, "{:?}", imported.skipped);
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    for file in files(&out) {
        let text = fs::read(&file).unwrap();
        assert!(!text.windows(5).any(|w| w == b"root:"), "{}", file.display());
    }
}

#[test]
fn directories_that_would_share_a_place_get_their_own() {
    let dir =
        |relative: &str| ResultsDir { relative: relative.to_owned(), ..ResultsDir::default() };
    let dirs = [dir("a\\b"), dir("a_b"), dir("c")];
    let places = places(&dirs.iter().collect::<Vec<_>>());
    assert_eq!(places, ["a_b", "a_b-2", "c"].map(PathBuf::from));
}

#[test]
fn every_log_is_a_trial_or_is_named() {
    let (root, out) = (tree(), tempfile::tempdir().unwrap());
    let raw = raw(&root);
    fs::write(raw.join("bench.r1.inet4.receiver"), "no run number").unwrap();
    fs::write(raw.join("../bench.r1.inet4.2.receiver"), "a second one").unwrap();
    fs::create_dir(raw.join("bench.r1.inet4.8.receiver")).unwrap();
    let imported = import(root.path(), out.path()).unwrap();
    assert_eq!(imported.trials, 6);
    assert_eq!(imported.skipped.len(), 2, "{:?}", imported.skipped);
}
