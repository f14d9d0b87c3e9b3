use serde_json::{Value, json};

use crate::house::House;

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
            "nobody asked",
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
    let numbers = events.iter().map(|event| event["sequence"].as_u64());
    assert!(
        numbers.eq((1..=events.len() as u64).map(Some)),
        "there is a gap: {events:?}"
    );
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
fn a_run_that_was_at_work_has_failed_after_a_restart() {
    let mut house = House::whole("tests/service/recordings");
    let id = house.begin("wait");
    house.until(&id, |seen| seen["progress"].as_u64() > Some(25));
    house.restart_backend();
    let failed = house.look(&id);
    assert_eq!(failed["phase"], "failed", "{failed}");
    let message = failed["message"].as_str().unwrap_or_default();
    assert!(
        message.contains("the backend ended while the model was at work"),
        "{message}"
    );
}
