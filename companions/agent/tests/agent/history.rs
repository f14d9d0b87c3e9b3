//! The run of an agent is a run: conditions may ask what its model has read, and what it has done.

use contract_agent::{
    ConstrainedAgent, ContractAgent, Event, InnerAgent, LoopDetection, ReActAgent, Recovery,
    Scripted, ToolCallingAgent,
};
use contract_runtime::prelude::*;
use contract_runtime::{Run, Status};

/// Find the order.
#[tool(read_only)]
fn find_order() -> u32 {
    7
}

/// Refund the order, once and after a look.
#[tool(destructive)]
#[pre(history().seen(find_order), "find the order first")]
#[pre(history().count(refund) < 1, "it was refunded")]
fn refund() -> u32 {
    40
}

/// Send everything.
#[tool(destructive, alone)]
fn send() -> u32 {
    1
}

fn registry() -> Registry {
    let builder = Registry::builder().tool(find_order).tool(refund).tool(send);
    builder.build().unwrap()
}

const NONE: &str = "{}";

fn observed(steps: &[Event]) -> Vec<(Status, String)> {
    let observed = steps.iter().filter_map(|event| match event {
        Event::Observation { status, text, .. } => Some((*status, text.clone())),
        _ => None,
    });
    observed.collect()
}

#[tokio::test]
async fn what_a_model_asks_for_in_one_reply_it_has_not_read() {
    let model = Scripted::new()
        .calls("", [("find_order", NONE), ("refund", NONE)])
        .calls("", [("refund", NONE)])
        .calls("", [("refund", NONE)])
        .text("done");
    let agent = ContractAgent::builder(ToolCallingAgent::new(model, registry()));
    let agent = agent
        .recovery(Recovery::retry(9))
        .loop_detection(LoopDetection::off())
        .build();
    let ended = observed(&agent.run("refund it").await.steps);
    let statuses: Vec<Status> = ended.iter().map(|(status, _)| *status).collect();
    assert_eq!(
        statuses,
        [Status::Ok, Status::Violation, Status::Ok, Status::Violation]
    );
    assert!(ended[1].1.contains("find the order first"), "{ended:?}");
    assert!(ended[3].1.contains("it was refunded"), "{ended:?}");
}

#[tokio::test]
async fn each_step_of_each_inner_agent_is_a_turn() {
    let call = |tool: &str| format!(r#"{{"type":"tool_call","tool":"{tool}","arguments":{{}}}}"#);
    let text = |tool: &str| format!("Action: {tool}\nAction Input: {{}}");
    let react = Scripted::new()
        .text(text("refund"))
        .text(text("find_order"))
        .text(text("refund"))
        .text("Answer: done");
    let object = Scripted::new()
        .text(call("refund"))
        .text(call("find_order"))
        .text(call("refund"))
        .text(r#"{"type":"answer","content":"done"}"#);
    let constrained = ConstrainedAgent::new(object, registry());
    let inner: [Box<dyn InnerAgent>; 2] = [
        Box::new(ReActAgent::new(react, registry())),
        Box::new(constrained.attempts(0)),
    ];
    for inner in inner {
        let agent = ContractAgent::builder(inner).recovery(Recovery::retry(9));
        let result = agent.build().run("refund it").await;
        let ended = observed(&result.steps);
        let statuses: Vec<Status> = ended.iter().map(|(status, _)| *status).collect();
        assert_eq!(statuses, [Status::Violation, Status::Ok, Status::Ok]);
        assert!(result.success, "{result:?}");
    }
}

#[tokio::test]
async fn two_runs_of_an_agent_have_histories_of_their_own_unless_they_are_within_one() {
    let refunds = || {
        let model = Scripted::new()
            .calls("", [("find_order", NONE)])
            .calls("", [("refund", NONE)])
            .text("done");
        let agent = ContractAgent::builder(ToolCallingAgent::new(model, registry()));
        agent.recovery(Recovery::retry(9)).build()
    };
    for _ in 0..2 {
        let ended = observed(&refunds().run("refund it").await.steps);
        assert_eq!(ended[1].0, Status::Ok);
    }
    let outer = Run::new();
    for status in [Status::Ok, Status::Violation] {
        let context = Context::new().run(&outer);
        let result = refunds().run("refund it").context(context).await;
        let ended = observed(&result.steps);
        assert_eq!(ended[1].0, status);
    }
}

#[tokio::test]
async fn a_tool_that_stands_alone_is_asked_for_again() {
    let model = Scripted::new()
        .calls("", [("send", NONE), ("find_order", NONE)])
        .calls("", [("send", NONE)])
        .text("done");
    let result = ContractAgent::builder(ToolCallingAgent::new(model, registry())).build();
    let result = result.run("send it").await;
    let ended = observed(&result.steps);
    let statuses: Vec<Status> = ended.iter().map(|(status, _)| *status).collect();
    assert_eq!(statuses, [Status::Ok, Status::Cancelled, Status::Ok]);
    assert!(
        ended[1].1.contains("must be the only call of its turn"),
        "{ended:?}"
    );
    assert!(result.success, "{result:?}");
}
