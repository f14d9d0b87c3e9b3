//! Which events come, and in which order, under each policy.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use contract_agent::{ContractAgent, ContractAgentBuilder, InnerAgent};
use contract_runtime::Policy;
use contract_runtime::observe::Observer;

use crate::tools::{over_all, words};

/// What a run of one call tells, and how often the handler was told; the same for every inner agent.
async fn run(
    tool: &str,
    arguments: &str,
    terms: impl Fn(Builder) -> Builder,
) -> (Vec<String>, usize) {
    let mut all = Vec::new();
    for (_, inner) in over_all(&[(tool, arguments)], &["done"]) {
        let handled = Arc::new(AtomicUsize::new(0));
        let agent = ContractAgent::builder(inner).observe(Observer::new().violations({
            let handled = Arc::clone(&handled);
            move |_| {
                handled.fetch_add(1, Ordering::Relaxed);
            }
        }));
        let result = terms(agent).build().run("go").await;
        all.push((words(&result.steps), handled.load(Ordering::Relaxed)));
    }
    let first = all.swap_remove(0);
    for other in all {
        assert_eq!(other, first, "the inner agents differ");
    }
    first
}

type Builder = ContractAgentBuilder<Box<dyn InnerAgent>>;

/// The same without the thought before the call.
async fn told(policy: Policy, tool: &str, arguments: &str) -> (Vec<String>, usize) {
    let (words, handled) = run(tool, arguments, |agent| agent.policy(policy)).await;
    assert_eq!(words.first().map(String::as_str), Some("thought"));
    (words[1..].to_vec(), handled)
}

/// The conditions of the run, in the order in which they are judged, each failing and under one policy after the other.
#[tokio::test]
async fn failing_conditions_of_a_run_under_every_policy() {
    let check = |hook: &str| format!("check agent.{hook}");
    let violation = |hook: &str| format!("violation agent.{hook}");
    let called = ["check root.pre[0]", "action root", "check root.post[1]"];
    let fine = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    for (hook, before) in [("task.t", 0), ("invariant.i", 0), ("answer.a", 5)] {
        let terms = |policy| {
            run("root", r#"{"of": 4}"#, move |agent| {
                let agent = agent.policy(policy);
                match hook {
                    "task.t" => agent.task_pre("t", |_| false),
                    "invariant.i" => agent.invariant("i", |_| false),
                    _ => agent.answer_post("a", |_| false),
                }
            })
        };
        let (words, handled) = terms(Policy::Ignore).await;
        let expected: Vec<String> =
            fine(&["thought", "action root", "observation ok", "answer done"]);
        assert_eq!((words, handled), (expected, 0), "{hook}");
        for (policy, told) in [(Policy::Enforce, 1), (Policy::QuickEnforce, 0)] {
            let (words, handled) = terms(policy).await;
            let ends = [check(hook), violation(hook), "error".to_owned()];
            assert_eq!(words[before..], ends, "{hook} {policy:?}");
            assert_eq!(handled, told, "{hook} {policy:?}");
        }
        let (words, handled) = terms(Policy::Observe).await;
        let mut expected: Vec<String> = vec!["thought".to_owned()];
        expected.extend(called.map(str::to_owned));
        expected.push("observation ok".to_owned());
        let both = [check(hook), violation(hook)];
        let times = match hook {
            "task.t" => {
                expected.splice(0..0, both);
                1
            }
            "invariant.i" => {
                // At the beginning of each of two steps.
                expected.splice(0..0, both.clone());
                expected.extend(both);
                2
            }
            _ => {
                expected.extend(both);
                1
            }
        };
        expected.push("answer done".to_owned());
        assert_eq!((words, handled), (expected, times), "{hook}");
    }
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
