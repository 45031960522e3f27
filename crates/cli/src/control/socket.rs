//! The socket of one router: for its owner alone, held by one router at a time, gone with it.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use anyhow::{Context, bail};
use fwdlab_guard::Scratch;

use super::{Answer, LONGEST_ORDER, Order, check_length, read_line, write_line};

/// Clients at a time.
const MOST_CLIENTS: usize = 64;

/// An order that waits for its answer.
#[derive(Debug)]
pub struct Asked {
    /// The order.
    pub order: Order,
    answer: SyncSender<Answer>,
}

impl Asked {
    /// Answers the order; nobody minds if its client has gone.
    pub fn answer(self, answer: Answer) {
        let _ = self.answer.send(answer);
    }
}

/// A socket that is open; its file goes with it.
#[derive(Debug)]
pub struct ControlSocket {
    path: PathBuf,
    /// Device and number of the file, so that nobody else's is removed.
    identity: (u64, u64),
}

impl ControlSocket {
    /// Opens a socket at `path` and hands each order over to `deliver`, on threads of its own.
    /// `deliver` says false when the router has ended.
    ///
    /// A socket that is left over from a router that has ended is replaced.
    ///
    /// # Errors
    /// Another program listens there, there is a file that is no socket, or the place cannot be
    /// written to.
    pub fn open(
        path: &Path,
        deliver: impl Fn(Asked) -> bool + Clone + Send + 'static,
    ) -> anyhow::Result<Self> {
        let listener = bind(path).with_context(|| format!("control socket {}", path.display()))?;
        let found = fs::symlink_metadata(path)?;
        let socket = Self { path: path.to_owned(), identity: (found.dev(), found.ino()) };
        std::thread::Builder::new()
            .name("control".to_owned())
            .spawn(move || listen(&listener, &deliver))?;
        Ok(socket)
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        let is_ours = fs::symlink_metadata(&self.path)
            .is_ok_and(|found| (found.dev(), found.ino()) == self.identity);
        if is_ours {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Binds a socket that only its owner may use, from the moment at which it has its name: it is made
/// in a directory of its own and then moved.
fn bind(path: &Path) -> anyhow::Result<UnixListener> {
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    path.file_name().context("it has no name")?;
    check_length(path)?;
    // Two routers that begin at once look one after the other; the lock ends with this function.
    let directory = File::open(parent).with_context(|| parent.display().to_string())?;
    directory.lock()?;
    make_way(path)?;
    // Routers that were killed left their directories here.
    Scratch::tidy(parent);
    let private = Scratch::under(parent).context("cannot be made")?;
    let handle = File::open(private.path())?;
    // By its number: its path may be longer than that of a socket can be.
    let inside = PathBuf::from(format!("/proc/self/fd/{}/s", handle.as_raw_fd()));
    let listener = UnixListener::bind(&inside).context("cannot be made")?;
    fs::set_permissions(&inside, fs::Permissions::from_mode(0o600))?;
    fs::rename(&inside, path).context("cannot be made")?;
    Ok(listener)
}

/// Leaves the place free, or for a socket that nobody listens on.
fn make_way(path: &Path) -> anyhow::Result<()> {
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(()) };
    if !found.file_type().is_socket() {
        bail!("there is a file that is no socket; name another place with --control");
    }
    match UnixStream::connect(path) {
        Ok(_) => bail!("another router has it; name another place with --control"),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
        Err(error) => Err(error).context("cannot tell whether another router has it"),
    }
}

fn listen(listener: &UnixListener, deliver: &(impl Fn(Asked) -> bool + Clone + Send + 'static)) {
    let clients = Arc::new(AtomicUsize::new(0));
    for client in listener.incoming() {
        let Ok(client) = client else { continue };
        if clients.fetch_add(1, Ordering::Relaxed) >= MOST_CLIENTS {
            clients.fetch_sub(1, Ordering::Relaxed);
            let full = format!("{MOST_CLIENTS} clients are connected already; try again later");
            let _ = write_line(&mut &client, &Answer::Refused(full));
            continue;
        }
        let (deliver, own) = (deliver.clone(), clients.clone());
        let served = std::thread::Builder::new().name("client".to_owned()).spawn(move || {
            // A client that goes away early has no one to tell.
            let _ = serve(&client, &deliver);
            own.fetch_sub(1, Ordering::Relaxed);
        });
        if served.is_err() {
            clients.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn serve(mut client: &UnixStream, deliver: &impl Fn(Asked) -> bool) -> anyhow::Result<()> {
    let mut input = BufReader::new(client);
    loop {
        let answer = match read_line(&mut input, LONGEST_ORDER) {
            Ok(None) => return Ok(()),
            Ok(Some(line)) => match serde_json::from_str(&line) {
                Ok(order) => ask(order, deliver)?,
                Err(error) => Answer::Refused(format!("no order: {error}")),
            },
            Err(error) => {
                // Where the next order begins is not known any more.
                return write_line(&mut client, &Answer::Refused(error.to_string()));
            }
        };
        write_line(&mut client, &answer)?;
    }
}

fn ask(order: Order, deliver: &impl Fn(Asked) -> bool) -> anyhow::Result<Answer> {
    let (answer, answered): (_, Receiver<Answer>) = sync_channel(1);
    if !deliver(Asked { order, answer }) {
        bail!("the router has ended");
    }
    Ok(answered.recv()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    fn echo(asked: Asked) -> bool {
        let text = asked.order.words.join(" ");
        asked.answer(Answer::Done(text));
        true
    }

    fn order(path: &Path, line: &str) -> String {
        let mut client = UnixStream::connect(path).unwrap();
        client.write_all(line.as_bytes()).unwrap();
        let mut input = BufReader::new(client);
        read_line(&mut input, 1 << 20).unwrap().unwrap()
    }

    #[test]
    fn it_is_for_its_owner_alone_and_goes_with_the_router() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        let socket = ControlSocket::open(&path, echo).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(order(&path, "{\"words\":[\"a\",\"b\"]}\n"), "{\"done\":\"a b\"}\n");
        assert!(order(&path, "nonsense\n").contains("refused"));
        assert!(order(&path, &"x".repeat(100_000)).contains("longer than"));
        drop(socket);
        assert!(!path.exists());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left");
    }

    #[test]
    fn another_router_is_refused_and_a_stale_socket_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        let socket = ControlSocket::open(&path, echo).unwrap();
        let refused = ControlSocket::open(&path, echo).unwrap_err();
        assert!(format!("{refused:#}").contains("another router has it"), "{refused:#}");
        // What a router leaves behind that was killed: a file, and nobody listening.
        let stale = dir.path().join("stale");
        drop(UnixListener::bind(&stale).unwrap());
        assert!(stale.exists());
        let second = ControlSocket::open(&stale, echo).unwrap();
        assert_eq!(order(&stale, "{\"words\":[]}\n"), "{\"done\":\"\"}\n");
        drop((socket, second));
        let file = dir.path().join("file");
        fs::write(&file, "data").unwrap();
        let refused = ControlSocket::open(&file, echo).unwrap_err();
        assert!(format!("{refused:#}").contains("no socket"), "{refused:#}");
        assert_eq!(fs::read(&file).unwrap(), b"data");
    }

    /// The directory in which a socket was made had the router's process in its name and nothing else: that
    /// of a killed router stood in the way of one with the same number.
    #[test]
    fn what_a_killed_router_left_is_not_in_the_way_and_goes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        fs::create_dir(dir.path().join(format!("s.{}", std::process::id()))).unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let left = dir.path().join(format!("fwdlab-{}-0123456789abcdef", child.id()));
        fs::create_dir(&left).unwrap();
        let _socket = ControlSocket::open(&path, echo).unwrap();
        assert!(!left.exists());
    }

    #[test]
    fn a_path_is_as_long_as_that_of_a_socket_can_be() {
        let dir = tempfile::tempdir().unwrap();
        let room = 107 - dir.path().as_os_str().len() - 1;
        let path = dir.path().join("x".repeat(room));
        let socket = ControlSocket::open(&path, echo).unwrap();
        assert_eq!(order(&path, "{\"words\":[]}\n"), "{\"done\":\"\"}\n");
        drop(socket);
        let path = dir.path().join("x".repeat(room + 1));
        let refused = format!("{:#}", ControlSocket::open(&path, echo).unwrap_err());
        assert!(refused.contains("name a shorter one"), "{refused}");
    }

    #[test]
    fn a_socket_that_took_the_place_is_not_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("s");
        let socket = ControlSocket::open(&path, echo).unwrap();
        fs::remove_file(&path).unwrap();
        fs::write(&path, "another's").unwrap();
        drop(socket);
        assert!(path.exists());
    }
}
