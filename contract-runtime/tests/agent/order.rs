//! Which events come, and in which order, under each policy.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use contract_runtime::Policy;
use contract_runtime::agent::{ContractAgent, Scripted};

use crate::tools::{inner, words};

/// What a run of one call tells, without the thought before it and the answer after it; and how often the handler was told.
async fn told(policy: Policy, tool: &str, arguments: &str) -> (Vec<String>, usize) {
    let handled = Arc::new(AtomicUsize::new(0));
    let model = Scripted::new().calls("", [(tool, arguments)]).text("done");
    let agent = ContractAgent::builder(inner(&model))
        .policy(policy)
        .on_violation({
            let handled = Arc::clone(&handled);
            move |_| {
                handled.fetch_add(1, Ordering::Relaxed);
            }
        })
        .build();
    let result = agent.run("go").await;
    let words = words(&result.steps);
    assert_eq!(words.first().map(String::as_str), Some("thought"));
    (words[1..].to_vec(), handled.load(Ordering::Relaxed))
}

#[tokio::test]
async fn a_failing_precondition_of_a_tool() {
    let call = |policy| told(policy, "root", r#"{"of": -4}"#);
    let after = ["check root.post[1]", "violation root.post[1]"];
    let (events, handled) = call(Policy::Ignore).await;
    assert_eq!(events[0], "action root");
    assert_eq!(handled, 0);
    let (events, handled) = call(Policy::Observe).await;
    assert_eq!(
        events[..3],
        ["check root.pre[0]", "violation root.pre[0]", "action root"]
    );
    assert_eq!(events[3..5], after, "the root is not a number");
    assert_eq!(handled, 2);
    for (policy, told) in [(Policy::Enforce, 1), (Policy::QuickEnforce, 0)] {
        let (events, handled) = call(policy).await;
        assert_eq!(
            events,
            ["check root.pre[0]", "violation root.pre[0]", "error"],
            "{policy:?}"
        );
        assert_eq!(handled, told);
    }
}

#[tokio::test]
async fn a_failing_postcondition_of_a_tool() {
    let call = |policy| told(policy, "root", r#"{"of": 40000}"#);
    let before = [
        "check root.pre[0]",
        "action root",
        "check root.post[1]",
        "violation root.post[1]",
    ];
    let (events, handled) = call(Policy::Ignore).await;
    assert_eq!(events, ["action root", "observation ok", "answer done"]);
    assert_eq!(handled, 0);
    let (events, handled) = call(Policy::Observe).await;
    assert_eq!(events[..4], before);
    assert_eq!(events[4..], ["observation ok", "answer done"]);
    assert_eq!(handled, 1);
    for (policy, told) in [(Policy::Enforce, 1), (Policy::QuickEnforce, 0)] {
        let (events, handled) = call(policy).await;
        assert_eq!(events[..4], before);
        assert_eq!(events[4..], ["error"], "{policy:?}");
        assert_eq!(handled, told);
    }
}

/// D11: the tool maps the panic of its assertion to an ordinary error, and the run ends all the same.
#[tokio::test]
async fn d11_an_assertion_that_a_tool_hides_ends_the_run() {
    let (events, _) = told(Policy::Enforce, "hide", r#"{"what": "assert"}"#).await;
    assert_eq!(events[0], "action hide");
    assert!(events[1].starts_with("check hide.assert@"), "{events:?}");
    assert!(
        events[2].starts_with("violation hide.assert@"),
        "{events:?}"
    );
    assert_eq!(events[3..], ["error"]);
    let (events, _) = told(Policy::Observe, "hide", r#"{"what": "assert"}"#).await;
    assert_eq!(events[3..], ["observation ok", "answer done"]);
}

#[tokio::test]
async fn a_call_that_never_reaches_its_body_is_an_action_and_an_observation() {
    let (events, _) = told(Policy::Enforce, "root", r#"{"off": -4}"#).await;
    assert_eq!(
        events,
        [
            "action root",
            "observation invalid_arguments",
            "answer done"
        ]
    );
}
