//! The record of a run is true: what its messages and its events say of a call is what the body of the tool did.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use contract_agent::{
    ConstrainedAgent, ContractAgent, Event, InnerAgent, LoopDetection, Message, ReActAgent,
    Recovery, RunError, RunResult, Scripted, ToolCallingAgent,
};
use contract_runtime::CancellationToken;
use contract_runtime::Status;
use contract_runtime::prelude::*;
use proptest::prelude::*;

/// How far a body came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Came {
    In,
    ToItsEnd,
}

/// What the bodies write down themselves.
#[derive(Clone, Debug, Default)]
struct Bodies(Arc<Mutex<BTreeMap<u64, Came>>>);

impl Bodies {
    fn note(&self, number: u64, came: Came) {
        self.0.lock().unwrap().insert(number, came);
    }

    fn seen(&self) -> BTreeMap<u64, Came> {
        self.0.lock().unwrap().clone()
    }
}

fn end(number: u64, how: &str, bodies: &Bodies) -> Result<u64, String> {
    bodies.note(number, Came::ToItsEnd);
    match how {
        "fail" => Err("failed as asked".to_owned()),
        "panic" => panic!("panicked as asked"),
        "assert" => {
            contract_assert!(number == u64::MAX, "asserted");
            Ok(number)
        }
        "post" => Ok(u64::MAX),
        _ => Ok(number),
    }
}

/// Pay, at once.
#[tool]
#[pre(how != "pre", "refused before")]
#[post(|paid| *paid != u64::MAX, "broken after")]
fn pay(number: u64, how: String, #[context] bodies: &Bodies) -> Result<u64, String> {
    bodies.note(number, Came::In);
    end(number, &how, bodies)
}

/// Pay, after a while.
#[tool]
#[pre(how != "pre", "refused before")]
#[post(|paid| *paid != u64::MAX, "broken after")]
async fn pay_slowly(number: u64, how: String, #[context] bodies: &Bodies) -> Result<u64, String> {
    bodies.note(number, Came::In);
    tokio::time::sleep(Duration::from_secs(10)).await;
    end(number, &how, bodies)
}

/// Look, after a while.
#[tool(read_only, timeout = "15s")]
#[pre(how != "pre", "refused before")]
#[post(|seen| *seen != u64::MAX, "broken after")]
async fn look(number: u64, how: String, #[context] bodies: &Bodies) -> Result<u64, String> {
    bodies.note(number, Came::In);
    tokio::time::sleep(Duration::from_secs(number % 3 * 10)).await;
    end(number, &how, bodies)
}

/// Pay on a thread of its own.
#[tool(blocking)]
#[pre(how != "pre", "refused before")]
#[post(|paid| *paid != u64::MAX, "broken after")]
fn pay_elsewhere(number: u64, how: String, #[context] bodies: &Bodies) -> Result<u64, String> {
    bodies.note(number, Came::In);
    end(number, &how, bodies)
}

fn registry(bodies: &Bodies) -> Registry {
    Registry::builder()
        .tool(pay)
        .tool(pay_slowly)
        .tool(look)
        .tool(pay_elsewhere)
        .context(bodies.clone())
        .build()
        .expect("the tools are sound")
}

type Call = (&'static str, &'static str);

