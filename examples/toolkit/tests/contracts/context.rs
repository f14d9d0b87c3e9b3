//! Each call has its own context, and nobody else's.

use contract_runtime::prelude::*;
use serde_json::json;
use tokio::task::JoinSet;
use toolkit::Workspace;

use crate::common::{Ground, TOOLS, ended};

/// P4
#[test]
fn a_thousand_calls_at_once_each_see_their_own_workspace() {
    let grounds: Vec<Ground> = (0..8).map(|_| Ground::new()).collect();
    for (number, ground) in (0..1_000).zip(grounds.iter().cycle()) {
        ground.write(
            &format!("{}.txt", number / 8),
            format!("canary-{number}-end\n"),
        );
    }
    for workers in [2, 8] {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(workers)
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(thousand(&grounds));
    }
}

async fn thousand(grounds: &[Ground]) {
    let registry = Registry::builder()
        .package("toolkit")
        .only(TOOLS)
        .context_per_call::<Workspace>()
        .max_blocking(2_000)
        .build()
        .unwrap();
    let workspaces: Vec<_> = grounds
        .iter()
        .map(|ground| std::sync::Arc::new(ground.workspace().build().unwrap()))
        .collect();
    let mut running = JoinSet::new();
    for number in 0..1_000_usize {
        let registry = registry.clone();
        let context = Context::new().with_arc(workspaces[number % 8].clone());
        running.spawn(async move {
            for _ in 0..number % 5 {
                tokio::task::yield_now().await;
            }
            // Also such as break a contract and such as fail.
            let own = format!("canary-{number}-end");
            let (name, path) = match number % 3 {
                0 => ("read_file", format!("{}.txt", number / 8)),
                1 => ("read_file", format!("{own}/{}.txt", number / 8)),
                _ => ("read_file", format!("{own}\0")),
            };
            let call = ToolCall::new(own.clone(), name, json!({"path": path}).to_string());
            (own, registry.call(call).context(context).await)
        });
    }
    let mut counted = [0; 3];
    while let Some(done) = running.join_next().await {
        let (own, outcome) = done.unwrap();
        let number: usize = own.split('-').nth(1).unwrap().parse().unwrap();
        assert_eq!(outcome.id(), own);
        let said = outcome
            .output()
            .map_or_else(|| ended(&outcome), str::to_owned);
        assert_eq!(outcome.is_ok(), number.is_multiple_of(3), "{said}");
        if let Some(violation) = outcome.violation() {
            assert_eq!(violation.call_id.as_deref(), Some(own.as_str()));
        }
        for found in said.split("canary-").skip(1) {
            let other = found.split("-end").next().unwrap();
            assert_eq!(other, number.to_string(), "{said}");
            counted[number % 3] += 1;
        }
    }
    assert!(counted[0] >= 334 && counted[1] >= 333, "{counted:?}");
}
