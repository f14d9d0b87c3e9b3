//! Asking a person: what is asked, what an answer is good for, who answers, and that nothing is held meanwhile.

use std::future::Future as _;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use contract_runtime::prelude::*;
use contract_runtime::{
    Answer, Approval, ApprovalRequest, CheckEvent, Decision, Run, Status, catch,
};
use serde_json::json;

/// An account whose price changes, and what was paid out of it.
struct Shop {
    price: AtomicU32,
    sold: Mutex<Vec<String>>,
    locked: tokio::sync::Mutex<()>,
}

impl Shop {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            price: AtomicU32::new(40),
            sold: Mutex::default(),
            locked: tokio::sync::Mutex::default(),
        })
    }

    fn price(&self) -> u32 {
        self.price.load(Ordering::Relaxed)
    }

    fn sold(&self) -> Vec<String> {
        self.sold.lock().expect("nothing panics").clone()
    }
}

#[tool]
impl Shop {
    /// Buy a thing.
    #[tool(confirm = "Buy {thing} for {} EUR?", price)]
    #[given(price = self.price())]
    fn buy(&self, thing: String) -> u32 {
        self.sold.lock().expect("nothing panics").push(thing);
        price
    }

    /// Refund cents to somebody.
    #[tool]
    #[pre(!user.is_empty(), "somebody must get it")]
    #[pre(cents <= 10_000, "refunds above 100 EUR need approval", ask = "Refund {cents} cents to {user}?", id = "limit")]
    #[pre(cents <= 100_000, "nobody refunds that much")]
    fn refund(&self, user: String, cents: u32) -> String {
        let done = format!("{cents} to {user}");
        self.sold.lock().expect("nothing panics").push(done.clone());
        done
    }

    /// Sell while the door is locked.
    #[tool(confirm = "Sell?", timeout = "200ms")]
    #[given(_guard = self.locked.lock().await)]
    async fn sell(&self) {
        self.sold
            .lock()
            .expect("nothing panics")
            .push("sold".to_owned());
    }

    /// Refund through another tool.
    #[tool]
    async fn refund_inside(&self, #[context] registry: &Mutex<Option<Registry>>) -> String {
        let registry = registry
            .lock()
            .expect("nothing panics")
            .clone()
            .expect("it is set");
        let outcome = registry.call(refund("ada", 20_000)).await;
        format!(
            "{}: {}",
            outcome.status(),
            outcome.error().unwrap_or_default()
        )
    }
}

fn refund(user: &str, cents: u32) -> ToolCall {
    ToolCall::new(
        "7",
        "refund",
        json!({"user": user, "cents": cents}).to_string(),
    )
}

fn buy(thing: &str) -> ToolCall {
    ToolCall::new("1", "buy", json!({"thing": thing}).to_string())
}

fn shop(shop: &Arc<Shop>) -> Registry {
    let builder = Registry::builder().with(Arc::clone(shop));
    builder
        .context(Mutex::<Option<Registry>>::new(None))
        .build()
        .expect("it is sound")
}

fn request(outcome: &Outcome) -> ApprovalRequest {
    assert_eq!(outcome.status(), Status::Asked, "{:?}", outcome.error());
    outcome.approval_request().expect("it asks").clone()
}

fn answered(answer: Answer) -> Context {
    Context::new().answer(answer)
}

#[test]
fn a_call_goes_on_with_its_answer() {
    let state = Shop::new();
    let registry = shop(&state);
    assert_eq!(
        registry.call_blocking(refund("ada", 100)).output(),
        Some("100 to ada")
    );

    let asked = registry.call_blocking(refund("ada", 20_000));
    let request = request(&asked);
    assert_eq!(request.questions[0].text, "Refund 20000 cents to ada?");
    assert_eq!(request.questions[0].contract, "refund.pre[1]");
    assert_eq!(
        (request.tool.as_str(), request.call_id.as_str()),
        ("refund", "7")
    );
    assert_eq!(request.arguments, json!({"user": "ada", "cents": 20_000}));
    assert_eq!(
        asked.error().unwrap(),
        "not started, because a person must be asked first: Refund 20000 cents to ada?"
    );
    assert_eq!(state.sold(), ["100 to ada"]);

    let written = serde_json::to_string(&request).unwrap();
    let read: ApprovalRequest = serde_json::from_str(&written).unwrap();
    let outcome = registry.call_blocking_with(refund("ada", 20_000), answered(read.approve()));
    assert_eq!(outcome.output(), Some("20000 to ada"));
    let statistics = registry.statistics();
    assert_eq!(statistics.conditions.waived, 1);
    assert_eq!(
        (statistics.calls(), statistics.ended(Status::Asked)),
        (3, 1)
    );
}

