//! What helps must help: each remedy below was wrong, or there was none.

use std::fs;
use std::net::IpAddr;
use std::path::Path;

use crate::elsewhere;
use crate::problem::Complaint;
use crate::{Abilities, Anything, Experiment, Problems, Schema, network_length};

/// An experiment with these keys at its top, in its second variant and in its traffic.
fn text(top: &str, variant: &str, traffic: &str) -> String {
    format!(
        "title = \"t\"\nbaseline = \"a\"\n{top}\n[[variant]]\nname = \"a\"\n[[variant]]\n{variant}\n\
         [[traffic]]\nname = \"inet\"\nsource = \"198.18.0.1-198.18.0.9:7\"\n\
         destination = \"198.19.0.1-198.19.0.9:7\"\n{traffic}\n\
         [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.2\"]\n"
    )
}

fn problems(text: &str) -> Problems {
    Experiment::parse(Path::new("lab/x.toml"), text, &[&Anything]).unwrap_err()
}

/// The remedies, in the order of the file.
fn remedies(top: &str, variant: &str, traffic: &str) -> Vec<String> {
    let found = problems(&text(top, variant, traffic));
    found.list.into_iter().map(|problem| problem.remedy).collect()
}

const B: &str = "name = \"b\"";

/// `cap = "40"` was told to be "3 or more", and 12 blocks to be 8.
#[test]
fn a_number_in_quotes_loses_them() {
    let own = |top: &str| remedies(top, B, "");
    assert_eq!(own("blocks = \"12\""), ["write it without quotes: blocks = 12"]);
    let capped = "blocks = \"until-decided\"\ncap = \"40\"";
    assert_eq!(own(capped), ["write it without quotes: cap = 40"]);
    assert_eq!(own("seed = \"7\""), ["write it without quotes: seed = 7"]);
    // Without them it does not fit either.
    assert_eq!(own("blocks = \"until-decided\"\ncap = \"1\""), ["write cap = 3 or more"]);
    assert_eq!(own("blocks = \"0\""), ["write blocks = 8"]);
}

/// Another check than the one that was written was to be allowed.
#[test]
fn one_text_in_the_place_of_a_list_is_its_only_element() {
    assert_eq!(remedies("allow = \"no-route\"", B, ""), ["write it as [\"no-route\"]"]);
    assert_eq!(remedies("allow = 3", B, ""), ["write it as [\"saturation\"]"]);
}

/// "Remove cap" stood below a key that was only written wrong.
#[test]
fn a_key_that_is_misspelt_leaves_those_beside_it_alone() {
    let own = remedies("block = \"until-decided\"\ncap = 40", B, "");
    assert_eq!(own, ["did you mean blocks?"]);
}

/// "It has none" was said of the sessions of a kind that was only written wrong, and its keys were to be removed.
#[test]
fn a_kind_that_is_misspelt_is_told_once() {
    for (measure, traffic, meant) in [
        ("lookup", "kind = \"session\"", "sessions"),
        ("insertion", "kind = \"Sessions\"\nlifetime = 4", "sessions"),
        ("goodput", "kind = \"TCP\"\ncongestion = \"reno\"", "tcp"),
    ] {
        let top = format!("measure = \"{measure}\"");
        let own = remedies(&top, B, traffic);
        assert_eq!(own, [format!("did you mean \"{meant}\"?")], "{traffic}");
    }
}

/// "1 addresses or more" were wanted of nine, for three ports.
#[test]
fn an_odd_number_of_ports_is_said_once() {
    assert_eq!(remedies("", B, "ports = 3"), ["write ports = 4"]);
}

#[test]
fn the_baseline_that_is_missing_is_the_first_variant() {
    let text = text("", B, "").replace("baseline = \"a\"\n", "");
    assert_eq!(problems(&text).list[0].remedy, "add baseline = \"a\"");
}

