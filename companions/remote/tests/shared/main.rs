//! Several backends on one Redis: an executor connects to one, and its task may be at home in another.
//!
//! `SHARED_ROUNDS=200` tries races so often.

mod claims;
mod faults;
mod fence;
#[path = "../faults/judge.rs"]
#[allow(dead_code, reason = "another store is judged here")]
mod judge;
mod link;
#[path = "../faults/proxy.rs"]
#[allow(dead_code, reason = "no place is reached here")]
mod proxy;
#[path = "../store/server.rs"]
#[allow(dead_code, reason = "the server does more elsewhere")]
mod server;
#[path = "../faults/sides.rs"]
#[allow(dead_code, reason = "only its tools are called here")]
mod sides;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use contract_manifest::ToManifest as _;
use contract_remote::store::{RedisOptions, RedisStore, Store as _};
use contract_remote::{
    Backend, BackendHandle, Executor, ExecutorHandle, Reconnect, Safeguards, Task, Token,
};
use contract_runtime::prelude::*;
use tokio::sync::Notify;
use tokio::time::timeout;

use proxy::Proxy;
use server::Server;

type Tested = Result<(), Box<dyn std::error::Error>>;

/// For what a busy machine may take its time with.
const SOON: Duration = Duration::from_secs(60);

/// How often a race is tried.
fn rounds(few: u64) -> u64 {
    let wanted = std::env::var("SHARED_ROUNDS");
    wanted.map_or(few, |wanted| wanted.parse().unwrap_or(few))
}

#[derive(Default)]
struct Signals {
    marks: AtomicU64,
    /// What was left, by its number.
    left: Mutex<Vec<u64>>,
    begun: Notify,
    go_on: Notify,
    dropped: Notify,
}

struct Tell<'s>(&'s Signals);

impl Drop for Tell<'_> {
    fn drop(&mut self) {
        self.0.dropped.notify_one();
    }
}

/// Leave a mark.
#[tool]
fn mark(#[context] signals: &Signals) -> u64 {
    signals.marks.fetch_add(1, Ordering::SeqCst) + 1
}

/// Leave a mark, once it may.
#[tool]
async fn wait(#[context] signals: &Signals, #[context] progress: &Progress) -> u64 {
    let _tell = Tell(signals);
    progress.report(1.0, None, "half way");
    signals.begun.notify_one();
    signals.go_on.notified().await;
    signals.marks.fetch_add(1, Ordering::SeqCst) + 1
}

/// Leave a number.
#[tool]
fn leave(#[context] signals: &Signals, number: u64) -> Result<u64, &'static str> {
    let mut left = signals.left.lock().map_err(|_| "a panic")?;
    left.push(number);
    Ok(number)
}

fn tools(signals: &Arc<Signals>) -> Result<Registry, BuildError> {
    Registry::builder()
        .context_arc(Arc::clone(signals))
        .tool(mark)
        .tool(leave)
        .tool(wait)
        .build()
}

struct House {
    server: Server,
    signals: Arc<Signals>,
    proxy: Proxy,
}

impl House {
    async fn new() -> Result<Self, Box<dyn std::error::Error>> {
        let (proxy, _) = Proxy::new(None, None).await?;
        Ok(Self {
            server: Server::start(),
            signals: Arc::default(),
            proxy,
        })
    }

    fn store(&self) -> Result<RedisStore, Box<dyn std::error::Error>> {
        Ok(RedisStore::new(RedisOptions::new(self.server.address()))?)
    }

    async fn backend(&self, name: &str) -> Result<BackendHandle, Box<dyn std::error::Error>> {
        let backend = Backend::new(tools(&self.signals)?.manifest())
            .shared(&self.store()?, name)
            .safeguards(Safeguards::off())
            .bind("127.0.0.1:0");
        Ok(backend.await?)
    }

    /// New connections of executors go to this backend.
    async fn lead_to(&self, backend: &BackendHandle) -> Tested {
        let (anywhere, _) = backend.task().await?;
        let host = anywhere.address().trim_start_matches("ws://");
        self.proxy
            .lead_to(host.split('/').next().unwrap_or_default());
        Ok(())
    }

    fn executor(&self, task: &Task, token: Token) -> Result<ExecutorHandle, BuildError> {
        let reconnect = Reconnect::default()
            .first(Duration::from_millis(10))
            .most(Duration::from_millis(100));
        let address = format!("ws://{}/executor/{}", self.proxy.address, task.id());
        let executor = Executor::new(tools(&self.signals)?).reconnect(reconnect);
        Ok(executor.connect(address, token))
    }
}

