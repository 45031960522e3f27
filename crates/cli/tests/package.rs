//! The Debian package and the container that holds it.

// a test says on stderr what it skips
#![allow(clippy::print_stderr)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The recipe of the container copies the file that the recipe of the package makes, and installs what that
/// names as its company.
#[test]
fn the_container_gets_the_package_and_what_goes_with_it() {
    let container = include_str!("../../../examples/Containerfile");
    let package = include_str!("../../../examples/package.sh");
    assert!(package.contains("$out/fwdlab_${version}_$architecture.deb"), "{package}");
    assert!(container.contains("\nCOPY fwdlab_*.deb /tmp/\n"), "{container}");
    let list = |field: &str| -> Vec<&str> {
        let line = package.lines().find_map(|line| line.strip_prefix(field));
        line.expect("a field of the package").split(", ").collect()
    };
    let (recommended, suggested) = (list("Recommends: "), list("Suggests: "));
    let (_, installed) = container.split_once("/tmp/fwdlab_*.deb ").expect("an installation");
    let (installed, _) = installed.split_once("&&").expect("a step behind it");
    let installed: Vec<&str> = installed.split_whitespace().filter(|word| *word != "\\").collect();
    assert!(recommended.iter().all(|name| installed.contains(name)), "{installed:?}");
    let is_known = |name: &&str| recommended.contains(name) || suggested.contains(name);
    assert!(installed.iter().all(is_known), "{installed:?}");
}

/// Why the package cannot be tried here.
fn skipped() -> Option<String> {
    if std::env::var_os("FWDLAB_LONG_TESTS").is_none() {
        return Some(
            "strips and compresses a whole program; FWDLAB_LONG_TESTS=1 runs it".to_owned(),
        );
    }
    let lacks = |tool: &&str| Command::new(tool).arg("--version").output().is_err();
    let lacking: Vec<&str> =
        ["dpkg", "dpkg-deb", "dpkg-shlibdeps", "strip", "gzip"].into_iter().filter(lacks).collect();
    match lacking.is_empty() {
        true => None,
        false => Some(format!("there is no {}: apt-get install dpkg-dev", lacking.join(", "))),
    }
}

/// What a command printed, which must end well.
fn said(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().expect("a command that starts");
    let [out, err] = [&output.stdout, &output.stderr].map(|own| String::from_utf8_lossy(own));
    assert!(output.status.success(), "{command:?}\n{out}\n{err}");
    out.into_owned()
}

/// All that lies below a directory but dpkg's own records, by its path from there.
fn files(root: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut left = vec![root.to_owned()];
    while let Some(dir) = left.pop() {
        for entry in fs::read_dir(dir).expect("a directory").map(|entry| entry.expect("an entry")) {
            let path = entry.path();
            let own = path.strip_prefix(root).expect("a path below").to_owned();
            if own == Path::new("var") {
                continue;
            }
            if entry.file_type().expect("a type").is_dir() {
                left.push(path);
            }
            found.insert(own);
        }
    }
    found
}

/// dpkg on a root of its own.
fn dpkg(root: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("dpkg");
    command.arg("--root").arg(root).args([
        "--force-not-root",
        "--force-depends",
        "--log=/dev/null",
    ]);
    let path = std::env::var("PATH").unwrap_or_default();
    // dpkg asks for programs that lie where root alone looks.
    said(command.args(arguments).env("PATH", format!("{path}:/usr/sbin:/sbin")))
}

/// Made, installed, used and removed: nothing is left of it.
#[test]
fn the_package_is_installed_runs_and_leaves_no_trace() {
    if let Some(why) = skipped() {
        eprintln!("SKIPPED the_package_is_installed_runs_and_leaves_no_trace: {why}");
        return;
    }
    let dir = tempfile::tempdir().expect("a directory");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/package.sh");
    let made =
        said(Command::new("sh").arg(script).arg(env!("CARGO_BIN_EXE_fwdlab")).arg(dir.path()));
    let package = made.trim_end();
    assert_eq!(Path::new(package).parent(), Some(dir.path()), "{made}");
    assert_eq!(fs::read_dir(dir.path()).expect("a directory").count(), 1, "one file is made");

    let root = dir.path().join("root");
    let records = root.join("var/lib/dpkg");
    for name in ["info", "updates", "triggers"] {
        fs::create_dir_all(records.join(name)).expect("a directory");
    }
    fs::write(records.join("status"), "").expect("a file");
    dpkg(&root, &["--install", package]);
    assert_eq!(dpkg(&root, &["--verify", "fwdlab"]), "", "the sums of its files");

    let program = root.join("usr/bin/fwdlab");
    let fwdlab = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.current_dir(dir.path()).env_clear().env("HOME", dir.path());
        said(command.env("PATH", "/usr/bin:/bin").args(arguments))
    };
    assert!(fwdlab(&["--version"]).starts_with(concat!("fwdlab ", env!("CARGO_PKG_VERSION"), " ")));
    let examples = fwdlab(&["examples"]);
    let installed = root.join("usr/share/doc/fwdlab/examples");
    let listed = examples.lines().take_while(|line| !line.is_empty());
    for name in listed.filter_map(|line| line.split_whitespace().next()) {
        let is_there = [name.to_owned(), format!("{name}.toml")]
            .iter()
            .any(|file| installed.join(file).exists());
        assert!(is_there, "{name} of {examples}");
    }
    fwdlab(&["run", "--example", "a-a", "--blocks", "2", "--duration", "300ms", "-o", "results"]);
    assert!(dir.path().join("results/index.html").exists(), "a report");

    // What the program prints is what lies there.
    let share = |path: &str| fs::read(root.join("usr/share").join(path)).expect(path);
    for (shell, file) in [
        ("bash", "bash-completion/completions/fwdlab"),
        ("fish", "fish/vendor_completions.d/fwdlab.fish"),
        ("zsh", "zsh/vendor-completions/_fwdlab"),
    ] {
        assert_eq!(
            String::from_utf8_lossy(&share(file)),
            fwdlab(&["completions", shell]),
            "{file}"
        );
    }
    fwdlab(&["man", "pages"]);
    let names = |dir: &Path| -> BTreeSet<String> {
        let entries = fs::read_dir(dir).expect("a directory");
        entries
            .map(|own| own.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect()
    };
    let pages = names(&dir.path().join("pages"));
    assert!(pages.contains("fwdlab-run.1"), "{pages:?}");
    let packed: BTreeSet<String> = pages.iter().map(|page| format!("{page}.gz")).collect();
    assert_eq!(names(&root.join("usr/share/man/man1")), packed);

    dpkg(&root, &["--purge", "fwdlab"]);
    assert_eq!(files(&root), BTreeSet::new());
    assert_eq!(names(&records.join("info")), BTreeSet::from(["format".to_owned()]));
}
