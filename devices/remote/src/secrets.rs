//! What results must not hold: addresses, accounts, key files and names of hosts. Texts that a host or
//! a hook has written pass through here before they are kept.

use crate::ssh::Access;

/// Texts that are replaced by the role of the host that they give away.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    texts: Vec<(String, &'static str)>,
}

impl Secrets {
    /// What ssh knows of the hosts.
    pub fn of<'a>(ways: impl IntoIterator<Item = &'a Access>) -> Self {
        let mut secrets = Self::default();
        for way in ways {
            let Ok(output) = way.resolve().output() else { continue };
            secrets.learn(way.role, &String::from_utf8_lossy(&output.stdout));
        }
        // The longest first: an account with its address before the address alone.
        secrets.texts.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
        secrets
    }

    fn learn(&mut self, role: &'static str, resolved: &str) {
        let value = |key: &str| {
            let mut pairs = resolved.lines().filter_map(|line| line.split_once(' '));
            pairs.find_map(|(word, value)| (word == key).then_some(value))
        };
        let (address, user) = (value("hostname"), value("user"));
        for line in resolved.lines() {
            let Some((word, value)) = line.split_once(' ') else { continue };
            if matches!(word, "identityfile" | "hostname" | "host" | "proxyjump") {
                self.add(value, role);
            }
        }
        if let (Some(user), Some(address)) = (user, address) {
            self.add(&format!("{user}@{address}"), role);
        }
        // `root` stands in too many honest texts.
        if let Some(user) = user.filter(|user| *user != "root") {
            self.add(user, role);
        }
    }

    fn add(&mut self, text: &str, role: &'static str) {
        let is_telling = text.len() > 2 && text != role && text != "none";
        if is_telling && self.texts.iter().all(|(other, _)| other != text) {
            self.texts.push((text.to_owned(), role));
        }
    }

    /// The text without them.
    pub fn scrub(&self, text: &str) -> String {
        self.texts.iter().fold(text.to_owned(), |text, (secret, role)| {
            text.replace(secret, &format!("({role})"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_accounts_and_key_files_become_roles() {
        let mut secrets = Secrets::default();
        let resolved = "host lab-dut\nuser canary\nhostname 10.9.8.7\nidentityfile ~/.ssh/id_lab\n";
        secrets.learn("dut", resolved);
        secrets.texts.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
        let text = secrets.scrub("canary@10.9.8.7 (lab-dut) with ~/.ssh/id_lab said no to canary");
        for secret in ["canary", "10.9.8.7", "lab-dut", "id_lab"] {
            assert!(!text.contains(secret), "{text}");
        }
    }
}
