//! Questions to clients up to revision 2025-11-25, by elicitation.

use std::sync::atomic::Ordering;
use std::time::Duration;

use contract_runtime::Context;
use contract_runtime::approval::{Approval, Decision};
use serde_json::{Value, json};

use super::line::Client;
use super::shop::*;
use super::tools::within;

/// The next question, whose id is that of the server.
async fn question(client: &mut Client) -> Value {
    let asked = client.hear().await;
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    asked
}

/// The end of a call, and of its question, in whatever order they come.
async fn ended(client: &mut Client) -> (Value, Value) {
    let (one, two) = (client.hear().await, client.hear().await);
    let (taken_back, answer) = if one["id"].is_null() {
        (one, two)
    } else {
        (two, one)
    };
    assert_eq!(taken_back["method"], "notifications/cancelled");
    (answer, taken_back)
}

async fn say(client: &mut Client, asked: &Value, result: Value) {
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result});
    client.say(answer.to_string()).await;
}

#[tokio::test]
async fn a_person_at_the_client_lets_the_call_through() {
    for (revision, offered) in [
        ("2025-06-18", json!({"elicitation": {}})),
        (
            "2025-11-25",
            json!({"elicitation": {"form": {}, "url": {}}}),
        ),
    ] {
        let shop = Shop::new();
        let mut client = client(server(&shop));
        client.begin_offering(revision, offered).await;
        client.call(1, "refund", refund("ada", 100)).await;
        assert_eq!(text(&client.hear().await), "100 to ada");
        client.call(2, "refund", refund("ada", 20_000)).await;
        let asked = question(&mut client).await;
        assert_eq!(
            asked["params"]["message"],
            "Refund 20000 cents to \"ada\"?\n\nTool: refund\nArguments: {\"user\":\"ada\",\"cents\":20000}"
        );
        assert_eq!(
            asked["params"]["requestedSchema"],
            json!({
                "type": "object",
                "properties": {
                    "decision": {"type": "string", "title": "Decision", "enum": ["approve", "deny"]},
                    "reason": {
                        "type": "string", "title": "Reason",
                        "description": "Why it is denied; the model is told",
                    },
                },
                "required": ["decision"],
            })
        );
        assert_eq!(shop.sold(), ["100 to ada"]);
        say(&mut client, &asked, approval()).await;
        assert_eq!(text(&client.hear().await), "20000 to ada");
        // Once.
        client.call(3, "refund", refund("ada", 20_000)).await;
        question(&mut client).await;
    }
}

#[tokio::test]
async fn whoever_says_no_denies() {
    for (result, why) in [
        (
            json!({"action": "accept", "content": {"decision": "deny", "reason": " too much "}}),
            "too much",
        ),
        (
            json!({"action": "accept", "content": {"decision": "deny", "reason": "a\u{1b}[2Jb"}}),
            "a\\u{1b}[2Jb",
        ),
        (json!({"action": "decline"}), "the user said no"),
        (
            json!({"action": "decline", "content": {"decision": "approve"}}),
            "the user said no",
        ),
    ] {
        let shop = Shop::new();
        let mut client = asked(server(&shop)).await;
        client.call(1, "buy", json!({"thing": "lamp"})).await;
        let asked = question(&mut client).await;
        say(&mut client, &asked, result.clone()).await;
        let answer = client.hear().await;
        assert_eq!(status(&answer), "denied", "{result}");
        assert_eq!(
            text(&answer),
            format!("not started, because it was denied: {why} (for the rest of the run)"),
            "{result}"
        );
        assert_eq!(shop.sold(), [""; 0]);
    }
    let shop = Shop::new();
    let mut client = asked(server(&shop)).await;
    client.call(1, "buy", json!({"thing": "lamp"})).await;
    let asked = question(&mut client).await;
    let error = json!({"code": -32601, "message": "already approved"});
    client
        .say(json!({"jsonrpc": "2.0", "id": asked["id"], "error": error}).to_string())
        .await;
    assert!(text(&client.hear().await).ends_with("denied: the client could not ask"));
}

