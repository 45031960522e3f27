//! Settings of the whole host that change what happens inside of a network namespace.
//!
//! A variant cannot set them, and two machines may differ in them: they are read, stand in
//! `environment.json`, and are named where kernel and router are found to differ.

use std::collections::BTreeMap;
use std::fs;

/// How often the kernel answers with an ICMP error or a redirect, how much it does at once, and
/// whether programs are compiled.
const NAMES: [&str; 11] = [
    "net.core.bpf_jit_enable",
    "net.core.dev_weight",
    "net.core.netdev_budget",
    "net.core.netdev_budget_usecs",
    "net.core.netdev_max_backlog",
    "net.ipv4.icmp_msgs_burst",
    "net.ipv4.icmp_msgs_per_sec",
    "net.ipv4.route.error_burst",
    "net.ipv4.route.error_cost",
    "net.ipv4.route.redirect_load",
    "net.ipv4.route.redirect_number",
];

/// Those that this kernel shows, by name.
pub fn settings() -> BTreeMap<&'static str, String> {
    let value = |name: &'static str| {
        let text = fs::read_to_string(format!("/proc/sys/{}", name.replace('.', "/"))).ok()?;
        Some((name, text.trim().to_owned()))
    };
    NAMES.into_iter().filter_map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_shows_is_read_as_it_stands() {
        let found = settings();
        for (name, value) in &found {
            assert!(value.parse::<i64>().is_ok(), "{name} = {value:?}");
        }
        // Every kernel with a network stack has this one.
        let weight = fs::read_to_string("/proc/sys/net/core/dev_weight").ok();
        assert_eq!(
            found.get("net.core.dev_weight").cloned(),
            weight.map(|it| it.trim().to_owned())
        );
    }
}
