//! What an answer is good for, and how far it reaches.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use contract_runtime::approval::{Answer, Approval, ApprovalRequest, Decision};
use contract_runtime::prelude::*;
use contract_runtime::{Run, Status};

use super::{Shop, answered, buy, refund, request, shop};

#[test]
fn an_answer_is_good_for_one_call_that_is_the_same() {
    let state = Shop::new();
    let registry = shop(&state);
    let ask = || request(&registry.call(refund("ada", 20_000)).blocking()).approve();
    let status = |call, answer| {
        registry
            .call(call)
            .context(answered(answer))
            .blocking()
            .status()
    };

    let used = ask();
    assert_eq!(status(refund("ada", 20_000), used.clone()), Status::Ok);
    assert_eq!(
        status(refund("ada", 20_000), used),
        Status::Asked,
        "used twice"
    );
    assert_eq!(
        status(refund("ada", 20_001), ask()),
        Status::Asked,
        "other arguments"
    );
    assert_eq!(status(buy("lamp"), ask()), Status::Asked, "another tool");
    let mut invented = ask();
    invented.request = "0".repeat(32);
    assert_eq!(
        status(refund("ada", 20_000), invented),
        Status::Asked,
        "an id nobody gave"
    );
    let other = ask();
    assert_eq!(status(refund("eve", 20_000), other.clone()), Status::Asked);
    assert_eq!(
        status(refund("ada", 20_000), other),
        Status::Ok,
        "a call that it does not answer leaves it alone"
    );
    let elsewhere = shop(&state);
    let outcome = elsewhere
        .call(refund("ada", 20_000))
        .context(answered(ask()))
        .blocking();
    assert_eq!(
        outcome.status(),
        Status::Asked,
        "another registry, such as behind a restart"
    );
    assert_eq!(state.sold().len(), 2);

    let same = ToolCall::new("8", "refund", r#" {"cents": 20000, "user": "ada"} "#);
    assert_eq!(status(same, ask()), Status::Ok, "written otherwise");
}

#[tokio::test]
async fn a_batch_takes_an_answer_for_each_of_its_calls() {
    let state = Shop::new();
    let registry = shop(&state);
    let calls = || [buy("lamp"), refund("ada", 20_000)];
    let mut context = Context::new();
    for call in calls().into_iter().rev() {
        context = context.answer(request(&registry.call(call).await).approve());
    }
    let outcomes = registry.call_all(calls()).context(context).await;
    assert!(outcomes.iter().all(Outcome::is_ok), "{outcomes:?}");
    assert_eq!(state.sold(), ["lamp", "20000 to ada"]);
}

#[test]
fn numbers_that_a_float_cannot_hold_are_told_apart() {
    /// Pay two parties.
    #[tool(confirm = "Pay?")]
    fn pay(a: i128, b: i128) -> String {
        format!("{a} {b}")
    }
    let registry = Registry::builder().tool(pay).build().unwrap();
    let call = |a: &str, b: &str| ToolCall::new("1", "pay", format!(r#"{{"a":{a},"b":{b}}}"#));
    let (one, other) = ("18446744073709551617", "18446744073709551671");
    let answer = request(&registry.call(call(one, other)).blocking()).approve();
    let swapped = registry
        .call(call(other, one))
        .context(answered(answer))
        .blocking();
    assert_eq!(swapped.status(), Status::Asked);
}

#[test]
fn a_sentence_that_has_changed_is_asked_again() {
    let state = Shop::new();
    let registry = shop(&state);
    let first = request(&registry.call(buy("lamp")).blocking());
    assert_eq!(first.questions[0].text, "Buy \"lamp\" for 40 EUR?");
    state.price.store(400, Ordering::Relaxed);
    let second = registry
        .call(buy("lamp"))
        .context(answered(first.approve()))
        .blocking();
    assert_eq!(
        request(&second).questions[0].text,
        "Buy \"lamp\" for 400 EUR?"
    );
    assert_eq!(state.sold(), [""; 0]);
    let outcome = registry
        .call(buy("lamp"))
        .context(answered(request(&second).approve()))
        .blocking();
    assert_eq!(outcome.output(), Some("400"));
}

#[test]
fn a_question_that_was_taken_back_has_no_answer() {
    let state = Shop::new();
    let registry = shop(&state);
    let request = request(&registry.call(refund("ada", 20_000)).blocking());
    registry.withdraw(&request);
    registry.withdraw(&request);
    let outcome = registry
        .call(refund("ada", 20_000))
        .context(answered(request.approve()))
        .blocking();
    assert_eq!(outcome.status(), Status::Asked);
    assert_eq!(state.sold(), [""; 0]);
}

#[tokio::test]
async fn a_denial_has_its_reason_and_is_not_asked_about_again_in_its_run() {
    let state = Shop::new();
    let asked = Arc::new(AtomicU32::new(0));
    let run = Run::new().approver({
        let asked = Arc::clone(&asked);
        move |_| {
            asked.fetch_add(1, Ordering::Relaxed);
            async { Decision::Denied("not today".to_owned()) }
        }
    });
    let registry = shop(&state);
    let call = async |user| {
        let context = Context::new().run(&run);
        registry.call(refund(user, 20_000)).context(context).await
    };
    for _ in 0..3 {
        let outcome = call("ada").await;
        assert_eq!(outcome.status(), Status::Denied);
        assert_eq!(
            outcome.error().unwrap(),
            "not started, because it was denied: not today (for the rest of the run)"
        );
    }
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    assert_eq!(call("eve").await.status(), Status::Denied);
    assert_eq!(asked.load(Ordering::Relaxed), 2, "another call");
    assert_eq!(state.sold(), [""; 0]);

    // The same without an approver, by an answer.
    let run = Run::new();
    let asked = registry
        .call(refund("ada", 20_000))
        .context(Context::new().run(&run))
        .await;
    let denied = Context::new()
        .run(&run)
        .answer(request(&asked).deny("never"));
    let outcome = registry.call(refund("ada", 20_000)).context(denied).await;
    assert_eq!(outcome.status(), Status::Denied);
    let outcome = registry
        .call(refund("ada", 20_000))
        .context(Context::new().run(&run))
        .await;
    assert_eq!(outcome.status(), Status::Denied);
    let outcome = registry.call(refund("ada", 20_000)).await;
    assert_eq!(outcome.status(), Status::Asked, "outside of the run");
}

#[tokio::test]
async fn an_approval_reaches_as_far_as_it_says() {
    for (approval, again, other) in [
        (Approval::Once, Status::Asked, Status::Asked),
        (Approval::SameArguments, Status::Ok, Status::Asked),
        (Approval::SameConditions, Status::Ok, Status::Ok),
    ] {
        let registry = shop(&Shop::new());
        let run = Run::new();
        let context = || Context::new().run(&run);
        let asked = registry
            .call(refund("ada", 20_000))
            .context(context())
            .await;
        let answer = request(&asked).answer(Decision::Approved(approval));
        let outcome = registry
            .call(refund("ada", 20_000))
            .context(context().answer(answer))
            .await;
        assert!(outcome.is_ok(), "{approval:?}");
        let repeated = registry
            .call(refund("ada", 20_000))
            .context(context())
            .await;
        assert_eq!(repeated.status(), again, "{approval:?}");
        let changed = registry
            .call(refund("eve", 30_000))
            .context(context())
            .await;
        assert_eq!(changed.status(), other, "{approval:?}");
        let outside = registry.call(refund("ada", 20_000)).await;
        assert_eq!(outside.status(), Status::Asked, "{approval:?}");
    }
}

#[test]
fn one_answer_lets_one_of_two_calls_through() {
    let state = Shop::new();
    let registry = shop(&state);
    for round in 0..500 {
        let answer = request(&registry.call(refund("ada", 20_000)).blocking()).approve();
        let ok = std::thread::scope(|scope| {
            let call = || {
                let context = answered(answer.clone());
                registry
                    .call(refund("ada", 20_000))
                    .context(context)
                    .blocking()
                    .is_ok()
            };
            let both = [scope.spawn(call), scope.spawn(call)];
            both.map(|one| one.join().unwrap())
                .into_iter()
                .filter(|ok| *ok)
                .count()
        });
        assert_eq!((ok, state.sold().len()), (1, round + 1));
    }
}

#[tokio::test]
async fn a_denial_stands_whatever_else_is_approved() {
    for approval in [Approval::SameArguments, Approval::SameConditions] {
        let registry = shop(&Shop::new());
        let run = Run::new();
        let context = || Context::new().run(&run);
        let ask =
            async |cents| request(&registry.call(refund("ada", cents)).context(context()).await);
        let (million, again) = (ask(90_000).await, ask(90_000).await);
        let small = ask(20_000).await;
        let answer = async |cents, answer| {
            let context = context().answer(answer);
            registry.call(refund("ada", cents)).context(context).await
        };
        let denied = answer(90_000, million.deny("never")).await;
        assert_eq!(denied.status(), Status::Denied);
        let approved = |request: &ApprovalRequest| request.answer(Decision::Approved(approval));
        assert!(answer(20_000, approved(&small)).await.is_ok());
        let still = answer(90_000, approved(&again)).await;
        assert_eq!(still.status(), Status::Denied, "{approval:?}");
        let still = registry
            .call(refund("ada", 90_000))
            .context(context())
            .await;
        assert_eq!(still.status(), Status::Denied, "{approval:?}");
    }
}

#[tokio::test]
async fn an_approval_reaches_no_other_registry_and_no_stranger() {
    let (one, other) = (shop(&Shop::new()), shop(&Shop::new()));
    let run = Run::new();
    let (stranger, third) = (run.without_history(), run.without_history());
    let approved = async |run: &Run| {
        let context = || Context::new().run(run);
        let asked = request(&one.call(buy("lamp")).context(context()).await);
        let answer = asked.answer(Decision::Approved(Approval::SameConditions));
        assert!(
            one.call(buy("lamp"))
                .context(context().answer(answer))
                .await
                .is_ok()
        );
    };
    approved(&stranger).await;
    let status = async |registry: &Registry, run: &Run| {
        let context = Context::new().run(run);
        registry.call(buy("lamp")).context(context).await.status()
    };
    assert_eq!(status(&one, &stranger).await, Status::Ok);
    assert_eq!(status(&one, &third).await, Status::Asked);
    assert_eq!(status(&one, &run).await, Status::Asked);
    approved(&run).await;
    assert_eq!(status(&one, &run).await, Status::Ok);
    assert_eq!(status(&other, &run).await, Status::Asked);
}

#[tokio::test]
async fn what_is_not_shown_of_a_value_is_asked_about_too() {
    struct Script(Mutex<String>);

    /// Run the script.
    #[tool(confirm = "Run {}?", script)]
    #[given(script = script_of(state))]
    fn run_script(#[context] state: &Script) -> usize {
        script.len()
    }

    fn script_of(state: &Script) -> String {
        state.0.lock().expect("nothing panics").clone()
    }

    let long = "x".repeat(250);
    for (before, after) in [
        (long.as_str(), &*format!("{long};rm")),
        ("a b\nc", "a b c"),
        ("echo \"a b\"", "echo 'a b'"),
        ("ab", "a\u{200b}b"),
    ] {
        let state = Arc::new(Script(Mutex::new(before.to_owned())));
        let builder = Registry::builder().tool(run_script);
        let registry = builder.context_arc(Arc::clone(&state)).build().unwrap();
        let call = || ToolCall::new("1", "run_script", "");
        let asked = request(&registry.call(call()).await);
        after.clone_into(&mut state.0.lock().unwrap());
        let outcome = registry
            .call(call())
            .context(answered(asked.approve()))
            .await;
        assert_eq!(outcome.status(), Status::Asked, "{before}");
    }
}

#[tokio::test]
async fn a_denied_call_is_the_same_however_it_is_spelled() {
    let registry = shop(&Shop::new());
    let run = Run::new();
    let call = async |arguments: &str, answer: Option<Answer>| {
        let context = answer
            .into_iter()
            .fold(Context::new().run(&run), Context::answer);
        let call = ToolCall::new("1", "buy", arguments);
        registry.call(call).context(context).await
    };
    let plain = r#"{"thing":"1234567890123456"}"#;
    let denial = request(&call(plain, None).await).deny("no");
    assert_eq!(call(plain, Some(denial)).await.status(), Status::Denied);
    for other in [
        r#"{ "thing" : "1234567890123456" }"#,
        r#"{"thing":"\u0031234567890123456"}"#,
    ] {
        assert_eq!(call(other, None).await.status(), Status::Denied, "{other}");
    }
}

#[tokio::test]
async fn a_denied_float_is_the_same_however_it_is_spelled() {
    /// Pay.
    #[tool(confirm = "Pay {euros}?")]
    fn pay(euros: f64) {}
    let registry = Registry::builder().tool(pay).build().unwrap();
    let run = Run::new().approver(async |_| Decision::Denied("no".to_owned()));
    let call = |euros: &str| ToolCall::new("1", "pay", format!(r#"{{"euros":{euros}}}"#));
    let denied = registry.call(call("1.0")).context(Context::new().run(&run));
    assert_eq!(denied.await.status(), Status::Denied);
    let approves = || Context::new().approver(async |_| Decision::Approved(Approval::Once));
    for euros in ["1", "1e0", "1.00", "10.0e-1", "1.00000000000000000000"] {
        let context = approves().run(&run);
        let outcome = registry.call(call(euros)).context(context).await;
        assert_eq!(outcome.status(), Status::Denied, "{euros}");
    }
    let context = approves().run(&run);
    assert!(registry.call(call("1.5")).context(context).await.is_ok());
}

#[tokio::test]
async fn a_denied_call_is_the_same_where_its_caller_corrects_it() {
    /// Pay.
    #[tool(confirm = "Pay {euros}?")]
    fn pay(euros: u32) {}
    let registry = Registry::builder().tool(pay).build().unwrap();
    let run = Run::new().approver(async |_| Decision::Denied("no".to_owned()));
    let call = |euros: &str| ToolCall::new("1", "pay", format!(r#"{{"euros":{euros}}}"#));
    let context = || Context::new().run(&run).coerce(true);
    let denied = registry.call(call(r#""7""#)).context(context()).await;
    assert_eq!(denied.status(), Status::Denied, "{denied:?}");
    let approving = context().approver(async |_| Decision::Approved(Approval::Once));
    let again = registry.call(call("7")).context(approving).await;
    assert_eq!(again.status(), Status::Denied, "{again:?}");
}

#[tokio::test]
async fn a_denied_call_is_the_same_with_its_defaults_spelled_out() {
    /// Order some of a thing.
    #[tool(coerce, confirm = "Order {count} of {thing}?")]
    fn order(thing: String, #[arg(default = 1)] count: u32, note: Option<String>) -> u32 {
        drop((thing, note));
        count
    }
    let registry = Registry::builder().tool(order).build().unwrap();
    let run = Run::new();
    let call = async |arguments: &str, answer: Option<Answer>| {
        let context = Context::new().run(&run);
        let context = answer.into_iter().fold(context, Context::answer);
        let call = ToolCall::new("1", "order", arguments);
        registry.call(call).context(context).await
    };
    let denial = request(&call(r#"{"thing":"den"}"#, None).await).deny("no");
    let denied = call(r#"{"thing":"den"}"#, Some(denial)).await;
    assert_eq!(denied.status(), Status::Denied);
    // Whatever is approved for other calls.
    let other = request(&call(r#"{"thing":"lamp"}"#, None).await);
    let all = other.answer(Decision::Approved(Approval::SameConditions));
    assert!(call(r#"{"thing":"lamp"}"#, Some(all)).await.is_ok());
    for same in [
        r#"{"thing":"den","count":1}"#,
        r#"{"thing":"den","count":null}"#,
        r#"{"note":null,"count":1.0,"thing":"den"}"#,
        r#"{"thing":"den","count":"1"}"#,
    ] {
        assert_eq!(call(same, None).await.status(), Status::Denied, "{same}");
    }
    assert!(call(r#"{"thing":"den","count":2}"#, None).await.is_ok());
}

#[test]
fn a_denial_counts_beside_an_approval() {
    let state = Shop::new();
    let registry = shop(&state);
    let asked = request(&registry.call(refund("ada", 20_000)).blocking());
    let both = answered(asked.approve()).answer(asked.deny(""));
    let outcome = registry
        .call(refund("ada", 20_000))
        .context(both)
        .blocking();
    assert_eq!(
        outcome.error().unwrap(),
        "not started, because it was denied"
    );
    assert_eq!(state.sold(), [""; 0]);
}