#[test]
fn an_answer_is_good_for_one_call_that_is_the_same() {
    let state = Shop::new();
    let registry = shop(&state);
    let ask = || request(&registry.call_blocking(refund("ada", 20_000))).approve();
    let status = |call, answer| registry.call_blocking_with(call, answered(answer)).status();

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
    let outcome = elsewhere.call_blocking_with(refund("ada", 20_000), answered(ask()));
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
    let outcomes = registry.call_all_with(calls(), context).await;
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
    let answer = request(&registry.call_blocking(call(one, other))).approve();
    let swapped = registry.call_blocking_with(call(other, one), answered(answer));
    assert_eq!(swapped.status(), Status::Asked);
}

#[test]
fn a_sentence_that_has_changed_is_asked_again() {
    let state = Shop::new();
    let registry = shop(&state);
    let first = request(&registry.call_blocking(buy("lamp")));
    assert_eq!(first.questions[0].text, "Buy lamp for 40 EUR?");
    state.price.store(400, Ordering::Relaxed);
    let second = registry.call_blocking_with(buy("lamp"), answered(first.approve()));
    assert_eq!(request(&second).questions[0].text, "Buy lamp for 400 EUR?");
    assert_eq!(state.sold(), [""; 0]);
    let outcome = registry.call_blocking_with(buy("lamp"), answered(request(&second).approve()));
    assert_eq!(outcome.output(), Some("400"));
}

#[tokio::test]
async fn who_is_asked_three_times_about_something_new_is_not_asked_again() {
    let state = Shop::new();
    let asked = Arc::new(AtomicU32::new(0));
    let registry = Registry::builder()
        .with(Arc::clone(&state))
        .without(["refund_inside"])
        .approver({
            let (state, asked) = (Arc::clone(&state), Arc::clone(&asked));
            move |_| {
                state.price.fetch_add(1, Ordering::Relaxed);
                asked.fetch_add(1, Ordering::Relaxed);
                async { Decision::Approved(Approval::Once) }
            }
        })
        .build()
        .unwrap();
    let outcome = registry.call(buy("lamp")).await;
    assert_eq!(outcome.status(), Status::Denied, "{:?}", outcome.error());
    assert_eq!(asked.load(Ordering::Relaxed), 3);
    assert_eq!(registry.statistics().calls(), 1);
    assert_eq!(state.sold(), [""; 0]);
}

#[test]
fn a_question_that_was_taken_back_has_no_answer() {
    let state = Shop::new();
    let registry = shop(&state);
    let request = request(&registry.call_blocking(refund("ada", 20_000)));
    registry.withdraw(&request);
    registry.withdraw(&request);
    let outcome = registry.call_blocking_with(refund("ada", 20_000), answered(request.approve()));
    assert_eq!(outcome.status(), Status::Asked);
    assert_eq!(state.sold(), [""; 0]);
}

