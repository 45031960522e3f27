use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::*;
use crate::Anything;

/// The shortest experiment, with more top-level keys in front.
fn minimal(keys: &str, traffic: &str, routes: &str) -> Result<Experiment, Problems> {
    let text = format!(
        "title = \"t\"\nbaseline = \"a\"\n{keys}\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
         [[traffic]]\nname = \"inet\"\nsource = \"198.18.0.1:7\"\ndestination = \"198.19.0.1:7\"\n{traffic}\n\
         [routes]\n{routes}\n"
    );
    Experiment::parse(Path::new("lab/minimal.toml"), &text, &[&Anything])
}

const ROUTE: &str = "static = [\"198.19.0.0/16 via 198.19.0.2\"]";

#[test]
fn defaults_are_those_of_the_documentation() {
    let experiment = minimal("", "", ROUTE).unwrap();
    assert_eq!(experiment.device, "anything");
    assert_eq!(experiment.blocks, Blocks::Fixed(8));
    assert_eq!(experiment.margin, 0.01);
    assert_eq!(experiment.seed, None);
    assert_eq!(experiment.duration.as_millis(), 1_000);
    assert_eq!(experiment.warmup.as_millis(), 100);
    assert_eq!(experiment.interval.as_millis(), 100);
    assert_eq!(experiment.traffics[0].load, Load::Max);
    assert_eq!(experiment.traffics[0].frame_bytes, 64);
}

#[test]
fn until_decided_takes_a_cap() {
    let blocks = |keys| minimal(keys, "", ROUTE).unwrap().blocks;
    assert_eq!(blocks("blocks = \"until-decided\""), Blocks::UntilDecided { cap: 40 });
    assert_eq!(blocks("blocks = \"until-decided\"\ncap = 9"), Blocks::UntilDecided { cap: 9 });
}

#[test]
fn a_line_rate_counts_preamble_and_gap() {
    let load =
        |load: &str| minimal("", &format!("load = \"{load}\""), ROUTE).unwrap().traffics[0].load;
    assert_eq!(load("1Gbps").frames_per_second(64.0).unwrap().floor(), 1_488_095.0);
    assert_eq!(load("1Gbps").frames_per_second(66.0).unwrap().floor(), 1_453_488.0);
    assert_eq!(load("500kpps"), Load::Pps(500_000.0));
    assert_eq!(load("1.5 Mpps"), Load::Pps(1_500_000.0));
    for text in ["max", "500kpps", "1.5Mpps", "10Gbps", "100Mbps", "7pps"] {
        assert_eq!(load(text).to_string(), text);
    }
}

#[test]
fn ports_and_orders_are_read() {
    let text = |port: &str| format!("198.18.0.1-198.18.0.4:{port}");
    let range = Endpoint::parse(&text("2000-2009")).unwrap();
    assert_eq!((range.count(), range.port(), range.last_port()), (40, 2_000, 2_009));
    assert_eq!(range.to_string(), text("2000-2009"));
    let traffic = minimal("", "order = \"zipf(1.2)\"", ROUTE).unwrap().traffics.remove(0);
    assert_eq!(traffic.order, fwdlab_traffic::Order::Zipf { exponent: 1.2 });
}

#[test]
fn a_default_route_reaches_every_destination() {
    let route = minimal("", "", "static = [\"0.0.0.0/0 via 198.19.0.2\"]").unwrap().routes.fixed[0];
    assert_eq!(route.port, 1);
}

#[test]
fn a_named_port_overrides_the_side_of_the_gateway() {
    let routes = "static = [\"198.19.0.0/16 via 198.18.0.2 port 1\", \"10.0.0.0/8 via 10.0.0.1\"]";
    let ports: Vec<u16> =
        minimal("", "", routes).unwrap().routes.fixed.iter().map(|r| r.port).collect();
    assert_eq!(ports, [1, 1]);
}

/// The key, and the line that is marked, of the only problem.
fn marked(result: Result<Experiment, Problems>) -> (String, String) {
    let problems = result.unwrap_err();
    let [only] = &problems.list[..] else { panic!("{problems}") };
    let marked = &problems.text[only.at.clone()];
    let line = problems.text.lines().nth(only.line - 1).unwrap();
    assert!(line.contains(marked), "{line}: {marked}");
    (only.field.clone(), marked.to_owned())
}

