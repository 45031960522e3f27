//! What ssh means when it gives up. Its own words name addresses, accounts and key files: they never
//! go further than here.

use fwdlab_results::FailureKind;

use crate::RemoteError;

/// What the words of ssh, which ended with an error, mean.
pub fn of(role: &'static str, words: &str) -> RemoteError {
    let has = |text: &str| words.contains(text);
    let misconfigured = |what: &str, remedy: &str| {
        RemoteError::failed(FailureKind::Misconfigured, role, what, remedy)
    };
    if has("REMOTE HOST IDENTIFICATION HAS CHANGED") {
        return misconfigured(
            "its host key is not the one in known_hosts",
            "make sure that it is the same machine, then put its new key into the testbed's \
             known_hosts by hand",
        );
    }
    if has("Host key verification failed") || has("host key is known for") {
        return misconfigured(
            "its host key is not in known_hosts",
            "put it there by hand: ssh-keyscan HOST >> known_hosts, and compare the fingerprint",
        );
    }
    if has("Permission denied") || has("Too many authentication failures") {
        return misconfigured(
            "it does not let us in",
            "log in by hand with `ssh -o BatchMode=yes`; keys must work without a question",
        );
    }
    if has("Could not resolve hostname") {
        return misconfigured("ssh does not know its address", "correct `ssh` in the testbed file");
    }
    if has("Bad configuration option") || has("terminating, ") || has("Bad owner or permissions") {
        return misconfigured("the ssh configuration is wrong", "`ssh -G` with its name shows it");
    }
    let what = if has("Connection refused") {
        "it refuses connections"
    } else if has("timed out") || has("No route to host") || has("unreachable") {
        "it does not answer"
    } else {
        "the connection broke"
    };
    RemoteError::failed(
        FailureKind::TransportLost,
        role,
        what,
        "look whether it is up and sshd runs",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `fwdlab doctor --testbed FILE` said to run `fwdlab doctor --testbed FILE`.
    #[test]
    fn no_remedy_is_the_command_that_tells_it() {
        for words in [
            "ssh: Could not resolve hostname dut: x",
            "config: line 3: Bad configuration option: x",
        ] {
            let error = of("dut", words).to_string();
            assert!(!error.contains("doctor") && error.contains("ssh"), "{error}");
        }
    }

    #[test]
    fn words_of_ssh_become_kinds_and_go_no_further() {
        let cases = [
            ("root@10.1.2.3: Permission denied (publickey).", FailureKind::Misconfigured),
            ("@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @", FailureKind::Misconfigured),
            ("Host key verification failed.", FailureKind::Misconfigured),
            (
                "ssh: connect to host 10.1.2.3 port 22: Connection refused",
                FailureKind::TransportLost,
            ),
            (
                "ssh: connect to host 10.1.2.3 port 22: Connection timed out",
                FailureKind::TransportLost,
            ),
            ("", FailureKind::TransportLost),
        ];
        for (words, kind) in cases {
            let error = of("dut", words);
            assert_eq!(error.kind(), Some(kind), "{words}");
            assert!(!error.to_string().contains("10.1.2.3"), "{error}");
        }
    }
}
