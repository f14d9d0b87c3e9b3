//! Requests that mean harm, or are wrong: each is refused as JSON that says what to do, and the service goes on.

use std::io::{Read as _, Write as _};

use serde_json::json;

use crate::house::{House, TOKEN};
use crate::http::{Answer, connect, get, head, post, raw};

#[track_caller]
fn refused(answer: &Answer, status: u16, code: &str) {
    assert_eq!(answer.status, status, "{} {}", answer.head, answer.body);
    let error = &answer.json()["error"];
    assert_eq!(error["code"], code, "{}", answer.body);
    assert!(
        error["message"]
            .as_str()
            .is_some_and(|message| message.len() > 20),
        "{error}"
    );
    assert!(!answer.body.contains(TOKEN) && !answer.head.contains(TOKEN));
    let head = answer.head.to_ascii_lowercase();
    for line in [
        "cache-control: no-store",
        "x-content-type-options: nosniff",
        "content-security-policy: default-src 'none'",
    ] {
        assert!(head.contains(line), "{head}");
    }
    assert!(!head.contains("access-control-allow"), "{head}");
}

#[test]
fn strangers_are_not_answered() {
    let house = House::with_backend("recordings");
    let at = &house.address;
    let ask = |host: &str, further: &str| {
        raw(
            at,
            format!("GET /api/runs HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{further}\r\n")
                .as_bytes(),
        )
    };
    let token = format!("Authorization: Bearer {TOKEN}\r\n");
    assert_eq!(ask(at, &token).status, 200);
    refused(&ask(at, ""), 401, "wrong_token");
    refused(
        &ask(at, "Authorization: Bearer a-token-of-the-testz\r\n"),
        401,
        "wrong_token",
    );
    refused(&ask(at, "Authorization: Bearer \r\n"), 401, "wrong_token");
    refused(
        &ask(at, &format!("Authorization: Basic {TOKEN}\r\n")),
        401,
        "wrong_token",
    );
    // A page of somebody else, a name of theirs that points here, no name at all, two names.
    refused(
        &ask(at, &format!("{token}Origin: http://evil.example\r\n")),
        403,
        "wrong_origin",
    );
    refused(
        &ask(at, &format!("{token}Origin: null\r\n")),
        403,
        "wrong_origin",
    );
    refused(&ask("evil.example", &token), 421, "wrong_host");
    refused(&ask("", &token), 421, "wrong_host");
    refused(
        &ask(at, &format!("{token}Host: evil.example\r\n")),
        421,
        "wrong_host",
    );
    assert_eq!(
        ask(at, &format!("{token}Origin: http://{at}\r\n")).status,
        200
    );
    // The address of a request is written into logs, so only the page takes a token there.
    let path = format!("/api/runs?token={TOKEN}");
    let bare = raw(
        at,
        format!("GET {path} HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n\r\n").as_bytes(),
    );
    refused(&bare, 401, "wrong_token");
    let page = raw(
        at,
        format!("GET /?token={TOKEN} HTTP/1.1\r\nHost: {at}\r\nConnection: close\r\n\r\n")
            .as_bytes(),
    );
    assert_eq!(page.status, 200);
    assert!(page.head.contains("script-src 'nonce-"), "{}", page.head);
    assert!(
        !page.body.contains(TOKEN),
        "the page does not hold the token"
    );
}

