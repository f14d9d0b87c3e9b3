//! Runs bodies on blocking threads, and calls from blocking code.

use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use tokio::runtime::{Handle, Runtime};
use tokio::sync::oneshot;

use super::body;
use super::body::Job;
use super::inner::Inner;
use crate::contract::panics::{discard, ignore_poison};
use crate::contract::scope::ContractScope;
use crate::contract::thread;
use crate::futures;
use crate::schema::arguments::{Examined, escaped};
use crate::tool::Context;
use crate::tool::call::Call;
use crate::tool::failure::{FailureKind, Stopped};
use crate::tool::reply::Reply;

type Answer = (Reply, Option<Box<Examined>>);

/// Runs the body of a `blocking` tool on a thread where it may block, and waits for its answer.
pub(super) async fn off_the_async_threads(
    inner: &Arc<Inner>,
    index: usize,
    job: Job,
    context: &Context,
    mut scope: ContractScope,
) -> Answer {
    let Ok(place) = Arc::clone(&inner.blocking).try_acquire_owned() else {
        return (Err(FailureKind::Overloaded(inner.limits.blocking)), None);
    };
    let cancellation = context.token();
    let deadline = job.deadline;
    // Dropping the guard cancels the token of the body, which tells it that the caller has given up.
    let mut guard = job.cancel_guard();
    let (send, receive) = oneshot::channel::<Answer>();
    let registry = Arc::clone(inner);
    // The body sets it to begin, and its caller to give it up: the first one decides.
    let decided = Arc::new(AtomicBool::new(false));
    let waiting = Waiting(Arc::clone(&decided), scope.clone());
    let context = context.clone();
    let work = move || {
        let place = place;
        if decided.swap(true, Ordering::AcqRel) {
            return;
        }
        INSIDE.set(true);
        let entry = &registry.entries[index];
        let arguments = scope.arguments().to_owned();
        let request = job.request(&registry, entry, &arguments, &context);
        let start = || entry.tool.shim.call(Call::new(&request));
        let ran = body::inline(&mut scope, start);
        INSIDE.set(false);
        // Everything of the call is dropped before the answer is sent, so that a caller who has the answer finds nothing left over.
        let examined = job.conclude();
        discard(context);
        drop((scope, place));
        let _ = send.send((ran, examined));
    };
    if Handle::try_current().is_ok() {
        drop(tokio::task::spawn_blocking(work));
    } else if std::thread::Builder::new().spawn(work).is_err() {
        let why = "no thread could be started for the tool";
        return (Err(body::impossible(why)), None);
    }
    match body::until(receive, cancellation, deadline).await {
        Ok(answer) => {
            guard.0 = None;
            let why = "the runtime was shut down before the tool ran";
            answer.unwrap_or_else(|_| (Err(body::impossible(why)), None))
        }
        Err(FailureKind::GivenUp(cause, _)) => {
            let given_up = FailureKind::GivenUp(cause, waiting.give_up());
            (Err(given_up), None)
        }
        Err(ended) => (Err(ended), None),
    }
}

/// A call that waits for its body. Dropping it keeps a body from beginning, so that none begins after its call has ended.
struct Waiting(Arc<AtomicBool>, ContractScope);

impl Waiting {
    /// Keeps the body from beginning. If it has begun, what it does is not made lasting.
    fn give_up(&self) -> Stopped {
        if !self.0.swap(true, Ordering::AcqRel) {
            return Stopped::NotStarted;
        }
        if let Some(scope) = self.1.get() {
            scope.abandon();
        }
        Stopped::MayStillRun
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.give_up();
    }
}

thread_local! {
    // Whether this thread runs the body of a `blocking` tool, which may wait for async calls.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Returns why this thread cannot wait for a call of this tool, if it cannot.
pub(super) fn problem(tool: &str) -> Option<String> {
    let is_ending = match Handle::try_current() {
        Ok(_) if !INSIDE.get() => {
            return Some(
                "`blocking` was used inside an async runtime; await the call instead".into(),
            );
        }
        Err(error) if error.is_thread_local_destroyed() => true,
        _ => thread::is_ending(),
    };
    is_ending.then(|| {
        format!(
            "`{}` was not started, because its thread is ending and cannot wait; call it before, or on another thread",
            escaped(tool)
        )
    })
}

/// Idle runtimes, which are used again because creating one takes ten times as long as a short call.
static IDLE: Mutex<Vec<Runtime>> = Mutex::new(Vec::new());

/// The most idle runtimes that are kept; each holds file descriptors.
const KEPT: usize = 8;

/// Waits for a call on a thread that runs no async code. Returns `None` if no runtime can be started.
pub(super) fn wait<T>(call: impl Future<Output = T>) -> Option<T> {
    if let Ok(runtime) = Handle::try_current() {
        return Some(runtime.block_on(call));
    }
    let idle = ignore_poison(IDLE.lock()).pop();
    let start = || {
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build().ok()
    };
    let Some(runtime) = idle.or_else(start) else {
        return futures::now_or_never(pin!(call));
    };
    let ended = runtime.block_on(call);
    put_back(runtime);
    Some(ended)
}

fn put_back(runtime: Runtime) {
    // Tasks that the body has spawned end with its call.
    if runtime.metrics().num_alive_tasks() == 0 {
        let mut idle = ignore_poison(IDLE.lock());
        if idle.len() < KEPT {
            return idle.push(runtime);
        }
    }
    // Dropping a runtime waits for its blocking bodies, and a body that was given up must not hold the caller.
    runtime.shutdown_background();
}
