//! A pool under a real Slurm of two nodes on this machine, each with a testbed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use fwdlab_results::Results;
use tempfile::TempDir;

use crate::rig::{EXPERIMENT, PATIENCE, Rig, is_long, text};

/// A pool; it is taken away when dropped.
struct Pool {
    dir: TempDir,
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/slurm-rig.sh")
}

impl Pool {
    fn up(name: &str) -> Option<Self> {
        let dir = tempfile::Builder::new().prefix("fwpool").tempdir().expect("a directory");
        let pool = Self { dir };
        let made = pool.rig("up", &[]);
        if let Err(said) = made {
            assert!(said.contains("apt-get install"), "{said}");
            eprintln!("SKIPPED {name}: {}", said.trim());
            return None;
        }
        Some(pool)
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn rig(&self, what: &str, arguments: &[&str]) -> Result<String, String> {
        let output = Command::new(script()).arg(what).arg(self.path()).args(arguments).output();
        let output = output.expect("the script starts");
        match output.status.success() {
            true => Ok(text(&output.stdout).trim().to_owned()),
            false => Err(text(&output.stderr)),
        }
    }

    /// What a command of Slurm prints.
    fn ask(&self, command: &str) -> String {
        let words: Vec<&str> = command.split_whitespace().collect();
        self.rig("run", &words).unwrap_or_else(|said| panic!("{command}: {said}"))
    }

    /// Submits the job, and says its number.
    fn submit(&self, options: &str) -> String {
        let dir = self.path().display();
        self.ask(&format!("sbatch --parsable {options} --output={dir}/job.log {dir}/job.sh"))
    }

    fn wait(&self, command: &str, is_reached: impl Fn(&str) -> bool) {
        self.until(command, || {
            let said = self.ask(command);
            is_reached(&said).then_some(()).ok_or(said)
        });
    }

    fn until(&self, what: &str, is_reached: impl Fn() -> Result<(), String>) {
        let start = Instant::now();
        while let Err(state) = is_reached() {
            let log = fs::read_to_string(self.path().join("job.log")).unwrap_or_default();
            assert!(start.elapsed() < PATIENCE, "{what}: {state}\n{log}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// The results of a node.
    fn results(&self, node: &str) -> PathBuf {
        self.path().join(format!("results/question-{node}"))
    }

    /// Waits until a node has measured a trial and is in the next one.
    fn wait_for_trials(&self, node: &str, count: usize) {
        self.until(&format!("{count} trials of {node}"), || {
            let journal = self.journal(node);
            let trials = journal.matches("\"record\":\"trial\"").count();
            if trials >= count { Ok(()) } else { Err(journal) }
        });
    }

    fn journal(&self, node: &str) -> String {
        fs::read_to_string(self.results(node).join("trials.jsonl")).unwrap_or_default()
    }

    /// Waits until a job has ended.
    fn wait_for_end(&self, job: &str, state: &str) {
        self.wait(&format!("scontrol show job {job}"), |said| {
            said.contains(&format!("JobState={state}"))
        });
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let _ = self.rig("down", &[]);
    }
}

/// A rig that a job of a node reaches, whichever namespace it runs in.
fn testbed(name: &str, node: &str, pool: &Path) -> Option<Rig> {
    let rig = Rig::up(name, &[])?;
    let netns = fs::read_to_string(rig.dir().join("name")).expect("a name");
    let connect = "exec 3<>/dev/tcp/%h/%p; cat <&0 >&3 & exec cat <&3";
    let proxy = format!(
        "Host *\n  ProxyCommand nsenter --net=/run/netns/{}-ctl bash -c '{connect}'\n",
        netns.trim()
    );
    rig.append("ssh_config", &proxy);
    let place = |file: &str| format!("{:?}", rig.dir().join(file));
    for file in ["known_hosts", "ssh_config"] {
        rig.edit("testbed.toml", &format!("\"{file}\""), &place(file));
    }
    rig.edit("testbed.toml", "name = \"rig\"", &format!("name = \"bench-{node}\""));
    let text = fs::read_to_string(rig.dir().join("testbed.toml")).expect("readable");
    fs::write(pool.join(format!("{node}.toml")), text).expect("writable");
    Some(rig)
}

#[test]
fn a_campaign_outlives_the_death_of_its_node_and_of_its_slurmd() {
    let name = "a Slurm pool";
    if !is_long(name) {
        return;
    }
    let testbeds = tempfile::tempdir().expect("a directory");
    let Some(_first) = testbed(name, "node1", testbeds.path()) else { return };
    let Some(_second) = testbed(name, "node2", testbeds.path()) else { return };
    let Some(pool) = Pool::up(name) else { return };
    let experiment = pool.path().join("question.toml");
    let question = EXPERIMENT.replace("blocks = 1", "blocks = 2");
    fs::write(&experiment, &question).expect("written");
    let fwdlab = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fwdlab"));
        let output = command.args(arguments).current_dir(pool.path()).output().expect("it starts");
        assert!(output.status.success(), "{}", text(&output.stderr));
        output.stdout
    };
    let dir = testbeds.path().to_str().expect("a path");
    fs::write(pool.path().join("job.sh"), fwdlab(&["slurm", "question.toml", "--testbeds", dir]))
        .expect("written");

    // The node dies in the middle, which Slurm finds out by itself: its job goes to the other one, whose results are its own.
    let job = pool.submit("");
    pool.wait_for_trials("node1", 1);
    pool.rig("die", &["node1"]).expect("it dies");
    let left = pool.journal("node1");
    pool.wait(&format!("squeue -h -j {job} -o %T"), |state| state == "PENDING");
    pool.ask(&format!("scontrol update JobId={job} StartTime=now"));
    pool.wait_for_end(&job, "COMPLETED");
    assert_eq!(pool.journal("node1"), left, "only its own node goes on with it");
    let other = Results::read(&pool.results("node2")).expect("readable");
    assert!(other.finished.is_some());

    // Back again, the node goes on with what it has; a dead slurmd does not disturb it.
    pool.rig("start", &["node1"]).expect("it starts");
    pool.wait("sinfo -h -n node1 -o %T", |state| state == "idle");
    let job = pool.submit("--nodelist=node1");
    pool.wait_for_trials("node1", 2);
    pool.rig("kill", &["node1"]).expect("it dies");
    pool.until("the end of the campaign", || {
        let journal = pool.journal("node1");
        if journal.contains("\"record\":\"finished\"") { Ok(()) } else { Err(journal) }
    });
    assert!(pool.journal("node1").starts_with(&left), "nothing is written anew");
    pool.rig("start", &["node1"]).expect("it starts");
    pool.wait_for_end(&job, "COMPLETED");
    let results = Results::read(&pool.results("node1")).expect("readable");
    let mut ids: Vec<&str> = results.trials.iter().map(|trial| trial.id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!((ids.len(), results.trials.len()), (4, 4));
    let names = [&results, &other].map(|r| r.campaign.testbed.as_ref().map(|t| t.name.as_str()));
    assert_eq!(names, [Some("bench-node1"), Some("bench-node2")]);

    // As when Slurm gave up a node whose job ran on: there is nothing left to do.
    let job = pool.submit("--nodelist=node1 --export=ALL,SLURM_RESTART_COUNT=1");
    pool.wait_for_end(&job, "COMPLETED");

    let said =
        fwdlab(&["merge", "results/question-node1", "results/question-node2", "-o", "merged"]);
    let said = text(&said);
    assert!(said.contains("2 testbeds") && said.contains("bench-node2"), "{said}");

    // The script that is shipped: one experiment on every testbed, then one page.
    let shipped = script().with_file_name("slurm-pool.sh");
    let program = Path::new(env!("CARGO_BIN_EXE_fwdlab")).parent().expect("in a directory");
    let path = std::env::var("PATH").expect("a search path");
    let path = format!("PATH={}:{path}", program.display());
    let whole = pool.path().join("whole");
    let [shipped, experiment, whole] =
        [&shipped, &experiment, &whole].map(|path| path.to_str().expect("a path"));
    let said = pool
        .rig("run", &["env", &path, "sh", shipped, experiment, dir, whole])
        .unwrap_or_else(|said| panic!("{said}"));
    assert!(said.contains("2 testbeds") && said.contains("bench-node1"), "{said}");
    let page = fs::read_to_string(pool.path().join("whole/question/README.md")).expect("a page");
    assert!(page.contains("bench-node1") && page.contains("bench-node2"), "{page}");
}
