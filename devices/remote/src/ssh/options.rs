//! How ssh is called: what must hold whatever a user's configuration says stands on the command line,
//! where the first value of an option wins.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use crate::testbed::{Host, Testbed};

/// The way to one host.
#[derive(Clone, Debug)]
pub struct Access {
    /// The host's role.
    pub role: &'static str,
    /// What ssh calls it.
    ssh: String,
    /// The master's socket.
    pub socket: PathBuf,
    config: Option<PathBuf>,
    known_hosts: PathBuf,
    /// This program, which starts the master so that it ends with us.
    program: PathBuf,
}

/// What is forced on every call. Nothing asks, nothing is learnt, nothing is forwarded; and nothing is
/// sent to a host that has nothing to say, because a device is left alone while it is measured.
const FORCED: [&str; 17] = [
    "BatchMode=yes",
    "StrictHostKeyChecking=yes",
    "GlobalKnownHostsFile=/dev/null",
    "VerifyHostKeyDNS=no",
    "NoHostAuthenticationForLocalhost=no",
    "UpdateHostKeys=no",
    "ForwardAgent=no",
    "ForwardX11=no",
    "Tunnel=no",
    "ClearAllForwardings=yes",
    "PermitLocalCommand=no",
    "RemoteCommand=none",
    "RequestTTY=no",
    "ServerAliveInterval=0",
    "TCPKeepAlive=no",
    "ConnectTimeout=10",
    "LogLevel=ERROR",
];

/// What is forced where ssh knows the option: an older one, which refuses it, cannot be told otherwise by its
/// configuration either.
const NEWER: [&str; 3] = ["KnownHostsCommand=none", "StdinNull=no", "ForkAfterAuthentication=no"];

/// The same for all but the master, which runs nothing on its host.
const SESSION: &str = "SessionType=default";

/// Whether the ssh of this machine knows an option, which connects to nothing.
fn is_known(option: &str) -> bool {
    let mut ask = Command::new("ssh");
    ask.args(["-G", "-F", "/dev/null", "-o", option, "nobody"]).stdin(Stdio::null());
    ask.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Those of [`NEWER`] that it knows, and [`SESSION`].
fn newer() -> (&'static [&'static str], Option<&'static str>) {
    static KNOWN: OnceLock<(Vec<&str>, Option<&str>)> = OnceLock::new();
    let ask = || {
        let options = NEWER.into_iter().filter(|option| is_known(option)).collect();
        (options, Some(SESSION).filter(|option| is_known(option)))
    };
    let (options, session) = KNOWN.get_or_init(ask);
    (options, *session)
}

impl Access {
    /// The way to a host, its socket in `dir`.
    pub fn new(testbed: &Testbed, host: &Host, dir: &Path, program: &Path) -> Self {
        Self {
            role: host.role,
            ssh: host.ssh.clone(),
            // Short: a socket's path has room for some 100 bytes.
            socket: dir.join(&host.role[..1]),
            config: testbed.ssh_config.clone(),
            known_hosts: testbed.known_hosts.clone(),
            program: program.to_owned(),
        }
    }

