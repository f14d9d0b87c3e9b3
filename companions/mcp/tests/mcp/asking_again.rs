//! Questions to clients of revision 2026-07-28, by the result of the call, which is then made again.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::line::Client;
use super::shop::*;

async fn send(client: &mut Client, call: Value) -> Value {
    client.say(call.to_string()).await;
    client.hear().await
}

/// The state of a result that asks.
fn state(answer: &Value) -> String {
    let result = &answer["result"];
    assert_eq!(result["resultType"], "input_required", "{answer}");
    result["requestState"].as_str().unwrap().to_owned()
}

#[allow(
    clippy::needless_pass_by_value,
    reason = "every caller makes one for it"
)]
fn answered(state: &str, response: Value) -> Value {
    json!({"requestState": state, "inputResponses": {"approval": response}})
}

const CALL: fn(u32, Value) -> Value =
    |id, more| july_call(id, "refund", refund("ada", 20_000), more);

#[tokio::test]
async fn a_call_is_made_again_with_the_answer() {
    let shop = Shop::new();
    let mut client = client(server(&shop));
    let asked = send(&mut client, CALL(1, json!({}))).await;
    let request = &asked["result"]["inputRequests"]["approval"];
    assert_eq!(request["method"], "elicitation/create");
    assert!(
        request["params"]["message"]
            .as_str()
            .unwrap()
            .starts_with("Refund 20000 cents to \"ada\"?\n")
    );
    let more = json!({"unknown": {"action": "decline"}, "approval": approval()});
    let more = json!({"requestState": state(&asked), "inputResponses": more});
    let answer = send(&mut client, CALL(2, more)).await;
    assert_eq!(text(&answer), "20000 to ada");
    let denied = send(&mut client, CALL(3, json!({}))).await;
    let more = answered(
        &state(&denied),
        json!({"action": "decline", "content": {"reason": "no"}}),
    );
    let answer = send(&mut client, CALL(4, more)).await;
    assert_eq!(
        (status(&answer), text(&answer)),
        (
            "denied",
            "not started, because it was denied: no (for the rest of the run)"
        )
    );
    assert_eq!(shop.sold(), ["20000 to ada"]);
}

#[tokio::test]
async fn an_answer_is_good_for_one_call_that_is_the_same() {
    let shop = Shop::new();
    let mut client = client(server(&shop));
    let fresh = async |client: &mut Client| state(&send(client, CALL(1, json!({}))).await);

    // Twice.
    let used = fresh(&mut client).await;
    let answer = send(&mut client, CALL(2, answered(&used, approval()))).await;
    assert_eq!(status(&answer), "ok");
    let again = send(&mut client, CALL(3, answered(&used, approval()))).await;
    assert_ne!(state(&again), used);

    // For other arguments and another tool, after which it is used up.
    for other in [
        july_call(4, "refund", refund("ada", 20_001), json!({})),
        july_call(4, "refund", refund("eve", 20_000), json!({})),
        july_call(4, "buy", json!({"thing": "lamp"}), json!({})),
    ] {
        let unused = fresh(&mut client).await;
        let mut other = other;
        other["params"]["requestState"] = json!(unused);
        other["params"]["inputResponses"] = json!({"approval": approval()});
        state(&send(&mut client, other).await);
        state(&send(&mut client, CALL(5, answered(&unused, approval()))).await);
    }

    // Forged, and without a state or an answer.
    let unused = fresh(&mut client).await;
    for forged in [
        "",
        "approved",
        &unused.to_uppercase(),
        &format!("{unused}0"),
    ] {
        let refused = send(&mut client, CALL(6, answered(forged, approval()))).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
    }
    for more in [
        answered(&"0".repeat(32), approval()),
        json!({"inputResponses": {"approval": approval()}}),
        json!({"requestState": unused}),
        json!({"requestState": unused, "inputResponses": {"other": approval()}}),
        json!({"requestState": unused, "inputResponses": {"approval": "approve"}}),
        json!({"requestState": unused, "inputResponses": {"approval": {"action": "maybe"}}}),
    ] {
        state(&send(&mut client, CALL(6, more)).await);
    }
    assert_eq!(shop.sold(), ["20000 to ada"]);
    // What was no answer has used nothing up.
    let answer = send(&mut client, CALL(7, answered(&unused, approval()))).await;
    assert_eq!(status(&answer), "ok");

    // After a restart.
    let unused = fresh(&mut client).await;
    let mut restarted = super::shop::client(server(&shop));
    state(&send(&mut restarted, CALL(8, answered(&unused, approval()))).await);
    assert_eq!(shop.sold().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_calls_with_one_answer_run_once() {
    let shop = Shop::new();
    let server = server(&shop);
    let listening = super::web::Server::start(server);
    for round in 1..=50 {
        let params = |more: Value| {
            let mut params = CALL(0, json!({}))["params"].take();
            if let (Value::Object(params), Value::Object(more)) = (&mut params, more) {
                params.extend(more);
            }
            params
        };
        let send = async |more: Value| {
            let call =
                json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params(more)});
            let head = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: refund\r\n";
            let text = listening.post(head, &call.to_string());
            listening.raw(text.as_bytes()).await.json()
        };
        let unused = state(&send(json!({})).await);
        let more = answered(&unused, approval());
        let (one, two) = tokio::join!(send(more.clone()), send(more));
        let ended = [one, two]
            .iter()
            .filter(|one| one["result"]["resultType"] == "complete")
            .count();
        assert_eq!((ended, shop.sold().len()), (1, round));
    }
}

