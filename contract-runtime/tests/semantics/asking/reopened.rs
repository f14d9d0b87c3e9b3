//! Questions of another process. Two registries stand for two processes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use contract_runtime::approval::{Approval, ApprovalRequest, Decision};
use contract_runtime::prelude::*;
use contract_runtime::{Run, Status};
use serde_json::json;

use super::{Shop, answered, buy, request, shop};

/// What another process reads of a request.
fn read(request: &ApprovalRequest) -> ApprovalRequest {
    let written = serde_json::to_string(request).expect("it is JSON");
    serde_json::from_str(&written).expect("it is a request")
}

#[tokio::test]
async fn a_question_of_another_registry_is_answered_once() {
    let state = Shop::new();
    let request = read(&request(&shop(&state).call(buy("lamp")).await));
    let registry = shop(&state);
    let call = async |context| registry.call(buy("lamp")).context(context).await.status();
    assert_eq!(call(answered(request.approve())).await, Status::Asked);
    registry.reopen(&buy("lamp"), &Context::new(), &request);
    registry.reopen(&buy("lamp"), &Context::new(), &request);
    assert_eq!(call(answered(request.approve())).await, Status::Ok);
    assert_eq!(call(answered(request.approve())).await, Status::Asked);
    assert_eq!(state.sold(), ["lamp"]);
}

#[tokio::test]
async fn the_hooks_of_a_registry_are_asked_about_a_call_of_another_process() {
    let state = Shop::new();
    let request = read(&request(&shop(&state).call(buy("lamp")).await));
    let hooked = Registry::builder().with(Arc::clone(&state));
    let hooked = hooked
        .without(["refund_inside"])
        .before_call(async |_, _| Err("not here".to_owned()))
        .build()
        .unwrap();
    hooked.reopen(&buy("lamp"), &Context::new(), &request);
    let outcome = hooked
        .call(buy("lamp"))
        .context(answered(request.approve()))
        .await;
    assert_eq!(outcome.status(), Status::Refused);
}

/// What things cost.
struct Price(AtomicU32);

/// Order a thing.
#[tool(confirm = "Order it for {}?", price)]
#[given(price = of.0.load(Ordering::Relaxed))]
#[pre(count < 10, "too many", ask = "Order {count}?")]
fn order(count: u32, #[context] of: &Price) -> u32 {
    count * price
}

#[tokio::test]
async fn what_was_approved_before_is_not_asked_again_in_a_third_process() {
    let price = Arc::new(Price(AtomicU32::new(1)));
    let call = ToolCall::new("1", "order", json!({"count": 20}).to_string());
    let registry = || {
        let builder = Registry::builder().tool(order);
        builder.context_arc(Arc::clone(&price)).build().unwrap()
    };
    let mut answer = None::<ApprovalRequest>;
    for asked in [
        vec!["Order 20?", "Order it for 1?"],
        vec!["Order it for 2?"],
    ] {
        let registry = registry();
        let context = answer.as_ref().map_or_else(Context::new, |request| {
            registry.reopen(&call, &Context::new(), request);
            answered(request.approve())
        });
        let request = read(&request(&registry.call(&call).context(context).await));
        let texts: Vec<_> = request.questions.iter().map(|one| &*one.text).collect();
        assert_eq!(texts, asked);
        answer = Some(request);
        price.0.store(2, Ordering::Relaxed);
    }
    let (registry, request) = (registry(), answer.unwrap());
    registry.reopen(&call, &Context::new(), &request);
    let outcome = registry.call(&call).context(answered(request.approve()));
    assert_eq!(outcome.await.output(), Some("40"));
}

#[tokio::test]
async fn a_run_remembers_an_approval_only_under_the_same_contract() {
    let state = Shop::new();
    let request = read(&request(&shop(&state).call(buy("lamp")).await));
    let always = Decision::Approved(Approval::SameConditions);
    for (policy, expected) in [
        (Policy::Enforce, Status::Ok),
        (Policy::Observe, Status::Asked),
    ] {
        let (registry, run) = (shop(&state), Run::new().policy(policy));
        let context = || Context::new().run(&run);
        registry.remember_decision(&buy("lamp"), &context(), &request, &always);
        let outcome = registry.call(buy("table")).context(context()).await;
        assert_eq!(outcome.status(), expected);
    }
}
