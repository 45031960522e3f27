//! Many testbeds: the batch script, and results side by side.

use std::fs;
use std::process::{Command, Stdio};

use crate::rig::{EXPERIMENT, Rig, text};

const TESTBED: &str = r#"
name = "apu2"
[hosts.dut]
ssh = "dut"
os = "linux"
ports = [{ name = "a", mac = "00:0d:b9:00:00:01" }, { name = "b", mac = "00:0d:b9:00:00:02" }]
[hosts.tester]
ssh = "tester"
os = "linux"
ports = [{ name = "a", mac = "00:0d:b9:00:00:03" }, { name = "b", mac = "00:0d:b9:00:00:04" }]
"#;

#[test]
fn the_batch_script_takes_the_testbed_of_its_node() {
    let dir = tempfile::tempdir().expect("a directory");
    let pool = dir.path().join("pool's");
    fs::create_dir(&pool).expect("made");
    let experiment = dir.path().join("question.toml");
    fs::write(&experiment, EXPERIMENT).expect("written");
    let slurm = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fwdlab"));
        command.arg("slurm").arg(&experiment).arg("--testbeds").arg(&pool).current_dir(dir.path());
        command.output().expect("it starts")
    };
    let none = slurm();
    assert_eq!(none.status.code(), Some(2));
    assert!(text(&none.stderr).contains("add NODE.toml"), "{}", text(&none.stderr));
    fs::write(pool.join("node1.toml"), TESTBED).expect("written");
    fs::write(pool.join("node2.toml"), TESTBED.replace("linux", "linus")).expect("written");
    let wrong = slurm();
    assert!(text(&wrong.stderr).contains("node2.toml:5"), "{}", text(&wrong.stderr));
    fs::write(pool.join("node2.toml"), TESTBED).expect("written");
    let script = slurm();
    assert!(script.status.success(), "{}", text(&script.stderr));
    let script = text(&script.stdout);
    for option in ["--gres=testbed:1", "--exclusive", "--requeue", "--open-mode=append"] {
        assert!(script.contains(&format!("#SBATCH {option}\n")), "{script}");
    }
    // Run as Slurm would on a node without a testbed, and on one with.
    let run = |node: &str| {
        let file = dir.path().join("job.sh");
        fs::write(&file, script.replace("exec ", "echo ")).expect("written");
        let mut command = Command::new("sh");
        command.arg(&file).env("SLURMD_NODENAME", node).stdin(Stdio::null());
        command.output().expect("it starts")
    };
    assert_eq!(run("node3").status.code(), Some(2));
    let said = text(&run("node1").stdout);
    assert!(
        said.contains("pool's/node1.toml") && said.contains("results/question-node1"),
        "{said}"
    );
}

#[test]
fn results_of_two_testbeds_are_merged_and_never_pooled() {
    let Some(rig) = Rig::up("merge", &[]) else { return };
    let experiment = EXPERIMENT.replace("blocks = 1", "blocks = 3");
    rig.assert_finished(&rig.run(&experiment));
    let [first, second] = ["first", "second"].map(|name| rig.dir().join(name));
    fs::rename(rig.results(), &first).expect("renamed");
    let merge = |others: &[&std::path::Path]| {
        let mut command = rig.fwdlab();
        command.arg("merge").arg(&first).args(others).arg("-o").arg(rig.dir().join("merged"));
        command.output().expect("it starts")
    };
    fs::create_dir(&second).expect("made");
    for name in ["trials.jsonl", "experiment.toml", "environment.json"] {
        fs::copy(first.join(name), second.join(name)).expect("copied");
    }
    let twice = text(&merge(&[&second]).stderr);
    assert!(twice.contains("rig is there twice"), "{twice}");
    fs::remove_dir_all(&second).expect("removed");
    rig.edit("testbed.toml", "name = \"rig\"", "name = \"twin\"");
    rig.assert_finished(&rig.run(&experiment));
    fs::rename(rig.results(), &second).expect("renamed");
    let merged = merge(&[&second]);
    let said = text(&merged.stdout);
    assert!(merged.status.success(), "{}", text(&merged.stderr));
    assert!(said.contains("inet, strict: ") && said.contains("2 testbeds"), "{said}");
    assert!(said.contains("rig  ") && said.contains("twin"), "{said}");
    assert!(rig.dir().join("merged/README.md").exists());
}
