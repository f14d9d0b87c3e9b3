//! What a cancelled call leaves behind on the machine of its executor.
#![cfg(target_os = "linux")]

use std::io::Read as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use contract_manifest::ToManifest as _;
use contract_remote::{Backend, Session};
use contract_runtime::prelude::*;
use serde_json::json;

use crate::house::{PATIENCE, Process, program};

/// How many processes have an argument that is exactly this.
fn running(mark: &str) -> usize {
    let processes = std::fs::read_dir("/proc").expect("processes").flatten();
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    lines
        .filter(|line| {
            line.split(|byte| *byte == 0)
                .any(|word| word == mark.as_bytes())
        })
        .count()
}

async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// An executor that has dialled in to a backend of this test.
async fn dialled_in() -> (Session, Process, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    // It brings all of its tools.
    let known = Registry::builder().build().expect("a registry").manifest();
    let backend = Backend::new(known).bind("127.0.0.1:0").await;
    let backend = backend.expect("it listens");
    let (task, token) = backend.task().await.expect("a task");
    let token_file = folder.path().join("executor.token");
    std::fs::write(&token_file, token.reveal()).expect("a token");
    let executor = program()
        .args(["executor", "--connect", task.address()])
        .arg("--token-file")
        .arg(&token_file)
        .arg("--root")
        .arg(folder.path())
        .stderr(Stdio::piped())
        .spawn();
    let executor = Process(executor.expect("it starts"));
    let session = task.attached().await.expect("a session");
    // Both serve until the process ends.
    std::mem::forget((backend, task));
    (session, executor, folder)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_text_of_the_model_is_shown_at_the_executor() {
    let (session, mut executor, _folder) = dialled_in().await;
    session.begin_answer();
    session.send_delta("I clear \u{1b}[2J").await;
    session.send_delta("the screen.").await;
    session.finish(true, "done").await;
    let mut shown = String::new();
    let mut output = executor.0.stderr.take().expect("it is piped");
    output.read_to_string(&mut shown).expect("it is text");
    // What moves the cursor does not reach it.
    assert!(shown.contains("I clear [2Jthe screen."), "{shown}");
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_given_up_leaves_no_process_there() {
    let (session, _executor, _folder) = dialled_in().await;
    // One that is waited for, one in the background, and one in a session of its own.
    let mark = format!("4322.{}", std::process::id());
    let script = format!("sleep {mark} & setsid sleep {mark} & sleep {mark}");
    // Its own time would be over after a minute.
    let arguments = json!({"script": script, "timeout_seconds": 600}).to_string();
    let call = ToolCall::new("1", "run_shell", arguments);
    let tools = session.registry().clone();
    let under_way = tokio::spawn(async move { tools.call(call).await });
    until("they run", || {
        assert!(!under_way.is_finished(), "it ended by itself");
        running(&mark) >= 3
    })
    .await;
    under_way.abort();
    until("none is left", || running(&mark) == 0).await;
}