#[test]
fn what_is_no_chat_request_is_refused() {
    let house = House::with_backend("recordings");
    let at = &house.address;
    let deep = format!(
        "{{\"message\":{}1{}}}",
        "[".repeat(50_000),
        "]".repeat(50_000)
    );
    let cases = [
        ("", 400, "not_json"),
        ("{", 400, "not_json"),
        ("[]", 400, "not_json"),
        ("{\"message\": 7}", 400, "not_json"),
        ("{\"message\": \"a\", \"message\": \"b\"}", 400, "not_json"),
        (&*deep, 400, "not_json"),
        ("{}", 400, "empty_message"),
        ("{\"message\": \" \\n\"}", 400, "empty_message"),
        (
            "{\"session_id\": \"../../etc/passwd\", \"message\": \"x\"}",
            404,
            "unknown_session",
        ),
        (
            "{\"session_id\": \"00000000-0000-4000-8000-000000000000\"}",
            404,
            "unknown_session",
        ),
        (
            "{\"answers\": [{\"question\": \"a\", \"values\": []}]}",
            400,
            "wrong_answers",
        ),
    ];
    for (body, status, code) in cases {
        refused(&post(at, "/api/chat", body), status, code);
        refused(&post(at, "/api/chat/stream", body), status, code);
    }
    let long = json!({"message": "x".repeat(20_001)}).to_string();
    refused(&post(at, "/api/chat", &long), 400, "long_message");
    let large = json!({"message": "x".repeat(300_000)}).to_string();
    refused(&post(at, "/api/chat", &large), 413, "large_body");
    let plain = format!(
        "{}Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{{}}",
        head("POST", "/api/chat", at)
    );
    refused(&raw(at, plain.as_bytes()), 415, "not_json");
    // A field of a later version is passed over.
    let later = post(
        at,
        "/api/chat?wait=0",
        "{\"message\": \"wait\", \"colour\": \"red\"}",
    );
    assert_eq!(later.status, 200, "{}", later.body);
}

#[test]
fn paths_and_methods_that_there_are_not() {
    let house = House::with_backend("recordings");
    let at = &house.address;
    refused(&get(at, "/api/chat"), 405, "wrong_method");
    refused(&get(at, "/api/runs/x"), 404, "unknown_session");
    refused(&get(at, "/api/runs/../../etc/passwd"), 404, "not_found");
    refused(&get(at, "/api/runs/%ff/events"), 404, "unknown_session");
    refused(&get(at, "/favicon.ico"), 404, "not_found");
    refused(
        &post(at, "/api/chat?wait=soon", "{\"message\": \"x\"}"),
        400,
        "no_number",
    );
    refused(&post(at, "/api/runs/x/cancel", ""), 404, "unknown_session");
    for method in ["DELETE", "OPTIONS", "PUT"] {
        let request = format!("{}\r\n", head(method, "/api/chat", at));
        refused(&raw(at, request.as_bytes()), 405, "wrong_method");
    }
}

#[test]
fn those_who_dawdle_are_sent_away_and_hold_nobody_up() {
    let house = House::with_backend("recordings");
    let at = &house.address;
    let mut heads: Vec<_> = (0..50).map(|_| connect(at)).collect();
    for stream in &mut heads {
        stream
            .write_all(b"GET / HTTP/1.1\r\nHost:")
            .expect("it is taken");
    }
    let mut body = connect(at);
    let request = format!(
        "{}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{",
        head("POST", "/api/chat", at)
    );
    body.write_all(request.as_bytes()).expect("it is taken");
    assert_eq!(get(at, "/api/runs").status, 200);
    let mut text = String::new();
    body.read_to_string(&mut text).expect("an answer");
    assert!(text.starts_with("HTTP/1.1 408"), "{text}");
    assert!(text.contains("\"slow_body\""), "{text}");
    for mut stream in heads {
        let mut rest = Vec::new();
        // It is closed, with an answer or without.
        let _ = stream.read_to_end(&mut rest);
    }
}

#[test]
fn no_more_wait_than_there_is_room_for() {
    let house = House::with_backend("recordings");
    let at = &house.address;
    let body = json!({"message": "wait"}).to_string();
    let answers: Vec<_> = (0..40)
        .map(|_| post(at, "/api/chat?wait=0", &body))
        .collect();
    let taken = answers.iter().filter(|answer| answer.status == 200).count();
    // One more than may wait is in the hands of who looks for an executor.
    assert_eq!(taken, 33);
    let last = answers.last().expect("an answer");
    refused(last, 503, "busy");
    assert!(
        last.head.to_ascii_lowercase().contains("retry-after: 5"),
        "{}",
        last.head
    );
}
