//! All ways to call agree: on status, effect, text, value, problems and corrections.

use std::future::Future;
use std::pin::pin;
use std::task::{Context as Task, Poll, Waker};

use contract_runtime::prelude::*;
use contract_runtime::{Effect, Run, Status};
use serde_json::Value;

/// What a caller sees of an outcome.
#[derive(Debug, PartialEq)]
struct Seen {
    status: Status,
    effect: Effect,
    text: Option<String>,
    value: Option<Value>,
    problems: String,
    corrections: String,
}

impl Seen {
    fn of(outcome: &Outcome) -> Self {
        Self {
            status: outcome.status(),
            effect: outcome.effect(),
            text: outcome.output().or(outcome.error()).map(str::to_owned),
            value: outcome.value(),
            problems: format!("{:?}", outcome.invalid_arguments()),
            corrections: format!("{:?}", outcome.coercions()),
        }
    }
}

/// What a future gives at its first poll; every tool here is sync.
fn polled<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Task::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a sync tool was not done at its first poll"),
    }
}

/// Makes the call in every way, beside the one that was made.
pub(crate) fn agree(registry: &Registry, call: &ToolCall, made: &Outcome) {
    let expected = Seen::of(made);
    let with = |context: Context| registry.call(call).context(context);
    let value = Context::new().with(0_u8);
    let ways = [
        ("polled", polled(registry.call(call))),
        ("owned", registry.call(call.clone()).blocking()),
        ("with a value", with(value.clone()).blocking()),
        ("of a run", polled(with(Context::new().run(&Run::new())))),
        ("in a batch", polled(registry.call_all([call])).remove(0)),
    ];
    for (way, outcome) in &ways {
        assert_eq!(Seen::of(outcome), expected, "{way}: {call:?}");
    }
    for text in [
        polled(registry.call(call).text()),
        with(value).text().blocking(),
    ] {
        match text {
            Ok(text) => assert_eq!(Some(&*text), made.output()),
            Err(outcome) => assert_eq!(Seen::of(&outcome), expected),
        }
    }
    let corrected = Context::new().coerce(true);
    let first = Seen::of(&with(corrected.clone()).blocking());
    assert_eq!(Seen::of(&polled(with(corrected))), first);
    let checked = registry.check(call).blocking();
    let passes = matches!(made.status(), Status::Ok);
    assert_eq!(checked.is_ok(), passes, "a check says {checked:?}");
}
