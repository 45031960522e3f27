//! Which machine a published directory is of: by its hardware, as the archive's paths name it
//! (`PROCESSOR_nCores/NIC/BENCH/results/IMAGE`, in earlier years `PROCESSOR_nCores-NIC/BENCH/…`).

/// A machine and the set of benches that ran on it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hardware {
    /// Processor and card; empty when the path does not name them.
    pub machine: String,
    /// The set of benches: `firewalls`, `ipsec`; empty when the path does not name one.
    pub bench: String,
}

impl Hardware {
    /// Reads the path of a directory of results, with `/` between its parts.
    pub fn of(path: &str) -> Self {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let Some(results) = parts.iter().rposition(|part| *part == "results") else {
            return Self::default();
        };
        let above = |count: usize| results.checked_sub(count).and_then(|at| parts.get(at).copied());
        let bench = above(1).unwrap_or_default();
        let (near, far) = (above(2).unwrap_or_default(), above(3).unwrap_or_default());
        let machine = match (names_cores(near), names_cores(far)) {
            (true, _) => near.to_owned(),
            (false, true) => format!("{far}/{near}"),
            // a card is in many machines
            (false, false) if is_card(near) && far.contains(char::is_alphabetic) => {
                format!("{far}/{near}")
            }
            (false, false) => near.to_owned(),
        };
        Self { machine: one_spelling(&machine), bench: bench.to_owned() }
    }
}

/// Whether a name says how many cores a processor has.
fn names_cores(part: &str) -> bool {
    let lower = part.to_ascii_lowercase();
    lower.match_indices("core").any(|(at, _)| lower[..at].ends_with(|c: char| c.is_ascii_digit()))
}

/// Whether a name is that of a card: its maker's, and of Intel, which makes more, a model as its cards have them
/// (`Intel_82599EB`, `Intel_XL710`).
fn is_card(part: &str) -> bool {
    const MAKERS: [&str; 7] =
        ["chelsio", "mellanox", "emulex", "solarflare", "netronome", "qlogic", "realtek"];
    let lower = part.to_ascii_lowercase();
    let Some((maker, model)) = lower.split_once(['_', '-']) else { return false };
    let letters = model.chars().take_while(char::is_ascii_alphabetic).count();
    let is_model = letters <= 3 && model[letters..].starts_with(|c: char| c.is_ascii_digit());
    MAKERS.contains(&maker) || maker == "intel" && is_model
}

/// Processor and card with a slash between them, and `_8Cores` behind the processor, as the archive writes
/// it today.
fn one_spelling(machine: &str) -> String {
    let lower = machine.to_ascii_lowercase();
    let Some(at) = lower.find("cores").map(|at| at + "cores".len()) else {
        return machine.to_owned();
    };
    match machine.split_at(at) {
        (processor, "") => with_cores(processor),
        (processor, card) => {
            format!("{}/{}", with_cores(processor), card.trim_start_matches(['-', '_', '/']))
        }
    }
}

/// `Xeon_E5-2650-8cores` as `Xeon_E5-2650_8Cores`.
fn with_cores(processor: &str) -> String {
    let stem = &processor[..processor.len() - "cores".len()];
    let name = stem.trim_end_matches(|c: char| c.is_ascii_digit());
    let count = &stem[name.len()..];
    match name.strip_suffix(['-', '_']) {
        Some(name) if !count.is_empty() => format!("{name}_{count}Cores"),
        _ => processor.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_years_of_one_machine_are_one() {
        for path in [
            "AMD_GX-412TC_4Cores/Intel_i210AT/firewalls/results/fbsd13-D27401",
            "/x/AMD_GX-412TC_4Cores-Intel_i210AT/firewalls/results/fbsd.2016",
            "AMD_GX-412TC_4Cores_Intel_i210AT/firewalls/results/a/RAW",
        ] {
            let found = Hardware::of(path);
            assert_eq!(found.machine, "AMD_GX-412TC_4Cores/Intel_i210AT", "{path}");
            assert_eq!(found.bench, "firewalls");
        }
        for path in [
            "Xeon_E5-2650-8Cores-Chelsio_T540-CR/forwarding/results/a",
            "Xeon_E5-2650_8Cores-Chelsio_T540-CR/forwarding/results/a",
            "Xeon_E5-2650-8cores/Chelsio_T540-CR/forwarding/results/a",
        ] {
            let found = Hardware::of(path).machine;
            assert_eq!(found, "Xeon_E5-2650_8Cores/Chelsio_T540-CR", "{path}");
        }
        // one card in two machines was one machine
        for (path, machine) in [
            ("a/Xeon_L5630/Intel_82599EB/forwarding/results/x", "Xeon_L5630/Intel_82599EB"),
            ("a/Atom/Intel_82599EB/forwarding/results/x", "Atom/Intel_82599EB"),
            ("Atom/Mellanox_ConnectX-4/forwarding/results/x", "Atom/Mellanox_ConnectX-4"),
            ("Intel_i350/forwarding/results/x", "Intel_i350"),
            ("2016/Intel_i350/forwarding/results/x", "Intel_i350"),
            ("lab/Intel_NUC/forwarding/results/x", "Intel_NUC"),
            ("lab/Intel_Atom_C2758/forwarding/results/x", "Intel_Atom_C2758"),
        ] {
            assert_eq!(Hardware::of(path).machine, machine, "{path}");
        }
        assert_eq!(with_cores("ARM-cores"), "ARM-cores");
        assert_eq!(Hardware::of("somewhere/else"), Hardware::default());
        assert_eq!(Hardware::of("lab1/forwarding/results/x").machine, "lab1");
        assert_eq!(Hardware::of("results/x"), Hardware::default());
    }
}