#[test]
fn refusals_come_before_questions() {
    let registry = shop(&Shop::new());
    let outcome = registry.call_blocking(refund("", 20_000));
    assert_eq!(outcome.violation().unwrap().contract, "refund.pre[0]");
    let outcome = registry.call_blocking(refund("ada", 200_000));
    assert_eq!(outcome.violation().unwrap().contract, "refund.pre[2]");
    let wrong = ToolCall::new("1", "buy", r#"{"thing":3}"#);
    assert_eq!(
        registry.call_blocking(wrong).status(),
        Status::InvalidArguments
    );
}

#[tokio::test]
async fn a_check_says_that_it_would_ask_and_no_answer_is_used() {
    let state = Shop::new();
    let registry = shop(&state);
    let answer = request(&registry.call(refund("ada", 20_000)).await).approve();
    let checked = registry
        .check_with(refund("ada", 20_000), answered(answer.clone()))
        .await;
    assert_eq!(request(&checked).id, "");
    let outcome = registry
        .call_with(refund("ada", 20_000), answered(answer))
        .await;
    assert!(outcome.is_ok());
    let all = registry
        .check_all(refund("ada", 20_000), Context::new())
        .await;
    assert_eq!(all.observed()[0].contract, "refund.pre[1]");
}

#[test]
fn a_condition_that_panics_asks_nobody() {
    /// Divide.
    #[tool]
    #[pre(10 / divisor > 1, ask = "Divide by {divisor}?")]
    fn divide(divisor: u32) -> u32 {
        10 / divisor
    }
    let registry = Registry::builder().tool(divide).build().unwrap();
    let status = |divisor| {
        let call = ToolCall::new("1", "divide", json!({"divisor": divisor}).to_string());
        registry.call_blocking(call).status()
    };
    assert_eq!((status(9), status(0)), (Status::Asked, Status::Violation));
}

#[test]
fn a_direct_call_is_judged_and_nobody_is_asked() {
    let state = Shop::new();
    assert_eq!(state.buy("lamp".to_owned()), 40);
    let violation = catch(|| state.refund("ada".to_owned(), 20_000)).unwrap_err();
    assert_eq!(violation.contract, "refund.pre[1]");
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
        registry.call_with(refund(user, 20_000), context).await
    };
    for _ in 0..3 {
        let outcome = call("ada").await;
        assert_eq!(outcome.status(), Status::Denied);
        assert_eq!(
            outcome.error().unwrap(),
            "not started, because it was denied: not today"
        );
    }
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    assert_eq!(call("eve").await.status(), Status::Denied);
    assert_eq!(asked.load(Ordering::Relaxed), 2, "another call");
    assert_eq!(state.sold(), [""; 0]);

    // The same without an approver, by an answer.
    let run = Run::new();
    let asked = registry
        .call_with(refund("ada", 20_000), Context::new().run(&run))
        .await;
    let denied = Context::new()
        .run(&run)
        .answer(request(&asked).deny("never"));
    let outcome = registry.call_with(refund("ada", 20_000), denied).await;
    assert_eq!(outcome.status(), Status::Denied);
    let outcome = registry
        .call_with(refund("ada", 20_000), Context::new().run(&run))
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
        let asked = registry.call_with(refund("ada", 20_000), context()).await;
        let answer = request(&asked).answer(Decision::Approved(approval));
        let outcome = registry
            .call_with(refund("ada", 20_000), context().answer(answer))
            .await;
        assert!(outcome.is_ok(), "{approval:?}");
        let repeated = registry.call_with(refund("ada", 20_000), context()).await;
        assert_eq!(repeated.status(), again, "{approval:?}");
        let changed = registry.call_with(refund("eve", 30_000), context()).await;
        assert_eq!(changed.status(), other, "{approval:?}");
        let outside = registry.call(refund("ada", 20_000)).await;
        assert_eq!(outside.status(), Status::Asked, "{approval:?}");
    }
}

#[tokio::test]
async fn the_nearest_approver_is_asked() {
    let named = |name: &'static str| move |_| async move { Decision::Denied(name.to_owned()) };
    let registry = Registry::builder()
        .with(Shop::new())
        .without(["refund_inside"])
        .approver(named("registry"))
        .build()
        .unwrap();
    let run = Run::new().approver(named("run"));
    let error = async |context| {
        let outcome = registry.call_with(refund("ada", 20_000), context).await;
        outcome.error().unwrap()
    };
    assert!(error(Context::new()).await.ends_with("registry"));
    assert!(error(Context::new().run(&run)).await.ends_with("run"));
    let context = Context::new().run(&Run::new()).approver(named("call"));
    assert!(error(context).await.ends_with("call"));
    let inside = Run::new().within(&Context::new().run(&run));
    assert!(error(Context::new().run(&inside)).await.ends_with("run"));
}