#[tokio::test]
async fn a_question_without_an_answer_is_asked_again() {
    for result in [
        json!({"action": "cancel"}),
        json!({"action": "accept"}),
        json!({"action": "accept", "content": {"decision": true}}),
        json!({"action": "accept", "content": {"decision": "Approve"}}),
        json!({"action": "accept", "content": {"approved": "approve"}}),
        json!({"action": "accept", "content": ["approve"]}),
        json!({"action": "maybe"}),
        json!({}),
        json!({"roots": []}),
    ] {
        let shop = Shop::new();
        let mut client = asked(server(&shop)).await;
        let mut ends = Vec::new();
        for id in 1..=3 {
            client.call(id, "buy", json!({"thing": "lamp"})).await;
            let asked = question(&mut client).await;
            say(&mut client, &asked, result.clone()).await;
            let answer = client.hear().await;
            ends.push((status(&answer).to_owned(), text(&answer).to_owned()));
        }
        let open = "not started, because a person must be asked first, \
                    and the client's answer does not say whether it is approved: Buy \"lamp\" for 40 EUR?";
        let over = "not started, because it was denied: it was asked three times, and there was no answer \
                    (for the rest of the run)";
        let asked = ("asked".to_owned(), open.to_owned());
        let denied = ("denied".to_owned(), over.to_owned());
        assert_eq!(ends, [asked.clone(), asked, denied], "{result}");
        assert_eq!(shop.sold(), [""; 0]);
    }
}

#[tokio::test]
async fn where_nobody_can_be_asked_the_call_is_denied() {
    let forms = || json!({"elicitation": {}});
    let shop = Shop::new();
    for (server, revision, offered) in [
        (server_of(&shop, |builder| builder), "2025-11-25", forms()),
        (server(&shop), "2025-11-25", json!({})),
        (
            server(&shop),
            "2025-11-25",
            json!({"elicitation": {"url": {}}}),
        ),
        (server(&shop), "2025-03-26", forms()),
    ] {
        let mut client = client(server);
        client.begin_offering(revision, offered).await;
        client.call(1, "refund", refund("ada", 20_000)).await;
        let answer = client.hear().await;
        assert_eq!(status(&answer), "denied");
        assert_eq!(
            text(&answer),
            "not started, because it was denied: a person must be asked first, and there is nobody to ask: \
             Refund 20000 cents to \"ada\"?"
        );
    }
    assert_eq!(shop.sold(), [""; 0]);
}

#[tokio::test]
async fn who_decides_at_the_server_is_asked_instead() {
    let shop = Shop::new();
    let by_registry = server_of(&shop, |builder| {
        builder.approver(async |_| Decision::Approved(Approval::Once))
    });
    let by_context = server(&shop).context(|_| {
        Context::new().approver(async |_| Decision::Denied("only by phone".to_owned()))
    });
    for (server, status_of) in [
        (by_registry.ask_client(PATIENCE), "ok"),
        (by_context, "denied"),
    ] {
        let mut client = asked(server).await;
        client.call(1, "refund", refund("ada", 20_000)).await;
        assert_eq!(status(&client.hear().await), status_of);
    }
    assert_eq!(shop.sold(), ["20000 to ada"]);
}

#[tokio::test]
async fn what_has_changed_meanwhile_is_asked_again() {
    let shop = Shop::new();
    let mut client = asked(server(&shop)).await;
    client.call(1, "buy", json!({"thing": "lamp"})).await;
    for price in [40, 41, 42] {
        let asked = question(&mut client).await;
        let message = asked["params"]["message"].as_str().unwrap();
        assert!(message.starts_with(&format!("Buy \"lamp\" for {price} EUR?\n")));
        shop.price.fetch_add(1, Ordering::Relaxed);
        say(&mut client, &asked, approval()).await;
    }
    let answer = client.hear().await;
    assert_eq!(status(&answer), "denied");
    assert!(text(&answer).contains("approved three times"), "{answer}");
    assert_eq!(shop.sold(), [""; 0]);
}

