//! What a task is, and what its executor may bring, stays so when its backend is started again.

use std::sync::Arc;
use std::time::Duration;

use contract_manifest::ToManifest as _;
use contract_remote::protocol::TaskId;
use contract_remote::store::{EmbeddedStore, Expect, Store};
use contract_remote::{
    Backend, BackendHandle, RemoteError, Safeguards, StoreError, Task, Token, Toolbelt,
};
use contract_runtime::prelude::*;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::raw::{Next, Raw, handshake};
use crate::tools::{Tested, registry};

const SOON: Duration = Duration::from_secs(30);

/// Why an executor is sent away that brings other tools.
const OTHERS: &str = "the tools of a task cannot change, and these differ";

type Kept = Arc<dyn Store>;

fn store() -> Result<Kept, StoreError> {
    Ok(Arc::new(EmbeddedStore::in_memory()?))
}

async fn backend(store: &Kept) -> Result<BackendHandle, Box<dyn std::error::Error>> {
    let known = registry(&Arc::default())?.manifest();
    let backend = Backend::new(known)
        .store(Arc::clone(store))
        .grace(Duration::from_secs(3600))
        .safeguards(Safeguards::off());
    Ok(backend.bind("127.0.0.1:0").await?)
}

async fn reopened(backend: &BackendHandle, id: TaskId) -> Result<Task, Box<dyn std::error::Error>> {
    Ok(backend.reopen(id).await?.ok_or("the task is gone")?)
}

fn custom(name: &str) -> Value {
    json!({
        "name": name,
        "description": "Do something.",
        "package": "",
        "hints": {},
        "input_schema": {"type": "object", "properties": {}, "additionalProperties": false},
        "conditions": [],
    })
}

async fn greet(
    task: &Task,
    token: &Token,
    shake: &Value,
) -> Result<(Raw, Next), Box<dyn std::error::Error>> {
    let mut raw = Raw::enter(task, token).await?;
    raw.say(shake.to_string()).await?;
    let answer = raw.next().await;
    Ok((raw, answer))
}

fn tools(task: &Task) -> Vec<String> {
    let toolbelt: Option<Arc<Toolbelt>> = task.toolbelt();
    let tools = toolbelt.iter().flat_map(|belt| belt.tools());
    tools.map(|tool| tool.name.clone()).collect()
}

#[tokio::test]
async fn the_tools_of_a_task_stay_what_they_were() -> Tested {
    let store = store()?;
    let first = backend(&store).await?;
    let (task, token) = first.task().await?;
    assert!(task.toolbelt().is_none());
    let offered = json!([custom("mine"), custom("halve"), {"name": "no_schema"}]);
    let shake = |task: &Task| handshake(task, &["halve", "unknown", "halve"], &offered);
    let (raw, answer) = greet(&task, &token, &shake(&task)).await?;
    assert!(matches!(answer, Next::Message(_)), "{answer:?}");
    assert_eq!(tools(&task), ["halve", "mine"]);
    drop((raw, first));

    let second = backend(&store).await?;
    let task = reopened(&second, task.id()).await?;
    assert_eq!(tools(&task), ["halve", "mine"], "at once");
    for others in [
        handshake(&task, &["halve", "echo"], &offered),
        handshake(&task, &["halve"], &json!([])),
        handshake(&task, &[], &json!([custom("other")])),
    ] {
        let (_, answer) = greet(&task, &token, &others).await?;
        assert_eq!(answer, Next::Closed(1008, OTHERS.to_owned()));
    }
    // It was built again, from a source that was moved.
    let mut moved = shake(&task);
    moved["payload"]["custom_tools"][0]["location"] = json!("src/mine.rs:7:1");
    let (_raw, answer) = greet(&task, &token, &moved).await?;
    let Next::Message(answer) = answer else {
        return Err(format!("{answer:?}").into());
    };
    assert_eq!(answer["payload"]["toolbelt"], json!(["halve", "mine"]));
    // What was refused is said again.
    let refused = answer["payload"]["refused"].as_array();
    let names: Vec<_> = refused
        .into_iter()
        .flatten()
        .map(|one| &one["name"])
        .collect();
    for name in ["unknown", "halve", "no_schema"] {
        assert!(names.contains(&&json!(name)), "{name}: {names:?}");
    }
    Ok(())
}