#[test]
fn a_file_without_a_key_is_told_how_to_begin() {
    for text in ["", "\n", "# a comment\n"] {
        let found = problems(text);
        assert_eq!(found.list.len(), 1, "{found}");
        assert!(found.to_string().contains("`fwdlab init FILE` writes an experiment"), "{found}");
    }
}

/// A name of a million letters was printed with all of them.
#[test]
fn a_value_that_nobody_reads_is_cut() {
    let found = problems(&text("", &format!("name = \"{}\"", "x".repeat(1_000_000)), ""));
    let said = found.to_string();
    assert!(said.len() < 1_000 && said.contains("xxx…xxx"), "{}", said.len());
    assert!(said.contains("is no name"), "{said}");
}

/// A file of one or two letters was named without line and key.
#[test]
fn a_file_of_routes_is_located_however_short_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.toml");
    for (file, why) in [("ab", "cannot open"), (".", "name a file instead of a directory")] {
        let with = format!("[routes]\nfile = \"{file}\"");
        fs::write(&path, text("", B, "").replace("[routes]", &with)).unwrap();
        let error = Experiment::read(&path, &[&Anything]).unwrap_err().to_string();
        let line = text("", B, "").lines().count();
        assert!(error.contains(&format!("x.toml:{line}: [routes] file: ")), "{error}");
        assert!(error.contains(why), "{error}");
    }
}

/// A file of a variant was named without line and key where another text stood before it on its line.
#[test]
fn a_file_of_a_variant_is_located_wherever_it_stands_on_its_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.toml");
    // Longer than any file of rules may be, and empty.
    fs::File::create(dir.path().join("rules.nft")).unwrap().set_len(1 << 40).unwrap();
    for (set, line) in [
        ("set = { \"word\" = \"text\", file = \"rules.nft\" }", 8),
        ("[variant.set]\nfile = \"rules.nft\"", 9),
    ] {
        let text = text("device = \"files\"", &format!("{B}\n{set}"), "");
        fs::write(&path, text).unwrap();
        let error = Experiment::read(&path, &[&Files]).unwrap_err().to_string();
        assert!(error.contains(&format!("x.toml:{line}: file: ")), "{error}");
    }
}

/// A device whose variants name files.
#[derive(Debug)]
struct Files;

impl Schema for Files {
    fn name(&self) -> &'static str {
        "files"
    }

    fn abilities(&self) -> Abilities {
        Abilities::ALL
    }

    fn check_word(&self, _: &str) -> Result<(), Complaint> {
        Ok(())
    }

    fn check_value(&self, _: &str, _: &str) -> Result<(), Complaint> {
        Ok(())
    }

    fn names_file(&self, word: &str, value: &str) -> Option<std::path::PathBuf> {
        (word == "file").then(|| value.into())
    }
}

/// A device whose ports have their addresses beside the gateways.
#[derive(Debug)]
struct Beside;

impl Schema for Beside {
    fn name(&self) -> &'static str {
        "beside"
    }

    fn abilities(&self) -> Abilities {
        Abilities::ALL
    }

    fn check_word(&self, word: &str) -> Result<(), Complaint> {
        let wrong = || Complaint::new("no such word", "gro", "remove it");
        (word == "gro").then_some(()).ok_or_else(wrong)
    }

    fn check_value(&self, _: &str, _: &str) -> Result<(), Complaint> {
        Ok(())
    }

    fn network_length(&self, gateway: IpAddr) -> Option<u8> {
        Some(network_length(gateway))
    }
}

