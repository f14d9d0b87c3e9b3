//! Decode, pre in source order, body, post in source order, encode; nothing twice.

use contract_runtime::Status;
use contract_runtime::observe::Observer;
use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::common::{Count, Log, call};

thread_local! {
    /// `Deserialize` and `Serialize` are given no context.
    static EVENTS: Log = Log::default();
}

fn event(text: &str) {
    EVENTS.with(|log| log.add(text));
}

#[derive(Clone, JsonSchema)]
#[schemars(transparent)]
struct Traced(i32);

impl<'de> Deserialize<'de> for Traced {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = i32::deserialize(deserializer)?;
        event("decode");
        Ok(Self(value))
    }
}

impl Serialize for Traced {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        event("encode");
        self.0.serialize(serializer)
    }
}

fn holds(name: &str) -> bool {
    event(name);
    true
}

fn before(name: &str) -> i32 {
    event(name);
    1
}

/// Trace every step.
#[tool]
#[pre(holds("pre 1") && number.0 != 9)]
#[post(|_out| old(before("old 1")) == 1 && holds("post 1"))]
#[pre(holds("pre 2") && number.0 > 0)]
#[post(|out| out.0 == 1 && old(before("old 2")) == 1 && holds("post 2"))]
#[pre(holds("pre 3") && number.0 != 9)]
fn traced(number: Traced) -> Traced {
    event("body");
    number
}

/// Trace every step, across awaits.
#[pre(holds("pre 1") && number.0 != 9)]
#[post(|_out| old(before("old 1")) == 1 && holds("post 1"))]
#[tool]
#[pre(holds("pre 2") && number.0 > 0)]
#[post(|out| out.0 == 1 && old(before("old 2")) == 1 && holds("post 2"))]
#[pre(holds("pre 3") && number.0 != 9)]
async fn traced_async(number: Traced) -> Traced {
    tokio::task::yield_now().await;
    event("body");
    tokio::task::yield_now().await;
    number
}

const STEPS: [&str; 10] = [
    "decode", "pre 1", "pre 2", "pre 3", "old 1", "old 2", "body", "post 1", "post 2", "encode",
];

#[test]
fn a_call_decodes_then_pre_then_body_then_post_then_encodes() {
    let registry = Registry::builder()
        .tool(traced)
        .tool(traced_async)
        .build()
        .unwrap();
    for name in ["traced", "traced_async"] {
        EVENTS.with(Log::take);
        let outcome = call(&registry, name, r#"{"number":1}"#);
        assert_eq!(outcome.output(), Some("1"));
        let events = EVENTS.with(Log::take);
        // What describes or retries may read more than once; it must never come later.
        let mut once = events.clone();
        once.dedup();
        assert_eq!(once, STEPS, "{name}: {events:?}");
        assert_eq!(events.len(), STEPS.len(), "{name}: {events:?}");
    }
}

#[test]
fn a_direct_call_keeps_the_same_order() {
    EVENTS.with(Log::take);
    assert_eq!(traced(Traced(1)).0, 1);
    assert_eq!(EVENTS.with(Log::take), STEPS[1..9]);
}

#[test]
fn arguments_that_cannot_be_read_reach_no_condition() {
    let registry = Registry::builder().tool(traced).build().unwrap();
    EVENTS.with(Log::take);
    let outcome = call(&registry, "traced", r#"{"number":"one"}"#);
    assert_eq!(outcome.status(), Status::InvalidArguments);
    assert_eq!(EVENTS.with(Log::take), [""; 0]);
    assert_eq!(registry.statistics().conditions.evaluated, 0);
}

#[test]
fn a_check_stops_before_the_body_and_keeps_nothing() {
    let registry = Registry::builder().tool(traced).build().unwrap();
    EVENTS.with(Log::take);
    let check = registry.check(ToolCall::new("1", "traced", r#"{"number":1}"#));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let outcome = runtime.block_on(check);
    assert_eq!((outcome.is_ok(), outcome.output()), (true, Some("")));
    assert_eq!(
        EVENTS.with(Log::take),
        ["decode", "pre 1", "pre 2", "pre 3"]
    );
}

/// Judge by a list of verdicts: `h`olds, `o`bserved failure, `e`nforced failure.
#[tool]
#[pre(log.judge("o1", !plan.contains('1')), policy = observe)]
#[pre(log.judge("e2", !plan.contains('2')))]
#[pre(log.judge("o3", !plan.contains('3')), policy = observe)]
#[pre(log.judge("e4", !plan.contains('4')))]
#[post(|_out| log.judge("o5", !plan.contains('5')), policy = observe)]
#[post(|_out| log.judge("e6", !plan.contains('6')))]
#[post(|_out| log.judge("o7", !plan.contains('7')), policy = observe)]
#[post(|_out| log.judge("e8", !plan.contains('8')))]
fn planned(plan: String, #[context] log: &Log) -> usize {
    log.add("body");
    plan.len()
}

#[test]
fn an_observed_failure_never_hides_an_enforced_one() {
    let (log, told) = (Log::default(), Count::default());
    let heard = told.clone();
    let registry = Registry::builder()
        .tool(planned)
        .context(log.clone())
        .observe(Observer::new().violations(move |_| {
            heard.up();
        }))
        .build()
        .unwrap();
    let steps = ["o1", "e2", "o3", "e4", "body", "o5", "e6", "o7", "e8"];
    // Every set of conditions that fail.
    for set in 0..256_u32 {
        let plan: String = (1..=8)
            .filter(|n| set & (1 << (n - 1)) != 0)
            .map(|n| n.to_string())
            .collect();
        let outcome = call(&registry, "planned", &format!(r#"{{"plan":"{plan}"}}"#));
        let fails = |step: &str| step.len() == 2 && plan.contains(&step[1..]);
        let end = steps
            .iter()
            .position(|step| step.starts_with('e') && fails(step));
        let reached = &steps[..end.map_or(steps.len(), |end| end + 1)];
        assert_eq!(log.take(), reached, "{plan}");
        assert_eq!(outcome.is_ok(), end.is_none(), "{plan}");
        let observed = reached
            .iter()
            .filter(|step| step.starts_with('o') && fails(step))
            .count();
        assert_eq!(outcome.observed().len(), observed, "{plan}");
        assert_eq!(told.take(), observed + usize::from(end.is_some()), "{plan}");
    }
}
