//! Callers that give up.

use std::time::Duration;

use contract_runtime::Status;
use contract_runtime::prelude::*;
use tokio::runtime::Runtime;

use super::{runtime, tool_call};
use crate::common::{
    Ground, alone, beside, children, descriptors, ended, given, polled, samples, tell, until,
};

/// D11
#[test]
fn a_call_that_is_dropped_after_any_number_of_polls_leaves_nothing_behind() {
    let _alone = alone();
    let ground = Ground::new();
    let registry = ground.registry();
    let runtime = runtime();
    let every = |runtime: &Runtime, polls: u32| {
        for tool in registry.tools() {
            for arguments in samples(tool.name()) {
                let call = registry.call(tool_call(tool.name(), &arguments));
                let _ = runtime.block_on(polled(call, polls));
            }
        }
    };
    // What is opened once and kept is there afterwards.
    every(&runtime, u32::MAX);
    assert!(until(|| children().is_empty()), "{:?}", children());
    let before = descriptors();
    if before.is_empty() {
        tell("NOT RUN D11 a_call_that_is_dropped: there is no /proc/self/fd");
        return;
    }
    for polls in 0..40 {
        every(&runtime, polls);
    }
    assert!(until(|| children().is_empty()), "{:?}", children());
    assert!(
        until(|| descriptors() == before),
        "{before:?}\n{:?}",
        descriptors()
    );
    let statistics = registry.statistics();
    assert_eq!(statistics.ended(Status::Panicked), 0);
    // Nothing of a write stays, and every tool still works.
    ground.write("notes.txt", "one\ntwo\nthree\n");
    let strays = ground
        .snapshot()
        .into_keys()
        .filter(|path| path.display().to_string().contains("unfinished"));
    assert_eq!(strays.count(), 0);
    for tool in registry.tools() {
        for arguments in samples(tool.name()) {
            ground.write("notes.txt", "one\ntwo\nthree\n");
            given(&registry, tool.name(), &arguments);
        }
    }
}

/// D11
#[test]
fn a_call_that_is_cancelled_by_its_token_is_one_outcome() {
    let _beside = beside();
    let ground = Ground::new();
    let registry = ground.registry();
    let runtime = runtime();
    for tool in registry.tools() {
        for wait in [None, Some(0), Some(200), Some(2_000)] {
            let token = CancellationToken::new();
            let context = Context::new().cancellation(token.clone());
            let call = tool_call(tool.name(), &samples(tool.name())[0]);
            let outcome = runtime.block_on(async {
                let cancel = async {
                    if let Some(microseconds) = wait {
                        tokio::time::sleep(Duration::from_micros(microseconds)).await;
                    }
                    token.cancel();
                };
                if wait.is_none() {
                    cancel.await;
                    return registry.call(call).context(context).await;
                }
                tokio::join!(registry.call(call).context(context), cancel).0
            });
            ground.write("notes.txt", "one\ntwo\nthree\n");
            let expected = match wait {
                None => outcome.status() == Status::Cancelled,
                Some(_) => matches!(outcome.status(), Status::Ok | Status::Cancelled),
            };
            assert!(expected, "{}: {}", tool.name(), ended(&outcome));
        }
    }
}
