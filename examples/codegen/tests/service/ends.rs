//! The end of a backend: what is at work has some time, then it is cancelled and written down.
#![cfg(unix)]

use std::process::{Child, Command};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::house::{House, PATIENCE};
use crate::http::post;

/// How long work may go on.
const DRAIN: Duration = Duration::from_secs(10);

fn terminate(house: &House) {
    terminate_process(&house.backend.0);
}

fn terminate_process(process: &Child) {
    let id = process.id().to_string();
    let sent = Command::new("kill").args(["-TERM", &id]).status();
    assert!(sent.expect("there is `kill`").success());
}

fn ended(house: &mut House) -> Option<i32> {
    ended_of(&mut house.backend.0)
}

fn ended_of(process: &mut Child) -> Option<i32> {
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        if let Some(status) = process.try_wait().expect("it is a child") {
            return status.code();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("it does not end");
}

#[test]
fn a_backend_without_work_ends_at_once() {
    let mut house = House::whole("recordings");
    let asked = house.said(&json!({"message": "add a price list"}));
    let began = Instant::now();
    terminate(&house);
    assert_eq!(ended(&mut house), Some(0));
    // It does not take the time that work would have had.
    assert!(
        began.elapsed() < Duration::from_secs(9),
        "{:?}",
        began.elapsed()
    );
    house.restart_backend();
    let id = asked["session_id"].as_str().expect("an id");
    assert_eq!(house.look(id)["phase"], "interview");
}

#[test]
fn work_that_takes_too_long_is_cancelled_and_written_down() {
    let mut house = House::whole("tests/service/recordings");
    let id = house.begin("wait");
    house.until(&id, |seen| seen["progress"].as_u64() > Some(25));
    let began = Instant::now();
    terminate(&house);
    // Meanwhile nothing new begins.
    let mut told = None;
    while told.is_none() && began.elapsed() < DRAIN {
        let answer = post(&house.address, "/api/chat?wait=0", "{\"message\": \"x\"}");
        told = (answer.status == 503).then_some(answer);
        std::thread::sleep(Duration::from_millis(50));
    }
    let told = told.expect("it says that it is closing");
    assert_eq!(told.json()["error"]["code"], "closing");
    assert!(
        told.head.to_ascii_lowercase().contains("retry-after: 5"),
        "{}",
        told.head
    );
    assert_eq!(ended(&mut house), Some(0));
    assert!(began.elapsed() >= DRAIN, "{:?}", began.elapsed());
    house.restart_backend();
    assert_eq!(house.look(&id)["phase"], "cancelled");
}

fn result_of(events: &[Value], call_id: &str) -> Option<Value> {
    let mut results = events
        .iter()
        .filter(|one| one["type"] == "tool_result" && one["call_id"] == call_id);
    results.next().cloned()
}

#[test]
fn an_executor_lets_a_call_end_before_it_goes() {
    let mut house = House::whole("tests/service/recordings");
    let id = house.begin("wait a little");
    house.until_event(&id, |event| event["call_id"] == "call_1");
    let executor = house.executor();
    terminate_process(executor);
    assert_eq!(ended_of(executor), Some(0));
    assert!(
        house.root().join("awake").exists(),
        "the command was cut off"
    );
    let events = house.until_event(&id, |event| {
        event["type"] == "tool_result" && event["call_id"] == "call_1"
    });
    let result = result_of(&events, "call_1").expect("a result");
    assert_eq!(result["status"], "ok", "{result}");
}

#[test]
fn an_executor_cancels_what_takes_too_long() {
    let mut house = House::whole("tests/service/recordings");
    let id = house.begin("wait");
    house.until_event(&id, |event| event["call_id"] == "call_1");
    let began = Instant::now();
    let executor = house.executor();
    terminate_process(executor);
    assert_eq!(ended_of(executor), Some(0));
    assert!(began.elapsed() >= DRAIN, "{:?}", began.elapsed());
    let events = house.until_event(&id, |event| {
        event["type"] == "tool_result" && event["call_id"] == "call_1"
    });
    let result = result_of(&events, "call_1").expect("a result");
    assert_eq!(result["status"], "cancelled", "{result}");
}