#[tokio::test]
async fn calls_reach_an_executor_that_is_attached_to_another_backend() -> Tested {
    let house = House::new().await?;
    let (home, host) = (house.backend("home").await?, house.backend("host").await?);
    house.lead_to(&host).await?;
    let (task, token) = home.task().await?;
    let executor = house.executor(&task, token)?;
    let session = timeout(SOON, task.attached()).await??;
    for n in 1..=50 {
        let call = ToolCall::new(n.to_string(), "mark", "");
        let outcome = timeout(SOON, session.registry().call(call)).await?;
        assert_eq!(outcome.output(), Some(&*n.to_string()), "{outcome:?}");
    }
    let (heard, mut reports) = tokio::sync::mpsc::unbounded_channel();
    let context = Context::new().progress(Progress::new(move |report| {
        drop(heard.send(report.message));
    }));
    let call = ToolCall::new("wait", "wait", "");
    tokio::select! {
        outcome = session.registry().call(call).context(context) => {
            return Err(format!("ended: {outcome:?}").into());
        }
        report = timeout(SOON, reports.recv()) => assert_eq!(report?.as_deref(), Some("half way")),
    }
    timeout(SOON, house.signals.dropped.notified()).await?;
    session.finish(true, "done").await;
    timeout(SOON, executor.ended()).await??;
    assert_eq!(house.signals.marks.load(Ordering::SeqCst), 50);
    Ok(())
}

#[tokio::test]
async fn a_wrong_token_and_an_unknown_task_open_no_backend() -> Tested {
    let house = House::new().await?;
    let (home, host) = (house.backend("home").await?, house.backend("host").await?);
    house.lead_to(&host).await?;
    let (task, _) = home.task().await?;
    let executor = house.executor(&task, Token::from("wrong"))?;
    assert!(timeout(SOON, executor.ended()).await?.is_err());
    Ok(())
}

#[tokio::test]
async fn a_call_survives_the_backend_that_its_executor_was_attached_to() -> Tested {
    let house = House::new().await?;
    let (home, host) = (house.backend("home").await?, house.backend("host").await?);
    let third = house.backend("third").await?;
    house.lead_to(&host).await?;
    let (task, token) = home.task().await?;
    let executor = house.executor(&task, token)?;
    let session = timeout(SOON, task.attached()).await??;
    let registry = session.registry().clone();
    let call = tokio::spawn(async move { registry.call(ToolCall::new("1", "wait", "")).await });
    timeout(SOON, house.signals.begun.notified()).await?;
    house.lead_to(&third).await?;
    drop(host);
    house.signals.go_on.notify_one();
    let outcome = timeout(SOON, call).await??;
    assert_eq!(outcome.output(), Some("1"), "{outcome:?}");
    session.finish(true, "done").await;
    timeout(SOON, executor.ended()).await??;
    assert_eq!(house.signals.marks.load(Ordering::SeqCst), 1);
    Ok(())
}

#[tokio::test]
async fn a_call_survives_the_backend_that_made_it() -> Tested {
    let house = House::new().await?;
    let (home, host) = (house.backend("home").await?, house.backend("host").await?);
    house.lead_to(&host).await?;
    let (task, token) = home.task().await?;
    let executor = house.executor(&task, token)?;
    let session = timeout(SOON, task.attached()).await??;
    let registry = session.registry().clone();
    let call = tokio::spawn(async move { registry.call(ToolCall::new("1", "wait", "")).await });
    timeout(SOON, house.signals.begun.notified()).await?;
    // Without a word: nothing is cancelled, as nothing of it runs any more.
    std::mem::forget(call);
    let id = task.id();
    drop((task, session));
    let heir = house.backend("heir").await?;
    let task = heir.reopen(id).await?.ok_or("the task is gone")?;
    house.signals.go_on.notify_one();
    timeout(SOON, task.settled()).await?;
    let endings = house.store()?.list(id, "ending.").await?;
    assert_eq!(endings.len(), 1);
    assert!(
        endings[0].1.value.contains(r#""outcome":"ok""#),
        "{endings:?}"
    );
    let session = timeout(SOON, task.attached()).await??;
    let call = ToolCall::new("2", "mark", "");
    let outcome = timeout(SOON, session.registry().call(call)).await?;
    assert_eq!(outcome.output(), Some("2"), "{outcome:?}");
    task.finish(true, "done").await;
    timeout(SOON, executor.ended()).await??;
    drop(home);
    Ok(())
}

#[tokio::test]
async fn a_call_survives_a_home_whose_tasks_nobody_reopens() -> Tested {
    let house = House::new().await?;
    let (home, host) = (house.backend("home").await?, house.backend("host").await?);
    house.lead_to(&host).await?;
    let (task, token) = home.task().await?;
    let executor = house.executor(&task, token)?;
    let session = timeout(SOON, task.attached()).await??;
    let registry = session.registry().clone();
    let call = tokio::spawn(async move { registry.call(ToolCall::new("1", "wait", "")).await });
    timeout(SOON, house.signals.begun.notified()).await?;
    // Without a word: nothing is cancelled, as nothing of it runs any more.
    std::mem::forget(call);
    let id = task.id();
    drop((task, session, home));
    let taken_over = async {
        while host.taken_over() != [id] || host.state().attached == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(SOON, taken_over).await?;
    house.signals.go_on.notify_one();
    let task = host.reopen(id).await?.ok_or("the task is gone")?;
    timeout(SOON, task.settled()).await?;
    let endings = house.store()?.list(id, "ending.").await?;
    assert_eq!(endings.len(), 1);
    assert!(
        endings[0].1.value.contains(r#""outcome":"ok""#),
        "{endings:?}"
    );
    task.finish(true, "done").await;
    timeout(SOON, executor.ended()).await??;
    assert_eq!(house.signals.marks.load(Ordering::SeqCst), 1);
    Ok(())
}