    /// The master: in the foreground, and ended by the system when this process ends.
    pub fn master(&self) -> Command {
        let mut command = Command::new(&self.program);
        command.args(["launch", &std::process::id().to_string(), "ssh"]);
        self.force(&mut command);
        command.args(["-M", "-N", "-o", "ControlPersist=no"]);
        command.arg(&self.ssh).stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    /// A command on the host, over the master only: with a dead master it would silently become a
    /// connection of its own, hence the proxy that goes nowhere.
    pub fn command(&self, remote: &str) -> Command {
        let mut command = Command::new("ssh");
        self.force(&mut command);
        command.args(["-T", "-o", "ControlMaster=no", "-o", "ProxyCommand=false"]);
        if let Some(option) = newer().1 {
            command.args(["-o", option]);
        }
        command.arg(&self.ssh).arg(remote);
        command
    }

    /// A connection of its own that ends at once, for what ssh says about it.
    pub fn trial(&self) -> Command {
        let mut command = Command::new("ssh");
        self.force(&mut command);
        // The last one wins, here alone.
        command.args(["-S", "none"]);
        command.arg(&self.ssh).arg("exit").stdin(Stdio::null());
        command
    }

    /// What ssh knows of the host, by its own words; it connects to nothing.
    pub fn resolve(&self) -> Command {
        let mut command = Command::new("ssh");
        self.force(&mut command);
        command.arg("-G").arg(&self.ssh).stdin(Stdio::null());
        command
    }

    /// Forces what holds for every call. Ctrl-C in a terminal is for us alone: we still have to say to the
    /// hosts what is to end, and the lock to free, so that ssh is no part of our group. It ends with the
    /// master, which ends with us.
    fn force(&self, command: &mut Command) {
        command.process_group(0);
        if let Some(config) = &self.config {
            command.arg("-F").arg(config);
        }
        let known = format!("UserKnownHostsFile=\"{}\"", self.known_hosts.display());
        command.args(["-o", &known]);
        for option in FORCED.iter().chain(newer().0) {
            command.args(["-o", *option]);
        }
        command.arg("-S").arg(&self.socket);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What somebody's own configuration may say, of which nothing may hold.
    const HOSTILE: &str = "Host *\n\
        BatchMode no\nStrictHostKeyChecking no\nUserKnownHostsFile /other/known\n\
        GlobalKnownHostsFile /other/global\nVerifyHostKeyDNS yes\n\
        NoHostAuthenticationForLocalhost yes\nUpdateHostKeys yes\nForwardAgent yes\nForwardX11 yes\n\
        Tunnel yes\nLocalForward 1 other:1\nRemoteForward 2 other:2\nDynamicForward 3\n\
        PermitLocalCommand yes\nLocalCommand touch /other\nRemoteCommand other\nRequestTTY force\n\
        ServerAliveInterval 1\nTCPKeepAlive yes\nConnectTimeout 99\nLogLevel DEBUG3\n\
        ControlMaster auto\nControlPath /other/socket\nControlPersist yes\nProxyCommand other %h\n";

    /// The same of newer versions, with what must hold instead; nothing where ssh does not say.
    const HOSTILE_NEWER: [(&str, Option<&str>); 4] = [
        ("KnownHostsCommand /other/keys", None),
        ("StdinNull yes", Some("stdinnull no")),
        ("ForkAfterAuthentication yes", Some("forkafterauthentication no")),
        ("SessionType none", Some("sessiontype default")),
    ];

    /// What ssh makes of one of our calls: with `-G` it says so and connects to nothing.
    fn resolved(mut call: Command) -> String {
        let said = call.stdin(Stdio::null()).output().expect("ssh starts");
        assert!(said.status.success(), "{call:?}: {}", String::from_utf8_lossy(&said.stderr));
        String::from_utf8_lossy(&said.stdout).into_owned()
    }

    /// A call with `-G`, without the program that starts the master.
    fn bare(call: &Command) -> Command {
        let mut words: Vec<_> = call.get_args().map(std::ffi::OsStr::to_owned).collect();
        if words.first().is_some_and(|word| word == "launch") {
            words.drain(..3);
        }
        // Before the host: behind it all is the remote command.
        let mut ssh = Command::new("ssh");
        ssh.arg("-G").args(words);
        ssh
    }

    fn way(dir: &Path) -> Access {
        let newer = HOSTILE_NEWER.map(|(line, _)| line);
        let known = newer.into_iter().filter(|line| is_known(&line.replacen(' ', "=", 1)));
        let text = known.fold(HOSTILE.to_owned(), |text, line| text + line + "\n");
        let config = dir.join("config");
        std::fs::write(&config, text).expect("written");
        Access {
            role: "dut",
            ssh: "bench".to_owned(),
            socket: dir.join("d"),
            config: Some(config),
            known_hosts: dir.join("known_hosts"),
            program: PathBuf::from("fwdlab"),
        }
    }

    /// Each option of the command line holds whatever a configuration says: ssh itself is asked.
    #[test]
    fn what_is_forced_holds_against_any_configuration() {
        let dir = tempfile::tempdir().expect("a directory");
        let way = way(dir.path());
        let socket = format!("controlpath {}", way.socket.display());
        let known = format!("userknownhostsfile {}", way.known_hosts.display());
        for (name, call) in [("master", way.master()), ("command", way.command("exec sh -s"))] {
            let said = resolved(bare(&call));
            let holds = |line: &str| said.lines().any(|other| other == line);
            for line in [
                "batchmode yes",
                "stricthostkeychecking true",
                "globalknownhostsfile /dev/null",
                "verifyhostkeydns false",
                "nohostauthenticationforlocalhost no",
                "updatehostkeys false",
                "forwardagent no",
                "forwardx11 no",
                "tunnel false",
                "clearallforwardings yes",
                "permitlocalcommand no",
                "requesttty false",
                "serveraliveinterval 0",
                "tcpkeepalive no",
                "connecttimeout 10",
                "loglevel ERROR",
                &socket,
                &known,
            ] {
                assert!(holds(line), "{name}: {line:?} in\n{said}");
            }
            for (key, wanted) in HOSTILE_NEWER {
                let is_of_sessions = key.starts_with("SessionType");
                let Some(wanted) = wanted.filter(|_| is_known(&key.replacen(' ', "=", 1))) else {
                    continue;
                };
                let wanted =
                    if is_of_sessions && name == "master" { "sessiontype none" } else { wanted };
                assert!(holds(wanted), "{name}: {wanted:?} in\n{said}");
            }
            for nothing_of in
                ["/other", "remotecommand", "localforward", "remoteforward", "dynamicforward"]
            {
                // ssh shows a local command that it is not permitted to run.
                let mut found = said.lines().filter(|line| !line.starts_with("localcommand "));
                assert!(
                    !found.any(|line| line.contains(nothing_of)),
                    "{name}: {nothing_of} in\n{said}"
                );
            }
            let (is_master, is_proxied) =
                (holds("controlmaster true"), holds("proxycommand false"));
            assert_eq!((is_master, is_proxied), (name == "master", name == "command"), "{said}");
            assert_eq!(holds("controlpersist no"), name == "master", "{said}");
        }
    }

    #[test]
    fn a_master_stays_in_the_foreground_and_runs_nothing() {
        let dir = tempfile::tempdir().expect("a directory");
        let master = way(dir.path()).master();
        let words: Vec<_> = master.get_args().map(|word| word.to_string_lossy()).collect();
        assert_eq!((&*words[0], &*words[2]), ("launch", "ssh"), "{words:?}");
        let has = |word: &str| words.iter().any(|own| own == word);
        assert!(has("-M") && has("-N") && !has("-f"), "{words:?}");
    }

    /// Where nobody listens any more, nothing is connected: not even where the host could be reached.
    #[test]
    fn a_stale_socket_never_becomes_a_connection_of_its_own() {
        let dir = tempfile::tempdir().expect("a directory");
        let way = way(dir.path());
        let listens = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listens.local_addr().expect("an address").port();
        let config = format!("Host bench\n HostName 127.0.0.1\n Port {port}\n");
        std::fs::write(dir.path().join("config"), config).expect("written");
        drop(std::os::unix::net::UnixListener::bind(&way.socket).expect("a socket"));
        assert!(way.socket.exists(), "it is stale");
        let ended = way.command("exec sh -s").stdin(Stdio::null()).output().expect("ssh starts");
        assert!(!ended.status.success(), "{ended:?}");
        listens.set_nonblocking(true).expect("set");
        assert!(listens.accept().is_err(), "somebody connected");
    }
}
