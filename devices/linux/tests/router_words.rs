//! Every control word of the router, set and read back on each device that runs it.

// a test says on stderr what it skips
#![allow(clippy::print_stderr)]
// a test may end with a panic wherever it stands
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fwdlab_builtin::Builtin;
use fwdlab_device::{Kind, Place, Request, Watch};
use fwdlab_experiment::Experiment;
use fwdlab_linux::{BUILTIN_VETH, LINUX};
use fwdlab_router::{Router, check_word, settable_words};

/// Each word with a value that it takes and does not have by itself.
fn words() -> BTreeMap<&'static str, &'static str> {
    let router = Router::new().unwrap();
    let other = |word: &'static str| {
        let usual = router.get(word).unwrap();
        let values = match word {
            "net.route.algo.inet.algo" => ["radix4", "bsearch4"],
            "net.route.algo.inet6.algo" => ["radix6", "lookup6"],
            _ => ["1", "0"],
        };
        let fits = |value: &&str| *value != usual && check_word(word, value).is_ok();
        let value = values.into_iter().find(fits);
        (word, value.unwrap_or_else(|| panic!("{word}: a value other than {usual}")))
    };
    settable_words().into_iter().map(other).collect()
}

fn are_all_read_back(device: &dyn Kind, more: &str) {
    let words = words();
    let set: Vec<String> =
        words.iter().map(|(word, value)| format!("{word:?} = {value:?}")).collect();
    let text = format!(
        "title = \"t\"\ndevice = \"{}\"\nbaseline = \"a\"\nduration = \"100ms\"\nwarmup = \"0ms\"\n\
         interval = \"20ms\"\n[[variant]]\nname = \"a\"\nset = {{ {}{more} }}\n\
         [[variant]]\nname = \"b\"\n[[traffic]]\nname = \"inet\"\nsource = \"198.18.10.1:7\"\n\
         destination = \"198.19.10.1-198.19.10.9:7\"\nload = \"20kpps\"\n\
         [routes]\nstatic = [\"198.18.0.0/16 via 198.18.0.203\", \"198.19.0.0/16 via 198.19.0.203\"]\n",
        device.name(),
        set.join(", "),
    );
    let experiment = Experiment::of_text(Path::new("t.toml"), &text, &[device]).unwrap();
    let experiment = Arc::new(experiment);
    let mut opened = match device.open(&experiment, &Place::default()) {
        Ok(opened) => opened,
        Err(error) => {
            eprintln!("SKIPPED the router's words on {}: {error}", device.name());
            return;
        }
    };
    let stop = AtomicBool::new(false);
    let mut watch = Watch { on_interval: &mut |_| {}, stop: &stop };
    let variant = &experiment.variants[0];
    let mut proof = opened.apply(variant, &mut watch).unwrap();
    let request = Request { experiment: &experiment, variant, traffic: &experiment.traffics[0] };
    let measured = opened.measure(&request, &mut watch).unwrap();
    proof.extend(measured.proof);
    drop(opened);
    device.tidy();
    for (word, value) in words {
        let found = proof.get(word).map(String::as_str);
        assert_eq!(found, Some(value), "{} {word}", device.name());
    }
}

#[test]
fn on_memory_rings() {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        eprintln!("SKIPPED the router's words on builtin: needs two cores");
        return;
    }
    are_all_read_back(&Builtin, "");
}

#[test]
fn on_veth_pairs() {
    are_all_read_back(&BUILTIN_VETH, "");
    are_all_read_back(&LINUX, ", router = \"fwdlab\"");
}