/// All of them pointed at the destinations, the first ones of a list.
#[test]
fn a_problem_of_routes_stands_at_the_addresses_or_the_route_that_is_meant() {
    let both = "direction = \"both\"";
    let (field, at) = marked(minimal("", both, ROUTE));
    assert_eq!((field.as_str(), at.as_str()), ("traffic[1].source", "\"198.18.0.1:7\""));
    let (field, at) = marked(minimal("", "", "static = [\"198.18.0.0/16 via 198.18.0.2\"]"));
    assert_eq!((field.as_str(), at.as_str()), ("traffic[1].destination", "\"198.19.0.1:7\""));
    let several = |second: &str| {
        format!("static = [\n  \"198.19.0.0/16 via 198.19.0.2\", # destinations\n  {second},\n]")
    };
    let astray = "\"198.18.0.0/16 via 198.18.0.2 port 1\"";
    let (field, at) = marked(minimal("", both, &several(astray)));
    assert_eq!((field.as_str(), at.as_str()), ("routes.static[2]", astray));
    let form = "\"198.18.0.0/16 by 198.18.0.2\"";
    let (field, at) = marked(minimal("", both, &several(form)));
    assert_eq!((field.as_str(), at.as_str()), ("routes.static[2]", form));
    // Of two families the one that lacks a route.
    let text = "title = \"t\"\nbaseline = \"a\"\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
                [[traffic]]\nname = \"dual\"\nsource = [\n\"198.18.0.1:7\",\n\"[2001:2::1]:7\"]\n\
                destination = [\n\"198.19.0.1:7\",\n\"[2001:2:0:8000::1]:7\"]\n\
                [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.2\"]\n";
    let (field, at) = marked(Experiment::parse(Path::new("dual.toml"), text, &[&Anything]));
    let wanted = ("traffic[1].destination[2]", "\"[2001:2:0:8000::1]:7\"");
    assert_eq!((field.as_str(), at.as_str()), wanted);
}

#[test]
fn drops_for_want_of_a_route_can_be_wanted() {
    assert!(minimal("", "", "").is_err());
    assert!(minimal("allow = [\"no-route\"]", "", "").is_ok());
}

#[test]
fn a_file_of_routes_is_found_beside_the_experiment() {
    let experiment = minimal("", "", "file = \"view.txt\"").unwrap();
    assert_eq!(experiment.routes_file(), Some(PathBuf::from("lab/view.txt")));
    let experiment = minimal("", "", "generate = 900000").unwrap();
    assert_eq!(experiment.routes.source, Some(RouteSource::Generate(900_000)));
}

#[test]
fn a_file_that_is_no_text_is_an_error_with_its_path() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.toml");
    fs::write(&path, b"title = \"\xff\"").unwrap();
    let text = Experiment::read(&path, &[&Anything]).unwrap_err().to_string();
    assert!(
        text.contains("x.toml") && text.contains("not UTF-8 text: byte 10 of line 1"),
        "{text}"
    );
    let missing = Experiment::read(&dir.path().join("none.toml"), &[&Anything]);
    assert!(matches!(missing, Err(Error::File(fwdlab_results::Error::Io { .. }))));
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,200}") {
        let _ = Experiment::parse(Path::new("x.toml"), &text, &[&Anything]);
    }

    #[test]
    fn no_damage_to_an_example_makes_the_reader_panic(
        start in 0usize..1_500, length in 0usize..20, put in "[\\[\\]{}=\",.:/0-9a-z\\-\n]{0,6}",
    ) {
        let text = include_str!("../../../examples/modular-fib.toml").replace("device = \"builtin\"", "");
        let text = text.as_str();
        let start = start.min(text.len());
        let end = (start + length).min(text.len());
        let damaged = format!("{}{put}{}", &text[..start], &text[end..]);
        if let Err(problems) = Experiment::parse(Path::new("x.toml"), &damaged, &[&Anything]) {
            prop_assert!(!problems.list.is_empty());
        }
    }

    #[test]
    fn endpoints_are_shown_as_they_are_read(first: u32, more in 0u32..1_000, port in 1u16..) {
        let last = first.saturating_add(more);
        let (first, last) = (std::net::Ipv4Addr::from_bits(first), std::net::Ipv4Addr::from_bits(last));
        if let Ok(endpoint) = Endpoint::parse(&format!("{first}-{last}:{port}")) {
            prop_assert_eq!(endpoint.count(), u64::from(last.to_bits() - first.to_bits()) + 1);
            prop_assert_eq!(Endpoint::parse(&endpoint.to_string()).unwrap(), endpoint);
        }
    }
}

/// The only problem of an experiment, in words.
fn problem(keys: &str, traffic: &str, routes: &str) -> String {
    minimal(keys, traffic, routes).unwrap_err().to_string()
}

