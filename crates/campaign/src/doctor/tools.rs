//! Programs of other people that the lab calls.

use fwdlab_device::Finding;

const TOOLS: [(&str, &str, &str); 4] = [
    ("nft", "nftables rule sets as variants", "apt-get install nftables"),
    ("ip", "looking at the namespaces of a run (ip netns)", "apt-get install iproute2"),
    ("perf", "kernel flame graphs", "apt-get install linux-perf"),
    ("ministat", "the differential tests of `fwdlab ministat`", "apt-get install ministat"),
];

pub(super) fn findings() -> Vec<Finding> {
    TOOLS.iter().map(|(name, enables, remedy)| tool(name, enables, remedy)).collect()
}

fn tool(name: &'static str, enables: &'static str, remedy: &'static str) -> Finding {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Administrators' programs are often not on the path of others.
    let places = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    let found = places.map(|dir| dir.join(name)).find(|file| file.is_file());
    Finding {
        what: name,
        present: found.is_some(),
        detail: found.map_or("not found".to_owned(), |file| file.display().to_string()),
        enables,
        remedy,
        is_needed: false,
    }
}