#[tokio::test]
async fn what_has_changed_meanwhile_is_asked_again() {
    let shop = Shop::new();
    let mut client = client(server(&shop));
    let buy = |id, more| july_call(id, "buy", json!({"thing": "lamp"}), more);
    let asked = send(&mut client, buy(1, json!({}))).await;
    shop.price.store(400, Ordering::Relaxed);
    let again = send(&mut client, buy(2, answered(&state(&asked), approval()))).await;
    let message = &again["result"]["inputRequests"]["approval"]["params"]["message"];
    assert!(
        message
            .as_str()
            .unwrap()
            .starts_with("Buy \"lamp\" for 400 EUR?")
    );
    let answer = send(&mut client, buy(3, answered(&state(&again), approval()))).await;
    assert_eq!(text(&answer), "lamp for 400");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_too_late_is_none() {
    let shop = Shop::new();
    let mut client = client(server(&shop));
    let late = state(&send(&mut client, CALL(1, json!({}))).await);
    tokio::time::sleep(PATIENCE).await;
    state(&send(&mut client, CALL(2, answered(&late, approval()))).await);
    let in_time = state(&send(&mut client, CALL(3, json!({}))).await);
    tokio::time::sleep(ALMOST).await;
    let answer = send(&mut client, CALL(4, answered(&in_time, approval()))).await;
    assert_eq!(status(&answer), "ok");
}

#[tokio::test]
async fn the_oldest_of_too_many_questions_is_forgotten() {
    let shop = Shop::new();
    let mut client = client(server(&shop));
    let mut states = Vec::new();
    for id in 0..1_000 {
        states.push(state(&send(&mut client, CALL(id, json!({}))).await));
    }
    // Those of clients that cannot be asked push out nobody's.
    for id in 1_000..3_000 {
        let mut call = CALL(id, json!({}));
        call["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        assert_eq!(status(&send(&mut client, call).await), "denied");
    }
    for (asked, ended) in [(0, false), (599, false), (610, true), (999, true)] {
        let again = CALL(1, answered(&states[asked], approval()));
        let answer = send(&mut client, again).await;
        assert_eq!(
            answer["result"]["resultType"] == "complete",
            ended,
            "{asked}"
        );
    }
    assert_eq!(shop.sold().len(), 2);
}

#[tokio::test]
async fn a_client_that_cannot_be_asked_is_denied() {
    let shop = Shop::new();
    for (server, offered) in [
        (server(&shop), json!({})),
        (server(&shop), json!({"elicitation": {"url": {}}})),
        (
            server_of(&shop, |builder| builder),
            json!({"elicitation": {}}),
        ),
    ] {
        let mut client = client(server);
        let mut call = CALL(1, json!({}));
        call["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = offered;
        let answer = send(&mut client, call).await;
        assert_eq!(status(&answer), "denied");
        assert!(
            text(&answer).contains("there is nobody to ask: Refund 20000"),
            "{answer}"
        );
    }
}
