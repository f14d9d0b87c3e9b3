//! Runs async code from a plain `main`, or from one that is async itself.

use std::future::Future;
use std::io;
use std::thread;

use tokio::runtime::{Builder, Handle};

/// Waits for a future in a runtime of its own.
///
/// A runtime must not be started on a thread of another one, so inside a runtime a new thread waits.
pub(super) fn block_on<T: Send>(future: impl Future<Output = T> + Send) -> io::Result<T> {
    if Handle::try_current().is_err() {
        return on_this_thread(future);
    }
    thread::scope(|scope| {
        let waiting = thread::Builder::new().spawn_scoped(scope, || on_this_thread(future))?;
        match waiting.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// A synchronous body blocks its thread, and interrupts must still be received meanwhile.
const THREADS: usize = 16;

fn on_this_thread<T>(future: impl Future<Output = T>) -> io::Result<T> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(THREADS)
        .enable_all()
        .build()?;
    let done = runtime.block_on(future);
    // Dropping it would wait for abandoned blocking bodies, and for a read of standard input.
    runtime.shutdown_background();
    Ok(done)
}

/// A signal that was received.
#[derive(Clone, Copy, Debug)]
pub(super) enum Interrupt {
    /// Ctrl-C, which a user may repeat.
    Asked,
    /// The request to terminate, which a supervisor sends once.
    #[cfg_attr(not(unix), allow(dead_code, reason = "there are no such requests"))]
    Terminated,
}

/// Receives Ctrl-C and the request to terminate; once created, they no longer end the process.
pub(super) struct Interrupts {
    #[cfg(unix)]
    signals: Option<[tokio::signal::unix::Signal; 2]>,
}

impl Interrupts {
    /// Inside a runtime.
    #[cfg(unix)]
    pub(super) fn new() -> Self {
        use tokio::signal::unix::{SignalKind, signal};
        let both = signal(SignalKind::interrupt()).and_then(|interrupt| {
            let terminate = signal(SignalKind::terminate())?;
            Ok([interrupt, terminate])
        });
        Self { signals: both.ok() }
    }

    /// Waits for the next signal; forever if the system provides none.
    #[cfg(unix)]
    pub(super) async fn next(&mut self) -> Interrupt {
        let Some([interrupt, terminate]) = &mut self.signals else {
            return std::future::pending().await;
        };
        tokio::select! {
            Some(()) = interrupt.recv() => Interrupt::Asked,
            Some(()) = terminate.recv() => Interrupt::Terminated,
            else => std::future::pending().await,
        }
    }

    /// Inside a runtime.
    #[cfg(not(unix))]
    pub(super) fn new() -> Self {
        Self {}
    }

    /// Waits for the next signal; forever if the system provides none.
    #[cfg(not(unix))]
    pub(super) async fn next(&mut self) -> Interrupt {
        if tokio::signal::ctrl_c().await.is_err() {
            return std::future::pending().await;
        }
        Interrupt::Asked
    }
}
