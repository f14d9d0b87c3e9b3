//! Several backends with one Redis: what is begun at one is seen, followed, resumed and ended at another.
//!
//! These tests want a Redis server, version 7 or later; without one they fail.
#![cfg(unix)]

#[path = "../service/house.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod house;
#[path = "../service/http.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod http;
#[path = "../../../../companions/remote/tests/store/server.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod server;

mod backends;

use std::sync::Barrier;

use serde_json::{Value, json};

use backends::{Backends, answers};
use http::{get, post};

fn gap_free(events: &[Value]) {
    let numbers = events.iter().map(|event| event["sequence"].as_u64());
    assert!(
        numbers.eq((1..=events.len() as u64).map(Some)),
        "there is a gap: {events:?}"
    );
}

#[test]
fn a_session_is_seen_followed_and_resumed_at_another_backend() {
    let both = Backends::two("recordings");
    let [a, b] = &both.each;
    let asked = a.chat(&json!({"message": "add a price list"})).json();
    assert_eq!(asked["phase"], "interview", "{asked}");
    let id = asked["session_id"].as_str().expect("an id");
    assert_eq!(b.look(id), asked, "the other one sees something else");
    assert_eq!(a.owner(id), "a");
    assert_eq!(b.owner(id), "a");

    let done = b.chat(&json!({"session_id": id, "answers": answers()}));
    assert_eq!(done.status, 200, "{}", done.body);
    assert_eq!(done.json()["phase"], "complete", "{}", done.body);
    let events = b.events(id);
    gap_free(&events);
    // The stream of the first one ends with the same.
    assert_eq!(a.events(id), events);
    assert_eq!(a.look(id), done.json());
    assert_eq!(a.owner(id), "b");
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
fn of_two_answers_at_once_one_takes_the_step() {
    let both = Backends::two("recordings");
    for _ in 0..4 {
        let asked = both.each[0].chat(&json!({"message": "add a price list"}));
        let id = asked.json()["session_id"]
            .as_str()
            .expect("an id")
            .to_owned();
        let body = json!({"session_id": id, "answers": answers()}).to_string();
        let together = Barrier::new(2);
        let [one, other] = std::thread::scope(|scope| {
            let posts = both.each.each_ref().map(|backend| {
                let (body, together) = (&body, &together);
                scope.spawn(move || {
                    together.wait();
                    post(&backend.address, "/api/chat?wait=0", body)
                })
            });
            posts.map(|posted| posted.join().expect("an answer"))
        });
        let (taken, winner, refused) = match (one.status, other.status) {
            (200, 409) => (one, "a", other),
            (409, 200) => (other, "b", one),
            _ => panic!(
                "{} {}, {} {}",
                one.status, one.body, other.status, other.body
            ),
        };
        assert_eq!(taken.json()["session_id"], id);
        let error = refused.json()["error"].clone();
        assert_eq!(error["code"], "elsewhere", "{error}");
        let message = error["message"].as_str().unwrap_or_default();
        assert!(message.contains(&format!("`{winner}`")), "{message}");
        let ends = both.each.each_ref().map(|backend| backend.events(&id));
        gap_free(&ends[0]);
        assert_eq!(ends[0], ends[1]);
        let begun = ends[0].iter().filter(|one| one["state"] == "running");
        assert_eq!(begun.count(), 2, "it went on once, at one of them");
    }
}

#[test]
fn a_run_of_a_backend_that_is_gone_says_so_and_is_ended_by_hand() {
    let mut both = Backends::two("tests/service/recordings");
    let id = both.each[0].begin("wait");
    let is_call = |event: &Value| event["type"] == "tool_call" && event["call_id"] == "call_1";
    // Seen at the other one while it is at work.
    both.each[1].until_event(&id, is_call);
    both.each[0].kill();
    let b = &both.each[1];
    let silent = b.until(&id, |seen| {
        let message = seen["message"].as_str().unwrap_or_default();
        message.contains("at the backend `a`, which has shown no sign of life")
    });
    assert_eq!(silent["phase"], "building");
    let refused = b.chat(&json!({"session_id": id, "message": "go on"}));
    assert_eq!(refused.status, 409, "{}", refused.body);
    assert_eq!(refused.json()["error"]["code"], "elsewhere");

    let cancelled = post(&b.address, &format!("/api/runs/{id}/cancel"), "").json();
    assert_eq!(cancelled["phase"], "cancelled");
    let message = cancelled["message"].as_str().unwrap_or_default();
    assert!(
        message.contains("the backend `a` was running it"),
        "{message}"
    );
    let events = b.events(&id);
    gap_free(&events);
    // The first one finds it as it was left, once its name is free again.
    both.start_again(0);
    let a = &both.each[0];
    assert_eq!(a.look(&id), cancelled);
    assert_eq!(a.events(&id), events);
}

#[test]
fn a_run_at_work_elsewhere_can_be_cancelled_here() {
    let both = Backends::two("tests/service/recordings");
    let [a, b] = &both.each;
    let id = a.begin("wait");
    let next = a.begin("nobody has recorded this");
    b.until_event(&id, |event| event["call_id"] == "call_1");
    let cancelled = post(&b.address, &format!("/api/runs/{id}/cancel"), "").json();
    assert_eq!(cancelled["phase"], "cancelled");
    // Its backend hears of it, ends the work, and goes on with the next.
    let failed = a.until(&next, |seen| seen["is_complete"] == true);
    assert_eq!(failed["phase"], "failed", "{failed}");
    assert_eq!(a.look(&id), cancelled);
    let events = a.events(&id);
    gap_free(&events);
    assert_eq!(events, b.events(&id));
    assert_eq!(get(&b.address, &format!("/api/runs/{next}")).json(), failed);
}
