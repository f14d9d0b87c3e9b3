//! `seen`: what a model has read when it asks for a call.

use contract_runtime::prelude::*;
use contract_runtime::{Run, Status};

use super::{find_order, in_run, order, registry, said};

#[tokio::test]
async fn a_call_that_succeeded_before_was_seen() {
    let (registry, run) = (registry(), Run::new());
    let refused = in_run(&registry, &run, order("refund_seen", "W1")).await;
    assert_eq!(said(&refused), "look W1 up first");
    let violation = refused.violation().unwrap();
    assert_eq!(violation.contract, "refund_seen.pre[0]");
    assert_eq!(violation.blame, contract_runtime::Blame::Model);
    assert!(
        in_run(&registry, &run, order("find_order", "W1"))
            .await
            .is_ok()
    );
    assert!(
        in_run(&registry, &run, order("refund_seen", "W1"))
            .await
            .is_ok()
    );
    let other = in_run(&registry, &run, order("refund_seen", "W2")).await;
    assert_eq!(said(&other), "look W2 up first");
}

#[tokio::test]
async fn a_call_that_failed_was_not_seen() {
    let (registry, run) = (registry(), Run::new());
    let failed = in_run(&registry, &run, order("find_order", "X")).await;
    assert_eq!(failed.status(), Status::Failed);
    assert!(
        !in_run(&registry, &run, order("refund_seen", "X"))
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn calls_of_one_batch_have_not_seen_each_other() {
    let (registry, run) = (registry(), Run::new());
    let context = || Context::new().run(&run);
    let calls = || [order("find_order", "W1"), order("refund_seen", "W1")];
    let outcomes = registry.call_all(calls()).context(context()).await;
    assert!(outcomes[0].is_ok());
    assert_eq!(said(&outcomes[1]), "look W1 up first");
    assert!(registry.call_all(calls()).context(context()).await[1].is_ok());
}

#[tokio::test]
async fn calls_of_one_turn_have_not_seen_each_other() {
    let (registry, run) = (registry(), Run::new());
    let turn = run.turn();
    assert!(
        in_run(&registry, &turn, order("find_order", "W1"))
            .await
            .is_ok()
    );
    assert!(
        !in_run(&registry, &turn, order("refund_seen", "W1"))
            .await
            .is_ok()
    );
    assert!(
        in_run(&registry, &run.turn(), order("refund_seen", "W1"))
            .await
            .is_ok()
    );
}

/// Find an order, slowly.
#[tool(read_only)]
async fn find_slowly(order_id: String) -> String {
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    order_id
}

/// Ask for what a slow call finds.
#[tool]
#[given(waited = tokio::time::sleep(std::time::Duration::from_secs(2)).await)]
#[pre(history().seen(find_slowly))]
async fn after_it() {
    let () = waited;
}

#[tokio::test(start_paused = true)]
async fn a_call_that_ended_after_this_one_was_asked_for_was_not_seen() {
    let registry = Registry::builder()
        .tool(find_slowly)
        .tool(after_it)
        .build()
        .unwrap();
    let run = Run::new();
    let find = in_run(&registry, &run, order("find_slowly", "W1"));
    let after = ToolCall::new("2", "after_it", "{}");
    let (found, refused) = tokio::join!(find, in_run(&registry, &run, after.clone()));
    assert!(found.is_ok());
    assert_eq!(refused.status(), Status::Violation);
    assert!(in_run(&registry, &run, after).await.is_ok());
}

#[tokio::test]
async fn a_run_within_another_has_seen_only_what_its_own_model_read() {
    let (registry, outer) = (registry(), Run::new());
    assert!(
        in_run(&registry, &outer, order("find_order", "W1"))
            .await
            .is_ok()
    );
    let context = Context::new().run(&outer);
    let inner = Run::new().within(&context);
    assert!(
        !in_run(&registry, &inner, order("refund_seen", "W1"))
            .await
            .is_ok()
    );
    assert!(
        in_run(&registry, &inner, order("find_order", "W1"))
            .await
            .is_ok()
    );
    assert!(
        in_run(&registry, &inner, order("refund_seen", "W1"))
            .await
            .is_ok()
    );
    // What has had an effect counts for both.
    assert!(
        in_run(&registry, &inner, order("refund_once", "W1"))
            .await
            .is_ok()
    );
    assert!(
        !in_run(&registry, &outer, order("refund_once", "W1"))
            .await
            .is_ok()
    );
}

/// Send it all.
#[tool(destructive, alone)]
fn send_all() {}

#[tokio::test]
async fn a_tool_that_stands_alone_is_refused_beside_others_and_they_run() {
    let registry = Registry::builder()
        .tool(find_order)
        .tool(send_all)
        .build()
        .unwrap();
    let all = || ToolCall::new("2", "send_all", "{}");
    for context in [Context::new(), Context::new().run(&Run::new())] {
        let calls = [all(), order("find_order", "W1")];
        let outcomes = registry.call_all(calls).context(context.clone()).await;
        assert_eq!(outcomes[0].status(), Status::Cancelled);
        assert_eq!(
            said(&outcomes[0]),
            "not started, because this tool must be the only call of its turn; call it again, without any other call beside it"
        );
        assert!(outcomes[1].is_ok());
        assert!(registry.call_all([all()]).context(context.clone()).await[0].is_ok());
        assert!(registry.call(all()).context(context).await.is_ok());
    }
    assert!(registry.tool("send_all").unwrap().is_alone());
    let shown = registry.export(contract_runtime::Dialect::Neutral);
    assert_eq!(
        shown[1]["description"],
        "Send it all.\n\nCall it by itself: it is refused beside other calls of the same turn."
    );
    assert!(!registry.tool("find_order").unwrap().is_alone());
}

#[tokio::test]
async fn a_tool_that_stands_alone_takes_its_turn() {
    let registry = Registry::builder()
        .tool(find_order)
        .tool(send_all)
        .build()
        .unwrap();
    let run = Run::new();
    let all = || ToolCall::new("2", "send_all", "{}");
    let turn = run.turn();
    assert!(
        in_run(&registry, &turn, order("find_order", "W1"))
            .await
            .is_ok()
    );
    assert_eq!(
        in_run(&registry, &turn, all()).await.status(),
        Status::Cancelled
    );
    let turn = run.turn();
    assert!(in_run(&registry, &turn, all()).await.is_ok());
    let follows = in_run(&registry, &turn, order("find_order", "W1")).await;
    assert_eq!(
        said(&follows),
        "not started, because an earlier call of the same turn must be its only one; call this tool again in the next turn"
    );
    assert!(
        in_run(&registry, &run, order("find_order", "W1"))
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn a_check_takes_no_turn_and_is_not_remembered() {
    let (registry, run) = (registry(), Run::new());
    let context = || Context::new().run(&run);
    for _ in 0..3 {
        assert!(
            registry
                .check(order("refund_once", "W1"))
                .context(context())
                .await
                .is_ok()
        );
    }
    assert!(
        in_run(&registry, &run, order("refund_once", "W1"))
            .await
            .is_ok()
    );
    assert!(
        !registry
            .check(order("refund_once", "W1"))
            .context(context())
            .await
            .is_ok()
    );
    assert!(
        !in_run(&registry, &run, order("refund_once", "W1"))
            .await
            .is_ok()
    );
}
