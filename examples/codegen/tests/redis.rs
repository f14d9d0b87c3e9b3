//! A backend whose runs are in a Redis: they go on after a kill. These tests fail without a Redis server, version 7 or later.
#![cfg(unix)]

#[path = "service/house.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod house;
#[path = "service/http.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod http;
#[path = "../../../companions/remote/tests/store/server.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod server;

use serde_json::json;

use house::House;

#[test]
fn an_interview_in_a_redis_goes_on_after_the_backend_was_killed() {
    let server = server::Server::start();
    let mut house = House::begun("recordings", &["--redis", &server.address()], None);
    house.dial_in();
    let asked = house.said(&json!({"message": "add a price list"}));
    assert_eq!(asked["phase"], "interview", "{asked}");
    let id = asked["session_id"].as_str().expect("an id");
    house.restart_backend();
    assert_eq!(house.look(id), asked, "nothing is lost");
    let answers = json!([
        {"question": "form", "values": ["JSON"]},
        {"question": "columns", "values": ["name", "price in cents"]},
        {"question": "path", "values": ["/prices"]},
    ]);
    let done = house.said(&json!({"session_id": id, "answers": answers}));
    assert_eq!(done["phase"], "complete", "{done}");
}
