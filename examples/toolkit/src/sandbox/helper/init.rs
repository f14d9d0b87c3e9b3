//! The second stage: the first process of its namespace, which starts the command, counts, limits and ends.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::time::Duration;

use nix::sys::prctl;
use nix::sys::signal::Signal;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, WaitOptions, pidfd_open, wait};

use super::process_tree::ProcessTree;
use super::{failed, mounts, stage};
use crate::sandbox::ended::{Exit, Level, Limit};
use crate::sandbox::wire::{self, Answer, Request};

/// How often limits are looked at. A fork bomb makes some thousand processes in this time.
const TICK: Duration = Duration::from_millis(25);

/// The same where `/proc` shows every process of the machine, and looking takes longer.
const LONG_TICK: Duration = Duration::from_millis(100);

pub(super) fn run(channel: &mut UnixStream, namespaces: bool) -> Result<(), Answer> {
    let mut request: Request = wire::read(channel).map_err(failed("cannot read the request"))?;
    // Nothing that the command does may trace this process or read its memory.
    prctl::set_dumpable(false).map_err(|error| failed("cannot hide")(error.into()))?;
    if namespaces {
        prctl::set_pdeathsig(Signal::SIGKILL)
            .map_err(|error| failed("cannot bind to the parent")(error.into()))?;
    } else {
        // The parent is the host here, and must not take this process along: nobody else would end the command.
        prctl::set_child_subreaper(true).map_err(|error| failed("cannot adopt")(error.into()))?;
    }
    if namespaces {
        // A machine that hides parts of its own `/proc` allows none; then the command has none.
        request.own_processes = mounts::processes(request.limits.processes).is_ok();
    }
    let mut tree = ProcessTree::new(namespaces).map_err(failed("cannot look at processes"))?;
    let outcome = start(channel, &request).and_then(|command| {
        watch(channel, &mut tree, &request, command).map_err(failed("cannot watch the command"))
    });
    let counted = ProcessTree::count();
    // However it went, and whether anybody listens or not.
    tree.end();
    let Some((exit, limit)) = outcome? else {
        return Ok(());
    };
    // Not to be able to count is not to have found none.
    let limit = limit.or(counted.is_err().then_some(Limit::Uncounted));
    let ended = Answer::Ended {
        exit,
        limit,
        left_behind: counted.unwrap_or_default(),
    };
    // The host may be gone.
    let _ = wire::write(channel, &ended);
    Ok(())
}

/// Starts the third stage and waits until it has become the command.
fn start(channel: &mut UnixStream, request: &Request) -> Result<Pid, Answer> {
    let (mut ours, theirs) = UnixStream::pair().map_err(failed("cannot make a socket"))?;
    let child = stage("3", Stdio::from(OwnedFd::from(theirs)))
        .spawn()
        .map_err(failed("cannot start the third stage"))?;
    wire::write(&mut ours, request).map_err(failed("cannot send the request"))?;
    let answer: Answer =
        wire::read(&mut ours).map_err(failed("the third stage cannot be heard"))?;
    if !matches!(answer, Answer::Started { .. }) {
        return Err(answer);
    }
    match wire::read::<Answer>(&mut ours) {
        // The command has taken the place of the stage, and its end of the socket is closed.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {}
        Err(error) => return Err(failed("the third stage cannot be heard")(error)),
        Ok(answer) => return Err(answer),
    }
    wire::write(channel, &answer).map_err(failed("the other side has closed"))?;
    Ok(Pid::from_child(&child))
}

/// Waits for the end of the command; `None` when the host is gone or wants it to end.
fn watch(
    channel: &UnixStream,
    tree: &mut ProcessTree,
    request: &Request,
    command: Pid,
) -> io::Result<Option<(Exit, Option<Limit>)>> {
    // A container may allow none; then the end of the command is seen at the next tick.
    let handle = pidfd_open(command, PidfdFlags::empty()).ok();
    let tick = match request.level {
        Level::Full => TICK,
        Level::Reduced | Level::None => LONG_TICK,
    };
    let tick = Timespec::try_from(tick).map_err(io::Error::other)?;
    loop {
        let ends = [Some(channel.as_fd()), handle.as_ref().map(OwnedFd::as_fd)];
        let mut waiting: Vec<PollFd<'_>> = ends
            .into_iter()
            .flatten()
            .map(|end| PollFd::from_borrowed_fd(end, PollFlags::IN))
            .collect();
        match poll(&mut waiting, Some(&tick)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        if waiting
            .first()
            .is_some_and(|host| !host.revents().is_empty())
        {
            return Ok(None);
        }
        if let Some(exit) = reap(command)? {
            let limit = limit_of(&exit);
            return Ok(Some((exit, limit)));
        }
        // What cannot be counted cannot be limited.
        let beyond = tree.beyond(&request.limits);
        if let Some(limit) = beyond.unwrap_or(Some(Limit::Uncounted)) {
            let exit = exit_by(Signal::SIGKILL as i32);
            return Ok(Some((exit, Some(limit))));
        }
    }
}

/// Takes the exit of every process that has ended, and gives that of the command.
fn reap(command: Pid) -> io::Result<Option<Exit>> {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if pid == command => {
                let code = status.exit_status().map(Exit::Code);
                let signal = || status.terminating_signal().map(exit_by);
                return Ok(code.or_else(signal));
            }
            Ok(None) => return Ok(None),
            // Another process.
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Real-time signals have no names.
fn exit_by(number: i32) -> Exit {
    let name = Signal::try_from(number).map_or_else(
        |_| format!("signal {number}"),
        |signal| signal.as_str().to_owned(),
    );
    Exit::Signal { number, name }
}

/// The limit that an exit tells of. A shell gives 128 and the number of the signal for its child.
fn limit_of(exit: &Exit) -> Option<Limit> {
    let number = match exit {
        Exit::Code(code) => code - 128,
        Exit::Signal { number, .. } => *number,
    };
    match Signal::try_from(number) {
        Ok(Signal::SIGXCPU) => Some(Limit::Cpu),
        Ok(Signal::SIGXFSZ) => Some(Limit::FileSize),
        _ => None,
    }
}