#[test]
fn remedies_name_what_was_meant() {
    assert!(problem("measure = \"NDR\"", "", ROUTE).contains("did you mean \"ndr\"?"));
    assert!(problem("", "frame = \"IMIX\"", ROUTE).contains("did you mean \"imix\"?"));
    let half = problem("", "frame = \"64:7,594\"", ROUTE);
    assert!(half.contains("\"64:7,594\" is no frame length and no mix"), "{half}");
    assert!(half.contains("each part of a mix is LENGTH:COUNT"), "{half}");
    let twice = problem("blocks = 2\nblocks = 3", "", ROUTE);
    assert!(twice.contains("blocks: the key stands here a second time"), "{twice}");
}

#[test]
fn a_message_about_a_variant_points_at_its_line() {
    let text = "title = \"t\"\nbaseline = \"a\"\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
                set = { \"x.y\" = \"1\",\n  \"x.y.z\" = \"2\" }\n[[traffic]]\nname = \"inet\"\n\
                source = \"198.18.0.1:7\"\ndestination = \"198.19.0.1:7\"\n[routes]\n\
                static = [\"198.19.0.0/16 via 198.19.0.2\"]\n";
    let text = text.replace(",\n  \"x.y.z\"", ", \"x.y.z\"");
    let experiment = Experiment::parse(Path::new("x.toml"), &text, &[&Anything]).unwrap();
    assert_eq!(experiment.key_of("b", "cannot set x.y.z = 2").0, 7);
    assert_eq!(experiment.key_of("b", "cannot boot"), (6, None));
    assert_eq!(experiment.key_of("a", "cannot boot"), (4, None));
    assert_eq!(experiment.key_of("c", "cannot boot"), (1, None));
    let blame = experiment.blame("b", "cannot set x.y = 1");
    assert!(blame.starts_with("x.toml:7: variant \"b\" cannot be set up"), "{blame}");
    // A message that names no key, but what stands behind one.
    let text = text.replace("\"x.y\" = \"1\"", "\"x.y\" = \"my.o\"");
    let experiment = Experiment::parse(Path::new("x.toml"), &text, &[&Anything]).unwrap();
    let blame = experiment.blame("b", "cannot load /d/my.o: it is empty");
    assert!(blame.starts_with("x.toml:7: ") && blame.contains(": x.y: cannot load"), "{blame}");
}

/// That of a variant was told.
#[test]
fn a_message_about_a_traffic_points_at_its_key() {
    let of = |name: &str, load: &str| {
        format!(
            "[[traffic]]\nname = \"{name}\"\nsource = \"198.18.0.1:7\"\ndestination = \"198.19.0.1:7\"\n{load}\n"
        )
    };
    let text = format!(
        "title = \"t\"\nbaseline = \"a\"\nmeasure = [\"rate\", \"ndr\"]\n[[variant]]\nname = \"a\"\n[[variant]]\n\
         name = \"b\"\n{}{}[routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.2\"]\n",
        of("one", ""),
        of("one-more", "load = \"max\"")
    );
    let experiment = Experiment::parse(Path::new("x.toml"), &text, &[&Anything]).unwrap();
    let last = &experiment.traffics.last().expect("there are some").name;
    let said = experiment.blame_traffic(last, "load", "no");
    assert_eq!(
        said,
        format!("x.toml:17: traffic {last:?} cannot be sent, and nothing was measured: load: no")
    );
    let first = &experiment.traffics[0].name;
    let said = experiment.blame_traffic(first, "load", "no");
    assert!(said.starts_with("x.toml:9: traffic"), "the line of its name: {said}");
}

/// The line of `kernel` in the device's table was told of a module in the list of a variant.
#[test]
fn a_message_about_one_of_a_list_points_at_the_list() {
    let said = |of_device: &str, of_variant: &str, message: &str| {
        let text = format!(
            "title = \"t\"\nbaseline = \"a\"\n[anything]\nkernel = \"/k/6.1\"\n{of_device}\n[[variant]]\n\
             name = \"a\"\n[[variant]]\nname = \"b\"\nkernel = \"/k/6.2\"\n{of_variant}\n"
        );
        let tables = "[[traffic]]\nname = \"t\"\nsource = \"198.18.0.1:7\"\ndestination = \"198.19.0.1:7\"\n\
                      [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.2\"]\n";
        let read = Experiment::recorded(Path::new("x.toml"), &(text + tables));
        read.unwrap_or_else(|why| panic!("{why}")).key_of("b", message)
    };
    let (list, load) = ("load = [\"other\", \"foo\"]", Some("load".to_owned()));
    let message = "the kernel has no module foo: /k/6.2 holds none of that name";
    assert_eq!(said("", list, message), (11, load.clone()));
    assert_eq!(said(list, "", message), (5, load));
    // Part of another word is none.
    let other = "the kernel has no module foo_bar: /k/6.2 holds none of that name";
    assert_eq!(said("", list, other), (10, Some("kernel".to_owned())));
}

#[test]
fn a_title_says_something() {
    let text = "title = \" \"\nbaseline = \"a\"\n[[variant]]\nname = \"a\"\n";
    let problems = Experiment::parse(Path::new("x.toml"), text, &[&Anything]).unwrap_err();
    assert!(problems.to_string().contains("x.toml:1:9: title: the title is empty"), "{problems}");
}

#[test]
fn a_file_that_is_not_there_is_named_with_the_line_that_names_it() {
    let text = "title = \"t\"\nbaseline = \"a\"\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
                [[traffic]]\nname = \"inet\"\nsource = \"198.18.0.1:7\"\n\
                destination = \"198.19.0.1:7\"\n[routes]\nfile = \"no-such.txt\"\n";
    let error = Experiment::of_text(Path::new("/nowhere/x.toml"), text, &[&Anything]).unwrap_err();
    let message = error.to_string();
    assert!(message.starts_with("/nowhere/x.toml:12: [routes] file: cannot "), "{message}");
    assert!(message.contains("/nowhere/no-such.txt") && message.contains("; check"), "{message}");
}

#[test]
fn words_of_others_are_those_that_a_variant_leaves_alone() {
    let text = "title = \"t\"\nbaseline = \"a\"\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
                set = { \"x.y\" = 1, \"x.z\" = 2 }\n[[variant]]\nname = \"c\"\nset = { \"x.y\" = 3, w = 4 }\n\
                [[traffic]]\nname = \"inet\"\nsource = \"198.18.0.1:7\"\ndestination = \"198.19.0.1:7\"\n\
                [routes]\nstatic = [\"198.19.0.0/16 via 198.19.0.2\"]\n";
    let experiment = Experiment::parse(Path::new("x.toml"), text, &[&Anything]).unwrap();
    let words = |at: usize| {
        let words = experiment.words_of_others(&experiment.variants[at]);
        words.into_iter().collect::<Vec<_>>()
    };
    assert_eq!((words(0), words(1), words(2)), (vec!["w", "x.y", "x.z"], vec!["w"], vec!["x.z"]));
}

/// Positions are numbers for editors, and a picture for people.
#[test]
fn a_problem_is_shown_where_it_is_and_commands_no_terminal() {
    let text =
        "title = \"x\"\nnonsense = \"\u{202e}\u{9b}\" # \u{200f}\nblocks = \"nothing\" # \u{e4}\n";
    let problems = Experiment::parse(Path::new("a.toml"), text, &[&Anything]).unwrap_err();
    let shown = problems.pictured(80);
    assert!(shown.contains("\n3 | blocks = \"nothing\" #"), "{shown}");
    let mark = shown.lines().find(|line| line.contains("^^^^^^^^^")).expect("a mark");
    assert_eq!(mark.trim_end(), format!("  | {}{}", " ".repeat(9), "^".repeat(9)), "{shown}");
    assert!(!shown.contains(['\u{9b}', '\u{202e}', '\u{200f}']), "{shown}");
    assert_eq!(problems.to_string().lines().count(), problems.list.len(), "{problems}");
}

#[test]
fn numbers_that_mean_nothing_are_refused() {
    for (keys, traffic, field) in [
        ("", "frame = 0", "traffic[1].frame"),
        ("margin = \"1e-320%\"", "", "margin"),
        ("margin = \"0%\"", "", "margin"),
    ] {
        let problems = minimal(keys, traffic, ROUTE).unwrap_err();
        assert_eq!(problems.list[0].field, field, "{problems}");
    }
}

/// Each with each was compared, before.
#[test]
fn of_more_variants_than_a_journal_holds_the_first_too_many_is_named() {
    let many = |count: usize| -> String {
        (0..count).map(|n| format!("[[variant]]\nname = \"v{n}\"\n")).collect()
    };
    let file = |count| format!("title = \"t\"\nbaseline = \"v0\"\n{}", many(count));
    let read = |count| {
        Experiment::parse(Path::new("many.toml"), &file(count), &[&Anything]).unwrap_err().list
    };
    let problems = read(20_000);
    assert_eq!(problems[0].field, "variant[1001]");
    assert_eq!(problems[0].line, 2 + 2 * 1_000 + 1);
    assert!(problems[0].what.contains("20000"), "{}", problems[0].what);
    assert!(read(1_000).iter().all(|problem| !problem.field.starts_with("variant[")));
}
