//! Backend and executor as processes of their own, possibly on different machines.
//!
//! | file | holds |
//! |---|---|
//! | `backend` | the model, the runs, the service |
//! | `executor` | the tools, over one folder |
//! | `task_file` | the task the executor connects to, before and after a restart |
//! | `secret` | tokens in files and variables |

mod backend;
mod executor;
mod secret;
mod task_file;

use std::time::Duration;

pub use backend::Backend;
pub use executor::Executor;

/// How long what is at work may go on when the process is to end.
const DRAIN: Duration = Duration::from_secs(10);

/// Why a half has ended before it should.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Waits for Ctrl-C or SIGTERM.
pub(crate) async fn interrupted() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    // Without a handler, the system ends the process by itself.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