fn arguments(number: u64, how: &str) -> String {
    format!(r#"{{"number":{number},"how":"{how}"}}"#)
}

/// A model that makes these calls, in these replies, and then answers; each call has a number of its own.
fn inner(way: usize, replies: &[Vec<Call>], bodies: &Bodies) -> Box<dyn InnerAgent> {
    let mut model = Scripted::new();
    let mut number = 0;
    for reply in replies {
        let mut calls = Vec::new();
        for (tool, how) in reply {
            let arguments = arguments(number, how);
            number += 1;
            model = match way {
                0 => model,
                1 => model.text(format!("Action: {tool}\nAction Input: {arguments}")),
                _ => model.text(format!(
                    r#"{{"type":"tool_call","tool":"{tool}","arguments":{arguments}}}"#
                )),
            };
            calls.push((*tool, arguments));
        }
        if way == 0 {
            model = model.calls("", calls);
        }
    }
    let registry = registry(bodies);
    match way {
        0 => Box::new(ToolCallingAgent::new(model.text("done"), registry)),
        1 => Box::new(ReActAgent::new(model.text("Answer: done"), registry)),
        _ => {
            let model = model.text(r#"{"type":"answer","content":"done"}"#);
            let agent = ConstrainedAgent::new(model, registry);
            Box::new(agent.attempts(0))
        }
    }
}

/// What the messages say of each call that they hold: how it ended, and what the model reads.
fn said(result: &RunResult) -> Vec<(u64, Option<Status>, String)> {
    let number = |arguments: &str| {
        let start = arguments.find("\"number\":")? + "\"number\":".len();
        let digits = arguments.get(start..)?;
        digits[..digits.find(',')?].parse().ok()
    };
    let mut said = Vec::new();
    let mut messages = result.messages.iter().peekable();
    while let Some(message) = messages.next() {
        let Message::Assistant { text, calls, .. } = message else {
            continue;
        };
        for call in calls {
            let Some(Message::Tool {
                call_id,
                status,
                text,
                ..
            }) = messages.next()
            else {
                panic!("a call without its outcome: {:?}", result.messages);
            };
            assert_eq!(*call_id, call.id);
            let number = number(&call.arguments).expect("every call has one");
            said.push((number, Some(*status), text.clone()));
        }
        if let Some(number) = number(text)
            && let Some(Message::User { text }) = messages.peek()
        {
            said.push((number, None, text.clone()));
        }
    }
    said
}

fn native(reply: &[Call], bodies: &Bodies) -> Box<dyn InnerAgent> {
    inner(0, &[reply.to_vec()], bodies)
}

fn statuses(result: &RunResult) -> Vec<Status> {
    let said = said(result).into_iter();
    said.filter_map(|(_, status, _)| status).collect()
}

#[tokio::test]
async fn a_call_that_ran_beside_one_that_ends_the_run_keeps_its_outcome() {
    for how in ["pre", "post", "assert"] {
        let bodies = Bodies::default();
        let calls = [("pay", "ok"), ("pay", how), ("pay", "ok")];
        let agent = ContractAgent::builder(native(&calls, &bodies)).build();
        let result = agent.run("go").await;
        assert!(matches!(result.error, Some(RunError::Contract { .. })));
        assert_eq!(
            statuses(&result),
            [Status::Ok, Status::Violation, Status::Cancelled],
            "{how}"
        );
        let said = said(&result);
        assert_eq!(said[0].2, "0");
        assert!(said[1].2.contains(match how {
            "pre" => "refused before",
            "post" => "breaks its own contract",
            _ => "a contract of its own",
        }));
        assert!(said[2].2.starts_with("not started"), "{}", said[2].2);
        assert!(!bodies.seen().contains_key(&2));
        let told = result.steps.iter().any(|event| {
            matches!(event, Event::Observation { status: Status::Ok, text, .. } if text == "0")
        });
        assert!(told, "{how}: {:?}", result.steps);
    }
}

#[tokio::test(start_paused = true)]
async fn an_outcome_is_told_when_its_call_ends_and_not_when_its_reply_does() {
    let bodies = Bodies::default();
    let calls = [("pay", "ok"), ("pay_slowly", "ok")];
    let agent = ContractAgent::builder(native(&calls, &bodies)).build();
    let mut events = agent.run("go").stream();
    while let Some(event) = events.next().await {
        if let Event::Observation { text, .. } = event {
            assert_eq!(text, "0");
            assert_eq!(bodies.seen().get(&1), None);
            return;
        }
    }
    panic!("nothing was told of it");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_cut_off_says_that_nobody_knows_whether_it_took_effect() {
    for way in 0..3 {
        let bodies = Bodies::default();
        let replies = [vec![("pay", "ok")], vec![("pay_slowly", "ok")]];
        let agent = ContractAgent::builder(inner(way, &replies, &bodies)).build();
        let context = Context::new().timeout(Duration::from_secs(5));
        let result = agent.run("go").context(context).await;
        assert_eq!(result.error, Some(RunError::TimedOut));
        let said = said(&result);
        assert_eq!(said.len(), 2, "{way}: {:?}", result.messages);
        assert!(said[0].2.contains('0'), "{way}: {}", said[0].2);
        let (_, status, text) = &said[1];
        assert!(text.contains("it may have taken effect"), "{way}: {text}");
        assert!(status.is_none_or(|status| status == Status::TimedOut));
    }
}

/// What events say: of which calls, by their numbers, the action was told.
fn told(events: &[Event]) -> Vec<u64> {
    let actions = events.iter().filter_map(|event| match event {
        Event::Action { call } => Some(call.id.rsplit('-').next()?.parse().ok()?),
        _ => None,
    });
    actions.collect()
}

const FOUR: [Call; 4] = [
    ("pay", "ok"),
    ("pay", "fail"),
    ("pay_slowly", "ok"),
    ("pay", "ok"),
];

#[tokio::test(start_paused = true)]
async fn events_that_are_dropped_lack_one_call_at_most_and_it_is_the_last() {
    for read in 0.. {
        let bodies = Bodies::default();
        let agent = ContractAgent::builder(native(&FOUR, &bodies)).build();
        let mut events = agent.run("go").stream();
        let mut seen = Vec::new();
        while seen.len() < read
            && let Some(event) = events.next().await
        {
            seen.push(event);
        }
        if seen.len() < read {
            assert_eq!(told(&seen), [0, 1, 2, 3]);
            return;
        }
        drop(events);
        let ran: Vec<u64> = bodies.seen().into_keys().collect();
        let told = told(&seen);
        let untold = ran.strip_prefix(told.as_slice());
        let untold = untold.unwrap_or_else(|| panic!("{told:?} of {ran:?}"));
        assert!(untold.len() <= 1, "{told:?} of {ran:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_token_that_is_cancelled_while_the_events_are_read_leaves_no_call_untold() {
    for read in 1..30 {
        let bodies = Bodies::default();
        let agent = ContractAgent::builder(native(&FOUR, &bodies)).build();
        let token = CancellationToken::new();
        let context = Context::new().cancellation(token.clone());
        let mut events = agent.run("go").context(context).stream();
        let (mut seen, mut ran) = (Vec::new(), 0);
        while let Some(event) = events.next().await {
            seen.push(event);
            if seen.len() == read {
                token.cancel();
                ran = bodies.seen().len();
            }
        }
        if token.is_cancelled() {
            assert_eq!(bodies.seen().len(), ran, "a call began after the end");
        }
        let ran: Vec<u64> = bodies.seen().into_keys().collect();
        assert_eq!(told(&seen), ran, "{read}");
    }
}

/// The next run reads what happened in this one.
#[tokio::test]
async fn a_run_that_goes_on_after_a_cut_reads_that_the_call_was_made() {
    let bodies = Bodies::default();
    let calls = [("pay", "ok"), ("pay", "pre")];
    let agent = ContractAgent::builder(native(&calls, &bodies)).build();
    let messages = agent.run("go").await.messages;
    let model = Scripted::new().text("It is paid.");
    let agent =
        ContractAgent::builder(ToolCallingAgent::new(model.clone(), registry(&bodies))).build();
    assert!(agent.run_after(messages, "and?").await.success);
    let asked = model.requests();
    let paid = asked[0].iter().any(
        |message| matches!(message, Message::Tool { status: Status::Ok, text, .. } if text == "0"),
    );
    assert!(paid, "{:?}", asked[0]);
}

/// What ends a run from outside, and when.
#[derive(Clone, Copy, Debug)]
enum Cut {
    None,
    Deadline(u64),
    Token(u64),
    Steps(u64),
    Loop,
}

fn cut() -> impl Strategy<Value = Cut> {
    prop_oneof![
        Just(Cut::None),
        (0..50u64).prop_map(Cut::Deadline),
        (0..50u64).prop_map(Cut::Token),
        (1..4u64).prop_map(Cut::Steps),
        Just(Cut::Loop),
    ]
}

fn call() -> impl Strategy<Value = Call> {
    let tool = prop_oneof![
        Just("pay"),
        Just("pay_slowly"),
        Just("look"),
        Just("look"),
        Just("pay_elsewhere"),
        Just("nothing"),
    ];
    let how = prop_oneof![
        4 => Just("ok"),
        1 => Just("fail"),
        1 => Just("panic"),
        1 => Just("assert"),
        1 => Just("pre"),
        1 => Just("post"),
    ];
    (tool, how)
}

async fn run(agent: &ContractAgent<Box<dyn InnerAgent>>, cut: Cut) -> RunResult {
    let mut context = Context::new();
    // Between the ends of the bodies, which are at whole tens.
    let after = |seconds| Duration::from_secs(seconds) + Duration::from_millis(500);
    let token = CancellationToken::new();
    match cut {
        Cut::Deadline(seconds) => context = context.timeout(after(seconds)),
        Cut::Token(seconds) => {
            context = context.cancellation(token.clone());
            tokio::spawn(async move {
                tokio::time::sleep(after(seconds)).await;
                token.cancel();
            });
        }
        _ => {}
    }
    agent.run("go").context(context).await
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn the_record_of_a_run_is_what_the_bodies_did_whatever_ends_it(
        replies in prop::collection::vec(prop::collection::vec(call(), 1..6), 1..4),
        cut in cut(),
        tries in 0..3u32,
        way in 0..3usize,
    ) {
        let bodies = Bodies::default();
        let mut builder = ContractAgent::builder(inner(way, &replies, &bodies));
        if tries > 0 {
            builder = builder.recovery(Recovery::retry(tries));
        }
        builder = match cut {
            Cut::Steps(most) => builder.invariant("steps", move |state| state.iterations <= most),
            Cut::Loop => builder.loop_detection(LoopDetection::off().same_tool(2)),
            _ => builder,
        };
        let agent = builder.build();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        let result = runtime.block_on(run(&agent, cut));
        // What a body on a thread of its own does after the run is in no record.
        let seen = bodies.seen();
        let calls: Vec<Call> = replies.concat();
        let said = said(&result);
        for (number, status, text) in &said {
            let (tool, how) = calls[usize::try_from(*number).unwrap()];
            let line = format!("{number} {tool} {how}: {status:?} {text}, {cut:?} of {:?}", result.error);
            let not_known = ["the run ended while", "did not end within", "the call was cancelled"]
                .iter()
                .any(|words| text.contains(words));
            let not_begun = ["not started", "was not started", "there is no tool", "refused before"]
                .iter()
                .any(|words| text.contains(words));
            let still_runs = tool == "pay_elsewhere" && text.contains("it may still be running");
            let not_known = not_known || still_runs;
            match seen.get(number) {
                None => {
                    prop_assert!(not_begun || tool == "pay_elsewhere" && not_known, "{line}");
                    prop_assert!(*status != Some(Status::Ok), "{line}");
                }
                Some(Came::In) => prop_assert!(not_known && !not_begun, "{line}"),
                Some(Came::ToItsEnd) if tool == "pay_elsewhere" && not_known => {}
                Some(Came::ToItsEnd) => {
                    let (right, words) = match how {
                        "fail" => (Status::Failed, "failed as asked".to_owned()),
                        "panic" => (Status::Panicked, "panicked".to_owned()),
                        "assert" => (Status::Violation, "a contract of its own".to_owned()),
                        "post" => (Status::Violation, "breaks its own contract".to_owned()),
                        _ => (Status::Ok, number.to_string()),
                    };
                    prop_assert!(status.is_none_or(|status| status == right), "{line}");
                    prop_assert!(text.contains(&words), "{line}");
                }
            }
        }
        // Nothing that ran is missing, neither in the messages nor in the events.
        for (number, came) in &seen {
            prop_assert!(said.iter().any(|(said, ..)| said == number), "{number} {came:?}: {:?}", result.messages);
            let how = calls[usize::try_from(*number).unwrap()];
            let arguments = arguments(*number, how.1);
            let id = result.steps.iter().find_map(|event| match event {
                Event::Action { call } if call.arguments == arguments => Some(call.id.clone()),
                _ => None,
            });
            let of_a_thread = how.0 == "pay_elsewhere";
            prop_assert!(id.is_some() || of_a_thread, "{number} {came:?}: {:?}", result.steps);
            if *came == Came::ToItsEnd && !of_a_thread {
                let ended = result.steps.iter().any(|event| match event {
                    Event::Observation { call_id, .. } => Some(call_id) == id.as_ref(),
                    Event::ContractViolation { violation } => violation.call_id == id,
                    _ => false,
                });
                prop_assert!(ended, "{number}: {:?}", result.steps);
            }
        }
    }
}
