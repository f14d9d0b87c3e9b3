use serde_json::{Value, json};

use super::line::Client;

async fn reported(client: &mut Client, name: &str, arguments: Value) -> (Vec<Value>, Value) {
    client
        .say(
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
                "name": name, "arguments": arguments, "_meta": {"progressToken": "p"},
            }})
            .to_string(),
        )
        .await;
    let mut reports = Vec::new();
    loop {
        let said = client.hear().await;
        if said.get("id").is_some() {
            return (reports, said);
        }
        assert_eq!(said["method"], "notifications/progress");
        assert_eq!(said["params"]["progressToken"], "p");
        reports.push(said["params"].clone());
    }
}

#[tokio::test]
async fn reports_come_in_order_and_all_before_the_result() {
    let mut client = Client::new();
    client.begin().await;
    let (reports, answer) = reported(&mut client, "report", json!({"times": 5})).await;
    let done: Vec<_> = reports
        .iter()
        .map(|one| one["progress"].as_f64().unwrap())
        .collect();
    assert_eq!(done, [1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(reports[4]["message"], "step 5");
    assert_eq!(reports[4]["total"], 5.0);
    assert_eq!(answer["result"]["content"][0]["text"], "5");
    // Nothing comes after the result.
    client.lives().await;
}

#[tokio::test]
async fn a_million_reports_to_a_client_that_does_not_read_are_few() {
    let mut client = Client::with(|server| server, 512);
    client.begin().await;
    let (reports, _) = reported(&mut client, "report", json!({"times": 1_000_000})).await;
    assert!(
        reports
            .windows(2)
            .all(|two| two[0]["progress"].as_f64() < two[1]["progress"].as_f64())
    );
    assert_eq!(
        reports.last().unwrap()["progress"],
        1_000_000.0,
        "the last is never left out"
    );
    // On one thread the body reports all of them before anything can be sent.
    assert!(reports.len() <= 16, "{}", reports.len());
}

#[tokio::test]
async fn what_the_protocol_does_not_take_is_left_out() {
    let mut client = Client::new();
    client.begin().await;
    let (reports, _) = reported(&mut client, "report_badly", json!({})).await;
    assert_eq!(
        reports,
        [
            json!({"progressToken": "p", "progress": 1.0}),
            json!({"progressToken": "p", "progress": 2.0}),
        ]
    );
}

#[tokio::test]
async fn a_call_that_nobody_listens_to_reports_nothing() {
    let mut client = Client::new();
    client.begin().await;
    client.call(1, "report", json!({"times": 3})).await;
    assert_eq!(client.hear().await["id"], 1);
}
