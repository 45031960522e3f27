//! Tests of routes that come from elsewhere.

use std::collections::HashSet;
use std::net::IpAddr;

use crate::Anything;
use crate::Result;

/// An experiment beside a routes file with this text.
fn with_file(routes: &str, keys: &str, destination: &str) -> Result<crate::Experiment> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("view.txt"), routes).unwrap();
    let text = format!(
        "title = \"t\"\nbaseline = \"a\"\n{keys}\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
         [[traffic]]\nname = \"inet\"\nsource = \"198.18.0.1:7\"\ndestination = \"{destination}:7\"\n\
         [routes]\nfile = \"view.txt\"\nstatic = [\"198.19.0.0/16 via 198.19.0.203 port 1\"]\n"
    );
    let path = dir.path().join("x.toml");
    std::fs::write(&path, text).unwrap();
    crate::Experiment::read(&path, &[&Anything])
}

#[test]
fn learned_routes_join_the_static_ones() {
    let file = "20.0.0.0/8 192.0.2.1\n21.0.0.0/8 192.0.2.2\n22.0.0.0/8 192.0.2.1\n\
                198.19.0.0/16 192.0.2.9\n2001:db8::/32 2001:db8::1\n";
    let routes = with_file(file, "", "20.255.255.1-21.0.0.9").unwrap().routes.fixed;
    let shown: Vec<String> =
        routes.iter().map(|r| format!("{} {} {}", r.prefix, r.gateway, r.port)).collect();
    assert_eq!(
        shown,
        [
            "198.19.0.0/16 198.19.0.203 1",
            "20.0.0.0/8 198.19.0.1 1",
            "21.0.0.0/8 198.19.0.2 1",
            "22.0.0.0/8 198.19.0.1 1"
        ]
    );
}

#[test]
fn routes_without_gateways_are_spread_over_sixteen() {
    let file: String = (0..4_096).map(|n| format!("20.{}.{}.0/24\n", n / 256, n % 256)).collect();
    let experiment = with_file(&file, "", "20.0.0.1-20.15.255.254").unwrap();
    let mut counts = std::collections::BTreeMap::new();
    for route in &experiment.routes.fixed[1..] {
        *counts.entry(route.gateway).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), 16);
    assert!(counts.values().all(|n| (150..400).contains(n)), "{counts:?}");
}

#[test]
fn a_destination_that_the_file_leaves_out_is_named() {
    let error = with_file("20.0.0.0/8\n20.0.0.0/9\n", "", "20.255.0.1-21.0.0.1").unwrap_err();
    let text = error.to_string();
    let named = "x.toml:11:15: traffic[1].destination: no route covers 21.0.0.0, neither in";
    assert!(text.contains(named) && text.contains("view.txt; wanted"), "{text}");
    assert!(with_file("20.0.0.0/8\n", "allow = [\"no-route\"]", "20.255.0.1-21.0.0.1").is_ok());
}

/// What is said of an experiment beside a table, whose sources and destinations have a static route each.
fn both_ways(table: &str, traffic: &str, statics: &str) -> Result<crate::Experiment> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("view.txt"), table).unwrap();
    let text = format!(
        "title = \"t\"\nbaseline = \"a\"\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
         [[traffic]]\nname = \"inet\"\nsource = \"198.18.10.0-198.18.10.7:7\"\n\
         destination = \"198.19.10.1-198.19.10.8:7\"\n{traffic}\n[routes]\nfile = \"view.txt\"\n\
         static = [\"198.18.0.0/16 via 198.18.0.203\", \"198.19.0.0/16 via 198.19.0.203\", {statics}]\n"
    );
    let path = dir.path().join("x.toml");
    std::fs::write(&path, text).unwrap();
    crate::Experiment::read(&path, &[&Anything])
}

