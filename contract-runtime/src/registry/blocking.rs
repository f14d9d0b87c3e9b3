//! Runs bodies on blocking threads, and calls from blocking code.

use std::cell::Cell;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
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
use crate::schema::arguments::Examined;
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
    let Some(place) = BlockingSlot::take(inner) else {
        let limit = inner.limits.blocking;
        return (Err(FailureKind::Overloaded { limit }), None);
    };
    let cancellation = context.token();
    let deadline = job.deadline;
    // Dropping the guard cancels the token of the body, which tells it that the caller has given up.
    let mut guard = job.cancel_guard();
    let (send, receive) = oneshot::channel::<Answer>();
    let registry = Arc::clone(inner);
    let start = Start::default();
    let waiting = Waiting(start.clone(), scope.clone());
    let context = context.clone();
    let work = move || {
        let place = place;
        if !start.begin() {
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
    let mut examined = None;
    let answered = async {
        match receive.await {
            Ok((ran, made)) => {
                examined = made;
                ran
            }
            Err(_) => Err(body::impossible(
                "the runtime was shut down before the tool ran",
            )),
        }
    };
    let ran = match body::until(answered, cancellation, deadline).await {
        Err(FailureKind::TimedOut { after, .. }) => Err(FailureKind::TimedOut {
            after,
            stopped: waiting.give_up(),
        }),
        Err(FailureKind::Cancelled { .. }) => Err(body::cancelled(waiting.give_up())),
        ended => {
            guard.0 = None;
            ended.unwrap_or_else(Err)
        }
    };
    (ran, examined)
}

/// Decides once whether a body begins or its caller gives it up, so that no body begins after its call has ended.
#[derive(Clone, Default)]
struct Start(Arc<AtomicBool>);

impl Start {
    /// Begins the body; returns false if the caller has given it up.
    fn begin(&self) -> bool {
        !self.0.swap(true, Ordering::AcqRel)
    }
}

/// A call that waits for its body. Dropping it keeps a body from beginning.
struct Waiting(Start, ContractScope);

impl Waiting {
    /// Keeps the body from beginning. If it has begun, what it does is not made lasting.
    fn give_up(&self) -> Stopped {
        if self.0.begin() {
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

/// A permit for one of the blocking bodies that may run at once.
struct BlockingSlot(Arc<AtomicUsize>);

impl BlockingSlot {
    fn take(inner: &Inner) -> Option<Self> {
        let count = Arc::clone(&inner.blocking);
        if count.fetch_add(1, Ordering::Relaxed) >= inner.limits.blocking {
            count.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        Some(Self(count))
    }
}

impl Drop for BlockingSlot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

thread_local! {
    // Whether this thread runs the body of a `blocking` tool, which may wait for async calls.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Why a thread cannot wait for a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Problem {
    /// The thread runs async code.
    Inside,
    /// The thread is ending: it runs the destructors of its thread-local values.
    Ending,
}

#[inline]
pub(super) fn problem() -> Option<Problem> {
    match Handle::try_current() {
        Ok(_) if !INSIDE.get() => Some(Problem::Inside),
        Err(error) if error.is_thread_local_destroyed() => Some(Problem::Ending),
        _ => thread::is_ending().then_some(Problem::Ending),
    }
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
    let Some(runtime) = idle.or_else(new_runtime) else {
        return futures::now_or_never(pin!(call));
    };
    let ended = runtime.block_on(call);
    put_back(runtime);
    Some(ended)
}

#[cold]
fn new_runtime() -> Option<Runtime> {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().ok()
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