#[tokio::test]
async fn an_answer_is_for_the_call_that_asked() {
    let shop = Shop::new();
    let mut client = asked(server(&shop)).await;
    client.call(1, "refund", refund("ada", 20_000)).await;
    let first = question(&mut client).await;
    client.call(2, "refund", refund("eve", 90_000)).await;
    let second = question(&mut client).await;
    // To what nobody asked, and twice to one question.
    for id in [json!(77), json!("refund")] {
        let answer = json!({"jsonrpc": "2.0", "id": id, "result": approval()});
        client.say(answer.to_string()).await;
    }
    say(&mut client, &first, approval()).await;
    say(&mut client, &first, approval()).await;
    let answer = client.hear().await;
    assert_eq!(
        (answer["id"].as_u64(), text(&answer)),
        (Some(1), "20000 to ada")
    );
    client.lives().await;
    assert_eq!(shop.sold(), ["20000 to ada"]);
    say(&mut client, &second, json!({"action": "decline"})).await;
    assert_eq!(status(&client.hear().await), "denied");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_never_answers_is_not_waited_for() {
    let shop = Shop::new();
    let mut client = asked(server(&shop)).await;
    let begun = tokio::time::Instant::now();
    client.call(1, "buy", json!({"thing": "lamp"})).await;
    let asked = question(&mut client).await;
    // The helper of these tests waits for a minute.
    tokio::time::sleep(ALMOST).await;
    let (answer, taken_back) = ended(&mut client).await;
    assert_eq!(begun.elapsed().as_secs(), PATIENCE.as_secs());
    assert!(text(&answer).contains("the client gave no answer within 300 s"));
    assert_eq!(taken_back["params"]["requestId"], asked["id"]);
    // Too late.
    say(&mut client, &asked, approval()).await;
    client.lives().await;
    assert_eq!(shop.sold(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_question_ends_with_the_time_of_its_call() {
    let shop = Shop::new();
    let hurried = server(&shop).context(|_| Context::new().timeout(Duration::from_secs(2)));
    let mut client = asked(hurried).await;
    client.call(1, "buy", json!({"thing": "lamp"})).await;
    question(&mut client).await;
    let (answer, _) = ended(&mut client).await;
    assert_eq!(status(&answer), "timed_out");
    assert_eq!(shop.sold(), [""; 0]);
}

#[tokio::test]
async fn a_call_that_is_taken_back_takes_its_question_back() {
    let shop = Shop::new();
    let mut client = asked(server(&shop)).await;
    client.call(1, "buy", json!({"thing": "lamp"})).await;
    let asked = question(&mut client).await;
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    client.say(cancel.to_string()).await;
    let taken_back = client.hear().await;
    assert_eq!(taken_back["method"], "notifications/cancelled");
    assert_eq!(taken_back["params"]["requestId"], asked["id"]);
    say(&mut client, &asked, approval()).await;
    client.lives().await;
    assert_eq!(shop.sold(), [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_has_gone_is_not_waited_for() {
    let shop = Shop::new();
    let mut client = asked(server(&shop)).await;
    client.call(1, "buy", json!({"thing": "lamp"})).await;
    question(&mut client).await;
    client.close().await;
    within(&mut client.serving).await.unwrap().unwrap();
    assert_eq!(shop.sold(), [""; 0]);
}

#[tokio::test]
async fn a_thousand_calls_that_ask_hold_up_nobody() {
    let shop = Shop::new();
    let mut client = asked(server(&shop).calls(1)).await;
    let mut questions = Vec::new();
    for id in 0..1_000 {
        client.call(id, "refund", refund("ada", 20_000)).await;
        if id < 400 {
            questions.push(question(&mut client).await);
        } else {
            let answer = client.hear().await;
            assert!(text(&answer).contains("too many questions"), "{answer}");
        }
    }
    client.call(1_001, "refund", refund("ada", 1)).await;
    assert_eq!(text(&client.hear().await), "1 to ada");
    for asked in &questions {
        say(&mut client, asked, approval()).await;
        assert_eq!(text(&client.hear().await), "20000 to ada");
    }
    assert_eq!(shop.sold().len(), 401);
}

#[tokio::test]
async fn what_a_model_wrote_cannot_pass_for_the_question() {
    let shop = Shop::new();
    let mut client = asked(server(&shop)).await;
    let user = "x?\n\nalready approved\u{1b}[2J\u{202e}\u{e0041} \"}";
    client.call(1, "refund", refund(user, 20_000)).await;
    let asked = question(&mut client).await;
    let message = asked["params"]["message"].as_str().unwrap();
    let lines: Vec<&str> = message.lines().collect();
    assert_eq!(lines.len(), 4, "{message}");
    assert_eq!(
        lines[0],
        "Refund 20000 cents to \"x?  already approved[2J '}\"?"
    );
    let clean = |letter: char| {
        letter == '\n' || !letter.is_control() && letter != '\u{202e}' && letter != '\u{e0041}'
    };
    assert!(message.chars().all(clean), "{message}");
    client
        .call(2, "refund", refund(&"a".repeat(100_000), 20_000))
        .await;
    let long = question(&mut client).await;
    assert!(long["params"]["message"].as_str().unwrap().len() < 5_000);
}

#[tokio::test]
async fn a_list_says_which_tools_ask() {
    let mut client = asked(server(&Shop::new()).list_contracts()).await;
    client
        .say(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#)
        .await;
    let listed = client.hear().await;
    for (tool, often) in [(0, "always"), (1, "sometimes")] {
        let meta = &listed["result"]["tools"][tool]["_meta"];
        assert_eq!(meta["rs.docs.contract-runtime/contract"]["approval"], often);
    }
}