#[tokio::test]
async fn of_executors_that_come_first_together_one_settles_the_tools() -> Tested {
    let store = store()?;
    let backend = backend(&store).await?;
    for _ in 0..20 {
        let (task, token) = backend.task().await?;
        let mut callers = JoinSet::new();
        for known in ["halve", "echo", "wait"] {
            let (task, token) = (task.clone(), token.clone());
            callers.spawn(async move {
                let shake = handshake(&task, &[known], &json!([]));
                greet(&task, &token, &shake)
                    .await
                    .map_err(|error| error.to_string())
            });
        }
        let (mut belts, mut lines) = (Vec::new(), Vec::new());
        while let Some(called) = timeout(SOON, callers.join_next()).await? {
            let (line, answer) = called??;
            match answer {
                Next::Message(answer) => belts.push(answer["payload"]["toolbelt"].clone()),
                Next::Closed(1008, why) => assert_eq!(why, OTHERS),
                other => return Err(format!("{other:?}").into()),
            }
            lines.push(line);
        }
        assert_eq!(belts.len(), 1, "{belts:?}");
        assert_eq!(json!(tools(&task)), belts[0]);
    }
    Ok(())
}

#[tokio::test]
async fn a_store_is_trusted_no_more_than_a_line() -> Tested {
    let store = store()?;
    let first = backend(&store).await?;
    let (task, _) = first.task().await?;
    let mut far = custom("far");
    far["input_schema"] = json!({"type": "object", "$ref": "http://127.0.0.1/x"});
    let offered = json!([custom("mine"), custom("../evil"), custom("echo"), far]);
    let kept = handshake(&task, &["halve", "unknown"], &offered)["payload"].to_string();
    let _ = store
        .write(task.id(), "handshake", &kept, Expect::Any)
        .await?;
    let second = backend(&store).await?;
    let again = reopened(&second, task.id()).await?;
    assert_eq!(tools(&again), ["halve", "mine"]);

    let _ = store
        .write(task.id(), "handshake", "{", Expect::Any)
        .await?;
    let third = backend(&store).await?;
    match third.reopen(task.id()).await {
        Err(RemoteError::Store(StoreError::Damaged { what, .. })) => assert_eq!(what, "handshake"),
        other => return Err(format!("{other:?}").into()),
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_opens_a_task_again_at_once_shares_it() -> Tested {
    let store = store()?;
    let first = backend(&store).await?;
    let (task, token) = first.task().await?;
    let (mut raw, _) = greet(&task, &token, &handshake(&task, &["wait"], &json!([]))).await?;
    let session = timeout(SOON, task.attached()).await??;
    let tools = session.registry().clone();
    // Its process is gone before it ends.
    let _call = tokio::spawn(async move { tools.call(ToolCall::new("1", "wait", "")).await });
    let Next::Message(asked) = raw.next().await else {
        return Err("nothing was asked".into());
    };
    drop((raw, first));

    let second = Arc::new(backend(&store).await?);
    let mut opening = JoinSet::new();
    for _ in 0..20 {
        let (second, id) = (Arc::clone(&second), task.id());
        opening.spawn(async move { second.reopen(id).await });
    }
    let mut tasks = Vec::new();
    while let Some(opened) = timeout(SOON, opening.join_next()).await? {
        tasks.push(opened??.ok_or("the task is gone")?);
    }
    let mut shake = handshake(&task, &["wait"], &json!([]));
    let mut reply = asked["payload"].clone();
    reply["status"] = json!("success");
    reply["outcome"] = json!("ok");
    reply["result"] = json!("done");
    let mut entry = json!({"state": "finished", "reply": reply});
    for part in ["tool_id", "attempt"] {
        entry[part] = asked["payload"][part].clone();
    }
    shake["payload"]["unacknowledged"] = json!([entry]);
    let (_raw, answer) = greet(&tasks[0], &token, &shake).await?;
    assert!(matches!(answer, Next::Message(_)), "{answer:?}");
    for task in &tasks {
        timeout(SOON, task.settled()).await?;
    }
    let endings = store.list(task.id(), "ending.").await?;
    assert_eq!(endings.len(), 1, "{endings:?}");
    let ending: Value = serde_json::from_str(&endings[0].1.value)?;
    assert_eq!(ending["reply"]["result"], "done", "{ending}");
    Ok(())
}
