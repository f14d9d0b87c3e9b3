use serde_json::{Value, json};

use crate::served::{Answer, Served};

tests![
    a_call_is_told_from_its_beginning_to_its_end,
    what_a_body_says_is_told,
    secrets_are_not_told,
    whoever_comes_late_or_again_gets_the_rest,
    what_is_not_kept_is_counted,
    checks_without_end_are_counted,
    a_slow_reader_holds_nobody_up_and_is_told,
    only_so_many_follow,
    the_calls_of_agents_are_told,
];

fn kinds(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .map(|event| event["kind"].as_str().unwrap())
        .collect()
}

fn a_call_is_told_from_its_beginning_to_its_end() {
    let served = Served::start();
    let mut following = served.follow(0);
    assert!(following.head.contains("text/event-stream"));
    served.call("echo", r#"{"number":5}"#);
    let events = following.until_ended();
    assert_eq!(
        kinds(&events),
        ["begun", "check", "check", "entered", "check", "ended"]
    );
    assert_eq!(events[0]["arguments"], r#"{"number":5}"#);
    assert_eq!(events[1]["contract"], "echo.pre[0]");
    assert_eq!(events[5]["text"], "5");
    served.call("echo", r#"{"number":1}"#);
    let events = following.until_ended();
    assert_eq!(kinds(&events), ["begun", "check", "violation", "ended"]);
    assert_eq!(events[3]["status"], "violation");
    served.check("echo", r#"{"number":1}"#);
    served.call("nothing", "{}");
    let events = following.until_ended();
    assert_eq!(kinds(&events), ["begun", "ended"]);
    assert_eq!(events[1]["status"], "unknown_tool");
}

fn secrets_are_not_told() {
    let served = Served::start();
    let secret = "open sesame";
    let spellings = [
        format!(r#"{{"user":"ada","password":"{secret}"}}"#),
        format!(r#"{{"user":"ada","pasword":"{secret}"}}"#),
        format!(r#"{{"user":"ada","password":{{"x":"{secret}"}}}}"#),
        format!(r#"{{"user":"ada","password":"{secret}""#),
        format!(r#""{secret}""#),
    ];
    let mut following = served.follow(0);
    for arguments in &spellings {
        served.call("log_in", arguments);
        for event in following.until_ended() {
            assert!(!event.to_string().contains(secret), "{event}");
        }
        // The tool that was meant.
        served.call("log_on", arguments);
        for event in following.until_ended() {
            assert!(!event.to_string().contains(secret), "{event}");
        }
    }
}

fn whoever_comes_late_or_again_gets_the_rest() {
    let served = Served::start();
    served.call("repeat", r#"{"text":"a"}"#);
    served.call("repeat", r#"{"text":"b"}"#);
    let mut late = served.follow(0);
    assert_eq!(late.until_ended()[2]["text"], "a");
    assert_eq!(late.until_ended()[2]["text"], "b");
    let mut again = served.follow(4);
    assert_eq!(kinds(&again.until_ended()), ["entered", "ended"]);
    // The numbers of a program that ran before.
    let mut old = served.follow(1_000_000);
    assert_eq!(old.until_ended()[2]["text"], "a");
}

fn what_is_not_kept_is_counted() {
    let served = Served::start();
    for number in 0..400 {
        served.call("repeat", &json!({"text": number.to_string()}).to_string());
    }
    let mut following = served.follow(0);
    assert_eq!(
        following.next().unwrap(),
        json!({"kind": "missed", "count": 200})
    );
    let mut last = following.until_ended();
    for _ in 0..332 {
        last = following.until_ended();
    }
    assert_eq!(last.last().unwrap()["text"], "398");
}

fn checks_without_end_are_counted() {
    let served = Served::start();
    let mut following = served.follow(0);
    served.call("many", r#"{"times":5000}"#);
    let events = following.until_ended();
    assert!(events.len() <= 104, "{}", events.len());
    assert_eq!(events.last().unwrap()["untold"], 4_900);
}

fn a_slow_reader_holds_nobody_up_and_is_told() {
    let served = Served::start();
    let mut slow = served.follow(0);
    let mut quick = served.follow(0);
    // More than the system keeps for a reader that does not read.
    let call = json!({"text": "x".repeat(2_000)}).to_string();
    for _ in 0..3_000 {
        served.call("repeat", &call);
        assert_eq!(quick.until_ended().len(), 3);
    }
    let mut last = Value::Null;
    let mut heard = 0;
    while let Some(event) = slow.next() {
        last = event;
        heard += 1;
    }
    assert_eq!(last, json!({"kind": "dropped"}));
    assert!(heard < 9_000, "{heard}");
}

fn only_so_many_follow() {
    let served = Served::start();
    let mut readers: Vec<_> = (0..32).map(|_| served.follow(0)).collect();
    assert_eq!(served.get("/api/events").status, 503);
    readers.pop();
    // The place is free when the program has noticed.
    while served.follow(0).head.contains("503") {}
}

/// Calls `echo` as an agent does.
fn ask(served: &Served, path: &str, number: u64) -> Answer {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    });
    let call = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "echo", "arguments": {"number": number}, "_meta": meta},
    });
    let headers = [
        format!("Host: {}", served.host),
        "Content-Type: application/json".to_owned(),
        "Accept: application/json, text/event-stream".to_owned(),
        "MCP-Protocol-Version: 2026-07-28".to_owned(),
        "Mcp-Method: tools/call".to_owned(),
        "Mcp-Name: echo".to_owned(),
    ];
    served.raw(&format!("POST {path}"), &headers, &call.to_string())
}

fn the_calls_of_agents_are_told() {
    let served = Served::start();
    let mut following = served.follow(0);
    let path = format!("/mcp?token={}", served.token);
    let answer = ask(&served, &path, 2);
    assert!(answer.body.contains(r#""isError":true"#), "{}", answer.body);
    let events = following.until_ended();
    assert_eq!(kinds(&events), ["begun", "check", "violation", "ended"]);
    assert_eq!(events[0]["from"], "agent");
    assert_eq!(events[0]["arguments"], r#"{"number":2}"#);
    assert_eq!(events[3]["status"], "violation");
    for _ in 0..3 {
        ask(&served, &path, 5);
        let events = following.until_ended();
        let last = events.last().unwrap();
        assert_eq!(
            (&last["status"], &last["text"]),
            (&json!("ok"), &json!("5"))
        );
    }
    assert_eq!(ask(&served, "/mcp", 5).status, 403);
}

fn what_a_body_says_is_told() {
    let served = Served::start();
    let mut following = served.follow(0);
    served.call("log_in", r#"{"user":"ada","password":"x"}"#);
    let events = following.until_ended();
    assert_eq!(kinds(&events), ["begun", "entered", "log", "ended"]);
    assert_eq!(events[2]["level"], "info");
    assert_eq!(events[2]["text"], "ada comes");
}
