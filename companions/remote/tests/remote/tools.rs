//! The tools and sessions that the other tests use.

use std::sync::Arc;
use std::time::Duration;

use contract_manifest::ToManifest as _;
use contract_remote::{Backend, BackendHandle, Executor, ExecutorHandle, Safeguards, Session};
use contract_runtime::prelude::*;
use tokio::sync::Notify;

pub(crate) type Tested = Result<(), Box<dyn std::error::Error>>;

/// Told when the body of `wait` begins, and when it is dropped.
#[derive(Default)]
pub(crate) struct Signals {
    pub(crate) begun: Notify,
    pub(crate) dropped: Notify,
}

struct Tell<'s>(&'s Signals);

impl Drop for Tell<'_> {
    fn drop(&mut self) {
        self.0.dropped.notify_one();
    }
}

/// Halve an even number.
#[tool(read_only)]
#[pre(number % 2 == 0, "only even numbers can be halved")]
pub(crate) fn halve(number: i64) -> i64 {
    number / 2
}

/// Say which guess it was.
#[tool(read_only)]
#[pre(number != 3, "three was taken")]
pub(crate) fn guess(#[arg(secret)] number: i64) -> bool {
    number > 3
}

/// Give a text back.
#[tool(read_only)]
pub(crate) fn echo(text: String) -> String {
    text
}

/// Keep a promise, or not.
#[tool]
#[post(|kept| *kept, "the promise is broken")]
pub(crate) fn promise(kept: bool) -> bool {
    kept
}

/// Fail.
#[tool]
pub(crate) fn fail(why: String) -> Result<(), String> {
    Err(why)
}

/// Panic.
#[tool]
pub(crate) fn panic_now() {
    panic!("a secret that no model reads");
}

/// Wait for an hour, and say so.
#[tool]
pub(crate) async fn wait(
    #[context] signals: &Signals,
    #[context] progress: &Progress,
    #[context] log: &Log,
) {
    let _tell = Tell(signals);
    log.log(contract_runtime::LogLevel::Notice, "see you in an hour");
    progress.report(1.0, Some(2.0), "half way");
    signals.begun.notify_one();
    tokio::time::sleep(Duration::from_secs(3600)).await;
}

pub(crate) struct House {
    pub(crate) session: Session,
    pub(crate) executor: ExecutorHandle,
    pub(crate) backend: BackendHandle,
}

pub(crate) fn registry(signals: &Arc<Signals>) -> Result<Registry, BuildError> {
    Registry::builder()
        .context_arc(Arc::clone(signals))
        .tool(wait)
        .tool(halve)
        .tool(guess)
        .tool(echo)
        .tool(promise)
        .tool(fail)
        .tool(panic_now)
        .build()
}

/// A backend that knows the tools, an executor that has dialled in.
pub(crate) async fn house(tools: Registry) -> Result<House, Box<dyn std::error::Error>> {
    let backend = Backend::new(tools.manifest())
        .grace(Duration::from_millis(500))
        .safeguards(Safeguards::default().steps(None).equal_calls(None))
        .bind("127.0.0.1:0")
        .await?;
    let (task, token) = backend.task().await?;
    let executor = Executor::new(tools).connect(task.address(), token);
    let session = tokio::time::timeout(Duration::from_secs(30), task.attached()).await??;
    Ok(House {
        session,
        executor,
        backend,
    })
}
