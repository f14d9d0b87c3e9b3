//! The idempotency keys of calls.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use contract_agent::{
    ContractAgent, LoopDetection, MemoryStore, RunError, RunResult, RunState, Scripted,
    ToolCallingAgent,
};
use contract_runtime::approval::{Approval, Decision};
use contract_runtime::prelude::*;
use parking_lot::Mutex;
use tokio::sync::Notify;

/// Which keys the tools saw, and whether the process is killed in the next body.
#[derive(Debug, Default)]
struct World {
    seen: Mutex<Vec<String>>,
    kills: AtomicBool,
    killed: Notify,
}

impl World {
    fn see(&self, place: &str, key: Option<&IdempotencyKey>) {
        let key = key.map_or("none", IdempotencyKey::as_str);
        self.seen.lock().push(format!("{place} {key}"));
    }

    /// Returns what was seen, and forgets it.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.seen.lock())
    }

    fn refuses(&self, cents: u32, key: &IdempotencyKey) -> bool {
        if cents >= 100 {
            self.see("condition", Some(key));
        }
        cents >= 100
    }
}

/// Pay.
#[tool]
#[pre(!world.refuses(cents, key), "more than 1 EUR needs approval", ask = "Pay {cents} cents?")]
async fn pay(cents: u32, #[context] key: &IdempotencyKey, #[context] world: &World) {
    world.see("body", Some(key));
    if world.kills.swap(false, Ordering::SeqCst) {
        world.killed.notify_one();
        std::future::pending::<()>().await;
    }
}

/// Say under which key this is called.
#[tool]
fn inner(#[context] key: Option<&IdempotencyKey>, #[context] world: &World) {
    world.see("inner", key);
}

/// Call another tool.
#[tool]
async fn outer(#[context] key: IdempotencyKey, #[context] world: Arc<World>) -> bool {
    let inner = Registry::builder()
        .tool(inner)
        .context_arc(Arc::clone(&world));
    let Ok(inner) = inner.build() else {
        return false;
    };
    world.see("outer", Some(&key));
    let part = Context::new().idempotency_key(IdempotencyKey::new(format!("{key}/1")));
    let bare = inner.call(("1", "inner", "")).await;
    bare.is_ok() && inner.call(("2", "inner", "")).context(part).await.is_ok()
}

type Tested = Result<(), Box<dyn std::error::Error>>;
type Agent = ContractAgent<ToolCallingAgent<Scripted>>;

fn agent(world: &Arc<World>, model: Scripted, approves: bool) -> Result<Agent, BuildError> {
    let tools = Registry::builder().tool(pay).tool(outer);
    let registry = tools.context_arc(Arc::clone(world)).build()?;
    let inner = ToolCallingAgent::new(model, registry);
    let agent =
        ContractAgent::builder(inner).loop_detection(LoopDetection::default().same_action(0));
    Ok(if approves {
        let decide = async |_| Decision::Approved(Approval::Once);
        agent.approver(decide).build()
    } else {
        agent.build()
    })
}

fn pays(cents: u32) -> (&'static str, String) {
    ("pay", format!(r#"{{"cents":{cents}}}"#))
}

/// Runs a task to its end, or until the process is killed.
async fn until_killed(
    world: &World,
    run: impl IntoFuture<Output = RunResult>,
) -> Option<RunResult> {
    tokio::select! {
        biased;
        () = world.killed.notified() => None,
        result = run.into_future() => Some(result),
    }
}

#[tokio::test]
async fn a_call_keeps_its_key_when_its_run_goes_on_and_no_other_call_has_it() -> Tested {
    let (store, world) = (Arc::new(MemoryStore::new()), Arc::new(World::default()));
    world.kills.store(true, Ordering::SeqCst);
    let model = || Scripted::new().calls("", [pays(7), pays(7)]);
    let run = RunState::open(store.clone(), "run").await?;
    let first = agent(&world, model(), false)?;
    let killed = until_killed(&world, first.run_after(run, "Pay twice.")).await;
    assert!(killed.is_none(), "{killed:?}");
    let began = world.take();

    let run = RunState::open(store.clone(), "run").await?;
    let rest = Scripted::new().calls("", [pays(7)]).text("paid");
    // A key of the whole run's context is the key of none of its calls.
    let context = Context::new().idempotency_key(IdempotencyKey::new("all"));
    let result = agent(&world, rest, false)?
        .resume(run)
        .context(context)
        .await;
    assert!(result.success, "{result:?}");
    let seen = world.take();
    assert_eq!(began, seen[..1], "the call that began is made again");
    assert_eq!(seen.iter().collect::<BTreeSet<_>>().len(), 3, "{seen:?}");

    let other = agent(&world, model().text("paid"), false)?;
    let other_run = RunState::open(store, "another run").await?;
    other.run_after(other_run, "Pay twice.").await;
    let keys: BTreeSet<_> = seen.into_iter().chain(world.take()).collect();
    assert_eq!(keys.len(), 5, "{keys:?}");
    for key in keys {
        let (_, key) = key.split_once(' ').ok_or("a key")?;
        let lengths: Vec<_> = key.split('-').map(str::len).collect();
        assert_eq!(lengths, [8, 4, 4, 4, 12], "{key}");
        assert_eq!(key.as_bytes()[14], b'7', "a UUID of version 7: {key}");
        assert!(b"89ab".contains(&key.as_bytes()[19]), "{key}");
    }
    Ok(())
}

#[tokio::test]
async fn a_call_that_asks_keeps_its_key_until_it_runs_without_a_store_too() -> Tested {
    let world = Arc::new(World::default());
    let asking = agent(&world, Scripted::new().calls("", [pays(700)]), false)?;
    let asked = asking.run("Pay a lot.").await;
    assert!(
        matches!(asked.error, Some(RunError::Asked { .. })),
        "{asked:?}"
    );
    let state: RunState = serde_json::from_str(&serde_json::to_string(&asked.state)?)?;
    let approving = agent(&world, Scripted::new().text("paid"), true)?;
    let copy = state.clone();
    assert!(approving.resume(state).await.success);
    let seen = world.take();
    let keys: BTreeSet<_> = seen
        .iter()
        .filter_map(|one| one.split_once(' '))
        .map(|(_, key)| key)
        .collect();
    assert!(
        seen.len() >= 3 && seen.last().is_some_and(|last| last.starts_with("body")),
        "{seen:?}"
    );
    assert_eq!(keys.len(), 1, "{seen:?}");

    // Another task after the same state has calls of its own.
    for _ in 0..2 {
        let next = agent(
            &world,
            Scripted::new().calls("", [pays(1)]).text("paid"),
            true,
        )?;
        assert!(next.run_after(copy.clone(), "Pay.").await.success);
    }
    let seen = world.take();
    assert_ne!(seen[0], seen[1]);
    Ok(())
}

#[tokio::test]
async fn a_call_that_a_body_makes_has_no_key_unless_the_body_sets_one() -> Tested {
    let world = Arc::new(World::default());
    let model = Scripted::new().calls("", [("outer", "{}")]).text("done");
    assert!(agent(&world, model, false)?.run("Go.").await.success);
    let seen = world.take();
    let key = seen[0].strip_prefix("outer ").ok_or("a key")?;
    assert_eq!(
        seen[1..],
        ["inner none".to_owned(), format!("inner {key}/1")]
    );
    Ok(())
}
