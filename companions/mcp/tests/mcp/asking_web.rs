//! Questions over HTTP, in both revisions.

use std::sync::{Arc, Mutex};

use contract_mcp::{Principal, Refusal};
use contract_runtime::observe::Observer;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::resumed::until;
use super::shop::*;
use super::tools::within;
use super::web::Server;

/// Begins a session with a client that offers forms.
async fn session(server: &Server) -> String {
    let begin = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "t", "version": "1"},
    }});
    let answer = server
        .raw(server.post("", &begin.to_string()).as_bytes())
        .await;
    answer.header("mcp-session-id").unwrap().to_owned()
}

/// A call that asks.
fn asking(id: usize) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
        "name": "refund", "arguments": refund("ada", 20_000),
    }})
}

/// Makes a call, and reads its stream up to the question.
async fn question(server: &Server, session: &str) -> (TcpStream, Value) {
    let mut stream = server.connect().await;
    let headers = format!("MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: {session}\r\n");
    let text = server.post(&headers, &asking(1).to_string());
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut read = String::new();
    within(async {
        loop {
            let mut piece = [0; 4096];
            let size = stream.read(&mut piece).await.unwrap();
            read.push_str(&String::from_utf8_lossy(&piece[..size]));
            let mut events = read.lines().filter_map(|line| line.strip_prefix("data:"));
            let found = events.find_map(|data| serde_json::from_str::<Value>(data).ok());
            if let Some(asked) = found {
                assert_eq!(asked["method"], "elicitation/create", "{asked}");
                return (stream, asked);
            }
        }
    })
    .await
}

#[tokio::test]
async fn a_session_is_asked_on_the_stream_of_the_call() {
    let shop = Shop::new();
    let server = Server::start(server(&shop));
    let session = session(&server).await;
    let (mut stream, asked) = question(&server, &session).await;
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": approval()});
    assert_eq!(server.november(&session, &answer).await.status, 202);
    let mut rest = String::new();
    within(stream.read_to_string(&mut rest)).await.unwrap();
    assert!(rest.contains("20000 to ada"), "{rest}");
    assert_eq!(shop.sold(), ["20000 to ada"]);
}

#[tokio::test]
async fn another_session_cannot_answer() {
    let shop = Shop::new();
    let server = Server::start(server(&shop));
    let (ours, theirs) = (session(&server).await, session(&server).await);
    let (mut stream, asked) = question(&server, &ours).await;
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": approval()});
    server.november(&theirs, &answer).await;
    // A whole call later, nothing has been sold.
    let cheap = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "refund", "arguments": refund("ada", 1),
    }});
    server.november(&theirs, &cheap).await;
    assert_eq!(shop.sold(), ["1 to ada"]);
    let denied = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "decline"}});
    server.november(&ours, &denied).await;
    let mut rest = String::new();
    within(stream.read_to_string(&mut rest)).await.unwrap();
    assert!(rest.contains("the user said no"), "{rest}");
}

#[tokio::test]
async fn a_session_that_ends_takes_its_question_along() {
    let shop = Shop::new();
    let server = Server::start(server(&shop));
    let session = session(&server).await;
    let (mut stream, _) = question(&server, &session).await;
    let delete = format!(
        "DELETE /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nMcp-Session-Id: {session}\r\n\r\n",
        server.address
    );
    server.raw(delete.as_bytes()).await;
    let mut rest = Vec::new();
    within(stream.read_to_end(&mut rest)).await.unwrap();
    assert_eq!(shop.sold(), [""; 0]);
}

/// A server that knows each user by the token.
fn protected(shop: &std::sync::Arc<Shop>) -> Server {
    protect(server(shop))
}

fn protect(server: contract_mcp::Server) -> Server {
    let server = server.authorize(|credentials| async move {
        let user = credentials.bearer().ok_or(Refusal::NoToken)?;
        Ok(Principal::new(user))
    });
    Server::start(server)
}

