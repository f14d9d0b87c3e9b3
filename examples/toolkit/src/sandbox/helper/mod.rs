//! The helper: this program, executed again to start one command.
//!
//! Each stage is executed anew, has one thread, reads its request from its standard input and answers there.

mod exec;
mod init;
mod landlock;
mod mounts;
mod namespaces;
mod process_tree;
mod root_filesystem;
mod seccomp;
mod shared_memory;

use std::ffi::OsStr;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use super::host::MARKER;
use super::wire::{self, Answer};

/// Stage 1 and 2 mean nothing to anybody by their exit code.
const DONE: i32 = 0;

/// Becomes the helper if this process was started as one; else returns at once.
pub(super) fn enter() {
    let mut arguments = std::env::args_os();
    if arguments.next().as_deref() != Some(OsStr::new(MARKER)) {
        return;
    }
    let stage = arguments.next();
    let code = run(stage.as_deref().and_then(OsStr::to_str));
    std::process::exit(code);
}

fn run(stage: Option<&str>) -> i32 {
    if close_others().is_err() {
        return 1;
    }
    let Ok(mut channel) = io::stdin()
        .as_fd()
        .try_clone_to_owned()
        .map(UnixStream::from)
    else {
        return 1;
    };
    let outcome = match stage {
        Some("1") => namespaces::run(&mut channel),
        Some("2") => init::run(&mut channel, true),
        Some("3") => exec::run(&mut channel),
        _ => Err(Answer::Failed {
            reason: "the helper has no such stage".to_owned(),
        }),
    };
    if let Err(answer) = outcome {
        // Whoever asked may be gone.
        let _ = wire::write(&mut channel, &answer);
        return 1;
    }
    DONE
}

/// Closes what the host had open and did not mean to give: not everything is closed by an exec.
fn close_others() -> io::Result<()> {
    let mut open = Vec::new();
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let name = entry?.file_name();
        open.extend(name.to_str().and_then(|name| name.parse::<i32>().ok()));
    }
    for number in open.into_iter().filter(|number| *number > 2) {
        // One of them was the listing itself.
        let _ = nix::unistd::close(number);
    }
    Ok(())
}

/// The next stage: this program again, told by its arguments.
fn stage(number: &str, channel: Stdio) -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg0(MARKER).arg(number).env_clear().stdin(channel);
    command
}

/// An answer that says what could not be done.
fn failed(what: &str) -> impl Fn(io::Error) -> Answer + '_ {
    move |error| Answer::Failed {
        reason: format!("{what}: {error}"),
    }
}
