//! Keys that stand in the wrong table, or have another name here: where they belong, so that nobody is told to remove
//! what he means.

/// Where keys stand that are no table's: what follows a table's head is that table's.
pub const TOP: &str = "at the top of the file, above the first table";

/// The keys of each table, and how it is named in a remedy.
pub const TABLES: [(&str, &str, &[&str]); 5] = [
    (
        "",
        TOP,
        &[
            "title",
            "device",
            "baseline",
            "margin",
            "blocks",
            "cap",
            "calibrate",
            "blocks_per_process",
            "seed",
            "duration",
            "warmup",
            "interval",
            "allow",
            "measure",
            "latency",
            "profile",
        ],
    ),
    ("variant", "in [[variant]]", &["set"]),
    (
        "traffic",
        "in [[traffic]]",
        &[
            "capture",
            "source",
            "destination",
            "frame",
            "load",
            "order",
            "flows",
            "direction",
            "ports",
            "kind",
            "lifetime",
            "concurrent",
            "protocol",
            "congestion",
        ],
    ),
    ("routes", "in [routes]", &["static", "file", "generate"]),
    ("benchmarks", "in [benchmarks]", &["loads", "overload", "relief", "soak_load", "soak"]),
];

/// What others call a key.
const CALLED: [(&str, &[&str]); 12] = [
    ("blocks", &["repeat", "repeats", "repetitions", "runs", "trials", "iterations", "rounds"]),
    ("duration", &["time", "seconds"]),
    ("frame", &["size", "frame_size", "packet_size", "frame_length", "length"]),
    ("load", &["rate", "offered_load", "speed", "pps", "bandwidth"]),
    ("source", &["src"]),
    ("destination", &["dst", "dest"]),
    ("static", &["route", "routes", "default", "gateway"]),
    ("nftables", &["nft", "rules", "ruleset"]),
    ("name", &["id", "iface", "ifname", "interface"]),
    ("dut", &["device", "router", "sut"]),
    ("tester", &["generator", "sender"]),
    ("ssh", &["host", "hostname", "address"]),
];

/// Where a key that stands in this table is at home, when it is another one's.
pub fn home(table: &str, key: &str) -> Option<&'static str> {
    let is_home = |(_, _, keys): &&(&str, &str, &[&str])| keys.contains(&key);
    TABLES.iter().find(is_home).filter(|(name, ..)| *name != table).map(|(_, home, _)| *home)
}

/// The one of a table's keys that others call `name`.
pub fn called<'k>(
    table: &str,
    name: &str,
    mut known: impl Iterator<Item = &'k str>,
) -> Option<&'k str> {
    let (key, _) = CALLED.iter().find(|(_, names)| names.contains(&name))?;
    // The `load` of variants and of a guest is what they take in, not how much.
    known.find(|own| own == key && (*own != "load" || table == "traffic"))
}