/// Makes a call of 2026-07-28 as a user, with more parameters, and returns its result.
async fn refunded(server: &Server, user: &str, more: Value) -> Value {
    let call = july_call(1, "refund", refund("ada", 20_000), more);
    let headers = format!(
        "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: refund\r\nAuthorization: Bearer {user}\r\n"
    );
    let text = server.post(&headers, &call.to_string());
    server.raw(text.as_bytes()).await.json()["result"].take()
}

/// What a client sends that approves a question.
fn approved(asked: &Value) -> Value {
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    json!({"requestState": asked["requestState"], "inputResponses": {"approval": approval()}})
}

#[tokio::test]
async fn a_question_is_answered_by_the_principal_that_was_asked() {
    let shop = Shop::new();
    let server = protected(&shop);
    let asked = refunded(&server, "ada", json!({})).await;
    // For anybody else it does not exist, so that the call asks them.
    let other = refunded(&server, "bob", approved(&asked)).await;
    assert_ne!(other["requestState"], asked["requestState"]);
    assert_eq!(other["resultType"], "input_required", "{other}");
    assert_eq!(shop.sold(), [""; 0]);
    // And they have used up nothing of hers.
    let answer = refunded(&server, "ada", approved(&asked)).await;
    assert_eq!(answer["content"][0]["text"], "20000 to ada", "{answer}");
    let answer = refunded(&server, "bob", approved(&other)).await;
    assert_eq!(answer["content"][0]["text"], "20000 to ada", "{answer}");
}

#[tokio::test]
async fn the_questions_of_one_principal_push_out_those_of_nobody_else() {
    let shop = Shop::new();
    let server = protected(&shop);
    let first = refunded(&server, "ada", json!({})).await;
    let mut of_eve = Vec::new();
    for _ in 0..101 {
        of_eve.push(refunded(&server, "eve", json!({})).await);
    }
    // The oldest of her own was forgotten for the last one.
    let again = refunded(&server, "eve", approved(&of_eve[0])).await;
    assert_eq!(again["resultType"], "input_required", "{again}");
    let answer = refunded(&server, "eve", approved(&of_eve[100])).await;
    assert_eq!(answer["resultType"], "complete", "{answer}");
    // Nor do many together push out the one of somebody who has few.
    for user in ["fay", "gus", "hal", "ian"] {
        for _ in 0..100 {
            refunded(&server, user, json!({})).await;
        }
    }
    let answer = refunded(&server, "ada", approved(&first)).await;
    assert_eq!(answer["resultType"], "complete", "{answer}");
}

#[tokio::test]
async fn the_open_questions_of_one_session_leave_room_for_others() {
    let shop = Shop::new();
    let server = Server::start(server(&shop));
    let (ours, theirs) = (session(&server).await, session(&server).await);
    let mut open = Vec::new();
    let headers = format!("MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: {ours}\r\n");
    for id in 1..=101 {
        let mut stream = server.connect().await;
        let text = server.post(&headers, &asking(id).to_string());
        stream.write_all(text.as_bytes()).await.unwrap();
        let heard = until(&mut stream, "}").await;
        let denied = heard.contains("too many questions are open");
        assert_eq!(denied, id > 100, "{id} {heard}");
        open.push(stream);
    }
    question(&server, &theirs).await;
    drop(open);
}

#[tokio::test]
async fn an_observer_reads_which_principal_has_approved() {
    let shop = Shop::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let observer = Observer::new().call_ended(move |_, outcome, _| {
        let decisions = outcome.decisions().iter();
        let who = decisions.map(|decided| decided.by.clone());
        noted.lock().unwrap().push(who.collect::<Vec<_>>());
    });
    let server = server_of(&shop, |builder| builder.observe(observer));
    let server = protect(server.ask_client(PATIENCE));
    let asked = refunded(&server, "eve", json!({})).await;
    refunded(&server, "eve", approved(&asked)).await;
    assert_eq!(shop.sold(), ["20000 to ada"]);
    assert_eq!(
        *seen.lock().unwrap(),
        [vec![], vec![Some("eve".to_owned())]]
    );
}
