//! Asking a person: what is asked, and when.

mod answers;
mod approvers;
mod bodies;
mod decided;
mod reopened;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use contract_manifest::{Inspect as _, PortableRule};
use contract_runtime::approval::{Answer, Approval, ApprovalRequest, Decision};
use contract_runtime::prelude::*;
use contract_runtime::{DynamicSpec, Run, Status, catch};
use schemars::JsonSchema;
use serde::Deserialize;
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
        registry.call(refund("ada", 100)).blocking().output(),
        Some("100 to ada")
    );

    let asked = registry.call(refund("ada", 20_000)).blocking();
    let request = request(&asked);
    assert_eq!(request.questions[0].text, "Refund 20000 cents to \"ada\"?");
    assert_eq!(request.questions[0].contract, "refund.pre[1]");
    assert_eq!(
        (request.tool.as_str(), request.call_id.as_str()),
        ("refund", "7")
    );
    assert_eq!(request.arguments, json!({"user": "ada", "cents": 20_000}));
    assert_eq!(
        asked.error().unwrap(),
        "not started, because a person must be asked first: Refund 20000 cents to \"ada\"?"
    );
    assert_eq!(state.sold(), ["100 to ada"]);

    let written = serde_json::to_string(&request).unwrap();
    let read: ApprovalRequest = serde_json::from_str(&written).unwrap();
    let outcome = registry
        .call(refund("ada", 20_000))
        .context(answered(read.approve()))
        .blocking();
    assert_eq!(outcome.output(), Some("20000 to ada"));
    let statistics = registry.statistics();
    assert_eq!(statistics.conditions.waived, 1);
    assert_eq!(
        (statistics.calls(), statistics.ended(Status::Asked)),
        (3, 1)
    );
}