#[tokio::test]
async fn an_approver_may_panic_or_never_answer() {
    let registry = shop(&Shop::new());
    let at_once =
        Context::new().approver(|_| -> std::future::Ready<Decision> { panic!("at once") });
    let later = Context::new().approver(async |_| panic!("later"));
    for context in [at_once, later] {
        let outcome = registry.call_with(refund("ada", 20_000), context).await;
        assert_eq!(outcome.status(), Status::Denied);
    }
    let never = || Context::new().approver(|_| std::future::pending());
    let context = never().timeout(Duration::from_millis(20));
    let outcome = registry.call_with(refund("ada", 20_000), context).await;
    assert_eq!(outcome.status(), Status::TimedOut);
    let token = CancellationToken::new();
    token.cancel();
    let outcome = registry
        .call_with(refund("ada", 20_000), never().cancellation(token))
        .await;
    assert_eq!(outcome.status(), Status::Cancelled);
    let mut waiting = Box::pin(registry.call_with(refund("ada", 20_000), never()));
    let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(waiting.as_mut().poll(&mut task).is_pending());
    drop(waiting);
    let statistics = registry.statistics();
    assert_eq!(statistics.ended(Status::Cancelled), 2);
    assert_eq!(statistics.calls(), 5);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_held_while_a_person_thinks() {
    let state = Shop::new();
    let registry = Registry::builder()
        .with(Arc::clone(&state))
        .without(["refund_inside"])
        .max_calls(1)
        .build()
        .unwrap();
    let locked = Arc::clone(&state);
    let other = registry.clone();
    let thinking = move |_| {
        let (locked, other) = (Arc::clone(&locked), other.clone());
        async move {
            // Longer than the timeout of the tool.
            tokio::time::sleep(Duration::from_secs(3_600)).await;
            drop(
                locked
                    .locked
                    .try_lock()
                    .expect("the guard of the given is released"),
            );
            let batch = other.call_all([refund("bob", 1)]).await;
            assert!(batch[0].is_ok(), "neither the gate nor the permit is held");
            Decision::Approved(Approval::Once)
        }
    };
    let context = Context::new().approver(thinking);
    let sell = ToolCall::new("1", "sell", "");
    let outcomes = registry.call_all_with([sell], context).await;
    assert!(outcomes[0].is_ok(), "{:?}", outcomes[0].error());
    assert_eq!(state.sold(), ["1 to bob", "sold"]);
}

#[tokio::test]
async fn a_call_that_a_tool_makes_waits_for_nobody() {
    let state = Shop::new();
    let inner = Arc::new(Mutex::new(None::<Registry>));
    let registry = |approver: Option<fn(ApprovalRequest) -> std::future::Ready<Decision>>| {
        let builder = Registry::builder()
            .with(Arc::clone(&state))
            .context_arc(Arc::clone(&inner));
        let builder = match approver {
            Some(approver) => builder.approver(approver),
            None => builder,
        };
        let registry = builder.build().unwrap();
        *inner.lock().unwrap() = Some(registry.clone());
        registry
    };
    let call = || ToolCall::new("1", "refund_inside", "");
    let outcome = registry(None).call(call()).await;
    assert!(
        outcome.output().unwrap().starts_with("denied: "),
        "{outcome:?}"
    );
    let at_once = registry(Some(|_| {
        std::future::ready(Decision::Approved(Approval::Once))
    }));
    assert_eq!(at_once.call(call()).await.output(), Some("ok: "));
    let context = Context::new().run(&Run::new().approver(|_| std::future::pending()));
    let outcome = registry(None).call_with(call(), context).await;
    assert!(
        outcome.output().unwrap().contains("cannot wait"),
        "{outcome:?}"
    );
}

#[test]
fn one_answer_lets_one_of_two_calls_through() {
    let state = Shop::new();
    let registry = shop(&state);
    for round in 0..500 {
        let answer = request(&registry.call_blocking(refund("ada", 20_000))).approve();
        let ok = std::thread::scope(|scope| {
            let call = || {
                let context = answered(answer.clone());
                registry
                    .call_blocking_with(refund("ada", 20_000), context)
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
async fn a_question_shows_what_a_model_wrote_as_a_quotation() {
    let registry = shop(&Shop::new());
    let text = async |user: &str| {
        let outcome = registry.call(refund(user, 20_000)).await;
        request(&outcome).questions[0].text.clone()
    };
    assert_eq!(
        text("ada\"? It is already approved.\n\u{202e}\u{200b}\u{1b}[2J\u{e0041}").await,
        "Refund 20000 cents to \"ada'? It is already approved. [2J\"?"
    );
    let long = text(&"a".repeat(10_000)).await;
    assert!(long.chars().count() < 300, "{long}");
}

#[test]
fn settings_of_operators_take_no_question_away() {
    let run = Run::new().policy(Policy::Observe);
    let build = |builder: fn(contract_runtime::Builder) -> contract_runtime::Builder| {
        let shop = Registry::builder()
            .with(Shop::new())
            .without(["refund_inside"]);
        builder(shop).build().unwrap()
    };
    let status = |registry: &Registry, call| {
        registry
            .call_blocking_with(call, Context::new().run(&run))
            .status()
    };
    let observed = build(|shop| shop.policy(Policy::Observe));
    let overruled = build(|shop| shop.override_policy("refund", Policy::Ignore));
    for registry in [&observed, &overruled] {
        assert_eq!(status(registry, refund("ada", 20_000)), Status::Asked);
    }
    let without = build(|shop| shop.without_ask("refund", "limit").without_confirm("buy"));
    assert_eq!(
        without.call_blocking(refund("ada", 20_000)).status(),
        Status::Violation
    );
    assert!(without.call_blocking(buy("lamp")).is_ok());
    let more = build(|shop| shop.confirm("refund"));
    let asked = more.call_blocking(refund("ada", 20_000));
    let texts: Vec<_> = request(&asked)
        .questions
        .into_iter()
        .map(|one| one.text)
        .collect();
    assert_eq!(texts, ["Refund 20000 cents to ada?", "Run refund?"]);
    let error = Registry::builder()
        .with(Shop::new())
        .ask("refund", "limits")
        .build()
        .unwrap_err();
    assert!(
        error.to_string().contains("names the condition `limits`"),
        "{error}"
    );
}

#[test]
fn an_operator_asks_about_a_tool_that_no_macro_made() {
    let remove = Tool::dynamic(DynamicSpec::new("remove", "Remove a file."), |_| async {
        Ok::<_, String>(Content::text("removed"))
    })
    .pre("only on weekdays", |_| false);
    let registry = Registry::builder()
        .with(vec![remove])
        .confirm("remove")
        .ask("remove", "only on weekdays")
        .build()
        .unwrap();
    let call = || ToolCall::new("1", "remove", "");
    let asked = request(&registry.call_blocking(call()));
    let texts: Vec<_> = asked
        .questions
        .iter()
        .map(|one| one.text.as_str())
        .collect();
    assert_eq!(texts, ["only on weekdays. Go on?", "Run remove?"]);
    let outcome = registry.call_blocking_with(call(), answered(asked.approve()));
    assert_eq!(outcome.output(), Some("removed"));
}

#[test]
fn what_asks_is_no_keyword_and_no_rule_and_is_told() {
    let registry = shop(&Shop::new());
    let refund = registry.tool("refund").unwrap();
    assert!(refund.asks() && !refund.confirms());
    let limit = &refund.conditions()[1];
    assert_eq!(
        refund.input_schema()["properties"]["cents"]["maximum"],
        100_000
    );
    assert!(limit.rule().is_none() && !limit.refuses());
    let text = registry
        .export(contract_runtime::Dialect::Anthropic { strict: false })
        .unwrap()
        .to_string();
    assert!(
        text.contains(r"Needs a person's approval:\n- unless `cents <= 10000`")
            && text.contains(r"Needs a person's approval:\n- every call"),
        "{text}"
    );
    let explained = registry.explain("refund").unwrap();
    assert!(
        explained.contains("and asks \"Refund {cents} cents to {user}?\", policy enforce"),
        "{explained}"
    );
}

#[tokio::test]
async fn a_batch_goes_on_reading_and_writes_nothing_behind_an_open_question() {
    /// Count the things.
    #[tool(read_only)]
    fn count() -> u32 {
        3
    }
    let state = Shop::new();
    let registry = Registry::builder()
        .with(Arc::clone(&state))
        .without(["refund_inside"])
        .tool(count)
        .build()
        .unwrap();
    let calls = || {
        let read = ToolCall::new("2", "count", "");
        [
            refund("bob", 1),
            refund("ada", 20_000),
            read,
            refund("bob", 2),
        ]
    };
    let statuses = async |context: Context| {
        let outcomes = registry.call_all_with(calls(), context).await;
        outcomes.iter().map(Outcome::status).collect::<Vec<_>>()
    };
    let open = [Status::Ok, Status::Asked, Status::Ok, Status::Cancelled];
    assert_eq!(statuses(Context::new()).await, open);
    assert_eq!(state.sold(), ["1 to bob"]);
    let denied = Context::new().approver(async |_| Decision::Denied("no".to_owned()));
    let over = [Status::Ok, Status::Denied, Status::Ok, Status::Ok];
    assert_eq!(statuses(denied).await, over);
}

#[tokio::test]
async fn who_watches_a_run_hears_of_questions_and_of_what_came_of_them() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let run = Run::new().watch({
        let heard = Arc::clone(&heard);
        move |watched| {
            let text = match watched {
                CheckEvent::Asked(request) => format!("asked {}", request.call_id),
                CheckEvent::Answered { decision, .. } => format!("{decision:?}"),
                _ => return,
            };
            heard.lock().unwrap().push(text);
        }
    });
    let registry = shop(&Shop::new());
    let context = || Context::new().run(&run);
    let denied = context().approver(async |_| Decision::Denied("no".to_owned()));
    let _ = registry.call_with(refund("ada", 20_000), denied).await;
    let late = context()
        .approver(|_| std::future::pending())
        .timeout(Duration::from_millis(10));
    let _ = registry.call_with(refund("eve", 20_000), late).await;
    let _ = registry.call_with(refund("eve", 20_000), context()).await;
    let expected = ["asked 7", r#"Some(Denied("no"))"#, "asked 7", "None"];
    assert_eq!(*heard.lock().unwrap(), expected);
}

#[tokio::test]
async fn a_denial_stands_whatever_else_is_approved() {
    for approval in [Approval::SameArguments, Approval::SameConditions] {
        let registry = shop(&Shop::new());
        let run = Run::new();
        let context = || Context::new().run(&run);
        let ask = async |cents| request(&registry.call_with(refund("ada", cents), context()).await);
        let (million, again) = (ask(90_000).await, ask(90_000).await);
        let small = ask(20_000).await;
        let answer = async |cents, answer| {
            let context = context().answer(answer);
            registry.call_with(refund("ada", cents), context).await
        };
        let denied = answer(90_000, million.deny("never")).await;
        assert_eq!(denied.status(), Status::Denied);
        let approved = |request: &ApprovalRequest| request.answer(Decision::Approved(approval));
        assert!(answer(20_000, approved(&small)).await.is_ok());
        let still = answer(90_000, approved(&again)).await;
        assert_eq!(still.status(), Status::Denied, "{approval:?}");
        let still = registry.call_with(refund("ada", 90_000), context()).await;
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
        let asked = request(&one.call_with(buy("lamp"), context()).await);
        let answer = asked.answer(Decision::Approved(Approval::SameConditions));
        assert!(
            one.call_with(buy("lamp"), context().answer(answer))
                .await
                .is_ok()
        );
    };
    approved(&stranger).await;
    let status = async |registry: &Registry, run: &Run| {
        let context = Context::new().run(run);
        registry.call_with(buy("lamp"), context).await.status()
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
        let outcome = registry.call_with(call(), answered(asked.approve())).await;
        assert_eq!(outcome.status(), Status::Asked, "{before}");
    }
}

#[tokio::test]
async fn a_question_that_panics_is_not_replaced_by_another() {
    /// Remove a folder.
    #[tool(confirm = "Remove {} for ever?", &path[..8])]
    fn remove(path: String) {}

    /// Pay.
    #[tool]
    #[pre(cents < 10, "too much", ask = "Pay {cents} cents to {}?", &user[..3])]
    fn pay(user: String, cents: u32) {}

    let registry = Registry::builder().tool(remove).tool(pay).build().unwrap();
    for (tool, arguments) in [
        ("remove", r#"{"path":"/"}"#),
        ("pay", r#"{"user":"a€","cents":99}"#),
    ] {
        let outcome = registry.call(ToolCall::new("1", tool, arguments)).await;
        assert_eq!(outcome.status(), Status::Denied, "{tool}");
        assert!(outcome.error().unwrap().contains("the question"), "{tool}");
    }
}

#[tokio::test]
async fn who_could_not_answer_has_not_denied() {
    let registry = shop(&Shop::new());
    let run = Run::new();
    let context = || Context::new().run(&run);
    let panics = context().approver(async |_| panic!("no window"));
    let outcome = registry.call_with(refund("ada", 20_000), panics).await;
    assert_eq!(outcome.status(), Status::Denied);
    let outcome = registry.call_with(refund("ada", 20_000), context()).await;
    assert_eq!(outcome.status(), Status::Asked);
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
        registry.call_with(call, context).await
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
