//! A run that waits for nothing is ended all the same.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use contract_manifest::ToManifest as _;
use contract_remote::{Backend, Executor, Safeguards, Tripped};
use contract_runtime::prelude::*;
use tokio::time::timeout;

use crate::tools::{Tested, registry};

/// Longer than anything here is waited for.
const LATE: Duration = Duration::from_secs(60);

/// Runs that make one call after the other, each of which is over at once.
async fn guarded() -> Result<Vec<Option<Tripped>>, Box<dyn std::error::Error>> {
    let tools = registry(&Arc::default())?;
    let backend = Backend::new(tools.manifest())
        .safeguards(Safeguards::default().steps(10))
        .bind("127.0.0.1:0")
        .await?;
    let (task, token) = backend.task().await?;
    let _executor = Executor::new(tools).connect(task.address(), token);
    let session = timeout(LATE, task.attached()).await??;
    let mut ended = Vec::new();
    for (name, arguments) in [
        ("none", "{}"),
        ("halve", "{}"),
        ("halve", r#"{"number":3}"#),
    ] {
        let run = async {
            loop {
                let call = ToolCall::new("1", name, arguments);
                let _ = session.registry().call(call).await;
            }
        };
        let run: Result<(), Tripped> = session.guard(run).await;
        ended.push(run.err());
    }
    let mut odd = 1;
    let run = async {
        loop {
            odd += 2;
            let arguments = format!(r#"{{"number":{odd}}}"#);
            let call = ToolCall::new("1", "halve", arguments);
            let _ = session.registry().call_all([call]).await;
        }
    };
    let run: Result<(), Tripped> = session.guard(run).await;
    ended.push(run.err());
    Ok(ended)
}

#[test]
fn a_run_whose_calls_are_all_over_at_once_is_ended() -> Tested {
    let (send, ended) = mpsc::channel();
    // On a thread of its own: one that never lets go could not be ended from within.
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let ended = runtime
            .map_err(|error| error.to_string())
            .and_then(|runtime| {
                runtime
                    .block_on(guarded())
                    .map_err(|error| error.to_string())
            });
        let _ = send.send(ended);
    });
    let equal = |tool: &str| format!("`{tool}` was called 4 times with");
    let expected = [
        equal("none"),
        equal("halve"),
        equal("halve"),
        "the run made 10 calls".to_owned(),
    ];
    let ended = ended.recv_timeout(LATE)??;
    assert_eq!(ended.len(), expected.len());
    for (tripped, expected) in ended.iter().zip(expected) {
        let told = tripped.as_ref().map(Tripped::to_string).unwrap_or_default();
        assert!(told.starts_with(&expected), "{told}");
    }
    Ok(())
}
