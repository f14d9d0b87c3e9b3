//! The host's end: asking the helper, and listening to it.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

use super::cleanup::Cleanup;
use super::ended::{Ended, Layers, Level, Restored};
use super::problem::SandboxProblem;
use super::protected::Protection;
use super::temporary_folder::TemporaryFolder;
use super::wire::{self, Answer, Ceiling, Request};
use crate::path::escape;
use crate::workspace::Workspace;

/// The name under which the helper knows that it is one.
pub(super) const MARKER: &str = "contract-toolkit-helper";

/// A command that has been started. Dropping it ends every process of the command, without waiting.
#[derive(Debug)]
pub(crate) struct Running {
    /// To be taken, because they are read while `ended` is waited for.
    pub(crate) stdout: Option<ChildStdout>,
    pub(crate) stderr: Option<ChildStderr>,
    layers: Layers,
    /// Its closing is what ends the command, so it goes before the rest.
    channel: Option<Channel>,
    cleanup: Cleanup,
}

/// Starts a command in a folder of the workspace: a program with its arguments, and no input.
pub(crate) async fn launch(
    workspace: &Workspace,
    directory: &Path,
    argv: Vec<String>,
) -> Result<Running, SandboxProblem> {
    let program = workspace
        .sandbox
        .program()
        .ok_or(SandboxProblem::NoHelper)?;
    let mut request = request(workspace, directory, argv);
    loop {
        let temporary = TemporaryFolder::new()?;
        let protection = Protection::new(workspace, request.level == Level::Full)?;
        request.set_paths(&temporary, &protection);
        let unguarded: Vec<String> = protection
            .unguarded
            .iter()
            .map(|path| format!("protection of `{path}`: it is too large to be put back"))
            .collect();
        let (mut helper, mut channel) = start(program)?;
        let streams = helper.stdout.take().zip(helper.stderr.take());
        // From here on, whatever ends this function ends the helper, and tidies up after it.
        let mut cleanup = Cleanup::new(helper, protection, temporary);
        match ask(&mut channel, &request).await? {
            Answer::Started { mut layers } => {
                let Some((stdout, stderr)) = streams else {
                    return Err(SandboxProblem::Lost);
                };
                layers.missing.extend(unguarded);
                return Ok(Running {
                    stdout: Some(stdout),
                    stderr: Some(stderr),
                    layers,
                    channel: Some(channel),
                    cleanup,
                });
            }
            Answer::NoNamespaces { reason } if request.level == Level::Full => {
                request.level = Level::Reduced;
                request.lacking = reason;
                // What it puts back must not be what the next attempt has made.
                drop(channel);
                cleanup.settle().await?;
            }
            Answer::Missing { layer, reason } => {
                return Err(SandboxProblem::Missing { layer, reason });
            }
            Answer::NotRun { reason } => {
                // A program's name is a text of the model.
                let program = escape(request.argv.first().map_or("", String::as_str));
                return Err(SandboxProblem::NotRun { program, reason });
            }
            Answer::Failed { reason } | Answer::NoNamespaces { reason } => {
                return Err(io::Error::other(reason).into());
            }
            Answer::Ended { .. } => return Err(SandboxProblem::Lost),
        }
    }
}

/// The host's end of the socket, which it does not close without a word.
#[derive(Debug)]
struct Channel(UnixStream);

impl Drop for Channel {
    fn drop(&mut self) {
        wire::take_leave(&self.0);
    }
}

impl Running {
    /// Waits until the command has ended, and everything that it started too. After an error, `stopped` says what was
    /// removed.
    pub(crate) async fn wait(&mut self) -> Result<Ended, SandboxProblem> {
        let answer = match &mut self.channel {
            Some(channel) => receive(channel).await,
            None => Err(SandboxProblem::Lost),
        };
        self.channel = None;
        let Ok(Answer::Ended {
            exit,
            limit,
            left_behind,
        }) = answer
        else {
            return Err(SandboxProblem::Lost);
        };
        let restored = self.cleanup.settle().await?;
        Ok(Ended {
            exit,
            limit,
            left_behind,
            layers: self.layers.clone(),
            removed: restored.removed,
            not_removed: restored.not_removed,
        })
    }

    /// Ends every process of the command and waits until they are gone; answers with what became of
    /// protected paths.
    pub(crate) async fn stopped(&mut self) -> Result<Restored, SandboxProblem> {
        self.channel = None;
        self.cleanup.settle().await
    }

    /// What is to be said of protected paths when that could not be waited for.
    pub(crate) fn unsettled(&self) -> Restored {
        self.cleanup.unsettled()
    }

    /// What keeps the command apart from the machine.
    pub(crate) fn layers(&self) -> &Layers {
        &self.layers
    }
}

fn request(workspace: &Workspace, directory: &Path, argv: Vec<String>) -> Request {
    let sandbox = &workspace.sandbox;
    let limits = workspace.limits();
    Request {
        argv,
        directory: directory.to_owned(),
        roots: workspace.roots().map(PathBuf::from).collect(),
        temporary: PathBuf::new(),
        sealed: Vec::new(),
        pinned: Vec::new(),
        stand_ins: Vec::new(),
        cross_mounts: workspace.rules.cross_mounts,
        readable: sandbox.readable.clone(),
        environment: sandbox.environment.clone(),
        network: sandbox.network,
        level: if sandbox.confined {
            Level::Full
        } else {
            Level::None
        },
        lacking: String::new(),
        own_processes: false,
        limits: Ceiling {
            memory: limits.shell_memory,
            processes: limits.shell_processes,
            cpu_seconds: limits.shell_cpu.as_secs().max(1),
            file_bytes: limits.shell_file_bytes,
            open_files: limits.shell_open_files,
        },
    }
}

impl Request {
    /// Fills in what is made anew for each attempt.
    fn set_paths(&mut self, temporary: &TemporaryFolder, protection: &Protection) {
        temporary.path().clone_into(&mut self.temporary);
        self.sealed = protection.sealed.iter().cloned().collect();
        self.pinned = protection.pinned.iter().cloned().collect();
        self.stand_ins.clone_from(&protection.stand_ins);
    }
}

fn start(program: &Path) -> io::Result<(Child, Channel)> {
    let (ours, theirs) = std::os::unix::net::UnixStream::pair()?;
    ours.set_nonblocking(true)?;
    let channel = Channel(UnixStream::from_std(ours)?);
    let helper = Command::new(program)
        .arg0(MARKER)
        .arg("1")
        // Nothing of our environment may be found in `/proc/1/environ`.
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // What a terminal sends to us is not meant for it.
        .process_group(0)
        .spawn()?;
    Ok((helper, channel))
}

async fn ask(channel: &mut Channel, request: &Request) -> Result<Answer, SandboxProblem> {
    let framed = wire::frame(request)?;
    // One for the first stage, one for the second.
    for _ in 0..2 {
        if channel.0.write_all(&framed).await.is_err() {
            break;
        }
    }
    receive(channel).await
}

async fn receive(channel: &mut Channel) -> Result<Answer, SandboxProblem> {
    let mut prefix = [0; 4];
    channel
        .0
        .read_exact(&mut prefix)
        .await
        .map_err(|_| SandboxProblem::Lost)?;
    let mut body = vec![0; wire::length(prefix)?];
    channel
        .0
        .read_exact(&mut body)
        .await
        .map_err(|_| SandboxProblem::Lost)?;
    serde_json::from_slice(&body).map_err(|error| io::Error::from(error).into())
}
