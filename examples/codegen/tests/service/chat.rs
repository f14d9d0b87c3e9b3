use serde_json::{Value, json};

use crate::house::House;
use crate::http::post;

const FIELDS: [&str; 13] = [
    "session_id",
    "phase",
    "message",
    "is_complete",
    "preview_url",
    "preview_html",
    "progress",
    "questions",
    "approval",
    "action",
    "product_doc_updated",
    "affected_pages",
    "active_page_slug",
];

fn fields(response: &Value) -> Vec<&str> {
    let fields = response.as_object().expect("an object").keys();
    fields.map(String::as_str).collect()
}

fn of_kind<'e>(events: &'e [Value], kind: &str) -> Vec<&'e Value> {
    events
        .iter()
        .filter(|event| event["type"] == kind)
        .collect()
}

#[test]
fn two_processes_do_a_task_over_http() {
    let house = House::whole("recordings");
    let response = house.said(&json!({"message": "create an endpoint"}));
    assert_eq!(fields(&response), FIELDS);
    assert_eq!(response["phase"], "complete", "{response}");
    assert_eq!(response["is_complete"], true);
    assert_eq!(response["progress"], 100);
    assert_eq!(response["action"], Value::Null);
    assert_eq!(response["product_doc_updated"], true);
    let written = json!(["README.md", "src/routes.rs", "tests/health.rs"]);
    assert_eq!(response["affected_pages"], written);
    assert_eq!(response["active_page_slug"], "tests/health.rs");
    let routes = std::fs::read_to_string(house.root().join("src/routes.rs")).expect("a file");
    assert!(routes.contains("\"/health\""), "{routes}");

    let id = response["session_id"].as_str().expect("an id");
    let events = house.events(id);
    let violations = of_kind(&events, "violation");
    let found: Vec<_> = violations
        .iter()
        .map(|one| (&one["clause"], &one["found_by"]))
        .collect();
    let expected = [
        (&json!("read_file.pre[4]"), &json!("backend")),
        (&json!("write_file.pre[3]"), &json!("executor")),
    ];
    assert_eq!(found, expected);
    let results = of_kind(&events, "tool_result");
    let stayed = results.iter().filter(|one| one["travelled"] == false);
    let stayed: Vec<_> = stayed.map(|one| &one["call_id"]).collect();
    assert_eq!(stayed, [&json!("call_1")], "the doomed call, and no other");
    for call in of_kind(&events, "tool_call") {
        let ends = results
            .iter()
            .filter(|one| one["call_id"] == call["call_id"]);
        assert_eq!(ends.count(), 1, "{call}");
    }
    // A session that is over goes on with another sentence, here to a reply that nobody has recorded, and again after that.
    for _ in 0..2 {
        let again = house.said(&json!({"session_id": id, "message": "and now?"}));
        assert_eq!(again["phase"], "failed", "{again}");
        assert!(
            again["message"].to_string().contains("`and now?`"),
            "{again}"
        );
    }
    let events = house.events(id);
    let states: Vec<_> = of_kind(&events, "state")
        .iter()
        .map(|one| one["state"].clone())
        .collect();
    assert_eq!(
        states[2..],
        [
            "completed",
            "queued",
            "running",
            "failed",
            "queued",
            "running",
            "failed"
        ]
    );
}

#[test]
fn a_stream_tells_everything_and_ends_with_the_response() {
    let house = House::whole("recordings");
    let body = json!({"message": "create an endpoint"}).to_string();
    let answer = post(&house.address, "/api/chat/stream", &body);
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(answer.head.contains("text/event-stream"), "{}", answer.head);
    let mut events = answer.events();
    let response = events.pop().expect("a response");
    assert_eq!(fields(&response), FIELDS);
    assert_eq!(response["phase"], "complete");
    let numbers = events.iter().map(|event| event["sequence"].as_u64());
    assert!(
        numbers.eq((1..=events.len() as u64).map(Some)),
        "there is a gap: {events:?}"
    );
    assert!(
        answer.body.contains("\nevent: response\n"),
        "{}",
        answer.body
    );
    // Whoever comes later is told the same.
    let id = response["session_id"].as_str().expect("an id");
    assert_eq!(house.events(id), events);
}

#[test]
fn a_run_that_waits_for_an_executor_can_be_cancelled() {
    let house = House::with_backend("recordings");
    let id = house.begin("create an endpoint");
    let queued = house.look(&id);
    assert_eq!(
        (&queued["phase"], &queued["action"]),
        (&json!("queued"), &json!("wait"))
    );
    let answer = post(&house.address, &format!("/api/runs/{id}/cancel"), "");
    assert_eq!(answer.json()["phase"], "cancelled", "{}", answer.body);
    let cancelled = house.look(&id);
    assert_eq!(cancelled["is_complete"], true);
    assert_eq!(cancelled["message"], "The run was cancelled.");
}

#[test]
fn a_run_at_work_is_cancelled_and_the_next_one_begins() {
    let house = House::whole("tests/service/recordings");
    let id = house.begin("wait");
    let next = house.begin("nobody has recorded this");
    let is_at_work = |seen: &Value| seen["progress"].as_u64() > Some(25);
    house.until(&id, is_at_work);
    assert_eq!(house.look(&next)["phase"], "queued");
    let busy = house.chat(&json!({"session_id": id, "message": "hurry"}));
    assert_eq!(busy.status, 409, "{}", busy.body);
    let answer = post(&house.address, &format!("/api/runs/{id}/cancel"), "");
    assert_eq!(answer.json()["phase"], "cancelled", "{}", answer.body);
    let failed = house.until(&next, |seen| seen["is_complete"] == true);
    assert_eq!(failed["phase"], "failed");
    let message = failed["message"].as_str().unwrap_or_default();
    assert!(message.contains("no recorded conversation"), "{message}");
}

#[test]
fn a_call_that_was_under_way_when_its_run_was_cancelled_has_an_end() {
    let house = House::whole("tests/service/recordings");
    let id = house.begin("wait");
    house.until_event(&id, |event| {
        event["type"] == "tool_call" && event["call_id"] == "call_1"
    });
    let answer = post(&house.address, &format!("/api/runs/{id}/cancel"), "");
    assert_eq!(answer.json()["phase"], "cancelled", "{}", answer.body);
    let events = house.events(&id);
    for call in of_kind(&events, "tool_call") {
        let ends = of_kind(&events, "tool_result");
        let ends: Vec<_> = ends
            .iter()
            .filter(|one| one["call_id"] == call["call_id"])
            .map(|one| &one["status"])
            .collect();
        let expected = if call["call_id"] == "call_1" {
            "cancelled"
        } else {
            "ok"
        };
        assert_eq!(ends, [expected], "{call}");
    }
    let last = events.last().expect("an event");
    assert_eq!(last["state"], "cancelled", "the state comes last: {last}");
}
