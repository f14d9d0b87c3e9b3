//! A call that says how far it is: its events stand between its beginning and its end, however often it says so.

use std::sync::Arc;
use std::time::Duration;

use codegen::contract::{Happening, RunEvent, RunState};
use codegen::model::Models;
use codegen::runs::Engine;
use contract_manifest::ToManifest as _;
use contract_remote::store::EmbeddedStore;
use contract_remote::{Backend, Executor};
use contract_runtime::Progress;
use contract_runtime::prelude::*;
use serde_json::json;

/// Count.
#[tool]
fn count(
    /// How far.
    most: u32,
    #[context] progress: &Progress,
) -> u32 {
    for number in 1..=most {
        progress.report(f64::from(number), Some(f64::from(most)), "counting");
    }
    most
}

/// A conversation in which the model counts.
fn recording(most: u32) -> String {
    let call =
        json!({"id": "call_1", "name": "count", "arguments": json!({"most": most}).to_string()});
    let lines = [
        json!({"format": 1, "model": "scripted"}),
        json!({
            "said": [
                {"role": "system", "text": include_str!("../src/system.txt")},
                {"role": "user", "text": "count"},
            ],
            "reply": [{"text": "I count."}, {"call": call.clone()}],
        }),
        json!({
            "said": [
                {"role": "assistant", "text": "I count.", "calls": [call]},
                {"role": "tool", "call_id": "call_1", "tool": "count", "status": "ok", "text": most.to_string()},
            ],
            "reply": [{"text": "Done."}],
        }),
    ];
    lines.map(|line| format!("{line}\n")).concat()
}

async fn events(most: u32) -> Vec<RunEvent> {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("count.jsonl"), recording(most)).expect("a recording");
    let models = Models::recorded(folder.path()).expect("recordings");
    let store = Arc::new(EmbeddedStore::in_memory().expect("a store"));
    let known = Registry::builder().build().expect("a registry").manifest();
    let backend = Backend::new(known).store(store.clone());
    let backend = backend.bind("127.0.0.1:0").await.expect("it listens");
    let (task, token) = backend.task().await.expect("a task");
    let tools = Registry::builder().tool(count).build().expect("a registry");
    let executor = Executor::new(tools).custom().connect(task.address(), token);
    let engine = Engine::open(store, models, task).await;
    let engine = engine.expect("an engine");
    let run = engine.begin("count").await.expect("a run");
    let rested = tokio::time::timeout(Duration::from_secs(60), run.rested());
    rested.await.expect("it comes to an end");
    drop(executor);
    assert_eq!(run.state(), RunState::Completed, "{:?}", run.after(0));
    run.after(0)
}

fn place(events: &[RunEvent], is_it: impl Fn(&Happening) -> bool) -> usize {
    let place = events.iter().position(|event| is_it(&event.what));
    place.unwrap_or_else(|| panic!("it is not there: {events:?}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_stands_between_a_call_and_its_end() {
    let events = events(4).await;
    let call = place(&events, |what| matches!(what, Happening::ToolCall { .. }));
    let progress = place(&events, |what| {
        matches!(what, Happening::ToolProgress { .. })
    });
    let end = place(&events, |what| matches!(what, Happening::ToolResult { .. }));
    assert!(call < progress && progress < end, "{events:?}");
    let expected = Happening::ToolProgress {
        call_id: "call_1".into(),
        done: 1.0,
        total: Some(4.0),
        message: "counting".into(),
    };
    assert_eq!(events[progress].what, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_says_it_all_the_time_is_heard_now_and_then() {
    let began = std::time::Instant::now();
    let events = events(20_000).await;
    let told = |event: &&RunEvent| matches!(event.what, Happening::ToolProgress { .. });
    let told = events.iter().filter(told).count() as u128;
    // Twice a second, and the first.
    let most = began.elapsed().as_millis() / 500 + 1;
    assert!((1..=most).contains(&told), "{told}, and {most} at most");
    let end = place(&events, |what| matches!(what, Happening::ToolResult { .. }));
    let travelled = matches!(
        &events[end].what,
        Happening::ToolResult {
            travelled: true,
            ..
        }
    );
    assert!(travelled, "{:?}", events[end]);
}
