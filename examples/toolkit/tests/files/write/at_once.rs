//! Many writers, calls that are given up, and promises that are broken after a write.

use std::future::Future as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

use contract_runtime::Status;
use contract_runtime::prelude::*;
use serde_json::json;
use toolkit::{Problem, Workspace, Written, write_file};

use crate::writing::{call, everything, record, registry};

/// F8
#[test]
fn every_read_among_many_writers_is_one_whole_version() {
    const WRITERS: usize = 16;
    const WRITES: usize = 1_000;
    let folder = if Path::new("/dev/shm").is_dir() {
        tempfile::tempdir_in("/dev/shm").unwrap()
    } else {
        tempfile::tempdir().unwrap()
    };
    let workspace = Workspace::new(folder.path()).unwrap();
    let never = CancellationToken::new();
    // The first character says who wrote it, and how long it must be.
    let version = |writer: usize| {
        char::from(b'a' + u8::try_from(writer).unwrap())
            .to_string()
            .repeat(1 + writer * 997)
    };
    write_file("a", &version(0), None, &workspace, &never).unwrap();
    let over = AtomicBool::new(false);
    let reads = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut reads = 0;
            while !over.load(Ordering::Relaxed) {
                let text = std::fs::read_to_string(folder.path().join("a")).unwrap();
                let writer = usize::from(text.as_bytes()[0] - b'a');
                assert!(text == version(writer), "a mixture of {} bytes", text.len());
                reads += 1;
            }
            reads
        });
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (workspace, never) = (&workspace, &never);
                scope.spawn(move || {
                    for _ in 0..WRITES {
                        write_file("a", &version(writer), None, workspace, never).unwrap();
                    }
                })
            })
            .collect();
        let ended: Vec<_> = writers
            .into_iter()
            .map(std::thread::ScopedJoinHandle::join)
            .collect();
        over.store(true, Ordering::Relaxed);
        assert!(ended.iter().all(Result::is_ok));
        reader.join().unwrap()
    });
    assert!(reads > 0);
    assert_eq!(everything(folder.path()).len(), 1);
    record(&format!(
        "{} writes, {reads} reads, each of one whole version",
        WRITERS * WRITES
    ));
}

/// F8
#[test]
fn of_many_writers_that_expect_the_same_state_one_wins() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::new(folder.path()).unwrap();
    let never = CancellationToken::new();
    let mut hash = "absent".to_owned();
    for round in 0..20 {
        let won: Vec<Written> = std::thread::scope(|scope| {
            let writers: Vec<_> = (0..8)
                .map(|writer| {
                    let (workspace, never, hash) = (&workspace, &never, &hash);
                    let text = format!("{round} {writer}");
                    scope.spawn(move || write_file("a", &text, Some(hash), workspace, never))
                })
                .collect();
            writers
                .into_iter()
                .filter_map(|writer| writer.join().unwrap().ok())
                .collect()
        });
        assert_eq!(won.len(), 1);
        hash.clone_from(&won[0].hash);
    }
}

/// D11
#[test]
fn a_call_that_is_dropped_while_it_writes_leaves_the_old_file_or_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let registry = registry(folder.path());
    let old = "old".repeat(30_000);
    let new = "new".repeat(30_000);
    let mut replaced = 0;
    for step in 0..60 {
        std::fs::write(folder.path().join("a"), &old).unwrap();
        let arguments = json!({"path": "a", "text": new}).to_string();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let dropped = runtime.block_on(async {
            let mut call =
                std::pin::pin!(registry.call(ToolCall::new("1", "write_file", arguments)));
            // The clock of the runtime is too coarse for what takes less than a millisecond.
            let given_up = Instant::now() + Duration::from_micros(step * 50);
            std::future::poll_fn(|context| match call.as_mut().poll(context) {
                Poll::Ready(_) => Poll::Ready(false),
                Poll::Pending if Instant::now() > given_up => Poll::Ready(true),
                Poll::Pending => {
                    context.waker().wake_by_ref();
                    Poll::Pending
                }
            })
            .await
        });
        // The body has a thread of its own, and a runtime waits for those when it is dropped.
        drop(runtime);
        assert_eq!(everything(folder.path()).len(), 1, "something is left");
        let now = std::fs::read_to_string(folder.path().join("a")).unwrap();
        assert!(now == old || now == new);
        assert!(dropped || now == new);
        replaced += usize::from(now == new);
    }
    record(&format!(
        "{replaced} of 60 were written before they were dropped"
    ));
}

/// D11
#[test]
fn a_call_that_was_given_up_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::new(folder.path()).unwrap();
    let given_up = CancellationToken::new();
    given_up.cancel();
    let problem = write_file("a/b", "x", None, &workspace, &given_up).unwrap_err();
    assert_eq!(
        problem.to_string(),
        "cannot write `a/b`: the call was cancelled"
    );
    assert!(everything(folder.path()).is_empty());
}

/// Write a note, and promise what does not hold.
#[tool(destructive)]
#[post(|_written| workspace.roots().len() == 2, "there must be two roots")]
fn write_note(text: &str, #[context] workspace: &Workspace) -> Result<Written, Problem> {
    write_file("note", text, None, workspace, &CancellationToken::new())
}

/// P6
#[test]
fn a_broken_promise_after_a_write_is_on_record_and_so_is_the_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("note"), "old").unwrap();
    let registry = Registry::builder()
        .tool(write_note)
        .context(Workspace::new(folder.path()).unwrap())
        .build()
        .unwrap();
    let outcome = call(&registry, "write_note", &json!({"text": "new"}));
    assert_eq!(outcome.status(), Status::Violation);
    let violation = outcome.violation().unwrap();
    // A promise is judged when the body has run, and only then.
    assert_eq!(violation.kind, contract_runtime::ConditionKind::Post);
    assert_eq!(violation.tool, "write_note");
    assert_eq!(std::fs::read(folder.path().join("note")).unwrap(), b"new");
    assert_eq!(everything(folder.path()).len(), 1);
}
