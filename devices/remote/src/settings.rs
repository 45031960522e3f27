//! What a variant says about a real machine, beside what it sets.

use std::path::{Path, PathBuf};

use fwdlab_experiment::fields::{Found, Section, nearest, reread, shown};
use fwdlab_experiment::problem::{Complaint, Complaints};
use fwdlab_experiment::{Experiment, Variant};

/// What a variant wants of the device under test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemoteVariant {
    /// A directory whose files are copied onto `/`; a relative path starts at the experiment file.
    pub configuration: Option<PathBuf>,
    /// What the testbed's image hook is told.
    pub image: Option<String>,
    /// The kernel that must run: a part of what `uname -r` says.
    pub kernel: Option<String>,
    /// Commands that are run when all else is set.
    pub apply: Vec<String>,
    /// Commands and what they must print.
    pub expect: Vec<Expect>,
    /// When the device boots anew; `None` is what suits the experiment.
    pub reboot: Option<Reboot>,
}

/// A command and what it must print.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expect {
    /// The command.
    pub run: String,
    /// Its output, without spaces around it.
    pub is: String,
}

/// When the device boots anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reboot {
    /// Never.
    Never,
    /// When another variant was on it.
    Variant,
    /// Before every trial.
    Trial,
}

impl Reboot {
    const ALL: [Self; 3] = [Self::Never, Self::Variant, Self::Trial];

    const fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Variant => "variant",
            Self::Trial => "trial",
        }
    }
}

impl RemoteVariant {
    /// What a validated variant says.
    pub fn of(variant: &Variant) -> Self {
        reread(&variant.own, read_variant)
    }

    /// The directory of its configuration.
    pub fn directory(&self, experiment: &Path) -> Option<PathBuf> {
        let beside = experiment.parent().unwrap_or(Path::new(""));
        self.configuration.as_ref().map(|directory| beside.join(directory))
    }
}

/// When each variant of the experiment boots: before every trial where configuration, image or kernel
/// differ, never where they do not.
pub fn reboots(experiment: &Experiment) -> Vec<Reboot> {
    let all: Vec<RemoteVariant> = experiment.variants.iter().map(RemoteVariant::of).collect();
    let booted = |v: &RemoteVariant| (v.configuration.clone(), v.image.clone(), v.kernel.clone());
    let differ = all.windows(2).any(|two| booted(&two[0]) != booted(&two[1]));
    let usual = if differ { Reboot::Trial } else { Reboot::Never };
    all.iter().map(|variant| variant.reboot.unwrap_or(usual)).collect()
}

/// Checks the name of a control word: those of this device are the sysctls of the machine.
pub fn check_word(word: &str) -> Result<(), Complaint> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._/-%:".contains(c);
    let is_sysctl = word.contains(['.', '/']) && word.chars().all(is_plain) && !word.contains("..");
    is_sysctl.then_some(()).ok_or_else(|| {
        Complaint::new(
            "the remote device has no such control word",
            "a sysctl, such as net.ipv4.ip_forward",
            "look for it with `sysctl -a`; commands stand in apply = [...]",
        )
    })
}

/// Checks a value of a sysctl.
pub fn check_value(value: &str) -> Result<(), Complaint> {
    (!value.contains(['\n', '\0'])).then_some(()).ok_or_else(|| {
        Complaint::new("the value has more than one line", "one line", "write it in one line")
    })
}

/// Reads the keys of a variant.
pub fn read_variant(section: &mut Section<'_>, complaints: &mut Complaints<'_>) -> RemoteVariant {
    let mut text =
        |key, example| section.text(key, example, complaints).map(|f| f.value.to_owned());
    let configuration = text("configuration", "\"configs/radix\"").map(PathBuf::from);
    let image = text("image", "\"image.xz\"");
    let kernel = text("kernel", "\"6.12\"");
    let list = section.list("apply", "[\"ethtool -K eth1 gro off\"]", complaints);
    let commands =
        list.into_iter().filter_map(|found| found.into_text("\"a command\"", complaints));
    let apply = commands.map(|found| found.value.to_owned()).collect();
    let expect = read_expect(section, complaints);
    let reboot = section.text("reboot", "\"trial\"", complaints).and_then(|found| {
        let names = || Reboot::ALL.iter().map(|reboot| reboot.name());
        let known = Reboot::ALL.into_iter().find(|reboot| reboot.name() == found.value);
        let result = known.ok_or_else(|| {
            Complaint::new(
                format!("{:?} says not when", found.value),
                format!("one of {}", names().collect::<Vec<_>>().join(", ")),
                match nearest(found.value, names()) {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None => "write reboot = \"trial\"".to_owned(),
                },
            )
        });
        complaints.keep(&found.at, &found.field, result)
    });
    RemoteVariant { configuration, image, kernel, apply, expect, reboot }
}

fn read_expect(section: &mut Section<'_>, complaints: &mut Complaints<'_>) -> Vec<Expect> {
    const EXAMPLE: &str = "[{ run = \"sysctl -n net.route.algo.inet.algo\", is = \"radix4\" }]";
    let mut expected = Vec::new();
    for Found { field, at, value } in section.list("expect", EXAMPLE, complaints) {
        let Some(table) = value.as_table() else {
            let what = format!("{} is no expectation", shown(value));
            complaints.add(&at, &field, Complaint::new(what, EXAMPLE, "write it so"));
            continue;
        };
        let mut one = Section::new(field, at, table);
        let run = one.required_text("run", "\"sysctl -n NAME\"", complaints);
        let is = one.required_text("is", "\"radix4\"", complaints);
        one.finish(complaints);
        let both = run.zip(is);
        expected.extend(
            both.map(|(run, is)| Expect {
                run: run.value.to_owned(),
                is: is.value.trim().to_owned(),
            }),
        );
    }
    expected
}