/// It was found after the first trial, by frames that came back to their senders.
#[test]
fn a_table_that_leads_the_way_back_astray_is_named_with_its_line_before_anything_runs() {
    let table = "20.0.0.0/8\n198.18.10.4/30\n";
    let text = both_ways(table, "direction = \"both\"", "").unwrap_err().to_string();
    let named = "x.toml:9:10: traffic[1].source: the route to 198.18.10.4 (198.18.10.4/30, ";
    assert!(
        text.contains(named) && text.contains("view.txt:2) leads to the destinations"),
        "{text}"
    );
    let remedy = "add \"198.18.10.4/30 via 198.18.0.203 port 0\" to [routes] static";
    assert!(text.contains(remedy), "{text}");
    // The remedy helps, and one way nothing goes to the sources.
    let statics = "\"198.18.10.4/30 via 198.18.0.203 port 0\"";
    assert!(both_ways(table, "direction = \"both\"", statics).is_ok());
    assert!(both_ways(table, "", "").is_ok());
    // A shorter route of the table changes nothing.
    assert!(both_ways("198.16.0.0/13\n", "direction = \"both\"", "").is_ok());
}

#[test]
fn all_routes_together_decide_where_a_destination_leads() {
    // Alone it leads back to the sources; the table has longer routes.
    let back = "\"198.19.10.0/24 via 198.18.0.203 port 0\"";
    let text = both_ways("20.0.0.0/8\n", "", back).unwrap_err().to_string();
    let named = "traffic[1].destination: the route to 198.19.10.1 (198.19.10.0/24) leads back to";
    assert!(text.contains(named), "{text}");
    assert!(both_ways("198.19.10.0/28\n", "", back).is_ok());
}

#[test]
fn a_table_that_leads_to_another_port_of_several_is_named() {
    let ports = "ports = 4\ndirection = \"both\"";
    let text = both_ways("198.19.10.8/32\n198.18.10.2/32\n", ports, "").unwrap_err().to_string();
    let named = "traffic[1].source: the route to 198.18.10.2 (198.18.10.2/32, ";
    assert!(text.contains(named) && text.contains("leaves by port 1, and it lies behind port 0"));
    assert!(both_ways("198.19.10.2/32\n", ports, "").is_ok());
}

#[test]
fn another_routes_file_is_another_experiment() {
    let digest = |file: &str| with_file(file, "", "20.0.0.1").unwrap().sha256;
    assert_eq!(digest("20.0.0.0/8\n"), digest("20.0.0.0/8\n"));
    assert_ne!(digest("20.0.0.0/8\n"), digest("20.0.0.0/9\n"));
}

#[test]
fn a_wrong_routes_file_is_an_error_of_the_experiment() {
    let text = with_file("20.0.0.0/8\nmoo\n", "", "20.0.0.1").unwrap_err().to_string();
    assert!(text.contains("view.txt:2: \"moo\" is no prefix"), "{text}");
}

/// An experiment with so many generated routes.
fn generated(count: u32) -> crate::Experiment {
    let text = format!(
        "title = \"t\"\nbaseline = \"a\"\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n\
         [[traffic]]\nname = \"inet\"\nsource = \"198.18.0.1:7\"\ndestination = \"20.0.0.1:7\"\n\
         [routes]\ngenerate = {count}\nstatic = [\"0.0.0.0/0 via 198.19.0.203 port 1\"]\n"
    );
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.toml");
    std::fs::write(&path, text).unwrap();
    crate::Experiment::read(&path, &[&Anything]).unwrap()
}

#[test]
fn generated_routes_are_the_same_every_time() {
    let experiment = generated(5_000);
    assert_eq!(experiment.routes, generated(5_000).routes);
    let learned = &experiment.routes.fixed[1..];
    assert!((4_900..=5_000).contains(&learned.len()), "{}", learned.len());
    let gateways: HashSet<IpAddr> = learned.iter().map(|route| route.gateway).collect();
    assert_eq!(gateways.len(), 16);
    assert!(learned.iter().all(|route| route.port == 1));
}
