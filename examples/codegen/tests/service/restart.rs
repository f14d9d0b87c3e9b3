use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::house::{House, PATIENCE};
use crate::http::get;

fn answers() -> Value {
    json!([
        {"question": "form", "values": ["JSON"]},
        {"question": "columns", "values": ["name", "price in cents"]},
        {"question": "path", "values": ["/prices"]},
    ])
}

#[test]
fn an_interview_goes_on_where_it_was_after_the_backend_was_killed() {
    let mut house = House::whole("recordings");
    let asked = house.said(&json!({"message": "add a price list"}));
    assert_eq!(asked["phase"], "interview", "{asked}");
    assert_eq!(asked["action"], "answer");
    let kinds: Vec<_> = asked["questions"]
        .as_array()
        .expect("questions")
        .iter()
        .map(|one| &one["type"])
        .collect();
    assert_eq!(kinds, ["radio", "checkbox", "text"]);
    let id = asked["session_id"].as_str().expect("an id");
    let before = house.look(id);

    house.restart_backend();
    assert_eq!(house.look(id), before, "nothing is lost");

    // Wrong answers change nothing.
    let wrong = [
        (
            json!([{"question": "form", "values": ["XML"]}]),
            "one of `plain text`, `JSON`",
        ),
        (
            json!([{"question": "colour", "values": ["red"]}]),
            "was not asked",
        ),
        (
            json!([{"question": "form", "values": ["JSON"]}]),
            "is not answered",
        ),
        (json!([{"question": "path", "values": [""]}]), "by one text"),
        (
            json!([{"question": "columns", "values": ["name", "weight"]}]),
            "any of",
        ),
    ];
    for (answers, expected) in wrong {
        let refused = house.chat(&json!({"session_id": id, "answers": answers}));
        assert_eq!(refused.status, 400, "{}", refused.body);
        let message = refused.json()["error"]["message"].to_string();
        assert!(message.contains(expected), "{message}");
    }
    assert_eq!(house.look(id), before);

    let done = house.said(&json!({"session_id": id, "answers": answers()}));
    assert_eq!(done["phase"], "complete", "{done}");
    assert_eq!(done["questions"], json!([]));
    let routes = std::fs::read_to_string(house.root().join("src/routes.rs")).expect("a file");
    assert!(routes.contains("\"/prices\""), "{routes}");
    let twice = house.chat(&json!({"session_id": id, "answers": answers()}));
    assert_eq!(twice.status, 409, "{}", twice.body);

    let events = house.events(id);
    gap_free(&events);
    let states: Vec<_> = events
        .iter()
        .filter(|one| one["type"] == "state")
        .map(|one| &one["state"])
        .collect();
    assert_eq!(
        states,
        ["queued", "running", "waiting_input", "running", "completed"]
    );
}

#[test]
fn a_run_that_waited_for_its_turn_begins_after_a_restart() {
    let mut house = House::with_backend("recordings");
    let id = house.begin("create an endpoint");
    assert_eq!(house.look(&id)["phase"], "queued");
    house.restart_backend();
    assert_eq!(house.look(&id)["phase"], "queued");
    house.dial_in();
    let done = house.until(&id, |seen| seen["is_complete"] == true);
    assert_eq!(done["phase"], "complete", "{done}");
}

#[test]
fn a_run_that_was_at_work_goes_on_after_a_restart() {
    let mut house = House::whole("tests/service/recordings");
    let id = house.begin("wait a little");
    house.until_event(&id, |event| {
        event["type"] == "tool_call" && event["call_id"] == "call_1"
    });
    let seen = house.seen_so_far(&id);
    house.restart_backend();
    let done = house.until(&id, |seen| seen["is_complete"] == true);
    assert_eq!(done["phase"], "complete", "{done}");
    // What was told before is told again, under the same numbers, and each call and its end are told once.
    let events = house.events(&id);
    gap_free(&events);
    let kept = &events[..seen.len().min(events.len())];
    assert_eq!(kept, seen, "what was seen is not what is kept");
    for kind in ["tool_call", "tool_result"] {
        let of = |one: &&Value| one["call_id"] == "call_1" && one["type"] == kind;
        assert_eq!(events.iter().filter(of).count(), 1, "{kind}");
    }
}

#[test]
fn a_run_that_was_at_work_is_cancelled_without_its_executor() {
    let mut house = House::whole("tests/service/recordings");
    let id = house.begin("wait");
    house.until(&id, |seen| seen["progress"].as_u64() > Some(25));
    house.executor().kill().expect("it runs");
    house.restart_backend();
    assert_eq!(house.look(&id)["phase"], "building");
    let path = format!("/api/runs/{id}/cancel");
    crate::http::post(&house.address, &path, "");
    let cancelled = house.until(&id, |seen| seen["is_complete"] == true);
    assert_eq!(cancelled["phase"], "cancelled", "{cancelled}");
    gap_free(&house.events(&id));
}

#[test]
fn what_a_call_came_to_while_the_backend_was_away_is_in_the_log() {
    let mut house = House::whole("tests/service/recordings");
    let id = house.begin("wait a little");
    house.until_event(&id, |event| {
        event["type"] == "tool_call" && event["call_id"] == "call_1"
    });
    house.kill_backend();
    // The executor needs no backend to come to the end of the command.
    let began = Instant::now();
    while !house.root().join("awake").exists() {
        assert!(began.elapsed() < PATIENCE, "the command did not run");
        std::thread::sleep(Duration::from_millis(50));
    }
    house.restart_backend();
    let done = house.until(&id, |seen| seen["is_complete"] == true);
    assert_eq!(done["phase"], "complete", "{done}");
    let events = house.events(&id);
    gap_free(&events);
    let end = events
        .iter()
        .find(|one| one["call_id"] == "call_1" && one["type"] == "tool_result");
    let end = end.expect("the call has an end");
    let text = end["text"].as_str().unwrap_or_default();
    assert_eq!(end["status"], "ok", "{end}");
    assert!(text.contains("slept well"), "{text}");
}

fn gap_free(events: &[Value]) {
    let numbers = events.iter().map(|event| event["sequence"].as_u64());
    assert!(
        numbers.eq((1..=events.len() as u64).map(Some)),
        "there is a gap: {events:?}"
    );
}

#[test]
fn whether_an_executor_is_connected_is_told_after_a_kill_and_a_restart() {
    let mut house = House::whole("recordings");
    let until = |house: &House, connected: bool| {
        let began = Instant::now();
        loop {
            let executor = get(&house.address, "/api/tools").json();
            if executor["connected"] == connected {
                return executor["tools"].as_array().expect("tools").len();
            }
            assert!(began.elapsed() < PATIENCE, "{executor}");
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    assert_eq!(until(&house, true), 9);
    house.executor().kill().expect("it runs");
    assert_eq!(until(&house, false), 9, "the tools stay known");
    house.restart_backend();
    assert_eq!(until(&house, false), 9);
    house.dial_in();
    assert_eq!(until(&house, true), 9);
}
