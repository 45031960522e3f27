//! `examples/github-actions.yml` as a runner would go through it: each shell step as it stands. What a
//! test cannot do (packages, sources of a kernel) stands beside it on PATH: `make` puts a kernel that
//! is built already where it would have built one, and `fwdlab` is this program with shorter trials.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

const WORKFLOW: &str = include_str!("../../../../examples/github-actions.yml");

/// What a pull request of one kernel against itself comes to.
pub struct Ran {
    /// The working directory, with `results`.
    pub dir: tempfile::TempDir,
    /// The last step.
    pub output: Output,
    /// The step summary.
    pub summary: String,
}

/// The commands of each step that has some.
fn steps() -> Vec<String> {
    let mut steps = Vec::new();
    let mut lines = WORKFLOW.lines().peekable();
    while let Some(line) = lines.next() {
        if line.trim() != "run: |" {
            continue;
        }
        let deep = |line: &str| line.len() - line.trim_start().len();
        let own = deep(line);
        let mut text = String::new();
        while let Some(command) = lines.next_if(|line| deep(line) > own) {
            text += command.trim_start();
            text += "\n";
        }
        steps.push(text);
    }
    steps
}

fn script(path: &Path, text: &str) {
    fs::write(path, format!("#!/bin/bash\nset -e\n{text}\n")).expect("a writable directory");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("our own file");
}

/// Runs the workflow with `kernel`, an unpacked package, as what both trees build.
pub fn run(kernel: &Path) -> Ran {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let at = |name: &str| dir.path().join(name);
    fs::create_dir_all(at("bin")).expect("a writable directory");
    fs::create_dir_all(at("linux/scripts")).expect("a writable directory");
    for name in ["sudo", "apt-get", "cargo"] {
        script(
            &at("bin").join(name),
            &format!("echo {name} \"$@\" >> \"$GITHUB_WORKSPACE/asked\""),
        );
    }
    script(&at("linux/scripts/config"), "test \"$*\" = '-e VETH -e NET_NS'");
    let make = format!(
        "if [ \"$1\" = -C ]; then cd \"$2\"; shift 2; fi\n\
         case \"$*\" in\n\
         defconfig|olddefconfig) cp {0}/boot/config-* .config ;;\n\
         *'bzImage modules') test -f .config; mkdir -p arch/x86/boot drivers/net\n\
         echo drivers/net/veth.ko > modules.order\n\
         cp {0}/boot/vmlinuz-* arch/x86/boot/bzImage\n\
         cp {0}/lib/modules/*/kernel/drivers/net/veth.ko* drivers/net/ ;;\n\
         *) exit 1 ;;\n\
         esac",
        kernel.display()
    );
    script(&at("bin/make"), &make);
    let short =
        "--blocks 1 --duration 100ms --set warmup=20ms --set interval=20ms --set profile=false";
    let own = env!("CARGO_BIN_EXE_fwdlab");
    script(
        &at("bin/fwdlab"),
        &format!("test \"$1\" = run; shift\nexec {own} run -q {short} \"$@\""),
    );
    let checkout = "git init -q . && git add -A && git -c user.name=x -c user.email=x commit -q -m before && \
                    git -c user.name=x -c user.email=x commit -q --allow-empty -m after";
    let path = format!("{}:{}", at("bin").display(), std::env::var("PATH").unwrap_or_default());
    let shell = |text: &str, place: &str| {
        let mut command = Command::new("bash");
        command.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", text]);
        command.current_dir(at(place)).env("PATH", &path).env("GITHUB_WORKSPACE", dir.path());
        command.env("GITHUB_STEP_SUMMARY", at("summary.md")).env("FWDLAB", "address");
        command.output().expect("bash")
    };
    let mut output = shell(checkout, "linux");
    for step in steps() {
        assert!(
            output.status.success(),
            "before {step}{}",
            String::from_utf8_lossy(&output.stderr)
        );
        output = shell(&step, "");
    }
    let asked = fs::read_to_string(at("asked")).expect("what was asked for");
    assert!(asked.contains("cargo install --locked --git address fwdlab"), "{asked}");
    let summary = fs::read_to_string(at("summary.md")).unwrap_or_default();
    Ran { dir, output, summary }
}
