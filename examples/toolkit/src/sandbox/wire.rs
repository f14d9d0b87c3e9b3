//! What the host and the stages of the helper tell each other: JSON, with its length before it.
//!
//! The length lets a stage read its own message and leave the next on the socket for the stage after it.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::ended::{Exit, Layers, Level, Limit};

/// No message is longer; a command line has at most 2 MiB on Linux.
const LONGEST: usize = 4 << 20;

/// What the helper is asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Request {
    pub(super) argv: Vec<String>,
    pub(super) directory: PathBuf,
    pub(super) roots: Vec<PathBuf>,
    /// The folder for temporary files, made for this command.
    pub(super) temporary: PathBuf,
    /// Absolute paths that are not to be written, and exist; parents before children.
    pub(super) sealed: Vec<PathBuf>,
    /// Absolute paths of folders that must keep their names, because something sealed lies in them.
    pub(super) pinned: Vec<PathBuf>,
    /// Those of the sealed that are there only for this command.
    pub(super) stand_ins: Vec<PathBuf>,
    pub(super) cross_mounts: bool,
    pub(super) readable: Vec<PathBuf>,
    pub(super) environment: Vec<(String, String)>,
    pub(super) network: bool,
    /// What to try to have.
    pub(super) level: Level,
    /// Why it is not all.
    pub(super) lacking: String,
    /// `/proc` shows the processes of the command and no others; the second stage sees to it.
    pub(super) own_processes: bool,
    pub(super) limits: Ceiling,
}

/// How much the processes may have.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Ceiling {
    pub(super) memory: u64,
    pub(super) processes: u32,
    pub(super) cpu_seconds: u64,
    pub(super) file_bytes: u64,
    pub(super) open_files: u64,
}

/// What the helper answers.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    /// The command runs.
    Started { layers: Layers },
    /// No namespaces here; ask again without.
    NoNamespaces { reason: String },
    /// A layer is missing that must be there.
    Missing { layer: String, reason: String },
    /// The program could not be executed.
    NotRun { reason: String },
    /// Something else went wrong.
    Failed { reason: String },
    /// The command has ended, and with it everything that it started.
    Ended {
        exit: Exit,
        limit: Option<Limit>,
        left_behind: u32,
    },
}

/// A message with its length before it.
pub(super) fn frame(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let body = serde_json::to_vec(message)?;
    let length = u32::try_from(body.len())
        .ok()
        .filter(|_| body.len() <= LONGEST)
        .ok_or_else(|| io::Error::other("the message is too long"))?;
    let mut framed = length.to_be_bytes().to_vec();
    framed.extend(body);
    Ok(framed)
}

/// How long a message is, as its first four bytes say.
pub(super) fn length(prefix: [u8; 4]) -> io::Result<usize> {
    let length = u32::from_be_bytes(prefix) as usize;
    if length > LONGEST {
        return Err(io::Error::other("the message is too long"));
    }
    Ok(length)
}

pub(super) fn write(to: &mut impl Write, message: &impl Serialize) -> io::Result<()> {
    to.write_all(&frame(message)?)
}

/// The next message; an error of kind `UnexpectedEof` when there is none.
pub(super) fn read<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<T> {
    let mut prefix = [0; 4];
    from.read_exact(&mut prefix)?;
    let mut body = vec![0; length(prefix)?];
    from.read_exact(&mut body)?;
    Ok(serde_json::from_slice(&body)?)
}

/// Says that the process which closes this channel lives and tidies up. A process that is killed closes its channels too, a moment
/// before its children can see that it is gone.
pub(super) fn take_leave(channel: &impl AsFd) {
    let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    // The helper may have ended before.
    let _ = rustix::net::send(channel, &[0], flags);
}

/// Whether the other end was closed by the death of its process.
pub(super) fn is_abandoned(channel: &impl AsFd) -> bool {
    let mut leave = [0];
    match rustix::net::recv(channel, &mut leave, RecvFlags::DONTWAIT) {
        Ok((read, _)) => read == 0,
        Err(error) => error != Errno::AGAIN,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn who_takes_leave_has_not_died() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        assert!(!is_abandoned(&theirs));
        take_leave(&ours);
        drop(ours);
        assert!(!is_abandoned(&theirs));
        assert!(is_abandoned(&theirs));
        // What was not read before the end is an error at the other one.
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        write(&mut theirs, &"unread").unwrap();
        drop(ours);
        assert!(is_abandoned(&theirs));
    }

    #[test]
    fn messages_follow_each_other_and_leave_nothing_behind() {
        let mut stream = frame(&"one").unwrap();
        stream.extend(frame(&"two").unwrap());
        let mut rest = stream.as_slice();
        assert_eq!(read::<String>(&mut rest).unwrap(), "one");
        assert_eq!(read::<String>(&mut rest).unwrap(), "two");
        let end = read::<String>(&mut rest).unwrap_err();
        assert_eq!(end.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_message_that_is_too_long_is_refused_unread() {
        assert!(length(u32::MAX.to_be_bytes()).is_err());
        assert!(frame(&"x".repeat(LONGEST)).is_err());
    }
}
