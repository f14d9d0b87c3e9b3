//! The third stage: gives up everything, and becomes the command.

use std::io;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use caps::CapSet;
use nix::sched::CloneFlags;
use nix::sys::prctl;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{SigSet, Signal};

use super::{failed, landlock, namespaces, seccomp};
use crate::sandbox::ended::{Layers, Level};
use crate::sandbox::wire::{self, Answer, Ceiling, Request};

/// The user that a command believes to be. It is not root, so that it gets no capabilities (`capabilities`(7)).
const USER: u32 = 1000;

/// What every command finds in its environment, beside the folder for its files, and before what the operator gives.
const ENVIRONMENT: [(&str, &str); 3] = [
    ("PATH", "/usr/local/bin:/usr/bin:/bin"),
    ("LANG", "C.UTF-8"),
    ("TERM", "dumb"),
];

pub(super) fn run(channel: &mut UnixStream) -> Result<(), Answer> {
    let request: Request = wire::read(channel).map_err(failed("cannot read the request"))?;
    ready(&request)?;
    let layers = confine(&request)?;
    let Some((program, arguments)) = request.argv.split_first() else {
        return Err(Answer::NotRun {
            reason: "no program is named".to_owned(),
        });
    };
    wire::write(channel, &Answer::Started { layers })
        .map_err(failed("the other side has closed"))?;
    let error = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(ENVIRONMENT)
        .envs(["HOME", "TMPDIR"].map(|name| (name, &request.temporary)))
        .envs(request.environment)
        .stdin(Stdio::null())
        .exec();
    Err(Answer::NotRun {
        reason: explain(&error),
    })
}

/// What holds for every command, also without a sandbox.
fn ready(request: &Request) -> Result<(), Answer> {
    let step = |what, done: nix::Result<()>| done.map_err(|error| failed(what)(error.into()));
    step(
        "cannot bind to the parent",
        prctl::set_pdeathsig(Signal::SIGKILL),
    )?;
    // No terminal, so nobody can be asked and nothing can be typed.
    step("cannot start a session", nix::unistd::setsid().map(drop))?;
    step("cannot open to signals", SigSet::empty().thread_set_mask())?;
    step("cannot set limits", limit(request.limits))?;
    // Where memory ends for the whole machine, a command goes before the rest. Not every container allows it.
    let _ = std::fs::write("/proc/self/oom_score_adj", "500");
    std::env::set_current_dir(&request.directory)
        .map_err(failed("cannot enter the working directory"))
}

fn confine(request: &Request) -> Result<Layers, Answer> {
    let mut layers = Layers {
        level: Level::None,
        in_force: vec!["limits".to_owned()],
        missing: Vec::new(),
    };
    if request.level == Level::None {
        layers
            .missing
            .push("all others: the workspace says `unsandboxed`".to_owned());
        return Ok(layers);
    }
    if request.level == Level::Full {
        namespaces::enter_user(CloneFlags::CLONE_NEWUSER, USER).map_err(|error| {
            Answer::NoNamespaces {
                reason: error.to_string(),
            }
        })?;
        layers.level = Level::Full;
        layers.in_force.push("namespaces".to_owned());
        layers.in_force.push("read-only mounts".to_owned());
        if request.roots.iter().any(|root| root == Path::new("/")) {
            let missing = "own root: `/` is a root, so names outside are visible";
            layers.missing.push(missing.to_owned());
        } else {
            layers.in_force.push("own root".to_owned());
        }
        if !request.own_processes {
            layers
                .missing
                .push("own /proc: the machine allows none, so commands have no /proc".to_owned());
        }
    } else {
        layers.level = Level::Reduced;
        for layer in ["namespaces", "read-only mounts", "own root"] {
            layers.missing.push(format!("{layer}: {}", request.lacking));
        }
        let missing = "modes and times: those of files outside can be changed";
        layers.missing.push(missing.to_owned());
    }
    // Needs a capability itself, and nothing can be regained without the others.
    let bounded = caps::clear(None, CapSet::Bounding).is_ok();
    prctl::set_no_new_privs()
        .map_err(|error| failed("cannot renounce privileges")(error.into()))?;
    layers.in_force.push("no new privileges".to_owned());
    let (landlock, has_scopes) = landlock::confine(request)?;
    layers.in_force.push(landlock);
    if !has_scopes && request.level != Level::Full {
        layers
            .missing
            .push("signals: this landlock does not hold them".to_owned());
    }
    for set in [
        CapSet::Ambient,
        CapSet::Inheritable,
        CapSet::Effective,
        CapSet::Permitted,
    ] {
        caps::clear(None, set).map_err(|error| Answer::Missing {
            layer: "capabilities".to_owned(),
            reason: error.to_string(),
        })?;
    }
    if !bounded && nix::unistd::geteuid().is_root() {
        return Err(Answer::Missing {
            layer: "capabilities".to_owned(),
            reason: "root cannot give them up for good".to_owned(),
        });
    }
    layers.in_force.push("no capabilities".to_owned());
    layers.in_force.push(seccomp::confine(request)?);
    Ok(layers)
}

fn limit(ceiling: Ceiling) -> nix::Result<()> {
    for (resource, most) in [
        // The second stage looks at the time, and names the limit; this is for when it comes too late.
        (Resource::RLIMIT_CPU, ceiling.cpu_seconds.saturating_add(2)),
        (Resource::RLIMIT_FSIZE, ceiling.file_bytes),
        (Resource::RLIMIT_NOFILE, ceiling.open_files),
        (Resource::RLIMIT_CORE, 0),
    ] {
        let (_, hard) = getrlimit(resource)?;
        let most = most.min(hard);
        setrlimit(resource, most, most)?;
    }
    Ok(())
}

/// What the system says, in words for a model.
fn explain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such program".to_owned(),
        io::ErrorKind::PermissionDenied => {
            "it is not a program, or it is in a place that commands cannot read".to_owned()
        }
        _ => error.to_string(),
    }
}
