//! The history of a run in another process, where its log or its tools are not those of today.

use std::sync::Arc;

use contract_agent::{
    ContractAgent, MemoryStore, Message, Recovery, RunState, RunStore as _, Scripted,
    ToolCallingAgent,
};
use contract_runtime::prelude::*;

/// Note something.
#[tool]
fn note(n: u32) -> u32 {
    n
}

/// Note something else.
#[tool]
fn other(n: u32) -> u32 {
    n
}

/// Note something once.
#[tool]
#[pre(history().count(note) < 1, "once is enough")]
fn once(n: u32) -> u32 {
    n
}

type Result<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

fn registry(has_other: bool) -> std::result::Result<Registry, BuildError> {
    let registry = Registry::builder().tool(note).tool(once);
    if has_other {
        registry.tool(other).build()
    } else {
        registry.build()
    }
}

/// The store of a run that has called this tool, and has answered.
async fn called(tool: &'static str) -> Result<MemoryStore> {
    let store = MemoryStore::new();
    let model = Scripted::new()
        .calls("", [(tool, r#"{"n":1}"#)])
        .text("done");
    let agent = ContractAgent::builder(ToolCallingAgent::new(model, registry(true)?)).build();
    let run = RunState::open(Arc::new(store.clone()), "run").await?;
    assert!(agent.run_after(run, "go").await.success);
    Ok(store)
}

/// What the model is told of a call of `once` in another process.
async fn told_once(store: MemoryStore, has_other: bool) -> Result<String> {
    let model = Scripted::new()
        .calls("", [("once", r#"{"n":1}"#)])
        .text("done");
    let inner = ToolCallingAgent::new(model, registry(has_other)?);
    let agent = ContractAgent::builder(inner)
        .recovery(Recovery::retry(1))
        .build();
    let run = RunState::open(Arc::new(store), "run").await?;
    let result = agent.run_after(run, "again").await;
    let told = result
        .messages
        .iter()
        .rev()
        .find_map(|message| match message {
            Message::Tool { text, .. } => Some(text.clone()),
            _ => None,
        });
    told.ok_or_else(|| "no call".into())
}

#[tokio::test]
async fn a_call_of_another_process_counts() -> Result {
    let told = told_once(called("note").await?, true).await?;
    assert!(told.contains("once is enough"), "{told}");
    let told = told_once(called("other").await?, true).await?;
    assert!(!told.contains("once is enough"), "{told}");
    Ok(())
}

#[tokio::test]
async fn a_call_of_a_tool_that_is_gone_leaves_the_count_unknown() -> Result {
    let told = told_once(called("other").await?, false).await?;
    assert!(told.contains("earlier"), "{told}");
    Ok(())
}

#[tokio::test]
async fn a_log_that_does_not_say_whether_it_has_all_calls_leaves_the_count_unknown() -> Result {
    let store = called("other").await?;
    let old = MemoryStore::new();
    for (expected, record) in (0..).zip(store.read("run").await?) {
        let mut record: serde_json::Value = serde_json::from_str(&record)?;
        if let Some(fields) = record.as_object_mut() {
            fields.remove("is_whole");
        }
        old.append("run", expected, &record.to_string()).await?;
    }
    let told = told_once(old, true).await?;
    assert!(told.contains("earlier"), "{told}");
    Ok(())
}
