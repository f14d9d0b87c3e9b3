//! The stores that keep the logs of runs.

use std::sync::Arc;

use contract_agent::{
    ContractAgent, FileStore, MemoryStore, Message, RunState, RunStore as _, Scripted, StoreError,
    ToolCallingAgent,
};
use contract_runtime::Registry;

fn files(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("contract-agent-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

#[tokio::test]
async fn a_file_that_is_torn_anywhere_has_the_records_before()
-> Result<(), Box<dyn std::error::Error>> {
    let folder = files("torn");
    let store = FileStore::new(&folder)?;
    let records = ["{\"a\":1}", "{\"b\":\"ä\"}", "{}"];
    for (expected, record) in (0..).zip(records) {
        store.append("a/B é", expected, record).await?;
    }
    let file = std::fs::read_dir(&folder)?.next().ok_or("a file")??.path();
    let whole = std::fs::read(&file)?;
    for length in 0..whole.len() {
        std::fs::write(&file, whole.get(..length).unwrap_or_default())?;
        // Another process, which does not know the file.
        let store = FileStore::new(&folder)?;
        let kept = store.read("a/B é").await?;
        assert_eq!(kept, records[..kept.len()], "cut at {length}");
        assert!(
            store
                .append("a/B é", kept.len() as u64 + 1, "{}")
                .await
                .is_err()
        );
        store
            .append("a/B é", kept.len() as u64, "{\"c\":3}")
            .await?;
        let after = store.read("a/B é").await?;
        assert_eq!(
            (after.len(), after.last().map(String::as_str)),
            (kept.len() + 1, Some("{\"c\":3}"))
        );
    }
    // A last line of other bytes is one that was cut; a damaged line before it is not.
    std::fs::write(&file, [&whole[..], &[0; 40], b"\n"].concat())?;
    assert_eq!(store.read("a/B é").await?, records);
    let mut damaged = whole.clone();
    damaged[12] ^= 1;
    std::fs::write(&file, damaged)?;
    let error = store.read("a/B é").await.err().ok_or("damaged")?;
    assert_eq!(
        error.to_string(),
        "record 0 of run `a/B é` is damaged: its checksum is another one"
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(
            std::fs::metadata(&file)?.permissions().mode() & 0o777,
            0o600
        );
    }
    assert!(store.append("lines", 0, "a\nb").await.is_err());
    for (expected, blank) in (0..).zip(["", " ", "{} ", "\t"]) {
        store.append("blank", expected, blank).await?;
    }
    assert_eq!(store.read("blank").await?, ["", " ", "{} ", "\t"]);
    std::fs::remove_dir_all(folder)?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_that_append_one_record_one_succeeds() -> Result<(), Box<dyn std::error::Error>> {
    let folder = files("many");
    let store = FileStore::new(&folder)?;
    for expected in 0..20 {
        let all = (0..8).map(|number| {
            let store = store.clone();
            tokio::spawn(async move { store.append("run", expected, &format!("{number}")).await })
        });
        let mut succeeded = 0;
        for one in all.collect::<Vec<_>>() {
            match one.await? {
                Ok(()) => succeeded += 1,
                Err(error) => assert!(matches!(error, StoreError::Conflict { .. }), "{error}"),
            }
        }
        assert_eq!(succeeded, 1);
    }
    assert_eq!(store.read("run").await?.len(), 20);
    std::fs::remove_dir_all(folder)?;
    Ok(())
}

#[test]
fn a_file_store_needs_a_runtime_and_says_so() -> Result<(), Box<dyn std::error::Error>> {
    let folder = files("runtime");
    let store = FileStore::new(&folder)?;
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    assert!(runtime.block_on(store.read("run"))?.is_empty());
    drop(runtime);
    let mut read = store.read("run");
    let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    match read.as_mut().poll(&mut task) {
        std::task::Poll::Ready(Err(StoreError::Failed { action: "read", .. })) => {}
        other => return Err(format!("{other:?}").into()),
    }
    std::fs::remove_dir_all(folder)?;
    Ok(())
}

#[tokio::test]
async fn messages_before_a_task_are_recorded_with_it() -> Result<(), Box<dyn std::error::Error>> {
    let instructions = |text: &str| Message::System {
        text: text.to_owned(),
        by_agent: false,
    };
    let store = Arc::new(MemoryStore::new());
    let run = RunState::open(store.clone(), "run").await?;
    let run = run.with_messages([instructions("Be brief.")]);
    assert!(store.read("run").await?.is_empty());
    let model = Scripted::new().text("Noon.").text("Two.");
    let registry = Registry::builder().build()?;
    let agent = ContractAgent::builder(ToolCallingAgent::new(model.clone(), registry)).build();
    assert!(agent.run_after(run, "What time is it?").await.success);

    let run = RunState::open(store.clone(), "run").await?;
    assert_eq!(run.messages().first(), Some(&instructions("Be brief.")));
    let run = run.with_messages([instructions("Be exact.")]);
    let result = agent.run_after(run, "And in two hours?").await;
    assert_eq!(result.messages.len(), 6);
    let run = RunState::open(store, "run").await?;
    assert_eq!(run.messages(), result.messages);
    assert_eq!(model.requests()[1].len(), 5);
    Ok(())
}
