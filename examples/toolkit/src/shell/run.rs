//! Waiting for a command while both of its streams are read.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::io::AsyncRead;
use tokio::time::{sleep, timeout};

use super::capture::Capture;
use super::report::Over;
use super::{CommandReport, ShellProblem};
use crate::sandbox::{Ended, Exit, Running, SandboxProblem, launch};
use crate::workspace::Workspace;

/// What may still be on its way when the last process has ended. Only one that got out of the sandbox's sight could hold a
/// pipe for longer.
const DRAIN: Duration = Duration::from_millis(250);

/// How long the helper may take to end everything and say so.
const ENDING: Duration = Duration::from_secs(5);

/// Runs a command to its end, or to the end of its time. Dropping the future ends the command.
pub(super) async fn run(
    workspace: &Workspace,
    directory: &Path,
    argv: Vec<String>,
    given: Duration,
) -> Result<CommandReport, ShellProblem> {
    let began = Instant::now();
    let slow = ShellProblem::Slow {
        seconds: given.as_secs(),
    };
    let mut running = timeout(given, launch(workspace, directory, argv))
        .await
        .map_err(|_| slow)??;
    let characters = workspace.limits().shell_characters;
    let (mut stdout, mut stderr) = (Capture::new(characters), Capture::new(characters));
    let streams = (running.stdout.take(), running.stderr.take());
    // What a stream says of its end after this is not the command's doing.
    let is_over = AtomicBool::new(false);
    let (ended, over) = {
        let draining = async {
            tokio::join!(
                drain(&mut stdout, streams.0, &is_over),
                drain(&mut stderr, streams.1, &is_over)
            )
        };
        tokio::pin!(draining);
        let mut drained = false;
        let clock = sleep(given.saturating_sub(began.elapsed()));
        tokio::pin!(clock);
        let ended = {
            let waiting = running.wait();
            tokio::pin!(waiting);
            loop {
                tokio::select! {
                    ended = &mut waiting => break Some(ended),
                    _ = &mut draining, if !drained => drained = true,
                    () = &mut clock => break None,
                }
            }
        };
        let (ended, over) = match ended {
            Some(Ok(ended)) => (ended, Over::ByItself),
            // What it said until then is worth more than the loss.
            Some(Err(SandboxProblem::Lost)) => {
                is_over.store(true, Ordering::Relaxed);
                (stopped(&mut running).await, Over::Lost)
            }
            Some(Err(problem)) => return Err(problem.into()),
            None => {
                is_over.store(true, Ordering::Relaxed);
                (stopped(&mut running).await, Over::Late(given))
            }
        };
        if !drained {
            // Late or not, what was read until then is kept.
            let _ = timeout(DRAIN, draining).await;
        }
        (ended, over)
    };
    Ok(CommandReport::new(
        ended,
        over,
        began.elapsed(),
        [stdout.finish(), stderr.finish()],
        characters,
    ))
}

async fn drain(
    capture: &mut Capture,
    stream: Option<impl AsyncRead + Unpin>,
    is_over: &AtomicBool,
) {
    if let Some(stream) = stream {
        capture.drain(stream, is_over).await;
    }
}

/// Ends everything, and waits until it has.
async fn stopped(running: &mut Running) -> Ended {
    // Whatever goes wrong here, what the command said is worth more than that.
    let restored = match timeout(ENDING, running.stopped()).await {
        Ok(Ok(restored)) => restored,
        Ok(Err(_)) | Err(_) => running.unsettled(),
    };
    Ended {
        exit: Exit::Signal {
            number: 9,
            name: "SIGKILL".to_owned(),
        },
        limit: None,
        left_behind: 0,
        layers: running.layers().clone(),
        removed: restored.removed,
        not_removed: restored.not_removed,
    }
}
