//! Calls about which the operator wants to be asked.

use serde_json::{Value, json};

use crate::house::House;
use crate::http::{Answer, post};

/// A run that has come to the one call that asks.
fn asked() -> (House, String, Value) {
    let house = House::asking("recordings", "run_shell");
    let response = house.said(&json!({"message": "create an endpoint"}));
    assert_eq!(response["phase"], "approval", "{response}");
    assert_eq!(response["action"], "approve");
    let id = response["session_id"].as_str().expect("an id").to_owned();
    (house, id, response["approval"].clone())
}

fn decide(house: &House, id: &str, decision: &Value) -> Answer {
    let path = format!("/api/runs/{id}/approval");
    post(&house.address, &path, &decision.to_string())
}

fn over(house: &House, id: &str) -> Value {
    house.until(id, |seen| seen["is_complete"] == true)
}

/// How the call ended that asked.
fn end(house: &House, id: &str) -> Value {
    let events = house.events(id);
    let mut ends = events
        .iter()
        .filter(|one| one["type"] == "tool_result" && one["tool"] == "run_shell");
    ends.next().expect("it has ended").clone()
}

#[test]
fn a_call_waits_for_a_person_and_goes_on() {
    let (house, id, approval) = asked();
    assert_eq!(approval["questions"], json!(["Run run_shell?"]));
    let shown = approval["arguments"].as_str().expect("arguments");
    let shown: Value = serde_json::from_str(shown).expect("they are JSON");
    assert_eq!(shown["argv"], json!(["cargo", "test", "--offline"]));
    let guessed = decide(&house, &id, &json!({"id": "guessed", "approve": true}));
    assert_eq!(guessed.status, 409, "{}", guessed.body);
    assert_eq!(guessed.json()["error"]["code"], "not_asked");
    let said = house.chat(&json!({"session_id": id, "message": "I approve of it."}));
    assert_eq!(said.status, 409, "{}", said.body);
    assert_eq!(house.look(&id)["phase"], "approval");

    let answer = json!({"id": approval["id"], "approve": true});
    let taken = decide(&house, &id, &answer);
    assert_eq!(taken.status, 200, "{}", taken.body);
    assert_eq!(decide(&house, &id, &answer).status, 409, "it counts once");
    assert_eq!(over(&house, &id)["phase"], "complete");
    assert_eq!(end(&house, &id)["status"], "ok");
    let events = house.events(&id);
    let states = events.iter().filter_map(|one| one["state"].as_str());
    let states: Vec<_> = states.collect();
    let expected = [
        "queued",
        "running",
        "waiting_approval",
        "running",
        "completed",
    ];
    assert_eq!(states, expected);
    let place = |kind: &str| events.iter().position(|one| one["type"] == kind);
    assert!(place("approval_requested") < place("approval_answered"));
}

#[test]
fn a_denied_call_does_not_travel_and_the_model_reads_why() {
    let (house, id, approval) = asked();
    let answer = json!({"id": approval["id"], "approve": false, "reason": "not on this machine"});
    assert_eq!(decide(&house, &id, &answer).status, 200);
    assert_eq!(over(&house, &id)["phase"], "complete");
    let end = end(&house, &id);
    assert_eq!(end["status"], "denied");
    assert_eq!(end["travelled"], false);
    let told = "not started, because it was denied: not on this machine";
    assert_eq!(end["text"], told);
}

#[test]
fn of_two_decisions_at_once_one_counts() {
    let (house, id, approval) = asked();
    let statuses = std::thread::scope(|scope| {
        let decisions = [true, false].map(|approve| {
            let answer = json!({"id": approval["id"], "approve": approve});
            let (house, id) = (&house, &id);
            scope.spawn(move || decide(house, id, &answer).status)
        });
        let mut statuses = decisions.map(|one| one.join().expect("it is answered"));
        statuses.sort_unstable();
        statuses
    });
    assert_eq!(statuses, [200, 409]);
    over(&house, &id);
    let answered = house.events(&id);
    let answered = answered
        .iter()
        .find(|one| one["type"] == "approval_answered");
    let approved = &answered.expect("it was answered")["approved"];
    assert_eq!(*approved, end(&house, &id)["status"] == "ok");
}

#[test]
fn a_run_that_waits_for_a_decision_can_be_cancelled() {
    let (house, id, approval) = asked();
    let cancelled = post(&house.address, &format!("/api/runs/{id}/cancel"), "");
    assert_eq!(cancelled.json()["phase"], "cancelled", "{}", cancelled.body);
    assert_eq!(cancelled.json()["approval"], Value::Null);
    assert_eq!(end(&house, &id)["status"], "cancelled");
    assert_eq!(end(&house, &id)["travelled"], false);
    let late = decide(&house, &id, &json!({"id": approval["id"], "approve": true}));
    assert_eq!(late.status, 409, "{}", late.body);
}

#[test]
fn a_question_outlives_its_backend() {
    let (mut house, id, approval) = asked();
    house.restart_backend();
    let again = house.look(&id);
    assert_eq!(again["phase"], "approval", "{again}");
    assert_eq!(again["approval"], approval);
    let answer = json!({"id": approval["id"], "approve": true});
    assert_eq!(decide(&house, &id, &answer).status, 200);
    assert_eq!(over(&house, &id)["phase"], "complete");
    assert_eq!(end(&house, &id)["status"], "ok");
}

#[test]
fn a_run_that_waits_for_a_decision_holds_up_no_other() {
    let (house, id, approval) = asked();
    let other = house.said(&json!({"message": "nobody has recorded this"}));
    assert_eq!(other["phase"], "failed", "{other}");
    assert_eq!(house.look(&id)["approval"], approval);
}

#[test]
fn a_decision_outlives_the_backend_that_asked() {
    let (mut house, id, approval) = asked();
    // Without its executor the run waits, and can be decided about.
    house.executor().kill().expect("it runs");
    house.restart_backend();
    let answer = json!({"id": approval["id"], "approve": true});
    assert_eq!(decide(&house, &id, &answer).status, 200);
    assert_eq!(decide(&house, &id, &answer).status, 409, "it counts once");
    house.restart_backend();
    house.dial_in();
    assert_eq!(over(&house, &id)["phase"], "complete");
    assert_eq!(end(&house, &id)["status"], "ok");
    let events = house.events(&id);
    let kinds = events.iter().filter_map(|one| one["type"].as_str());
    let asked = kinds.filter(|kind| *kind == "approval_requested").count();
    assert_eq!(asked, 1, "nobody is asked twice");
}