/// Each trial FAILED: "counters disagree", "look for other programs".
#[test]
fn destinations_beside_a_gateway_are_told_to_lie_behind_it() {
    let said = |traffic: &str, routes: &str| {
        let text = text("device = \"beside\"", B, traffic);
        let text = text.replace("\"198.19.0.0/16 via 198.19.0.2\"", routes);
        match Experiment::parse(Path::new("lab/x.toml"), &text, &[&Beside]) {
            Ok(_) => String::new(),
            Err(problems) => problems.to_string(),
        }
    };
    let found = said("", "\"198.19.0.0/16 via 198.19.0.2\"");
    assert!(found.contains("x.toml:11:15: traffic[1].destination: 198.19.0.1 lies in"), "{found}");
    assert!(found.contains("198.19.0.0/24, the network of gateway 198.19.0.2"), "{found}");
    assert!(found.contains("take destinations outside of 198.19.0.0/24"), "{found}");
    assert_eq!(found.matches("x.toml").count(), 1, "{found}");
    // "Cannot add route" was said of it, at the line of each variant.
    let found = said("", "\"198.19.0.0/16 via 198.19.1.255\"");
    assert!(found.contains(": routes.static[1]: 198.19.1.255 is no host's"), "{found}");
    assert_eq!(found.matches("x.toml").count(), 1, "{found}");
    // Longer routes lead out of it, and gateways answer.
    assert_eq!(said("", "\"198.19.0.0/28 via 198.19.0.200\""), "");
    assert_eq!(said("", "\"198.19.0.0/16 via 198.19.1.2\""), "");
    let back = "\"198.19.0.0/16 via 198.19.1.2\", \"198.18.0.0/16 via 198.18.0.2\"";
    assert_eq!(said("", back), "");
    let found = said("direction = \"both\"", back);
    assert!(found.contains("traffic[1].source: 198.18.0.1 lies in 198.18.0.0/24"), "{found}");
}

/// "Remove it", and of a duration in a traffic "did you mean direction?".
#[test]
fn keys_in_the_wrong_table_are_told_where_they_belong() {
    let above = "it belongs at the top of the file, above the first table: move it there";
    assert_eq!(remedies("", B, "duration = \"2s\""), [above]);
    assert_eq!(remedies("", B, "measure = \"ndr\""), [above]);
    assert_eq!(remedies("load = \"1Gbps\"", B, ""), ["it belongs in [[traffic]]: move it there"]);
    assert_eq!(remedies("soak = \"8h\"", B, ""), ["it belongs in [benchmarks]: move it there"]);
    assert_eq!(remedies("runs = 10", B, ""), ["did you mean blocks?"]);
    assert_eq!(remedies("", B, "rate = \"1Gbps\""), ["did you mean load?"]);
}

/// Written below the last table, as it was told, it was a key of that table.
#[test]
fn what_is_to_be_allowed_stands_where_its_remedy_says() {
    let missing = text("", B, "").replace("198.19.0.0/16", "198.20.0.0/16");
    let remedy = problems(&missing).list[0].remedy.clone();
    let (_, told) = remedy.split_once("if drops are wanted write ").expect("what to write");
    let (line, place) = told.split_once(" at ").expect("and where");
    assert_eq!(place, "the top of the file, above the first table");
    let read = |text: &str| Experiment::parse(Path::new("x.toml"), text, &[&Anything]);
    assert!(read(&format!("{line}\n{missing}")).is_ok(), "{remedy}");
    assert!(read(&format!("{missing}{line}\n")).is_err(), "it belongs to [routes] there");
}

/// Each table takes the keys that are said to be at home there.
#[test]
fn keys_are_at_home_where_they_are_said_to_be() {
    for (table, _, keys) in elsewhere::TABLES {
        let wrong = "nothing_like_it = 1";
        let file = match table {
            "" => text(wrong, B, ""),
            "traffic" => text("", B, wrong),
            "routes" => text("", B, "").replace("[routes]", &format!("[routes]\n{wrong}")),
            "benchmarks" => text("measure = \"soak\"", B, "") + "[benchmarks]\n" + wrong,
            // Any device takes all keys of a variant.
            _ => continue,
        };
        let found = problems(&file);
        assert_eq!(found.list.len(), 1, "{found}");
        for key in keys {
            let known: Vec<&str> = found.list[0].wanted.split([' ', ',']).collect();
            assert!(known.contains(key), "{table} {key}: {known:?}");
        }
    }
}