#[test]
fn refusals_come_before_questions() {
    let registry = shop(&Shop::new());
    let outcome = registry.call(refund("", 20_000)).blocking();
    assert_eq!(outcome.violation().unwrap().contract, "refund.pre[0]");
    let outcome = registry.call(refund("ada", 200_000)).blocking();
    assert_eq!(outcome.violation().unwrap().contract, "refund.pre[2]");
    let wrong = ToolCall::new("1", "buy", r#"{"thing":3}"#);
    assert_eq!(
        registry.call(wrong).blocking().status(),
        Status::InvalidArguments
    );
}

#[tokio::test]
async fn a_check_says_that_it_would_ask_and_no_answer_is_used() {
    let state = Shop::new();
    let registry = shop(&state);
    let answer = request(&registry.call(refund("ada", 20_000)).await).approve();
    let checked = registry
        .check(refund("ada", 20_000))
        .context(answered(answer.clone()))
        .await;
    assert_eq!(request(&checked).id, "");
    let outcome = registry
        .call(refund("ada", 20_000))
        .context(answered(answer))
        .await;
    assert!(outcome.is_ok());
    let all = registry
        .check(refund("ada", 20_000))
        .every_condition()
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
        registry.call(call).blocking().status()
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
    assert_eq!(text("9000").await, "Refund 20000 cents to 9000?");
    let long = format!("{}b{}", "a".repeat(700), "c".repeat(700));
    let start = "a".repeat(500);
    let end = "c".repeat(500);
    assert_eq!(
        text(&long).await,
        format!("Refund 20000 cents to \"{start} [401 characters left out] {end}\"?")
    );
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
            .call(call)
            .context(Context::new().run(&run))
            .blocking()
            .status()
    };
    let observed = build(|shop| shop.policy(Policy::Observe));
    let overruled = build(|shop| shop.override_policy("refund", Policy::Ignore));
    for registry in [&observed, &overruled] {
        assert_eq!(status(registry, refund("ada", 20_000)), Status::Asked);
    }
    let without = build(|shop| shop.without_ask("refund", "limit").without_confirm("buy"));
    assert_eq!(
        without.call(refund("ada", 20_000)).blocking().status(),
        Status::Violation
    );
    assert!(without.call(buy("lamp")).blocking().is_ok());
    let none = build(|shop| shop.without_confirms().confirm("refund"));
    assert!(none.call(buy("lamp")).blocking().is_ok());
    let asked = none.call(refund("ada", 20_000)).blocking();
    assert_eq!(request(&asked).questions.len(), 2);
    assert_eq!(request(&asked).questions[0].contract, "refund.pre[1]");
    let more = build(|shop| shop.confirm("refund"));
    let asked = more.call(refund("ada", 20_000)).blocking();
    let texts: Vec<_> = request(&asked)
        .questions
        .into_iter()
        .map(|one| one.text)
        .collect();
    assert_eq!(texts, ["Refund 20000 cents to \"ada\"?", "Run refund?"]);
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
        .with(remove)
        .confirm("remove")
        .ask("remove", "only on weekdays")
        .build()
        .unwrap();
    let call = || ToolCall::new("1", "remove", "");
    let asked = request(&registry.call(call()).blocking());
    let texts: Vec<_> = asked
        .questions
        .iter()
        .map(|one| one.text.as_str())
        .collect();
    assert_eq!(texts, ["only on weekdays. Go on?", "Run remove?"]);
    let outcome = registry
        .call(call())
        .context(answered(asked.approve()))
        .blocking();
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
    assert!(PortableRule::of(limit).is_none() && !limit.refuses());
    let text = registry.export_text(contract_runtime::Dialect::Anthropic);
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

#[test]
fn long_values_hide_neither_words_of_the_author_nor_other_values() {
    /// Send notes.
    #[tool(confirm = "Send {a}, {b}, {c}, {d}, {e} and {f} to {to}, for ever?")]
    fn send(a: String, b: String, c: String, d: String, e: String, f: String, to: String) {}

    let registry = Registry::builder().tool(send).build().unwrap();
    let long = "x".repeat(3_000);
    let arguments =
        json!({"a": long, "b": long, "c": long, "d": long, "e": long, "f": long, "to": "eve"});
    let call = ToolCall::new("1", "send", arguments.to_string());
    let text = request(&registry.call(call).blocking()).questions[0]
        .text
        .clone();
    assert!(text.ends_with(" to \"eve\", for ever?"), "{text}");
    assert_eq!(text.matches("[2000 characters left out]").count(), 6);
}

#[test]
fn what_the_author_computed_is_shown_whole_and_unquoted() {
    #[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
    enum Speed {
        Fast,
    }

    fn summary(of: u32) -> String {
        format!("{of} items\u{202e}")
    }

    fn notes() -> String {
        "n".repeat(4_000)
    }

    /// Send things.
    #[tool(confirm = "{speed:?}: {} and {}{}, {sure} {}?", summary(7), notes(), items.len(), name.trim())]
    fn send(speed: Speed, sure: bool, items: Vec<u32>, name: String) {}

    let registry = Registry::builder().tool(send).build().unwrap();
    let arguments = json!({"speed": "Fast", "sure": true, "items": [1], "name": " eve "});
    let call = ToolCall::new("1", "send", arguments.to_string());
    let text = request(&registry.call(call).blocking()).questions[0]
        .text
        .clone();
    let notes = notes();
    assert_eq!(text, format!("Fast: 7 items and {notes}1, true \"eve\"?"));
}

#[tokio::test]
async fn a_question_that_was_cut_approves_one_call() {
    let registry = shop(&Shop::new());
    let asked = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&asked);
    let run = Run::new().approver(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        std::future::ready(Decision::Approved(Approval::SameConditions))
    });
    for user in ["a".repeat(2_000), "ada".to_owned()] {
        for _ in 0..2 {
            let context = Context::new().run(&run);
            let outcome = registry.call(refund(&user, 20_000)).context(context).await;
            assert!(outcome.is_ok(), "{outcome:?}");
        }
    }
    assert_eq!(asked.load(Ordering::Relaxed), 3);
}
