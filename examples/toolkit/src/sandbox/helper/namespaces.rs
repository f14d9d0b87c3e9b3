//! The first stage: namespaces and mounts.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::Stdio;

use nix::mount::{MntFlags, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{Pid, getgid, getppid, getuid};

use super::{failed, init, mounts, stage};
use crate::sandbox::ended::Level;
use crate::sandbox::temporary_folder;
use crate::sandbox::wire::{self, Answer, Request};

pub(super) fn run(channel: &mut UnixStream) -> Result<(), Answer> {
    let request: Request = wire::read(channel).map_err(failed("cannot read the request"))?;
    let host = getppid();
    if request.level != Level::Full {
        let outcome = init::run(channel, false);
        tidy(&request, channel, host, None);
        return outcome;
    }
    // The mount that it lies on can be written for as long as there is a handle from before.
    let holder = temporary_folder::holder(&request.temporary).ok();
    // What was begun cannot be undone in this process; the host asks another one to go without.
    if let Err(error) = enter_namespaces(&request) {
        return Err(Answer::NoNamespaces {
            reason: error.to_string(),
        });
    }
    // It answers by itself, and takes everything with it when it ends.
    stage("2", Stdio::inherit())
        .status()
        .map_err(failed("cannot start the second stage"))?;
    tidy(&request, channel, host, holder);
    Ok(())
}

/// The host does this too; here it is for a host that was killed, and has left its child to another process. What cannot be
/// removed harms nobody.
fn tidy(request: &Request, channel: &UnixStream, host: Pid, holder: Option<OwnedFd>) {
    for path in &request.stand_ins {
        if request.level == Level::Full {
            let _ = umount2(path, MntFlags::MNT_DETACH);
        }
        // Only if it is empty.
        let _ = std::fs::remove_dir(path);
    }
    // It may hold so much that a host that waits for this process would wait long.
    if wire::is_abandoned(channel) || getppid() != host {
        // Among read-only mounts it stays, empty, and goes by way of the handle.
        let _ = temporary_folder::remove(&request.temporary);
        if let Some(holder) = holder {
            let _ = umount2(&request.temporary, MntFlags::MNT_DETACH);
            let _ = temporary_folder::remove_empty(&holder, &request.temporary);
        }
    }
}

fn enter_namespaces(request: &Request) -> io::Result<()> {
    let mut wanted = CloneFlags::CLONE_NEWUSER
        | CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWNS
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS;
    if !request.network {
        wanted |= CloneFlags::CLONE_NEWNET;
    }
    enter_user(wanted, 0)?;
    mounts::arrange(request)
}

/// Enters new namespaces, as a user with this number in the new one, who is the present user outside (`user_namespaces`(7)).
pub(super) fn enter_user(wanted: CloneFlags, number: u32) -> io::Result<()> {
    let (user, group) = (getuid(), getgid());
    unshare(wanted).map_err(|error| with_context("unshare", &error.into()))?;
    for (file, content) in [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("{number} {user} 1")),
        ("gid_map", format!("{number} {group} 1")),
    ] {
        std::fs::write(format!("/proc/self/{file}"), content)
            .map_err(|error| with_context(file, &error))?;
    }
    Ok(())
}

fn with_context(what: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{what}: {error}"))
}
