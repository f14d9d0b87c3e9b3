//! A run of an agent goes on after its process, which is also the backend, was killed in the middle of a call.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use contract_agent::{ContractAgent, MemoryStore, Message, RunState, Scripted, ToolCallingAgent};
use contract_manifest::ToManifest as _;
use contract_remote::store::{EmbeddedStore, Store};
use contract_remote::{Backend, BackendHandle, Executor};
use contract_runtime::prelude::*;
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use crate::tools::Tested;

const SOON: Duration = Duration::from_secs(30);

/// How often the body ran, and what it waits for.
struct World {
    ran: AtomicU32,
    ends: Semaphore,
}

/// Pay.
#[tool(destructive)]
async fn pay(cents: u32, #[context] world: &World) -> String {
    world.ran.fetch_add(1, Ordering::SeqCst);
    let _ends = world.ends.acquire().await;
    format!("{cents} cents are paid")
}

/// A backend at a port, which an earlier one may just have left.
async fn backend(
    tools: &Registry,
    store: &Arc<dyn Store>,
    port: u16,
) -> Result<BackendHandle, Box<dyn std::error::Error>> {
    let bind = async {
        loop {
            let backend = Backend::new(tools.manifest()).store(Arc::clone(store));
            match backend.bind(&format!("127.0.0.1:{port}")).await {
                Ok(bound) => return bound,
                Err(_) => sleep(Duration::from_millis(20)).await,
            }
        }
    };
    Ok(timeout(SOON, bind).await?)
}

fn agent(registry: Registry, model: Scripted) -> ContractAgent<ToolCallingAgent<Scripted>> {
    ContractAgent::builder(ToolCallingAgent::new(model, registry)).build()
}

/// Kills the process in the middle of a call and resumes the run, and returns what the model is told of the call.
fn told(ends_first: bool, has_its_task: bool) -> Result<String, Box<dyn std::error::Error>> {
    let world = Arc::new(World {
        ran: AtomicU32::new(0),
        ends: Semaphore::new(0),
    });
    let release = || world.ends.add_permits(1);
    let tools = Registry::builder()
        .tool(pay)
        .context_arc(Arc::clone(&world))
        .build()?;
    let store: Arc<dyn Store> = Arc::new(EmbeddedStore::in_memory()?);
    let runs = Arc::new(MemoryStore::new());
    let [first, second, elsewhere] = [Runtime::new()?, Runtime::new()?, Runtime::new()?];

    let (id, port, _executor) = first.block_on(async {
        let backend = backend(&tools, &store, 0).await?;
        let (task, token) = backend.task().await?;
        let executor = {
            let _elsewhere = elsewhere.enter();
            Executor::new(tools.clone()).connect(task.address(), token)
        };
        let session = timeout(SOON, task.attached()).await??;
        let model = Scripted::new().calls("", [("pay", r#"{"cents":7}"#)]);
        let agent = agent(session.registry().clone(), model);
        let run = RunState::open(runs.clone(), "run").await?;
        tokio::spawn(async move {
            let _backend = backend;
            agent.run_after(run, "Pay 7 cents.").await
        });
        let begun = async {
            while world.ran.load(Ordering::SeqCst) == 0 {
                sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(SOON, begun).await?;
        let port = task
            .address()
            .split(':')
            .nth(2)
            .and_then(|rest| rest.split('/').next());
        Ok::<_, Box<dyn std::error::Error>>((task.id(), port.ok_or("a port")?.parse()?, executor))
    })?;
    first.shutdown_background();
    if ends_first {
        release();
    }
    let result = second.block_on(async {
        let backend = backend(&tools, &store, port).await?;
        let mut other = None;
        let task = if has_its_task {
            backend.reopen(id).await?.ok_or("the task is gone")?
        } else {
            let (task, token) = backend.task().await?;
            other = Some(Executor::new(tools.clone()).connect(task.address(), token));
            task
        };
        let session = timeout(SOON, task.attached()).await??;
        let agent = agent(
            session.registry().clone(),
            Scripted::new().text("It is paid."),
        );
        let run = RunState::open(runs.clone(), "run").await?;
        let resumed = timeout(SOON, agent.resume(run));
        let released = async {
            sleep(Duration::from_millis(300)).await;
            release();
        };
        let result = tokio::join!(resumed, released).0?;
        drop(other);
        Ok::<_, Box<dyn std::error::Error>>(result)
    })?;
    assert_eq!(result.answer.as_deref(), Some("It is paid."), "{result:?}");
    assert_eq!(world.ran.load(Ordering::SeqCst), 1, "the body ran once");
    let told = result.messages.iter().find_map(|message| match message {
        Message::Tool { text, .. } => Some(text.clone()),
        _ => None,
    });
    Ok(told.ok_or("the model is told")?)
}

const PAID: &str = "7 cents are paid";

#[test]
fn a_resumed_run_is_told_the_result_of_a_call_that_ended_meanwhile() -> Tested {
    assert_eq!(told(true, true)?, PAID);
    Ok(())
}

#[test]
fn a_resumed_run_waits_for_a_call_that_is_still_open() -> Tested {
    assert_eq!(told(false, true)?, PAID);
    Ok(())
}

/// Its record belongs to the task, and the executor of another one does not know it.
#[test]
fn a_run_that_is_resumed_with_another_task_repeats_no_call() -> Tested {
    let told = told(true, false)?;
    assert!(
        told.contains("the program ended while this call was running"),
        "{told}"
    );
    Ok(())
}