/// "Remove it" stood beside a word in a variant, and "did you mean set?" where it has dots.
#[test]
fn control_words_outside_of_set_are_told_to_stand_in_it() {
    let said = |key: &str| {
        let text = text("device = \"beside\"", &format!("{B}\n{key}"), "");
        let found = Experiment::parse(Path::new("lab/x.toml"), &text, &[&Beside]).unwrap_err();
        found.list[0].remedy.clone()
    };
    assert_eq!(said("gro = \"off\""), "write it as set = { \"gro\" = VALUE }");
    let dots = "words with dots stand in quotes: set = { \"net. ...\" = VALUE }";
    assert_eq!(said("net.ipv4.ip_forward = 0"), dots);
}

#[test]
fn what_has_another_name_here_is_understood() {
    assert_eq!(remedies("seed = 1.5", B, ""), ["write seed = 1"]);
    assert_eq!(remedies("seed = -1", B, ""), ["write seed = 0 or more"]);
    let of = |measure: &str| remedies(&format!("measure = \"{measure}\""), B, "");
    assert_eq!(of("rate,ndr"), ["write measure = [\"rate\", \"ndr\"]"]);
    assert_eq!(of("loss"), ["did you mean \"loss-curve\"?"]);
    assert_eq!(of("jitter"), ["write latency = true: it is measured beside a rate"]);
    assert_eq!(of("cost"), ["remove it: the device's cost is measured beside every rate"]);
    assert_eq!(remedies("", B, "load = \"10G\""), ["did you mean \"10Gbps\"?"]);
    let mix = "write a mix such as \"64:1,1518:1\", or a [[traffic]] for each length";
    assert_eq!(remedies("", B, "frame = [\"64\", \"1518\"]"), [mix]);
}

/// One setting in two spellings was two settings, of which each variant had one.
#[test]
fn a_setting_has_one_spelling_in_all_variants() {
    let first = "name = \"b\"\nset = { \"net.ipv4.ip_forward\" = 1 }\n[[variant]]\nname = \"c\"\n";
    let with = |word: &str| text("", &format!("{first}set = {{ \"{word}\" = 0 }}"), "");
    let found = problems(&with("net/ipv4/ip_forward")).to_string();
    assert!(found.contains("x.toml:11:9: variant[3].set.\"net/ipv4/ip_forward\": "), "{found}");
    assert!(found.contains("write \"net.ipv4.ip_forward\""), "{found}");
    for other in ["net.ipv4.ip_forward", "net.ipv4.conf.eth0/1.rp_filter"] {
        assert!(
            Experiment::parse(Path::new("x.toml"), &with(other), &[&Anything]).is_ok(),
            "{other}"
        );
    }
    let twice = "name = \"b\"\n\
                 set = { \"net.ipv4.conf.eth0/1.x\" = 1, \"net/ipv4/conf/eth0.1/x\" = 1 }";
    assert!(problems(&text("", twice, "")).to_string().contains("in another spelling"));
    let ran = Experiment::recorded(Path::new("x.toml"), &with("net/ipv4/ip_forward"));
    assert!(ran.is_ok(), "what has run stays readable");
}

/// Each of two measures that shared a traffic told its mistake again.
#[test]
fn a_mistake_in_a_traffic_of_two_measures_is_told_once() {
    let top = "measure = [\"throughput\", \"back-to-back\"]";
    let own = text(top, B, "").replace("198.19.0.1-198.19.0.9", "192.0.2.1");
    let found = Experiment::of_text(Path::new("lab/x.toml"), &own, &[&Anything]).unwrap_err();
    let said = found.to_string();
    assert_eq!(said.matches("192.0.2.1").count(), 1, "{said}");
}
