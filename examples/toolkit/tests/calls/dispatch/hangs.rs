//! Calls that never end by themselves.

use std::sync::Arc;
use std::time::{Duration, Instant};

use contract_runtime::Status;
use serde_json::json;
use tokio::task::JoinSet;

use super::trouble::{Trouble, with};
use super::{runtime, tool_call};
use crate::common::{Ground, alone, ended, tell};

/// D10
#[test]
fn two_hundred_calls_that_hang_end_in_time_and_a_thousand_others_go_on() {
    let _alone = alone();
    let ground = Ground::new();
    let trouble = Arc::new(Trouble::default());
    let registry = with(&ground, &trouble).max_blocking(512).build().unwrap();
    let (hung, mut times) = runtime().block_on(async {
        let mut hanging = JoinSet::new();
        for number in 0..200 {
            let registry = registry.clone();
            let name = if number % 2 == 0 {
                "hangs"
            } else {
                "hangs_there"
            };
            hanging.spawn(async move {
                let begun = Instant::now();
                (
                    registry.call(tool_call(name, &json!({}))).await,
                    begun.elapsed(),
                )
            });
        }
        let mut reading = JoinSet::new();
        let mut times = Vec::new();
        for _ in 0..1_000 {
            while reading.len() >= 8 {
                times.push(reading.join_next().await.unwrap().unwrap());
            }
            let registry = registry.clone();
            reading.spawn(async move {
                let begun = Instant::now();
                let call = tool_call("read_file", &json!({"path": "notes.txt"}));
                let outcome = registry.call(call).await;
                assert!(outcome.is_ok(), "{}", ended(&outcome));
                begun.elapsed()
            });
        }
        times.extend(reading.join_all().await);
        let hung = hanging.join_all().await;
        trouble.open();
        (hung, times)
    });
    assert_eq!(hung.len(), 200);
    for (outcome, elapsed) in hung {
        assert_eq!(outcome.status(), Status::TimedOut);
        assert_eq!(
            outcome.may_still_be_running(),
            outcome.tool() == "hangs_there"
        );
        // The limit and 100 ms, and the slack of a busy machine.
        assert!(elapsed < Duration::from_secs(5), "{elapsed:?}");
    }
    times.sort();
    let (middle, last) = (times[500], times[990]);
    tell(format_args!(
        "a read beside 200 that hang: {middle:?} in the middle, {last:?} at 99 %"
    ));
    assert!(last < Duration::from_secs(2), "{last:?}");
}
